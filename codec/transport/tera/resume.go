package tera

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of the search for a place where a message starts.
const (
	maxLook   = 128 << 10 // bytes searched; more than the longest message
	firstLook = 32        // bytes of the first search
	minCode   = 0x400     // lowest code that is plausible without having been seen: codes are random numbers, other words are small
	sureBits  = 24        // evidence required, with known codes
	blindBits = 40        // evidence required, without known codes
	firstBits = 16        // for the first byte, by far the most likely start of a message
	lastBits  = 8         // at the end of the stream, with known codes
	fewCodes  = 8         // known codes below which they are no evidence about others
)

// codes is a set of message codes.
type codes struct {
	n     int
	known int // number of known codes in the set
	set   [1 << 16 / 64]uint64
}

// add reports whether the code is new.
func (c *codes) add(code uint16) bool {
	bit := uint64(1) << (code % 64)
	if c.set[code/64]&bit != 0 {
		return false
	}
	c.set[code/64] |= bit
	c.n++
	return true
}

func (c *codes) has(code uint16) bool {
	return c != nil && c.set[code/64]>>(code%64)&1 != 0
}

// evidence returns how strongly a value suggests a message length, in bits: about log2 of how much more often messages have such a length
// than other bytes do, half of which would give a length above 32767.
func evidence(size int) int { return 12 - bits.Len16(uint16(size)) }

// lose marks the message boundaries as unknown from the next byte on.
func (w *way) lose() {
	w.lost, w.resumed, w.late = true, true, false
	w.lostAt, w.looked, w.skip = w.offset+int64(w.done), 0, 0
}

// look searches for a start after w.done and skips the bytes before it. last reports that no more bytes follow, as far as is known.
//
// It searches after fixed numbers of bytes, so that the result does not depend on segment boundaries, and so rarely that the time is
// linear.
func (t *Transport) look(w *way, last bool) bool {
	for w.lost {
		rest := w.buf[w.done:]
		size := min(max(firstLook, w.looked+w.looked/2), maxLook)
		final := last && len(rest) < size
		if final {
			size = len(rest)
		} else if len(rest) < size {
			return false
		}
		if start, ok := t.find(w, rest[:size], final); ok {
			t.unread(w, start)
			w.lost, w.late = false, true
			break
		}
		if final {
			return false
		}
		if w.looked = size; size == maxLook {
			t.unread(w, maxLook/2)
			w.looked = maxLook / 2
		}
	}
	return true
}

// unread skips n bytes in which no message was found. They are reported as a problem, so that every byte appears in a frame.
func (t *Transport) unread(w *way, n int) {
	if known := int(min(max(w.told-w.offset-int64(w.done), 0), int64(n))); known > 0 { // already reported as a problem
		w.pass(known)
		n -= known
	}
	if n > 0 && t.mode == messages {
		t.tellUnread(w, n)
	}
	w.pass(n)
}

func (t *Transport) tellUnread(w *way, n int) {
	f := t.begin(w, transport.Problem, w.offset+int64(w.done), w.arrival(n))
	f.Bytes, f.From = w.buf[w.done:w.done+n], t.sources(w, n)
	f.Resumed, f.Note = w.resumed, fmt.Sprintf("no message was found in %d bytes", n)
	t.emit(f)
}

// find returns the offset in data, the next bytes of the stream, from which messages follow each other. last reports that data is all there
// is.
//
// Known codes and codes already seen are evidence for messages, unknown ones against. But a map may be of another version, or name few
// codes; then only the lengths count, and stronger evidence is required.
func (t *Transport) find(w *way, data []byte, last bool) (start int, ok bool) {
	dir, known, seen := w.dir, t.options.Known, w.codes
	if seen != nil && seen.n >= fewCodes && 2*seen.known < seen.n {
		known = nil // the names are of another version
	}
	if known == nil && (seen == nil || seen.n < fewCodes) {
		seen = nil
	}
	first := w.offset+int64(w.done) == w.lostAt // data begins where the boundary was lost
	if first && t.follows(dir, known, w.codes, data, last) {
		return 0, true
	}
	if known != nil || seen != nil {
		var score int32
		start, score = t.best(dir, known, seen, data)
		ok = start >= 0 && (score >= sureBits || last && score >= lastBits)
	}
	if !ok {
		var score int32
		if start, score = t.best(dir, nil, nil, data); start < 0 || score < blindBits {
			return 0, false
		}
		known = nil
	}
	// The codes found determine which of the starts that lead to it is the first.
	var found codes
	if seen != nil {
		found = *seen
	}
	for at, row := start, 0; at+headerSize <= len(data); row++ {
		if row >= 2 {
			found.add(binary.LittleEndian.Uint16(data[at+2:]))
		}
		at += int(binary.LittleEndian.Uint16(data[at:]))
	}
	if again, score := t.best(dir, known, &found, data); again >= 0 && again < start && score >= sureBits {
		start = again
	}
	if first && t.leads(dir, known, w.codes, data, start) {
		start = 0
	}
	return start, true
}

