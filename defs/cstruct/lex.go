package cstruct

import (
	"strings"

	"wirebench/defs/source"
	"wirebench/defs/text"
)

// token is a word of a header. Tokens of an expanded macro have the span of the use.
type token struct {
	kind   tokenKind
	text   string
	at     source.Span
	first  bool          // first on its line
	pack   int           // value of #pragma pack at this place, 0: none
	before []source.Span // comments since the token before
}

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	numberToken
	charToken
	stringToken
	signToken
)

// is reports whether the token is a word or a sign.
func (t *token) is(s string) bool {
	return t.text == s && (t.kind == wordToken || t.kind == signToken)
}

// signs are the signs of more than one character, longest first.
var signs = []string{"...", "<<=", ">>=", "<=>", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"}

// lexer splits a file into tokens.
type lexer struct {
	tree    *tree
	src     string
	at      int
	end     int
	first   bool
	pending []source.Span
}

// lex reads the tokens of a file, up to maxTokens.
func lex(t *tree) {
	l := &lexer{tree: t, src: t.file.Text, end: len(t.file.Text), first: true}
	if t.file.NumLines() > text.MaxLines {
		cut := t.file.Line(text.MaxLines + 1)
		t.report(text.TooManyLines(cut, text.MaxLines))
		l.end = cut.Start
	}
	if strings.HasPrefix(l.src, text.BOM) {
		l.at = len(text.BOM)
	}
	for l.next() {
		if len(t.tokens) >= maxTokens {
			t.report(tooManyTokens(t.tokens[len(t.tokens)-1].at))
			break
		}
	}
	t.tokens = append(t.tokens, token{at: source.Span{File: t.file, Start: l.at, End: l.at}, first: true, before: l.pending})
}

// next reads white space, a comment or a token. It returns false at the end.
func (l *lexer) next() bool {
	if l.at >= l.end {
		return false
	}
	rest := l.src[l.at:l.end]
	switch c := rest[0]; {
	case c == '\n':
		l.first = true
		l.at++
	case text.IsBlank(c):
		l.at++
	case c == '\\' && (strings.HasPrefix(rest[1:], "\n") || strings.HasPrefix(rest[1:], "\r\n")):
		l.at += 2 + strings.IndexByte(rest[1:], '\n')
	case strings.HasPrefix(rest, "//"):
		l.comment(lineEnd(rest))
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			l.tree.report(notClosed(l.span(2), "comment"))
			n = len(rest) - 4
		}
		l.comment(n + 4)
	case c == '"' || c == '\'':
		l.quoted(rest, c)
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		n := 1
		for n < len(rest) && (text.IsNameByte(rest[n]) || rest[n] == '.' || rest[n] == '\'' && n+1 < len(rest) && text.IsNameByte(rest[n+1]) ||
			(rest[n] == '+' || rest[n] == '-') && strings.IndexByte("eEpP", rest[n-1]) >= 0 && !strings.HasPrefix(rest, "0x")) {
			n++
		}
		l.token(numberToken, n)
	case text.IsNameByte(c) || c == '$' || c >= 0x80:
		n := 1
		for n < len(rest) && (text.IsNameByte(rest[n]) || rest[n] == '$' || rest[n] >= 0x80) {
			n++
		}
		l.token(wordToken, n)
	case c < 0x20 || c == 0x7f:
		l.tree.report(text.ControlCharacter(l.span(1)))
		l.at++
	default:
		n := 1
		for _, s := range signs {
			if strings.HasPrefix(rest, s) {
				n = len(s)
				break
			}
		}
		l.token(signToken, n)
	}
	return true
}

// lineEnd returns the length of a line without its line break; a "\" at the end of it continues it.
func lineEnd(s string) int {
	for n := 0; ; n++ {
		i := strings.IndexByte(s[n:], '\n')
		if i < 0 {
			return len(s)
		}
		n += i
		if line := strings.TrimSuffix(s[:n], "\r"); !strings.HasSuffix(line, "\\") {
			return len(line)
		}
	}
}

func (l *lexer) span(n int) source.Span {
	return source.Span{File: l.tree.file, Start: l.at, End: min(l.at+n, l.end)}
}

func (l *lexer) comment(n int) {
	l.pending = append(l.pending, l.span(n))
	l.at += n
}

func (l *lexer) token(kind tokenKind, n int) {
	l.tree.tokens = append(l.tree.tokens, token{kind: kind, text: l.src[l.at : l.at+n], at: l.span(n), first: l.first, before: l.pending})
	l.first, l.pending = false, nil
	l.at += n
}

// quoted reads a string or a character, which end at the end of the line at the latest.
func (l *lexer) quoted(rest string, quote byte) {
	kind := stringToken
	if quote == '\'' {
		kind = charToken
	}
	for n := 1; n < len(rest); n++ {
		switch rest[n] {
		case '\\':
			n++
		case quote:
			l.token(kind, n+1)
			return
		case '\n':
			rest = rest[:n]
		}
	}
	if !l.prose() {
		l.tree.report(notClosed(l.span(len(strings.TrimSuffix(rest, "\r"))), "quote"))
	}
	l.at += len(rest)
}

// prose reports whether the line is an #error, whose text may have apostrophes.
func (l *lexer) prose() bool {
	for i := len(l.tree.tokens) - 1; i >= 0 && !l.first; i-- {
		if t := &l.tree.tokens[i]; t.first {
			return t.is("#") && i+1 < len(l.tree.tokens) && (l.tree.tokens[i+1].is("error") || l.tree.tokens[i+1].is("warning"))
		}
	}
	return false
}
