package filter

import (
	"math"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Verdict is the result of judging a frame.
type Verdict uint8

// The verdicts.
const (
	No Verdict = iota
	Yes
	NeedsRecord // the message must be decoded to decide
)

func (v Verdict) String() string { return [...]string{"no", "yes", "needs-record"}[v] }

func verdict(yes bool) Verdict {
	if yes {
		return Yes
	}
	return No
}

// cond is a condition compiled for one message. It is immutable.
type cond struct {
	op    condOp
	all   bool // every value must match, not any
	not   bool // a value matches if it is not in the set
	needs bool // needs the record

	kids  []*cond // cAnd, cOr, cNot
	a, b  *side
	order cmpOp // cOrder, cJoin, cFixed
	want  value // cOrder, cFixed
	set   *set
	find  *finder
	near  *near
	re    *expression
	site  *codec.Site // cFixed
	prog  *codec.Program
	conv  *conv
}

type condOp uint8

const (
	cFalse condOp = iota
	cTrue
	cAnd
	cOr
	cNot
	cXor   // of any number of conditions: an odd number is true
	cFixed // one number at a fixed offset against another
	cOrder // a against a value
	cJoin  // a against b, both of which may have several values
	cIn    // a in a set
	cFind  // a contains bytes, or text
	cNear  // a contains a float within a tolerance
	cMatch // a matches a regular expression
	cMatchBytes
	cTruth  // a is not 0
	cExists // a is present
)

var (
	always = &cond{op: cTrue}
	never  = &cond{op: cFalse}
)

// side is an expression, which has a value for each combination of values of its leaves.
type side struct {
	root   *expr
	leaves []*leaf
	inner  int  // slots of the sides inside, which follow those of the leaves
	state  bool // uses ffState or ffStatus, which may require the record
	needs  bool // a leaf requires it
}

// leaf is a source of several values.
type leaf struct {
	kind   leafKind
	layer  *transport.LayerField // leafLayers
	sites  []siteConv
	consts []value
}

type leafKind uint8

const (
	leafSites  leafKind = iota
	leafInfo            // all texts, and the note
	leafErrors          // errors
	leafConsts
	leafTags   // tags of the note
	leafVia    // layers around the frame
	leafFrom   // numbers of packets
	leafLayers // core.type and other fields of layers
	leafIP     // addresses of both ends
	leafPort   // ports of both ends
)

type siteConv struct {
	site *codec.Site
	conv *conv
}

// expr computes one value from the current values of its leaves.
type expr struct {
	op    exprOp
	field frameField
	leaf  int // xLeaf: index into the side's leaves
	kind  kind
	kids  [2]*expr
	val   value
	sites []siteConv // xCount
	slice bracket
	read  reader
	most  *extreme // xMost
}

// extreme is the greatest, or least, of the values of several sides.
type extreme struct {
	order cmpOp
	sides []*side
	slots []int // of each side, from the first slot of the side around it
}

type exprOp uint8

const (
	xConst exprOp = iota
	xFrame
	xFrameText
	xCodeName // the name of a code without a definition
	xState
	xStatus
	xLeaf
	xSlice
	xByte // one byte as a number
	xArith
	xLower
	xUpper
	xHex
	xLen
	xCount
	xCountFrame // of via and from
	xRead
	xUTF16
	xMost
	xAbs
	xDigits
)

// reader describes a number in bytes.
type reader struct {
	size   int // the most, if the number has a variable size
	of     schema.Varint
	big    bool
	signed bool
	float  bool
}

// conv converts the data at a site to a value.
type conv struct {
	kind     convKind
	bits     uint
	scale    float64
	add      int64
	bitfield *schema.Bitfield
	part     string
}

type convKind uint8

const (
	convUint convKind = iota
	convInt
	convFloat
	convBool
	convPart  // of a bitfield
	convUnits // of a text, bytes or a list
	convText
	convBytes
	convUUID // the text of a UUID
	convLong // the text of an integer of up to 128 bits
	convRaw  // the bytes of any field
	convSpan // the bytes of a group
)

// number converts bits to a value.
func (c *conv) number(raw uint64) value {
	switch c.kind {
	case convInt:
		i := schema.SignExtend(raw, int(c.bits))
		if c.scale != 0 {
			return floatValue(float64(i) * c.scale)
		}
		return intValue(i + c.add)
	case convFloat:
		f := schema.BitsFloat(raw, int(c.bits))
		if c.scale != 0 {
			f *= c.scale
		}
		return floatValue(f)
	case convBool:
		return boolValue(raw != 0)
	case convPart:
		return uintValue(partOf(c.bitfield, c.part, 0, raw))
	}
	if c.scale != 0 {
		return floatValue(float64(raw) * c.scale)
	}
	if c.add != 0 && raw <= math.MaxInt64 {
		return intValue(int64(raw) + c.add)
	}
	return uintValue(raw)
}

// partOf returns a part of a bitfield, 0 if its form has no such part.
func partOf(t *schema.Bitfield, name string, high, raw uint64) uint64 {
	p := t.Form(raw).Part(name)
	switch {
	case p == nil:
		return 0
	case p.Kind == schema.Bool:
		return min(p.In(high, raw), 1)
	}
	return p.In(high, raw)
}

// machine is the memory of an evaluation, reused by the next.
type machine struct {
	filter  *Filter
	frame   *Frame
	rec     *codec.Record // nil if there is none
	without Verdict       // verdict of a condition that needs the record, if there is none
	slots   []slot
	text    []byte
	vals    []value
	cur     codec.Cursor
	runes   runes
	meter
}

// slot is the state of a leaf.
type slot struct {
	cur  codec.Cursor
	next int // index of the next site, constant or problem
	open bool
	val  value
	text []byte
}

func (m *machine) judge(c *cond) Verdict {
	switch c.op {
	case cFalse:
		return No
	case cTrue:
		return Yes
	case cNot:
		switch m.judge(c.kids[0]) {
		case No:
			return Yes
		case Yes:
			return No
		}
		return NeedsRecord
	case cXor:
		out := No
		for _, kid := range c.kids {
			switch m.judge(kid) {
			case NeedsRecord:
				return NeedsRecord
			case Yes:
				out = verdict(out == No)
			}
		}
		return out
	case cAnd:
		out := Yes
		for _, kid := range c.kids {
			switch m.judge(kid) {
			case No:
				return No
			case NeedsRecord:
				out = NeedsRecord
			}
		}
		return out
	case cOr:
		out := No
		for _, kid := range c.kids {
			switch m.judge(kid) {
			case Yes:
				return Yes
			case NeedsRecord:
				out = NeedsRecord
			}
		}
		return out
	}
	if c.op == cFixed && m.rec == nil && m.without == NeedsRecord {
		if raw, ok := c.site.NumberIn(c.prog, m.frame.Bytes); ok {
			return verdict(c.numberHolds(raw) != c.not)
		}
	}
	if m.rec == nil && (c.needs || c.a.state && !m.stateKnown() || c.b != nil && c.b.state && !m.stateKnown()) {
		return m.without
	}
	if c.op == cFixed {
		if raw, ok := c.site.Number(m.rec); ok {
			return verdict(c.numberHolds(raw) != c.not)
		}
		// The message is truncated, or the number is not at a fixed offset.
	}
	if c.op == cJoin {
		return verdict(m.join(c))
	}
	return verdict(m.values(c))
}

// numberHolds compares a number with the wanted one.
func (c *cond) numberHolds(raw uint64) bool {
	if c.conv.kind == convUint && c.conv.scale == 0 && c.conv.add == 0 && c.want.kind == vInt && int64(c.want.bits) >= 0 {
		switch c.order {
		case opEq:
			return raw == c.want.bits
		case opGt:
			return raw > c.want.bits
		case opGe:
			return raw >= c.want.bits
		case opLt:
			return raw < c.want.bits
		case opLe:
			return raw <= c.want.bits
		}
	}
	v := c.conv.number(raw)
	return holds(c.order, &v, &c.want)
}

// stateKnown reports whether the state of the frame is known without its record.
func (m *machine) stateKnown() bool {
	_, ok := m.frame.state(nil)
	return ok || m.without == No
}

// values evaluates a condition over the values of one side.
func (m *machine) values(c *cond) bool {
	m.text = m.text[:0]
	w := m.start(c.a, 0)
	any := false
	for {
		v, ok := m.next(&w)
		if !ok {
			return c.all && any
		}
		any = true
		if m.fits(c, &v) != c.all {
			return !c.all
		}
	}
}

// fits reports whether one value satisfies the condition.
func (m *machine) fits(c *cond, v *value) bool {
	switch c.op {
	case cFixed, cOrder:
		return holds(c.order, v, &c.want) != c.not
	case cIn:
		return c.set.has(v) != c.not
	case cFind:
		return m.spend(len(v.b)) && c.find.in(v.b)
	case cNear:
		return m.spend(len(v.b)) && c.near.in(v.b)
	case cMatch, cMatchBytes:
		return m.match(c.re, v.b)
	case cTruth:
		return v.kind == vFloat && v.f != 0 || v.kind != vFloat && v.bits != 0 || v.rank() > 0 && len(v.b) > 0
	}
	return true
}

// Bounds of comparisons.
const (
	maxPairs  = 1 << 16 // combinations of the values of one side's leaves
	maxValues = 1 << 16 // values of the second side of a comparison
)

// walk iterates over the values of a side.
type walk struct {
	side *side
	base int // its first slot
	mark int // of the text buffer
	left int
	open bool
}

func (m *machine) start(s *side, base int) walk {
	for len(m.slots) < base+s.slots() {
		m.slots = append(m.slots, slot{})
	}
	w := walk{side: s, base: base, mark: len(m.text), left: maxPairs}
	return w
}

func (m *machine) next(w *walk) (value, bool) {
	for {
		if !m.step(w) {
			return value{}, false
		}
		m.text = m.text[:w.mark]
		if !m.spend(1) {
			return value{}, false
		}
		if v, ok := m.compute(w.side.root, w.base); ok {
			return v, true
		}
		if len(w.side.leaves) == 0 {
			return value{}, false
		}
	}
}

// step advances the leaves to their next combination, the last one fastest.
func (m *machine) step(w *walk) bool {
	n := len(w.side.leaves)
	if !w.open {
		w.open = true
		for i := range n {
			m.slots[w.base+i].restart()
			if !m.advance(w.base+i, w.side.leaves[i]) {
				return false
			}
		}
		return true
	}
	if n > 1 {
		if w.left--; w.left <= 0 {
			return false
		}
	}
	for i := n - 1; i >= 0; i-- {
		if m.advance(w.base+i, w.side.leaves[i]) {
			return true
		}
		m.slots[w.base+i].restart()
		if i > 0 && !m.advance(w.base+i, w.side.leaves[i]) {
			return false
		}
	}
	return false
}

func (s *slot) restart() { s.next, s.open = 0, false }

// advance moves a leaf to its next value.
func (m *machine) advance(i int, l *leaf) bool {
	s := &m.slots[i]
	switch l.kind {
	case leafConsts:
		if s.next >= len(l.consts) {
			return false
		}
		s.val = l.consts[s.next]
		s.next++
		return true
	case leafErrors:
		return m.problem(s)
	case leafTags:
		return m.tag(s)
	case leafIP, leafPort:
		return m.ends(s, l)
	case leafVia, leafFrom, leafLayers:
		return m.layer(s, l)
	}
	for m.rec != nil {
		if s.open {
			if s.cur.Next() {
				s.take(l.sites[s.next-1].conv, m.rec)
				m.spend(len(s.val.b))
				return true
			}
			s.open = false
		}
		if s.next >= len(l.sites) {
			break
		}
		s.cur.Start(m.rec, l.sites[s.next].site)
		s.open = true
		s.next++
	}
	if l.kind == leafInfo && s.next <= len(l.sites) {
		s.next = len(l.sites) + 1 // the note is last, once
		s.text = append(s.text[:0], m.frame.note()...)
		s.val = textValue(s.text)
		return len(s.text) > 0
	}
	return false
}

// problem moves to the next error: that of a transport, or the codes of the problems.
func (m *machine) problem(s *slot) bool {
	name := ""
	switch {
	case m.frame.Kind == transport.Problem && s.next == 0:
		name = m.frame.note()
		if name == "" {
			name = transport.Problem.String()
		}
	case m.frame.Kind == transport.Problem || m.rec == nil || m.frame.Message == nil:
		return false
	case s.next < len(m.rec.Problems):
		name = m.rec.Problems[s.next].Code.String()
	default:
		return false
	}
	s.next++
	return m.say(s, name)
}

// take sets the value from the current field of the cursor.
func (s *slot) take(c *conv, rec *codec.Record) {
	switch c.kind {
	case convText:
		s.text = s.cur.AppendText(s.text[:0])
		s.val = textValue(s.text)
	case convBytes:
		s.val = bytesValue(s.cur.Bytes())
	case convUUID:
		s.text = codec.AppendUUID(s.text[:0], s.cur.Bytes())
		s.val = textValue(s.text)
	case convLong:
		s.text = codec.AppendLongText(s.text[:0], s.cur.High(), s.cur.Raw)
		s.val = textValue(s.text)
	case convPart:
		s.val = uintValue(partOf(c.bitfield, c.part, s.cur.High(), s.cur.Raw))
	case convRaw:
		s.text = s.cur.AppendRaw(s.text[:0])
		s.val = bytesValue(s.text)
	case convSpan:
		r := s.cur.Range // its first and last byte may be partial
		s.val = bytesValue(rec.Data[r.Off/8 : (r.End()+7)/8])
	case convUnits:
		s.val = uintValue(s.cur.Raw)
	default:
		s.val = c.number(s.cur.Raw)
	}
}

// compute evaluates an expression with the current values of the leaves. ok is false if it has no value.
func (m *machine) compute(e *expr, base int) (value, bool) {
	switch e.op {
	case xConst:
		return e.val, true
	case xFrame:
		return e.field.value(m.frame)
	case xFrameText:
		return m.copyText(e.field.text(m.frame))
	case xCodeName:
		if !m.frame.HasKey || m.frame.Message != nil {
			if m.frame.Message != nil {
				return m.copyText(m.frame.Message.Name)
			}
			return value{}, false
		}
		return m.copyText(m.filter.names[m.frame.Key.Code])
	case xState:
		s, ok := m.frame.state(m.rec)
		return intValue(int64(s)), ok
	case xStatus:
		s, ok := m.frame.status(m.rec)
		return intValue(int64(s)), ok
	case xLeaf:
		return m.slots[base+e.leaf].val, true
	case xCount:
		return m.count(e.sites)
	case xCountFrame:
		return intValue(e.field.count(m.frame)), true
	case xMost:
		return m.extreme(e.most, base)
	}
	a, ok := m.compute(e.kids[0], base)
	if !ok || !m.spend(len(a.b)) {
		return value{}, false
	}
	from := len(m.text)
	switch e.op {
	case xArith:
		b, ok := m.compute(e.kids[1], base)
		if !ok {
			return value{}, false
		}
		return arithmetic(e.kind, &a, &b)
	case xSlice:
		if e.slice.form != several {
			a.b, ok = cut(a, &e.slice)
			return a, ok
		}
		for i := range e.slice.more {
			part, ok := cut(a, &e.slice.more[i])
			if !ok || !m.spend(len(a.b)) {
				return value{}, false
			}
			m.text = append(m.text, part...)
		}
		a.b = m.text[from:]
		return a, true
	case xByte:
		if a.b, ok = cut(a, &e.slice); !ok {
			return value{}, false
		}
		return intValue(int64(a.b[0])), true
	case xLower, xUpper:
		m.text = appendCase(m.text, a.b, e.op == xLower)
		return textValue(m.text[from:]), true
	case xHex:
		if a.kind == vFloat {
			return value{}, false
		}
		m.text = appendHex(m.text, &a)
		return textValue(m.text[from:]), true
	case xLen:
		if a.kind == vText {
			return intValue(int64(characters(a.b))), true
		}
		return intValue(int64(len(a.b))), true
	case xRead:
		if e.read.of != schema.Sized {
			v, n := codec.ReadVarint(a.b, e.read.of, 64)
			if e.read.signed {
				return intValue(int64(v)), n > 0
			}
			return uintValue(v), n > 0
		}
		if len(a.b) < e.read.size {
			return value{}, false
		}
		return e.read.from(a.b), true
	case xUTF16:
		m.text = appendUTF16(m.text, a.b)
		return bytesValue(m.text[from:]), true
	case xAbs:
		if a.kind == vInt && int64(a.bits) < 0 {
			return uintValue(-a.bits), true
		}
		a.f = math.Abs(a.f)
		return a, true
	case xDigits:
		if a.kind == vFloat {
			return value{}, false
		}
		if a.kind == vInt {
			m.text = strconv.AppendInt(m.text, int64(a.bits), 10)
		} else {
			m.text = strconv.AppendUint(m.text, a.bits, 10)
		}
		return textValue(m.text[from:]), true
	}
	return value{}, false
}

// extreme returns the greatest or least value of several sides.
func (m *machine) extreme(e *extreme, base int) (best value, found bool) {
	for i, s := range e.sides {
		w := m.start(s, base+e.slots[i])
		for v, ok := m.next(&w); ok; v, ok = m.next(&w) {
			if !found || holds(e.order, &v, &best) || best.kind == vFloat && best.f != best.f {
				best, found = v, true
			}
		}
	}
	return best, found
}

func (m *machine) copyText(s string) (value, bool) {
	from := len(m.text)
	m.text = append(m.text, s...)
	return textValue(m.text[from:]), s != ""
}

// count returns the number of values of a field, or of elements of a list.
func (m *machine) count(sites []siteConv) (value, bool) {
	if m.rec == nil {
		return value{}, false
	}
	n := uint64(0)
	for i := range sites {
		for m.cur.Start(m.rec, sites[i].site); m.cur.Next() && m.spend(1); {
			if sites[i].conv.kind == convUnits {
				n += m.cur.Raw
			} else {
				n++
			}
		}
	}
	return uintValue(n), true
}

func (r *reader) from(b []byte) value {
	v := readNumber(b[:r.size], r.big)
	switch {
	case r.float:
		return floatValue(schema.BitsFloat(v, 8*r.size))
	case r.signed:
		return intValue(schema.SignExtend(v, 8*r.size))
	}
	return uintValue(v)
}

// join compares each value of one side with each of the other, without iterating over the pairs.
func (m *machine) join(c *cond) bool {
	m.vals, m.text = m.vals[:0], m.text[:0]
	nb := c.a.slots()
	w := m.start(c.b, nb)
	for len(m.vals) < maxValues {
		v, ok := m.next(&w)
		if !ok {
			break
		}
		if v.kind == vFloat && v.f != v.f && c.order != opNe { // NaN compares with nothing
			if c.all {
				return false
			}
			continue
		}
		if v.rank() > 0 { // the next value overwrites its bytes
			from := len(m.text)
			m.text = append(m.text, v.b...)
			v.b = m.text[from:]
		}
		w.mark = len(m.text)
		m.vals = append(m.vals, v)
	}
	if len(m.vals) == 0 {
		return false
	}
	slices.SortFunc(m.vals, order)
	first, last := &m.vals[0], &m.vals[len(m.vals)-1]
	found := false
	for w = m.start(c.a, 0); ; {
		v, ok := m.next(&w)
		if !ok {
			return c.all && found
		}
		found = true
		fits := false
		switch {
		case c.order == opEq && c.all: // equal to all of them, so all are equal
			fits = equal(&v, first) && equal(&v, last)
		case c.order == opNe && !c.all:
			fits = !equal(&v, first) || !equal(&v, last)
		case c.order == opEq, c.order == opNe:
			_, has := slices.BinarySearchFunc(m.vals, v, order)
			fits = has == (c.order == opEq)
		case c.all:
			fits = holds(c.order, &v, first) && holds(c.order, &v, last)
		default:
			fits = holds(c.order, &v, first) || holds(c.order, &v, last)
		}
		if fits != c.all {
			return !c.all
		}
	}
}

// order is a total order: by kind, then by value; NaN is first.
func order(a, b value) int {
	if d := a.rank() - b.rank(); d != 0 {
		return d
	}
	d, ok := compare(&a, &b)
	if ok {
		return d
	}
	na, nb := a.kind == vFloat && a.f != a.f, b.kind == vFloat && b.f != b.f
	switch {
	case na && !nb:
		return -1
	case nb && !na:
		return 1
	}
	return 0
}

// cut returns the part of a text or of bytes that a bracket selects. ok is false if it is not complete.
func cut(v value, s *bracket) ([]byte, bool) {
	from, last := s.at, s.to
	if from < 0 { // from the end
		size := len(v.b)
		if v.kind == vText {
			size = characters(v.b)
		}
		if from, last = from+size, last+size; from < 0 {
			return nil, false
		}
	}
	to := from + 1
	switch s.form {
	case length:
		to = from + s.to
	case upTo:
		to = last + 1
	case onward:
		to = math.MaxInt
	}
	if v.kind != vText {
		if s.form == onward {
			to = len(v.b)
		}
		if from > to || to > len(v.b) {
			return nil, false
		}
		return v.b[from:to], true
	}
	start, k := -1, 0
	for i := 0; ; i++ {
		if i < len(v.b) && v.b[i]&0xc0 == 0x80 {
			continue
		}
		switch {
		case k == from:
			start = i
		case k == to:
			return v.b[start:i], true
		}
		if i >= len(v.b) {
			return v.b[max(start, 0):], s.form == onward && start >= 0
		}
		k++
	}
}

// characters counts code points, including lone surrogates.
func characters(b []byte) (n int) {
	for _, c := range b {
		if c&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

// appendCase appends a text in lower or upper case. Invalid UTF-8 is unchanged.
func appendCase(dst, b []byte, lower bool) []byte {
	for i := 0; i < len(b); {
		c := b[i]
		if c < 0x80 {
			if lower && c >= 'A' && c <= 'Z' || !lower && c >= 'a' && c <= 'z' {
				c ^= 0x20
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, c)
		case lower:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		default:
			dst = utf8.AppendRune(dst, unicode.ToUpper(r))
		}
		i += n
	}
	return dst
}

// appendUTF16 appends a text as UTF-16, little-endian; lone surrogates are unchanged.
func appendUTF16(dst, b []byte) []byte {
	for len(b) > 0 {
		c, n := utf8.DecodeRune(b)
		if c == utf8.RuneError && n == 1 {
			if len(b) >= 3 && b[0] == 0xed && b[1] >= 0xa0 {
				c, n = rune(b[0]&0xf)<<12|rune(b[1]&0x3f)<<6|rune(b[2]&0x3f), 3
			}
		}
		b = b[n:]
		if c >= 0x10000 {
			hi, lo := utf16.EncodeRune(c)
			dst = append(dst, byte(hi), byte(hi>>8))
			c = lo
		}
		dst = append(dst, byte(c), byte(c>>8))
	}
	return dst
}

// appendHex appends bytes, or a number without leading zeros, in lower-case hex.
func appendHex(dst []byte, v *value) []byte {
	const digits = "0123456789abcdef"
	if v.rank() > 0 {
		for _, c := range v.b {
			dst = append(dst, digits[c>>4], digits[c&15])
		}
		return dst
	}
	shift := 60
	for shift > 0 && v.bits>>shift == 0 {
		shift -= 4
	}
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, digits[v.bits>>shift&15])
	}
	return dst
}
