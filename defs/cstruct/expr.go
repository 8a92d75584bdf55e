package cstruct

import (
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// precedence are the operators of two operands; a higher number binds tighter.
var precedence = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

// binary are their operations.
var binary = map[string]schema.ExprOp{
	"||": schema.Or, "&&": schema.And, "|": schema.BitOr, "^": schema.BitXor, "&": schema.BitAnd, "==": schema.Equal, "!=": schema.NotEqual,
	"<": schema.Less, ">": schema.Greater, "<=": schema.LessEqual, ">=": schema.GreaterEqual, "<<": schema.ShiftLeft, ">>": schema.ShiftRight,
	"+": schema.Add, "-": schema.Sub, "*": schema.Mul, "/": schema.Div, "%": schema.Mod,
}

// unary are the operations of one operand.
var unary = map[string]schema.ExprOp{"!": schema.Not, "-": schema.Neg, "~": schema.Invert}

// expr reads an expression whose operators bind at least as tight as a level; 0 also has "? :" and ",". It is nil if there is none.
func (p *parser) expr(level int) *expr {
	if p.depth++; p.depth > maxDepth {
		p.depth--
		return nil
	}
	defer func() { p.depth-- }()
	from := p.i
	x := p.operand()
	for x != nil {
		op := p.peek(0).text
		n := precedence[op]
		if n == 0 || n < level || p.peek(0).kind != signToken || p.angle && op[0] == '>' {
			break
		}
		p.i++
		y := p.expr(n + 1)
		if y == nil {
			return nil
		}
		x = &expr{op: op, at: p.since(from), args: []*expr{x, y}}
	}
	if x != nil && level <= 1 && p.accept("?") {
		a := p.expr(0)
		if a == nil || !p.accept(":") {
			return nil
		}
		b := p.expr(1)
		if b == nil {
			return nil
		}
		x = &expr{op: "?", at: p.since(from), args: []*expr{x, a, b}}
	}
	return x
}

// operand reads a number, a name, an operand in parentheses, or one with a sign.
func (p *parser) operand() *expr {
	from := p.i
	t := *p.peek(0)
	switch {
	case t.kind == numberToken:
		n, ok := integer(t.text)
		if !ok {
			return nil
		}
		p.i++
		return &expr{op: "number", at: t.at, n: n}
	case t.kind == charToken:
		p.i++
		n := int64(0)
		words := strings.Trim(t.text, "'")
		for words != "" {
			r, _, tail, err := strconv.UnquoteChar(words, '\'')
			if words == `\0` {
				r, tail, err = 0, "", nil
			}
			if err != nil {
				return nil
			}
			n, words = n<<8|int64(r), tail
		}
		return &expr{op: "number", at: t.at, n: n}
	case t.is("-") || t.is("~") || t.is("!") || t.is("+"):
		p.i++
		x := p.expr(11)
		if x == nil || t.text == "+" {
			return x
		}
		return &expr{op: t.text, at: p.since(from), args: []*expr{x}}
	case t.is("("):
		p.i++
		if typ := p.castType(); typ != nil {
			if x := p.expr(11); x != nil {
				return &expr{op: "cast", at: p.since(from), typ: typ, args: []*expr{x}}
			}
			return nil
		}
		defer func(angle bool) { p.angle = angle }(p.angle)
		p.angle = false
		x := p.expr(0)
		if x == nil || !p.accept(")") {
			return nil
		}
		return x
	case t.is("sizeof") || t.is("alignof") || t.is("_Alignof") || t.is("__alignof__"):
		p.i++
		word := strings.Trim(strings.ToLower(t.text), "_")
		open := p.accept("(")
		typ, _ := p.specifiers(p.u.root, nil, p.i)
		if typ == nil || typ.def != nil {
			return nil
		}
		for p.accept("*") {
			typ.pointer = true
		}
		if open && !p.accept(")") {
			return nil
		}
		return &expr{op: word, at: p.since(from), typ: typ}
	case t.is("offsetof") || t.is("__builtin_offsetof"):
		p.i++
		if !p.accept("(") {
			return nil
		}
		typ, _ := p.specifiers(p.u.root, nil, p.i)
		if typ == nil || !p.accept(",") {
			return nil
		}
		path := p.path()
		if len(path) != 1 || !p.accept(")") {
			return nil
		}
		return &expr{op: "offsetof", at: p.since(from), typ: typ, path: path}
	case t.is("static_cast") || t.is("reinterpret_cast"):
		p.i++
		args := p.arguments(p.u.root)
		if len(args) != 1 || !p.is("(") {
			return nil
		}
		p.i++
		x := p.expr(0)
		if x == nil || !p.accept(")") {
			return nil
		}
		return &expr{op: "cast", at: p.since(from), typ: args[0], args: []*expr{x}}
	case t.kind == wordToken && slices.Contains(primitives, t.text) && (p.peek(1).is("(") || p.peek(1).is("{")): // int(3)
		p.i++
		return p.called(from, &typeExpr{at: t.at, prim: primitive([]string{t.text})})
	case t.kind == wordToken || t.is("::"):
		path := p.path()
		for path != nil && p.is(".") && p.peek(1).kind == wordToken { // of an annotation
			path = append(path, ".", p.peek(1).text)
			p.i += 2
		}
		if path == nil {
			return nil
		}
		at := p.since(from)
		if p.is("(") || p.is("{") && p.peek(-1).kind == wordToken && (p.peek(1).kind == numberToken || p.peek(2).is("}")) {
			return p.called(from, &typeExpr{at: at, path: path})
		}
		return &expr{op: "name", at: at, path: path}
	}
	return nil
}

// called reads the value of a cast in the form of a call.
func (p *parser) called(from int, typ *typeExpr) *expr {
	closing := ")"
	if p.is("{") {
		closing = "}"
	}
	p.i++
	x := p.expr(0)
	if x == nil || !p.accept(closing) {
		return nil
	}
	return &expr{op: "cast", at: p.since(from), typ: typ, args: []*expr{x}}
}

// castType reads a type and ")", if that is what follows "(", and an operand follows it.
func (p *parser) castType() *typeExpr {
	from := p.i
	for k := 0; ; k++ { // before types are read, which may define some
		if t := p.peek(k); t.is(")") {
			n := p.peek(k + 1)
			if k == 0 || n.kind != numberToken && n.kind != wordToken && n.kind != charToken && !n.is("(") && !n.is("~") &&
				!(n.is("-") && slices.Contains(primitives, p.peek(k-1).text)) {
				return nil
			}
			break
		} else if t.kind != wordToken && !t.is("::") && !t.is("*") {
			return nil
		}
	}
	t, _ := p.specifiers(p.u.root, nil, p.i)
	for t != nil && p.accept("*") {
		t.pointer = true
	}
	if t == nil || !p.accept(")") {
		p.i = from
		return nil
	}
	return t
}

// integer reads an integer of C: decimal, hexadecimal, octal, binary, with suffixes and separators.
func integer(s string) (int64, bool) {
	s = strings.ToLower(strings.ReplaceAll(s, "'", ""))
	s = strings.TrimSuffix(s, "i64")
	if !strings.HasPrefix(s, "0x") || strings.ContainsAny(s, "ulz") {
		s = strings.TrimRight(s, "ulz")
	}
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
	case strings.HasPrefix(s, "0b"):
		s, base = s[2:], 2
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	n, err := strconv.ParseUint(s, base, 64)
	return int64(n), err == nil
}

// env is where an expression is evaluated.
type env struct {
	scope  *scope
	params map[string]binding // of templates
	macro  bool               // a condition of the preprocessor: names are 0
	zero   func(*expr)
	depth  int
}

// binding is an argument of a template.
type binding struct {
	typ      *typ
	isNumber bool
	n        int64
	code     *constant // the number is a name of an enum
}

// evaluate returns the value of an expression, as a number of 64 bits. bad is why there is none.
func (u *unit) evaluate(x *expr, e env) (v int64, bad *diag.Diagnostic) {
	if e.depth++; e.depth > maxDepth {
		d := tooDeep(x.at)
		return 0, &d
	}
	var args [3]int64
	lazy := x.op == "?" || x.op == "&&" || x.op == "||"
	for i, a := range x.args {
		if lazy && i > 0 {
			if skip := x.op == "&&" && args[0] == 0 || x.op == "||" && args[0] != 0 || x.op == "?" && (i == 1) == (args[0] == 0); skip {
				continue
			}
		}
		if args[i], bad = u.evaluate(a, e); bad != nil {
			return 0, bad
		}
	}
	switch x.op {
	case "number":
		return x.n, nil
	case "name":
		return u.named(x, e)
	case "sizeof", "alignof":
		t := u.resolve(x.typ, e)
		if t == nil {
			return 0, u.silent(x.at)
		}
		if x.op == "sizeof" {
			return int64(t.size), nil
		}
		return int64(t.align), nil
	case "offsetof":
		if t := u.resolve(x.typ, e); t != nil && t.shape != nil {
			for _, s := range t.shape.slots {
				if s.name() == x.path[0] {
					return int64(s.off / 8), nil
				}
			}
			d := unknownName(x.at, x.path[0], "is no field of it")
			return 0, &d
		}
		return 0, u.silent(x.at)
	case "cast":
		t := u.resolve(x.typ, e)
		if t == nil {
			return 0, u.silent(x.at)
		}
		if bits := 8 * t.size; t.isInteger() && bits < 64 {
			args[0] = args[0] << (64 - bits)
			if t.signed {
				return args[0] >> (64 - bits), nil
			}
			return int64(uint64(args[0]) >> (64 - bits)), nil
		}
		return args[0], nil
	}
	if x.op == "?" && len(x.args) == 3 {
		if args[0] != 0 {
			return args[1], nil
		}
		return args[2], nil
	}
	if op, ok := unary[x.op]; ok && len(x.args) == 1 {
		return op.Apply(args[0], 0), nil
	}
	if op, ok := binary[x.op]; ok && len(x.args) == 2 {
		if (x.op == "/" || x.op == "%") && args[1] == 0 {
			d := notConstant(x.at, "divides by 0")
			return 0, &d
		}
		if x.op == "/" && args[1] != -1 {
			return args[0] / args[1], nil // rounds towards 0
		}
		if x.op == "%" && args[1] != -1 {
			return args[0] % args[1], nil
		}
		return op.Apply(args[0], args[1]), nil
	}
	d := notConstant(x.at, "is no expression of numbers")
	return 0, &d
}

// named returns the value of a name: an argument of a template, a constant, a value of an enum, or a macro.
func (u *unit) named(x *expr, e env) (int64, *diag.Diagnostic) {
	word := x.name()
	switch word {
	case "true":
		return 1, nil
	case "false", "nullptr", "NULL":
		return 0, nil
	}
	if e.macro {
		if e.zero != nil {
			e.zero(x)
		}
		return 0, nil
	}
	if b, ok := e.params[word]; ok && b.isNumber {
		return b.n, nil
	}
	c := u.constantNamed(x.path, e.scope)
	if c == nil {
		if n, ok, bad := u.macroValue(x, e); ok {
			return n, bad
		}
		d := unknownName(x.at, word, "has no value")
		d = u.meant(d, x.at, word, u.constantNames())
		return 0, &d
	}
	return u.constant(c, e.depth)
}

// macroValue evaluates a macro that was defined after its name was read, or in another file.
func (u *unit) macroValue(x *expr, e env) (n int64, ok bool, bad *diag.Diagnostic) {
	m := u.pp.macros[x.name()]
	if m == nil || m.call {
		return 0, false, nil
	}
	p := &parser{u: u, toks: u.pp.expand([]token{{kind: wordToken, text: x.name(), at: x.at}}, nil)}
	y := p.expr(0)
	if y == nil || p.i < len(p.toks) {
		d := notConstant(x.at, "is no number")
		return 0, true, &d
	}
	n, bad = u.evaluate(y, e)
	return n, true, bad
}

// constant returns the value of a constant.
func (u *unit) constant(c *constant, depth int) (int64, *diag.Diagnostic) {
	if c.done {
		return c.value, c.bad
	}
	if c.busy || depth > maxDepth {
		d := notConstant(c.at, "depends on itself")
		return 0, &d
	}
	c.busy = true
	defer func() { c.busy = false }()
	switch {
	case c.x != nil:
		c.value, c.bad = u.evaluate(c.x, env{scope: c.scope, depth: depth})
	case c.prev != nil:
		for from := c; from.prev != nil && from.x == nil; from = from.prev { // without recursion: there may be thousands
			c.value++
			if from.prev.done || from.prev.x != nil || from.prev.prev == nil {
				v, bad := u.constant(from.prev, depth+1)
				c.value, c.bad = c.value+v, bad
				break
			}
		}
	}
	c.done = true
	return c.value, c.bad
}
