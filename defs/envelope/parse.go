package envelope

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Limits of an envelope.
const (
	maxStates    = 1000
	maxRules     = 10_000
	maxSizes     = 1 << 16
	maxAt        = 4096 // bytes before a length or a code
	maxTimes     = 1 << 16
	maxDelimiter = 64
	maxSecret    = 1024
	maxFields    = 256 // of a header
)

// parser turns lines into an Envelope.
type parser struct {
	file    *source.File
	e       *Envelope
	diags   diag.List
	blocks  []block // the lines before the first state, then those of each state
	seen    map[string]source.Span
	table   *Framing              // to which entries of a table belong; nil: none
	codes   map[int64]source.Span // entries of the table; -1: other codes
	entries int
	rules   int

	// The current line.
	ln   *line
	next int // index of the next token
	ok   bool
}

// block is what is stated in one place: before the states, or below one.
type block struct {
	frame, code, group [2]bool
	fields             [2][]Field
	broken             []string // statements with mistakes: what they would have said is not missing
	s                  State
}

// Parse parses an envelope. The result is usable even if there are errors, as far as it was understood. Parse checks what it can without
// definitions.
func Parse(f *source.File) (*Envelope, diag.List) {
	p := parser{file: f, e: &Envelope{}, blocks: make([]block, 1), seen: map[string]source.Span{}}
	lines := readLines(f, p.report)
	// The names of all states are needed before the first rule.
	for i := range lines {
		ln := &lines[i]
		p.e.Forms = p.e.Forms || ln.isState() && ln.tokens[0].text == "form"
		if len(ln.tokens) > 1 && ln.isState() && p.e.StateNamed(ln.tokens[1].text) < 0 && len(p.e.States) < maxStates {
			p.e.States = append(p.e.States, State{Name: ln.tokens[1].text, Span: ln.span})
		}
	}
	for i := range lines {
		if len(lines[i].tokens) > 0 && !lines[i].bad {
			p.line(&lines[i])
		}
	}
	p.finish()
	p.diags.Sort()
	return p.e, p.diags
}

// readLines splits a text into lines.
func readLines(f *source.File, report func(diag.Diagnostic)) []line {
	n := f.NumLines()
	if n > text.MaxLines {
		report(text.TooManyLines(f.Line(text.MaxLines+1), text.MaxLines))
		n = text.MaxLines
	}
	lines := make([]line, n)
	inState := false
	for i := range lines {
		whole := f.Line(i + 1)
		if i == 0 && strings.HasPrefix(whole.Text(), text.BOM) {
			whole = whole.Sub(len(text.BOM), whole.End-whole.Start)
		}
		lines[i] = lex(whole, report)
		ln := &lines[i]
		if len(ln.tokens) > 0 {
			ln.table = ln.isEntry() && !ln.isRule() // it belongs to the framing above, however it is indented
			inState = ln.isState() || inState && (ln.indent > 0 || ln.table)
			ln.inState = inState && !ln.isState()
		}
	}
	return lines
}

// isState reports whether a line is a state statement, or one of a form; its indentation does not matter.
func (ln *line) isState() bool {
	return len(ln.tokens) > 0 && (ln.tokens[0].text == "state" || ln.tokens[0].text == "form") && !ln.tokens[0].quoted && !ln.isRule()
}

func (p *parser) report(d diag.Diagnostic) {
	text.Add(&p.diags, d, maxMistakes)
}

// fail reports an error of the current line, of which the rest is not read.
func (p *parser) fail(d diag.Diagnostic) {
	if p.ok {
		p.report(d)
	}
	p.ok = false
}

