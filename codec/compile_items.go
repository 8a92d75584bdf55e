package codec

import (
	"math"

	"wirebench/defs/schema"
)

// block returns the block being filled, starting one if there is none.
func (c *compiler) block(sc *scope) *block {
	if sc.open < 0 {
		sc.open = len(c.p.blocks)
		if len(c.p.blocks) >= maxOps || len(c.p.ops) >= maxOps {
			fail("more than %d parts", maxOps)
		}
		c.p.blocks = append(c.p.blocks, block{items: make([]item, 0, 8)})
		c.addOp(op{code: opBlock, field: noIndex, block: uint16(sc.open), count: noIndex, offset: noIndex, next: noIndex})
		sc.nodes++
	}
	return &c.p.blocks[sc.open]
}

func (c *compiler) addOp(o op) int {
	if len(c.p.ops) >= maxOps {
		fail("more than %d parts", maxOps)
	}
	i := len(c.p.ops)
	o.end = uint16(i + 1)
	c.p.ops = append(c.p.ops, o)
	return i
}

// push adds an item to the block.
func (c *compiler) push(sc *scope, it item) *item {
	b := c.block(sc)
	it.off = b.bits
	if uint64(b.bits)+uint64(it.bits) > maxBlock {
		fail("more than %d bytes of fixed size", maxBlock/8)
	}
	if it.order == schema.Big && (it.off%8 != 0 || it.bits%8 != 0) && it.bits > 0 {
		fail("a big-endian number must be whole bytes at a whole byte")
	}
	b.bits += it.bits
	b.items = append(b.items, it)
	return &b.items[len(b.items)-1]
}

// bookkeeping adds a number that the codec uses itself.
func (c *compiler) bookkeeping(sc *scope, it *schema.Item, role Role, field uint16) place {
	if it.Bits < 1 || it.Bits > 32 {
		fail("a %s of %d bits", role, it.Bits)
	}
	x := c.push(sc, item{bits: uint32(it.Bits), role: role, form: formUint, order: it.Order, field: field, slot: noIndex})
	return place{off: x.off, bits: uint8(it.Bits), order: it.Order}
}

// frameItem adds a number about the whole frame, which must stand in its first block.
func (c *compiler) frameItem(sc *scope, it *schema.Item, role Role) place {
	if !sc.first {
		fail("%s outside the first fixed part of the message", role)
	}
	at := c.bookkeeping(sc, it, role, noIndex)
	c.p.header = (at.off + uint32(at.bits) + 7) / 8
	return at
}

func (c *compiler) item(sc *scope, it *schema.Item, depth int) {
	switch it.Kind {
	case schema.Value:
		c.valueItem(sc, it.Field, depth)
	case schema.Count, schema.Offset:
		role, regs := RoleCount, c.count
		if it.Kind == schema.Offset {
			role, regs = RoleOffset, c.off
		}
		fi := c.fieldOf(it.Field)
		at := c.bookkeeping(sc, it, role, fi)
		reg := c.newReg()
		regs[fi] = reg
		c.p.regAt[reg] = at
		l := load{reg: reg, kind: role, field: fi, off: at.off, bits: at.bits, order: at.order, maxUnits: math.MaxUint64}
		if it.Kind == schema.Count {
			l.unit = true
			ext, unit := c.extent(it.Field.Type)
			l.minUnits, l.maxUnits = c.limits(ext)
			l.minElem = min(unit, MaxMessage+1)
		}
		b := c.block(sc)
		b.loads = append(b.loads, l)
	case schema.Here:
		c.bookkeeping(sc, it, RoleHere, noIndex)
	case schema.Next:
		c.bookkeeping(sc, it, RoleNext, noIndex)
	case schema.Length:
		c.p.length = c.frameItem(sc, it, RoleLength)
	case schema.Code:
		c.p.key = c.frameItem(sc, it, RoleCode)
	case schema.Counter:
		c.p.counter = c.frameItem(sc, it, RoleCounter)
	case schema.Check:
		c.p.check = c.frameItem(sc, it, RoleCheck)
		c.p.sum = it.Sum
	case schema.Const:
		b := c.push(sc, item{bits: uint32(len(it.Bytes) * 8), role: RoleConst, form: formBlob, field: noIndex, slot: noIndex, bytes: it.Bytes})
		if b.off%8 != 0 {
			fail("a constant that does not start at a whole byte")
		}
		c.addCheck(sc)
	case schema.Pad:
		if it.Bits < 1 {
			fail("padding of %d bits", it.Bits)
		}
		c.push(sc, item{bits: uint32(it.Bits), role: RolePad, form: formNone, field: noIndex, slot: noIndex})
	case schema.Weave:
		c.flush(sc)
		w := c.addOp(op{code: opWeave, field: noIndex, block: noIndex, count: noIndex, offset: noIndex, next: noIndex})
		for _, f := range it.Weave {
			l, ok := f.Type.(*schema.List)
			if !ok || !l.Linked {
				fail("interleaved field %q is not a chained list", f.Name)
			}
			c.content(sc, f, depth)
		}
		c.p.ops[w].end = uint16(len(c.p.ops))
	default:
		fail("item of unknown kind %d", it.Kind)
	}
}

