package subspace_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

// running is an established session that can be continued indefinitely.
type running struct {
	t      *subspace.Transport
	cipher *subspace.Cipher
	seg    transport.Segment
	number uint32
	frames int
	emit   func(*transport.Frame)
	data   [64]byte
}

func begin(key uint32) *running {
	r := &running{t: subspace.New(subspace.Options{}), seg: transport.Segment{Dir: schema.ToClient, At: time.Unix(1000, 0)}}
	r.emit = func(f *transport.Frame) { r.frames++ }
	client := -key
	if key == 0 {
		client = 0xFFFFFFF6
	}
	init := []byte{0, 1, 0, 0, 0, 0, 1, 0}
	binary.LittleEndian.PutUint32(init[2:], client)
	r.t.Feed(transport.Segment{Dir: schema.ToServer, Bytes: init}, r.emit)
	answer := []byte{0, 2, 0, 0, 0, 0}
	if binary.LittleEndian.PutUint32(answer[2:], key); key == 0 {
		binary.LittleEndian.PutUint32(answer[2:], client)
	} else {
		r.cipher = subspace.NewCipher(key, subspace.Signed)
	}
	r.t.Feed(transport.Segment{Dir: schema.ToClient, Bytes: answer}, r.emit)
	return r
}

func (r *running) feed(dir schema.Dir, data []byte) {
	r.seg.Dir, r.seg.Bytes = dir, data
	r.seg.Packet++
	if r.cipher != nil {
		r.cipher.Encrypt(data, data)
	}
	r.t.Feed(r.seg, r.emit)
}

// reliable returns a reliable packet with the given number.
func (r *running) reliable(number uint32, inner ...byte) []byte {
	data := append(r.data[:0], 0, 3, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(data[2:], number)
	return append(data, inner...)
}

// rounds are the recurring exchanges of sessions.
var rounds = map[string]func(r *running){
	"game": func(r *running) {
		r.feed(schema.ToClient, append(r.data[:0], 0x28, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
	},
	"reliable": func(r *running) {
		r.feed(schema.ToClient, r.reliable(r.number, 7, 1, 2, 3, 4))
		r.feed(schema.ToServer, append(r.data[:0], 0, 4, byte(r.number), byte(r.number>>8), byte(r.number>>16), byte(r.number>>24)))
		r.number++
	},
	"early": func(r *running) {
		r.feed(schema.ToClient, r.reliable(r.number+2, 7, 3))
		r.feed(schema.ToClient, r.reliable(r.number+1, 7, 2))
		r.feed(schema.ToClient, r.reliable(r.number, 7, 1))
		r.number += 3
	},
	"cluster": func(r *running) {
		r.feed(schema.ToClient, append(r.data[:0], 0, 14, 2, 7, 1, 2, 7, 2, 2, 7, 3, 2, 7, 4))
	},
	"again": func(r *running) {
		if r.number == 0 {
			r.feed(schema.ToClient, r.reliable(0, 7, 1))
			r.number++
		}
		r.feed(schema.ToClient, r.reliable(0, 7, 1))
	},
	"chunk": func(r *running) {
		r.feed(schema.ToClient, append(r.data[:0], 0, 8, 15, 2, 3))
		r.feed(schema.ToClient, append(r.data[:0], 0, 9, 15, 2, 3))
	},
	"stream": func(r *running) {
		r.feed(schema.ToClient, append(r.data[:0], 0, 10, 6, 0, 0, 0, 16, 2, 3))
		r.feed(schema.ToClient, append(r.data[:0], 0, 10, 6, 0, 0, 0, 16, 2, 3))
	},
	"sync": func(r *running) {
		r.feed(schema.ToClient, append(r.data[:0], 0, 5, 1, 0, 0, 0))
		r.feed(schema.ToServer, append(r.data[:0], 0, 6, 1, 0, 0, 0, 2, 0, 0, 0))
	},
}

func TestNothingIsAllocatedForAMessage(t *testing.T) {
	for name, round := range rounds {
		for _, key := range []uint32{0, 12345} {
			r := begin(key)
			for range 500 {
				round(r)
			}
			if n := testing.AllocsPerRun(2000, func() { round(r) }); n > 0 {
				t.Errorf("%s, key %d: %v allocations", name, key, n)
			}
			if r.frames < 2000 {
				t.Errorf("%s, key %d: %d frames", name, key, r.frames)
			}
		}
	}
}

func BenchmarkFeed(b *testing.B) {
	for _, name := range []string{"game", "reliable", "early", "cluster", "again", "chunk", "stream"} {
		for _, key := range []uint32{0, 12345} {
			b.Run(fmt.Sprintf("%s/key=%d", name, key), func(b *testing.B) {
				r := begin(key)
				b.ReportAllocs()
				for b.Loop() {
					rounds[name](r)
				}
			})
		}
	}
}

func BenchmarkRecover(b *testing.B) {
	data := acks(1, 2)
	data[5] ^= 0x55 // an invalid key
	for b.Loop() {
		subspace.Recover(data)
	}
}
