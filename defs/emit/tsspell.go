package emit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// tsTarget writes TypeScript. Integers of more than 32 bits are bigint, all others are number; so are the variables of registers. Expressions
// are computed with bigint.
type tsTarget struct {
	wirer
	codings   map[string]string // constants, by their encoding
	kinds     map[*member]bool  // those of alternatives: they may be missing
	encodings []string          // their declarations
}

var tsPrints = prints{
	code:   "code",
	remark: "/** %s */",
	equal:  "===",
	test:   "($cond)",
}

var tsWording = wording{
	declare:  "const %[2]s = %[3]s;",
	guard:    "$call;",
	nested:   "$call, () => {\n\t$body\n});",
	sides:    closeSides,
	text:     "%[1]s.units(%[2]s)",
	absent:   "unless(%s, %s !== undefined)",
	branch:   "%s: {",
	merge:    "\tbreak;\n}",
	nowhere:  "0",
	place:    "place(%s)",
	length:   "%s.length",
	end:      "x.pos",
	bit:      "8 * %s + %d",
	some:     "%s !== undefined",
	unsigned: "%s",
	signed:   "%s",
	units:    "%s",
	let:      "BigInt.asUintN(64, %s)",
	ref:      "%s",
	bits:     "let %s = 0n;",
	part:     "((%s >> %dn) & %s)",
	shifted:  "%s << %dn",
	again:    "if (x.retry()) wire$type(x, m)",
	exact:    "BigInt(%s)",
	either:   "(%s !== 0n ? %s : %s)",
	isBit:    "truth(%s)",
	equal:    " === ",
	differ:   " !== ",
	element:  "e",
	real:     "Number(%s)",
}

func (g *tsTarget) dot(base, name string) string               { return base + dot(name) }
func (g *tsTarget) whole(t schema.Type, at slot) string        { return g.text(t, at.get) }
func (g *tsTarget) chain(*wire.Part)                           {}
func (g *tsTarget) title(s string) string                      { return jsString(s) }
func (g *tsTarget) create(at slot)                             { g.line("%s;", g.make(at)) }
func (g *tsTarget) mask(v uint64) string                       { return fmt.Sprintf("%dn", v) }
func (g *tsTarget) partNames(t *schema.Bitfield) []string      { return t.Names }
func (g *tsTarget) bounds(e schema.Extent) (lo, hi string)     { return bounds(e, "Infinity") }
func (g *tsTarget) copied(string, string, *wire.Part) bool     { return false }
func (g *tsTarget) argument(_ *schema.Number, v string) string { return v }

