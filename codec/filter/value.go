package filter

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"

	"wirebench/defs/schema"
)

// value is a number, a text or bytes.
type value struct {
	kind valueKind
	bits uint64 // vInt: two's complement. vUint: above the maximum int64
	f    float64
	b    []byte // vText: UTF-8, with lone surrogates as three bytes. vBytes
}

type valueKind uint8

const (
	vNone valueKind = iota
	vInt
	vUint
	vFloat
	vText
	vBytes
)

func intValue(i int64) value { return value{kind: vInt, bits: uint64(i)} }

func uintValue(u uint64) value {
	if u > math.MaxInt64 {
		return value{kind: vUint, bits: u}
	}
	return value{kind: vInt, bits: u}
}

func floatValue(f float64) value { return value{kind: vFloat, f: f} }

func boolValue(b bool) value {
	if b {
		return intValue(1)
	}
	return intValue(0)
}

func textValue(s []byte) value { return value{kind: vText, b: s} }

func bytesValue(b []byte) value { return value{kind: vBytes, b: b} }

// rank separates kinds that cannot be compared with each other.
func (v *value) rank() int {
	switch v.kind {
	case vInt, vUint, vFloat:
		return 0
	case vText:
		return 1
	}
	return 2
}

func (v *value) float() float64 {
	switch v.kind {
	case vInt:
		return float64(int64(v.bits))
	case vUint:
		return float64(v.bits)
	}
	return v.f
}

// compare orders two values of the same rank. ok is false if they cannot be compared: other ranks, and NaN.
func compare(a, b *value) (order int, ok bool) {
	ra, rb := a.rank(), b.rank()
	switch {
	case ra != rb:
		return 0, false
	case ra != 0:
		return bytes.Compare(a.b, b.b), true
	case a.kind == vInt && b.kind == vInt:
		return cmp.Compare(int64(a.bits), int64(b.bits)), true
	case a.kind != vFloat && b.kind != vFloat:
		if a.kind == b.kind {
			return cmp.Compare(a.bits, b.bits), true
		}
		return cmp.Compare(a.kind, b.kind), true // a vUint is greater than every vInt
	case a.kind == vFloat && b.kind == vFloat:
		if a.f != a.f || b.f != b.f {
			return 0, false
		}
		return cmp.Compare(a.f, b.f), true
	case a.kind == vFloat:
		order, ok = compareFloat(b, a.f)
		return -order, ok
	}
	return compareFloat(a, b.f)
}

// compareFloat orders an integer and a float exactly.
func compareFloat(a *value, f float64) (order int, ok bool) {
	const two63, two64 = 1 << 63, 1 << 64
	switch {
	case f != f:
		return 0, false
	case f >= two64 || a.kind == vInt && f >= two63:
		return -1, true
	case f < -two63 || a.kind == vUint && f < two63:
		return 1, true
	case a.kind == vUint:
		return cmp.Compare(a.bits, uint64(f)), true // so large a float has no fraction
	}
	whole := math.Trunc(f)
	if order = cmp.Compare(int64(a.bits), int64(whole)); order != 0 {
		return order, true
	}
	return cmp.Compare(whole, f), true
}

// equal reports whether two values are the same.
func equal(a, b *value) bool {
	order, ok := compare(a, b)
	return ok && order == 0
}

// holds reports whether a op b.
func holds(op cmpOp, a, b *value) bool {
	order, ok := compare(a, b)
	return ok && op.holds(order)
}

func (o cmpOp) holds(order int) bool {
	switch o {
	case opEq:
		return order == 0
	case opNe:
		return order != 0
	case opGt:
		return order > 0
	case opGe:
		return order >= 0
	case opLt:
		return order < 0
	}
	return order <= 0
}

