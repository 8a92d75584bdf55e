package stream

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Limits of the data that a Rewriter retains, in each direction.
const (
	maxWaiting = 8 * transport.WaitingEnough // bytes behind a held message, with entryCost for each entry
	entryCost  = 256                         // bytes charged for each waiting frame
	maxLater   = 1 << 20                     // bytes of injected messages that wait for the end of a message in progress
	maxRaw     = 1 << 20                     // bytes of a raw message
)

// Rewriter changes the messages of a connection.
//
// The safe point of a direction is the next start of a frame: a partly sent frame is completed without a decision. From there on the
// connection has two legs with a state each. The leg of the client knows the messages that the client sent and those that were sent to it, that
// of the server likewise: so a message that is held, changed, dropped or injected changes the state of the receiver's leg when it is sent,
// and only as it is sent. A message whose two legs have the same framing and compression is sent as it was received, byte by byte; otherwise
// it is framed and compressed anew. Every byte is encrypted with the state of the receiver's leg.
type Rewriter struct {
	t       *Transport
	mode    transport.RewriteMode
	why     string
	asking  bool
	changed bool
	lines   [2]line
	next    uint64 // the last id assigned
	held    map[uint64]*item
	notice  transport.Frame
	usual   entry
	items   []item
	changes []change
	sealed  []byte // the message being sent, see Link
	inUnit  bool   // the emitted frame is part of a unit

	r  *transport.Relay
	at time.Time
}

// line is the state of what is sent in one direction.
type line struct {
	index      int
	leg        *leg // of the receiver
	taken      bool // what was sent ends where a frame ends
	sentTo     int64
	raw        bool     // what was sent last is not a frame
	queue      []*entry // in order; the first one is held
	bytes      int      // cost of the queue
	out        []byte   // encrypted, sent at the end of the call
	ended      bool     // the input has ended
	over       bool     // the end is being sent, or has been sent
	closed     bool     // the end has been sent
	frames     uint32   // WebSocket messages sent
	later      []*entry // injected messages that wait for the end of a frame
	laterBytes int
}

// entry is a frame that is sent or waits.
type entry struct {
	line     *line
	kind     entryKind
	wire     []byte // as received, deciphered
	message  []byte // nil if there is none
	shared   bool   // message is in wire, from at on
	at       int
	state    int // in which it was framed
	comp     compression
	bundle   *envelope.Bundle
	bare     bool // see unit
	parts    []part
	items    []item // the message, or those of the bundle
	clear    bool   // never encrypted
	verbatim bool   // nor in a WebSocket message
}

type entryKind uint8

const (
	entryFrame entryKind = iota
	entryBytes           // bytes that are not a frame
	entryPlace           // the place of a frame that sends no bytes
	entryNew             // an injected message: items has it
	entryEnd
)

// item is a message of an entry.
type item struct {
	id     uint64 // 0: nobody is notified
	entry  *entry
	held   bool
	action transport.Action // Pass, Drop or Replace
	raw    bool
	bytes  []byte // the replacement
	mark   uint64 // of Link; 0: injected
}

// NewRewriter returns the rewriter of a connection.
func NewRewriter(o Options) *Rewriter {
	w := &Rewriter{t: New(o), held: map[uint64]*item{}}
	w.lines[1].index = 1
	return w
}

var _ transport.Rewriter = (*Rewriter)(nil)

func (w *Rewriter) begin(at time.Time, r *transport.Relay) { w.at, w.r = at, r }

// end sends the output of a call.
func (w *Rewriter) end() {
	for i := range w.lines {
		w.put(&w.lines[i])
	}
	w.r = nil
}

// put sends the output of a direction: over UDP as one datagram.
func (w *Rewriter) put(l *line) {
	if len(l.out) == 0 && (!l.over || l.closed) {
		return
	}
	w.r.Put(transport.Segment{Dir: dirs[l.index], At: w.at, Bytes: l.out, End: l.over && !l.closed})
	l.closed = l.over
	if l.out = l.out[:0]; cap(l.out) > maxKeep {
		l.out = nil
	}
	if w.t.udp && l.leg != nil {
		l.leg.restart(l.index, true)
	}
}

