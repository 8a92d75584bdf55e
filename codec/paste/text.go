package paste

import (
	"strings"
	"unicode/utf8"

	"wirebench/codec/scan"
)

// pasted is the text to read, without byte order mark and converted from UTF-16 to UTF-8. All positions inside the readers are byte offsets
// into s; they become lines and columns only in results.
type pasted struct{ s string }

func newPasted(text string) (*pasted, *Error) {
	if len(text) > MaxText {
		return nil, errWhole("%s", TooLarge)
	}
	if order := scan.UTF16Order([]byte(text[:min(len(text), 2)])); order != nil {
		text = string(scan.AppendUTF8(nil, []byte(text[2:]), order))
		if len(text) > MaxText {
			return nil, errWhole("%s", TooLarge)
		}
	}
	t := &pasted{strings.TrimRight(strings.TrimPrefix(text, scan.ByteOrderMark), "\x00")} // a clipboard may add trailing NULs
	if strings.TrimSpace(t.s) == "" {
		return nil, errWhole("the text is empty")
	}
	return t, nil
}

// binary returns an error if the bytes are not text: nearly all binary data look like some form, above all a quoted string. Latin-1 is
// text, and single control characters may come from a terminal.
func (t *pasted) binary() *Error {
	s, first, count := t.s, -1, 0
	for i := range len(s) {
		if c := s[i]; c < ' ' && (c < '\b' || c > '\r') && c != 0x1b {
			if first < 0 || c == 0 && s[first] != 0 {
				first = i
			}
			count++
		}
	}
	if first < 0 || s[first] != 0 && count <= len(s)/50 && utf8.ValidString(s) {
		return nil
	}
	return errAt(first, "these bytes are no text: there is a 0x%02x among them", s[first]).as(certain)
}

// excerpt returns the character at off, or the word that starts there, for Error.Found.
func (t *pasted) excerpt(off int) string {
	if off >= len(t.s) {
		return ""
	}
	rest := t.s[off:]
	if strings.HasPrefix(rest, "\r\n") {
		return "\n"
	}
	n := 0
	for n < len(rest) && n < 16 && scan.IsWord(rest[n]) {
		n++
	}
	if n > 0 {
		return rest[:n]
	}
	_, n = utf8.DecodeRuneInString(rest)
	return rest[:n]
}

// line is one line of a text, without its line break.
type line struct {
	text string
	off  int // of its first byte
}

// next returns the line that starts at off, and the start of the next one. ok is false at the end of the text.
func (t *pasted) next(off int) (l line, after int, ok bool) {
	if off >= len(t.s) {
		return line{}, off, false
	}
	end := strings.IndexByte(t.s[off:], '\n')
	if end < 0 {
		end, after = len(t.s), len(t.s)
	} else {
		end += off
		after = end + 1
	}
	if end > off && t.s[end-1] == '\r' {
		end--
	}
	return line{t.s[off:end], off}, after, true
}

// lines calls visit for each line until it returns false.
func (t *pasted) lines(visit func(l line) bool) {
	for off := 0; ; {
		l, after, ok := t.next(off)
		if !ok || !visit(l) {
			return
		}
		off = after
	}
}

// each calls visit for each line until it fails.
func (t *pasted) each(visit func(l line) *Error) (fail *Error) {
	t.lines(func(l line) bool {
		fail = visit(l)
		return fail == nil
	})
	return fail
}

// among reports whether one of the first n lines is as told.
func (t *pasted) among(n int, is func(l line) bool) (found bool) {
	t.lines(func(l line) bool {
		found = is(l)
		n--
		return !found && n > 0
	})
	return found
}

// firstLine returns the first line that is not blank.
func (t *pasted) firstLine() (first line, ok bool) {
	t.lines(func(l line) bool {
		first, ok = l, !l.blank()
		return !ok
	})
	return first, ok
}

func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

// cursor converts byte offsets to lines and columns. It is fast for ascending offsets.
type cursor struct {
	text    string
	off     int // current offset
	lines   int // line breaks before off
	columns int // characters between the start of the line and off
}

// position returns the 1-based line and column of off.
func (c *cursor) position(off int) (lineNo, column int) {
	off = min(off, len(c.text))
	if off < c.off {
		*c = cursor{text: c.text}
	}
	passed := c.text[c.off:off]
	if n := strings.Count(passed, "\n"); n > 0 {
		c.lines += n
		c.columns = 0
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	c.off = off
	c.columns += utf8.RuneCountInString(passed)
	return c.lines + 1, c.columns + 1
}
