package subspace

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// unknownName is the prefix of the name of a row without a name.
const unknownName = "unknown"

// number parses digits. Numbers that are too large are clamped.
func number(at source.Span) (n int, ok bool) {
	return digits(at.Text())
}

func digits(s string) (n int, ok bool) {
	if !isDigits(s) {
		return 0, false
	}
	if s = strings.TrimLeft(s, "0"); len(s) > 9 {
		s = "999999999"
	}
	n, _ = strconv.Atoi("0" + s)
	return n, true
}

// bitsOfOffset parses an offset: 20, 20.5, or "?", for which isNumber is false.
func bitsOfOffset(s string) (bits int, isNumber, ok bool) {
	if s == "?" {
		return -1, false, true
	}
	whole, bit, hasBit := strings.Cut(s, ".")
	n, ok := digits(whole)
	if !ok {
		return 0, false, false
	}
	if hasBit {
		if bits, ok = digits(bit); !ok || bits > 7 {
			return 0, false, false
		}
	}
	return n*8 + bits, true, true
}

// bitsOfSize parses a size: 4, 5b, or "?", which is -1.
func bitsOfSize(s string) int {
	if s == "?" {
		return -1
	}
	if b, ok := strings.CutSuffix(s, "b"); ok {
		n, _ := digits(b)
		return n
	}
	n, _ := digits(s)
	return n * 8
}

// meaning is the meaning of a row.
type meaning struct {
	entry
	aligned bool // it starts at a byte boundary
	toEnd   bool // it extends to the end
	extent  *schema.Extent
	count   source.Span // the name of the row with its length
	above   bool        // count is "length" in "with length as above"
	isType  bool        // a constant that may be the type of the packet
	value   uint64      // of a constant
}

// row lowers a row of a table.
func (l *lowerer) row(ln *line) {
	p := l.p
	if p == nil {
		l.diags.Add(rowWithoutTitle(ln.span))
		return
	}
	s := p.scope
	if p.rows++; p.rows > maxRows {
		if p.rows == maxRows+1 {
			l.report(tooManyRows(ln.span))
		}
		return
	}
	off, isNumber, ok := bitsOfOffset(ln.offset.Text())
	bits := bitsOfSize(ln.size.Text())
	switch {
	case !ok:
		l.report(badOffset(ln.offset))
		s.blurred = true
		return
	case off > maxSize*8 || bits > maxSize*8:
		l.report(tooLarge(ln.span))
		s.blurred = true
		return
	case bits == 0:
		l.report(nothingThere(ln.size))
		return
	case s.ended != nil:
		l.afterEnd(s, ln)
		return
	}
	l.impliedType(off)
	if isNumber && !s.loose && off < s.cursor {
		l.report(overlap(ln, s))
		s.blurred = true
		return
	}
	m, ok := l.meaning(ln, bits)
	s.blurred = s.blurred || !ok
	if !l.seek(ln, off, isNumber, m.aligned) {
		return
	}
	if !ok { // reserve its bytes, so that the next row does not report a gap
		s.blurred = true
		if bits < 0 {
			s.cursor, s.loose = 0, true
		} else {
			s.append(entry{off: s.at(), bits: bits, item: schema.Item{Kind: schema.Pad, Bits: bits}, line: ln})
		}
		return
	}
	m.off, m.line = s.at(), ln
	if m.isType {
		m.item = l.typeRow(m.value, m.item)
	}
	if m.field != nil && len(m.path) == 1 && m.path[0] == "" {
		m.path[0] = unknownName
		if m.off >= 0 {
			m.path[0] += "_" + strconv.Itoa(m.off/8)
		}
	}
	if m.extent != nil && m.extent.Size == schema.Counted && !l.countedBy(s, m.field, m.extent, m.count, m.above) {
		m.extent.Size, m.toEnd = schema.ToEnd, true
		s.blurred = true // the following offsets are unknown
	}
	s.append(m.entry)
	if m.toEnd {
		s.ended = ln
	}
}

// afterEnd reports the first row after a part that extends to the end.
func (l *lowerer) afterEnd(s *scope, ln *line) {
	if !s.blurred {
		l.report(afterEnd(ln.span, s.ended.span))
	}
	s.blurred = true
}