// follows reports whether data looks like messages from its first byte on.
func (t *Transport) follows(dir schema.Dir, known func(schema.Key) bool, seen *codes, data []byte, last bool) bool {
	score := int32(0)
	for at := 0; at < len(data); {
		rest := data[at:]
		if len(rest) < headerSize {
			return score >= firstBits
		}
		size, code := int(binary.LittleEndian.Uint16(rest)), binary.LittleEndian.Uint16(rest[2:])
		if size < headerSize {
			return false
		}
		bits := int32(evidence(size)) + plausible(dir, known, seen, code)
		if size > len(rest) {
			return score+min(bits, 0) >= firstBits
		}
		score += bits
		at += size
	}
	return score >= firstBits || last && score > 0
}

// leads reports whether messages from the first byte of data on lead to start.
func (t *Transport) leads(dir schema.Dir, known func(schema.Key) bool, seen *codes, data []byte, start int) bool {
	at := 0
	for at < start && at+headerSize <= len(data) {
		size := int(binary.LittleEndian.Uint16(data[at:]))
		if size < headerSize || plausible(dir, known, seen, binary.LittleEndian.Uint16(data[at+2:])) < -4 {
			return false
		}
		at += size
	}
	return at == start
}

// plausible returns the evidence of a code that need not be known, in bits.
func plausible(dir schema.Dir, known func(schema.Key) bool, seen *codes, code uint16) int32 {
	switch {
	case seen.has(code) || known != nil && known(schema.Key{Dir: dir, Code: uint32(code)}):
		return 6
	case code == 0:
		return -16
	case code < minCode:
		return -4
	}
	return 0
}

// best returns the place from which data looks most like messages, and its score in bits; -1 if there is none.
//
// It runs backwards in one pass over data, so that the score of the rest is known at each message.
func (t *Transport) best(dir schema.Dir, known func(schema.Key) bool, seen *codes, data []byte) (start int, score int32) {
	const never = -1 << 30
	if cap(t.scores) < len(data)+1 {
		t.scores = make([]int32, len(data)+1)
	}
	scores := t.scores[:len(data)+1]
	scores[len(data)] = 0
	start, score = -1, never
	for at := len(data) - 1; at >= 0; at-- {
		rest := data[at:]
		if len(rest) < 2 {
			scores[at] = 0
			continue
		}
		size := int(binary.LittleEndian.Uint16(rest))
		if size < headerSize {
			scores[at] = never
			continue
		}
		bits := int32(evidence(size))
		if len(rest) >= headerSize {
			bits += t.codeBits(dir, known, seen, size, binary.LittleEndian.Uint16(rest[2:]))
		}
		if size > len(rest) { // it may continue after data, or may be no message
			scores[at] = min(0, bits)
			continue
		}
		after := scores[at+size]
		if after == never {
			scores[at] = never
			continue
		}
		scores[at] = after + bits
		if scores[at] >= score {
			start, score = at, scores[at]
		}
	}
	return start, score
}

// codeBits returns the evidence that a code adds to the length of its message.
func (t *Transport) codeBits(dir schema.Dir, known func(schema.Key) bool, seen *codes, size int, code uint16) int32 {
	length := int32(evidence(size))
	switch {
	case seen.has(code) || known != nil && known(schema.Key{Dir: dir, Code: uint32(code)}):
		return 6
	case known != nil:
		return -2 - max(length, 0)
	case seen == nil && code > 0:
		return plausible(dir, nil, nil, code)
	case code < minCode:
		return -8 - max(length, 0)
	}
	return min(1-length, 0)
}
