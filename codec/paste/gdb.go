package paste

import (
	"strings"

	"wirebench/codec/scan"
)

// The output of gdb for an array of bytes, with repeated elements abbreviated:
//
//	$1 = {0x0 <repeats 12 times>, 0x3, 0xff}
//	$2 = "\000\003AB", '\000' <repeats 13 times>
//
// The parts of a line are one message. gdb prints 200 elements by default ("set print elements 0" removes the limit), and dots for the
// rest.

const repeats = " <repeats "

// tryGdbPrint recognises such a text by "$1 = " at its start and an abbreviation: without one, it is an array or a string as in source
// code.
func tryGdbPrint(t *pasted) (*builder, *Error) {
	s := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(t.s, " \t\r\n"), "(gdb) "), " ")
	_, ok := gdbValue(s)
	if !ok || !strings.Contains(t.s, repeats) && !strings.Contains(t.s, `"...`) && !strings.Contains(t.s, "...}") {
		return nil, nil
	}
	b, e := readGdbPrint(t)
	if e != nil {
		return nil, e.as(certain)
	}
	return b, nil
}

// gdbValue returns the position of the value in a line that starts with "$1 = ".
func gdbValue(s string) (at int, ok bool) {
	if !strings.HasPrefix(s, "$") {
		return 0, false
	}
	_, end := readNumber(s, 1, 10)
	return end + len(" = "), end > 1 && strings.HasPrefix(s[end:], " = ")
}

// readGdbPrint reads the form "gdb-print". A line that starts with another value is another message; other lines continue the message.
func readGdbPrint(t *pasted) (*builder, *Error) {
	b := &builder{form: formGDBPrint, why: "a value as gdb prints it, with its repeat counts"}
	start, first := 0, -1
	var fail *Error
	t.lines(func(l line) bool {
		s, at := l.text, skipSpaces(l.text, 0)
		if strings.HasPrefix(s[at:], "(gdb)") {
			at = skipSpaces(s, at+len("(gdb)"))
		}
		value, begins := gdbValue(s[at:])
		if begins {
			if first >= 0 {
				fail = b.add(Message{}, start, first)
			}
			start, first = len(b.out), l.off+at
			at += value
		}
		if first >= 0 && fail == nil {
			fail = b.gdbLine(t, s, at, l.off)
		}
		return fail == nil
	})
	if fail == nil && first >= 0 {
		fail = b.add(Message{}, start, first)
	}
	if fail != nil {
		return nil, fail
	}
	if len(b.out) == 0 {
		return nil, errWhole("there are no bytes of this form in the text")
	}
	return b, nil
}

// gdbLine reads elements of a line from position i on.
func (b *builder) gdbLine(t *pasted, s string, i, off int) *Error {
	for i < len(s) {
		before := len(b.out)
		switch c := s[i]; {
		case scan.IsSpace(c) || c == ',' || c == '{' || c == '}':
			i++
			continue
		case strings.HasPrefix(s[i:], "..."):
			return errAt(off+i, "the output of gdb is truncated: \"set print elements 0\" makes it print all")
		case c == '"' || c == '\'':
			end, ok := b.gdbString(s, i)
			if !ok {
				return errFound(t, off+end, "a character of a string of gdb")
			}
			i = end
		default:
			end := i
			for end < len(s) && (scan.IsWord(s[end]) || s[end] == '-') {
				end++
			}
			v, _, ok := byteValue(s[i:end])
			if !ok {
				return errFound(t, off+i, "a byte")
			}
			b.out = append(b.out, v)
			i = end
		}
		if e := b.room(0, off+i); e != nil {
			return e
		}
		if rest, ok := strings.CutPrefix(s[i:], repeats); ok && len(b.out) == before+1 {
			n, end := readNumber(rest, 0, 10)
			if end == 0 || n == 0 || !strings.HasPrefix(rest[end:], " times>") {
				return errFound(t, off+i+1, "how often it is repeated")
			}
			if e := b.room(n-1, off+i); e != nil {
				return e
			}
			for range n - 1 {
				b.out = append(b.out, b.out[before])
			}
			i += len(repeats) + end + len(" times>")
		}
	}
	return nil
}

// gdbString appends the bytes of the string or character at i. With !ok, end is the position of the mistake.
func (b *builder) gdbString(s string, i int) (end int, ok bool) {
	quote := s[i]
	for i++; i < len(s); i++ {
		c := s[i]
		switch {
		case c == quote:
			return i + 1, true
		case c != '\\':
			b.out = append(b.out, c)
			continue
		case i+1 == len(s):
			return i, false
		}
		i++
		if k := strings.IndexByte(`abfnrtve"'\`, s[i]); k >= 0 {
			b.out = append(b.out, "\a\b\f\n\r\t\v\x1b\"'\\"[k])
			continue
		}
		v, next := readNumber(s[:min(len(s), i+3)], i, 8)
		if next != i+3 || v > 255 {
			return i, false
		}
		b.out = append(b.out, byte(v))
		i += 2
	}
	return i, false
}