// line parses one line.
func (p *parser) line(ln *line) {
	p.ln, p.next, p.ok = ln, 0, true
	b := &p.blocks[0]
	if ln.inState {
		b = &p.blocks[len(p.blocks)-1]
	}
	switch {
	case ln.table:
		p.entry()
		return
	case ln.isRule():
		p.table = nil
		p.rule(b)
		return
	}
	p.table = nil
	t := ln.tokens[0]
	i := -1
	if !t.sign && !t.quoted {
		i = find(statements, t.text)
	}
	p.next = 1
	defer func() {
		if !p.ok {
			b.broken = append(b.broken, t.text)
		}
	}()
	if i < 0 {
		p.fail(unknownStatement(t.span))
		t.text = diag.Nearest(t.text, names(statements))
		return
	}
	if ln.inState && (t.text == "carrier" || t.text == "port" || t.text == "compress" || t.text == "cipher" || t.text == "state" || t.text == "form") {
		p.fail(misplaced(t.span, text.Quote(t.text)+" does not belong to a "+p.e.block(), "write it without indentation, before the first state, or as the action of a rule"))
		return
	}
	switch t.text {
	case "carrier":
		p.once("carrier", t.span)
		p.e.Carrier = Carrier(max(p.keyword("the carrier", carrierWords), 0))
	case "port":
		p.once("port", t.span)
		p.e.Port = uint16(p.number(1, 65535))
	case "frame":
		p.frame(b)
	case "code":
		p.code(b)
	case "group":
		dir := p.dir()
		name := p.name("the name of a group")
		p.set(dir, &b.group, "group", func(i int) { b.s.Group[i] = name })
	case "compress":
		dir := p.dir()
		c := p.compression(true, false)
		p.each(dir, func(i int) { p.e.Compress[i] = c }, "compress")
	case "cipher":
		dir := p.dir()
		c := p.cipher(false)
		p.each(dir, func(i int) { p.e.Cipher[i] = c }, "cipher")
	case "field":
		p.field(b, false)
	case "checksum":
		p.field(b, true)
	case "bundle":
		p.bundle(b)
	case "state", "form":
		if t.text == "state" && p.e.Forms {
			p.fail(misplaced(t.span, "a text has states or forms", "write form: messages of all forms may come at any time"))
			p.ok = true // its lines are those of a form
		}
		p.state()
		return
	}
	p.end()
}

// once reports a statement that is there twice.
func (p *parser) once(key string, at source.Span) {
	if first, is := p.seen[key]; is {
		p.fail(duplicate(at, first, text.Quote(key)))
		return
	}
	p.seen[key] = at
}

// each calls set for the ways of a direction, unless the statement was there before.
func (p *parser) each(dir schema.Dir, set func(way int), key string) {
	if !p.ok {
		return
	}
	for i := range 2 {
		if Ways(dir, i) {
			p.once(key+" "+dirWord([...]schema.Dir{schema.ToServer, schema.ToClient}[i]), p.ln.tokens[0].span)
			if p.ok {
				set(i)
			}
		}
	}
}

// set is like each, for a statement of a block.
func (p *parser) set(dir schema.Dir, has *[2]bool, what string, set func(way int)) {
	if !p.ok {
		return
	}
	for i := range 2 {
		if !Ways(dir, i) {
			continue
		}
		if has[i] {
			p.fail(duplicate(p.ln.tokens[0].span, source.Span{}, text.Quote(what)+" for this direction"))
			return
		}
		has[i] = true
		set(i)
	}
}

// Words of a line.

// peek returns the next token; its span is empty at the end of the line.
func (p *parser) peek() token {
	if p.next < len(p.ln.tokens) {
		return p.ln.tokens[p.next]
	}
	end := p.ln.span.End
	if n := len(p.ln.tokens); n > 0 {
		end = p.ln.tokens[n-1].span.End
	}
	return token{span: source.Span{File: p.file, Start: end, End: end}, sign: true}
}

// is reports whether the next token is a keyword or a sign, and skips it.
func (p *parser) is(word string) bool {
	if t := p.peek(); p.ok && !t.quoted && t.text == word && t.span.Start < t.span.End {
		p.next++
		return true
	}
	return false
}

// need skips a keyword or a sign that must be there.
func (p *parser) need(word string) {
	if p.ok && !p.is(word) {
		p.fail(expected(p.peek().span, text.Quote(word), word))
	}
}

// end reports words after the end of a statement.
func (p *parser) end() {
	if p.ok && p.next < len(p.ln.tokens) {
		at := p.ln.tokens[p.next].span
		at.End = p.ln.tokens[len(p.ln.tokens)-1].span.End
		p.fail(tooMuch(at))
	}
}