// Feed takes the next segment of a stream, or a datagram. A direction of Both counts as ToServer.
func (w *Rewriter) Feed(seg transport.Segment, r *transport.Relay) {
	if seg.Dir != schema.ToClient {
		seg.Dir = schema.ToServer
	}
	w.begin(seg.At, r)
	defer w.end()
	l := &w.lines[envelope.Way(seg.Dir)]
	if l.ended {
		return
	}
	w.t.emit = w.emit
	defer func() { w.t.emit = nil }()
	if w.mode != transport.Operating {
		l.ended, l.over, l.closed = seg.End, seg.End, seg.End
		w.r.Put(transport.Segment{Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes, End: seg.End})
		w.t.feed(&seg)
		if w.mode == transport.Wanted {
			w.takeOver()
		}
		return
	}
	if w.t.udp && len(seg.Bytes) == 0 {
		w.r.Put(transport.Segment{Dir: seg.Dir, At: seg.At})
		return
	}
	w.t.feed(&seg)
	if seg.End {
		l.ended = true
		w.add(&entry{line: l, kind: entryEnd})
	}
}

// emit receives the frames that the transport finds. Those of units are in entries; others take a place of their own in the line.
func (w *Rewriter) emit(f *transport.Frame) {
	if w.mode == transport.Operating && f.Kind == transport.Problem && len(f.Bytes) > 0 {
		f.Note = transport.Join(f.Note, "forwarded unchanged")
	}
	w.r.EmitFrame(f)
	if l := &w.lines[envelope.Way(f.Dir)]; len(l.queue) > 0 && !w.inUnit && w.mode == transport.Operating {
		w.next++
		w.add(&entry{line: l, kind: entryPlace, items: []item{{id: w.next}}})
	}
}

// unit receives the frames of messages, and the bytes that are not frames.
func (w *Rewriter) unit(u *unit) {
	l := &w.lines[u.w.index]
	t := w.t
	if u.verbatim {
		w.add(&entry{line: l, kind: entryBytes, wire: append([]byte(nil), u.wire...), verbatim: true})
		return
	}
	if u.frame.total == 0 || u.bad {
		if part := w.unsent(l, u); len(part) > 0 {
			e := &entry{line: l, kind: entryBytes, wire: part, clear: t.legs[u.w.index].sides[u.w.index].opaque != ""}
			if u.bad {
				e.kind, e.state, e.comp = entryFrame, u.state, u.comp
			}
			if len(l.queue) > 0 {
				e.wire = append([]byte(nil), part...)
			}
			w.add(e)
		}
		return
	}
	t.changes = t.changes[:0]
	from := t.legs[u.w.index]
	e := &w.usual
	*e = entry{line: l, wire: u.wire, message: u.message, state: u.state, comp: u.comp, bundle: u.bundle, bare: u.bare, parts: u.inner, items: w.items[:0]}
	e.at = u.frame.length
	if e.shared = !u.comp.on && !u.filled && (e.at == 0 || u.frame.before == 0); !l.taken {
		w.complete(from, l, u, e)
		return
	}
	usual, waits := len(l.queue) == 0, len(l.queue) > 0
	var failed error
	if u.bundle != nil {
		t.opening(u)
	}
	w.inUnit = true
	for i := range max(len(u.inner), 1) {
		var p *part
		if u.bundle != nil {
			p = &u.inner[i]
		}
		w.next++
		id := w.next
		it := item{id: id}
		f := t.each(from, u, p)
		if link := t.o.Link; link != nil && f.Kind == transport.Message {
			it.mark = link.Mark(f)
		}
		if f.Kind == transport.Message && w.asking {
			d := w.r.Ask(id, f)
			it.held = d.Action == transport.Hold
			if err := w.decide(&it, e, f.Bytes, d); err != nil {
				failed = err
			}
		}
		if waits = waits || it.held; waits { // the relay needs to know before the next frame
			w.r.Wait(id)
		}
		usual = usual && !it.held && it.action == transport.Pass
		e.items = append(e.items, it)
	}
	w.items = e.items[:0]
	w.inUnit = false
	if usual { // without a copy
		for i := range e.items {
			e.items[i].id = 0
		}
		w.send(e)
	} else {
		w.add(e.copy())
	}
	if failed != nil {
		w.notice = transport.Frame{Kind: transport.Problem, Dir: dirs[l.index], At: w.at, Offset: u.offset, Note: "the message was not replaced: " + failed.Error()}
		w.emit(&w.notice)
	}
	u.w.pass(len(u.wire))
	t.apply(u.w, t.changes)
}

