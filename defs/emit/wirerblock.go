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

// block is a block under construction.
type block struct {
	b       string   // the variable with its bytes
	in, out []string // statements that read and write
	regs    []string // see wording
	counts  []string // those after them that check counts, before all other checks
	after   []func()
}

// block writes a block, with its bytes in a variable, or in a new one.
func (w *wirer) block(p *wire.Part, b string) {
	g := &block{b: b}
	if b == "" {
		g.b = "b" + w.id()
	}
	for k := range p.Items {
		w.item(g, &p.Items[k])
	}
	if b == "" {
		used := len(g.in)+len(g.out)+len(g.counts)+len(g.after) > 0
		if size := p.Min.Bits / 8; used {
			w.lang.take(g.b, size)
		} else if size > 0 {
			w.lang.take("", size)
		}
	}
	lines := func(list []string) func() {
		return func() {
			for _, line := range list {
				w.line("%s;", line)
			}
		}
	}
	if len(g.regs) > 0 {
		w.print(w.wording.regs, vars{"regs": lines(g.regs)})
	}
	v := vars{"b": g.b, "in": lines(g.in), "out": lines(g.out)}
	switch {
	case len(g.out) > 0 && len(g.in) > 0:
		w.print(w.wording.sides[0], v)
	case len(g.out) > 0:
		w.print(w.wording.sides[1], v)
	case len(g.in) > 0:
		w.print(w.wording.sides[2], v)
	}
	lines(g.counts)()
	if len(g.counts) > 0 && w.m.m.Measured {
		w.guard("x.sized()")
	}
	for _, write := range g.after {
		write()
	}
}

// register adds a statement that sets a register unless the message is read.
func (w *wirer) register(g *block, set string) {
	if w.wording.regs == "" {
		g.out = append(g.out, set)
	} else {
		g.regs = append(g.regs, set)
	}
}

// count writes the check of a count, and its place in the size of the message.
func (w *wirer) count(g *block, it *wire.Item) {
	e, _ := wire.ExtentOf(w.laid.Fields[it.Field].Schema.Type)
	lo, hi := w.lang.bounds(e)
	reg := w.reg(it.Reg)
	if it.Type != nil || it.Bits > 32 || e.Null {
		g.counts = append(g.counts, w.manyUnits(g.b, it, e))
	} else {
		g.in = append(g.in, reg+" = "+w.lang.load(g.b, it))
		w.register(g, reg+" = "+word(w.wording.unsigned, w.units(it.Field, e)))
		g.out = append(g.out, w.lang.store(g.b, it, reg))
		if most := schema.Mask(it.Bits); e.Max == nil || e.Max.Uint > most {
			hi = strconv.FormatUint(most, 10)
		}
		g.counts = append(g.counts, fmt.Sprintf("x.counted(%s, %s, %s, %s)", reg, lo, hi, w.label(it.Field)))
	}
	if need := w.need(it, e, lo); need != "" {
		g.counts = append(g.counts, need)
	}
}

// need adds the bytes of the units of a count to the size of a message that only its counts tell.
func (w *wirer) need(it *wire.Item, e schema.Extent, lo string) string {
	p := w.contents[it.Field]
	if p == nil || !w.m.m.Measured || e.Null || unit(p) == "0" {
		return ""
	}
	return fmt.Sprintf("x.need(%s, %s, %s)", w.reg(it.Reg), lo, unit(p))
}

// manyUnits writes a count that is not a plain number.
func (w *wirer) manyUnits(b string, it *wire.Item, e schema.Extent) string {
	lo, hi := w.lang.bounds(e)
	return fmt.Sprintf("%s = x.count(%s, %d, %s, %s, %s, %s, %v, %s)", w.reg(it.Reg), b, it.Off, w.form(it), w.units(it.Field, e), lo, hi, e.Null, w.label(it.Field))
}

