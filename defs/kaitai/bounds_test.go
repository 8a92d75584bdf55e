package kaitai

import (
	"math/rand/v2"
	"testing"

	"wirebench/defs/schema"
)

// TestBounds checks that values of random expressions are within their bounds.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	types := []*schema.Number{{Bits: 8}, {Bits: 3}, {Bits: 16, Kind: schema.Signed}, {Bits: 32}, {Bits: 64, Kind: schema.Signed}, {Bits: 1, Kind: schema.Bool}}
	fields := make([]*schema.Field, len(types))
	for i, n := range types {
		fields[i] = &schema.Field{Type: n}
	}
	values := make(map[*schema.Field]int64)
	var value func(e *schema.Expr) int64
	value = func(e *schema.Expr) int64 {
		switch e.Op {
		case schema.Literal:
			return e.Int
		case schema.Ref:
			return values[e.Field]
		case schema.If:
			if value(e.Args[0]) != 0 {
				return value(e.Args[1])
			}
			return value(e.Args[2])
		}
		b := int64(0)
		if len(e.Args) > 1 {
			b = value(e.Args[1])
		}
		return e.Op.Apply(value(e.Args[0]), b)
	}
	var random func(depth int) *schema.Expr
	random = func(depth int) *schema.Expr {
		if depth == 0 || r.IntN(4) == 0 {
			if r.IntN(2) == 0 {
				return lit([]int64{0, 1, 2, 7, 255, -1, -128, 1 << 31, 1 << 40}[r.IntN(9)])
			}
			return schema.RefTo(fields[r.IntN(len(fields))])
		}
		o := schema.Not + schema.ExprOp(r.IntN(int(schema.If-schema.Not)+1))
		e := &schema.Expr{Op: o}
		for range o.Operands() {
			e.Args = append(e.Args, random(depth-1))
		}
		return e
	}
	narrow := 0
	for range 20000 {
		e := random(4)
		lo, hi := bounds(e)
		if hi-lo < 1<<32 && hi-lo >= 0 {
			narrow++
		}
		for range 5 {
			for i, n := range types {
				raw := r.Uint64() & schema.Mask(n.Bits)
				if r.IntN(3) == 0 {
					raw = schema.Mask(n.Bits)
				}
				values[fields[i]] = n.Units(raw)
			}
			if v := value(e); v < lo || v > hi {
				t.Fatalf("%d is not in %d..%d", v, lo, hi)
			}
		}
	}
	if narrow < 5000 {
		t.Errorf("only %d of the expressions have narrow bounds", narrow)
	}
}
