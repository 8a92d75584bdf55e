package emit

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Values of C are in the structs of callers, so that lists and pointers need their memory; nothing is allocated. The coder is a pointer, its methods
// are functions, see cCalls. They do not name fields in errors. A mode more than in other languages measures: it writes without bytes, so that
// blocks are NULL.

// cNowhere stands for the title of a field, which C does not use.
const cNowhere = "\x00"

var cWording = wording{
	declare: "%s %s = %s;",
	guard:   "if (!$call)\n\treturn;",
	nested:  "wb_$name w$id = wb_$name_(x, $args);\nif (w$id.some) {\n\t$body\n\twb_$name_end_(x, &w$id);\n}",
	sides: [3]string{
		"if (!x.writing) {\n\t$in\n} else if ($b != NULL) {\n\t$out\n}",
		"if (x.writing && $b != NULL) {\n\t$out\n}",
		"if (!x.writing) {\n\t$in\n}",
	},
	regs:     "if (x.writing) {\n\t$regs\n}",
	same:     "wb_equal_(%s, %s)",
	branch:   "%s: {",
	merge:    "\tbreak;\n}",
	nowhere:  "NULL",
	place:    "%s",
	length:   "%s.len",
	end:      "x.pos",
	bit:      "8 * (uint64_t)x.block + %[2]d",
	some:     "%s != NULL",
	text:     "%[3]s.len",
	absent:   "(%[2]s.data != NULL ? %[1]s : UINT64_MAX)",
	owned:    true,
	unsigned: "(uint64_t)%s",
	signed:   "(int64_t)%s",
	units:    "(int64_t)%s",
	let:      "(uint64_t)%s",
	again:    "if (x.retry()) $type_wire_(x, ($type_t *)m)",
	exact:    "(int64_t)%s",
	either:   "(%s != 0 ? %s : %s)",
	isBit:    "(int64_t)(%s)",
	equal:    " == ",
	differ:   " != ",
	order:    "wb_compare_(%s, %s)",
	element:  "(*e)",
	real:     "(double)%s",
	ref:      "&%s",
	bits:     "uint64_t %s = 0;",
	part:     "(%s >> %d & %s)",
	shifted:  "%s << %d",
}

func (g *cTarget) title(string) string { return cNowhere }
func (g *cTarget) bytes(b []byte) string {
	return fmt.Sprintf("wb_held_(%s, %d)", cBytes(b), len(b))
}

func (g *cTarget) word(name string, _ int) string {
	if strings.HasPrefix(name, "x.") {
		return name
	}
	return "wb_" + snake(name) + "_"
}

// compared returns a text, as that of a register, and the number of its bytes.
func (g *cTarget) compared(reg int, s string) string {
	set := schema.Latin1
	if t, ok := g.laid.Regs[reg].Type.(*schema.Text); ok {
		set = byteWise(t.Charset)
	}
	var b []byte
	units, _ := textUnits(set, s)
	for _, u := range units {
		if b = append(b, byte(u)); set == schema.UTF16LE {
			b = append(b, byte(u>>8))
		}
	}
	return fmt.Sprintf("wb_held_(%s, %d), %d", cBytes(b), len(units), len(b))
}

var cCall = regexp.MustCompile(`(^|[^\w.>])x\.(\w+)(\(\)?)?`)

// cCalls spells the members of the coder in a text: x.method(a) is wb_method_(x, a).
func cCalls(text string) string {
	text = cCall.ReplaceAllStringFunc(text, func(s string) string {
		m := cCall.FindStringSubmatch(s)
		call := "wb_" + snake(m[2]) + "_(x"
		return m[1] + map[string]string{"": "x->" + m[2], "(": call + ", ", "()": call + ")"}[m[3]]
	})
	return strings.ReplaceAll(text, ", "+cNowhere, "")
}

var cHump = regexp.MustCompile(`[A-Z]+`)

// snake returns a name of the runtimes as names of C are.
func snake(name string) string { return strings.ToLower(cHump.ReplaceAllString(name, "_$0")) }

