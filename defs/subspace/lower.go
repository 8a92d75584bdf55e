package subspace

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// lowerer turns the tree of one file into messages.
type lowerer struct {
	tree     *tree
	encoding schema.Charset // of text
	diags    diag.List
	messages []*schema.Message
	dir      schema.Dir // of the lines above
	group    string
	order    schema.Order
	p        *packet // current packet
}

// packet is one message under construction.
type packet struct {
	m        *schema.Message
	title    *line
	code     uint64 // of the title
	hasCode  bool   // the title has one
	core     bool   // the first byte is 00
	keyed    bool   // the rows have the type
	rows     int
	base     scope
	variants []variant
	scope    *scope // current scope: base or the last variant
	ends     *line  // the sentence "may end"
	doc      []string
	payloads []*schema.Blob // of rows without a type
	appends  bool           // a sentence mentions appending
}

// variant is a part with a condition.
type variant struct {
	when  schema.Variant
	never bool // the condition is invalid
	scope
}

// scope is consecutive rows.
type scope struct {
	entries []entry
	cursor  int   // end of the last entry in bits
	loose   bool  // the cursor is relative to the last entry of variable size
	ended   *line // the row that extends to the end
	blurred bool  // a row above is invalid: gaps are not reported
}

// entry is one item of a scope.
type entry struct {
	off     int // bits from the start of the packet, -1 if it depends on the data
	bits    int // -1 if it depends on the data
	element int // lists of a fixed number of elements of variable size: minimum bits of an element
	item    schema.Item
	field   *schema.Field // nil for types, constants, counts and padding
	path    []string      // groups and name
	was     string        // name of a row that became a count
	line    *line         // nil for a gap
}

// report adds a diagnostic about the current packet.
func (l *lowerer) report(d diag.Diagnostic) {
	if l.p != nil && d.Severity == diag.Error {
		l.p.m.Broken = true
	}
	l.diags.Add(d)
}

// file lowers all lines.
func (l *lowerer) file() {
	for i := range l.tree.lines {
		ln := &l.tree.lines[i]
		switch ln.kind {
		case titleLine:
			l.finish()
			l.start(ln)
			l.p.m.Broken = ln.bad
		case rowLine:
			l.row(ln)
		case directionLine:
			l.finish()
			l.dir = directions[strings.ToLower(ln.word.Text())]
		case groupLine:
			l.finish()
			l.group = ln.word.Text()
		case sentenceLine:
			l.sentence(ln)
		case docLine:
			l.note(plain(withoutComment(ln.span).Text()))
		case commentLine:
			if i > 0 && l.goesOn(i-1) {
				l.note(commentText(ln.comment))
			}
		case badLine:
			if l.p != nil && (!ln.offset.IsZero() || i > 0 && l.goesOn(i-1)) {
				l.p.m.Broken = true
				l.p.scope.blurred = true
			}
		}
		if (ln.kind == titleLine || ln.kind == headerLine || ln.kind == docLine) && !ln.comment.IsZero() {
			l.note(commentText(ln.comment))
		}
	}
	l.finish()
}

// goesOn reports whether a comment right below lines[i] belongs to its packet.
func (l *lowerer) goesOn(i int) bool {
	for i >= 0 && l.tree.lines[i].kind == commentLine {
		i--
	}
	return i >= 0 && l.tree.lines[i].kind.belongs()
}

// note adds a line to the doc of the packet.
func (l *lowerer) note(text string) {
	if l.p == nil || text == "" {
		return
	}
	l.p.doc = append(l.p.doc, text)
	l.mention(text)
}

// mention looks at text about the packet or its rows.
func (l *lowerer) mention(text string) {
	l.p.appends = l.p.appends || strings.Contains(strings.ToLower(text), "append")
}

