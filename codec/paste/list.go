package paste

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/scan"
)

// Lists of bytes in source code: numbers in braces, square or double angle brackets, or in parentheses after "=" or a function that makes
// bytes; after a directive of an assembler; or on their own in a spelling that only bytes have.

// byteList is a list that is read.
type byteList struct {
	open      byte
	from, to  int    // with its brackets
	first     int    // position inside them
	end       string // the closing one
	start     int    // in builder.out
	n, commas int
	marked    int // elements that are written as bytes
	hex       int // elements that are in hex with a mark
	wait      bool
	spaces    bool // elements follow each other without commas
	negative  bool
	octal     bool
	unmarked  bareHex
	fail      *Error // of the first element that is not a byte
	strings   bool   // it may hold strings
	cut       bool   // the text ends inside it
	printed   bool   // by Node.js
	base      int    // of numbers without a mark, or with a leading zero: 16 or 8; 0 as they are written
}

// bareHex describes whether numbers in a list could be unmarked hex: [5f, 00], as Rust's {:02x?} and Go's [% x] print it.
type bareHex struct {
	no, letter, zero, uneven bool
}

func (h bareHex) is() bool { return !h.no && (h.letter || h.zero && !h.uneven) }

// may reports whether they are hex if those of other lists of the text are.
func (h bareHex) may() bool { return !h.no && !h.uneven }

// readList reads the elements from i on, up to close. ok is false if something else is between them.
func (r *codeReader) readList(l *byteList, i int, end string) (ok bool) {
	s := r.t.s
	x := codeLexer{s: s, i: i}
	l.first, l.end, l.start = i, end, len(r.b.out)
	l.wait, l.n, l.commas, l.spaces, l.hex = false, 0, 0, false, 0
	for {
		before := x.i
		x.skip()
		i = x.i
		switch {
		case i >= len(s):
			l.cut = true
			return false
		case strings.HasPrefix(s[i:], end):
			if l.to = i + len(end); x.comment != "" {
				r.x.comment = x.comment
			}
			return true
		case s[i] == ',' || s[i] == ';' && (end == "|]" || l.open == '['):
			if !l.wait || l.spaces {
				return false
			}
			l.commas++
			l.wait = false
			x.i++
			continue
		case strings.HasPrefix(s[i:], "...") && l.n > 0 && l.printed:
			l.fail = errNodeCut(i)
			return false
		case l.wait && (l.commas > 0 || before == i):
			return false
		}
		l.spaces = l.spaces || l.wait
		if x.i = r.listElement(l, i); x.i == 0 {
			return false
		}
		l.n++
		l.wait = true
	}
}

// listElement adds the element at i to a list and returns its end, 0 if there is none.
func (r *codeReader) listElement(l *byteList, i int) (end int) {
	s := r.t.s
	if v, ok := plainLiteral(s, i); ok { // nearly all are
		r.b.out = append(r.b.out, v)
		l.marked++
		l.hex++
		l.unmarked.no = true
		end = i + 4
	} else if l.strings && s[i] == '"' {
		kind, next := stringEnd(s, i)
		var e *Error
		if r.b.out, _, e = appendUnescaped(r.b.out, r.t, i+1, next-1, escapesC); e != nil || kind != codeString {
			return 0
		}
		end = next
	} else {
		e, ok := readElement(r.t, i)
		if !ok {
			return 0
		}
		r.count(l, i, e)
		end = e.end
	}
	for l.end == ">>" && end < len(s) && (s[end] == ':' || s[end] == '/') { // Erlang's sizes: 16#26:8, "a"/utf8
		n := wordEnd(s, end+1)
		if size := s[end+1 : n]; s[end] == ':' && size != "8" || size == "" {
			return 0
		}
		end = n
	}
	return end
}

// plainLiteral reads 0x26 at s[i:], with a separator after it.
func plainLiteral(s string, i int) (v byte, ok bool) {
	if i+4 >= len(s) || s[i] != '0' || s[i+1] != 'x' || strings.IndexByte(", \n})]\r\t", s[i+4]) < 0 {
		return 0, false
	}
	hi, lo := scan.HexValue[s[i+2]], scan.HexValue[s[i+3]]
	return hi<<4 | lo&15, hi|lo < 16
}