const cMessage = `
size_t
$type_compute_sz(const $type_t *m)
{
	wb_coder coder = wb_writing_(NULL, SIZE_MAX), *x = &coder;
	$type_wire_(x, ($type_t *)m);
	$again
	return coder.result > 0 ? SIZE_MAX : coder.pos;
}
$blank
int
$type_write(wb_out *out, const $type_t *m)
{
	wb_coder coder, *x = &coder;
	if (out->data == NULL || out->pos > out->size)
		return WB_INCOMPLETE;
	coder = wb_writing_(out->data + out->pos, out->size - out->pos);
	$type_wire_(x, ($type_t *)m);
	$ends
	wb_check_(x, coder.pos <= coder.last); /* no data after the end of the message */
	if (coder.result == 0)
		out->pos += coder.pos;
	return coder.result;
}
$blank
int
$type_read(wb_in *in, $type_t *m)
{
	wb_coder coder = wb_reading_(in, $header), *x = &coder;
	size_t used = in->mem != NULL ? in->mem->used : 0;
	$checks
	memset(m, 0, sizeof *m);
	$type_wire_(x, m);
	if (coder.result != 0) {
		if (in->mem != NULL)
			in->mem->used = used;
		return coder.result;
	}
	in->pos += coder.framed ? coder.size : coder.pos > coder.far ? coder.pos : coder.far;
	return 0;
}`

// entry keeps the public functions, which follow all others.
func (g *cTarget) entry(m *message, checks, ends []string) {
	before := g.code
	g.code = code{}
	lines := func(format string, list []string) func() {
		return func() {
			for _, text := range list {
				g.line(format, cCalls(text))
			}
		}
	}
	again := func() {
		if g.laid.Whole != wire.None && g.read[g.laid.Whole] {
			g.line("%s;", cCalls(expand(g.wording.again, vars{"type": g.types[m.record]})))
		}
	}
	g.print(cMessage, vars{"again": again, "type": g.types[m.record], "header": m.laid.Header, "blank": func() { g.line("") }, "ends": lines("%s;", ends), "checks": lines("if (!%s)\n\t\treturn coder.result;", checks)})
	g.public, g.code = g.b.String()+"\n", before
}

func (g *cTarget) function(r *record, name, block string, params []int, text string) string {
	typ, linkage, own := g.types[r], cLocal, name == "wire"
	if own {
		name, linkage = typ+"_wire_", "static "
	}
	head := fmt.Sprintf("%s(wb_coder *x, %s_t *m", name, typ)
	names := []string{"x", "m"}
	if block != "" {
		head += ", uint8_t *" + block
		names = append(names, block)
	}
	for i, reg := range params {
		v := fmt.Sprintf("v%d", i+1)
		head += ", " + g.regType(reg) + " " + v
		names = append(names, v)
	}
	head += ")"
	text = cCalls(text)
	for _, v := range names {
		if !regexp.MustCompile(`\b` + v + `\b`).MatchString(text) {
			text = "\t(void)" + v + ";\n" + text
		}
	}
	if name != "" && !own {
		g.prototypes = append(g.prototypes, linkage+"void "+head+";\n")
		for _, shared := range g.shared {
			if name == shared {
				g.recursive = append(g.recursive, linkage+"void "+head+";\n")
			}
		}
	}
	return fmt.Sprintf("%svoid\n%s\n{\n%s}\n\n", linkage, head, text)
}

func (g *cTarget) newFunction(r *record) string {
	g.count[r]++
	return fmt.Sprintf("%s_wire%d_", g.types[r], g.count[r])
}

func (g *cTarget) call(name string, of slot, args string) string {
	at := "&" + of.set
	switch {
	case of.typ == "*":
		at = of.set
	case strings.HasPrefix(of.set, "(*") && strings.IndexByte(of.set, ')') == len(of.set)-1:
		at = of.set[2 : len(of.set)-1]
	}
	return fmt.Sprintf("%s(x, %s%s)", name, at, args)
}

func (g *cTarget) alternatives(r *record, body func()) {
	before := g.code
	g.code = code{depth: 1}
	body()
	fmt.Fprintf(&g.out, "/* The number of the alternative that a message of that size has. */\nstatic int\n%s_alternative_(size_t size)\n{\n%s\treturn 0;\n}\n\n", g.types[r], g.b.String())
	g.code = before
}

func (g *cTarget) alternative(r *record) (read, wrote string) {
	call := g.types[r] + "_alternative_"
	return call + "(x.size)", fmt.Sprintf("%s(x.pos) == %s", call, g.dot("m", g.choices[r]))
}

