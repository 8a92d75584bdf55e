package emit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// A reference document: an index, the names of values, and for each message a diagram in the style of RFCs, 32 bits per row, and a table of
// its layout in wire order.

// emitMarkdown writes one file.
func emitMarkdown(s *schema.Schema, o Options) ([]File, []Loss) {
	w := &markdown{
		losses: slices.Clone(o.lost), anchors: map[string]int{}, enums: map[*schema.Enum]string{},
		links: map[*schema.Struct]string{},
	}
	types := w.findTypes(s.Messages)
	var messages []*schema.Message
	more := false
	for _, m := range s.Messages {
		if w.try(m, allFeatures, func(laid *wire.Message) { more = more || len(laid.Features()) > 0 }) {
			messages = append(messages, m)
		}
	}
	slices.SortStableFunc(messages, func(a, b *schema.Message) int {
		return strings.Compare(a.Key.Group, b.Key.Group)
	})
	for _, heading := range []string{o.name(), "Index"} {
		w.anchor(heading)
	}
	var bodies []string
	var index []indexRow
	for _, m := range messages {
		index = append(index, indexRow{m, w.anchor(messageName(m))})
	}
	w.types(types)
	w.anchor("Names of values")
	for _, m := range messages {
		bodies = append(bodies, "## "+markdownText(messageName(m))+"\n\n"+w.message(m))
	}
	if len(types) > 0 {
		bodies = append(bodies, "## Types\n\n")
	}
	for _, x := range types {
		bodies = append(bodies, w.typeSection(x))
	}
	lost := w.kinds()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", markdownText(o.name()))
	b.WriteString("<!--\n" + strings.ReplaceAll(head("", "md", s, lost), "-->", "-- >") + "-->\n\n")
	b.WriteString(markdownIntro)
	text := strings.Join(bodies, "")
	if more {
		b.WriteString(mdMore)
	}
	if w.packed {
		b.WriteString("Offsets in compressed contents are relative to the first byte of what they are after decompression.\n\n")
	}
	if w.placed {
		b.WriteString("Offsets of contents at a computed position are relative to that position; the parts after them follow those before them.\n\n")
	}
	if w.shortened {
		b.WriteString(markdownShort)
	}
	writeIndex(&b, index)
	own := Range{Start: b.Len()}
	b.WriteString(text)
	if len(w.enumText) > 0 { // after the messages, so that the anchors of messages do not depend on them
		b.WriteString("## Names of values\n\n" + strings.Join(w.enumText, ""))
	}
	own.End = b.Len()
	if len(lost) > 0 {
		b.WriteString("## Omissions\n\n")
		for _, l := range lost {
			b.WriteString("- " + markdownText(oneLine(l.String())) + "\n")
		}
	}
	all := strings.TrimRight(b.String(), "\n") + "\n"
	own.End = min(own.End, len(all))
	return []File{{legal(o.name()) + ".md", all, own}}, lost
}

const markdownIntro = `Offsets and sizes are in bytes unless marked as bits; offsets are relative to the first byte of the message, or of the element in a list.
Numbers are little-endian unless their type is marked as big. Bits of a byte are numbered and drawn from the least significant one. In a diagram "#name" is the count of a part, "@name" its offset.

`

const markdownShort = `Long offsets and names are abbreviated: "18 + 40 parts before" is byte 18 plus the sizes of 40 preceding parts of variable size, "…" is the omitted part of a name.

`

type indexRow struct {
	m      *schema.Message
	anchor string
}

// writeIndex lists the messages by direction and code, followed by those without a code by name.
func writeIndex(b *strings.Builder, rows []indexRow) {
	b.WriteString("## Index\n\n| direction | group | code | message | about |\n| --- | --- | --- | --- | --- |\n")
	slices.SortStableFunc(rows, func(x, y indexRow) int {
		switch {
		case x.m.Key.Dir != y.m.Key.Dir:
			return int(x.m.Key.Dir) - int(y.m.Key.Dir)
		case x.m.Key.Group != y.m.Key.Group:
			return strings.Compare(x.m.Key.Group, y.m.Key.Group)
		case x.m.HasKey != y.m.HasKey:
			if x.m.HasKey {
				return -1
			}
			return 1
		case x.m.Key.Code != y.m.Key.Code:
			return int(int64(x.m.Key.Code) - int64(y.m.Key.Code))
		}
		return strings.Compare(x.m.Name, y.m.Name)
	})
	for _, r := range rows {
		code := ""
		if r.m.HasKey {
			code = codeText(r.m.Key.Code)
		}
		doc, _, _ := strings.Cut(strings.TrimSpace(r.m.Doc), "\n")
		fmt.Fprintf(b, "| %s | %s | %s | [%s](#%s) | %s |\n", dirText(r.m.Key.Dir), markdownCell(short(r.m.Key.Group)), code, markdownCell(messageName(r.m)), r.anchor, markdownCell(doc))
	}
	b.WriteByte('\n')
}

