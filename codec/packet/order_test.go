package packet

import (
	"testing"
	"time"

	"wirebench/codec/packettest"
	"wirebench/codec/transport"
)

// undecided never decides; at the end it emits what it has kept.
type undecided struct {
	kept int
	at   time.Time
}

func (u *undecided) Feed(seg transport.Segment, _ func(*transport.Frame)) {
	if u.kept++; u.kept == 1 {
		u.at = seg.At
	}
}
func (u *undecided) Waits() bool { return u.kept > 0 }
func (u *undecided) Flush(_ time.Time, emit func(*transport.Frame)) {
	emit(&transport.Frame{At: u.at, Bytes: []byte("late")})
}

// A connection that never decides holds the frames of others back within bounds, and only once.
func TestOrderIsBounded(t *testing.T) {
	for _, c := range []struct{ size, most int }{{1, maxOrdered}, {4 << 10, maxOrderedBytes / (4 << 10)}} {
		emitted, late := 0, 0
		a := NewAssembler(Options{New: func(c transport.Conn) transport.Transport {
			if c.Server.Port() == 9 {
				return &undecided{}
			}
			return &packettest.Sink{}
		}}, func(f *transport.Frame) {
			if emitted++; string(f.Bytes) == "late" {
				late = emitted
			}
		})
		feed := func(n int, port uint16, data []byte) {
			b := append([]byte{0x45, 0, 0, 0, 0, 0, 0, 0, 64, ProtoUDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 200, 0, byte(port >> 8), byte(port), byte((8 + len(data)) >> 8), byte(8 + len(data)), 0, 0}, data...)
			b[2], b[3] = byte(len(b)>>8), byte(len(b))
			a.Packet(&Packet{N: uint32(n), At: packettest.Day.Add(time.Duration(n)), Link: LinkRaw, Data: b, Orig: uint32(len(b))})
		}
		feed(1, 9, []byte("x"))
		data := make([]byte, c.size)
		for n := range c.most {
			feed(2+n, 7, data)
		}
		if emitted != 0 {
			t.Fatalf("%d frames before the bound of %d bytes", emitted, c.size)
		}
		feed(2+c.most, 7, data)
		if emitted != c.most+1 || len(a.order.held) > 0 || a.order.bytes != 0 {
			t.Fatalf("%d frames behind the bound, %d held, %d bytes", emitted, len(a.order.held), a.order.bytes)
		}
		feed(3+c.most, 9, []byte("x"))
		feed(4+c.most, 7, data)
		if emitted != c.most+2 {
			t.Errorf("held back again: %d", emitted)
		}
		if a.Flush(); late == 0 || len(a.order.held) > 0 {
			t.Errorf("the late frame is %d, %d held", late, len(a.order.held))
		}
	}
}
