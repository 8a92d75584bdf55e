package collab

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
)

// Text is a text in UTF-16 code units, the units of positions in browsers. Lines end with a line feed.
type Text []uint16

// NewText returns a text. Callers convert other line ends first.
func NewText(s string) Text { return make(Text, 0, len(s)).appendString(s) }

func (t Text) appendString(s string) Text {
	for _, r := range s {
		t = utf16.AppendRune(t, r)
	}
	return t
}

func (t Text) String() string { return string(utf16.Decode(t)) }

// Span is a part of a [Change]: units that stay, or units that are replaced.
type Span struct {
	Len  int  // units of the text before
	Keep bool // the units stay
	Text Text // replaces them
}

// after returns the number of units after the change.
func (s Span) after() int {
	if s.Keep {
		return s.Len
	}
	return len(s.Text)
}

// Change is a change of a text. Its spans cover the whole text before, in order. Changes have the meaning and the JSON of the ChangeSet of
// CodeMirror: an array with a number for units that stay, and an array [units, line, line ...] for units that are replaced by lines.
type Change []Span

// Bounds of a change.
const (
	maxSpans = 20_000
	maxUnits = 4 << 20 // of a text
)

// Errors of changes.
var (
	errLength = errors.New("the change is for a text of another length")
	errSplit  = errors.New("the change splits a character")
)

// Before returns the length of the text before the change.
func (c Change) Before() (n int) {
	for _, s := range c {
		n += s.Len
	}
	return n
}

// After returns the length of the text after the change.
func (c Change) After() (n int) {
	for _, s := range c {
		n += s.after()
	}
	return n
}

// IsEmpty reports whether the change changes nothing.
func (c Change) IsEmpty() bool {
	return !slices.ContainsFunc(c, func(s Span) bool { return !s.Keep })
}

// add appends a span, joined with the previous one where both stay, both are removed, or both are inserted at one place. With join it
// becomes part of the previous one in any case.
//
// A text is clipped when it is taken from another change, so that joining copies it once and then appends to memory of its own: many texts
// that are joined one by one cost their length, not its square.
func (c Change) add(s Span, join bool) Change {
	if s.Len == 0 && (s.Keep || len(s.Text) == 0) {
		return c
	}
	s.Text = slices.Clip(s.Text)
	if len(c) == 0 {
		return append(c, s)
	}
	last := &c[len(c)-1]
	switch {
	case s.Keep:
		if last.Keep {
			last.Len += s.Len
			return c
		}
	case len(s.Text) == 0 && !last.Keep && len(last.Text) == 0:
		last.Len += s.Len
		return c
	case s.Len == 0 && last.Len == 0 && !last.Keep:
		last.Text = append(last.Text, s.Text...)
		return c
	}
	if join {
		last.Len += s.Len
		last.Text = append(last.Text, s.Text...)
		return c
	}
	return append(c, s)
}

// Apply returns the changed text.
func (c Change) Apply(t Text) (Text, error) {
	if c.Before() != len(t) {
		return nil, errLength
	}
	out := make(Text, 0, c.After())
	at := 0
	for _, s := range c {
		if s.Keep {
			out = append(out, t[at:at+s.Len]...)
		} else {
			if splits(t, at) || splits(t, at+s.Len) {
				return nil, errSplit
			}
			out = append(out, s.Text...)
		}
		at += s.Len
	}
	return out, nil
}

// splits reports whether a position is inside a character.
func splits(t Text, at int) bool {
	return at > 0 && at < len(t) && t[at-1]>>10 == 0xd800>>10 && t[at]>>10 == 0xdc00>>10
}

// walk goes through the spans of a change, whole or in pieces.
type walk struct {
	of   Change
	i    int // index of the span
	Span     // the rest of it; the text stays whole while pieces of the units before are taken
	off  int // units taken of it
	done bool
}

func (c Change) walk() *walk {
	w := &walk{of: c, i: -1}
	w.next()
	return w
}

func (w *walk) next() {
	w.i++
	w.off = 0
	if w.done = w.i >= len(w.of); w.done {
		w.Span = Span{}
		return
	}
	w.Span = w.of[w.i]
}

// forward takes units of the text before.
func (w *walk) forward(n int) {
	if n == w.Len {
		w.next()
		return
	}
	w.Len -= n
	w.off += n
}

