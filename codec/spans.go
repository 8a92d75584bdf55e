package codec

import (
	"cmp"
	"iter"
	"slices"

	"wirebench/defs/schema"
)

// span is the range of bits that the fields of a node occupy.
type span struct {
	Range
	node uint32
	look bool // it may have bytes of others: see schema.Group.Look
}

// extent returns the range of bits that the fields of a node occupy; it is empty for nodes that only hold others, and for bits that are
// too few for a field.
func (r *Record) extent(node int) Range {
	n := &r.Nodes[node]
	o := &r.Program.Ops[n.Op]
	switch n.Kind {
	case NodeGroup:
		if o.packing != schema.Unpacked {
			return n.Range()
		}
	case NodeText, NodeBlob, NodeEnd, NodeAlign:
		return n.Range()
	case NodeVar:
		if n.Bad == NoProblem {
			return n.Range()
		}
	case NodeList:
		if o.Plain && !o.Linked && n.After == uint32(node)+1 {
			return n.Range()
		}
	case NodeBlock, NodeElem:
		if n.Kind == NodeElem && !(o.Plain && o.Linked) {
			break
		}
		b := &r.Program.Blocks[o.Block]
		if n.Len >= b.Bits {
			return n.Range()
		}
		end := uint32(0) // truncated: only complete fields count
		for i := range b.Items {
			if to := b.Items[i].Off + b.Items[i].Bits; to <= n.Len {
				end = to
			}
		}
		return Range{n.Off, end}
	case NodeVariant, NodeNull: // no bytes of their own
	}
	return Range{}
}

// sortedSpans returns the spans of the record that are not empty, by position. They are valid until the next call.
func (r *Record) sortedSpans() []span {
	all, sorted, looks := r.spans[:0], true, 0
	for i := range r.Nodes {
		looks = r.lookTo(i, looks)
		at := r.extent(i)
		if at.Len == 0 {
			continue
		}
		sorted = sorted && (len(all) == 0 || all[len(all)-1].Off <= at.Off)
		all = append(all, span{at, uint32(i), i < looks})
	}
	if !sorted {
		slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.Off, b.Off) })
	}
	if r.spans = all; cap(all) > maxScratch {
		r.spans = nil
	}
	return all
}

// Fit is how the fields of a message cover its bytes.
type Fit uint8

// The fits.
const (
	Exact     Fit = iota // each byte belongs to one field
	Leftover             // some bytes belong to no field
	Misplaced            // fields share bytes, or an offset that nothing is read from leads outside
)

// Fit returns how the fields of a message that was read without error cover the bytes of Data.
func (r *Record) Fit() (fit Fit) {
	spans := r.sortedSpans()
	for range r.strayOffsets() {
		return Misplaced
	}
	if share(spans) {
		return Misplaced
	}
	for range r.gaps(spans, uint32(r.Size())*8) {
		return Leftover
	}
	return Exact
}

// PastEnd reports whether the message could not be read because fields extend past its end.
func (r *Record) PastEnd() bool {
	return r.Short || r.Illegal && slices.ContainsFunc(r.Problems, func(p Problem) bool {
		switch p.Code {
		case PastFrame, ContentsOutside, OffsetOutside, NotTerminated, Truncated:
			return true
		}
		return false
	})
}

// Gaps returns the ranges of the message that belong to no field, in order, and then those of decompressed contents.
func (r *Record) Gaps() iter.Seq[Range] {
	return r.gaps(r.sortedSpans(), uint32(min(r.Used, r.Size()))*8)
}

// Rest returns the range of the bytes after the message, which belong to no field. It is empty where the end of the message is not known.
func (r *Record) Rest() Range {
	if r.Short || r.Illegal && r.Program.length.bits == 0 || r.Used >= r.Size() {
		return Range{}
	}
	return Range{Off: uint32(r.Used) * 8, Len: uint32(r.Size()-r.Used) * 8}
}

// Unexplained returns the number of bytes of Data that belong to no field: those inside the message and those after it.
func (r *Record) Unexplained() (bytes int) {
	if len(r.Nodes) == 1 && r.extent(0) == (Range{0, uint32(len(r.Data)) * 8}) {
		return 0
	}
	for g := range r.gaps(r.sortedSpans(), uint32(r.Size())*8) {
		bytes += int(g.Len+7) / 8
	}
	return bytes
}

// gaps yields the ranges of the message, up to a bit, and those of decompressed contents that none of the spans covers.
func (r *Record) gaps(spans []span, end uint32) iter.Seq[Range] {
	return func(yield func(Range) bool) { r.eachGap(spans, end, yield) } // short, so that it is inlined and allocates nothing
}

