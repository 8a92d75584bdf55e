package paste

import (
	"iter"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"wirebench/codec/scan"
)

// pasted is the text to read, without byte order mark and converted from UTF-16 to UTF-8. All positions inside the readers are byte offsets
// into s; they become lines and columns only in results.
type pasted struct{ s string }

func newPasted(text string) (*pasted, *Error) {
	if order := scan.UTF16Order([]byte(text[:min(len(text), 2)])); order != nil && len(text) <= MaxText {
		text = string(scan.AppendUTF8(nil, []byte(text[2:]), order))
	}
	if len(text) > MaxText {
		return nil, errWhole("%s", TooLarge)
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

// excerpts match the word or the character at a place.
var excerpts = regexp.MustCompile(`(?s)^(?:\w{1,16}|\r?\n|.)`)

// excerpt returns the character at off, or the word that starts there, for Error.Found.
func (t *pasted) excerpt(off int) string {
	found := excerpts.FindString(t.s[min(off, len(t.s)):min(off+32, len(t.s))])
	if found == "\r\n" {
		return "\n"
	}
	return found
}

// line is one line of a text, without its line break.
type line struct {
	text string
	off  int // of its first byte
}

// lines returns the lines of the text.
func (t *pasted) lines() iter.Seq[line] { return t.head(math.MaxInt) }

// head returns the first n lines of the text.
func (t *pasted) head(n int) iter.Seq[line] {
	return func(yield func(line) bool) {
		for off, after := 0, 0; off < len(t.s) && n > 0; off, n = after, n-1 {
			end := strings.IndexByte(t.s[off:], '\n') + off
			if after = end + 1; end < off {
				end, after = len(t.s), len(t.s)
			}
			if end > off && t.s[end-1] == '\r' {
				end--
			}
			if !yield(line{t.s[off:end], off}) {
				return
			}
		}
	}
}

// each calls visit for each line until it fails.
func (t *pasted) each(visit func(l line) *Error) *Error {
	for l := range t.lines() {
		if e := visit(l); e != nil {
			return e
		}
	}
	return nil
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