// resumed continues after a search: the receiver is in the state in which messages are read again, and a part of the first ones may have been
// sent.
func (w *Rewriter) resumed(x *way) {
	l := &w.lines[x.index]
	from, to := &w.t.legs[x.index].sides[x.index], &l.leg.sides[x.index]
	to.state, to.comp = from.state, from.comp
	if x.passed > x.offset+int64(x.done) {
		l.taken, l.sentTo = false, x.passed
	}
}

// unsent returns the bytes of a unit that have not been sent. If some were, what was sent ends with the unit.
func (w *Rewriter) unsent(l *line, u *unit) []byte {
	if l.taken {
		return u.wire
	}
	n := int(min(max(l.sentTo-u.offset, 0), int64(len(u.wire))))
	l.taken = u.offset+int64(len(u.wire)) >= l.sentTo && u.frame.total > 0
	return u.wire[n:]
}

// complete sends the rest of a frame that was partly sent.
func (w *Rewriter) complete(from *leg, l *line, u *unit, e *entry) {
	if u.bundle != nil {
		w.t.opening(u)
	}
	w.inUnit = true
	for i := range max(len(u.inner), 1) {
		var p *part
		if u.bundle != nil {
			p = &u.inner[i]
		}
		f := w.t.each(from, u, p)
		if link := w.t.o.Link; link != nil && f.Kind == transport.Message { // it passes as it is, and counts
			w.sealed = append(w.sealed[:0], f.Bytes...)
			link.Seal(dirs[l.index], w.sealed, link.Mark(f))
		}
		it := item{}
		if len(l.queue) > 0 {
			w.next++
			it.id = w.next
			w.r.Wait(it.id)
		}
		e.items = append(e.items, it)
	}
	w.inUnit = false
	w.items = e.items[:0]
	rest := w.unsent(l, u)
	if len(l.queue) > 0 {
		c := e.copy()
		c.wire, c.kind = c.wire[len(c.wire)-len(rest):], entryBytes
		w.add(c)
	} else {
		w.write(l, rest, false)
		w.sent(e)
		w.sendLater(l)
	}
	u.w.pass(len(u.wire))
	w.t.apply(u.w, w.t.changes)
}

// copy returns an entry that does not share memory with the input.
func (e *entry) copy() *entry {
	c := *e
	c.wire = append([]byte(nil), e.wire...)
	if c.shared {
		c.message = c.wire[e.at : e.at+len(e.message)]
	} else {
		c.message = append([]byte(nil), e.message...)
	}
	c.parts = append([]part(nil), e.parts...)
	c.items = append([]item(nil), e.items...)
	for i := range c.items {
		c.items[i].entry = &c
	}
	return &c
}

func (e *entry) cost() int {
	n := entryCost + len(e.wire)
	if !e.shared {
		n += len(e.message)
	}
	for i := range e.items {
		n += len(e.items[i].bytes) + 64
	}
	return n
}

func (e *entry) isHeld() bool {
	for i := range e.items {
		if e.items[i].held {
			return true
		}
	}
	return false
}

