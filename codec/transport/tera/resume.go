package tera

import (
	"encoding/binary"
	"math/bits"

	"wirebench/defs/schema"
)

// Bounds of the search for a place where a message starts.
const (
	maxLook   = 128 << 10 // bytes in which it is looked for; more than one message may have
	firstLook = 32        // bytes after which it is looked for at first
	minCode   = 0x400     // lowest code that is believed without having been seen: codes are random numbers, other words are small
	sureBits  = 24        // of evidence, with codes that are known
	blindBits = 40        // without
	lastBits  = 8         // at the end of the stream, with codes that are known
	fewCodes  = 8         // known codes below which they say nothing about others
)

// codes is a set of message codes.
type codes struct {
	n   int
	set [1 << 16 / 64]uint64
}

func (c *codes) add(code uint16) {
	if bit := uint64(1) << (code % 64); c.set[code/64]&bit == 0 {
		c.set[code/64] |= bit
		c.n++
	}
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
		if start, ok := t.find(w.dir, w.codes, rest[:size], final); ok {
			w.pass(start)
			w.lost, w.late = false, true
			break
		}
		if final {
			return false
		}
		if w.looked = size; size == maxLook {
			w.pass(maxLook / 2)
			w.looked = maxLook / 2
		}
	}
	return true
}

// find tells where in data messages start to follow each other. last says that data is all there is.
func (t *Transport) find(dir schema.Dir, seen *codes, data []byte, last bool) (start int, ok bool) {
	known := t.options.Known
	if known == nil && (seen == nil || seen.n < fewCodes) {
		seen = nil
	}
	start, score := t.best(dir, known, seen, data)
	switch {
	case start < 0:
		return 0, false
	case known == nil && seen == nil:
		if score < blindBits {
			return 0, false
		}
		// Nothing is known of codes: those of the chain that was found tell which of the starts that lead into it is the first.
		var found codes
		for at, row := start, 0; at+headerSize <= len(data); row++ {
			if row >= 2 {
				found.add(binary.LittleEndian.Uint16(data[at+2:]))
			}
			at += int(binary.LittleEndian.Uint16(data[at:]))
		}
		if again, score := t.best(dir, nil, &found, data); again >= 0 && score >= sureBits {
			start = again
		}
		return start, true
	case last:
		return start, score >= lastBits
	}
	return start, score >= sureBits
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
	case seen == nil:
		return 0
	case code < minCode:
		return -8 - max(length, 0)
	}
	return min(1-length, 0)
}
