package subspace

import (
	"encoding/binary"
	"time"

	"wirebench/codec/transport"
)

// Sizes of what is sent, in bytes.
const (
	maxBody      = usualSize - reliableHeader // of a reliable packet
	partSize     = 480                        // of chunks and streams, as servers send them
	maxChunkSent = 64 << 10                   // of a chunked message: servers accept no more
	maxItem      = 255                        // of a packet in a cluster
)

// Timing of retransmission. Source: spec of the core protocol, section 3; asss.
const (
	sendWindow  = 32 // numbers from the lowest unacknowledged one: servers drop more
	firstRTT    = 200 * time.Millisecond
	firstSpread = 100 * time.Millisecond
	minTimeout  = 250 * time.Millisecond
	maxTimeout  = 2 * time.Second
	maxTries    = 15
	silence     = 30 * time.Second // an end is gone after this time without a datagram
	farewell    = 3 * time.Second  // maximum time that a disconnect waits for the packets before it
	maxByes     = 4                // maximum number of disconnects sent on
)

// sender sends numbered packets to one end.
type sender struct {
	number      int64 // of the next packet
	unsent      [][]byte
	unsentBytes int
	flight      []sending // ordered by number; the first is not acknowledged
	rtt, spread time.Duration
	dead        bool

	parts [][]byte // packets of this call, to be combined into datagrams
	went  int64    // datagrams sent
	bye   int      // disconnects to send
	byeAt time.Time
}

// sending is a packet in flight.
type sending struct {
	data  []byte
	at    time.Time // of the last try
	tries int
	done  bool
}

func (s *sender) reset() { s.rtt, s.spread = firstRTT, firstSpread }

// drop discards everything to be sent.
func (s *sender) drop() { s.unsent, s.unsentBytes, s.flight = nil, 0, nil }

// push queues a packet, which is numbered when the window has room for it.
func (s *sender) push(head []byte, body []byte) {
	if s.dead {
		return
	}
	data := make([]byte, reliableHeader, reliableHeader+len(head)+len(body))
	data[1] = coreReliable
	data = append(append(data, head...), body...)
	s.unsent = append(s.unsent, data)
	s.unsentBytes += len(data)
}

// fill numbers queued packets and sends them, as far as the window has room.
func (s *sender) fill(at time.Time) {
	for len(s.unsent) > 0 && len(s.flight) < sendWindow && s.number <= maxNumber {
		data := s.unsent[0]
		s.unsent[0] = nil
		if s.unsent = s.unsent[1:]; len(s.unsent) == 0 {
			s.unsent = nil
		}
		s.unsentBytes -= len(data)
		binary.LittleEndian.PutUint32(data[sequenceAt:], uint32(s.number))
		s.number++
		s.flight = append(s.flight, sending{data: data, at: at, tries: 1})
		s.parts = append(s.parts, data)
	}
}

// acked records an acknowledgement.
func (s *sender) acked(n int32, at time.Time) {
	i := int64(n) - (s.number - int64(len(s.flight)))
	if i < 0 || i >= int64(len(s.flight)) || s.flight[i].done {
		return
	}
	p := &s.flight[i]
	if p.tries == 1 {
		took := max(at.Sub(p.at), 0)
		s.spread = (3*s.spread + (s.rtt - took).Abs()) / 4
		s.rtt = (7*s.rtt + took) / 8
	}
	p.done, p.data = true, nil
	k := 0
	for k < len(s.flight) && s.flight[k].done {
		k++
	}
	s.flight = s.flight[:copy(s.flight, s.flight[k:])]
}

// wait returns the time between a packet's last try and the next one.
func (s *sender) wait(p *sending) time.Duration {
	return min(max(s.rtt+4*s.spread, minTimeout), maxTimeout) * time.Duration(min(p.tries, maxTries))
}

// due retransmits packets whose timeout has passed, and reports whether the sender gives up now: an end that is silent is gone, but one
// that is still heard may be on a lossy line.
func (s *sender) due(now, heard time.Time, again func([]byte)) (over bool) {
	for i := range s.flight {
		p := &s.flight[i]
		if p.done || now.Sub(p.at) <= s.wait(p) {
			continue
		}
		if p.tries >= maxTries && now.Sub(heard) > silence {
			s.drop()
			s.dead = true
			return true
		}
		p.tries++
		p.at = now
		again(p.data)
	}
	return false
}

// Due returns the time of the next retransmission or delayed disconnect, or the zero time.
func (rw *Rewriter) Due() (next time.Time) {
	sooner := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for i := range rw.lanes {
		l := &rw.lanes[i]
		for k := range l.flight {
			if p := &l.flight[k]; !p.done {
				sooner(p.at.Add(l.wait(p) + 1))
			}
		}
		if l.bye > 0 {
			sooner(l.byeAt.Add(farewell))
		}
	}
	return next
}

// Tick retransmits packets that were not acknowledged.
func (rw *Rewriter) Tick(at time.Time, r *transport.Relay) {
	rw.begin(at, r)
	defer rw.end()
	for i := range rw.lanes {
		l := &rw.lanes[i]
		if l.due(at, rw.back(l).heard, func(data []byte) { rw.part(l, data) }) {
			rw.tell(l, "reliable packets are no longer acknowledged: retransmission stopped")
		}
	}
}

