package paste

import (
	"strings"

	"wirebench/codec/scan"
)

// dumpStyle describes the lines of one tool's dumps: an offset, units, perhaps a column of text.
type dumpStyle struct {
	form   string
	offset offsetKind
	unit   unit
	text   textKind
	most   int // bytes on a line, 0 for any number
}

// offsetKind is the notation of the offset.
type offsetKind uint8

const (
	offsetHex        offsetKind = iota // 00000010, followed by spaces
	offsetOctal                        // 0000020, at least seven digits (od)
	offsetDecimal                      // 0000016, likewise
	offsetOctalAny                     // 020, at least three digits (text2pcap -o)
	offsetDecimalAny                   // 016, likewise
	offsetColon                        // 00000010: or 0x10:
	offsetColon10                      // 00000016: (xxd -d)
	offsetWindbg                       // 00000000`00400000, followed by two spaces
	offsetGdb                          // 0x404010 <name+16>: or <+16>:
	offsetGdbTab                       // the same, followed by a tab
	offsetNone                         // the line starts with units
)

func (k offsetKind) String() string {
	switch k {
	case offsetOctal, offsetOctalAny:
		return "octal"
	case offsetDecimal, offsetDecimalAny, offsetColon10:
		return "decimal"
	}
	return "hex"
}

// unit is the notation of one or more bytes between spaces.
type unit struct {
	base    int // of the digits: 2, 8, 10 or 16
	digits  int // in one unit; 0 for any number: a group of bytes (base 16) or a number (base 10)
	bytes   int // in one unit; with digits 0 and base 16 half the digits
	little  bool
	hexMark bool // each starts with 0x
	cells   bool // characters in cells of four columns
	tick    bool // a backtick separates the halves of eight bytes
}

var (
	unitByte   = unit{base: 16, digits: 2, bytes: 1}
	unitWord   = unit{base: 16, digits: 4, bytes: 2, little: true}
	unitDword  = unit{base: 16, digits: 8, bytes: 4, little: true}
	unitQword  = unit{base: 16, digits: 16, bytes: 8, little: true}
	unitTicked = unit{base: 16, digits: 16, bytes: 8, little: true, tick: true}
	unitGroup  = unit{base: 16, bytes: 1}
	unitGroupE = unit{base: 16, bytes: 1, little: true}
	unitBits   = unit{base: 2, digits: 8, bytes: 1}
	unitOctal1 = unit{base: 8, digits: 3, bytes: 1}
	unitOctal2 = unit{base: 8, digits: 6, bytes: 2, little: true}
	unitDec2   = unit{base: 10, digits: 5, bytes: 2, little: true}
	unitDec1   = unit{base: 10, bytes: 1}
	unitChars  = unit{base: 8, bytes: 1, cells: true}
)

// marked returns u with a 0x before each unit.
func (u unit) marked() unit {
	u.hexMark = true
	return u
}

// textKind is the kind of text after the units.
type textKind uint8

const (
	textFree  textKind = iota // anything after two spaces
	textBars                  // |....|
	textAngle                 // >....<, or nothing
	textNone                  // nothing
)

