package emit

import (
	"fmt"
	"math"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// cBlock is a block under construction: a run of items of fixed size. Most of them are set at once, by statements for each direction; others,
// and all checks, are calls of the coder. Counts are checked first, as in the codec: a message whose size only its counts tell may not be there.
type cBlock struct {
	*cTarget
	b       string   // the variable with its bytes, NULL when the message is measured
	in, out []string // statements that read and write
	regs    []string // those that set registers when the message is written or measured, before the others
	counts  []string // those after them that check counts, before all other checks
	after   []func()
}

func (g *cTarget) block(p *wire.Part) {
	size := p.Min.Bits / 8
	b := &cBlock{cTarget: g, b: "b" + g.id()}
	for k := range p.Items {
		b.item(&p.Items[k])
	}
	used := len(b.in)+len(b.regs)+len(b.out)+len(b.counts)+len(b.after) > 0
	switch {
	case size == 0 && !used:
		return
	case used:
		g.line("uint8_t *%s = wb_block_(x, %d);", b.b, size)
		g.line("(void)%s;", b.b)
	default:
		g.line("wb_block_(x, %d);", size)
	}
	g.stop()
	lines := func(list []string) func() {
		return func() {
			for _, line := range list {
				g.print(line, nil)
			}
		}
	}
	v := vars{"b": b.b, "in": lines(b.in), "regs": lines(b.regs), "out": lines(b.out)}
	out := "if ($b != NULL) {\n\t$out\n}"
	switch {
	case len(b.out) == 0:
		out = ""
	case len(b.in) > 0 && len(b.regs) == 0:
		out = "else if ($b != NULL) {\n\t$out\n}"
	case len(b.in) == 0:
		out = "if (x->writing && $b != NULL) {\n\t$out\n}"
	}
	switch {
	case len(b.in) > 0 && len(b.regs) > 0:
		g.print("if (!x->writing) {\n\t$in\n} else {\n\t$regs\n\t"+strings.ReplaceAll(out, "\n", "\n\t")+"\n}", v)
	case len(b.in) > 0 && out != "":
		g.print("if (!x->writing) {\n\t$in\n} "+out, v)
	case len(b.in) > 0:
		g.print("if (!x->writing) {\n\t$in\n}", v)
	default:
		g.print(out, v)
	}
	lines(b.counts)()
	if len(b.counts) > 0 {
		g.line("if (wb_sized_(x) != 0)\n%s\treturn;", g.tabs())
	}
	for _, write := range b.after {
		write()
	}
}

// loadBits returns the bits of an item as an unsigned integer.
func (g *cTarget) loadBits(b string, it *wire.Item) string {
	switch {
	case it.Off%8 != 0 || it.Bits%8 != 0:
		return fmt.Sprintf("wb_load_(%s, %s)", b, cWhere(it))
	case it.Bits == 8:
		return fmt.Sprintf("%s[%d]", b, it.Off/8)
	case isNative(it.Bits):
		return fmt.Sprintf("wb_%s%d_(%s + %d)", cOrder(it), it.Bits, b, it.Off/8)
	default:
		return fmt.Sprintf("wb_%s_(%s + %d, %d)", cOrder(it), b, it.Off/8, it.Bits/8)
	}
}

// storeBits returns a statement that sets the bits of an item to an integer. fits: it always fits.
func (g *cTarget) storeBits(b string, it *wire.Item, value string, fits bool) string {
	switch {
	case !fits || it.Off%8 != 0 || !isNative(it.Bits):
		return fmt.Sprintf("wb_put_(x, %s, %s, %s);", b, cWhere(it), value)
	case it.Bits == 8:
		return fmt.Sprintf("%s[%d] = (uint8_t)%s;", b, it.Off/8, value)
	default:
		return fmt.Sprintf("wb_set_%s%d_(%s + %d, (uint%d_t)%s);", cOrder(it), it.Bits, b, it.Off/8, it.Bits, value)
	}
}

func cOrder(it *wire.Item) string {
	return map[bool]string{true: "be", false: "le"}[it.Order == schema.Big]
}

// cWhere returns the place of an item in its block.
func cWhere(it *wire.Item) string {
	return fmt.Sprintf("%d, %d, %v", it.Off, it.Bits, it.Order == schema.Big)
}

// loaded returns the wire value of a number from its bits.
func (g *cTarget) loaded(n *schema.Number, bits string) string {
	switch n.Kind {
	case schema.Float:
		return fmt.Sprintf("wb_%s_(%s)", cFloat(n), bits)
	case schema.Signed:
		return fmt.Sprintf("wb_signed_(%s, %d)", bits, n.Bits)
	}
	return bits
}

// cFloat returns the name of a float on the wire.
func cFloat(n *schema.Number) string {
	return map[int]string{16: "half", 32: "float", 64: "double"}[n.Bits]
}

// shown returns the value of a member from the wire value of a number.
func (g *cTarget) shown(n *schema.Number, value string) string {
	switch {
	case n.Kind == schema.Bool:
		return value + " != 0"
	case n.Scale != 0:
		return fmt.Sprintf("(double)%s * %s", value, floatText(n.Scale))
	case n.Kind == schema.Float && n.Bits != 16:
		return value
	}
	return fmt.Sprintf("(%s)%s", cNumber(n), value)
}

// bitsOf returns the bits of a number that is written, of at least its width, and whether they always fit.
func (g *cTarget) bitsOf(n *schema.Number, value string) (bits string, fits bool) {
	switch {
	case n.Kind == schema.Bool:
		return "(" + value + " ? 1u : 0u)", true
	case n.Kind == schema.Float:
		if n.Scale != 0 {
			value = fmt.Sprintf("%s * %s", value, floatText(1/n.Scale))
		}
		if n.Bits == 32 && n.Scale != 0 {
			value = "(float)(" + value + ")"
		}
		return fmt.Sprintf("wb_%s_bits_(%s)", cFloat(n), value), true
	case n.Scale != 0:
		return fmt.Sprintf("wb_scaled_(x, %s, %s, %d, %v, %v, %v)", value, floatText(1/n.Scale), n.Bits, n.Kind == schema.Signed, n.Wrap, n.Truncate), true
	}
	if n.Bits == wide(n.Bits) {
		return fmt.Sprintf("(uint%d_t)%s", n.Bits, value), true
	}
	return "(uint64_t)" + value, false
}

func (g *cBlock) item(it *wire.Item) {
	switch it.Kind {
	case schema.Value:
		switch t := it.Type.(type) {
		case *schema.Number:
			if it.Var == schema.Sized && t.Add == 0 {
				g.number(it, t, g.at[it.Field])
				return
			}
		case *schema.Text, *schema.Blob:
			g.fixed(it)
			return
		}
	case schema.Offset:
		g.in = append(g.in, fmt.Sprintf("%s = %s;", g.reg(it.Reg), g.loadBits(g.b, it)))
		g.regs = append(g.regs, fmt.Sprintf("%s = 8 * (uint64_t)x->block + %d;", g.reg(it.Reg), it.Off))
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.Kind == schema.Code && g.m.m.HasKey { // reading has checked it
			code := uint64(g.m.m.Key.Code)
			g.out = append(g.out, g.storeBits(g.b, it, cUint(code), code <= schema.Mask(it.Bits)))
			return
		}
		for _, m := range g.m.record.members {
			if m.isBook && m.book == it.Kind {
				g.number(it, m.typ.(*schema.Number), "s->"+g.fields[m])
			}
		}
		return
	case schema.Count:
		e, _ := wire.ExtentOf(g.laid.Fields[it.Field].Schema.Type)
		if it.Type != nil || it.Bits > 32 || e.Null {
			g.counts = append(g.counts, g.count64(g.b, it, e))
			return
		}
		reg, units := g.reg(it.Reg), g.units(it.Field, e)
		g.in = append(g.in, fmt.Sprintf("%s = %s;", reg, g.loadBits(g.b, it)))
		g.regs = append(g.regs, fmt.Sprintf("%s = %s;", reg, units))
		g.out = append(g.out, g.storeBits(g.b, it, reg, false))
		lo, hi := g.bounds(e)
		g.counts = append(g.counts, fmt.Sprintf("wb_counted_(x, %s, %s, %s, %s);", reg, lo, hi, g.unit(it.Field)))
		return
	case schema.Length, schema.Here, schema.Next, schema.Pad:
		return
	case schema.Const:
		if len(it.Bytes) > 0 {
			at, bytes, n := it.Off/8, cBytes(it.Bytes), len(it.Bytes)
			g.out = append(g.out, fmt.Sprintf("memcpy(%s + %d, %s, %d);", g.b, at, bytes, n))
			g.after = append(g.after, func() { g.line("wb_check_(x, x->writing || memcmp(%s + %d, %s, %d) == 0);", g.b, at, bytes, n) })
		}
		return
	}
	g.after = append(g.after, func() { g.other(g.b, it) })
}

// number writes a number of a block.
func (g *cBlock) number(it *wire.Item, t *schema.Number, at string) {
	raw := g.loadBits(g.b, it)
	bits, fits := g.bitsOf(t, at)
	limit := at
	if t.Kind == schema.Signed && !fits {
		g.out = append(g.out, fmt.Sprintf("wb_check_(x, wb_signed_(%s & %s, %d) == %s);", bits, cUint(schema.Mask(t.Bits)), t.Bits, at))
		bits, fits = fmt.Sprintf("(%s & %s)", bits, cUint(schema.Mask(t.Bits))), true
	}
	if limited := t.Scale != 0 && t.Kind != schema.Bool && (t.Min != nil || t.Max != nil); limited || it.Reg != wire.None && g.read[it.Reg] {
		name := strings.TrimSuffix(g.set(it.Reg), " = ") // the bits are needed afterwards
		if name == "" {
			name = "n" + g.id()
			g.line("uint64_t %s = 0;", name)
		}
		g.in = append(g.in, name+" = "+raw+";")
		g.regs = append(g.regs, name+" = "+bits+";")
		raw, bits = name, name
		if limit = g.loaded(t, name); !limited || t.Kind == schema.Float {
			limit = at
		}
	}
	g.in = append(g.in, fmt.Sprintf("%s = %s;", at, g.shown(t, g.loaded(t, raw))))
	g.out = append(g.out, g.storeBits(g.b, it, bits, fits))
	g.after = append(g.after, func() { g.limit(t, limit) })
}

// fixed writes text or bytes of fixed size.
func (g *cBlock) fixed(it *wire.Item) {
	at, place := g.at[it.Field], fmt.Sprintf("%s + %d", g.b, it.Off/8)
	switch typ, _ := unitType(it.Type); {
	case it.Bits == 0:
	case typ == "uint16_t":
		g.in = append(g.in, fmt.Sprintf("wb_set_units_(false, %s, %s, %d);", place, at, it.Bits/16))
		g.out = append(g.out, fmt.Sprintf("wb_set_units_(true, %s, %s, %d);", place, at, it.Bits/16))
	default:
		g.in = append(g.in, fmt.Sprintf("memcpy(%s, %s, %d);", at, place, it.Bits/8))
		g.out = append(g.out, fmt.Sprintf("memcpy(%s, %s, %d);", place, at, it.Bits/8))
	}
}

// unit returns the minimum size of a unit of the contents of a field in bytes, "0" if it is unknown.
func (g *cTarget) unit(f int) string {
	if p := g.contents[f]; p != nil && !p.Extent.Null {
		return unit(p)
	}
	return "0"
}

// count64 returns the statement for a count that is not a plain number.
func (g *cTarget) count64(b string, it *wire.Item, e schema.Extent) string {
	lo, hi := g.bounds(e)
	return fmt.Sprintf("%s = wb_count_(x, %s, %d, %s, %s, %s, %s, %s, %v, %s);", g.reg(it.Reg), b, it.Off, cForm(it), cAdd(it), g.units(it.Field, e), lo, hi, e.Null, g.unit(it.Field))
}

// other writes an item with calls of the coder, of the block b, or of variable size.
func (g *cTarget) other(b string, it *wire.Item) {
	place := fmt.Sprintf("%s, %d, %s", b, it.Off, cForm(it))
	switch it.Kind {
	case schema.Value:
		g.passed(it, place)
	case schema.Count:
		e, _ := wire.ExtentOf(g.laid.Fields[it.Field].Schema.Type)
		g.line("%s", g.count64(b, it, e))
		g.line("if (wb_sized_(x) != 0)\n%s\treturn;", g.tabs())
	case schema.Code:
		if g.m.m.HasKey {
			code := cUint(uint64(g.m.m.Key.Code))
			g.line("wb_check_(x, wb_raw_(x, %s, %s) == %s);", place, code, code)
			return
		}
		for _, m := range g.m.record.members {
			if m.isBook && m.book == it.Kind {
				g.integer(m.typ.(*schema.Number), "s->"+g.fields[m], place, it)
			}
		}
	case schema.Bytes:
		if at := g.set(it.Reg); at != "" {
			g.line("%swb_size_(x, %s, %s);", at, place, cAdd(it))
		} else {
			g.line("wb_size_(x, %s, %s);", place, cAdd(it))
		}
	case schema.Present:
		g.line("%swb_raw_(x, %s, %s);", g.set(it.Reg), place, g.present(it.Field))
	case schema.More:
		g.line("%s = wb_raw_(x, %s, (uint64_t)!(%s)) != 0;", g.fn.more, place, g.fn.moreOf)
	}
}

// integer writes an integer, and returns the variable with its value in 64 bits.
func (g *cTarget) integer(n *schema.Number, at, place string, it *wire.Item) (v string) {
	v = "n" + g.id()
	g.line("uint64_t %s = wb_integer_(x, %s, %s, (uint64_t)%s);", v, place, cAdd(it), at)
	value := v
	if n.Kind == schema.Signed || n.Add != 0 {
		value = "wb_int_(" + v + ")"
	}
	g.keep(at, fmt.Sprintf("(%s)%s", cNumber(n), value))
	return v
}

// passed writes the value of a field.
func (g *cTarget) passed(it *wire.Item, place string) {
	at, reg := g.at[it.Field], g.set(it.Reg)
	switch t := it.Type.(type) {
	case *schema.Number:
		v, limit := "", at
		if t.Kind == schema.Float || t.Kind == schema.Bool || t.Scale != 0 {
			bits, _ := g.bitsOf(t, at)
			v = "n" + g.id()
			g.line("uint64_t %s = wb_raw_(x, %s, %s);", v, place, bits)
			g.keep(at, g.shown(t, g.loaded(t, v)))
			if t.Scale != 0 && t.Kind < schema.Float {
				limit = g.loaded(t, v)
			}
		} else if v = g.integer(t, at, place, it); t.Add != 0 || t.Kind == schema.Signed {
			v = strings.Replace(fmt.Sprintf("(%s - %s) & %s", v, cAdd(it), cUint(schema.Mask(t.Bits))), " - 0u", "", 1)
		}
		if reg != "" {
			g.line("%s%s;", reg, v)
		}
		g.limit(t, limit)
	case *schema.Bitfield:
		g.bitfield(it, t, place)
	}
}

// cAll is the member with all bits of a bitfield.
const cAll = "value"

// bitfield writes a bitfield. Its bits are made of its parts, and of those that no part has.
func (g *cTarget) bitfield(it *wire.Item, t *schema.Bitfield, place string) {
	at, v := g.at[it.Field], "f"+g.id()
	g.line("uint64_t %s = %s;", v, map[bool]string{true: at + "." + cAll, false: "0"}[t.All != ""])
	g.open("if (x->writing) {")
	g.forms(t, func(f *schema.Form) string {
		if t.All != "" {
			return v
		}
		all := []string{"0u"}
		g.partsOf(t, f, at, func(_, place string, p schema.Part) {
			if p.Of(f.Mask) != 0 {
				all = append(all, fmt.Sprintf("(uint64_t)%s << %d", place, p.Shift))
			}
		})
		return "(" + strings.Join(all, " | ") + ")"
	}, func(f *schema.Form) {
		g.partsOf(t, f, at, func(_, place string, p schema.Part) {
			bits, mask, most := "(uint64_t)"+place, cUint(p.Mask), cUint(maskOf(p.Bits))
			switch {
			case p.Mask != 0:
				g.line("if (%s)\n%s\t%s |= %s;", place, g.tabs(), v, mask)
				g.line("else if ((%s & %s) == %s)\n%s\t%s &= ~(uint64_t)%s;", v, mask, mask, g.tabs(), v, mask)
				return
			case p.Bits == 0:
				if t.All == "" {
					g.line("wb_check_(x, %s == 0);", bits)
				}
				return
			case p.Ones > 0:
				g.line("wb_check_(x, wb_in_u_(%s, 0, %s) || %s == %s);", bits, most, bits, cUint(schema.Mask(p.Ones)))
			case p.Kind != schema.Bool:
				g.line("wb_check_(x, wb_in_u_(%s, 0, %s));", bits, most)
			}
			g.line("%s = (%s & ~((uint64_t)%s << %d)) | (%s & %s) << %d;", v, v, most, p.Shift, bits, most, p.Shift)
		})
	})
	g.shut("}")
	g.line("%s = wb_raw_(x, %s, %s);", v, place, v)
	if reg := g.set(it.Reg); reg != "" {
		g.line("%s%s;", reg, v)
	}
	g.open("if (!x->writing) {")
	if t.All != "" {
		g.line("%s.%s = (uint%d_t)%s;", at, cAll, wide(t.Bits), v)
	}
	g.forms(t, func(*schema.Form) string { return v }, func(f *schema.Form) {
		g.partsOf(t, f, at, func(name, place string, p schema.Part) {
			width, truth := bitfieldPart(t, name)
			value := fmt.Sprintf("(%s >> %d & %s)", v, p.Shift, cUint(maskOf(p.Bits)))
			if p.Ones > 0 {
				value = fmt.Sprintf("(%s * %s)", value, cUint(schema.Mask(p.Ones)))
			}
			switch {
			case p.Mask != 0:
				value = fmt.Sprintf("(%s & %s) == %s", v, cUint(p.Mask), cUint(p.Mask))
			case p.Bits == 0:
				return
			case truth:
				value += " != 0"
			default:
				value = fmt.Sprintf("(uint%d_t)%s", wide(width), value)
			}
			g.line("%s = %s;", place, value)
		})
	})
	g.shut("}")
}

// forms writes a branch for each form of a bitfield.
func (g *cTarget) forms(t *schema.Bitfield, bits func(f *schema.Form) string, body func(f *schema.Form)) {
	var list []branch
	for i := range t.Forms {
		f := &t.Forms[i]
		list = append(list, branch{g.formIs(f, bits(f)), oneLine(f.When), func() { body(f) }})
	}
	if len(list) == 1 {
		body(&t.Forms[0])
		return
	}
	g.branches(list, true)
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

// bounds returns the legal range of the number of units.
func (g *cTarget) bounds(e schema.Extent) (lo, hi string) {
	return cLimits(e.Min, e.Max, "0", "UINT64_MAX", func(l *schema.Limit) string { return cUint(l.Uint) })
}

// inRange returns the condition that a value is legal, "" if all values are.
func (g *cTarget) inRange(n *schema.Number, v string) string {
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
