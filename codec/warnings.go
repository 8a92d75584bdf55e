package codec

import (
	"iter"
	"math"
	"slices"

	"wirebench/defs/schema"
)

// AllProblems returns the problems and warnings of the record, problems first. They are valid until the next call.
func (r *Record) AllProblems() []Problem {
	all := append(r.odd[:0], r.Problems...)
	if r.Program.Message.Broken {
		all = append(all, Problem{Code: DefinitionErrors})
	}
	all = r.AppendWarnings(all)
	r.odd = all[:0]
	return all
}

// maxWarnings bounds the warnings of a message: a hostile one can have one in every byte.
const maxWarnings = 1000

// AppendWarnings appends the irregularities of a decoded message that do not make it incomplete or illegal. Unlike Decode, it examines
// every value.
func (r *Record) AppendWarnings(dst []Problem) []Problem {
	most := len(dst) + maxWarnings
	dst = r.AppendOddValues(dst)
	if len(dst) >= most {
		return dst
	}
	open := r.Program.Message.Open
	if !r.Short && !r.Illegal {
		spans := r.sortedSpans()
		for g := range r.gaps(spans, uint32(min(r.Used, r.Size()))*8) {
			if open {
				break
			}
			dst = append(dst, Problem{Code: Unexplained, Range: g, Got: uint64(g.Len+7) / 8})
		}
		for p := range r.strayOffsets() {
			if dst = append(dst, p); len(dst) >= most {
				return dst
			}
		}
		if share(spans) {
			dst = r.sharedBytes(dst, r.allLeaves(), most)
		}
	}
	if n := r.Filled; n > 0 && n <= len(r.Data) {
		dst = append(dst, Problem{Code: ZerosLeftOut, Range: Range{Off: uint32(len(r.Data)-n) * 8, Len: uint32(n) * 8}, Got: uint64(n)})
	}
	if at := r.Rest(); !open && at.Len > 0 && r.Size() <= MaxMessage {
		dst = append(dst, Problem{Code: LeftOver, Range: at, Got: uint64(at.Len / 8)})
	}
	return dst
}

// AppendOddValues appends the warnings about values. Others are about the place of values: bytes of no field or of several, which a message
// does not have that Encode would lay out the same way.
func (r *Record) AppendOddValues(dst []Problem) []Problem {
	most := len(dst) + maxWarnings
	if m := r.Program.Message; m.HasKey && r.Code != m.Key.Code && len(r.Nodes) > 0 && r.HasCode() {
		dst = append(dst, Problem{Code: WrongCode, Range: r.codeRange(), Spot: spot(0, noIndex, -1), Got: uint64(r.Code), Want: uint64(m.Key.Code)})
	}
	dst = r.checksum(dst)
	if r.Program.odd {
		for l := range r.itemsOf(func(b *Block) []uint16 { return b.odd }, (*Item).seemsOdd) {
			if len(dst) >= most {
				return dst
			}
			dst = r.oddItem(dst, l, r.Item(l))
		}
	}
	for i := range r.Nodes {
		if len(dst) >= most {
			return dst
		}
		n := &r.Nodes[i]
		o := &r.Program.Ops[n.Op]
		switch {
		case n.Kind == NodeVar:
			dst = r.oddVarint(dst, i, o)
		case n.Kind == NodeText && n.Bad == NoProblem && n.Len == 0 && o.Size == schema.Terminated && o.offset != noIndex:
			dst = append(dst, Problem{Code: NullOffset, Range: n.Range(), Spot: spot(i, o.Field, -1)})
		case n.Kind == NodeVariant && n.Raw == math.MaxUint64:
			dst = append(dst, Problem{Code: SkippedByChoice, Range: n.Range(), Spot: spot(i, o.Field, -1)})
		case n.Kind == NodeList && o.once && n.Raw > 1:
			dst = append(dst, Problem{Code: SentAgain, Range: n.Range(), Spot: spot(i, o.Field, -1), Got: n.Raw})
		case n.Kind == NodeList && o.Linked && n.Bad == NoProblem && n.Raw > 0:
			dst = r.oddChain(dst, i, o)
		}
	}
	return dst
}