// addCheck marks the newest item of the block as one whose value can be illegal.
func (c *compiler) addCheck(sc *scope) {
	b := c.block(sc)
	b.checks = append(b.checks, uint16(len(b.items)-1))
}

// valueItem adds the bits of a field: to the block if they have a fixed size, else as an op of their own.
func (c *compiler) valueItem(sc *scope, f *schema.Field, depth int) {
	fi := c.fieldOf(f)
	switch t := f.Type.(type) {
	case *schema.Number:
		c.number(sc, fi, t)
	case *schema.Packed:
		if t.Bits < 8 || t.Bits > 64 || t.Bits%8 != 0 || len(t.Forms) == 0 {
			fail("packed field %q of %d bits", f.Name, t.Bits)
		}
		c.place(sc, fi, item{bits: uint32(t.Bits), form: formPacked, order: t.Order, typ: t})
	case *schema.Text:
		if t.Size == schema.Fixed {
			form := formText
			if t.Min != nil && t.Min.Const == "" && t.Min.Uint == uint64(t.N) {
				form = formChars
			}
			c.place(sc, fi, item{bits: c.fixedBits(t.N, t.Charset.Unit()), form: form, typ: t})
			return
		}
		c.content(sc, f, depth)
	case *schema.Blob:
		if t.Size == schema.Fixed {
			c.place(sc, fi, item{bits: c.fixedBits(t.N, 1), form: formBlob, typ: t})
			return
		}
		c.content(sc, f, depth)
	case *schema.List:
		c.content(sc, f, depth)
	case *schema.Group:
		if depth >= maxDepth {
			fail("nested deeper than %d", maxDepth)
		}
		if c.hasCounts(t.Struct) {
			c.flush(sc) // its lengths are judged after the values before it
		}
		if len(t.Struct.Variants) > 0 || t.Struct.Optional > 0 {
			fail("group %q with alternatives or optional parts", f.Name)
		}
		old := c.saveIndex(t.Struct)
		c.enter(int(fi))
		c.wire(sc, t.Struct, depth+1)
		c.restoreIndex(t.Struct, old)
	default:
		fail("field %q has no type", f.Name)
	}
}

func (c *compiler) hasCounts(s *schema.Struct) bool {
	for i := range s.Wire {
		if s.Wire[i].Kind == schema.Count {
			return true
		}
	}
	return false
}

func (c *compiler) fixedBits(n, unit int) uint32 {
	if n < 0 || n > maxBlock/8/unit {
		fail("a fixed size of %d", n)
	}
	return uint32(n * unit * 8)
}

func (c *compiler) number(sc *scope, fi uint16, t *schema.Number) {
	if t.Bits < 1 || t.Bits > 64 || t.Kind == schema.Float && t.Bits != 32 && t.Bits != 64 {
		fail("number %q of %d bits", c.p.Fields[fi].Name, t.Bits)
	}
	it := item{bits: uint32(t.Bits), order: t.Order, typ: t, num: t}
	switch {
	case t.Scale != 0:
		it.form = formScaled
	case t.Kind == schema.Float && t.Bits == 32:
		it.form = formFloat32
	case t.Kind == schema.Float:
		it.form = formFloat64
	case t.Kind == schema.Bool:
		it.form = formBool
	case t.Kind == schema.Signed && t.Bits > 32:
		it.form = formInt64
	case t.Kind == schema.Signed:
		it.form = formInt
	case t.Bits > 32:
		it.form = formUint64
	default:
		it.form = formUint
	}
	c.place(sc, fi, it)
	for _, l := range []*schema.Limit{t.Min, t.Max} {
		if l != nil && l.Const != "" {
			c.unresolved(l.Const)
		}
	}
	if t.Min != nil || t.Max != nil {
		c.addCheck(sc)
	}
	if c.value[fi] != noIndex {
		b := c.block(sc)
		last := b.items[len(b.items)-1]
		b.loads = append(b.loads, load{reg: c.value[fi], kind: RoleValue, field: fi, off: last.off, bits: uint8(min(last.bits, 64)), order: last.order})
	}
}

