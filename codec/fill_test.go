package codec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFill compares fill with fillSafe, on random blocks at random positions.
func TestFill(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		b := &Block{Bits: 8 * uint32(1+r.IntN(40))}
		for off := uint32(0); off < b.Bits; {
			size := min(uint32(1+r.IntN(70)), b.Bits-off)
			b.Items = append(b.Items, Item{Off: off, Bits: size, Field: uint16(r.Uint32()), Role: Role(r.IntN(12))})
			off += size
		}
		b.finish()
		n := 1 + r.IntN(5)
		at := uint32(r.IntN(20)) * 8
		data := make([]byte, int(at/8)+(n-1)*int(b.Bits/8)+int(b.Reach)+r.IntN(2)*r.IntN(20))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		for _, elem := range []int32{-1, 0, int32(r.IntN(1000))} {
			quick, safe := make([]Leaf, n*len(b.rows)+1), make([]Leaf, n*len(b.rows)+1)
			fill(quick, b, data, at, 7, elem, n)
			fillSafe(safe, b, data, at, 7, elem, n)
			if !slices.Equal(quick, safe) {
				t.Fatalf("%d blocks of %d bits at %d in %x:\n got %+v\nwant %+v", n, b.Bits, at, data, quick, safe)
			}
			for i, l := range safe[:len(safe)-1] {
				it := &b.Items[i%len(b.Items)]
				if from := at + uint32(i/len(b.Items))*b.Bits + it.Off; l.Off != from || it.Bits <= 64 && !it.Peek.Slow && l.Raw != LoadBits(data, from, it.Bits, it.Order) {
					t.Fatalf("leaf %d: %+v, item at %d", i, l, from)
				}
			}
		}
	}
	b := &Block{Bits: 64, Items: []Item{{Bits: 64}}}
	b.finish()
	for _, short := range []struct{ leaves, bytes int }{{0, 8}, {1, 7}, {1, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d leaves, %d bytes: filled", short.leaves, short.bytes)
				}
			}()
			fill(make([]Leaf, short.leaves), b, make([]byte, short.bytes), 0, 0, 0, 1)
		}()
	}
}
