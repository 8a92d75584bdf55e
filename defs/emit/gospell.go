package emit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// goTarget writes Go. The functions of a type are methods.
type goTarget struct {
	wirer
	count map[string]int // methods of types
}

var goPrints = prints{
	code:    "code",
	remark:  "// %s",
	equal:   "==",
	comment: " // $text",
	test:    "$cond",
}

var goWording = wording{
	declare:  "%[2]s := %[3]s",
	guard:    "if !$call {\n\treturn\n}",
	failed:   "if x.err != nil {\n\tbreak\n}",
	nested:   "$call, func() {\n\t$body\n});",
	sides:    closeSides,
	text:     "%[1]s.units(%[2]s)",
	absent:   "unless(%s, %s != nil)",
	branch:   "%s:",
	nowhere:  "nil",
	place:    "place{%s}",
	length:   "len(%s)",
	end:      "len(x.b)",
	bit:      "uint64(8*x.pos + %[2]d)",
	some:     "%s != nil",
	unsigned: "uint64(%s)",
	signed:   "int64(%s)",
	units:    "int(%s)",
	let:      "uint64(%s)",
	ref:      "&%s",
	bits:     "var %s uint64",
	part:     "(%s>>%d&%s)",
	shifted:  "%s<<%d",
	again:    "if x.retry() {\n\tm.wire(&x)\n}",
	exact:    "int64(%s)",
	either:   "either(%s, %s, %s)",
	isBit:    "truth(%s)",
	equal:    " == ",
	differ:   " != ",
	element:  "e",
	real:     "float64(%s)",
}

func (g *goTarget) whole(t schema.Type, at slot) string { return g.text(t, at.get) }
func (g *goTarget) chain(*wire.Part)                    {}
func (g *goTarget) title(s string) string               { return strconv.Quote(s) }
func (g *goTarget) compared(_ int, s string) string     { return strconv.Quote(s) }
func (g *goTarget) create(at slot)                      { g.line("%s;", g.make(at)) }

func (g *goTarget) dot(base, name string) string           { return base + "." + name }
func (g *goTarget) mask(v uint64) string                   { return fmt.Sprintf("%#x", v) }
func (g *goTarget) bounds(e schema.Extent) (lo, hi string) { return bounds(e, "1<<64-1") }
func (g *goTarget) partNames(t *schema.Bitfield) []string {
	if t.All == "" {
		return bitfieldNames(t, camel)
	}
	return bitfieldNames(t, camel, goAll)
}

// convert converts an unsigned integer to another width.
func convert(expr string, width, to int) string {
	if to == width {
		return expr
	}
	return fmt.Sprintf("uint%d(%s)", to, expr)
}

// inRange returns the condition that a value is legal, "" if all values are. NaN is outside every range.
func (g *goTarget) inRange(n *schema.Number, v string, _ bool) string {
	typ := map[schema.NumKind]string{schema.Float: "float64", schema.Signed: "int64"}[n.Kind]
	if typ == "" {
		typ = "uint64"
	}
	return limits(n, typ+"("+v+")", "", func(f float64) string {
		if math.IsInf(f, 0) {
			return fmt.Sprintf("math.Inf(%d)", map[bool]int{true: 1, false: -1}[f > 0])
		}
		return floatText(f)
	})
}

const goMethods = `
// ReadBinary reads the message at the start of data and returns the number of its bytes.
func (m *$type) ReadBinary(data []byte) (n int, err error) {
	x := reading(data, $header)
	$checks
	*m = $type{}
	m.wire(&x)
	return x.wasRead()
}
// AppendBinary appends the bytes of the message to dst.
func (m *$type) AppendBinary(dst []byte) ([]byte, error) {
	x := writing(dst)
	m.wire(&x)
	$ends
	return x.wrote(dst)
}`

func (g *goTarget) entry(m *message, checks, ends []string) {
	g.print(goMethods, vars{"type": g.types[m.record], "header": m.laid.Header, "checks": func() {
		if len(checks) > 0 {
			g.line("if !%s {\n\treturn 0, x.err\n}", strings.Join(checks, " || !"))
		}
	}, "ends": strings.Join(ends, "\n")})
}

