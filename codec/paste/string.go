package paste

import (
	"fmt"
	"regexp"
	"strings"

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

// joiner matches an operator that joins strings, and bytes, in some language.
var joiner = regexp.MustCompile(`^(?:\+\+?|<>|\.\.?|\|\||~|&)`)

// group is strings that make one message.
type group struct {
	parts []codeToken
	mark  string        // prefix of the first one: b, rb, r, x
	call  string        // the function that has it as an argument
	after stringReading // encoding that the next argument names
}

// stringGroup reads the strings that start with tok: those separated by white space, a backslash or an operator that joins are one message.
// Hex in strings on lines of their own, which no code joins, is not.
func (r *codeReader) stringGroup(tok codeToken) (end int, _ *Error) {
	s := r.t.s
	g := group{parts: append(r.parts[:0], tok), call: r.call}
	if r.prev.kind == codeWord && r.prev.end == tok.off && tok.end-tok.off >= 2 {
		g.mark = r.x.text(r.prev)
	}
	inCode := r.call != "" || r.name != "" || g.mark != ""
	x := codeLexer{s: s, i: tok.end, lost: r.x.lost}
	for end = tok.end; ; end = x.i {
		next, join := x.next(), 0
		if next.kind == codeOther {
			join = len(joiner.FindString(s[next.off:min(len(s), next.off+2)]))
		}
		if join > 0 {
			x.i = next.off + join
			next = x.next()
		}
		if next.kind == codeWord && next.end < len(s) && (s[next.end] == '"' || s[next.end] == '\'') && next.end-next.off <= 2 {
			next = x.next() // b'..' b'..': the prefix of the next string
		}
		if next.kind != codeString {
			break
		}
		if gap := s[end:next.off]; join == 0 && !inCode && strings.Contains(gap, "\n") && !strings.Contains(gap, "\\") && r.plain(tok) && r.plain(next) {
			break
		}
		g.parts = append(g.parts, next)
	}
	r.parts, r.x.lost = g.parts, max(r.x.lost, x.lost)
	g.after = encodingAfter(s, end)
	r.encoding = g.after != asInferred && strings.ContainsAny(s[end:min(len(s), end+12)], "\"'")
	return end, r.takeGroup(&g)
}

// plain reports whether a string is hex or base64, without escapes.
func (r *codeReader) plain(tok codeToken) bool {
	in := inside(r.t.s, tok)
	text := r.t.s[in.from:in.to]
	return text != "" && strings.IndexFunc(text, func(c rune) bool { return c >= 0x80 || base64Value[c] == scan.NotHex && c != '=' && c != ' ' }) < 0
}

// takeGroup makes a piece of strings, if they are bytes.
func (r *codeReader) takeGroup(g *group) (e *Error) {
	how, sure := r.how, true
	if how == asInferred {
		how, sure = r.reading(g)
	}
	r.strings++
	p := piece{span: span{g.parts[0].off - len(g.mark), g.parts[len(g.parts)-1].end}, start: len(r.b.out), sure: sure, text: true}
	failed := formEscapedString
	switch how {
	case asInferred:
		return nil // words
	case asEscaped:
		p.form, e = r.escaped(g)
	case asHex:
		p.form, e = formQuotedHex, r.nested(g, readHex)
		failed = p.form
	case asBase64:
		p.form, e = formQuotedBase64, r.nested(g, readBase64)
		failed = p.form
	}
	if e != nil {
		e.Form = failed
		r.b.out = r.b.out[:p.start]
		r.refuse(p.span, "this string", e)
		return nil
	}
	return r.piece(p)
}

// reading infers the meaning of strings from the function that takes them, the prefix, the escapes, and last the contents. It is
// asInferred if they do not look like bytes; sure is false for strings that are bytes only if all strings of the text are.
func (r *codeReader) reading(g *group) (how stringReading, sure bool) {
	call := strings.ToLower(g.call)
	switch {
	case strings.Contains(call, "hex"):
		return asHex, true
	case strings.Contains(call, "64"), call == "atob":
		return asBase64, true
	case g.after != asInferred:
		return g.after, true
	case g.isBytes():
		return asEscaped, true
	}
	text := joined(r.t.s, g.parts)
	escapes, numeric, digits, hex, letters := 0, 0, 0, true, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			if n := text[i]; n == 'x' || n == 'u' || scan.IsDigit(n) {
				numeric++
			}
			escapes++
		case scan.IsHex(c):
			digits++
			letters = letters || c > '9'
		default:
			hex = hex && strings.IndexByte(" :-,", c) >= 0
		}
	}
	switch {
	case escapes > 0:
		return asEscaped, numeric > 1
	case digits > 0 && hex && strings.EqualFold(g.mark, "x"):
		return asHex, true
	case digits > 1 && hex && digits%2 == 0:
		return asHex, digits >= 8 && letters || digits >= 24
	case digits > 1 && hex && g.parts[0].off <= 120 && len(r.t.s)-g.parts[len(g.parts)-1].end <= 40: // little else is in the text
		return asHex, false
	}
	if t, e := newPasted(text); e == nil && len(text) >= 4 {
		if b, _ := tryBase64(t); b != nil {
			return asBase64, len(text) >= 16
		}
	}
	return asInferred, false
}

