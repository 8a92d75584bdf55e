package emit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Texts of expressions are wb_bytes: those of the message, of structs and of the definitions, or parts of them. There is no memory for others.

func (g *cTarget) step(s *wire.Step, args []string) string {
	switch op := s.Op; op {
	case schema.Literal:
		return cInt(s.Int)
	case schema.Ref, schema.Begin, schema.End, schema.Index:
		return g.operand(s)
	case schema.Not:
		return "(int64_t)(" + args[0] + " == 0)"
	case schema.Neg:
		return "wb_int_(0 - (uint64_t)" + args[0] + ")"
	case schema.Invert:
		return "wb_int_(~(uint64_t)" + args[0] + ")"
	case schema.Div, schema.Mod, schema.ShiftLeft, schema.ShiftRight:
		name := map[schema.ExprOp]string{schema.Div: "div", schema.Mod: "mod", schema.ShiftLeft: "shl", schema.ShiftRight: "shr"}[op]
		return fmt.Sprintf("wb_%s_(%s, %s)", name, args[0], args[1])
	case schema.And, schema.Or:
		return fmt.Sprintf("(int64_t)(%s != 0 %s %s != 0)", args[0], op.Name(), args[1])
	case schema.If:
		return fmt.Sprintf("(%s != 0 ? %s : %s)", args[0], args[1], args[2])
	case schema.Equal, schema.NotEqual, schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual:
		return fmt.Sprintf("(int64_t)(%s %s %s)", args[0], op.Name(), args[1])
	default:
		return fmt.Sprintf("wb_int_((uint64_t)%s %s (uint64_t)%s)", args[0], op.Name(), args[1])
	}
}

// operand returns the value of a register.
func (g *cTarget) operand(s *wire.Step) string {
	v := g.reg(s.Reg)
	switch {
	case s.Kind == schema.TextExpr:
		return v
	case s.Num != nil && s.Num.Kind == schema.Float:
		v = fmt.Sprintf("wb_bits_float_(%d, %s)", s.Num.Bits, v)
		if s.Num.Scale != 0 {
			v = fmt.Sprintf("(%s * %s)", v, floatText(s.Num.Scale))
		}
		return v
	case s.Num != nil:
		return "(" + g.cast(s.Num, v, true) + ")"
	case s.Part != nil && s.Part.Mask != 0:
		v = "(int64_t)(" + g.partOf(v, *s.Part) + ")"
	case s.Part != nil:
		v = "wb_int_(" + g.partOf(v, *s.Part) + ")"
	case s.Truth:
		v = fmt.Sprintf("(int64_t)(%s != 0)", v)
	case s.Bits > 0:
		v = g.extend(v, s.Bits)
	default:
		v = "wb_int_(" + v + ")"
	}
	if s.Add != 0 && s.Add != math.MinInt64 {
		return fmt.Sprintf("wb_int_((uint64_t)%s + (uint64_t)%s)", v, cInt(s.Add))
	}
	return v
}

func (g *cTarget) float(f float64) string {
	switch {
	case f != f:
		return "(1e308 * 10 - 1e308 * 10)"
	case math.IsInf(f, 0):
		return map[bool]string{true: "(1e308 * 10)", false: "(-1e308 * 10)"}[f > 0]
	}
	return floatText(f)
}

func (g *cTarget) floatBits(v string) string           { return "wb_double_bits_(" + v + ")" }
func (g *cTarget) text(_ schema.Type, v string) string { return v }
func (g *cTarget) made(_ schema.Type, v string) string { return v }

func (g *cTarget) whole(t schema.Type, at slot) string {
	switch n, length := g.inside(t); {
	case length != "":
		return fmt.Sprintf("wb_held_(%s.data, %s.len)", at.set, at.set)
	case n != "":
		e, _ := wire.ExtentOf(t)
		return fmt.Sprintf("wb_held_(%s, %d)", at.set, e.N)
	}
	return at.set
}

// held returns a value as that of an expression.
func (g *cTarget) held(t schema.Type, s *wire.Step, at slot) string {
	switch t := t.(type) {
	case *schema.Number:
		switch {
		case t.Kind == schema.Float || t.Scale != 0:
			return "(double)" + at.get
		case t.Var == schema.Long:
			return "wb_int_(" + at.get + ".low)"
		}
	case *schema.Bitfield:
		_, v := g.allOf(t, at.get)
		if s.Part != nil {
			v = g.dot(at.get, g.partNames(t)[slices.Index(t.Names, s.Part.Name)])
		}
		return "wb_int_((uint64_t)" + v + ")"
	case *schema.Text, *schema.Blob:
		return g.whole(t, at)
	}
	return "wb_int_((uint64_t)" + at.get + ")"
}

func (g *cTarget) node(list, i string, m *member) string {
	n, data := list+".len", list+".data"
	if t := m.typ.(*schema.List); t.Size == schema.Fixed {
		n, data = fmt.Sprint(t.N), list
	}
	if i != "" {
		n = i + " + 1"
	}
	return fmt.Sprintf("wb_nodes_(%s, %s)", data, n)
}