// keyword returns the index of the next word in a list.
func (p *parser) keyword(what string, list []keyword) int {
	t := p.peek()
	i := -1
	if !t.sign && !t.quoted {
		i = find(list, t.text)
	}
	if i < 0 {
		p.fail(expected(t.span, what, names(list)...))
		return -1
	}
	p.next++
	return i
}

// name returns a word of any text.
func (p *parser) name(what string) string {
	t := p.peek()
	if t.sign || t.text == "" {
		p.fail(expected(t.span, what))
		return ""
	}
	p.next++
	return t.text
}

// number returns a number.
func (p *parser) number(least, most int64) int64 {
	t := p.peek()
	v, err := strconv.ParseInt(t.text, 0, 64)
	switch {
	case t.sign || t.quoted || !isNumber(t.text):
		p.fail(expected(t.span, "a number"))
		return least
	case err != nil || v < least || v > most:
		p.fail(badNumber(t.span, least, most))
		return least
	}
	p.next++
	return v
}

// dir returns a direction, or Both.
func (p *parser) dir() schema.Dir {
	switch {
	case p.is("to-server"):
		return schema.ToServer
	case p.is("to-client"):
		return schema.ToClient
	}
	return schema.Both
}

// form returns the form of a number on the wire.
func (p *parser) form() (n Number) {
	t := p.peek()
	i := p.keyword("the type of a number", numbers)
	switch {
	case i < 0:
		return n
	case t.text == "varint":
		n.Kind = VarInt
		if p.is("be") {
			n.Kind = BigVarInt
		}
	case t.text == "zigzag":
		n.Kind = ZigZag
	default:
		n.Kind, n.Size = UInt, i+1
		switch {
		case p.is("le"):
		case p.is("be"):
			if n.Size > 1 {
				n.Order = schema.Big
			}
		case n.Size > 1:
			p.fail(noOrder(t.span))
		}
	}
	return n
}

// message returns a message: a name or a code.
func (p *parser) message() (m Message) {
	t := p.peek()
	if !t.sign && !t.quoted && isNumber(t.text) {
		return Message{Code: uint32(p.number(0, math.MaxUint32)), ByCode: true}
	}
	return Message{Name: p.name("a message")}
}

// Statements.

// state begins the lines of a state.
func (p *parser) state() {
	name := p.name("the name of a " + p.e.block())
	p.end()
	if first, is := p.seen["state "+name]; is {
		p.fail(duplicate(p.ln.span, first, p.e.block()+" "+text.Quote(name)))
	} else if p.ok {
		p.seen["state "+name] = p.ln.span
	}
	p.blocks = append(p.blocks, block{s: State{Name: name, Span: p.ln.span}})
	if !p.ok || len(p.blocks) > maxStates+1 {
		if p.ok {
			p.fail(tooMuch(p.ln.span))
		}
		p.blocks[len(p.blocks)-1].s.Span = source.Span{} // its lines are checked and then dropped
	}
}

func (p *parser) frame(b *block) {
	dir := p.dir()
	at := p.peek().span
	f := p.framing()
	if p.ok && f.Zeros && (!f.Keep || f.Number.Kind != UInt) {
		p.fail(misplaced(at, "zeros are left out of messages that have a length of fixed size in them", `write "keep", and u8, u16 or another number of fixed size`))
	}
	p.set(dir, &b.frame, "frame", func(i int) { b.s.Frame[i] = f })
	if p.ok && f.Kind == Codes {
		p.table, p.codes = &b.s.Frame[Way(dir)], map[int64]source.Span{} // if it is for both directions, share copies the entries
	}
}

// framing parses a framing.
func (p *parser) framing() (f Framing) {
	f.Max, f.Times = DefaultMax, 1
	f.Kind = FramingKind(p.keyword("a framing", framings) + 1)
	switch f.Kind {
	case Length:
		f.Number = p.form()
	case Delimiter:
		for p.ok {
			t := p.peek()
			if t.sign || t.quoted || t.text == "or" || t.text == "keep" || t.text == "max" {
				break
			}
			f.Delimiter = append(f.Delimiter, p.hex()...)
		}
		if p.ok && len(f.Delimiter) == 0 {
			p.fail(expected(p.peek().span, "the delimiter", "bytes in hexadecimal, such as 0d 0a"))
		} else if p.ok && len(f.Delimiter) > maxDelimiter {
			p.fail(badNumber(p.ln.tokens[p.next-1].span, 1, maxDelimiter))
		}
	case Fixed:
		f.Size = int(p.number(1, MaxMax))
		f.Max = max(f.Size, DefaultMax)
	case Codes:
		f.Number = p.form()
	}
	p.options(&f)
	return f
}

