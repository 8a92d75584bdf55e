package paste

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/scan"
)

// Source code: lists and strings of bytes, among anything else. What is not read of it is named.

// piece is a run of bytes of source code, a candidate for a message.
type piece struct {
	span
	start, end int // in builder.out
	form, name string
	number     int
	sure       bool // it is bytes; else only if all strings of the text are
	text       bool // strings
	loose      bool // no brackets
	hex, bare  bool // a list of hex with marks, and without
}

type codeReader struct {
	t   *pasted
	x   codeLexer
	b   *builder
	how stringReading

	// Numbers without a mark may be hex or decimal: one list that is surely in hex decides about all of the text.
	bareHex, sawHex, sawPlain bool

	pieces  []piece
	parts   []codeToken // of the current group
	strings int         // groups in the text, bytes or not
	sure    bool        // a piece is surely bytes

	prev  codeToken
	depth int
	name  string // variable the next piece is assigned to
	colon string // last name before a colon
	word  string // last name
	call  string // the function whose arguments are read

	nameAt   int  // the end of the assignment
	encoding bool // the next string is the name of an encoding

	lua    int // 1: no, 2: strings are Lua's
	octal  bool
	fail   *Error // of the first piece that is not of bytes
	broken *Error // of the first unterminated string
	cut    *Error // of a list that the text ends in
	cutAt  int
}

// readCode reads source code. how is the meaning of its strings.
func readCode(t *pasted, how stringReading) (*builder, *Error) {
	r := codeReader{t: t, x: codeLexer{s: t.s}, b: &builder{out: make([]byte, 0, len(t.s)/6), strict: true}, how: how}
	e := r.readAll()
	if e == nil && r.sawHex && r.sawPlain {
		r = codeReader{t: t, x: codeLexer{s: t.s}, b: &builder{out: r.b.out[:0], strict: true}, how: how, bareHex: true}
		e = r.readAll()
	}
	if e == nil {
		e = r.finish()
	}
	if e != nil {
		return nil, e
	}
	return r.b, nil
}

// readAll reads the pieces of the text.
func (r *codeReader) readAll() *Error {
	for tok := r.x.next(); tok.kind != codeEnd; tok = r.x.next() {
		next, e := r.take(tok)
		if e == nil {
			e = r.b.room(0, tok.off)
		}
		if e != nil {
			return e
		}
		if r.prev = tok; next > 0 {
			r.x.i = next
			r.prev = codeToken{codeOther, next - 1, next}
			r.name, r.colon = "", ""
		}
	}
	return nil
}

func (r *codeReader) take(tok codeToken) (next int, e *Error) {
	s, inferred := r.t.s, r.how == asInferred
	switch tok.kind {
	case codeBroken:
		r.x.i = tok.off + 1 // a lone quote: an apostrophe
		if r.broken == nil && (!inferred || strings.HasPrefix(s[tok.off:], `"\x`)) {
			r.broken = errAt(tok.off, "this string has no end").as(likely)
		}
	case codeString:
		if r.encoding {
			r.encoding = false // the string names it
			return tok.end, nil
		}
		next, e = r.stringGroup(tok)
		r.call = ""
	case codeNumber:
		if inferred && strings.IndexByte("$&#", s[tok.off]) >= 0 || tok.end-tok.off > 3 && (s[tok.off+1]|0x20 == 'x' || s[tok.off+2] == '#') {
			return r.loose(tok)
		}
	case codeWord:
		word := r.x.text(tok)
		if _, ok := directives[strings.ToLower(word)]; inferred && (ok || word == "dc" || tok.off > 0 && (s[tok.off-1] == '.' || s[tok.off-1] == '!')) {
			if next, e = r.directive(tok); next > 0 || e != nil {
				return next, e
			}
		}
		r.word = word
		if after := skipSpaces(s, tok.end); r.depth == 0 && after < len(s) && s[after] == ':' {
			r.colon = word
		}
	case codeOther:
		return r.punctuation(tok)
	}
	return next, e
}

// punctuation handles a character: a bracket may start a list.
func (r *codeReader) punctuation(tok codeToken) (next int, e *Error) {
	s := r.t.s
	switch c := s[tok.off]; c {
	case '[', '{', '(', '<':
		if r.how == asInferred {
			if next, e = r.bracket(tok); next > 0 || e != nil {
				return next, e
			}
		}
		if c == '(' {
			r.call = s[callStart(s, tok.off):tok.off]
		}
		if c != '<' {
			r.depth++
		}
	case ']', '}', ')':
		r.depth = max(0, r.depth-1)
	case '=':
		r.name, r.nameAt = cmp.Or(r.colon, r.word), tok.end
	case ';':
		if r.call = ""; r.depth == 0 {
			r.name, r.colon = "", ""
		}
	}
	return 0, nil
}