// HasCode reports whether Code was read from the message.
func (r *Record) HasCode() bool {
	if r.Program.keyVar {
		n := r.keyNode()
		return n != nil && n.Kind == NodeVar && n.Bad == NoProblem
	}
	return r.Program.key.bits != 0 && uint64(len(r.Data))*8 >= uint64(r.Program.key.off)+uint64(r.Program.key.bits)
}

// keyNode returns the node of a key of variable size, or nil.
func (r *Record) keyNode() *Node {
	if i := int(r.Program.keyOp); i < len(r.Nodes) && r.Nodes[i].Op == r.Program.keyOp {
		return &r.Nodes[i]
	}
	return nil
}

// codeRange returns the range of the message's code.
func (r *Record) codeRange() Range {
	if n := r.keyNode(); r.Program.keyVar && n != nil {
		return n.Range()
	}
	return Range{r.Program.key.off, uint32(r.Program.key.bits)}
}

// checksum verifies the frame's checksum if the session's key is known.
func (r *Record) checksum(dst []Problem) []Problem {
	p := r.Program
	if p.check.bits == 0 || p.sum == nil || !r.Session.KeyKnown || r.Short || r.Used < int(p.header) || r.Used > len(r.Data) {
		return dst
	}
	frame := r.Data[:r.Used]
	got, want := p.check.load(frame, 0), uint64(p.sum(frame, r.Session.Key))
	if got != want {
		dst = append(dst, Problem{Code: WrongCheck, Range: Range{p.check.off, uint32(p.check.bits)}, Spot: spot(0, noIndex, -1), Got: got, Want: want})
	}
	return dst
}

// canBeOdd reports whether oddItem may find an irregularity.
func (it *Item) canBeOdd() bool {
	return it.Role == RoleHere || it.Form == FormBool || it.Form == FormText || it.Num != nil && it.Num.Kind == schema.Float
}

// findOdd lists the items of the blocks that oddItem and PaddingSet must look at.
func (p *Program) findOdd() {
	for k := range p.Blocks {
		b := &p.Blocks[k]
		for i := range b.Items {
			if it := &b.Items[i]; it.canBeOdd() {
				b.odd = append(b.odd, uint16(i))
			} else if it.Role == RolePad {
				b.pads = append(b.pads, uint16(i))
			}
		}
		p.odd, p.padded = p.odd || len(b.odd) > 0, p.padded || len(b.pads) > 0
	}
	p.padded = p.padded || slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Code == OpAlign })
}

// seemsOdd reports whether oddItem must look at a value of a node at a byte. Nearly all values are not odd.
func (it *Item) seemsOdd(raw, at uint64) bool {
	switch {
	case it.Role == RoleHere:
		return raw != at
	case it.Form == FormText:
		return true
	case it.Form == FormBool:
		return raw > 1
	case it.Bits == 32:
		return raw&0x7f800000 == 0x7f800000 // not finite
	case it.Bits == 16:
		return raw&0x7c00 == 0x7c00
	}
	return raw&0x7ff0000000000000 == 0x7ff0000000000000
}

// itemsOf yields the leaves of some items of the blocks, by their indexes, in decoding order. All of them, if only is nil; otherwise those for
// which it returns true.
func (r *Record) itemsOf(which func(b *Block) []uint16, only func(it *Item, raw, at uint64) bool) iter.Seq[Leaf] {
	return func(yield func(Leaf) bool) {
		for i := range r.Nodes {
			n := &r.Nodes[i]
			o := &r.Program.Ops[n.Op]
			count, elem := uint64(1), int32(-1)
			switch {
			case n.Kind == NodeBlock || n.Kind == NodeElem && o.Plain:
			case n.Kind == NodeList && !o.Linked && o.Plain:
				count, elem = n.Raw, 0
			default:
				continue
			}
			b := &r.Program.Blocks[o.Block]
			items := which(b)
			if len(items) == 0 {
				continue
			}
			for k := range count {
				for _, x := range items {
					it := &b.Items[x]
					at := n.Off + uint32(k)*b.Bits
					if only != nil && at%8 == 0 && uint64(at/8)+uint64(b.Reach) <= uint64(len(r.Data)) && it.Bits-1 < 64 && !only(it, it.Peek.From(r.Data[at/8:]), uint64(n.Off/8)) {
						continue
					}
					l := Leaf{Off: at + it.Off, Node: uint32(i), LeafKind: b.rows[x].kind}
					l.Elem = elem
					if l.Off+it.Bits > n.Range().End() {
						break // truncated
					}
					if it.Bits-1 < 64 {
						l.Raw = LoadBits(r.Data, l.Off, it.Bits, it.Order)
					}
					if !yield(l) {
						return
					}
				}
				if elem >= 0 {
					elem++
				}
			}
		}
	}
}