const cLook = `
static inline $kind
$name_of_(const void *p)
{
	const $elem = (const $cast)p;
	$guard
	return $of;
}
$blank
static inline $kind
$name_(wb_nodes list$param)
{
	$kind v = $zero;
	$find
	return v;
}
$blank`

// look writes a function that returns a value in the elements of a list, and calls it.
func (g *cTarget) look(name string, s *wire.Step, args, guard, of string) string {
	kind, zero := [...]string{"int64_t", "double", "wb_bytes"}[s.Kind], [...]string{"0", "0", "wb_held_(NULL, 0)"}[s.Kind]
	m := g.nodes[s.Reg]
	g.looks++
	f := fmt.Sprintf("%s_look%d", g.types[g.m.record], g.looks)
	param, less := "", [...]string{"w < v", "w < v", "wb_compare_(w, v) < 0"}[s.Kind]
	at := "(const uint8_t *)list.data + (size_t)i * sizeof(" + g.elemType(m, "") + ")"
	find := "if (i >= 0 && (uint64_t)i < list.len)\n\t\tv = " + f + "_of_(" + at + ");"
	switch name {
	case "element":
		param = ", int64_t i"
	default:
		if name == "greatest" {
			less = "!(" + less + ")"
		}
		find = "for (size_t i = 0; i < list.len; i++) {\n\t\t" + kind + " w = " + f + "_of_(" + at + ");\n\t\tif (i == 0 || " + less + ")\n\t\t\tv = w;\n\t}"
	}
	if guard != "" {
		guard = "if (!(" + guard + "))\n\t\treturn " + zero + ";"
	}
	before := g.code
	g.code = code{}
	g.print(cLook, vars{
		"kind": kind, "name": f, "elem": g.elemType(m, "*e"), "cast": g.elemType(m, "*"), "guard": guard, "of": of, "param": param, "zero": zero,
		"find": find, "blank": func() { g.line("") },
	})
	g.out.WriteString(g.b.String())
	g.code = before
	return f + "_(" + strings.TrimSuffix(args, ", ") + ")"
}

func (g *cTarget) tags(list []string) string {
	name, n := "tags"+g.id(), len(list)
	if n == 0 {
		list = []string{"0"}
	}
	g.line("static const uint32_t %s[] = {%s};", name, strings.Join(list, ", "))
	return fmt.Sprintf("%s, %d", name, n)
}

func (g *cTarget) long(at slot, narrow bool, label string) string {
	v := "n" + g.id()
	g.line("uint64_t %s = %s;", v, fmt.Sprintf("x.long(&%s, %v, %s)", at.set, narrow, label))
	g.line("(void)%s;", v)
	return v
}

// selects omits a message whose alternatives depend on a text that C has not as bytes of the message, and those with expressions that make texts.
func (g *cTarget) selects(laid *wire.Message) {
	for i := range laid.Fields {
		if t, ok := laid.Fields[i].Schema.Type.(*schema.Text); ok && t.Charset == schema.UTF16BE {
			fail("text in %s", t.Charset)
		}
	}
	for p := range all(laid.Body.Parts) {
		regs, fields := []int{p.Reg}, []int{p.Field}
		for k := range p.Items {
			if it := &p.Items[k]; it.Kind == schema.Value {
				regs, fields = append(regs, it.Reg), append(fields, it.Field)
			}
		}
		for i, f := range fields {
			if f == wire.None || regs[i] == wire.None {
				continue
			}
			t, ok := laid.Fields[f].Schema.Type.(*schema.Text)
			_, inside := g.room(p.Extent, 2)
			if ok && (i > 0 || t.Charset == schema.UTF16LE && (inside || t.Size == schema.Fixed)) {
				fail("alternatives depend on the text %q", laid.Fields[f].Schema.Name)
			}
		}
		if p.Expr != nil {
			makes(*p.Expr)
		}
	}
}

// makes omits a message with an expression that makes a text, or depends on the characters of one that is not UTF-8.
func makes(x wire.Expr) {
	other, characters := false, false
	for i := range x {
		switch s := &x[i]; {
		case s.Op == schema.ToText, s.Op == schema.Reverse, s.Op == schema.Characters, s.Op == schema.ByteOf, s.Op == schema.Add && s.Of == schema.TextExpr:
			fail("an expression makes a text")
		case s.Op == schema.Mod && s.Of == schema.FloatExpr:
			fail("an expression has the remainder of floats")
		case s.Op == schema.Ref && s.Kind == schema.TextExpr && !s.Bytes:
			other = other || s.Set != schema.UTF8
			if s.Set == schema.UTF16LE {
				fail("an expression depends on a text in %s", s.Set)
			}
		case (s.Op == schema.Element || s.Op == schema.Least || s.Op == schema.Greatest) && s.Kind == schema.TextExpr && !s.Bytes:
			fail("an expression depends on texts in elements")
		case s.Op == schema.TextLiteral:
			characters = characters || slices.ContainsFunc(s.Text, func(c byte) bool { return c >= 0x80 }) && !s.Bytes
		case s.Op == schema.LengthOf, s.Op == schema.Slice:
			characters = characters || !s.Bytes
		}
	}
	if other && characters {
		fail("an expression depends on the characters of a text that is not UTF-8")
	}
}