func codeText(code uint32) string { return fmt.Sprintf("%d (0x%02X)", code, code) }

func dirText(d schema.Dir) string {
	switch d {
	case schema.ToServer:
		return "to server"
	case schema.ToClient:
		return "to client"
	}
	return "both"
}

// markdown is the document under construction.
type markdown struct {
	anchors  map[string]int
	enums    map[*schema.Enum]string // link to its heading
	enumText []string
	losses
	m         *wire.Message             // current message, or type
	apart     map[*schema.Struct]bool   // those with a section
	links     map[*schema.Struct]string // to their sections
	packed    bool                      // there are compressed groups
	placed    bool                      // there are contents at computed positions
	shortened bool                      // an offset or a name is abbreviated
	begun     map[int]bool              // groups of the message that already have a row
}

// anchor returns the fragment that GitHub and others derive from a heading.
func (w *markdown) anchor(title string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(title) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf:
			b.WriteRune(c)
		}
	}
	id := b.String()
	n := w.anchors[id]
	if w.anchors[id]++; n > 0 {
		return id + "-" + strconv.Itoa(n)
	}
	return id
}

// markdownText escapes markup in text.
func markdownText(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune("\\`*_[]<>#|~", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// markdownCell returns text for a cell of a table.
func markdownCell(s string) string { return markdownText(strings.Join(strings.Fields(s), " ")) }

// mdRow is one part of a message.
type mdRow struct {
	path   string
	name   string // short, for the diagram
	typ    string
	offset string
	bits   int // -1: depends on the message
	limit  string
	doc    string
	when   string
	elem   []mdRow // of a list, or the contents of a compressed group
	packed bool    // a compressed group
	by     string  // description of its size, its offset or its encoding
	names  string  // of its values, as Markdown
	moved  bool    // it is at an offset
	placed bool    // it is in contents at a computed position
	link   string  // to its type, as Markdown, in place of typ
	size   string  // as Markdown, in place of bits
	alt    bool    // of an alternative of a field, which the diagram does not show
}

// message writes one message.
func (w *markdown) message(m *schema.Message) string {
	w.compile(m)
	var b strings.Builder
	if m.Doc != "" {
		for line := range strings.SplitSeq(strings.TrimSpace(m.Doc), "\n") {
			b.WriteString(markdownText(strings.TrimSpace(line)) + "\n")
		}
		b.WriteByte('\n')
	}
	facts := []string{"Direction: " + dirText(m.Key.Dir)}
	if m.Key.Group != "" {
		facts = append(facts, "group: "+markdownText(short(m.Key.Group)))
	}
	if m.HasKey {
		facts = append(facts, "code: "+codeText(m.Key.Code))
	}
	facts = append(facts, "size: "+sizeText(w.m.Body.Size))
	if m.Span.File != nil && m.Span.File.Name != "" {
		facts = append(facts, "from "+markdownText(short(m.Span.File.Name)))
	}
	b.WriteString(strings.Join(facts, ", ") + ".\n\n")
	b.WriteString(w.table())
	return b.String()
}

// table draws the current message, and writes the table of its parts.
func (w *markdown) table() string {
	var b strings.Builder
	layout := w.m.Outline()
	rows := w.rows(&layout, 0)
	if len(rows) == 0 {
		b.WriteString("The message is empty.\n\n")
		return b.String()
	}
	b.WriteString("```text\n")
	drawRows(&b, rows)
	b.WriteString("```\n\n")
	b.WriteString("| offset | size | type | name | range | meaning |\n| --- | --- | --- | --- | --- | --- |\n")
	writeRows(&b, rows)
	b.WriteByte('\n')
	return b.String()
}

func writeRows(b *strings.Builder, rows []mdRow) {
	for _, r := range rows {
		size := r.sizeText()
		about := []string{}
		for _, text := range []string{r.when, r.by, r.doc} {
			if text != "" {
				about = append(about, markdownCell(text))
			}
		}
		if r.names != "" {
			about = append(about, r.names)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", markdownCell(r.offset), size, r.typeText(), markdownCell(r.path), markdownCell(r.limit), strings.Join(about, "; "))
		writeRows(b, r.elem)
	}
}

func (r *mdRow) typeText() string {
	if r.link != "" {
		return r.link
	}
	return markdownCell(r.typ)
}

func (r *mdRow) sizeText() string {
	switch {
	case r.size != "":
		return r.size
	case r.bits < 0:
		return "varies"
	}
	return bitsText(r.bits)
}

func bitsText(bits int) string {
	switch {
	case bits == 1:
		return "1 bit"
	case bits%8 != 0:
		return fmt.Sprintf("%d bits", bits)
	}
	return strconv.Itoa(bits / 8)
}

// rows consumes the rows of a layout at a depth of lists.
func (w *markdown) rows(layout *[]wire.Row, depth int) []mdRow {
	var out []mdRow
	for len(*layout) > 0 && (*layout)[0].Depth == depth {
		row := &(*layout)[0]
		*layout = (*layout)[1:]
		r := w.row(row)
		if r.offset, r.bits = w.m.AtText(row.At), -1; row.Fixed() {
			r.bits = int(row.Min.Bits)
		}
		if r.placed = row.At.Placed != nil; row.Computed() {
			r.offset = ""
		}
		switch {
		case row.Case != nil:
			r.when, r.alt = short(w.m.Conditions(row)), row.Case.Field
		case row.Optional:
			r.when = "if present"
		}
		if it := row.Item; it != nil && it.Var != schema.Sized {
			r.size = fmt.Sprintf("%d to %d", row.Min.Bits/8, row.Max/8)
		}
		if r.link = w.link(row); r.link == "" || row.Part.Kind != wire.Call {
			r.by = strings.TrimPrefix(r.by+"; "+w.m.Rules(row), "; ")
			r.by = strings.TrimSuffix(r.by, "; ")
		}
		if row.Woven {
			r.by = strings.TrimPrefix(r.by+"; its elements are interleaved with the adjacent lists", "; ")
		}
		if r.name == "" {
			r.name = lastName(r.path)
		}
		r.doc = w.groupDocs(row.Field, r.doc)
		w.shortened = w.shortened || strings.HasSuffix(r.offset, " parts before") || strings.Contains(r.path, "…")
		r.elem = w.rows(layout, depth+1)
		r.packed = row.Apart == nil && row.Part != nil && w.m.Packing(row.Part) != schema.Unpacked
		w.packed, w.placed = w.packed || r.packed, w.placed || r.placed
		out = append(out, r)
	}
	return out
}

// groupDocs prepends the comments of groups to that of their first field.
func (w *markdown) groupDocs(field int, doc string) string {
	for field != wire.None && !w.m.Fields[field].InList {
		if field = w.m.Fields[field].Parent; field == wire.None || w.begun[field] {
			break
		}
		w.begun[field] = true
		if f := &w.m.Fields[field]; f.Schema.Doc != "" && !f.Hoisted() {
			doc = strings.TrimSuffix(f.Schema.Doc+"; "+doc, "; ")
		}
	}
	return doc
}

func lastName(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[i+1:]
	}
	return path
}

func uintText(bits int, order schema.Order) string {
	n := schema.Number{Bits: bits, Order: order}
	return n.String()
}

// row describes one item, or contents.
func (w *markdown) row(row *wire.Row) mdRow {
	if row.Item == nil || row.Kind == schema.Value {
		return w.value(row)
	}
	it, path := row.Item, short(w.m.Path(row.Field))
	r := mdRow{path: row.Kind.String(), typ: uintText(it.Bits, it.Order)}
	if n, ok := it.Type.(*schema.Number); ok {
		one := *n
		if n.Bits == 8 && it.Off%8 == 0 {
			one.Order = schema.Little // without a meaning
		}
		r.typ = numberType(&one)
	}
	switch row.Kind {
	case schema.Count:
		f := w.m.Fields[row.Field].Schema
		e, unit := extentOf(f.Type)
		r.path, r.name, r.limit = "count of "+path, "#"+lastName(path), rangeText(e.Min, e.Max, schema.Unsigned)
		r.doc = map[int]string{0: "number of elements", 1: "bytes", 2: "code units of two bytes"}[unit]
	case schema.Offset:
		r.path, r.name, r.doc = "offset of "+path, "@"+lastName(path), "in bytes from the start of the message"
	case schema.Bytes:
		r.path, r.name, r.doc = "size of "+path, "#"+lastName(path), "in bytes"
	case schema.Present:
		r.path, r.name, r.doc = "presence of "+path, "?"+lastName(path), "0 if absent"
	case schema.More:
		r.path, r.doc = "more", "1 if another element follows"
	case schema.Here:
		r.doc = "offset of this element"
	case schema.Next:
		r.doc = "offset of the next element, 0 in the last one"
	case schema.Length:
		r.doc = "size of the whole message in bytes"
	case schema.Code:
		if w.m.Schema.HasKey {
			r.doc = "is " + codeText(w.m.Schema.Key.Code)
		}
	case schema.Counter:
		r.doc = "sequence number of the message"
	case schema.Check:
		if w.m.Sum != nil {
			w.lose(w.m.Schema, "checksum", "the algorithm of the checksum is not included")
		}
		r.path, r.doc = "checksum", "over the whole message"
	case schema.Const:
		r = mdRow{path: "constant", name: hexText(it.Bytes), typ: "bytes", limit: hexText(it.Bytes)}
	case schema.Pad:
		r = mdRow{path: "padding", typ: "bits", doc: "unused"}
	}
	return r
}

func hexText(b []byte) string {
	if len(b) > 16 {
		return fmt.Sprintf("% x ...", b[:16])
	}
	return fmt.Sprintf("% x", b)
}

// rangeText returns the text of a range; a constant without a value is shown by name.
func rangeText(lo, hi *schema.Limit, kind schema.NumKind) string {
	one := func(l *schema.Limit) string {
		switch {
		case l.Const != "":
			return l.Const
		case kind == schema.Float:
			return strconv.FormatFloat(l.Float, 'g', -1, 64)
		}
		return limitText(l, kind)
	}
	switch {
	case lo != nil && hi != nil && one(lo) == one(hi):
		return one(lo)
	case lo != nil && hi != nil:
		return one(lo) + " to " + one(hi)
	case lo != nil:
		return one(lo) + " or more"
	case hi != nil:
		return "up to " + one(hi)
	}
	return ""
}

func (w *markdown) value(row *wire.Row) mdRow {
	f := w.m.Fields[row.Field].Schema
	r := mdRow{path: w.m.Path(row.Field), typ: f.TypeText, doc: f.Doc}
	if w.m.Fields[row.Field].Last != wire.None {
		r.doc = strings.TrimSuffix("the value of the last field of this name, unless it has a separate value; "+r.doc, "; ")
	}
	switch t := f.Type.(type) {
	case *schema.Number:
		bytes := t.Bits > 8 || (row.Item.Off|row.Item.Bits)%8 != 0 // otherwise the order has no meaning
		if r.typ == "" || t.Order == schema.Big && bytes && !strings.Contains(r.typ, "big") || t.Var != schema.Sized {
			r.typ = numberType(t)
		}
		r.limit = rangeText(t.Min, t.Max, t.Kind)
		if t.Scale != 0 {
			r.by = fmt.Sprintf("scaled by %s", strconv.FormatFloat(t.Scale, 'g', -1, 64))
		}
		if t.Kind == schema.Bool && t.Bits > 1 && t.Expr == nil {
			r.by = "0 is false, other values are true"
		}
		if t.Enum != nil {
			r.names = "names in " + w.enum(t, cmp.Or(f.Name, strings.TrimRight(lastName(r.path), "[]")))
		}
		return r
	case *schema.Bitfield:
		if r.by = bitfieldText(t); r.typ == "" {
			r.typ = "parts of " + uintText(t.Bits, t.Order)
		} else if t.Order == schema.Big && t.Bits > 8 {
			r.typ += " big"
		}
		if t.Var != schema.Sized {
			r.typ += ", " + numberType(&schema.Number{Bits: t.Bits, Order: t.Order, Var: t.Var})
		}
		return r
	case *schema.Group: // that contains itself, or is described elsewhere
		return r
	case *schema.Choice:
		if row.Case == nil || row.Apart == nil {
			r.by = w.choiceText(row.Part)
		}
		if r.path == "" {
			r.path = "alternatives"
		}
		return r
	}
	e, unit := extentOf(f.Type)
	r.limit = rangeText(e.Min, e.Max, schema.Unsigned)
	if r.limit != "" {
		r.limit += map[int]string{0: " elements", 1: " bytes", 2: " units"}[unit]
	}
	switch e.Size {
	case schema.Fixed:
		r.by = map[int]string{0: fmt.Sprintf("%d elements", e.N)}[unit]
	case schema.Counted:
		r.by = "number given by its count"
	case schema.Terminated:
		r.by = "zero-terminated"
	case schema.ToEnd:
		r.by = "to the end of the message"
		if w.inSized(row.Field) {
			r.by = "to the end of the group with a size that contains it"
		}
	}
	if row.Part != nil && row.Part.Offset != wire.None {
		r.by = "at its offset; " + r.by
		r.moved = true
	}
	switch t := f.Type.(type) {
	case *schema.Text:
		if r.typ == "" {
			r.typ = "text"
		}
		r.typ += " (" + t.Charset.String() + ")"
		if e.Size == schema.Fixed {
			r.by = ""
			if t.Min == nil {
				r.by = "up to its first zero"
			}
		}
	case *schema.Blob:
		if r.typ == "" {
			r.typ = "bytes"
		}
		if t.Nested {
			r.doc = strings.TrimSuffix("a nested message; "+r.doc, "; ")
		}
		if e.Size == schema.Fixed {
			r.by = ""
		}
	case *schema.List:
		if r.typ == "" {
			r.typ = "list"
		}
		if t.Linked {
			r.by += "; each element has the offset of the next one"
		}
	}
	return r
}

// numberType returns the type of a number: "int16 big", "varint32".
func numberType(n *schema.Number) string {
	if n.Var != schema.Sized {
		if n.Kind == schema.Signed {
			return "signed " + n.Name()
		}
		return n.Name()
	}
	return (&schema.Number{Bits: n.Bits, Kind: n.Kind, Order: n.Order}).String()
}

// inSized reports whether a field is inside a group with a size.
func (w *markdown) inSized(field int) bool {
	for field = w.m.Fields[field].Parent; field != wire.None; field = w.m.Fields[field].Parent {
		if g, ok := w.m.Fields[field].Schema.Type.(*schema.Group); ok && (g.Sized || g.Packed != schema.Unpacked || g.At != nil) {
			return g.At == nil // contents at a position may be outside the groups around them
		}
	}
	return false
}

// bitfieldText lists the parts of each form.
func bitfieldText(p *schema.Bitfield) string {
	var forms []string
	for i := range p.Forms {
		form := &p.Forms[i]
		var parts []string
		for _, part := range form.Parts {
			at := fmt.Sprintf("bit %d", part.Shift)
			switch {
			case part.Mask != 0:
				at = fmt.Sprintf("all bits of %#x", part.Mask)
			case part.Bits > 1:
				at = fmt.Sprintf("bits %d to %d", part.Shift, part.Shift+part.Bits-1)
			}
			parts = append(parts, part.Name+" "+at)
		}
		text := strings.Join(parts, ", ")
		if len(p.Forms) > 1 && form.When != "" {
			text = "if " + form.When + ": " + text
		}
		forms = append(forms, text)
	}
	if p.All != "" {
		forms = append(forms, p.All+" is the number")
	}
	return strings.Join(forms, "; ")
}

// enum writes the named values of a number once and returns a link to them.
func (w *markdown) enum(n *schema.Number, field string) string {
	if link := w.enums[n.Enum]; link != "" {
		return link
	}
	name := n.Enum.Name
	if name == "" {
		name = field + " of " + messageName(w.m.Schema)
	}
	name = short(name)
	w.enums[n.Enum] = "[" + markdownText(name) + "](#" + w.anchor(name) + ")"
	var b strings.Builder
	b.WriteString("### " + markdownText(name) + "\n\n| value | name |\n| --- | --- |\n")
	for _, v := range n.Enum.Values {
		text := n.Decimal(v.Value)
		fmt.Fprintf(&b, "| %s | %s |\n", text, markdownCell(v.Name))
	}
	b.WriteByte('\n')
	w.enumText = append(w.enumText, b.String())
	return w.enums[n.Enum]
}

// sizeText returns the size of a message.
func sizeText(size wire.Size) string {
	switch least, most := size.Bytes(); {
	case most == wire.NoLimit && least == 1:
		return "1 byte or more"
	case most == wire.NoLimit:
		return fmt.Sprintf("%d bytes or more", least)
	case most != least:
		return fmt.Sprintf("%d to %d bytes", least, most)
	case least == 1:
		return "1 byte"
	default:
		return fmt.Sprintf("%d bytes", least)
	}
}
