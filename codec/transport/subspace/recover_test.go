package subspace_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

// clip returns datagrams of a session without its handshake, encrypted with c if that is not nil.
func clip(c *subspace.Cipher, plain ...[]byte) []transport.Segment {
	var all []transport.Segment
	for i, p := range plain {
		data := bytes.Clone(p)
		if c != nil {
			c.Encrypt(data, p)
		}
		all = append(all, transport.Segment{
			Dir: schema.ToServer, At: time.Unix(1_700_000_000, 0).Add(time.Duration(i) * time.Second), Packet: uint32(i + 1), Bytes: data,
		})
	}
	return all
}

func syncRequest(tick, sent, received uint32) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{0, 5}, tick)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, sent), received)
}

func reliablePacket(n uint32, body ...byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{0, 3}, n), body...)
}

// TestKeyFromASyncAndANumber: the key of a session without clusters of acks is recovered in its middle, whichever clue comes first.
func TestKeyFromASyncAndANumber(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	keys := []uint32{1, 2, 127773, 0x7FFFFFFE, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xE69BBE27, 0xF8A67D84} // the last two: a quotient too high
	for range 100 {
		keys = append(keys, random.Uint32())
	}
	for i, key := range keys {
		for schedule := subspace.Signed; schedule <= subspace.Unsigned; schedule++ {
			c := subspace.NewCipher(key, schedule)
			sync := syncRequest(random.Uint32(), random.Uint32N(1<<18), random.Uint32N(1<<18))
			ack := append([]byte{0, 4}, reliablePacket(random.Uint32N(1 << 16))[2:]...)
			chat := reliablePacket(random.Uint32N(1<<16), 6, 2, 0, 0xFF, 0xFF, 'h', 'i', 0)
			order := [][]byte{ack, sync, chat}
			if i%2 == 0 {
				order = [][]byte{sync, chat, ack}
			}
			frames := play(subspace.Options{}, clip(c, order...))
			found := false
			for _, f := range frames {
				found = found || f.Kind == transport.Message && bytes.Equal(f.Bytes, chat[6:])
			}
			if !found {
				t.Errorf("key %08x, schedule %d: the message is not read: %v", key, schedule, frames)
			}
		}
	}
}

// TestNoKeyWhereNoneIs: datagrams that are not VIE stay opaque, and plain sessions plain.
func TestNoKeyWhereNoneIs(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 20 {
		var noise [][]byte
		for i := range 40 {
			b := make([]byte, []int{14, 6, 20}[i%3])
			for k := range b {
				b[k] = byte(random.Uint32())
			}
			b[0], b[1] = 0, []byte{5, 4, 3}[i%3]
			noise = append(noise, b)
		}
		for _, f := range play(subspace.Options{}, clip(nil, noise...)) {
			if f.Kind != transport.Opaque {
				t.Fatalf("read: %v", f)
			}
		}
	}
	chat := reliablePacket(70_000, 6, 2, 0, 0xFF, 0xFF, 'h', 'i', 0)
	frames := play(subspace.Options{}, clip(nil, syncRequest(1<<31, 1<<19, 1<<20), chat, reliablePacket(70_001, 6), syncRequest(1, 1<<30, 1<<30)))
	n := 0
	for _, f := range frames {
		if f.Kind == transport.Opaque {
			t.Errorf("opaque: %v", f)
		}
		if f.Kind == transport.Message {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d messages of 2: %v", n, frames)
	}
}
