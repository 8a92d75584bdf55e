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
	maxLook   = 128 << 10 // bytes in which it is looked for; more than one message may have
	firstLook = 32        // bytes after which it is looked for at first
	minCode   = 0x400     // lowest code that is believed without having been seen: codes are random numbers, other words are small
	sureBits  = 24        // of evidence, with codes that are known
	blindBits = 40        // without
	firstBits = 16        // for the first byte, where a message starts far more often than at any other one
	lastBits  = 8         // at the end of the stream, with codes that are known
	fewCodes  = 8         // known codes below which they say nothing about others
)

// codes is a set of message codes.
type codes struct {
	n     int
	known int // of them
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

// evidence is how much a length speaks for being one, in bits: about log2 of how much more often messages have such a length than bytes
// that are none, of which half would give one above 32767.
func evidence(size int) int { return 12 - bits.Len16(uint16(size)) }

// lose says that from the next byte on nobody knows where messages start.
func (w *way) lose() {
	w.lost, w.resumed, w.late = true, true, false
	w.lostAt, w.looked, w.skip = w.offset+int64(w.done), 0, 0
}

// look finds a start after w.done and passes what is before it. last says that no more bytes come, perhaps.
//
// It looks after certain numbers of bytes, so that the cuts of the segments do not matter, and so rarely that the time is linear.
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

// unread passes n bytes in which no message was found. They are told of as what they are, so that no byte vanishes.
func (t *Transport) unread(w *way, n int) {
	if known := int(min(max(w.told-w.offset-int64(w.done), 0), int64(n))); known > 0 { // a problem has shown them
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

// find tells where in data, which is what comes next, messages start to follow each other. last says that data is all there is.
//
// Codes that are known or have been seen speak for messages, and others against; but a map may be that of another version, or have few
// names. So where these tell nothing the lengths alone count, and have to say more.
func (t *Transport) find(w *way, data []byte, last bool) (start int, ok bool) {
	dir, known, seen := w.dir, t.options.Known, w.codes
	if seen != nil && seen.n >= fewCodes && 2*seen.known < seen.n {
		known = nil // the names are those of another version
	}
	if known == nil && (seen == nil || seen.n < fewCodes) {
		seen = nil
	}
	first := w.offset+int64(w.done) == w.lostAt // data begins where the place was lost
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
	// The codes of what was found tell which of the starts that lead into it is the first.
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

// plausible is how much a code that need not be known speaks for being one, in bits.
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

// best is the place from which on data looks most like messages, and how much so in bits; -1 if there is none.
//
// It goes backwards, so that the score of what follows a message is known: one pass over data.
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
		if size > len(rest) { // it may go on behind data, or may be no message
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

// codeBits is how much a code adds to what the length of its message says.
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
