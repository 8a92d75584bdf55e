package wire

import (
	"math"

	"wirebench/defs/schema"
)

// Size is a range of sizes on the wire, laid out without gaps.
type Size struct {
	Min Sum
	Max int64 // bits, or NoLimit
}

// NoLimit is the maximum of an unlimited size.
const NoLimit = -1

// Fixed reports whether the size is the same in every message.
func (s Size) Fixed() bool { return s.Min.Bits == s.Max }

// Bytes returns the size in bytes, rounded up; most may be NoLimit. Constants without a value count as 0.
func (s Size) Bytes() (least, most int64) {
	if most = s.Max; most != NoLimit {
		most = (most + 7) / 8
	}
	return (s.Min.Bits + 7) / 8, most
}

// Sum is a number of bits plus terms that depend on constants without a value.
type Sum struct {
	Bits  int64
	Terms []Term
}

// Term is a sum multiplied by a constant, or by Times if Const is empty.
type Term struct {
	Const string
	Times int64
	Of    Sum
}

// huge is the saturation limit of sizes in bits: beyond any message, and far from overflow.
const huge = 1 << 50

func exactly(bits int64) Size { return Size{Sum{Bits: bits}, bits} }

func (s Sum) plus(t Sum) Sum {
	s.Bits = min(s.Bits+t.Bits, huge)
	s.Terms = append(s.Terms[:len(s.Terms):len(s.Terms)], t.Terms...)
	return s
}

func (s Sum) times(n uint64) Sum {
	out := Sum{Bits: product(s.Bits, n)}
	if len(s.Terms) > 0 && n > 0 {
		out.Terms = []Term{{Times: int64(min(n, huge)), Of: Sum{Terms: s.Terms}}}
	}
	return out
}

// product multiplies and saturates at huge.
func product(bits int64, n uint64) int64 {
	if bits == 0 || n == 0 {
		return 0
	}
	if n > uint64(huge/bits) {
		return huge
	}
	return bits * int64(n)
}

func (s Size) plus(t Size) Size {
	limited := s.Max != NoLimit && t.Max != NoLimit && s.Max+t.Max < huge
	s.Min = s.Min.plus(t.Min)
	if s.Max += t.Max; !limited {
		s.Max = NoLimit
	}
	return s
}

// bodySize returns the size of consecutive parts. Optional parts do not count towards the minimum.
func bodySize(parts []Part) (s Size) {
	for i := range parts {
		one := parts[i].Size
		if parts[i].Optional > 0 {
			one.Min = Sum{}
		}
		s = s.plus(one)
	}
	return s
}

// contentSize returns the size of the legal numbers of units, and the size of one unit.
func contentSize(p *Part) (s, unit Size) {
	unit = exactly(int64(p.Unit) * 8)
	if p.Kind == List {
		unit = p.Elem.Size
	}
	switch p.Extent.Size {
	case schema.Fixed:
		return unit.times(uint64(p.Extent.N), uint64(p.Extent.N)), unit
	case schema.Terminated:
		if p.Extent.Lax || p.Extent.Keep {
			return Size{Max: NoLimit}, unit
		}
		return Size{unit.Min, NoLimit}, unit
	case schema.Until:
		return Size{exactly(8).Min, NoLimit}, unit
	case schema.Scattered:
		return Size{Max: NoLimit}, unit
	case schema.While, schema.Ending:
		return Size{unit.Min, NoLimit}, unit
	}
	s = unit.times(p.MinUnits, p.MaxUnits)
	if e := p.Extent; e.Min != nil && e.Min.Const != "" {
		s.Min = Sum{Terms: []Term{{Const: e.Min.Const, Of: unit.Min}}}
	}
	return s, unit
}

func (s Size) times(least, most uint64) Size {
	out := Size{Min: s.Min.times(least), Max: NoLimit}
	if s.Max != NoLimit && most != math.MaxUint64 {
		if out.Max = product(s.Max, most); out.Max >= huge {
			out.Max = NoLimit
		}
	}
	return out
}

// choiceSize returns the size of alternatives after a common part. The minimum is 0 if the cases are not exhaustive.
func (c *compiler) choiceSize(cases []Case, common int64, top bool) (s Size) {
	if c.covered(cases, int((common+7)/8), top) {
		s = cases[0].Body.Size
	}
	for i := range cases {
		one := cases[i].Body.Size
		if one.Min.Bits < s.Min.Bits {
			s.Min = one.Min
		}
		if s.Max == NoLimit || one.Max == NoLimit {
			s.Max = NoLimit
		} else {
			s.Max = max(s.Max, one.Max)
		}
	}
	return s
}

// fieldChoiceSize returns the size of a choice that is a field: 0 if no alternative applies.
func (c *compiler) fieldChoiceSize(cases []Case) (s Size) {
	all := len(cases) > 0 && (cases[len(cases)-1].Else || c.covered(cases, 0, false))
	for i := range cases {
		one := cases[i].Body.Size
		if i == 0 && all || one.Min.Bits < s.Min.Bits {
			s.Min = one.Min
		}
		if s.Max == NoLimit || one.Max == NoLimit {
			s.Max = NoLimit
		} else {
			s.Max = max(s.Max, one.Max)
		}
	}
	return s
}

// covered reports whether the cases are exhaustive: one of them applies to a message of just the common bytes, or to each legal value of
// the number that they depend on.
func (c *compiler) covered(cases []Case, common int, top bool) bool {
	values := map[int]map[uint64]bool{}
	for i := range cases {
		x := &cases[i]
		if x.Reg == None {
			if x.Min == 0 && x.Max == 0 || top && x.Fits(common) {
				return true
			}
			continue
		}
		if x.Text != nil {
			continue
		}
		if values[x.Reg] == nil {
			values[x.Reg] = map[uint64]bool{}
		}
		values[x.Reg][x.Value] = true
	}
	for reg, there := range values {
		if c.allLegal(&c.m.Regs[reg], there) {
			return true
		}
	}
	return false
}

// allLegal reports whether values contains all legal values of a register.
func (c *compiler) allLegal(r *Reg, values map[uint64]bool) bool {
	if r.Field == None || r.Kind != schema.Value {
		return false
	}
	n, ok := c.m.Fields[r.Field].Schema.Type.(*schema.Number)
	if !ok || n.Kind == schema.Float {
		return false
	}
	lo, hi := n.Bounds()
	from, to := uint64(lo), hi
	switch {
	case n.Kind == schema.Signed:
		if n.Min != nil && n.Min.Const == "" {
			from = uint64(n.Min.Int)
		}
		if n.Max != nil && n.Max.Const == "" {
			to = uint64(n.Max.Int)
		}
	default:
		if n.Min != nil && n.Min.Const == "" {
			from = n.Min.Uint
		}
		if n.Max != nil && n.Max.Const == "" {
			to = n.Max.Uint
		}
	}
	if to-from >= uint64(len(values)) {
		return false
	}
	for v := from; ; v++ {
		if !values[v&schema.Mask(n.Bits)] {
			return false
		}
		if v == to {
			return true
		}
	}
}
