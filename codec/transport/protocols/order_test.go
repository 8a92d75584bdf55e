package protocols_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/codec/transport/transporttest"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// carrier is a protocol of a capture that is cut.
type carrier struct {
	name    string
	port    uint16
	message func(x *traffic) []byte
	whole   bool // a segment ends with a message: after a cut inside one, none is found
	made    func() transport.Transport
	least   float64 // share of the messages behind a cut that must be read
}

func carriers(t *testing.T) []carrier {
	env, diags := envelope.Parse(source.New("test", "frame length u16 le\ncode u8\n"))
	if diags.HasErrors() {
		t.Fatal(diags.Render())
	}
	// A message of two bytes that differ from all others, its size, and the rest.
	measure := func(_ schema.Dir, b []byte) (n, need int, key schema.Key, why transport.Reason) {
		for i, want := range []byte{0xa5, 0x5a} {
			if i < len(b) && b[i] != want {
				return 0, 0, key, func() string { return "no message" }
			}
		}
		if len(b) < 3 {
			return 0, 3, key, nil
		}
		if size := int(b[2]); len(b) >= size {
			return size, 0, key, nil
		}
		return 0, int(b[2]), key, nil
	}
	return []carrier{
		{"tera", 7801, func(x *traffic) []byte { return x.message(uint16(seen + x.rng.IntN(1000))) }, false, func() transport.Transport {
			return tera.New(tera.Options{Definitions: transporttest.Codes(func(k schema.Key) bool { return k.Code >= seen && k.Code < seen+1001 })})
		}, 0.6},
		{"muta", 7802, func(x *traffic) []byte {
			b := append([]byte{0xa5, 0x5a, 0}, x.random(x.rng.IntN(90))...)
			b[2] = byte(len(b))
			return b
		}, false, func() transport.Transport { return stream.New(stream.Measured(measure)) }, 0.6},
		{"envelope", 7803, func(x *traffic) []byte {
			b := x.random(1 + x.rng.IntN(90))
			return append(binary.LittleEndian.AppendUint16(nil, uint16(len(b))), b...)
		}, true, func() transport.Transport { return stream.New(stream.Options{Envelope: env}) }, 0.6},
		{"subspace", 5000, nil, true, func() transport.Transport { return subspace.New(subspace.Options{}) }, 0.6},
	}
}

// talks generates connections of a carrier that go on at the same time. Some packets are lost, and some are captured a little late.
func (x *traffic) talks(c carrier) {
	var seqs [3][2]uint32
	for i := range seqs {
		x.client, x.ports, x.seq = [4]byte{10, 0, 0, byte(2 + i)}, [2]uint16{40000, c.port}, [2]uint32{x.rng.Uint32(), x.rng.Uint32()}
		if c.message == nil {
			x.seq = [2]uint32{}
			x.udp(false, append(binary.LittleEndian.AppendUint32([]byte{0, 1}, 7), 1, 0), true)
			x.udp(true, binary.LittleEndian.AppendUint32([]byte{0, 2}, 7), true)
		}
		seqs[i] = x.seq
	}
	for range 200 {
		i := x.rng.IntN(len(seqs))
		x.client, x.seq = [4]byte{10, 0, 0, byte(2 + i)}, seqs[i]
		fromServer, captured := x.rng.IntN(2) == 0, x.rng.IntN(40) > 0
		switch {
		case c.message == nil && x.rng.IntN(3) == 0:
			x.udp(fromServer, x.game(90), captured)
		case c.message == nil:
			x.reliable(fromServer, x.game(90), captured)
		default:
			var all []byte
			for range 1 + x.rng.IntN(3) {
				all = append(all, c.message(x)...)
			}
			edge := len(all)
			if x.rng.IntN(2) == 0 && !c.whole {
				edge = 1 + x.rng.IntN(edge)
			}
			if x.tcp(fromServer, ack, all[:edge], captured); edge < len(all) {
				x.tcp(fromServer, ack, all[edge:], captured)
			}
		}
		seqs[i] = x.seq
	}
	for i := range x.packets {
		// The first reliable packet of SubSpace in a capture begins the order: what comes before it is late.
		if j := i + x.rng.IntN(4); c.message != nil && x.rng.IntN(8) == 0 && j < len(x.packets) {
			x.packets[i], x.packets[j] = x.packets[j], x.packets[i]
		}
	}
	for i := range x.packets {
		x.packets[i].N, x.packets[i].At = uint32(i+1), time.Unix(1_700_000_000, int64(i/2)*2e6) // pairs have one time
	}
}