func (g *cTarget) regType(reg int) string {
	switch {
	case g.nodes[reg] != nil:
		return "wb_nodes"
	case g.isText(reg):
		return "wb_bytes"
	}
	return "uint64_t"
}

func (g *cTarget) variables(regs []int) (out string) {
	for _, reg := range regs {
		zero := map[bool]string{true: "0", false: "{0, NULL}"}[g.regType(reg) == "uint64_t"]
		out += fmt.Sprintf("\t%s %s = %s;\n", g.regType(reg), g.reg(reg), zero)
	}
	return out
}

func (g *cTarget) form(bits int, v schema.Varint, order schema.Order, isSigned bool, add int64) string {
	var forms []string
	if v != schema.Sized {
		forms = append(forms, [...]string{"", "WB_LEB_", "WB_SLEB_", "WB_ZIGZAG_", "WB_VLQ_", "WB_LEB_", "WB_WIDE_", "WB_WIDE_SIGNED_"}[v])
	}
	if order == schema.Big {
		forms = append(forms, "WB_BIG_")
	}
	if isSigned {
		forms = append(forms, "WB_SIGNED_")
	}
	if len(forms) == 0 {
		forms = []string{"0"}
	}
	return fmt.Sprintf("%d, %s, %s", bits, strings.Join(forms, " | "), cUint(uint64(add)))
}

// place returns the place of a member. typ is "*" for a pointer, "[]" for text or bytes of a fixed number of units, and the type of their number if
// they are stored inside the struct.
func (g *cTarget) place(expr string, m *member, pointer bool) slot {
	at := slot{set: expr, get: expr, mem: m}
	switch n, length := g.inside(m.typ); {
	case pointer || m.pointer():
		at.typ = "*"
	case length != "":
		at.typ = length
	case n != "":
		at.typ = "[]"
	}
	return at
}

func (g *cTarget) of(base slot, m *member) slot {
	return g.place(g.dot(base.set, g.fields[m]), m, g.kinds[m])
}

func (g *cTarget) inner(at slot, _ bool) slot {
	if at.typ != "*" {
		return at
	}
	m := *at.mem
	m.ptr, m.null = false, false
	return g.place("(*"+at.set+")", &m, false)
}

func (g *cTarget) fill(*member, slot) {}

func (g *cTarget) kind(at slot, kind *member, _ bool) slot { return g.place(g.make(at), kind, false) }

func (g *cTarget) part(r *record, base slot, parts []wire.Part) {
	g.guard(fmt.Sprintf("x.part(&%s, %d)", g.dot(base.set, g.parts[r]), parts[0].Optional))
}

// make checks that what is written is there.
func (g *cTarget) make(at slot) string {
	g.guard(fmt.Sprintf("x.value(&%s, sizeof *%s)", at.set, at.set))
	return "(*" + at.set + ")"
}

func (g *cTarget) create(at slot) {
	g.guard(fmt.Sprintf("x.made(&%s, sizeof *%s)", at.set, at.set))
}

func (g *cTarget) pass(method string, at slot, args string) {
	g.line("x.%s(&%s, %s);", method, at.set, args)
}

func (g *cTarget) stored(p *wire.Part, at slot) bool {
	switch _, unit := unitType(at.mem.typ); at.typ {
	case "":
		return false
	case "[]":
		g.line("x.array(%s, %d, %d);", at.set, p.Extent.N, unit)
	default: // the number has been checked
		g.stop()
		g.when("!x.writing", "%s.len = (%s)%s;", at.set, at.typ, g.reg(p.Count))
		g.line("x.array(%s.data, %s.len, %d);", at.set, at.set, unit)
	}
	return true
}

// stop writes a return after errors.
func (g *cTarget) stop() { g.print("if (x.result != 0)\n\treturn;", nil) }

func (g *cTarget) pick(cond string, a, b uint64, _ int) string {
	return fmt.Sprintf("(uint64_t)(%s ? %s : %s)", cond, cUint(a), cUint(b))
}

func (g *cTarget) constant(_ int, v uint64) string { return cUint(v) }

func (g *cTarget) cut(expr string, bits int) string {
	return fmt.Sprintf("(uint64_t)%s & %s", expr, cUint(schema.Mask(bits)))
}

