package paste

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// shape is the grammar of the lines of a dump: an offset, units, perhaps a column of text. The lines themselves show it (shapesOf).
type shape struct {
	offsets notation
	base    int // of offsets
	unit
	step     int  // spaces between units
	most     int  // bytes on a line, 0 for any number
	padded   bool // offsets have as many digits as od writes
	broken   bool // an offset is not in this base
	rank     int  // how distinctive it is
	bordered bool // texts have borders, as a line has shown
}

// notation is the way in which offsets are written.
type notation uint8

const (
	plain   notation = 1 << iota // 00000010, 0x10
	colon                        // 00000010:, or 0x404010 <name+16>: (gdb)
	address                      // 00000000`00400000, or eight digits and two spaces (WinDbg)
	none                         // the line starts with units
)

// unit is the notation of one or more bytes between spaces.
type unit struct {
	form   string   // that usually has it
	of     notation // of the offsets before it
	base   int      // of the digits: 2, 8, 10 or 16
	digits int      // in one unit; 0 for any number: a group of bytes (base 16) or a number (base 10)
	bytes  int      // in one unit; with digits 0 and base 16 half the digits
	little bool
	marked bool   // each starts with 0x
	cells  bool   // characters in cells of four columns
	want   string // what it is, for an error
}

// tickedDigits are the digits of a unit of WinDbg with a backtick in the middle.
const tickedDigits = 17

var (
	unitByte  = unit{formWiresharkDump, address | plain | none, 16, 2, 1, false, false, false, "two hex digits"}
	unitCells = unit{formODc, plain, 8, 0, 1, false, false, true, "a character, an escape or three octal digits"}
)

// units are all units. Of two that read a text equally well the first one is taken.
var units = []unit{
	unitCells,
	{formWinDbg, address, 16, tickedDigits, 8, true, false, false, "a word of hex digits"},
	{formGDB, colon, 16, 2, 1, false, true, false, "a number with 0x"},
	{formGDB, colon, 16, 4, 2, true, true, false, "a number with 0x"},
	{formGDB, colon, 16, 8, 4, true, true, false, "a number with 0x"},
	{formGDB, colon, 16, 16, 8, true, true, false, "a number with 0x"},
	{formGDB, colon, 10, 0, 1, false, false, false, "a decimal number"},
	{formXXD, colon, 16, 0, 1, false, false, false, "pairs of hex digits"},
	{formXXDe, colon, 16, 0, 1, true, false, false, "pairs of hex digits"},
	{formXXDb, colon, 2, 8, 1, false, false, false, "eight binary digits"},
	unitByte,
	{formODtx2, address | plain | none, 16, 4, 2, true, false, false, "a word of hex digits"},
	{formODtx4, address | plain | none, 16, 8, 4, true, false, false, "a word of hex digits"},
	{formODtx8, address | plain | none, 16, 16, 8, true, false, false, "a word of hex digits"},
	{formWinDbg, none, 16, tickedDigits, 8, true, false, false, "a word of hex digits"},
	{formHexdumpB, plain, 8, 3, 1, false, false, false, "an octal number"},
	{formOD, plain, 8, 6, 2, true, false, false, "an octal number"},
	{formHexdumpD, plain, 10, 5, 2, true, false, false, "a decimal number"},
	{formODtu1, plain, 10, 0, 1, false, false, false, "a decimal number"},
}

// Bounds of the lines from which shapes are inferred.
const (
	maxShapeLines = 200
	maxDumpLine   = 16 << 10 // bytes; the longest line of xxd has about a thousand
)

// shapesOf returns the shapes that the first lines of a text show, the most distinctive first.
func shapesOf(t *pasted) (out []shape) {
	for l := range t.head(maxShapeLines) {
		s := strings.TrimRight(l.text, " \t")
		if row, ok := unbox(s); ok {
			s = row
		}
		at := skipSpaces(s, 0)
		if at == len(s) || len(l.text) > maxDumpLine {
			continue
		}
		o, ok := readOffset(s[at:])
		if !ok {
			if _, rest := readIntro(s, at); rest > at {
				if o, ok = readOffset(s[rest:]); ok {
					at = rest
				}
			}
		}
		if ok {
			out = addShapes(out, o, s, at+o.end)
		}
		out = addShapes(out, offset{notation: none}, s, at)
	}
	out = slices.DeleteFunc(out, func(s shape) bool { return s.broken })
	slices.SortStableFunc(out, func(a, b shape) int { return a.rank - b.rank })
	return out
}

