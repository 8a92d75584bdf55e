package proxy

import (
	"bytes"
	"sync"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// direct relays a connection with a rewriter while there is nothing to decide: the readers of the sockets send data themselves, and then
// queue it for the rewriter, which must have seen all data when the session is operated. Data that overflows the queue is missing for the
// rewriter, as it would be for the observer of other sessions.
type direct struct {
	wake chan struct{}

	mu     sync.Mutex
	on     bool
	queue  []arrival // data sent and not fed yet
	lost   [2]int64  // bytes that overflowed the queue since its last arrival
	pieces uint32    // number of the last piece
}

const (
	arrivalCost = 128                   // bytes charged per arrival in the queue
	catchUpTime = 10 * time.Millisecond // time limit of one turn
)

// open opens or closes the gate through which data bypasses the rewriter.
func (d *direct) open(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = on
}

// number returns the number of the next piece.
func (d *direct) number() uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pieces++
	return d.pieces
}

// gate opens the gate if the rewriter is only observing.
func (o *operated) gate() {
	m, _ := o.rw.Mode()
	if !o.on && !o.over && (m == transport.Observing || m == transport.Impossible) {
		o.direct.open(true)
	}
}

// sendDirect sends data and queues it for the rewriter, and reports whether it did; otherwise the rewriter must send it. The bytes are
// copied.
func (o *operated) sendDirect(a arrival) bool {
	d := &o.direct
	d.mu.Lock()
	if !d.on {
		d.mu.Unlock()
		return false
	}
	n := len(a.bytes)
	if n > 0 && !o.carry.admits(a.dir, n) {
		d.mu.Unlock()
		return true
	}
	d.pieces++
	a.piece = d.pieces
	if n > 0 || !a.end && o.c.Proto == transport.UDP { // queue it before the other side can receive it
		o.s.queue.sent(o.c, a.dir, a.at, a.bytes, a.piece)
	}
	o.carry.deliver(a.dir, a.bytes, a.end)
	if a.end {
		o.s.queue.end(o.c, ended, a.dir, a.at)
	}
	missed := false
	if n > 0 || a.end {
		way := a.dir - schema.ToServer
		cost := int64(n) + arrivalCost
		if total := o.s.op.backlog.Add(cost); total > int64(o.s.limits.QueueBytes) && !a.end {
			o.s.op.backlog.Add(-cost)
			missed = d.lost[way] == 0
			d.lost[way] += int64(n)
			o.s.queue.miss(o.c, n)
		} else {
			a.lost, d.lost[way] = d.lost[way], 0
			a.bytes = bytes.Clone(a.bytes)
			d.queue = append(d.queue, a)
		}
	}
	d.mu.Unlock()
	if missed {
		o.s.events.add(Warning, "messages were not decoded in time: they passed, and are missing in the log")
	}
	o.s.queue.signal()
	poke(d.wake)
	return true
}

// catchUp feeds the rewriter with data sent before the call, for a limited time; 0 means all of it.
func (o *operated) catchUp(most time.Duration) {
	start := time.Now()
	for taken := 0; ; {
		if len(o.late) == 0 {
			if taken == 2 { // everything at the time of the call, and later losses; more data may always come
				poke(o.direct.wake)
				return
			}
			if taken++; !o.nextLate() {
				return
			}
		}
		a := o.late[0]
		o.late[0] = arrival{}
		o.late = o.late[1:]
		o.s.op.backlog.Add(-int64(len(a.bytes)) - arrivalCost)
		lost := transport.Segment{Dir: a.dir, At: a.at, Lost: a.lost}
		if a.lost > 0 && o.c.Proto == transport.UDP { // datagrams have no position in a stream
			o.call(func() { o.rw.Feed(lost, &o.past) })
			a.lost = 0
		}
		seg := o.segment(a)
		o.call(func() { o.rw.Feed(seg, &o.past) })
		if most > 0 && time.Since(start) > most {
			poke(o.direct.wake)
			return
		}
	}
}

// nextLate takes the queue, and reports whether there was any data.
func (o *operated) nextLate() bool {
	d := &o.direct
	d.mu.Lock()
	defer d.mu.Unlock()
	o.late, d.queue = d.queue, nil
	if len(o.late) == 0 && !d.on {
		for way, n := range d.lost { // losses without a later arrival
			if n > 0 {
				o.s.op.backlog.Add(arrivalCost)
				o.late = append(o.late, arrival{dir: schema.ToServer + schema.Dir(way), at: time.Now(), lost: n})
			}
		}
		d.lost = [2]int64{}
	}
	return len(o.late) > 0
}
