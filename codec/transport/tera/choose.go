package tera

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Limits of the data retained until the connection is classified.
const (
	maxPending         = 256 << 10 // bytes, in both directions
	maxPendingSegments = 4096
	maxProbe           = 64 << 10 // bytes of a stream without a start in which messages are searched
	enough             = 12       // bits of evidence (see evidence) that decide for or against messages
	minCode            = 0x400    // lowest plausible code: codes are random numbers, other words are small
)

// Codes that are the same in all versions: the first messages of client and server.
const (
	checkVersionCode       = 19900 // C_CHECK_VERSION
	checkVersionAnswerCode = 19901 // S_CHECK_VERSION
)

// pending holds the segments received before the connection was classified.
type pending struct {
	segments []transport.Segment // without Bytes
	ends     []int               // end of each segment in bytes
	bytes    []byte
	off      uint32 // payload offset at which the last segment would continue
	fresh    int    // bytes of the segment being fed
}

// keep stores a copy of a segment.
func (t *Transport) keep(seg transport.Segment) {
	p := &t.pending
	off := seg.Off + uint32(len(seg.Bytes))
	p.bytes = append(p.bytes, seg.Bytes...)
	p.fresh = len(seg.Bytes)
	seg.Bytes = nil
	if n := len(p.segments); n > 0 && seg.Lost == 0 {
		last := &p.segments[n-1]
		if last.Dir == seg.Dir && last.Packet == seg.Packet && last.At.Equal(seg.At) && p.off == seg.Off && !last.End {
			// The segment continues the same packet.
			last.End, p.ends[n-1], p.off = seg.End, len(p.bytes), off
			return
		}
	}
	p.off = off
	p.segments = append(p.segments, seg)
	p.ends = append(p.ends, len(p.bytes))
}

// first returns the time of the first stored segment, or at if there is none.
func (p *pending) first(at time.Time) time.Time {
	if len(p.segments) > 0 {
		return p.segments[0].At
	}
	return at
}

// full reports whether the limit of stored segments is reached.
func (p *pending) full() bool {
	return len(p.bytes) >= maxPending || len(p.segments) >= maxPendingSegments
}

// again changes the mode and takes the stored segments again.
func (t *Transport) again(m mode) {
	t.mode = m
	p := t.pending
	t.pending = pending{}
	for i := range t.ways {
		t.ways[i].ended = false // the end is taken again, too
	}
	from := 0
	for i, seg := range p.segments {
		seg.Bytes = p.bytes[from:p.ends[i]]
		from = p.ends[i]
		t.take(seg)
	}
}

// decide ends the classification: the streams are read as the options say.
func (t *Transport) decide(o stream.Options) {
	t.trials = nil
	t.open(o)
	t.again(decided)
}

// hide ends the classification: the streams cannot be read.
func (t *Transport) hide(why string) {
	o := t.wired(nil)
	for i := range o.Starts {
		o.Starts[i].Opaque = why
	}
	t.decide(o)
}

// verdict is the classification of the bytes of a direction.
type verdict int8

const (
	unclear verdict = iota
	good            // messages
	weak            // began as messages, then an error or a gap
	silent          // no messages found, but the start was not captured
	bad             // not messages
)

// evidence returns how strongly a value suggests a message length, in bits: about log2 of how much more often messages have such a length
// than other bytes do, half of which would give a length above 32767.
func evidence(size int) int { return 12 - bits.Len16(uint16(size)) }

// walker follows the messages of a stream by their lengths. Its verdict depends on the bytes, not on how they are split into segments.
type walker struct {
	verdict verdict
	began   bool // a length has been read
	have    int  // bytes of head
	skip    int  // bytes of the current message still to be received
	bits    int  // evidence for messages, negative if against
	odd     bool // a code is implausible
	head    [headerSize]byte
}

// stop ends the walk at an error or after a gap. The evidence so far still counts.
func (w *walker) stop() {
	w.verdict = bad
	if w.bits >= enough/2 && !w.odd {
		w.verdict = weak
	}
}

// miss handles a gap of n bytes, negative if unknown. It reports whether the walk can continue after it.
func (w *walker) miss(n int64) bool {
	if n < 0 || n > int64(w.skip) {
		return false
	}
	w.skip -= int(n)
	return true
}

