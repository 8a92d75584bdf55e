package stream

import (
	"fmt"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Limits of memory for one connection, besides the largest message of the envelope.
const (
	maxShown  = 64       // bytes in a problem
	chunkSize = 32 << 10 // bytes read at a time
	maxLost   = 1 << 40  // bytes lost above which the loss counts as unknown, so that offsets cannot overflow
	maxInner  = 1 << 16  // messages of a bundle
)

// Transport frames one connection.
type Transport struct {
	o    Options
	udp  bool
	legs [2]*leg // by direction: the leg on which it arrives
	ways [2]way

	emit     func(*transport.Frame)
	take     func(*unit)    // of a rewriter, instead of emitting messages; nil: none
	busy     func(int) bool // of a rewriter: part of a frame was sent in a direction
	resumed  func(*way)     // of a rewriter: a search has ended
	frame    transport.Frame
	unit     unit
	from     []transport.Source
	via      [2]string
	steady   bool   // no message begins or ends a cipher
	unpacked []byte // the decompressed message
	joined   []byte // the message, if it is not contiguous
	changes  []change
}

// unit is a frame that was cut.
type unit struct {
	w        *way
	frame    frame
	state    int
	comp     compression
	wire     []byte // the whole frame, deciphered
	message  []byte // decompressed
	bad      bool   // there is no message in it
	verbatim bool   // wire is sent as it is, below the cipher and the messages of a WebSocket
	key      schema.Key
	hasKey   bool
	name     string
	head     int  // offset of the contents after the code
	start    int  // of a bundle: offset of its messages
	bare     bool // it would be a bundle, and has no messages
	bundle   *envelope.Bundle
	inner    []part
	filled   bool // the message has zeros that the frame does not have
	offset   int64
	at       time.Time
	note     string
}

// part is a message in a bundle, relative to the bundle's message.
type part struct {
	from, to int // of the message
	start    int // of its frame
	end      int
	packed   bool // the message is not contiguous; it is in own
	own      []byte
}

// New returns the transport of a connection.
func New(o Options) *Transport {
	t := &Transport{o: o, udp: o.Envelope.Carrier == envelope.UDP}
	l := newLeg(&t.o, [2]bool{})
	t.legs = [2]*leg{l, l}
	t.steady = !o.Envelope.Encrypts()
	for i := range t.ways {
		w := &t.ways[i]
		w.index, w.dir, w.offset = i, dirs[i], o.Starts[i].Offset
		if o.Envelope.Carrier == envelope.WebSocket {
			w.ws = new(webSocket)
		}
	}
	return t
}

var _ transport.Waiter = (*Transport)(nil)

// Feed takes the next segment of a stream, or a datagram. A direction of Both counts as ToServer.
func (t *Transport) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	t.emit = emit
	t.feed(&seg)
	t.emit = nil
}

func (t *Transport) feed(seg *transport.Segment) {
	w := &t.ways[envelope.Way(seg.Dir)]
	if seg.Lost < 0 || seg.Lost > maxLost {
		seg.Lost = transport.Unknown
	}
	if l := t.legs[w.index]; l != nil {
		l.lib.renew()
	}
	if t.udp {
		t.datagram(w, seg)
		return
	}
	if w.ended {
		return
	}
	if !w.begun {
		w.begun = true
		if w.lost = !seg.Start && seg.Lost == 0; w.lost && (w.ws == nil || !startsHTTP(seg.Bytes)) {
			s := &t.legs[w.index].sides[w.index]
			if _, feedback := s.cipher.(*cfb8); s.cipher != nil && !feedback { // which needs the last bytes only
				s.hide("the start of the stream is missing, so the position in the keystream is unknown")
			} else if w.ws == nil && t.searchable(w) {
				t.lose(w, "the capture begins inside the stream", w.offset, likely)
			}
		}
		if w.ws != nil && w.lost && !startsHTTP(seg.Bytes) {
			t.wsLose(w, "the capture begins inside the stream")
		}
		w.unsure = seg.Start
		w.fresh = seg.Start && w.ws == nil && !t.streamIsMessage(w) && t.legs[w.index].sides[w.index].cipher == nil
	}
	if seg.Lost != 0 {
		t.gap(w, seg)
	}
	part := *seg
	for bytes, off := seg.Bytes, seg.Off; len(bytes) > 0; {
		part.Bytes, part.Off = bytes[:min(len(bytes), chunkSize)], off
		bytes, off = bytes[len(part.Bytes):], off+uint32(len(part.Bytes))
		if w.ws != nil {
			t.webSocket(w, &part)
		} else {
			t.payload(w, &part)
		}
	}
	if seg.End {
		t.wsSettle(w)
		t.settle(w)
		t.unfinished(w, seg.At)
		if w.dead == "" {
			t.rest(w)
		}
		w.ended = true
		w.empty(w.next())
		w.buf, w.pieces = nil, nil
	}
}