// start begins a packet.
func (l *lowerer) start(ln *line) {
	p := &packet{title: ln, m: &schema.Message{Version: 1, Span: ln.name}}
	l.p, p.scope = p, &p.base
	if p.code, p.hasCode = hexNumber(ln.code.Text()); p.hasCode && p.code > 0xff {
		l.report(largeCode(ln.code))
		p.hasCode = false
	}
	p.m.Name = asName(ln.name.Text())
	if p.m.Name == "" {
		p.m.Name, p.m.Span = fmt.Sprintf("packet_%02X", p.code), ln.span
	}
	remark := strings.ToLower(ln.remark.Text())
	p.m.Key.Dir = l.dir
	c2s, s2c := strings.Contains(remark, "c2s"), strings.Contains(remark, "s2c")
	switch {
	case c2s && s2c:
		p.m.Key.Dir = schema.Both
	case c2s:
		p.m.Key.Dir = schema.ToServer
	case s2c:
		p.m.Key.Dir = schema.ToClient
	}
	if text := inParentheses(ln.remark.Text()); !strings.EqualFold(text, "c2s") && !strings.EqualFold(text, "s2c") {
		l.note(text)
	}
}

// inParentheses returns a remark without its parentheses, if it is a single pair.
func inParentheses(text string) string {
	text = plain(text)
	if strings.HasPrefix(text, "(") && strings.IndexByte(text, ')') == len(text)-1 && strings.Count(text, "(") == 1 {
		return strings.TrimSpace(text[1 : len(text)-1])
	}
	return text
}

// groupOr returns the group of packets that do not start with 00.
func (l *lowerer) groupOr() string {
	if l.group == "" {
		return gameGroup
	}
	return l.group
}

// finish ends the current packet.
func (l *lowerer) finish() {
	p := l.p
	if p == nil {
		return
	}
	l.impliedType(-1)
	m := p.m
	switch {
	case p.hasCode && !p.keyed:
		if !m.Broken {
			l.report(missingType(p.title, p.core))
		}
		m.Key.Code, m.HasKey = uint32(p.code), true
	case p.hasCode && m.Key.Code != uint32(p.code):
		l.report(otherCode(p.title.code, m.Key.Code))
	case p.core && !p.keyed && !m.Broken:
		l.report(missingType(p.title, true))
	}
	if p.core {
		m.Key.Group = coreGroup
	} else {
		m.Key.Group = l.groupOr()
	}
	if !p.appends {
		for _, b := range p.payloads {
			b.Nested = true
		}
	}
	l.wholeBytes(&p.base, source.Span{})
	taken := map[string]bool{}
	l.notTooLarge(&p.base)
	m.Body = l.build(p.base.entries, taken)
	l.optional()
	for i := range p.variants {
		v := &p.variants[i]
		l.wholeBytes(&v.scope, source.Span{})
		l.notTooLarge(&v.scope)
		if len(v.entries) > 0 {
			own := make(map[string]bool, len(taken))
			for name := range taken {
				own[name] = true
			}
			v.when.Body = l.build(v.entries, own)
		}
		if !v.never {
			m.Body.Variants = append(m.Body.Variants, v.when)
		}
	}
	m.Doc = strings.Join(p.doc, "\n")
	l.messages = append(l.messages, m)
	l.p = nil
}

// notTooLarge checks the minimum size of rows.
func (l *lowerer) notTooLarge(s *scope) {
	if leastOf(s.entries) > maxSize*8 {
		l.report(tooLarge(l.p.title.span))
	}
}

// optional determines the optional items.
func (l *lowerer) optional() {
	p := l.p
	if p.ends == nil {
		return
	}
	at := p.ends.says.from
	if len(p.variants) > 0 {
		l.report(endsAndParts(p.ends.span))
		return
	}
	i := find(p.base.entries, at.Text())
	if i < 0 {
		l.report(noSuchRow(at, "packet may end at offset 21"))
		return
	}
	for k := range p.base.entries[i:] {
		if p.base.entries[i+k].item.Kind == schema.Code {
			l.report(typeOptional(at))
			return
		}
	}
	p.m.Body.Optional = len(p.base.entries) - i
}

