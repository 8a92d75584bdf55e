package paste

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"wirebench/codec/scan"
)

// stringReading is the meaning of the text between quotes.
type stringReading uint8

const (
	asInferred stringReading = iota // inferred from the code around it and the string itself
	asEscaped                       // characters and escapes
	asHex
	asBase64
)

// stringReader returns the reader of a form of strings: the form that the text itself shows, if it is this one, else all strings are read
// with how.
func stringReader(form string, how stringReading) reader {
	return func(t *pasted) (*builder, *Error) {
		if b, e := readStrings(t, asInferred); e == nil && b.form == form {
			return b, nil
		}
		return readStrings(t, how)
	}
}

// readStrings reads the strings in source code. Strings separated only by white space, "+" or a backslash are one message.
func readStrings(t *pasted, how stringReading) (*builder, *Error) {
	r := stringsReader{t: t, x: codeLexer{s: t.s}, b: &builder{}, how: how}
	if e := r.read(); e != nil {
		return nil, e
	}
	switch {
	case r.broken != nil && len(r.b.msgs) == 0:
		return nil, r.broken
	case r.broken != nil:
		r.b.note(r.broken.off, "this string has no end and was skipped")
	case len(r.b.msgs) == 0:
		return nil, errWhole("there is no string of bytes in the text").as(weak)
	}
	r.b.form, r.b.why = r.form, r.reason()
	return r.b, nil
}

type stringsReader struct {
	t   *pasted
	x   codeLexer
	b   *builder
	how stringReading

	group []codeToken // strings that make one message
	mark  string      // prefix of the first one: b, rb, r
	call  string      // the function that has it as an argument
	name  string
	word  codeToken
	form  string

	broken   *Error        // of the first unterminated string
	encoding stringReading // named by the string after the next comma, or asInferred
}

func (r *stringsReader) read() *Error {
	for {
		tok := r.x.next()
		s := r.x.text(tok)
		switch tok.kind {
		case codeString:
			if r.encoding != asInferred {
				r.encoding = asInferred // it was the name of the encoding
				continue
			}
			if len(r.group) == 0 && r.word.kind == codeWord && r.word.end == tok.off {
				r.mark = r.x.text(r.word)
			}
			r.group = append(r.group, tok)
			continue
		case codeWord:
			// b'..' b'..': the prefix of the next string.
			if len(r.group) > 0 && tok.end < len(r.t.s) && (r.t.s[tok.end] == '"' || r.t.s[tok.end] == '\'') && len(s) <= 2 {
				continue
			}
		case codeOther:
			if s == "+" && len(r.group) > 0 {
				continue
			}
		}
		if e := r.flush(tok); e != nil {
			return e
		}
		switch {
		case tok.kind == codeEnd:
			return nil
		case tok.kind == codeBroken:
			if r.broken == nil && (r.how != asInferred || strings.HasPrefix(s, `"\x`)) {
				r.broken = errAt(tok.off, "this string has no end").as(likely)
			}
			r.x.i = tok.off + 1
		case tok.kind == codeWord:
			r.word = tok
		case s == "(" && r.word.kind == codeWord:
			r.call = r.x.text(r.word)
		case s == "=" && r.word.kind == codeWord:
			r.name = r.x.text(r.word)
		case s == ";":
			r.name, r.call = "", ""
		}
	}
}

// flush makes a message of the collected strings, which tok follows.
func (r *stringsReader) flush(tok codeToken) *Error {
	if len(r.group) == 0 {
		return nil
	}
	r.encoding = r.encodingAfter(tok)
	defer func() { r.group, r.mark, r.call, r.name, r.word = r.group[:0], "", "", "", codeToken{} }()
	how := r.how
	if how == asInferred {
		how = r.reading()
	}
	if how == asInferred {
		return nil // a string of words, not bytes
	}
	start, first := len(r.b.out), r.group[0].off
	var e *Error
	form := ""
	switch how {
	case asEscaped:
		form, e = r.escaped()
	case asHex:
		form, e = formQuotedHex, r.nested(readHex)
	case asBase64:
		form, e = formQuotedBase64, r.nested(readBase64)
	}
	if e != nil {
		e.Form = [...]string{asEscaped: formEscapedString, asHex: formQuotedHex, asBase64: formQuotedBase64}[how]
		return e.as(likely)
	}
	if r.form == "" {
		r.form = form
	}
	return r.b.add(Message{Name: r.name}, start, first)
}