func (g *cTarget) extend(raw string, bits int) string {
	return fmt.Sprintf("wb_signed_(%s, %d)", raw, bits)
}

func (g *cTarget) less(v string, n *schema.Number) string {
	return fmt.Sprintf("(uint64_t)%s - %s", v, cUint(uint64(n.Add)))
}

func (g *cTarget) cast(n *schema.Number, v string, exact bool) string {
	switch {
	case n.Kind == schema.Bool:
		return v + " != 0"
	case n.Kind == schema.Float && n.Scale == 0:
	case n.Kind == schema.Float:
		return v
	case n.Kind == schema.Signed && (exact || n.Scale != 0):
		v = g.extend(v, n.Bits)
	case n.Kind == schema.Signed || n.Add != 0:
		v = "wb_int_(" + v + ")"
	}
	if n.Scale != 0 {
		return fmt.Sprintf("(double)%s * %s", v, floatText(n.Scale))
	}
	return fmt.Sprintf("(%s)%s", cNumber(n), v)
}

func (g *cTarget) argument(n *schema.Number, v string) string {
	if n.Kind == schema.Float {
		return v
	}
	return "(uint64_t)" + v
}

func (g *cTarget) raw(v string, n *schema.Number) string {
	if n.Add == 0 && n.Kind != schema.Signed {
		return v
	}
	return fmt.Sprintf("(%s - %s) & %s", v, cUint(uint64(n.Add)), cUint(schema.Mask(n.Bits)))
}

func (g *cTarget) truth(v string, _ int) string { return v + " != 0" }

func (g *cTarget) list(at slot, _ *member, _ string) string { return at.set }

func (g *cTarget) elem(list, i string, m *member) slot {
	if m.typ.(*schema.List).Size != schema.Fixed {
		list += ".data"
	}
	at := slot{set: list + "[" + i + "]"}
	if at.get = at.set; m.elem != nil {
		return g.place(at.set, m.elem, false)
	}
	return at
}

// next begins an element: of a chain, whose elements have their memory, or of a list that grows.
func (g *cTarget) next(call, list, args string, _ *member) string {
	if call == "link" {
		return fmt.Sprintf("x.link(%s, %s.len)", args, list)
	}
	return fmt.Sprintf("x.%s(&%s.len, &%s.data, sizeof *%s.data, %s)", call, list, list, list, args)
}

func (g *cTarget) loop(i, more, cond string) {
	if more != "" {
		g.line("bool %s = true;", more)
	}
	g.open("for (size_t %s = 0; %s; %s++) {", i, cond, i)
}

// elements writes the number n of elements that a list has, and makes their memory.
func (g *cTarget) elements(n, list, amount, least string, p *wire.Part) {
	if _, inside := g.listRoom(g.mem[p.Field]); inside {
		g.line("%sx.list(%s, %s.len, %s);", n, amount, list, least)
		g.when("!x.writing && x.result == 0", "%s.len = (%s)%s;", list, lenType(p.Extent), g.reg(p.Count))
		return
	}
	g.line("%sx.elems(&%s.len, &%s.data, sizeof *%s.data, %s, %s, %v);", n, list, list, list, amount, least, p.Extent.Null)
}

func (g *cTarget) chain(p *wire.Part) {
	g.elements("", g.at[p.Field].set, word(cWording.units, g.reg(p.Count)), "0", p)
}

// sized writes the number of elements, and makes their memory.
func (g *cTarget) sized(i, list, n string, p *wire.Part) (of string) {
	if p.Extent.Size == schema.Fixed {
		return n
	}
	g.elements("size_t n"+i+" = ", list, n, byteSum(p.Elem.Min), p)
	return "n" + i
}

func (g *cTarget) times(i, list, n string, _ int64, p *wire.Part) {
	of := g.sized(i, list, n, p)
	g.open("for (size_t %s = 0; %s < %s && x.result == 0; %s++) {", i, i, of, i)
}

func (g *cTarget) blocks(i, b, list, n string, size int, p *wire.Part) {
	g.times(i, list, n, 0, p)
	g.take(b, int64(size))
}

