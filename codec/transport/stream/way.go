package stream

import (
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// way is the data of one direction that has arrived.
type way struct {
	index                  int // 0 to the server, 1 to the client
	dir                    schema.Dir
	begun                  bool // a segment has been received
	ended                  bool
	buf                    []byte
	done                   int     // bytes of buf already read
	plain                  int     // with a cipher: bytes of buf that are deciphered
	looked                 int     // bytes from done on without a delimiter
	need                   int     // bytes from done on that are required for the next frame
	whole                  bool    // need is the size of the frame
	offset                 int64   // of buf in the stream
	pieces                 []piece // sources of buf, from first on
	first                  int     // the first piece not completely read
	skip                   int64   // bytes to skip before the next frame
	seek                   bool    // skip to the end of the next delimiter
	lost                   bool    // the next frame is the first one after a problem
	dead                   string  // why the rest cannot be read
	unread                 int64   // bytes of the rest
	told                   int64   // an incomplete message was reported up to here
	ws                     *webSocket
	resync                 *resync // the next start of a message is searched
	unsure                 bool    // the next frame is compared with its definition
	patience, tired, doubt int     // see doubts
	passed                 int64   // bytes up to this offset were passed to a rewriter although they were not read
	fresh                  bool    // what stands before the first message has not been read
	note                   string  // of the next message
	header                 []byte  // of the last message, if it has bytes that a message need not state
	headerOf               *envelope.Header
	opening                []byte // the bytes before the messages of the last frame, if every frame is a bundle
	codes                  recent // of its messages
	trial                  int    // messages until the place is certain at which it resumed
	familiar               familiar
	learnt                 learnt
	guessed                uint64 // code of the last frame, if its size was learnt
	isGuessed              bool
}

// familiar remembers codes that have a definition.
type familiar [64]uint64

func (m *familiar) has(state int, code uint32) bool {
	return m[code%uint32(len(m))] == 1<<63|uint64(state)<<32|uint64(code)
}

func (m *familiar) add(state int, code uint32) {
	m[code%uint32(len(m))] = 1<<63 | uint64(state)<<32 | uint64(code)
}

// recent are the last codes of a direction.
type recent struct {
	codes [64]uint32
	n     int // ever
}

func (r *recent) add(code uint32) {
	r.codes[r.n%len(r.codes)] = code
	r.n++
}

// all returns the codes, in no order.
func (r *recent) all() []uint32 { return r.codes[:min(r.n, len(r.codes))] }

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

// begins reports whether part of a frame has arrived.
func (w *way) begins() bool { return len(w.buf) > w.done || w.skip > 0 }

// add appends the bytes of a segment.
func (w *way) add(seg *transport.Segment) {
	w.compact()
	size := uint32(len(seg.Bytes))
	w.buf = append(w.buf, seg.Bytes...)
	end := w.next()
	if n := len(w.pieces); n > w.first {
		if p := &w.pieces[n-1]; p.packet == seg.Packet && p.off == seg.Off && p.at.Equal(seg.At) {
			p.end, p.off, p.size = end, p.off+size, p.size+size
			return
		}
	}
	w.pieces = append(w.pieces, piece{end, seg.Packet, seg.Off + size, size, seg.At})
}

// maxKeep is the capacity in bytes above which an empty buffer is released.
const maxKeep = 256 << 10

// compact discards the bytes that were read, if they are worth the copy.
func (w *way) compact() {
	if w.done > 0 && w.done >= len(w.buf)/2 {
		w.offset += int64(w.done)
		w.plain = max(w.plain-w.done, 0)
		if w.buf = w.buf[:copy(w.buf, w.buf[w.done:])]; len(w.buf) == 0 && cap(w.buf) > maxKeep {
			w.buf = nil
		}
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
	w.looked, w.need, w.whole, w.doubt = 0, 0, false, 0
	for at := w.offset + int64(w.done); w.first < len(w.pieces) && w.pieces[w.first].end <= at; {
		w.first++
	}
}

// empty discards everything; the next byte is at an offset.
func (w *way) empty(offset int64) {
	w.buf, w.done, w.plain, w.pieces, w.first, w.offset = w.buf[:0], 0, 0, w.pieces[:0], 0, offset
	w.looked, w.need, w.whole, w.doubt = 0, 0, false, 0
}

// appendSources appends the captured ranges of n bytes that begin at bytes after the read ones.
func (w *way) appendSources(dst []transport.Source, at, n int) []transport.Source {
	from := w.offset + int64(w.done) + int64(at)
	to := from + int64(n)
	for i := w.first; i < len(w.pieces) && from < to; i++ {
		p := &w.pieces[i]
		size := min(to, p.end) - from
		if size <= 0 {
			continue
		}
		if p.packet != 0 {
			dst = append(dst, transport.Source{Packet: p.packet, Off: p.off - uint32(p.end-from), Len: uint32(size)})
		}
		from += size
	}
	return dst
}

// packetAt returns the packet with the byte at an offset, or 0, and whether it is the first one of its run.
func (w *way) packetAt(offset int64) (packet uint32, first bool) {
	for i := w.first; i < len(w.pieces); i++ {
		if p := &w.pieces[i]; p.end > offset {
			return p.packet, p.end-int64(p.size) == offset
		}
	}
	return 0, false
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
