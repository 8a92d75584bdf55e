package paste

import (
	"strconv"
	"strings"

	"wirebench/codec/scan"
)

// Bytes as characters: od -c and hexdump -c. Each byte has four columns: a space and, right-aligned, the character, an escape (\0 \a \b \f
// \n \r \t \v) or three octal digits. od -a uses the same names for other bytes, and is not supported.

// charCell is the number of columns of a byte.
const charCell = 4

// parseCells parses the cells of a line from position i on.
func (l *dumpLine) parseCells(s string, i int) {
	var bad int
	l.kind, l.spare = lineData, max((len(s)-i)/charCell, followWidth)
	if l.data, l.letters, bad = charCells(l.data, s, i); bad >= 0 {
		if l.kind = lineBad; len(l.data) == 0 {
			l.kind = lineOther
		}
		l.bad, l.want = bad, unitChars.describe()
	}
	l.spare -= len(l.data)
}

// pad appends the spaces at the end of the last line that the next offset shows to be bytes; they may be lost, or be padding. ok is false
// if they do not explain n bytes.
func (d *dumper) pad(n uint64) bool {
	if d.style.unit != unitChars || d.starAt >= 0 || n > uint64(d.spare) {
		return false
	}
	d.b.out = append(d.b.out, strings.Repeat(" ", int(n))...)
	return true
}

// charCells appends the bytes of the cells of s, from a position on, and counts those that are not numbers. bad is the position of an
// invalid cell, or -1.
func charCells(out []byte, s string, from int) (_ []byte, letters, bad int) {
	for i := from; i < len(s); i += charCell {
		cell := s[i:min(i+charCell, len(s))]
		if len(cell) < charCell {
			if strings.TrimSpace(cell) == "" {
				break // padding of the line
			}
			return out, letters, i
		}
		text := strings.TrimLeft(cell[:charCell-1], " ")
		c := cell[charCell-1]
		switch {
		case cell[0] != ' ':
			return out, letters, i
		case text == "":
			if c == ' ' && strings.TrimSpace(s[i:]) == "" {
				return out, letters, -1 // hexdump pads the last line; the next offset shows whether these are bytes
			}
			out = append(out, c)
			if !scan.IsDigit(c) { // od -tu1 has the same columns
				letters++
			}
		case text == `\`:
			k := strings.IndexByte("0abfnrtv", c)
			if k < 0 {
				return out, letters, i
			}
			out = append(out, "\x00\a\b\f\n\r\t\v"[k])
			letters++
		default:
			v, err := strconv.ParseUint(cell[1:], 8, 8)
			if err != nil {
				return out, letters, i
			}
			out = append(out, byte(v))
		}
	}
	return out, letters, -1
}
