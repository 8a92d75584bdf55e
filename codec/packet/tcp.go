package packet

import (
	"slices"
	"time"

	"wirebench/codec/transport"
)

// Bounds of the reassembly of a TCP stream, and thresholds for giving up missing bytes.
const (
	maxHeldSegments = 1024     // out of order, in one direction
	maxHeldBytes    = 4 << 20  // out of order, in one direction
	maxAhead        = 16 << 20 // bytes: a segment farther from the expected sequence number belongs to another stream
	strayRuns       = 3        // after so many contiguous segments in a row that are far away, or one that the peer acknowledges, the stream continues there

	// Packets of a capture are not always in wire order. So bytes that the peer has acknowledged but the capture has not shown are given up
	// only after so many more packets of the connection.
	lossPackets = 32
	// The same for a stream whose start was not captured: a lower segment may still follow.
	startPackets = 8
	// A capture may show a reset before data that were sent before it.
	resetPackets = 32
)

// piece is an out-of-order segment.
type piece struct {
	seq    uint32
	data   []byte // owned
	packet uint32
	off    uint32 // of data in the packet's payload
	at     time.Time
}

func (p *piece) place() place { return place{p.at, p.packet} }

func (p *piece) end() uint32 { return p.seq + uint32(len(p.data)) }

// half is one direction of a TCP connection. Sequence numbers are compared by the sign of their difference, as they wrap.
type half struct {
	fromB    bool   // sent by the second end of the connection's key
	based    bool   // next is known
	next     uint32 // next expected sequence number
	first    uint32 // of the stream, or after the last jump
	syn      bool   // isn is known
	isn      uint32
	inferred bool // isn is inferred from the peer's SYN-ACK, which may also acknowledge data of the SYN
	started  bool // something was delivered
	whole    bool // nothing before the first byte is missing
	ended    bool // the end was delivered
	fin      bool // finSeq is known
	finSeq   uint32
	held     []piece // sorted, not overlapping, after next
	bytes    int     // of held
	hint     uint32  // until based: sequence number of the first byte, inferred from the peer's first acknowledgement
	hasHint  bool
	start    int    // packets until the lowest held segment is taken for the start; 0 = not waiting
	acked    uint32 // highest number that the peer has acknowledged
	hasAck   bool
	wait     int    // packets until the bytes before doomed are given up; 0 = not waiting
	doomed   uint32 //
	ackAt    place
	through  place   // the last packet of those whose bytes were delivered: the stream is complete with it
	far      []piece // contiguous segments that are far away, at most strayRuns; out of held
}

// stream reassembles one TCP connection and passes its segments to out. Their Bytes are valid only during the call.
type stream struct {
	a, b   half  // sent by the first and the second end of the key
	now    place // of the current packet
	resets int   // packets until a reset takes effect; 0 = none was seen
	closed bool  // both directions have ended
	pool   *pool
	out    func(fromB bool, seg transport.Segment) // Dir is not set
	event  func(event)                             // nil: events are not wanted
}

// pool holds the free buffers of held segments, and the size of all held ones.
type pool struct {
	free   [][]byte
	bytes  int // in held segments of all connections
	limit  int
	strays uint32 // packets with bytes that are in no stream, in all connections
}

const maxFreeBuffers = 4096

func (p *pool) get(data []byte) []byte {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		if cap(b) >= len(data) {
			p.bytes += cap(b)
			return append(b[:0], data...)
		}
	}
	b := make([]byte, 0, max(2048, len(data)))
	p.bytes += cap(b)
	return append(b, data...)
}

func (p *pool) put(b []byte) {
	p.bytes -= cap(b)
	if len(p.free) < maxFreeBuffers && cap(b) <= 1<<16 {
		p.free = append(p.free, b)
	}
}

// isNew reports whether d starts another connection between the same ends.
func (s *stream) isNew(d *datagram) bool {
	h, o := s.halves(d.fromB)
	switch {
	case d.flags&FlagRST != 0:
		return false
	case d.flags&FlagSYN == 0: // its start may not have been captured; a retransmission is near
		return s.closed && len(d.data) > 0 && h.based && d.seq-h.next+maxAhead > 2*maxAhead
	}
	if h.syn {
		return h.isn != d.seq && !h.opensWith(d) || s.over(h, o)
	}
	if s.closed || h.ended || s.resets > 0 && h.started {
		return true
	}
	if d.flags&FlagACK == 0 && o.syn && o.based && o.started {
		// The peer has already sent data in this connection: the SYN is a new connection, unless it is the delayed start of this one.
		return h.hasAck && !near(h.acked, d.seq+1)
	}
	switch { // a delayed SYN is near the data that it starts
	case h.based:
		return !near(h.next, d.seq+1)
	case len(h.held) > 0:
		return !near(h.held[0].seq, d.seq+1)
	}
	return false
}

