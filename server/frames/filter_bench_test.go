package frames

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/store"
)

// BenchmarkMustFilter filters a million frames of a capture by a decoded number, and compares it with a loop over the same frames written by
// hand for this filter, which takes 13 ns per frame. The limits correspond to a tenth of a second on two processors; frames of types that
// cannot match cost less.
func BenchmarkMustFilter(b *testing.B) {
	const n = 1_000_000
	snap := definitions(b, "tera", map[string]string{
		"C_SAY.1.def": "string text\nint32 gold\n", "S_MOVE.1.def": "int32 x\nint32 gold\nint32 z\nfloat w\nint32 a\nint32 b\n",
		"protocol.1.map": "C_SAY 4097\nS_MOVE 4098\n",
	})
	log := live.New(0)
	var conns []uint32
	for range 8 {
		conns = append(conns, log.Connection(live.Conn{Name: "a-b", Proto: "tcp"}))
	}
	say := []byte("\x14\x00\x01\x10\x0a\x00goldL\x00a\x00n\x00n\x00\x00\x00")
	move := make([]byte, 4+6*4)
	binary.LittleEndian.PutUint16(move, uint16(len(move)))
	binary.LittleEndian.PutUint16(move[2:], 0x1002)
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for i := range n {
		f := transport.Frame{
			At: at.Add(time.Duration(i) * time.Millisecond), Kind: transport.Message, Dir: schema.ToServer, HasKey: true, Bytes: say,
			From: []transport.Source{{Packet: uint32(i + 1)}},
		}
		if i%3 == 2 {
			f.Bytes, f.Dir = move, schema.ToClient
		}
		f.Key = schema.Key{Dir: f.Dir, Code: uint32(binary.LittleEndian.Uint16(f.Bytes[2:]))}
		binary.LittleEndian.PutUint32(f.Bytes[6:], uint32(i))
		if err := log.Add(conns[i/3%8], &f); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, filter string
		most         float64 // limit, in multiples of the time of the loop
		fits         func(e live.Entry, data []byte) bool
	}{
		{"all types", ".gold > 999000", 25, func(e live.Entry, data []byte) bool {
			at := 6
			if e.Code == 0x1002 {
				at = 8
			}
			return int32(binary.LittleEndian.Uint32(data[at:])) > 999000
		}},
		{"one type", "S_MOVE.z == 5", 12, func(e live.Entry, data []byte) bool {
			return e.Code == 0x1002 && int32(binary.LittleEndian.Uint32(data[12:])) == 5
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			got, want := 0, 0
			took := benchtest.Least(max(b.N, 5), benchtest.Job{Name: "view", Run: func() {
				v := NewView(log, snap, ViewSpec{Filter: c.filter}, store.Notes{})
				for !v.Advance(context.Background(), time.Minute) {
					continue
				}
				if got, _ = v.State(); len(v.Mistakes) > 0 {
					b.Fatal(v.Mistakes)
				}
			}}, benchtest.Job{Name: "loop", Run: func() {
				var fits []uint32
				log.Each(0, log.Len(), func(i int, e live.Entry, data []byte) bool {
					if e.HasKey && c.fits(e, data) {
						fits = append(fits, uint32(i))
					}
					return true
				})
				want = len(fits)
			}})
			if got != want {
				b.Fatalf("%d frames fit, not %d", got, want)
			}
			benchtest.Must(b, n, took[0], took[1], c.most)
		})
	}
}