// dumpStyles in the order in which they are tried. Of styles that could fit the same line, the more usual one is first; consecutive offsets
// decide. od writes seven digits, and six if they are hex; hexdump writes seven hex digits.
var dumpStyles = []dumpStyle{
	{formODc, offsetOctal, unitChars, textAngle, 0},
	{formODc, offsetHex, unitChars, textAngle, 0},
	{formODc, offsetDecimal, unitChars, textAngle, 0},

	{formWinDbg, offsetWindbg, unitTicked, textFree, 0},
	{formWinDbg, offsetWindbg, unitByte, textFree, 0},
	{formWinDbg, offsetWindbg, unitWord, textFree, 0},
	{formWinDbg, offsetWindbg, unitDword, textFree, 0},
	{formWinDbg, offsetWindbg, unitQword, textFree, 0},

	{formGDB, offsetGdb, unitByte.marked(), textNone, 0},
	{formGDB, offsetGdb, unitWord.marked(), textNone, 0},
	{formGDB, offsetGdb, unitDword.marked(), textNone, 0},
	{formGDB, offsetGdb, unitQword.marked(), textNone, 0},
	{formGDB, offsetGdbTab, unitDec1, textNone, 0},

	{formXXD, offsetColon, unitGroup, textFree, 0},
	{formXXD, offsetColon10, unitGroup, textFree, 0},
	{formXXDe, offsetColon, unitGroupE, textFree, 0},
	{formXXDb, offsetColon, unitBits, textFree, 0},

	{formHexdumpC, offsetHex, unitByte, textBars, 0},
	{formODtx1, offsetOctal, unitByte, textAngle, 0},
	{formODtx1, offsetDecimal, unitByte, textAngle, 0},
	{formODtx1, offsetHex, unitByte, textAngle, 0},
	{formWiresharkDump, offsetHex, unitByte, textFree, 0},
	{formText2pcap, offsetHex, unitByte, textFree, 0},
	{formText2pcap, offsetOctalAny, unitByte, textFree, 0},
	{formText2pcap, offsetDecimalAny, unitByte, textFree, 0},

	{formHexdump, offsetHex, unitWord, textNone, 0},
	{formODtx2, offsetOctal, unitWord, textAngle, 0},
	{formODtx2, offsetDecimal, unitWord, textAngle, 0},
	{formODtx2, offsetHex, unitWord, textAngle, 0},
	{formODtx4, offsetOctal, unitDword, textAngle, 0},
	{formODtx4, offsetDecimal, unitDword, textAngle, 0},
	{formODtx4, offsetHex, unitDword, textAngle, 0},
	{formODtx8, offsetOctal, unitQword, textAngle, 0},
	{formODtx8, offsetDecimal, unitQword, textAngle, 0},
	{formODtx8, offsetHex, unitQword, textAngle, 0},
	{formHexdumpB, offsetHex, unitOctal1, textNone, 0},
	{formHexdumpB, offsetOctal, unitOctal1, textAngle, 0},
	{formOD, offsetOctal, unitOctal2, textAngle, 0},
	{formOD, offsetHex, unitOctal2, textNone, 0},
	{formOD, offsetDecimal, unitOctal2, textAngle, 0},
	{formHexdumpD, offsetHex, unitDec2, textNone, 0},
	{formODtu1, offsetOctal, unitDec1, textAngle, 0},
	{formODtu1, offsetHex, unitDec1, textAngle, 0},
	{formODtu1, offsetDecimal, unitDec1, textAngle, 0},

	{formGDB, offsetColon, unitGroup, textFree, 0},

	{formODtx1, offsetNone, unitByte, textAngle, 0},
	{formTextRows, offsetNone, unitByte, textFree, 0},
	{formHexdumpC, offsetNone, unitByte, textBars, 0},
	{formODtx2, offsetNone, unitWord, textAngle, 0},
	{formODtx4, offsetNone, unitDword, textAngle, 0},
	{formODtx8, offsetNone, unitQword, textAngle, 0},
	{formWinDbg, offsetNone, unitTicked, textFree, 0},
}

// readOffset reads the offset at the start of s. It returns the start of the units; the offset itself is 0 for offsetNone.
func (k offsetKind) readOffset(s string) (value uint64, next int, ok bool) {
	i := 0
	switch k {
	case offsetNone:
		return 0, 0, s != ""
	case offsetGdb:
		return readGdbOffset(s)
	case offsetGdbTab:
		value, next, ok = readGdbOffset(s)
		return value, next, ok && s[next] == '\t'
	case offsetWindbg:
		return readWindbgOffset(s)
	case offsetHex, offsetColon:
		if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
			i = 2
		}
		value, next = readNumber(s, i, 16)
	case offsetOctal, offsetOctalAny:
		value, next = readNumber(s, i, 8)
	case offsetDecimal, offsetDecimalAny, offsetColon10:
		value, next = readNumber(s, i, 10)
	}
	least := 3
	switch {
	case i > 0:
		least = 1
	case k == offsetOctal, k == offsetDecimal:
		least = 7
	}
	if n := next - i; n < least || n > 16 {
		return 0, 0, false
	}
	if k == offsetColon || k == offsetColon10 {
		if next >= len(s) || s[next] != ':' {
			return 0, 0, false
		}
		next++
	}
	return value, next, next == len(s) || s[next] == ' ' || s[next] == '\t' && k != offsetColon && k != offsetColon10
}

