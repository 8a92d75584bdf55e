package kaitai

import (
	"fmt"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// name lowers a name.
func (l *lowerer) name(c *context, e *ex) *val {
	switch e.name {
	case "_":
		if c.elem == nil {
			l.wrong(badExpression(c.at(e), `"_" is the last element in repeat-until, and the value in valid`))
		}
		return c.elem
	case "_index":
		if c.index == nil {
			l.wrong(badExpression(c.at(e), `"_index" is known only in a field with repeat`))
		}
		return intOf(&schema.Expr{Op: schema.Index, Field: c.index})
	}
	return l.memberOf(c, e, c.in, e.name)
}

// memberOf returns a member of an object.
func (l *lowerer) memberOf(c *context, e *ex, of *inst, name string) *val {
	switch name {
	case "_root":
		return &val{kind: structVal, inst: of.root}
	case "_parent":
		if of.parent == nil {
			l.fail(c.at(e), "%q has no parent here", of.def.name)
		}
		l.crosses(of, of.parent, c.at(e))
		return &val{kind: structVal, inst: of.parent}
	case "_io":
		if of == c.in && l.recursive(of.def) { // whichever stream it is
			return &val{kind: ioVal, io: place{packed: of.stream.packed, around: true}}
		}
		if of.stream.around && of != c.in {
			l.fail(c.at(e), "the stream of an object that contains itself")
		}
		l.streamOf(of)
		return &val{kind: ioVal, io: of.stream}
	case "_sizeof":
		bits := l.sizeof(of.def, c.at(e), 0)
		return intOf(lit((bits + 7) / 8))
	}
	if v, ok := of.params[name]; ok {
		return v
	}
	if v, ok := of.vals[name]; ok {
		l.used(v, c.at(e))
		return v
	}
	for _, a := range of.def.instances {
		if a.id != name {
			continue
		}
		if of.state[a] == placing {
			l.fail(c.at(e), "%q depends on itself, or on what is read later", name)
		}
		l.instance(of, a)
		if v, ok := of.vals[name]; ok {
			l.used(v, c.at(e))
			return v
		}
	}
	for _, a := range of.def.seq {
		if a.id == name {
			l.fail(c.at(e), "%q is read later than it is used", name)
		}
	}
	var names []string
	for _, list := range [][]*attr{of.def.seq, of.def.instances, of.def.params} {
		for _, a := range list {
			names = append(names, a.id)
		}
	}
	d := badExpression(c.at(e), fmt.Sprintf("%q has no %s", of.def.name, text.Quote(name)))
	if near := diag.Nearest(name, names); near != "" {
		d.Help = fmt.Sprintf("did you mean %q?", near)
	}
	l.wrong(d)
	return nil
}

// used prepares a value for expressions: values of fixed size have a place in a block, which expressions do not see.
func (l *lowerer) used(v *val, at source.Span) {
	if v.field == nil {
		return
	}
	switch t := v.field.Type.(type) {
	case *schema.Blob:
		if t.Size == schema.Fixed {
			t.Extent = schema.Extent{Size: schema.Computed, Expr: lit(int64(t.N))}
		}
	case *schema.Text:
		if t.Size != schema.Fixed {
			break
		}
		if t.Pad != 0 {
			l.fail(at, "%q is padded, and used in an expression", v.field.Name)
		}
		inner := &schema.Field{Type: &schema.Text{Charset: t.Charset, Extent: schema.Extent{Size: schema.Terminated, Lax: true}}}
		v.field.Type = &schema.Group{Sized: true, Size: lit(int64(t.N)), Bare: true, Struct: bare(inner)}
		v.field, v.e = inner, schema.RefTo(inner)
	}
}

// crosses notes that an object of an instance refers to one outside of it, which differs if the instance contains itself.
func (l *lowerer) crosses(from, to *inst, at source.Span) {
	for h := from; h != nil; h = h.outer {
		if !to.inside(h) && h.outs.IsZero() {
			h.outs = at
		}
	}
}

// streamOf notes that an object refers to its stream.
func (l *lowerer) streamOf(of *inst) {
	for h := of; h != nil && h.stream == of.stream; h = h.outer {
		h.usesStream = true
	}
}

func (l *lowerer) member(c *context, e *ex, of *val, name string) *val {
	if of.at != nil && of.kind == structVal && of.inst != nil {
		return l.inElement(c, e, l.memberOf(c, e, of.inst, name), of.at)
	}
	switch of.kind {
	case noVal:
		return of
	case structVal:
		if of.inst == nil {
			l.fail(c.at(e), "a member of an object that contains itself")
		}
		return l.memberOf(c, e, of.inst, name)
	case unionVal:
		return l.ofUnion(c, e, of, func(v *val) *val { return l.member(c, e, v, name) })
	case ioVal:
		return l.io(c, e, of, name)
	}
	if name == "_sizeof" {
		if of.kind == bytesVal && of.elems != nil { // contents
			return intOf(lit(int64(len(of.elems))))
		}
		if n, ok := sizeofField(of.field); ok {
			return intOf(lit(n))
		}
		l.fail(c.at(e), "the size of what has no fixed size")
	}
	return l.method(c, e, of, name, nil)
}

// ofUnion returns a member of those alternatives that have it.
func (l *lowerer) ofUnion(c *context, e *ex, of *val, get func(*val) *val) *val {
	var out []alt
	var why *lossError
	for _, a := range of.alts {
		if d := l.caught(func() { out = append(out, alt{a.cond, get(a.v)}) }); d != nil {
			why = d
		}
	}
	if len(out) == 0 {
		if why == nil {
			l.fail(c.at(e), "a value that may be missing")
		}
		panic(why)
	}
	return l.merge(c.at(e), out)
}

func (l *lowerer) io(c *context, e *ex, of *val, name string) *val {
	if of.io.packed {
		l.fail(c.at(e), "a position in bytes that are processed")
	}
	begin := &schema.Expr{Op: schema.Begin, Field: of.io.field}
	end := &schema.Expr{Op: schema.End, Field: of.io.field}
	if of.io.around {
		begin, end = &schema.Expr{Op: schema.From}, &schema.Expr{Op: schema.To}
	}
	cursor := &schema.Expr{Op: schema.Cursor}
	if c.read != nil {
		cursor = op(schema.Add, cursor, c.read)
	}
	switch name {
	case "pos":
		return intOf(op(schema.Sub, cursor, begin))
	case "size":
		return intOf(op(schema.Sub, end, begin))
	case "eof":
		return boolOf(op(schema.GreaterEqual, cursor, end))
	}
	l.wrong(badExpression(c.at(e), "a stream has no "+text.Quote(name)))
	return nil
}
