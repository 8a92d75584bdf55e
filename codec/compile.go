package codec

import (
	"fmt"

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
