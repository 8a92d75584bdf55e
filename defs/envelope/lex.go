package envelope

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// token is a word or a sign.
type token struct {
	span   source.Span
	text   string // of a quoted word its value
	quoted bool
	sign   bool // one of -> : , = !=
}

// line is one line of a text.
type line struct {
	span    source.Span // without surrounding space
	tokens  []token
	comment source.Span // with its #
	indent  int         // bytes of white space before it
	bad     bool        // a word is malformed: the tokens are those before it
	table   bool        // an entry of a table of codes
	inState bool
}

var space text.Space // ASCII white space only

// lex splits a line into tokens.
func lex(whole source.Span, report func(diag.Diagnostic)) line {
	ln := line{span: space.Trimmed(whole)}
	ln.indent = ln.span.Start - whole.Start
	s := ln.span.Text()
	if len(s) > text.MaxLine {
		report(text.LineTooLong(ln.span))
		ln.bad = true
		return ln
	}
	for i := 0; ; {
		for i < len(s) && text.IsBlank(s[i]) {
			i++
		}
		if i == len(s) {
			return ln
		}
		start := i
		t := token{sign: true}
		switch rest := s[i:]; {
		case rest[0] == '#':
			ln.comment = ln.span.Sub(i, len(s))
			return ln
		case strings.HasPrefix(rest, "->"), strings.HasPrefix(rest, "!="):
			i += 2
		case rest[0] == ':' || rest[0] == ',' || rest[0] == '=':
			i++
		case rest[0] == '"':
			prefix, err := strconv.QuotedPrefix(rest)
			if err != nil {
				report(badQuotes(ln.span.Sub(i, len(s))))
				ln.bad = true
				return ln
			}
			i += len(prefix)
			t.sign, t.quoted = false, true
			t.text, _ = strconv.Unquote(prefix)
		default:
			t.sign = false
			for i < len(s) && isWordByte(s[i]) && !strings.HasPrefix(s[i:], "->") {
				i++
			}
			if i == start || !utf8.ValidString(s[start:i]) {
				_, n := utf8.DecodeRuneInString(s[i:])
				report(badCharacter(ln.span.Sub(start, max(i, start+n))))
				ln.bad = true
				return ln
			}
		}
		t.span = ln.span.Sub(start, i)
		if !t.quoted {
			t.text = t.span.Text()
		}
		ln.tokens = append(ln.tokens, t)
	}
}

// isRule reports whether a line is a rule: it has an arrow or a colon.
func (ln *line) isRule() bool {
	for _, t := range ln.tokens {
		if t.sign && (t.text == "->" || t.text == ":") {
			return true
		}
	}
	return false
}

// isEntry reports whether a line is an entry of a table: its second word is "=".
func (ln *line) isEntry() bool {
	return len(ln.tokens) > 1 && ln.tokens[1].sign && ln.tokens[1].text == "="
}