// books calls yield with the member of a code, a counter or a checksum.
func (w *wirer) books(it *wire.Item, yield func(n *schema.Number, at slot, label string)) {
	for _, m := range w.m.record.members {
		if m.isBook && m.book == it.Kind {
			yield(m.typ.(*schema.Number), w.lang.of(slot{set: "m", get: "m"}, m), w.lang.title(m.name))
		}
	}
}

func (w *wirer) item(g *block, it *wire.Item) {
	switch it.Kind {
	case schema.Value:
		at, label := w.at[it.Field], w.label(it.Field)
		switch t := it.Type.(type) {
		case *schema.Number:
			if it.Var != schema.Sized || t.Add != 0 || t.Kind == schema.Float && (t.Bits == 16 || t.Scale != 0) || t.Scale != 0 && t.Kind != schema.Bool && (t.Min != nil || t.Max != nil) {
				break // it needs calls of the coder
			}
			w.lang.direct(g, it, t, at, label)
			g.after = append(g.after, func() { w.limit(t, it.Field, "") })
			return
		case *schema.Blob, *schema.Text:
			if w.lang.copy(g, it, at, label) {
				return
			}
		}
	case schema.Offset:
		g.in = append(g.in, w.reg(it.Reg)+" = "+w.lang.load(g.b, it))
		w.register(g, w.reg(it.Reg)+" = "+word(w.wording.bit, g.b, it.Off))
		return
	case schema.Code, schema.Counter, schema.Check:
		if it.Kind == schema.Code && w.m.m.HasKey { // reading has checked it
			code := uint64(w.m.m.Key.Code)
			if code > schema.Mask(it.Bits) {
				g.out = append(g.out, fmt.Sprintf("x.fits(false, %d, %s)", it.Bits, w.lang.title("code")))
			}
			g.out = append(g.out, w.lang.store(g.b, it, word(w.wording.unsigned, strconv.FormatUint(code&schema.Mask(it.Bits), 10))))
			return
		}
		w.books(it, func(n *schema.Number, at slot, label string) { w.lang.direct(g, it, n, at, label) })
		return
	case schema.Count:
		w.count(g, it)
		return
	case schema.Length, schema.Here, schema.Next, schema.Pad:
		return
	}
	g.after = append(g.after, func() { w.other(g.b, it) })
}

// loaded returns the assignment of an item's bits to its register, which is then used in their place; store likewise.
func (w *wirer) loaded(g *block, it *wire.Item, raw string) (bits string, reg bool) {
	if at := w.set(it.Reg); at != "" {
		g.in = append(g.in, at+raw)
		return w.reg(it.Reg), true
	}
	return raw, false
}

// scaled returns the bits of a number with a scale; of one that is read they are 0.
func (w *wirer) scaled(it *wire.Item, t *schema.Number, at, label string) string {
	return fmt.Sprintf("%s(%s*%s, %s, %v, %v, %s)", w.lang.word("x.units", it.Bits), at, floatText(1/t.Scale), w.form(it), t.Wrap, t.Truncate, label)
}

