package protodef

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// nowhere is the span of fields that have no text of their own.
var nowhere source.Span

func itoa(n int) string { return strconv.Itoa(n) }

// lowered is the meaning of a type. A type without typ has no contents.
type lowered struct {
	typ    schema.Type
	before []schema.Item // numbers before the value: its count, its size or its selector
	text   string        // the type, for people
	names  *scope        // the fields inside a container, of a bitfield or of alternatives
}

// attach adds a field to a struct, with the numbers before it.
func attach(s *schema.Struct, name string, t lowered, at source.Span) *schema.Field {
	f := &schema.Field{Name: name, Type: t.typ, TypeText: t.text, Span: at}
	s.Fields = append(s.Fields, f)
	for _, it := range t.before {
		it.Field = f
		if it.Num != nil {
			it.Bits, it.Order = it.Num.Bits, it.Num.Order
		}
		s.Wire = append(s.Wire, it)
	}
	s.Wire = append(s.Wire, schema.Item{Kind: schema.Value, Field: f})
	return f
}

// body returns the struct of a value that stands alone, and whether it is that of its only field.
func body(t lowered, at source.Span) (s *schema.Struct, bare bool) {
	if t.typ == nil {
		return nil, false
	}
	if g, ok := t.typ.(*schema.Group); ok && len(t.before) == 0 && !g.HasBody() && !g.Array {
		return g.Struct, false
	}
	s = &schema.Struct{}
	attach(s, "", t, at)
	return s, true
}

// contents is body with an empty struct for a value without contents.
func contents(t lowered, at source.Span) (s *schema.Struct, bare bool) {
	if s, bare = body(t, at); s == nil {
		s = &schema.Struct{}
	}
	return s, bare
}

// scope is the fields of a container that later types can refer to.
type scope struct {
	parent *scope
	depth  int
	fields map[string]entry
}

// entry is what a name refers to.
type entry struct {
	field   *schema.Field
	inside  *scope           // of a container
	virtual *schema.Expr     // a value that is not sent
	names   map[string]int64 // of the values of virtual
}

func newScope(parent *scope) *scope {
	s := &scope{parent: parent, fields: map[string]entry{}}
	if parent != nil {
		s.depth = parent.depth + 1
	}
	return s
}

// ref is a value that a path leads to.
type ref struct {
	expr  *schema.Expr
	num   *schema.Number   // of a number
	text  bool             // of a text
	part  bool             // of a part of a bitfield, or of an expression
	names map[string]int64 // of a value that is not sent
}

