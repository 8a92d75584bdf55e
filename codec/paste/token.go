package paste

import (
	"regexp"
	"strings"

	"wirebench/codec/scan"
)

// One lexer reads the source code of all languages: comments, names, numbers, strings and brackets are similar enough. Brackets and their
// contents determine lists of bytes (list.go), quotes and the code before them determine strings of bytes (string.go).

// codeToken is one token of source code.
type codeToken struct {
	kind codeKind
	off  int // in the text
	end  int
}

type codeKind uint8

const (
	codeEnd    codeKind = iota
	codeWord            // a name or keyword
	codeNumber          // 12, 0x1f, -3, $1F, &H1F, 16#1F, 5fu8, 1_000; also bare hex that starts with a digit
	codeString          // with its quotes, without a prefix
	codeOther           // one character
	codeBroken          // an unterminated string
)

// codeLexer splits source code into tokens. Comments are not tokens; the last one is stored, as Wireshark writes the packet number there.
type codeLexer struct {
	s       string
	i       int
	comment string
	lost    int // characters scanned for the ends of unterminated strings
}

func (x *codeLexer) text(tok codeToken) string { return x.s[tok.off:tok.end] }

// next returns the next token.
func (x *codeLexer) next() codeToken {
	x.skip()
	s, i := x.s, x.i
	if i >= len(s) {
		return codeToken{codeEnd, len(s), len(s)}
	}
	kind, end := codeOther, i+1
	switch c := s[i]; {
	case scan.IsDigit(c), c == '-', c == '+', c == '$', c == '&', c == '#':
		if n := readLiteral(s, i).end; n > i {
			kind, end = codeNumber, n
		}
	case scan.IsWord(c), c >= 0x80:
		kind = codeWord
		for end < len(s) && (scan.IsWord(s[end]) || s[end] >= 0x80) {
			end++
		}
	case (c == '"' || c == '\'' || c == '`') && x.lost <= 4*len(s):
		if kind, end = stringEnd(s, i); kind == codeBroken {
			x.lost += end - i
		}
	}
	x.i = end
	return codeToken{kind, i, end}
}

func wordEnd(s string, i int) int {
	for i < len(s) && scan.IsWord(s[i]) {
		i++
	}
	return i
}

// stringEnd finds the end of the string that starts at i. Strings in triple quotes or backticks may contain line breaks; in others a
// backslash must precede a line break.
func stringEnd(s string, i int) (codeKind, int) {
	quote := s[i : i+1]
	if quote != "`" && strings.HasPrefix(s[i:], strings.Repeat(quote, 3)) {
		quote = s[i : i+3]
	}
	for j := i + len(quote); j < len(s); j++ {
		switch {
		case s[j] != quote[0] && s[j] != '\\' && s[j] != '\n':
		case s[j] == '\\' && quote != "`":
			j++
			if j+1 < len(s) && s[j] == '\r' && s[j+1] == '\n' {
				j++
			}
		case s[j] == '\n' && len(quote) == 1 && quote != "`":
			return codeBroken, j
		case s[j] == quote[0] && strings.HasPrefix(s[j:], quote):
			return codeString, j + len(quote)
		}
	}
	return codeBroken, len(s)
}

// skip skips white space, comments and line continuations.
func (x *codeLexer) skip() {
	for x.i < len(x.s) {
		rest := x.s[x.i:]
		switch c := rest[0]; {
		case scan.IsWord(c):
			return
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f', c == '\\' && (strings.HasPrefix(rest, "\\\n") || strings.HasPrefix(rest, "\\\r\n") || rest == "\\" || rest[1] == ' '):
			x.i++
		case c == '#' && readLiteral(x.s, x.i).end == x.i && !lispVector.MatchString(rest), strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "--") && len(rest) > 2 && scan.IsSpace(rest[2]):
			x.i = lineEnd(x.s, x.i, len(x.s))
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				x.i = len(x.s)
				return
			}
			x.comment = strings.TrimSpace(rest[2 : 2+n])
			x.i += n + 4
		default:
			return
		}
	}
}

// lispVector matches the start of a vector of Lisp or Scheme, which is not a comment.
var lispVector = regexp.MustCompile(`^#(?:u8)?\([\d#]`)

var closing = map[byte]byte{'[': ']', '{': '}', '(': ')', '<': '>'}
