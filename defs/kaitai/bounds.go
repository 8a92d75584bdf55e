package kaitai

import (
	"math"
	"math/bits"

	"wirebench/defs/schema"
)

// bounds returns the smallest and the largest value that an integer expression may have, as far as that is known. So values that fit into 32 bits
// are numbers in JSON, in which larger ones are text.
func bounds(e *schema.Expr) (lo, hi int64) {
	const least, most = math.MinInt64, math.MaxInt64
	switch e.Op {
	case schema.Literal:
		return e.Int, e.Int
	case schema.Index, schema.LengthOf: // a message has fewer bytes and elements
		return 0, math.MaxInt32
	case schema.Ref, schema.Element, schema.Least, schema.Greatest:
		f := e.Field
		if e.Op != schema.Ref {
			f = e.Inner
		}
		n, ok := f.Type.(*schema.Number)
		_, list := f.Type.(*schema.List)
		switch {
		case list:
			return 0, math.MaxInt32
		case !ok:
		case n.Kind == schema.Bool:
			return 0, 1
		case n.Kind == schema.Unsigned && n.Bits < 64:
			return 0, 1<<n.Bits - 1
		case n.Kind == schema.Signed:
			return -1 << (n.Bits - 1), 1<<(n.Bits-1) - 1
		}
		return least, most
	case schema.Not, schema.Equal, schema.NotEqual, schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual, schema.And, schema.Or:
		return 0, 1
	case schema.ByteAt:
		return 0, 255
	case schema.If:
		a, b := bounds(e.Args[1])
		c, d := bounds(e.Args[2])
		return min(a, c), max(b, d)
	case schema.Add, schema.Sub, schema.Mul, schema.Div, schema.Mod, schema.BitAnd, schema.BitOr, schema.BitXor, schema.ShiftLeft, schema.ShiftRight:
	default:
		return least, most
	}
	a, b := bounds(e.Args[0])
	c, d := bounds(e.Args[1])
	const safe = 1 << 53
	if a < -safe || b > safe {
		if e.Op == schema.BitAnd && c >= 0 {
			return 0, d
		}
		if e.Op == schema.Mod && c > 0 {
			return 0, d - 1
		}
		return least, most
	}
	if c < -safe || d > safe {
		if e.Op == schema.BitAnd && a >= 0 {
			return 0, b
		}
		return least, most
	}
	switch e.Op {
	case schema.Add:
		return a + c, b + d
	case schema.Sub:
		return a - d, b - c
	case schema.Mul:
		if m := max(b, -a); m > 0 && max(d, -c) > safe/m {
			return least, most
		}
		return min(a*c, a*d, b*c, b*d), max(a*c, a*d, b*c, b*d)
	case schema.Div: // rounds down, and is 0 for a divisor of 0
		m := max(b, -a)
		if a >= 0 && c >= 0 {
			return 0, b
		}
		return -m - 1, m
	case schema.Mod:
		return min(c+1, 0), max(d-1, 0)
	case schema.BitAnd:
		if a >= 0 && c >= 0 {
			return 0, min(b, d)
		}
		if c >= 0 {
			return 0, d
		}
		if a >= 0 {
			return 0, b
		}
	case schema.BitOr, schema.BitXor:
		if a >= 0 && c >= 0 {
			return 0, 1<<bits.Len64(uint64(max(b, d))) - 1
		}
	case schema.ShiftLeft:
		if a >= 0 && c >= 0 && d < 10 {
			return 0, b << d
		}
	case schema.ShiftRight:
		return min(a, 0), max(b, 0)
	}
	return least, most
}