func (r *Record) eachGap(spans []span, end uint32, yield func(Range) bool) {
	if len(r.Packs) == 0 {
		gapsIn(spans, 0, end, yield)
		return
	}
	from := uint32(0)
	for i := -1; i < len(r.Packs); i++ {
		to := end
		if i >= 0 && r.Packs[i].Node == NoNode {
			continue
		}
		if i >= 0 {
			from, to = r.Packs[i].From*8, r.Packs[i].To*8
		}
		n := 0
		for n < len(spans) && spans[n].Off < to {
			n++
		}
		if !gapsIn(spans[:n], from, to, yield) {
			return
		}
		spans = spans[n:]
	}
}

// gapsIn yields the ranges from one bit to another that none of the spans covers, until yield returns false.
func gapsIn(spans []span, from, end uint32, yield func(Range) bool) bool {
	at := from
	for _, s := range spans {
		if s.Off > at && !yield(Range{at, s.Off - at}) {
			return false
		}
		at = max(at, s.End())
	}
	return at >= end || yield(Range{at, end - at})
}

// share reports whether spans have bytes in common.
func share(spans []span) bool {
	end := uint32(0)
	for _, s := range spans {
		switch {
		case s.look:
			continue
		case s.Off < end:
			return true
		}
		end = s.End()
	}
	return false
}

// lookTo returns the end of the nodes whose bytes others may have, too, that a node is among; to is that of the node before it.
func (r *Record) lookTo(node, to int) int {
	if r.Program.looks && node >= to && r.Program.Ops[r.Nodes[node].Op].look && r.Nodes[node].Kind == NodeGroup {
		return int(r.Nodes[node].After)
	}
	return to
}

// withoutLooks returns the leaves that are not in groups whose contents may be bytes of others.
func (r *Record) withoutLooks(leaves []Leaf) []Leaf {
	if !r.Program.looks {
		return leaves
	}
	to, node := 0, 0
	return slices.DeleteFunc(leaves, func(l Leaf) bool {
		for ; node <= int(l.Node); node++ {
			to = r.lookTo(node, to)
		}
		return int(l.Node) < to
	})
}

// sharedBytes appends a problem for each field that shares bytes with one that begins before it or is read before it. It reorders the
// leaves.
func (r *Record) sharedBytes(dst []Problem, leaves []Leaf, most int) []Problem {
	leaves = r.withoutLooks(leaves)
	slices.SortStableFunc(leaves, func(a, b Leaf) int { return cmp.Compare(a.Off, b.Off) })
	var last *Leaf // the one that ends last
	for i := range leaves {
		l := &leaves[i]
		switch {
		case l.Len == 0:
			continue
		case last == nil:
		case l.Off < last.Range().End() && len(dst) < most:
			at := Range{l.Off, min(l.Range().End(), last.Range().End()) - l.Off}
			first, second := last, l
			if first.Node > second.Node {
				first, second = second, first
			}
			dst = append(dst, Problem{
				Code: SharedBytes, Range: at, Got: uint64(at.Len+7) / 8,
				Spot: spot(int(second.Node), second.Field, second.Elem), Role: second.Role,
				Other: spot(int(first.Node), first.Field, first.Elem), OtherRole: first.Role,
			})
			if l.Range().End() <= last.Range().End() {
				continue
			}
		}
		last = l
	}
	return dst
}

// pointer is an offset whose contents have a count in the same block.
type pointer struct{ offset, count uint16 } // indexes of loads

// findPointers finds the pointers of a block: adjacent loads.
func (b *Block) findPointers() {
	for i := 1; i < len(b.Loads); i++ {
		switch x, y := &b.Loads[i-1], &b.Loads[i]; {
		case x.field != y.field:
		case x.kind == RoleOffset && y.kind == RoleCount:
			b.pointers = append(b.pointers, pointer{uint16(i - 1), uint16(i)})
		case x.kind == RoleCount && y.kind == RoleOffset:
			b.pointers = append(b.pointers, pointer{uint16(i), uint16(i - 1)})
		}
	}
}

// strayOffsets yields the offsets of empty contents that lead outside the message, which Decode ignores.
func (r *Record) strayOffsets() iter.Seq[Problem] {
	return func(yield func(Problem) bool) {
		for i := range r.Nodes {
			n := &r.Nodes[i]
			if n.Kind != NodeBlock {
				continue
			}
			b := &r.Program.Blocks[r.Program.Ops[n.Op].Block]
			if n.Len < b.Bits {
				continue
			}
			for _, p := range b.pointers {
				o, c := &b.Loads[p.offset], &b.Loads[p.count]
				at := LoadBits(r.Data, n.Off+o.Off, uint32(o.Bits), o.Order)
				if at <= uint64(r.Used) || LoadBits(r.Data, n.Off+c.Off, uint32(c.Bits), c.Order) != 0 {
					continue
				}
				if !yield(Problem{
					Code: EmptyOutside, Range: Range{n.Off + o.Off, uint32(o.Bits)}, Spot: spot(i, o.field, -1), Got: at, Want: uint64(r.Used),
				}) {
					return
				}
			}
		}
	}
}
