package codec

import (
	"fmt"
	"math"

	"wirebench/defs/schema"
)

// Bounds of a definition. What is beyond them is refused, so that indexes fit and nesting cannot exhaust the stack.
const (
	maxFields   = 60000
	maxOps      = 60000
	maxVariants = 1000 // of one struct
	maxDepth    = 64
	maxBlock    = 1 << 26 // bits
)

// Compile makes the program of a message. It fails only for a schema that no dialect should make or that is beyond the bounds.
func Compile(m *schema.Message) (p *Program, err error) {
	c := &compiler{p: &Program{Message: m}, index: make(map[*schema.Field]uint16, 16)}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case compileError:
			p, err = nil, fmt.Errorf("compile %s: %s", m.Name, string(e))
		default:
			panic(e)
		}
	}()
	c.addFields(m.Body, -1, false, 0)
	c.body(m.Body, -1, 0, true)
	if c.p.minSize = c.minSize(m.Body, 0); c.p.minSize > MaxMessage {
		return nil, fmt.Errorf("compile %s: it takes %d bytes at least, more than a message may have (%d)", m.Name, c.p.minSize, MaxMessage)
	}
	c.p.regs = int(c.regs)
	for i := range c.p.blocks {
		c.p.blocks[i].finish()
	}
	for i := range c.p.plans {
		c.p.plans[i].finishRuns(c.p.blocks)
	}
	c.p.whole = make([]*block, len(c.p.ops))
	for i := range c.p.ops {
		if k := c.p.ops[i].block; k != noIndex && (c.p.ops[i].code == opBlock || c.p.ops[i].linked) {
			c.p.whole[i] = &c.p.blocks[k]
		}
	}
	c.p.findSimple()
	return c.p, nil
}

type compileError string

func fail(format string, args ...any) { panic(compileError(fmt.Sprintf(format, args...))) }

type compiler struct {
	p     *Program
	index map[*schema.Field]uint16 // fields of the body being compiled, and of its groups
	count []uint16                 // by field: its registers and step
	off   []uint16
	value []uint16
	step  []uint16
	regs  uint16
}

// addFields lists the fields of a struct and of all that is inside it, in preorder.
func (c *compiler) addFields(s *schema.Struct, parent int, inList bool, depth int) {
	if depth > maxDepth {
		fail("nested deeper than %d", maxDepth)
	}
	for _, f := range s.Fields {
		i := len(c.p.Fields)
		if i >= maxFields {
			fail("more than %d fields", maxFields)
		}
		c.p.Fields = append(c.p.Fields, FieldInfo{
			Name: f.Name, Type: f.TypeText, Doc: f.Doc, Span: f.Span, Schema: f, Parent: parent, InList: inList,
		})
		c.count = append(c.count, noIndex)
		c.off = append(c.off, noIndex)
		c.value = append(c.value, noIndex)
		c.step = append(c.step, noIndex)
		switch t := f.Type.(type) {
		case *schema.Group:
			c.addFields(t.Struct, i, false, depth+1)
		case *schema.List:
			c.addFields(t.Elem, i, true, depth+1)
		}
		c.p.Fields[i].End = len(c.p.Fields)
	}
	for _, v := range s.Variants {
		if v.Body != nil {
			c.addFields(v.Body, parent, inList, depth+1)
		}
	}
}

// enter makes the fields from index i on that are direct children of parent known by their schema.Field, and those of groups
// that have no item of their own. Types such as a vector are shared, so that one schema.Field stands at several places.
func (c *compiler) enter(parent int) {
	i, end := 0, len(c.p.Fields)
	if parent >= 0 {
		i, end = parent+1, c.p.Fields[parent].End
	}
	for i < end {
		f := c.p.Fields[i].Schema
		c.index[f] = uint16(i)
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 && len(g.Struct.Variants) == 0 {
			i++ // its fields stand in this scope
			continue
		}
		i = c.p.Fields[i].End
	}
}

func (c *compiler) fieldOf(f *schema.Field) uint16 {
	i, ok := c.index[f]
	if !ok {
		fail("item of field %q, which is not in its struct", f.Name)
	}
	return i
}

func (c *compiler) newReg() uint16 {
	if c.regs >= maxFields {
		fail("too many counts and offsets")
	}
	c.regs++
	c.p.regAt = append(c.p.regAt, place{})
	return c.regs - 1
}

// scope is a body under construction.
type scope struct {
	plan  int
	open  int // index of the block being filled, -1 if none
	nodes int // node-making ops so far
	first bool
}

// body compiles a struct to ops and returns its plan.
func (c *compiler) body(s *schema.Struct, parent, depth int, top bool) (planIndex uint16) {
	if depth > maxDepth {
		fail("nested deeper than %d", maxDepth)
	}
	c.enter(parent)
	pi := len(c.p.plans)
	c.p.plans = append(c.p.plans, plan{})
	sc := &scope{plan: pi, open: -1, first: top}
	c.steps(sc, s.Fields)
	c.wire(sc, s, depth)
	c.variants(sc, s, parent, depth)
	c.flush(sc)
	c.p.plans[pi].finish(sc.nodes)
	return uint16(pi)
}