// walk takes the next bytes. o is about the connection.
func (w *walker) walk(o *Options, dir schema.Dir, data []byte) {
	for len(data) > 0 && w.verdict == unclear {
		if w.skip > 0 {
			n := min(w.skip, len(data))
			w.skip -= n
			data = data[n:]
			continue
		}
		w.head[w.have] = data[0]
		w.have++
		data = data[1:]
		size := int(binary.LittleEndian.Uint16(w.head[:]))
		switch w.have {
		case 2:
			if size < headerSize {
				w.stop()
			}
		case headerSize:
			code := binary.LittleEndian.Uint16(w.head[2:])
			first := !w.began
			w.began, w.have, w.skip = true, 0, size-headerSize
			w.bits += evidence(size)
			w.odd = w.odd || code < minCode && o.Envelope == nil
			switch {
			case first && evidence(size) > 0 && o.opens(dir, code):
				w.verdict = good
			case w.bits >= enough:
				w.verdict = good
			case w.bits <= -enough:
				w.verdict = bad
			}
		}
	}
}

// opens reports whether a first message with a code shows that a stream has messages: the version check, or any definition of another language.
func (o *Options) opens(dir schema.Dir, code uint16) bool {
	if o.Envelope != nil && o.Definitions != nil {
		return o.Definitions.Lookup(schema.Key{Dir: dir, Group: o.Envelope.States[0].Group[envelope.Way(dir)], Code: uint32(code)}) != nil
	}
	return dir == schema.ToServer && code == checkVersionCode || dir == schema.ToClient && code == checkVersionAnswerCode
}

// speaks reports whether the stream clearly began as messages.
func (w *walker) speaks() bool { return w.verdict == good || w.verdict == weak }

// likely returns the verdict at the end of the input: true if the stream, as far as it was read, looks like messages and ends with one.
func (w *walker) likely() bool {
	if w.verdict != unclear {
		return w.speaks()
	}
	return w.bits >= enough/2 || w.bits >= 0 && w.skip == 0 && w.have == 0
}

// magic is the state of recognising the first bytes of the server of an encrypted connection.
type magic struct {
	have    int // matching bytes received so far
	refuted bool
}

var magicBytes = [4]byte{1, 0, 0, 0}

// recognise classifies the connection from a segment.
func (t *Transport) recognise(w *way, seg transport.Segment) {
	if !w.begun {
		w.begun = true
		if !seg.Start {
			w.lost = true
			t.magic.refuted = t.magic.refuted || w.dir == schema.ToClient
		}
	}
	if seg.Lost != 0 {
		if w.dir == schema.ToClient {
			t.refute()
		}
		if w.walk.verdict == unclear && (w.lost || !w.walk.miss(seg.Lost)) {
			w.walk.stop()
			if w.walk.verdict != weak {
				w.walk, w.search, w.looked, w.lost = walker{}, nil, 0, true
			}
		}
	}
	data := seg.Bytes
	for w.dir == schema.ToClient && !t.magic.refuted && len(data) > 0 {
		if data[0] != magicBytes[t.magic.have] {
			t.refute()
			break
		}
		data = data[1:]
		if t.magic.have++; t.magic.have == len(magicBytes) {
			for i := range t.ways {
				t.ways[i].probed()
			}
			t.again(handshake)
			return
		}
	}
	t.probe(w, data)
	w.ended = seg.End
	a, b := &t.ways[0].walk, &t.ways[1].walk
	switch {
	case t.magic.refuted && t.stripped():
		t.strip()
	case a.verdict == bad && t.magic.refuted || b.verdict == bad:
		t.hide(unknown)
	case a.speaks() && b.speaks(), a.verdict == good && b.verdict == silent, a.verdict == silent && b.verdict == good:
		t.read(nil)
	case a.verdict == silent && b.verdict == silent:
		t.hide(unknown)
	case t.pending.full() || t.ways[0].ended && t.ways[1].ended:
		t.settle(seg.At)
	}
}

// refute records that the server does not start an encrypted connection.
func (t *Transport) refute() {
	if !t.magic.refuted {
		t.magic.refuted = true
		t.probe(&t.ways[1], magicBytes[:t.magic.have])
	}
}

// probe examines bytes of a stream that has no cipher, or none yet.
func (t *Transport) probe(w *way, data []byte) {
	if w.walk.verdict != unclear {
		return
	}
	if !w.lost {
		w.walk.walk(&t.options, w.dir, data)
		return
	}
	if w.search == nil {
		o := t.wired(nil)
		o.Link, o.Clear = nil, nil
		w.search = stream.New(o)
	}
	w.looked += len(data)
	w.search.Feed(transport.Segment{Dir: w.dir, Bytes: data}, w.found)
	if w.walk.verdict == unclear && w.looked >= maxProbe {
		w.walk.verdict = silent
	}
}