// other writes an item with calls of the coder, of the block b, or of variable size.
func (w *wirer) other(b string, it *wire.Item) {
	place := fmt.Sprintf("%s, %d, %s", b, it.Off, w.form(it))
	raw := w.lang.word("x.raw", it.Bits)
	switch it.Kind {
	case schema.Value:
		w.value(b, it, place)
	case schema.Count:
		e, _ := wire.ExtentOf(w.laid.Fields[it.Field].Schema.Type)
		lo, _ := w.lang.bounds(e)
		w.line("%s;", w.manyUnits(b, it, e))
		if need := w.need(it, e, lo); need != "" {
			w.line("%s;", need)
		}
		if w.m.m.Measured {
			w.guard("x.sized()")
		}
	case schema.Code:
		if w.m.m.HasKey {
			w.line("x.known(%s, %d, %s);", w.form(it), w.m.m.Key.Code, w.lang.title("code"))
			return
		}
		w.books(it, func(n *schema.Number, at slot, label string) { w.integer(n, at, place, label) })
	case schema.Const:
		w.line("x.constant(%s, %d, %s);", b, it.Off/8, w.lang.bytes(it.Bytes))
	case schema.Tag:
		w.line("x.known(%s, %d, %s);", w.form(it), it.Tag, w.lang.title("tag"))
	case schema.Bytes:
		w.line("%sx.size(%s, %s);", w.set(it.Reg), place, w.label(it.Field))
	case schema.Present:
		w.line("%s%s(%s, %s, %s);", w.set(it.Reg), raw, place, w.selecting(it.Field, it.Bits), w.label(it.Field))
	case schema.More:
		w.line("%s = %s;", w.fn.more, w.lang.truth(fmt.Sprintf("%s(%s, %s, %s)", raw, place, w.lang.pick(w.fn.index+" < "+w.fn.moreOf+"-1", 1, 0, it.Bits), w.lang.title("more")), it.Bits))
	}
}

// integer writes an integer, and returns the variable with its value.
func (w *wirer) integer(n *schema.Number, at slot, place, label string) (v string) {
	v = "n" + w.id()
	w.declare("uint64_t", v, fmt.Sprintf("%s(%s, %s, %s)", w.lang.word("x.integer", n.Bits), place, w.lang.argument(n, at.get), label))
	w.keep(at.set, w.lang.cast(n, v, false))
	return v
}

// value writes the value of a field.
func (w *wirer) value(b string, it *wire.Item, place string) {
	at, label := w.at[it.Field], w.label(it.Field)
	switch t := it.Type.(type) {
	case *schema.Number:
		raw, limited, call := "", "", w.lang.word("x.raw", it.Bits)
		if it.Var == schema.Long {
			raw = w.lang.long(at, it.Reg != wire.None && w.read[it.Reg], label)
			w.sets(it.Reg, raw)
			w.limit(t, it.Field, raw)
			return
		}
		v := "n" + w.id()
		switch {
		case t.Kind == schema.Float && (t.Bits == 16 || t.Scale != 0):
			scale := "1"
			if t.Scale != 0 {
				scale = floatText(t.Scale)
			}
			w.declare("double", v, fmt.Sprintf("x.float(%s, %s, %s, %s)", place, w.lang.argument(t, at.get), scale, label))
			w.keep(at.set, w.lang.cast(t, v, false))
		case t.Kind == schema.Bool:
			w.declare("uint64_t", v, fmt.Sprintf("%s(%s, %s, %s)", call, place, w.lang.pick(at.get, 1, 0, it.Bits), label))
			w.keep(at.set, w.lang.truth(v, it.Bits))
			raw = v
		case t.Scale != 0:
			w.declare("uint64_t", v, fmt.Sprintf("%s(%s, %s, %s)", call, place, w.scaled(it, t, at.get, label), label))
			w.keep(at.set, w.lang.cast(t, v, false))
			raw, limited = v, v
		default:
			raw = w.lang.raw(w.integer(t, at, place, label), t)
		}
		if raw != "" {
			w.sets(it.Reg, raw)
		}
		w.limit(t, it.Field, limited)
	case *schema.Bitfield:
		w.bitfield(it, t, place)
	case *schema.Text:
		w.lang.pass("fixedText", at, fmt.Sprintf("%s, %s, %v, %d, %s", w.lang.word(charsetName(t.Charset), 0), w.lang.slice(b, it), exact(t), t.Pad, label))
	}
}

