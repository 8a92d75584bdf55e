package paste

import (
	"fmt"
	"strconv"
	"strings"

	"wirebench/codec/scan"
)

// readArrays reads every list of bytes in source code as a message: numbers in braces or square brackets, or in parentheses after "=" or a
// function that makes bytes. Numbers may be decimal, down to -128, hex or binary, and octal in languages that have it. A list of two-digit
// numbers in square brackets of which some have letters or leading zeros is unmarked hex, as Rust's {:02x?} and Go's [% x] print it.
func readArrays(t *pasted) (*builder, *Error) {
	r := arrayReader{t: t, x: codeLexer{s: t.s}, b: &builder{}}
	if e := r.read(); e != nil {
		return nil, e
	}
	if len(r.b.msgs) == 0 {
		if r.fail != nil {
			return nil, r.fail
		}
		return nil, errWhole("there is no list of bytes in brackets in the text").as(weak)
	}
	if r.fail != nil {
		r.b.note(r.fail.off, "this list was skipped: %s", r.fail.Message)
	}
	r.b.form, r.b.why = r.form, r.why()
	return r.b, nil
}

// maxNesting bounds the nesting of brackets.
const maxNesting = 200

type arrayReader struct {
	t *pasted
	x codeLexer
	b *builder

	frames []bracket
	prev   codeToken // before the current one
	prev2  codeToken // before prev
	name   string    // variable the next list is assigned to
	colon  string    // last name before a colon
	word   string    // last name
	form   string
	octal  bool
	fail   *Error // of the first list that is not of bytes
	length lengthOf
}

// lengthOf is the last named list, for comparing its length with the "name_len" of xxd -i.
type lengthOf struct {
	name  string
	bytes int
}

// bracket is an open bracket and the state of reading its contents.
type bracket struct {
	open    byte
	off     int
	list    bool // nothing but numbers and separators so far
	maybe   bool // the code before it allows a list
	callee  bool // round bracket after a name: arguments
	commas  int
	numbers int
	words   int
	wait    bool // a number was read, but no comma after it
	spaces  bool // numbers follow each other without commas
	start   int  // in out
	fail    *Error
	bare    bareHex
	negSeen bool
	octSeen bool
}

func (r *arrayReader) read() *Error {
	r.b.out = make([]byte, 0, len(r.t.s)/6)
	for {
		tok := r.x.next()
		var e *Error
		switch tok.kind {
		case codeEnd:
			return r.finish()
		case codeBroken:
			r.x.i = tok.off + 1 // a lone quote: an apostrophe
			r.impure()
		case codeNumber:
			r.element(tok)
		case codeWord:
			r.wordToken(tok)
		case codeString:
			r.stringToken(tok)
		default:
			e = r.punctuation(tok)
		}
		if e != nil {
			return e
		}
		r.prev2, r.prev = r.prev, tok
	}
}

func (r *arrayReader) finish() *Error {
	if len(r.frames) > 0 {
		f := r.frames[len(r.frames)-1]
		if f.list && f.numbers > 1 && f.commas > 0 && f.maybe {
			e := errFound(r.t, len(r.t.s), "the end of the list that starts with "+strconv.Quote(string(f.open)))
			if len(r.b.msgs) == 0 {
				return e.as(likely)
			}
			r.b.note(f.off, "this list has no end and was skipped")
		}
	}
	return nil
}

func (r *arrayReader) top() *bracket {
	if len(r.frames) == 0 {
		return nil
	}
	return &r.frames[len(r.frames)-1]
}

// impure marks the innermost bracket as not a list.
func (r *arrayReader) impure() {
	if f := r.top(); f != nil {
		f.list = false
	}
}

// wordToken handles a name. In a list it can be unmarked hex, or a cast.
func (r *arrayReader) wordToken(tok codeToken) {
	s := r.x.text(tok)
	f := r.top()
	switch {
	case f != nil && f.list && f.open == '[' && len(s) <= 2 && hexRun(s, 0) == len(s):
		f.bare.letter = true
		f.bare.uneven = f.bare.uneven || len(s) != 2
		r.count(f, tok)
		return
	case f != nil:
		f.words++
		f.list = false
	}
	r.word = s
	if r.x.i < len(r.t.s) && f == nil && r.t.s[skipSpaces(r.t.s, r.x.i):] != "" && r.t.s[skipSpaces(r.t.s, r.x.i)] == ':' {
		r.colon = s
	}
}

// stringToken handles a string: a character is a number in a list.
func (r *arrayReader) stringToken(tok codeToken) {
	f := r.top()
	if f == nil || !f.list {
		return
	}
	if s := r.x.text(tok); s[0] == '\'' {
		if out, _, e := appendUnescaped(nil, r.t, tok.off+1, tok.end-1, false); e == nil && len(out) == 1 {
			f.bare.no = true
			r.count(f, tok)
			r.b.out = append(r.b.out, out[0])
			return
		}
	}
	f.list = false
}