// options parses what may follow a framing.
func (p *parser) options(f *Framing) {
	seen := map[string]bool{}
	for p.ok && p.next < len(p.ln.tokens) {
		t := p.peek()
		key := t.text
		if key == "minus" {
			key = "plus"
		}
		if seen[key] {
			p.fail(duplicate(t.span, source.Span{}, text.Quote(t.text)))
			return
		}
		seen[key] = true
		length := f.Kind == Length
		switch {
		case f.Kind == Delimiter && p.is("or"):
			p.need("end")
			f.End = true
		case length && p.is("including"):
			switch {
			case p.is("itself"):
				f.Counts = Itself
			case p.is("all"):
				f.Counts = All
			default:
				p.fail(expected(p.peek().span, "what the length counts", "itself", "all"))
			}
		case length && p.is("times"):
			f.Times = p.number(1, maxTimes)
		case length && p.is("plus"):
			f.Add = p.number(0, MaxMax)
		case length && p.is("minus"):
			f.Add = -p.number(0, MaxMax)
		case (length || f.Kind == Codes) && p.is("at"):
			f.At = int(p.number(0, maxAt))
		case (length || f.Kind == Delimiter) && p.is("keep"):
			f.Keep = true
		case length && p.is("zeros"):
			f.Zeros = true
		case length && p.is("min"):
			f.Min = int(p.number(1, MaxMax))
		case f.Kind != Fixed && p.is("max"):
			f.Max = int(p.number(1, MaxMax))
		default:
			return
		}
		if p.ok && f.Min > f.Max {
			p.fail(badNumber(p.ln.tokens[p.next-1].span, 1, MaxMax))
		}
	}
}

// hex parses bytes in hexadecimal.
func (p *parser) hex() []byte {
	t := p.peek()
	b, err := hex.DecodeString(t.text)
	if t.sign || t.quoted || err != nil || len(b) == 0 {
		p.fail(badHex(t.span))
		return nil
	}
	p.next++
	return b
}

// entry parses a line "CODE = SIZE" of a table.
func (p *parser) entry() {
	if p.table == nil {
		p.fail(misplaced(p.ln.span, "a size without a table", `write it below a line such as "frame codes u8"`))
		return
	}
	var c CodeSize
	if c.Other = p.is("other"); !c.Other {
		most := int64(math.MaxUint32)
		if n := p.table.Number; n.Kind == UInt && n.Size < 4 {
			most = 1<<(8*n.Size) - 1
		}
		c.Code = uint64(p.number(0, most))
	}
	p.need("=")
	if p.is("length") {
		f := Framing{Kind: Length, Times: 1, Max: p.table.Max, Number: p.form()}
		at := p.peek().span
		p.options(&f)
		if f.Keep = true; p.ok && f.Zeros {
			p.fail(misplaced(at, "the sizes of a table are those of whole messages", `leave out "zeros", or write a form for each kind of message`))
		}
		c.Length = &f
	} else {
		c.Size = int(p.number(1, MaxMax))
	}
	p.end()
	if p.entries++; p.entries > maxSizes {
		p.fail(tooMuch(p.ln.span))
	}
	if !p.ok {
		return
	}
	key := int64(c.Code)
	if c.Other {
		key = -1
	}
	if first, is := p.codes[key]; is {
		p.fail(duplicate(p.ln.tokens[0].span, first, "size of this code"))
		return
	}
	p.codes[key] = p.ln.tokens[0].span
	p.table.Sizes = append(p.table.Sizes, c)
}

func (p *parser) code(b *block) {
	dir := p.dir()
	c := Code{Span: p.ln.span}
	if p.is("none") {
		c.Name = p.name("the name of the definition")
	} else {
		c.Number = p.form()
		if p.is("at") {
			c.At = int(p.number(0, maxAt))
		}
	}
	p.set(dir, &b.code, "code", func(i int) { b.s.Code[i] = c })
}

