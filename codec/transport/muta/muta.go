// Package muta frames MUTA's streams. Messages have no length on the wire, so the definitions determine where each one ends.
//
// After an illegal message the start of the next one is unknown. The transport then searches for a place from which several consecutive
// messages can be read, and resumes there; skipped bytes become a Problem. Source: the read functions of the packetwriter, which report
// that more bytes are needed, that the message was read, or that it is illegal, and leave the cursor unmoved in the first and last case.
package muta

import (
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Limits of memory and work for one connection.
const (
	maxMessage = 16 << 20 // bytes of one message
	maxLook    = 64 << 10 // bytes in which a new start is searched
	inARow     = 4        // consecutive messages that must be readable from a place to resume there
	maxTries   = 1 << 20  // messages measured in one search
)

// Options configure a transport.
type Options struct {
	Measure transport.Measure // returns the size of a message, from its definition
}

// Transport frames one connection.
type Transport struct {
	o     Options
	ways  [2]way
	frame transport.Frame // passed to emit, reused
	from  []transport.Source
}

// way is the state of one direction.
type way struct {
	dir     schema.Dir
	started bool
	ended   bool
	buf     []byte  // bytes from offset on
	offset  int64   // of buf in the stream
	need    int     // bytes of buf required for the next complete message
	pieces  []piece // sources of buf
	lost    bool    // the next start of a message is unknown
	lostAt  int64   // offset at which it became unknown
	told    int64   // skipped bytes were reported up to here
	looked  int     // len(buf) at the last search
	tried   int64   // no message starts before this offset, except at one of open
	open    []start // candidate starts that need more bytes, ascending
	resumed bool
	late    bool // the next frame is the first one after a problem
}

// start is a candidate start of a message in the stream.
type start struct {
	at   int64
	need int64 // stream offset required to judge it further
}

// piece is the source of a run of bytes of the stream.
type piece struct {
	offset int64
	packet uint32
	at     time.Time
	off    uint32
	n      uint32
}

// New returns the transport of a connection.
func New(o Options) *Transport {
	t := &Transport{o: o}
	t.ways[0].dir, t.ways[1].dir = schema.ToServer, schema.ToClient
	return t
}

func (t *Transport) way(dir schema.Dir) *way {
	if dir == schema.ToClient {
		return &t.ways[1]
	}
	return &t.ways[0]
}

// Feed takes the next segment.
func (t *Transport) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	w := t.way(seg.Dir)
	if w.ended {
		return
	}
	if !w.started {
		if w.started = true; !seg.Start && seg.Lost == 0 {
			w.lose() // the capture begins in the middle of the stream
		}
	}
	if seg.Lost != 0 {
		t.gap(w, seg, emit)
	}
	if len(seg.Bytes) > 0 {
		w.pieces = append(w.pieces, piece{w.offset + int64(len(w.buf)), seg.Packet, seg.At, seg.Off, uint32(len(seg.Bytes))})
		w.buf = append(w.buf, seg.Bytes...)
		t.read(w, emit)
	}
	if seg.End {
		t.end(w, seg.At, emit)
	}
}

// Flush ends both directions.
func (t *Transport) Flush(at time.Time, emit func(*transport.Frame)) {
	for i := range t.ways {
		t.end(&t.ways[i], at, emit)
	}
}

// end reports the incomplete rest of a direction.
func (t *Transport) end(w *way, at time.Time, emit func(*transport.Frame)) {
	if w.ended {
		return
	}
	if w.lost {
		w.looked = 0
		t.look(w, true, emit)
	}
	w.ended = true
	if n := len(w.buf); w.lost {
		t.unread(w, n, emit)
	} else if n > 0 {
		t.problem(w, w.offset, n, at, fmt.Sprintf("the stream ends inside a message, after %d of its bytes", n), emit)
	}
	w.buf, w.pieces = nil, nil
}