// isBytes reports whether the strings are marked as bytes: b'...'.
func (g *group) isBytes() bool { return strings.ContainsAny(g.mark, "bB") && len(g.mark) <= 2 }

// encodings match the encoding that a call has as the argument after a string: Buffer.from("5f00", "hex").
var encodings = regexp.MustCompile(`^[ \t\r\n]*,[ \t\r\n:.]*["']?(?:([hH]ex)|base64(?:url)?|Base64)\b`)

func encodingAfter(s string, end int) stringReading {
	switch m := encodings.FindStringSubmatch(s[end:min(len(s), end+40)]); {
	case m == nil:
		return asInferred
	case m[1] != "":
		return asHex
	}
	return asBase64
}

// inside returns the part of a string between its quotes.
func inside(s string, tok codeToken) span {
	n := 1
	if tok.end-tok.off >= 6 && s[tok.off+1] == s[tok.off] && s[tok.off+2] == s[tok.off] {
		n = 3
	}
	return span{tok.off + n, tok.end - n}
}

// joined returns the contents of strings.
func joined(s string, parts []codeToken) string {
	in := inside(s, parts[0])
	text := s[in.from:in.to]
	if len(parts) == 1 {
		return text
	}
	b := []byte(text)
	for _, part := range parts[1:] {
		in = inside(s, part)
		b = append(b, s[in.from:in.to]...)
	}
	return string(b)
}

// nested reads the contents as plain hex or base64. Positions of errors refer to the entire text.
func (r *codeReader) nested(g *group, read reader) *Error {
	joined := joined(r.t.s, g.parts)
	if strings.TrimSpace(joined) == "" {
		return nil
	}
	placeOf := func(off int) int {
		for _, part := range g.parts {
			in := inside(r.t.s, part)
			if off <= in.to-in.from {
				return in.from + off
			}
			off -= in.to - in.from
		}
		return g.parts[len(g.parts)-1].end
	}
	b, e := read(&pasted{joined})
	if e != nil {
		e.off = placeOf(max(e.off, 0))
		return e
	}
	for _, n := range b.notes {
		r.b.note(placeOf(n.off), "%s", n.Message)
	}
	r.b.out = append(r.b.out, b.out...)
	return nil
}

// escaped reads characters and escapes and infers the form from the escapes.
func (r *codeReader) escaped(g *group) (form string, e *Error) {
	raw := strings.ContainsAny(g.mark, "rR") && len(g.mark) <= 2
	form, lang := formEscapedString, escapesC
	if r.lua == 0 {
		if r.lua = 1; strings.Contains(r.t.s, "local ") {
			r.lua = 2
		}
	}
	if r.lua == 2 {
		lang = escapesLua
	}
	if g.isBytes() {
		form, lang = formPythonBytes, escapesPython
	}
	for _, part := range g.parts {
		in, octal := inside(r.t.s, part), false
		if raw || r.t.s[part.off] == '`' {
			r.b.out = append(r.b.out, r.t.s[in.from:in.to]...)
			continue
		}
		if r.b.out, octal, e = appendUnescaped(r.b.out, r.t, in.from, in.to, lang); e != nil {
			return "", e
		}
		if octal && form == formEscapedString {
			form = formCString
		}
	}
	return form, nil
}

func (r *codeReader) stringReason(form string) string {
	why := map[string]string{
		formEscapedString: "a quoted string with escapes",
		formCString:       "a quoted string with octal escapes",
		formPythonBytes:   "a string marked b, as Python and Rust write bytes",
		formQuotedHex:     "hex in quotes",
		formQuotedBase64:  "base64 in quotes",
	}[form]
	if r.lua == 2 && form == formCString {
		why = "a quoted string with decimal escapes, as Lua writes them"
	}
	if n := len(r.b.msgs); n > 1 {
		why += fmt.Sprintf("; %d strings are %d messages", n, n)
	}
	return why
}
