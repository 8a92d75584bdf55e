package kaitai

import (
	"slices"

	"wirebench/defs/schema"
)

// element is an element of a list.
type element struct {
	list  *schema.Field
	index *schema.Expr
}

// elementOf returns the element of a list with a number.
func (l *lowerer) elementOf(c *context, e *ex, of *val, index *schema.Expr) *val {
	if of.field == nil || of.elem == nil || of.at != nil {
		l.fail(c.at(e), "an element of an array that is being read, or is in another one")
	}
	return l.inElement(c, e, of.elem, &element{of.field, index})
}

// inElement returns a value of an element of a list, as it is seen from outside of the list.
func (l *lowerer) inElement(c *context, e *ex, v *val, at *element) *val {
	out := *v
	switch v.kind {
	case noVal:
		return v
	case listVal, arrayVal, ioVal:
		l.fail(c.at(e), "%s in an element of an array", v.kind)
	case structVal:
		if v.at != nil || v.inst == nil || !insideList(at.list, v.inst.s) {
			l.fail(c.at(e), "an object outside of an element of an array, by way of the element")
		}
		out.at = at
	case unionVal:
		out.alts = nil
		for _, a := range v.alts {
			b := alt{a.cond, l.inElement(c, e, a.v, at)}
			if b.cond != nil {
				b.cond = l.elementExpr(c, e, b.cond, at)
			}
			out.alts = append(out.alts, b)
		}
		out.at = at
	default:
		l.used(&out, c.at(e))
		out.e, out.field, out.elems = l.elementExpr(c, e, out.e, at), nil, nil
	}
	return &out
}

// elementExpr returns an expression with the fields of an element, as it is seen from outside of the list.
func (l *lowerer) elementExpr(c *context, e *ex, x *schema.Expr, at *element) *schema.Expr {
	switch x.Op {
	case schema.Ref:
		if _, list := x.Field.Type.(*schema.List); insideField(at.list, x.Field) {
			if list {
				l.fail(c.at(e), "the number of elements of an array in an element of another one")
			}
			return &schema.Expr{Op: schema.Element, Field: at.list, Inner: x.Field, Args: []*schema.Expr{at.index}}
		}
		return x
	case schema.Cursor, schema.Begin, schema.End, schema.From, schema.To, schema.Index, schema.Seek, schema.Trimmed:
		l.fail(c.at(e), "a position in an element of an array")
	case schema.Element, schema.Least, schema.Greatest:
		if insideField(at.list, x.Field) {
			l.fail(c.at(e), "an element of an array in an element of another one")
		}
	}
	out := *x
	out.Args = make([]*schema.Expr, len(x.Args))
	for i, a := range x.Args {
		out.Args[i] = l.elementExpr(c, e, a, at)
	}
	return &out
}

// insideField reports whether a field is in the elements of a list, and not in a list inside them.
func insideField(list, f *schema.Field) bool {
	return walkElement(list, func(s *schema.Struct) bool { return slices.Contains(s.Fields, f) })
}

// insideList reports whether a struct is in the elements of a list, and not in a list inside them.
func insideList(list *schema.Field, of *schema.Struct) bool {
	return walkElement(list, func(s *schema.Struct) bool { return s == of })
}

func walkElement(list *schema.Field, is func(*schema.Struct) bool) bool {
	t, ok := list.Type.(*schema.List)
	if !ok || t.Elem == nil {
		return false
	}
	seen := map[*schema.Struct]bool{}
	var walk func(s *schema.Struct) bool
	walk = func(s *schema.Struct) bool {
		if s == nil || seen[s] {
			return false
		}
		seen[s] = true
		if is(s) {
			return true
		}
		for _, f := range s.Fields {
			if _, list := f.Type.(*schema.List); list {
				continue
			}
			for _, b := range schema.Bodies(f.Type) {
				if walk(b) {
					return true
				}
			}
		}
		return false
	}
	return walk(t.Elem)
}

// countOf returns the number of elements of a list.
func (l *lowerer) countOf(c *context, e *ex, of *val) *val {
	t, ok := fieldType(of).(*schema.List)
	switch {
	case !ok || of.elem == nil:
		l.fail(c.at(e), "the number of elements of an array that is being read")
	case t.Size == schema.Computed:
		return intOf(t.Expr)
	}
	return intOf(schema.RefTo(of.field))
}

// extremeOf returns the smallest or the largest value in the elements of a list.
func (l *lowerer) extremeOf(c *context, e *ex, of *val, largest bool) *val {
	if of.field == nil || of.elem == nil || of.at != nil {
		l.fail(c.at(e), "the smallest or largest of an array that is being read, or is in another one")
	}
	v := *l.inElement(c, e, of.elem, &element{of.field, lit(0)})
	if !v.kind.scalar() || v.e.Op != schema.Element || v.wide {
		l.fail(c.at(e), "the smallest or largest of %s in an array", v.kind)
	}
	o := schema.Least
	if largest {
		o = schema.Greatest
	}
	v.e = &schema.Expr{Op: o, Field: v.e.Field, Inner: v.e.Inner}
	return &v
}

// joined returns the bytes that an array of integers is.
func (l *lowerer) joined(c *context, e *ex, elems []*val) *val {
	var out *schema.Expr
	for _, v := range elems {
		if v.kind != intVal {
			l.fail(c.at(e), "%s in an array of bytes", v.kind)
		}
		if one := (&schema.Expr{Op: schema.ByteOf, Args: []*schema.Expr{v.e}}); out == nil {
			out = one
		} else {
			out = op(schema.Add, out, one)
		}
	}
	if out.Size() > schema.MaxExpr {
		l.fail(c.at(e), "the expression has more than %d operations", schema.MaxExpr)
	}
	return &val{kind: bytesVal, e: out}
}

func (l *lowerer) index(c *context, e *ex, of, i *val) *val {
	if of.kind == noVal {
		return of
	}
	if i.kind == noVal {
		return i
	}
	if i.kind != intVal {
		l.wrong(badExpression(c.at(e.args[1]), "an index is an integer, not "+i.kind.String()))
	}
	constant := i.e.Op == schema.Literal
	switch of.kind {
	case bytesVal:
		return intOf(&schema.Expr{Op: schema.ByteAt, Args: []*schema.Expr{of.e, i.e}})
	case arrayVal:
		if constant {
			if i.e.Int < 0 || i.e.Int >= int64(len(of.elems)) {
				l.wrong(badExpression(c.at(e), "the array has no such element"))
			}
			return of.elems[i.e.Int]
		}
		if len(of.elems) == 0 {
			break
		}
		var alts []alt
		for k, v := range of.elems {
			alts = append(alts, alt{op(schema.Equal, i.e, lit(int64(k))), v})
		}
		return l.merge(c.at(e), alts)
	case listVal:
		return l.elementOf(c, e, of, i.e)
	}
	l.wrong(badExpression(c.at(e), of.kind.String()+" has no elements"))
	return nil
}