// decide applies a decision to an item of an entry, the message was.
func (w *Rewriter) decide(it *item, e *entry, was []byte, d transport.Decision) error {
	l, bundle := e.line, e.bundle
	switch d.Action {
	case transport.Drop:
		w.changed = true
		it.action, it.bytes = transport.Drop, nil
	case transport.Replace:
		if d.With.Raw && bundle != nil {
			return errors.New("a message of a bundle cannot be replaced by bytes that are not a message")
		}
		if err := l.leg.check(l.index, bundle, d.With); err != nil {
			return err
		}
		w.changed = true
		it.action, it.raw = transport.Replace, d.With.Raw
		it.bytes = l.leg.bytes(l.index, d.With, &way{header: was, headerOf: w.t.o.Envelope.States[e.state].Header[l.index]})
	case transport.Pass:
		it.action, it.bytes = transport.Pass, nil
	}
	return nil
}

// check returns an error if a message cannot be sent in a direction now.
func (l *leg) check(way int, bundle *envelope.Bundle, o transport.Outgoing) error {
	if o.Raw {
		if n := len(o.Bytes); n < 1 || n > maxRaw {
			return transport.OutOfRange(n, 1, maxRaw)
		}
		return nil
	}
	message := l.bytes(way, o, nil)
	if _, ok := l.shape(way, message); !ok {
		return errors.New(formless)
	}
	if bundle != nil {
		_, err := wrap(nil, &bundle.Frame, message, unpacked, l.sizes[way])
		return err
	}
	_, err := l.alone(nil, way, message, nil)
	return err
}

// bytes returns a copy of a message that is sent in a direction now, with the lengths and the checksums of its header. w has the header of the
// message that it replaces, or of the last one of the direction; it may be nil.
func (l *leg) bytes(dir int, o transport.Outgoing, w *way) []byte {
	b := o.Bytes
	if l.o.Link != nil && !o.Raw {
		b = l.o.Link.Choose(dirs[dir], &o)
	}
	if o.Alternate != nil && !o.Raw {
		l.shape(dir, o.Alternate)
	} else {
		l.shape(dir, b)
	}
	if o.Raw || !l.marked(dir) {
		return append([]byte{}, b...)
	}
	if o.Alternate != nil {
		b = o.Alternate
	}
	b = append([]byte{}, b...)
	h := l.state(dir).Header[dir]
	for _, r := range o.Open {
		if o.Alternate != nil && w != nil && w.headerOf == h && r.To <= min(len(b), len(w.header)) {
			copy(b[r.From:r.To], w.header[r.From:])
		}
	}
	l.seal(dir, b)
	return b
}

// keeps reports whether the frame of a message that is sent in a direction now is the message, with a length in it.
func (l *leg) keeps(way int) bool {
	f := &l.state(way).Frame[way]
	return f.Kind == envelope.Length && f.Keep && !f.Zeros && !l.sides[way].comp.on
}

// unpacked is the compression of messages in bundles.
func unpacked(dst, body []byte) ([]byte, error) { return append(dst, body...), nil }

// framed appends the frame of a message, as it is sent in a direction now.
func (l *leg) framed(dst []byte, way int, message []byte) ([]byte, error) {
	if len(message) == 0 {
		return dst, errors.New("the message is empty")
	}
	if _, ok := l.shape(way, message); !ok {
		return dst, errors.New(formless)
	}
	message = l.state(way).Header[way].Short(message)
	c := &l.sides[way].comp
	return wrap(dst, &l.state(way).Frame[way], message, func(dst, body []byte) ([]byte, error) {
		return l.codecs.pack(dst, c, body, len(message))
	}, l.sizes[way])
}