// element handles a number.
func (r *arrayReader) element(tok codeToken) {
	f := r.top()
	s := r.x.text(tok)
	if f == nil {
		r.checkLength(tok, s)
		return
	}
	if !f.list {
		return
	}
	if f.wait && (s[0] == '-' || s[0] == '+') && r.prev.end == tok.off {
		f.list = false // a sum
		return
	}
	r.count(f, tok)
	n := len(s)
	f.bare.no = f.bare.no || n > 2 || s[0] == '-' || s[0] == '$' || s[0] == '&' || s[0] == '+' || hexRun(s, 0) != n
	f.bare.uneven = f.bare.uneven || n != 2
	f.bare.zero = f.bare.zero || n == 2 && s[0] == '0'
	f.bare.letter = f.bare.letter || n == 2 && scan.IsHex(s[1]) && s[1] > '9'
	v, octal, ok := byteValue(s)
	switch {
	case !ok && !f.bare.no: // unmarked hex: 5f
	case !ok && f.fail == nil:
		e := errAt(tok.off, "%s is not a byte: a number from -128 to 255 was expected", scan.Quote(s))
		e.Found, e.Want = s, "a number from -128 to 255"
		f.fail = e
	}
	f.octSeen = f.octSeen || octal
	f.negSeen = f.negSeen || s[0] == '-'
	r.b.out = append(r.b.out, v)
}

// count counts an element, which must be separated from the previous one by a comma or a space.
func (r *arrayReader) count(f *bracket, tok codeToken) {
	if f.wait {
		f.spaces = true
		if f.commas > 0 || r.prev.end == tok.off {
			f.list = false
		}
	}
	f.numbers++
	f.wait = true
}

// checkLength compares "name_len = 95" of xxd -i with the list before it.
func (r *arrayReader) checkLength(tok codeToken, s string) {
	if r.length.name == "" || r.name != r.length.name+"_len" {
		return
	}
	if n, err := strconv.Atoi(s); err == nil && n != r.length.bytes {
		r.b.note(tok.off, "the length given is %d, but the list has %d bytes", n, r.length.bytes)
	}
}

func (r *arrayReader) punctuation(tok codeToken) *Error {
	c := r.t.s[tok.off]
	f := r.top()
	switch c {
	case '[', '{', '(':
		return r.push(tok, c)
	case ']', '}', ')':
		return r.pop(tok, c)
	case ',':
		if f != nil {
			if !f.wait || f.spaces {
				f.list = false
			}
			f.commas++
			f.wait = false
		}
	case '=':
		r.name = r.word
		if r.colon != "" {
			r.name = r.colon
		}
		r.impure()
	case ';':
		if f == nil {
			r.name, r.colon = "", ""
		}
		r.impure()
	default:
		r.impure()
	}
	return nil
}

func (r *arrayReader) push(tok codeToken, c byte) *Error {
	if len(r.frames) >= maxNesting {
		return errAt(tok.off, "brackets are nested more than %d deep", maxNesting)
	}
	f := bracket{open: c, off: tok.off, list: true, start: len(r.b.out)}
	named := r.prev.kind == codeWord && r.prev.end == tok.off // no space between: a[1], f(1)
	before := byte(0)
	if r.prev.kind == codeOther {
		before = r.t.s[r.prev.off]
	}
	switch c {
	case '{':
		f.maybe = true
	case '[':
		f.maybe = !named && before != ']' && before != ')'
	case '(':
		makes := r.prev.kind == codeWord && makesBytes(r.x.text(r.prev))
		f.maybe = r.prev.kind == codeEnd || before == '=' || before == '(' || makes
		f.callee = r.prev.kind == codeWord && !makes
	}
	r.frames = append(r.frames, f)
	return nil
}

// makesBytes reports whether a function of this name takes bytes as its arguments.
func makesBytes(name string) bool {
	switch name {
	case "byteArrayOf", "ubyteArrayOf", "Array", "of", "array", "bytes", "List":
		return true
	}
	return false
}

var closing = map[byte]byte{'[': ']', '{': '}', '(': ')'}

// pop closes a bracket and adds a message if it is a list.
func (r *arrayReader) pop(tok codeToken, c byte) *Error {
	f := r.top()
	if f == nil {
		return nil
	}
	if closing[f.open] != c {
		r.frames = r.frames[:0] // prose, or an incomplete piece of code
		return nil
	}
	done := *f
	r.frames = r.frames[:len(r.frames)-1]
	cast := done.open == '(' && done.words == 1 && done.numbers == 0
	if outer := r.top(); outer != nil && !cast {
		outer.list = false
	}
	if !r.isList(&done, tok) {
		return nil
	}
	if done.fail == nil && done.bare.is() && done.open == '[' {
		r.b.out = appendBareHex(r.b.out[:done.start], r.t.s[done.off+1:tok.off])
	} else if done.bare.letter && done.fail == nil {
		return nil
	}
	if done.fail != nil {
		if r.fail == nil {
			r.fail = done.fail.as(likely)
		}
		return nil
	}
	return r.message(&done, tok)
}