// impliedType adds the type of the title before the first row, if there is room for it. off is the row's offset in bits, -1 if it is
// unknown.
func (l *lowerer) impliedType(off int) {
	p := l.p
	if !p.hasCode || len(p.base.entries) > 0 {
		return
	}
	code := entry{item: schema.Item{Kind: schema.Code, Bits: 8}, bits: 8, line: p.title}
	switch {
	case l.group == coreGroup && (off < 0 || off >= 16):
		p.core = true
		code.off = 8
		p.base.entries = append(p.base.entries, entry{item: schema.Item{Kind: schema.Const, Bytes: []byte{0}}, bits: 8, line: p.title})
	case l.group == coreGroup || off >= 0 && off < 8:
		return
	}
	p.base.entries = append(p.base.entries, code)
	p.base.cursor = code.off + 8
	p.keyed, p.m.Key.Code, p.m.HasKey = true, uint32(p.code), true
}

// typeIsNext reports whether the next row is at the position of the type.
func (l *lowerer) typeIsNext() bool {
	p := l.p
	return p.scope == &p.base && (len(p.base.entries) == 0 || len(p.base.entries) == 1 && p.core)
}

// typeRow sets the type of a packet from a constant at its start. It returns the item of the type.
func (l *lowerer) typeRow(value uint64, it schema.Item) schema.Item {
	p := l.p
	switch {
	case !l.typeIsNext() || len(it.Bytes) != 1:
		return it
	case len(p.base.entries) == 0 && value == 0:
		p.core = true
		return it
	}
	p.keyed, p.m.Key.Code, p.m.HasKey = true, uint32(value), true
	return schema.Item{Kind: schema.Code, Bits: 8}
}

// build makes a struct of entries. taken has the paths that are in use, including groups.
func (l *lowerer) build(entries []entry, taken map[string]bool) *schema.Struct {
	s := &schema.Struct{}
	for i := range entries {
		e := &entries[i]
		s.Wire = append(s.Wire, e.item)
		if e.field != nil {
			l.place(s, e, taken)
		}
	}
	return s
}

// place adds a field to a struct or, by its path, to a group of it.
func (l *lowerer) place(s *schema.Struct, e *entry, taken map[string]bool) {
	prefix, last := "", len(e.path)-1
	name := e.path[last]
	for k, group := range e.path[:last] {
		inner := lastGroup(s, group)
		if inner == nil && taken[prefix+group] {
			l.report(groupApart(e.line, strings.Join(e.path[:k+1], ".")))
			name = strings.Join(e.path[k:], "_")
			break
		}
		if inner == nil {
			taken[prefix+group] = true
			inner = &schema.Struct{}
			s.Fields = append(s.Fields, &schema.Field{Name: group, Type: &schema.Group{Struct: inner}, TypeText: "group", Span: e.line.span})
		}
		s, prefix = inner, prefix+group+"."
	}
	if taken[prefix+name] {
		other := name
		for n := 2; taken[prefix+other]; n++ {
			other = fmt.Sprintf("%s_%d", name, n)
		}
		if !strings.HasPrefix(name, unknownName) {
			l.report(duplicateName(e.line, name, other))
		}
		name = other
	}
	taken[prefix+name] = true
	e.field.Name = name
	s.Fields = append(s.Fields, e.field)
}

// lastGroup returns the named group at the end of a struct, or nil.
func lastGroup(s *schema.Struct, name string) *schema.Struct {
	if n := len(s.Fields); n > 0 && s.Fields[n-1].Name == name {
		if g, ok := s.Fields[n-1].Type.(*schema.Group); ok {
			return g.Struct
		}
	}
	return nil
}

// find returns the index of the entry at an offset or with a name, or -1.
func find(entries []entry, where string) int {
	off, isOff, ok := bitsOfOffset(where)
	return slices.IndexFunc(entries, func(e entry) bool {
		if ok && isOff {
			return e.off == off && e.line != nil
		}
		return e.named(where)
	})
}

// named reports whether the entry has this name, as a path or as words.
func (e *entry) named(name string) bool {
	if e.path == nil {
		return e.was != "" && e.was == strings.Join(pathOf(name), ".")
	}
	return slices.Equal(e.path, pathOf(name))
}

