package codec

import (
	"cmp"
	"iter"
	"slices"
)

// span is the range of bits that the fields of a node occupy.
type span struct {
	Range
	node uint32
}

// extent returns the range of bits that the fields of a node occupy; it is empty for nodes that only hold others, and for bits that are
// too few for a field.
func (r *Record) extent(node int) Range {
	n := &r.Nodes[node]
	o := &r.Program.Ops[n.Op]
	switch n.Kind {
	case NodeText, NodeBlob:
		return n.Range()
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
	}
	return Range{}
}

// sortedSpans returns the spans of the record that are not empty, by position. They are valid until the next call.
func (r *Record) sortedSpans() []span {
	all, sorted := r.spans[:0], true
	for i := range r.Nodes {
		at := r.extent(i)
		if at.Len == 0 {
			continue
		}
		sorted = sorted && (len(all) == 0 || all[len(all)-1].Off <= at.Off)
		all = append(all, span{at, uint32(i)})
	}
	if !sorted {
		slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.Off, b.Off) })
	}
	if r.spans = all; cap(all) > maxScratch {
		r.spans = nil
	}
	return all
}

// Gaps returns the ranges of the message that belong to no field, in order.
func (r *Record) Gaps() iter.Seq[Range] { return r.gaps(uint32(min(r.Used, len(r.Data))) * 8) }

// Unexplained returns the number of bytes of Data that belong to no field: those inside the message and those after it.
func (r *Record) Unexplained() (bytes int) {
	for g := range r.gaps(uint32(len(r.Data)) * 8) {
		bytes += int(g.Len+7) / 8
	}
	return bytes
}

// gaps yields the ranges before a bit that belong to no field.
func (r *Record) gaps(end uint32) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		at := uint32(0)
		for _, s := range r.sortedSpans() {
			if s.Off > at && !yield(Range{at, s.Off - at}) {
				return
			}
			at = max(at, s.End())
		}
		if at < end {
			yield(Range{at, end - at})
		}
	}
}
