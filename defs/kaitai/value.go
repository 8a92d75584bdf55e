package kaitai

import (
	"fmt"
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func itoa(n int) string { return strconv.Itoa(n) }

// valKind is the kind of a value.
type valKind uint8

const (
	intVal valKind = iota
	boolVal
	floatVal
	strVal
	bytesVal
	structVal
	unionVal // one of several, by conditions
	listVal
	arrayVal // of an expression
	ioVal
	noVal // what cannot be said: lost
)

func (k valKind) String() string {
	return [...]string{"an integer", "a truth value", "a float", "a string", "bytes", "an object", "one of several types", "an array", "an array", "a stream", "nothing"}[k]
}

// scalar reports whether values of the kind are computed by a schema.Expr.
func (k valKind) scalar() bool { return k <= bytesVal }

// val is what an expression stands for.
type val struct {
	kind   valKind
	e      *schema.Expr
	enum   *enumDef
	wide   bool  // an unsigned integer of 64 bits
	inst   *inst // structVal
	alts   []alt
	field  *schema.Field // of the value, if it is a field
	elem   *val          // listVal: any element
	at     *element      // structVal, unionVal: it is in an element of a list
	elems  []*val        // arrayVal, and bytes of an expression
	io     place         // ioVal
	why    string        // noVal
	ranged bool          // valid is a range of the number
}

// alt is one of the values that a union may be.
type alt struct {
	cond *schema.Expr
	v    *val
}

// place is a stream: that of a group with a size, or of the message if field is nil.
type place struct {
	field  *schema.Field
	packed bool // its bytes are not those of the message
	around bool // the innermost one around, whichever it is
}

// lossError is the reason why something cannot be lowered.
type lossError struct {
	d diag.Diagnostic
}

// fail stops the lowering of an attribute, for what is valid, but cannot be said.
func (l *lowerer) fail(at source.Span, what string, args ...any) {
	panic(&lossError{loss(at, fmt.Sprintf(what, args...), "")})
}

// wrong stops the lowering of an attribute that is not valid.
func (l *lowerer) wrong(d diag.Diagnostic) { panic(&lossError{d}) }

// context is where an expression is.
type context struct {
	in    *inst
	n     *node
	elem  *val          // "_"
	index *schema.Field // the list of "_index"
	read  *schema.Expr  // of process: the number of bytes that have been read by then
}

func (c *context) at(e *ex) source.Span { return c.n.sub(e.from, e.to) }

func lit(v int64) *schema.Expr { return &schema.Expr{Int: v} }

func op(o schema.ExprOp, args ...*schema.Expr) *schema.Expr {
	constant := true
	for _, a := range args {
		constant = constant && a.Op == schema.Literal
	}
	if constant && len(args) > 0 && o <= schema.Or {
		b := int64(0)
		if len(args) > 1 {
			b = args[1].Int
		}
		return lit(o.Apply(args[0].Int, b))
	}
	return &schema.Expr{Op: o, Args: args}
}

func intOf(e *schema.Expr) *val  { return &val{kind: intVal, e: e} }
func boolOf(e *schema.Expr) *val { return &val{kind: boolVal, e: e} }
func strOf(e *schema.Expr) *val  { return &val{kind: strVal, e: e} }

// bytesOf returns the bytes of a constant.
func bytesOf(b []byte) *val {
	v := &val{kind: bytesVal, e: &schema.Expr{Op: schema.TextLiteral, Text: string(b), Bytes: true}}
	for _, c := range b {
		v.elems = append(v.elems, intOf(lit(int64(c))))
	}
	return v
}

// eval lowers an expression.
func (l *lowerer) eval(in *inst, x *expr, c context) *val {
	if x.e == nil {
		panic(&lossError{}) // it has been reported
	}
	c.in, c.n = in, x.n
	v := l.ex(&c, x.e)
	if v.kind == noVal {
		l.fail(c.at(x.e), "%s", v.why)
	}
	if v.kind.scalar() && v.e.Size() > schema.MaxExpr {
		l.fail(c.at(x.e), "the expression has more than %d operations", schema.MaxExpr)
	}
	return v
}

// number is eval for an integer.
func (l *lowerer) number(in *inst, x *expr, c context) *schema.Expr {
	v := l.eval(in, x, c)
	if v.kind != intVal {
		l.wrong(badExpression(x.n.span, "this is "+v.kind.String()+", not an integer"))
	}
	return v.e
}

// truth is eval for a condition.
func (l *lowerer) truth(in *inst, x *expr, c context) *schema.Expr {
	v := l.eval(in, x, c)
	if v.kind != boolVal {
		l.wrong(badExpression(x.n.span, "this is "+v.kind.String()+", not true or false"))
	}
	return v.e
}

func (l *lowerer) ex(c *context, e *ex) *val {
	switch e.kind {
	case exInt:
		return &val{kind: intVal, e: lit(int64(e.int)), wide: e.int>>63 == 1}
	case exBool:
		return boolOf(lit(int64(e.int)))
	case exFloat:
		return &val{kind: floatVal, e: &schema.Expr{Op: schema.FloatLiteral, Float: e.float}}
	case exStr:
		return strOf(&schema.Expr{Op: schema.TextLiteral, Text: e.name})
	case exFormat:
		out := &schema.Expr{Op: schema.TextLiteral}
		for i, a := range e.args {
			v := l.ex(c, a)
			if v.kind == intVal {
				v = strOf(&schema.Expr{Op: schema.ToText, Args: []*schema.Expr{v.e}})
			}
			if v.kind != strVal {
				l.fail(c.at(e), "%s in a formatted string", v.kind)
			}
			if i == 0 {
				out = v.e
			} else {
				out = op(schema.Add, out, v.e)
			}
		}
		return strOf(out)
	case exName:
		return l.name(c, e)
	case exArray:
		return l.array(c, e)
	case exEnum:
		return l.enumValue(c, e)
	case exSizeof:
		bits := l.sizeofType(c, e)
		if e.name == "bitsizeof" {
			return intOf(lit(bits))
		}
		return intOf(lit((bits + 7) / 8))
	case exUnary:
		return l.unary(c, e)
	case exBinary:
		return l.binary(c, e)
	case exCond:
		cond := l.ex(c, e.args[0])
		if cond.kind == noVal {
			return cond
		}
		if cond.kind != boolVal {
			l.wrong(badExpression(c.at(e.args[0]), "this is "+cond.kind.String()+", not true or false"))
		}
		if cond.e.Op == schema.Literal {
			if cond.e.Int != 0 {
				return l.ex(c, e.args[1])
			}
			return l.ex(c, e.args[2])
		}
		return l.merge(c.at(e), []alt{{cond.e, l.ex(c, e.args[1])}, {nil, l.ex(c, e.args[2])}})
	case exAttr:
		return l.member(c, e, l.ex(c, e.args[0]), e.name)
	case exCall:
		return l.call(c, e, l.ex(c, e.args[0]))
	case exIndex:
		return l.index(c, e, l.ex(c, e.args[0]), l.ex(c, e.args[1]))
	}
	return l.cast(c, e, l.ex(c, e.args[0])) // exCast
}

// merge returns the one of several values whose condition is the first to hold.
func (l *lowerer) merge(at source.Span, alts []alt) *val {
	if len(alts) == 1 {
		return alts[0].v
	}
	first := alts[0].v
	kind, wide := first.kind, first.wide
	same := true
	for _, a := range alts {
		if a.v.kind == noVal {
			return a.v
		}
		if a.v.kind == floatVal && kind == intVal || a.v.kind == intVal && kind == floatVal {
			kind = floatVal
			continue
		}
		same = same && a.v.kind == kind
		wide = wide || a.v.wide
	}
	if !same || !kind.scalar() {
		return &val{kind: unionVal, alts: alts}
	}
	last := alts[len(alts)-1]
	out := &val{kind: kind, wide: wide, e: last.v.e, enum: last.v.enum}
	if last.cond != nil {
		out.e = op2(last.cond, last.v.e, zero(kind))
	}
	for i := len(alts) - 2; i >= 0; i-- {
		out.e = op2(alts[i].cond, alts[i].v.e, out.e)
		if out.enum == nil {
			out.enum = alts[i].v.enum
		}
	}
	if out.e.Size() > schema.MaxExpr {
		l.fail(at, "the expression has more than %d operations", schema.MaxExpr)
	}
	return out
}

// op2 returns a if cond holds, b otherwise.
func op2(cond, a, b *schema.Expr) *schema.Expr {
	if cond == nil {
		return a
	}
	if cond.Op == schema.Literal {
		if cond.Int != 0 {
			return a
		}
		return b
	}
	return &schema.Expr{Op: schema.If, Args: []*schema.Expr{cond, a, b}}
}

func zero(k valKind) *schema.Expr {
	switch k {
	case strVal, bytesVal:
		return &schema.Expr{Op: schema.TextLiteral, Bytes: k == bytesVal}
	case floatVal:
		return &schema.Expr{Op: schema.FloatLiteral}
	}
	return lit(0)
}

// array lowers [a, b]: bytes if all elements are constant bytes.
func (l *lowerer) array(c *context, e *ex) *val {
	out := &val{kind: arrayVal}
	bytes := true
	var b []byte
	for _, a := range e.args {
		v := l.ex(c, a)
		out.elems = append(out.elems, v)
		if a.kind == exInt && a.int < 256 {
			b = append(b, byte(a.int))
		} else {
			bytes = false
		}
	}
	if bytes && len(e.args) > 0 {
		return bytesOf(b)
	}
	return out
}

func (l *lowerer) unary(c *context, e *ex) *val {
	v := l.ex(c, e.args[0])
	switch {
	case v.kind == noVal:
		return v
	case e.name == "not" && v.kind == boolVal:
		return boolOf(op(schema.Not, v.e))
	case e.name == "~" && v.kind == intVal:
		return intOf(op(schema.Invert, v.e))
	case e.name == "-" && v.kind == intVal:
		return intOf(op(schema.Neg, v.e))
	case e.name == "-" && v.kind == floatVal:
		if v.e.Op == schema.FloatLiteral {
			return &val{kind: floatVal, e: &schema.Expr{Op: schema.FloatLiteral, Float: -v.e.Float}}
		}
		return &val{kind: floatVal, e: op(schema.Neg, v.e)}
	}
	l.wrong(badExpression(c.at(e), fmt.Sprintf("%q of %s", e.name, v.kind)))
	return nil
}

var binaryOps = map[string]schema.ExprOp{
	"or": schema.Or, "and": schema.And, "<": schema.Less, "<=": schema.LessEqual, ">": schema.Greater, ">=": schema.GreaterEqual, "==": schema.Equal,
	"!=": schema.NotEqual, "|": schema.BitOr, "^": schema.BitXor, "&": schema.BitAnd, "<<": schema.ShiftLeft, ">>": schema.ShiftRight, "+": schema.Add,
	"-": schema.Sub, "*": schema.Mul, "/": schema.Div, "%": schema.Mod,
}

func (l *lowerer) binary(c *context, e *ex) *val {
	a, b := l.ex(c, e.args[0]), l.ex(c, e.args[1])
	if a.kind == noVal {
		return a
	}
	if b.kind == noVal {
		return b
	}
	for _, v := range [...]*val{a, b} {
		if v.kind == unionVal {
			l.fail(c.at(e), "an operation with a value whose type depends on others")
		}
	}
	o := binaryOps[e.name]
	number := func(v *val) bool { return v.kind == intVal || v.kind == floatVal }
	switch {
	case o == schema.Or || o == schema.And:
		if a.kind == boolVal && b.kind == boolVal {
			if a.e.Op == schema.Literal { // what is not evaluated may be more than can be said
				if (a.e.Int != 0) == (o == schema.And) {
					return b
				}
				return a
			}
			return boolOf(op(o, a.e, b.e))
		}
	case o >= schema.Equal && o <= schema.GreaterEqual:
		if number(a) && number(b) || a.kind == b.kind && a.kind.scalar() {
			if a.kind == intVal && (a.wide || b.wide) && o > schema.NotEqual { // without a sign
				const top = -1 << 63
				a, b = intOf(op(schema.BitXor, a.e, lit(top))), intOf(op(schema.BitXor, b.e, lit(top)))
			}
			if a.e.Op == schema.TextLiteral && b.e.Op == schema.TextLiteral {
				n := int64(strings.Compare(a.e.Text, b.e.Text))
				return boolOf(lit(o.Apply(n, 0)))
			}
			return boolOf(op(o, a.e, b.e))
		}
		if (a.kind == arrayVal && len(a.elems) == 0 || b.kind == arrayVal && len(b.elems) == 0) && (a.kind == bytesVal || b.kind == bytesVal) {
			if a.kind == arrayVal {
				a = b
			}
			return boolOf(op(o, a.e, zero(bytesVal)))
		}
	case o == schema.Add && a.kind == strVal && b.kind == strVal:
		if a.e.Op == schema.TextLiteral && b.e.Op == schema.TextLiteral {
			return strOf(&schema.Expr{Op: schema.TextLiteral, Text: a.e.Text + b.e.Text})
		}
		return strOf(op(o, a.e, b.e))
	case o >= schema.Add && o <= schema.Mod && number(a) && number(b):
		kind := max(a.kind, b.kind)
		return &val{kind: kind, e: op(o, a.e, b.e), wide: kind == intVal && (a.wide || b.wide) && o != schema.Sub}
	case a.kind == intVal && b.kind == intVal:
		return &val{kind: intVal, e: op(o, a.e, b.e), wide: o != schema.BitAnd && o != schema.ShiftRight && (a.wide || b.wide)}
	case a.kind == boolVal && b.kind == boolVal && o >= schema.BitAnd && o <= schema.BitXor:
		return boolOf(op(o, a.e, b.e))
	}
	l.wrong(badExpression(c.at(e), fmt.Sprintf("%q of %s and %s", e.name, a.kind, b.kind)))
	return nil
}
