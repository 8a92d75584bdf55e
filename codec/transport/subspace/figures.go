package subspace

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Figures are the statistics of one direction.
type Figures struct {
	Datagrams int64
	Bytes     int64 // of their payloads
	First     time.Time
	Last      time.Time
	Messages  int64 // game messages
	Reliable  int64 // reliable packets that were delivered
	Repeated  int64 // received again
	Conflicts int64 // received again with different content
	Early     int64 // had to wait for earlier packets
	MostEarly int   // maximum number that waited at one time
	Missing   int64 // given up

	// From the sync packets of both ends, which count datagrams, between the first and the last one of each in the session.
	NotCaptured int64 // sent in this direction but not in the capture; negative: more in the capture
	NotReceived int64 // in the capture, but not received when the last sync was sent; negative: more were received

	Answer time.Duration // from the last sync request in this direction to its answer, as captured
	Clock  int32         // answering end's clock minus the time in the request, in ticks of 1/100 s; includes the request's transit time
}

// Figures returns the statistics of a direction.
func (t *Transport) Figures(dir schema.Dir) Figures { return t.way(dir).figures }

func (f *Figures) count(seg transport.Segment) {
	if f.Datagrams == 0 {
		f.First = seg.At
	}
	f.Last = seg.At
	f.Datagrams++
	f.Bytes += int64(len(seg.Bytes))
}

// syncs holds the counts in the sync requests of one end.
type syncs struct {
	asked    bool
	time     uint32 // of the last request
	at       time.Time
	counted  bool
	sent     uint32 // its count of datagrams sent
	received uint32
	out      int64 // datagrams captured before it, in its direction
	in       int64 // in the other direction
}

// sync reads a time request, which contains its sender's counts of datagrams sent and received.
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
		note = sized(len(data) == syncSize) + note // the short form is of old servers
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
