package subspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"wirebench/codec/transport"
)

// Limits of the data that a rewriter retains, in each direction.
const (
	takeWindow   = 256     // numbers accepted ahead of the next one, of up to maxRead bytes each
	maxLane      = 2 << 20 // bytes waiting to be sent or decided, above which no new packet is accepted
	maxRead      = 1 << 10 // bytes of a datagram; servers read 520 at most
	maxUnordered = 1 << 20 // bytes of held unreliable messages; more pass
)

// batch is the content of the numbered packet that is being delivered.
type batch struct {
	items []item
	whole bool // all packets in it pass unchanged
	holds bool // a message in it is held
}

// takes reports whether a numbered packet is accepted now, and acknowledges it. One that was relayed is relayed again, and acknowledged by
// the other end.
func (rw *Rewriter) takes(l *lane, n int64, data []byte) bool {
	o := &l.order
	if !o.started {
		// The session began before it was observed: the initial numbers are unknown.
		o.started = true
		l.base, o.next, l.sender.number = n, n, n
	}
	relayed := n < l.base
	if relayed && !l.passed() {
		l.packer.add(data)
	}
	if n >= o.next && o.early[int32(n)] == nil && (n >= o.next+takeWindow || !relayed && l.full()) {
		return false
	}
	if !relayed {
		ack := [ackSize]byte{1: coreAck}
		copy(ack[sequenceAt:], data[sequenceAt:reliableHeader])
		rw.back(l).packer.add(ack[:])
	}
	return true
}

// deliver reads the content of a numbered packet, and sends it on: a cluster without changes as it is, otherwise packet by packet.
func (rw *Rewriter) deliver(w *way, body []byte, off uint32) {
	b := &rw.batch
	b.items, b.whole, b.holds = b.items[:0], true, false
	rw.t.read(w, body, off)
	if b.whole && len(b.items) > 1 && len(body) <= maxBody {
		all := item{lane: rw.lane(w.dir), reliable: true, how: core, bytes: body}
		for i := range b.items {
			if id := b.items[i].id; id != 0 {
				all.more = append(all.more, id)
			}
		}
		rw.pass(&all)
	} else {
		for i := range b.items {
			rw.pass(&b.items[i])
		}
	}
	clear(b.items)
}

// core reads a core packet as Transport.core does, and also sends it on.
func (rw *Rewriter) core(w *way, data []byte, off uint32) {
	t, l := rw.t, rw.lane(w.dir)
	if data[1] >= coreReliable && data[1] <= coreStream {
		rw.batch.whole = false // these do not pass as they are
	}
	switch data[1] {
	case coreReliable, coreCluster:
		t.core(w, data, off)
	case coreAck:
		t.control(w, data, off, sized(len(data) == ackSize))
		rw.ack(l, data)
	case coreChunk, coreChunkTail:
		if !l.chunk.busy() {
			l.chunk.raw = l.passed()
		}
		t.chunk(w, data, off)
		if l.chunk.raw && len(data) > chunkHeader {
			rw.forward(l, data)
		}
	case coreStream: // one that is too long to be stored passes in its parts
		if len(data) > streamHeader && !l.stream.busy() {
			l.stream.raw = l.passed() || int32(binary.LittleEndian.Uint32(data[totalAt:])) > maxStream
		}
		t.stream(w, data, off)
		if l.stream.raw && len(data) > streamHeader {
			rw.forward(l, data)
		}
	case coreSync, coreSyncAnswer:
		t.core(w, data, off)
		if !l.passed() {
			rw.flush(l)
			rw.putClear(l, rw.counted(l, data))
		}
	case coreDisconnect:
		t.disconnect(w, data, off)
		if len(data) == disconnectSize && !l.passed() {
			rw.back(l).sender.drop() // the other end no longer reads
			l.sender.bye(t.at)
		}
	default:
		t.core(w, data, off)
		rw.forward(l, data)
	}
}

// forward sends on a core packet as it is.
func (rw *Rewriter) forward(l *lane, data []byte) {
	if !l.passed() {
		rw.add(&item{lane: l, reliable: l.order.busy, how: core, bytes: data})
	}
}

// ack handles an acknowledgement of a packet sent by the rewriter, or passes on one of a packet relayed before.
func (rw *Rewriter) ack(l *lane, data []byte) {
	if len(data) != ackSize {
		return
	}
	n, b := number(data), rw.back(l)
	switch {
	case n < 0:
	case b.order.started && int64(n) >= b.base:
		b.sender.acked(n, rw.t.at)
	case !l.passed():
		l.packer.add(data)
	}
}

