package subspace

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Limits of the datagrams stored until the cipher is determined.
const (
	maxKept      = 192
	maxKeptBytes = 96 << 10
	maxRecovery  = 8 // clusters from which recovery of the key is tried while datagrams are stored
	maxLater     = 8 // after that
)

// plausibleSequence bounds the numbers of reliable packets that are accepted while it is unknown whether they are deciphered: one in 4096
// random numbers is below. No known session reaches it: that would take months of typical play.
const plausibleSequence = 1 << 20

// pending holds the datagrams that cannot be read yet, and the evidence from them.
type pending struct {
	kept    []kept
	room    []byte // backing array of their bytes
	choices []choice
	tried   int // clusters tried
	later   int
	clues   clues
	opaque  int  // datagrams that occur in neither plain nor VIE sessions
	named   bool // the choices are from a handshake or the options, not only the plain one
}

// kept is a stored datagram.
type kept struct {
	dir      schema.Dir
	at       time.Time
	packet   uint32
	off      uint32
	lost     int64
	from, to int // range in room
}

// choice is a possible cipher, with the number of datagrams for and against it.
type choice struct {
	cipher  *Cipher // nil: plain
	good    int
	against int
}

func (p *pending) reset() {
	*p = pending{kept: p.kept[:0], room: p.room[:0]}
	if cap(p.room) > keepRoom {
		p.room, p.kept = nil, nil
	}
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
		t.weigh(p.room[k.from:k.to])
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
	w.figures.Datagrams-- // counted when it is read
	w.figures.Bytes -= int64(len(data))
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
	p.kept = append(p.kept, kept{w.dir, t.at, t.packet, t.off, t.lost, len(p.room), len(p.room) + len(data)})
	p.room = append(p.room, data...)
	if t.elsewhere(w, data) {
		t.replay()
		return
	}
	t.weigh(data)
	t.settleEarly()
	if len(p.kept) >= maxKept || len(p.room) >= maxKeptBytes {
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
		seen := data
		if c.cipher != nil {
			seen = t.deciphered(c.cipher, data)
		}
		switch verdict(seen) {
		case 1:
			c.good++
		case -1:
			c.against++
		}
	}
	if !p.named && p.tried < maxRecovery && p.choices[0].against > 0 && isAckCluster(data) && !clusterFits(data) {
		p.tried++
		if c, found := Recover(data); found {
			p.choices = append(p.choices, choice{cipher: c, good: 2})
			p.named = true
		}
	}
	if p.clues.take(data) && !p.named && p.tried < maxRecovery && p.choices[0].against > 0 {
		p.tried++
		if c, found := p.clues.recover(); found {
			p.choices = append(p.choices, choice{cipher: c, good: 2})
			p.named = true
		}
	}
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
		seg, lost, end := transport.Segment{At: t.at, Packet: t.packet, Off: t.off}, t.lost, t.end
		t.release(true)
		t.begin(seg)
		t.lost, t.end = lost, end
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
	p := &t.pending
	if len(p.kept) == 0 {
		return
	}
	now, lost, end := transport.Segment{At: t.at, Packet: t.packet, Off: t.off}, t.lost, t.end
	all, room := p.kept, p.room
	p.reset()
	p.kept, p.room = nil, nil
	for _, k := range all {
		w, data := t.way(k.dir), room[k.from:k.to:k.to]
		seg := transport.Segment{Dir: k.dir, At: k.at, Packet: k.packet, Off: k.off, Bytes: data, Lost: k.lost}
		w.figures.count(seg)
		t.begin(seg)
		t.datagram(w, data)
		t.overdue()
	}
	t.begin(now)
	t.lost, t.end = lost, end
}

// closed emits a datagram that is enciphered with an unknown key, and tries to recover the key.
func (t *Transport) closed(w *way, data []byte) {
	if t.pending.later < maxLater && isAckCluster(data) {
		t.pending.later++
		if c, found := Recover(data); found {
			t.choose(c)
			t.body(w, data)
			return
		}
	}
	if t.pending.clues.take(data) && t.pending.later < maxLater {
		t.pending.later++
		if c, found := t.pending.clues.recover(); found {
			t.choose(c)
			t.body(w, data)
			return
		}
	}
	t.session.used = true
	t.opaque(w, data, "enciphered, and the handshake is not in the capture")
}

// elsewhere recognises protocols other than the core protocol by the first datagrams.
func (t *Transport) elsewhere(w *way, data []byte) bool {
	if t.options.Port != AnyPort || t.session.hasInit || t.session.answered {
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
		if k := p.kept[i]; k.dir != schema.ToClient && isInfoAnswer(p.room[k.from:k.to], data) {
			t.mode = info
			return true
		}
	}
	return false
}

// isInfoAlone reports whether all stored datagrams are requests to an info port.
func (t *Transport) isInfoAlone() bool {
	p := &t.pending
	if t.options.Port != AnyPort || t.session.hasInit || t.session.answered {
		return false
	}
	for _, k := range p.kept {
		if data := p.room[k.from:k.to]; k.dir == schema.ToClient || !isInfoQuestion(data) {
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

// Recognise rates how likely the first datagrams of a UDP pair are SubSpace traffic, from 0 (not) to 100: a complete handshake is 100, core
// packets in the middle of a session less. Source: spec of the core protocol, section 15.
func Recognise(first []transport.Segment) int {
	var acks, reliable, core, game, syncs, answers int
	var client []byte
	numbers := map[int32]bool{}
	for _, seg := range first[:min(len(first), maxKept)] {
		data := seg.Bytes
		toClient := seg.Dir == schema.ToClient
		switch {
		case len(data) < 2 || data[0] != 0:
			if len(data) > 0 && data[0] < typesEnd {
				game++
			}
			continue
		case !toClient && data[1] == coreInit && len(data) == initSize && data[versionAt+1] == 0 &&
			(data[versionAt] == versionVIE || data[versionAt] == versionContinuum):
			client = data
			continue
		case toClient && client != nil && data[1] == coreKey && len(data) == keySize:
			key, sent := binary.LittleEndian.Uint32(data[keyAt:]), binary.LittleEndian.Uint32(client[keyAt:])
			if key == sent || key == -sent || key == 0 {
				return 100
			}
		case toClient && client != nil && data[1] == coreOffer && len(data) >= oldOfferSize && len(data) <= offerSize:
			return 100
		}
		switch {
		case data[1] == coreReliable && len(data) > reliableHeader:
			reliable++
			numbers[number(data)] = true
			core++
		case data[1] == coreAck && len(data) == ackSize:
			if core++; numbers[number(data)] {
				acks++ // the same under VIE: equal plain text gives equal cipher text
			}
		case data[1] == coreSync && len(data) == syncSize:
			syncs++
			core++
		case data[1] == coreSyncAnswer && len(data) == syncAnswerSize:
			if core++; syncs > 0 {
				answers++
			}
		case data[1] == coreCluster && len(data) >= clusterHeader+2:
			core++
		}
	}
	switch {
	case acks > 1 || acks+answers > 1:
		return 90
	case client != nil:
		return 60
	case len(first) > 0 && 2*core >= len(first) && core > 3:
		return 50
	case len(first) > 0 && core > 1 && 10*(core+game) >= 9*len(first):
		return 30
	}
	return 0
}

// continuumNotes are notes on Continuum's datagrams.
var continuumNotes = func() (notes sizeNotes) {
	for i := range notes {
		notes[i] = continuumNote(i)
	}
	return notes
}()

func continuumNote(n int) string {
	return "enciphered by Continuum; about " + strconv.Itoa(n) + " bytes inside"
}