// forwardAfter takes units of the text after.
func (w *walk) forwardAfter(n int) {
	switch {
	case w.Keep:
		w.forward(n)
	case n == len(w.Text):
		w.next()
	default:
		w.Text = w.Text[n:]
		w.off += n
	}
}

// replaces reports whether the walk is at units that are replaced.
func (w *walk) replaces() bool { return !w.done && !w.Keep }

// Map returns the change for the text that another change of the same text has made. Where both insert at one place, the text of c comes
// first if first, otherwise that of the other one.
func (c Change) Map(over Change, first bool) (Change, error) {
	if c.Before() != over.Before() {
		return nil, errLength
	}
	var out Change
	a, b := c.walk(), over.walk()
	told := -1 // span of c whose text has been inserted, while its units are taken in pieces
	for !a.done || !b.done {
		switch {
		case a.Keep && b.Keep:
			n := min(a.Len, b.Len)
			out = out.add(Span{Len: n, Keep: true}, false)
			a.forward(n)
			b.forward(n)
		case b.replaces() && (!a.replaces() || told == a.i || a.off == 0 && (b.Len < a.Len || b.Len == a.Len && !first)):
			// The other change comes before the next one of c: by start, then by length. What c does with these units is done.
			out = out.add(Span{Len: len(b.Text), Keep: true}, false)
			for left := b.Len; left > 0; {
				n := min(a.Len, left)
				if a.replaces() && told < a.i && a.Len <= n {
					out = out.add(Span{Text: a.Text}, false)
					told = a.i
				}
				a.forward(n)
				left -= n
			}
			b.next()
		case a.replaces():
			// The part of this change up to the next insertion of the other one.
			n, left := 0, a.Len
			for left > 0 {
				if b.Keep {
					piece := min(left, b.Len)
					n += piece
					left -= piece
					b.forward(piece)
				} else if !b.done && len(b.Text) == 0 && b.Len < left {
					left -= b.Len
					b.next()
				} else {
					break
				}
			}
			s := Span{Len: n}
			if told < a.i {
				s.Text = a.Text
			}
			out = out.add(s, false)
			told = a.i
			a.forward(a.Len - left)
		default:
			return nil, errLength
		}
	}
	return out, nil
}

// Then returns one change that does what c does and then what next does.
func (c Change) Then(next Change) (Change, error) {
	if c.After() != next.Before() {
		return nil, errLength
	}
	var out Change
	a, b := c.walk(), next.walk()
	open := false // the last span of out is not finished
	for !a.done || !b.done {
		switch {
		case a.replaces() && len(a.Text) == 0:
			out = out.add(Span{Len: a.Len}, open)
			a.next()
		case !b.done && b.Len == 0:
			out = out.add(Span{Text: b.Text}, open)
			b.next()
		case a.done || b.done:
			return nil, errLength
		default:
			n, spans := min(a.Span.after(), b.Len), len(out)
			s := Span{}
			switch {
			case a.Keep && b.Keep:
				s = Span{Len: n, Keep: true}
			case a.Keep:
				s.Len = n
			case a.off == 0:
				s.Len = a.Len
			}
			switch {
			case b.Keep && !a.Keep:
				s.Text = a.Text[:n]
			case !b.Keep && b.off == 0:
				s.Text = b.Text
			}
			goesOn := a.replaces() && len(a.Text) > n || !b.Keep && b.Len > n
			out = out.add(s, open && !s.Keep)
			open = goesOn && (open || len(out) > spans)
			a.forwardAfter(n)
			b.forward(n)
		}
	}
	return out, nil
}

// Steps of work, the measure of what changes cost: a span that is walked over, or unitsPerStep units that are copied. Both take about as long.
const unitsPerStep = 256

// mapSteps returns the work of mapping two changes over each other.
func mapSteps(a, b Change) int { return 2 * (len(a) + len(b)) }

// applySteps returns the work of applying the change to a text.
func (c Change) applySteps(t Text) int { return len(c) + len(t)/unitsPerStep }

// Position returns the place of a position after the change. Where text is inserted at the position, or around it units are replaced, it
// comes before the new text if side < 0, otherwise after it.
func (c Change) Position(at, side int) int {
	before, after := 0, 0
	for _, s := range c {
		end := before + s.Len
		if s.Keep {
			if end > at {
				return after + at - before
			}
		} else if end > at || end == at && side < 0 && s.Len == 0 {
			if at == before || side < 0 {
				return after
			}
			return after + len(s.Text)
		}
		after += s.after()
		before = end
	}
	return after
}

