package subspace

import (
	"bytes"
	"encoding/binary"
)

// read reads a packet as Transport.read does, and also sends its content on.
func (rw *Rewriter) read(c *carrier, data []byte, off uint32) {
	t, l := rw.t, c.lane
	w := t.way(l.dir)
	rw.now = c
	if len(data) < 2 || data[0] != 0 || len(t.path) >= maxDepth && carries(data[1]) {
		t.read(w, data, off) // a message, or a packet that servers ignore
		return
	}
	switch data[1] {
	case coreReliable:
		rw.whole = false
		rw.reliable(c, data, off)
	case coreCluster:
		rw.cluster(c, data, off)
	case coreAck:
		rw.whole = false
		rw.ack(c, data, off)
	case coreChunk, coreChunkTail:
		rw.whole = false
		rw.chunk(c, data, off)
	case coreStream:
		rw.whole = false
		rw.stream(c, data, off)
	case coreSync:
		rw.whole = false
		t.sync(w, data, off)
		if !c.passed {
			rw.flush(l)
			rw.putClear(l, rw.counted(l, data))
		}
	case coreSyncAnswer:
		rw.whole = false
		t.syncAnswer(w, data, off)
		if !c.passed {
			rw.putAlone(l, data)
		}
	case coreDisconnect:
		rw.whole = false
		t.disconnect(w, data, off)
		if len(data) == disconnectSize && !c.passed {
			rw.disconnect(l)
		}
	default:
		t.core(w, data, off)
		rw.corePacket(c, data)
	}
}

// corePacket sends on a core packet that the rewriter does not handle itself.
func (rw *Rewriter) corePacket(c *carrier, data []byte) {
	if !c.passed {
		rw.add(&item{lane: c.lane, reliable: c.reliable, how: core, bytes: data})
	}
}

// counted returns a sync request with counts as if its sender had sent the datagrams that the rewriter added, and not those that it saved.
func (rw *Rewriter) counted(l *lane, data []byte) []byte {
	data = append([]byte(nil), data...)
	if len(data) == syncSize {
		b := rw.back(l)
		sent, received := data[sentAt:], data[receivedAt:]
		binary.LittleEndian.PutUint32(sent, binary.LittleEndian.Uint32(sent)+uint32(l.went+1-l.came))
		binary.LittleEndian.PutUint32(received, binary.LittleEndian.Uint32(received)+uint32(b.came-b.went))
	}
	return data
}

// cluster reads the packets in a cluster.
func (rw *Rewriter) cluster(c *carrier, data []byte, off uint32) {
	t := rw.t
	w := t.way(c.lane.dir)
	if len(data) < clusterHeader+2 {
		rw.whole = false
		t.cluster(w, data, off)
		return
	}
	at := clusterHeader
	for i := int32(0); at < len(data); i++ {
		size, from := int(data[at]), at+1
		if size == 0 || from+size > len(data) {
			rw.whole = false
			t.problem(w, data[at:], off+uint32(at), "the rest of a cluster that servers do not read: it is not forwarded")
			return
		}
		t.path = append(t.path, wrap{inCluster, i})
		rw.read(c, data[from:from+size], off+uint32(from))
		t.path = t.path[:len(t.path)-1]
		rw.now = c
		at = from + size
	}
}

// reliable reads a numbered packet.
func (rw *Rewriter) reliable(c *carrier, data []byte, off uint32) {
	t, l := rw.t, c.lane
	w := t.way(l.dir)
	n := int32(-1)
	if len(data) > reliableHeader {
		n = number(data)
	}
	if n < 0 {
		t.reliable(w, data, off) // reports the error
		return
	}
	if !l.started {
		// The session began before it was observed: the initial numbers are unknown.
		l.started = true
		l.base, l.awaited, l.number = int64(n), int64(n), int64(n)
	}
	relayed := int64(n) < l.base
	if relayed && !c.passed {
		rw.part(l, data)
	}
	known := l.early[n]
	switch {
	case int64(n) < l.awaited:
		rw.acknowledge(l, n)
		t.repeated(w, data, off, true)
		return
	case known != nil:
		rw.acknowledge(l, n)
		t.repeated(w, data, off, bytes.Equal(known.body, data[reliableHeader:]))
		return
	case int64(n) >= l.awaited+takeWindow, !relayed && l.full():
		t.control(w, data, off, "not accepted yet: too far ahead, or too much data is waiting")
		return
	}
	rw.acknowledge(l, n)
	if int64(n) != l.awaited {
		w.figures.Early++
	}
	e := t.copied(w, n, data[reliableHeader:], off+reliableHeader)
	l.early[n] = e
	l.bytes += len(e.body)
	if !rw.busy {
		rw.deliver(l)
	}
}