// send sends an item.
func (rw *Rewriter) send(it *item) {
	l, data, n := it.lane, it.bytes, len(it.bytes)
	if it.id != 0 {
		rw.r.Go(it.id, data)
	}
	for _, id := range it.more {
		rw.r.Go(id, nil)
	}
	how := it.how
	if how == alone && (it.reliable && n > maxBody || !it.reliable && n > usualSize) {
		how = chunked
	}
	if how == chunked && n > maxChunkSent {
		how = streamed
	}
	switch {
	case how == gone:
	case how == core && it.reliable:
		l.pushCore(data)
	case (how == alone || how == core) && it.reliable:
		l.push(nil, data)
	case how == alone || how == core:
		rw.part(l, data)
	case rw.inParts(l):
		l.after = append(l.after, item{lane: l, reliable: it.reliable, how: how, bytes: append([]byte(nil), data...)})
		l.afterBytes += n + itemCost
	case how == chunked:
		for len(data) > partSize {
			rw.partOf(it, []byte{0, coreChunk}, data[:partSize])
			data = data[partSize:]
		}
		rw.partOf(it, []byte{0, coreChunkTail}, data)
	default:
		head := binary.LittleEndian.AppendUint32([]byte{0, coreStream}, uint32(n))
		for len(data) > 0 {
			k := min(partSize, len(data))
			rw.partOf(it, head, data[:k])
			data = data[k:]
		}
	}
}

// partOf sends a part of a message: reliably if the message was reliable or was not in parts, otherwise unreliably.
func (rw *Rewriter) partOf(it *item, head, part []byte) {
	if it.reliable || it.how == alone {
		it.lane.push(head, part)
		return
	}
	rw.part(it.lane, append(head[:len(head):len(head)], part...))
}

// pushCore queues a core packet. A part of a message that is too long for a datagram is split in two.
func (s *sender) pushCore(data []byte) {
	for len(data) > maxBody {
		switch data[1] {
		case coreChunk, coreChunkTail:
			s.push([]byte{0, coreChunk}, data[chunkHeader:chunkHeader+partSize])
			data = append([]byte{0, data[1]}, data[chunkHeader+partSize:]...)
			continue
		case coreStream:
			s.push(data[:streamHeader], data[streamHeader:streamHeader+partSize])
			data = append(append([]byte(nil), data[:streamHeader]...), data[streamHeader+partSize:]...)
			continue
		}
		break
	}
	s.push(nil, data)
}

// sendAfter sends messages in parts that waited for the end of an earlier one.
func (rw *Rewriter) sendAfter(l *lane) {
	if len(l.after) == 0 || rw.inParts(l) {
		return
	}
	after := l.after
	l.after, l.afterBytes = nil, 0
	for i := range after {
		rw.send(&after[i])
	}
}

// part adds a packet to the datagrams of this call.
func (rw *Rewriter) part(l *lane, data []byte) {
	l.parts = append(l.parts, append([]byte(nil), data...))
}

// transmit combines the packets of this call into datagrams: as many in a cluster as fit, a single one alone.
func (rw *Rewriter) transmit(l *lane) {
	if l.started { // otherwise the next number that the other end expects is unknown
		l.fill(rw.at)
	}
	rw.flush(l)
	if l.bye > 0 && (l.dead || len(l.flight) == 0 || !rw.at.Before(l.byeAt.Add(farewell))) {
		for range min(l.bye, maxByes) {
			rw.putClear(l, []byte{0, coreDisconnect})
		}
		l.bye = 0
		l.drop()
	}
}

func (rw *Rewriter) flush(l *lane) {
	parts := l.parts
	for i := 0; i < len(parts); {
		n, size := 0, clusterHeader
		for i+n < len(parts) && len(parts[i+n]) <= maxItem && size+1+len(parts[i+n]) <= usualSize {
			size += 1 + len(parts[i+n])
			n++
		}
		if n < 2 {
			rw.putClear(l, parts[i])
			i++
			continue
		}
		rw.packed = append(rw.packed[:0], 0, coreCluster)
		for _, p := range parts[i : i+n] {
			rw.packed = append(append(rw.packed, byte(len(p))), p...)
		}
		rw.putClear(l, rw.packed)
		i += n
	}
	clear(parts)
	l.parts = parts[:0]
}

// putAlone sends a packet in a datagram of its own, after the packets already queued.
func (rw *Rewriter) putAlone(l *lane, data []byte) {
	rw.flush(l)
	rw.putClear(l, data)
}

// putClear enciphers and sends a datagram.
func (rw *Rewriter) putClear(l *lane, data []byte) {
	if c := rw.t.way(l.dir).cipher; c != nil {
		sealed := make([]byte, len(data))
		c.Encrypt(sealed, data)
		data = sealed
	}
	rw.put(l, data)
}

// put sends an enciphered datagram.
func (rw *Rewriter) put(l *lane, data []byte) {
	l.went++
	rw.r.Put(transport.Segment{Dir: l.dir, At: rw.at, Bytes: data})
}