// steps plans how the fields of a struct are read by people.
func (c *compiler) steps(sc *scope, fields []*schema.Field) {
	for _, f := range fields {
		fi := c.fieldOf(f)
		steps := &c.p.plans[sc.plan].steps
		si := uint16(len(*steps))
		lead := make([]byte, 1, len(f.Name)+4)
		lead[0] = ','
		lead = append(appendText(lead, []byte(f.Name), schema.UTF8), ':')
		st := step{field: fi, name: f.Name, lead: string(lead), node: noIndex, item: noIndex, op: noIndex, run: noIndex, same: noIndex}
		st.frag = st.lead[1:]
		c.step[fi] = si
		prev := uint16(noIndex)
		if f.Same != nil {
			if i, ok := c.index[f.Same]; ok {
				prev = c.step[i]
				giveWay(*steps, prev, si)
			}
		}
		switch t := f.Type.(type) {
		case *schema.Group:
			st.kind = stepOpen
			*steps = append(*steps, st)
			old := c.saveIndex(t.Struct)
			c.enter(int(fi))
			c.steps(sc, t.Struct.Fields)
			c.restoreIndex(t.Struct, old)
			steps = &c.p.plans[sc.plan].steps
			(*steps)[si].end = uint16(len(*steps))
			*steps = append(*steps, step{kind: stepClose, node: noIndex, run: noIndex, same: noIndex})
			if prev != noIndex && (*steps)[prev].kind == stepOpen && (*steps)[prev].end-prev == (*steps)[si].end-si {
				for k := uint16(1); si+k < (*steps)[si].end; k++ { // they are of one type: part by part
					if (*steps)[si+k].kind != stepClose {
						giveWay(*steps, prev+k, si+k)
					}
				}
			}
		case *schema.Text, *schema.Blob, *schema.List:
			st.kind = stepContent
			*steps = append(*steps, st)
		default:
			st.kind = stepItem
			*steps = append(*steps, st)
		}
	}
}

// giveWay makes a step, and those that gave way to it before, leave their value to a later one of the same name.
func giveWay(steps []step, prev, later uint16) {
	for k := range steps {
		if k == int(prev) || steps[k].same == prev {
			steps[k].same = later
		}
	}
}

// finish notes what is known of a plan once its body is compiled.
func (p *plan) finish(nodes int) {
	p.nodes = nodes
	for i := len(p.steps) - 1; i >= 0; i-- {
		s := &p.steps[i]
		s.run = noIndex
		if s.kind != stepOpen {
			continue
		}
		for k := i + 1; k < int(s.end); k++ {
			s.node = min(s.node, p.steps[k].node)
		}
	}
	for i := 0; i < len(p.steps); {
		i = p.findRun(i)
	}
}

func newPart(text string, item uint16) part {
	p := part{text: text, item: item}
	copy(p.head[:], text)
	return p
}

// finishRuns works out how much room the runs take whose values are all plain numbers.
func (p *plan) finishRuns(blocks []block) {
	for i := range p.runs {
		r := &p.runs[i]
		room := 0
		for k := range r.parts {
			part := &r.parts[k]
			it := &blocks[r.block].items[part.item]
			part.form, part.bits, part.peek = it.form, uint8(it.bits), it.peek
			if !it.form.isNumber() || it.form == formPacked || it.peek.slow {
				room = 0
				break
			}
			room += max(len(part.text), partHead) + numberRoom
		}
		r.room = room
	}
	if len(p.runs) != 1 || p.steps[0].run != 0 || p.runs[0].room == 0 {
		return
	}
	p.tail = "}"
	for _, s := range p.steps[p.runs[0].next:] {
		if s.kind != stepClose {
			return
		}
		p.tail += "}"
	}
	p.flat = true
	p.runs[0].room += len(p.tail)
}

// findRun notes the run that starts at a step, if one does, and returns the step after it.
func (p *plan) findRun(start int) (next int) {
	if s := &p.steps[start]; s.kind == stepClose || s.same != noIndex {
		return start + 1
	}
	r := run{next: uint16(start)}
	text, node := "", uint16(noIndex)
	comma := true
	for i := start; i < len(p.steps); i++ {
		s := &p.steps[i]
		switch {
		case s.same != noIndex:
			if s.kind == stepOpen {
				i = int(s.end)
			}
			continue
		case s.kind == stepClose:
			text, comma = text+"}", true
			continue
		case s.kind != stepItem && s.kind != stepOpen || node != noIndex && s.kind == stepItem && s.node != node:
			i = len(p.steps)
			continue
		}
		switch {
		case comma && text == "":
			text = s.lead
		case comma:
			text += s.lead
		default:
			text += s.frag
		}
		if s.kind == stepOpen {
			text, comma = text+"{", false
			continue
		}
		if r.parts == nil {
			r.parts = make([]part, 0, len(p.steps)-i)
		}
		r.parts = append(r.parts, newPart(text, s.item))
		r.block, r.next, node = s.block, uint16(i+1), s.node
		text, comma = "", true
	}
	if len(r.parts) == 0 {
		return start + 1
	}
	p.steps[start].run = uint16(len(p.runs))
	p.runs = append(p.runs, r)
	return int(r.next)
}

