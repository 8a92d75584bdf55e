package stream

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Messages of a code without a size are skipped at first; once three had the same size, they are messages. Those whose size varies never are,
// and no other message is lost for either.
func TestLearntSizes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		size       func(rng *rand.Rand) int // of the messages of code 7
		learnt     bool
	}{
		{"fixed", "frame codes u8\n  1 = 4\n  2 = 9\n  3 = length u8 at 1\ncode u8\n", func(*rand.Rand) int { return 6 }, true},
		{"fixed, after two bytes", "frame codes u16 le at 2\n  1 = 12\n  2 = 5\ncode u16 le at 2\n", func(*rand.Rand) int { return 31 }, true},
		{"any", "frame codes u8\n  1 = 4\n  2 = 9\n  3 = length u8 at 1\ncode u8\n", func(rng *rand.Rand) int { return 2 + rng.IntN(9) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lost, sent, found, wrong := 0, 0, 0, 0
			for seed := range uint64(60) {
				rng := rand.New(rand.NewPCG(seed, 5))
				o := Options{Envelope: parse(t, c.text)}
				f := &o.Envelope.States[0].Frame[0]
				var stream []byte
				starts := map[int64]int{}  // of known codes, to their size
				unknown := map[int64]int{} // of code 7
				add := func(code, size int) {
					b := make([]byte, size)
					for i := range b {
						b[i] = byte(rng.Uint32())
					}
					b[f.At] = byte(code)
					if f.Number.Size == 2 {
						b[f.At+1] = 0
					}
					if code == 3 {
						b[1] = byte(size - 2)
					}
					stream = append(stream, b...)
				}
				for n := range 400 {
					code := 1 + rng.IntN(len(f.Sizes))
					size := f.Sizes[code-1].Size
					if f.Sizes[code-1].Length != nil {
						size = 2 + rng.IntN(20)
					}
					if n%25 == 24 {
						unknown[int64(len(stream))] = c.size(rng)
						add(7, unknown[int64(len(stream))])
						continue
					}
					starts[int64(len(stream))] = size
					add(code, size)
				}
				next := int64(0)
				emit := func(x *transport.Frame) {
					if x.Offset != next {
						t.Fatalf("seed %d: a frame at %d, not %d", seed, x.Offset, next)
					}
					next += int64(len(x.Bytes))
					if x.Kind != transport.Message {
						return
					}
					switch {
					case starts[x.Offset] == len(x.Bytes):
						delete(starts, x.Offset)
					case unknown[x.Offset] == len(x.Bytes) && strings.Contains(x.Note, "the size is not in the envelope: the last ") && strings.Contains(x.Note, ": 7 = "):
						found++
					default:
						wrong++
					}
				}
				sent += len(starts)
				tr, w := New(o), NewRewriter(o)
				var out bytes.Buffer
				r := &transport.Relay{Out: func(s transport.Segment) { out.Write(s.Bytes) }, Decide: func(uint64, *transport.Frame) transport.Decision { return transport.Decision{} }}
				w.Operate(true, at, r)
				for rest, first := stream, true; len(rest) > 0; first = false {
					n := 1 + rng.IntN(min(len(rest), 200))
					s := transport.Segment{Dir: schema.ToServer, At: at, Bytes: rest[:n], Start: first}
					tr.Feed(s, emit)
					w.Feed(s, r)
					rest = rest[n:]
				}
				tr.Flush(at, emit)
				w.Flush(at, r)
				if !bytes.Equal(out.Bytes(), stream) {
					t.Fatalf("seed %d: a rewriter changes the bytes", seed)
				}
				lost += len(starts)
			}
			t.Logf("%d of %d messages lost, %d of code 7 found, %d wrong", lost, sent, found, wrong)
			if lost > sent/20 || wrong > sent/100 || c.learnt != (found > 60*8) {
				t.Errorf("%d of %d messages lost, %d of code 7 found, %d wrong", lost, sent, found, wrong)
			}
		})
	}
}