// found takes what the search finds.
func (w *way) found(f *transport.Frame) {
	if f.Kind == transport.Message {
		w.walk.verdict = good
	}
}

// probed resets a direction after probing.
func (w *way) probed() { *w = way{dir: w.dir} }

// read ends the classification: the streams are messages, with the ciphers of a session or none.
func (t *Transport) read(s *Session) {
	if s == nil {
		for i := range t.ways {
			t.ways[i].probed()
		}
	}
	t.decide(t.wired(s))
}

// unknown is why connections are not read that were not recognized.
const unknown = "these are not messages of TERA, or their key exchange is missing"

// settle decides with the data available, because the input pauses or ends or the limit is reached.
func (t *Transport) settle(at time.Time) {
	switch t.mode {
	case undecided:
		if len(t.pending.segments) == 0 {
			return
		}
		if t.stripped() && t.magic.have == 0 {
			t.strip()
			if t.mode == trial {
				t.choose(at)
			}
			return
		}
		plain, some := true, false
		for i := range t.ways {
			w := &t.ways[i]
			switch {
			case !w.begun:
			case w.lost && w.walk.verdict == unclear:
				if w.search != nil {
					w.search.Flush(at, w.found)
				}
				some = some || w.looked > 0
				plain = plain && (w.looked == 0 || w.walk.verdict == good || t.ways[1-i].walk.speaks())
			default:
				some = some || w.walk.began || w.walk.verdict == good
				plain = plain && w.walk.likely()
			}
		}
		if !t.magic.refuted && t.magic.have > 0 {
			plain = false
		}
		if plain && some {
			t.read(nil)
		} else {
			t.hide(unknown)
		}
	case handshake:
		if t.ways[0].begun || t.ways[1].begun {
			t.unshaken(at, "the key exchange is incomplete")
		}
	case trial:
		if len(t.pending.segments) > 0 {
			t.choose(at)
		}
	}
}

// step is a part of the key exchange.
type step struct {
	size int
	note string
}

// steps lists the parts that each direction sends, by the index of its way. The server begins, then they alternate.
var steps = [2][]step{
	{{KeySize, "first key of the client"}, {KeySize, "second key of the client"}},
	{{len(magicBytes), "start of an encrypted connection"}, {KeySize, "first key of the server"}, {KeySize, "second key of the server"}},
}

var viaHandshake = []string{"handshake"}

func (w *way) steps() []step {
	if w.dir == schema.ToClient {
		return steps[1]
	}
	return steps[0]
}

// shake reads the part of a segment that belongs to the key exchange, and stores the rest.
func (t *Transport) shake(w *way, seg transport.Segment) {
	if !w.begun {
		w.begun = true
		if !seg.Start {
			t.keep(seg)
			t.unshaken(seg.At, "the start of the stream was not captured, and the keys with it")
			return
		}
	}
	all := w.steps()
	if !w.shaken() && seg.Lost != 0 {
		if t.options.Keys == nil || seg.Lost < 0 {
			t.keep(seg)
			t.unshaken(seg.At, "a part of the keys was not captured")
			return
		}
		t.patch(w, &seg)
	}
	for !w.shaken() && len(seg.Bytes) > 0 {
		if w.skip > 0 {
			w.passMissing(&seg)
			continue
		}
		s := all[w.step]
		n := min(len(seg.Bytes), s.size-len(w.key))
		w.key = append(w.key, seg.Bytes[:n]...)
		if seg.Packet != 0 {
			w.from = append(w.from, transport.Source{Packet: seg.Packet, Off: seg.Off, Len: uint32(n)})
		}
		w.at = seg.At
		w.advance(&seg, n)
		if len(w.key) < s.size {
			break
		}
		t.stepDone(w, s)
	}
	if len(seg.Bytes) > 0 || seg.Lost != 0 || seg.End {
		t.keep(seg)
	}
	switch {
	case t.ways[0].shaken() && t.ways[1].shaken():
		if t.patched {
			t.keys = new(*t.options.Keys)
		}
		t.startTrial()
	case !w.shaken() && seg.End:
		t.unshaken(seg.At, "the key exchange is incomplete")
	case t.pending.full():
		t.unshaken(seg.At, "the key exchange is incomplete")
	}
}

