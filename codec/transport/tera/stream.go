package tera

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// maxShown is the maximum number of bytes in a problem.
const maxShown = 64

// way is the state of one direction.
type way struct {
	dir     schema.Dir
	begun   bool    // a segment has been received
	ended   bool    //
	dark    bool    // the position in the keystream is unknown: opaque
	cipher  *Cipher // nil: plain
	buf     []byte  // deciphered
	done    int     // bytes of buf already read
	offset  int64   // of buf in the stream
	pieces  []piece // sources of buf, from first on
	first   int     // the first piece not completely read
	step    int     // of the key exchange
	skip    int64   // bytes to skip before the next message
	codes   *codes  // seen so far; nil: none
	told    int64   // skipped bytes were reported up to here
	walk    walker  // while the stream is not classified
	lost    bool    // the next start of a message is unknown
	lostAt  int64   // offset at which it became unknown
	looked  int     // number of bytes of buf at the last search
	resumed bool
	late    bool // the next message is the first one after a problem
}

// piece is the source of a run of bytes of the stream.
type piece struct {
	end    int64 // stream offset of its end
	packet uint32
	off    uint32 // in the packet's payload, of the byte at end
	size   uint32
	at     time.Time
}

// next returns the offset of the next byte to be received.
func (w *way) next() int64 { return w.offset + int64(len(w.buf)) }

// add appends a segment.
func (w *way) add(seg transport.Segment) {
	w.compact()
	size := uint32(len(seg.Bytes))
	end := w.next() + int64(size)
	if w.cipher != nil {
		at := len(w.buf)
		w.buf = append(w.buf, seg.Bytes...)
		w.cipher.XORKeyStream(w.buf[at:], seg.Bytes)
	} else {
		w.buf = append(w.buf, seg.Bytes...)
	}
	if n := len(w.pieces); n > w.first {
		if p := &w.pieces[n-1]; p.packet == seg.Packet && p.off == seg.Off && p.at.Equal(seg.At) {
			p.end, p.off, p.size = end, p.off+size, p.size+size
			return
		}
	}
	w.pieces = append(w.pieces, piece{end, seg.Packet, seg.Off + size, size, seg.At})
}

// compact discards the bytes that were read.
func (w *way) compact() {
	if w.done > 0 {
		w.offset += int64(w.done)
		w.buf = w.buf[:copy(w.buf, w.buf[w.done:])]
		w.done = 0
	}
	if w.first > 0 && w.first >= len(w.pieces)/2 {
		w.pieces = w.pieces[:copy(w.pieces, w.pieces[w.first:])]
		w.first = 0
	}
}

// pass marks n bytes as read.
func (w *way) pass(n int) {
	w.done += n
	for at := w.offset + int64(w.done); w.first < len(w.pieces) && w.pieces[w.first].end <= at; {
		w.first++
	}
}

// sources returns the captured ranges of the next n bytes.
func (t *Transport) sources(w *way, n int) []transport.Source {
	t.from = t.from[:0]
	from := w.offset + int64(w.done)
	to := from + int64(n)
	for i := w.first; i < len(w.pieces) && from < to; i++ {
		p := &w.pieces[i]
		size := min(to, p.end) - from
		if p.packet != 0 && size > 0 {
			t.from = append(t.from, transport.Source{Packet: p.packet, Off: p.off - uint32(p.end-from), Len: uint32(size)})
		}
		from += size
	}
	return t.from
}

// arrival returns the time at which the last of the next n bytes was received.
func (w *way) arrival(n int) time.Time {
	to := w.offset + int64(w.done) + int64(n)
	for i := w.first; i < len(w.pieces); i++ {
		if w.pieces[i].end >= to {
			return w.pieces[i].at
		}
	}
	return time.Time{}
}

// read emits all complete messages.
func (t *Transport) read(w *way) {
	for {
		if w.skip > 0 {
			n := int(min(w.skip, int64(len(w.buf)-w.done)))
			w.pass(n)
			w.skip -= int64(n)
		}
		if w.lost && !t.look(w, false) {
			return
		}
		rest := w.buf[w.done:]
		if len(rest) < 2 {
			return
		}
		size := int(binary.LittleEndian.Uint16(rest))
		if size < headerSize {
			// Detecting it takes both length bytes, so the problem consists of both.
			f := t.begin(w, transport.Problem, w.offset+int64(w.done), w.arrival(2))
			f.Bytes, f.From, f.Resumed = rest[:2], t.sources(w, 2), w.resumed
			f.Note = fmt.Sprintf("frame length %d is smaller than the header", size)
			t.emit(f)
			w.told = w.offset + int64(w.done) + 2
			t.afterProblem(w)
			w.lose()
			continue
		}
		if len(rest) < size {
			return
		}
		t.message(w, rest[:size:size])
		w.pass(size)
	}
}

