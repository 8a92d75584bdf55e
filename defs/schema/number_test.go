package schema_test

import (
	"math"
	"testing"

	"wirebench/defs/schema"
)

// TestNumberValues checks the values of the same bits as numbers of each kind.
func TestNumberValues(t *testing.T) {
	for _, c := range []struct {
		n       schema.Number
		raw     uint64
		shown   float64
		decimal string
		lo      int64
		hi      uint64
	}{
		{schema.Number{Bits: 8}, 0xff, 255, "255", 0, 255},
		{schema.Number{Bits: 8, Kind: schema.Signed}, 0xff, -1, "-1", -128, 127},
		{schema.Number{Bits: 3, Kind: schema.Signed}, 4, -4, "-4", -4, 3},
		{schema.Number{Bits: 64}, math.MaxUint64, math.MaxUint64, "18446744073709551615", 0, math.MaxUint64},
		{schema.Number{Bits: 64, Kind: schema.Signed}, 1 << 63, math.MinInt64, "-9223372036854775808", math.MinInt64, math.MaxInt64},
		{schema.Number{Bits: 16, Kind: schema.Signed, Scale: 0.5}, 0xfffd, -1.5, "-3", -32768, 32767},
		{schema.Number{Bits: 8, Kind: schema.Bool}, 7, 1, "7", 0, 255},
		{schema.Number{Bits: 32, Kind: schema.Float}, 0x3fc00000, 1.5, "1069547520", 0, math.MaxUint32},
		{schema.Number{Bits: 64, Kind: schema.Float, Scale: 2}, 0x3ff8000000000000, 3, "4609434218613702656", 0, math.MaxUint64},
	} {
		if got := c.n.Float(c.raw); got != c.shown {
			t.Errorf("%s %#x: shown %v, want %v", &c.n, c.raw, got, c.shown)
		}
		if got := c.n.Decimal(c.raw); got != c.decimal {
			t.Errorf("%s %#x: %s, want %s", &c.n, c.raw, got, c.decimal)
		}
		if lo, hi := c.n.Bounds(); lo != c.lo || hi != c.hi {
			t.Errorf("%s: %d to %d, want %d to %d", &c.n, lo, hi, c.lo, c.hi)
		}
	}
}

// TestNumberLegal checks the legal range of numbers of each kind; NaN is never legal.
func TestNumberLegal(t *testing.T) {
	below := schema.Number{Bits: 8, Kind: schema.Signed, Min: &schema.Limit{Int: -2}, Max: &schema.Limit{Int: 1}}
	for raw, want := range map[uint64]bool{0xfd: false, 0xfe: true, 0: true, 1: true, 2: false, 0x7f: false} {
		if below.Legal(raw) != want {
			t.Errorf("int8 %#x: %v", raw, !want)
		}
	}
	float := schema.Number{Bits: 32, Kind: schema.Float, Max: &schema.Limit{Float: 2}}
	for raw, want := range map[uint64]bool{0x40000000: true, 0x40000001: false, 0xff800000: true, 0x7fc00000: false} {
		if float.Legal(raw) != want {
			t.Errorf("float %#x: %v", raw, !want)
		}
	}
	if schema.OddNaN(0x7fc00000, 32) || !schema.OddNaN(0x7fc00001, 32) || schema.OddNaN(0x7f800000, 32) || !schema.OddNaN(0xfff8000000000000, 64) {
		t.Error("the canonical NaN")
	}
	if schema.FloatBits(math.NaN(), 32) != 0x7fc00000 || schema.FloatBits(math.Copysign(math.NaN(), -1), 64) != 0x7ff8000000000000 {
		t.Error("the bits of a NaN")
	}
}