// count adds an element to a list.
func (r *codeReader) count(l *byteList, at int, e element) {
	n, text := len(e.digits), r.t.s[at:e.end]
	v, isHex := byte(e.value), hexRun(e.digits, 0) == n
	switch {
	case l.base == 16 && isHex:
		x, _ := readNumber(e.digits, 0, 16)
		v, e.value, e.ok = byte(x), int64(byte(x)), true
	case l.base == 8 && e.octal:
		o, err := strconv.ParseUint(strings.TrimRight(strings.TrimLeft(text, "+-"), "uUlL"), 8, 8)
		if v = byte(o); err != nil {
			l.refuse(at, text, "%s is not an octal byte, despite its leading zero")
		} else if text[0] == '-' {
			v = -v
		}
	}
	r.b.out = append(r.b.out, v)
	if e.marked || n == 0 {
		l.marked++
		l.unmarked.no = true
	}
	if e.hex {
		l.hex++
	}
	u := &l.unmarked
	u.no = u.no || n > 2 || !isHex
	u.uneven = u.uneven || n != 2
	u.zero = u.zero || n == 2 && e.digits[0] == '0'
	u.letter = u.letter || n > 0 && isHex && (e.digits[n-1] > '9' || e.digits[0] > '9')
	l.octal = l.octal || e.octal
	l.negative = l.negative || text[0] == '-'
	if !e.isByte() && !(n > 0 && n <= 2 && isHex) { // unmarked hex: 5f
		l.refuse(at, text[:min(len(text), 40)], "%s is not a byte: a number from -128 to 255 was expected")
	}
}

// refuse keeps the first element of a list that is not a byte, at a place.
func (l *byteList) refuse(at int, s, format string) {
	if l.fail == nil {
		l.fail = errAt(at, format, scan.Quote(s))
		l.fail.Found, l.fail.Want = s, "a number from -128 to 255"
	}
}

// bracket reads the list that starts with a bracket, if it is one. next is the end of what was read, 0 if it is no list.
func (r *codeReader) bracket(tok codeToken) (next int, _ *Error) {
	s := r.t.s
	l := byteList{open: s[tok.off], from: tok.off, start: len(r.b.out)}
	i, end := tok.off+1, string(closing[l.open])
	named := r.prev.kind == codeWord && r.prev.end == tok.off // no space between: a[1], f(1)
	before := byte(0)
	if r.prev.kind == codeOther && (s[r.prev.off] != ']' || !strings.Contains(s[r.prev.end:tok.off], "\n")) {
		before = s[r.prev.off]
	}
	maybe, makes := true, false
	switch head := s[max(0, tok.off-24):tok.off]; {
	case l.open == '<' && strings.HasPrefix(s[i:], "Buffer "):
		return r.nodeBuffer(tok.off)
	case l.open == '<':
		if !strings.HasPrefix(s[i:], "<") {
			return 0, nil
		}
		i, end, l.strings, maybe = i+1, ">>", true, !named
	case l.open == '[' && strings.HasPrefix(s[i:], "|"):
		i, end = i+1, "|]"
	case l.open == '[' && printedArray.MatchString(head):
		l.printed, l.from = true, tok.off-len(head)+strings.LastIndex(head, "Uint8Array(")
	case l.open == '[':
		maybe = !named && before != ']' && before != ')'
	case l.open == '(':
		makes = r.prev.kind == codeWord && makesBytes(r.x.text(r.prev))
		maybe = makes || r.prev.kind == codeEnd || before != 0 && strings.IndexByte("=(]@", before) >= 0
	}
	ok := r.readList(&l, i, end)
	if l.open == '(' && !maybe { // a call whose arguments are all written as bytes
		maybe = ok && named && l.marked == l.n && l.n >= 4 && l.commas > 0
	}
	switch {
	case ok && maybe && r.isList(&l, makes):
		return l.to, r.takeList(&l)
	case !ok && l.fail != nil && l.printed:
		return 0, l.fail
	case !ok && l.cut && l.n > 1 && l.commas > 0 && maybe && r.cut == nil:
		r.cut = errFound(r.t, len(s), "the end of the list that starts with "+strconv.Quote(string(l.open)))
		r.cutAt = l.from
	}
	r.b.out = r.b.out[:l.start]
	return 0, nil
}

