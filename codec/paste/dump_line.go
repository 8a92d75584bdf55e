package paste

import (
	"strings"
	"unicode/utf8"

	"wirebench/codec/scan"
)

// maxDumpLine is the maximum length of a dump line, in bytes. The longest of xxd has about a thousand.
const maxDumpLine = 16 << 10

// dumpLine is a parsed line of a dump. Its slices are reused for the next line.
type dumpLine struct {
	kind    lineKind
	offset  uint64
	digits  int // of the offset as written, with its prefix
	written string
	at      int // position of the offset in the line
	data    []byte
	units   []unitEnd // of data
	text    string    // the text column, to the end of the line
	bad     int       // lineBad: position in the line
	want    string    // lineBad: expected contents
	letters int       // cells that are no numbers
	spare   int       // cells that may be spaces after the last one
	dashed  bool
	hasText bool
}

type lineKind uint8

const (
	lineOther  lineKind = iota // not a line of a dump
	lineData                   // offset and units
	lineOffset                 // only an offset
	lineBad                    // offset and at least one unit, then an error
)

// unitEnd is the end of a unit: in the data and in the line.
type unitEnd struct{ bytes, pos int }

// parse parses s from position at on. width is the number of bytes of full lines if it is known, else 0.
func (l *dumpLine) parse(style *dumpStyle, s string, at, width int) {
	l.data, l.units, l.text = l.data[:0], l.units[:0], ""
	l.dashed, l.hasText, l.at, l.kind, l.bad = false, false, at, lineOther, 0
	value, next, ok := style.offset.readOffset(s[at:])
	if !ok || len(s) > maxDumpLine {
		return
	}
	l.offset, l.digits, l.written = value, next, s[at:at+next]
	if style.unit == unitChars && at+next < len(s) {
		l.parseCells(s, at+next)
		return
	}
	i := skipSpaces(s, at+next)
	if i == len(s) {
		l.kind = lineOffset
		return
	}
	if lead := i - at - next; lead == 2 && next == 7 && style.unit.digits == 2 {
		return // od -tu1: two digits in a column of four
	}
	step := 0 // spaces between units, from the first two
	widest := style.widestStep(i - at - next)
	for {
		var end int
		l.data, end, ok = style.unit.read(l.data, s, i)
		if !ok {
			l.endUnits(style, s, i, width, step)
			return
		}
		l.units = append(l.units, unitEnd{len(l.data), end})
		n := len(l.data)
		if lead := i - at - next; style.unit == unitGroup && len(l.units) == 1 && lead > 1 && wordDigits(lead-1+end-i) && (end == len(s) || strings.HasPrefix(s[end:], "  ")) {
			l.units, l.data = l.units[:0], l.data[:0]
			return // the short last group of xxd -e, right-aligned
		}
		if end < len(s) && s[end] == '-' {
			if n != 8 || style.form != formWinDbg {
				l.fail(end, "a space")
				return
			}
			l.dashed = true
			i = end + 1
			continue
		}
		i = skipSpaces(s, end)
		gap := i - end
		switch {
		case i == len(s):
			l.finish(style, s, i)
			return
		case style.offset == offsetGdb, style.unit.base == 10: // columns of numbers, with padding
		case style.most == n:
			l.finish(style, s, i)
			return
		case style.form == formXXDe && gap > 1 && l.lastGroup(style, s, i):
			// The last group of xxd -e is right-aligned: the gap before it is part of the dump.
		case step == 0 && gap <= widest:
			step = gap
		case gap == step, n == 8 && style.unit.digits == 2 && (gap == step+1 || gap <= 4 && style.offset == offsetNone):
		default:
			l.finish(style, s, i)
			return
		}
	}
}

// wordDigits reports whether a word of two, four or eight bytes has n hex digits.
func wordDigits(n int) bool { return n == 4 || n == 8 || n == 16 }

// lastGroup reports whether a group starts at i and is followed by a text column that fits.
func (l *dumpLine) lastGroup(style *dumpStyle, s string, i int) bool {
	if textFits(l.data, s[i:]) {
		return false
	}
	n := len(l.data)
	data, end, ok := style.unit.read(l.data, s, i)
	l.data = data[:n]
	text := skipSpaces(s, end)
	return ok && text-end >= 2 && text < len(s) && textFits(data, s[text:])
}

// widestStep returns the maximum number of spaces between units, with lead spaces before the first: hexdump -x and BSD's od have wide
// columns.
func (s *dumpStyle) widestStep(lead int) int {
	switch {
	case s.offset == offsetColon, s.offset == offsetColon10:
		return 1
	case s.text == textNone:
		return 4
	case s.text == textFree, lead < 3:
		return 1
	}
	return 2
}