// isList reports whether a closed bracket is a list of bytes.
func (r *arrayReader) isList(f *bracket, tok codeToken) bool {
	if !f.list || !f.maybe {
		return false
	}
	s := r.t.s
	after := skipSpaces(s, tok.end)
	switch {
	case f.numbers == 0:
		// Empty: only where bytes are assigned, for () and [] also stand for other things.
		return f.open == '{' && (r.assigned(f) || r.typed(f)) || f.open == '[' && r.assigned(f) && (after == len(s) || !scan.IsWord(s[after]))
	case f.open == '(' && f.commas == 0:
		return strings.Contains(s[max(0, f.off-80):f.off], "array[") // Pascal; otherwise just a number in brackets
	case f.numbers == 1 && f.commas == 0:
		// One number in brackets is a footnote or a length, unless a type of bytes precedes it.
		if f.open == '[' && after < len(s) && (scan.IsWord(s[after]) || s[after] == '[') {
			return false
		}
		head := strings.TrimRight(s[max(0, f.off-200):f.off], " \t\r\n")
		return head == "" || strings.IndexByte("=([,:{&!>]", head[len(head)-1]) >= 0 || r.typed(f)
	}
	return true
}

// assigned reports whether a bracket directly follows "=" or "(".
func (r *arrayReader) assigned(f *bracket) bool {
	head := strings.TrimRight(r.t.s[max(0, f.off-200):f.off], " \t\r\n")
	return strings.HasSuffix(head, "=") || strings.HasSuffix(head, "(")
}

// typed reports whether a brace directly follows a type of bytes: []byte{}.
func (r *arrayReader) typed(f *bracket) bool {
	head := r.t.s[max(0, f.off-40):f.off]
	return strings.HasSuffix(head, "]byte") || strings.HasSuffix(head, "]uint8") || strings.HasSuffix(strings.TrimRight(head, " "), "]")
}

func (r *arrayReader) message(f *bracket, tok codeToken) *Error {
	lang := r.language(f)
	if r.form == "" {
		r.form = lang
	}
	if f.octSeen && (lang == formCArray || lang == formJavaArray || lang == formGoArray) {
		var e *Error
		if e = r.reread(f, tok); e != nil {
			r.fail = e
			return nil
		}
		r.octal = true
	} else if f.octSeen && !f.bare.is() {
		r.b.note(f.off, "numbers with leading zeros were read as decimal")
	}
	m := Message{Name: r.name}
	if n, ok := strings.CutPrefix(r.x.comment, "Packet "); ok {
		m.Number, _ = strconv.Atoi(n)
	}
	r.x.comment = ""
	r.length = lengthOf{r.name, len(r.b.out) - f.start}
	r.name, r.colon = "", ""
	return r.b.add(m, f.start, f.off)
}

// reread reads the numbers of a list again, with leading zeros as octal.
func (r *arrayReader) reread(f *bracket, end codeToken) *Error {
	r.b.out = r.b.out[:f.start]
	x := codeLexer{s: r.t.s[:end.off], i: f.off + 1}
	for {
		tok := x.next()
		switch tok.kind {
		case codeEnd:
			return nil
		case codeString:
			r.b.out, _, _ = appendUnescaped(r.b.out, r.t, tok.off+1, tok.end-1, false)
		case codeNumber:
			s := x.text(tok)
			v, octal, _ := byteValue(s)
			if octal {
				n, err := strconv.ParseUint(strings.TrimRight(strings.TrimLeft(s, "+-"), "uUlL"), 8, 8)
				if err != nil {
					return errAt(tok.off, "%s is not an octal byte, despite its leading zero", scan.Quote(s)).as(likely)
				}
				if v = byte(n); s[0] == '-' {
					v = -v
				}
			}
			r.b.out = append(r.b.out, v)
		}
	}
}

// language infers the form from the code before the bracket and the notation of numbers.
func (r *arrayReader) language(f *bracket) string {
	head := r.t.s[max(0, f.off-160):f.off]
	head = head[strings.LastIndexByte(head, '}')+1:]
	head = head[strings.LastIndex(head, ";\n")+1:]
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(head, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("]byte", "]uint8"):
		return formGoArray
	case has("u8", "vec!") && f.open == '[':
		return formRustArray
	case has("Uint8Array", "Buffer", "const ", "let ") && f.open == '[' && !has("UInt8"):
		return formJsArray
	case has("bytes", "bytearray") && f.open != '{':
		return formPythonArray
	case has("UInt8", "Data(") && f.open == '[':
		return formSwiftArray
	case f.open == '(':
		return formPascalArray
	case has("byte[]", "byte [") && f.open == '{':
		if f.negSeen || strings.Contains(r.t.s[f.off:min(len(r.t.s), f.off+2000)], "(byte)") {
			return formJavaArray
		}
		return formCsharpArray
	case f.open == '[':
		return formNumberArray
	}
	return formCArray
}

func (r *arrayReader) why() string {
	why := "numbers from -128 to 255 in brackets, as source code writes lists of bytes"
	if n := len(r.b.msgs); n > 1 {
		why += fmt.Sprintf("; %d lists are %d messages", n, n)
	}
	if r.octal {
		why += "; numbers with leading zeros are octal"
	}
	return why
}
