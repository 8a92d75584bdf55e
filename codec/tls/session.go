package tls

import (
	"encoding/binary"
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Types of records (RFC 8446, section 5.1).
const (
	typeChangeCipher = 20
	typeAlert        = 21
	typeHandshake    = 22
	typeData         = 23
	typeHeartbeat    = 24 // RFC 6520
)

// maxFailures is how many records in a row may fail authentication before a direction is given up.
const maxFailures = 3

var via = []string{"tls"}

// session is a connection that is TLS.
type session struct {
	layer  *Layer
	inner  transport.Transport
	clear  func(transport.Clear)
	client schema.Dir // direction of the client's data
	ways   [3]way     // by direction

	hello      hello  // the last ClientHello
	greeted    bool   // hello is set
	answer     hello  // the last ServerHello
	version    uint16 // 0 until the ServerHello
	suite      *suite
	early      bool   // the server accepted early data
	retried    bool   // the server sent a HelloRetryRequest
	unreadable string // why nothing can be decrypted, "" if that is not known

	emit  func(*transport.Frame) // of the current call
	at    time.Time
	frame transport.Frame
}

func newSession(c *conn, client schema.Dir) *session {
	s := &session{layer: c.layer, inner: c.inner, clear: c.clear, client: client}
	for i := range s.ways {
		s.ways[i].dir = schema.Dir(i)
	}
	return s
}

// state is how the records of a direction are read.
type state uint8

const (
	inClear  state = iota // the handshake
	sealed                // decrypted by way.keys
	unopened              // without keys: as Opaque frames
	bytewise              // without records: as Opaque frames
)

// way is one direction.
type way struct {
	dir    schema.Dir
	buf    []byte // incomplete records
	next   int    // bytes of buf that were read
	offset int64  // of buf in the stream
	pieces []piece
	held   int // as counted in Layer.held

	state       state
	why         string // of unopened and bytewise
	told        bool   // why was shown
	messages    messages
	keys        *protection // of sealed; nil if the secret of the handshake is unknown
	seq         uint64      // of the next record
	secret      []byte      // TLS 1.3, of keys
	application bool        // TLS 1.3: keys are those of application data
	failures    int         // in a row
	counted     bool        // in Layer.open

	skip    int   // bytes that are left of a record that was lost in part
	seeking bool  // a record must be found after a gap
	within  int   // with seeking: the greatest number of lost records
	lost    int64 // bytes of plaintext to be reported as lost, or Unknown

	started bool // the transport got something
	ended   bool // it got the end
}

// piece is a range of a captured packet in the stream of a direction.
type piece struct {
	transport.Source
	at   int64
	when time.Time
}

const pieceSize = 48 // bytes of memory

// feed takes the next segment.
func (s *session) feed(seg transport.Segment, emit func(*transport.Frame)) {
	s.emit, s.at = emit, seg.At
	w, other := &s.ways[seg.Dir], &s.ways[transport.Opposite(seg.Dir)]
	if seg.Lost != 0 {
		s.gap(w, seg)
	}
	s.layer.work += int64(len(seg.Bytes)) * workPerByte
	s.append(w, seg)
	s.read(w)
	s.read(other) // its records may have waited for the ServerHello
	if seg.End {
		s.end(w, seg.Packet)
	}
	s.count(w)
	s.count(other)
}

// append adds the bytes of a segment to the buffer.
func (s *session) append(w *way, seg transport.Segment) {
	n := min(w.skip, len(seg.Bytes))
	w.skip -= n
	bytes := seg.Bytes[n:]
	if len(w.buf) == 0 {
		w.offset += int64(n)
	}
	if len(bytes) == 0 {
		return
	}
	if w.buf == nil {
		if n := len(s.layer.free); n > 0 {
			w.buf, s.layer.free = s.layer.free[n-1], s.layer.free[:n-1]
		}
	}
	from := transport.Source{Packet: seg.Packet, Off: seg.Off + uint32(n), Len: uint32(len(bytes))}
	w.pieces = append(w.pieces, piece{from, w.offset + int64(len(w.buf)), seg.At})
	w.buf = append(w.buf, bytes...)
}

// read reads the complete records of a direction.
func (s *session) read(w *way) {
	for w.next < len(w.buf) {
		rest := w.buf[w.next:]
		if w.state == bytewise {
			s.opaque(w, len(rest))
			w.next = len(w.buf)
			break
		}
		if w.seeking && !s.seek(w) {
			if w.state == bytewise {
				continue
			}
			break
		}
		if rest = w.buf[w.next:]; len(rest) < recordHead {
			break
		}
		if !isHeader(rest) {
			s.stop(w, fmt.Sprintf("TLS, but % x does not start a record", rest[:recordHead]))
			continue
		}
		size := recordHead + int(binary.BigEndian.Uint16(rest[3:]))
		if len(rest) < size || !s.record(w, rest[:size:size]) {
			break
		}
		w.next += size
	}
	w.compact()
}

// compact drops the bytes that were read.
func (w *way) compact() {
	w.buf = w.buf[:copy(w.buf, w.buf[w.next:])]
	w.offset += int64(w.next)
	w.next = 0
	gone := 0
	for gone < len(w.pieces) && w.pieces[gone].at+int64(w.pieces[gone].Len) <= w.offset {
		gone++
	}
	w.pieces = w.pieces[:copy(w.pieces, w.pieces[gone:])]
}

// count adjusts the count of held bytes, and gives up a direction when there are too many.
func (s *session) count(w *way) {
	l := s.layer
	if now := w.size(); l.held+now-w.held > maxHeld && now > 0 {
		s.stop(w, "TLS, but too many incomplete records")
		s.read(w)
		w.messages.lose()
	}
	if w.buf != nil && len(w.buf) == 0 {
		if len(l.free) < maxFree {
			l.free = append(l.free, w.buf)
		}
		w.buf = nil
	}
	now := w.size()
	l.held += now - w.held
	w.held = now
}

func (w *way) size() int { return cap(w.buf) + len(w.pieces)*pieceSize + len(w.messages.body) }

// isHeader reports whether data start with the header of a record.
func isHeader(data []byte) bool {
	return data[0] >= typeChangeCipher && data[0] <= typeHeartbeat && data[1] == 3 && data[2] <= 4 && int(binary.BigEndian.Uint16(data[3:])) <= maxBody
}

// record reads a record. It returns false if the record has to wait for the ServerHello.
func (s *session) record(w *way, rec []byte) bool {
	switch w.state {
	case unopened:
		if rec[0] == typeData {
			s.opaque(w, len(rec))
		}
		return true
	case sealed:
		if s.version == version13 && rec[0] != typeData {
			s.clearIn13(w, rec)
			return true
		}
		s.sealedRecord(w, rec)
		return true
	}
	body := rec[recordHead:]
	switch rec[0] {
	case typeHandshake:
		s.handshake(w, body)
	case typeAlert:
		s.alert(w, body)
	case typeChangeCipher:
		switch {
		case s.version == version13 || s.retried || w.dir == s.client && s.version == 0 && s.hello.early: // for middleboxes (RFC 8446, appendix D.4)
		case s.version == 0 && s.unreadable == "":
			return s.cannotWait(w, rec)
		default:
			s.seal12(w)
		}
	default:
		switch {
		case s.unreadable != "":
			s.unopen(w, s.unreadable)
			return s.record(w, rec)
		case s.version == 0 && w.dir == s.client && s.hello.early:
			s.notice(w, transport.Opaque, len(rec), "TLS, early data (0-RTT) is not decrypted")
		case s.version == 0:
			return s.cannotWait(w, rec)
		default:
			s.notice(w, transport.Problem, len(rec), "TLS, a record before the keys of its direction were agreed")
		}
	}
	return true
}

// cannotWait handles a record that needs the ServerHello. It returns true if the record has waited too long.
func (s *session) cannotWait(w *way, rec []byte) bool {
	if len(w.buf)-w.next <= maxPending && !s.ways[transport.Opposite(s.client)].ended && w.dir == s.client {
		return false
	}
	s.unreadable = "TLS, without its ServerHello"
	s.unopen(w, s.unreadable)
	return s.record(w, rec)
}

// clearIn13 reads an unencrypted record after the ServerHello of TLS 1.3.
func (s *session) clearIn13(w *way, rec []byte) {
	switch {
	case rec[0] == typeChangeCipher: // for middleboxes
	case rec[0] == typeAlert && w.seq == 0:
		s.alert(w, rec[recordHead:])
	case rec[0] == typeHandshake && w.seq == 0: // the second ClientHello, after a HelloRetryRequest
	default:
		s.failed(w, len(rec), "TLS, an unencrypted record among encrypted ones")
	}
}

// sealedRecord reads an encrypted record.
func (s *session) sealedRecord(w *way, rec []byte) {
	plain, at, ok := s.decrypt(w, rec)
	if !ok {
		switch {
		case s.version == version13 && w.dir == s.client && s.hello.early && !w.application && w.seq == 0 && s.layer.work >= followingCost:
			s.notice(w, transport.Opaque, len(rec), "TLS, early data (0-RTT) is not decrypted")
		case s.version == version13 && w.keys == nil && s.layer.work >= followingCost: // until a record fits the secret of the application
			s.notice(w, transport.Opaque, len(rec), "TLS, not decrypted: the key log lacks the secret of the handshake")
		case w.seq == 0 && !w.application && w.failures == 0 && w.lost == 0:
			s.close(w)
			s.unopen(w, fmt.Sprintf("TLS, the keys for client random %x do not fit", s.hello.random))
			s.record(w, rec)
		default:
			w.seq++ // lost, if it was a record of the stream
			w.lost = transport.Unknown
			s.failed(w, len(rec), "TLS, a record fails authentication")
		}
		return
	}
	w.failures = 0
	kind := rec[0]
	if s.version == version13 { // content, its type, padding of zeros
		n := len(plain) - 1
		for n >= 0 && plain[n] == 0 {
			n--
		}
		if n < 0 {
			s.failed(w, len(rec), "TLS, a record has no content type")
			return
		}
		kind, plain = plain[n], plain[:n]
	}
	switch kind {
	case typeData:
		s.give(w, plain, at)
	case typeHandshake:
		s.handshake(w, plain)
	case typeAlert:
		s.alert(w, plain)
	case typeChangeCipher:
		if s.version == version12 { // renegotiated
			s.seal12(w)
		}
	}
}

// decrypt decrypts a record with the keys of the direction, or with those that follow them, if the message that announces them was lost or is
// encrypted with an unknown secret.
func (s *session) decrypt(w *way, rec []byte) (plain []byte, at int, ok bool) {
	if w.keys != nil {
		if plain, at, ok = w.keys.open(s.layer.plain[:], w.seq, rec); ok {
			w.seq++
			return plain, at, true
		}
	}
	secret := s.following(w)
	if secret == nil || s.layer.work < followingCost {
		return nil, 0, false
	}
	s.layer.work -= followingCost
	keys := protect13(s.suite, secret)
	if plain, at, ok = keys.open(s.layer.plain[:], 0, rec); ok {
		w.use(keys, secret)
		w.seq = 1
	}
	return plain, at, ok
}

// following returns the secret of TLS 1.3 that comes after that of the current keys, nil if it is unknown or there is none.
func (s *session) following(w *way) []byte {
	switch {
	case s.version != version13:
		return nil
	case !w.application && w.dir == s.client:
		return s.layer.secret(s.hello.random, clientTraffic)
	case !w.application:
		return s.layer.secret(s.hello.random, serverTraffic)
	}
	return expand13(s.suite, w.secret, "traffic upd", len(w.secret))
}

// use switches to the following keys of TLS 1.3.
func (w *way) use(keys *protection, secret []byte) {
	w.keys, w.secret, w.seq, w.application = keys, secret, 0, true
}

// handshake reads handshake data.
func (s *session) handshake(w *way, data []byte) {
	w.messages.take(data, func(kind byte, body []byte) {
		switch kind {
		case clientHello:
			if h, ok := readHello(kind, body); ok && w.dir == s.client {
				h.early = h.early || s.hello.early // the second ClientHello, after a HelloRetryRequest, has no early data
				s.hello, s.greeted = h, true
			}
		case serverHello:
			if h, ok := readHello(kind, body); ok && w.dir != s.client {
				s.answered(h)
			}
		case encryptedExtensions:
			s.early = s.early || s.version == version13 && w.dir != s.client && hasEarly(body)
		case finished, keyUpdate:
			if s.version == version13 && w.state == sealed && w.application == (kind == keyUpdate) {
				s.advance(w)
			}
		}
	})
}

// advance switches to the following keys, which a message has announced.
func (s *session) advance(w *way) {
	secret := s.following(w)
	if secret == nil {
		s.close(w)
		s.unopen(w, fmt.Sprintf("TLS, the key log lacks the traffic secret of this direction for client random %x", s.hello.random))
		return
	}
	w.use(protect13(s.suite, secret), secret)
}

// answered takes a ServerHello.
func (s *session) answered(h hello) {
	if h.random == retryRandom {
		s.retried = true
		return
	}
	if s.version == version13 {
		return // there is no renegotiation
	}
	s.answer, s.version, s.unreadable = h, h.version, ""
	switch {
	case !s.greeted:
		s.unreadable = "TLS, its ClientHello cannot be read"
	case h.version == version13:
		s.suite = suites13[h.suite]
	case h.version == version12 && h.packed:
		s.unreadable = "TLS, compression is not supported"
	case h.version == version12:
		s.suite = suites12[h.suite]
	case h.version < version12:
		s.unreadable = fmt.Sprintf("TLS, version %d.%d of the protocol (%#04x) is not supported", 1, int(h.version)-0x0301, h.version)
	default:
		s.unreadable = fmt.Sprintf("TLS, version %#04x is not supported", h.version)
	}
	if s.unreadable == "" && s.suite == nil {
		s.unreadable = fmt.Sprintf("TLS, cipher suite 0x%04x is not supported", h.suite)
	}
	if h.version == version13 {
		s.seal13(&s.ways[schema.ToServer])
		s.seal13(&s.ways[schema.ToClient])
	}
}

// noKeys is the reason if the secrets of the connection are unknown.
func (s *session) noKeys() string {
	return fmt.Sprintf("TLS, no keys for this connection: client random %x", s.hello.random)
}

// seal13 begins the encrypted part of a direction of TLS 1.3. The secrets of the handshake may be unknown if those of the application are
// not.
func (s *session) seal13(w *way) {
	if w.state != inClear {
		return
	}
	purpose := serverHandshake
	if w.dir == s.client {
		purpose = clientHandshake
	}
	secret := s.layer.secret(s.hello.random, purpose)
	switch {
	case s.unreadable != "":
		s.unopen(w, s.unreadable)
	case secret == nil && s.following(w) == nil:
		s.unopen(w, s.noKeys())
	case s.seal(w) && secret != nil:
		w.keys, w.secret = protect13(s.suite, secret), secret
	}
}

// keys12 derives the keys of a direction of TLS 1.2; nil if they are unknown.
func (s *session) keys12(w *way) *protection {
	master := s.layer.secret(s.hello.random, masterSecret)
	if s.unreadable != "" || s.version != version12 || master == nil {
		return nil
	}
	return protect12(s.suite, master, s.hello.random, s.answer.random, w.dir == s.client, s.answer.macBehind && s.suite.kind == aesCBC)
}

// seal12 begins the encrypted part of a direction of TLS 1.2, after a ChangeCipherSpec.
func (s *session) seal12(w *way) {
	keys := s.keys12(w)
	switch {
	case s.unreadable != "":
		s.unopen(w, s.unreadable)
	case keys == nil:
		s.unopen(w, s.noKeys())
	case s.seal(w):
		w.keys, w.seq = keys, 0
	}
}

// seal counts a direction that is decrypted, and reports whether that is possible.
func (s *session) seal(w *way) bool {
	if !w.counted {
		if s.layer.open >= maxOpen {
			s.unopen(w, "TLS, too many connections are decrypted at once")
			return false
		}
		w.counted = true
		s.layer.open++
	}
	w.state = sealed
	return true
}

// close releases the keys of a direction.
func (s *session) close(w *way) {
	w.keys, w.secret = nil, nil
	if w.counted {
		w.counted = false
		s.layer.open--
	}
}

func (s *session) unopen(w *way, why string) { w.state, w.why, w.told = unopened, why, false }

// stop gives up reading records of a direction.
func (s *session) stop(w *way, why string) {
	s.close(w)
	w.seeking = false
	w.state, w.why, w.told = bytewise, why, false
}

// alert reads an alert: a level, 2 if fatal, and a description.
func (s *session) alert(w *way, body []byte) {
	const closeNotify, fatal, canceled = 0, 2, 90
	if len(body) != 2 {
		return
	}
	ends := body[1] == closeNotify || body[0] == fatal || s.version == version13 && body[1] != canceled
	if body[1] != closeNotify {
		s.notice(w, transport.Control, 0, fmt.Sprintf("TLS alert: %s (%d)", alertName(body[1]), body[1]))
	}
	if ends {
		s.finish(w, w.packet())
		s.stop(w, "TLS, bytes after the end of the session")
	}
}

// arrival returns the time at which the next size bytes were complete.
func (w *way) arrival(size int) time.Time {
	end := w.offset + int64(w.next+size)
	for _, p := range w.pieces {
		if p.at+int64(p.Len) >= end {
			return p.when
		}
	}
	return time.Time{}
}

// waits reports whether records wait for the ServerHello, or until one is found after a gap.
func (w *way) waits() bool {
	rest := w.buf[w.next:]
	return len(rest) >= recordHead && (w.seeking || len(rest) >= recordHead+int(binary.BigEndian.Uint16(rest[3:])))
}

// packet returns the number of the packet with the next byte, 0 if there is none.
func (w *way) packet() uint32 {
	for _, p := range w.pieces {
		if p.at+int64(p.Len) > w.offset+int64(w.next) {
			return p.Packet
		}
	}
	return 0
}

// give passes the plaintext of a record to the transport, in a segment for each packet that the record is in. at is the offset of its
// ciphertext in the record, which starts at w.next.
func (s *session) give(w *way, plain []byte, at int) {
	if len(plain) == 0 {
		return
	}
	if w.dir == s.client && s.early && !w.started {
		w.lost = transport.Unknown // the early data
	}
	start := w.offset + int64(w.next+at)
	end := start + int64(len(plain))
	when := w.arrival(recordHead + int(binary.BigEndian.Uint16(w.buf[w.next+3:])))
	for _, p := range w.pieces {
		from, to := max(p.at, start), min(p.at+int64(p.Len), end)
		if from >= to {
			continue
		}
		seg := transport.Segment{Dir: w.dir, At: when, Packet: p.Packet, Off: p.Off + uint32(from-p.at)}
		if w.lost != 0 {
			gap := seg
			gap.Lost, gap.Start = w.lost, !w.started
			w.lost, w.started = 0, true
			s.inner.Feed(gap, s.emit)
		}
		seg.Bytes, seg.Start = plain[from-start:to-start], !w.started
		w.started = true
		if s.clear != nil {
			s.clear(transport.Clear{Dir: w.dir, Packet: seg.Packet, Off: seg.Off, Bytes: seg.Bytes})
		}
		s.inner.Feed(seg, s.emit)
	}
}

// finish ends a direction for the transport.
func (s *session) finish(w *way, packet uint32) {
	if w.ended {
		return
	}
	w.ended = true
	if !w.started && (w.state == unopened || w.state == bytewise || w.state == inClear) {
		return // the transport has seen nothing of it
	}
	seg := transport.Segment{Dir: w.dir, At: s.at, Packet: packet}
	if w.lost != 0 {
		gap := seg
		gap.Lost, gap.Start = w.lost, !w.started
		w.lost, w.started = 0, true
		s.inner.Feed(gap, s.emit)
	}
	seg.Start, seg.End = !w.started, true
	w.started = true
	s.inner.Feed(seg, s.emit)
}

// end ends a direction with its TCP stream.
func (s *session) end(w *way, packet uint32) {
	s.rest(w)
	s.finish(w, packet)
	s.close(w)
	s.read(&s.ways[transport.Opposite(w.dir)]) // it need not wait any longer
}

// rest reports the bytes that do not make a record.
func (s *session) rest(w *way) {
	if n := len(w.buf) - w.next; n > 0 {
		note := fmt.Sprintf("TLS, the stream ends inside a record: %d bytes are present", n)
		switch {
		case w.seeking:
			note = "TLS, no record is found after a gap"
		case w.state == inClear && n > recordHead && n >= recordHead+int(binary.BigEndian.Uint16(w.buf[w.next+3:])):
			note = "TLS, without its ServerHello"
		case n >= recordHead:
			note = fmt.Sprintf("TLS, the stream ends inside a record: %d of %d bytes are present", n, recordHead+int(binary.BigEndian.Uint16(w.buf[w.next+3:])))
		}
		s.notice(w, transport.Problem, n, note)
		w.next = len(w.buf)
		w.compact()
	}
}

// flush reports the end of the capture.
func (s *session) flush(at time.Time, emit func(*transport.Frame)) {
	s.emit, s.at = emit, at
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
		w := &s.ways[dir]
		s.rest(w)
		s.close(w)
		s.count(w)
	}
}

