package proxy

import (
	"sync/atomic"
	"time"

	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/supervise"
)

// maxPiece is the maximum number of bytes of a stream in one packet of a recording and one segment for a transport.
const maxPiece = 32 << 10

// seen is the state of the observer of a session. Only its goroutine uses it, except for the count.
type seen struct {
	conns    map[*conn]*observed
	unlogged atomic.Int64 // frames that the log refused
}

// observed is the state of a connection in the observer.
type observed struct {
	*conn
	transport transport.Transport
	emit      func(*transport.Frame)
	synthetic *pcap.Synthetic // nil if it is not in the recording
	index     uint32          // in the log
	logged    bool
	begun     [2]bool  // by direction
	over      [2]bool  //
	carried   [2]int64 // bytes, including lost ones

	// For a connection with a rewriter.
	comments [2]string // for the next packet of each direction
	pieces   pieceMap
}

// observe processes observations until the relay has ended and the queue is empty.
func (s *Session) observe() {
	s.seen.conns = map[*conn]*observed{}
	var later <-chan time.Time // time to flush the recording and to check for drops; nil without new data
	var b batch
	for {
		var done bool
		if b, done = s.queue.take(b); done {
			break
		}
		if len(b.items) == 0 {
			select {
			case <-s.queue.wake:
			case <-later:
				s.lately()
				later = nil
				continue
			}
		}
		for i := range b.items {
			it := &b.items[i]
			err := supervise.Do("connection", func() error { s.item(it); return nil })
			if err != nil {
				s.events.add(Failure, "%s is observed in part: %v", it.conn.Name(), err)
			}
		}
		poke(s.moved)
		if later == nil {
			later = time.After(flushTime)
		}
		select { // also while the queue is never empty
		case <-later:
			s.lately()
			later = nil
		default:
		}
	}
	s.rec.finish()
}

// lately does the work that follows new data after a delay.
func (s *Session) lately() {
	s.rec.flush()
	if s.network == "udp" {
		s.tellDrops(s.drops.look())
	}
}

func (s *Session) item(it *item) {
	at := time.Unix(0, it.at).UTC()
	o := s.seen.conns[it.conn]
	if it.what == opened {
		o = &observed{conn: it.conn}
		s.seen.conns[it.conn] = o
		if s.transport != nil && s.rewriter == nil {
			s.careful(o, func() { o.transport = s.transport(o.Conn) })
		}
		o.emit = func(f *transport.Frame) { s.frame(o, f) }
		s.rec.open(o, at)
		return
	}
	for i, n := range it.lost {
		if n > 0 {
			s.gap(o, schema.ToServer+schema.Dir(i), at, n)
		}
	}
	switch it.what {
	case carried:
		for data, begun := it.bytes, false; len(data) > 0 || !begun; begun = true { // a datagram may be empty
			n := len(data)
			if o.Proto == transport.TCP {
				n = min(n, maxPiece)
			}
			packet := s.rec.data(o, it.dir, at, data[:n])
			if it.piece > 0 {
				o.pieces.set(it.piece, packet)
			}
			if seg := (transport.Segment{Dir: it.dir, At: at, Packet: packet, Bytes: data[:n]}); n > 0 {
				s.feed(o, seg)
			} else if o.transport != nil || s.rewriter != nil {
				s.frame(o, transport.Blank(seg))
			}
			data = data[n:]
		}
	case framed:
		s.sighted(o, it.seen)
	case ended:
		o.over[it.dir-schema.ToServer] = true
		s.feed(o, transport.Segment{Dir: it.dir, At: at, Packet: s.rec.end(o, it.dir, at), End: true})
	case closed:
		s.rec.close(o, at)
		if o.transport != nil {
			s.careful(o, func() { o.transport.Flush(at, o.emit) })
		}
		if o.logged {
			s.log.End(o.index)
		}
		delete(s.seen.conns, it.conn)
	}
}

// gap records that bytes are missing.
func (s *Session) gap(o *observed, dir schema.Dir, at time.Time, n int64) {
	s.rec.lost(o, dir, n)
	o.carried[dir-schema.ToServer] += n
	if o.Proto == transport.TCP { // datagrams have no position in a stream
		s.feed(o, transport.Segment{Dir: dir, At: at, Lost: n})
	}
	s.events.add(Warning, "the observer was too slow: relayed bytes are missing in log and recording")
}

func (s *Session) feed(o *observed, seg transport.Segment) {
	way := seg.Dir - schema.ToServer
	o.carried[way] += int64(len(seg.Bytes))
	if o.transport == nil {
		return
	}
	if o.Proto == transport.TCP {
		seg.Start = !o.begun[way]
	}
	o.begun[way] = true
	s.careful(o, func() { o.transport.Feed(seg, o.emit) })
}

// careful recovers from a panic of a transport, which then loses its connection.
func (s *Session) careful(o *observed, do func()) {
	var err error
	func() {
		defer rescue(&err)
		do()
	}()
	if err != nil {
		o.transport = nil
		s.events.add(Failure, "%s is no longer decoded: %v", o.Name(), err)
	}
}

// frame adds a frame to the log.
func (s *Session) frame(o *observed, f *transport.Frame) { s.flagged(o, f, 0) }

func (s *Session) flagged(o *observed, f *transport.Frame, flags live.Flags) {
	if !o.logged {
		index, ok := s.log.RollingConnection(live.Conn{Name: o.Name(), Session: o.Session, Stream: o.ID, Proto: o.Proto.String()})
		if !ok {
			s.seen.unlogged.Add(1)
			return
		}
		o.logged, o.index = true, index
		s.rec.forget(index)
	}
	f.ID = transport.FrameID{} // the identity belongs to the previous frame
	if s.log.AddFlagged(o.index, f, flags) != nil {
		s.seen.unlogged.Add(1)
		return
	}
	s.rec.frame(o, f, flags) // after the log, whose numbers the file has
}
