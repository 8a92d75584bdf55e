package paste

import (
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

// numberEscape describes the digits of a numeric escape.
type numberEscape struct {
	base        uint64
	least, most int
	rune        bool // it is a character, else a byte
	want        string
}

// numberEscapeAt returns the numeric escape whose letter is at s[i:], and the start of its digits. ok is false for another escape.
func numberEscapeAt(s string, i int, lang escapes) (x numberEscape, from int, ok bool) {
	switch c := s[i]; {
	case (c == 'x' || c == 'u') && lang == escapesC && strings.HasPrefix(s[i+1:], "{"): // Rust, JavaScript, Perl, Erlang
		return numberEscape{16, 1, 6, true, "up to six hex digits in braces"}, i + 2, true
	case c == 'x':
		return numberEscape{16, 1, 2, false, "two hex digits after \\x"}, i + 1, true
	case scan.IsDigit(c) && lang == escapesLua:
		return numberEscape{10, 1, 3, false, "decimal"}, i, true
	case c >= '0' && c <= '7':
		return numberEscape{8, 1, 3, false, "octal"}, i, true
	case c == 'u' && lang != escapesPython:
		return numberEscape{16, 4, 4, true, "4 hex digits"}, i + 1, true
	case c == 'U' && lang != escapesPython:
		return numberEscape{16, 8, 8, true, "8 hex digits"}, i + 1, true
	}
	return x, i, false
}

// appendUnescaped appends the bytes for the characters from off to end of the text. Python keeps the backslash of an unknown escape;
// elsewhere that is an error. octal means that an octal escape of more than one digit was read.
func appendUnescaped(out []byte, t *pasted, off, end int, lang escapes) (_ []byte, octal bool, _ *Error) {
	s := t.s[:max(off, end)]
	for i := off; i < end; {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 {
			n = end - i
		}
		out = append(out, s[i:i+n]...)
		if i += n; i == end {
			break
		}
		at := i
		if i++; i == end {
			return out, octal, errFound(t, at, "an escape")
		}
		if x, from, ok := numberEscapeAt(s, i, lang); ok {
			v, next := readNumber(s[:min(end, from+x.most)], from, x.base)
			braces := from == i+2
			switch {
			case next-from < x.least, braces && (next == end || s[next] != '}'), braces && v > utf8.MaxRune:
				return out, octal, errFound(t, from, x.want)
			case x.rune && v > utf8.MaxRune:
				return out, octal, errAt(at, "this escape is not a character")
			case v > 0xff && !x.rune:
				return out, octal, errAt(at, "the %s escape is %d, which is not a byte", x.want, v)
			case x.rune && !(s[i] == 'x' && v <= 0xff):
				out = utf8.AppendRune(out, rune(v))
			default:
				out = append(out, byte(v))
			}
			octal = octal || from == i && next-i > 1
			if i = next; braces {
				i++
			}
			continue
		}
		c := s[i]
		i++
		switch v, ok := simpleEscapes[c]; {
		case c == '\n':
		case c == '\r' && i < end && s[i] == '\n':
			i++
		case ok && !(lang == escapesPython && strings.IndexByte("e?`/", c) >= 0):
			out = append(out, v)
		case lang == escapesPython:
			out = append(out, '\\', c)
		default:
			return out, octal, errAt(at, "unknown escape %s", scan.Quote(s[at:min(end, at+2)]))
		}
	}
	return out, octal, nil
}