// payload takes bytes of the stream of messages.
func (t *Transport) payload(w *way, seg *transport.Segment) {
	w.add(seg)
	t.read(w, false)
}

// Flush reports incomplete messages. They are still emitted if the rest of them arrives.
func (t *Transport) Flush(at time.Time, emit func(*transport.Frame)) {
	t.emit = emit
	for i := range t.ways {
		t.wsSettle(&t.ways[i])
		t.settle(&t.ways[i])
		t.unfinished(&t.ways[i], at)
	}
	t.emit = nil
}

// Waits reports whether bytes are kept until the start of a message is found.
func (t *Transport) Waits() bool {
	for i := range t.ways {
		if w := &t.ways[i]; w.resync != nil && len(w.buf) > w.done || w.ws != nil && w.ws.search != nil && len(w.ws.search.buf) > 0 {
			return true
		}
	}
	return false
}

// unfinished reports the incomplete rest of a stream that stops.
func (t *Transport) unfinished(w *way, at time.Time) {
	t.endMessage(w)
	t.wsUnfinished(w)
	if w.ended || w.next() <= w.told {
		return
	}
	n := len(w.buf) - w.done
	switch {
	case w.dead != "" && w.unread > 0:
		f := t.begin(w, transport.Problem, w.next()-w.unread, at)
		f.Note = fmt.Sprintf("%d bytes after it were not read", w.unread)
		w.unread = 0
	case w.dead == "" && n > 0:
		f := t.begin(w, transport.Problem, w.offset+int64(w.done), at)
		t.show(w, f, n)
		f.Note = fmt.Sprintf("the stream ends inside a message, after %d of its %sbytes", n, w.missing(n))
	default:
		return
	}
	w.told = w.next()
	t.emit(&t.frame)
}

// show sets the bytes of a problem, the next n bytes, of which the first ones are shown.
func (t *Transport) show(w *way, f *transport.Frame, n int) {
	t.decipher(w, w.done+n)
	f.Bytes = w.buf[w.done : w.done+min(n, maxSearch)]
	t.from = w.appendSources(t.from[:0], 0, n)
	f.From = t.from
}

// begin starts a frame.
func (t *Transport) begin(w *way, kind transport.Kind, offset int64, at time.Time) *transport.Frame {
	if t.udp {
		offset = transport.Unknown
	}
	t.frame = transport.Frame{Kind: kind, Dir: w.dir, At: at, Offset: offset}
	return &t.frame
}

// fail reports that no message starts with the next bytes: another start is searched, or the rest of the direction cannot be read.
func (t *Transport) fail(w *way, why string) {
	if w.isGuessed {
		w.learnt.doubt(w.guessed)
		w.isGuessed = false
	}
	if t.searchable(w) {
		at := w.offset + int64(w.done)
		t.lose(w, why, at-1, certain)
		w.resync.tried = at + 1
		return
	}
	if t.passOver(w, why) {
		return
	}
	w.dead = why
	n := len(w.buf) - w.done
	t.decipher(w, w.done+min(n, maxShown))
	f := t.begin(w, transport.Problem, w.offset+int64(w.done), w.arrival(min(n, maxShown)))
	t.show(w, f, min(n, maxShown))
	f.Note, f.Resumed = why+"; the rest of the direction is not read", w.lost
	t.emit(f)
	t.drop(w, min(n, maxShown))
}

