package codec

import (
	"math"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// varint compiles a number in a variable number of bytes.
func (c *compiler) varint(p *wire.Part, o Op) (at int) {
	x := &p.Items[0]
	it := itemOf(x)
	b := Block{Items: []Item{it}}
	b.rows = []row{{kind: LeafKind{Elem: -1, Field: it.Field, Role: it.Role}}}
	o.Code, o.Block, o.reg = OpVar, uint16(len(c.p.Blocks)), index(x.Reg)
	if x.Reg != wire.None {
		b.Loads = []Load{c.load(x, it.Role)}
		c.p.regVar[x.Reg] = true
	}
	c.p.Blocks = append(c.p.Blocks, b)
	c.p.nested = true
	return c.addOp(o)
}

// shown compiles a number, a text or bytes that are computed.
func (c *compiler) shown(p *wire.Part, o Op) (at int) {
	if len(p.Items) == 0 {
		o.Code, o.kind, o.Unit, o.expr, o.Size, o.MaxUnits = OpBlob, NodeBlob, 1, *p.Expr, schema.Fixed, math.MaxUint64
		if t, ok := c.w.Fields[p.Field].Schema.Type.(*schema.Text); ok {
			o.Code, o.kind, o.Set = OpText, NodeText, t.Charset
		}
		c.p.nested, c.p.reread, c.p.packed = true, true, true
		return c.addOp(o)
	}
	it := itemOf(&p.Items[0])
	o.Code, o.Block, o.expr = OpShown, uint16(len(c.p.Blocks)), *p.Expr
	c.p.Blocks = append(c.p.Blocks, Block{Items: []Item{it}, rows: []row{{kind: LeafKind{Elem: -1, Field: it.Field, Role: it.Role}}}})
	c.p.nested = true
	return c.addOp(o)
}

// caller is an OpCall, and the field of the group that it reads.
type caller struct{ op, of int }

// findCalls determines the registers to save around calls.
func (p *Program) findCalls() {
	for i := range p.Ops {
		if p.Ops[i].Code != OpCall {
			continue
		}
		at := p.Ops[i].Group
		if p.calls == nil {
			p.calls = map[uint16][]uint16{}
		}
		if _, done := p.calls[at]; done {
			continue
		}
		regs := []uint16{}
		for k := at + 1; k < p.Ops[at].End; k++ {
			regs = append(regs, p.sets(k)...)
		}
		p.calls[at] = regs
	}
}

// findSelectors determines the registers that alternatives and expressions depend on.
func (p *Program) findSelectors() {
	p.selects = make([]bool, p.regs)
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.Code == OpCase && o.When.Reg != noIndex {
			p.selects[o.When.Reg] = true
		}
		for k := range o.expr {
			if r := o.expr[k].Reg; r != wire.None {
				p.selects[r] = true
			}
		}
	}
}

// findHolders determines what holds the values of fields, if expressions look at those of elements.
func (p *Program) findHolders() {
	p.holders = make([]holder, len(p.Fields))
	for i := range p.Ops {
		o := &p.Ops[i]
		if o.Code == OpText || o.Code == OpBlob {
			p.holders[o.Field].op = uint16(i)
		}
		if o.Block == noIndex {
			continue
		}
		for k := range p.Blocks[o.Block].Items {
			if it := &p.Blocks[o.Block].Items[k]; it.Field != noIndex && it.Role == RoleValue && (o.Code == OpBlock || o.Code == OpVar || o.Code == OpShown || p.holders[it.Field] == holder{}) {
				p.holders[it.Field] = holder{uint16(i), uint16(k)}
			}
		}
	}
}

// findCleared determines the registers to clear before an alternative is read, so that they do not have the values of another one.
func (p *Program) findCleared() {
	p.setFirst = p.nested
	for i := range p.Ops {
		p.setFirst = p.setFirst && p.Ops[i].offset == noIndex && p.Ops[i].at == noIndex
	}
	for i := range p.Ops {
		if p.Ops[i].Code != OpVariant {
			continue
		}
		var regs []uint16
		for k := i + 1; k < int(p.Ops[i].End); k++ {
			for _, r := range p.sets(uint16(k)) {
				if p.selects[r] {
					regs = append(regs, r)
				}
			}
		}
		if p.Ops[i].clears = noIndex; regs != nil {
			p.Ops[i].clears = uint16(len(p.cleared))
			p.cleared = append(p.cleared, regs)
		}
	}
}