// stepDone records a received key.
func (t *Transport) stepDone(w *way, s step) {
	data := w.key
	if t.keys == nil {
		t.keys = new(Keys)
	}
	if len(data) == KeySize {
		switch {
		case w.dir == schema.ToServer && w.step == 0:
			copy(t.keys.Client1[:], data)
		case w.dir == schema.ToServer:
			copy(t.keys.Client2[:], data)
		case w.step == 1:
			copy(t.keys.Server1[:], data)
		default:
			copy(t.keys.Server2[:], data)
		}
	}
	f := t.begin(w, transport.Control, w.offset-int64(len(data)), w.at)
	f.Bytes, f.From, f.Via, f.Note = data, w.from, viaHandshake, s.note
	t.emit(f)
	w.key, w.from = w.key[:0], w.from[:0]
	w.step++
}

// advance passes bytes of a segment.
func (w *way) advance(seg *transport.Segment, n int) {
	w.offset += int64(n)
	seg.Bytes, seg.Off, seg.Start, seg.Lost = seg.Bytes[n:], seg.Off+uint32(n), false, 0
}

// unshaken gives up the key exchange: without all keys the rest is opaque.
func (t *Transport) unshaken(at time.Time, why string) {
	// The received part of an incomplete key is reported with the reason; the rest is read from the stored segments.
	told := false
	for i := range t.ways {
		w := &t.ways[i]
		if n := len(w.key); n > 0 {
			told = true
			f := t.begin(w, transport.Problem, w.offset-int64(n), w.at)
			f.Bytes, f.From, f.Note = w.key, w.from, fmt.Sprintf("%s; %d bytes of a key were received", why, n)
			t.emit(f)
			w.key, w.from = nil, nil
		}
	}
	if !told {
		f := t.begin(&t.ways[1], transport.Problem, t.ways[1].offset, t.pending.first(at))
		f.Note = why
		t.emit(f)
	}
	t.hide(why)
}

// candidate is a set of constants under trial.
type candidate struct {
	constants Constants
	session   *Session // initial state of the ciphers; nil: plain
	running   Session
	walks     [2]walker
}

// startTrial creates the ciphers for all possible constants.
func (t *Transport) startTrial() {
	if t.options.Constants != AnyConstants {
		t.constants = t.options.Constants
		t.read(NewSession(t.keys, t.constants))
		return
	}
	for _, c := range []Constants{CurrentConstants, OldConstants} {
		s := NewSession(t.keys, c)
		t.trials = append(t.trials, candidate{constants: c, session: s, running: *s})
	}
	t.again(trial)
}

// try examines a segment under each set of constants.
func (t *Transport) try(w *way, seg transport.Segment) {
	var clear [1024]byte
	for i := range t.trials {
		c := &t.trials[i]
		cipher, walk := &c.running.ToServer, &c.walks[0]
		if w.dir == schema.ToClient {
			cipher, walk = &c.running.ToClient, &c.walks[1]
		}
		if seg.Lost != 0 && walk.verdict == unclear {
			if !walk.miss(seg.Lost) {
				walk.stop()
			} else if c.session != nil {
				cipher.Skip(seg.Lost)
			}
		}
		for data := seg.Bytes; len(data) > 0 && walk.verdict == unclear; {
			n := min(len(data), len(clear))
			if c.session != nil {
				cipher.XORKeyStream(clear[:n], data[:n])
			} else {
				copy(clear[:n], data[:n])
			}
			walk.walk(&t.options, w.dir, clear[:n])
			data = data[n:]
		}
	}
	for i := range t.trials {
		if c := &t.trials[i]; c.walks[0].verdict == good || c.walks[1].verdict == good {
			t.constants = c.constants
			t.read(c.session)
			return
		}
	}
	over := t.pending.full()
	if !over {
		over = true
		for i := range t.trials {
			for _, walk := range t.trials[i].walks {
				over = over && walk.verdict != unclear
			}
		}
	}
	if seg.End {
		w.ended = true
		over = over || t.ways[0].ended && t.ways[1].ended
	}
	if over {
		t.choose(seg.At)
	}
}

// choose selects the constants that fit best, if any do.
func (t *Transport) choose(at time.Time) {
	var best *candidate
	most := 0
	for i := range t.trials {
		c := &t.trials[i]
		if bits := c.walks[0].bits + c.walks[1].bits; best == nil || bits > most {
			best, most = c, bits
		}
	}
	if most >= 0 {
		t.constants = best.constants
		t.read(best.session)
		return
	}
	f := t.begin(&t.ways[0], transport.Problem, t.ways[0].offset, t.pending.first(at))
	f.Note = "neither set of constants deciphers the data after the key exchange"
	if t.patched {
		f.Note = "the configured keys do not decipher this connection"
	}
	why := f.Note
	t.emit(f)
	t.hide(why)
}
