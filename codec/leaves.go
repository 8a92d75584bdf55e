package codec

import (
	"slices"
	"strconv"

	"wirebench/defs/schema"
)

// Leaf is a run of bits with one meaning: a field's value, or bookkeeping. It has no pointers.
type Leaf struct {
	Raw  uint64 // numbers: the bits. Text and blobs: number of units
	Off  uint32 // bits from frame start
	Node uint32 // index of its node
	LeafKind
}

// LeafKind is the part of a Leaf that does not depend on the data.
type LeafKind struct {
	Elem  int32  // index of its element within the node of a list of equal-sized elements, else -1
	Len   uint32 // bits
	Field uint16 // index into Program.Fields; 0xffff for bookkeeping that belongs to no field
	Item  uint16 // index into its block's items; 0xffff for contents
	Role  Role
}

// Range returns the leaf's position and size.
func (l Leaf) Range() Range { return Range{l.Off, l.Len} }

// AppendLeaves appends the leaves of the record, in decoding order.
func (r *Record) AppendLeaves(dst []Leaf) []Leaf { return r.AppendLeavesOf(dst, 0, len(r.Nodes)) }

// AppendLeavesOf is AppendLeaves for the nodes [i, end).
func (r *Record) AppendLeavesOf(dst []Leaf, i, end int) []Leaf {
	whole, have := r.Program.whole, uint32(len(r.Data))
	for i < end {
		n := &r.Nodes[i]
		b := whole[n.Op]
		if b == nil || n.Kind == NodeList || n.Len != b.Bits || n.Off/8+b.Reach > have {
			dst = r.otherLeaves(dst, i)
			i++
			continue
		}
		count := 1
		if n.Kind == NodeElem {
			count = r.together(i, end, b)
		}
		first, more := len(dst), count*len(b.rows)
		if cap(dst)-first < more {
			dst = slices.Grow(dst, more)
		}
		dst = dst[:first+more]
		fill(dst[first:], b, r.Data, n.Off, uint32(i), -1, count)
		if b.slow != nil {
			for k := range count {
				slowLeaves(dst[first+k*len(b.rows):], b, r.Data, n.Off+uint32(k)*b.Bits)
			}
		}
		i += count
	}
	return dst
}

// together returns the number of adjacent elements among the nodes [first, end), each a complete block whose loads are inside the data.
func (r *Record) together(first, end int, b *Block) int {
	i, n := first, &r.Nodes[first]
	for i+1 < end {
		next := &r.Nodes[i+1]
		if next.Kind != NodeElem || next.Op != n.Op || next.Len != b.Bits || next.Off != n.Off+b.Bits || next.Off/8+b.Reach > uint32(len(r.Data)) {
			break
		}
		i, n = i+1, next
	}
	return i + 1 - first
}

// otherLeaves appends the leaves of a node that is not one complete block, or is too close to the end of the data for its loads.
func (r *Record) otherLeaves(dst []Leaf, node int) []Leaf {
	n := &r.Nodes[node]
	o := &r.Program.Ops[n.Op]
	switch {
	case n.Kind == NodeVar && n.Bad != NoProblem:
		return dst // it is not complete
	case n.Kind == NodeVar:
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, 1)
		}
		dst = dst[:len(dst)+1]
		l := &dst[len(dst)-1]
		l.Raw, l.Off, l.Node, l.LeafKind = n.Raw, n.Off, uint32(node), r.Program.Blocks[o.Block].rows[0].kind
		l.Len = n.Len
		return dst
	case n.Kind == NodeAlign:
		if n.Len == 0 {
			return dst
		}
		return append(dst, Leaf{Off: n.Off, Node: uint32(node), LeafKind: LeafKind{Elem: -1, Len: n.Len, Field: noIndex, Item: noIndex, Role: RolePad}})
	case n.Kind == NodeEnd:
		return append(dst, Leaf{Raw: n.Raw, Off: n.Off, Node: uint32(node), LeafKind: LeafKind{Elem: -1, Len: n.Len, Field: o.Field, Item: noIndex, Role: RoleEnd}})
	case n.Kind == NodeGroup && o.packing != schema.Unpacked:
		if n.Len == 0 {
			return dst
		}
		return append(dst, Leaf{Raw: uint64(n.Len / 8), Off: n.Off, Node: uint32(node), LeafKind: LeafKind{Elem: -1, Len: n.Len, Field: o.Field, Item: noIndex, Role: RolePacked}})
	case n.Kind == NodeText || n.Kind == NodeBlob:
		if n.Len > 0 {
			if len(dst) == cap(dst) {
				dst = slices.Grow(dst, 1)
			}
			dst = dst[:len(dst)+1]
			l := &dst[len(dst)-1] // filled field by field: a composite literal would be built elsewhere and copied
			l.Raw, l.Off, l.Node = n.Raw, n.Off, uint32(node)
			l.Elem, l.Len, l.Field, l.Item, l.Role = -1, n.Len, o.Field, noIndex, RoleValue
		}
		return dst
	case n.Kind == NodeBlock || n.Kind == NodeElem && o.Plain:
		return r.endLeaves(dst, &r.Program.Blocks[o.Block], node)
	case n.Kind != NodeList || o.Linked || !o.Plain || n.Raw == 0 || len(r.Program.Blocks[o.Block].rows) == 0:
		return dst
	}
	b := &r.Program.Blocks[o.Block]
	first := len(dst)
	dst = slices.Grow(dst, int(n.Raw)*len(b.rows))[:first+int(n.Raw)*len(b.rows)]
	out, count, at := dst[first:], int(n.Raw), n.Off
	// The last elements may be too close to the end of the message for their loads.
	quick := count
	for quick > 0 && uint64(at/8)+uint64(quick-1)*uint64(b.Bits/8)+uint64(b.Reach) > uint64(len(r.Data)) {
		quick--
	}
	fill(out, b, r.Data, at, uint32(node), 0, quick)
	if b.slow != nil {
		for k := range quick {
			slowLeaves(out[k*len(b.rows):], b, r.Data, at+uint32(k)*b.Bits)
		}
	}
	for k := quick; k < count; k++ {
		lastLeaves(out[k*len(b.rows):][:len(b.rows)], b, r.Data, at+uint32(k)*b.Bits, uint32(node), int32(k))
	}
	return dst
}