// bundled are the words after "bundle" that are no messages without quotes.
var bundled = []string{"frame", "at", "to-server", "to-client"}

func (p *parser) bundle(b *block) {
	t := p.peek()
	x := Bundle{At: t.span}
	if t.quoted || !slices.Contains(bundled, t.text) {
		x.Message = p.message()
	}
	x.Dir = p.dir()
	if p.is("at") {
		x.From = int(p.number(0, maxAt))
	}
	p.need("frame")
	kind := p.peek()
	x.Frame = p.framing()
	if p.ok && (x.Frame.Kind == Datagram || x.Frame.Kind == Codes) {
		p.fail(misplaced(kind.span, "a bundle cannot have this framing", "write length, delimiter, fixed or measured"))
	} else if p.ok && x.Frame.Zeros {
		p.fail(misplaced(kind.span, "the messages of a bundle have all of their bytes", `leave out "zeros"`))
	}
	if p.ok {
		b.s.Bundles = append(b.s.Bundles, x)
	}
}

// field parses a field of the header or the tail, or a checksum.
func (p *parser) field(b *block, sum bool) {
	dir := p.dir()
	f := Field{Span: p.ln.span, Name: p.name("a name")}
	switch {
	case sum:
		if f.Sum, f.Number = p.sum(); f.Sum.Kind == CRC {
			f.Sum.table = f.Sum.makeTable()
		}
		f.Size = f.Number.Size
	case p.is("hex"):
		f.Constant = p.hex()
		f.Size = len(f.Constant)
	case p.is("bytes"):
		f.Size = int(p.number(1, maxAt))
	default:
		at := p.peek().span
		if f.Number = p.form(); p.ok && f.Number.Kind != UInt {
			p.fail(misplaced(at, "a field has a fixed size", "write u8, u16 and so on, bytes or hex"))
		}
		f.Size = f.Number.Size
	}
	p.need("at")
	f.At = int(p.number(-maxAt, maxAt))
	switch {
	case sum:
		if p.is("over") {
			p.over(f.Sum)
		}
		f.Sum.Extra = p.is("extra")
	case f.Number.Kind == UInt && p.is("="):
		most := int64(math.MaxInt64)
		if f.Number.Size < 8 {
			most = 1<<(8*f.Number.Size) - 1
		}
		f.Constant = make([]byte, f.Size)
		f.Number.put(f.Constant, uint64(p.number(0, most)))
	}
	for i := range 2 {
		if p.ok && Ways(dir, i) {
			if b.fields[i] = append(b.fields[i], f); len(b.fields[i]) > maxFields {
				p.fail(tooMuch(p.ln.span))
			}
		}
	}
}

// sum parses a checksum and the byte order of its number.
func (p *parser) sum() (*Sum, Number) {
	i := max(p.keyword("a checksum", sumKeywords), 0)
	s := sums[i]
	n := Number{Kind: UInt, Size: s.Bits / 8}
	most := int64(1)<<s.Bits - 1
	for p.ok {
		switch {
		case s.Kind == CRC && p.is("poly"):
			s.Poly = uint64(p.number(1, most))
		case p.is("start"):
			s.Start = uint64(p.number(0, most))
		case s.Kind == CRC && p.is("final"):
			s.Final = uint64(p.number(0, most))
		case s.Kind == CRC && p.is("reflected"):
			s.Reflected = true
		case p.is("le"):
			return &s, n
		case p.is("be"):
			if n.Size > 1 {
				n.Order = schema.Big
			}
			return &s, n
		default:
			if n.Size > 1 {
				p.fail(expected(p.peek().span, "the byte order of the checksum", "le", "be"))
			}
			return &s, n
		}
	}
	return &s, n
}

// over parses the range of a checksum.
func (p *parser) over(s *Sum) {
	s.Over, s.From = true, int(p.number(-MaxMax, MaxMax))
	p.need("to")
	if s.ToEnd = p.is("end"); !s.ToEnd {
		s.To = int(p.number(-MaxMax, MaxMax))
	}
}