func (g *goTarget) function(r *record, name, block string, params []int, text string) string {
	list := ""
	if block != "" {
		list = ", " + block + " []byte"
	}
	for i, reg := range params {
		list += fmt.Sprintf(", v%d %s", i+1, g.regType(reg))
	}
	return fmt.Sprintf("func (m *%s) %s(x *coder%s) {\n%s}\n\n", g.types[r], name, list, text)
}

// newFunction returns the name of another method of a type.
func (g *goTarget) newFunction(r *record) string {
	typ := g.types[r]
	g.count[typ]++
	if n := g.count[typ]; n > 1 {
		return "wire" + strconv.Itoa(n)
	}
	return "wireElem"
}

func (g *goTarget) call(name string, of slot, args string) string {
	return fmt.Sprintf("%s.%s(x%s)", of.get, name, args)
}

func (g *goTarget) alternatives(r *record, body func()) {
	before := g.code
	g.code = code{}
	body()
	fmt.Fprintf(&g.out, "// alternative returns the number of the alternative that a message of that size has.\nfunc (*%s) alternative(size int) int {\n%sreturn 0\n}\n\n", g.types[r], g.b.String())
	g.code = before
}

func (g *goTarget) alternative(r *record) (read, wrote string) {
	return "m.alternative(len(x.b))", "m.alternative(len(x.b)-x.base) == m." + g.choices[r]
}

func (g *goTarget) regType(reg int) string {
	r := &g.laid.Regs[reg]
	if m := g.nodes[reg]; m != nil {
		return "[]" + g.elemType(m)
	}
	switch r.Type.(type) {
	case *schema.Text, *schema.Blob:
		return "string"
	}
	if r.Expr != nil && r.Expr.Kind() == schema.TextExpr {
		return "string"
	}
	return "uint64"
}

// elemType returns the type of the elements of a list.
func (g *goTarget) elemType(m *member) string {
	if m.elem == nil {
		return g.types[m.record]
	}
	return g.memberType(m.elem, true)
}

func (g *goTarget) bytes(b []byte) string  { return strconv.Quote(string(b)) }
func (g *goTarget) float(f float64) string { return "float(" + goFloat(f, "float64") + ")" }

func (g *goTarget) text(t schema.Type, v string) string {
	b, ok := t.(*schema.Blob)
	switch {
	case ok && fixedSize(b):
		return "string(" + v + "[:])"
	case ok:
		return "string(" + v + ")"
	}
	return v
}

func (g *goTarget) made(t schema.Type, v string) string {
	if _, ok := t.(*schema.Blob); ok {
		return "Hex(" + v + ")"
	}
	return v
}

// fixedSize reports whether the values of bytes have one size.
func fixedSize(b *schema.Blob) bool { return b.Size == schema.Fixed && !b.Trim && b.Value == nil }

func (g *goTarget) held(t schema.Type, s *wire.Step, at slot) string {
	switch t := t.(type) {
	case *schema.Number:
		switch {
		case t.Kind == schema.Bool:
			return "truth(" + at.get + ")"
		case t.Kind == schema.Float || t.Scale != 0:
			return "float64(" + at.get + ")"
		case t.Var == schema.Long:
			return "int64(" + at.get + ".Low)"
		}
	case *schema.Bitfield:
		if s.Part == nil {
			_, bits := g.allOf(t, at.get)
			return "int64(" + bits + ")"
		}
		names := g.partNames(t)
		for i, name := range t.Names {
			if name != s.Part.Name {
				continue
			}
			if _, truth := bitfieldPart(t, name); truth {
				return "truth(" + g.dot(at.get, names[i]) + ")"
			}
			return "int64(" + g.dot(at.get, names[i]) + ")"
		}
	case *schema.Text, *schema.Blob:
		return g.text(t, at.get)
	}
	return "int64(" + at.get + ")"
}

func (g *goTarget) node(list, i string, _ *member) string {
	if i != "" {
		i += "+1"
	}
	return list + "[:" + i + "]"
}

func (g *goTarget) look(name string, s *wire.Step, args, guard, of string) string {
	kind := [...]string{"int64", "float64", "string"}[s.Kind]
	if guard != "" {
		guard = "if !(" + guard + ") {\nreturn\n}\n"
	}
	return fmt.Sprintf("%s(%sfunc(e *%s) (v %s) {\n%sreturn %s\n})", name, args, g.elemType(g.nodes[s.Reg]), kind, guard, of)
}