// resolve returns the value at a path.
func (l *lowerer) resolve(path string, sc *scope) (r ref, ok bool) {
	if name, found := strings.CutPrefix(path, "$"); found {
		p, known := l.params[name]
		if !known {
			return r, false
		}
		outer := l.params
		l.params = p.outer
		defer func() { l.params = outer }()
		return l.resolve(p.node.str(), p.scope)
	}
	words := strings.FieldsFunc(strings.ReplaceAll(path, "..", "^"), func(c rune) bool { return c == '/' || c == '.' })
	if strings.HasPrefix(path, "/") {
		for sc.parent != nil {
			sc = sc.parent
		}
	}
	for len(words) > 0 && words[0] == "^" && sc != nil {
		sc, words = sc.parent, words[1:]
	}
	if sc == nil || len(words) == 0 {
		return r, false
	}
	e, ok := sc.fields[words[0]]
	for !ok && sc.parent != nil { // a name that the container does not have is one of those around it
		sc = sc.parent
		e, ok = sc.fields[words[0]]
	}
	l.low = min(l.low, sc.depth)
	for words = words[1:]; ok && len(words) > 0; words = words[1:] {
		if b, is := fieldType(e.field).(*schema.Bitfield); is && len(words) == 1 {
			if words[0] == b.All && b.Var == schema.Long {
				return r, false
			}
			if words[0] == b.All {
				return ref{expr: schema.RefTo(e.field), num: &schema.Number{Bits: b.Bits}}, true
			}
			if part := b.Forms[0].Part(words[0]); part == nil || part.Shift >= 64 {
				return r, false
			}
			return ref{expr: &schema.Expr{Op: schema.Ref, Field: e.field, Part: words[0]}, part: true}, true
		}
		if e.inside == nil {
			return r, false
		}
		e, ok = e.inside.fields[words[0]]
	}
	if !ok {
		return r, false
	}
	if e.virtual != nil {
		return ref{expr: e.virtual, names: e.names, part: true}, true
	}
	r.expr = schema.RefTo(e.field)
	switch t := e.field.Type.(type) {
	case *schema.Number:
		r.num = t
		return r, t.Kind != schema.Float && t.Scale == 0
	case *schema.Bitfield:
		r.num = &schema.Number{Bits: t.Bits, Order: t.Order}
		return r, t.Var != schema.Long
	case *schema.Text: // one of fixed size is a part of a block, which nothing refers to
		r.text = true
		return r, t.Size != schema.Fixed
	case *schema.List: // stands for its number of elements
		switch t.Size {
		case schema.Counted:
		case schema.Fixed:
			r.expr, r.part = &schema.Expr{Int: int64(t.N)}, true
		case schema.Computed:
			r.expr, r.part = t.Expr, true
		default:
			return r, false
		}
	case *schema.Choice:
		return ofChoice(t)
	default:
		return r, false
	}
	return r, true
}

// ofChoice returns the number that is in one of several alternatives; 0 if that is not the one that was read.
func ofChoice(c *schema.Choice) (r ref, ok bool) {
	for i := range c.Cases {
		x := &c.Cases[i]
		if !x.Bare || x.Body == nil {
			continue
		}
		var one ref
		switch t := x.Body.Fields[0].Type.(type) {
		case *schema.Number:
			if t.Kind == schema.Float || t.Scale != 0 {
				continue
			}
			one = ref{expr: schema.RefTo(x.Body.Fields[0]), num: t}
		case *schema.Choice:
			if one, ok = ofChoice(t); !ok {
				continue
			}
		default:
			continue
		}
		if r.expr == nil {
			r = one
			continue
		}
		r.expr = &schema.Expr{Op: schema.Add, Args: []*schema.Expr{r.expr, one.expr}}
		if n := one.num; n != nil && n.Enum != nil {
			r.names = map[string]int64{}
			for _, v := range n.Enum.Values {
				r.names[v.Name] = n.Units(v.Value)
			}
		}
		r.part, r.num = true, nil
	}
	return r, r.expr != nil
}

func fieldType(f *schema.Field) schema.Type {
	if f == nil {
		return nil
	}
	return f.Type
}

// value returns the bits of the values that a case names. They are several if a mapper gives one name to several.
func (r *ref) value(name string) (bits []uint64) {
	n, numeric := parseInt(name)
	switch {
	case r.names != nil:
		if v, ok := r.names[name]; ok {
			return []uint64{uint64(v)}
		}
	case r.part || r.num == nil:
		switch {
		case name == "true":
			return []uint64{1}
		case name == "false":
			return []uint64{0}
		case numeric:
			return []uint64{uint64(n)}
		}
	case r.num.Kind == schema.Bool:
		switch name {
		case "true", "1":
			return []uint64{1}
		case "false", "0":
			return []uint64{0}
		}
	default:
		if r.num.Enum != nil {
			for _, v := range r.num.Enum.Values {
				if v.Name == name {
					bits = append(bits, v.Value)
				}
			}
			if bits != nil {
				return bits
			}
		}
		if numeric {
			return []uint64{uint64(n) & schema.Mask(r.num.Bits)}
		}
	}
	return nil
}

// parseInt reads an integer as JavaScript does: decimal or hexadecimal.
func parseInt(s string) (int64, bool) {
	if v, err := strconv.ParseInt(s, 0, 64); err == nil {
		return v, true
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v, true
	}
	v, err := strconv.ParseUint(s, 0, 64)
	return int64(v), err == nil
}

