package stream

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// A capture that begins inside an encrypted stream is read if the cipher needs no more than the last bytes; otherwise it is opaque, and says so.
func TestLateCiphers(t *testing.T) {
	for _, c := range []struct {
		cipher string
		reads  bool
	}{
		{"aes-cfb8 key hex 000102030405060708090a0b0c0d0e0f iv hex 0f0e0d0c0b0a09080706050403020100", true},
		{"aes-ctr key hex 000102030405060708090a0b0c0d0e0f iv hex 0f0e0d0c0b0a09080706050403020100", false},
		{"rc4 key hex 0001020304", false},
		{"xor key hex 0001020304", false},
	} {
		o := Options{Envelope: parse(t, "frame length u16 be\ncode u8\ncipher "+c.cipher+"\n")}
		rng := rand.New(rand.NewPCG(3, 4))
		var stream []byte
		for range 200 {
			m := bytes.Repeat([]byte{byte(rng.Uint32())}, 1+rng.IntN(40))
			stream = append(append(stream, 0, byte(len(m))), m...)
		}
		l := newLeg(&o, [2]bool{true, false})
		l.sides[0].cipher.Apply(stream)
		tr, messages, opaque, told := New(o), 0, 0, 0
		emit := func(f *transport.Frame) {
			switch told += len(f.Bytes); f.Kind {
			case transport.Message:
				messages++
				told += 2 // the length
			case transport.Opaque:
				if opaque += len(f.Bytes); f.Note == "" {
					t.Error("an opaque frame without a reason")
				}
			}
		}
		rest := New(o)
		readable := 0
		count := func(f *transport.Frame) {
			if f.Kind == transport.Message && f.Offset > 1000 {
				readable++
			}
		}
		rest.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: stream[:1000], Start: true}, count)
		rest.Feed(transport.Segment{Dir: schema.ToServer, At: at, Lost: 77, Bytes: stream[1077:]}, count)
		rest.Flush(at, count)
		if readable < 130 {
			t.Errorf("%s: %d messages behind a gap", c.cipher, readable)
		}
		late := stream[1000:]
		tr.Feed(transport.Segment{Dir: schema.ToServer, At: at, Bytes: late}, emit)
		tr.Flush(at, emit)
		if told != len(late) || c.reads != (messages > 100) || c.reads == (opaque > 0) {
			t.Errorf("%s: %d messages, %d opaque bytes, %d of %d bytes in frames", c.cipher, messages, opaque, told, len(late))
		}
	}
}
