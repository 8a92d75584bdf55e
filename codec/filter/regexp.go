package filter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// expression is a compiled regular expression. It is immutable.
type expression struct {
	re       *regexp.Regexp
	bytes    bool // characters are bytes
	size     int  // instructions of its program
	prefix   []byte
	complete bool // prefix is the complete expression
}

// compileRegexp compiles a regular expression; why is the mistake in it. Over text its characters are code points. Over bytes each
// character is one byte: \xd0 is the byte d0, "." is any byte, and a letter outside ASCII is its UTF-8 bytes, as for "contains".
func compileRegexp(text string, asBytes bool) (x *expression, why string) {
	x = &expression{bytes: asBytes}
	if asBytes {
		tidy := strings.ToValidUTF8(text, "\ufffd") // invalid UTF-8 is a byte
		if why = x.compile(tidy); why == "" {
			if text, why = bytePattern(text); why == "" {
				why = x.compile(text)
			}
		}
	} else {
		why = x.compile(text)
	}
	if why != "" {
		return nil, why
	}
	return x, ""
}

func (x *expression) compile(text string) (why string) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return "not a valid regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	if instructions(tree) > maxProgram {
		return fmt.Sprintf("the regular expression is too large: it has more than %d instructions", maxProgram)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err == nil {
		x.re, err = regexp.Compile(text)
	}
	if err != nil {
		return "not a valid regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	if x.size = len(program.Inst); program.StartCond()&syntax.EmptyBeginText != 0 {
		return "" // it is tried only at the start, where its prefix must be
	}
	prefix, complete := x.re.LiteralPrefix()
	x.complete, x.prefix = complete && prefix != "", []byte(prefix)
	if x.bytes {
		x.prefix = x.prefix[:0]
		for _, r := range prefix {
			x.prefix = append(x.prefix, byte(r))
		}
	}
	return ""
}

// instructions estimates the instructions of a regular expression without compiling it: a repetition repeats its body.
func instructions(x *syntax.Regexp) (n int) {
	for _, sub := range x.Sub {
		n = min(n+instructions(sub), maxProgram+1)
	}
	switch x.Op {
	case syntax.OpConcat:
	case syntax.OpLiteral:
		n = len(x.Rune)
	case syntax.OpRepeat:
		n = n*max(x.Min, x.Max) + max(x.Max-x.Min, 1)
	case syntax.OpCapture, syntax.OpAlternate:
		n += 2
	default:
		n++
	}
	return min(n, maxProgram+1)
}

// bytePattern rewrites a valid regular expression so that each of its characters is a byte as a code point.
func bytePattern(text string) (pattern, why string) {
	out := []byte("(?s)")
	class, quoted := false, false
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			n := 1
			switch {
			case quoted:
				if strings.HasPrefix(text[i:], `\E`) {
					quoted, n = false, 2
				}
			case c == '\\' && i+1 < len(text):
				quoted, n = text[i+1] == 'Q' && !class, 2
			case class && strings.HasPrefix(text[i:], "[:"):
				if end := strings.Index(text[i:], ":]"); end > 0 {
					n = end + 2
				}
			case class:
				class = c != ']'
			case c == '[':
				class = true
				if strings.HasPrefix(text[i+1:], "^") {
					n++
				}
				if strings.HasPrefix(text[i+n:], "]") { // a first "]" is a literal character
					n++
				}
			}
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case n > 1 && class:
			return "", fmt.Sprintf("%q is %d bytes, but brackets match one", r, n)
		case n == 1 && !quoted:
			out = fmt.Appendf(out, `\x%02x`, text[i])
		default:
			open, end := "(?:", ")"
			if quoted {
				open, end = `\E(?:`, `)\Q`
			}
			out = append(out, open...)
			for _, b := range []byte(text[i : i+n]) {
				out = fmt.Appendf(out, `\x%02x`, b)
			}
			out = append(out, end...)
		}
		i += n
	}
	tree, err := syntax.Parse(string(out), syntax.Perl)
	if err != nil {
		return string(out), "" // reported when it is compiled
	}
	return string(out), aboveBytes(tree)
}

// aboveBytes returns the mistake for a character that is not a byte, such as \x{20ac}.
func aboveBytes(x *syntax.Regexp) string {
	if x.Op == syntax.OpLiteral {
		for _, r := range x.Rune {
			if r > 0xff {
				return fmt.Sprintf(`\x{%x} is not a byte`, r)
			}
		}
	}
	for _, sub := range x.Sub {
		if why := aboveBytes(sub); why != "" {
			return why
		}
	}
	return ""
}

// match reports whether a regular expression matches a text or bytes. A long value is read rune by rune, so that the evaluation can stop
// in the middle of it.
func (m *machine) match(x *expression, b []byte) bool {
	if len(x.prefix) > 0 {
		at := bytes.Index(b, x.prefix)
		if !m.spend(len(b)/16) || at < 0 || x.complete {
			return at >= 0 && !m.stopped
		}
		b = b[at:]
	}
	if len(b) > workSlice/x.size {
		m.runes = runes{m, x, b}
		return x.re.MatchReader(&m.runes) && !m.stopped
	}
	if !m.spend(x.size * len(b)) {
		return false
	}
	high := 0
	for x.bytes && high < len(b) && b[high] < utf8.RuneSelf {
		high++
	}
	if !x.bytes || high == len(b) {
		return x.re.Match(b)
	}
	from := len(m.text)
	m.text = append(m.text, b[:high]...)
	for _, c := range b[high:] {
		m.text = utf8.AppendRune(m.text, rune(c))
	}
	return x.re.Match(m.text[from:])
}

// runes reads a value for a regular expression until the evaluation must stop.
type runes struct {
	m    *machine
	x    *expression
	rest []byte
}

// ReadRune implements io.RuneReader.
func (r *runes) ReadRune() (c rune, size int, err error) {
	if len(r.rest) == 0 || !r.m.spend(r.x.size) {
		return 0, 0, io.EOF
	}
	if c, size = rune(r.rest[0]), 1; c >= utf8.RuneSelf && !r.x.bytes {
		c, size = utf8.DecodeRune(r.rest)
	}
	r.rest = r.rest[size:]
	return c, size, nil
}

// Regexp is a regular expression over texts with the same bounds as in filters. It must be used by one goroutine at a time.
type Regexp struct {
	x *expression
	m machine
}

// NewRegexp compiles a regular expression.
func NewRegexp(text string) (*Regexp, error) {
	x, why := compileRegexp(text, false)
	if why != "" {
		return nil, errors.New(why)
	}
	return &Regexp{x: x}, nil
}

// Match reports whether the expression matches text. Like Filter.Match, it stops when done is closed.
func (r *Regexp) Match(text string, done <-chan struct{}) bool {
	r.m.begin(done)
	return r.m.match(r.x, []byte(text))
}