// message emits a message.
func (t *Transport) message(w *way, data []byte) {
	code := binary.LittleEndian.Uint16(data[2:])
	f := t.begin(w, transport.Message, w.offset+int64(w.done), w.arrival(len(data)))
	f.Key = schema.Key{Dir: w.dir, Code: uint32(code)}
	f.HasKey, f.Bytes, f.From, f.Resumed = true, data, t.sources(w, len(data)), w.resumed
	if w.late {
		w.late = false
		if n := f.Offset - w.lostAt; n > 0 {
			f.Note = fmt.Sprintf("the first message after %d bytes that could not be read", n)
		}
	}
	if w.codes == nil {
		w.codes = new(codes)
	}
	if w.codes.add(code) && t.options.Known != nil && t.options.Known(f.Key) {
		w.codes.known++
	}
	switch {
	case w.dir == schema.ToServer:
		if (t.options.IntegrityIV != nil || t.options.ZeroChecksum) && t.integrity.check(code, data) {
			f.Via = viaIntegrity
		}
	case t.options.IntegrityIV != nil:
		if iv, ok := t.options.IntegrityIV(f.Key, data); ok {
			t.integrity.iv, t.integrity.hasIV = iv, true
		}
	}
	t.emit(f)
}

var viaIntegrity = []string{ViaIntegrity}

// gap skips missing bytes. A message that the gap cuts is lost.
func (t *Transport) gap(w *way, seg transport.Segment) {
	reading := t.mode == messages && !w.dark
	if reading && w.lost {
		if t.look(w, true) {
			t.read(w)
		} else {
			t.unread(w, len(w.buf)-w.done)
		}
	}
	rest := w.buf[w.done:]
	start := w.next() - int64(len(rest)) // of the message that is cut
	f := t.begin(w, transport.Problem, w.next(), seg.At)
	f.Length, f.Note = seg.Lost, "bytes of the stream are missing in the capture"
	if seg.Packet != 0 { // the gap is located by the byte after it
		t.from = append(t.from[:0], transport.Source{Packet: seg.Packet, Off: seg.Off})
		f.From = t.from
	}
	if reading && !w.lost && len(rest) > 0 {
		f.Note += fmt.Sprintf("; the message before them is cut after %d bytes", len(rest))
	}
	if reading && seg.Lost < 0 && w.cipher != nil {
		f.Note += "; their number is unknown, so the rest cannot be deciphered"
	}
	t.emit(f)

	// The next start of a message is known if the length of the cut message was received and its end is after the gap.
	skip := int64(-1)
	switch certain := reading && !w.lost && seg.Lost > 0; {
	case certain && w.skip > 0:
		skip = w.skip - seg.Lost
	case certain && len(rest) >= 2:
		skip = start + int64(binary.LittleEndian.Uint16(rest)) - w.next() - seg.Lost
	}
	w.offset = w.next() + max(seg.Lost, 0)
	w.buf, w.done, w.pieces, w.first = w.buf[:0], 0, w.pieces[:0], 0
	if !reading {
		return
	}
	if w.cipher != nil && seg.Lost > 0 {
		w.cipher.Skip(seg.Lost)
	}
	w.dark = w.cipher != nil && seg.Lost < 0
	t.afterProblem(w)
	if w.lose(); skip >= 0 {
		w.skip, w.lost, w.late = skip, false, true
	}
}

// afterProblem records that messages of a direction may be missing.
func (t *Transport) afterProblem(w *way) {
	if w.dir == schema.ToServer {
		t.integrity.missed = true
	}
}

// opaque emits all available bytes as opaque frames.
func (t *Transport) opaque(w *way) {
	rest := w.buf[w.done:]
	if len(rest) == 0 {
		return
	}
	f := t.begin(w, transport.Opaque, w.offset+int64(w.done), w.arrival(len(rest)))
	f.Bytes, f.From = rest, t.sources(w, len(rest))
	t.emit(f)
	w.pass(len(rest))
}