// alone appends the frame of a message that is not part of a bundle yet. w has the header of the last bundle of the direction; it may be nil.
func (l *leg) alone(dst []byte, way int, message []byte, w *way) ([]byte, error) {
	b := l.state(way).Every(way)
	if b == nil {
		return l.framed(dst, way, message)
	}
	if len(message) == 0 {
		return dst, errors.New("the message is empty")
	}
	header := make([]byte, b.From)
	if w != nil {
		copy(header, w.opening)
	}
	bundle, err := wrap(header, &b.Frame, message, unpacked, l.sizes[way])
	if err != nil {
		return dst, err
	}
	return l.framed(dst, way, bundle)
}

// tell emits a problem of the rewriter itself.
func (w *Rewriter) tell(l *line, offset int64, note string) {
	w.notice = transport.Frame{Kind: transport.Problem, Dir: dirs[l.index], At: w.at, Offset: offset, Note: note}
	w.r.EmitFrame(&w.notice)
}

// add sends an entry, or queues it behind the entries before it.
func (w *Rewriter) add(e *entry) {
	l := e.line
	if len(l.queue) == 0 && !e.isHeld() {
		w.send(e)
		return
	}
	l.queue = append(l.queue, e)
	l.bytes += e.cost()
	for i := range e.items {
		it := &e.items[i]
		if it.entry = e; it.held {
			w.held[it.id] = it
		}
		if it.id != 0 && e.kind == entryPlace {
			w.r.Wait(it.id)
		}
	}
	for l.bytes > maxWaiting && len(l.queue) > 0 {
		first := l.queue[0]
		for i := range first.items {
			delete(w.held, first.items[i].id)
			first.items[i].held = false
		}
		w.tell(l, transport.Unknown, "too much data waits behind a held message: it is forwarded")
		w.drain(l)
	}
}

// drain sends the entries that no longer wait.
func (w *Rewriter) drain(l *line) {
	n := 0
	for ; n < len(l.queue) && !l.queue[n].isHeld(); n++ {
		e := l.queue[n]
		l.bytes -= e.cost()
		l.queue[n] = nil
		w.send(e)
		if w.t.udp {
			w.put(l)
		}
	}
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil
	}
}

// send writes an entry to the wire.
func (w *Rewriter) send(e *entry) {
	l := e.line
	switch e.kind {
	case entryEnd:
		w.sendLater(l)
		l.over = true
		return
	case entryPlace:
		w.r.Go(e.items[0].id, nil)
		return
	case entryBytes:
		if e.verbatim {
			l.out = append(l.out, e.wire...)
			return
		}
		w.write(l, e.wire, e.clear)
		if e.message != nil { // the rest of a frame that was partly sent
			w.sent(e)
			for i := range e.items {
				if e.items[i].id != 0 {
					w.r.Go(e.items[i].id, nil)
				}
			}
			w.sendLater(l)
			return
		}
		l.raw = true
		return
	}
	l.raw = false
	w.sendLater(l)
	w.seal(e)
	changed, gone := false, 0
	for i := range e.items {
		changed = changed || e.items[i].action != transport.Pass
		if e.items[i].action == transport.Drop {
			gone++
		}
	}
	var frame []byte
	var err error
	switch {
	case e.kind == entryFrame && !changed && (e.message == nil || w.sameForm(e)):
		w.write(l, e.wire, false)
	case gone == len(e.items) && gone > 0:
	case e.kind == entryFrame && !changed && len(e.message) == 0:
		w.write(l, e.wire, false)
	case len(e.items) == 1 && e.items[0].raw:
		w.write(l, e.items[0].bytes, false)
	default:
		if frame, err = w.made(e, changed); err == nil {
			if it := &e.items[0]; e.bundle == nil && it.action == transport.Replace && l.leg.keeps(l.index) {
				it.bytes = frame // with its length
			}
			w.write(l, frame, false)
		}
	}
	if err != nil {
		w.tell(l, transport.Unknown, "a message was not sent: "+err.Error())
	}
	for i := range e.items {
		it := &e.items[i]
		if it.id == 0 {
			continue
		}
		switch {
		case err != nil || it.action == transport.Drop:
			w.r.Go(it.id, nil)
		case it.action == transport.Replace:
			w.r.Go(it.id, it.bytes)
		default:
			w.r.Go(it.id, e.part(i))
		}
	}
	if err == nil {
		w.sent(e)
	}
}

