package value

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestNumbersAsText compares formatted numbers with those of the standard library.
func TestNumbersAsText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	same := func(f float64) {
		t.Helper()
		format := byte('f')
		if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
			format = 'e'
		}
		if got, want := string(appendFloat(nil, f)), strconv.FormatFloat(f, format, -1, 64); got != want {
			t.Fatalf("%b: got %s, want %s", f, got, want)
		}
	}
	n := 300_000
	if testing.Short() {
		n = 30_000
	}
	for range n {
		same(float64(math.Float32frombits(r.Uint32()&0x7fffff | uint32(95+r.IntN(60))<<23)))                                // as single floats on the wire
		same(math.Float64frombits(r.Uint64()&(1<<52-1) | uint64(1023-25+r.IntN(80))<<52))                                   // any
		same(math.Float64frombits(r.Uint64()&(1<<52-1)>>r.IntN(52)<<r.IntN(52)&(1<<52-1) | uint64(1023-25+r.IntN(80))<<52)) // few bits
		same(-float64(r.IntN(1e9)) / float64(powersOf10[r.IntN(10)]))                                                       // short decimals
		same(float64(int16(r.Uint32())) * math.Pi / 32768)                                                                  // angles
	}
	for e := -30; e < 70; e++ { // the neighbours of powers of two and of ten
		for _, f := range []float64{math.Ldexp(1, e), math.Pow10(e)} {
			same(f)
			same(math.Nextafter(f, 0))
			same(-math.Nextafter(f, math.Inf(1)))
			same(float64(math.Nextafter32(float32(f), 0)))
		}
	}
	same(0)
	same(math.Copysign(0, -1))
	for range n {
		v := r.Uint64() >> r.IntN(64)
		if got, want := string(appendUint(nil, v)), strconv.FormatUint(v, 10); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		if got, want := string(appendInt(nil, int64(v))), strconv.FormatInt(int64(v), 10); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	for _, v := range []uint64{0, 1, 9, 10, 99, 100, 12345, 99999, 100000, 1234567, 9999999, 10000000, 1234567890123} {
		for width := 1; width <= 8; width++ {
			if got, want := string(AppendRight([]byte("x"), v, width)), fmt.Sprintf("x%*d", width, v); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
	for _, v := range powersOf10 {
		for _, v := range []uint64{v - 1, v, v + 1} {
			if got, want := string(appendUint(nil, v)), strconv.FormatUint(v, 10); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
	}
	if got := string(appendInt(nil, math.MinInt64)); got != "-9223372036854775808" {
		t.Error(got)
	}
}

// TestFloats32AsText compares 32-bit floats with those of the standard library.
func TestFloats32AsText(t *testing.T) {
	same := func(raw uint32) {
		t.Helper()
		if got, want := string(appendFloat32(nil, raw)), strconv.FormatFloat(float64(math.Float32frombits(raw)), 'g', -1, 32); got != want {
			t.Fatalf("%#x: got %s, want %s", raw, got, want)
		}
	}
	step := uint32(5003) // all of them take minutes
	if testing.Short() {
		step = 50021
	}
	for raw := uint32(0); raw < math.MaxUint32-step; raw += step {
		same(raw)
	}
	for exponent := range uint32(1 << 9) {
		for _, fraction := range []uint32{0, 1, 2, 3, 1<<22 - 1, 1 << 22, 1<<22 + 1, 1<<23 - 2, 1<<23 - 1} {
			same(exponent<<23 | fraction)
		}
	}
	for n := range 1 << 19 {
		same(math.Float32bits(float32(n) / 2))
	}
	for n := range 1 << 18 {
		same(math.Float32bits(float32(n) / 1000))
		same(math.Float32bits(-float32(n) / 100))
	}
}

func BenchmarkFloatText(b *testing.B) {
	var buf []byte
	r := rand.New(rand.NewPCG(3, 4))
	var fs [256]float64
	for i := range fs {
		fs[i] = float64(float32(r.Float64()*2000 - 1000))
	}
	b.Run("own", func(b *testing.B) {
		for i := range b.N {
			buf = appendFloat(buf[:0], fs[i&255])
		}
	})
	b.Run("strconv", func(b *testing.B) {
		for i := range b.N {
			buf = strconv.AppendFloat(buf[:0], fs[i&255], 'f', -1, 64)
		}
	})
}
