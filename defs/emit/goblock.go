package emit

import (
	"fmt"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// A block is a run of items of fixed size. Most of them are set at once, by statements for each direction; others, and all checks, are calls
// of the coder. Counts are checked first, as in the codec: a message whose size only its counts tell may not be there.

// goBlock is a block under construction.
type goBlock struct {
	*goTarget
	b       string   // the variable with its bytes
	in, out []string // statements that read and write
	counts  []string // those after them that check counts, before all other checks
	after   []func()
}

// block writes a block, with its bytes in a variable, or in a new one.
func (w *goTarget) block(p *wire.Part, b string) {
	size := p.Min.Bits / 8
	g := &goBlock{goTarget: w, b: b}
	if b == "" {
		g.b = "b" + w.id()
	}
	for k := range p.Items {
		g.item(&p.Items[k])
	}
	switch used := len(g.in)+len(g.out)+len(g.counts)+len(g.after) > 0; {
	case b != "" || size == 0 && !used:
	case size == 0:
		w.line("%s := []byte{}", g.b)
	case used:
		w.line("%s := x.block(%d)\nif %s == nil {\n\treturn\n}", g.b, size, g.b)
	default:
		w.line("if x.block(%d) == nil {\n\treturn\n}", size)
	}
	lines := func(list []string) func() {
		return func() {
			for _, line := range list {
				w.line("%s", line)
			}
		}
	}
	v := vars{"in": lines(g.in), "out": lines(g.out)}
	switch {
	case len(g.out) > 0 && len(g.in) > 0:
		w.print("if x.writing {\n\t$out\n} else {\n\t$in\n}", v)
	case len(g.out) > 0:
		w.print("if x.writing {\n\t$out\n}", v)
	case len(g.in) > 0:
		w.print("if !x.writing {\n\t$in\n}", v)
	}
	lines(g.counts)()
	if len(g.counts) > 0 && w.m.m.Measured {
		w.line("if !x.sized() {\n\treturn\n}")
	}
	for _, write := range g.after {
		write()
	}
}

// raw returns the bits of an item, as an unsigned integer of the returned width.
func (g *goBlock) raw(it *wire.Item) (string, int) {
	order, ok := goItem(it).native()
	switch at := it.Off / 8; {
	case !ok:
		return fmt.Sprintf("load(%s, %s)", g.b, where(goItem(it))), 64
	case it.Bits == 8:
		return fmt.Sprintf("%s[%d]", g.b, at), 8
	case at == 0:
		return fmt.Sprintf("binary.%sEndian.Uint%d(%s)", order, it.Bits, g.b), it.Bits
	default:
		return fmt.Sprintf("binary.%sEndian.Uint%d(%s[%d:])", order, it.Bits, g.b, at), it.Bits
	}
}

// store returns a statement that sets the bits of an item to an unsigned integer of a width.
func (g *goBlock) store(it *wire.Item, value string, width int) string {
	order, ok := goItem(it).native()
	switch at := it.Off / 8; {
	case !ok:
		return fmt.Sprintf("store(%s, %s, %s)", g.b, where(goItem(it)), convert(value, width, 64))
	case it.Bits == 8:
		return fmt.Sprintf("%s[%d] = %s", g.b, at, convert(value, width, 8))
	case at == 0:
		return fmt.Sprintf("binary.%sEndian.PutUint%d(%s, %s)", order, it.Bits, g.b, convert(value, width, it.Bits))
	default:
		return fmt.Sprintf("binary.%sEndian.PutUint%d(%s[%d:], %s)", order, it.Bits, g.b, at, convert(value, width, it.Bits))
	}
}

func goItem(it *wire.Item) *item { return &item{off: it.Off, bits: it.Bits, order: it.Order} }

// count writes the check of a count, and its place in the size of the message.
func (g *goBlock) count(it *wire.Item) {
	e, _ := wire.ExtentOf(g.laid.Fields[it.Field].Schema.Type)
	lo, hi := g.bounds(e)
	reg := g.reg(it.Reg)
	if it.Type != nil || it.Bits > 32 || e.Null {
		g.counts = append(g.counts, g.units64(g.b, it, e))
	} else {
		raw, width := g.raw(it)
		g.in = append(g.in, reg+" = "+convert(raw, width, 64))
		g.out = append(g.out, fmt.Sprintf("%s = uint64(%s)", reg, g.units(it.Field, e)), g.store(it, reg, 64))
		if most := schema.Mask(it.Bits); e.Max == nil || e.Max.Uint > most {
			hi = strconv.FormatUint(most, 10)
		}
		g.counts = append(g.counts, fmt.Sprintf("x.counted(%s, %s, %s, %s)", reg, lo, hi, g.label(it.Field)))
	}
	if need := g.need(it, e, lo); need != "" {
		g.counts = append(g.counts, need)
	}
}

// need adds the bytes of the units of a count to the size of a message that only its counts tell.
func (g *goTarget) need(it *wire.Item, e schema.Extent, lo string) string {
	p := g.contents[it.Field]
	if p == nil || !g.m.m.Measured || e.Null || unit(p) == "0" {
		return ""
	}
	return fmt.Sprintf("x.need(%s, %s, %s)", g.reg(it.Reg), lo, unit(p))
}

// units64 writes a count that is not a plain number.
func (g *goTarget) units64(b string, it *wire.Item, e schema.Extent) string {
	lo, hi := g.bounds(e)
	return fmt.Sprintf("%s = x.count(%s, %d, %s, %s, %s, %s, %v, %s)", g.reg(it.Reg), b, it.Off, g.form(it), g.units(it.Field, e), lo, hi, e.Null, g.label(it.Field))
}

func (g *goBlock) item(it *wire.Item) {
	switch it.Kind {
	case schema.Value:
		switch t := it.Type.(type) {
		case *schema.Number:
			if g.number(it, t) {
				return
			}
		case *schema.Blob:
			place := fmt.Sprintf("%s[%d:%d]", g.b, it.Off/8, (it.Off+it.Bits)/8)
			g.in = append(g.in, fmt.Sprintf("copy(%s[:], %s)", g.at[it.Field], place))
			g.out = append(g.out, fmt.Sprintf("copy(%s, %s[:])", place, g.at[it.Field]))
			return
		}
	case schema.Offset:
		raw, width := g.raw(it)
		reg := g.reg(it.Reg)
		g.in = append(g.in, fmt.Sprintf("%s = %s", reg, convert(raw, width, 64)))
		g.out = append(g.out, fmt.Sprintf("%s = uint64(8*x.pos + %d)", reg, it.Off))
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.Kind == schema.Code && g.m.m.HasKey { // reading has checked it
			code := uint64(g.m.m.Key.Code)
			if code > schema.Mask(it.Bits) {
				g.out = append(g.out, fmt.Sprintf("x.fits(false, %d, \"code\")", it.Bits))
			}
			g.out = append(g.out, g.store(it, fmt.Sprintf("uint64(%d)", code&schema.Mask(it.Bits)), 64))
			return
		}
		for _, m := range g.m.record.members {
			if m.isBook && m.book == it.Kind {
				g.direct(it, m.typ.(*schema.Number), "m."+g.fields[m], strconv.Quote(m.name))
			}
		}
		return
	case schema.Count:
		g.count(it)
		return
	case schema.Length, schema.Here, schema.Next, schema.Pad:
		return
	}
	g.after = append(g.after, func() { g.other(g.b, it) })
}

// number writes a number, unless it needs calls of the coder.
func (g *goBlock) number(it *wire.Item, t *schema.Number) bool {
	if it.Var != schema.Sized || t.Add != 0 || t.Kind == schema.Float && (t.Bits == 16 || t.Scale != 0) || t.Scale != 0 && t.Kind != schema.Bool && (t.Min != nil || t.Max != nil) {
		return false
	}
	g.direct(it, t, g.at[it.Field], g.label(it.Field))
	g.after = append(g.after, func() { g.limit(t, it.Field, "") })
	return true
}

func (g *goBlock) direct(it *wire.Item, t *schema.Number, at, label string) {
	raw, width := g.raw(it)
	bits := at // to be written, of that width
	wrote := wide(t.Bits)
	read := ""
	if it.Reg != wire.None && g.read[it.Reg] {
		g.in = append(g.in, fmt.Sprintf("%s = %s", g.reg(it.Reg), convert(raw, width, 64)))
		raw, width = g.reg(it.Reg), 64
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
		g.out = append(g.out, fmt.Sprintf("x.fits(extend(uint64(%s), %d) == int64(%s), %d, %s)", at, t.Bits, at, t.Bits, label))
	case t.Kind == schema.Unsigned && t.Bits != wide(t.Bits):
		g.out = append(g.out, fmt.Sprintf("x.fits(%s < 1<<%d, %d, %s)", at, t.Bits, t.Bits, label))
	}
	g.in = append(g.in, at+" = "+read)
	if it.Reg != wire.None && g.read[it.Reg] {
		g.out = append(g.out, fmt.Sprintf("%s = %s", g.reg(it.Reg), convert(bits, wrote, 64)))
		bits, wrote = g.reg(it.Reg), 64
	}
	g.out = append(g.out, g.store(it, bits, wrote))
}

// scaled returns the bits of a number with a scale; of one that is read they are 0.
func (w *goTarget) scaled(it *wire.Item, t *schema.Number, at, label string) string {
	return fmt.Sprintf("x.units(%s*%s, %s, %v, %v, %s)", at, floatText(1/t.Scale), w.form(it), t.Wrap, t.Truncate, label)
}

// other writes an item with calls of the coder, of the block b, or of variable size.
func (w *goTarget) other(b string, it *wire.Item) {
	place := fmt.Sprintf("%s, %d, %s", b, it.Off, w.form(it))
	switch it.Kind {
	case schema.Value:
		w.value(b, it, place)
	case schema.Count:
		e, _ := wire.ExtentOf(w.laid.Fields[it.Field].Schema.Type)
		lo, _ := w.bounds(e)
		w.line("%s", w.units64(b, it, e))
		if w.line("%s", w.need(it, e, lo)); w.m.m.Measured {
			w.line("if !x.sized() {\n\treturn\n}")
		}
	case schema.Code:
		if w.m.m.HasKey {
			w.line("x.known(%s, %d, %q)", w.form(it), w.m.m.Key.Code, "code")
			return
		}
		for _, m := range w.m.record.members {
			if m.isBook && m.book == it.Kind {
				w.integer(goNumber(m.typ.(*schema.Number)), "m."+w.fields[m], place, strconv.Quote(m.name))
			}
		}
	case schema.Const:
		w.line("x.constant(%s[%d:], %q)", b, it.Off/8, it.Bytes)
	case schema.Bytes:
		w.line("%sx.size(%s, %s)", w.set(it.Reg), place, w.label(it.Field))
	case schema.Present:
		w.line("%sx.raw(%s, %s, %s)", w.set(it.Reg), place, w.present(it.Field), w.label(it.Field))
	case schema.More:
		w.line("%s = x.raw(%s, bit(%s < len(%s)-1), \"more\") != 0", w.fn.more, place, w.fn.index, w.fn.moreOf)
	}
}

// integer writes an integer, and returns the variable with its value in 64 bits.
func (w *goTarget) integer(typ, at, place, label string) (v string) {
	v = "n" + w.id()
	w.line("%s := x.integer(%s, uint64(%s), %s)", v, place, at, label)
	w.keep(at, typ+"("+v+")")
	return v
}

// value writes the value of a field.
func (w *goTarget) value(b string, it *wire.Item, place string) {
	expr, label, reg := w.at[it.Field], w.label(it.Field), w.set(it.Reg)
	switch t := it.Type.(type) {
	case *schema.Number:
		raw := ""
		switch {
		case t.Kind == schema.Float && (t.Bits == 16 || t.Scale != 0):
			scale := "1"
			if t.Scale != 0 {
				scale = floatText(t.Scale)
			}
			v := "f" + w.id()
			w.line("%s := x.float(%s, float64(%s), %s, %s)", v, place, expr, scale, label)
			w.keep(expr, goNumber(t)+"("+v+")")
		case t.Kind == schema.Bool:
			raw = "n" + w.id()
			w.line("%s := x.raw(%s, bit(%s), %s)", raw, place, expr, label)
			w.keep(expr, raw+" != 0")
		case t.Scale != 0:
			raw = "n" + w.id()
			w.line("%s := x.raw(%s, %s, %s)", raw, place, w.scaled(it, t, expr, label), label)
			value := raw
			if t.Kind == schema.Signed {
				value = fmt.Sprintf("extend(%s, %d)", raw, t.Bits)
			}
			w.keep(expr, fmt.Sprintf("float64(%s) * %s", value, floatText(t.Scale)))
		default:
			raw = fmt.Sprintf("(%s - %d) & %#x", w.integer(goNumber(t), expr, place, label), t.Add, schema.Mask(t.Bits))
			if t.Add < 0 {
				raw = strings.Replace(raw, " - -", " + ", 1)
			}
		}
		if reg != "" {
			w.line("%s%s", reg, raw)
		}
		if t.Scale == 0 || t.Kind == schema.Bool || t.Kind == schema.Float {
			raw = ""
		}
		w.limit(t, it.Field, raw)
	case *schema.Bitfield:
		w.bitfield(it, t, place)
	case *schema.Text:
		w.line("x.fixedText(&%s, %s, %s[%d:%d], %v, %d, %s)", expr, goCharset(t.Charset), b, it.Off/8, (it.Off+it.Bits)/8, exact(t), t.Pad, label)
	}
}

// bitfield writes a bitfield. Its bits are made of its parts, and of those that no part has.
func (w *goTarget) bitfield(it *wire.Item, t *schema.Bitfield, place string) {
	expr, label := w.at[it.Field], w.label(it.Field)
	v := "f" + w.id()
	w.line("var %s uint64", v)
	w.open("if x.writing {")
	if t.All != "" {
		w.line("%s = uint64(%s.%s)", v, expr, goAll)
	}
	w.forms(t, func(f *schema.Form) string {
		if t.All != "" {
			return v
		}
		all := []string{"0"}
		w.partsOf(t, f, expr, func(name, at string, p schema.Part) {
			if p.Of(f.Mask) != 0 {
				all = append(all, fmt.Sprintf("%s<<%d", partBits(t, name, at), p.Shift))
			}
		})
		return "(" + strings.Join(all, " | ") + ")"
	}, func(f *schema.Form) {
		w.partsOf(t, f, expr, func(name, at string, p schema.Part) {
			bits := partBits(t, name, at)
			switch {
			case p.Mask != 0:
				w.line("%s = flag(%s, %#x, %s)", v, v, p.Mask, at)
			case p.Bits == 0 && t.All == "":
				w.line("x.fits(%s == 0, 0, %s)", bits, label)
			case p.Bits == 0:
			case p.Ones > 0:
				w.line("x.fits(%s <= %#x || %s == %#x, %d, %s)", bits, schema.Mask(p.Bits), bits, schema.Mask(p.Ones), p.Bits, label)
				w.line("%s = x.bitsOf(%s, %d, %d, %s&%#x, %s)", v, v, p.Shift, p.Bits, bits, schema.Mask(p.Bits), label)
			default:
				w.line("%s = x.bitsOf(%s, %d, %d, %s, %s)", v, v, p.Shift, p.Bits, bits, label)
			}
		})
	})
	w.shut("}")
	w.line("%s = x.raw(%s, %s, %s)", v, place, v, label)
	if reg := w.set(it.Reg); reg != "" {
		w.line("%s%s", reg, v)
	}
	w.open("if !x.writing {")
	if t.All != "" {
		w.line("%s.%s = uint%d(%s)", expr, goAll, wide(t.Bits), v)
	}
	w.forms(t, func(*schema.Form) string { return v }, func(f *schema.Form) {
		w.partsOf(t, f, expr, func(name, at string, p schema.Part) {
			width, truth := bitfieldPart(t, name)
			value := fmt.Sprintf("%s>>%d&%#x", v, p.Shift, maskOf(p.Bits))
			if p.Ones > 0 {
				value = fmt.Sprintf("(%s) * %#x", value, schema.Mask(p.Ones))
			}
			switch {
			case p.Mask != 0:
				value = fmt.Sprintf("%s&%#x == %#x", v, p.Mask, p.Mask)
			case p.Bits == 0:
				return
			case truth:
				value += " != 0"
			default:
				value = fmt.Sprintf("uint%d(%s)", wide(width), value)
			}
			w.line("%s = %s", at, value)
		})
	})
	w.shut("}")
}

// partBits returns the value of a part of a bitfield in 64 bits.
func partBits(t *schema.Bitfield, name, at string) string {
	if _, truth := bitfieldPart(t, name); truth {
		return "bit(" + at + ")"
	}
	return "uint64(" + at + ")"
}

// forms writes a branch for each form of a bitfield.
func (w *goTarget) forms(t *schema.Bitfield, bits func(f *schema.Form) string, body func(f *schema.Form)) {
	var list []branch
	for i := range t.Forms {
		f := &t.Forms[i]
		list = append(list, branch{w.formIs(f, bits(f)), oneLine(f.When), func() { body(f) }})
	}
	if len(list) == 1 {
		body(&t.Forms[0])
		return
	}
	w.branches(list, true)
}