// seal writes what depends on earlier messages, and on the state, which may have changed, into the messages of an entry.
func (w *Rewriter) seal(e *entry) {
	l, link := e.line, w.t.o.Link
	for i := range e.items {
		it := &e.items[i]
		replaced := it.action == transport.Replace && !it.raw
		if replaced {
			l.leg.shape(l.index, it.bytes)
		}
		if replaced && l.leg.marked(l.index) {
			l.leg.seal(l.index, it.bytes)
		}
		switch {
		case link == nil:
		case replaced:
			link.Seal(dirs[l.index], it.bytes, it.mark)
		case it.mark != 0 && it.action != transport.Pass:
			link.Gone(dirs[l.index], it.mark)
		case it.mark != 0:
			w.sealed = append(w.sealed[:0], e.message...)
			if link.Seal(dirs[l.index], w.sealed, it.mark); !bytes.Equal(w.sealed, e.message) {
				it.action, it.bytes = transport.Replace, w.sealed
			}
		}
	}
}

// part returns the i-th message of an entry, as received.
func (e *entry) part(i int) []byte {
	if e.bundle != nil {
		return e.parts[i].bytes(e.message)
	}
	return e.message
}

// sameForm reports whether the frame of an entry can be sent as it was received.
func (w *Rewriter) sameForm(e *entry) bool {
	l := e.line
	s := &l.leg.sides[l.index]
	if w.t.o.Envelope.Forms {
		s.state = e.state
	}
	return e.comp.sameForm(s.comp) && (e.state == s.state || sameFraming(w.t.o.Envelope, e.state, s.state, l.index))
}

func sameFraming(e *envelope.Envelope, a, b, way int) bool {
	x, y := &e.States[a].Frame[way], &e.States[b].Frame[way]
	return x.String() == y.String() && len(x.Sizes) == len(y.Sizes) && (len(x.Sizes) == 0 || &x.Sizes[0] == &y.Sizes[0])
}

// made returns the frame of a changed message or bundle.
func (w *Rewriter) made(e *entry, changed bool) ([]byte, error) {
	l := e.line
	if e.bundle == nil || !changed {
		if e.kind == entryNew {
			return l.leg.alone(nil, l.index, e.items[0].bytes, &w.t.ways[l.index])
		}
		message := e.message
		if e.items[0].action == transport.Replace {
			message = e.items[0].bytes
		}
		return l.leg.framed(nil, l.index, message)
	}
	message := append([]byte(nil), e.message[:e.parts[0].start]...)
	for i := range e.items {
		var err error
		switch e.items[i].action {
		case transport.Pass:
			message = append(message, e.message[e.parts[i].start:e.parts[i].end]...)
		case transport.Replace:
			if message, err = wrap(message, &e.bundle.Frame, e.items[i].bytes, unpacked, l.leg.sizes[l.index]); err != nil {
				return nil, err
			}
		}
	}
	if l.leg.marked(l.index) && !e.bundle.Message.IsZero() {
		l.leg.seal(l.index, message)
	}
	return l.leg.framed(nil, l.index, message)
}

// write appends bytes to the output of a direction and encrypts them.
func (w *Rewriter) write(l *line, b []byte, clear bool) {
	c := l.leg.sides[l.index].cipher
	if clear {
		c = nil
	}
	if s := w.t.ways[l.index].ws; s != nil {
		if c != nil {
			b = append([]byte(nil), b...)
			c.Apply(b)
		}
		l.frames++
		l.out = appendFrame(l.out, max(s.data, 1), b, l.index == 0, l.frames)
		return
	}
	at := len(l.out)
	l.out = append(l.out, b...)
	if c != nil {
		c.Apply(l.out[at:])
	}
}