// PaddingSet reports whether bits of padding are set. No value has them; Encode copies those of blocks, but not those of alignments.
func (r *Record) PaddingSet() bool {
	if !r.Program.padded {
		return false
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Kind == NodeAlign && slices.ContainsFunc(r.Data[n.Off/8:n.Range().End()/8], func(c byte) bool { return c != 0 }) {
			return true
		}
	}
	for l := range r.itemsOf(func(b *Block) []uint16 { return b.pads }, nil) {
		for at := l.Off; at < l.Range().End(); at += 8 {
			if LoadBits(r.Data, at, min(8, l.Range().End()-at), r.Item(l).Order) != 0 {
				return true
			}
		}
	}
	return false
}

// oddVarint checks whether a number has its shortest encoding.
func (r *Record) oddVarint(dst []Problem, node int, o *Op) []Problem {
	n, it := &r.Nodes[node], r.Program.Var(o)
	if n.Len <= 8 || n.Bad != NoProblem {
		return dst
	}
	var b [20]byte
	bytes := r.Data[n.Off/8 : (n.Off+n.Len)/8]
	short := it.Shortest(b[:0], bytes, n.Raw)
	if string(short) == string(bytes) {
		return dst
	}
	return append(dst, Problem{Code: NotShortest, Range: n.Range(), Spot: spot(node, it.Field, -1), Got: uint64(n.Len / 8), Want: uint64(len(short))})
}

// oddItem examines one value of a block.
func (r *Record) oddItem(dst []Problem, l Leaf, it *Item) []Problem {
	p := Problem{Range: l.Range(), Spot: spot(int(l.Node), l.Field, l.Elem), Got: l.Raw}
	switch {
	case it.Role == RoleHere:
		if p.Want = uint64(r.Nodes[l.Node].Off / 8); l.Raw != p.Want {
			p.Code = WrongHere
		}
	case it.Form == FormBool && l.Raw > 1:
		p.Code = BoolAboveOne
	case it.Num != nil && it.Num.Kind == schema.Float:
		if schema.OddNaN(l.Raw, it.Num.Bits) {
			p.Code = NaNPayload
		}
	case it.Form == FormText:
		t := it.Type.(*schema.Text)
		b := r.Data[l.Off/8 : l.Range().End()/8]
		if rest := b[len(CutAtNul(b, t.Charset.Unit())):]; t.Pad == 0 && slices.ContainsFunc(rest, func(c byte) bool { return c != 0 }) {
			p.Code = BytesAfterEnd
		}
	}
	if p.Code == NoProblem {
		return dst
	}
	return append(dst, p)
}

// oddChain checks whether the last element of a list links to another one.
func (r *Record) oddChain(dst []Problem, list int, o *Op) []Problem {
	last := list + 1
	for i := last; i < int(r.Nodes[list].After); i = int(r.Nodes[i].After) {
		last = i
	}
	at := r.Nodes[last].Off
	if uint64(at+o.nextAt.off)+uint64(o.nextAt.bits) > uint64(len(r.Data))*8 {
		return dst
	}
	if next := o.nextAt.load(r.Data, at); next != 0 {
		dst = append(dst, Problem{Code: ChainContinues, Range: Range{at + o.nextAt.off, uint32(o.nextAt.bits)}, Spot: spot(list, o.Field, -1), Got: next})
	}
	return dst
}