// place adds the value of a field to the block and ties it to its step.
func (c *compiler) place(sc *scope, fi uint16, it item) {
	it.role, it.field, it.slot = RoleValue, fi, c.step[fi]
	if (it.form == formText || it.form == formChars || it.form == formBlob) && c.block(sc).bits%8 != 0 {
		fail("field %q does not start at a whole byte", c.p.Fields[fi].Name)
	}
	c.push(sc, it)
	b := c.block(sc)
	b.plan = append(b.plan, uint16(len(b.items)-1))
	st := &c.p.plans[sc.plan].steps[c.step[fi]]
	st.kind = stepItem
	st.node, st.item, st.block = uint16(sc.nodes-1), uint16(len(b.items)-1), uint16(sc.open)
	if st.same != noIndex {
		b.items[len(b.items)-1].slot = st.same
	}
}

// extent returns the extent of a type of variable size and the bytes that a unit takes at least.
func (c *compiler) extent(t schema.Type) (schema.Extent, uint64) {
	switch t := t.(type) {
	case *schema.Text:
		return t.Extent, uint64(t.Charset.Unit())
	case *schema.Blob:
		return t.Extent, 1
	case *schema.List:
		return t.Extent, c.minSize(t.Elem, 0)
	}
	fail("a count of something that has no units")
	return schema.Extent{}, 0
}

// limits returns the legal numbers of units.
func (c *compiler) limits(e schema.Extent) (lo, hi uint64) {
	hi = math.MaxUint64
	if e.Min != nil {
		lo = e.Min.Uint
		c.unresolved(e.Min.Const)
	}
	if e.Max != nil {
		hi = e.Max.Uint
		c.unresolved(e.Max.Const)
		if e.Max.Const != "" {
			hi = math.MaxUint64
		}
	}
	return lo, hi
}

func (c *compiler) unresolved(name string) {
	if name == "" {
		return
	}
	for _, n := range c.p.Unresolved {
		if n == name {
			return
		}
	}
	c.p.Unresolved = append(c.p.Unresolved, name)
}

// content adds an op of variable size.
func (c *compiler) content(sc *scope, f *schema.Field, depth int) {
	c.flush(sc)
	fi := c.fieldOf(f)
	ext, unit := c.extent(f.Type)
	o := op{field: fi, size: ext.Size, count: c.count[fi], offset: c.off[fi], next: noIndex, slot: c.step[fi], block: noIndex}
	o.minUnits, o.maxUnits = c.limits(ext)
	o.minElem = uint32(min(unit, math.MaxUint32))
	if ext.Size == schema.Fixed {
		if ext.N < 0 || ext.N > maxBlock {
			fail("field %q has a fixed size of %d", f.Name, ext.N)
		}
		o.n = uint32(ext.N)
	}
	if ext.Size == schema.Counted && o.count == noIndex {
		fail("field %q has no count before it", f.Name)
	}
	st := &c.p.plans[sc.plan].steps[c.step[fi]]
	if st.same != noIndex {
		o.slot = st.same
	}
	st.kind, st.node, st.op = stepContent, uint16(sc.nodes), uint16(len(c.p.ops))
	sc.nodes++
	switch t := f.Type.(type) {
	case *schema.Text:
		o.code, o.kind, o.unit, o.set = opText, NodeText, uint8(t.Charset.Unit()), t.Charset
		c.addOp(o)
	case *schema.Blob:
		o.code, o.kind, o.unit = opBlob, NodeBlob, 1
		c.addOp(o)
	case *schema.List:
		c.list(o, t, fi, depth)
	}
}

