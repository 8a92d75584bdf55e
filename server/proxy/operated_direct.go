package proxy

import (
	"bytes"
	"sync"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// direct is how a connection with a rewriter is relayed while there is nothing to decide: whoever reads a socket sends on what came,
// and then leaves it here for the rewriter, which has to have seen all of it when the session is operated. What it does not read in
// time is missing for it, as bytes are for the observer of other sessions.
type direct struct {
	wake chan struct{}

	mu     sync.Mutex
	on     bool
	queue  []arrival // sent and not fed
	lost   [2]int64  // bytes that the queue had no room for since its last arrival
	pieces uint32    // the last number of what came
}

const (
	arrivalCost = 128                   // bytes that count for each arrival that waits to be fed
	catchUpTime = 10 * time.Millisecond // after which something else has its turn
)

// open opens or closes the gate through which bytes pass by the rewriter.
func (d *direct) open(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = on
}

// number is that of the next piece.
func (d *direct) number() uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pieces++
	return d.pieces
}

// gate opens the gate where the rewriter does nothing but look on.
func (o *operated) gate() {
	m, _ := o.rw.Mode()
	if !o.on && !o.over && (m == transport.Observing || m == transport.Impossible) {
		o.direct.open(true)
	}
}

// sendDirect sends on what came and leaves it for the rewriter, and reports whether it did: else the rewriter has to do it. The bytes
// are not kept.
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
	if n > 0 { // in the queue before the other side can have it, as everything
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
		o.s.events.add(Warning, "messages were not read in time: their bytes have passed, and are missing in the log")
	}
	o.s.queue.signal()
	poke(d.wake)
	return true
}

// catchUp feeds the rewriter with what was sent before the call, for a time; with 0 with all of it.
func (o *operated) catchUp(most time.Duration) {
	start := time.Now()
	for taken := 0; ; {
		if len(o.late) == 0 {
			if taken == 2 { // all, and what was lost behind it; there may always be more
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
		if a.lost > 0 && o.c.Proto == transport.UDP { // there it is no place in a stream
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

// nextLate takes what has come, and reports whether there was something.
func (o *operated) nextLate() bool {
	d := &o.direct
	d.mu.Lock()
	defer d.mu.Unlock()
	o.late, d.queue = d.queue, nil
	if len(o.late) == 0 && !d.on {
		for way, n := range d.lost { // behind which nothing has come
			if n > 0 {
				o.s.op.backlog.Add(arrivalCost)
				o.late = append(o.late, arrival{dir: schema.ToServer + schema.Dir(way), at: time.Now(), lost: n})
			}
		}
		d.lost = [2]int64{}
	}
	return len(o.late) > 0
}
