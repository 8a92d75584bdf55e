package subspace

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Figures are what was counted in one direction.
type Figures struct {
	Datagrams int64
	Bytes     int64 // of their payloads
	First     time.Time
	Last      time.Time
	Messages  int64 // of the game
	Reliable  int64 // reliable packets that were delivered
	Repeated  int64 // that came again
	Conflicts int64 // that came again with other contents
	Early     int64 // that had to wait for others
	MostEarly int   // that waited at one time
	Missing   int64 // that were given up

	// Of the sync packets of both ends, which count datagrams, between the first and the last one of each in the session.
	NotCaptured int64 // sent in this direction, but not in the capture; negative: the capture has more
	NotReceived int64 // in the capture, but not received when the last sync was sent; negative: more were received

	Answer time.Duration // from the last sync request in this direction to its answer, as captured
	Clock  int32         // ticks of 1/100 s that the answering end's clock said more than the request's, with the way of the request in it
}

// Figures are those of a direction.
func (t *Transport) Figures(dir schema.Dir) Figures { return t.way(dir).figures }

func (f *Figures) count(seg transport.Segment) {
	if f.Datagrams == 0 {
		f.First = seg.At
	}
	f.Last = seg.At
	f.Datagrams++
	f.Bytes += int64(len(seg.Bytes))
}

// syncs is what the sync requests of one end have said.
type syncs struct {
	asked    bool
	time     uint32 // of the last request
	at       time.Time
	counted  bool
	sent     uint32 // what it said
	received uint32
	out      int64 // datagrams in the capture then, in its direction
	in       int64 // in the other
}

// sync reads a request for the time, which says how many datagrams its sender has sent and received.
func (t *Transport) sync(w *way, data []byte, off uint32) {
	switch len(data) {
	case syncSize, oldSyncSize:
	default:
		t.control(w, data, off, sized(false))
		return
	}
	s, o := &w.sync, t.other(w)
	s.asked, s.time, s.at = true, binary.LittleEndian.Uint32(data[timeAt:]), t.at
	note := ""
	if len(data) == syncSize {
		now := syncs{
			counted: true, sent: binary.LittleEndian.Uint32(data[sentAt:]), received: binary.LittleEndian.Uint32(data[receivedAt:]),
			out: w.figures.Datagrams, in: o.figures.Datagrams,
		}
		if s.counted {
			sent, received := int64(int32(now.sent-s.sent)), int64(int32(now.received-s.received))
			out, in := now.out-s.out, now.in-s.in
			w.figures.NotCaptured += sent - out
			o.figures.NotReceived += in - received
			if sent != out || received != in {
				note = fmt.Sprintf("since the last one its sender counts %d datagrams sent and %d received; the capture has %d and %d",
					sent, received, out, in)
			}
		}
		s.counted, s.sent, s.received, s.out, s.in = true, now.sent, now.received, now.out, now.in
	}
	if w.dir == schema.ToServer {
		note = sized(len(data) == syncSize) + note // the short form is one of old servers
	}
	t.control(w, data, off, note)
}

// syncAnswer reads the answer to a sync request of the other end.
func (t *Transport) syncAnswer(w *way, data []byte, off uint32) {
	note := sized(len(data) == syncAnswerSize)
	if note == "" {
		o := t.other(w)
		if o.sync.asked && binary.LittleEndian.Uint32(data[timeAt:]) == o.sync.time {
			o.figures.Answer = t.at.Sub(o.sync.at)
			o.figures.Clock = int32(binary.LittleEndian.Uint32(data[answerTimeAt:]) - o.sync.time)
		}
	}
	t.control(w, data, off, note)
}