// printedArray matches the end of code before an array that Node.js prints: Uint8Array(2) [ 1, 2 ].
var printedArray = regexp.MustCompile(`Uint8Array\(\d*\) $`)

// makesBytes reports whether a function of this name takes bytes as its arguments.
func makesBytes(name string) bool {
	switch name {
	case "Array", "of", "array", "List", "c", "vector", "pack":
		return true
	}
	return isByteName(name)
}

// isList reports whether what brackets hold is a list of bytes.
func (r *codeReader) isList(l *byteList, makes bool) bool {
	s := r.t.s
	after := skipSpaces(s, l.to)
	word := after < len(s) && scan.IsWord(s[after])
	head := strings.TrimRight(s[max(0, l.from-200):l.from], " \t\r\n")
	switch {
	case l.n == 0:
		// Empty: only where bytes are assigned, for () and [] also stand for other things.
		assigned := strings.HasSuffix(head, "=") || strings.HasSuffix(head, "(")
		return l.printed || l.open == '{' && (assigned || typedBrace.MatchString(s[max(0, l.from-40):l.from])) || l.open == '[' && assigned && !word
	case l.strings:
		return true
	case l.open == '(' && l.commas == 0 && !(l.spaces && makes):
		return makes && l.marked == l.n || strings.Contains(s[max(0, l.from-80):l.from], "array[") // Pascal; otherwise just a number in brackets
	case l.n == 1 && l.commas == 0:
		// One number in brackets is a footnote or a length, unless a type of bytes precedes it.
		return !(l.open == '[' && (word || after < len(s) && s[after] == '[')) &&
			(head == "" || strings.IndexByte("=([,:{&!>]", head[len(head)-1]) >= 0 || typedBrace.MatchString(s[max(0, l.from-40):l.from]) || l.printed)
	}
	return true
}

// typedBrace matches a type of bytes directly before a brace: []byte{}.
var typedBrace = regexp.MustCompile(`(?:\]byte|\]uint8|\] *)$`)

// takeList makes a piece of a list.
func (r *codeReader) takeList(l *byteList) *Error {
	isHex, form := l.unmarked.is() || r.bareHex && l.unmarked.may(), r.language(l)
	good, bracketed := l.fail == nil, l.open == '[' || l.strings
	if good && l.n > 0 && bracketed {
		r.sawHex, r.sawPlain = r.sawHex || isHex, r.sawPlain || !isHex && l.unmarked.may()
	}
	switch {
	case good && isHex && bracketed:
		r.again(l, 16)
	case good && l.unmarked.letter:
		r.b.out = r.b.out[:l.start]
		return nil
	case !l.octal || isHex:
	case form == formCArray || form == formJavaArray || form == formGoArray:
		r.again(l, 8)
		r.octal = true
	default:
		r.b.note(l.from, "numbers with leading zeros were read as decimal")
	}
	switch {
	case l.fail == nil:
		return r.piece(piece{span: span{l.from, l.to}, start: l.start, form: form, sure: true, hex: l.n > 0 && l.hex == l.n, bare: isHex})
	case l.printed:
		return errNode(l.fail.off, "%s is not a byte: a number from 0 to 255 was expected", scan.Quote(l.fail.Found))
	}
	r.b.out = r.b.out[:l.start]
	r.refuse(span{l.from, l.to}, "this list", l.fail)
	return nil
}

// again reads a list again, with its numbers in another base.
func (r *codeReader) again(l *byteList, base int) {
	l.base, l.fail = base, nil
	r.b.out = r.b.out[:l.start]
	r.readList(l, l.first, l.end)
}

// languages are the forms of lists by what the code before a bracket has: the first row with one of its words.
var languages = []struct {
	form   string
	open   string   // brackets
	words  []string // none for any code
	except string   // a word that it does not have
}{
	{formErlang, "<", nil, ""},
	{formGoArray, "[{(", []string{"]byte", "]uint8"}, ""},
	{formRustArray, "[", []string{"u8", "vec!"}, ""},
	{formJsArray, "[", []string{"Uint8Array", "Buffer", "const ", "let "}, "UInt8"},
	{formPythonArray, "[(", []string{"bytes", "bytearray"}, ""},
	{formSwiftArray, "[", []string{"UInt8", "Data("}, ""},
	{formPascalArray, "(", nil, ""},
	{formCsharpArray, "{", []string{"byte[]", "byte ["}, ""},
	{formNumberArray, "[", nil, ""},
	{formCArray, "{", nil, ""},
}