// sets returns the registers that an op sets.
func (p *Program) sets(op uint16) (regs []uint16) {
	o := &p.Ops[op]
	if o.reg != noIndex {
		regs = append(regs, o.reg)
	}
	for _, r := range [...]uint16{o.begin, o.stop, o.node, o.index} {
		if r != noIndex {
			regs = append(regs, r)
		}
	}
	if o.Code == OpBlock {
		for _, l := range p.Blocks[o.Block].Loads {
			regs = append(regs, l.Reg)
		}
	}
	return regs
}

// Clear clears the registers that the alternatives of a variant set.
func (p *Program) Clear(variant uint16, regs []uint64) {
	if k := p.Ops[variant].clears; k != noIndex {
		for _, r := range p.cleared[k] {
			regs[r] = 0
		}
	}
}

// jumpTable has the cases of a variant by the value of its register.
type jumpTable struct {
	cases []jump // by value
	other jump
}

// jump is a case, by its op and its index; op is 0 if no case applies.
type jump struct{ op, index uint16 }

// maxJump is the size of jump tables. Variants that compare with larger values, or with few, search their cases.
const (
	maxJump = 512
	minJump = 3
)

// jumpTable makes the jump table of a variant, if its cases compare one register with small values.
func (c *compiler) jumpTable(at int) {
	ops := c.p.Ops
	var t jumpTable
	n, most := 0, uint64(0)
	for k := at + 1; k < len(ops); k = int(ops[k].End) {
		w := &ops[k].When
		if w.Reg == noIndex || w.Text != nil || w.Reg != ops[at+1].When.Reg || w.Value >= maxJump && !w.Else {
			return
		}
		if n++; !w.Else {
			most = max(most, w.Value)
		}
	}
	if n < minJump {
		return
	}
	t.cases = make([]jump, most+1)
	index := uint16(0)
	for k := at + 1; k < len(ops); k = int(ops[k].End) {
		w := &ops[k].When
		switch j := (jump{uint16(k), index}); {
		case w.Else:
			if t.other.op == 0 {
				t.other = j
			}
			for v := range t.cases { // cases after this one never apply
				if t.cases[v].op == 0 {
					t.cases[v] = j
				}
			}
		case t.cases[w.Value].op == 0:
			t.cases[w.Value] = j
		}
		index++
	}
	ops[at].jump = uint16(len(c.p.jumps))
	c.p.jumps = append(c.p.jumps, t)
}

// Show computes the number of an OpShown, and sets its register. It returns the bits.
func (p *Program) Show(o *Op, v *Values) (raw uint64) {
	n := p.Blocks[o.Block].Items[0].Num
	switch {
	case n.Kind == schema.Float:
		raw = math.Float64bits(v.Float(o.expr))
	case n.Kind == schema.Bool && v.Int(o.expr) != 0:
		raw = 1
	case n.Kind != schema.Bool:
		raw = uint64(v.Int(o.expr)) & schema.Mask(n.Bits)
	}
	v.Regs[o.reg] = raw
	return raw
}

// Let returns the expression of an OpLet, and the register that it sets.
func (o *Op) Let() (x wire.Expr, reg uint16) { return o.expr, o.reg }

// Made returns the expression of a text or of bytes that are computed; nil for others.
func (o *Op) Made() wire.Expr {
	if o.Code == OpText || o.Code == OpBlob {
		return o.expr
	}
	return nil
}

// Registers returns the number of registers.
func (p *Program) Registers() int { return p.regs }

// CallRegisters returns the registers that the body of a group sets, if it is called.
func (p *Program) CallRegisters(group uint16) []uint16 { return p.calls[group] }

// Register returns the register that an OpVar or OpText sets, if any.
func (o *Op) Register() (reg uint16, ok bool) { return o.reg, o.reg != noIndex }