// gap skips missing bytes. A message that the gap cuts is lost.
func (t *Transport) gap(w *way, seg transport.Segment, emit func(*transport.Frame)) {
	if w.lost {
		w.looked = 0
		t.look(w, true, emit)
	}
	cut := len(w.buf)
	if w.lost {
		t.unread(w, cut, emit)
		cut = 0
	}
	w.offset += int64(cut)
	w.drop(cut, false)
	f := t.begin(w, transport.Problem, w.offset, seg.At)
	f.Length, f.Note = seg.Lost, "bytes of the stream are missing in the capture"
	if seg.Packet != 0 { // the gap is located by the byte after it
		t.from = append(t.from[:0], transport.Source{Packet: seg.Packet, Off: seg.Off})
		f.From = t.from
	}
	if cut > 0 {
		f.Note += fmt.Sprintf("; the message before them is cut after %d bytes", cut)
	}
	emit(f)
	if seg.Lost > 0 {
		w.offset += seg.Lost
	}
	w.lose()
}

// read emits all complete messages.
func (t *Transport) read(w *way, emit func(*transport.Frame)) {
	done := 0
	for {
		if w.lost {
			w.shift(done)
			done = 0
			if !t.look(w, false, emit) {
				return
			}
		}
		rest := w.buf[done:]
		if len(rest) == 0 || len(rest) < w.need {
			break
		}
		n, need, key, why := t.o.Measure(w.dir, rest)
		if why == nil && n == 0 && need > maxMessage {
			why = func() string {
				return fmt.Sprintf("a message of %d bytes or more: the limit is %d", need, maxMessage)
			}
		}
		switch {
		case why != nil:
			note := why() // format the reason before its bytes move
			w.shift(done)
			done = 0
			n := min(len(w.buf), 64)
			t.problem(w, w.offset, n, w.arrival(w.offset+int64(n)), note, emit)
			w.told = w.offset + int64(n)
			w.lose()
			w.drop(1, true) // do not try the same place again
		case n == 0:
			w.need = max(need, len(rest)+1)
		default:
			t.message(w, w.offset+int64(done), rest[:n], key, emit)
			done += n
			w.need = 0
		}
		if w.need > 0 {
			break
		}
	}
	w.shift(done)
}

// lose marks the start of the next message as unknown.
func (w *way) lose() {
	w.lost, w.lostAt, w.looked, w.resumed, w.need = true, w.offset, 0, true, 0
	w.tried, w.open = w.offset, w.open[:0]
}

// look searches for a place from which messages can be read, and reports whether it found one. last reports that no more bytes follow. A
// place from which no message can be read is not tried again.
func (t *Transport) look(w *way, last bool, emit func(*transport.Frame)) bool {
	if !last && len(w.buf) < w.looked+w.looked/4+1 {
		return false // too few new bytes since the last search
	}
	w.looked = len(w.buf)
	tries, found := 0, int64(-1)
	kept := w.open[:0]
	end := w.offset + int64(len(w.buf))
	for _, s := range w.open {
		if found < 0 && (last || s.need <= end) && s.at >= w.offset {
			if s = t.try(w, s.at, last, &tries); s.need == 0 {
				found = s.at
			}
		}
		if s.need > 0 && s.at >= w.offset {
			kept = append(kept, s)
		}
	}
	w.open = kept
	for w.tried = max(w.tried, w.offset); found < 0 && w.tried < end && tries < maxTries; w.tried++ {
		switch s := t.try(w, w.tried, last, &tries); {
		case s.need == 0:
			found = s.at
		case s.need > 0:
			w.open = append(w.open, s)
		}
	}
	if found >= 0 {
		t.unread(w, int(found-w.offset), emit)
		w.lost, w.late, w.need = false, true, 0
		if last {
			t.read(w, emit)
		}
		return true
	}
	if n := len(w.buf) - maxLook; n > 0 {
		t.unread(w, n, emit)
		w.looked = len(w.buf)
	}
	return false
}