// addShapes adds the shapes of a line with units from position i on.
func addShapes(out []shape, o offset, s string, at int) []shape {
	first := skipSpaces(s, at)
	lead := first - at
	for i, u := range units {
		step, ok := 0, false
		if u.cells {
			data, _, _ := charCells(nil, s, at)
			ok = len(data) > 0
		} else if first < len(s) {
			var end int
			_, end, ok = u.read(nil, s, first)
			if next := skipSpaces(s, end); ok && next < len(s) && next-end <= maxStep && o.notation != colon {
				if _, _, more := u.read(nil, s, next); more {
					step = next - end
				}
			}
		}
		if !ok || o.notation == colon && u.base == 10 && s[at] != '\t' || lead == 2 && o.end == 7 && u.digits == 2 {
			continue // od -tu1 has two digits in a column of four
		}
		notations := []notation{o.notation}
		if o.notation == plain && lead == 2 && o.addressed() {
			notations = append(notations, address)
		}
		for _, n := range notations {
			rank := i + 100*slices.Index([]notation{address, colon, plain, none}, n)
			if u.cells {
				rank = -1
			}
			for _, base := range o.bases(n, u, step) {
				if u.of&n != 0 {
					_, ok := o.value(base)
					out = addShape(out, shape{offsets: n, base: base, unit: u, rank: rank, step: step, padded: len(o.digits) >= 7, broken: !ok})
				}
			}
		}
	}
	return out
}

// maxStep is the largest number of spaces between units: hexdump -x and BSD's od have wide columns.
const maxStep = 4

// addShape adds a shape. Of different steps the narrowest is of the units, the others are of what follows them.
func addShape(out []shape, s shape) []shape {
	i := slices.IndexFunc(out, func(x shape) bool { return x.offsets == s.offsets && x.base == s.base && x.unit == s.unit })
	if i < 0 {
		return append(out, s)
	}
	if x := &out[i]; s.step > 0 && (x.step == 0 || s.step < x.step) {
		x.step = s.step
	}
	out[i].broken = out[i].broken || s.broken
	return out
}

// addressed reports whether an offset can be an address of WinDbg.
func (o *offset) addressed() bool { return !o.hex && (len(o.digits) == 8 || len(o.digits) == 16) }

// ticked reports whether WinDbg's mark is in it.
func (o *offset) ticked() bool { return strings.Contains(o.digits, "`") }

// bases returns the bases in which the offsets of a tool may be, the most likely first. od writes seven digits, and six if they are hex;
// hexdump writes seven hex digits, and more spaces between words in octal.
func (o *offset) bases(n notation, u unit, step int) []int {
	switch {
	case n == none || n == address || o.hex || o.digits == "" || u.marked, u.base == 10 && u.bytes == 2:
		return []int{16}
	case n == colon:
		return []int{16, 10}
	case len(o.digits) < 7 && u != unitByte:
		return []int{16}
	case len(o.digits) == 7 && u.digits != 3 && !(u.bytes == 2 && (u.base == 16 || step > 1)):
		return []int{8, 16, 10}
	}
	return []int{16, 8, 10}
}

// forms returns the forms that a shape can be of, the usual one first.
func (s *shape) forms() []string {
	hex := s.offsets == plain && s.base == 16
	switch {
	case s.offsets == address:
		return []string{formWinDbg}
	case s.form == formXXD:
		return []string{formXXD, formGDB}
	case s.form == formODtx2 && hex:
		return []string{formHexdump, formODtx2}
	case s.unit != unitByte:
		return []string{s.form}
	case s.offsets == none:
		return []string{formTextRows, formODtx1, formHexdumpC}
	case hex:
		return []string{formWiresharkDump, formHexdumpC, formODtx1, formText2pcap}
	case s.padded:
		return []string{formODtx1, formText2pcap}
	}
	return []string{formText2pcap, formODtx1}
}