// completed is a frame of a capture, with the last packet of its bytes.
type completed struct {
	conn string
	dir  schema.Dir
	at   time.Time
	last uint32
	text string
	kind transport.Kind
}

func readOrdered(packets []packet.Packet, c carrier) (frames []completed) {
	a := packet.NewAssembler(packet.Options{Ports: []uint16{c.port}, New: func(transport.Conn) transport.Transport { return c.made() }}, func(f *transport.Frame) {
		x := completed{f.Conn.Name(), f.Dir, f.At, 0, "", f.Kind}
		for _, s := range f.From {
			x.last = max(x.last, s.Packet)
		}
		x.text = fmt.Sprintf("%s %v %v %x %v", x.conn, f.Dir, f.Kind, f.Bytes, f.From)
		frames = append(frames, x)
	})
	for i := range packets {
		a.Packet(&packets[i])
	}
	a.Flush()
	return frames
}

// TestOrderOfCutCaptures cuts captures anywhere. The frames stand in the order of the packets that completed them, and those with the
// same bytes of the same packets have the same times as in the whole capture.
func TestOrderOfCutCaptures(t *testing.T) {
	for _, c := range carriers(t) {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(4) {
				x := &traffic{rng: rand.New(rand.NewPCG(seed, 43)), at: time.Unix(1_700_000_000, 0), intact: true}
				x.talks(c)
				whole := readOrdered(x.packets, c)
				times := map[string]time.Time{}
				for _, f := range whole {
					times[f.text] = f.at
				}
				inOrder(t, fmt.Sprintf("seed %d, whole", seed), whole)
				read, behind := 0, 0
				for cut := 1; cut < len(x.packets); cut += 1 + x.rng.IntN(5) {
					at := fmt.Sprintf("seed %d, cut at %d", seed, cut)
					frames := readOrdered(x.packets[cut:], c)
					inOrder(t, at, frames)
					for _, f := range frames {
						if want, ok := times[f.text]; ok && f.kind == transport.Message {
							read++
							if !f.at.Equal(want) {
								t.Fatalf("%s: at %v, want %v: %s", at, f.at, want, f.text)
							}
						}
					}
					behind += len(slices.DeleteFunc(slices.Clone(whole), func(f completed) bool { return f.kind != transport.Message || f.last <= uint32(cut) }))
				}
				if float64(read) < c.least*float64(behind) {
					t.Errorf("seed %d: %d messages of %d are compared", seed, read, behind)
				}
			}
		})
	}
}

// inOrder checks that frames stand in the order of time, and at one time in that of the packets.
func inOrder(t *testing.T, what string, frames []completed) {
	t.Helper()
	through := map[string]uint32{} // the last packet of a direction so far: bytes are complete only with those before them
	var at time.Time
	last := uint32(0)
	for i, f := range frames {
		way := f.conn + f.dir.String()
		through[way] = max(through[way], f.last)
		if f.at.Before(at) || f.at.Equal(at) && f.last > 0 && through[way] < last {
			t.Fatalf("%s: frame %d of packet %d at %v stands after %v, packet %d: %s", what, i, f.last, f.at, at, last, f.text)
		}
		if !f.at.Equal(at) {
			last = 0
		}
		at, last = f.at, max(last, through[way])
	}
}