// expression parses a value to compare with: a path, or an expression of paths.
func (l *lowerer) expression(text string, sc *scope) (ref, error) {
	if !strings.ContainsAny(text, "|&=<>!+*? ") {
		r, ok := l.resolve(text, sc)
		if !ok {
			return r, fmt.Errorf("is not an earlier field with a value to compare with")
		}
		return r, nil
	}
	p := exprParser{l: l, scope: sc, text: text}
	e, err := p.binary(0)
	if p.skip(); err == nil && p.at < len(p.text) {
		err = fmt.Errorf("is not an expression: %q is left over", p.text[p.at:])
	}
	if err == nil && e.Size() > schema.MaxExpr {
		err = fmt.Errorf("has more than %d operations", schema.MaxExpr)
	}
	return ref{expr: e, part: true}, err
}

// exprParser parses expressions by precedence climbing.
type exprParser struct {
	l     *lowerer
	scope *scope
	text  string
	at    int
	depth int
}

// operators are the binary operators by precedence, the weakest first. Longer ones come first.
var operators = [...][]schema.ExprOp{
	{schema.Or},
	{schema.And},
	{schema.Equal, schema.NotEqual},
	{schema.LessEqual, schema.GreaterEqual, schema.Less, schema.Greater},
	{schema.Add, schema.Sub},
	{schema.Mul, schema.Mod},
}

func (p *exprParser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *exprParser) binary(level int) (*schema.Expr, error) {
	if level == len(operators) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		p.skip()
		i := slices.IndexFunc(operators[level], func(o schema.ExprOp) bool { return strings.HasPrefix(p.text[p.at:], o.Name()) })
		if i < 0 {
			break
		}
		op := operators[level][i]
		p.at += len(op.Name())
		if op == schema.Equal || op == schema.NotEqual {
			p.at += len(p.text[p.at:]) - len(strings.TrimPrefix(p.text[p.at:], "=")) // === and !==
		}
		var right *schema.Expr
		if right, err = p.binary(level + 1); err == nil {
			left = &schema.Expr{Op: op, Args: []*schema.Expr{left, right}}
		}
	}
	return left, err
}

func (p *exprParser) unary() (*schema.Expr, error) {
	if p.depth++; p.depth > schema.MaxExpr {
		return nil, fmt.Errorf("is nested too deeply")
	}
	defer func() { p.depth-- }()
	p.skip()
	if p.at == len(p.text) {
		return nil, fmt.Errorf("is not an expression: it ends early")
	}
	switch c := p.text[p.at]; {
	case c == '!' || c == '-':
		p.at++
		op := schema.Not
		if c == '-' {
			op = schema.Neg
		}
		e, err := p.unary()
		return &schema.Expr{Op: op, Args: []*schema.Expr{e}}, err
	case c == '(':
		p.at++
		e, err := p.binary(0)
		if p.skip(); err == nil && !strings.HasPrefix(p.text[p.at:], ")") {
			return nil, fmt.Errorf(`is not an expression: ")" is missing`)
		}
		p.at++
		return e, err
	}
	start := p.at
	for p.at < len(p.text) && (isWord(p.text[p.at]) || strings.IndexByte("./$", p.text[p.at]) >= 0) {
		p.at++
	}
	word := p.text[start:p.at]
	if word == "" {
		return nil, fmt.Errorf("is not an expression at %q", p.text[start:])
	}
	if v, ok := parseInt(word); ok {
		return &schema.Expr{Int: v}, nil
	}
	switch word {
	case "true":
		return &schema.Expr{Int: 1}, nil
	case "false":
		return &schema.Expr{}, nil
	}
	r, ok := p.l.resolve(word, p.scope)
	if !ok || r.text {
		return nil, fmt.Errorf("refers to %q, which is not an earlier number", word)
	}
	return r.expr, nil
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