// at returns the offset of the cursor, -1 if it depends on the data.
func (s *scope) at() int {
	if s.loose {
		return -1
	}
	return s.cursor
}

// seek moves the cursor to the offset of a row. It returns false if the offset is invalid.
func (l *lowerer) seek(ln *line, off int, isNumber, aligned bool) bool {
	s := l.p.scope
	switch {
	case isNumber && s.loose:
		if !s.blurred {
			l.report(offsetUnknown(ln.offset))
		}
	case isNumber && off > s.cursor:
		l.hole(s, off-s.cursor, ln.offset)
	case !isNumber && aligned && s.cursor%8 != 0:
		l.hole(s, 8-s.cursor%8, ln.offset)
	}
	s.blurred = false
	if aligned && s.cursor%8 != 0 {
		l.report(notWholeByte(ln.offset))
		s.blurred = true
		return false
	}
	return true
}

// countedBy makes a row before a part of variable size the length of that part.
func (l *lowerer) countedBy(s *scope, user *schema.Field, extent *schema.Extent, at source.Span, above bool) bool {
	i := -1
	if above {
		for k := range s.entries {
			if e := &s.entries[k]; e.field != nil && strings.EqualFold(lastWord(e.path), at.Text()) {
				i = k
			}
		}
		if i < 0 {
			i = len(s.entries) - 1
		}
	} else {
		i = find(s.entries, at.Text())
	}
	if i < 0 {
		l.report(noCount(at))
		return false
	}
	e := &s.entries[i]
	n, ok := numberOf(e.field)
	switch {
	case e.item.Kind == schema.Count:
		l.report(countTwice(at, e.line))
		return false
	case !ok || n.Kind != schema.Unsigned || n.Bits > 32:
		l.report(badCount(at, e))
		return false
	}
	extent.Min, extent.Max = n.Min, n.Max
	e.item = schema.Item{Kind: schema.Count, Field: user, Bits: n.Bits, Order: n.Order}
	e.was = strings.Join(e.path, ".")
	e.field, e.path = nil, nil
	return true
}

// lastWord returns the last word of a name.
func lastWord(path []string) string {
	name := path[len(path)-1]
	return name[strings.LastIndexByte(name, '_')+1:]
}

// constant matches a comment such as "type 0x0E", "Type byte: 0x0E" or "0x0E type".
var constant = regexp.MustCompile(`^(?:(\w+)(?:\s+[Bb]yte)?[\s:=]+)?(0[xX][0-9A-Fa-f]+)(?:\s+[Tt]ype)?$`)

// isTypeName reports whether a name denotes the type of the packet.
func isTypeName(name string) bool {
	return name == "" || strings.EqualFold(name, "type") || strings.EqualFold(name, "type byte")
}

// meaning lowers the part of a row after the size.
func (l *lowerer) meaning(ln *line, bits int) (m meaning, ok bool) {
	m.bits = bits
	word, rest := space.CutWord(ln.rest)
	t, wrong, isType := readType(word.Text())
	switch {
	case wrong != "":
		l.report(badType(word, wrong))
		return m, false
	case isType && t.meant != "":
		l.report(otherType(word, t.meant))
	}
	if isType {
		return l.typed(ln, t, word, rest, m)
	}
	text := plain(ln.rest.Text())
	if c := constant.FindStringSubmatch(text); c != nil {
		m.isType = isTypeName(c[1])
		return l.constant(ln, c[2], m)
	}
	what := l.describe(ln.rest)
	if what.name != "" && strings.Join(pathOf(what.name), "_") != strings.ReplaceAll(what.name, " ", "_") {
		what.doc = text // the name is not the complete text
	}
	if bits == 8 && what.name != "" && isTypeName(what.name) && l.p.hasCode && l.typeIsNext() {
		m.isType = true
		return l.constant(ln, fmt.Sprintf("%#x", l.p.code), m)
	}
	isNumber := bits == 8 || bits == 16 || bits == 32 || bits == 64
	if isNumber && isWord(what.name) || bits > 0 && bits < 64 && bits%8 != 0 {
		return l.scalar(ln, rowType{is: unsignedType, bits: bits}, what, m)
	}
	b := &schema.Blob{}
	if bits < 0 && strings.EqualFold(what.name, "payload") {
		l.p.payloads = append(l.p.payloads, b)
	}
	m, ok = l.contents(ln, what, b, &b.Extent, m)
	m.typed("bytes", what, ln)
	return m, ok
}