// language infers the form from the code before the bracket and the notation of numbers.
func (r *codeReader) language(l *byteList) string {
	if l.printed {
		return formNodeBuffer
	}
	head := r.t.s[max(0, l.from-160):l.from]
	head = head[strings.LastIndexByte(head, '}')+1:]
	head = head[strings.LastIndex(head, ";\n")+1:]
	has := func(word string) bool { return strings.Contains(head, word) }
	for _, x := range languages {
		if strings.IndexByte(x.open, l.open) < 0 || x.words != nil && !slices.ContainsFunc(x.words, has) || x.except != "" && has(x.except) {
			continue
		}
		if x.form == formCsharpArray && (l.negative || strings.Contains(r.t.s[l.from:min(len(r.t.s), l.from+2000)], "(byte)")) {
			return formJavaArray
		}
		return x.form
	}
	return formCArray
}

// nodeBuffer reads <Buffer 0a 0b> at i, as Node.js prints bytes. It is abbreviated for long arrays, with the number of missing bytes; as
// an incomplete message is useless, that is an error.
func (r *codeReader) nodeBuffer(first int) (next int, _ *Error) {
	s, start := r.t.s, len(r.b.out)
	i := skipJSON(s, first+len("<Buffer "))
	for ; hexRun(s, i) == 2 && wordEnd(s, i) == i+2; i = skipJSON(s, i+2) {
		r.b.out = appendPairs(r.b.out, s[i:i+2])
	}
	switch {
	case i < len(s) && s[i] == '>':
		return i + 1, r.piece(piece{span: span{first, i + 1}, start: start, form: formNodeBuffer, sure: true})
	case strings.HasPrefix(s[i:], "..."):
		return i, errNodeCut(i)
	}
	e := errFound(r.t, i, "two hex digits").as(certain)
	e.Form = formNodeBuffer
	return i, e
}

func errNodeCut(off int) *Error {
	return errNode(off, "the output is truncated: use buffer.toString(\"hex\"), or raise buffer.INSPECT_MAX_BYTES or maxArrayLength")
}

func errNode(off int, format string, args ...any) *Error {
	e := errAt(off, format, args...).as(certain)
	e.Form = formNodeBuffer
	return e
}

// directives of assemblers and their bytes an element; negative: big-endian.
var directives = map[string]int{
	"db": 1, ".byte": 1, ".db": 1, "defb": 1, "dc.b": 1, "!byte": 1, "!by": 1, "fcb": 1, "dcb": 1, ".ascii": 1, "byte": 1, "data": 1,
	"dw": 2, ".word": 2, ".short": 2, ".hword": 2, ".2byte": 2, "defw": 2, "!word": 2, "dc.w": -2, "fdb": -2,
	"dd": 4, ".long": 4, ".4byte": 4, ".int": 4, "dc.l": -4,
}

// maxLabelText bounds the label before a directive, with white space.
const maxLabelText = 80

// directive reads the elements after a directive of an assembler that starts a line, perhaps after a label. Lines that follow each other
// are one list. Plain hex that starts with "db" has nothing that is marked as a byte.
func (r *codeReader) directive(tok codeToken) (next int, _ *Error) {
	s, from := r.t.s, tok.off
	if from > 0 && (s[from-1] == '.' || s[from-1] == '!') {
		from--
	}
	before := s[max(0, from-maxLabelText):from]
	label := strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:])
	name := strings.TrimSuffix(label, ":")
	if len(label) > maxLabelText/2 || wordEnd(label, 0) < len(name) {
		return 0, nil
	}
	p := piece{span: span{from, from}, start: len(r.b.out), form: formAssembler, sure: true, name: name}
	marked := from < tok.off
	x := codeLexer{s: s, i: from}
	for x.i < len(s) {
		i := x.i
		end := wordEnd(s, i+1)
		if strings.HasPrefix(s[end:], ".b") || strings.HasPrefix(s[end:], ".w") || strings.HasPrefix(s[end:], ".l") { // dc.b
			end += 2
		}
		dir := s[i:end]
		size := directives[strings.ToLower(dir)]
		end, mark, ok := r.operands(end, size)
		if !ok {
			break
		}
		marked = marked || mark
		p.to = end
		if size != 1 {
			order := "little-endian"
			if size < 0 {
				order = "big-endian"
			}
			r.b.note(i, "the numbers after %q are %d bytes each, read as %s", dir, max(size, -size), order)
		}
		if end < len(s) && s[end] == ';' { // a comment
			end = lineEnd(s, end, len(s))
		}
		x.i = end
		x.skip()
	}
	if p.to == from || !marked {
		r.b.out = r.b.out[:p.start]
		return 0, nil
	}
	return p.to, r.piece(p)
}

