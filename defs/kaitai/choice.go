package kaitai

import (
	"fmt"

	"wirebench/defs/schema"
)

// choice compiles a type that depends on a value.
func (l *lowerer) choice(x *inst, a *attr, in place, f *schema.Field, c context) *val {
	x.opening = ""
	l.guards++
	defer func() { l.guards-- }()
	on := l.eval(x, a.on, c)
	if !on.kind.scalar() || on.kind == floatVal {
		l.wrong(badExpression(a.on.n.span, "a type depends on an integer, a truth value, a string or bytes, not on "+on.kind.String()))
	}
	sized := a.size != nil || a.sizeEOS // up to a terminator alone each case is by itself: without a case nothing is read
	cf, inner := f, in
	var g, outer *schema.Group
	if sized {
		g, inner, outer = l.framed(x, a, in, f, c)
		cf = &schema.Field{TypeText: "switch"}
		g.Bare, g.Struct = true, bare(cf)
	}
	out := &schema.Choice{}
	var alts []alt
	number, _ := fieldType(on).(*schema.Number)
	texts, _ := fieldType(on).(*schema.Text)
	direct := number != nil && on.e.Op == schema.Ref
	byText := texts != nil && on.e.Op == schema.Ref && on.kind == strVal
	byNumber := on.kind == intVal || on.kind == boolVal
	select_ := lit(-1)
	var conds []*schema.Expr
	var rest *schema.Expr // no earlier case applies
	seen := map[uint64]bool{}
	for i := range a.cases {
		k := a.cases[i].key
		if k == nil {
			continue
		}
		same := l.equal(x, on, k)
		key := l.eval(x, k, c)
		alternative := schema.Alternative{Name: ""}
		if constant := key.e.Op == schema.Literal; byNumber && !constant {
			byNumber = false
		}
		if key.e.Op != schema.TextLiteral {
			byText = false
		}
		if byNumber {
			alternative.Value = uint64(key.e.Int)
			if direct {
				if alternative.Value &= schema.Mask(number.Bits); number.Kind == schema.Unsigned && uint64(key.e.Int) > schema.Mask(number.Bits) {
					byNumber = false
				}
			}
			if seen[alternative.Value] {
				l.wrong(sameName(k.n.span, k.n.str()))
			}
			seen[alternative.Value] = true
			if key.enum != nil {
				for _, v := range key.enum.values {
					if int64(v.value) == key.e.Int {
						alternative.Name = v.name
					}
				}
			}
		}
		if byText {
			s := key.e.Text
			alternative.Text = &s
		}
		conds = append(conds, same)
		out.Cases = append(out.Cases, alternative)
		if rest == nil {
			rest = op(schema.Not, same)
		} else {
			rest = op(schema.And, rest, op(schema.Not, same))
		}
	}
	out.On = on.e
	if !byNumber && !byText {
		for i := len(conds) - 1; i >= 0; i-- {
			select_ = op2(conds[i], lit(int64(i)), select_)
			out.Cases[i].Value, out.Cases[i].Text = uint64(i), nil
		}
		if out.On = select_; out.On.Size() > schema.MaxExpr {
			l.fail(a.on.n.span, "the expression has more than %d operations", schema.MaxExpr)
		}
	}
	k := 0
	dead := false
	for i := range a.cases {
		one := &a.cases[i]
		if one.key == nil {
			continue
		}
		was := x.dead
		x.dead = false
		v := l.caseBody(x, a, one, inner, &out.Cases[k], c, sized)
		dead, x.dead = dead || x.dead, was
		if v != nil {
			alts = append(alts, alt{conds[k], v})
		}
		k++
	}
	otherwise := schema.Alternative{Else: true}
	given := false
	for i := range a.cases {
		if one := &a.cases[i]; one.key == nil {
			given = true
			if v := l.caseBody(x, a, one, inner, &otherwise, c, sized); v != nil {
				alts = append(alts, alt{rest, v})
			}
		}
	}
	if !given && sized {
		otherwise.Bare, otherwise.Body = true, bare(&schema.Field{Type: &schema.Blob{Extent: schema.Extent{Size: schema.ToEnd}}, TypeText: "bytes"})
	}
	out.Cases = append(out.Cases, otherwise)
	if dead {
		x.dead = true
	}
	cf.Type = out
	if sized {
		f.Type = outer
	}
	if len(alts) == 0 {
		return &val{kind: noVal, why: fmt.Sprintf("%q has no type that is read", a.id)}
	}
	v := val{kind: noVal, why: fmt.Sprintf("%q has too many types", a.id)}
	l.caught(func() { v = *l.merge(a.at, alts) })
	v.field = nil
	return &v
}

func fieldType(v *val) schema.Type {
	if v.field == nil {
		return nil
	}
	return v.field.Type
}

// caseBody compiles the contents of a case.
func (l *lowerer) caseBody(x *inst, a *attr, one *caseOf, in place, to *schema.Alternative, c context, sized bool) *val {
	if one.typ == nil {
		if one.node.kind != nullNode {
			panic(&lossError{}) // it has been reported
		}
		if sized {
			to.Bare, to.Body = true, bare(&schema.Field{Type: &schema.Blob{Extent: schema.Extent{Size: schema.ToEnd}}, TypeText: "bytes"})
		}
		return nil
	}
	b := *a
	b.typ, b.typNode, b.on, b.cases, b.repeat, b.cond = one.typ, one.node, nil, nil, "", nil
	if sized {
		b.size, b.sizeEOS, b.term, b.pad, b.process = nil, false, nil, -1, nil
	}
	name := ""
	if len(b.typ.path) == 1 && len(b.typ.args) == 0 {
		name = b.typ.path[0]
	}
	f := &schema.Field{TypeText: one.node.str()}
	var v *val
	if sized && (name == "str" || name == "strz" || name == "bytes") {
		if name == "bytes" {
			name = ""
		}
		v = l.texts(x, &b, name, in, f, c, true)
	} else {
		v = l.single(x, &b, in, f, false, false, c.index)
	}
	if g, ok := f.Type.(*schema.Group); ok && !g.HasBody() {
		to.Body = g.Struct
	} else {
		to.Bare, to.Body = true, bare(f)
	}
	return v
}