// reading infers the meaning of the strings from the function that takes them, the prefix, the escapes, and last the contents. It is
// asInferred if they do not look like bytes.
func (r *stringsReader) reading() stringReading {
	call := strings.ToLower(r.call)
	switch {
	case strings.Contains(call, "hex"):
		return asHex
	case strings.Contains(call, "64"), call == "atob":
		return asBase64
	}
	if r.encoding != asInferred {
		return r.encoding
	}
	if strings.ContainsAny(r.mark, "bB") && len(r.mark) <= 2 {
		return asEscaped
	}
	escapes, hex, chars := false, true, 0
	for _, g := range r.group {
		inside := r.inside(g)
		s := r.t.s[inside.off:inside.end]
		escapes = escapes || strings.Contains(s, `\`)
		for i := 0; i < len(s) && hex; i++ {
			hex = scan.IsHex(s[i]) || strings.IndexByte(" :-,", s[i]) >= 0
			chars++
		}
	}
	switch {
	case escapes:
		return asEscaped
	case chars == 0:
		return asInferred
	case hex && (strings.EqualFold(r.mark, "x") || chars >= 2 && r.alone()):
		return asHex
	}
	if t, e := newPasted(r.joined()); r.alone() && e == nil {
		if b, _ := tryBase64(t); b != nil {
			return asBase64
		}
	}
	return asInferred
}

// encodingAfter returns the encoding that a call has as the next argument: Buffer.from("5f00", "hex"). tok follows the string.
func (r *stringsReader) encodingAfter(tok codeToken) stringReading {
	if r.x.text(tok) != "," {
		return asInferred
	}
	rest := strings.TrimLeft(r.t.s[tok.end:min(len(r.t.s), tok.end+40)], " \t\r\n")
	if len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return asInferred
	}
	switch word, _, _ := strings.Cut(rest[1:], rest[:1]); word {
	case "hex":
		return asHex
	case "base64", "base64url":
		return asBase64
	}
	return asInferred
}

// alone reports whether the text is little else than strings: few names are around them.
func (r *stringsReader) alone() bool {
	first, last := r.group[0], r.group[len(r.group)-1]
	return first.off <= 120 && len(r.t.s)-last.end <= 40
}

// inside returns the part of a string between its quotes.
func (r *stringsReader) inside(tok codeToken) codeToken {
	n := 1
	if s := r.x.text(tok); len(s) >= 6 && s[1] == s[0] && s[2] == s[0] {
		n = 3
	}
	return codeToken{codeString, tok.off + n, tok.end - n}
}

func (r *stringsReader) joined() string {
	var b strings.Builder
	for _, g := range r.group {
		in := r.inside(g)
		b.WriteString(r.t.s[in.off:in.end])
	}
	return b.String()
}

// nested reads the contents as plain hex or base64. Positions of errors refer to the entire text.
func (r *stringsReader) nested(read reader) *Error {
	joined := r.joined()
	if strings.TrimSpace(joined) == "" {
		return nil
	}
	b, e := read(&pasted{joined})
	if e != nil {
		e.off = r.placeOf(max(e.off, 0))
		return e
	}
	if e := r.b.room(uint64(len(b.out)), r.group[0].off); e != nil {
		return e
	}
	for _, n := range b.notes {
		r.b.note(r.placeOf(n.off), "%s", n.Message)
	}
	r.b.out = append(r.b.out, b.out...)
	return nil
}

// placeOf converts an offset in the joined strings to one in the text.
func (r *stringsReader) placeOf(off int) int {
	for _, g := range r.group {
		in := r.inside(g)
		if off <= in.end-in.off {
			return in.off + off
		}
		off -= in.end - in.off
	}
	return r.group[len(r.group)-1].end
}

// escaped reads characters and escapes and infers the form from the escapes.
func (r *stringsReader) escaped() (form string, _ *Error) {
	python := strings.ContainsAny(r.mark, "bB") && len(r.mark) <= 2
	raw := strings.ContainsAny(r.mark, "rR") && len(r.mark) <= 2
	form = formEscapedString
	for _, g := range r.group {
		in := r.inside(g)
		if raw || r.t.s[g.off] == '`' {
			r.b.out = append(r.b.out, r.t.s[in.off:in.end]...)
			continue
		}
		var octal bool
		var e *Error
		if r.b.out, octal, e = appendUnescaped(r.b.out, r.t, in.off, in.end, python); e != nil {
			return "", e
		}
		if octal {
			form = formCString
		}
	}
	if python {
		form = formPythonBytes
	}
	return form, nil
}

func (r *stringsReader) reason() string {
	why := map[string]string{
		formEscapedString: "a quoted string with escapes",
		formCString:       "a quoted string with octal escapes",
		formPythonBytes:   "a string marked b, as Python and Rust write bytes",
		formQuotedHex:     "hex in quotes",
		formQuotedBase64:  "base64 in quotes",
	}[r.form]
	if n := len(r.b.msgs); n > 1 {
		why += fmt.Sprintf("; %d strings are %d messages", n, n)
	}
	return why
}

// simpleEscapes are the one-letter escapes common to C, Python, Go, Rust and JavaScript.
var simpleEscapes = map[byte]byte{
	'a': 7, 'b': 8, 't': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, 'e': 27, '\\': '\\', '\'': '\'', '"': '"', '?': '?', '`': '`',
}

// appendUnescaped appends the bytes for the characters from off to end of the text. Python keeps the backslash of an unknown escape;
// elsewhere that is an error. octal means that an octal escape of more than one digit was read.
func appendUnescaped(out []byte, t *pasted, off, end int, python bool) (_ []byte, octal bool, _ *Error) {
	s := t.s[:end]
	for i := off; i < end; {
		c := s[i]
		if c != '\\' {
			out = append(out, c)
			i++
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
		case c == 'x':
			n := min(hexRun(s, i+1), 2)
			if n == 0 {
				return out, octal, errFound(t, i+1, "two hex digits after \\x")
			}
			v, _ := readNumber(s[:i+1+n], i+1, 16)
			out = append(out, byte(v))
			i += 1 + n
		case c >= '0' && c <= '7':
			v, next := readNumber(s[:min(end, i+3)], i, 8)
			if v > 0xff {
				return out, octal, errAt(at, "the octal escape is %d, which is not a byte", v)
			}
			octal = octal || next-i > 1
			out = append(out, byte(v))
			i = next
		case (c == 'u' || c == 'U') && !python:
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
			case ok && !(python && (c == 'e' || c == '?' || c == '`')):
				out = append(out, v)
			case python:
				out = append(out, '\\', c)
			default:
				return out, octal, errAt(at, "unknown escape %s", scan.Quote(s[at:min(end, at+2)]))
			}
			i++
		}
	}
	return out, octal, nil
}
