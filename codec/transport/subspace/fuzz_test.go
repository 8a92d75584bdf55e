package subspace_test

import (
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

// FuzzFeed splits bytes into datagrams: each begins with a byte of direction and time, and two bytes of its length.
func FuzzFeed(f *testing.F) {
	add := func(datagrams ...[]byte) {
		var all []byte
		for i, d := range datagrams {
			all = append(all, byte(i&1), byte(len(d)), byte(len(d)>>8))
			all = append(all, d...)
		}
		f.Add(byte(0), all)
	}
	add([]byte{0, 1, 0xF6, 0xFF, 0xFF, 0xFF, 1, 0}, []byte{0, 2, 0xF6, 0xFF, 0xFF, 0xFF}, []byte{0, 3, 0, 0, 0, 0, 6, 1}, []byte{0, 4, 0, 0, 0, 0})
	add([]byte{0, 1, 0xF6, 0xFF, 0xFF, 0xFF, 1, 0}, []byte{0, 2, 10, 0, 0, 0}, []byte{0, 3, 9, 9, 9, 9, 6, 1}, acks(1, 2, 3))
	add([]byte{0, 1, 1, 0, 0, 0, 0x11, 0}, []byte{0, 0x10, 1, 2, 3, 4, 5, 6, 7, 8}, []byte{0, 0x11, 1, 2, 3, 4, 1, 0})
	add([]byte{1, 2, 3, 4}, []byte{0, 0, 0, 0, 1, 2, 3, 4})
	add([]byte{0, 8, 15, 1}, []byte{0, 10, 4, 0, 0, 0, 16, 1}, []byte{0, 9, 1}, []byte{0, 10, 4, 0, 0, 0, 1, 2}, []byte{0, 12}, []byte{0, 11})
	add(acks(1, 2), []byte{0, 14, 8, 0, 3, 5, 0, 0, 0, 6, 1, 8, 0, 3, 4, 0, 0, 0, 6, 1}, []byte{0, 5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Fuzz(func(t *testing.T, options byte, data []byte) {
		o := subspace.Options{
			Schedule: subspace.Schedule(options >> 3 % 3), HasKey: options&0x40 != 0, Key: uint32(options) << 24,
		}
		trans := subspace.New(o)
		packets := map[uint32]int{} // sizes
		at, packet := time.Unix(1000, 0), uint32(0)
		total, emitted := 0, 0
		emit := func(f *transport.Frame) {
			size := 0
			for _, s := range f.From {
				if int(s.Off)+int(s.Len) > packets[s.Packet] {
					t.Fatalf("%v of %d bytes at %d of packet %d, which has %d", f.Kind, s.Len, s.Off, s.Packet, packets[s.Packet])
				}
				size += int(s.Len)
			}
			if size != len(f.Bytes) {
				t.Fatalf("%v of %d bytes from %d", f.Kind, len(f.Bytes), size)
			}
			if f.HasKey && len(f.Bytes) == 0 || f.Kind == transport.Problem && f.Note == "" || f.Kind == transport.Message && !f.HasKey {
				t.Fatalf("a frame that cannot be: %+v", *f)
			}
			_ = line(f)
			emitted += len(f.Bytes)
		}
		for len(data) >= 3 {
			head, size := data[0], min(int(data[1])|int(data[2])<<8, len(data)-3)
			body := data[3 : 3+size]
			data = data[3+size:]
			packet++
			packets[packet] = size
			at = at.Add(time.Duration(head>>2) * time.Second / 4)
			dir := schema.ToServer
			if head&1 != 0 {
				dir = schema.ToClient
			}
			seg := transport.Segment{Dir: dir, At: at, Packet: packet, Bytes: body}
			trans.Feed(seg, emit)
			total += size
			if head&2 != 0 && head>>2 == 63 {
				trans.Flush(at, emit)
			}
		}
		trans.Flush(at, emit)
		// A byte may be in a problem about its cluster, in a chunk and in the repetition of a packet, at each depth of nesting.
		if emitted > 40*total {
			t.Fatalf("%d bytes became %d", total, emitted)
		}
	})
}
