package packet

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of the frames that are held back until those before them are known.
const (
	maxOrdered      = 1 << 16
	maxOrderedBytes = 16 << 20
)

// place is the place of a frame among all frames: the time and the number of the packet that completed it.
type place struct {
	at     time.Time
	packet uint32
}

func (p place) compare(q place) int {
	return cmp.Or(p.at.Compare(q.at), cmp.Compare(p.packet, q.packet))
}

// order puts frames into the order of the packets that completed them. A connection whose bytes wait for a decision, such as where its
// first message starts, delivers their frames later than others deliver theirs; those of others are held back until then.
type order struct {
	emit  func(*transport.Frame)
	all   bool // hold all frames back: the capture has ended
	held  ordered
	bytes int
	given uint64
	waits []*wait // in the order of since
	live  int     // in waits
}

// wait is a connection that waits for a decision.
type wait struct {
	conn  *conn // nil: it is over
	since place // no frame of the bytes that wait is before it
}

// orderedFrame is a frame that is held back.
type orderedFrame struct {
	place
	n     uint64 // keeps the order of frames of one place
	frame transport.Frame
}

// ordered is a heap.
type ordered []orderedFrame

func (o ordered) Len() int { return len(o) }
func (o ordered) Less(i, j int) bool {
	return cmp.Or(o[i].compare(o[j].place), cmp.Compare(o[i].n, o[j].n)) < 0
}
func (o ordered) Swap(i, j int) { o[i], o[j] = o[j], o[i] }
func (o *ordered) Push(x any)   { *o = append(*o, x.(orderedFrame)) }
func (o *ordered) Pop() any {
	last := len(*o) - 1
	x := (*o)[last]
	(*o)[last] = orderedFrame{}
	*o = (*o)[:last]
	return x
}

// place returns the place of the next frame of a connection. In a stream it is not before that of the previous one in its direction: bytes
// are complete only with those before them. Of datagrams this holds for those that one packet released.
func (c *conn) place(f *transport.Frame) place {
	p := place{at: f.At}
	for _, s := range f.From {
		p.packet = max(p.packet, s.Packet)
	}
	last := &c.last[min(f.Dir, schema.ToClient)]
	if p == *last { // of several messages in a packet
		return p
	}
	if p.compare(*last) > 0 || c.tcp == nil && !p.at.Equal(last.at) {
		*last = p
	}
	return *last
}

// give takes the next frame that a connection delivers.
func (o *order) give(c *conn, p place, f *transport.Frame) {
	if !o.all && (len(o.waits) == 0 || p.compare(o.waits[0].since) < 0 || o.alone(c)) {
		o.emit(f)
		return
	}
	x := orderedFrame{place: p, n: o.given, frame: *f}
	x.frame.Bytes, x.frame.From, x.frame.Via = bytes.Clone(f.Bytes), slices.Clone(f.From), slices.Clone(f.Via)
	o.given++
	o.bytes += len(f.Bytes)
	heap.Push(&o.held, x)
	for len(o.held) > maxOrdered || o.bytes > maxOrderedBytes {
		if o.all {
			o.pop()
			continue
		}
		o.waits[0].conn.slow = true
		o.decided(o.waits[0].conn)
	}
}

// alone reports whether a connection was the only one that waited, and has decided: what it delivers now is in order already.
func (o *order) alone(c *conn) bool {
	return len(o.held) == 0 && len(o.waits) == 1 && o.waits[0] == c.wait && !c.waits()
}

func (o *order) pop() {
	x := heap.Pop(&o.held).(orderedFrame)
	o.bytes -= len(x.frame.Bytes)
	o.emit(&x.frame)
}

// watch records whether a connection waits for a decision, after the packet at p.
func (o *order) watch(c *conn, p place) {
	switch waits := c.waits(); {
	case !waits:
		c.slow = false
		if c.wait != nil {
			o.decided(c)
		}
	case c.wait == nil && !c.slow:
		c.wait = &wait{c, p}
		for i := len(o.waits) - 1; i >= 0 && o.waits[i].since.compare(p) > 0; i-- { // the clock went back
			o.waits[i].since = p
		}
		o.waits = append(o.waits, c.wait)
		if o.live++; len(o.waits) > 2*o.live+64 {
			o.waits = slices.DeleteFunc(o.waits, func(w *wait) bool { return w.conn == nil })
		}
	}
}

// decided ends the wait of a connection and emits the frames that no other one holds back.
func (o *order) decided(c *conn) {
	c.wait.conn, c.wait = nil, nil
	o.live--
	over := 0
	for over < len(o.waits) && o.waits[over].conn == nil {
		over++
	}
	o.waits = slices.Delete(o.waits, 0, over)
	o.release()
}

// release emits the frames that no connection holds back.
func (o *order) release() {
	for len(o.held) > 0 && (len(o.waits) == 0 || o.held[0].compare(o.waits[0].since) < 0) {
		o.pop()
	}
}

// waits reports whether bytes of the connection wait for a decision.
func (c *conn) waits() bool {
	if c.tcp != nil && c.tcp.waits() {
		return true
	}
	w, ok := c.transport.(transport.Waiter)
	return ok && w.Waits()
}

// waits reports whether segments wait for others before them, or acknowledged bytes are missing that may still follow.
func (s *stream) waits() bool {
	return len(s.a.held)+len(s.b.held)+len(s.a.far)+len(s.b.far)+s.a.wait+s.b.wait > 0
}
