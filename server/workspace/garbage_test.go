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

// garbage returns the jobs of a stream of a mebibyte without any message: to read it, and to try to decode a message at each of its bytes once.
func garbage(t testing.TB) (size int, stream, bare func()) {
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
	stream = func() {
		tr := protocol.New(env.For("a", 0), 0)
		for i := 0; i < len(data); i += 1460 {
			tr.Feed(transport.Segment{Dir: schema.ToClient, At: at, Bytes: data[i:min(i+1460, len(data))], Start: i == 0, Packet: uint32(i)}, func(*transport.Frame) {})
		}
	}
	var rec codec.Record
	frame, err := snap.Program(snap.Frame(env.Group(0, schema.ToClient)))
	if err != nil {
		t.Fatal(err)
	}
	bare = func() {
		for i := range data {
			frame.Decode(&rec, data[i:])
			if m := snap.Lookup(schema.Key{Dir: schema.ToClient, Group: frame.Message.Key.Group, Code: rec.Code}); m != nil {
				p, _ := snap.Program(m)
				p.Decode(&rec, data[i:])
			}
		}
	}
	return len(data), stream, bare
}

// A stream without any message takes no memory: a client can send any amount of it.
func TestGarbage(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	size, stream, _ := garbage(t)
	stream()
	if perByte := testing.AllocsPerRun(1, stream) / float64(size); perByte > 0.1 {
		t.Errorf("%.2f allocations a byte", perByte)
	}
}

// BenchmarkMustGarbage: a stream without any message takes no longer than four attempts to decode a message at each byte.
func BenchmarkMustGarbage(b *testing.B) {
	size, stream, bare := garbage(b)
	took := benchtest.Least(max(b.N, 5), benchtest.Job{Name: "stream", Run: stream}, benchtest.Job{Name: "bare", Run: bare})
	benchtest.Must(b, size, took[0], took[1], 4)
}
