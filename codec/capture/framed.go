package capture

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of streams that are split by a framing.
const (
	maxFramed      = 16 << 20 // bytes of a message
	keepFramed     = 64 << 10 // bytes of memory that a direction keeps after its end, for the next datagram
	maxFramedInAll = 64 << 20 // bytes that wait for the rest of their messages, in all connections
)

// framed is the transport of a connection whose messages are delimited by a framing: in a stream one after another, in datagrams within each.
type framed struct {
	f       Framing
	streams bool
	key     func(schema.Dir, []byte) (schema.Key, bool)
	ways    [3]framedWay // by direction
	held    *int         // bytes that wait, in all connections
	frame   transport.Frame
}

// framedWay is one direction of a stream.
type framedWay struct {
	buf      []byte
	pieces   []framedPiece // of buf, in order
	offset   int64         // of buf in the stream
	searched int           // bytes of buf without a delimiter
	failed   string        // why the rest cannot be split
	resumed  bool          // after a gap
}

// framedPiece is where bytes of a stream came from.
type framedPiece struct {
	transport.Source
	at int64 // offset in the stream
}

// newFramed makes the transport of a connection. All connections of a capture share held.
func newFramed(f Framing, c transport.Conn, key func(schema.Dir, []byte) (schema.Key, bool), held *int) transport.Transport {
	return &framed{f: f, streams: c.Proto == transport.TCP, key: key, held: held}
}

// Feed implements transport.Transport.
func (t *framed) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	w := &t.ways[seg.Dir]
	if !t.streams {
		*t.held += len(seg.Bytes)
		*w = framedWay{buf: append(w.buf[:0], seg.Bytes...), pieces: append(w.pieces[:0], framedPiece{Source: transport.Source{Packet: seg.Packet, Off: seg.Off, Len: uint32(len(seg.Bytes))}})}
		t.split(seg.Dir, seg.At, true, emit)
		t.end(seg.Dir, seg.At, emit)
		return
	}
	if seg.Lost != 0 {
		t.end(seg.Dir, seg.At, emit)
		t.begin(seg.Dir, transport.Problem, seg.At, w.offset)
		t.frame.Length, t.frame.Note = seg.Lost, "bytes are missing"
		t.frame.From = []transport.Source{{Packet: seg.Packet, Off: seg.Off}}
		emit(&t.frame)
		*w = framedWay{offset: w.offset + max(seg.Lost, 0), resumed: true}
	}
	if len(seg.Bytes) > 0 {
		w.pieces = append(w.pieces, framedPiece{transport.Source{Packet: seg.Packet, Off: seg.Off, Len: uint32(len(seg.Bytes))}, w.offset + int64(len(w.buf))})
		w.buf = append(w.buf, seg.Bytes...)
		*t.held += len(seg.Bytes)
		t.split(seg.Dir, seg.At, false, emit)
	}
	if seg.End {
		t.end(seg.Dir, seg.At, emit)
	}
}

// Flush implements transport.Transport.
func (t *framed) Flush(at time.Time, emit func(*transport.Frame)) {
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
		t.end(dir, at, emit)
	}
}

// end emits the rest of a direction.
func (t *framed) end(dir schema.Dir, at time.Time, emit func(*transport.Frame)) {
	w := &t.ways[dir]
	if w.failed == "" {
		t.split(dir, at, true, emit)
	}
	if len(w.buf) > 0 {
		t.emit(dir, transport.Problem, at, 0, len(w.buf), w.failed, emit)
		t.drop(w, len(w.buf))
	}
	if cap(w.buf) > keepFramed {
		w.buf = nil
	}
}

// split emits the messages that are complete; with last, what is there is all.
func (t *framed) split(dir schema.Dir, at time.Time, last bool, emit func(*transport.Frame)) {
	w := &t.ways[dir]
	for w.failed == "" && len(w.buf) > 0 && (last || t.f.decides(w.buf, w.searched, maxFramed)) {
		from, to, next, why := t.f.cut(w.buf)
		if why != "" {
			w.failed = why
			break
		}
		if t.f.Kind != Delimited || to > from {
			t.emit(dir, transport.Message, at, from, to, "", emit)
		}
		t.drop(w, next)
	}
	w.searched = t.f.unsearched(w.buf)
	if len(w.buf) > 0 && (len(w.buf) > maxFramed || *t.held > maxFramedInAll) {
		if w.failed == "" {
			w.failed = fmt.Sprintf("too many bytes without the end of a message: more than %d MiB, or %d MiB in all connections", maxFramed>>20, maxFramedInAll>>20)
		}
		t.emit(dir, transport.Problem, at, 0, len(w.buf), w.failed, emit)
		t.drop(w, len(w.buf))
	}
}

// decides reports whether a message at the start of a stream is complete, or cannot become one of at most that many bytes. The first bytes
// were searched for a delimiter before.
func (f *Framing) decides(buf []byte, searched, most int) bool {
	switch f.Kind {
	case Fixed:
		return len(buf) >= f.Size
	case Prefixed:
		if len(buf) < f.Before+f.Size {
			return false
		}
		_, size := f.lengths(buf)
		return size <= uint64(len(buf)) || size > uint64(most)
	case Delimited:
		return bytes.Contains(buf[searched:], f.Delimiter)
	}
	return false
}

// unsearched returns where the search for a delimiter continues in a stream without one.
func (f *Framing) unsearched(buf []byte) int { return max(0, len(buf)-len(f.Delimiter)+1) }

// emit emits a part of the buffer as a frame.
func (t *framed) emit(dir schema.Dir, kind transport.Kind, at time.Time, from, to int, note string, emit func(*transport.Frame)) {
	w := &t.ways[dir]
	t.begin(dir, kind, at, w.offset+int64(from))
	if !t.streams {
		t.frame.Offset = transport.Unknown
	}
	t.frame.Bytes, t.frame.Note = w.buf[from:to:to], note
	t.frame.From = w.from(t.frame.From[:0], w.offset+int64(from), w.offset+int64(to))
	t.frame.Resumed, w.resumed = w.resumed, false
	if kind == transport.Message && t.key != nil {
		t.frame.Key, t.frame.HasKey = t.key(t.frame.Dir, t.frame.Bytes)
	}
	emit(&t.frame)
}

func (t *framed) begin(dir schema.Dir, kind transport.Kind, at time.Time, offset int64) {
	if t.f.Dir != schema.Both {
		dir = t.f.Dir
	}
	t.frame = transport.Frame{Kind: kind, Dir: dir, At: at, Offset: offset, From: t.frame.From}
}

// from appends the sources of a range of the stream.
func (w *framedWay) from(to []transport.Source, start, end int64) []transport.Source {
	for _, p := range w.pieces {
		a, b := max(start, p.at), min(end, p.at+int64(p.Len))
		if a < b || start == end && p.at <= start && start < p.at+int64(p.Len) {
			to = append(to, transport.Source{Packet: p.Packet, Off: p.Off + uint32(a-p.at), Len: uint32(max(b-a, 0))})
		}
	}
	return to
}

// drop removes bytes from the start of the buffer of a direction.
func (t *framed) drop(w *framedWay, n int) {
	*t.held -= n
	w.buf = w.buf[:copy(w.buf, w.buf[n:])]
	w.offset += int64(n)
	w.searched = 0
	gone := slices.IndexFunc(w.pieces, func(p framedPiece) bool { return p.at+int64(p.Len) > w.offset })
	if gone < 0 {
		gone = len(w.pieces)
	}
	w.pieces = slices.Delete(w.pieces, 0, gone)
}
