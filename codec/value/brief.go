package value

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// maxShown bounds the text of a value for people, in characters.
const maxShown = 100

// AppendShown appends the value of a leaf for people, on one line: numbers without quotes, with their name if they have one, 32-bit floats
// with the precision of 32 bits, everything else as JSON. It is cut after 100 characters, with "...".
func AppendShown(dst []byte, r *codec.Record, l codec.Leaf) []byte {
	from := len(dst)
	switch it := r.Item(l); {
	case l.Role != codec.RoleValue:
		dst = AppendLeaf(dst, r, l)
	case it != nil && it.Num != nil && it.Num.Absent && l.Raw == 0:
		dst = append(dst, "null"...)
	case it != nil && it.High(r.Data, l.Range()) > 0:
		if dst = appendVar(dst, r.Data, it, l.Range(), l.Raw); dst[from] == '"' {
			dst = append(dst[:from], dst[from+1:len(dst)-1]...)
		}
	case it != nil:
		dst = shownItem(dst, r.Data, it, l.Raw, l.Off)
	default:
		o, b := &r.Program.Ops[r.Nodes[l.Node].Op], r.Data[l.Off/8:l.Range().End()/8]
		if r.Nodes[l.Node].Kind == codec.NodeText {
			dst = appendText(dst, shownBytes(b[:uint32(l.Raw)*uint32(o.Unit)]), o.Set)
		} else {
			dst = appendHex(dst, shownBytes(b))
		}
	}
	return cutShown(dst, from)
}

// shownItem is AppendShown for an item at a bit of data, without a limit.
func shownItem(dst, data []byte, it *codec.Item, raw uint64, at uint32) []byte {
	from := len(dst)
	switch it.Form {
	case codec.FormUint, codec.FormUint64:
		dst = appendUint(dst, raw)
	case codec.FormInt, codec.FormInt64:
		dst = appendInt(dst, schema.SignExtend(raw, int(it.Bits)))
	case codec.FormFloat32:
		return appendFloat32(dst, uint32(raw))
	case codec.FormText, codec.FormChars:
		t, b := it.Type.(*schema.Text), data[at/8:(at+it.Bits)/8]
		if it.Form == codec.FormText {
			b = codec.FixedText(t, b)
		}
		return appendText(dst, shownBytes(b), t.Charset)
	case codec.FormUUID:
		return appendUUID(dst, data[at/8:(at+it.Bits)/8])
	case codec.FormBlob, codec.FormNone:
		return appendHex(dst, shownBytes(data[at/8:(at+it.Bits)/8]))
	default:
		if dst = appendNumber(dst, it, raw); dst[from] == '"' { // a name, a large integer, or not a number
			dst = append(dst[:from], dst[from+1:len(dst)-1]...)
		}
		if it.Form != codec.FormNamed {
			return dst
		}
		if e := it.Num.Enum; e != nil && e.Shown {
			if name, _ := it.Num.ShownName(raw); name != "" {
				return dst
			}
		}
	}
	if it.Num == nil || it.Num.Enum == nil {
		return dst
	}
	if name := it.Num.Enum.NameOfBits(raw); name != "" {
		dst = append(append(append(dst, ' ', '('), name...), ')')
	}
	return dst
}

// shownBytes returns the start of a text or of bytes, enough for the characters that are shown: one has at most four bytes.
func shownBytes(b []byte) []byte { return b[:min(len(b), 4*(maxShown+1))] }

// cutShown cuts the text from a position on.
func cutShown(dst []byte, from int) []byte {
	if len(dst)-from <= maxShown {
		return dst
	}
	n := 0
	for at := from; at < len(dst); n++ {
		if n == maxShown {
			return append(dst[:at], "..."...)
		}
		_, size := utf8.DecodeRune(dst[at:])
		at += size
	}
	return dst
}

// AppendBrief appends a summary of the values of the message, in wire order, until it has about most bytes: "gold 12, name "Lann", members
// ×3". Bookkeeping, the contents of lists, headers and tails are omitted; an element that stands for its list is shown.
func AppendBrief(dst []byte, r *codec.Record, most int) []byte {
	var b brief // set in place, for its speed
	b.scratch, b.briefPlan, b.r, b.start, b.most = scratchOf(r), &plansOf(r.Program).brief, r, len(dst), most
	if b.calls {
		b.walker.Start(r)
	}
	last := -1 // where the lists begin that are shown only if other values follow, as there is enough already
	for i := 0; i < len(r.Nodes); {
		n, end := &r.Nodes[i], i+1
		o := &r.Program.Ops[n.Op]
		switch n.Kind {
		case codec.NodeList:
			if o.Once() && n.Raw == 1 { // its element stands for it
				i++
				continue
			}
			end = max(int(n.After), end)
			if last < 0 && b.full(dst) {
				last = len(dst)
			}
			if dst = b.list(dst, o.Field, n.Raw); !b.full(dst) {
				i = end
				continue
			}
		case codec.NodeBlock:
			k := &r.Program.Blocks[o.Block]
			if b.calls || n.Len != k.Bits || n.Off/8+k.Reach > uint32(len(r.Data)) {
				break
			}
			var done bool
			if dst, done = b.block(dst, &b.blocks[o.Block], r.Data[n.Off/8:]); done {
				return dst
			}
			i = end
			continue
		default: // its leaves, below
		}
		b.leaves = r.AppendLeavesOf(b.leaves[:0], i, end)
		for k := range b.leaves {
			if b.full(dst) {
				return dst
			}
			dst = b.leaf(dst, &b.leaves[k])
		}
		i = end
	}
	if last >= 0 {
		return dst[:last]
	}
	return dst
}