// drop discards the bytes that cannot be read, of which some were shown.
func (t *Transport) drop(w *way, shown int) {
	n := len(w.buf) - w.done
	w.unread += int64(n - shown)
	t.rest(w)
	w.pass(n)
	w.compact()
}

// rest passes the bytes that cannot be read to the rewriter.
func (t *Transport) rest(w *way) {
	if t.take == nil {
		return
	}
	if s := &t.legs[w.index].sides[w.index]; s.opaque == "" {
		t.decipher(w, len(w.buf))
	}
	t.forward(w, len(w.buf)-w.done)
}

// decipher deciphers the bytes of buf up to an index.
func (t *Transport) decipher(w *way, to int) {
	s := &t.legs[w.index].sides[w.index]
	if s.cipher == nil || to <= w.plain {
		return
	}
	from := w.plain
	s.cipher.Apply(w.buf[from:to])
	w.plain = to
	if t.o.Clear == nil {
		return
	}
	at := from
	for i := w.first; i < len(w.pieces) && at < to; i++ {
		p := &w.pieces[i]
		end := int(p.end - w.offset)
		if end <= at {
			continue
		}
		n := min(end, to) - at
		if p.packet != 0 {
			t.o.Clear(transport.Clear{Dir: w.dir, Packet: p.packet, Off: p.off - uint32(end-at), Bytes: w.buf[at : at+n]})
		}
		at += n
	}
}

// read emits all complete frames. last reports that the bytes end a datagram.
func (t *Transport) read(w *way, last bool) {
	for {
		if n := int(min(w.skip, int64(len(w.buf)-w.done))); n > 0 {
			t.skipped(w, n)
			w.skip -= int64(n)
		}
		have := len(w.buf) - w.done
		if have == 0 {
			return
		}
		if w.fresh && w.dead == "" {
			if !t.front(w) {
				return
			}
			continue
		}
		l := t.legs[w.index]
		s := &l.sides[w.index]
		switch {
		case w.dead != "":
			t.drop(w, 0)
			return
		case s.opaque != "":
			t.opaque(w, s.opaque)
			return
		case w.resync != nil:
			t.decipher(w, len(w.buf))
			if !t.look(w, false) {
				t.forward(w, len(w.buf)-w.done) // nobody waits for the search
				return
			}
			continue
		case have < w.need:
			if w.whole && t.stalls(l, w, false) {
				continue
			}
			return
		}
		if t.steady && s.cipher != nil {
			t.decipher(w, len(w.buf))
		}
		if t.usual(l, w); w.done == len(w.buf) {
			return
		}
		have = len(w.buf) - w.done
		x := &t.unit.frame
		if l.o.Envelope.Forms {
			if s.cipher != nil {
				t.decipher(w, len(w.buf))
			}
			need, ok := l.shape(w.index, w.buf[w.done:])
			if need > 0 {
				w.need, w.whole, w.looked = need, false, have
				return
			}
			if !ok && !w.seek {
				t.fail(w, formless)
				continue
			}
		}
		f := &l.o.Envelope.States[s.state].Frame[w.index]
		for want := max(w.need, 1); ; want = x.need {
			b := w.buf[w.done:]
			if s.cipher != nil {
				t.decipher(w, w.done+min(want, have))
				b = b[:min(w.plain-w.done, have)]
			}
			if f.Kind == envelope.Length {
				cutLength(f, b, x)
			} else {
				*x = cut(f, b, w.looked, last && len(b) == have, l.sizes[w.index])
				w.learnt.apply(x, b)
			}
			if x.fault > 0 || x.total > 0 || x.need > have {
				break
			}
			w.looked = len(b)
		}
		if w.seek {
			if x.total > 0 {
				t.skipped(w, x.total)
				w.seek = false
				continue
			}
			x.fault, x.need = noFault, max(x.need, have+1)
		}
		switch {
		case x.fault > 0:
			t.fail(w, x.why(f))
			if w.resync != nil && x.fault == codeUnsized {
				w.resync.unsized, w.resync.failed = uint64(x.v), w.offset+int64(w.done)+1
			}
			continue
		case x.total == 0:
			w.need, w.whole, w.looked = x.need, x.known, have
			if s.cipher != nil {
				w.looked = w.plain - w.done
			}
			if w.whole && t.stalls(l, w, false) {
				continue
			}
			return
		}
		if t.doubts(l, w, f, x) {
			continue
		}
		t.cut(w)
	}
}