func (g *goTarget) long(at slot, narrow bool, label string) string {
	v := "n" + g.id()
	g.line("%s := x.long(&%s, %v, %s)\n_ = %s", v, at.set, narrow, label, v)
	return v
}

func (g *goTarget) tags(list []string) string { return "[]uint32{" + strings.Join(list, ", ") + "}" }

func (g *goTarget) floatBits(v string) string { return "math.Float64bits(" + v + ")" }

func (g *goTarget) variables(regs []int) string {
	var names []string
	out := ""
	for i, reg := range regs {
		if names = append(names, g.reg(reg)); i+1 == len(regs) || g.regType(reg) != g.regType(regs[i+1]) {
			out += "var " + strings.Join(names, ", ") + " " + g.regType(reg) + "\n"
			names = nil
		}
	}
	return out
}

func (g *goTarget) word(name string, _ int) string { return name }

// form returns the composite literal of a number's encoding.
func (g *goTarget) form(bits int, v schema.Varint, order schema.Order, isSigned bool, add int64) string {
	out := fmt.Sprintf("number{bits: %d", bits)
	if v != schema.Sized {
		out += ", form: " + [...]string{"sized", "leb", "sleb", "zigzag", "vlq", "leb", "wide", "wideSigned"}[v]
	}
	if order == schema.Big {
		out += ", big: true"
	}
	if isSigned {
		out += ", signed: true"
	}
	if add != 0 {
		out += fmt.Sprintf(", add: %d", add)
	}
	return out + "}"
}

func goSlot(expr string) slot { return slot{set: expr, get: expr} }

func (g *goTarget) of(base slot, m *member) slot { return goSlot(g.dot(base.set, g.fields[m])) }
func (g *goTarget) fill(*member, slot)           {}

func (g *goTarget) inner(at slot, null bool) slot {
	if null {
		return goSlot("(*" + at.set + ")")
	}
	return at
}

func (g *goTarget) kind(at slot, _ *member, bare bool) slot {
	v := "p" + g.id()
	g.line("%s := %s\n_ = %s", v, g.make(at), v)
	return g.inner(goSlot(v), bare)
}

func (g *goTarget) part(r *record, base slot, parts []wire.Part) {
	g.guard(fmt.Sprintf("x.part(&%s, %d)", g.dot(base.set, g.parts[r]), parts[0].Optional))
}

func (g *goTarget) make(at slot) string { return "value(x, &" + at.set + ")" }

func (g *goTarget) pass(method string, at slot, args string) {
	g.line("x.%s(&%s, %s)", method, at.set, args)
}

func (g *goTarget) stored(p *wire.Part, at slot) bool {
	if p.Kind != wire.Blob || p.Extent.Size != schema.Fixed {
		return false
	}
	g.copies(fmt.Sprintf("x.block(%d)", p.Extent.N), at.set+"[:]")
	return true
}

// copies writes bytes that are copied.
func (g *goTarget) copies(bytes, to string) {
	g.print("if b := $bytes; x.writing {\n\tcopy(b, $to)\n} else {\n\tcopy($to, b)\n}", vars{"bytes": bytes, "to": to})
}

func (g *goTarget) pick(cond string, a, b uint64, _ int) string {
	if a == 1 && b == 0 {
		return "bit(" + cond + ")"
	}
	return fmt.Sprintf("uint64(when(truth(%s), %d, %d))", cond, a, b)
}

func (g *goTarget) constant(_ int, v uint64) string { return strconv.FormatUint(v, 10) }

func (g *goTarget) cut(expr string, bits int) string {
	return fmt.Sprintf("uint64(%s) & %s", expr, g.mask(schema.Mask(bits)))
}

func (g *goTarget) extend(raw string, bits int) string {
	return fmt.Sprintf("extend(%s, %d)", raw, bits)
}

func (g *goTarget) less(v string, n *schema.Number) string { return minus(v, n.Add) }

// minus returns a difference.
func minus(v string, n int64) string {
	if n < 0 {
		return fmt.Sprintf("(%s + %d)", v, uint64(-n))
	}
	return fmt.Sprintf("(%s - %d)", v, n)
}