// Null reports whether the contents may be null.
func (o *Op) Null() bool { return o.null }

// Position returns the register of the byte at which the contents of an OpGroup begin, if they are not where the group is.
func (o *Op) Position() (reg uint16, ok bool) { return o.at, o.Code == OpGroup && o.at != noIndex }

// Window returns the register of the size of an OpGroup, if that is computed.
func (o *Op) Window() (reg uint16, ok bool) { return o.size, o.Code == OpGroup && o.window }

// Bounds returns the registers of the bytes at which the contents of an OpGroup begin and end, if expressions depend on them.
func (o *Op) Bounds() (begin, end uint16, ok bool) {
	return o.begin, o.stop, o.Code == OpGroup && o.begin != noIndex
}

// Packed reports whether the contents of an OpGroup are compressed.
func (o *Op) Packed() bool { return o.packing != schema.Unpacked }

// HasSize reports whether the bytes of an OpGroup are those of a group with a size, or compressed.
func (o *Op) HasSize() bool {
	return o.Code == OpGroup && (o.size != noIndex || o.packing != schema.Unpacked)
}

// Node returns the register that an OpList sets to its node, if expressions look at its elements.
func (o *Op) Node() (reg uint16, ok bool) { return o.node, o.node != noIndex }

// Index returns the register that an OpList sets to the number of the element that is read, if expressions depend on it.
func (o *Op) Index() (reg uint16, ok bool) { return o.index, o.index != noIndex }

// Trim returns the byte that fills text or bytes up, if their value ends before it.
func (o *Op) Trim() (pad byte, ok bool) { return o.pad, o.trim }

// Lax, Keep and With are those of the extent of text or bytes.
func (o *Op) Lax() bool  { return o.lax }
func (o *Op) Keep() bool { return o.keep }
func (o *Op) With() bool { return o.with }

// Whole returns the register of the byte at which the contents end, if expressions depend on it, and the number of bytes that follow.
func (p *Program) Whole() (reg uint16, tail uint64, ok bool) {
	return p.wholeReg, uint64(p.tail), p.wholeReg != noIndex
}

// Begins reports whether a register is that of the byte at which the contents behind a header begin.
func (p *Program) Begins(reg uint16) bool { return reg == p.beginReg }

// Rereads reports whether expressions depend on positions, sizes of bytes, texts or floats.
func (p *Program) Rereads() bool { return p.reread }

// KeepsGaps reports whether Encode keeps bytes that belong to no field: those around contents at positions, and at the ends of groups with a
// computed size.
func (p *Program) KeepsGaps() bool { return p.gaps }

// Unsure reports whether the selector of a variant depends on what is not known while a message is built: where it, or a group around, ends, and the
// bytes that follow. limited: where the innermost group with a size ends is known.
func (p *Program) Unsure(variant uint16, limited bool) bool {
	if !p.reread || variant == 0 {
		return false
	}
	o := &p.Ops[variant-1]
	return o.Code == OpLet && o.reg == p.Ops[variant+1].When.Reg && o.expr.Unsure(limited)
}

// Ended returns the register that is not 0 after the last element of a list, if a condition ends the list.
func (o *Op) Ended() (reg uint16, ok bool) {
	return o.ended, o.Size == schema.Ending && o.Code == OpList
}

// Count returns the register of the number of units, if there is one.
func (o *Op) Count() (reg uint16, ok bool) { return o.count, o.count != noIndex }

// Kind returns the purpose of the number of a load.
func (l *Load) Kind() Role { return l.kind }

// Field returns the field that the number is about.
func (l *Load) Field() uint16 { return l.field }

// Selects reports whether alternatives or expressions depend on a register.
func (p *Program) Selects(reg uint16) bool { return p.selects[reg] }

// Selected returns the case of a variant that the registers select, by its op and index. data are the bytes that registers of texts refer
// to.
func (p *Program) Selected(variant uint16, regs []uint64, data []byte) (op uint16, index uint64, ok bool) {
	return p.alternative(variant, regs, 0, data)
}
