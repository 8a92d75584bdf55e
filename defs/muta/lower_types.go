package muta

import (
	"math"
	"math/big"

	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

var (
	wholeZero = big.NewInt(0)
	wholeOne  = big.NewInt(1)
)

func (n number) plusOne() number { return number{whole: new(big.Int).Add(n.whole, wholeOne)} }

// limit returns an integer as a bound.
func (n number) limit() *schema.Limit {
	if n.whole.Sign() < 0 {
		return &schema.Limit{Int: n.whole.Int64(), Float: n.asFloat()}
	}
	return &schema.Limit{Int: n.whole.Int64(), Uint: n.whole.Uint64(), Float: n.asFloat()}
}

// fits reports whether an integer is in the range of a type.
func fits(n number, p *primitive) bool {
	if p.kind == schema.Unsigned {
		return n.whole.Sign() >= 0 && n.whole.BitLen() <= p.bits
	}
	return n.whole.IsInt64() && 1+bitLen(signFree(n.whole.Int64())) <= p.bits
}

// part is a lowered field.
type part struct {
	typ    schema.Type
	length int // bits of its length, 0 if it is not an array
	fields int
	depth  int
	bytes  uint64 // minimum size in bytes, including its length
	broken bool
}

// field lowers the value of a field. If ok is false, the reason was reported.
func (l *lowerer) field(ln *line, f form) (p part, ok bool) {
	e := &ln.field
	if p, ok = l.element(e, f); !ok {
		return part{}, false
	}
	if !e.isArray() {
		if !e.length.IsZero() {
			l.report(lengthWithoutArray(e))
		}
		return p, true
	}
	ext, length := l.extent(e)
	elem := p
	p.length, p.fields = length, elem.fields+1
	p.bytes = uint64(length / 8)
	if ext.Min != nil {
		p.bytes += min(elem.bytes, maxMessage+1) * ext.Min.Uint
	}
	switch t := elem.typ.(type) {
	case *schema.Text:
		p.typ = &schema.Text{Charset: t.Charset, Extent: ext}
	case *schema.Group:
		p.typ = &schema.List{Elem: t.Struct, Extent: ext}
	default:
		one := &schema.Field{Type: t, TypeText: elementText(e), Span: ln.span}
		p.typ = &schema.List{Bare: true, Extent: ext, Elem: &schema.Struct{
			Fields: []*schema.Field{one}, Wire: []schema.Item{{Kind: schema.Value, Field: one}},
		}}
	}
	return p, true
}

// elementText returns the type of an element, with its range.
func elementText(e *fieldExpr) string {
	one := fieldExpr{typ: e.typ, ranges: e.ranges, lo: e.lo, hi: e.hi}
	return one.text()
}

// element lowers the type of a single value, or of the elements of an array.
func (l *lowerer) element(e *fieldExpr, f form) (part, bool) {
	name := e.typ.Text()
	if p := findPrimitive(name); p != nil {
		out := part{fields: 1, bytes: uint64(p.bits / 8)}
		if !p.char {
			n := newNumber(p, f)
			l.numberRange(e, p, n)
			out.typ = n
			return out, true
		}
		// One arbitrary byte, without a terminator.
		out.typ = &schema.Text{Charset: l.charset(e), Extent: schema.Extent{Size: schema.Fixed, N: 1, Min: &schema.Limit{Uint: 1}}}
		return out, true
	}
	t := l.types[name]
	switch {
	case t == nil:
		l.report(unknownType(e.typ, l.candidates(l.typeNames)))
		return part{}, false
	case t.record.kind == enumRecord:
		return l.enumValue(e, t.enum, f), true
	}
	if !e.ranges.IsZero() {
		l.report(rangeWithout(e.ranges, name))
	}
	b := l.structBody(t, f)
	switch {
	case b == nil && t.bodies[f] != nil:
		l.report(recursiveStruct(e.typ, name))
		return part{}, false
	case b == nil || b.depth > maxDepth:
		l.report(tooDeep(e.typ, maxDepth))
		return part{}, false
	}
	return part{typ: &schema.Group{Struct: b.s}, fields: b.fields + 1, depth: b.depth, bytes: b.bytes, broken: b.broken}, true
}

// charset returns the encoding of a text: "char [utf-8] {16}" names it in place of a range.
func (l *lowerer) charset(e *fieldExpr) schema.Charset {
	switch {
	case e.ranges.IsZero():
		return l.encoding
	case !e.lo.IsZero():
		l.report(rangeWithout(e.ranges, e.typ.Text()))
		return l.encoding
	}
	c, err := schema.ByteCharset(e.hi.Text())
	if err != nil {
		l.report(badEncoding(e.hi, err.Error()))
	}
	return c
}

// enumValue lowers a number of an enum. Without an explicit range it has the range of the enum.
func (l *lowerer) enumValue(e *fieldExpr, of *enum, f form) part {
	n := newNumber(of.prim, f)
	n.Min, n.Max = of.lo, of.hi
	l.numberRange(e, of.prim, n)
	n.Enum = of.ofBits(e.typ.Text(), n.Bits)
	return part{typ: n, fields: 1, bytes: uint64(of.prim.bits / 8), broken: of.broken}
}

func newNumber(p *primitive, f form) *schema.Number {
	n := &schema.Number{Bits: p.bits, Kind: p.kind}
	if p.bits > 8 {
		n.Order = f.order
	}
	return n
}

// numberRange sets the range of a number.
func (l *lowerer) numberRange(e *fieldExpr, p *primitive, n *schema.Number) {
	if e.ranges.IsZero() {
		return
	}
	lo, loOK := l.rangeBound(e.lo, p)
	hi, hiOK := l.rangeBound(e.hi, p)
	if !loOK || !hiOK {
		return
	}
	if lo.Const == "" && hi.Const == "" {
		above := lo.Uint > hi.Uint
		switch p.kind {
		case schema.Signed:
			above = lo.Int > hi.Int
		case schema.Float:
			above = lo.Float > hi.Float
		}
		if above {
			l.report(emptyRange(e.ranges))
			return
		}
	}
	n.Min, n.Max = lo, hi
}

// rangeBound evaluates one bound of a range.
func (l *lowerer) rangeBound(at source.Span, p *primitive) (*schema.Limit, bool) {
	b := l.bound(at)
	switch {
	case b.name != "":
		return &schema.Limit{Const: b.name}, true
	case b.err != nil:
		l.report(badBound(at, b.err.Error(), "write a number or a constant"))
	case p.kind == schema.Float:
		f := b.value.asFloat()
		if p.bits == 32 {
			f = float64(float32(f)) // as on the wire; otherwise [0, 0.1] would refuse 0.1
		}
		if math.IsInf(f, 0) {
			l.report(badBound(at, "does not fit "+text.Quote(p.name), "write a smaller number"))
			return nil, false
		}
		return &schema.Limit{Float: f}, true
	case b.value.whole == nil:
		l.report(badBound(at, "is not an integer", p.says()))
	case !fits(b.value, p):
		l.report(badBound(at, "does not fit "+text.Quote(p.name), p.says()))
	case p.kind == schema.Signed:
		return &schema.Limit{Int: b.value.whole.Int64()}, true
	default:
		return &schema.Limit{Uint: b.value.whole.Uint64()}, true
	}
	return nil, false
}

// extent evaluates the limits of an array and returns the extent and the bits of the length.
func (l *lowerer) extent(e *fieldExpr) (schema.Extent, int) {
	ext := schema.Extent{Size: schema.Counted}
	var lo *schema.Limit
	loOK := true
	if !e.min.IsZero() {
		lo, loOK = l.limit(e.min)
	}
	hi, hiOK := l.limit(e.max)
	if loOK && lo != nil && (lo.Const != "" || lo.Uint > 0) {
		ext.Min = lo
	}
	if !hiOK {
		return schema.Extent{Size: schema.Counted}, max(l.lengthBits(e), 8)
	}
	ext.Max = hi
	if ext.Min != nil && ext.Min.Const == "" && hi.Const == "" && ext.Min.Uint > hi.Uint {
		l.report(minAboveMax(e.limits))
		ext.Min = nil
	}
	bits := l.lengthBits(e)
	known := hi.Const == ""
	smallest := 8
	for known && bitLen(hi.Uint) > smallest {
		smallest *= 2
	}
	switch {
	case bits == 0 && e.length.IsZero() && text.IsName(e.max.Text()):
		length := ""
		if known {
			length = lengthOf(smallest)
		}
		l.report(missingLength(e.max, e, length))
		return ext, smallest
	case bits == 0:
		return ext, smallest
	case known && bitLen(hi.Uint) > bits:
		l.report(maxTooLarge(e.max, numberText(hi.Uint), e.length.Text()))
	}
	return ext, bits
}

// lengthBits returns the bits of the type in "<>", 0 if there is none or it is not valid for a length.
func (l *lowerer) lengthBits(e *fieldExpr) int {
	if e.length.IsZero() {
		return 0
	}
	if p := findPrimitive(e.length.Text()); p != nil && p.length {
		return p.bits
	}
	l.report(badLength(e.length))
	return 0
}

// lengthOf returns the name of the length type of that many bits.
func lengthOf(bits int) string {
	for _, p := range primitives {
		if p.length && p.bits == bits {
			return p.name
		}
	}
	return ""
}

// limit evaluates one limit of a number of elements.
func (l *lowerer) limit(at source.Span) (*schema.Limit, bool) {
	b := l.bound(at)
	switch {
	case b.name != "":
		return &schema.Limit{Const: b.name}, true
	case b.err != nil:
		l.report(badLimit(at, b.err.Error()))
	case b.value.whole == nil:
		l.report(badLimit(at, "is not an integer"))
	case b.value.whole.Sign() < 0 || b.value.whole.BitLen() > 32:
		l.report(badLimit(at, "is not a valid number of elements"))
	default:
		return &schema.Limit{Uint: b.value.whole.Uint64()}, true
	}
	return nil, false
}

func numberText(n uint64) string { return new(big.Int).SetUint64(n).String() }