// sent makes the changes of the messages of an entry on the leg of the receiver.
func (w *Rewriter) sent(e *entry) {
	l := e.line
	w.changes = w.changes[:0]
	if !l.leg.idle(l.index) && !e.bare && !(len(e.items) == 1 && e.items[0].raw) {
		for i := range e.items {
			var message []byte
			switch e.items[i].action {
			case transport.Drop:
				continue
			case transport.Replace:
				message = e.items[i].bytes
			default:
				message = e.part(i)
			}
			key, _, has := l.leg.code(l.index, message)
			w.changes, _ = l.leg.prepare(w.changes, l.index, key, has, message)
		}
	}
	w.t.applyOn(l.leg, l.index, w.changes)
}

// sendLater sends the injected messages that waited for the end of a frame.
func (w *Rewriter) sendLater(l *line) {
	later := l.later
	l.later, l.laterBytes = nil, 0
	for _, e := range later {
		w.send(e)
	}
}

// Operate implements transport.Rewriter.
func (w *Rewriter) Operate(on bool, at time.Time, r *transport.Relay) {
	w.begin(at, r)
	defer w.end()
	w.asking = on
	switch {
	case on && w.mode == transport.Observing:
		w.takeOver()
	case !on && w.mode == transport.Wanted:
		w.mode, w.why = transport.Observing, ""
	case !on && w.mode == transport.Operating && !w.changed:
		w.handBack()
	}
}

// takeOver begins rewriting.
func (w *Rewriter) takeOver() {
	t := w.t
	if t.o.Envelope.Carrier == envelope.WebSocket {
		for i := range t.ways {
			if x := &t.ways[i]; x.ws.broken {
				w.mode, w.why = transport.Impossible, x.dead
				return
			}
		}
		if !t.ways[0].between() || !t.ways[1].between() {
			w.mode, w.why = transport.Wanted, "the end of a WebSocket message in both directions"
			return
		}
	}
	for i := range t.ways {
		if s := &t.legs[i].sides[i]; s.opaque != "" {
			w.mode, w.why = transport.Impossible, s.opaque
			return
		}
	}
	client := t.legs[0]
	for i := range t.ways {
		if x := &t.ways[i]; x.begins() {
			t.decipher(x, len(x.buf)) // they belong to the frame that has begun
		}
	}
	if t.o.Link != nil {
		t.o.Link.Take()
	}
	server := client.clone()
	if c := client.sides[1].cipher; c != nil {
		server.sides[1].cipher, client.sides[1].cipher = c, server.sides[1].cipher
	}
	for i := range t.ways {
		if t.ways[i].dead != "" { // its bytes pass unchanged, and never change the legs
			client.sides[i].cipher, server.sides[i].cipher = nil, nil
		}
	}
	t.legs[1] = server
	if t.udp {
		server.restart(0, true)
		client.restart(1, true)
	}
	w.lines[0].leg, w.lines[1].leg = server, client
	for i := range w.lines {
		l, x := &w.lines[i], &t.ways[i]
		l.taken, l.sentTo, l.raw = !x.begins() && x.dead == "", x.next(), x.dead != "" || x.resync != nil
		x.passed = x.next()
	}
	t.take, t.busy, t.resumed = w.unit, func(way int) bool { return !w.lines[way].taken }, w.resumed
	w.mode, w.why = transport.Operating, ""
}

// handBack ends rewriting, if both legs are still in the same state.
func (w *Rewriter) handBack() {
	for i := range w.lines {
		l, x := &w.lines[i], &w.t.ways[i]
		if len(l.queue) > 0 || len(l.later) > 0 || x.ws != nil && !x.between() {
			return
		}
	}
	for i := range w.lines {
		w.passPart(&w.lines[i])
		w.lines[i].leg = nil
	}
	t := w.t
	t.legs[0].sides[1] = t.legs[1].sides[1]
	t.legs[1] = t.legs[0]
	t.take, t.busy, t.resumed = nil, nil, nil
	w.mode = transport.Observing
}