// failed reports a record that cannot be used, and gives up after some.
func (s *session) failed(w *way, size int, note string) {
	s.notice(w, transport.Problem, size, note)
	if w.failures++; w.failures >= maxFailures {
		s.stop(w, "TLS, not decrypted any further")
	}
}

// opaque emits the next bytes as a frame that cannot be decrypted. The first one has the reason.
func (s *session) opaque(w *way, size int) {
	note := "TLS, not decrypted"
	if !w.told {
		note, w.told = w.why, true
	}
	s.notice(w, transport.Opaque, size, note)
}

// notice emits a frame of the next size bytes; without any, of the place where they are.
func (s *session) notice(w *way, kind transport.Kind, size int, note string) {
	f := &s.frame
	at := s.at
	if size > 0 {
		at = w.arrival(size)
	}
	*f = transport.Frame{Kind: kind, Dir: w.dir, At: at, Bytes: w.buf[w.next : w.next+size : w.next+size], From: f.From[:0], Via: via, Offset: transport.Unknown, Note: note}
	start := w.offset + int64(w.next)
	end := start + int64(size)
	for _, p := range w.pieces {
		from, to := max(p.at, start), min(p.at+int64(p.Len), end)
		if from < to || size == 0 && p.at <= start && start < p.at+int64(p.Len) {
			f.From = append(f.From, transport.Source{Packet: p.Packet, Off: p.Off + uint32(from-p.at), Len: uint32(max(to-from, 0))})
		}
	}
	s.emit(f)
}
