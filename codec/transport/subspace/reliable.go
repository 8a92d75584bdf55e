package subspace

import (
	"bytes"
	"fmt"

	"wirebench/defs/schema"
)

// Limits of the packets that wait, in each direction. Servers accept 31 numbers ahead; an observer has to accept as many as a server has in
// flight, 255.
const (
	serverWindow = 32      // numbers that servers accept, from the next one on
	window       = 1024    // numbers ahead of the next one
	maxWaiting   = 1 << 20 // bytes
	smallBody    = 1 << 10 // maximum capacity in bytes of a body's buffer that is retained for reuse
	maxNumber    = 1<<31 - 1
)

// order puts the numbered packets of a direction in order. Each number below next has been delivered or given up, and early has packets of
// higher numbers only; a packet is delivered when its number is next and no other one is being delivered.
type order struct {
	started bool
	next    int64 // the next number to deliver
	busy    bool  // a packet is being delivered: packets inside it wait
	bytes   int   // of the bodies in early
	early   map[int32]*early
	free    []*early
	gaps    // of an observer; a rewriter receives every number
}

// early is a packet that waits for earlier ones.
type early struct {
	origin
	number int32
	body   []byte
}

const noteAhead = "32 or more numbers early: servers drop it until it is retransmitted"

func (o *order) reset() {
	o.clearFar()
	clear(o.acked)
	for _, e := range o.early {
		o.recycle(e)
	}
	clear(o.early)
	g := gaps{far: o.far, acked: o.acked, runs: o.runs[:0], bodies: o.bodies, seed: o.seed}
	*o = order{free: o.free, early: o.early, gaps: g}
}

func (o *order) recycle(e *early) {
	if cap(e.body) > smallBody {
		e.body = nil
	}
	if len(o.free) < window {
		o.free = append(o.free, e)
	}
}

// reliable reads a numbered packet: it delivers it, stores it until its turn, or reports a repetition.
func (t *Transport) reliable(w *way, data []byte, off uint32) {
	if len(data) <= reliableHeader {
		t.problem(w, data, off, "a reliable packet without another packet in it: servers ignore it")
		return
	}
	n, body, at := number(data), data[reliableHeader:], off+reliableHeader
	if n < 0 {
		t.problem(w, data, off, "a reliable packet with a negative number: servers ignore it")
		return
	}
	o := &w.order
	observing := t.rewriter == nil
	if observing {
		t.expect(w, n)
	} else if !t.rewriter.takes(t.rewriter.lane(w.dir), int64(n), data) {
		t.control(w, data, off, "not accepted yet: too far ahead, or too much data is waiting")
		return
	}
	switch ahead := int64(n) - o.next; {
	case ahead < 0:
		t.again(w, data, off)
	case ahead == 0 && !o.busy:
		t.inTurn(w, n, body, at)
		t.drain(w)
	case ahead >= window:
		t.far(w, data, off)
	case o.early[n] != nil:
		t.repeated(w, data, off, bytes.Equal(o.early[n].body, body))
	case o.bytes+len(body) > maxWaiting:
		t.problem(w, data, off, "too much data waits for missing packets: this packet is dropped")
	default:
		if len(o.early) == 0 {
			o.hole = t.moment(w)
		}
		delete(o.acked, n)
		e := t.copied(w, n, body, at)
		if observing && ahead >= serverWindow && w.dir == schema.ToServer {
			e.note = noteAhead
		}
		o.keep(e)
	}
}

// copied returns a copy of the current packet.
func (t *Transport) copied(w *way, n int32, body []byte, off uint32) *early {
	o := &w.order
	var e *early
	if last := len(o.free) - 1; last >= 0 {
		e, o.free = o.free[last], o.free[:last]
	} else {
		e = new(early)
	}
	path := append(e.path[:0], t.path...)
	e.origin, e.number, e.body = t.origin, n, append(e.body[:0], body...)
	e.path, e.off, e.end = path, off, off+uint32(len(body))
	if !t.cut(off, len(body)) {
		e.lost = 0
	}
	return e
}

func (o *order) keep(e *early) {
	if o.early == nil {
		o.early = map[int32]*early{}
	}
	o.early[e.number] = e
	o.bytes += len(e.body)
}

// inTurn delivers the packet whose turn it is.
func (t *Transport) inTurn(w *way, n int32, body []byte, off uint32) {
	o := &w.order
	o.next++
	o.busy = true
	t.path = append(t.path, wrap{inReliable, n})
	if t.rewriter != nil {
		t.rewriter.deliver(w, body, off)
	} else {
		o.delivered(n, body)
		t.read(w, body, off)
	}
	t.path = t.path[:len(t.path)-1]
	o.busy = false
}

// drain delivers the packets that waited for the one before them.
func (t *Transport) drain(w *way) {
	o := &w.order
	for len(o.early) > 0 {
		e := o.early[int32(o.next)]
		if e == nil {
			o.hole = t.moment(w)
			return
		}
		t.deliver(w, e)
	}
}

// deliver delivers a stored packet whose turn it is. It has its original position in the capture and its enclosing packets.
func (t *Transport) deliver(w *way, e *early) {
	o := &w.order
	delete(o.early, e.number)
	o.bytes -= len(e.body)
	now := t.origin
	t.origin = e.origin
	t.at = now.at
	t.inTurn(w, e.number, e.body, e.off)
	e.path, t.origin = t.path, now
	o.recycle(e)
}

// repeated reports a packet that was received before.
func (t *Transport) repeated(w *way, data []byte, off uint32, same bool) {
	if same {
		t.control(w, data, off, "repeated")
		return
	}
	t.problem(w, data, off, fmt.Sprintf("reliable packet %d repeated with different content: the first content is used", number(data)))
}