func (g *tsTarget) inRange(n *schema.Number, v string, big bool) string {
	return limits(n, v, suffix(big), func(f float64) string {
		if math.IsInf(f, 0) {
			return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	})
}

// suffix returns the end of a bigint literal.
func suffix(big bool) string {
	if big {
		return "n"
	}
	return ""
}

const tsMessage = `
export const $type = {
	message: $name,
	$key
	/** Reads the message at the start of the view, and tells how many bytes it has. Throws Incomplete or Illegal. */
	read(view: DataView): { value: $type; size: number } {
		const x = new Coder(view, $header, false);
		$checks
		const value = new$type();
		wire$type(x, value);
		return { value, size: x.wasRead() };
	},
	/** The bytes of the message. Throws Refused. */
	write(m: $type): Uint8Array {
		const x = new Coder(new DataView(new ArrayBuffer(256)), 0, true);
		wire$type(x, m);
		$ends
		return x.wrote();
	},
};`

func (g *tsTarget) entry(m *message, checks, ends []string) {
	lines := func(list []string) func() {
		return func() {
			for _, line := range list {
				g.line("%s;", line)
			}
		}
	}
	key := ""
	if m.m.HasKey {
		key = fmt.Sprintf("code: %d,", m.m.Key.Code)
	}
	g.print(tsMessage, vars{"type": g.types[m.record], "name": jsString(m.name), "key": key, "header": m.laid.Header, "checks": lines(checks), "ends": lines(ends)})
}

func (g *tsTarget) function(r *record, name, block string, params []int, text string) string {
	list := ""
	if block != "" {
		list = ", " + block + ": number"
	}
	for i, reg := range params {
		list += fmt.Sprintf(", v%d: %s", i+1, g.regType(reg))
	}
	if name == "wire" {
		name += g.types[r]
	}
	return fmt.Sprintf("function %s(x: Coder, m: %s%s): void {\n%s}\n\n", name, g.types[r], list, text)
}

func (g *tsTarget) newFunction(r *record) string { return g.top.take("wire" + g.types[r] + "_") }

func (g *tsTarget) call(name string, of slot, args string) string {
	return fmt.Sprintf("%s(x, %s%s)", name, of.get, args)
}

func (g *tsTarget) alternatives(r *record, body func()) {
	before := g.code
	g.code = code{depth: 1}
	body()
	fmt.Fprintf(&g.out, "/** The number of the alternative that a message of that size has. */\nfunction alternative%s(size: number): number {\n%s\treturn 0;\n}\n\n", g.types[r], g.b.String())
	g.code = before
}

func (g *tsTarget) alternative(r *record) (read, wrote string) {
	call := "alternative" + g.types[r]
	return call + "(x.stop)", fmt.Sprintf("%s(x.pos) === (%s ?? 0)", call, g.dot("m", g.choices[r]))
}

func (g *tsTarget) regType(reg int) string {
	r := &g.laid.Regs[reg]
	if g.computed[reg] {
		return "bigint"
	}
	if m := g.nodes[reg]; m != nil {
		return g.memberType(m)
	}
	switch t := r.Type.(type) {
	case *schema.Text, *schema.Blob:
		return "string"
	case *schema.Bitfield:
		return "bigint"
	case *schema.Number:
		if (r.Kind == schema.Value || r.Kind == schema.Present) && t.Bits > 32 {
			return "bigint"
		}
	}
	if r.Kind == schema.Present && r.Bits > 32 {
		return "bigint"
	}
	return "number"
}

func (g *tsTarget) variables(regs []int) string {
	var out []string
	for _, reg := range regs {
		if m := g.nodes[reg]; m != nil {
			out = append(out, g.reg(reg)+": "+g.regType(reg)+" = []")
			continue
		}
		out = append(out, g.reg(reg)+" = "+map[string]string{"string": `""`, "bigint": "0n", "number": "0"}[g.regType(reg)])
	}
	if len(out) == 0 {
		return ""
	}
	return "\tlet " + strings.Join(out, ", ") + ";\n"
}

// word returns the function for a number or for a bigint.
func (g *tsTarget) word(name string, bits int) string {
	if bits > 32 {
		return name + "Big"
	}
	return name
}

func (g *tsTarget) form(bits int, v schema.Varint, order schema.Order, isSigned bool, add int64) string {
	exact := ""
	if add > 1<<53 || add < -1<<53 {
		exact = fmt.Sprintf(", %dn", add)
	}
	text := fmt.Sprintf("coding(%d, %q, %v, %v, %d%s)", bits, [...]string{"sized", "leb", "sleb", "zigzag", "vlq", "leb", "wide", "wideSigned"}[v], order == schema.Big, isSigned, add, exact)
	if g.codings[text] == "" {
		g.codings[text] = g.top.take("coding" + strconv.Itoa(len(g.codings)+1))
		g.encodings = append(g.encodings, fmt.Sprintf("const %s = %s;\n", g.codings[text], text))
	}
	return g.codings[text]
}

func (g *tsTarget) of(base slot, m *member) slot {
	name := dot(g.fields[m])
	at := slot{set: base.set + name, get: base.get + name}
	if g.maybe(m) || g.kinds[m] {
		return g.missing(at, m)
	}
	return at
}

// missing returns the place of a value that may be missing. A property may have values of several alternatives.
func (g *tsTarget) missing(at slot, m *member) slot {
	at.zero, at.typ = g.zeroOf(m), g.memberType(m)
	if m.alt {
		at.get = fmt.Sprintf("((%s as %s | undefined) ?? %s)", at.get, at.typ, at.zero)
	} else {
		at.get = fmt.Sprintf("(%s ?? %s)", at.get, at.zero)
	}
	return at
}

func (g *tsTarget) inner(at slot, _ bool) slot {
	if at.zero == "" {
		return at
	}
	return slot{set: fmt.Sprintf("(%s as %s)", at.set, at.typ), get: at.get}
}

func (g *tsTarget) fill(m *member, at slot) {
	if at.zero != "" && (m.part == 0 || len(m.kinds) > 1) && !m.null && !m.ptr {
		g.when("!x.writing", "%s = %s;", at.set, at.zero)
	}
}

func (g *tsTarget) kind(at slot, kind *member, _ bool) slot {
	if _, ok := kind.typ.(*schema.Group); !ok || kind.null {
		return at
	}
	v := "p" + g.id()
	g.declare("", v, g.make(at))
	return slot{set: v, get: v}
}

func (g *tsTarget) part(r *record, base slot, parts []wire.Part) {
	if !g.fn.parts {
		g.fn.parts = true
		list := "0"
		for _, m := range r.members {
			if m.part > 0 {
				list += fmt.Sprintf(", %s === undefined ? 0 : %d", g.of(base, m).set, m.part)
			}
		}
		g.declare("", "parts", "Math.max("+list+")")
	}
	g.line("if (!x.optional(parts, %d)) return;", parts[0].Optional)
	for i := range parts { // what is read into must be there
		for _, f := range values(&parts[i]) {
			for ; f != wire.None; f = g.laid.Fields[f].Parent {
				switch at := g.at[f]; g.laid.Fields[f].Schema.Type.(type) {
				case *schema.Group, *schema.Bitfield:
					if at.zero != "" && strings.HasPrefix(at.set, base.set) && !g.mem[f].null && !g.mem[f].ptr {
						g.line("if (!x.writing) %s ??= %s;", at.set, at.zero)
					}
				}
			}
		}
	}
}

func (g *tsTarget) make(at slot) string {
	if at.zero == "" {
		return at.get
	}
	return fmt.Sprintf("(x.writing ? %s : (%s = %s))", at.get, at.set, at.zero)
}

func (g *tsTarget) pass(method string, at slot, args string) {
	g.line("%s = x.%s(%s, %s);", at.set, method, at.get, args)
}

func (g *tsTarget) stored(*wire.Part, slot) bool { return false }

func (g *tsTarget) pick(cond string, a, b uint64, bits int) string {
	n := suffix(bits > 32)
	return fmt.Sprintf("(%s ? %d%s : %d%s)", cond, a, n, b, n)
}

func (g *tsTarget) constant(reg int, v uint64) string {
	if g.laid.Regs[reg].Kind == schema.Count { // -1 is no contents
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatUint(v, 10) + suffix(g.regType(reg) == "bigint")
}

func (g *tsTarget) cut(expr string, bits int) string {
	return fmt.Sprintf("BigInt.asUintN(%d, %s)", bits, expr)
}

func (g *tsTarget) extend(raw string, bits int) string {
	if bits > 32 {
		return fmt.Sprintf("BigInt.asIntN(%d, %s)", bits, raw)
	}
	return fmt.Sprintf("extend(%s, %d)", raw, bits)
}

func (g *tsTarget) less(v string, n *schema.Number) string {
	return strings.TrimSuffix(minus(v, n.Add), ")") + suffix(n.Bits > 32) + ")"
}

func (g *tsTarget) cast(n *schema.Number, v string, exact bool) string {
	switch {
	case n.Kind == schema.Bool && exact:
		return g.truth(v, 64)
	case n.Kind == schema.Bool:
		return g.truth(v, n.Bits)
	case exact:
		if n.Kind == schema.Signed {
			v = fmt.Sprintf("BigInt.asIntN(%d, %s)", n.Bits, v)
		}
		if n.Bits <= 32 {
			v = "Number(" + v + ")"
		}
	case n.Scale != 0 && n.Kind != schema.Float:
		if n.Kind == schema.Signed {
			v = g.extend(v, n.Bits)
		}
		if n.Bits > 32 {
			v = "Number(" + v + ")"
		}
		v += " * " + floatText(n.Scale)
	}
	return v
}

func (g *tsTarget) raw(v string, n *schema.Number) string {
	switch {
	case n.Add == 0 && n.Kind != schema.Signed:
		return v
	case n.Bits > 32:
		return fmt.Sprintf("BigInt.asUintN(%d, %s)", n.Bits, g.less(v, n))
	}
	return fmt.Sprintf("(%s & %d) >>> 0", g.less(v, n), int32(schema.Mask(n.Bits)))
}

func (g *tsTarget) truth(v string, bits int) string { return v + " !== 0" + suffix(bits > 32) }

func (g *tsTarget) list(at slot, m *member, id string) string {
	g.line("const l%s: %s = x.writing ? %s : (%s = []);", id, g.memberType(m), at.get, at.set)
	return "l" + id
}

func (g *tsTarget) elem(list, i string, m *member) slot {
	e := list + "[" + i + "]"
	if m.elem != nil && g.maybe(m.elem) {
		return g.missing(slot{set: e, get: e}, m.elem)
	}
	return slot{set: e + "!", get: e + "!"}
}

func (g *tsTarget) next(call, list, args string, m *member) string {
	return fmt.Sprintf("x.%s(%s, %s, %s)", call, list, args, g.maker(m))
}

func (g *tsTarget) loop(i, more, cond string) {
	if more != "" {
		more = ", " + more + " = true"
	}
	g.open("for (let %s = 0%s; %s; %s++) {", i, more, cond, i)
}

func (g *tsTarget) times(i, list, n string, least int64, p *wire.Part) {
	g.open("for (let %s = 0, n%s = x.list(%s, %s, %d, %s, %s); %s < n%s; %s++) {", i, i, list, n, least, g.label(p.Field), g.maker(g.mem[p.Field]), i, i, i)
}

func (g *tsTarget) blocks(i, b, list, n string, size int, p *wire.Part) {
	make, m := "", g.mem[p.Field]
	if m.elem == nil {
		make = ", " + g.maker(m)
	} else if _, ok := m.elem.typ.(*schema.Number); !ok {
		make = ", " + g.maker(m)
	}
	g.open("for (let %s = 0, %s = x.blocks(%s, %s, %d, %s%s); %s < x.pos; %s++, %s += %d) {", i, b, list, n, size, g.label(p.Field), make, b, i, b, size)
}

func (g *tsTarget) take(b string, size int64) {
	if b != "" {
		b = "const " + b + " = "
	}
	g.line("%sx.block(%d);", b, size)
}

func tsAt(b string, off int) string {
	if off == 0 {
		return b
	}
	return fmt.Sprintf("%s + %d", b, off)
}

func (g *tsTarget) slice(b string, it *wire.Item) string {
	return fmt.Sprintf("%s, %d", tsAt(b, it.Off/8), it.Bits/8)
}

// sent returns the bits of an item.
func (g *tsTarget) sent(b string, it *wire.Item) string {
	if _, ok := placed(it).native(); !ok {
		return fmt.Sprintf("%s(x.view, %s, %s)", g.word("load", it.Bits), b, where(placed(it)))
	}
	return fmt.Sprintf("x.view.get%s", g.view("Uint", b, it, ""))
}

// view returns the type of an integer or a float in a DataView, and the arguments for it.
func (g *tsTarget) view(kind, b string, it *wire.Item, value string) string {
	little := ""
	if it.Bits > 8 {
		little = fmt.Sprintf(", %v", it.Order == schema.Little)
	}
	if kind != "Float" && it.Bits == 64 {
		kind = "Big" + kind
	}
	return fmt.Sprintf("%s%d(%s%s%s)", kind, it.Bits, tsAt(b, it.Off/8), value, little)
}

func (g *tsTarget) load(b string, it *wire.Item) string {
	if it.Bits > 32 {
		return "Number(" + g.sent(b, it) + ")"
	}
	return g.sent(b, it)
}

func (g *tsTarget) store(b string, it *wire.Item, v string) string {
	if it.Bits > 32 {
		v = "BigInt(" + v + ")"
	}
	return g.send(b, it, v)
}

// send sets the bits of an item.
func (g *tsTarget) send(b string, it *wire.Item, v string) string {
	if _, ok := placed(it).native(); !ok {
		return fmt.Sprintf("%s(x.view, %s, %s, %s)", g.word("store", it.Bits), b, where(placed(it)), v)
	}
	return "x.view.set" + g.view("Uint", b, it, ", "+v)
}

func (g *tsTarget) direct(k *block, it *wire.Item, t *schema.Number, at slot, label string) {
	raw := g.sent(k.b, it)
	if t.Kind == schema.Float { // a block has no others but those of 32 and 64 bits
		v := at.get
		if t.Bits == 32 {
			v = fmt.Sprintf("x.single(%s, %s)", v, label)
		}
		k.in = append(k.in, fmt.Sprintf("%s = x.view.get%s", at.set, g.view("Float", k.b, it, "")))
		k.out = append(k.out, "x.view.set"+g.view("Float", k.b, it, ", "+v))
		if reg := g.set(it.Reg); reg != "" {
			k.in, k.out = append(k.in, reg+raw), append(k.out, reg+raw)
		}
		return
	}
	value, reg := g.loaded(k, it, raw)
	big := t.Bits > 32
	bits := fmt.Sprintf("%s(%s, %d, %s)", g.word("x.unsigned", t.Bits), at.get, t.Bits, label)
	switch _, native := placed(it).native(); {
	case t.Kind == schema.Bool:
		value, bits = g.truth(value, t.Bits), g.pick(at.get, 1, 0, t.Bits)
	case t.Scale != 0:
		value, bits = g.cast(t, value, false), g.scaled(it, t, at.get, label)
	case t.Kind == schema.Signed:
		bits = fmt.Sprintf("%s(%s, %d, %s)", g.word("x.signed", t.Bits), at.get, t.Bits, label)
		if value = g.extend(value, t.Bits); native && !reg && !big {
			value = "x.view.get" + g.view("Int", k.b, it, "")
		}
	}
	k.in = append(k.in, at.set+" = "+value)
	if reg {
		k.out = append(k.out, g.set(it.Reg)+bits)
		bits = g.reg(it.Reg)
	}
	k.out = append(k.out, g.send(k.b, it, bits))
}

func (g *tsTarget) copy(k *block, it *wire.Item, at slot, label string) bool {
	if _, ok := it.Type.(*schema.Blob); !ok {
		return false
	}
	from, n := tsAt(k.b, it.Off/8), it.Bits/8
	k.in = append(k.in, fmt.Sprintf("%s = x.slice(%s, %s)", at.set, from, tsAt(k.b, it.Off/8+n)))
	k.out = append(k.out, fmt.Sprintf("x.fill(%s, %d, %s, %s)", from, n, at.get, label))
	return true
}

func (g *tsTarget) allOf(t *schema.Bitfield, at string) (member, bits string) {
	return at + dot(t.All), fmt.Sprintf("x.int(%s, %s)", at+dot(t.All), jsString(t.All))
}

func (g *tsTarget) allBits(t *schema.Bitfield, bits string) string {
	return g.partValue(t, t.All, bits)
}

func (g *tsTarget) partBits(_ *schema.Bitfield, _, at, label string) string {
	return fmt.Sprintf("x.int(%s, %s)", at, label)
}

func (g *tsTarget) partValue(t *schema.Bitfield, name, bits string) string {
	switch tsPart(t, name) {
	case "boolean":
		return bits + " !== 0n"
	case "number":
		return "Number(" + bits + ")"
	}
	return bits
}

func (g *tsTarget) step(s *wire.Step, args []string) string {
	switch s.Op {
	case schema.Literal:
		return fmt.Sprintf("wrap(%dn)", s.Int) // a type that is no literal
	case schema.Ref, schema.Begin, schema.End, schema.Index:
		return g.operand(s)
	case schema.Not:
		return "truth(" + args[0] + " === 0n)"
	case schema.Neg:
		return "wrap(-" + args[0] + ")"
	case schema.Invert:
		return "~" + args[0]
	case schema.Div, schema.Mod, schema.ShiftLeft, schema.ShiftRight:
		name := map[schema.ExprOp]string{schema.Div: "divide", schema.Mod: "modulo", schema.ShiftLeft: "shiftLeft", schema.ShiftRight: "shiftRight"}[s.Op]
		return fmt.Sprintf("%s(%s, %s)", name, args[0], args[1])
	case schema.And, schema.Or:
		return fmt.Sprintf("truth(%s !== 0n %s %s !== 0n)", args[0], s.Op.Name(), args[1])
	case schema.If:
		return fmt.Sprintf("(%s !== 0n ? %s : %s)", args[0], args[1], args[2])
	case schema.Equal, schema.NotEqual:
		return fmt.Sprintf("truth(%s %s= %s)", args[0], s.Op.Name(), args[1])
	case schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual:
		return fmt.Sprintf("truth(%s %s %s)", args[0], s.Op.Name(), args[1])
	}
	return fmt.Sprintf("wrap(%s %s %s)", args[0], s.Op.Name(), args[1])
}

// operand returns the value of a register.
func (g *tsTarget) operand(s *wire.Step) string {
	v, big := g.reg(s.Reg), g.regType(s.Reg) == "bigint"
	switch {
	case s.Kind == schema.TextExpr:
		if _, ok := g.laid.Regs[s.Reg].Type.(*schema.Text); ok {
			return "textOf(" + v + ")"
		}
		return v
	case s.Num != nil && s.Num.Kind == schema.Float:
		v = fmt.Sprintf("bitsFloat(%d, %s)", s.Num.Bits, v)
		if s.Num.Scale != 0 {
			v = fmt.Sprintf("(%s * %s)", v, floatText(s.Num.Scale))
		}
		return v
	case s.Num != nil:
		return "(" + g.cast(s.Num, v, false) + ")"
	}
	if !big {
		v = "BigInt(" + v + ")"
	}
	switch {
	case s.Part != nil && s.Part.Mask != 0:
		v = "truth(" + g.partOf(v, *s.Part) + ")"
	case s.Part != nil:
		v = "wrap(" + g.partOf(v, *s.Part) + ")"
	case s.Truth:
		v = "truth(" + v + " !== 0n)"
	case s.Bits > 0:
		v = fmt.Sprintf("BigInt.asIntN(%d, %s)", s.Bits, v)
	case big:
		v = "wrap(" + v + ")"
	}
	if s.Add != 0 && s.Add != math.MinInt64 {
		return fmt.Sprintf("wrap(%s + (%dn))", v, s.Add)
	}
	return v
}

func isText(t schema.Type) bool {
	switch t.(type) {
	case *schema.Text, *schema.Blob:
		return true
	}
	return false
}

func (g *tsTarget) bytes(b []byte) string {
	var text strings.Builder
	for _, c := range b {
		text.WriteRune(rune(c))
	}
	return jsString(text.String())
}

func (g *tsTarget) float(f float64) string { return "(" + jsFloat(f, false) + ")" }
func (g *tsTarget) compared(reg int, s string) string {
	if _, ok := g.laid.Regs[reg].Type.(*schema.Text); ok {
		return jsString(s)
	}
	return g.bytes([]byte(s))
}

func (g *tsTarget) tags(list []string) string { return "[" + strings.Join(list, ", ") + "]" }

func (g *tsTarget) floatBits(v string) string { return "floatBits(" + v + ")" }

func (g *tsTarget) text(t schema.Type, v string) string {
	if _, ok := t.(*schema.Blob); ok {
		return "latin1.decode(" + v + ")"
	}
	return v
}

func (g *tsTarget) made(t schema.Type, v string) string {
	if _, ok := t.(*schema.Blob); ok {
		return "latin1.encode(" + v + ", \"\")"
	}
	return "fromText(" + v + ")"
}

func (g *tsTarget) held(t schema.Type, s *wire.Step, at slot) string {
	number := func(typ, v string) string {
		switch typ {
		case "boolean":
			return "truth(" + v + ")"
		case "bigint":
			return "wrap(" + v + ")"
		}
		return "BigInt(" + v + ")"
	}
	switch t := t.(type) {
	case *schema.Number:
		if t.Kind == schema.Float || t.Scale != 0 {
			return at.get
		}
		return number(tsNumber(t), at.get)
	case *schema.Bitfield:
		name := t.All
		if s.Part != nil {
			name = s.Part.Name
		}
		return number(tsPart(t, name), g.dot(at.get, name))
	case *schema.Text:
		return "textOf(" + at.get + ")"
	}
	return g.text(t, at.get)
}

func (g *tsTarget) node(list, _ string, _ *member) string { return list }

func (g *tsTarget) look(name string, s *wire.Step, args, _, of string) string {
	return fmt.Sprintf("%s(%s(e) => %s, %s)", name, args, of, [...]string{"0n", "0", `""`}[s.Kind])
}

func (g *tsTarget) long(at slot, narrow bool, label string) string {
	v := "n" + g.id()
	g.declare("", v, fmt.Sprintf("x.long(%s, %v, %s)", at.get, narrow, label))
	g.keep(at.set, v)
	return v
}

func (g *tsTarget) higher(_ *schema.Bitfield, v string, p schema.Part) (string, schema.Part) {
	return v, p
}

func (g *tsTarget) flags(t *schema.Bitfield, v string, at slot, label string) {
	if label == "" {
		return
	}
	g.line("%s = x.long(%s, false, %s);", v, v, label)
	if t.All != "" {
		all, _ := g.allOf(t, at.set)
		g.keep(all, v)
	}
}
