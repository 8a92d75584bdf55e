package paste

import (
	"fmt"
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

// joiners are the operators that join strings, and bytes, in some language.
var joiners = []string{"+", "<>", "++", "..", ".", "||", "~", "&"}

// joinerAt returns the length of an operator that joins strings at s[i:], 0 if there is none.
func joinerAt(s string, i int) int {
	for _, op := range joiners {
		if strings.HasPrefix(s[i:], op) {
			return len(op)
		}
	}
	return 0
}

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
	for {
		at := x.i
		next := x.next()
		joined := false
		if next.kind == codeOther && joinerAt(s, next.off) > 0 {
			x.i = next.off + joinerAt(s, next.off)
			next, joined = x.next(), true
		}
		if next.kind == codeWord && next.end < len(s) && (s[next.end] == '"' || s[next.end] == '\'') && next.end-next.off <= 2 {
			next = x.next() // b'..' b'..': the prefix of the next string
		}
		if next.kind != codeString {
			x.i = at
			break
		}
		if gap := s[at:next.off]; !joined && !inCode && strings.Contains(gap, "\n") && !strings.Contains(gap, "\\") && r.plain(tok) && r.plain(next) {
			x.i = at
			break
		}
		g.parts = append(g.parts, next)
	}
	r.parts, r.x.lost = g.parts, max(r.x.lost, x.lost)
	end = g.parts[len(g.parts)-1].end
	g.after = encodingAfter(s, end)
	r.encoding = g.after != asInferred && strings.ContainsAny(s[end:min(len(s), end+12)], "\"'")
	return end, r.takeGroup(&g)
}

// plain reports whether a string is hex or base64, without escapes.
func (r *codeReader) plain(tok codeToken) bool {
	in := inside(r.t.s, tok)
	for i := in.from; i < in.to; i++ {
		if base64Value[r.t.s[i]] == scan.NotHex && r.t.s[i] != '=' && r.t.s[i] != ' ' {
			return false
		}
	}
	return in.to > in.from
}

// takeGroup makes a piece of strings, if they are bytes.
func (r *codeReader) takeGroup(g *group) *Error {
	all := span{g.parts[0].off, g.parts[len(g.parts)-1].end}
	how, sure := r.how, true
	if how == asInferred {
		how, sure = r.reading(g)
	}
	r.strings++
	if how == asInferred {
		return nil // words
	}
	p := piece{span: all, start: len(r.b.out), sure: sure, text: true}
	if n := len(g.mark); n > 0 {
		p.from -= n
	}
	var e *Error
	switch how {
	case asEscaped:
		p.form, e = r.escaped(g)
	case asHex:
		p.form, e = formQuotedHex, r.nested(g, readHex)
	case asBase64:
		p.form, e = formQuotedBase64, r.nested(g, readBase64)
	}
	if e != nil {
		e.Form = [...]string{asEscaped: formEscapedString, asHex: formQuotedHex, asBase64: formQuotedBase64}[how]
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
	case strings.ContainsAny(g.mark, "bB") && len(g.mark) <= 2:
		return asEscaped, true
	}
	numeric, simple, hex, digits, letters := 0, 0, true, 0, false
	for _, part := range g.parts {
		in := inside(r.t.s, part)
		for i := in.from; i < in.to; i++ {
			switch c := r.t.s[i]; {
			case c == '\\' && i+1 < in.to:
				if n := r.t.s[i+1]; n == 'x' || n == 'u' || scan.IsDigit(n) {
					numeric++
				} else {
					simple++
				}
				i++
			case scan.IsHex(c):
				digits++
				letters = letters || c > '9'
			default:
				hex = hex && strings.IndexByte(" :-,", c) >= 0
			}
		}
	}
	switch {
	case numeric+simple > 0:
		return asEscaped, numeric > 1
	case digits > 0 && hex && strings.EqualFold(g.mark, "x"):
		return asHex, true
	case digits > 1 && hex && digits%2 == 0:
		return asHex, digits >= 8 && letters || digits >= 24
	case digits > 1 && hex && r.alone(g):
		return asHex, false
	}
	joined := joined(r.t.s, g.parts)
	if t, e := newPasted(joined); e == nil && len(joined) >= 4 {
		if b, _ := tryBase64(t); b != nil {
			return asBase64, len(joined) >= 16
		}
	}
	return asInferred, false
}

// alone reports whether the text is little else than strings: few names are around them.
func (r *codeReader) alone(g *group) bool {
	return g.parts[0].off <= 120 && len(r.t.s)-g.parts[len(g.parts)-1].end <= 40
}

// encodingAfter returns the encoding that a call has as the argument after a string: Buffer.from("5f00", "hex").
func encodingAfter(s string, end int) stringReading {
	rest := strings.TrimLeft(s[end:min(len(s), end+40)], " \t\r\n")
	if !strings.HasPrefix(rest, ",") {
		return asInferred
	}
	if rest = strings.TrimLeft(rest[1:], " \t\r\n:."); len(rest) < 2 {
		return asInferred
	}
	if rest[0] == '"' || rest[0] == '\'' {
		rest = rest[1:]
	}
	switch rest[:wordEnd(rest, 0)] {
	case "hex", "Hex":
		return asHex
	case "base64", "base64url", "Base64":
		return asBase64
	}
	return asInferred
}

// inside returns the part of a string between its quotes.
func inside(s string, tok codeToken) span {
	n := 1
	if tok.end-tok.off >= 6 && s[tok.off+1] == s[tok.off] && s[tok.off+2] == s[tok.off] {
		n = 3
	}
	return span{tok.off + n, tok.end - n}
}

func joined(s string, parts []codeToken) string {
	if len(parts) == 1 {
		in := inside(s, parts[0])
		return s[in.from:in.to]
	}
	var b strings.Builder
	for _, part := range parts {
		in := inside(s, part)
		b.WriteString(s[in.from:in.to])
	}
	return b.String()
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
func (r *codeReader) escaped(g *group) (form string, _ *Error) {
	python := strings.ContainsAny(g.mark, "bB") && len(g.mark) <= 2
	raw := strings.ContainsAny(g.mark, "rR") && len(g.mark) <= 2
	form = formEscapedString
	lang := escapesC
	switch {
	case python:
		form, lang = formPythonBytes, escapesPython
	case r.lua == 0:
		r.lua = 1
		if strings.Contains(r.t.s, "local ") {
			r.lua = 2
		}
		fallthrough
	default:
		if r.lua == 2 {
			lang = escapesLua
		}
	}
	for _, part := range g.parts {
		in := inside(r.t.s, part)
		if raw || r.t.s[part.off] == '`' {
			r.b.out = append(r.b.out, r.t.s[in.from:in.to]...)
			continue
		}
		var octal bool
		var e *Error
		if r.b.out, octal, e = appendUnescaped(r.b.out, r.t, in.from, in.to, lang); e != nil {
			return "", e
		}
		if octal && !python {
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
