package paste

import (
	"strconv"
	"strings"

	"wirebench/codec/scan"
)

// Bytes as characters: od -c and hexdump -c. Each byte has four columns: a space and, right-aligned, the character, an escape (\0 \a \b \f
// \n \r \t \v) or three octal digits. The offset is octal (od), hex (hexdump, od -Ax) or decimal (od -Ad), whichever matches the bytes of
// the lines. od -a uses the same names for other bytes, and is not supported.

// charCell is the number of columns of a byte.
const charCell = 4

// tryChars recognises such a dump by its first line: an offset of zero, then cells of which at least one is not a number.
func tryChars(t *pasted) (*builder, *Error) {
	l, ok := t.firstLine()
	if !ok || len(l.text) < 10 || len(l.text) > maxDumpLine {
		return nil, nil
	}
	zeros := len(l.text) - len(strings.TrimLeft(l.text, "0"))
	data, letters, _ := charCells(nil, strings.TrimRight(l.text, "\r"), zeros)
	if zeros < 6 || zeros > 8 || len(data) == 0 || letters == 0 {
		return nil, nil
	}
	b, e := readChars(t)
	if e != nil {
		return nil, e.as(likely)
	}
	return b, nil
}

// readChars reads the form "od-c".
func readChars(t *pasted) (*builder, *Error) {
	l, _ := t.firstLine()
	bases := []int{8, 16, 10} // the offsets of od have seven digits, and six if they are hex
	if len(l.text) > 6 && l.text[6] == ' ' {
		bases = []int{16}
	}
	var best *builder
	var first *Error
	for _, base := range bases {
		b, e := readCharsOf(t, base)
		switch {
		case e != nil:
			if first == nil || e.off > first.off {
				first = e
			}
		case best == nil:
			b.why = charBases[base] + " offsets that match the bytes of the lines, a character, an escape or three octal digits a byte"
			best = b
		case len(b.out) != len(best.out):
			best.note(0, "the offsets also read as %s, which makes %d bytes instead of %d", charBases[base], len(b.out), len(best.out))
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, first
}

var charBases = map[int]string{8: "octal", 16: "hex", 10: "decimal"}

func readCharsOf(t *pasted, base int) (*builder, *Error) {
	b := &builder{form: formODc}
	var fail *Error
	at, star, last, lines, spare := 0, -1, 0, 0, 0
	t.lines(func(l line) bool {
		s := l.text
		switch {
		case strings.TrimSpace(s) == "":
			return true
		case strings.TrimSpace(s) == "*" && lines > 0:
			star = l.off
			return true
		}
		end := 0
		for end < len(s) && scan.IsHex(s[end]) && end < 16 {
			end++
		}
		offset, err := strconv.ParseUint(s[:end], base, 40)
		if end < 6 || err != nil || end < len(s) && s[end] != ' ' {
			fail = errFound(t, l.off, "an offset")
			return false
		}
		if star >= 0 {
			if offset < uint64(at) || at == last || (offset-uint64(at))%uint64(at-last) != 0 {
				fail = errAt(l.off, "the lines that \"*\" stands for do not lead to this offset")
				return false
			}
			if fail = b.room(offset-uint64(at), l.off); fail != nil {
				return false
			}
			for width := at - last; uint64(len(b.out)) < offset; {
				b.out = append(b.out, b.out[len(b.out)-width:]...)
			}
			at, star = len(b.out), -1
		}
		if offset > uint64(at) && offset-uint64(at) <= uint64(spare) { // the line was padded with spaces, not bytes
			b.out = append(b.out, strings.Repeat(" ", int(offset)-at)...)
			at = len(b.out)
		}
		if offset != uint64(at) {
			fail = errAt(l.off, "the offset is %s, but the lines before lead to %s", scan.Quote(s[:end]), strconv.FormatInt(int64(at), base))
			return false
		}
		before := len(b.out)
		var bad int
		if b.out, _, bad = charCells(b.out, s, end); bad >= 0 {
			fail = errFound(t, l.off+bad, "a character, an escape or three octal digits")
			return false
		}
		if fail = b.room(0, l.off); fail != nil {
			return false
		}
		if len(b.out) > before {
			last, at = before, len(b.out)
		}
		if end < len(s) {
			spare = max((len(s)-end)/charCell, 16) - (len(b.out) - before) // trailing spaces may be lost
		}
		lines++
		return true
	})
	switch {
	case fail != nil:
		return nil, fail
	case star >= 0:
		b.note(star, "no offset follows \"*\", so the number of lines that it stands for is unknown; none were added")
	}
	if len(b.out) == 0 {
		return nil, errWhole("there are no bytes of this form in the text")
	}
	return b, b.add(Message{}, 0, 0)
}

// charCells appends the bytes of the cells of s, from a position on, and counts those that are not numbers. bad is the position of an
// invalid cell, or -1.
func charCells(out []byte, s string, from int) (_ []byte, letters, bad int) {
	start := len(out)
	for i := from; i < len(s); i += charCell {
		cell := s[i:min(i+charCell, len(s))]
		if len(cell) < charCell {
			if strings.TrimSpace(cell) == "" {
				break // padding of the line
			}
			return out[:start], letters, i
		}
		text := strings.TrimLeft(cell[:charCell-1], " ")
		c := cell[charCell-1]
		switch {
		case cell[0] != ' ':
			return out[:start], letters, i
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
				return out[:start], letters, i
			}
			out = append(out, "\x00\a\b\f\n\r\t\v"[k])
			letters++
		default:
			v, err := strconv.ParseUint(cell[1:], 8, 8)
			if err != nil {
				return out[:start], letters, i
			}
			out = append(out, byte(v))
		}
	}
	return out, letters, -1
}