// sentence applies a sentence.
func (l *lowerer) sentence(ln *line) {
	if ln.says.kind == byteOrder {
		l.order = schema.Little
		if strings.EqualFold(ln.says.value.Text(), "big") {
			l.order = schema.Big
		}
		return
	}
	if l.p == nil {
		l.report(sentenceWithoutTable(ln.span))
		return
	}
	l.mention(ln.says.tail.Text())
	switch ln.says.kind {
	case repeats:
		l.repeats(ln)
	case mayEnd:
		if l.p.ends != nil {
			l.report(endsTwice(ln.span, l.p.ends.span))
			return
		}
		l.p.ends = ln
	case bySize, byValue:
		l.variant(ln)
	}
}

// remarks returns the text of a sentence's line after the sentence itself.
func (ln *line) remarks() string {
	return strings.Trim(plain(ln.says.tail.Text())+"\n"+commentText(ln.comment), "\n")
}

// variant begins a part with a condition.
func (l *lowerer) variant(ln *line) {
	p := l.p
	if len(p.variants) >= maxVariants {
		if p.rows <= maxRows {
			l.report(tooManyParts(ln.span))
		}
		p.rows = maxRows + 1 // ignore the rows below
		return
	}
	l.impliedType(-1)
	if p.base.ended != nil {
		l.afterEnd(&p.base, ln)
	}
	l.wholeBytes(&p.base, ln.span)
	v := variant{scope: scope{cursor: p.base.cursor, loose: p.base.loose, ended: p.base.ended, blurred: p.base.blurred}}
	says := &ln.says
	if says.kind == bySize {
		v.when.MinLen, _ = number(says.least)
		v.when.MaxLen = v.when.MinLen
		if !says.most.IsZero() {
			v.when.MaxLen, _ = number(says.most)
		}
		if says.more {
			v.when.MaxLen = 0
		}
		if v.when.MinLen > maxSize || v.when.MaxLen != 0 && v.when.MaxLen < v.when.MinLen || v.when.MinLen == 0 && v.when.MaxLen == 0 {
			l.report(badSizes(ln.span))
			v.never = true
		}
	} else {
		v.never = !l.byValue(ln, &v.when)
	}
	p.variants = append(p.variants, v)
	p.scope = &p.variants[len(p.variants)-1].scope
}

// byValue finds the number that a part depends on. It returns false if there is none.
func (l *lowerer) byValue(ln *line, when *schema.Variant) bool {
	p := l.p
	name := ln.says.name
	i := find(p.base.entries, name.Text())
	if i < 0 {
		l.report(noSuchRow(name, "if kind is 2:"))
	} else if n, ok := numberOf(p.base.entries[i].field); !ok {
		l.report(notANumber(name))
	} else if value, ok := valueOf(n, ln.says.value.Text()); !ok {
		l.report(badValue(ln.says.value, n))
	} else {
		when.Field, when.Value = p.base.entries[i].field, value
		return true
	}
	return false
}

// numberOf returns the type of a field that is a number with a value.
func numberOf(f *schema.Field) (*schema.Number, bool) {
	if f == nil {
		return nil, false
	}
	n, ok := f.Type.(*schema.Number)
	return n, ok && n.Kind != schema.Float
}

