package workspace_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/benchtest"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// A stream without any message costs no more than trying to decode a message at each byte once, and no memory: a client can send any amount
// of it.
func TestGarbage(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	garbage(t, func(float64, string) {})
}

func BenchmarkGarbage(b *testing.B) {
	for b.Loop() {
		garbage(b, b.ReportMetric)
	}
}

func garbage(t testing.TB, report func(float64, string)) {
	fsys, _ := library.Dialect("muta")
	snap := build(t, fsys, workspace.Settings{Dialect: "muta"})
	protocol, _ := protocols.Of("muta")
	env := protocols.Env{Definitions: snap}
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	at := time.Unix(1_700_000_000, 0)
	stream := func() (frames int) {
		tr := protocol.New(env.For("a", 0), 0)
		for i := 0; i < len(data); i += 1460 {
			tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Bytes: data[i:min(i+1460, len(data))], Start: i == 0, Packet: uint32(i)}, func(*transport.Frame) { frames++ })
		}
		return frames
	}
	var rec codec.Record
	frame, err := snap.Program(snap.Frame(env.Group(0, schema.ToClient)))
	if err != nil {
		t.Fatal(err)
	}
	bare := func() (n int) {
		for i := range data {
			frame.Decode(&rec, data[i:])
			if m := snap.Lookup(schema.Key{Dir: schema.ToClient, Group: frame.Message.Key.Group, Code: rec.Code}); m != nil {
				p, _ := snap.Program(m)
				p.Decode(&rec, data[i:])
				n += rec.Used
			}
		}
		return n
	}
	stream()
	allocs := testing.AllocsPerRun(1, func() { stream() })
	if perByte := allocs / float64(len(data)); perByte > 0.1 {
		t.Errorf("%.2f allocations a byte", perByte)
	}
	best := [2]time.Duration{time.Hour, time.Hour}
	for range 3 {
		begun := time.Now()
		stream()
		best[0] = min(best[0], time.Since(begun))
		begun = time.Now()
		bare()
		best[1] = min(best[1], time.Since(begun))
	}
	ratio := float64(best[0]) / float64(best[1])
	report(float64(best[0].Nanoseconds())/float64(len(data)), "ns/byte")
	report(ratio, "ratio")
	t.Logf("%.3f µs a byte, %.1f times a message tried at each", float64(best[0].Microseconds())/float64(len(data)), ratio)
	if ratio > 4 {
		t.Errorf("a byte of garbage takes %.1f times as long as one attempt to decode", ratio)
	}
}