// compression parses a compression. stated: the method is required; fields: a field may be the least size.
func (p *parser) compression(stated, fields bool) (c Compression) {
	if t := p.peek(); stated || find(methods, t.text) >= 0 {
		c.Method = schema.Packing(p.keyword("a method of compression", methods) + 1)
		switch {
		case p.is("size"):
			c.Header, c.Number = SizeHeader, p.form()
		case p.is("flag"):
			c.Header, c.Number = FlagHeader, p.form()
		}
	}
	at := p.peek()
	switch {
	case p.is("off"):
		c.Off = true
	case p.is("on"):
	case p.is("from"):
		if t := p.peek(); fields && !t.sign && (t.quoted || !isNumber(t.text)) {
			c.Field = p.name("a field")
			break
		}
		c.From = p.number(-1, math.MaxInt32)
	case !stated || p.next < len(p.ln.tokens) && !p.peek().sign:
		p.fail(expected(p.peek().span, "when messages are compressed", "on", "off", "from"))
	}
	if p.ok && c.Method != schema.Unpacked && c.Header == NoHeader && c.From > 0 {
		p.fail(untold(at.span))
	}
	return c
}

// cipher parses a cipher with its key. fields: secrets may be fields of messages.
func (p *parser) cipher(fields bool) (c Cipher) {
	if fields && p.is("off") {
		return c
	}
	at := p.peek().span
	c.Kind = CipherKind(p.keyword("a cipher", ciphers) + 1)
	p.need("key")
	keyAt := p.peek().span
	c.Key = p.secret(fields)
	ivAt := p.peek().span
	if p.is("iv") {
		ivAt = p.peek().span
		c.IV = p.secret(fields)
	}
	if !p.ok {
		return c
	}
	if why := keySizes(c.Kind); c.Key.Kind == Stated && !GoodKey(c.Kind, len(c.Key.Bytes)) {
		p.fail(badKey(keyAt, len(c.Key.Bytes), why))
	}
	switch needs := c.Kind == AESCFB8 || c.Kind == AESCTR || c.Kind == ChaCha20; {
	case needs && c.IV.Kind == NoSecret:
		p.fail(expected(ivAt, "the iv", "iv"))
	case !needs && c.IV.Kind != NoSecret:
		p.fail(misplaced(ivAt, text.Quote(at.Text())+" has no iv", "remove it"))
	case c.IV.Kind == Stated && !GoodIV(c.Kind, len(c.IV.Bytes)):
		p.fail(badKey(ivAt, len(c.IV.Bytes), ivSizes(c.Kind)))
	}
	return c
}

// GoodKey reports whether a cipher accepts keys of a size in bytes.
func GoodKey(c CipherKind, size int) bool {
	switch c {
	case AESCFB8, AESCTR:
		return size == 16 || size == 24 || size == 32
	case ChaCha20:
		return size == 32
	case RC4:
		return size >= 1 && size <= 256
	}
	return size >= 1 && size <= maxSecret
}

// GoodIV reports whether a cipher accepts initialization vectors of a size in bytes.
func GoodIV(c CipherKind, size int) bool {
	switch c {
	case AESCFB8, AESCTR:
		return size == 16
	case ChaCha20:
		return size == 12 || size == 24
	}
	return size == 0
}

func keySizes(c CipherKind) string {
	switch c {
	case AESCFB8, AESCTR:
		return "a key of 16, 24 or 32 bytes"
	case ChaCha20:
		return "a key of 32 bytes"
	case RC4:
		return "a key of 1 to 256 bytes"
	}
	return "a key of 1 to 1024 bytes"
}

func ivSizes(c CipherKind) string {
	if c == ChaCha20 {
		return "an iv of 12 or 24 bytes"
	}
	return "an iv of 16 bytes"
}

func (p *parser) secret(fields bool) (s Secret) {
	switch {
	case p.is("hex"):
		return Secret{Kind: Stated, Bytes: p.hex()}
	case p.is("text"):
		return Secret{Kind: Stated, Bytes: []byte(p.name("a text"))}
	case p.is("given"):
		return Secret{Kind: Given}
	}
	at := p.peek()
	s = Secret{Kind: OfMessage, Field: p.name("a secret")}
	if p.ok && !fields {
		p.fail(expected(at.span, "a secret", "hex", "text", "given"))
	}
	if p.is("of") {
		s.Of = p.message()
	}
	return s
}