// callStart returns the start of the dotted name that ends at i.
func callStart(s string, i int) int {
	for n := i; n > 0 && i-n < 60; n-- {
		if c := s[n-1]; !scan.IsWord(c) && c != '.' && c != ':' {
			return n
		}
	}
	return max(0, i-60)
}

// piece stores a candidate. Its bytes are the last of out.
func (r *codeReader) piece(p piece) *Error {
	if len(r.pieces) >= MaxMessages {
		return errTooManyMessages(p.from)
	}
	p.end = len(r.b.out)
	if p.name == "" && !(r.nameAt < p.from && scan.IsDigit(r.t.s[skipSpaces(r.t.s, r.nameAt)])) { // conn=5 is said of something else
		p.name = r.name
	}
	if n, ok := strings.CutPrefix(r.x.comment, "Packet "); ok {
		p.number, _ = strconv.Atoi(n)
	}
	r.x.comment = ""
	r.sure = r.sure || p.sure
	r.pieces = append(r.pieces, p)
	return nil
}

// refuse keeps the mistake of something that looks like bytes, and is not.
func (r *codeReader) refuse(at span, what string, e *Error) {
	e.as(likely)
	if r.fail == nil {
		r.fail = e
	}
	r.b.note(e.off, "%s was skipped: %s", what, e.Message)
	r.b.cover(at)
	r.b.lost += inked(r.t.s[at.from:at.to])
}

// finish makes messages of the pieces.
func (r *codeReader) finish() *Error {
	texts := 0
	for _, p := range r.pieces {
		if p.text {
			texts++
		}
	}
	all := texts == r.strings
	r.pieces = slices.DeleteFunc(r.pieces, func(p piece) bool {
		short := p.from <= 120 && len(r.t.s)-p.to <= 40
		return !p.sure && r.how == asInferred && (r.sure || !all && !short)
	})
	switch {
	case len(r.pieces) > 0:
	case r.fail != nil:
		return r.fail
	case r.cut != nil:
		return r.cut.as(likely)
	case r.broken != nil:
		return r.broken
	default:
		return errWhole("there is no list or string of bytes in the text").as(weak)
	}
	if r.broken != nil && r.how != asInferred {
		r.b.note(r.broken.off, "this string has no end and was skipped")
	}
	if r.cut != nil {
		r.b.note(r.cutAt, "this list has no end and was skipped")
	}
	if e := r.messages(); e != nil {
		return e
	}
	r.b.form = r.pieces[0].form
	if r.b.why = r.listReason(); r.pieces[0].text {
		r.b.why = r.stringReason(r.b.form)
	}
	r.peers()
	return nil
}

// messages adds the pieces as messages: one for those that an operator joins.
func (r *codeReader) messages() *Error {
	s := r.t.s
	end := 0 // of the piece before
	last := ""
	for i, p := range r.pieces {
		if n := len(r.b.places) - 1; n >= 0 && p.from-end < 80 && joining.MatchString(s[end:p.from]) && r.b.places[n].end == p.start {
			r.b.places[n].end = p.end
			r.b.cover(span{end, p.to})
			end = p.to
			continue
		}
		m := Message{Name: p.name, Number: p.number}
		r.between(end, p.from, i > 0, true, last, &m)
		r.b.msgs = append(r.b.msgs, m)
		r.b.places = append(r.b.places, place{p.start, p.end, p.from})
		r.b.cover(p.span)
		end, last = p.to, p.name
		next := len(s)
		if i+1 < len(r.pieces) {
			next = r.pieces[i+1].from
		}
		r.checkLength(end, next, p)
	}
	r.between(end, len(s), true, false, last, nil)
	return nil
}

// joining matches the text between two pieces whose bytes are one message: an operator, perhaps with the ends of calls around it.
var joining = regexp.MustCompile(`^[ \t\r\n)\]]*(?:\+\+?|<>|\.\.?|\|\||~|&)\s*[\w.:]*[(\[{]*\s*$`)

// checkLength compares "name_len = 95" of xxd -i with the list before it.
func (r *codeReader) checkLength(from, to int, p piece) {
	if p.name == "" || p.text {
		return
	}
	at := strings.Index(r.t.s[from:min(to, from+200)], p.name+"_len = ")
	if at < 0 {
		return
	}
	at += from + len(p.name) + len("_len = ")
	if n, end := readNumber(r.t.s, at, 10); end > at && n != uint64(p.end-p.start) {
		r.b.note(at, "the length given is %d, but the list has %d bytes", n, p.end-p.start)
	}
}