// opensWith reports whether d is the SYN of the direction, with data (RFC 7413), that was captured after its SYN-ACK.
func (h *half) opensWith(d *datagram) bool {
	return h.inferred && d.size > 0 && h.isn-d.seq <= uint32(d.size)
}

// over reports whether a SYN of h with the same sequence number as the previous one cannot be a retransmission: scripts and generators give
// each connection the same number. An end does not repeat its SYN after a FIN or after a reset; but a client does after a reset that
// refused its first SYN.
func (s *stream) over(h, o *half) bool {
	return s.closed || h.fin || h.ended || s.resets > 0 && (h.carries() || o.carries())
}

// carries reports whether the direction has had data.
func (h *half) carries() bool { return h.started || len(h.held) > 0 }

// near reports whether seq is at or not far behind start.
func near(seq, start uint32) bool { return seq-start < maxAhead }

func (s *stream) halves(fromB bool) (from, to *half) {
	if fromB {
		return &s.b, &s.a
	}
	return &s.a, &s.b
}

// feed takes a packet of the connection.
func (s *stream) feed(d *datagram, packet uint32, at time.Time) {
	h, o := s.halves(d.fromB)
	s.now = place{at, packet}
	if s.event != nil {
		seq := d.seq
		if d.flags&FlagSYN != 0 {
			seq++
		}
		defer s.tell(d, h.again(seq, d.data))
	}
	if s.closed {
		s.late(h, d.seq, len(d.data))
		return
	}
	seq := d.seq
	if d.flags&FlagSYN != 0 {
		seq++
		if h.opensWith(d) && !h.started {
			h.isn, h.next, h.inferred = d.seq, seq, false
		}
		h.begin(d.seq)
		if !h.started { // retried after a refusal
			s.resets = 0
		}
		if d.flags&FlagACK != 0 && !o.syn && !o.based && (len(o.held) == 0 || near(o.held[0].seq, d.ack)) { // the SYN-ACK acknowledges the SYN that was not captured
			o.begin(d.ack - 1)
			o.inferred = true
		}
		s.drain(h)
		s.drain(o)
	} else if d.flags&FlagACK != 0 && d.flags&FlagRST == 0 && h.syn && seq == h.isn+1 && !o.based && (!o.hasHint || int32(d.ack-o.hint) < 0) {
		o.hint, o.hasHint = d.ack, true // the third packet of the handshake, if the second was not captured
	}
	if d.flags&FlagRST != 0 {
		if s.resets == 0 && (!h.based || near(seq+maxAhead/2, h.next)) {
			s.resets = resetPackets
		}
	} else if d.flags&FlagFIN != 0 && !h.fin && (!h.based || near(seq+uint32(d.size)+maxAhead/2, h.next)) {
		h.fin, h.finSeq = true, seq+uint32(d.size)
	}
	switch {
	case len(d.data) == 0:
	case d.flags&FlagRST != 0: // a diagnostic message (RFC 9293, section 3.5.2)
		s.pool.strays++
	default:
		s.data(h, seq, d.data, packet, at)
	}
	s.finish(h, packet, at)
	if d.flags&FlagACK != 0 {
		s.confirm(o, d.ack, at)
		o.ack(d.ack, s.now)
	}
	s.tick(at)
}

// begin sets the initial sequence number of the direction.
func (h *half) begin(isn uint32) {
	if h.syn || h.based {
		return
	}
	if h.fin && !near(h.finSeq, isn+1) { // of an earlier connection that was not captured otherwise
		h.fin = false
	}
	h.syn, h.isn, h.based, h.next, h.first, h.whole, h.start = true, isn, true, isn+1, isn, true, 0
}

