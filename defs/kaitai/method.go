package kaitai

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/defs/schema"
	"wirebench/defs/text"
)

func (l *lowerer) call(c *context, e *ex, of *val) *val {
	args := make([]*val, 0, 2)
	for _, a := range e.args[1:] {
		v := l.ex(c, a)
		if v.kind == noVal {
			return v
		}
		args = append(args, v)
	}
	switch of.kind {
	case noVal:
		return of
	case unionVal:
		return l.ofUnion(c, e, of, func(v *val) *val { return l.method(c, e, v, e.name, args) })
	}
	return l.method(c, e, of, e.name, args)
}

// method lowers a method of a value.
func (l *lowerer) method(c *context, e *ex, of *val, name string, args []*val) *val {
	ints := true
	for _, a := range args {
		ints = ints && a.kind == intVal
	}
	type sig struct {
		kind valKind
		name string
		args int
	}
	un := func(o schema.ExprOp, more ...*schema.Expr) *schema.Expr {
		return &schema.Expr{Op: o, Args: append([]*schema.Expr{of.e}, more...)}
	}
	switch s := (sig{of.kind, name, len(args)}); s {
	case sig{intVal, "to_s", 0}:
		return strOf(un(schema.ToText))
	case sig{intVal, "to_i", 0}, sig{boolVal, "to_i", 0}:
		return &val{kind: intVal, e: of.e, wide: of.wide}
	case sig{floatVal, "to_i", 0}, sig{strVal, "to_i", 0}:
		if f := of.e; f.Op == schema.FloatLiteral && math.Abs(f.Float) < 1<<53 {
			return intOf(lit(int64(f.Float)))
		}
		if of.e.Op == schema.TextLiteral {
			return l.toInt(c, e, of.e.Text, 10)
		}
		return intOf(un(schema.ToInt, lit(10)))
	case sig{strVal, "to_i", 1}:
		if !ints {
			break
		}
		if of.e.Op == schema.TextLiteral && args[0].e.Op == schema.Literal {
			return l.toInt(c, e, of.e.Text, int(args[0].e.Int))
		}
		return intOf(un(schema.ToInt, args[0].e))
	case sig{strVal, "length", 0}:
		return intOf(un(schema.LengthOf))
	case sig{bytesVal, "length", 0}, sig{bytesVal, "size", 0}:
		if of.elems != nil {
			return intOf(lit(int64(len(of.elems))))
		}
		return intOf(un(schema.LengthOf))
	case sig{strVal, "reverse", 0}:
		return strOf(un(schema.Reverse))
	case sig{strVal, "substring", 2}:
		if ints {
			return strOf(un(schema.Slice, args[0].e, args[1].e))
		}
	case sig{bytesVal, "to_s", 1}:
		if args[0].kind != strVal || args[0].e.Op != schema.TextLiteral {
			break
		}
		set, ok := charset(args[0].e.Text)
		if !ok {
			l.fail(c.at(e), "the encoding %s", text.Quote(args[0].e.Text))
		}
		if b := of.e; b.Op == schema.TextLiteral && set.Unit() == 1 {
			return strOf(&schema.Expr{Op: schema.TextLiteral, Text: characters(b.Text, set)})
		}
		return strOf(&schema.Expr{Op: schema.Characters, Set: set, Args: []*schema.Expr{of.e}})
	case sig{bytesVal, "first", 0}:
		return intOf(un(schema.ByteAt, lit(0)))
	case sig{bytesVal, "last", 0}:
		return intOf(un(schema.ByteAt, op(schema.Sub, un(schema.LengthOf), lit(1))))
	case sig{listVal, "size", 0}, sig{listVal, "length", 0}:
		return l.countOf(c, e, of)
	case sig{arrayVal, "size", 0}, sig{arrayVal, "length", 0}:
		return intOf(lit(int64(len(of.elems))))
	case sig{arrayVal, "first", 0}:
		if len(of.elems) > 0 {
			return of.elems[0]
		}
	case sig{arrayVal, "last", 0}:
		if len(of.elems) > 0 {
			return of.elems[len(of.elems)-1]
		}
	case sig{arrayVal, "min", 0}, sig{arrayVal, "max", 0}, sig{bytesVal, "min", 0}, sig{bytesVal, "max", 0}:
		if len(of.elems) > 0 {
			return l.extreme(c, e, of.elems, name == "max")
		}
	case sig{listVal, "first", 0}:
		return l.elementOf(c, e, of, lit(0))
	case sig{listVal, "last", 0}:
		return l.elementOf(c, e, of, op(schema.Sub, l.countOf(c, e, of).e, lit(1)))
	case sig{listVal, "min", 0}, sig{listVal, "max", 0}:
		return l.extremeOf(c, e, of, name == "max")
	case sig{bytesVal, "min", 0}, sig{bytesVal, "max", 0}:
		l.fail(c.at(e), "%q of bytes", name)
	}
	if slices.Contains([]string{"to_s", "to_i", "length", "size", "reverse", "substring", "first", "last", "min", "max"}, name) && (of.kind == arrayVal || of.kind == unionVal) {
		l.fail(c.at(e), "%q of %s", name, of.kind)
	}
	l.wrong(badExpression(c.at(e), fmt.Sprintf("%s has no %s with %d arguments", of.kind, text.Quote(name), len(args))))
	return nil
}