// endUnits handles an invalid unit at i, where a unit could follow.
func (l *dumpLine) endUnits(style *dumpStyle, s string, i, width, step int) {
	if len(l.units) == 0 {
		l.bad, l.want = i, style.unit.describe()
		return // lineOther, unless the offset is the expected one, which the dumper checks
	}
	for _, usual := range [...]int{width, followWidth} {
		if n := len(l.data); usual > 0 && n > usual && style.text == textFree && l.cut(s, usual) == usual {
			l.trim(usual)
		}
	}
	last := l.units[len(l.units)-1].pos
	n := len(l.data)
	i = skipSpaces(s, last)
	switch {
	case style.text == textBars && s[i] == '|', style.text == textAngle && s[i] == '>':
	case style.text == textFree && (n == 16 || n == width || i-last > step || textFits(l.data, s[i:]) || onlyDots(s[i:])):
	default:
		l.fail(i, style.unit.describe())
		return
	}
	l.finish(style, s, i)
}

// trim drops the units after the first n bytes.
func (l *dumpLine) trim(n int) {
	for len(l.units) > 0 && l.units[len(l.units)-1].bytes > n {
		l.units = l.units[:len(l.units)-1]
	}
	l.data = l.data[:n]
}

// finish ends the units; the text column starts at i.
func (l *dumpLine) finish(style *dumpStyle, s string, i int) {
	l.kind = lineData
	l.text = s[i:]
	l.hasText = l.text != ""
	if !l.hasText {
		return
	}
	switch style.text {
	case textBars:
		if s[i] != '|' {
			l.fail(i, "the text between bars")
			return
		}
		l.text = strings.TrimSuffix(l.text[1:], "|")
	case textAngle:
		if s[i] != '>' {
			l.fail(i, "the end of the line")
			return
		}
		l.text = strings.TrimSuffix(l.text[1:], "<")
	case textNone:
		l.fail(i, "the end of the line")
	}
}

func (l *dumpLine) fail(at int, want string) { l.kind, l.bad, l.want = lineBad, at, want }

// describe describes a unit for an error.
func (u unit) describe() string {
	switch {
	case u.cells:
		return "a character, an escape or three octal digits"
	case u.hexMark:
		return "a number with 0x"
	case u.base == 2:
		return "eight binary digits"
	case u.base == 8:
		return "an octal number"
	case u.base == 10:
		return "a decimal number"
	case u.digits == 2:
		return "two hex digits"
	case u.digits == 0:
		return "pairs of hex digits"
	}
	return "a word of hex digits"
}

// cut returns the size of the first units if the rest of the line is a text column that agrees with them; it is n or 0. Hex-looking text
// right after the units parses as units; only the next offset shows the difference.
func (l *dumpLine) cut(s string, n int) int {
	for _, u := range l.units {
		if u.bytes == n && u.pos < len(s) {
			if textFits(l.data[:n], s[skipSpaces(s, u.pos):]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// textFits reports whether text can be the text column of data: printable bytes are shown as themselves, others as a dot or something else
// that is not a letter or digit. A gap after the eighth is allowed, and spaces at both ends may be lost.
func textFits(data []byte, text string) bool {
	if text == "" || len(text) > 4*len(data)+4 {
		return false
	}
	if columnFits(data, text, 0) {
		return true
	}
	lost := 0
	for lost < len(data) && data[lost] == ' ' {
		lost++
	}
	return lost > 0 && columnFits(data, text, lost)
}

// columnFits is textFits for a text without its first characters, lost of them.
func columnFits(data []byte, text string, lost int) bool {
	if sameText(data[lost:], text) {
		return true
	}
	gap := 8 - lost
	return len(data) > 8 && gap >= 0 && len(text) > gap && text[gap] == ' ' &&
		sameText(data[lost:8], text[:gap]) && sameText(data[8:], text[gap+1:])
}

func sameText(data []byte, text string) bool {
	for _, b := range data {
		printable := b >= 0x20 && b < 0x7f
		if text == "" {
			if b != ' ' {
				return false
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		switch {
		case printable && r != rune(b):
			return false
		case !printable && r < 0x80 && scan.IsWord(byte(r)) && r != '_':
			return false
		}
	}
	return strings.Trim(text, " ") == ""
}

func onlyDots(s string) bool { return strings.Trim(s, ".") == "" }

func skipSpaces(s string, i int) int {
	for i < len(s) && scan.IsSpace(s[i]) {
		i++
	}
	return i
}
