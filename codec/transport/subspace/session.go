package subspace

import (
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// session is the state established by the handshake.
type session struct {
	hasInit   bool // a client's init was seen
	clientKey uint32
	version   uint16
	answered  bool // a server's key was seen
	serverKey uint32
	offered   bool // Continuum's keys were seen
	offerKey  uint32
	used      bool // more than a handshake was seen
	ended     bool // a disconnect was seen

	// An init inside a session. Anyone can send one with the client's address, and a server does not answer the first one but ends the
	// session; so it takes effect only when a server answers it.
	again        bool
	againKey     uint32
	againVersion uint16
}

// forgotten is the time of silence after which a server has discarded a client's session: its next init begins another one, without a
// disconnect.
const forgotten = 30 * time.Second

// How long to wait for the answer to an init inside a session. Clients retry after a second.
const (
	answerTime  = 5 * time.Second
	answerAfter = 64 // datagrams
	maxWishes   = 8
)

// wishes are inits inside a session, all with the same key. They belong to the next session if the server answers them, otherwise to this
// one; until that is known they are stored.
type wishes struct {
	kept  []transport.Segment
	since int // datagrams since
}

// ownNegation is the key that is its own negation: a server that negates it encrypts, but the client takes it for no cipher.
const ownNegation = 1 << 31

// datagram reads a received datagram.
func (t *Transport) datagram(w *way, data []byte) {
	if x := &t.wishes; len(x.kept) > 0 {
		if x.since++; x.since > answerAfter || t.at.Sub(x.kept[0].At) > answerTime {
			t.refused()
		}
	}
	switch {
	case t.mode == info:
		t.infoPort(w, data)
	case t.mode == announce:
		t.announcement(w, data)
	case t.handshake(w, data):
	case t.mode == unknown && len(t.pending.kept) == 0 && t.session.hasInit && isDisconnect(data):
		t.disconnect(w, data, t.off) // the server refuses; no cipher changes these 2 bytes
	case t.mode == unknown:
		t.hold(w, data)
	case t.mode == continuum:
		t.session.used = true
		t.opaque(w, data, innerSize(data))
	case t.mode == closed:
		t.closed(w, data)
	default:
		t.body(w, data)
	}
}

func isDisconnect(data []byte) bool {
	return len(data) == disconnectSize && data[0] == 0 && data[1] == coreDisconnect
}

// body reads a datagram of a session whose cipher is known.
func (t *Transport) body(w *way, data []byte) {
	t.session.used = true
	if w.cipher != nil {
		if typeSize(data)+streamSize < len(data) {
			t.note = "longer than the keystream: the rest is not deciphered"
		}
		data = t.deciphered(w.cipher, data)
		if t.options.Clear != nil {
			t.options.Clear(transport.Clear{Dir: w.dir, Packet: t.packet, Off: t.off, Bytes: data})
		}
	}
	if len(data) > usualSize && t.note == "" {
		t.note = "servers cut a datagram of more than 512 or 520 bytes, or drop it"
	}
	t.read(w, data, t.off)
}

// deciphered returns a datagram in clear, valid until the next call.
func (t *Transport) deciphered(c *Cipher, data []byte) []byte {
	if c == nil {
		return data
	}
	t.buffer = slices.Grow(t.buffer[:0], len(data))[:len(data)]
	c.Decrypt(t.buffer, data)
	return t.buffer
}

// handshake reads a datagram that begins a session or belongs to the traffic between zones, and reports whether it was one. These are never
// encrypted, and Continuum's cipher never produces a datagram that looks like one.
func (t *Transport) handshake(w *way, data []byte) bool {
	if len(data) < keySize || data[0] != 0 {
		return false
	}
	toServer := w.dir == schema.ToServer
	s := &t.session
	switch {
	case data[1] == coreInit && len(data) >= peerHeader && data[versionAt] == peerMark && t.mode != continuum && t.mode != closed:
		t.settle()
		t.peer(w, data)
	case data[1] == coreInit && toServer && len(data) == initSize && data[versionAt+1] == 0:
		t.settle()
		t.init(w, data)
	case data[1] == coreKey && !toServer && len(data) == keySize && t.mode != continuum:
		return t.key(w, data)
	case data[1] == coreOffer && !toServer && len(data) >= oldOfferSize && len(data) <= offerSize:
		return t.offer(w, data)
	case data[1] == coreAccept && toServer && len(data) == acceptSize:
		key := binary.LittleEndian.Uint32(data[keyAt:])
		blank := t.mode == unknown && !s.used && !s.hasInit && len(t.pending.kept) == 0 // the capture begins after the offer
		if !blank && (t.mode != continuum || key != s.offerKey) {
			return false
		}
		if blank {
			s.offered, s.offerKey, t.mode = true, key, continuum
		}
		t.control(w, data, t.off, "")
	default:
		return false
	}
	return true
}

// init reads a client's request for a session.
//
// It begins another session if the previous one was disconnected, if the client has been silent for so long that servers have forgotten it,
// if the session's cipher cannot be read, or if only a handshake with another key has been exchanged. With the same key it is a repetition.
// Inside an active session it takes effect when the server answers it.
func (t *Transport) init(w *way, data []byte) {
	key, version := binary.LittleEndian.Uint32(data[keyAt:]), binary.LittleEndian.Uint16(data[versionAt:])
	s := &t.session
	silent := !w.heard.IsZero() && t.at.Sub(w.heard) >= forgotten
	note := noteVersion(version)
	switch {
	case s.hasInit && !s.ended && s.clientKey == key && s.version == version && !s.used && !silent:
		note = noteAgain
	case s.used && !s.ended && !silent && t.mode != continuum && t.mode != closed:
		if s.again && (s.againKey != key || s.againVersion != version) || len(t.wishes.kept) == maxWishes {
			t.refused()
		}
		s.again, s.againKey, s.againVersion = true, key, version
		if !t.prompt {
			t.wishes.kept = append(t.wishes.kept, t.segment(w, slices.Clone(data)))
			return
		}
		note = noteInside
	default:
		t.refused()
		t.begun(key, version)
	}
	t.control(w, data, t.off, note)
}

const (
	noteAgain  = "repeated"
	noteInside = "inside a session: the server ends that one, and begins another one only if it answers"
)

func noteVersion(version uint16) string {
	if version != versionVIE && version != versionContinuum {
		return "an undocumented version"
	}
	return ""
}

// refused emits the stored inits that the server has not answered.
func (t *Transport) refused() { t.tellWishes(noteInside, noteInside) }

// granted begins the session requested inside another one.
func (t *Transport) granted() {
	version := t.session.againVersion
	t.begun(t.session.againKey, version)
	t.tellWishes(noteVersion(version), noteAgain)
}

// tellWishes emits the stored inits, the first one with its own note.
func (t *Transport) tellWishes(first, others string) {
	x := &t.wishes
	if len(x.kept) == 0 {
		return
	}
	now := t.origin
	t.path = nil
	for _, k := range x.kept {
		t.begin(k)
		t.control(t.way(k.Dir), k.Bytes, k.Off, first)
		first = others
	}
	x.kept, x.since = x.kept[:0], 0
	t.origin = now
}

// begun starts a new session. The first frame of a session that replaces another one has Begins set; a refused request does not count as a
// session.
func (t *Transport) begun(key uint32, version uint16) {
	s := &t.session
	another := s.answered || s.offered || s.used
	path := t.path
	t.path = t.path[:0]
	t.abandon("when another session began")
	t.path = path
	t.restart()
	s.hasInit, s.clientKey, s.version = true, key, version
	t.begins = another
	t.mode = unknown
	t.pending = pending{}
}

// key reads a server's answer and sets the cipher.
func (t *Transport) key(w *way, data []byte) bool {
	key := binary.LittleEndian.Uint32(data[keyAt:])
	s := &t.session
	if !s.hasInit {
		t.settle()
	}
	if s.again && (key == s.againKey || key == 0 || key == -s.againKey) {
		t.granted()
	}
	switch {
	case s.answered && key == s.serverKey:
		t.control(w, data, t.off, "repeated")
		return true
	case s.answered:
		t.control(w, data, t.off, "a different key than before: ignored")
		return true
	case !s.hasInit && s.used:
		t.control(w, data, t.off, "an unsolicited key: ignored")
		return true
	}
	s.answered, s.serverKey, s.ended = true, key, false // the session that ended may have been the previous one
	note := ""
	switch {
	case !s.hasInit:
		// The client's key is not in the capture: the datagrams have to show which cipher the server's key means.
		t.choices(nil, key)
	case key == ownNegation && s.clientKey == key:
		note = "this key is its own negation: a server that negates it encrypts, and the client does not"
		t.mode = vie
		t.ways[1].cipher = NewCipher(key, max(t.options.Schedule, Signed))
	case key == 0 || key == s.clientKey:
		t.mode = plain
	case key == -s.clientKey:
		t.choices(keyChoices(nil, key, t.options.Schedule), 0)
	default:
		note = "neither the client's key nor its negation: some clients refuse it, others encrypt with it"
		t.choices(nil, key)
	}
	t.control(w, data, t.off, note)
	t.settleEarly()
	return true
}

// offer reads a server's keys for Continuum's cipher.
func (t *Transport) offer(w *way, data []byte) bool {
	key := binary.LittleEndian.Uint32(data[keyAt:])
	s := &t.session
	if s.again && s.againVersion == versionContinuum {
		t.granted()
	}
	switch {
	case t.mode == continuum && s.offered && s.offerKey == key:
		t.control(w, data, t.off, "repeated")
		return true
	case t.mode != unknown || s.answered || s.used || !s.hasInit && len(t.pending.kept) > 0:
		return false
	}
	t.settle()
	s.offered, s.offerKey, t.mode = true, key, continuum
	t.control(w, data, t.off, "")
	return true
}

// innerSize returns the note on a datagram in Continuum's cipher: the length of the packet in it. The cipher puts a CRC of one byte before
// it, and another byte if the result would look like a handshake. Source: spec of the core protocol, section 7.
func innerSize(data []byte) string {
	n := len(data) - 1
	if len(data) >= 2 && data[0] == 0xFF && (data[1] == 0 || data[1] == 0xFF) {
		n--
	}
	if n = max(n, 0); n < len(continuumNotes) {
		return continuumNotes[n]
	}
	return continuumNote(n)
}

// continuumNotes are the notes on datagrams of usual sizes.
var continuumNotes = func() (notes [usualSize + 1]string) {
	for i := range notes {
		notes[i] = continuumNote(i)
	}
	return notes
}()

func continuumNote(n int) string {
	return "encrypted by Continuum; about " + strconv.Itoa(n) + " bytes inside"
}