// data takes the payload of a segment.
func (s *stream) data(h *half, seq uint32, data []byte, packet uint32, at time.Time) {
	if h.ended {
		s.late(h, seq, len(data))
		return
	}
	expected := h.next
	if !h.based {
		if expected = seq; len(h.held) > 0 {
			expected = h.held[0].seq
		}
	}
	if seq-expected+maxAhead > 2*maxAhead {
		s.away(h, seq, data, packet, at)
		return
	}
	if !h.based {
		s.hold(h, seq, data, packet, 0, at)
		if h.start == 0 {
			h.start = startPackets
		}
		return
	}
	ahead := int32(seq - h.next)
	off := 0
	if ahead < 0 {
		if int32(seq-h.first) < 0 { // of before the first byte that was delivered
			s.pool.strays++
		}
		if off = -int(ahead); off >= len(data) {
			return // a retransmission
		}
		ahead = 0
	}
	s.forget(h)
	if ahead > 0 || len(h.held) > 0 {
		if ahead == 0 && h.held[0].seq-h.next >= uint32(len(data)-off) { // it does not reach the held segments: no need to copy it
			s.give(h, data[off:], packet, uint32(off), at)
		} else {
			s.hold(h, seq+uint32(off), data[off:], packet, uint32(off), at)
		}
		s.drain(h)
		return
	}
	s.give(h, data[off:], packet, uint32(off), at)
}

// late counts a segment that comes after the end of its direction, unless it is a retransmission.
func (s *stream) late(h *half, seq uint32, size int) {
	if size > 0 && (!h.based || int32(seq+uint32(size)-h.next) > 0 || int32(seq-h.first) < 0) {
		s.pool.strays++
	}
}

// away keeps a segment far from the expected sequence number: a stray one of another connection, or the stream after a large loss.
func (s *stream) away(h *half, seq uint32, data []byte, packet uint32, at time.Time) {
	if n := len(h.far); n > 0 {
		switch last := &h.far[n-1]; {
		case last.seq == seq && len(last.data) == len(data):
			return // a retransmission
		case last.end() != seq:
			s.forget(h)
		}
	}
	switch h.far = append(h.far, piece{seq: seq, data: s.pool.get(data), packet: packet, at: at}); {
	case len(h.far) == strayRuns:
		s.jump(h, at)
	case s.pool.bytes > s.pool.limit:
		s.forget(h)
	}
}

// forget drops the segments that were far away as stray ones.
func (s *stream) forget(h *half) {
	s.pool.strays += uint32(len(h.far))
	for i := range h.far {
		s.pool.put(h.far[i].data)
		h.far[i] = piece{}
	}
	h.far = h.far[:0]
}

// confirm takes an acknowledgement number of the peer: it has bytes that were far away.
func (s *stream) confirm(h *half, ack uint32, at time.Time) {
	if n := len(h.far); n > 0 && ack-h.far[n-1].end() <= 1 { // 1: a FIN
		s.jump(h, at)
	}
}

// jump continues the stream with the segments that were far away.
func (s *stream) jump(h *half, at time.Time) {
	s.settle(h)
	s.drainOwn(h)
	for len(h.held) > 0 {
		s.giveUp(h, h.held[0].seq, place{})
	}
	if h.ended {
		s.forget(h)
		return
	}
	first := h.far[0]
	h.reach(first.place())
	s.lost(h, transport.Unknown, first.packet, 0, h.through.at)
	h.based, h.next, h.first, h.fin, h.hasAck, h.wait = true, first.seq, first.seq, false, false, 0
	h.held = append(h.held, h.far...)
	for i := range h.far {
		h.bytes += len(h.far[i].data)
		h.far[i] = piece{}
	}
	h.far = h.far[:0]
	s.drainOwn(h)
}

// give delivers bytes that are in sequence.
func (s *stream) give(h *half, data []byte, packet, off uint32, at time.Time) {
	h.next += uint32(len(data))
	end := h.fin && h.next == h.finSeq && len(h.held) == 0
	h.reach(place{at, packet})
	seg := transport.Segment{At: at, Packet: packet, Off: off, Bytes: data, Start: !h.started && h.whole, End: end}
	h.started, h.ended = true, end
	s.out(h.fromB, seg)
}

// reach records that bytes of a packet are delivered.
func (h *half) reach(p place) {
	if h.through.packet < p.packet {
		h.through = p
	}
}