func (g *goTarget) cast(n *schema.Number, v string, exact bool) string {
	typ := goNumber(n)
	switch {
	case n.Kind == schema.Bool:
		return v + " != 0"
	case n.Scale != 0 && n.Kind != schema.Float:
		if n.Kind == schema.Signed {
			v = g.extend(v, n.Bits)
		}
		return fmt.Sprintf("float64(%s) * %s", v, floatText(n.Scale))
	case n.Kind == schema.Signed && exact:
		v = g.extend(v, n.Bits)
	}
	return typ + "(" + v + ")"
}

func (g *goTarget) argument(n *schema.Number, v string) string {
	if n.Kind == schema.Float {
		return "float64(" + v + ")"
	}
	return "uint64(" + v + ")"
}

func (g *goTarget) raw(v string, n *schema.Number) string {
	return minus(v, n.Add) + " & " + g.mask(schema.Mask(n.Bits))
}

func (g *goTarget) truth(v string, _ int) string { return v + " != 0" }

func (g *goTarget) list(at slot, _ *member, _ string) string { return at.set }
func (g *goTarget) elem(list, i string, _ *member) slot      { return goSlot(list + "[" + i + "]") }

func (g *goTarget) next(call, list, args string, _ *member) string {
	return fmt.Sprintf("%s(x, &%s, %s)", call, list, args)
}

func (g *goTarget) loop(i, more, cond string) {
	if more != "" {
		g.open("for %s, %s := 0, true; %s; %s++ {", i, more, cond, i)
	} else {
		g.open("for %s := 0; %s; %s++ {", i, cond, i)
	}
}

func (g *goTarget) times(i, list, n string, least int64, p *wire.Part) {
	if p.Extent.Size == schema.Fixed {
		g.open("for %s := range %s {", i, list)
		return
	}
	g.open("for %s := range list(x, &%s, %s, %d, %s) {", i, list, n, least, g.label(p.Field))
}

func (g *goTarget) allBytes(list, n string, size int, p *wire.Part) string {
	if p.Extent.Size == schema.Fixed {
		return fmt.Sprintf("x.block(%d)", p.Extent.N*size)
	}
	return fmt.Sprintf("elems(x, &%s, %s, %d, %s)", list, n, size, g.label(p.Field))
}

func (g *goTarget) blocks(i, b, list, n string, size int, p *wire.Part) {
	g.open("for %s, %s := 0, %s; len(%s) > 0; %s, %s = %s+1, %s[%d:] {", i, b, g.allBytes(list, n, size, p), b, i, b, i, b, size)
}

// copied copies the elements of a list if they are bytes, of which any are legal.
func (g *goTarget) copied(list, n string, p *wire.Part) bool {
	if !g.areBytes(p) {
		return false
	}
	if p.Extent.Size == schema.Fixed {
		g.copies(g.allBytes(list, n, 1, p), list+"[:]")
	} else {
		g.copies(g.allBytes(list, n, 1, p), list)
	}
	return true
}

func (g *goTarget) take(b string, size int64) {
	switch {
	case b == "":
		g.line("if x.block(%d) == nil {\n\treturn\n}", size)
	case size == 0:
		g.line("%s := []byte{}", b)
	default:
		g.line("%s := x.block(%d)\nif %s == nil {\n\treturn\n}", b, size, b)
	}
}

func (g *goTarget) slice(b string, it *wire.Item) string {
	return fmt.Sprintf("%s[%d:%d]", b, it.Off/8, (it.Off+it.Bits)/8)
}

// sent returns the bits of an item, as an unsigned integer of the returned width.
func (g *goTarget) sent(b string, it *wire.Item) (string, int) {
	order, ok := placed(it).native()
	switch at := it.Off / 8; {
	case !ok:
		return fmt.Sprintf("load(%s, %s)", b, where(placed(it))), 64
	case it.Bits == 8:
		return fmt.Sprintf("%s[%d]", b, at), 8
	case at == 0:
		return fmt.Sprintf("binary.%sEndian.Uint%d(%s)", order, it.Bits, b), it.Bits
	default:
		return fmt.Sprintf("binary.%sEndian.Uint%d(%s[%d:])", order, it.Bits, b, at), it.Bits
	}
}

func placed(it *wire.Item) *item { return &item{off: it.Off, bits: it.Bits, order: it.Order} }

