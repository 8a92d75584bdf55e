package paste

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
)

// builder is a candidate: one reading of the whole text, with the messages that it finds and the parts of the text that it does not
// explain. The bytes of all messages are in one slice, so that a text of a million small messages costs few allocations.
type builder struct {
	form, why string
	title     string // "" for the title of the form
	out       []byte
	msgs      []Message
	places    []place // of msgs
	notes     []Note
	moreNotes int
	peers     []string
	conns     []transport.Conn
	stream    bool

	// The message that is read: the bytes of out from start on, at first in the text.
	open         bool
	m            Message
	start, first int

	label []line // lines before the next message, which may tell about it

	strict  bool   // what is not covered is not explained; else only what was left
	covered []span // parts of the text that are bytes, or are known to belong to them
	left    []span // parts of the text that are not explained
	lost    int    // characters that are not explained and have a note of their own
}

// span is a part of the text.
type span struct{ from, to int }

type place struct{ start, end, off int }

// add appends a message: the bytes of out from start on. off is its position in the text.
func (b *builder) add(m Message, start, off int) *Error {
	if len(b.msgs) >= MaxMessages {
		return errTooManyMessages(off)
	}
	b.msgs = append(b.msgs, m)
	b.places = append(b.places, place{start, len(b.out), off})
	return nil
}

// begin ends the message that is read, and begins another one at off in the text.
func (b *builder) begin(m Message, off int) *Error {
	e := b.end()
	b.open, b.m, b.start, b.first = true, m, len(b.out), off
	return e
}

// end ends the message that is read, if there is one.
func (b *builder) end() *Error {
	if !b.open {
		return nil
	}
	b.open = false
	return b.add(b.m, b.start, b.first)
}

// whole ends the reading of a text: that it has no messages is an error too, as told.
func (b *builder) whole(e *Error, none string) (*builder, *Error) {
	if e == nil {
		b.leaveLabel(len(b.label))
		e = b.end()
	}
	if e == nil && len(b.msgs) == 0 {
		e = errWhole("%s", none)
	}
	if e != nil {
		return nil, e
	}
	return b, nil
}

// noBytes is the error for a text without messages.
const noBytes = "there are no bytes of this form in the text"

// room returns an error if n more bytes do not fit: only counts of repeats and words in few digits can make more bytes than the text has.
func (b *builder) room(n uint64, off int) *Error {
	if n > MaxBytes || uint64(len(b.out))+n > MaxBytes {
		return errTooManyBytes(off)
	}
	return nil
}

func (b *builder) note(off int, format string, args ...any) {
	if len(b.notes) >= maxNotes {
		b.moreNotes++
		return
	}
	b.notes = append(b.notes, Note{Message: fmt.Sprintf(format, args...), off: off})
}

// cover marks a part of the text as explained.
func (b *builder) cover(s span) { b.covered = appendSpan(b.covered, s) }

// leave marks a part of the text as not explained.
func (b *builder) leave(s span) { b.left = appendSpan(b.left, s) }

// addLabel adds a line without bytes, which may tell about the next message. Of more than most lines the first is not explained.
func (b *builder) addLabel(l line, most int) {
	if b.label = append(b.label, l); len(b.label) > most {
		b.leaveLabel(1)
	}
}

// leaveLabel gives the first n lines of the label up.
func (b *builder) leaveLabel(n int) {
	for _, l := range b.label[:n] {
		b.leave(span{l.off, l.off + len(l.text)})
	}
	b.label = b.label[:copy(b.label, b.label[n:])]
}

// takeLabel returns the words before the next message.
func (b *builder) takeLabel() string {
	var words strings.Builder
	for _, l := range b.label {
		words.WriteString(" " + l.text)
	}
	b.label = b.label[:0]
	return words.String()
}

// appendSpan appends a span, or extends the last one.
func appendSpan(list []span, s span) []span {
	if n := len(list) - 1; n >= 0 && list[n].from <= s.from && s.from <= list[n].to {
		list[n].to = max(list[n].to, s.to)
		return list
	}
	if s.from < s.to {
		list = append(list, s)
	}
	return list
}

