package stream

import (
	"fmt"
	"math/bits"
	"slices"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Limits and measures of a search. Evidence is measured in bits: n bits are what one place in 1<<n of random bytes would show.
const (
	maxSearch   = 128 << 10 // bytes in which a start is searched at a time
	firstWork   = 1 << 20   // bytes that a search decodes, decompresses and sums, about: hostile data look like a long message everywhere
	workPerByte = 100       // and that it does more for each byte it has got
	maxRow      = 64        // frames that are read from a place
	certain     = 20        // bits that are required at any place, besides those of the number of places
	likely      = 24        // bits at the place after missing bytes, or at the start of a capture
	aligned     = 6         // where a message certainly starts, unless it is not one of this state
	atPacket    = 4         // bits of a place at the start of a packet
	atEnd       = 4         // bits by which messages with definitions may be worse if no more bytes follow
	other       = 4         // bits by which another state or compression must be better
	someCodes   = 8         // messages before which their codes are no evidence about others
	onTrial     = 16        // messages after which a place is certain that was found without definitions
	nameless    = 16        // bits by which messages must be better of which no code has a definition
	small       = 1 << 8    // bytes of messages that are tried once more without definitions, as the first ones may have been incomplete
	measures    = 10        // bits that a message shows that Measure accepts
	misfit      = 6         // bits that a message costs that has no definition, or does not fit it
	impossible  = 64        // bits that a frame costs that cannot be one
	maxPatience = 8         // consecutive searches without a result in frames without a definition, after which they become rarer
	maxForms    = 32        // states and compressions that are tried
	maxLeading  = 16        // frames that may lead from the most likely place to the found one
	probes      = 1 << 10   // codes that are looked up to estimate how many are known
	fewProbed   = 1 << 9    // known codes, as estimated, below which all are looked up
	maxDoubt    = 256       // bytes after which a message starts where it certainly should, if no other place is better
)

// resync is the search for the next start of a message in a direction. The bytes from there on wait in the buffer.
type resync struct {
	why      string  // what began it; "" at the start of a stream
	first    int64   // the most likely place
	least    int     // bits that are required there
	tried    int64   // no message starts before it, except at one of open
	open     []place // candidates that need more bytes, ascending
	stop     int64   // if not 0, no later place is tried
	behind   int     // if not 0: an index of the buffer that messages must pass, without one that starts there
	looked   int     // bytes at the last attempt
	found    int64   // the place that was found
	row      int     // the messages in a row that fit there
	form     int     // of the place that was found
	forms    []form  // what messages may look like, always in the same order
	usual    int     // the present one
	codes    *codes  // of the form that is tried
	blind    bool    // likewise
	nameless int64   // no messages without definitions begin before it
	failed   int64   // the offset behind the first byte of a message whose code has no size; 0: there is none
	unsized  uint64  // that code
	opens    bool    // a message without a definition may begin at the most likely place
	work     int     // what it has done, see firstWork
	most     int     // and may do
}

// place is a candidate start of a message.
type place struct {
	at   int64
	need int64 // stream offset required to judge it further
	form int   // index
}

// form is what the messages of a direction may look like.
type form struct {
	state int
	comp  compression
	frame *envelope.Framing
	code  *envelope.Code
	codes *codes           // nil: there are no definitions of any state, or they know few messages of the direction
	start *envelope.Header // of a form, which its constants tell; nil: there are no forms
	blind bool             // codes are not looked at, although there are definitions of other forms
}

// lose begins a search. first is the most likely place, which requires least bits of evidence.
func (t *Transport) lose(w *way, why string, first int64, least int) {
	w.resync = &resync{why: why, first: first, least: least, tried: w.offset + int64(w.done), most: firstWork}
}

// searchable reports whether the next start of a message can be searched in a direction.
func (t *Transport) searchable(w *way) bool {
	s := t.legs[w.index].state(w.index)
	switch s.Frame[w.index].Kind {
	case envelope.Length, envelope.Codes, envelope.Measured:
		return !t.udp && s.Every(w.index) == nil
	}
	return false
}

// settle ends a search when no more bytes follow: it reads what certainly starts here and reports the rest.
func (t *Transport) settle(w *way) {
	for len(w.buf) > w.done && w.dead == "" {
		if w.resync == nil && w.skip == 0 && t.stalls(t.legs[w.index], w, true) || w.resync != nil && t.look(w, true) {
			t.read(w, false)
			continue
		}
		return
	}
}

// doubts reports whether a frame is none, although it could be cut: it has no definition or does not fit it, and messages certainly start
// inside it and continue behind it. The search does not wait for more bytes, and begins more and more rarely while it finds
// nothing. Whether a frame fits is judged at the start of a stream and after a frame that has no definition.
func (t *Transport) doubts(l *leg, w *way, f *envelope.Framing, x *frame) bool {
	closely := w.unsure
	w.unsure = false
	if l.lib.defs == nil || l.sides[w.index].cipher != nil || !t.searchable(w) {
		return false
	}
	wire := w.buf[w.done : w.done+x.total]
	u := unit{frame: *x, comp: l.sides[w.index].comp, wire: wire}
	read, made := l.codecs.read, l.codecs.made
	message, err := t.open(l, f, &u)
	if err == nil {
		message, _ = l.full(w.index, message)
	}
	l.codecs.read, l.codecs.made = read, made
	if err == nil && len(message) == 0 {
		return false
	}
	if key, _, ok := l.code(w.index, message); ok && err == nil {
		if !closely && w.familiar.has(l.sides[w.index].state, key.Code) {
			w.patience = 0
			return false
		}
		if m := l.message(w.index, key); m != nil && (!closely || l.exact(m, message)) {
			w.familiar.add(l.sides[w.index].state, key.Code)
			w.patience = 0
			return false
		}
	}
	w.unsure = true
	if w.tired > 0 {
		w.tired--
		return false
	}
	if !t.defined(l, w.index) || !t.alone(w) && !t.inside(w, x.total, w.done+x.total) {
		if w.patience = min(w.patience+1, maxPatience+6); w.patience > maxPatience {
			w.tired = 1 << (w.patience - maxPatience)
		}
		return false
	}
	return true
}

// stalls reports whether the incomplete frame at the start of the buffer is none: its code, or what there is of its message, fits no
// definition, and messages certainly start inside it. last reports that no more bytes follow: then it is also judged if there are no
// definitions.
func (t *Transport) stalls(l *leg, w *way, last bool) bool {
	have := len(w.buf) - w.done
	s := &l.sides[w.index]
	if !last && (have < w.doubt || have > maxSearch) || s.cipher != nil && !t.steady || !t.searchable(w) {
		return false
	}
	w.doubt = have + have/4 + maxDoubt
	if t.defined(l, w.index) {
		if t.begins(l, w) {
			return false
		}
	} else if !last && w.trial == 0 {
		return false
	}
	return t.inside(w, have, 0)
}

// begins reports whether the incomplete message at the start of the buffer has a definition, and fits it so far.
func (t *Transport) begins(l *leg, w *way) bool {
	wire := w.buf[w.done:]
	x := cut(&l.state(w.index).Frame[w.index], wire, 0, false, l.sizes[w.index])
	if x.fault > 0 || x.total > 0 || x.before > 0 && x.length > 0 {
		return x.fault == noFault
	}
	present := t.form(l, w.index, l.sides[w.index].state, l.sides[w.index].comp)
	message, wrong := present.codeless(wire[min(x.length, len(wire)):])
	key, _, ok := l.code(w.index, message)
	if wrong || !ok {
		return !wrong
	}
	m := l.message(w.index, key)
	if m == nil {
		return false
	}
	if h := l.state(w.index).Header[w.index]; h != nil && !h.Begins(message) {
		return false
	}
	p, err := l.lib.program(m)
	if err != nil {
		return true
	}
	p.DecodeStart(&l.fields.rec, message)
	return l.fields.rec.Status() == codec.Incomplete
}

// codeless reports whether a message, of which there may be only the first bytes, has a code without a definition, or cannot be compressed as it
// should be. It returns the bytes of an uncompressed message.
func (x *form) codeless(wire []byte) (message []byte, is bool) {
	if x.comp.on {
		if x.comp.header == envelope.NoHeader {
			return nil, false
		}
		v, n := readNumber(&x.comp.number, wire)
		if n <= 0 || v != 0 {
			return nil, n < 0 || n > 0 && x.comp.method == schema.Zlib && len(wire) >= n+2 && !zlibStarts(wire[n:])
		}
		wire = wire[n:]
	}
	if len(wire) <= x.code.At {
		return wire, false
	}
	v, n := readNumber(&x.code.Number, wire[x.code.At:])
	return wire, n < 0 || n > 0 && !x.codes.has(v)
}

// none reports whether certainly no message starts with some bytes. It is cheap, and true of most places.
func (x *form) none(b []byte) bool {
	if x.start != nil && !x.start.Begins(b) {
		return true
	}
	switch f := x.frame; f.Kind {
	case envelope.Length:
		if len(b) <= f.At {
			return false
		}
		v, n := readNumber(&f.Number, b[f.At:])
		if n < 0 || n > 0 && f.Number.Kind != envelope.ZigZag && v > uint64(f.Max)+1<<16 { // at most so many bytes are subtracted
			return true
		}
		if x.codes == nil || n == 0 || f.At > 0 {
			return false
		}
		if !f.Keep {
			b = b[n:]
		}
	case envelope.Measured, envelope.Codes:
		if x.codes == nil {
			return false
		}
	}
	_, is := x.codeless(b)
	return is
}

// zlibStarts reports whether data begin with the header of zlib.
func zlibStarts(b []byte) bool { return b[0]&0xf == 8 && (uint(b[0])<<8|uint(b[1]))%31 == 0 }

// inside looks for a message that starts inside a frame of some bytes and leads to others. If behind is not 0, these pass the end of the frame,
// an index of the buffer, and none of them starts there. If there is one, what is before it is reported, and reading resumes there.
func (t *Transport) inside(w *way, size, behind int) bool {
	first := w.offset + int64(w.done)
	t.lose(w, "", first, certain)
	h := w.resync
	h.tried, h.stop, h.behind = first+1, first+int64(min(size, maxSearch)), behind
	if found := t.find(w, false); found > first {
		t.resume(w, found)
		return true
	}
	w.resync = nil
	return false
}

// exact reports whether a message fits a definition exactly. One that cannot be compiled fits all.
func (l *leg) exact(m *schema.Message, message []byte) bool {
	p, err := l.lib.program(m)
	if err != nil {
		return true
	}
	rec := &l.fields.rec
	p.Decode(rec, message)
	return rec.Status() == 0 && rec.Used == len(message) && (len(m.Body.Tail) == 0 || rec.Unexplained() == 0) // a tail is used whatever precedes it
}

// defined reports whether there are definitions of messages of a direction, in any state.
func (t *Transport) defined(l *leg, way int) bool {
	if l.lib.defs == nil {
		return false
	}
	for i := range l.o.Envelope.States {
		if t.known(l, &l.o.Envelope.States[i], way).bits > 0 {
			return true
		}
	}
	return false
}

// look continues a search, and reports whether it has ended. last reports that no more bytes follow.
func (t *Transport) look(w *way, last bool) bool {
	h := w.resync
	have := len(w.buf) - w.done
	if !last && have < h.looked+h.looked/4+1 {
		return false // too few new bytes since the last attempt
	}
	h.most += workPerByte * max(have-h.looked, 0)
	h.looked = have
	found := t.find(w, last)
	if found < 0 && t.strangers(w, last) {
		found = t.better(w)
	}
	if found < 0 && h.least == aligned && w.offset+int64(w.done) == h.first && (last || have >= maxDoubt) {
		found, h.row, h.form = h.first, 0, h.usual // nothing else is better
	}
	switch {
	case found >= 0:
		t.resume(w, found)
		return true
	case last:
		t.unread(w, have, "no message was found in them")
	case have > maxSearch:
		t.unread(w, have-maxSearch, "no message was found in them")
	case have > maxShown && h.why != "": // nothing was said yet: tell those who watch where no message starts
		n := have
		for _, p := range h.open {
			n = min(n, int(p.at-w.offset)-w.done)
		}
		if h.opens {
			n = min(n, int(h.first-w.offset)-w.done)
		}
		t.unread(w, n, "no message was found in them so far")
	}
	h.looked = len(w.buf) - w.done
	return false
}

// find returns the offset at which a message starts, or -1.
func (t *Transport) find(w *way, last bool) int64 {
	h := w.resync
	t.decipher(w, len(w.buf))
	t.setForms(w)
	from, end := w.offset+int64(w.done), w.next()
	if h.stop > 0 {
		end = min(end, h.stop)
	}
	doubt := h.least < likely && end-from < maxDoubt && !last // nothing else is tried while the first message is incomplete
	kept := h.open[:0]
	found := false
	for _, p := range h.open {
		open := p.at >= from
		if open && !found && (last || p.need <= end) && h.work < h.most {
			found, open = t.judge(w, &p, last)
		}
		if open && !found {
			kept = append(kept, p)
		}
	}
	if h.open = kept; found {
		return t.better(w)
	}
	if doubt && len(h.open) > 0 && h.open[0].at == h.first {
		return -1
	}
	usual := &h.forms[h.usual]
	for h.tried = max(h.tried, from); h.tried < end && h.work < h.most; h.tried++ {
		if len(h.forms) == 1 && usual.none(w.buf[h.tried-w.offset:]) { // as at most places
			continue
		}
		for n := range h.forms {
			p := place{at: h.tried, form: n}
			if n == 0 {
				p.form = h.usual // first
			} else if n <= h.usual {
				p.form = n - 1
			}
			found, open := t.judge(w, &p, last)
			if found {
				return t.better(w)
			}
			if open {
				if h.open = append(h.open, p); doubt && p.at == h.first {
					return -1
				}
			}
		}
	}
	return -1
}

// judge tries a place. found reports that messages certainly start there, and open that more bytes are needed.
func (t *Transport) judge(w *way, p *place, last bool) (found, open bool) {
	h := w.resync
	at := int(p.at - w.offset)
	if h.forms[p.form].none(w.buf[at:]) {
		return false, false
	}
	least := certain + bits.Len(uint(len(w.buf)-w.done))
	nearly := least - atPacket
	if p.at == h.first {
		least, nearly = h.least, h.least
	}
	if p.form != h.usual {
		least, nearly = max(least, likely)+other, max(nearly, likely)+other
	}
	if h.forms[p.form].codes == nil && t.o.Measure == nil {
		least, nearly = least+nameless, nearly+nameless
	} else if last { // no other place can be better
		least, nearly = least-atEnd, nearly-atEnd
	}
	c := t.chain(w, &h.forms[p.form], at, nearly, last)
	if c.fits && c.bits < least {
		if _, starts := w.packetAt(p.at); !starts {
			c = t.chain(w, &h.forms[p.form], at, least, last)
		}
	}
	if c.fits {
		h.found, h.row, h.form = p.at, c.frames, p.form
		return true, false
	}
	p.need = w.offset + int64(c.need)
	return false, c.need > 0
}

// better returns the place inside the first message at the found one from which there is more evidence for the same continuation, or else the
// found place: a place just before a true start can lead to it by chance.
func (t *Transport) better(w *way) int64 {
	h := w.resync
	if h.found == h.first {
		return h.found
	}
	form := &h.forms[h.form]
	if t.leads(w, form) {
		h.found = h.first
		return h.found
	}
	at := int(h.found - w.offset)
	first := t.chain(w, form, at, 0, false)
	best, to := first.bits, at+first.size
	for k := at + 1; k < min(to, len(w.buf)) && h.work < h.most+firstWork; k++ {
		sum := 0
		for pos := k; pos < to; {
			c := t.chain(w, form, pos, 0, false)
			if c.size == 0 {
				break
			}
			sum += c.bits
			if pos += c.size; pos == to && sum > best {
				best, h.found = sum, w.offset+int64(k)
			}
		}
	}
	return h.found
}

// leads reports whether frames from the most likely place lead to the found messages. What they hold need not be known: that they do is more
// than chance.
func (t *Transport) leads(w *way, form *form) bool {
	h := w.resync
	at, to := int(h.first-w.offset), int(h.found-w.offset)
	if at < w.done || h.behind > 0 {
		return false
	}
	for range maxLeading {
		c := t.chain(w, form, at, 0, false)
		if at += c.size; c.size == 0 || c.wrong {
			return false
		}
		for n := 0; to < at && n <= h.row; n++ {
			to += t.chain(w, form, to, 0, false).size
		}
		if to <= at {
			return to == at
		}
	}
	return false
}

// resume ends a search at a place.
func (t *Transport) resume(w *way, at int64) {
	h := w.resync
	s := &t.legs[w.index].sides[w.index]
	x := h.forms[h.form]
	n := int(at - w.offset - int64(w.done))
	how := ""
	if h.row > 0 {
		how = fmt.Sprintf("%d messages in a row fit", h.row)
		if h.row == 1 {
			how = "the message fits"
		}
	}
	if x.blind {
		how += " by their lengths, without definitions"
	}
	if s.state != x.state && !t.o.Envelope.Forms {
		how = transport.Join(how, fmt.Sprintf("the state is %q", t.legs[w.index].o.Envelope.States[x.state].Name))
	}
	if !s.comp.sameForm(x.comp) {
		if how = transport.Join(how, "messages are compressed"); !x.comp.on {
			how = transport.Join(how, "messages are not compressed")
		}
	}
	if h.failed > 0 { // of a code without a size
		w.learnt.learn(h.unsized, int(at+1-h.failed))
		how = transport.Join(how, w.learnt.text(h.unsized))
	}
	if n > 0 {
		place := "resumed"
		if p, _ := w.packetAt(at); p > 0 {
			place = fmt.Sprintf("resumed at packet %d", p)
		}
		t.unread(w, n, transport.Join(place, how))
	} else if x.blind || x.state != s.state && !t.o.Envelope.Forms || !s.comp.sameForm(x.comp) {
		w.note = how
	}
	s.state, s.comp = x.state, x.comp
	if w.resync, w.lost, w.trial = nil, w.lost || n > 0, 0; x.codes == nil && t.o.Measure == nil {
		w.trial = onTrial
	}
	if t.resumed != nil {
		t.resumed(w)
	}
}

// unread reports n bytes that cannot be read, in one row, and passes them.
func (t *Transport) unread(w *way, n int, note string) {
	if n <= 0 {
		return
	}
	f := t.begin(w, transport.Problem, w.offset+int64(w.done), w.arrival(n))
	f.Bytes = w.buf[w.done : w.done+n]
	t.from = w.appendSources(t.from[:0], 0, n)
	f.From, f.Resumed = t.from, w.lost
	f.Note = sizeText(n) + " not read"
	if w.resync != nil && w.resync.why != "" {
		f.Note, w.resync.why = transport.Join(w.resync.why, f.Note), ""
	}
	f.Note = transport.Join(f.Note, note)
	t.forward(w, n)
	t.emit(f)
	w.pass(n)
	w.plain = max(w.plain, w.done)
	w.lost = true
	w.compact()
}

// forward passes the next n bytes, which are not a frame, to the rewriter, if there is one, unless they were passed before. They remain in the
// buffer.
func (t *Transport) forward(w *way, n int) {
	from := max(w.offset+int64(w.done), w.passed)
	to := w.offset + int64(w.done+n)
	if t.take == nil || from >= to {
		return
	}
	w.passed = to
	inner := t.unit.inner[:0]
	t.unit = unit{w: w, wire: w.buf[from-w.offset : to-w.offset], offset: from, inner: inner}
	t.take(&t.unit)
}

// sizeText formats a number of bytes.
func sizeText(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return thousands(n) + " bytes"
}

// chain is what the frames from a place on show.
type chain struct {
	frames int
	size   int  // bytes of the first frame; 0 if it is incomplete
	wrong  bool // the first frame cannot be one
	bits   int
	fits   bool // the evidence is sufficient
	need   int  // index in the buffer required to judge it further; 0: no message starts at the place
}

// chain reads frames from an index of the buffer on, until they show a number of bits: only the first frame if that is 0. If no more bytes
// follow, frames that end where the bytes end are sufficient at the most likely place.
func (t *Transport) chain(w *way, x *form, at, least int, last bool) (c chain) {
	l := t.legs[w.index]
	s := &l.sides[w.index]
	state, comp := s.state, s.comp
	read, made := l.codecs.read, l.codecs.made
	s.state, s.comp = x.state, x.comp
	w.resync.codes, w.resync.blind = x.codes, x.blind
	pos := at
	for c.frames < maxRow {
		if pos == len(w.buf) {
			c.need = pos + 1
			break
		}
		if need, ok := l.shape(w.index, w.buf[pos:]); need > 0 {
			c.need = max(pos+need, len(w.buf)+1)
			break
		} else if !ok || c.frames == 0 && s.state != x.state {
			c.need, c.bits, c.wrong = 0, c.bits-impossible, c.frames == 0 || c.wrong
			break
		}
		f := &l.o.Envelope.States[s.state].Frame[w.index]
		cut := cut(f, w.buf[pos:], 0, false, l.sizes[w.index])
		w.learnt.apply(&cut, w.buf[pos:])
		if cut.fault > 0 {
			c.need, c.bits = 0, c.bits-impossible
			break
		}
		if cut.total == 0 {
			c.need = pos + max(cut.need, len(w.buf)-pos+1)
			break
		}
		before := l.codecs.made
		n := t.weigh(l, w, f, &cut, w.buf[pos:pos+cut.total])
		w.resync.work += int(l.codecs.made - before)
		if c.frames == 0 {
			if c.size, c.wrong = cut.total, n <= -impossible; n <= 0 {
				break
			}
		}
		c.bits, c.frames, pos = c.bits+n, c.frames+1, pos+cut.total
		if b := w.resync.behind; b > 0 && pos == b {
			break
		} else if pos < b {
			continue
		}
		if c.fits = c.bits >= least; c.fits || c.bits < -impossible {
			break
		}
	}
	if last && !c.fits && c.frames > 0 && pos == len(w.buf) {
		c.fits = c.bits+bits.Len(uint(pos-at)) >= least // by chance, frames rarely end where the bytes end
	}
	if last && !c.fits && c.frames > 0 && pos == len(w.buf) && w.offset+int64(at) == w.resync.first && x.state == state && x.comp == comp {
		c.fits = c.bits > 0
	}
	s.state, s.comp = state, comp
	l.codecs.read, l.codecs.made = read, made
	return c
}

// weigh returns the bits of evidence that a frame is one.
func (t *Transport) weigh(l *leg, w *way, f *envelope.Framing, x *frame, wire []byte) (n int) {
	way, resync := w.index, w.resync
	number := func(of *envelope.Framing) {
		if v, size := readNumber(&of.Number, wire[of.At:]); size > 0 && len(wire) > of.At+size { // zeros are too common to be evidence
			n += max(8*size-bits.Len64(v), 0)
		}
	}
	listed := 0
	switch f.Kind {
	case envelope.Length:
		number(f)
	case envelope.Codes:
		if v, size := readNumber(&f.Number, wire[f.At:]); size > 0 {
			c := sizeOf(f, v)
			if c != nil && c.Length != nil {
				number(c.Length)
			}
			if c != nil && !c.Other {
				listed = max(8*size-bits.Len(uint(len(f.Sizes))), 0)
			}
		}
	}
	s := &l.sides[way]
	if s.comp.on && s.comp.header != envelope.NoHeader {
		message := wire[min(x.before+x.length, len(wire)):]
		switch v, size := readNumber(&s.comp.number, message); {
		case size <= 0:
			return -impossible
		case v == 0:
			n += 8 * size
		case s.comp.method == schema.Zlib && (len(message) < size+2 || !zlibStarts(message[size:])):
			return -impossible
		default:
			n += 16
		}
	} else if s.comp.on {
		n += 16
	}
	message := wire[x.length : x.total-x.after]
	if s.comp.on || x.before > 0 && x.length > 0 {
		var err error
		if message, err = t.open(l, f, &unit{frame: *x, comp: s.comp, wire: wire}); err != nil {
			return -impossible
		}
	}
	if l.o.Measure != nil {
		return measures
	}
	message, _ = l.full(way, message)
	if h := l.state(way).Header[way]; h != nil && h.Checks() > 0 {
		if resync.codes != nil && len(message) > small && !t.fits(l, w, message) {
			return min(n, 0) - misfit // too many places look so to sum all their bytes
		}
		if resync.work += len(message); resync.blind {
			resync.work += 15 * len(message) // as there are many more
		}
		if h.Wrong(message, l.extra(way, message)) != nil {
			return -impossible
		}
		n += h.Checks()
	}
	if l.state(way).Code[way].Number.Kind == envelope.NoNumber {
		return n + listed
	}
	key, _, ok := l.code(way, message)
	if !ok {
		return n - misfit
	}
	size := 8 * numberSize(&l.state(way).Code[way].Number, uint64(key.Code))
	seen := 0 // bits that an earlier message of the code shows; most codes of a byte are seen sooner or later
	if size > 8 && slices.Contains(w.codes.all(), key.Code) {
		seen = size - bits.Len(uint(len(w.codes.all())))
	}
	known := resync.codes
	if known == nil && seen == 0 && size > 8 && w.codes.n >= someCodes && !resync.blind {
		return min(n, 0) // nor does an earlier message
	}
	if known == nil {
		return n + max(seen, listed)
	}
	var m *schema.Message
	if known.has(uint64(key.Code)) {
		m = l.message(way, key)
	}
	if m == nil && seen > 0 {
		return min(n, 0)
	}
	if m == nil {
		return min(n, 0) - misfit
	}
	n += max(size-known.bits, listed)
	if f.Kind == envelope.Measured { // it was decoded to be cut
		resync.work += x.total
		return n
	}
	fits := l.exact(m, message)
	if resync.work += l.fields.rec.Used; !fits {
		return min(n, 0) - misfit
	}
	if f.Kind == envelope.Codes { // the size follows from the code
		return n
	}
	return n + bits.Len(uint(len(message)))
}

// fits reports whether a message has a definition that it fits exactly.
func (t *Transport) fits(l *leg, w *way, message []byte) bool {
	key, _, ok := l.code(w.index, message)
	if !ok {
		return false
	}
	m := l.message(w.index, key)
	if m == nil {
		return false
	}
	fits := l.exact(m, message)
	w.resync.work += l.fields.rec.Used
	return fits
}

// codes are those with definitions in a state and direction.
type codes struct {
	bits  int       // the binary logarithm of their number, at least 1; 0 if there are none
	low   [256]bool // those below 256
	of    schema.Key
	defs  Definitions
	words []twoBytes // of all other codes of two bytes; nil: none was looked up
}

type twoBytes struct{ asked, found uint64 } // each code is a bit

// has reports whether a code has a definition. In noise most have none.
func (c *codes) has(v uint64) bool {
	if v < uint64(len(c.low)) {
		return c.low[v]
	}
	return c.hasLong(v)
}

func (c *codes) hasLong(v uint64) bool {
	c.of.Code = uint32(v)
	if v >= 1<<16 {
		return v < 1<<32 && c.defs.Lookup(c.of) != nil
	}
	if c.words == nil {
		c.words = make([]twoBytes, 1<<16/64)
	}
	w, bit := &c.words[v/64], uint64(1)<<(v%64)
	if w.asked&bit == 0 {
		if w.asked |= bit; c.defs.Lookup(c.of) != nil {
			w.found |= bit
		}
	}
	return w.found&bit != 0
}

// known returns the codes with definitions in a state.
func (t *Transport) known(l *leg, s *envelope.State, way int) *codes {
	number := &s.Code[way].Number
	of := schema.Key{Dir: dirs[way], Group: s.Group[way]}
	if c := l.lib.codes[of]; c != nil {
		return c
	}
	c := &codes{of: of, defs: l.lib.defs}
	most := uint32(256)
	if number.Kind == envelope.NoNumber {
		most = 0
	} else if number.Kind != envelope.UInt {
		most = probes
	} else if number.Size > 1 {
		most = 1 << 16
	}
	n := t.count(l, c, of, most, max(most/probes, 1))
	if n < fewProbed && most > probes { // they may lie between the probes
		n = t.count(l, c, of, most, 1)
	}
	c.bits = bits.Len32(n)
	if l.lib.codes == nil {
		l.lib.codes = map[schema.Key]*codes{}
	}
	l.lib.codes[of] = c
	return c
}

// count looks up those of the codes below most that are below 256 or multiples of step, and estimates how many there are.
func (t *Transport) count(l *leg, c *codes, of schema.Key, most, step uint32) (n uint32) {
	for code := range most {
		if code >= 256 && code%step != 0 {
			continue
		}
		if of.Code = code; l.lib.defs.Lookup(of) == nil {
			continue
		}
		if n++; code < 256 {
			c.low[code] = true
		} else {
			n += step - 1 // those that are not looked up are as many
		}
	}
	return n
}

// form returns what messages look like in a state, with a compression.
func (t *Transport) form(l *leg, way, state int, c compression) form {
	s := &l.o.Envelope.States[state]
	x := form{state: state, comp: c, frame: &s.Frame[way], code: &s.Code[way]}
	if l.lib.defs != nil {
		x.codes = t.known(l, s, way)
	}
	if l.o.Envelope.Forms {
		x.start = s.Header[way]
	}
	return x
}

// setForms sets the states and compressions that messages of a direction may have.
func (t *Transport) setForms(w *way) {
	h := w.resync
	l := t.legs[w.index]
	e := l.o.Envelope
	s := &l.sides[w.index]
	base := newCompression(&e.Compress[w.index])
	comps := []compression{base}
	add := func(c compression) {
		if !slices.ContainsFunc(comps, c.sameForm) {
			comps = append(comps, c)
		}
	}
	for i := range e.States {
		for k := range e.States[i].Rules {
			r := &e.States[i].Rules[k]
			for j := range r.Actions {
				if a := &r.Actions[j]; a.Kind == envelope.Compress && envelope.Ways(a.Dir, w.index) {
					c := base.change(&a.Compress, 0)
					if a.Compress.Field != "" {
						c.from = unknownLeast
					}
					add(c)
				}
			}
		}
	}
	add(s.comp)
	h.forms, h.usual = h.forms[:0], 0
	defined := t.defined(l, w.index)
	for _, c := range comps {
		for i := range e.States {
			if len(h.forms) == maxForms || e.States[i].Frame[w.index].Kind == envelope.NoFraming {
				continue
			}
			if i == s.state && c.sameForm(s.comp) {
				h.usual, c = len(h.forms), s.comp
			}
			x := t.form(l, w.index, i, c)
			if !defined {
				x.codes = nil
			}
			h.forms = append(h.forms, x)
		}
	}
}

// strangers looks for messages without definitions, which may be of another version, once none was found with one.
func (t *Transport) strangers(w *way, last bool) bool {
	h := w.resync
	x := h.forms[h.usual]
	end := w.next()
	if x.codes == nil && w.codes.n < someCodes || h.stop > 0 || x.comp.on ||
		x.frame.Kind != envelope.Length || x.frame.Number.Size < 2 || x.code.Number.Size < 2 {
		return false
	}
	x.codes, x.blind = nil, true
	h.forms = append(h.forms, x)
	starts := func(at int64) (found, open bool) {
		return t.judge(w, &place{at: at, form: len(h.forms) - 1}, last)
	}
	from, found := w.offset+int64(w.done), false
	if h.opens = false; h.first >= from {
		found, h.opens = starts(h.first)
	}
	if found || !last && end-h.nameless < maxDoubt {
		return found
	}
	at := max(h.nameless, from)
	for ; at < end && h.work < h.most; at++ {
		if found, _ = starts(at); found {
			return true
		}
	}
	h.nameless = min(at, end-small)
	return false
}

// unknownLeast is the least size of compressed messages of a connection of which the size was not seen: messages are not compressed then.
const unknownLeast = 1 << 40