// brief writes the parts of AppendBrief.
type brief struct {
	*scratch
	*briefPlan
	r     *codec.Record
	start int
	most  int
}

// full reports whether there is enough.
func (b *brief) full(dst []byte) bool { return len(dst)-b.start >= b.most }

// block appends the values of a complete block at the start of data. done reports that something follows which is omitted.
func (b *brief) block(dst []byte, k *briefBlock, data []byte) (out []byte, done bool) {
	for i := range k.parts {
		if b.full(dst) {
			return dst, true
		}
		part := &k.parts[i]
		if !part.plain {
			dst = b.other(dst, part, data)
			continue
		}
		dst = slices.Grow(dst, partHead+numberRoom)
		n, buf := len(dst), dst[:cap(dst)]
		if n > b.start {
			*(*[partHead]byte)(buf[n:]) = part.head
			n += len(part.label)
		} else {
			n += copy(buf[n:], part.label[len(", "):])
		}
		raw := codec.Word(data, part.peek.At) >> (part.peek.Shift & 63) & part.peek.Mask
		switch part.form {
		case codec.FormFloat32:
			var ok bool
			if n, ok = putFloat32(buf, n, uint32(raw)); !ok {
				dst = appendFloat32(buf[:n], uint32(raw))
				continue
			}
		case codec.FormInt, codec.FormInt64:
			n = putInt(buf, n, schema.SignExtend(raw, int(part.bits)))
		default:
			n = putUint(buf, n, raw)
		}
		dst = buf[:n]
	}
	return dst, k.more && b.full(dst)
}

// other appends a value of a block that is not plain.
func (b *brief) other(dst []byte, part *briefPart, data []byte) []byte {
	it, raw := part.item, uint64(0)
	if it.Form.IsNumber() {
		raw = it.Peek.From(data)
	}
	if it.Num != nil && it.Num.Absent && raw == 0 {
		return dst
	}
	dst = b.label(dst, part.label)
	return cutShown(shownItem(dst, data, it, raw, it.Off), len(dst))
}

// label appends the text before a value, without the comma if it is the first.
func (b *brief) label(dst []byte, text string) []byte {
	if len(dst) == b.start {
		text = text[len(", "):]
	}
	return append(dst, text...)
}

// leaf appends a value and its path.
func (b *brief) leaf(dst []byte, l *codec.Leaf) []byte {
	if l.Role != codec.RoleValue || l.Field == noIndex {
		return dst
	}
	label := b.labels[l.Field]
	if b.calls {
		b.text = append(b.walker.Append(b.text[:0], *l), ' ')
	}
	if label == "" || b.calls && bytes.IndexByte(b.text, '[') >= 0 {
		return dst
	}
	if it := b.r.Item(*l); it != nil && it.Num != nil && it.Num.Absent && l.Raw == 0 {
		return dst
	}
	if !b.calls {
		dst = b.label(dst, label)
	} else {
		if len(dst) > b.start {
			dst = append(dst, ", "...)
		}
		dst = append(dst, b.text...)
	}
	return AppendShown(dst, b.r, *l)
}

// list appends the path of a list and the number of its elements.
func (b *brief) list(dst []byte, field uint16, elems uint64) []byte {
	if field == noIndex {
		return dst
	}
	return appendUint(b.label(dst, b.labels[field]), elems)
}

// briefPlan describes how a program's messages are summarized.
type briefPlan struct {
	labels []string     // by field: the text before its value, which includes the sign of a list; empty for values that are omitted
	blocks []briefBlock // by block
	calls  bool         // some fields are read by calls, so that their paths depend on the message
}

// briefBlock lists the values of a block that are shown.
type briefBlock struct {
	parts []briefPart
	more  bool // there are others after the last one
}

type briefPart struct {
	label string
	head  [partHead]byte // the label, copied in one step
	item  *codec.Item
	form  codec.Form // copy of the item's form
	bits  uint8
	peek  codec.Peek
	plain bool // an integer without names, or a 32-bit float, always present, with a label that fits
}

func newBriefPlan(p *codec.Program) briefPlan {
	b := briefPlan{labels: make([]string, len(p.Fields)), blocks: make([]briefBlock, len(p.Blocks))}
	around := make([]bool, len(p.Fields))
	for i := range p.Fields {
		g, _ := p.Fields[i].Schema.Type.(*schema.Group)
		if around[i] = g != nil && g.Around || p.Fields[i].Parent >= 0 && around[p.Fields[i].Parent]; around[i] {
			continue
		}
		label := ", " + string(p.AppendFieldPath(nil, uint16(i)))
		if _, ok := p.Fields[i].Schema.Type.(*schema.List); ok {
			b.labels[i] = label + " ×"
		} else if strings.IndexByte(label, '[') < 0 { // not inside a list
			b.labels[i] = label + " "
		}
	}
	for i := range p.Ops {
		b.calls = b.calls || p.Ops[i].Code == codec.OpCall
	}
	for i := range p.Blocks {
		k := &b.blocks[i]
		for j := range p.Blocks[i].Items {
			it := &p.Blocks[i].Items[j]
			k.more = true
			if it.Role != codec.RoleValue || it.Field == noIndex || b.labels[it.Field] == "" {
				continue
			}
			part := briefPart{label: b.labels[it.Field], item: it, form: it.Form, bits: uint8(it.Bits), peek: it.Peek}
			part.plain = it.Num != nil && it.Num.Enum == nil && !it.Peek.Slow && plainForm(it.Form) && copy(part.head[:], part.label) == len(part.label)
			k.parts, k.more = append(k.parts, part), false
		}
	}
	return b
}

func plainForm(f codec.Form) bool {
	return f >= codec.FormUint && f <= codec.FormFloat32 && f != codec.FormBool
}