// skipped reports and passes the end of a message that a gap has cut.
func (t *Transport) skipped(w *way, n int) {
	f := t.begin(w, transport.Problem, w.offset+int64(w.done), w.arrival(n))
	t.show(w, f, n)
	f.Note, f.Resumed = "the end of a message, "+sizeText(n), true
	t.emit(f)
	t.forward(w, n)
	w.pass(n)
}

// opaque emits the bytes of a direction whose cipher is unknown.
func (t *Transport) opaque(w *way, why string) {
	n := len(w.buf) - w.done
	f := t.begin(w, transport.Opaque, w.offset+int64(w.done), w.arrival(n))
	f.Bytes, f.Note = w.buf[w.done:], why
	t.from = w.appendSources(t.from[:0], 0, n)
	f.From = t.from
	t.emit(f)
	t.rest(w)
	w.pass(n)
}

// cut takes the next frame, which unit has.
func (t *Transport) cut(w *way) {
	l := t.legs[w.index]
	s := &l.sides[w.index]
	f := &l.o.Envelope.States[s.state].Frame[w.index]
	u := &t.unit
	x := &u.frame
	w.trial = max(w.trial-1, 0)
	u.w, u.state, u.comp, u.offset, u.at = w, s.state, s.comp, w.offset+int64(w.done), w.arrival(x.total)
	u.bad, u.verbatim, u.bare, u.start, u.name, u.bundle, u.inner, u.note = false, false, false, 0, "", nil, u.inner[:0], ""
	if w.isGuessed = x.learnt; x.learnt {
		w.guessed = uint64(x.v)
		u.note = "the size is not in the envelope: " + w.learnt.text(w.guessed)
	}
	u.wire = w.buf[w.done : w.done+x.total : w.done+x.total]
	t.from = w.appendSources(t.from[:0], 0, x.total)
	message, err := t.open(l, f, u)
	if u.message = message; err != nil {
		p := t.begin(w, transport.Problem, u.offset, u.at)
		p.Bytes, p.From, p.Note = u.wire, t.from, err.Error()
		p.Resumed = w.lost
		t.emit(p)
		u.bad = true
		if t.take != nil {
			t.take(u)
		}
		w.pass(x.total)
		t.apply(w, nil)
		return
	}
	u.message, u.filled = l.full(w.index, message)
	message = u.message
	if u.bundle = l.state(w.index).Every(w.index); u.bundle != nil {
		u.key, u.head, u.hasKey = schema.Key{}, 0, false
		t.openBundle(l, u)
		t.found(l, u)
		return
	}
	if u.key, u.head, u.hasKey = l.code(w.index, message); u.hasKey {
		w.codes.add(u.key.Code)
	}
	if c := &l.o.Envelope.States[s.state].Code[w.index]; c.Number.Kind == envelope.NoNumber {
		u.name = c.Name
	} else if !u.hasKey && len(message) > 0 {
		if u.note = "the message ends before its code"; u.head < 0 {
			u.note = "the code of the message is too large"
		}
	}
	if u.bundle = l.bundle(w.index, u.key, u.hasKey); u.bundle != nil {
		t.openBundle(l, u)
	}
	t.found(l, u)
}

// found hands on a message that was cut.
func (t *Transport) found(l *leg, u *unit) {
	if t.take != nil {
		t.take(u)
	} else {
		t.deliver(l, u)
	}
}

// open returns the message of a frame.
func (t *Transport) open(l *leg, f *envelope.Framing, u *unit) ([]byte, error) {
	x := &u.frame
	message := u.wire[:x.total-x.after]
	if x.length > 0 {
		if message = u.wire[x.length:]; x.before > 0 {
			t.joined = append(append(t.joined[:0], u.wire[:x.before]...), u.wire[x.before+x.length:]...)
			message = t.joined
		}
	}
	if !u.comp.on {
		return message, nil
	}
	if cap(t.unpacked) > maxKeep && len(message) < maxKeep/8 {
		t.unpacked = nil
	}
	var err error
	t.unpacked, err = l.codecs.unpack(append(t.unpacked[:0], message[:x.head]...), &u.comp, message[x.head:], f.Max)
	return t.unpacked, err
}

