package subspace_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

// attacks generate datagrams that are meant to cost as much as possible. Each gets the number of the datagram and a buffer.
var attacks = map[string]func(i uint32, random *rand.Rand, room []byte) []byte{
	"every other number":     func(i uint32, _ *rand.Rand, room []byte) []byte { return numbered(room, 2*i) },
	"a hole for each packet": func(i uint32, _ *rand.Rand, room []byte) []byte { return numbered(room, 1000*i) },
	"any number":             func(_ uint32, random *rand.Rand, room []byte) []byte { return numbered(room, random.Uint32()) },
	"any number in a window": func(i uint32, random *rand.Rand, room []byte) []byte { return numbered(room, random.Uint32N(1024)+1) },
	"a window that moves": func(i uint32, random *rand.Rand, room []byte) []byte {
		return numbered(room, i/2+random.Uint32N(1024)+1)
	},
	"numbers beyond a window": func(i uint32, _ *rand.Rand, room []byte) []byte { return numbered(room, i/31*5000+i) },
	"large packets that wait": func(i uint32, _ *rand.Rand, room []byte) []byte {
		return append(numbered(room, i%1000+1), make([]byte, 60000)...)
	},
	"acks of what never was": func(i uint32, random *rand.Rand, room []byte) []byte {
		if i%2 == 0 {
			return numbered(room, i/2)
		}
		return append(room, 0, 4, byte(i), byte(i>>8), byte(i>>16), 0)
	},
	"clusters in clusters": func(_ uint32, _ *rand.Rand, room []byte) []byte {
		for size := 250; size > 10; size -= 3 {
			room = append(room, 0, 14, byte(size-3))
		}
		return room
	},
	"items of a byte": func(_ uint32, _ *rand.Rand, room []byte) []byte {
		room = append(room, 0, 14)
		for range 250 {
			room = append(room, 1, 7)
		}
		return room
	},
	"chunks without an end": func(_ uint32, _ *rand.Rand, room []byte) []byte { return append(room, 0, 8, 1) },
	"chunks too long": func(_ uint32, _ *rand.Rand, room []byte) []byte {
		return append(append(room, 0, 8), make([]byte, 50000)...)
	},
	"streams without an end": func(_ uint32, _ *rand.Rand, room []byte) []byte {
		return append(room, 0, 10, 0, 0, 0, 1, 9)
	},
	"streams of 2 GiB": func(_ uint32, _ *rand.Rand, room []byte) []byte {
		return append(append(room, 0, 10, 0xFF, 0xFF, 0xFF, 0x7F), make([]byte, 50000)...)
	},
	"new sessions": func(i uint32, _ *rand.Rand, room []byte) []byte {
		switch i % 4 {
		case 0:
			return append(room, 0, 7)
		case 1:
			return append(room, 0, 1, byte(i), byte(i>>8), byte(i>>16), 1, 1, 0)
		case 2:
			return append(room, 0, 2, byte(i-1), byte(i>>8), byte(i>>16), 1)
		default:
			return numbered(room, 3)
		}
	},
	"new sessions with a new key": func(i uint32, _ *rand.Rand, room []byte) []byte {
		if i%2 == 0 {
			return append(room, 0, 1, byte(i), byte(i>>8), byte(i>>16), 1, 0x11, 0)
		}
		room = append(room, 0, 2, 0, 0, 0, 0)
		binary.LittleEndian.PutUint32(room[2:], -(i - 1 | 1<<24))
		return room
	},
	"noise": func(_ uint32, random *rand.Rand, room []byte) []byte {
		for range random.IntN(60) {
			room = append(room, byte(random.Uint32()&random.Uint32()&0xF))
		}
		return room
	},
}

func numbered(room []byte, n uint32) []byte {
	room = append(room, 0, 3)
	room = binary.LittleEndian.AppendUint32(room, n)
	return append(room, 7, 1)
}

// TestAttacksAreBounded: no attack costs more than some microseconds per datagram, or retains more than some MiB, with or without a
// session, and whether or not time passes.
func TestAttacksAreBounded(t *testing.T) {
	const datagrams = 20000
	for name, attack := range attacks {
		for _, begun := range []bool{false, true} {
			for _, step := range []time.Duration{0, 40 * time.Second} {
				trans := subspace.New(subspace.Options{})
				frames := 0
				emit := func(*transport.Frame) { frames++ }
				if begun {
					trans.Feed(transport.Segment{Dir: schema.ToServer, Bytes: []byte{0, 1, 0xF6, 0xFF, 0xFF, 0xFF, 1, 0}}, emit)
					trans.Feed(transport.Segment{Dir: schema.ToClient, Bytes: []byte{0, 2, 0xF6, 0xFF, 0xFF, 0xFF}}, emit)
				}
				random := rand.New(rand.NewPCG(1, 1))
				at := time.Unix(1000, 0)
				room := make([]byte, 0, 1<<16)
				start, before := time.Now(), heap()
				for i := range uint32(datagrams) {
					data := attack(i, random, room)
					dir := schema.ToClient
					if len(data) > 1 && (data[1] == 1 || data[1] == 4) {
						dir = schema.ToServer
					}
					trans.Feed(transport.Segment{Dir: dir, At: at, Packet: i + 3, Bytes: data}, emit)
					at = at.Add(step)
				}
				took, kept := time.Since(start), heap()-before
				trans.Flush(at, emit)
				// A hundred times the cost on a slow machine.
				if took > 100*datagrams*10*time.Microsecond {
					t.Errorf("%s, begun %v, step %v: %v a datagram", name, begun, step, took/datagrams)
				}
				if kept > 24<<20 {
					t.Errorf("%s, begun %v, step %v: %d bytes are kept", name, begun, step, kept)
				}
				t.Logf("%-30s begun %-5v step %-4v: %8v a datagram, %8d kept, %d frames", name, begun, step, took/datagrams, kept, frames)
				runtime.KeepAlive(trans)
			}
		}
	}
}

// heap returns the number of bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