// repeats makes the rows from an offset the element of a list.
func (l *lowerer) repeats(ln *line) {
	s, says := l.p.scope, &ln.says
	i := find(s.entries, says.from.Text())
	switch {
	case i < 0:
		l.report(noSuchRow(says.from, "packet repeats from offset 2 until end"))
		return
	case s.ended != nil:
		l.report(endlessElement(says.name, s.ended))
		return
	case s.entries[i].item.Kind == schema.Code:
		l.report(typeRepeats(says.from))
		return
	}
	for k := range s.entries[:i] {
		if e := &s.entries[k]; e.item.Kind == schema.Count && l.userIn(s.entries[i:], e.item.Field) {
			l.report(countOutside(ln.span, e.line))
			return
		}
	}
	l.wholeBytes(s, ln.span)
	elem := slices.Clone(s.entries[i:])
	typ := &schema.List{Elem: l.build(elem, map[string]bool{})}
	name := asName(says.name.Text())
	if says.single {
		name = plural(name)
	}
	e := entry{off: elem[0].off, bits: -1, path: []string{name}, line: ln}
	e.field = &schema.Field{Name: name, Type: typ, TypeText: "list", Span: ln.span, Doc: ln.remarks()}
	e.item = schema.Item{Kind: schema.Value, Field: e.field}
	s.entries = s.entries[:i]
	switch {
	case says.times.IsZero():
		typ.Size, s.ended = schema.ToEnd, ln
	case isDigits(says.times.Text()):
		n, _ := number(says.times)
		size := sizeOf(elem)
		if n < 1 || n > maxSize || leastOf(elem)*n > maxSize*8 {
			l.report(badTimes(says.times))
			n = 1
		}
		typ.Size, typ.N, e.element = schema.Fixed, n, leastOf(elem)
		if size >= 0 {
			e.bits = size * n
		}
	default:
		typ.Size = schema.Counted
		if !l.countedBy(s, e.field, &typ.Extent, says.times, false) {
			typ.Size, typ.N = schema.Fixed, 1
		}
	}
	s.append(e)
}

// userIn reports whether entries contain a field.
func (l *lowerer) userIn(entries []entry, f *schema.Field) bool {
	return slices.ContainsFunc(entries, func(e entry) bool { return e.field == f })
}

// sizeOf returns the number of bits of entries, -1 if it depends on the data.
func sizeOf(entries []entry) int {
	sum := 0
	for _, e := range entries {
		if e.bits < 0 {
			return -1
		}
		sum += e.bits
	}
	return sum
}

// leastOf returns the minimum number of bits of entries.
func leastOf(entries []entry) int {
	sum := 0
	for i := range entries {
		sum += entries[i].least()
	}
	return sum
}

// least returns the minimum number of bits of an entry.
func (e *entry) least() int {
	if e.bits >= 0 {
		return e.bits
	}
	switch it := e.item; {
	case it.Kind != schema.Value:
		return it.Bits
	default:
		switch typ := it.Field.Type.(type) {
		case *schema.Text:
			if typ.Size == schema.Terminated {
				return 8
			}
		case *schema.List:
			if typ.Size == schema.Fixed {
				return typ.N * e.element
			}
		}
	}
	return 0
}

// plural returns the plural of a name.
func plural(name string) string {
	switch {
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	case strings.HasSuffix(name, "y") && len(name) > 1 && !strings.ContainsRune("aeiou", rune(name[len(name)-2])):
		return name[:len(name)-1] + "ies"
	}
	return name + "s"
}

// append adds an entry and advances the cursor.
func (s *scope) append(e entry) {
	s.entries = append(s.entries, e)
	switch {
	case e.bits < 0:
		s.cursor, s.loose = 0, true
	case e.off < 0 || s.loose:
		s.cursor += e.bits
	default:
		s.cursor = e.off + e.bits
	}
}

// wholeBytes pads the last byte of a scope. at is the position of the diagnostic; zero: that of the last row.
func (l *lowerer) wholeBytes(s *scope, at source.Span) {
	rest := s.cursor % 8
	if rest == 0 || len(s.entries) == 0 {
		return
	}
	for i := len(s.entries) - 1; i >= 0 && at.IsZero(); i-- {
		if ln := s.entries[i].line; ln != nil {
			at = ln.span
		}
	}
	l.hole(s, 8-rest, at)
}

// hole adds padding for bits without a row.
func (l *lowerer) hole(s *scope, bits int, at source.Span) {
	if !s.blurred {
		l.report(holeBefore(at, s, bits))
	}
	off := s.cursor
	if s.loose {
		off = -1
	}
	s.append(entry{off: off, bits: bits, item: schema.Item{Kind: schema.Pad, Bits: bits}})
}