// lost delivers a loss mark, with the packet and offset of the byte after it.
func (s *stream) lost(h *half, n int64, packet, off uint32, at time.Time) {
	seg := transport.Segment{At: at, Packet: packet, Off: off, Lost: n, Start: !h.started && h.whole}
	h.started = true
	if s.event != nil {
		s.tellLoss(h, n, packet, at)
	}
	s.out(h.fromB, seg)
}

// hold stores the bytes of an out-of-order segment that are not held yet.
func (s *stream) hold(h *half, seq uint32, data []byte, packet, off uint32, at time.Time) {
	i := len(h.held)
	if i > 0 && int32(h.held[i-1].end()-seq) > 0 { // usually it belongs at the end
		i, _ = slices.BinarySearchFunc(h.held, seq, func(p piece, seq uint32) int {
			if int32(p.end()-seq) > 0 {
				return 1
			}
			return -1
		})
	}
	for len(data) > 0 {
		n := len(data)
		if i < len(h.held) {
			next := &h.held[i]
			if len(next.data) == 1 && n > 1 && next.seq-seq < uint32(n) { // a keep-alive, whose byte is arbitrary (RFC 1122, 4.2.3.6)
				h.bytes--
				s.pool.put(next.data)
				h.held = slices.Delete(h.held, i, i+1)
				continue
			}
			if int32(next.seq-seq) <= 0 { // the bytes that next holds arrived first
				skip := min(int(int32(next.end()-seq)), n)
				seq, data, off = seq+uint32(skip), data[skip:], off+uint32(skip)
				i++
				continue
			}
			if gap := int(int32(next.seq - seq)); gap < n {
				n = gap
			}
		}
		h.held = slices.Insert(h.held, i, piece{seq: seq, data: s.pool.get(data[:n]), packet: packet, off: off, at: at})
		h.bytes += n
		seq, data, off = seq+uint32(n), data[n:], off+uint32(n)
		i++
	}
	for len(h.held) > maxHeldSegments || h.bytes > maxHeldBytes || s.pool.bytes > s.pool.limit && len(h.held) > 0 {
		if !h.based {
			s.settle(h)
		} else {
			s.giveUp(h, h.held[0].seq, place{})
		}
		s.drainOwn(h)
	}
}

// settle makes the lowest held segment the start of a stream whose start was not captured.
func (s *stream) settle(h *half) {
	h.start = 0
	if !h.based && len(h.held) > 0 {
		h.based, h.next = true, h.held[0].seq
		if h.hasHint && near(h.next, h.hint) {
			h.next, h.whole = h.hint, true
		}
		h.first = h.next
	}
}

// drain delivers the held segments that are in sequence now that the current packet has released them.
func (s *stream) drain(h *half) {
	if h.based && len(h.held) > 0 && int32(h.held[0].seq-h.next) <= 0 {
		h.reach(s.now)
		s.drainOwn(h)
	}
}

// drainOwn delivers the held segments that are in sequence, each with the time of the last packet up to it.
func (s *stream) drainOwn(h *half) {
	n := 0
	for ; n < len(h.held); n++ {
		p := &h.held[n]
		ahead := int32(p.seq - h.next)
		if ahead > 0 {
			break
		}
		h.bytes -= len(p.data)
		if off := -int(ahead); off < len(p.data) && !h.ended {
			h.reach(p.place())
			h.next += uint32(len(p.data) - off)
			seg := transport.Segment{
				At: h.through.at, Packet: p.packet, Off: p.off + uint32(off), Bytes: p.data[off:], Start: !h.started && h.whole,
			}
			h.started = true
			s.out(h.fromB, seg)
		}
		s.pool.put(p.data)
	}
	if n > 0 {
		left := copy(h.held, h.held[n:])
		clear(h.held[left:])
		h.held = h.held[:left]
	}
}

// giveUp reports the bytes before seq as lost and delivers the segments after them. The packet after a loss is its source. A loss that no
// segment follows has the place of the acknowledgement at.
func (s *stream) giveUp(h *half, seq uint32, at place) {
	packet, off := uint32(0), uint32(0)
	if len(h.held) > 0 {
		first := &h.held[0]
		if first.seq == seq {
			packet, off = first.packet, first.off
		}
		if first.seq == seq || first.packet < at.packet {
			at = first.place()
		}
	}
	h.reach(at)
	if n := int32(seq - h.next); n > 0 {
		s.lost(h, int64(n), packet, off, h.through.at)
		h.next = seq
	}
	s.drainOwn(h)
}