// passPart sends the part of a frame that has arrived.
func (w *Rewriter) passPart(l *line) {
	x := &w.t.ways[l.index]
	if w.t.udp || x.ws != nil || x.dead != "" || len(x.buf) == x.done {
		return
	}
	w.t.decipher(x, len(x.buf))
	part := x.buf[x.done:]
	sent := x.passed
	if !l.taken {
		sent = max(sent, l.sentTo)
	}
	part = part[min(max(sent-x.offset-int64(x.done), 0), int64(len(part))):]
	l.taken, l.sentTo = false, x.next()
	if len(part) > 0 {
		w.add(&entry{line: l, kind: entryBytes, wire: append([]byte(nil), part...)})
	}
}

// Mode implements transport.Rewriter.
func (w *Rewriter) Mode() (transport.RewriteMode, string) {
	if w.mode == transport.Operating {
		why := [2]string{}
		for i := range why {
			if why[i] = w.t.ways[i].dead; why[i] == "" {
				why[i] = w.t.legs[i].sides[i].opaque
			}
		}
		if why[0] != "" && why[1] != "" {
			return transport.Impossible, why[0]
		}
	}
	return w.mode, w.why
}

// Release implements transport.Rewriter.
func (w *Rewriter) Release(id uint64, d transport.Decision, at time.Time, r *transport.Relay) error {
	it := w.held[id]
	if it == nil {
		return transport.ErrNotHeld
	}
	if d.Action == transport.Hold {
		return nil
	}
	w.begin(at, r)
	defer w.end()
	e := it.entry
	l := e.line
	before := e.cost()
	if err := w.decide(it, e, e.part(slices.IndexFunc(e.items, func(x item) bool { return x.id == id })), d); err != nil {
		return err
	}
	l.bytes += e.cost() - before
	delete(w.held, id)
	it.held = false
	w.drain(l)
	return nil
}

// Send implements transport.Rewriter.
func (w *Rewriter) Send(dir schema.Dir, o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if m, _ := w.Mode(); m != transport.Operating {
		return transport.ErrNotOperating
	}
	w.begin(at, r)
	defer w.end()
	l := &w.lines[envelope.Way(dir)]
	if l.over {
		return transport.ErrClosed
	}
	if l.raw && w.t.ways[l.index].dead != "" || w.t.legs[l.index].sides[l.index].opaque != "" {
		return transport.ErrNotOperating
	}
	if err := l.leg.check(l.index, nil, o); err != nil {
		return err
	}
	message := l.leg.bytes(l.index, o, &w.t.ways[l.index])
	wait := !l.taken || l.raw
	if wait && l.laterBytes+len(message)+entryCost > maxLater {
		return transport.ErrFull
	}
	w.next++
	w.changed = true
	e := &entry{line: l, kind: entryNew, items: []item{{id: w.next, action: transport.Replace, raw: o.Raw, bytes: message}}}
	if wait {
		l.later = append(l.later, e)
		l.laterBytes += len(message) + entryCost
		w.r.Wait(w.next)
		return nil
	}
	w.send(e)
	return nil
}

// Tick does nothing: there are no retransmissions.
func (w *Rewriter) Tick(time.Time, *transport.Relay) {}

// Due returns the zero time.
func (w *Rewriter) Due() time.Time { return time.Time{} }

// Waiting returns the number of bytes of a direction that wait: held messages and the data behind them.
func (w *Rewriter) Waiting(dir schema.Dir) int {
	l := &w.lines[envelope.Way(dir)]
	return l.bytes + l.laterBytes
}

// Flush emits incomplete messages as problems and sends their bytes unchanged.
func (w *Rewriter) Flush(at time.Time, r *transport.Relay) {
	w.begin(at, r)
	defer w.end()
	w.t.Flush(at, w.emit)
	if w.mode == transport.Operating {
		for i := range w.lines {
			w.passPart(&w.lines[i])
		}
	}
}
