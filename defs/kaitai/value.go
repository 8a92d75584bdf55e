package kaitai

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
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

// element is an element of a list.
type element struct {
	list  *schema.Field
	index *schema.Expr
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
	case schema.Cursor, schema.Begin, schema.End, schema.From, schema.To, schema.Index:
		l.fail(c.at(e), "a position in an element of an array")
	case schema.Element:
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
	if of.io.field == nil {
		begin = lit(0)
	}
	if of.io.around {
		begin, end = &schema.Expr{Op: schema.From}, &schema.Expr{Op: schema.To}
	}
	cursor := &schema.Expr{Op: schema.Cursor}
	if c.read != nil {
		cursor = op(schema.Add, cursor, c.read)
	}
	switch name {
	case "pos":
		if begin.Op == schema.Literal {
			return intOf(cursor)
		}
		return intOf(op(schema.Sub, cursor, begin))
	case "size":
		if begin.Op == schema.Literal {
			return intOf(end)
		}
		return intOf(op(schema.Sub, end, begin))
	case "eof":
		return boolOf(op(schema.GreaterEqual, cursor, end))
	}
	l.wrong(badExpression(c.at(e), "a stream has no "+text.Quote(name)))
	return nil
}

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
		l.fail(c.at(e), "%q of an array", name)
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
				l.fail(c.at(e), "bytes that are computed one by one")
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

// enumValue lowers a::b::value.
func (l *lowerer) enumValue(c *context, e *ex) *val {
	last := len(e.path) - 1
	d := l.enum(e.path[:last], c.in.def)
	if d == nil {
		l.wrong(badExpression(c.at(e), "no enum is named "+text.Quote(strings.Join(e.path[:last], "::"))))
	}
	var names []string
	for _, v := range d.values {
		if v.name == e.path[last] {
			return &val{kind: intVal, e: lit(int64(v.value)), enum: d, wide: int64(v.value) < 0 && !v.low}
		}
		names = append(names, v.name)
	}
	bad := badExpression(c.at(e), fmt.Sprintf("the enum %q has no %s", d.name, text.Quote(e.path[last])))
	if near := diag.Nearest(e.path[last], names); near != "" {
		bad.Help = fmt.Sprintf("did you mean %q?", near)
	}
	l.wrong(bad)
	return nil
}

// find returns the type of a path, seen from a type; nil if there is none.
func (l *lowerer) find(path []string, from *typeDef) *typeDef {
	descend := func(d *typeDef) *typeDef {
		for _, name := range path[1:] {
			if d = d.types[name]; d == nil {
				return nil
			}
		}
		return d
	}
	for d := from; d != nil; d = d.parent {
		if t := d.types[path[0]]; t != nil {
			return descend(t)
		}
		if d.name == path[0] {
			return descend(d)
		}
	}
	if t := l.tops[path[0]]; t != nil {
		return descend(t)
	}
	return nil
}

// enum returns the enum of a path, seen from a type; nil if there is none.
func (l *lowerer) enum(path []string, from *typeDef) *enumDef {
	if len(path) == 0 {
		return nil
	}
	last := len(path) - 1
	if last > 0 {
		if t := l.find(path[:last], from); t != nil {
			return t.enums[path[last]]
		}
		return nil
	}
	for d := from; d != nil; d = d.parent {
		if e := d.enums[path[0]]; e != nil {
			return e
		}
	}
	return nil
}

// nearType returns the name of a type that is similar to a name.
func (l *lowerer) nearType(name string, from *typeDef) string {
	names := slices.Collect(maps.Keys(l.tops))
	for d := from; d != nil; d = d.parent {
		names = append(names, slices.Collect(maps.Keys(d.types))...)
	}
	slices.Sort(names)
	return diag.Nearest(name, names)
}

// charset returns the encoding of a name.
func charset(name string) (schema.Charset, bool) {
	return schema.CharsetNamed(strings.TrimSpace(name))
}