// openBundle finds the messages of a bundle. If there are none, or if they do not fill it exactly, it is an ordinary message.
func (t *Transport) openBundle(l *leg, u *unit) {
	f := &u.bundle.Frame
	every := u.bundle.Message.IsZero()
	defer func() { u.bare = every && u.bundle == nil }()
	u.start = max(u.head, u.bundle.From)
	if len(u.message) < u.start {
		u.note, u.bundle = transport.Join(u.note, fmt.Sprintf("the bundle ends before its messages, after %d of %d bytes", len(u.message), u.start)), nil
		return
	}
	for at := u.start; at < len(u.message); {
		x := cut(f, u.message[at:], 0, f.End, l.sizes[u.w.index])
		why := x.why(f)
		if why == "" && x.total == 0 {
			why = fmt.Sprintf("the bundle ends inside a message, after %d of its bytes", len(u.message)-at)
		}
		if why == "" && len(u.inner) == maxInner {
			why = "the bundle has too many messages"
		}
		if why != "" {
			u.note, u.inner, u.bundle = transport.Join(u.note, why), u.inner[:0], nil
			return
		}
		p := part{start: at, end: at + x.total, from: at + x.length, to: at + x.total - x.after}
		if x.length > 0 && x.before > 0 {
			b := u.message[at : at+x.total]
			p.own = append(append([]byte(nil), b[:x.before]...), b[x.before+x.length:]...)
			p.packed = true
		}
		u.inner = append(u.inner, p)
		at += x.total
	}
	if len(u.inner) == 0 {
		u.bundle = nil
	}
	if every {
		u.w.opening = append(u.w.opening[:0], u.message[:u.start]...)
	}
}

// bytes returns the message of a part.
func (p *part) bytes(bundle []byte) []byte {
	if p.packed {
		return p.own
	}
	return bundle[p.from:p.to:p.to]
}

// deliver emits the messages of a frame and makes their changes.
func (t *Transport) deliver(l *leg, u *unit) {
	t.changes = t.changes[:0]
	if u.bundle == nil {
		t.each(l, u, nil)
	} else {
		t.opening(u)
		for i := range u.inner {
			t.each(l, u, &u.inner[i])
		}
	}
	w := u.w
	w.pass(len(u.wire))
	t.apply(w, t.changes)
}

const headerNote = "the header of a bundle"

// opening emits the bytes between the code of a bundle and its messages.
func (t *Transport) opening(u *unit) {
	if u.start <= u.head {
		return
	}
	f := t.begin(u.w, transport.Control, u.offset, u.at)
	f.Bytes, f.Note = u.message[:u.start], headerNote
	if !u.comp.on && u.frame.before == 0 {
		t.from = u.w.appendSources(t.from[:0], 0, u.frame.length+u.start)
	}
	f.From = t.from
	t.emit(f)
	t.from = u.w.appendSources(t.from[:0], 0, len(u.wire))
}