// finish works out how the numbers of a block are read, once it is complete.
func (b *block) finish() {
	b.rows, b.reach = make([]row, len(b.items)), max(b.bits/8, 8)
	for i := range b.items {
		it := &b.items[i]
		it.peek = newPeek(it.off, it.bits, it.order, b.bits)
		b.rows[i] = row{
			mask: it.peek.mask, off: uint64(it.off), at: it.peek.at, shift: it.peek.shift,
			kind: LeafKind{Elem: -1, Len: it.bits, Field: it.field, Item: uint16(i), Role: it.role},
		}
		if it.peek.slow {
			b.slow = append(b.slow, uint16(i))
		}
	}
	for i := range b.loads {
		l := &b.loads[i]
		l.peek = newPeek(l.off, uint32(l.bits), l.order, b.bits)
	}
}

// saveIndex and restoreIndex keep what the fields of a shared struct stood for while another use of it is compiled.
func (c *compiler) saveIndex(s *schema.Struct) []uint16 {
	old := make([]uint16, len(s.Fields))
	for i, f := range s.Fields {
		if v, ok := c.index[f]; ok {
			old[i] = v
		} else {
			old[i] = noIndex
		}
	}
	return old
}

func (c *compiler) restoreIndex(s *schema.Struct, old []uint16) {
	if len(s.Wire) == 0 {
		return // its fields stand in the scope around it and stay known there
	}
	for i, f := range s.Fields {
		if old[i] != noIndex {
			c.index[f] = old[i]
		}
	}
}

func (c *compiler) wire(sc *scope, s *schema.Struct, depth int) {
	for i := range s.Wire {
		it := &s.Wire[i]
		if i < len(s.Wire)-s.Optional {
			c.item(sc, it, depth)
			continue
		}
		if sc.open >= 0 && c.p.blocks[sc.open].bits%8 != 0 {
			c.item(sc, it, depth) // bits of a byte that is begun are there with it
			continue
		}
		c.flush(sc)
		at := len(c.p.ops)
		c.item(sc, it, depth)
		if at < len(c.p.ops) {
			c.p.ops[at].optional = true
		}
	}
}

// flush ends the block being filled.
func (c *compiler) flush(sc *scope) {
	if sc.open < 0 {
		return
	}
	b := &c.p.blocks[sc.open]
	if b.bits%8 != 0 {
		fail("fields before a variable part or the end fill %d bits, which is not whole bytes", b.bits)
	}
	for i := range b.items {
		if b.items[i].bits == 0 {
			b.cost++
		}
	}
	b.cost += b.bits / 8
	sc.open, sc.first = -1, false
}

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

// minSize is the number of bytes that a struct takes at least.
func (c *compiler) minSize(s *schema.Struct, depth int) uint64 {
	if depth > maxDepth {
		fail("nested deeper than %d", maxDepth)
	}
	var bits uint64
	wire := s.Wire[:len(s.Wire)-min(s.Optional, len(s.Wire))]
	for i := range wire {
		it := &wire[i]
		switch it.Kind {
		case schema.Value:
			bits += c.minBits(it.Field.Type, depth)
		case schema.Const:
			bits += uint64(len(it.Bytes)) * 8
		case schema.Weave:
		default:
			bits += uint64(max(it.Bits, 0))
		}
	}
	return (bits + 7) / 8
}

func (c *compiler) minBits(t schema.Type, depth int) uint64 {
	units := func(e schema.Extent, unit uint64) uint64 {
		n := uint64(0)
		switch e.Size {
		case schema.Fixed:
			n = uint64(max(e.N, 0))
		case schema.Terminated:
			n = 1
		default:
			if e.Min != nil {
				n = e.Min.Uint
			}
		}
		if unit != 0 && n > math.MaxUint32/unit {
			return math.MaxUint32
		}
		return n * unit * 8
	}
	switch t := t.(type) {
	case *schema.Number:
		return uint64(max(t.Bits, 0))
	case *schema.Packed:
		return uint64(max(t.Bits, 0))
	case *schema.Text:
		return units(t.Extent, uint64(t.Charset.Unit()))
	case *schema.Blob:
		return units(t.Extent, 1)
	case *schema.List:
		if t.Size == schema.Counted && t.Min == nil || t.Size == schema.ToEnd {
			return 0
		}
		return units(t.Extent, c.minSize(t.Elem, depth+1))
	case *schema.Group:
		return c.minSize(t.Struct, depth+1) * 8
	}
	return 0
}