// finish delivers the end of the direction once all bytes before it are delivered.
func (s *stream) finish(h *half, packet uint32, at time.Time) {
	if h.fin && !h.ended && h.based && int32(h.next-h.finSeq) >= 0 {
		s.end(h, packet, at)
	}
	s.closed = s.a.ended && s.b.ended
}

func (s *stream) end(h *half, packet uint32, at time.Time) {
	if h.ended {
		return
	}
	h.ended = true
	s.drop(h)
	if at.Before(h.through.at) {
		at = h.through.at
	}
	seg := transport.Segment{At: at, Packet: packet, Start: !h.started && h.whole, End: true}
	h.started = true
	s.out(h.fromB, seg)
}

// drop discards the held segments: they are behind the end.
func (s *stream) drop(h *half) {
	s.forget(h)
	for i := range h.held {
		if i == 0 || h.held[i].packet != h.held[i-1].packet {
			s.pool.strays++
		}
	}
	for i := range h.held {
		s.pool.put(h.held[i].data)
	}
	h.held, h.bytes = nil, 0
}

// ack takes an acknowledgement number of the peer.
func (h *half) ack(ack uint32, at place) {
	if h.hasAck && int32(ack-h.acked) <= 0 {
		return
	}
	if !h.based || ack-h.next > maxAhead { // old, or invalid
		return
	}
	h.acked, h.hasAck, h.ackAt = ack, true, at
	if h.wait == 0 && int32(ack-h.next) > 0 {
		h.wait, h.doomed = lossPackets, ack
	}
}

// tick counts a packet of the connection and gives up bytes that have been missing for too many packets.
func (s *stream) tick(at time.Time) {
	for _, h := range [...]*half{&s.a, &s.b} {
		if h.start > 0 {
			if h.start--; h.start == 0 {
				s.settle(h)
				s.drainOwn(h)
				s.finish(h, 0, at)
			}
		}
		if h.wait > 0 {
			if h.wait--; h.wait == 0 {
				s.doom(h, h.doomed)
				if h.hasAck && int32(h.acked-h.next) > 0 && !h.ended && !h.phantom(h.acked) {
					h.wait, h.doomed = lossPackets, h.acked
				}
			}
		}
	}
	if s.resets > 0 {
		if s.resets--; s.resets == 0 {
			s.close(at)
		}
	}
}

// phantom reports whether one byte is missing before ack, and no later one was captured: a FIN counts as one byte (RFC 9293, section 3.4),
// so it is a FIN that was not captured.
func (h *half) phantom(ack uint32) bool { return len(h.held) == 0 && ack-h.next == 1 }

// doom gives up the missing bytes before ack.
func (s *stream) doom(h *half, ack uint32) {
	for !h.ended && h.based && int32(ack-h.next) > 0 && !h.phantom(ack) {
		to := ack
		if len(h.held) > 0 && int32(h.held[0].seq-ack) < 0 {
			to = h.held[0].seq
		} else if h.fin && int32(h.finSeq-ack) < 0 {
			if to = h.finSeq; int32(to-h.next) <= 0 { // a FIN with too low a number
				break
			}
		}
		s.giveUp(h, to, h.ackAt)
	}
	s.finish(h, 0, h.ackAt.at)
}

// flush gives up all missing bytes at the end of the capture.
func (s *stream) flush(at time.Time) {
	if s.closed {
		return
	}
	for _, h := range [...]*half{&s.a, &s.b} {
		s.settle(h)
		s.drainOwn(h)
		for len(h.held) > 0 && !h.ended {
			s.giveUp(h, h.held[0].seq, place{})
		}
		if h.hasAck && h.based {
			s.doom(h, h.acked)
		}
		if h.fin && !h.ended && h.based && int32(h.finSeq-h.next) > 0 {
			s.giveUp(h, h.finSeq, s.now)
		}
		s.finish(h, 0, at)
		s.drop(h)
	}
	if s.resets > 0 {
		s.resets = 0
		s.close(at)
	}
}

// close ends both directions after a reset.
func (s *stream) close(at time.Time) {
	if s.closed {
		return
	}
	s.resets = 0
	s.flush(at)
	s.end(&s.a, 0, at)
	s.end(&s.b, 0, at)
	s.closed = true
}
