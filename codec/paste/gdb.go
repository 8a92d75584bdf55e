package paste

import (
	"bytes"
	"regexp"
	"strings"
)

// The output of gdb for an array of bytes, with repeated elements abbreviated:
//
//	$1 = {0x0 <repeats 12 times>, 0x3, 0xff}
//	$2 = "\000\003AB", '\000' <repeats 13 times>
//
// The parts of a line are one message. gdb prints 200 elements by default ("set print elements 0" removes the limit), and dots for the
// rest.

const repeats = " <repeats "

// gdbStart is the start of a value that gdb prints.
var gdbStart = regexp.MustCompile(`^\s*(?:\(gdb\)[ \t]*)?\$\d+ = `)

// isGdbPrint recognises such a text by "$1 = " at its start and an abbreviation: without one, it is an array or a string as in source code.
func isGdbPrint(t *pasted) bool {
	return gdbStart.MatchString(t.s) && (strings.Contains(t.s, repeats) || strings.Contains(t.s, `"...`) || strings.Contains(t.s, "...}"))
}

// readGdbPrint reads the form "gdb-print". A line that starts with another value is another message; other lines continue the message.
func readGdbPrint(t *pasted) (*builder, *Error) {
	b := &builder{form: formGDBPrint, why: "a value as gdb prints it, with its repeat counts"}
	return b.whole(t.each(func(l line) (e *Error) {
		at := len(gdbStart.FindString(l.text))
		if at > 0 {
			e = b.begin(Message{}, l.off+strings.IndexByte(l.text, '$'))
		}
		if e == nil && b.open {
			e = b.gdbElements(t, l.off+at, l.off+len(l.text))
		}
		return e
	}), noBytes)
}

// gdbElements reads the elements in a part of a line.
func (b *builder) gdbElements(t *pasted, i, end int) (e *Error) {
	s := t.s[:end]
	for i < end {
		before := len(b.out)
		switch c := s[i]; {
		case strings.IndexByte(" \t,{}", c) >= 0:
			i++
			continue
		case strings.HasPrefix(s[i:], "..."):
			return errAt(i, "the output of gdb is truncated: \"set print elements 0\" makes it print all")
		case c == '"' || c == '\'':
			kind, after := stringEnd(s, i)
			if kind != codeString {
				return errFound(t, end, "a character of a string of gdb")
			}
			if b.out, _, e = appendUnescaped(b.out, t, i+1, after-1, escapesC); e != nil {
				return e
			}
			i = after
		default:
			x, ok := readElement(&pasted{s}, i)
			if !ok || !x.isByte() {
				return errFound(t, i, "a byte")
			}
			b.out = append(b.out, byte(x.value))
			i = x.end
		}
		if rest, ok := strings.CutPrefix(s[i:], repeats); ok && len(b.out) == before+1 {
			n, end := readNumber(rest, 0, 10)
			if n == 0 || !strings.HasPrefix(rest[end:], " times>") {
				return errFound(t, i+1, "how often it is repeated")
			}
			if e := b.room(n-1, i); e != nil {
				return e
			}
			b.out = append(b.out, bytes.Repeat(b.out[before:], int(n-1))...)
			i += len(repeats) + end + len(" times>")
		}
	}
	return nil
}
