package kaitai

import (
	"fmt"
	"math"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/text"
)

// shownParams adds the parameters that are numbers or text, which are values of the object as others are.
func (l *lowerer) shownParams(n *inst) {
	for _, p := range n.def.params {
		v := *n.params[p.id]
		if v.kind == noVal {
			l.report(loss(p.at, v.why, fmt.Sprintf("%q is not shown", p.id)))
		}
		if !v.kind.scalar() {
			continue
		}
		f := &schema.Field{Name: p.id, Doc: p.doc, Span: l.spanOf(p), TypeText: typeText(p)}
		if p.enum != nil && v.enum == nil {
			v.enum = l.enum(p.enum, n.def)
		}
		f.Type = valueType(&v)
		n.s.Fields = append(n.s.Fields, f)
		n.s.Wire = append(n.s.Wire, schema.Item{Field: f})
		if o := v.e.Op; o != schema.Literal && o != schema.TextLiteral && o != schema.FloatLiteral { // as it is now
			v.e, v.field = schema.RefTo(f), f
			n.params[p.id] = &v
		}
	}
}

// valueType returns the type of a value that is computed.
func valueType(v *val) schema.Type {
	switch v.kind {
	case intVal:
		n := &schema.Number{Bits: 64, Kind: schema.Signed, Expr: v.e}
		switch lo, hi := bounds(v.e); {
		case v.wide:
			n.Kind = schema.Unsigned
		case lo >= math.MinInt32 && hi <= math.MaxInt32:
			n.Bits = 32
		case lo >= 0 && hi <= math.MaxUint32:
			n.Bits, n.Kind = 32, schema.Unsigned
		}
		if v.enum != nil {
			n.Enum = enumNames(v.enum, n)
		}
		return n
	case boolVal:
		return &schema.Number{Bits: 8, Kind: schema.Bool, Expr: v.e}
	case floatVal:
		return &schema.Number{Bits: 64, Kind: schema.Float, Expr: v.e}
	case strVal:
		return &schema.Text{Charset: schema.UTF8, Value: v.e}
	}
	return &schema.Blob{Value: v.e}
}

// instance compiles an instance, once.
func (l *lowerer) instance(x *inst, a *attr) {
	if x.state[a] != waiting {
		return
	}
	if l.fields++; l.fields > maxFields {
		l.tooMany()
		x.vals[a.id] = &val{kind: noVal, why: "the format has too many fields"}
		l.broken = true
		return
	}
	x.state[a] = placing
	d := l.caught(func() {
		if x.bits != 0 {
			l.fail(a.at, "an instance that is used between bits of one byte")
		}
		if a.value != nil {
			l.computed(x, a)
		} else {
			l.positioned(x, a)
		}
	})
	x.state[a] = placed
	if d == nil {
		return
	}
	if d.d.Message != "" {
		w := d.d
		if w.Code == "not-supported" {
			w.Help = fmt.Sprintf("%q is not shown", a.id)
		}
		l.report(w)
	}
	x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is not known", a.id)}
}

// computed compiles an instance with a value.
func (l *lowerer) computed(x *inst, a *attr) {
	cond := lit(1)
	if a.cond != nil {
		cond = l.truth(x, a.cond, context{})
		if cond.Op == schema.Literal && cond.Int == 0 {
			x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is never there", a.id)}
			return
		}
	}
	v := *l.eval(x, a.value, context{})
	f := &schema.Field{Name: a.id, Doc: a.doc, Span: l.spanOf(a), TypeText: "value"}
	if !v.kind.scalar() { // another name of what is shown elsewhere
		x.vals[a.id] = &v
		return
	}
	if v.kind == intVal && a.enum != nil {
		if v.enum = l.enum(a.enum, x.def); v.enum == nil {
			l.wrong(badExpression(a.enumNode.span, "no enum is named "+text.Quote(strings.Join(a.enum, "::"))))
		}
	}
	f.Type = valueType(&v)
	body := &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Field: f}}}
	if cond.Op == schema.Literal {
		x.s.Fields = append(x.s.Fields, f)
		x.s.Wire = append(x.s.Wire, body.Wire...)
	} else {
		l.when(x, cond, body, a)
	}
	if o := v.e.Op; o != schema.Literal && o != schema.TextLiteral && o != schema.FloatLiteral {
		v.e, v.field = schema.RefTo(f), f
	}
	x.vals[a.id] = &v
}

// positioned compiles an instance that is read at a position.
func (l *lowerer) positioned(x *inst, a *attr) {
	in := x.stream
	switch {
	case a.io != nil:
	case l.recursive(x.def): // whichever stream it is
		in = place{packed: in.packed, around: true}
	default:
		l.streamOf(x)
	}
	if a.io != nil {
		v := l.eval(x, a.io, context{})
		if v.kind != ioVal {
			l.fail(a.io.n.span, "a stream that depends on a value")
		}
		in = v.io
	}
	if in.packed {
		l.fail(a.at, "a position in bytes that are processed")
	}
	if a.pos == nil && a.io != nil {
		l.fail(a.io.n.span, "the current position of another stream")
	}
	var cond *schema.Expr
	if a.cond != nil {
		if cond = l.truth(x, a.cond, context{}); cond.Op == schema.Literal {
			if cond.Int == 0 {
				x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is never there", a.id)}
				return
			}
			cond = nil
		}
	}
	at := &schema.Expr{Op: schema.Cursor} // without pos
	if a.pos != nil {
		if at = l.number(x, a.pos, context{}); in.around {
			at = op(schema.Add, &schema.Expr{Op: schema.From}, at)
		} else {
			at = op(schema.Add, &schema.Expr{Op: schema.Begin, Field: in.field}, at)
		}
	}
	g := &schema.Group{At: at, In: in.field, Inner: in.around, Look: true}
	f := &schema.Field{Name: a.id, Doc: a.doc, Span: l.spanOf(a), Type: g, TypeText: typeText(a)}
	inner := &schema.Field{}
	was := x.dead
	x.dead = false
	l.always++
	defer func() { l.always-- }()
	if cond != nil {
		l.guards++
		defer func() { l.guards-- }()
	}
	if a.repeat == "" {
		x.opening = a.id
	}
	d := l.caught(func() {
		v, item := l.repeated(x, a, in, inner, false, false)
		switch b, is := inner.Type.(*schema.Group); {
		case item.Kind == schema.Const:
			g.Struct = &schema.Struct{Wire: []schema.Item{item}}
		case is && !b.HasBody():
			g.Struct = b.Struct
		default:
			g.Bare, g.Struct = true, bare(inner)
		}
		x.vals[a.id] = v
	})
	x.dead = was
	if d != nil {
		panic(d)
	}
	if cond != nil {
		l.when(x, cond, &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Field: f}}}, a)
		return
	}
	x.s.Fields = append(x.s.Fields, f)
	x.s.Wire = append(x.s.Wire, schema.Item{Field: f})
}