// rule parses a rule.
func (p *parser) rule(b *block) {
	at := p.peek().span
	if p.e.Forms {
		p.fail(misplaced(at, "a text with forms has no rules", "forms follow each other in any order; states have rules"))
		return
	}
	r := Rule{Message: p.message(), Dir: p.dir(), Span: p.ln.span, At: at}
	if p.is("when") {
		r.Field = p.name("a field")
		if r.Not = p.is("!="); !r.Not {
			p.need("=")
		}
		r.Value = p.value()
	}
	if p.is("->") {
		t := p.peek()
		a := Action{Kind: Go, State: p.e.StateNamed(p.name("the name of a state"))}
		if p.ok && a.State < 0 {
			var known []string
			for i := range p.e.States {
				known = append(known, p.e.States[i].Name)
			}
			p.fail(unknownState(t.span, known))
		}
		a.Dir = p.dir()
		r.Actions = append(r.Actions, a)
	}
	if p.is(":") {
		p.action(&r)
		for p.is(",") {
			p.action(&r)
		}
	} else if p.ok && len(r.Actions) == 0 {
		p.fail(expected(p.peek().span, "what the message changes", "->", ":"))
	}
	p.end()
	if p.rules++; p.rules > maxRules {
		p.fail(tooMuch(p.ln.span))
	}
	if p.ok {
		b.s.Rules = append(b.s.Rules, r)
	}
}

func (p *parser) action(r *Rule) {
	var a Action
	switch {
	case p.is("compress"):
		a.Kind, a.Dir = Compress, p.dir()
		a.Compress = p.compression(false, true)
	case p.is("cipher"):
		a.Kind, a.Dir = Encrypt, p.dir()
		a.Cipher = p.cipher(true)
	default:
		p.fail(expected(p.peek().span, "an action", "compress", "cipher"))
	}
	r.Actions = append(r.Actions, a)
}

func (p *parser) value() (v Value) {
	t := p.peek()
	switch {
	case p.is("true"):
		return Value{Number: 1, IsNumber: true}
	case p.is("false"):
		return Value{IsNumber: true}
	case !t.sign && !t.quoted && isNumber(t.text):
		return Value{Number: p.number(math.MinInt64, math.MaxInt64), IsNumber: true}
	case t.quoted:
		p.next++
		return Value{Text: t.text}
	}
	return Value{Text: p.name("a value")}
}

// broken reports whether a block, or the common one, has a statement with a mistake.
func broken(b, common *block, statement string) bool {
	return slices.Contains(b.broken, statement) || slices.Contains(common.broken, statement)
}

// finish makes the states complete and checks them.
func (p *parser) finish() {
	p.ok = true
	common := &p.blocks[0]
	kept := map[string]*block{}
	for i := range p.blocks[1:] {
		if b := &p.blocks[1+i]; !b.s.Span.IsZero() {
			kept[b.s.Name] = b
		}
	}
	if len(p.e.States) == 0 {
		p.e.States = []State{{}}
	}
	start := p.file.Line(1)
	start.End = start.Start
	p.carried(common)
	var reached []bool
	for i := range p.e.States {
		s := &p.e.States[i]
		b := kept[s.Name]
		if b == nil {
			b = &block{s: State{Name: s.Name, Span: s.Span}}
			if s.Name == "" {
				b.s.Span = source.Span{}
			}
		}
		*s = b.s
		where, at := " in "+p.e.block()+" "+text.Quote(s.Name), s.Span
		if s.Span.IsZero() {
			where, at = "", start
		}
		for w := range 2 {
			if !b.frame[w] {
				s.Frame[w] = common.s.Frame[w]
			}
			if !b.code[w] {
				s.Code[w] = common.s.Code[w]
			}
			if !b.group[w] {
				if s.Group[w] = s.Name; common.group[w] || p.e.Forms {
					s.Group[w] = common.s.Group[w]
				}
			}
			s.share(w)
		}
		s.Bundles = append(s.Bundles[:len(s.Bundles):len(s.Bundles)], common.s.Bundles...)
		for w := range 2 {
			slices.SortStableFunc(s.Frame[w].Sizes, compareSizes)
			own := b.fields[w]
			if len(own) == 0 {
				own = common.fields[w]
			}
			p.header(s, w, own, at)
			p.behindCode(s, w)
		}
		s.Rules = append(s.Rules[:len(s.Rules):len(s.Rules)], common.s.Rules...)
		switch {
		case broken(b, common, "frame"), broken(b, common, "code"):
			p.ok = false // said at its line
		case s.Frame[0].Kind == NoFraming || s.Frame[1].Kind == NoFraming:
			p.fail(missingFrame(at, where))
		case s.Code[0] == Code{} || s.Code[1] == Code{}:
			p.fail(missingCode(at, where))
		}
		for w := range 2 {
			if s.Frame[w].Kind == Datagram && p.e.Carrier == TCP {
				p.fail(misplaced(at, "tcp has no datagrams", `write "carrier udp" or "carrier websocket", or another framing`))
				break
			}
		}
	}
	if p.e.Forms {
		p.forms()
		return
	}
	reached = make([]bool, len(p.e.States))
	reached[0] = true
	for i := range p.e.States {
		for _, r := range p.e.States[i].Rules {
			for _, a := range r.Actions {
				if a.Kind == Go {
					reached[a.State] = true
				}
			}
		}
	}
	for i, is := range reached {
		if !is {
			p.report(unreachable(p.e.States[i].Span, p.e.States[i].Name))
		}
	}
}