// formID returns the form to report: shapes of several tools are distinguished by their habits.
func (d *dumper) formID() string {
	s := d.shape
	switch f := s.forms(); {
	case s.form == formXXD && d.first.hex:
		return formGDB // lldb memory read
	case f[0] == formHexdump && d.angles > 0:
		return formODtx2
	case s.unit != unitByte || s.offsets == address:
		return f[0]
	case d.bars > 0:
		return formHexdumpC
	case d.intros > 0 && d.angles == 0 && s.offsets == plain:
		return formText2pcap
	case d.angles > 0 || s.offsets == plain && s.base == 16 && d.texts == 0 && d.first.end >= 6:
		return formODtx1
	default:
		return f[0]
	}
}

// reason returns the Why of a dump.
func (d *dumper) reason() string {
	s := d.shape
	text := s.baseName() + " offsets"
	switch {
	case s.offsets == address:
		text = "addresses as WinDbg writes them"
	case s.form == formGDB:
		text = "addresses as gdb writes them"
	case s.offsets == colon:
		text += " with a colon"
	case s.offsets == none:
		text = "units without offsets"
	}
	if d.continued > 0 && s.offsets != none {
		text += " that match the bytes of the lines"
	}
	switch {
	case s.form == formXXDe:
		text += ", groups that agree with the text column only if reversed"
	case s.bytes > 1:
		text += fmt.Sprintf(", little-endian words of %d bytes", s.bytes)
	case s.unit.base != 16:
		text += ", " + s.want + " a byte"
	}
	switch {
	case d.bars > 0:
		text += ", text between bars"
	case d.angles > 0:
		text += ", text between angle brackets"
	case d.fits > 0:
		text += ", a text column that agrees with the bytes"
	}
	if d.intros > 0 {
		text += "; a packet marked I is from the server, O from the client"
	}
	if d.continued == 0 && d.texts == 0 && s.offsets == plain && s.base == 16 && s.unit == unitByte {
		text += "; also reads as plain hex, an offset of zero decides"
	}
	return text
}

func (s *shape) baseName() string {
	return map[int]string{8: "octal", 10: "decimal", 16: "hex"}[s.base]
}

// offset is an offset as it is written.
type offset struct {
	notation
	digits string // perhaps with a backtick in the middle
	name   string // inside the angle brackets of gdb
	hex    bool   // 0x is before the digits
	end    int
}

// readOffset reads the offset at the start of s: 00000010, 0x10:, 00000000`00400000, 0x404010 <name+16>: or <+16>:
func readOffset(s string) (o offset, ok bool) {
	i := 0
	if o.notation = plain; strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		o.hex, i = true, 2
	}
	end := i + hexRun(s, i)
	if end-i == 8 && strings.HasPrefix(s[end:], "`") && hexRun(s, end+1) == 8 {
		o.notation, end = address, end+9
	}
	o.digits = s[i:end]
	if n := end - i; n > tickedDigits || n == tickedDigits && o.notation != address || n < 3 && !(n > 0 && o.hex) && !(n == 0 && i == 0) {
		return o, false
	}
	if at := skipSpaces(s, end); i > 0 || end == 0 {
		if n := strings.IndexByte(s[at:], '>'); n > 0 && s[at] == '<' {
			o.name, end = s[at+1:at+n], at+n+1
		}
	}
	switch colonAt := strings.HasPrefix(s[end:], ":"); {
	case colonAt:
		o.notation, end = colon, end+1
	case o.name != "" || end == 0:
		return o, false
	case o.notation == address:
		ok = strings.HasPrefix(s[end:], "  ") && len(s) > end+2 && s[end+2] != ' '
	}
	o.end = end
	return o, o.notation == address && ok || o.notation != address && (end == len(s) || scan.IsSpace(s[end]))
}

// value returns the offset in a base. Without an address it is the number in angle brackets.
func (o *offset) value(base int) (v uint64, ok bool) {
	if o.digits == "" {
		if plus := strings.LastIndexByte(o.name, '+'); plus >= 0 && len(o.name)-plus <= 10 {
			v, _ = readNumber(o.name, plus+1, 10)
		}
		return v, true
	}
	for i := range len(o.digits) {
		d := int(scan.HexValue[o.digits[i]])
		switch {
		case o.digits[i] == '`':
		case d >= base:
			return 0, false
		default:
			v = v*uint64(base) + uint64(d)
		}
	}
	return v, base == 16 || !o.hex
}