func (g *cTarget) copied(list, n string, p *wire.Part) bool {
	if !g.areBytes(p) {
		return false
	}
	of := g.sized(g.id(), list, n, p)
	if p.Extent.Size != schema.Fixed {
		list += ".data"
	}
	g.line("x.array(%s, %s, 1);", list, of)
	return true
}

func (g *cTarget) take(b string, size int64) {
	if b != "" {
		b = "uint8_t *" + b + " = "
	}
	g.line("%sx.block(%d);", b, size)
	g.stop()
}

func (g *cTarget) slice(b string, it *wire.Item) string {
	return fmt.Sprintf("%s, %d, %d", b, it.Off/8, it.Bits/8)
}

// order returns the byte order in names of functions.
func (g *cTarget) order(it *wire.Item) string {
	return map[bool]string{true: "be", false: "le"}[it.Order == schema.Big]
}

// load returns the bits of an item as an unsigned integer.
func (g *cTarget) load(b string, it *wire.Item) string {
	switch {
	case it.Off%8 != 0 || it.Bits%8 != 0:
		return fmt.Sprintf("wb_load_(%s, %s)", b, where(placed(it)))
	case it.Bits == 8:
		return fmt.Sprintf("%s[%d]", b, it.Off/8)
	case isNative(it.Bits):
		return fmt.Sprintf("wb_%s%d_(%s + %d)", g.order(it), it.Bits, b, it.Off/8)
	}
	return fmt.Sprintf("wb_%s_(%s + %d, %d)", g.order(it), b, it.Off/8, it.Bits/8)
}

func (g *cTarget) store(b string, it *wire.Item, v string) string { return g.send(b, it, v, true) }

// send sets the bits of an item to an integer. fits: it always fits.
func (g *cTarget) send(b string, it *wire.Item, value string, fits bool) string {
	switch _, aligned := placed(it).native(); {
	case !fits || !aligned:
		return fmt.Sprintf("x.put(%s, %s, %s)", b, where(placed(it)), value)
	case it.Bits == 8:
		return fmt.Sprintf("%s[%d] = (uint8_t)%s", b, it.Off/8, value)
	}
	return fmt.Sprintf("wb_set_%s%d_(%s + %d, (uint%d_t)%s)", g.order(it), it.Bits, b, it.Off/8, it.Bits, value)
}

func (g *cTarget) direct(k *block, it *wire.Item, t *schema.Number, slot slot, label string) {
	at, raw := slot.set, g.load(k.b, it)
	bits, fits := at, t.Bits == wide(t.Bits)
	if _, aligned := placed(it).native(); !fits || !aligned || g.set(it.Reg) != "" {
		bits = fmt.Sprintf("(uint%d_t)%s", wide(t.Bits), at)
	}
	float := map[int]string{32: "single", 64: "double"}[t.Bits]
	switch {
	case t.Kind == schema.Bool:
		bits, fits = "("+at+" ? 1u : 0u)", true
	case t.Kind == schema.Float:
		bits = fmt.Sprintf("wb_%s_bits_(%s)", float, at)
	case t.Scale != 0:
		bits, fits = g.scaled(it, t, at, label), true
	case t.Kind == schema.Signed && !fits:
		k.out = append(k.out, fmt.Sprintf("x.check(wb_signed_((uint64_t)%s & %s, %d) == %s)", at, cUint(schema.Mask(t.Bits)), t.Bits, at))
		bits, fits = fmt.Sprintf("((uint64_t)%s & %s)", at, cUint(schema.Mask(t.Bits))), true
	}
	if reg := g.set(it.Reg); reg != "" { // the bits are needed afterwards
		k.in, k.regs = append(k.in, reg+raw), append(k.regs, reg+bits)
		raw, bits = g.reg(it.Reg), g.reg(it.Reg)
	}
	if t.Kind == schema.Float {
		raw = fmt.Sprintf("wb_%s_(%s)", float, raw)
	} else {
		raw = g.cast(t, raw, true)
	}
	k.in = append(k.in, at+" = "+raw)
	k.out = append(k.out, g.send(k.b, it, bits, fits))
}

