package proxy

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// stop removes the last frame from those being sent: it is shown when its turn comes.
func (o *operated) stop(id uint64) {
	last := len(o.seen) - 1
	if last < 0 {
		return
	}
	x := o.seen[last]
	o.seen[last] = nil
	o.seen = o.seen[:last]
	x.since = o.at
	o.stand[id] = x
}

// waits is called by the rewriter when an item is queued in its direction.
func (o *operated) waits(id uint64) {
	x := o.stand[id]
	switch {
	case x != nil: // a held message
	case o.own != nil:
		x = o.own
		o.own = nil
		o.stand[id] = x
		o.s.events.by(x.who, Info, "will be injected into %s %s after the current message: %s", o.c.Name(), x.Dir, shortHex(x.Bytes, 64))
	default:
		if o.stop(id); o.stand[id] == nil {
			return
		}
		x = o.stand[id]
	}
	way := x.Dir - schema.ToServer
	o.s.op.mu.Lock()
	defer o.s.op.mu.Unlock()
	o.lines[way] = append(o.lines[way], id)
	o.s.op.standing++
	if w := o.held[id]; w != nil && !w.inLine {
		w.inLine = true
		o.s.op.heldUp++
	}
}

// leave removes an item from the queue of its direction, if it is there. It is usually the first.
func (o *operated) leave(id uint64, way schema.Dir) {
	o.s.op.mu.Lock()
	defer o.s.op.mu.Unlock()
	line := o.lines[way]
	at, ok := slices.BinarySearch(line, id)
	switch {
	case !ok:
		return
	case at == 0:
		o.lines[way] = line[1:]
	default:
		o.lines[way] = slices.Delete(line, at, at+1)
	}
	if len(o.lines[way]) == 0 {
		o.lines[way] = nil
	}
	o.s.op.standing--
}

// goes is called by the rewriter when an item is sent. It is shown only now, so that the log has the order of sending.
func (o *operated) goes(id uint64, message []byte) {
	x := o.stand[id]
	switch {
	case x != nil:
		delete(o.stand, id)
		o.leave(id, x.Dir-schema.ToServer)
	case o.own != nil:
		x = o.own
		o.own = nil
	default:
		return // decided immediately, and already in its place
	}
	x.gone, x.At = true, o.at
	if bytes.Equal(message, x.Bytes) {
		x.went = x.Bytes
	} else if message != nil {
		x.went = bytes.Clone(message)
	}
	switch w := o.held[id]; {
	case x.who != "":
		o.injected(x)
	case w != nil && w != o.freed:
		x.remark("passed: too much data is waiting")
		o.forget(w)
		o.s.events.add(Warning, "held messages pass: too much data is waiting")
	case w == nil && x.sent != nil:
		o.settle(x)
	}
	if w := o.held[id]; w == nil && x.who == "" {
		if waited := o.at.Sub(x.since).Round(time.Millisecond); waited > 0 && !x.told {
			x.remark(fmt.Sprintf("waited %s for previous messages", waited))
		}
	}
	o.seen = append(o.seen, x)
}

// injected reports an injected message with the bytes that were sent.
func (o *operated) injected(x *sighting) {
	if x.went != nil {
		x.Bytes = x.went
	}
	if x.Kind == transport.Message {
		o.identify(&x.Frame)
	}
	o.s.events.by(x.who, Info, "injected into %s %s: %s", o.c.Name(), x.Dir, shortHex(x.Bytes, 64))
}

// never is called by the rewriter when an item will not be sent.
func (o *operated) never(id uint64) {
	x := o.stand[id]
	if x == nil {
		return
	}
	delete(o.stand, id)
	o.leave(id, x.Dir-schema.ToServer)
	if w := o.held[id]; w != nil {
		o.forget(w)
		o.s.events.add(Warning, "held messages are dropped: their session was restarted")
	}
	x.At, x.sent = o.at, nil
	x.flags |= live.Dropped
	x.remark("not sent: its session ended first")
	o.seen = append(o.seen, x)
}

// abandon shows the queued items at the end of the connection.
func (o *operated) abandon() {
	o.at = time.Now()
	for _, id := range slices.SortedFunc(maps.Keys(o.stand), cmp.Compare) {
		o.never(id)
	}
	o.flush()
}