func (g *goTarget) load(b string, it *wire.Item) string {
	raw, width := g.sent(b, it)
	return convert(raw, width, 64)
}

func (g *goTarget) store(b string, it *wire.Item, v string) string { return g.send(b, it, v, 64) }

// send sets the bits of an item to an unsigned integer of a width.
func (g *goTarget) send(b string, it *wire.Item, value string, width int) string {
	order, ok := placed(it).native()
	switch at := it.Off / 8; {
	case !ok:
		return fmt.Sprintf("store(%s, %s, %s)", b, where(placed(it)), convert(value, width, 64))
	case it.Bits == 8:
		return fmt.Sprintf("%s[%d] = %s", b, at, convert(value, width, 8))
	case at == 0:
		return fmt.Sprintf("binary.%sEndian.PutUint%d(%s, %s)", order, it.Bits, b, convert(value, width, it.Bits))
	default:
		return fmt.Sprintf("binary.%sEndian.PutUint%d(%s[%d:], %s)", order, it.Bits, b, at, convert(value, width, it.Bits))
	}
}

func (g *goTarget) direct(k *block, it *wire.Item, t *schema.Number, slot slot, label string) {
	at := slot.set
	raw, width := g.sent(k.b, it)
	bits := at // to be written, of that width
	wrote := wide(t.Bits)
	read := ""
	reg, ok := g.loaded(k, it, convert(raw, width, 64))
	if ok {
		raw, width = reg, 64
	}
	switch {
	case t.Kind == schema.Bool:
		read, bits, wrote = raw+" != 0", "bit("+at+")", 64
	case t.Kind == schema.Float:
		read, bits = fmt.Sprintf("math.Float%dfrombits(%s)", t.Bits, convert(raw, width, t.Bits)), fmt.Sprintf("math.Float%dbits(%s)", t.Bits, at)
	case t.Kind == schema.Signed && t.Bits == wide(t.Bits):
		read, bits = fmt.Sprintf("int%d(%s)", t.Bits, raw), fmt.Sprintf("uint%d(%s)", t.Bits, at)
	case t.Kind == schema.Signed:
		read, bits, wrote = fmt.Sprintf("int%d(extend(%s, %d))", wide(t.Bits), convert(raw, width, 64), t.Bits), fmt.Sprintf("uint64(%s)&%#x", at, schema.Mask(t.Bits)), 64
	default:
		read = convert(raw, width, wide(t.Bits))
	}
	switch {
	case t.Scale != 0 && t.Kind != schema.Bool:
		read = fmt.Sprintf("float64(%s) * %s", read, floatText(t.Scale))
		bits, wrote = g.scaled(it, t, at, label), 64
	case t.Kind == schema.Signed && t.Bits != wide(t.Bits):
		k.out = append(k.out, fmt.Sprintf("x.fits(extend(uint64(%s), %d) == int64(%s), %d, %s)", at, t.Bits, at, t.Bits, label))
	case t.Kind == schema.Unsigned && t.Bits != wide(t.Bits):
		k.out = append(k.out, fmt.Sprintf("x.fits(%s < 1<<%d, %d, %s)", at, t.Bits, t.Bits, label))
	}
	k.in = append(k.in, at+" = "+read)
	if ok {
		k.out = append(k.out, fmt.Sprintf("%s = %s", reg, convert(bits, wrote, 64)))
		bits, wrote = reg, 64
	}
	k.out = append(k.out, g.send(k.b, it, bits, wrote))
}

func (g *goTarget) copy(k *block, it *wire.Item, at slot, _ string) bool {
	if _, ok := it.Type.(*schema.Blob); !ok {
		return false
	}
	k.in = append(k.in, fmt.Sprintf("copy(%s[:], %s)", at.set, g.slice(k.b, it)))
	k.out = append(k.out, fmt.Sprintf("copy(%s, %s[:])", g.slice(k.b, it), at.set))
	return true
}

// goAll is the member with all bits of a bitfield.
const goAll = "Value"