// endLeaves appends the leaves of a block that is truncated, or shorter than a load at the end of the message.
func (r *Record) endLeaves(dst []Leaf, b *Block, node int) []Leaf {
	n := &r.Nodes[node]
	if n.Len != b.Bits {
		return cutLeaves(dst, b, r.Data, n.Range(), uint32(node))
	}
	first := len(dst)
	dst = slices.Grow(dst, len(b.rows))[:first+len(b.rows)]
	lastLeaves(dst[first:], b, r.Data, n.Off, uint32(node), -1)
	return dst
}

// lastLeaves is fill for a block that is shorter than a load, in the last bytes of a message.
func lastLeaves(out []Leaf, b *Block, data []byte, at, node uint32, elem int32) {
	var pad [8]byte
	w := window(data, at/8, &pad)
	fill(out, b, w, 0, node, elem, 1)
	slowLeaves(out, b, w, 0)
	for i := range b.rows {
		out[i].Off += at
	}
}

// slowLeaves sets the values that need more than a load and a mask.
func slowLeaves(out []Leaf, b *Block, data []byte, at uint32) {
	for _, i := range b.slow {
		out[i].Raw = b.Items[i].Peek.fromBits(data[at/8:])
	}
}

// cutLeaves appends the complete leaves of a truncated block.
func cutLeaves(dst []Leaf, b *Block, data []byte, there Range, node uint32) []Leaf {
	n := 0
	for n < len(b.Items) && b.Items[n].Off+b.Items[n].Bits <= there.Len {
		n++
	}
	whole := data[:there.End()/8+min(there.End()%8, 1)]
	first := len(dst)
	for i := range b.Items[:n] {
		it := &b.Items[i]
		l := Leaf{Off: there.Off + it.Off, Node: node, LeafKind: b.rows[i].kind}
		if it.Bits-1 < 64 {
			l.Raw = LoadBits(whole, l.Off, it.Bits, it.Order)
		}
		dst = append(dst, l)
	}
	return dst[:first+n]
}

// Item returns the block item of a leaf, or nil for contents.
func (r *Record) Item(l Leaf) *Item {
	if l.Item == noIndex {
		return nil
	}
	return &r.Program.Blocks[r.Program.Ops[r.Nodes[l.Node].Op].Block].Items[l.Item]
}

// TypeName returns the displayed type of a leaf: its field's type, or the width of its bookkeeping.
func (r *Record) TypeName(l Leaf) string {
	it := r.Item(l)
	if it == nil && (l.Role == RoleEnd || l.Role == RolePad || l.Role == RolePacked) {
		return bookType(l.Role, l.Len, schema.Little)
	}
	if it == nil || it.Role == RoleValue {
		if l.Field != noIndex {
			return r.Program.fieldType(l.Field)
		}
		return ""
	}
	return it.typeName()
}

// fieldType returns the type of a field as in the definition; a bare element has its list's type without the brackets.
func (p *Program) fieldType(i uint16) string { return p.Fields[i].Type }

func (it *Item) typeName() string {
	if it.Num != nil && it.Role != RoleValue {
		return it.Num.Name()
	}
	return bookType(it.Role, it.Bits, it.Order)
}

// GapType returns the displayed type of unexplained bits.
func GapType(at Range) string { return bookType(RolePad, at.Len, schema.Little) }

// bookType returns the displayed type of bookkeeping: its width.
func bookType(role Role, bits uint32, order schema.Order) string {
	switch role {
	case RolePad, RoleConst, RolePacked:
		if bits%8 == 0 {
			return "byte[" + strconv.Itoa(int(bits/8)) + "]"
		}
		return "bits[" + strconv.Itoa(int(bits)) + "]"
	}
	name := "uint" + strconv.Itoa(int(bits))
	if order == schema.Big {
		name += "be"
	}
	return name
}

// maxScratch is the maximum number of leaves whose memory a Record retains.
const maxScratch = 1 << 16

// allLeaves returns the leaves of the record, valid until the next call.
func (r *Record) allLeaves() []Leaf {
	all := r.AppendLeaves(r.leaves[:0])
	if r.leaves = all; cap(all) > maxScratch {
		r.leaves = nil
	}
	return all
}
