package corpus_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wirebench/codec/corpus"
)

func TestBytesAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.SliceOfN(rapid.SliceOfN(rapid.ByteRange(0, 5), 0, 12), 0, 40).Draw(t, "frames")
		var b corpus.Bytes
		for i, f := range frames {
			b.Add(uint64(i), f)
		}
		longest := 0
		for _, f := range frames {
			longest = max(longest, len(f))
		}
		columns := b.Columns()
		if len(columns) != longest {
			t.Fatalf("%d columns, want %d", len(columns), longest)
		}
		for i, c := range columns {
			var seen []byte
			n := map[byte]uint64{}
			for _, f := range frames {
				if i < len(f) {
					seen = append(seen, f[i])
					n[f[i]]++
				}
			}
			rises, falls, moved, entropy := true, true, false, 0.0
			for k := 1; k < len(seen); k++ {
				rises, falls, moved = rises && seen[k] >= seen[k-1], falls && seen[k] <= seen[k-1], moved || seen[k] != seen[k-1]
			}
			for _, x := range n {
				q := float64(x) / float64(len(seen))
				entropy -= q * math.Log2(q)
			}
			up, down := c.Trend == corpus.Rising || c.Trend == corpus.StrictlyRising, c.Trend == corpus.Falling || c.Trend == corpus.StrictlyFalling
			if c.Offset != i || c.Frames != uint64(len(seen)) || c.Distinct != len(n) || c.Constant != (len(n) == 1) ||
				up != (rises && moved) || down != (falls && moved) || math.Abs(c.Entropy-entropy) > 1e-9 {
				t.Fatalf("%+v of %v: rises %v falls %v moved %v, %v bits", c, seen, rises, falls, moved, entropy)
			}
			for k, x := range c.Top {
				v := byte(0)
				fmt.Sscanf(x.Text, "%x", &v)
				if n[v] != x.N || k > 0 && x.N > c.Top[k-1].N {
					t.Fatalf("%v of %v", c.Top, n)
				}
			}
		}
	})
}

func TestGuesses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	le := binary.LittleEndian
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	for _, c := range []struct {
		name string
		make func(i int) []byte
		want string // "name type@offset", in order
		n    int
	}{
		{"nothing in noise", func(int) []byte { return noise(40) }, "", 400},
		{"nothing in constants", func(int) []byte { return []byte{8, 0, 1, 2, 3, 4, 0, 0} }, "", 400},
		{"nothing in few", func(i int) []byte { return append([]byte{byte(i), 0, 0, 0}, noise(i)...) }, "", 10},
		{"length", func(i int) []byte {
			b := append(make([]byte, 4), noise(i%50)...)
			le.PutUint16(b, uint16(len(b)))
			b[2], b[3] = 0x2c, 0x4e
			return b
		}, "length u16@0", 300},
		{"length of the rest", func(i int) []byte {
			b := append(make([]byte, 5), noise(i%50)...)
			b[0], b[1] = 7, 9
			le.PutUint16(b[2:], uint16(len(b)-4))
			return b
		}, "length u16@2", 300},
		{"counter", func(i int) []byte {
			b := append(make([]byte, 6), noise(3)...)
			le.PutUint32(b[2:], uint32(i+65500))
			return b
		}, "counter u16@2", 300}, // its third byte changes once
		{"counter of a byte", func(i int) []byte { return append([]byte{1, byte(i), 0}, noise(4)...) }, "counter u8@1", 600},
		{"float", func(i int) []byte {
			b := append(make([]byte, 4), noise(2)...)
			le.PutUint32(b, math.Float32bits(float32(rng.NormFloat64()*1000)))
			return b
		}, "float f32@0", 300},
		{"ascii", func(i int) []byte { return append(noise(3), fmt.Sprintf("name%06d", rng.IntN(1e6))...) }, "text ascii@3", 300},
		{"utf16", func(i int) []byte {
			b := noise(2)
			for _, c := range fmt.Sprintf("Name%d", 1000+rng.IntN(9000)) {
				b = append(b, byte(c), 0)
			}
			return append(b, 0, 0)
		}, "text utf16@2", 300},
		{"offset", func(i int) []byte {
			gap := 2 * rng.IntN(8)
			b := append(make([]byte, 6), noise(gap)...)
			b[0], b[1] = 9, 9
			le.PutUint16(b[2:], uint16(len(b)))
			for _, c := range "Lann" {
				b = append(b, byte(c), 0)
			}
			return append(b, 0, 0)
		}, "offset u16@2", 300},
	} {
		var b corpus.Bytes
		for i := range c.n {
			b.Add(uint64(i+1), c.make(i))
		}
		var got []string
		for _, g := range b.Guesses() {
			got = append(got, fmt.Sprintf("%s %s@%d", g.Name, g.Type, g.Offset))
			if g.Confidence <= 0 || g.Confidence > 1 || g.Why == "" {
				t.Errorf("%s: %+v", c.name, g)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s\n%+v", c.name, strings.Join(got, ", "), c.want, b.Guesses())
		}
	}
}

func FuzzBytes(f *testing.F) {
	f.Add([]byte("\x04abcd\x04abcd\x02ab"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, times uint8) {
		var b corpus.Bytes
		for k := range int(times) + 1 {
			for rest := data; len(rest) > 0; {
				n := min(int(rest[0]), len(rest)-1)
				b.Add(uint64(k), rest[1:1+n])
				rest = rest[1+n:]
			}
		}
		end := 0
		for _, g := range b.Guesses() {
			if g.Offset < end || g.Size < 1 || g.Confidence <= 0 || g.Confidence > 1 {
				t.Fatalf("%+v after %d", g, end)
			}
			end = g.Offset + g.Size
		}
		for _, c := range b.Columns() {
			if c.Frames > b.Messages() || c.Distinct < 1 || c.Entropy > 8 {
				t.Fatalf("%+v", c)
			}
		}
	})
}