// flags has the high bits of a bitfield in a variable of their own. Without a label it declares it.
func (g *goTarget) flags(t *schema.Bitfield, v string, at slot, label string) {
	high := v + "h"
	if label == "" {
		g.line("var %s uint64", high)
		if t.All != "" {
			g.line("%s = %s.%s.High", high, at.get, goAll)
		}
		return
	}
	long := v + "l"
	g.line("%s := Uint128{%s, %s}\n%s = x.long(&%s, false, %s)\n%s = %s.High", long, high, v, v, long, label, high, long)
	if t.All != "" {
		g.keep(at.set+"."+goAll, long)
	}
}

func (g *goTarget) higher(t *schema.Bitfield, v string, p schema.Part) (string, schema.Part) {
	if t.Var == schema.Long && p.Shift >= 64 {
		v += "h"
		p.Shift -= 64
	}
	return v, p
}

func (g *goTarget) allOf(t *schema.Bitfield, at string) (member, bits string) {
	if t.Var == schema.Long {
		return at + "." + goAll, at + "." + goAll + ".Low"
	}
	return at + "." + goAll, "uint64(" + at + "." + goAll + ")"
}

func (g *goTarget) allBits(t *schema.Bitfield, bits string) string {
	return convert(bits, 64, wide(t.Bits))
}

func (g *goTarget) partBits(t *schema.Bitfield, name, at, _ string) string {
	if _, truth := bitfieldPart(t, name); truth {
		return "bit(" + at + ")"
	}
	return "uint64(" + at + ")"
}

func (g *goTarget) partValue(t *schema.Bitfield, name, bits string) string {
	width, truth := bitfieldPart(t, name)
	if truth {
		return bits + " != 0"
	}
	return convert(bits, 64, wide(width))
}

func (g *goTarget) step(s *wire.Step, args []string) string {
	switch s.Op {
	case schema.Literal:
		return fmt.Sprintf("literal(%d)", s.Int)
	case schema.Ref, schema.Begin, schema.End, schema.Index:
		return g.operand(s)
	case schema.Not:
		return "truth(" + args[0] + " == 0)"
	case schema.Neg, schema.Invert:
		return map[schema.ExprOp]string{schema.Neg: "-", schema.Invert: "^"}[s.Op] + args[0]
	case schema.Div:
		return "divide(" + args[0] + ", " + args[1] + ")"
	case schema.Mod:
		return "modulo(" + args[0] + ", " + args[1] + ")"
	case schema.ShiftLeft:
		return fmt.Sprintf("%s << uint64(%s)", "("+args[0]+")", args[1])
	case schema.ShiftRight:
		return fmt.Sprintf("%s >> min(uint64(%s), 63)", "("+args[0]+")", args[1])
	case schema.And, schema.Or:
		return fmt.Sprintf("truth(%s != 0 %s %s != 0)", args[0], s.Op.Name(), args[1])
	case schema.If:
		return "when(" + strings.Join(args, ", ") + ")"
	case schema.Equal, schema.NotEqual, schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual:
		return fmt.Sprintf("truth(%s %s %s)", args[0], s.Op.Name(), args[1])
	}
	return fmt.Sprintf("(%s %s %s)", args[0], s.Op.Name(), args[1])
}

// operand returns the value of a register.
func (g *goTarget) operand(s *wire.Step) string {
	v := g.reg(s.Reg)
	switch {
	case s.Kind == schema.TextExpr:
		return v
	case s.Num != nil && s.Num.Kind == schema.Float:
		v = fmt.Sprintf("bitsFloat(%d, %s)", s.Num.Bits, v)
		if s.Num.Scale != 0 {
			v = fmt.Sprintf("(%s * %s)", v, floatText(s.Num.Scale))
		}
		return v
	case s.Num != nil:
		return "(" + g.cast(s.Num, v, false) + ")"
	case s.Part != nil && s.Part.Mask != 0:
		v = "truth(" + g.partOf(v, *s.Part) + ")"
	case s.Part != nil:
		v = "int64(" + g.partOf(v, *s.Part) + ")"
	case s.Truth:
		v = fmt.Sprintf("truth(%s != 0)", v)
	case s.Bits > 0:
		v = fmt.Sprintf("extend(%s, %d)", v, s.Bits)
	default:
		v = "int64(" + v + ")"
	}
	if s.Add != 0 && s.Add != math.MinInt64 {
		return fmt.Sprintf("(%s + %d)", v, s.Add)
	}
	return v
}
