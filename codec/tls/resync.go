package tls

import (
	"encoding/binary"

	"wirebench/codec/transport"
)

// maxSequence is how many sequence numbers a record found after a gap is tried with.
const maxSequence = 256

// gap takes a loss mark: seg.Lost bytes are missing before the next ones.
func (s *session) gap(w *way, seg transport.Segment) {
	hit := w.skip == 0 && !w.seeking && s.hits(w, w.buf[w.next:], seg.Lost)
	if w.state == unopened || w.state == bytewise {
		if n := len(w.buf) - w.next; n > 0 {
			s.opaque(w, n)
		}
		s.missing(w, seg)
	}
	w.next = len(w.buf)
	w.compact()
	w.offset += max(seg.Lost, 0)
	switch {
	case hit || w.state == bytewise:
	case seg.Lost > 0 && seg.Lost <= int64(w.skip):
		w.skip -= int(seg.Lost)
	case w.state == unopened:
		w.skip = 0
		s.stop(w, w.why)
		w.told = true
	default:
		w.skip, w.seeking = 0, true
		n := int64(maxSequence)
		if seg.Lost > 0 {
			n = min(n, seg.Lost/(recordHead+1)+1)
		}
		w.within = min(w.within+int(n), maxSequence)
		w.lost = transport.Unknown
		w.messages.lose()
	}
}

// missing emits a gap of a direction that is not decrypted.
func (s *session) missing(w *way, seg transport.Segment) {
	s.frame = transport.Frame{
		Kind: transport.Problem, Dir: w.dir, At: s.at, From: append(s.frame.From[:0], transport.Source{Packet: seg.Packet, Off: seg.Off}),
		Via: via, Offset: transport.Unknown, Length: seg.Lost, Note: "bytes are missing",
	}
	s.emit(&s.frame)
}

// hits reports whether all lost bytes belong to the record at the start of rest. Then the rest of the record is skipped.
func (s *session) hits(w *way, rest []byte, lost int64) bool {
	if lost <= 0 || len(rest) < recordHead || !isHeader(rest) {
		return false
	}
	size := recordHead + int(binary.BigEndian.Uint16(rest[3:]))
	left := int64(size - len(rest))
	if lost > left {
		return false
	}
	w.skip = int(left - lost)
	switch w.state {
	case inClear:
		w.messages.lose()
	case sealed:
		w.messages.lose()
		w.seq++
		n, known := 0, false
		if w.keys != nil {
			n, known = w.keys.overhead()
		}
		switch {
		case known && rest[0] == typeData && size >= n && w.lost != transport.Unknown:
			w.lost += int64(size - n)
		case !known || rest[0] == typeData:
			w.lost = transport.Unknown
		}
	}
	return true
}

// seek looks for a record after a gap, from w.next on, and reports whether one starts there now. Bytes before it belong to lost records.
func (s *session) seek(w *way) bool {
	for ; w.state != bytewise; w.next++ {
		rest := w.buf[w.next:]
		if len(rest) < recordHead {
			return false
		}
		if !isHeader(rest) || s.version == version13 && w.state == sealed && rest[0] != typeData {
			continue
		}
		size := recordHead + int(binary.BigEndian.Uint16(rest[3:]))
		if len(rest) < size {
			return false
		}
		if s.fits(w, rest[:size]) {
			w.seeking, w.within = false, 0
			return true
		}
	}
	return false
}

// fits reports whether a complete record after a gap is the next one, and sets keys and sequence number for it.
func (s *session) fits(w *way, rec []byte) bool {
	if w.state == inClear {
		switch {
		case s.version == 0 || s.unreadable != "": // hellos were lost
			if s.unreadable == "" {
				s.unreadable = "TLS, its handshake is not complete in the capture"
			}
			s.stop(w, s.unreadable)
			return false
		case rec[0] == typeChangeCipher && len(rec) == recordHead+1 && rec[recordHead] == 1:
			return true
		}
		keys := s.keys12(w)
		if keys == nil {
			s.stop(w, s.noKeys())
			return false
		}
		if s.tries(w, keys, 0, rec) && s.seal(w) {
			w.keys = keys
			return true
		}
		return false
	}
	if w.state == sealed && w.keys != nil && s.tries(w, w.keys, w.seq, rec) {
		return true
	}
	secret := s.following(w)
	if secret == nil || w.state != sealed {
		return false
	}
	s.layer.work -= followingCost
	keys := protect13(s.suite, secret)
	if !s.tries(w, keys, 0, rec) {
		return false
	}
	seq := w.seq
	w.use(keys, secret)
	w.seq = seq
	return true
}

// tries tries a record with sequence numbers from seq on, and sets that of the direction to the one that fits.
func (s *session) tries(w *way, keys *protection, seq uint64, rec []byte) bool {
	for n := range uint64(max(w.within, 1) + 1) {
		if s.layer.work -= int64(len(rec)); s.layer.work < 0 {
			s.layer.work = 0
			s.stop(w, "TLS, no record is found after a gap within the limits of searching")
			return false
		}
		if _, _, ok := keys.open(s.layer.plain[:], seq+n, rec); ok {
			w.seq = seq + n
			return true
		}
	}
	return false
}