// isWord reports whether a comment has a name: "??" does not.
func isWord(s string) bool { return asName(s) != "" }

// described is the description of a row without its type.
type described struct {
	name   string      // the words before a parenthesis, with single spaces
	count  source.Span // "length" in "with length as above"
	remark string      // from the first parenthesis
	doc    string
}

// describe splits the part after a type.
func (l *lowerer) describe(at source.Span) described {
	var d described
	name := at
	if i := strings.IndexByte(at.Text(), '('); i >= 0 {
		name, d.remark = space.Trimmed(at.Sub(0, i)), plain(at.Text()[i:])
	}
	d.doc = inParentheses(d.remark)
	if m := asAbove.FindStringSubmatchIndex(name.Text()); m != nil {
		d.count = name.Sub(m[4], m[5])
		d.doc = strings.TrimSpace(plain(name.Text()[m[6]:m[7]]) + " " + d.doc)
		name = name.Sub(m[2], m[3])
	}
	d.name = plain(name.Text())
	return d
}

// dotted matches a name with groups.
var dotted = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(\s[^.]*)?$`)

// maxGroups is the maximum nesting depth of groups.
const maxGroups = 8

// pathOf returns the groups and the name of a field.
func pathOf(name string) []string {
	if !dotted.MatchString(name) || strings.Count(name, ".") > maxGroups {
		return []string{asName(name)}
	}
	parts := strings.Split(name, ".")
	for i := range parts {
		if parts[i] = asName(parts[i]); parts[i] == "" {
			return []string{asName(name)}
		}
	}
	return parts
}

// typed sets the name and description of the field of a meaning.
func (m *meaning) typed(typeText string, what described, ln *line) {
	if m.field == nil {
		return
	}
	m.field.TypeText, m.field.Span = typeText, ln.span
	m.field.Doc = what.doc
	if c := commentText(ln.comment); c != "" {
		m.field.Doc = strings.TrimPrefix(m.field.Doc+"\n"+c, "\n")
	}
	m.path = pathOf(what.name)
	m.field.Name = m.path[len(m.path)-1]
}

// typed lowers a row with a type.
func (l *lowerer) typed(ln *line, t rowType, word, rest source.Span, m meaning) (meaning, bool) {
	what := l.describe(rest)
	ok := true
	switch {
	case t.is == padType:
		if m.bits < 0 {
			l.report(needsSize(ln.size, "pad needs a fixed size"))
			return m, false
		}
		m.item = schema.Item{Kind: schema.Pad, Bits: m.bits}
		return m, true
	case t.is == constType:
		value, _ := space.CutWord(rest)
		return l.constant(ln, value.Text(), m)
	case t.isArray:
		m, ok = l.array(ln, t, word, what, m)
	case t.is == textType:
		typ := &schema.Text{Charset: l.encoding}
		m, ok = l.contents(ln, what, typ, &typ.Extent, m)
	case t.is == cstrType:
		typ := &schema.Text{Charset: l.encoding, Extent: schema.Extent{Size: schema.Terminated}}
		if m.bits >= 0 {
			l.report(fixedCstr(ln.size, word))
			return m, false
		}
		m.aligned = true
		m.carry(typ)
	case t.is == bytesType, t.is == nestedType:
		typ := &schema.Blob{Nested: t.is == nestedType}
		m, ok = l.contents(ln, what, typ, &typ.Extent, m)
	default:
		return l.scalar(ln, t, what, m)
	}
	if ok && what.name == "" && (t.is == textType || t.is == cstrType || t.is == bytesType || t.is == nestedType) && !t.isArray {
		what.name = map[typeKind]string{textType: "text", cstrType: "text", bytesType: "bytes", nestedType: "packet"}[t.is]
	}
	if ok && !what.count.IsZero() && m.count.IsZero() {
		l.report(unusedCount(what.count))
	}
	m.typed(word.Text(), what, ln)
	return m, ok
}

// carry makes the row a field of a type.
func (m *meaning) carry(t schema.Type) {
	m.field = &schema.Field{Type: t}
	m.item = schema.Item{Kind: schema.Value, Field: m.field}
}

// contents lowers text or bytes: of a fixed size, with a length elsewhere, or to the end.
func (l *lowerer) contents(ln *line, what described, t schema.Type, e *schema.Extent, m meaning) (meaning, bool) {
	m.aligned = true
	m.carry(t)
	m.extent = e
	switch {
	case m.bits >= 0 && m.bits%8 != 0:
		l.report(bitsOfBytes(ln.size))
		return m, false
	case m.bits >= 0:
		e.Size, e.N = schema.Fixed, m.bits/8
	case !what.count.IsZero():
		e.Size, m.count, m.above = schema.Counted, what.count, true
	default:
		e.Size, m.toEnd = schema.ToEnd, true
	}
	return m, true
}

// constant lowers constant bytes.
func (l *lowerer) constant(ln *line, text string, m meaning) (meaning, bool) {
	m.aligned = true
	value, ok := hexNumber(text)
	switch {
	case !ok:
		l.report(badConstant(ln.rest))
		return m, false
	case m.bits < 0 || m.bits%8 != 0:
		l.report(needsSize(ln.size, "a constant needs a fixed size"))
		return m, false
	case m.bits < 64 && value>>m.bits != 0:
		l.report(constantTooLarge(ln.rest, m.bits/8))
		return m, false
	case m.bits > 64:
		l.report(needsSize(ln.size, "a constant has at most 8 bytes"))
		return m, false
	}
	m.value = value
	m.item = schema.Item{Kind: schema.Const, Bytes: binary.LittleEndian.AppendUint64(nil, value)[:m.bits/8]}
	if l.order == schema.Big {
		for i := range m.item.Bytes {
			m.item.Bytes[i] = byte(value >> (m.bits - 8 - 8*i))
		}
	}
	return m, true
}

// scalar lowers a number or a boolean.
func (l *lowerer) scalar(ln *line, t rowType, what described, m meaning) (meaning, bool) {
	want := t.bits
	if t.is == boolType {
		want = min(max(m.bits, 1), 64)
	}
	if m.bits != want {
		l.report(otherSize(ln.size, t, want))
		return m, false
	}
	n := t.scalar(m.bits, l.order)
	m.aligned = n.Order == schema.Big
	m.carry(n)
	if l.known(ln, what, n) && what.doc == inParentheses(what.remark) {
		what.doc = "" // it is part of the type
	}
	m.typed(typeName(t, m.bits), what, ln)
	if !what.count.IsZero() {
		l.report(unusedCount(what.count))
	}
	return m, true
}

// typeName returns the text of a type.
func typeName(t rowType, bits int) string {
	if t.is == boolType {
		return "bool"
	}
	name := map[typeKind]string{unsignedType: "u", signedType: "i", floatType: "f"}[t.is] + strconv.Itoa(bits)
	if t.big {
		name += "be"
	}
	return name
}

// array lowers consecutive values.
func (l *lowerer) array(ln *line, t rowType, word source.Span, what described, m meaning) (meaning, bool) {
	m.aligned = true
	list := &schema.List{Bare: true}
	elem := &schema.Field{TypeText: strings.TrimSuffix(word.Text(), "["+t.length+"]"), Span: ln.span}
	width := t.bits // bits of an element, -1 if they depend on the data
	switch t.is {
	case cstrType:
		elem.Type, width = &schema.Text{Charset: l.encoding, Extent: schema.Extent{Size: schema.Terminated}}, -1
	case boolType:
		elem.Type, width = t.scalar(8, l.order), 8
	default:
		elem.Type = t.scalar(t.bits, l.order)
	}
	if width%8 != 0 && width > 0 {
		l.report(bitsOfArray(word))
		return m, false
	}
	list.Elem = &schema.Struct{Fields: []*schema.Field{elem}, Wire: []schema.Item{{Kind: schema.Value, Field: elem}}}
	m.carry(list)
	m.extent = &list.Extent
	n, fixed := digits(t.length)
	switch {
	case !fixed && m.bits >= 0 && t.length == "" && width > 0 && m.bits%width == 0:
		list.N = m.bits / width
	case fixed && (n < 1 || n > maxSize || n*max(width, 8)/8 > maxSize):
		l.report(badTimes(word))
		return m, false
	case fixed && (width > 0 && m.bits != n*width || width < 0 && m.bits >= 0):
		l.report(otherArraySize(ln.size, n, width))
		return m, false
	case fixed:
		list.N, m.element = n, 8
	case m.bits >= 0:
		l.report(sizedArray(ln.size, word))
		return m, false
	case t.length != "":
		list.Size = schema.Counted
		m.count = word.Sub(strings.IndexByte(word.Text(), '[')+1, len(word.Text())-1)
	case !what.count.IsZero():
		list.Size, m.count, m.above = schema.Counted, what.count, true
	default:
		list.Size, m.toEnd = schema.ToEnd, true
	}
	return m, true
}

// parentheses matches the remarks of a row.
var parentheses = regexp.MustCompile(`\(([^()]*)\)`)

// legalRange matches a remark such as "0..31".
var legalRange = regexp.MustCompile(`^(-?\d+|0[xX][0-9A-Fa-f]+)?\s*\.\.\s*(-?\d+|0[xX][0-9A-Fa-f]+)?$`)

// valueName matches a remark such as "vie = 0x01".
var valueName = regexp.MustCompile(`^([A-Za-z_][\w\s-]*?)\s*=\s*(-?\d+|0[xX][0-9A-Fa-f]+)$`)

// known parses the range and the names of values in the remarks of a number, and reports whether the remarks have no other text.
func (l *lowerer) known(ln *line, what described, n *schema.Number) bool {
	all := parentheses.ReplaceAllString(what.remark, "") == ""
	for _, remark := range parentheses.FindAllStringSubmatch(what.remark, -1) {
		text := strings.TrimSpace(remark[1])
		if r := legalRange.FindStringSubmatch(text); r != nil && n.Kind != schema.Float && r[1]+r[2] != "" {
			lo, okLo := limit(n, r[1])
			hi, okHi := limit(n, r[2])
			if !okLo || !okHi || lo != nil && hi != nil && above(n, lo, hi) {
				l.report(badRange(ln.rest, text, n))
				continue
			}
			n.Min, n.Max = lo, hi
			continue
		}
		all = l.names(ln, text, n) && all
	}
	return all
}

// names parses the names of values, and reports whether a remark has no other text.
func (l *lowerer) names(ln *line, text string, n *schema.Number) bool {
	if n.Kind == schema.Float || n.Kind == schema.Bool || !strings.Contains(text, "=") {
		return false
	}
	var values []schema.EnumValue
	for part := range strings.SplitSeq(text, ",") {
		v := valueName.FindStringSubmatch(strings.TrimSpace(part))
		if v == nil {
			return false
		}
		bits, ok := valueOf(n, v[2])
		if !ok {
			l.report(badName(ln.rest, v[1], n))
			return false
		}
		values = append(values, schema.EnumValue{Name: asName(v[1]), Value: bits})
	}
	n.Enum = &schema.Enum{Values: values}
	return true
}

// limit parses one bound of a range; nil if there is none.
func limit(n *schema.Number, text string) (*schema.Limit, bool) {
	if text == "" {
		return nil, true
	}
	bits, ok := valueOf(n, text)
	if !ok {
		return nil, false
	}
	if n.Kind == schema.Signed {
		return &schema.Limit{Int: n.Int(bits)}, true
	}
	return &schema.Limit{Uint: bits}, true
}

// above reports whether lo is above hi.
func above(n *schema.Number, lo, hi *schema.Limit) bool {
	if n.Kind == schema.Signed {
		return lo.Int > hi.Int
	}
	return lo.Uint > hi.Uint
}

// valueOf returns the bits of a value of a number: a decimal or hexadecimal number, or one of its names.
func valueOf(n *schema.Number, text string) (bits uint64, ok bool) {
	if n.Enum != nil {
		for _, v := range n.Enum.Values {
			if strings.EqualFold(v.Name, text) {
				return v.Value, true
			}
		}
	}
	mask := schema.Mask(n.Bits)
	if h, ok := hexNumber(text); ok {
		return h, h&mask == h
	}
	if n.Kind == schema.Signed {
		v, err := strconv.ParseInt(text, 10, 64)
		return uint64(v) & mask, err == nil && v<<(64-n.Bits)>>(64-n.Bits) == v
	}
	v, err := strconv.ParseUint(text, 10, 64)
	return v, err == nil && v&mask == v
}
