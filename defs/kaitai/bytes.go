package kaitai

import (
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/text"
)

// window makes a field a group of a size.
func (l *lowerer) window(x *inst, a *attr, in place, f *schema.Field, c context) (*schema.Group, place) {
	g := &schema.Group{Sized: true}
	inner := place{field: f, packed: in.packed}
	if a.process != nil {
		inner.packed = true
	}
	switch {
	case a.size != nil:
		g.Size = l.number(x, a.size, c)
	case in.packed || a.process != nil:
		g.Sized = false // to the end of what is around
		if a.process == nil {
			inner = in
		}
	default:
		g.Size = toEnd(in)
	}
	if a.process != nil {
		if c.read = g.Size; c.read == nil {
			c.read = toEnd(in)
		}
		g.Packed, g.Key = l.process(x, a, c)
	}
	f.Type = g
	return g, inner
}

// process returns the method of a process, and its key.
func (l *lowerer) process(x *inst, a *attr, c context) (schema.Packing, *schema.Expr) {
	s := a.process.str()
	name, rest, args := strings.Cut(s, "(")
	name = strings.TrimSpace(name)
	if name == "zlib" && !args {
		return schema.Zlib, nil
	}
	if name != "xor" && name != "rol" && name != "ror" {
		l.fail(a.process.span, "process %s", text.Quote(s))
	}
	rest, closed := strings.CutSuffix(strings.TrimRight(rest, " "), ")")
	e, err := parseExpr(rest)
	if err != nil || !closed {
		l.wrong(badExpression(a.process.span, name+" has one argument"))
	}
	e.shift(strings.Index(s, "(") + 1)
	key := l.eval(x, &expr{e, a.process}, c)
	switch {
	case name == "xor" && (key.kind == intVal || key.kind == bytesVal):
		return schema.Xor, key.e
	case name == "rol" && key.kind == intVal:
		return schema.Rotate, key.e
	case name == "ror" && key.kind == intVal:
		return schema.Rotate, op(schema.Sub, lit(8), key.e)
	}
	l.wrong(badExpression(a.process.span, name+" of "+key.kind.String()))
	return 0, nil
}

// toEnd returns the number of bytes up to the end of a stream.
func toEnd(in place) *schema.Expr {
	if in.around {
		return op(schema.Sub, &schema.Expr{Op: schema.To}, &schema.Expr{Op: schema.Cursor})
	}
	return op(schema.Sub, &schema.Expr{Op: schema.End, Field: in.field}, &schema.Expr{Op: schema.Cursor})
}

// bare returns the struct of one value without a name.
func bare(f *schema.Field) *schema.Struct {
	return &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Field: f}}}
}