// arithmetic computes a op b of two numbers. ok is false for a division by zero.
func arithmetic(op kind, a, b *value) (value, bool) {
	if a.kind == vFloat || b.kind == vFloat {
		x, y := a.float(), b.float()
		switch op {
		case nAdd:
			return floatValue(x + y), true
		case nSub:
			return floatValue(x - y), true
		case nMul:
			return floatValue(x * y), true
		case nDiv:
			return floatValue(x / y), y != 0
		case nMod:
			return floatValue(math.Mod(x, y)), y != 0
		}
		return value{}, false // a float has no bits
	}
	if op == nBits {
		return uintValue(a.bits & b.bits), true
	}
	// Sign and magnitude, to include unsigned 64-bit integers.
	na, ua := magnitude(a)
	nb, ub := magnitude(b)
	switch op {
	case nSub, nAdd:
		if op == nSub {
			nb = !nb
		}
		if na == nb {
			sum, carry := bits.Add64(ua, ub, 0)
			return signedValue(na, sum, carry != 0, a.float(), b.float(), op)
		}
		if ua >= ub {
			return signedValue(na, ua-ub, false, 0, 0, op)
		}
		return signedValue(nb, ub-ua, false, 0, 0, op)
	case nMul:
		hi, lo := bits.Mul64(ua, ub)
		return signedValue(na != nb, lo, hi != 0, a.float(), b.float(), op)
	case nDiv:
		if ub == 0 {
			return value{}, false
		}
		return signedValue(na != nb, ua/ub, false, 0, 0, op)
	case nMod:
		if ub == 0 {
			return value{}, false
		}
		return signedValue(na, ua%ub, false, 0, 0, op)
	}
	return value{}, false
}

func magnitude(v *value) (negative bool, size uint64) {
	if v.kind == vInt && int64(v.bits) < 0 {
		return true, -v.bits
	}
	return false, v.bits
}

// signedValue returns an integer of sign and magnitude, or x op y as a float if it does not fit.
func signedValue(negative bool, size uint64, over bool, x, y float64, op kind) (value, bool) {
	switch {
	case over:
		a, b := floatValue(x), floatValue(y)
		return arithmetic(op, &a, &b)
	case !negative:
		return uintValue(size), true
	case size > 1<<63:
		return floatValue(-float64(size)), true
	}
	return intValue(int64(-size)), true
}

// set is a set of accepted values: the right side of "in" or "==".
type set struct {
	numbers   []interval // ascending, disjoint
	addresses []addressRange
	texts     map[string]struct{}
	patterns  []pattern
	near      []near
}

type interval struct{ lo, hi value }

func (s *set) has(v *value) bool {
	switch v.rank() {
	case 0:
		if v.kind == vFloat && v.f != v.f {
			return false
		}
		lo, hi := 0, len(s.numbers)
		for lo < hi {
			mid := (lo + hi) / 2
			if order, _ := compare(&s.numbers[mid].hi, v); order < 0 {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo < len(s.numbers) && holds(opLe, &s.numbers[lo].lo, v)
	case 1:
		if len(s.addresses) > 0 {
			a, ok := parseAddress(v.b)
			return ok && slices.ContainsFunc(s.addresses, func(r addressRange) bool { return r.has(a) })
		}
		_, ok := s.texts[string(v.b)]
		return ok
	}
	for i := range s.patterns {
		if s.patterns[i].equal(v.b) {
			return true
		}
	}
	for i := range s.near {
		if len(v.b) == s.near[i].size && s.near[i].at(v.b) {
			return true
		}
	}
	return false
}

// finish sorts the intervals and merges adjacent ones.
func (s *set) finish() {
	s.numbers = slices.DeleteFunc(s.numbers, func(i interval) bool { return !holds(opLe, &i.lo, &i.hi) })
	slices.SortFunc(s.numbers, func(a, b interval) int { order, _ := compare(&a.lo, &b.lo); return order })
	out := s.numbers[:0]
	for _, i := range s.numbers {
		if k := len(out) - 1; k >= 0 && holds(opLe, &i.lo, &out[k].hi) {
			if holds(opGt, &i.hi, &out[k].hi) {
				out[k].hi = i.hi
			}
			continue
		}
		out = append(out, i)
	}
	s.numbers = out
}

// near is a float of a size in bytes with a tolerance.
type near struct {
	value, off float64
	size       int
	big        bool
}

// at reports whether b starts with such a float.
func (n *near) at(b []byte) bool {
	f := schema.BitsFloat(readNumber(b[:n.size], n.big), 8*n.size)
	return math.Abs(f-n.value) <= n.off
}

// in reports whether such a float is at any offset.
func (n *near) in(b []byte) bool {
	for ; len(b) >= n.size; b = b[1:] {
		if n.at(b) {
			return true
		}
	}
	return false
}