// operands appends the operands of a directive, of so many bytes, from i to the end of the line. marked means that one is surely written as
// a byte.
func (r *codeReader) operands(i, size int) (end int, marked, ok bool) {
	s, out, n := r.t.s, r.b.out, max(size, -size)
	for more := size != 0; more; i++ {
		if i = skipSpaces(s, i); i >= len(s) {
			break
		}
		if s[i] == '"' || s[i] == '\'' {
			kind, next := stringEnd(s, i)
			if kind != codeString || size != 1 {
				return 0, false, false
			}
			var e *Error
			if out, _, e = appendUnescaped(out, r.t, i+1, next-1, escapesC); e != nil {
				return 0, false, false
			}
			i, marked = next, true
		} else {
			v := readBare(s, i)
			if !v.ok || v.value >= 1<<(8*n) || v.value < -1<<(8*n-1) {
				return 0, false, false
			}
			for k := range n {
				if size < 0 {
					k = n - 1 - k
				}
				out = append(out, byte(v.value>>(8*k)))
			}
			marked = marked || strings.ContainsAny(s[i:v.end], "$&#xXhH")
			i = v.end
		}
		i = skipSpaces(s, i)
		if more = i < len(s) && s[i] == ','; !more {
			break
		}
	}
	if i < len(s) && strings.IndexByte("\r\n;/#", s[i]) < 0 {
		return 0, false, false
	}
	ok = len(out) > len(r.b.out)
	r.b.out = out
	return i, marked, ok
}

// loose reads literals without brackets, at least two, in a spelling that plain hex does not have: 0x26u8, $26, 16#26.
func (r *codeReader) loose(tok codeToken) (next int, _ *Error) {
	l := byteList{from: tok.off, start: len(r.b.out)}
	x := codeLexer{s: r.t.s, i: tok.off}
	for {
		e, ok := readElement(r.t, x.i)
		if !ok || !e.marked || !e.isByte() {
			break
		}
		r.count(&l, x.i, e)
		l.n++
		l.to, x.i = e.end, e.end
		if x.skip(); x.i < len(x.s) && (x.s[x.i] == ',' || x.s[x.i] == ';') {
			x.i++
			x.skip()
		} else if x.i == e.end || strings.Contains(strings.ReplaceAll(r.t.s[e.end:x.i], "\r", ""), "\n\n") {
			break
		}
	}
	if l.n < 2 {
		r.b.out = r.b.out[:l.start]
		return 0, nil
	}
	return l.to, r.piece(piece{span: span{l.from, l.to}, start: l.start, form: formNumberArray, sure: true, loose: true})
}

func (r *codeReader) listReason() string {
	why := "numbers from -128 to 255 in brackets, as source code writes lists of bytes"
	switch p := r.pieces[0]; {
	case p.form == formAssembler:
		why = "numbers after directives of an assembler"
	case p.form == formNodeBuffer:
		why = "bytes as Node.js prints them"
	case p.loose:
		why = "numbers in spellings that only bytes have, without brackets"
	case p.bare:
		why = "numbers from 00 to ff in brackets, in hex without a mark"
	case p.hex:
		why = "hex numbers of one byte in brackets, as source code writes lists of bytes"
	}
	if n := len(r.b.msgs); n > 1 {
		why += fmt.Sprintf("; %d lists are %d messages", n, n)
	}
	if r.octal {
		why += "; numbers with leading zeros are octal"
	}
	return why
}
