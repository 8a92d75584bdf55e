package paste

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// Plain hex: digits with any separators between the bytes. A line break is a separator that may also occur inside a byte, because texts are
// wrapped at any width; a blank line ends the message.

// readHex reads the form "hex".
func readHex(t *pasted) (*builder, *Error) { return (&hexReader{t: t}).as(formHex) }

// readHexLines reads the form "hex-lines": each line that is not blank is a message.
func readHexLines(t *pasted) (*builder, *Error) {
	return (&hexReader{t: t, perLine: true}).as(formHexLines)
}

// readHexWords reads the form "hex-words": groups of 4, 8 or 16 digits, each a little-endian number.
func readHexWords(t *pasted) (*builder, *Error) {
	return (&hexReader{t: t, little: true}).as(formHexWords)
}

func (h *hexReader) as(form string) (*builder, *Error) {
	e := h.read()
	h.b.form, h.b.why = form, h.reason()
	return h.b.whole(e, "there are no hex digits in the text")
}

// appendPairs appends the bytes of hex digits, of which there are an even number.
func appendPairs(out []byte, digits string) []byte {
	for i := 0; i+1 < len(digits); i += 2 {
		out = append(out, scan.HexValue[digits[i]]<<4|scan.HexValue[digits[i+1]])
	}
	return out
}

// appendReversed appends them from the last one on.
func appendReversed(out []byte, digits string) []byte {
	for k := len(digits) - 2; k >= 0; k -= 2 {
		out = append(out, scan.HexValue[digits[k]]<<4|scan.HexValue[digits[k+1]])
	}
	return out
}

// appendDigits appends the bytes of hex digits among other characters, perhaps with a prefix for each byte. odd means that half a byte is
// left over.
func appendDigits(out []byte, s string) (_ []byte, odd bool) {
	hi := byte(scan.NotHex)
	for i := 0; i < len(s); i++ {
		switch v := scan.HexValue[s[i]]; {
		case hi == scan.NotHex && isPrefix(s, i) == 2:
			i++
		case v == scan.NotHex:
		case hi == scan.NotHex:
			hi = v
		default:
			out = append(out, hi<<4|v)
			hi = scan.NotHex
		}
	}
	return out, hi != scan.NotHex
}

// hexRun returns the number of hex digits at s[i:].
func hexRun(s string, i int) int {
	n := 0
	for i+n < len(s) && scan.IsHex(s[i+n]) {
		n++
	}
	return n
}

// hexReader reads plain hex. It also collects evidence for other readings of the same text.
//
// A run is the digits between two separators. Line breaks end it only in texts that have other separators too, so that an
// unseparated text wrapped anywhere is one run.
type hexReader struct {
	t       *pasted
	perLine bool // each line is a message
	little  bool // each run is a little-endian word
	b       builder

	hi        int  // first digit of an incomplete byte, or -1
	run, last int  // digits of the current run, and the position of its last one
	prefix    bool // the run follows 0x, \x or %
	gap       bool // a separator was seen on this line after the last digit

	separated bool // separators other than line breaks occur between bytes
	words     bool // they also occur between groups of several bytes
	letters   bool // some digit is a letter
	marked    bool // 0x, \x or % was seen
	commas    bool
	cells     [2]int // digits of the shortest and longest run between commas
	split     int    // position where the first line ends inside a byte, or -1
	lines     lineLengths
}

func (h *hexReader) read() *Error {
	h.b.out = make([]byte, 0, len(h.t.s)/2)
	h.hi, h.split, h.lines.odd = -1, -1, -1
	for l := range h.t.lines() {
		var e *Error
		if !l.blank() {
			e = h.line(h.t.s[:l.off+len(l.text)], l.off)
		}
		if e == nil && (h.perLine || l.blank()) {
			e = h.endMessage()
		}
		if e != nil {
			return e
		}
	}
	if e := h.endMessage(); e != nil {
		return e
	}
	if len(h.b.msgs) == 0 {
		return errWhole("there are no hex digits in the text")
	}
	h.addNotes()
	return nil
}

