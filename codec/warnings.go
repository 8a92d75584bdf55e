package codec

import (
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

// AppendWarnings appends the irregularities of a decoded message that do not make it incomplete or illegal. Unlike Decode, it examines
// every value.
func (r *Record) AppendWarnings(dst []Problem) []Problem {
	most := len(dst) + 1000 // a hostile message can have one in every byte
	if m := r.Program.Message; m.HasKey && r.Code != m.Key.Code && len(r.Nodes) > 0 && r.HasCode() {
		dst = append(dst, Problem{Code: WrongCode, Range: Range{r.Program.key.off, uint32(r.Program.key.bits)}, Spot: spot(0, noIndex, -1), Got: uint64(r.Code), Want: uint64(m.Key.Code)})
	}
	dst = r.checksum(dst)
	leaves := r.allLeaves()
	for i := range leaves {
		if len(dst) >= most {
			return dst
		}
		if l := &leaves[i]; l.Item != noIndex {
			if it := r.Item(*l); it.canBeOdd() {
				dst = r.oddItem(dst, *l, it)
			}
		}
	}
	for i := range r.Nodes {
		if len(dst) >= most {
			return dst
		}
		n := &r.Nodes[i]
		o := &r.Program.Ops[n.Op]
		switch {
		case n.Kind == NodeText && n.Bad == NoProblem && n.Len == 0 && o.Size == schema.Terminated:
			dst = append(dst, Problem{Code: NullOffset, Range: n.Range(), Spot: spot(i, o.Field, -1)})
		case n.Kind == NodeVariant && n.Raw == math.MaxUint64:
			dst = append(dst, Problem{Code: SkippedByChoice, Range: n.Range(), Spot: spot(i, noIndex, -1)})
		case n.Kind == NodeList && o.Linked && n.Bad == NoProblem && n.Raw > 0:
			dst = r.oddChain(dst, i, o)
		}
	}
	if !r.Short && !r.Illegal {
		spans := r.sortedSpans()
		for g := range gaps(spans, uint32(min(r.Used, len(r.Data)))*8) {
			dst = append(dst, Problem{Code: Unexplained, Range: g, Got: uint64(g.Len+7) / 8})
		}
		for p := range r.strayOffsets() {
			if dst = append(dst, p); len(dst) >= most {
				return dst
			}
		}
		if share(spans) {
			dst = r.sharedBytes(dst, leaves, most)
		}
	}
	if rest := len(r.Data) - r.Used; rest > 0 && !r.Short && r.Program.length.bits != 0 && len(r.Data) <= MaxMessage {
		dst = append(dst, Problem{Code: LeftOver, Range: Range{uint32(r.Used) * 8, uint32(rest) * 8}, Got: uint64(rest)})
	}
	return dst
}

// HasCode reports whether Code was read from the message.
func (r *Record) HasCode() bool {
	return r.Program.key.bits != 0 && uint64(len(r.Data))*8 >= uint64(r.Program.key.off)+uint64(r.Program.key.bits)
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
		if rest := b[len(CutAtNul(b, t.Charset.Unit())):]; slices.ContainsFunc(rest, func(c byte) bool { return c != 0 }) {
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
