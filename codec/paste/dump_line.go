package paste

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/codec/scan"
)

// dumpLine is a parsed line of a dump. Its slices are reused for the next line.
type dumpLine struct {
	kind    lineKind
	start   offset
	offset  uint64
	s       string
	off     int // of the line, in the text
	at      int // position of the offset in the line
	data    []byte
	units   []unitEnd // of data
	text    string    // the text column, to the end of the line
	border  byte      // of the text: | > or 0
	fits    bool      // the text agrees with the data
	bad     int       // lineBad: position in the line
	want    string    // lineBad: expected contents
	letters int       // cells that are no numbers
	spare   int       // cells that may be spaces after the last one
	dashed  bool
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
func (l *dumpLine) parse(x *shape, s string, at, width int) {
	*l = dumpLine{s: s, data: l.data[:0], units: l.units[:0], at: at}
	if len(s) > maxDumpLine || !l.readOffset(x, s) {
		return
	}
	i := at + l.start.end
	if x.cells && i < len(s) {
		l.readCells(s, i)
		return
	}
	lead := skipSpaces(s, i) - i
	if i += lead; i == len(s) {
		l.kind = lineOffset
		return
	}
	if x.offsets == plain && lead == 2 && l.start.end == 7 && x.digits == 2 {
		return // od -tu1: two digits in a column of four
	}
	for {
		var end int
		var ok bool
		if l.data, end, ok = x.read(l.data, s, i); !ok {
			l.endUnits(x, i, width, false)
			return
		}
		n := len(l.data)
		l.units = append(l.units, unitEnd{n, end})
		if x.form == formXXD && len(l.units) == 1 && lead > 1 && slices.Contains([]int{4, 8, 16}, lead-1+end-i) && (end == len(s) || strings.HasPrefix(s[end:], "  ")) {
			l.units, l.data = l.units[:0], l.data[:0]
			return // the short last group of xxd -e, right-aligned
		}
		if l.dashed = l.dashed || end < len(s) && s[end] == '-'; end < len(s) && s[end] == '-' {
			if i = end + 1; n != 8 || x.offsets != address {
				l.fail(end, "a space")
				return
			}
			continue
		}
		i = skipSpaces(s, end)
		if i == len(s) || x.most == n || !x.continues(l, i-end, i) {
			l.endUnits(x, i, width, true)
			return
		}
	}
}

// continues reports whether the units of a line can go on at i, after a gap.
func (x *shape) continues(l *dumpLine, gap, i int) bool {
	step := max(x.step, 1)
	return x.marked || x.unit.base == 10 || gap == step ||
		len(l.data) == 8 && x.digits == 2 && (gap == step+1 || gap <= maxStep && x.offsets == none) ||
		x.form == formXXDe && gap > 1 && l.lastGroup(x, i)
}

func (l *dumpLine) readOffset(x *shape, s string) (ok bool) {
	if x.offsets == none {
		return s[l.at:] != ""
	}
	if l.start, ok = readOffset(s[l.at:]); !ok {
		return false
	}
	if o := &l.start; o.notation != x.offsets && !(x.offsets == address && o.notation == plain && o.addressed() && strings.HasPrefix(s[l.at+o.end:], "  ")) {
		return false
	}
	l.offset, ok = l.start.value(x.base)
	return ok
}

// lastGroup reports whether a group starts at i and is followed by a text column that fits: the last group of xxd -e is right-aligned.
func (l *dumpLine) lastGroup(x *shape, i int) bool {
	data, end, ok := x.read(l.data[:len(l.data):len(l.data)], l.s, i)
	text := skipSpaces(l.s, end)
	return ok && text-end >= 2 && text < len(l.s) && textFits(data, l.s[text:]) && !textFits(l.data, l.s[i:])
}

// endUnits ends the units where the text column starts, at i. clean means that spaces part it from them, or nothing follows; else the next
// word is not a unit.
func (l *dumpLine) endUnits(x *shape, i, width int, clean bool) {
	if len(l.units) == 0 {
		l.bad, l.want = i, x.want
		return // lineOther, unless the offset is the expected one, which the dumper checks
	}
	free := x.freeText()
	for _, usual := range [...]int{width, followWidth} {
		if !clean && free && usual > 0 && len(l.data) > usual {
			l.cut(usual)
		}
	}
	last, n := l.units[len(l.units)-1].pos, len(l.data)
	i = skipSpaces(l.s, last)
	l.kind, l.text = lineData, l.s[i:]
	if l.text == "" {
		return
	}
	if l.fits = free && textFits(l.data, l.text); l.fits {
		return
	}
	after := x.border(l.s[i])
	text, closed := strings.CutSuffix(l.text[1:], after)
	apart := clean || free && (n == followWidth || n == width || i-last > max(x.step, 1) || onlyDots(l.text))
	switch fits := textFits(l.data, text); {
	case after != "" && (fits || closed || !free):
		l.border, l.text, l.fits = l.s[i], text, fits
	case !apart:
		l.fail(i, x.want)
	case !free:
		l.fail(i, "the end of the line")
	}
}

// freeText reports whether text without borders may follow the units.
func (x *shape) freeText() bool {
	return !x.bordered && (x.offsets == address || x.offsets == colon && x.form != formGDB || x.unit == unitByte || x.digits == tickedDigits)
}

// border returns what ends the text that starts with a character after the units, "" if that is not a border.
func (x *shape) border(c byte) string {
	switch {
	case c == '>' && x.offsets&(plain|none) != 0:
		return "<"
	case c == '|' && x.unit == unitByte && x.offsets&(plain|none) != 0 && x.base == 16:
		return "|"
	}
	return ""
}

// cut drops the units after the first n bytes, if the rest of the line is a text column that agrees with them. Hex-looking text right
// after the units parses as units; only the next offset, or the usual width, shows the difference.
func (l *dumpLine) cut(n int) bool {
	for i, u := range l.units {
		if u.bytes == n && u.pos < len(l.s) {
			text := l.s[skipSpaces(l.s, u.pos):]
			if textFits(l.data[:n], text) {
				l.units, l.data, l.text, l.border, l.fits = l.units[:i+1], l.data[:n], text, 0, true
				return true
			}
		}
	}
	return false
}

func (l *dumpLine) fail(at int, want string) { l.kind, l.bad, l.want = lineBad, at, want }

// read reads one unit at s[i:] and appends its bytes to out. It returns the end of the unit; ok is false if there is none.
func (u unit) read(out []byte, s string, i int) (_ []byte, next int, ok bool) {
	if u.marked {
		if !strings.HasPrefix(s[i:], "0x") {
			return out, i, false
		}
		i += 2
	}
	negative := u.base == 10 && u.bytes == 1 && strings.HasPrefix(s[i:], "-")
	if negative {
		i++
	}
	ticked := u.digits == tickedDigits
	end := i
	for end < len(s) && (int(scan.HexValue[s[end]]) < u.base || s[end] == '`' && ticked && end == i+8) {
		end++
	}
	n := end - i
	switch {
	case n == 0 || u.digits != 0 && n != u.digits || end < len(s) && !scan.IsSpace(s[end]) && !(s[end] == '-' && u == unitByte),
		ticked && s[i+8] != '`', !ticked && u.base == 16 && n%2 != 0, u.base == 10 && u.digits == 0 && n > 3:
		return out, i, false // a hyphen separates the halves of WinDbg's lines
	case ticked:
		return appendReversed(appendReversed(out, s[i+9:end]), s[i:i+8]), end, true
	case u.base == 16 && u.little:
		return appendReversed(out, s[i:end]), end, true
	case u.base == 16:
		return appendPairs(out, s[i:end]), end, true
	}
	value, _ := readNumber(s, i, uint64(u.base))
	if negative && value <= 128 {
		value = 256 - value
	} else if negative || value >= 1<<(8*u.bytes) {
		return out, i, false
	}
	for range u.bytes {
		out = append(out, byte(value))
		value >>= 8
	}
	return out, end, true
}

// Bytes as characters: od -c and hexdump -c. Each byte has four columns: a space and, right-aligned, the character, an escape (\0 \a \b \f
// \n \r \t \v) or three octal digits. od -a uses the same names for other bytes, and is not supported.

// charCell is the number of columns of a byte.
const charCell = 4

// readCells reads the cells of a line from position i on.
func (l *dumpLine) readCells(s string, i int) {
	var bad int
	l.kind, l.want = lineData, unitCells.want
	if l.data, l.letters, bad = charCells(l.data, s, i); bad >= 0 {
		if l.kind, l.bad = lineBad, bad; len(l.data) == 0 {
			l.kind = lineOther
		}
	}
	l.spare = max((len(s)-i)/charCell, followWidth) - len(l.data)
}

// charCells appends the bytes of the cells of s, from a position on, and counts those that are not numbers. bad is the position of an
// invalid cell, or -1.
func charCells(out []byte, s string, from int) (_ []byte, letters, bad int) {
	end := len(strings.TrimRight(s, " ")) // hexdump pads the last line; the next offset shows whether these are bytes
	for i := from; i < end; i += charCell {
		if len(s) < i+charCell || s[i] != ' ' {
			return out, letters, i
		}
		text, c := strings.TrimLeft(s[i:i+charCell-1], " "), s[i+charCell-1]
		v, err := strconv.ParseUint(s[i+1:i+charCell], 8, 8)
		k := strings.IndexByte("0abfnrtv", c)
		switch {
		case text == "":
			v = uint64(c)
		case text == `\` && k >= 0:
			v = uint64("\x00\a\b\f\n\r\t\v"[k])
		case err != nil:
			return out, letters, i
		}
		out = append(out, byte(v))
		if text == `\` || text == "" && !scan.IsDigit(c) { // od -tu1 has the same columns
			letters++
		}
	}
	return out, letters, -1
}

// textFits reports whether text can be the text column of data: printable bytes are shown as themselves, others as a dot or something else
// that is not a letter or digit. A gap after the eighth is allowed, and spaces at both ends may be lost.
func textFits(data []byte, text string) bool {
	if text == "" || len(text) > 4*len(data)+4 {
		return false
	}
	lost := len(data) - len(bytes.TrimLeft(data, " "))
	return columnFits(data, text, 0) || lost > 0 && columnFits(data, text, lost)
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
		r, n := utf8.DecodeRuneInString(text)
		if n == 0 {
			r = ' '
		}
		text = text[n:]
		if printable := b >= 0x20 && b < 0x7f; printable && r != rune(b) || n == 0 && !printable || !printable && r < 0x80 && scan.IsWord(byte(r)) && r != '_' {
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