// line reads the rest of s, from i on. Its end may be inside a byte.
func (h *hexReader) line(s string, i int) (e *Error) {
	for i < len(s) && e == nil {
		switch n := isPrefix(s, i); {
		case n > 0 && !(h.hi >= 0 && s[i] == '0'):
			e = h.endRun()
			h.run, h.prefix, h.separated, h.marked = 0, true, true, true
			i += n
		case scan.IsHex(s[i]):
			i, e = h.digits(s, i)
		default:
			i, e = h.separator(s, i)
		}
	}
	if e == nil {
		h.countCell()
		if h.separated {
			e = h.endRun()
			h.run = 0
		} else if h.hi >= 0 && h.split < 0 {
			h.split = i
		}
	}
	h.gap = false
	h.lines.end(i)
	return e
}

func (h *hexReader) endMessage() *Error {
	if e := h.endRun(); e != nil {
		return e
	}
	h.run, h.lines.count, h.lines.pending = 0, 0, false
	return h.b.end()
}

// isPrefix returns the length of a hex prefix at s[i:]: 0x, \x, %; 0 if there is none.
func isPrefix(s string, i int) int {
	switch {
	case s[i] == '%' && i+1 < len(s) && scan.IsHex(s[i+1]):
		return 1
	case (s[i] == '0' || s[i] == '\\') && i+2 < len(s) && s[i+1]|0x20 == 'x' && scan.IsHex(s[i+2]):
		return 2
	}
	return 0
}

// endRun ends a run, which after a prefix may be a single digit: 0x5.
func (h *hexReader) endRun() *Error {
	if h.prefix && h.run == 1 {
		h.b.out = append(h.b.out, byte(h.hi))
		h.hi = -1
	}
	h.prefix, h.gap = false, false
	if h.hi >= 0 {
		return h.odd()
	}
	return nil
}

// digits reads the digits at i and returns their end.
func (h *hexReader) digits(s string, i int) (end int, e *Error) {
	if h.gap {
		e = h.endRun()
		h.separated, h.run = true, 0
	}
	if !h.b.open && e == nil {
		e = h.b.begin(Message{}, i)
	}
	end = i + hexRun(s, i)
	if isPrefix(s, end-1) == 2 && (h.hi < 0) == ((end-i)%2 == 1) { // of the next byte
		end--
	}
	run := s[i:end]
	switch n := len(run); {
	case e != nil:
		return i, e
	case h.little && (n%2 != 0 || n > 16):
		return i, errFound(h.t, i, "a word of 2, 4, 8 or 16 hex digits")
	}
	h.letters = h.letters || strings.ContainsAny(run, "abcdefABCDEF")
	h.run += len(run)
	h.lines.digits += len(run)
	h.last = end - 1
	if h.little {
		h.b.out = appendReversed(h.b.out, run)
		return end, nil
	}
	if h.hi >= 0 {
		h.b.out = append(h.b.out, byte(h.hi)<<4|scan.HexValue[run[0]])
		h.hi, run = -1, run[1:]
	}
	if h.b.out = appendPairs(h.b.out, run); len(run)%2 != 0 {
		h.hi = int(scan.HexValue[run[len(run)-1]])
	}
	return end, nil
}

// separator handles a character other than a digit at i, and returns its end.
func (h *hexReader) separator(s string, i int) (_ int, e *Error) {
	n := 1
	switch c := s[i]; {
	case strings.IndexByte(" \t\r\f\v:-;_,", c) >= 0:
	case strings.HasPrefix(s[i:], "\u00a0"):
		n = len("\u00a0")
	case c|0x20 == 'h' && h.run == 2 && !h.gap && (i+1 == len(s) || !scan.IsWord(s[i+1])): // assembler: 5fh
	case c == '*':
		return i, errAt(i, "\"*\" stands for repeated lines, but without offsets their number is unknown").as(h.strength())
	default:
		return i, errFound(h.t, i, "hex digits").as(h.strength())
	}
	h.words = h.words || s[i] == ' ' && h.run > 2 && !h.gap && !h.prefix
	if s[i] == ',' {
		h.commas = true
		h.countCell()
	}
	if h.prefix {
		e = h.endRun()
	}
	h.gap = h.gap || h.lines.digits > 0
	return i + n, e
}

// countCell records the number of digits between two commas.
func (h *hexReader) countCell() {
	if h.run > 0 && !h.gap && h.commas {
		h.cells = [2]int{min(cmp.Or(h.cells[0], h.run), h.run), max(h.cells[1], h.run)}
	}
}

