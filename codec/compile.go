package codec

import (
	"math"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Compile returns the program of a message. It fails only for a schema that no dialect should produce or that exceeds the limits of package
// wire.
func Compile(m *schema.Message) (*Program, error) {
	w, err := wire.Compile(m)
	if err != nil {
		return nil, err
	}
	p := &Program{
		Message: m, Fields: make([]FieldInfo, len(w.Fields)), Unresolved: w.Unresolved, wire: w,
		regs: len(w.Regs), regAt: make([]place, len(w.Regs)), regVar: make([]bool, len(w.Regs)), regNum: make([]*schema.Number, len(w.Regs)),
		wholeReg: index(w.Whole), beginReg: index(w.Begin), header: uint32(w.Header), minSize: uint64(w.Body.Min.Bits+7) / 8, largest: max(w.Body.Max, 0),
		length: placeOf(w.Length), key: placeOf(w.Code), keyVar: w.CodeVar, counter: placeOf(w.Counter), check: placeOf(w.Check), sum: w.Sum,
	}
	for i := range w.Fields {
		f := &w.Fields[i]
		s := f.Schema
		p.Fields[i] = FieldInfo{Name: f.Name, Type: s.TypeText, Doc: s.Doc, Span: s.Span, Schema: s, Parent: f.Parent, End: f.End, InList: f.InList}
	}
	for i := range w.Regs {
		p.regAt[i] = placeOf(w.Regs[i].Place)
		if k := w.Regs[i].Kind; k == schema.Count || k == schema.Bytes {
			p.regNum[i], _ = w.Regs[i].Type.(*schema.Number)
		}
	}
	c := &compiler{p: p, w: w, groups: map[int]uint16{}}
	p.Ops, p.Blocks = make([]Op, 0, len(w.Body.Parts)+2), make([]Block, 0, len(w.Body.Parts)/2+2)
	c.body(&w.Body)
	for _, x := range c.callers {
		p.Ops[x.op].Group = c.groups[x.of]
	}
	p.tail = uint32(w.Tail)
	if p.keyVar && p.Ops[0].Code != OpVar {
		p.keyOp = 1
	}
	p.whole = make([]*Block, len(p.Ops))
	for i := range p.Ops {
		if k := p.Ops[i].Block; k != noIndex && (p.Ops[i].Code == OpBlock || p.Ops[i].Linked) {
			p.whole[i] = &p.Blocks[k]
		}
	}
	p.reread = p.reread || p.wholeReg != noIndex
	p.findHolders()
	p.findCalls()
	p.findSelectors()
	p.findCleared()
	p.findSimple()
	p.findStraight()
	p.findOdd()
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
	p       *Program
	w       *wire.Message
	groups  map[int]uint16 // by field: its op
	callers []caller
	bodies  uint16 // number of bodies so far
}

// body compiles the body of the message, of an element or of an alternative, and returns its number.
func (c *compiler) body(b *wire.Body) (number uint16) {
	number = c.bodies
	c.bodies++
	optional := 0
	for i := range b.Parts {
		p := &b.Parts[i]
		at := c.part(p)
		c.p.Ops[at].Optional = p.Optional > optional // the rest of an optional item is present if its first part is
		optional = p.Optional
	}
	return number
}

func (c *compiler) addOp(o Op) int {
	i := len(c.p.Ops)
	o.End = uint16(i + 1)
	c.p.Ops = append(c.p.Ops, o)
	return i
}

// part compiles a part, which is read in one step.
func (c *compiler) part(p *wire.Part) (at int) {
	o := Op{
		Field: index(p.Field), Block: noIndex, count: index(p.Count), offset: index(p.Offset), next: noIndex,
		reg: index(p.Reg), size: index(p.Bytes), at: index(p.At), Present: index(p.Present), jump: noIndex, in: index(p.In), inEnd: index(p.InEnd), begin: index(p.Begin), stop: index(p.Stop), node: index(p.Node), index: index(p.Index),
	}
	switch p.Kind {
	case wire.Block:
		o.Code, o.Block = OpBlock, uint16(len(c.p.Blocks))
		c.p.Blocks = append(c.p.Blocks, c.block(p))
		return c.addOp(o)
	case wire.Weave:
		o.Code = OpWeave
		at = c.addOp(o)
		for i := range p.Lists {
			c.part(&p.Lists[i])
		}
	case wire.Tagged:
		o.Code = OpTagged
		at = c.addOp(o)
		for i := range p.Lists {
			c.part(&p.Lists[i])
		}
		c.tags(at, p)
	case wire.Choice:
		o.Code = OpVariant
		at = c.addOp(o)
		for i := range p.Cases {
			c.alternative(&p.Cases[i])
		}
		c.jumpTable(at)
	case wire.Var:
		return c.varint(p, o)
	case wire.Group:
		g := c.w.Fields[p.Field].Schema.Type.(*schema.Group)
		o.Code, o.Bare, o.NullSize = OpGroup, g.Bare, g.Null && g.Sized
		if o.packing = g.Packed; p.Expr != nil {
			o.expr = *p.Expr
		}
		if g.Packed != schema.Unpacked {
			o.nullSize = math.MaxUint64
		}
		c.p.packed = c.p.packed || g.Packed != schema.Unpacked
		o.inner = p.Inner
		o.window, o.look = g.Size != nil, g.Look && g.At != nil
		c.p.looks = c.p.looks || o.look
		c.p.gaps = c.p.gaps || o.window || o.at != noIndex
		c.p.reread = c.p.reread || g.Packed != schema.Unpacked || o.window || o.begin != noIndex || o.in != noIndex
		at = c.addOp(o)
		c.p.nested = true
		number := c.body(p.Body)
		c.p.Ops[at].Body = number
		c.groups[p.Field] = uint16(at)
	case wire.Call:
		o.Code, o.Bare = OpCall, c.w.Fields[p.Field].Schema.Type.(*schema.Group).Bare
		at = c.addOp(o)
		c.callers = append(c.callers, caller{at, c.w.Fields[p.Field].Again})
		return at
	case wire.Align:
		o.Code, o.N = OpAlign, uint32(p.Unit)
		c.p.nested = true
		return c.addOp(o)
	case wire.Computed:
		return c.shown(p, o)
	case wire.Let:
		o.Code, o.expr = OpLet, *p.Expr
		c.p.reread = c.p.reread || !p.Expr.Plain()
		return c.addOp(o)
	default:
		at = c.content(p, o)
	}
	c.p.Ops[at].End = uint16(len(c.p.Ops))
	return at
}

func (c *compiler) alternative(x *wire.Case) {
	c.p.byLength = c.p.byLength || x.Reg == wire.None
	at := c.addOp(Op{
		Code: OpCase, Field: noIndex, Block: noIndex, count: noIndex, offset: noIndex, next: noIndex,
		reg: noIndex, size: noIndex, at: noIndex, Present: noIndex, jump: noIndex, in: noIndex, inEnd: noIndex, begin: noIndex, stop: noIndex, node: noIndex, index: noIndex, Bare: x.Bare,
		When: When{Reg: index(x.Reg), Value: x.Value, Text: x.Text, Else: x.Else, min: uint32(x.Min), max: uint32(x.Max)},
	})
	c.p.Ops[at].Body = c.body(&x.Body)
	c.p.Ops[at].End = uint16(len(c.p.Ops))
}

// content compiles text, bytes or a list.
func (c *compiler) content(p *wire.Part, o Op) (at int) {
	o.Size, o.Unit, o.MinUnits, o.MaxUnits = p.Extent.Size, uint8(p.Unit), p.MinUnits, p.MaxUnits
	if p.Unit == 1 {
		o.End0 = p.Extent.End
	}
	o.lax, o.keep, o.with, o.trim, o.pad = p.Extent.Lax, p.Extent.Keep, p.Extent.With, p.Extent.Trim, p.Extent.Pad
	o.null = p.Extent.Null && p.Extent.Size == schema.Counted
	o.minElem = uint32(min(c.unit(p.Field), math.MaxUint32))
	if o.Size == schema.Fixed {
		o.N = uint32(p.Extent.N)
	}
	at = len(c.p.Ops)
	switch p.Kind {
	case wire.Text:
		o.Code, o.kind, o.Set = OpText, NodeText, c.p.Fields[p.Field].Schema.Type.(*schema.Text).Charset
		c.addOp(o)
	case wire.Blob:
		o.Code, o.kind = OpBlob, NodeBlob
		c.addOp(o)
	default: // a list
		o.Code, o.kind, o.Bare = OpList, NodeList, p.List.Bare
		c.list(p, o)
	}
	return at
}

// unit returns the minimum number of bytes of a unit of a field.
func (c *compiler) unit(field int) uint64 { return uint64(c.w.Fields[field].Unit.Bits+7) / 8 }

func (c *compiler) list(p *wire.Part, o Op) {
	o.Linked, o.here, o.nextAt = p.List.Linked, placeOf(p.Here), placeOf(p.Next)
	o.more, o.ended = placeOf(p.More), index(p.Ended)
	if t := p.List; t.Size == schema.Until {
		o.End0 = t.End
	}
	o.next16 = o.nextAt.bits == 16 && o.nextAt.order == schema.Little && o.nextAt.off%8 == 0
	i := c.addOp(o)
	number := c.body(p.Elem)
	l, body := &c.p.Ops[i], c.p.Ops[i+1:]
	l.Body = number
	switch {
	case l.Size >= schema.Until: // each element has a node
	case len(body) == 0:
		l.Plain, l.Block = true, uint16(len(c.p.Blocks))
		c.p.Blocks = append(c.p.Blocks, Block{})
	case l.index != noIndex: // likewise
	case len(body) == 1 && body[0].Code == OpBlock && !body[0].Optional && len(c.p.Blocks[body[0].Block].Loads) == 0:
		l.Plain, l.Block, l.Stride = true, body[0].Block, c.p.Blocks[body[0].Block].Bits
	}
}

// block compiles a run of items of fixed size.
func (c *compiler) block(p *wire.Part) Block {
	b := Block{Bits: uint32(p.Max), Items: make([]Item, len(p.Items))}
	for i := range p.Items {
		x, it := &p.Items[i], &b.Items[i]
		*it = itemOf(x)
		if it.Role == RoleConst || it.Num != nil && (it.Num.Min != nil || it.Num.Max != nil) {
			b.Checks = append(b.Checks, uint16(i))
		}
		if x.Reg != wire.None {
			b.Loads = append(b.Loads, c.load(x, it.Role))
		}
		if it.Bits == 0 {
			b.cost++
		}
	}
	b.cost += b.Bits / 8
	b.finish()
	return b
}

func itemOf(x *wire.Item) Item {
	it := Item{Off: uint32(x.Off), Bits: uint32(x.Bits), Role: roles[x.Kind], Order: x.Order, Field: index(x.Field), Type: x.Type, Var: x.Var, Bytes: x.Bytes, Tag: x.Tag}
	it.Num, _ = x.Type.(*schema.Number)
	it.Form = formOf(x)
	return it
}

// roles maps the roles of package wire to those of a block's items.
var roles = [...]Role{
	schema.Value: RoleValue, schema.Count: RoleCount, schema.Offset: RoleOffset, schema.Here: RoleHere, schema.Next: RoleNext,
	schema.Length: RoleLength, schema.Code: RoleCode, schema.Const: RoleConst, schema.Pad: RolePad,
	schema.Counter: RoleCounter, schema.Check: RoleCheck, schema.Bytes: RoleBytes, schema.Present: RolePresent, schema.More: RoleMore,
	schema.Tag: RoleTag,
}

func formOf(x *wire.Item) Form {
	switch t := x.Type.(type) {
	case *schema.Number:
		return numberForm(t)
	case *schema.Bitfield:
		return FormBitfield
	case *schema.Text:
		if t.Min != nil && t.Min.Const == "" && t.Min.Uint == uint64(t.N) {
			return FormChars
		}
		return FormText
	case *schema.Blob:
		if t.UUID {
			return FormUUID
		}
		return FormBlob
	}
	switch x.Kind {
	case schema.Const:
		return FormBlob
	case schema.Pad:
		return FormNone
	}
	return FormUint
}

func numberForm(t *schema.Number) Form {
	switch {
	case t.Scale != 0:
		return FormScaled
	case t.Kind < schema.Float && (t.Enum != nil && t.Enum.Shown || t.Add != 0 || t.Absent):
		return FormNamed
	case t.Kind == schema.Float && t.Bits == 16:
		return FormFloat16
	case t.Kind == schema.Float && t.Bits == 32:
		return FormFloat32
	case t.Kind == schema.Float:
		return FormFloat64
	case t.Kind == schema.Bool:
		return FormBool
	case t.Kind == schema.Signed && t.Bits > 32:
		return FormInt64
	case t.Kind == schema.Signed:
		return FormInt
	case t.Bits > 32:
		return FormUint64
	}
	return FormUint
}

// load compiles the register load of an item that later parts depend on.
func (c *compiler) load(x *wire.Item, role Role) Load {
	l := Load{Reg: uint16(x.Reg), kind: role, field: uint16(x.Field), Off: uint32(x.Off), Bits: uint8(x.Bits), Order: x.Order}
	if n, _ := x.Type.(*schema.Number); n != nil && (role == RoleCount || role == RoleBytes) {
		l.num = n
	}
	if x.Kind == schema.Count {
		extent, _ := wire.ExtentOf(c.w.Fields[x.Field].Schema.Type)
		l.unit, l.minElem = true, min(c.unit(x.Field), MaxMessage+1)
		l.minUnits, l.maxUnits = extent.Units()
		l.null = extent.Null
	} else {
		l.maxUnits = math.MaxUint64
		if x.Kind == schema.Bytes {
			g := c.w.Fields[x.Field].Schema.Type.(*schema.Group)
			l.null = g.Null && g.Packed != schema.Unpacked
		}
	}
	return l
}

// finish determines how the numbers of a block are read, once it is complete.
func (b *Block) finish() {
	b.rows, b.Reach = make([]row, len(b.Items)), max(b.Bits/8, 8)
	for i := range b.Items {
		it := &b.Items[i]
		it.Peek = NewPeek(it.Off, it.Bits, it.Order, b.Bits)
		b.rows[i] = row{
			mask: it.Peek.Mask, off: uint64(it.Off), at: it.Peek.At, shift: it.Peek.Shift,
			kind: LeafKind{Elem: -1, Len: it.Bits, Field: it.Field, Item: uint16(i), Role: it.Role},
		}
		if it.Peek.Slow {
			b.slow = append(b.slow, uint16(i))
		}
	}
	b.findPointers()
	for i := range b.Loads {
		l := &b.Loads[i]
		l.peek = NewPeek(l.Off, uint32(l.Bits), l.Order, b.Bits)
	}
}
