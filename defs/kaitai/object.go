package kaitai

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// object makes a field a use of a type.
func (l *lowerer) object(x *inst, d *typeDef, args []*val, in place, f *schema.Field, at source.Span) *val {
	parent := x
	return l.child(x, parent, d, args, in, f, at)
}

func sameArgs(a, b map[string]*val) bool {
	for k, v := range a {
		w := b[k]
		if v == w {
			continue
		}
		if w == nil || v.kind != w.kind || !v.kind.scalar() || v.e.Op != w.e.Op || v.e.Int != w.e.Int || v.e.Text != w.e.Text || v.e.Op != schema.Literal && v.e.Op != schema.TextLiteral {
			return false
		}
	}
	return true
}

// child is object with the parent that expressions see.
func (l *lowerer) child(x, parent *inst, d *typeDef, args []*val, in place, f *schema.Field, at source.Span) *val {
	if len(args) != len(d.params) {
		l.wrong(malformed(at, fmt.Sprintf("%q has %d parameters, not %d", d.name, len(d.params), len(args)), "give it one value for each of its params"))
	}
	n := &inst{def: d, parent: parent, outer: x, stream: in, always: l.always, guards: l.guards, params: map[string]*val{}}
	for i, p := range d.params {
		n.params[p.id] = args[i]
	}
	if x == nil {
		n.root, n.top = n, true
	} else {
		n.root = x.root
		if x.def.unit != d.unit { // a type of another file is a root of its own
			n.root, n.parent = n, nil
		}
	}
	n.endian = l.endianOf(x, d)
	for h := x; h != nil; h = h.outer {
		if h.def != d || h.top || h.endian != n.endian || !sameArgs(n.params, h.params) {
			continue
		}
		if l.always > h.always && l.guards == h.guards {
			l.fail(at, "%q contains itself, without a condition", d.name)
		}
		h.again, h.elsewhere = true, h.elsewhere || h.stream != in
		f.Type = &schema.Group{Struct: h.s, Own: true}
		return &val{kind: structVal, field: f}
	}
	if x != nil && x.opening != "" { // what is inside may refer to it
		x.vals[x.opening] = &val{kind: structVal, inst: n, field: f}
		x.opening = ""
	}
	if n.depth() > maxDepth {
		l.fail(at, "types are nested more than %d times, or contain themselves with other arguments", maxDepth)
	}
	if d.endianOn != nil && n.endian == "" {
		return l.bothEndians(n, f)
	}
	return l.fill(n, f, at)
}

// endianOf returns the byte order of a use of a type: its own, or that of the types around it in the text.
func (l *lowerer) endianOf(x *inst, d *typeDef) string {
	for of := d; of != nil; of = of.parent {
		if of.endian != "" {
			return of.endian
		}
		if of.endianOn == nil {
			continue
		}
		for h := x; h != nil && of != d; h = h.parent {
			for in := h.def; in != nil; in = in.parent {
				if in == of {
					return h.endian
				}
			}
		}
		return ""
	}
	return ""
}

// fill compiles the contents of a use of a type.
func (l *lowerer) fill(n *inst, f *schema.Field, at source.Span) *val {
	n.s = &schema.Struct{Name: n.def.name}
	n.vals, n.state = map[string]*val{}, map[*attr]state{}
	if n.top {
		n.root = n
	}
	if n.root != nil && n.root.vals == nil { // of a root with two byte orders
		n.root = n
	}
	g := &schema.Group{Struct: n.s}
	f.Type = g
	l.shownParams(n)
	ids := map[string]bool{}
	for _, list := range [...][]*attr{n.def.params, n.def.seq, n.def.instances} {
		for _, a := range list {
			if ids[a.id] {
				l.report(sameName(a.at, a.id))
			}
			ids[a.id] = true
		}
	}
	for _, a := range n.def.seq {
		if n.dead {
			l.mistakes(n, a)
			continue
		}
		l.attr(n, a)
	}
	n.align()
	for _, a := range n.def.instances {
		l.instance(n, a)
	}
	if n.again {
		switch {
		case !n.outs.IsZero():
			l.fail(n.outs, "%q contains itself, and depends on the object around it", n.def.name)
		case n.usesStream && n.elsewhere:
			l.fail(at, "%q contains itself, and depends on its stream", n.def.name)
		}
		g.Own = true
	}
	if n.dead && n.outer != nil && n.outer.stream == n.stream {
		n.outer.dead = true
	}
	return &val{kind: structVal, inst: n, field: f}
}