// try reads messages from a place. The result's need is 0 if a message may start there, and negative if none can.
func (t *Transport) try(w *way, at int64, last bool, tries *int) start {
	row, pos, need := 0, int(at-w.offset), 1
	for row < inARow && pos < len(w.buf) && *tries < maxTries {
		*tries++
		n, least, _, why := t.o.Measure(w.dir, w.buf[pos:])
		if why != nil {
			return start{at, -1}
		}
		if n == 0 {
			need = least
			break
		}
		row++
		pos += n
	}
	first := at == w.lostAt // the most likely place
	if row == inARow || last && (row > 1 || row == 1 && first) && pos == len(w.buf) {
		return start{at, 0}
	}
	return start{at, w.offset + int64(pos+max(need, 1))}
}

// unread skips n bytes in which no message was found. They are reported as a problem, so that every byte appears in a frame.
func (t *Transport) unread(w *way, n int, emit func(*transport.Frame)) {
	known := int(min(max(w.told-w.offset, 0), int64(n))) // already reported as a problem
	w.drop(known, true)
	if n -= known; n > 0 {
		f := t.begin(w, transport.Problem, w.offset, w.arrival(w.offset+int64(n)))
		f.Bytes, f.From, f.Resumed = w.buf[:n], t.sources(w, w.offset, n), w.resumed
		f.Note = fmt.Sprintf("no message was found in %d bytes", n)
		emit(f)
		w.drop(n, true)
	}
}

// message emits a message.
func (t *Transport) message(w *way, offset int64, data []byte, key schema.Key, emit func(*transport.Frame)) {
	f := t.begin(w, transport.Message, offset, w.arrival(offset+int64(len(data))))
	f.Bytes, f.Key, f.HasKey, f.Resumed = data, key, true, w.resumed
	f.From = t.sources(w, offset, len(data))
	if w.late {
		w.late = false
		if n := offset - w.lostAt; n > 0 {
			f.Note = fmt.Sprintf("the first message after %d bytes that could not be read", n)
		}
	}
	emit(f)
}

// problem emits a problem with the first bytes at its place.
func (t *Transport) problem(w *way, offset int64, n int, at time.Time, note string, emit func(*transport.Frame)) {
	f := t.begin(w, transport.Problem, offset, at)
	f.Note, f.Bytes, f.From = note, w.buf[:n], t.sources(w, offset, n)
	emit(f)
}

func (t *Transport) begin(w *way, kind transport.Kind, offset int64, at time.Time) *transport.Frame {
	t.frame = transport.Frame{Kind: kind, Dir: w.dir, At: at, Offset: offset}
	return &t.frame
}

// arrival returns the time at which the stream up to an offset was complete.
func (w *way) arrival(end int64) time.Time {
	for i := range w.pieces {
		if p := &w.pieces[i]; p.offset+int64(p.n) >= end {
			return p.at
		}
	}
	return time.Time{}
}

// Waits reports whether bytes are kept until the start of a message is found.
func (t *Transport) Waits() bool {
	return t.ways[0].lost && len(t.ways[0].buf) > 0 || t.ways[1].lost && len(t.ways[1].buf) > 0
}

// sources returns the captured ranges of n bytes of the stream.
func (t *Transport) sources(w *way, offset int64, n int) []transport.Source {
	t.from = t.from[:0]
	end := offset + int64(n)
	for _, p := range w.pieces {
		from, to := max(offset, p.offset), min(end, p.offset+int64(p.n))
		if from < to {
			t.from = append(t.from, transport.Source{Packet: p.packet, Off: p.off + uint32(from-p.offset), Len: uint32(to - from)})
		}
		if p.offset >= end {
			break
		}
	}
	return t.from
}

// shift discards n bytes that were read.
func (w *way) shift(n int) {
	if n > 0 {
		w.offset += int64(n)
		w.drop(n, false)
	}
}

// drop removes n bytes from the front; advance also moves the stream offset past them.
func (w *way) drop(n int, advance bool) {
	if advance {
		w.offset += int64(n)
	}
	w.buf = w.buf[:copy(w.buf, w.buf[n:])]
	gone := 0
	for gone < len(w.pieces) && w.pieces[gone].offset+int64(w.pieces[gone].n) <= w.offset {
		gone++
	}
	w.pieces = w.pieces[:copy(w.pieces, w.pieces[gone:])]
}