// odd returns the error for a run of an odd number of digits, at the last digit.
func (h *hexReader) odd() *Error {
	what := "# hex digits"
	if h.run == 1 {
		what = "a single hex digit"
	}
	if h.commas && !h.letters {
		what += " in a list (decimal numbers need brackets)"
	}
	e := errOdd(h.last, h.run, what).as(h.strength())
	if strings.Trim(h.t.s[h.last+1:], "0123456789abcdefABCDEF \t\r\n:;,-_") == "" {
		e.strength = likely // all of the text is hex
	}
	return e
}

// strength of an error: a text with much valid hex was meant to be hex.
func (h *hexReader) strength() strength {
	if len(h.b.out) >= 4 {
		return likely
	}
	return weak
}

func (h *hexReader) addNotes() {
	if h.split >= 0 {
		h.b.note(h.split, "the line ends inside a byte; it was read on with the next line")
	}
	if h.lines.odd >= 0 && !h.perLine && !h.separated {
		h.b.note(h.lines.odd, `lines have different lengths; if each is a message, choose the form "hex-lines"`)
	}
	if h.words && !h.little {
		h.b.note(h.b.places[0].off, `groups of several bytes were read in the order in which they are written; `+
			`if they are little-endian words, choose the form "hex-words"`)
	}
}

// reason returns the Why of plain hex.
func (h *hexReader) reason() string {
	why := "only hex digits and separators"
	if !h.separated {
		why = "only hex digits"
		if len(h.b.out)%2 == 0 {
			why += "; also reads as base64, hex wins"
		}
	}
	if !h.letters {
		why += "; all digits are decimal, but a list of decimal numbers would need brackets"
	}
	if h.commas && h.cells[1] > 2 {
		why += "; also reads as CSV, hex wins"
	}
	if n := len(h.b.msgs); n > 1 && !h.perLine {
		why += fmt.Sprintf("; blank lines separate %d messages", n)
	}
	return why
}

// lineLengths finds the first line that is longer or shorter than the previous ones although others follow: such lines look like messages
// rather than like wrapped text.
type lineLengths struct {
	digits  int // of the current line
	first   int // digits of the first line
	count   int // lines that have ended
	pending bool
	odd     int // end of such a line, or -1
	last    int
	total   int // lines of the text
	whole   int // digits of the shortest line
}

// end ends the current line, at i.
func (l *lineLengths) end(i int) {
	if l.digits == 0 {
		return
	}
	if l.count == 0 {
		l.first = l.digits
	}
	switch {
	case l.odd >= 0:
	case l.pending:
		l.odd = l.last
	case l.digits > l.first:
		l.odd = i // the last line of wrapped text is not longer
	}
	if l.digits != l.first {
		l.pending, l.last = true, i
	}
	l.whole = min(cmp.Or(l.whole, l.digits), l.digits)
	l.total++
	l.count++
	l.digits = 0
}

// linesApart reads a text whose lines do not look like wrapped text as one message a line; nil if it is one message, or if blank lines
// separate messages.
func (h *hexReader) linesApart() *builder {
	if len(h.b.msgs) != 1 || h.split >= 0 || h.commas || !h.lines.apart() {
		return nil
	}
	b, e := readHexLines(h.t)
	if e == nil {
		b.why = h.reason() + `; each line is a message, since text is not wrapped at such lengths. If it is, choose the form "hex"`
	}
	return b
}

// apart reports whether lines are messages: they have different lengths although others follow, or a length at which nobody wraps text.
func (l *lineLengths) apart() bool {
	return l.total > 1 && l.whole >= minLine && (l.odd >= 0 || l.first%16 != 0 && !slices.Contains(wrapped, l.first))
}

// minLine is the number of digits of the shortest line that may be a message: shorter ones are columns.
const minLine = 10

// wrapped are the usual numbers of digits of wrapped lines, apart from multiples of 16.
var wrapped = []int{20, 40, 60, 70, 72, 76, 78, 100, 120}

// tryHexOrCSV reads plain hex. Cells of different widths between commas are tried as a table first.
func tryHexOrCSV(t *pasted) (*builder, *Error) {
	h := hexReader{t: t}
	hexErr := h.read()
	if hexErr != nil || h.commas && !h.marked && h.cells[0] != h.cells[1] {
		if b, csvErr := tryCSV(t); b != nil || hexErr != nil && csvErr != nil && csvErr.strength > hexErr.strength {
			return b, csvErr
		}
	} else if lines := h.linesApart(); lines != nil {
		return lines, nil
	}
	if hexErr != nil {
		return nil, hexErr
	}
	h.b.form, h.b.why = formHex, h.reason()
	return &h.b, nil
}
