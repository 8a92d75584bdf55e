package value

import (
	"wirebench/codec"
	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// noIndex marks an absent field, node, run or step.
const noIndex = codec.NoField

// plans say how the values of a program are written and read.
type plans struct {
	bodies []plan   // by number
	slots  []uint16 // by op: the step of its body that holds the value of a text, of bytes or of a list
	items  [][]slot // by block: its items with a value
}

// slot is an item with a value.
type slot struct {
	item uint16 // of its block
	step uint16 // of the body that holds the value
}

// plan is the order in which people read the fields of one body.
type plan struct {
	steps []step
	runs  []run
	flat  bool   // all fields are plain numbers, in one run
	tail  string // flat: what closes the object, after the run
	nodes int    // number of node-making ops of the body
}

// run is steps one after another whose values are in one block. What is written between the values is always the same.
type run struct {
	block uint16
	next  uint16 // the step after the last value
	room  int    // bytes that may be written, if all values are numbers; else 0
	parts []part
}

// part is a value of a run and what is written before it: a comma, names and braces.
type part struct {
	text string
	head [partHead]byte // the start of text, copied at once
	item uint16
	form codec.Form // what the item says of its number, once more
	bits uint8
	peek codec.Peek
}

// partHead is as long as most names with their quotes, comma and colon.
const partHead = 32

type stepKind uint8

const (
	stepItem stepKind = iota
	stepContent
	stepOpen // of a group
	stepClose
	stepVariant
)

// step is one thing to write, or to look for, in an object.
type step struct {
	kind  stepKind
	field uint16
	name  string // as in the definition
	lead  string // `,"name":`
	frag  string // the same without the comma
	node  uint16 // which of the body's nodes holds it; stepOpen: the first that holds any of it, noIndex if none does
	item  uint16 // stepItem: which item of its block
	block uint16
	op    uint16 // stepContent and stepVariant
	end   uint16 // stepOpen: its stepClose
	run   uint16 // index of the run that starts here, noIndex if none does
	same  uint16 // the step that holds the value, if a later field has the same name; else noIndex
}

// plansOf are the plans of a program, which are made when its values are asked for first.
func plansOf(p *codec.Program) *plans { return p.Memo(newPlans).(*plans) }

func newPlans(p *codec.Program) any {
	bodies := 1
	for i := range p.Ops {
		if k := p.Ops[i].Code; k == codec.OpList || k == codec.OpCase {
			bodies++
		}
	}
	c := &planner{
		plans: plans{make([]plan, bodies), make([]uint16, len(p.Ops)), make([][]slot, len(p.Blocks))},
		p:     p, w: p.Wire(), step: make([]uint16, len(p.Fields)),
	}
	c.body(&c.w.Body, 0, 0)
	for i := range c.bodies {
		c.bodies[i].finishRuns(p.Blocks)
	}
	return &c.plans
}

type planner struct {
	plans
	p    *codec.Program
	w    *wire.Message
	step []uint16 // by field: which step of its plan writes it
}

// body plans the body of the message, of an element or of an alternative, whose ops begin at pc.
func (c *planner) body(b *wire.Body, number, pc uint16) {
	c.steps(number, b.Fields)
	nodes := uint16(0) // before the part
	for i := range b.Parts {
		nodes += c.part(number, &b.Parts[i], pc, nodes)
		pc = c.p.Ops[pc].End
	}
	c.bodies[number].finish(int(nodes))
}

// part plans what is read in one go, by the op at pc. It returns how many nodes of the body it is.
func (c *planner) part(body uint16, p *wire.Part, pc, node uint16) (nodes uint16) {
	plan, o := &c.bodies[body], &c.p.Ops[pc]
	switch p.Kind {
	case wire.Block:
		for i := range c.p.Blocks[o.Block].Items {
			it := &c.p.Blocks[o.Block].Items[i]
			if it.Role != codec.RoleValue {
				continue
			}
			k, st := plan.holder(c.step[it.Field])
			st.kind, st.node, st.item, st.block = stepItem, node, uint16(i), o.Block
			c.items[o.Block] = append(c.items[o.Block], slot{uint16(i), k})
		}
	case wire.Weave:
		at := pc + 1
		for i := range p.Lists {
			nodes += c.part(body, &p.Lists[i], at, node+nodes)
			at = c.p.Ops[at].End
		}
		return nodes
	case wire.Choice:
		plan.steps = append(plan.steps, step{kind: stepVariant, field: noIndex, node: node, op: pc, run: noIndex, same: noIndex})
		at := pc + 1
		for i := range p.Cases {
			c.body(&p.Cases[i].Body, c.p.Ops[at].Body, at+1)
			at = c.p.Ops[at].End
		}
	default:
		k, st := plan.holder(c.step[p.Field])
		st.kind, st.node, st.op = stepContent, node, pc
		c.slots[pc] = k
		if p.Kind == wire.List {
			c.body(p.Elem, o.Body, pc+1)
		}
	}
	return 1
}

// holder is a step, and the number of the step that holds its value.
func (p *plan) holder(i uint16) (holds uint16, st *step) {
	if st = &p.steps[i]; st.same != noIndex {
		return st.same, st
	}
	return i, st
}

// steps plans how the given fields, which stand side by side, are read by people.
func (c *planner) steps(pi uint16, fields []int) {
	for k, i := range fields {
		f := c.w.Fields[i].Schema
		steps := c.bodies[pi].steps
		si := uint16(len(steps))
		lead := make([]byte, 1, len(f.Name)+4)
		lead[0] = ','
		lead = append(appendText(lead, []byte(f.Name), schema.UTF8), ':')
		st := step{field: uint16(i), name: f.Name, lead: string(lead), node: noIndex, item: noIndex, op: noIndex, run: noIndex, same: noIndex}
		st.frag = st.lead[1:]
		c.step[i] = si
		prev := uint16(noIndex)
		if f.Same != nil {
			for _, other := range fields[:k] {
				if c.w.Fields[other].Schema == f.Same {
					prev = c.step[other]
				}
			}
		}
		if prev != noIndex {
			if held := steps[prev].same; held != noIndex {
				prev = held // the name comes for the third time or more
			}
			giveWay(steps, prev, si)
		}
		switch f.Type.(type) {
		case *schema.Group:
			st.kind = stepOpen
			c.bodies[pi].steps = append(steps, st)
			c.steps(pi, c.w.Inside(i))
			steps = c.bodies[pi].steps
			steps[si].end = uint16(len(steps))
			steps = append(steps, step{kind: stepClose, node: noIndex, run: noIndex, same: noIndex})
			if prev != noIndex && steps[prev].kind == stepOpen && steps[prev].end-prev == steps[si].end-si {
				for k := uint16(1); si+k < steps[si].end; k++ { // they are of one type: part by part
					if steps[si+k].kind != stepClose {
						giveWay(steps, prev+k, si+k)
					}
				}
			}
			c.bodies[pi].steps = steps
		case *schema.Text, *schema.Blob, *schema.List:
			st.kind = stepContent
			c.bodies[pi].steps = append(steps, st)
		default:
			st.kind = stepItem
			c.bodies[pi].steps = append(steps, st)
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
func (p *plan) finishRuns(blocks []codec.Block) {
	for i := range p.runs {
		r := &p.runs[i]
		room := 0
		for k := range r.parts {
			part := &r.parts[k]
			it := &blocks[r.block].Items[part.item]
			part.form, part.bits, part.peek = it.Form, uint8(it.Bits), it.Peek
			if !it.Form.IsNumber() || it.Form == codec.FormBitfield || it.Peek.Slow {
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
