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

// stop takes the frame that was seen last out of what goes on now: it is seen again when its turn comes.
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

// waits is told by the rewriter that something stands in the line of its direction.
func (o *operated) waits(id uint64) {
	x := o.stand[id]
	switch {
	case x != nil: // it was held
	case o.own != nil:
		x = o.own
		o.own = nil
		o.stand[id] = x
		o.s.events.by(x.who, Info, "is to be injected into %s %s, behind the message that is under way: %s", o.c.Name(), x.Dir, shortHex(x.Bytes, 64))
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

// leave takes something out of the line of its direction, if it stands there. Mostly it is the first.
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

// goes is told by the rewriter that it is the turn of something. Only now it is seen, so that the log has the order of what is sent.
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
		return // it was decided about at once, and stands in its place
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
		x.remark("it passes: too much waits")
		o.forget(w)
		o.s.events.add(Warning, "messages are not held any more: too much waits")
	case w == nil && x.sent != nil:
		o.settle(x)
	}
	if w := o.held[id]; w == nil && x.who == "" {
		if waited := o.at.Sub(x.since).Round(time.Millisecond); waited > 0 && !x.told {
			x.remark(fmt.Sprintf("waited %s for those before it", waited))
		}
	}
	o.seen = append(o.seen, x)
}

// injected says what was sent as an own message.
func (o *operated) injected(x *sighting) {
	if x.went != nil {
		x.Bytes = x.went
	}
	if x.Kind == transport.Message {
		o.identify(&x.Frame)
	}
	o.s.events.by(x.who, Info, "injected into %s %s: %s", o.c.Name(), x.Dir, shortHex(x.Bytes, 64))
}

// never is told by the rewriter that the turn of something does not come.
func (o *operated) never(id uint64) {
	x := o.stand[id]
	if x == nil {
		return
	}
	delete(o.stand, id)
	o.leave(id, x.Dir-schema.ToServer)
	if w := o.held[id]; w != nil {
		o.forget(w)
		o.s.events.add(Warning, "messages are not held any more: their session has begun anew")
	}
	x.At, x.sent = o.at, nil
	x.flags |= live.Dropped
	x.remark("not sent: its turn did not come before the end of its session")
	o.seen = append(o.seen, x)
}

// abandon shows what stands in a line at the end of the connection.
func (o *operated) abandon() {
	o.at = time.Now()
	for _, id := range slices.SortedFunc(maps.Keys(o.stand), cmp.Compare) {
		o.never(id)
	}
	o.flush()
}