func (c *compiler) list(o op, t *schema.List, fi uint16, depth int) {
	o.code, o.kind, o.linked, o.bare = opList, NodeList, t.Linked, t.Bare
	if t.Size == schema.Terminated {
		fail("list %q ended by a zero", c.p.Fields[fi].Name)
	}
	if t.Linked && (o.offset == noIndex || t.Size != schema.Counted) {
		fail("chained list %q without count and offset", c.p.Fields[fi].Name)
	}
	i := c.addOp(o)
	saved := c.saveIndex(t.Elem)
	c.p.ops[i].plan = c.body(t.Elem, int(fi), depth+1, false)
	c.restoreIndex(t.Elem, saved)
	l := &c.p.ops[i]
	l.end = uint16(len(c.p.ops))
	body := c.p.ops[i+1:]
	var first *block
	if len(body) > 0 && body[0].code == opBlock {
		first = &c.p.blocks[body[0].block]
	}
	if len(body) == 0 {
		l.plain, l.stride = true, 0
		b := len(c.p.blocks)
		c.p.blocks = append(c.p.blocks, block{})
		l.block = uint16(b)
		first = &c.p.blocks[b]
	} else if len(body) == 1 && first != nil && !body[0].optional && len(first.loads) == 0 {
		l.plain, l.block, l.stride = true, body[0].block, first.bits
	}
	if !t.Linked {
		return
	}
	for k := range itemsOf(first) {
		it := &first.items[k]
		at := place{off: it.off, bits: uint8(it.bits), order: it.order}
		switch it.role {
		case RoleHere:
			l.here = at
		case RoleNext:
			l.nextAt = at
		}
	}
	l.next16 = l.nextAt.bits == 16 && l.nextAt.order == schema.Little && l.nextAt.off%8 == 0
	if l.nextAt.bits == 0 {
		fail("chained list %q whose elements do not start with the place of the next", c.p.Fields[fi].Name)
	}
}

func itemsOf(b *block) []item {
	if b == nil {
		return nil
	}
	return b.items
}

// variants adds the alternatives at the end of a struct.
func (c *compiler) variants(sc *scope, s *schema.Struct, parent, depth int) {
	if len(s.Variants) == 0 {
		return
	}
	if s.Optional > 0 {
		fail("alternatives after optional parts")
	}
	if len(s.Variants) > maxVariants {
		fail("more than %d alternatives", maxVariants)
	}
	// The fields of alternatives are children of parent, like those of the common part.
	children := make(map[*schema.Field]uint16)
	first, end := 0, len(c.p.Fields)
	if parent >= 0 {
		first, end = parent+1, c.p.Fields[parent].End
	}
	for k := first; k < end; k = c.p.Fields[k].End {
		children[c.p.Fields[k].Schema] = uint16(k)
	}
	conds := make([]when, len(s.Variants))
	for i, v := range s.Variants {
		conds[i] = when{reg: noIndex, min: uint32(max(v.MinLen, 0)), max: uint32(max(v.MaxLen, 0)), value: v.Value}
		if v.Field != nil {
			conds[i].reg = c.switchReg(v.Field)
		}
		c.p.byLength = c.p.byLength || v.Field == nil
	}
	c.flush(sc)
	vi := c.addOp(op{code: opVariant, field: noIndex, block: noIndex, count: noIndex, offset: noIndex, next: noIndex})
	p := &c.p.plans[sc.plan]
	p.steps = append(p.steps, step{kind: stepVariant, field: noIndex, node: uint16(sc.nodes), op: uint16(vi), run: noIndex, same: noIndex})
	sc.nodes++
	for i, v := range s.Variants {
		ci := c.addOp(op{code: opCase, field: noIndex, block: noIndex, count: noIndex, offset: noIndex, next: noIndex, when: conds[i]})
		body := v.Body
		if body == nil {
			body = &schema.Struct{} // this alternative says that nothing follows
		}
		if len(body.Variants) > 0 {
			fail("alternatives inside an alternative")
		}
		for _, f := range body.Fields {
			if k, ok := children[f]; ok {
				c.index[f] = k
			}
		}
		pi := len(c.p.plans)
		c.p.plans = append(c.p.plans, plan{})
		inner := &scope{plan: pi, open: -1}
		c.steps(inner, body.Fields)
		c.wire(inner, body, depth+1)
		c.flush(inner)
		c.p.plans[pi].finish(inner.nodes)
		c.p.ops[ci].plan = uint16(pi)
		c.p.ops[ci].end = uint16(len(c.p.ops))
	}
	c.p.ops[vi].end = uint16(len(c.p.ops))
}

// switchReg makes the value of a number, compiled before, available in a register.
func (c *compiler) switchReg(f *schema.Field) uint16 {
	fi := c.fieldOf(f)
	if c.value[fi] != noIndex {
		return c.value[fi]
	}
	for bi := range c.p.blocks {
		b := &c.p.blocks[bi]
		for _, it := range b.items {
			if it.field == fi && it.role == RoleValue && it.bits <= 64 {
				c.value[fi] = c.newReg()
				b.loads = append(b.loads, load{reg: c.value[fi], kind: RoleValue, field: fi, off: it.off, bits: uint8(it.bits), order: it.order})
				return c.value[fi]
			}
		}
	}
	fail("alternatives chosen by %q, which is not a number before them", f.Name)
	return noIndex
}