// each emits one message: that of the frame, or a part of it. The changes that it makes are appended to t.changes.
func (t *Transport) each(l *leg, u *unit, p *part) *transport.Frame {
	w := u.w
	f := t.begin(w, transport.Message, u.offset, u.at)
	f.Bytes, f.Key, f.HasKey, f.Name, f.From, f.Note = u.message, u.key, u.hasKey, u.name, t.from, u.note
	if f.Resumed = w.lost; w.note != "" {
		f.Note, w.note = transport.Join(w.note, u.note), ""
	}
	via := t.via[:0]
	if p != nil {
		if via = append(via, "bundle"); !u.bundle.Message.IsZero() {
			via[0] = u.bundle.Message.String()
		}
		f.Bytes = p.bytes(u.message)
		f.Key, _, f.HasKey = l.code(w.index, f.Bytes)
		f.Name = l.state(w.index).Code[w.index].Name
		if !u.comp.on && u.frame.before == 0 {
			at := u.frame.length
			if !t.udp {
				f.Offset = u.offset + int64(at+p.start)
			}
			t.from = w.appendSources(t.from[:0], at+p.start, p.end-p.start)
			f.From = t.from
		}
	}
	if l.marked(w.index) && !u.bare {
		via = append(via, transport.MarkHeader)
		h, extra := l.state(w.index).Header[w.index], l.extra(w.index, f.Bytes)
		if wrong := h.Wrong(f.Bytes, extra); wrong != nil {
			f.Note = transport.Join(f.Note, h.Why(wrong, f.Bytes, extra))
		}
		t.keep(l, w.index, f.Bytes)
	}
	if len(via) > 0 {
		f.Via = via
	}
	if t.o.Link != nil && len(f.Bytes) > 0 {
		t.o.Link.Read(f)
	}
	if len(f.Bytes) == 0 {
		f.Kind, f.Note = transport.Control, "an empty frame"
	} else if u.bare && len(f.Bytes) == u.start {
		f.Kind, f.Note = transport.Control, "a bundle without messages"
	}
	var note string
	if u.bare {
		t.emit(f)
		return f
	}
	if t.changes, note = l.prepare(t.changes, w.index, f.Key, f.HasKey, f.Bytes); note != "" {
		f.Note = transport.Join(f.Note, note)
	}
	t.emit(f)
	return f
}

// keep keeps the header of a message for those that do not state all of it.
func (t *Transport) keep(l *leg, way int, message []byte) {
	if h := l.state(way).Header[way]; h != nil && h.Opens() && h.Size <= len(message) {
		t.ways[way].header, t.ways[way].headerOf = append(t.ways[way].header[:0], message[:h.Size]...), h
	}
}

// apply makes changes after a frame has been read: first those that waited for its end, then its own.
func (t *Transport) apply(w *way, changes []change) { t.applyOn(t.legs[w.index], w.index, changes) }