// Places moves positions to their places after the change, as Position with side > 0 does, in one walk over the spans.
func (c Change) Places(at []*int) {
	slices.SortFunc(at, func(a, b *int) int { return *a - *b })
	before, after := 0, 0
	for _, s := range c {
		for end := before + s.Len; len(at) > 0 && *at[0] < end; at = at[1:] {
			switch {
			case s.Keep:
				*at[0] += after - before
			case *at[0] == before:
				*at[0] = after
			default:
				*at[0] = after + len(s.Text)
			}
		}
		before += s.Len
		after += s.after()
	}
	for _, p := range at {
		*p = after
	}
}

// ThenAll is Then for several updates. It returns ErrWork if they take more than MaxSteps.
func (c Change) ThenAll(next []Update) (Change, error) {
	steps := 0
	for _, u := range next {
		if steps += len(c) + len(u.Change); steps > MaxSteps {
			return nil, ErrWork
		}
		var err error
		if c, err = c.Then(u.Change); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// MarshalJSON returns the JSON of CodeMirror.
func (c Change) MarshalJSON() ([]byte, error) {
	parts := make([]any, len(c))
	for i, s := range c {
		switch {
		case s.Keep:
			parts[i] = s.Len
		case len(s.Text) == 0:
			parts[i] = []any{s.Len}
		default:
			part := []any{s.Len}
			for line := range strings.SplitSeq(s.Text.String(), "\n") {
				part = append(part, line)
			}
			parts[i] = part
		}
	}
	return json.Marshal(parts)
}

// UnmarshalJSON reads the JSON of CodeMirror.
func (c *Change) UnmarshalJSON(data []byte) error {
	if hasLoneSurrogate(data) {
		return errSplit
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return errors.New("a change is an array of numbers and arrays")
	}
	if len(parts) > maxSpans {
		return fmt.Errorf("a change has more than %d parts", maxSpans)
	}
	out, all := Change{}, 0
	for _, part := range parts {
		s, err := parseSpan(part)
		if err != nil {
			return err
		}
		if all += s.Len + len(s.Text); all > 2*maxUnits {
			return fmt.Errorf("a change covers more than %d units", maxUnits)
		}
		out = append(out, s)
	}
	*c = out
	return nil
}

func parseSpan(part []byte) (Span, error) {
	var units int
	if json.Unmarshal(part, &units) == nil {
		if units < 1 || units > maxUnits {
			return Span{}, fmt.Errorf("%d units cannot stay", units)
		}
		return Span{Len: units, Keep: true}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(part, &list); err != nil || len(list) == 0 {
		return Span{}, errors.New("a part of a change is a number, or a number and lines")
	}
	if err := json.Unmarshal(list[0], &units); err != nil || units < 0 || units > maxUnits {
		return Span{}, errors.New("a part of a change starts with its number of units")
	}
	s := Span{Len: units}
	for i, raw := range list[1:] {
		var line string
		if err := json.Unmarshal(raw, &line); err != nil {
			return Span{}, errors.New("a line is a string")
		}
		if strings.ContainsRune(line, '\n') {
			return Span{}, errors.New("a line has a line break")
		}
		if i > 0 {
			s.Text = append(s.Text, '\n')
		}
		s.Text = s.Text.appendString(line)
	}
	if units == 0 && len(s.Text) == 0 {
		return Span{}, errors.New("a part of a change changes nothing")
	}
	return s, nil
}

// hasLoneSurrogate reports whether JSON has half of a character, which Go reads as another character. Escapes are the only way to write one.
func hasLoneSurrogate(data []byte) bool {
	for i := 0; i+5 < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		unit, ok := surrogateAt(data, i)
		if !ok {
			i++ // an escaped character; of a backslash the second one
			continue
		}
		other, paired := surrogateAt(data, i+6)
		if unit>>10 != 0xd800>>10 || !paired || other>>10 != 0xdc00>>10 {
			return true
		}
		i += 11
	}
	return false
}

// surrogateAt returns the surrogate that is escaped at a position.
func surrogateAt(data []byte, i int) (unit uint16, ok bool) {
	if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' || data[i+2]|0x20 != 'd' {
		return 0, false
	}
	for _, c := range data[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint16(c)
	}
	return unit, unit >= 0xd800
}