// forms checks that forms can be told apart: one without a constant is that of all messages.
func (p *parser) forms() {
	for i := range p.e.States[:len(p.e.States)-1] {
		s := &p.e.States[i]
		for w := range s.Header {
			if h := s.Header[w]; !s.Span.IsZero() && s.Frame[w].Kind != NoFraming && (h == nil || h.constant() == 0) {
				p.report(hides(s.Span, s.Name))
				break
			}
		}
	}
}

// compresses reports whether messages may be compressed.
func (p *parser) compresses() bool {
	for w := range p.e.Compress {
		if p.e.Compress[w].Method != schema.Unpacked {
			return true
		}
	}
	return false
}

// behindCode checks that the messages of bundles are behind the code.
func (p *parser) behindCode(s *State, w int) {
	for i := range s.Bundles {
		b := &s.Bundles[i]
		least := s.Code[w].At + max(s.Code[w].Number.Size, 1)
		if b.From == 0 || b.From >= least || b.Message.IsZero() || !Ways(b.Dir, w) || s.Code[w].Number.Kind == NoNumber {
			continue
		}
		b.From = 0
		key := fmt.Sprint("bundle ", b.At.Start)
		if _, is := p.seen[key]; is { // of another state
			continue
		}
		p.seen[key] = b.At
		p.report(misplaced(b.At, "the messages of the bundle begin before its code ends", fmt.Sprintf("write at least %d after \"at\"", least)))
	}
}

// header makes the header of a direction of a state.
func (p *parser) header(s *State, w int, fields []Field, at source.Span) {
	h, span, err := newHeader(s, w, fields)
	if s.Header[w] = h; err == nil && h != nil && h.length != nil && p.compresses() {
		if h.zeros {
			err = errors.New("zeros are left out of messages that are not compressed")
		} else if i := slices.IndexFunc(fields, func(f Field) bool { return f.Sum != nil }); i >= 0 {
			span, err = fields[i].Span, errors.New("the length, which is part of the message, is that of the compressed message: no checksum covers both")
		}
	}
	if err == nil {
		return
	}
	s.Header[w] = nil
	if span.IsZero() {
		span = at
	}
	key := fmt.Sprint("header ", span.Start, err)
	if _, is := p.seen[key]; is { // of the other direction, or of another state
		return
	}
	p.seen[key] = span
	p.report(misplaced(span, err.Error(), `after "at" stand the bytes before it in the message; negative: from its end`))
}

// compareSizes orders entries by code, with that of other codes at the end.
func compareSizes(a, b CodeSize) int {
	if a.Other != b.Other {
		if a.Other {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Code, b.Code)
}

// share gives a direction the table of the other one, if one statement is about both.
func (s *State) share(w int) {
	f, other := &s.Frame[w], &s.Frame[1-w]
	if f.Kind == Codes && other.Kind == Codes && len(f.Sizes) == 0 && f.Number == other.Number && f.At == other.At {
		f.Sizes = other.Sizes
	}
}
