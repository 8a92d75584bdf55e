package subspace

import (
	"bytes"
	"encoding/binary"
	"slices"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Limits of the datagrams stored until the cipher is determined.
const (
	maxKept      = 192
	maxKeptBytes = 96 << 10
	maxRecovery  = 8 // attempts to recover the key while datagrams are stored, and as many after that
)

// plausibleSequence bounds the numbers of reliable packets that are accepted while it is unknown whether they are deciphered: one in 4096
// random numbers is below. No known session reaches it: that would take months of typical play.
const plausibleSequence = 1 << 20

// pending holds the datagrams that cannot be read yet, and the evidence from them.
type pending struct {
	kept    []transport.Segment
	size    int // bytes of kept
	choices []choice
	tried   int // attempts to recover the key
	clues   clues
	opaque  int  // datagrams that occur in neither plain nor VIE sessions
	named   bool // the choices are from a handshake or the options, not only the plain one
}

// choice is a possible cipher, with the number of datagrams for and against it.
type choice struct {
	cipher  *Cipher // nil: plain
	good    int
	against int
}

// keyChoices appends the ciphers of a key.
func keyChoices(to []choice, key uint32, schedule Schedule) []choice {
	if schedule != Unsigned || key <= modulus {
		to = append(to, choice{cipher: NewCipher(key, Signed)})
	}
	if schedule != Signed && key > modulus {
		to = append(to, choice{cipher: NewCipher(key, Unsigned)})
	}
	return to
}

// choices sets the possible ciphers: the given ones, or, if there are none, plain and the ciphers of a key.
func (t *Transport) choices(ways []choice, key uint32) {
	if ways == nil {
		ways = []choice{{}}
		if key != 0 {
			ways = keyChoices(ways, key, t.options.Schedule)
		}
	}
	p := &t.pending
	p.choices, p.named = ways, true
	if len(ways) == 1 {
		t.choose(ways[0].cipher)
		return
	}
	for _, k := range p.kept {
		t.weigh(k.Bytes)
	}
}

// choose sets the cipher of the session.
func (t *Transport) choose(c *Cipher) {
	t.mode = plain
	if c != nil {
		t.mode = vie
	}
	for i := range t.ways {
		t.ways[i].cipher = c
	}
}

// verdict returns 1 if a deciphered datagram looks right, -1 if the key must be wrong, and 0 if undecided.
func verdict(data []byte) int {
	if len(data) < reliableHeader || data[0] != 0 {
		return 0
	}
	right := false
	switch data[1] {
	case coreReliable:
		right = uint32(number(data)) < plausibleSequence
	case coreAck:
		right = len(data) == ackSize && uint32(number(data)) < plausibleSequence
	case coreCluster:
		right = clusterFits(data)
	default:
		return 0
	}
	if right {
		return 1
	}
	return -1
}

// clusterFits reports whether the lengths in a cluster match its size, and acks in it have the size of acks.
func clusterFits(data []byte) bool {
	at := clusterHeader
	for at < len(data) {
		size := int(data[at])
		item := data[at+1:]
		if size == 0 || size > len(item) {
			return false
		}
		if item = item[:size]; size >= ackSize && item[0] == 0 && (item[1] == coreReliable || item[1] == coreAck) &&
			uint32(number(item)) >= plausibleSequence {
			return false
		}
		at += 1 + size
	}
	return true
}

// hold stores a datagram, and chooses the cipher if the evidence now suffices.
func (t *Transport) hold(w *way, data []byte) {
	p := &t.pending
	w.count-- // counted when it is read
	if p.choices == nil {
		switch {
		case t.session.hasInit:
			// The server's answer is not in the capture: it was the client's key, or its negation.
			t.choices(nil, -t.session.clientKey)
		case t.options.HasKey && t.options.Key != 0:
			t.choices(keyChoices(nil, t.options.Key, t.options.Schedule), 0)
		case t.options.HasKey:
			p.named = true
			t.choose(nil)
		default:
			p.choices = append(p.choices, choice{})
		}
	}
	p.kept = append(p.kept, t.segment(w, slices.Clone(data)))
	p.size += len(data)
	if t.elsewhere(w, data) {
		t.replay()
		return
	}
	t.weigh(data)
	t.settleEarly()
	if len(p.kept) >= maxKept || p.size >= maxKeptBytes {
		t.release(false)
	}
}

// weigh updates the evidence with a datagram.
func (t *Transport) weigh(data []byte) {
	p := &t.pending
	if len(data) > 0 && data[0] >= typesEnd {
		p.opaque++
	}
	for i := range p.choices {
		c := &p.choices[i]
		switch verdict(t.deciphered(c.cipher, data)) {
		case 1:
			c.good++
		case -1:
			c.against++
		}
	}
	if c := p.recover(data, !p.named && p.choices[0].against > 0); c != nil {
		p.choices = append(p.choices, choice{cipher: c, good: 2})
		p.named = true
	}
}

// recover takes the clues of an encrypted datagram, and returns the cipher if they suffice for its key. It may try.
func (p *pending) recover(data []byte, may bool) *Cipher {
	clue := p.clues.take(data)
	if may && p.tried < maxRecovery && isAckCluster(data) && !clusterFits(data) {
		p.tried++
		if c, found := Recover(data); found {
			return c
		}
	}
	if may && p.tried < maxRecovery && clue {
		p.tried++
		if c, found := p.clues.recover(); found {
			return c
		}
	}
	return nil
}

// settleEarly chooses the cipher if the evidence suffices.
func (t *Transport) settleEarly() {
	p := &t.pending
	if t.mode != unknown {
		t.replay()
		return
	}
	enough := 2
	if p.named {
		enough = 1
	}
	for i := range p.choices {
		if c := &p.choices[i]; c.good >= enough && c.good > 3*c.against && !p.rivals(i) {
			t.choose(c.cipher)
			t.replay()
			return
		}
	}
}

// rivals reports whether another choice is as good as choice i.
func (p *pending) rivals(i int) bool {
	for k := range p.choices {
		if k != i && p.choices[k].good-p.choices[k].against >= p.choices[i].good-p.choices[i].against {
			return true
		}
	}
	return false
}

// settle reads the stored datagrams before an event that ends their session.
func (t *Transport) settle() {
	if t.mode == unknown && len(t.pending.kept) > 0 {
		now := t.origin
		t.release(true)
		t.origin = now
	}
}

// release chooses the most likely cipher and reads the stored datagrams. last reports the end of the input.
func (t *Transport) release(last bool) {
	p := &t.pending
	if t.mode != unknown || len(p.kept) == 0 {
		return
	}
	best := 0
	for i := range p.choices {
		if p.choices[i].good-p.choices[i].against > p.choices[best].good-p.choices[best].against {
			best = i
		}
	}
	c := p.choices[best]
	switch {
	case last && t.isInfoAlone():
		t.mode = info
	case !p.named && (c.against > c.good || p.opaque > 3 && 2*p.opaque > len(p.kept)):
		t.mode = closed
	default:
		t.choose(c.cipher)
	}
	t.replay()
}

// replay reads the stored datagrams.
func (t *Transport) replay() {
	all := t.pending.kept
	if len(all) == 0 {
		return
	}
	now := t.origin
	t.pending = pending{}
	for _, k := range all {
		w := t.way(k.Dir)
		w.count++
		t.begin(k)
		t.datagram(w, k.Bytes)
		t.overdue()
	}
	t.origin = now
}

// segment returns the current datagram.
func (t *Transport) segment(w *way, data []byte) transport.Segment {
	return transport.Segment{Dir: w.dir, At: t.at, Packet: t.packet, Off: t.off, Bytes: data, Lost: t.lost}
}

// closed emits a datagram that is encrypted with an unknown key, and tries to recover the key.
func (t *Transport) closed(w *way, data []byte) {
	if c := t.pending.recover(data, true); c != nil {
		t.choose(c)
		t.body(w, data)
		return
	}
	t.session.used = true
	t.opaque(w, data, "encrypted, and the handshake is not in the capture")
}

// elsewhere recognises protocols other than the core protocol by the first datagrams.
func (t *Transport) elsewhere(w *way, data []byte) bool {
	if t.session.hasInit || t.session.answered {
		return false
	}
	p := &t.pending
	if w.dir != schema.ToClient {
		if len(p.kept) == 1 && isAnnouncement(data) {
			t.mode = announce
			return true
		}
		return false
	}
	for i := len(p.kept) - 2; i >= 0 && i >= len(p.kept)-9; i-- {
		if k := p.kept[i]; k.Dir != schema.ToClient && isInfoAnswer(k.Bytes, data) {
			t.mode = info
			return true
		}
	}
	return false
}

// isInfoAlone reports whether all stored datagrams are requests to an info port.
func (t *Transport) isInfoAlone() bool {
	p := &t.pending
	if t.session.hasInit || t.session.answered {
		return false
	}
	for _, k := range p.kept {
		if k.Dir == schema.ToClient || !isInfoQuestion(k.Bytes) {
			return false
		}
	}
	return true
}

func isInfoQuestion(data []byte) bool {
	core := len(data) > 1 && data[0] == 0 && data[1] != 0 && data[1] <= coreExpanded
	return len(data) == pingSize && !core || len(data) == askSize && binary.LittleEndian.Uint32(data[askBitsAt:]) <= askAll
}

func isInfoAnswer(question, answer []byte) bool {
	switch {
	case len(question) == pingSize:
		return len(answer) == pongSize && bytes.Equal(answer[pongTimeAt:], question)
	case len(question) >= askSize:
		return len(answer) >= summaryHeader && bytes.Equal(answer[:4], question[:4]) && binary.LittleEndian.Uint32(answer[4:]) <= askAll
	}
	return false
}

// groupOf returns the group of a session's messages, from the first one to the server: a login for games, a request for the list of zones
// for a directory, a zone's introduction for a biller. Source: spec of the core protocol, section 9.
func groupOf(first []byte) string {
	switch {
	case first[0] == 0x01 && len(first) == 5:
		return "directory"
	case first[0] == 0x02 && len(first) == 173:
		return "biller"
	}
	return "game"
}