func (g *cTarget) copy(k *block, it *wire.Item, at slot, _ string) bool {
	from, format := fmt.Sprintf("%s + %d", k.b, it.Off/8), "memcpy(%[2]s, %[3]s, %[4]d)"
	if it.Bits == 0 {
		return true
	}
	if _, unit := unitType(it.Type); unit == 2 {
		format = "wb_set_units_(%[1]v, %[5]s, %[6]s, %[4]d / 2)"
	}
	k.in = append(k.in, word(format, false, at.set, from, it.Bits/8, from, at.set))
	k.out = append(k.out, word(format, true, from, at.set, it.Bits/8, from, at.set))
	k.after = append(k.after, func() {
		if g.set(it.Reg) != "" {
			g.sets(it.Reg, g.whole(it.Type, at))
		}
	})
	return true
}

// cAll is the member with all bits of a bitfield.
const cAll = "value"

func (g *cTarget) allOf(t *schema.Bitfield, at string) (member, bits string) {
	if t.Var == schema.Long {
		return at + "." + cAll, at + "." + cAll + ".low"
	}
	return at + "." + cAll, at + "." + cAll
}

// flags has the high bits of a bitfield in a variable of their own. Without a label it declares it.
func (g *cTarget) flags(t *schema.Bitfield, v string, at slot, label string) {
	high, long := v+"h", v+"l"
	if label == "" {
		g.line("uint64_t %s = %s;", high, map[bool]string{true: at.get + "." + cAll + ".high", false: "0"}[t.All != ""])
		return
	}
	g.line("wb_uint128 %s = {%s, %s};", long, high, v)
	g.line("%s = x.long(&%s, false);", v, long)
	g.line("%s = %s.high;", high, long)
	if t.All != "" {
		g.keep(at.set+"."+cAll, long)
	}
}

func (g *cTarget) higher(t *schema.Bitfield, v string, p schema.Part) (string, schema.Part) {
	if t.Var == schema.Long && p.Shift >= 64 {
		v += "h"
		p.Shift -= 64
	}
	return v, p
}

func (g *cTarget) allBits(t *schema.Bitfield, bits string) string {
	return fmt.Sprintf("(uint%d_t)%s", wide(t.Bits), bits)
}

func (g *cTarget) partBits(_ *schema.Bitfield, _, at, _ string) string { return "(uint64_t)" + at }

func (g *cTarget) partValue(t *schema.Bitfield, name, bits string) string {
	width, truth := bitfieldPart(t, name)
	if truth {
		return bits + " != 0"
	}
	return fmt.Sprintf("(uint%d_t)(%s)", wide(width), bits)
}

// cLimits returns limits as C constants; those without a value by their names.
func cLimits(lo, hi *schema.Limit, least, most string, text func(*schema.Limit) string) (from, to string) {
	limit := func(l *schema.Limit, none string) string {
		switch {
		case l == nil:
			return none
		case l.Const != "":
			return legal(l.Const)
		}
		return text(l)
	}
	return limit(lo, least), limit(hi, most)
}

func (g *cTarget) bounds(e schema.Extent) (lo, hi string) {
	return cLimits(e.Min, e.Max, "0", "UINT64_MAX", func(l *schema.Limit) string { return cUint(l.Uint) })
}

func (g *cTarget) inRange(n *schema.Number, v string, _ bool) string {
	call, lo, hi := "wb_in_u_", "0", "UINT64_MAX"
	text := func(l *schema.Limit) string { return cUint(l.Uint) }
	switch n.Kind {
	case schema.Float:
		call, lo, hi = "wb_in_f_", "(-1e308 * 10)", "(1e308 * 10)"
		text = func(l *schema.Limit) string {
			if math.IsInf(l.Float, 0) {
				return map[bool]string{true: "(1e308 * 10)", false: "(-1e308 * 10)"}[l.Float > 0]
			}
			return floatText(l.Float)
		}
	case schema.Signed:
		call, lo, hi = "wb_in_i_", "INT64_MIN", "INT64_MAX"
		text = func(l *schema.Limit) string { return cInt(l.Int) }
	}
	if n.Min == nil && n.Max == nil {
		return ""
	}
	lo, hi = cLimits(n.Min, n.Max, lo, hi, text)
	return fmt.Sprintf("%s(%s, %s, %s)", call, v, lo, hi)
}

// cBytes returns a string literal of bytes.
func cBytes(b []byte) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, c := range b {
		fmt.Fprintf(&out, "\\%03o", c)
	}
	out.WriteByte('"')
	return out.String()
}