// unexplained returns the number of characters of the text that the candidate does not explain. It finds them first.
func (b *builder) unexplained(t *pasted) int {
	if b.strict {
		slices.SortFunc(b.covered, func(x, y span) int { return x.from - y.from })
		b.left, b.strict = b.left[:0], false
		at := 0
		for _, c := range append(b.covered, span{len(t.s), len(t.s)}) {
			if at < c.from && hasWords(t.s[at:c.from]) {
				b.left = append(b.left, span{at, c.from})
			}
			at = max(at, c.to)
		}
	}
	n := b.lost
	for _, gap := range b.left {
		n += inked(t.s[gap.from:gap.to])
	}
	return n
}

// inked returns the number of characters that are not white space.
func inked(s string) (n int) {
	for i := range len(s) {
		if s[i] > ' ' {
			n++
		}
	}
	return n
}

// hasWords reports whether a text is more than punctuation.
func hasWords(s string) bool {
	for i := range len(s) {
		if scan.IsWord(s[i]) && s[i] != '_' || s[i] >= 0x80 {
			return true
		}
	}
	return false
}

// maxLeft bounds the notes on what was not read.
const maxLeft = 20

// tellLeft adds notes on what was not read: the one place that names it.
func (b *builder) tellLeft(t *pasted) {
	b.unexplained(t)
	whole := b.left[:0] // without the blank lines between
	for _, gap := range b.left {
		if n := len(whole) - 1; n >= 0 && strings.TrimSpace(t.s[whole[n].to:gap.from]) == "" {
			whole[n].to = gap.to
		} else {
			whole = append(whole, gap)
		}
	}
	for i, gap := range whole {
		if i == maxLeft {
			b.note(gap.from, "%d more parts of the text were not read", len(whole)-i)
			return
		}
		text := strings.TrimSpace(t.s[gap.from:gap.to])
		from := gap.from + strings.Index(t.s[gap.from:gap.to], text)
		first, rest, more := strings.Cut(text, "\n")
		if first = strings.TrimSpace(first); len(first) > 60 {
			first = strings.ToValidUTF8(first[:60], "") + "…"
		}
		if more {
			b.note(from, "these %d lines were not read, from %s on", strings.Count(rest, "\n")+2, scan.Quote(first))
		} else {
			b.note(from, "not read: %s", scan.Quote(first))
		}
	}
}

// finish returns the Paste.
func (b *builder) finish(t *pasted) *Paste {
	b.tellLeft(t)
	p := &Paste{
		Form: b.form, Title: b.title, Why: b.why, Messages: b.msgs, Notes: b.notes, Peers: b.peers, Conns: b.conns, Stream: b.stream,
	}
	if f := formByID(b.form); f != nil && p.Title == "" {
		p.Title = f.Title
	}
	c := cursor{text: t.s}
	for i, at := range b.places {
		p.Messages[i].Bytes = b.out[at.start:at.end:at.end]
		p.Messages[i].Line, _ = c.position(at.off)
	}
	slices.SortStableFunc(p.Notes, func(a, b Note) int { return a.off - b.off })
	c = cursor{text: t.s}
	for i := range p.Notes {
		p.Notes[i].Line, p.Notes[i].Column = c.position(p.Notes[i].off)
	}
	if b.moreNotes > 0 {
		last := &p.Notes[len(p.Notes)-1]
		last.Message += "; further notes are not shown"
	}
	p.LookForPackets()
	return p
}

// score weighs the bytes that a candidate finds, which take four characters or less in most spellings, against what it leaves unexplained.
func (b *builder) score(t *pasted) int {
	n := 0
	for _, at := range b.places {
		n += at.end - at.start
	}
	return 4*n - b.unexplained(t)
}

// choose returns the reading of the text with the best score. Of equal ones it is the first in the order of the recognisers, the most
// distinctive signatures first; one that explains everything ends the search.
func choose(t *pasted) (best *builder, nearest *Error) {
	most := 0
	for _, r := range recognisers {
		b, e := r.try(t)
		switch {
		case b != nil && len(b.msgs) > 0:
			if n := b.score(t); best == nil || n > most {
				best, most = b, n
			}
		case e != nil:
			if e.Form == "" && e.strength > weak && !r.family {
				e.Form = r.ID
			}
			if nearest == nil || e.strength > nearest.strength {
				nearest = e
			}
		}
		if best != nil && best.unexplained(t) == 0 {
			return best, nil
		}
		if e != nil && e.strength == certain {
			break
		}
	}
	if best != nil {
		return best, nil
	}
	if nearest == nil || nearest.strength == weak {
		nearest = errNothing(nearest)
	}
	return nil, nearest
}
