package packet

import (
	"fmt"
	"math"
	"strings"
	"time"

	"wirebench/codec/transport"
)

// Events of TCP connections, as frames of kind transport.Packet: a segment that ends a connection, bytes that were captured before, and bytes
// that were not captured. A frame has no bytes; it refers to its packet.

// Places of events in packets, behind all bytes of a payload, so that frames that begin in the packet keep their identities.
const (
	eventPlace = math.MaxUint32
	lossPlace  = math.MaxUint32 - 1
)

const maxEarlyEvents = 64 // of a connection, before the first bytes show which of its ends is the server

// event is an event of a TCP connection.
type event struct {
	fromB bool
	at    place // its packet
	off   uint32
	note  string
}

// eventsOf returns the receiver of the events of a connection, nil if they are not wanted.
func (a *Assembler) eventsOf(c *conn) func(event) {
	if !a.opts.Events {
		return nil
	}
	return func(e event) {
		if c := c.newest(); c.made || c.starter != unknownSide {
			a.event(c, e)
		} else if len(c.early) < maxEarlyEvents {
			c.early = append(c.early, e)
		}
	}
}

// event emits an event of a connection, unless its frames are not read.
func (a *Assembler) event(c *conn, e event) {
	c.name(a.opts.Ports)
	if c.made && c.transport == nil && !c.over {
		return
	}
	f := &transport.Frame{
		Conn: &c.Conn, Kind: transport.Packet, Dir: c.dir(e.fromB), At: e.at.at, From: []transport.Source{{Packet: e.at.packet, Off: e.off}},
		Offset: transport.Unknown, Note: e.note,
	}
	a.order.give(c, e.at, f)
}

// earlyEvents emits the events before the first bytes of a connection.
func (a *Assembler) earlyEvents(c *conn) {
	for _, e := range c.early {
		a.event(c, e)
	}
	c.early = nil
}

// tell reports the events of a packet that was fed: its flags, and that again of its bytes were captured before.
func (s *stream) tell(d *datagram, again int) {
	var what []string
	switch {
	case again == len(d.data) && again == 1:
		what = append(what, "keep-alive or retransmission of 1 byte")
	case again == len(d.data) && again > 0:
		what = append(what, fmt.Sprintf("retransmission of %d bytes", again))
	case again > 0:
		what = append(what, fmt.Sprintf("retransmission of %d of %d bytes", again, len(d.data)))
	}
	if d.flags&FlagFIN != 0 {
		what = append(what, "FIN")
	}
	if d.flags&FlagRST != 0 {
		what = append(what, "RST")
	}
	if len(what) > 0 {
		s.event(event{d.fromB, s.now, eventPlace, strings.Join(what, ", ")})
	}
}

// tellLoss reports bytes that were not captured. packet is the one after them, 0 if there is none.
func (s *stream) tellLoss(h *half, n int64, packet uint32, at time.Time) {
	note := "lost: an unknown number of bytes"
	switch {
	case n == 1:
		note = "lost: 1 byte"
	case n > 0:
		note = fmt.Sprintf("lost: %d bytes", n)
	}
	if packet == 0 {
		packet = s.now.packet
	}
	s.event(event{h.fromB, place{at, packet}, lossPlace, note})
}

// again returns how many bytes of a segment were captured before.
func (h *half) again(seq uint32, data []byte) (n int) {
	overlap := func(from, to uint32) {
		n += max(0, min(len(data), int(int32(to-seq)))-max(0, int(int32(from-seq))))
	}
	if h.based && seq-h.next+maxAhead <= 2*maxAhead {
		overlap(h.next-uint32(min(int64(maxAhead), int64(h.next-h.first))), h.next)
	}
	for i := range h.held {
		if p := &h.held[i]; seq-p.seq+maxAhead <= 2*maxAhead {
			overlap(p.seq, p.end())
		}
	}
	return n
}