// counted returns a sync request with counts as if its sender had sent the datagrams that the rewriter added, and not those that it saved.
// Other packets are returned as they are.
func (rw *Rewriter) counted(l *lane, data []byte) []byte {
	if data[1] != coreSync || len(data) != syncSize {
		return data
	}
	data = slices.Clone(data)
	b := rw.back(l)
	sent, received := data[sentAt:], data[receivedAt:]
	binary.LittleEndian.PutUint32(sent, binary.LittleEndian.Uint32(sent)+uint32(l.packer.went+1-l.count))
	binary.LittleEndian.PutUint32(received, binary.LittleEndian.Uint32(received)+uint32(b.count-b.packer.went))
	return data
}

// frame receives the frames that the transport finds, and decides about messages.
func (rw *Rewriter) frame(f *transport.Frame) {
	rw.r.EmitFrame(f)
	l := rw.lane(f.Dir)
	if rw.t.rewriter == nil || l.passed() {
		return
	}
	reliable := l.order.busy
	behind := reliable && (len(l.queue.items) > 0 || rw.batch.holds)
	how, raw := alone, false
	if n := len(rw.t.path); n > 0 {
		switch rw.t.path[n-1].kind {
		case inChunk:
			how, raw = chunked, l.chunk.raw
		case inStream:
			how, raw = streamed, l.stream.raw
		}
	}
	if f.Kind == transport.Problem {
		rw.batch.whole = false
	}
	if f.Kind != transport.Message || raw {
		// It needs no decision, or its parts were sent separately; but it takes its place in the order.
		if behind {
			rw.next++
			rw.r.Wait(rw.next)
			rw.add(&item{id: rw.next, lane: l, reliable: true, how: gone})
		}
		return
	}
	rw.next++
	it := item{lane: l, reliable: reliable, how: how, bytes: f.Bytes}
	var d transport.Decision
	if rw.asking {
		d = rw.r.Ask(rw.next, f)
	}
	if behind || d.Action != transport.Pass {
		it.id = rw.next
	}
	if it.held = d.Action == transport.Hold; behind || it.held && reliable {
		rw.r.Wait(it.id)
	}
	if it.held {
		rw.batch.holds = rw.batch.holds || reliable
	} else if d.Action == transport.Pass && how == alone && !reliable && len(f.Bytes) > usualSize {
		it.how = core // unchanged, whatever the other end does with it
	} else if err := rw.decide(&it, d); err != nil {
		rw.tell(l, "the message was not replaced: "+err.Error())
	}
	if d.Action != transport.Pass {
		rw.batch.whole = false
	}
	rw.add(&it)
}

// decide applies a decision to an unsent item.
func (rw *Rewriter) decide(it *item, d transport.Decision) error {
	switch d.Action {
	case transport.Drop:
		it.how, it.bytes = gone, nil
	case transport.Replace:
		if d.With.Raw {
			if err := fitsRaw(d.With.Bytes); err != nil {
				return err
			}
			rw.putAlone(it.lane, d.With.Bytes)
			it.how, it.bytes = gone, nil
			return nil
		}
		message := rw.message(&d.With)
		if err := fits(message); err != nil {
			return err
		}
		it.bytes = slices.Clone(message)
	}
	return nil
}

var errType = errors.New("a message must begin with its type, which is not 0")

// fits returns the error of an invalid message, or nil.
func fits(data []byte) error {
	switch {
	case len(data) < 1 || len(data) > maxStream:
		return transport.OutOfRange(len(data), 1, maxStream)
	case data[0] == 0:
		return errType
	}
	return nil
}

func fitsRaw(data []byte) error {
	if len(data) < 1 || len(data) > usualSize {
		return fmt.Errorf("a datagram of %d bytes: it must have 1 to %d", len(data), usualSize)
	}
	return nil
}

// add sends a packet, or adds it to those of the numbered packet that contains it.
func (rw *Rewriter) add(it *item) {
	if !it.reliable {
		rw.pass(it)
		return
	}
	if it.how == chunked || it.how == streamed {
		it.bytes = slices.Clone(it.bytes) // the next message in parts has the same buffer
	}
	rw.batch.items = append(rw.batch.items, *it)
}

// pass sends a packet, or queues it.
func (rw *Rewriter) pass(it *item) {
	q := &it.lane.queue
	switch {
	case !it.held && (!it.reliable || len(q.items) == 0):
		rw.send(it)
	case !it.reliable && q.bytes > maxUnordered:
		rw.tell(it.lane, "too much is held: the message is forwarded")
		rw.send(it)
	default:
		q.add(it)
	}
}