// bothEndians compiles a type whose byte order depends on a value, for both of them.
func (l *lowerer) bothEndians(n *inst, f *schema.Field) *val {
	d := n.def
	n.vals, n.state, n.s = map[string]*val{}, map[*attr]state{}, &schema.Struct{Name: d.name}
	on := l.eval(n, d.endianOn, context{})
	cond := lit(2) // neither
	for i := len(d.endians) - 1; i >= 0; i-- {
		c := d.endians[i]
		is := int64(0)
		if c.node.text == "be" {
			is = 1
		}
		if c.key == nil {
			cond = lit(is)
			continue
		}
		cond = op2(l.equal(n, on, c.key), lit(is), cond)
	}
	var alts []alt
	choice := &schema.Choice{On: cond, Anon: true}
	for i, endian := range [...]string{"le", "be"} {
		m := *n
		m.endian, m.s = endian, nil
		inner := &schema.Field{}
		v := l.fill(&m, inner, d.at)
		g := inner.Type.(*schema.Group)
		a := schema.Alternative{Value: uint64(i), Name: endian, Body: g.Struct}
		if g.Own {
			l.fail(d.endianOn.n.span, "%q contains itself, and its byte order depends on a value", d.name)
		}
		choice.Cases = append(choice.Cases, a)
		alts = append(alts, alt{op(schema.Equal, cond, lit(int64(i))), v})
	}
	must := &schema.Limit{Uint: 1}
	undecided := &schema.Field{Name: "endian_valid", TypeText: "valid", Type: &schema.Number{Bits: 8, Expr: lit(0), Min: must, Max: must}}
	choice.Cases = append(choice.Cases, schema.Alternative{Else: true, Body: bare(undecided)})
	n.s.Fields = []*schema.Field{{Type: choice}}
	n.s.Wire = []schema.Item{{Field: n.s.Fields[0]}}
	f.Type = &schema.Group{Struct: n.s}
	return &val{kind: unionVal, alts: alts}
}

// equal returns whether a value is that of a case.
func (l *lowerer) equal(x *inst, on *val, key *expr) *schema.Expr {
	k := l.eval(x, key, context{})
	switch {
	case k.kind == on.kind && k.kind.scalar():
		return op(schema.Equal, on.e, k.e)
	case on.kind == boolVal && k.kind == intVal || on.kind == intVal && k.kind == boolVal:
		return op(schema.Equal, on.e, k.e)
	}
	l.wrong(badExpression(key.n.span, "this case is "+k.kind.String()+", but the value is "+on.kind.String()))
	return nil
}

// user compiles a field of a type of the file.
func (l *lowerer) user(x *inst, a *attr, t *typeRef, in place, f *schema.Field, c context) *val {
	d := l.find(t.path, x.def)
	if d == nil && len(t.path) == 1 && l.opaque(x.def) {
		if to := l.imported(x.def.unit, importOf{t.path[0], a.typNode.span}); to != nil {
			l.load(to)
			d = to.root
		}
	}
	if d == nil {
		name := strings.Join(t.path, "::")
		l.wrong(unknownType(a.typNode.span, name, l.nearType(name, x.def)))
	}
	var args []*val
	for _, e := range t.args {
		in := c
		in.in, in.n = x, a.typNode
		v := l.ex(&in, e) // one that is not known matters where it is used
		if v.kind.scalar() && v.e.Size() > schema.MaxExpr/4 {
			v = &val{kind: noVal, why: "an argument of many operations"}
		}
		if v.kind.scalar() && a.windowed() && around(v.e) {
			l.fail(a.typNode.span, "a position in the stream of an object that contains itself, as an argument")
		}
		args = append(args, v)
	}
	parent := x
	if a.parent != nil {
		if a.parent.n.str() == "false" {
			parent = nil
		} else {
			v := l.eval(x, a.parent, c)
			if v.kind != structVal || v.inst == nil {
				l.fail(a.parent.n.span, "a parent that depends on a value")
			}
			parent = v.inst
		}
	}
	if !a.windowed() {
		if a.process != nil {
			l.wrong(malformed(a.process.span, "process needs a size", "size: 4"))
		}
		return l.child(x, parent, d, args, in, f, a.typNode.span)
	}
	g, inner, outer := l.framed(x, a, in, f, c)
	body := &schema.Field{TypeText: f.TypeText}
	v := l.child(x, parent, d, args, inner, body, a.typNode.span)
	switch b := body.Type.(*schema.Group); {
	case b.HasBody():
		g.Bare, g.Struct = true, &schema.Struct{Fields: []*schema.Field{body}, Wire: []schema.Item{{Field: body}}}
	default:
		g.Struct = b.Struct
	}
	f.Type = outer
	return v
}

// opaque reports whether types that a file does not define are those of other files.
func (l *lowerer) opaque(d *typeDef) bool { return d.unit.opaque }

// around reports whether an expression depends on the innermost group with a size around it.
func around(e *schema.Expr) bool {
	return e.Op == schema.From || e.Op == schema.To || slices.ContainsFunc(e.Args, around)
}

// recursive reports whether a type contains itself.
func (l *lowerer) recursive(d *typeDef) bool {
	if is, ok := l.selves[d]; ok {
		return is
	}
	seen := map[*typeDef]bool{}
	var walk func(of *typeDef) bool
	walk = func(of *typeDef) bool {
		if seen[of] {
			return of == d
		}
		seen[of] = true
		for _, list := range [...][]*attr{of.seq, of.instances} {
			for _, a := range list {
				refs := []*typeRef{a.typ}
				for _, c := range a.cases {
					refs = append(refs, c.typ)
				}
				for _, r := range refs {
					if r == nil {
						continue
					}
					if to := l.find(r.path, of); to != nil && (to == d || walk(to)) {
						return true
					}
				}
			}
		}
		return false
	}
	l.selves[d] = walk(d)
	return l.selves[d]
}
