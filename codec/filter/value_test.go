package filter

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exact returns a number without rounding, nil if it is not one.
func (v value) exact() *big.Float {
	f := new(big.Float).SetPrec(2200)
	switch v.kind {
	case vInt:
		return f.SetInt64(int64(v.bits))
	case vUint:
		return f.SetUint64(v.bits)
	}
	if v.f != v.f {
		return nil
	}
	return f.SetFloat64(v.f)
}

func drawValue(t *rapid.T) value {
	edges := []uint64{0, 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64, 1 << 53, 1<<53 + 1, math.MaxUint64 - 1024}
	raw := rapid.OneOf(rapid.SampledFrom(edges), rapid.Uint64(), rapid.Uint64Range(0, 20)).Draw(t, "raw")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return uintValue(raw)
	case 1:
		return intValue(int64(-raw))
	case 2:
		f := float64(raw)
		if rapid.Bool().Draw(t, "negative") {
			f = -f
		}
		return floatValue(f + rapid.SampledFrom([]float64{0, 0.5, -0.5}).Draw(t, "off"))
	}
	return floatValue(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)})).Draw(t, "float"))
}

// TestCompareIsExact checks that numbers of all kinds are compared without rounding.
func TestCompareIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawValue(t), drawValue(t)
		x, y := a.exact(), b.exact()
		order, ok := compare(&a, &b)
		if ok != (x != nil && y != nil) || ok && order != x.Cmp(y) {
			t.Fatalf("%+v and %+v: %d, %v", a, b, order, ok)
		}
	})
}

// TestArithmeticIsExact checks integers: a result that fits is exact, others are floats.
func TestArithmeticIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawValue(t), drawValue(t)
		op := rapid.SampledFrom([]kind{nAdd, nSub, nMul, nDiv, nMod}).Draw(t, "op")
		got, ok := arithmetic(op, &a, &b)
		if a.kind == vFloat || b.kind == vFloat {
			if ok && got.kind != vFloat {
				t.Fatalf("%+v", got)
			}
			return
		}
		x, _ := a.exact().Int(nil)
		y, _ := b.exact().Int(nil)
		if (op == nDiv || op == nMod) && y.Sign() == 0 {
			if ok {
				t.Fatal("divided by zero")
			}
			return
		}
		want := new(big.Int)
		switch op {
		case nAdd:
			want.Add(x, y)
		case nSub:
			want.Sub(x, y)
		case nMul:
			want.Mul(x, y)
		case nDiv:
			want.Quo(x, y)
		case nMod:
			want.Rem(x, y)
		}
		fits := want.IsInt64() || want.IsUint64()
		if !ok || fits != (got.kind != vFloat) {
			t.Fatalf("%v %d %v: %+v, want %v", x, op, y, got, want)
		}
		if whole, _ := got.exact().Int(nil); fits && whole.Cmp(want) != 0 {
			t.Fatalf("%v %d %v: %v, want %v", x, op, y, whole, want)
		}
	})
}

// TestSetIsItsItems checks that sorted and merged intervals contain the same numbers.
func TestSetIsItsItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s set
		small := rapid.Int64Range(-10, 10)
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			s.numbers = append(s.numbers, interval{intValue(small.Draw(t, "lo")), intValue(small.Draw(t, "hi"))})
		}
		items := append([]interval(nil), s.numbers...)
		s.finish()
		for i := int64(-22); i <= 22; i++ {
			v := floatValue(float64(i) / 2)
			want := false
			for _, item := range items {
				want = want || holds(opGe, &v, &item.lo) && holds(opLe, &v, &item.hi)
			}
			if s.has(&v) != want {
				t.Fatalf("%v: %v is in it: %v", items, v.f, !want)
			}
		}
	})
}

// TestFinder compares the search for a pattern with trying every offset.
func TestFinder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.SliceOfN(rapid.SampledFrom([]byte("01?a")), 2, 320).Draw(t, "digits")
		p := parsePattern(string(digits[:len(digits)/2*2]))
		data := rapid.SliceOfN(rapid.SampledFrom([]byte{0x00, 0x01, 0x0a, 0x10, 0xaa, 0x11, 0xa1}), 0, 400).Draw(t, "data")
		if rapid.Bool().Draw(t, "planted") {
			data = append(append(bytes.Clone(data), p.value...), 1)
		}
		want := false
		for i := 0; i+p.size() <= len(data); i++ {
			want = want || p.equal(data[i:i+p.size()])
		}
		if got := newFinder(p).in(data); got != want {
			t.Fatalf("%x in %x: %v", p.value, data, got)
		}
	})
}

// TestGlob checks patterns of names.
func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"S_*", "S_A", true},
		{"S_*", "S_", true},
		{"S_*", "C_S_", false},
		{"*_A*B", "S_AxBB", true},
		{"*_A*B", "S_AxBC", false},
		{"?_A", "S_A", true},
		{"?_A", "SS_A", false},
		{"**", "", true},
		{"", "a", false},
		{"*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa", false},
	} {
		if got := globMatch(c.glob, c.name); got != c.want {
			t.Errorf("%s matches %s: %v", c.glob, c.name, got)
		}
	}
}