// full reports whether too much waits for a new packet to be accepted.
func (l *lane) full() bool {
	return l.dead || l.queued+l.unsentBytes+l.afterBytes > maxLane
}

// acknowledge acknowledges a packet to its sender. Relayed packets are acknowledged by the other end.
func (rw *Rewriter) acknowledge(l *lane, n int32) {
	if int64(n) < l.base {
		return
	}
	var ack [ackSize]byte
	ack[1] = coreAck
	binary.LittleEndian.PutUint32(ack[sequenceAt:], uint32(n))
	rw.part(rw.back(l), ack[:])
}

// deliver reads the packets whose turn it is.
func (rw *Rewriter) deliver(l *lane) {
	t := rw.t
	w := t.way(l.dir)
	path, packet, note := t.path, t.packet, t.note
	outer := rw.now
	rw.busy = true
	for e := l.early[int32(l.awaited)]; e != nil; e = l.early[int32(l.awaited)] {
		delete(l.early, e.number)
		l.bytes -= len(e.body)
		l.awaited++
		w.figures.Reliable++
		c := &carrier{lane: l, reliable: true, passed: int64(e.number) < l.base}
		rw.batch, rw.whole, rw.holds = rw.batch[:0], !c.passed, false
		t.path, t.packet, t.note = append(append([]wrap(nil), e.path...), wrap{inReliable, e.number}), e.packet, e.note
		rw.read(c, e.body, e.off)
		if rw.whole && len(rw.batch) > 1 && len(e.body) <= maxBody {
			// A cluster without changes is sent on unchanged.
			all := item{lane: l, reliable: true, how: core, bytes: e.body}
			for i := range rw.batch {
				if id := rw.batch[i].id; id != 0 {
					all.more = append(all.more, id)
				}
			}
			rw.pass(&all)
		} else {
			for i := range rw.batch {
				rw.pass(&rw.batch[i])
			}
		}
		clear(rw.batch)
		w.order.recycle(e)
	}
	rw.busy, rw.now = false, outer
	t.path, t.packet, t.note = path, packet, note
	rw.sendAfter(l)
}

// chunk reads a part of a message.
func (rw *Rewriter) chunk(c *carrier, data []byte, off uint32) {
	l := c.lane
	w := rw.t.way(l.dir)
	if !w.chunk.open() && !w.chunk.until {
		l.rawChunk = c.passed
	}
	raw := l.rawChunk
	rw.t.chunk(w, data, off)
	if raw && len(data) > chunkHeader {
		rw.corePacket(c, data)
	}
}

// stream reads a part of a message of known size. A message that is too long to be stored passes in its parts.
func (rw *Rewriter) stream(c *carrier, data []byte, off uint32) {
	l := c.lane
	w := rw.t.way(l.dir)
	if len(data) > streamHeader && !w.stream.open() && w.stream.pass <= 0 {
		l.rawStream = c.passed || int32(binary.LittleEndian.Uint32(data[totalAt:])) > maxStream
	}
	raw := l.rawStream
	rw.t.stream(w, data, off)
	if raw && len(data) > streamHeader {
		rw.corePacket(c, data)
	}
}

// inParts reports whether a message that passes in its parts is in progress. No other message may be sent in parts before its end.
func (rw *Rewriter) inParts(l *lane) bool {
	w := rw.t.way(l.dir)
	return l.rawChunk && (w.chunk.open() || w.chunk.until) || l.rawStream && (w.stream.open() || w.stream.pass > 0)
}

// ack handles an acknowledgement of a packet sent by the rewriter, or passes on one of a packet relayed before.
func (rw *Rewriter) ack(c *carrier, data []byte, off uint32) {
	t, l := rw.t, c.lane
	w := t.way(l.dir)
	if len(data) != ackSize {
		t.control(w, data, off, sized(false))
		return
	}
	t.control(w, data, off, "")
	n, b := number(data), rw.back(l)
	switch {
	case n < 0:
	case b.started && int64(n) >= b.base:
		b.acked(n, rw.at)
	case !c.passed:
		rw.part(l, data)
	}
}

// disconnect ends the session after the packets before it have been acknowledged.
func (rw *Rewriter) disconnect(l *lane) {
	b := rw.back(l)
	b.sender.drop() // the other end no longer reads
	if l.bye == 0 {
		l.byeAt = rw.at
	}
	l.bye++
}
