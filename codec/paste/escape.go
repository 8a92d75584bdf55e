package paste

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"wirebench/codec/scan"
)

// escapes is the language of the escapes in a string.
type escapes uint8

const (
	escapesC      escapes = iota // and Go, Rust, JavaScript, Java, C#
	escapesPython                // of b'...': an unknown escape keeps its backslash
	escapesLua                   // \38 is decimal
)

// simpleEscapes are the one-letter escapes common to C, Python, Go, Rust and JavaScript.
var simpleEscapes = map[byte]byte{
	'a': 7, 'b': 8, 't': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, 'e': 27, '\\': '\\', '\'': '\'', '"': '"', '?': '?', '`': '`', '/': '/',
}

// appendUnescaped appends the bytes for the characters from off to end of the text. Python keeps the backslash of an unknown escape;
// elsewhere that is an error. octal means that an octal escape of more than one digit was read.
func appendUnescaped(out []byte, t *pasted, off, end int, lang escapes) (_ []byte, octal bool, _ *Error) {
	s := t.s[:end]
	for i := off; i < end; {
		c := s[i]
		if c != '\\' {
			n := strings.IndexByte(s[i:], '\\')
			if n < 0 {
				n = end - i
			}
			out = append(out, s[i:i+n]...)
			i += n
			continue
		}
		if i+1 >= end {
			return out, octal, errFound(t, i, "an escape")
		}
		at := i
		i++
		switch c = s[i]; {
		case c == '\n':
			i++
		case c == '\r' && i+1 < end && s[i+1] == '\n':
			i += 2
		case (c == 'x' || c == 'u') && i+1 < end && s[i+1] == '{' && lang == escapesC: // Rust, JavaScript, Perl, Erlang
			n := hexRun(s, i+2)
			v, next := readNumber(s, i+2, 16)
			if n == 0 || n > 6 || next >= end || s[next] != '}' || v > utf8.MaxRune {
				return out, octal, errFound(t, i+2, "up to six hex digits in braces")
			}
			if c == 'x' && v <= 0xff {
				out = append(out, byte(v))
			} else {
				out = utf8.AppendRune(out, rune(v))
			}
			i = next + 1
		case c == 'x':
			n := min(hexRun(s, i+1), 2)
			if n == 0 {
				return out, octal, errFound(t, i+1, "two hex digits after \\x")
			}
			v, _ := readNumber(s[:i+1+n], i+1, 16)
			out = append(out, byte(v))
			i += 1 + n
		case c >= '0' && c <= '7', c >= '8' && c <= '9' && lang == escapesLua:
			base, name := uint64(8), "octal"
			if lang == escapesLua {
				base, name = 10, "decimal"
			}
			v, next := readNumber(s[:min(end, i+3)], i, base)
			if v > 0xff {
				return out, octal, errAt(at, "the %s escape is %d, which is not a byte", name, v)
			}
			octal = octal || next-i > 1
			out = append(out, byte(v))
			i = next
		case (c == 'u' || c == 'U') && lang != escapesPython:
			n := 4
			if c == 'U' {
				n = 8
			}
			if hexRun(s, i+1) < n {
				return out, octal, errFound(t, i+1, fmt.Sprintf("%d hex digits", n))
			}
			v, _ := readNumber(s[:i+1+n], i+1, 16)
			if v > utf8.MaxRune {
				return out, octal, errAt(at, "this escape is not a character")
			}
			out = utf8.AppendRune(out, rune(v))
			i += 1 + n
		default:
			v, ok := simpleEscapes[c]
			switch {
			case ok && !(lang == escapesPython && strings.IndexByte("e?`/", c) >= 0):
				out = append(out, v)
			case lang == escapesPython:
				out = append(out, '\\', c)
			default:
				return out, octal, errAt(at, "unknown escape %s", scan.Quote(s[at:min(end, at+2)]))
			}
			i++
		}
	}
	return out, octal, nil
}
