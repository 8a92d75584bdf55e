package codec

import (
	"math"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Compile makes the program of a message. It fails only for a schema that no dialect should make or that is beyond the bounds of
// package wire.
func Compile(m *schema.Message) (*Program, error) {
	w, err := wire.Compile(m)
	if err != nil {
		return nil, err
	}
	p := &Program{
		Message: m, Fields: make([]FieldInfo, len(w.Fields)), Unresolved: w.Unresolved, wire: w,
		regs: len(w.Regs), regAt: make([]place, len(w.Regs)),
		header: uint32(w.Header), minSize: uint64(w.Body.Min.Bits+7) / 8,
		length: placeOf(w.Length), key: placeOf(w.Code), counter: placeOf(w.Counter), check: placeOf(w.Check), sum: w.Sum,
	}
	for i := range w.Fields {
		f := &w.Fields[i]
		s := f.Schema
		p.Fields[i] = FieldInfo{Name: s.Name, Type: s.TypeText, Doc: s.Doc, Span: s.Span, Schema: s, Parent: f.Parent, End: f.End, InList: f.InList}
	}
	for i := range w.Regs {
		p.regAt[i] = placeOf(w.Regs[i].Place)
	}
	c := &compiler{p: p, w: w, step: make([]uint16, len(w.Fields))}
	p.ops, p.blocks = make([]op, 0, len(w.Body.Parts)+2), make([]block, 0, len(w.Body.Parts)/2+2)
	c.body(&w.Body)
	for i := range p.plans {
		p.plans[i].finishRuns(p.blocks)
	}
	p.whole = make([]*block, len(p.ops))
	for i := range p.ops {
		if k := p.ops[i].block; k != noIndex && (p.ops[i].code == opBlock || p.ops[i].linked) {
			p.whole[i] = &p.blocks[k]
		}
	}
	p.findSimple()
	return p, nil
}

func placeOf(at wire.Place) place { return place{uint32(at.Off), uint8(at.Bits), at.Order} }

// index is an index into the program's fields or registers.
func index(i int) uint16 {
	if i == wire.None {
		return noIndex
	}
	return uint16(i)
}

type compiler struct {
	p    *Program
	w    *wire.Message
	step []uint16 // by field: which step of its plan writes it
}

// body compiles the body of the message, of an element or of an alternative.
func (c *compiler) body(b *wire.Body) (planIndex uint16) {
	pi := len(c.p.plans)
	c.p.plans = append(c.p.plans, plan{})
	c.steps(pi, b.Fields)
	nodes, optional := 0, 0
	for i := range b.Parts {
		p := &b.Parts[i]
		at := c.part(pi, p, nodes)
		c.p.ops[at].optional = p.Optional > optional // the others of one optional item are there if the first is
		optional = p.Optional
		if nodes++; p.Kind == wire.Weave { // of which each list is a node
			nodes += len(p.Lists) - 1
		}
	}
	c.p.plans[pi].finish(nodes)
	return uint16(pi)
}

func (c *compiler) addOp(o op) int {
	i := len(c.p.ops)
	o.end = uint16(i + 1)
	c.p.ops = append(c.p.ops, o)
	return i
}

// part compiles what is read in one go. node says how many nodes of the body come before the part's.
func (c *compiler) part(pi int, p *wire.Part, node int) (at int) {
	o := op{field: index(p.Field), block: noIndex, count: index(p.Count), offset: index(p.Offset), next: noIndex}
	switch p.Kind {
	case wire.Block:
		o.code, o.block = opBlock, uint16(len(c.p.blocks))
		c.p.blocks = append(c.p.blocks, c.block(pi, p, node))
		return c.addOp(o)
	case wire.Weave:
		o.code = opWeave
		at = c.addOp(o)
		for i := range p.Lists {
			c.part(pi, &p.Lists[i], node+i)
		}
	case wire.Choice:
		o.code = opVariant
		at = c.addOp(o)
		plan := &c.p.plans[pi]
		plan.steps = append(plan.steps, step{kind: stepVariant, field: noIndex, node: uint16(node), op: uint16(at), run: noIndex, same: noIndex})
		for i := range p.Cases {
			c.alternative(&p.Cases[i])
		}
	default:
		at = c.content(pi, p, o, node)
	}
	c.p.ops[at].end = uint16(len(c.p.ops))
	return at
}

func (c *compiler) alternative(x *wire.Case) {
	c.p.byLength = c.p.byLength || x.Reg == wire.None
	at := c.addOp(op{
		code: opCase, field: noIndex, block: noIndex, count: noIndex, offset: noIndex, next: noIndex,
		when: when{reg: index(x.Reg), value: x.Value, min: uint32(x.Min), max: uint32(x.Max)},
	})
	c.p.ops[at].plan = c.body(&x.Body)
	c.p.ops[at].end = uint16(len(c.p.ops))
}

// content compiles text, bytes or a list.
func (c *compiler) content(pi int, p *wire.Part, o op, node int) (at int) {
	o.size, o.unit, o.minUnits, o.maxUnits = p.Extent.Size, uint8(p.Unit), p.MinUnits, p.MaxUnits
	o.minElem = uint32(min(c.unit(p.Field), math.MaxUint32))
	if o.size == schema.Fixed {
		o.n = uint32(p.Extent.N)
	}
	st := &c.p.plans[pi].steps[c.step[p.Field]]
	if o.slot = c.step[p.Field]; st.same != noIndex {
		o.slot = st.same
	}
	at = len(c.p.ops)
	st.kind, st.node, st.op = stepContent, uint16(node), uint16(at)
	switch p.Kind {
	case wire.Text:
		o.code, o.kind, o.set = opText, NodeText, c.p.Fields[p.Field].Schema.Type.(*schema.Text).Charset
		c.addOp(o)
	case wire.Blob:
		o.code, o.kind = opBlob, NodeBlob
		c.addOp(o)
	case wire.List:
		o.code, o.kind, o.bare = opList, NodeList, p.List.Bare
		c.list(p, o)
	}
	return at
}

// unit is the number of bytes that a unit of a field takes at least.
func (c *compiler) unit(field int) uint64 { return uint64(c.w.Fields[field].Unit.Bits+7) / 8 }

func (c *compiler) list(p *wire.Part, o op) {
	o.linked, o.here, o.nextAt = p.List.Linked, placeOf(p.Here), placeOf(p.Next)
	o.next16 = o.nextAt.bits == 16 && o.nextAt.order == schema.Little && o.nextAt.off%8 == 0
	i := c.addOp(o)
	plan := c.body(p.Elem)
	l, body := &c.p.ops[i], c.p.ops[i+1:]
	l.plan = plan
	switch {
	case len(body) == 0:
		l.plain, l.block = true, uint16(len(c.p.blocks))
		c.p.blocks = append(c.p.blocks, block{})
	case len(body) == 1 && body[0].code == opBlock && !body[0].optional && len(c.p.blocks[body[0].block].loads) == 0:
		l.plain, l.block, l.stride = true, body[0].block, c.p.blocks[body[0].block].bits
	}
}

// block compiles a run of items of fixed size.
func (c *compiler) block(pi int, p *wire.Part, node int) block {
	b := block{bits: uint32(p.Max), items: make([]item, len(p.Items))}
	for i := range p.Items {
		x, it := &p.Items[i], &b.items[i]
		*it = item{off: uint32(x.Off), bits: uint32(x.Bits), role: roles[x.Kind], order: x.Order, field: index(x.Field), slot: noIndex, typ: x.Type, bytes: x.Bytes}
		it.num, _ = x.Type.(*schema.Number)
		it.form = formOf(x)
		if it.role == RoleConst || it.num != nil && (it.num.Min != nil || it.num.Max != nil) {
			b.checks = append(b.checks, uint16(i))
		}
		if x.Reg != wire.None {
			b.loads = append(b.loads, c.load(x, it.role))
		}
		if it.bits == 0 {
			b.cost++
		}
		if it.role != RoleValue {
			continue
		}
		b.plan = append(b.plan, uint16(i))
		st := &c.p.plans[pi].steps[c.step[x.Field]]
		st.kind, st.node, st.item, st.block = stepItem, uint16(node), uint16(i), uint16(len(c.p.blocks))
		if it.slot = c.step[x.Field]; st.same != noIndex {
			it.slot = st.same
		}
	}
	b.cost += b.bits / 8
	b.finish()
	return b
}

// roles are those of the items of a block.
var roles = [...]Role{
	schema.Value: RoleValue, schema.Count: RoleCount, schema.Offset: RoleOffset, schema.Here: RoleHere, schema.Next: RoleNext,
	schema.Length: RoleLength, schema.Code: RoleCode, schema.Const: RoleConst, schema.Pad: RolePad,
	schema.Counter: RoleCounter, schema.Check: RoleCheck,
}

func formOf(x *wire.Item) form {
	switch t := x.Type.(type) {
	case *schema.Number:
		return numberForm(t)
	case *schema.Bitfield:
		return formBitfield
	case *schema.Text:
		if t.Min != nil && t.Min.Const == "" && t.Min.Uint == uint64(t.N) {
			return formChars
		}
		return formText
	case *schema.Blob:
		return formBlob
	}
	switch x.Kind {
	case schema.Const:
		return formBlob
	case schema.Pad:
		return formNone
	}
	return formUint
}

func numberForm(t *schema.Number) form {
	switch {
	case t.Scale != 0:
		return formScaled
	case t.Kind == schema.Float && t.Bits == 32:
		return formFloat32
	case t.Kind == schema.Float:
		return formFloat64
	case t.Kind == schema.Bool:
		return formBool
	case t.Kind == schema.Signed && t.Bits > 32:
		return formInt64
	case t.Kind == schema.Signed:
		return formInt
	case t.Bits > 32:
		return formUint64
	}
	return formUint
}

// load compiles what is kept of an item for later parts.
func (c *compiler) load(x *wire.Item, role Role) load {
	l := load{reg: uint16(x.Reg), kind: role, field: uint16(x.Field), off: uint32(x.Off), bits: uint8(x.Bits), order: x.Order}
	if x.Kind == schema.Count {
		extent, _ := wire.ExtentOf(c.w.Fields[x.Field].Schema.Type)
		l.unit, l.minElem = true, min(c.unit(x.Field), MaxMessage+1)
		l.minUnits, l.maxUnits = extent.Units()
	} else {
		l.maxUnits = math.MaxUint64
	}
	return l
}