// extent compiles text or bytes, of a type made with its extent, in units of some bytes. plain: without terminators and padding.
func (l *lowerer) extent(x *inst, a *attr, in place, c context, f *schema.Field, of func(schema.Extent) schema.Type, unit int, plain bool) *schema.Field {
	term, pad := a.term, a.pad
	if plain {
		term, pad = nil, -1
	}
	if len(term) > 0 && len(term) != unit {
		l.fail(a.at, "a terminator of %d bytes", len(term))
	}
	if len(term) > 1 && (term[0] != 0 || term[1] != 0) {
		l.fail(a.at, "a terminator of %d bytes other than zero", len(term))
	}
	ended := schema.Extent{Size: schema.Terminated, Lax: true, Keep: a.keep, With: a.include}
	if len(term) > 0 {
		ended.End = term[0]
	}
	switch {
	case a.size == nil && !a.sizeEOS && len(term) == 0:
		l.wrong(malformed(a.at, text.Quote(a.id)+" has no size", "give it a size, size-eos: true or a terminator"))
	case a.size == nil && !a.sizeEOS:
		ended.Lax = !a.strict
		f.Type = of(ended)
		return f
	case len(term) > 0 || unit > 1:
		ended.Keep, ended.Trim, ended.Pad = false, pad >= 0 && (len(term) == 0 || byte(pad) != term[0]), byte(max(pad, 0)) // as the package of Kaitai Struct
		g, _ := l.window(x, a, in, f, c)
		if plain {
			g.Packed = schema.Unpacked
		}
		if len(term) == 0 {
			ended = schema.Extent{Size: schema.ToEnd}
		}
		if !g.Sized {
			l.fail(a.at, "a terminator in bytes that are processed")
		}
		inner := &schema.Field{Type: of(ended)}
		g.Bare, g.Struct = true, bare(inner)
		return inner
	case a.sizeEOS:
		f.Type = of(schema.Extent{Size: schema.ToEnd, Trim: pad >= 0, Pad: byte(max(pad, 0))})
		return f
	}
	n := l.number(x, a.size, c)
	if pad >= 0 {
		f.Type = of(schema.Extent{Size: schema.Computed, Expr: n, Trim: true, Pad: byte(pad)})
		return f
	}
	if _, text := of(schema.Extent{}).(*schema.Blob); text && n.Op == schema.Literal && n.Int > 0 && n.Int < 1<<20 {
		f.Type = of(schema.Extent{Size: schema.Fixed, N: int(n.Int)})
		return f
	}
	f.Type = of(schema.Extent{Size: schema.Computed, Expr: n})
	return f
}

// texts compiles text and bytes. inside: the window of a type that depends on a value is around it.
func (l *lowerer) texts(x *inst, a *attr, name string, in place, f *schema.Field, c context, inside bool) *val {
	b := *a
	if inside {
		b.size, b.sizeEOS = nil, true
		b.process = nil
	}
	if a.process != nil && !inside {
		if name == "strz" { // up to a zero byte, before the rest is processed
			if name = "str"; len(b.term) == 0 {
				b.term = []byte{0}
				if _, wide := l.charsetOf(x, a); wide {
					l.fail(a.at, "a terminator of 2 bytes before bytes that are processed")
				}
			}
		}
		g, inner, outer := l.framed(x, &b, in, f, c)
		b.term, b.pad = nil, -1
		body := &schema.Field{}
		v := l.texts(x, &b, name, inner, body, c, true)
		g.Bare, g.Struct = true, bare(body)
		f.Type = outer
		v.field = body
		return v
	}
	if name == "" {
		of := l.extent(x, &b, in, c, f, func(e schema.Extent) schema.Type { return &schema.Blob{Extent: e} }, 1, false)
		return &val{kind: bytesVal, e: schema.RefTo(of), field: of}
	}
	set, set16 := l.charsetOf(x, a)
	if name == "strz" && len(b.term) == 0 {
		b.term = make([]byte, set.Unit())
	}
	if set16 && len(b.term) == 1 && b.term[0] == 0 {
		b.term = []byte{0, 0}
	}
	if b.pad >= 0 && set.Unit() > 1 {
		l.fail(a.at, "pad-right of text in %s", set)
	}
	of := l.extent(x, &b, in, c, f, func(e schema.Extent) schema.Type { return &schema.Text{Charset: set, Extent: e} }, set.Unit(), false)
	return &val{kind: strVal, e: schema.RefTo(of), field: of}
}

// charsetOf returns the encoding of a text.
func (l *lowerer) charsetOf(x *inst, a *attr) (set schema.Charset, wide bool) {
	n := a.encoding
	for d := x.def; d != nil && n == nil; d = d.parent {
		n = d.encoding
	}
	if n == nil || n.str() == "" {
		l.wrong(malformed(a.at, text.Quote(a.id)+" has no encoding", "encoding: UTF-8, here or in meta"))
	}
	set, ok := charset(n.text)
	if !ok {
		l.fail(n.span, "the encoding %s", text.Quote(n.text))
	}
	return set, set.Unit() == 2
}