// bitfield writes a bitfield. Its bits are made of its parts, and of those that no part has.
func (w *wirer) bitfield(it *wire.Item, t *schema.Bitfield, place string) {
	at, label, v := w.at[it.Field], w.label(it.Field), "f"+w.id()
	_, bits := w.lang.allOf(t, at.get)
	w.lang.fill(w.mem[it.Field], at)
	at.set = w.lang.inner(at, false).set
	w.line(w.wording.bits, v)
	if it.Var == schema.Long {
		w.lang.flags(t, v, at, "")
	}
	w.open("if (x.writing) {")
	if t.All != "" {
		w.line("%s = %s;", v, bits)
	}
	w.forms(t, func(f *schema.Form) string {
		if t.All != "" {
			return v
		}
		all := []string{w.lang.mask(0)}
		w.partsOf(t, f, at.get, func(name, at string, p schema.Part) {
			if p.Of(f.Mask) != 0 {
				all = append(all, "("+word(w.wording.shifted, w.lang.partBits(t, name, at, label), p.Shift)+")")
			}
		})
		return "(" + strings.Join(all, " | ") + ")"
	}, func(f *schema.Form) {
		w.partsOf(t, f, at.get, func(name, at string, p schema.Part) {
			bits := w.lang.partBits(t, name, at, label)
			v, p := w.lang.higher(t, v, p)
			switch {
			case p.Mask != 0:
				w.line("%s = %s(%s, %s, %s);", v, w.lang.word("flag", 0), v, w.lang.mask(p.Mask), at)
			case p.Bits == 0 && t.All == "":
				w.line("x.fits(%s %s %s, 0, %s);", bits, w.say.equal, w.lang.mask(0), label)
			case p.Bits == 0:
			case p.Ones > 0:
				w.line("x.fits(%s <= %s || %s %s %s, %d, %s);", bits, w.lang.mask(schema.Mask(p.Bits)), bits, w.say.equal, w.lang.mask(schema.Mask(p.Ones)), p.Bits, label)
				w.line("%s = x.bitsOf(%s, %d, %d, %s&%s, %s);", v, v, p.Shift, p.Bits, bits, w.lang.mask(schema.Mask(p.Bits)), label)
			default:
				w.line("%s = x.bitsOf(%s, %d, %d, %s, %s);", v, v, p.Shift, p.Bits, bits, label)
			}
		})
	})
	w.shut("}")
	if it.Var == schema.Long {
		w.lang.flags(t, v, at, label)
	} else {
		w.line("%s = %s(%s, %s, %s);", v, w.lang.word("x.raw", 64), place, v, label)
	}
	w.sets(it.Reg, v)
	w.open("if (!x.writing) {")
	if t.All != "" && it.Var != schema.Long {
		all, _ := w.lang.allOf(t, at.set)
		w.line("%s = %s;", all, w.lang.allBits(t, v))
	}
	w.forms(t, func(*schema.Form) string { return v }, func(f *schema.Form) {
		w.partsOf(t, f, at.set, func(name, at string, p schema.Part) {
			value := w.partOf(w.lang.higher(t, v, p))
			switch {
			case p.Mask != 0:
				w.line("%s = %s;", at, value)
			case p.Bits > 0:
				w.line("%s = %s;", at, w.lang.partValue(t, name, value))
			}
		})
	})
	w.shut("}")
}

// partOf returns a part of the bits of a bitfield: the condition that those of a flag are set, or a number.
func (w *wirer) partOf(v string, p schema.Part) string {
	mask := w.lang.mask(p.Mask)
	bits := word(w.wording.part, v, p.Shift, w.lang.mask(maskOf(p.Bits)))
	switch {
	case p.Mask != 0:
		return fmt.Sprintf("(%s & %s) %s %s", v, mask, w.say.equal, mask)
	case p.Ones > 0:
		return bits + " * " + w.lang.mask(schema.Mask(p.Ones))
	}
	return bits
}

// forms writes a branch for each form of a bitfield.
func (w *wirer) forms(t *schema.Bitfield, bits func(f *schema.Form) string, body func(f *schema.Form)) {
	var list []branch
	for i := range t.Forms {
		f := &t.Forms[i]
		list = append(list, branch{w.formIs(f, bits(f)), oneLine(f.When), func() { body(f) }})
	}
	w.branches(list, true)
}