// applyOn makes the changes of a message that has passed on a leg.
func (t *Transport) applyOn(l *leg, way int, changes []change) {
	s := &l.sides[way]
	if len(s.later) > 0 {
		later := s.later
		s.later = nil
		for i := range later {
			t.change(l, &later[i])
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.way != way && !t.udp && t.begun(l, c.way) {
			l.sides[c.way].later = append(l.sides[c.way].later, *c)
			continue
		}
		t.change(l, c)
	}
}

// reads reports whether a direction arrives on a leg; otherwise it is sent on it.
func (t *Transport) reads(l *leg, way int) bool { return t.legs[way] == l }

// begun reports whether a frame of a direction has begun on a leg.
func (t *Transport) begun(l *leg, way int) bool {
	if t.reads(l, way) {
		return t.ways[way].begins()
	}
	return t.busy != nil && t.busy(way)
}

// change makes a change of a leg.
func (t *Transport) change(l *leg, c *change) {
	w := &t.ways[c.way]
	if c.kind == envelope.Encrypt && !t.udp {
		if w.resync != nil && t.reads(l, c.way) {
			w.resync, w.dead = nil, "a cipher begins at an unknown place"
		}
		if w.dead != "" {
			return
		}
	}
	l.do(c, !t.reads(l, c.way))
	if t.reads(l, c.way) && c.kind == envelope.Encrypt {
		w.plain = w.done
	}
}

// datagram reads a datagram, whose frames are independent of those of others.
func (t *Transport) datagram(w *way, seg *transport.Segment) {
	w.empty(0)
	w.dead, w.unread = "", 0
	w.begun = true
	l := t.legs[w.index]
	l.restart(w.index, false)
	lost := seg.Lost
	part := *seg
	w.add(&part)
	t.read(w, lost == 0)
	if n := len(w.buf) - w.done; n > 0 && w.dead == "" {
		t.decipher(w, len(w.buf))
		f := t.begin(w, transport.Problem, transport.Unknown, seg.At)
		t.show(w, f, n)
		f.Note = fmt.Sprintf("the datagram ends inside a message, after %d of its bytes", n)
		if lost != 0 {
			f.Note = fmt.Sprintf("the capture has only %d bytes of a message", n)
			f.Length = lost
		}
		t.emit(f)
		t.rest(w)
	}
	w.empty(0)
}

// gap skips missing bytes. A message that the gap cuts is lost.
func (t *Transport) gap(w *way, seg *transport.Segment) {
	l := t.legs[w.index]
	s := &l.sides[w.index]
	env := &l.o.Envelope.States[s.state].Frame[w.index]
	t.wsSettle(w)
	t.settle(w)
	if t.streamIsMessage(w) {
		t.endMessage(w)
	}
	have := len(w.buf) - w.done
	if w.dead == "" {
		t.rest(w)
		if have > 0 {
			f := t.begin(w, transport.Problem, w.offset+int64(w.done), w.arrival(have))
			t.show(w, f, have)
			f.Note = "the start of a message, " + sizeText(have) + ": the rest is missing in the capture"
			t.emit(f)
		}
	}
	lost, frames := seg.Lost, false // of the stream of messages; WebSocket frames are searched
	if w.ws != nil && w.dead == "" && t.take == nil && !t.wsGap(w, seg.Lost) {
		lost, frames = transport.Unknown, true
	}
	f := t.begin(w, transport.Problem, w.next(), seg.At)
	f.Length, f.Note = seg.Lost, "bytes of the stream are missing in the capture"
	if seg.Packet != 0 { // the gap is located by the byte after it
		t.from = append(t.from[:0], transport.Source{Packet: seg.Packet, Off: seg.Off})
		f.From = t.from
	}
	dead := w.dead
	skip, seek, search := int64(-1), false, false
	switch {
	case dead != "" || s.opaque != "":
	case frames:
		skip = 0
	case w.ws != nil && t.take != nil:
		dead = "the start of the next WebSocket frame is unknown after missing bytes"
	case env.Kind == envelope.Datagram && w.ws != nil:
		skip = int64(w.ws.left)
	case env.Kind == envelope.Datagram:
		skip = 0
	case seg.Lost > 0 && (w.skip > 0 || w.whole):
		skip = w.skip - seg.Lost
		if w.skip == 0 {
			skip = int64(w.need) - int64(have) - seg.Lost
		}
		if skip < 0 && env.Kind == envelope.Fixed {
			skip = int64(env.Size) - 1 - (-skip-1)%int64(env.Size)
		}
	case seg.Lost > 0 && env.Kind == envelope.Fixed:
		skip = int64(env.Size) - 1 - (seg.Lost-1)%int64(env.Size)
	}
	if dead == "" && s.opaque == "" && skip < 0 {
		switch {
		case env.Kind == envelope.Delimiter && (s.cipher == nil || seg.Lost > 0):
			seek, skip = true, 0
		case t.searchable(w):
			search, skip = true, 0
		default:
			dead = "the start of the next message is unknown after missing bytes"
		}
	}
	if _, feedback := s.cipher.(*cfb8); feedback && dead == "" && (seek || frames || t.searchable(w)) {
		skip, search = 0, !seek && !frames // the first bytes are not readable, and then all are
	} else if dead == "" && s.cipher != nil {
		past := w.next() + lost - w.offset - int64(max(w.plain, w.done))
		if lost < 0 || past < 0 || !s.cipher.Skip(past) {
			s.hide("the position in the keystream is unknown after missing bytes")
			f.Note += "; " + s.opaque
			skip, seek, search = 0, false, false
		}
	}
	if dead != "" && w.dead == "" {
		f.Note += "; " + dead + ": the rest of the direction is not read"
	}
	t.emit(f)
	w.empty(w.next() + max(lost, 0))
	w.dead, w.seek, w.lost = dead, seek, true
	w.skip = max(skip, 0)
	w.unsure, w.resync = false, nil
	if dead == "" {
		t.apply(w, nil)
	}
	if search {
		t.lose(w, "after missing bytes", w.offset, likely)
	} else if dead == "" && s.opaque == "" && !seek && !frames && t.searchable(w) && t.defined(l, w.index) {
		t.lose(w, "after missing bytes", w.offset+w.skip, aligned)
	}
}