// characters returns constant bytes as text.
func characters(b string, set schema.Charset) string {
	var out []byte
	switch {
	case set == schema.UTF8:
		return strings.ToValidUTF8(b, "\ufffd")
	case set == schema.Latin1:
		for i := range len(b) {
			out = utf8.AppendRune(out, rune(b[i]))
		}
	default:
		for rest := []byte(b); len(rest) > 0; {
			r, n := set.Next(rest)
			out, rest = utf8.AppendRune(out, r), rest[n:]
		}
	}
	return string(out)
}

// toInt is the integer in a constant text.
func (l *lowerer) toInt(c *context, e *ex, s string, base int) *val {
	if base >= 2 && base <= 36 {
		if v, err := strconv.ParseInt(s, base, 64); err == nil {
			return intOf(lit(v))
		}
	}
	l.fail(c.at(e), "%s is not an integer", text.Quote(s))
	return nil
}

// extreme returns the smallest or the largest of some numbers.
func (l *lowerer) extreme(c *context, e *ex, of []*val, largest bool) *val {
	o := schema.Less
	if largest {
		o = schema.Greater
	}
	best := of[0]
	for _, v := range of[1:] {
		if v.kind != best.kind || !v.kind.scalar() {
			l.fail(c.at(e), "the smallest or largest of values of several types")
		}
		best = &val{kind: v.kind, e: op2(op(o, v.e, best.e), v.e, best.e)}
		if best.e.Size() > schema.MaxExpr {
			l.fail(c.at(e), "the expression has more than %d operations", schema.MaxExpr)
		}
	}
	return best
}

// cast lowers x.as<type>.
func (l *lowerer) cast(c *context, e *ex, of *val) *val {
	if of.kind == noVal || e.list {
		return of
	}
	name := e.path[len(e.path)-1]
	if len(e.path) == 1 {
		switch {
		case name == "bytes":
			if of.kind == arrayVal {
				if len(of.elems) == 0 {
					return &val{kind: bytesVal, e: zero(bytesVal), elems: []*val{}}
				}
				return l.joined(c, e, of.elems)
			}
			if of.kind == unionVal {
				break
			}
			return of
		case name == "struct" || name == "io" || name == "str" || name == "any":
			return of
		case numberOf(name, "le") != nil || bitsOf(name) > 0:
			return of
		}
	}
	d := l.find(e.path, c.in.def)
	if d == nil {
		l.wrong(unknownType(c.at(e), strings.Join(e.path, "::"), ""))
	}
	switch of.kind {
	case structVal:
		if of.inst == nil || of.inst.def == d {
			return of
		}
		l.fail(c.at(e), "%q is used as a %q here", of.inst.def.name, d.name)
	case unionVal:
		var fit []alt
		for _, a := range of.alts {
			if a.v.kind == structVal && (a.v.inst == nil || a.v.inst.def == d) {
				fit = append(fit, a)
			}
			if a.v.kind == unionVal {
				fit = append(fit, alt{a.cond, l.cast(c, e, a.v)})
			}
		}
		if len(fit) > 0 {
			return l.merge(c.at(e), fit)
		}
	}
	l.fail(c.at(e), "%s is used as a %q here", of.kind, d.name)
	return nil
}