// readNumber reads at most 17 digits at s[i:] and returns their end: callers reject values of more than 64 bits.
func readNumber(s string, i int, base uint64) (value uint64, next int) {
	for most := i + 17; i < len(s) && i < most; i++ {
		d := uint64(scan.HexValue[s[i]])
		if d >= base {
			break
		}
		value = value*base + d
	}
	return value, i
}

// readWindbgOffset reads eight or sixteen digits, which may have a backtick in the middle, and the two spaces after them.
func readWindbgOffset(s string) (value uint64, next int, ok bool) {
	value, next = readNumber(s, 0, 16)
	ticked := next == 8 && next < len(s) && s[next] == '`'
	if ticked {
		low, end := readNumber(s, next+1, 16)
		if end-next-1 != 8 {
			return 0, 0, false
		}
		value, next = value<<32|low, end
	} else if next != 8 && next != 16 {
		return 0, 0, false
	}
	return value, next, strings.HasPrefix(s[next:], "  ") && len(s) > next+2 && s[next+2] != ' '
}

// readGdbOffset reads "0x404010 <name+16>:", "0x404010:" or "<+16>:". Without an address the number in angle brackets counts.
func readGdbOffset(s string) (value uint64, next int, ok bool) {
	address := strings.HasPrefix(s, "0x")
	if address {
		value, next = readNumber(s, 2, 16)
		if next < 3 || next > 18 {
			return 0, 0, false
		}
		for next < len(s) && scan.IsSpace(s[next]) {
			next++
		}
	}
	if next < len(s) && s[next] == '<' {
		end := strings.IndexByte(s[next:], '>')
		if end < 0 {
			return 0, 0, false
		}
		inside := s[next+1 : next+end]
		next += end + 1
		if !address {
			plus := strings.LastIndexByte(inside, '+')
			if plus >= 0 && len(inside)-plus <= 10 {
				value, _ = readNumber(inside, plus+1, 10)
			}
			address = true
		}
	}
	if !address || next >= len(s) || s[next] != ':' {
		return 0, 0, false
	}
	next++
	return value, next, next < len(s) && scan.IsSpace(s[next])
}

// read reads one unit at s[i:] and appends its bytes to out. It returns the end of the unit; ok is false if there is none.
func (u unit) read(out []byte, s string, i int) (_ []byte, next int, ok bool) {
	if u.hexMark {
		if !strings.HasPrefix(s[i:], "0x") {
			return out, i, false
		}
		i += 2
	}
	negative := false
	if u.base == 10 && u.digits == 0 && i < len(s) && s[i] == '-' {
		negative = true
		i++
	}
	end := i
	for end < len(s) && int(scan.HexValue[s[end]]) < u.base {
		end++
	}
	if u.tick {
		if end-i != 8 || end >= len(s) || s[end] != '`' {
			return out, i, false
		}
		low := end + 1
		for end = low; end < len(s) && scan.IsHex(s[end]); end++ {
		}
		if end-low != 8 || !u.ends(s, end) {
			return out, i, false
		}
		out = appendReversed(out, s[low:end])
		return appendReversed(out, s[i:low-1]), end, true
	}
	n := end - i
	if n == 0 || u.digits != 0 && n != u.digits || !u.ends(s, end) {
		return out, i, false
	}
	switch {
	case u.base == 16 && u.little:
		if n%2 != 0 {
			return out, i, false
		}
		return appendReversed(out, s[i:end]), end, true
	case u.base == 16:
		if n%2 != 0 {
			return out, i, false
		}
		return appendPairs(out, s[i:end]), end, true
	}
	if n > 8 || u.digits == 0 && n > 3 {
		return out, i, false
	}
	value, _ := readNumber(s, i, uint64(u.base))
	if negative {
		if value > 128 {
			return out, i, false
		}
		value = 256 - value
	}
	if value >= 1<<(8*u.bytes) {
		return out, i, false
	}
	for range u.bytes {
		out = append(out, byte(value))
		value >>= 8
	}
	return out, end, true
}

// ends reports whether a unit may end at s[i:]. A hyphen separates the halves of WinDbg's lines.
func (u unit) ends(s string, i int) bool {
	return i == len(s) || scan.IsSpace(s[i]) || s[i] == '-' && u.bytes == 1 && u.digits == 2
}

func appendReversed(out []byte, digits string) []byte {
	for k := len(digits) - 2; k >= 0; k -= 2 {
		out = append(out, scan.HexValue[digits[k]]<<4|scan.HexValue[digits[k+1]])
	}
	return out
}