// between covers what belongs to the pieces before and after a part of the text: the end of the line and the statement that is assigned.
// Words in front of a piece that are no code tell its direction and time.
func (r *codeReader) between(from, to int, before, after bool, name string, m *Message) {
	s := r.t.s
	if from == to {
		return
	}
	tail, head := from, to
	if before {
		if tail = lineEnd(s, from, to); belongs(s[from:tail]) {
			r.b.cover(span{from, tail})
		} else if tail == to && after {
			tail = from // it is in front of the next piece on the line
		}
	}
	if head = r.headOf(tail, to); !after || strings.ContainsAny(s[head:to], "\"`") {
		head = to
	} else {
		if k := strings.LastIndexByte(s[head:to], ';'); k >= 0 && strings.Count(s[head+k:to], "]") <= strings.Count(s[head+k:to], "[") {
			head += k + 1
		}
		r.b.cover(span{head, to})
		if m.Name == "" && head < to && strings.IndexByte(" \t:", s[to-1]) >= 0 { // else a function or type
			readAround(strings.TrimRight(s[head:to], "=([{<,: \t"), m)
		}
	}
	if name != "" && head > tail { // xxd -i
		if n := strings.Index(s[tail:min(head, tail+200)], name+"_len = "); n >= 0 {
			r.b.cover(span{tail, lineEnd(s, tail+n, head)})
		}
	}
	x := codeLexer{s: s[:head], i: tail}
	for at := tail; at < head; at = x.i { // comments are not missed
		if tok := x.next(); strings.TrimSpace(s[at:tok.off]) != "" {
			r.b.cover(span{at, tok.off})
		}
	}
}

// headOf returns the start of the statement in front of a piece that starts at to: of its line, or of one of the lines before that end in
// what goes on.
func (r *codeReader) headOf(from, to int) int {
	s, head := r.t.s, to
	for n := 0; n < 4 && head > from; n++ {
		line := strings.LastIndexByte(s[from:max(from, head-1)], '\n') + 1 + from
		text := strings.TrimRight(s[line:head], " \t\r\n")
		if n > 0 && text != "" && strings.IndexByte("=([{,:", text[len(text)-1]) < 0 {
			break
		}
		head = line
		if text = strings.TrimSpace(s[head:to]); n == 0 && text != "" && text != "{" {
			break
		}
	}
	return head
}

// lineEnd returns the end of the line that has from, at most to.
func lineEnd(s string, from, to int) int {
	if n := strings.IndexByte(s[from:to], '\n'); n >= 0 {
		return from + n
	}
	return to
}

// belongs reports whether the rest of a line after bytes has nothing that could be bytes, or change them.
func belongs(rest string) bool {
	x := codeLexer{s: rest}
	for {
		switch tok := x.next(); tok.kind {
		case codeEnd:
			return true
		case codeString, codeBroken:
			if word := strings.Trim(x.text(tok), `"'`); word != "hex" && word != "base64" && word != "base64url" && word != "C*" && word != "c*" {
				return false
			}
		case codeNumber:
			return false
		case codeOther:
			if strings.IndexByte("*%/", rest[tok.off]) >= 0 {
				return false
			}
		}
	}
}

// peers makes a conversation of Follow Stream's C arrays, which are known by their names: char peer0_0[] = {.
func (r *codeReader) peers() {
	for i := range r.b.msgs {
		if _, ok := peerOfName(r.b.msgs[i].Name); !ok {
			return
		}
	}
	r.b.form, r.b.stream, r.b.why = formFollowCArrays, true, `C arrays named "peer0_0"`+whyPeers
	for i := range r.b.msgs {
		m := &r.b.msgs[i]
		peer, _ := peerOfName(m.Name)
		m.Dir, m.Name, m.Note = peerDir(peer), "", ""
	}
}

// tryCode recognises lists and strings of bytes. Plain hex that is written as literals is left to the reader of hex.
func tryCode(t *pasted) (*builder, *Error) {
	if !codeLike(t) {
		return nil, nil
	}
	b, e := readCode(t, asInferred)
	if e == nil && b.form == formNumberArray && !strings.ContainsAny(t.s, "[{(\"'`<$&#.") {
		if h := (hexReader{t: t}); h.read() == nil {
			return nil, nil
		}
	}
	return b, e
}

// readArrays reads the forms of lists.
func readArrays(t *pasted) (*builder, *Error) { return readCode(t, asInferred) }

// stringReader returns the reader of a form of strings: the form that the text itself shows, if it is this one, else all strings are read
// with how.
func stringReader(form string, how stringReading) reader {
	return func(t *pasted) (*builder, *Error) {
		b, e := readCode(t, asInferred)
		if e != nil || b.form != form {
			b, e = readCode(t, how)
		}
		return b, e
	}
}

// codeLike reports whether a text can have literals of source code.
func codeLike(t *pasted) bool {
	if strings.ContainsAny(t.s, "[{(\"'`<$&#") || strings.Contains(t.s, "0x") {
		return true
	}
	for l := range t.head(200) {
		words := strings.Fields(strings.ToLower(l.text[:min(len(l.text), 80)]))
		if slices.ContainsFunc(words[:min(len(words), 2)], func(w string) bool { return directives[w] != 0 }) {
			return true
		}
	}
	return false
}
