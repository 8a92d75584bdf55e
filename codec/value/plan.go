package value

import (
	"wirebench/codec"
	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// noIndex marks an absent field, node, run or step.
const noIndex = codec.NoField

// plans describes how the values of a program are written and read.
type plans struct {
	bodies []plan   // by number
	slots  []uint16 // by op: the step of its body that holds the value of a content
	items  [][]slot // by block: its items with a value
	step   []uint16 // by field: index of its step in its plan
	brief  briefPlan
}

// slot is an item with a value.
type slot struct {
	item uint16 // of its block
	step uint16 // of the body that holds the value
}

// plan lists the fields of one body in the order of the definition.
type plan struct {
	steps []step
	runs  []run
	flat  bool     // all fields are plain numbers, in one run
	tail  string   // flat: the text after the run, which closes the object
	nodes int      // number of node-making ops of the body
	twice bool     // fields have the same name
	anon  bool     // some fields are members of choices without a name
	ops   []uint16 // by node: its op, if lists of tagged elements have no node
}

// run is a sequence of steps whose values are in one block. The text between the values is constant.
type run struct {
	block uint16
	next  uint16 // the step after the last value
	room  int    // maximum bytes of output if all values are numbers, otherwise 0
	parts []part
}

// part is a value of a run and the text before it: a comma, names and braces.
type part struct {
	text string
	head [partHead]byte // the start of text, copied in one step
	item uint16
	form codec.Form // copy of the item's form
	bits uint8
	peek codec.Peek
}

// partHead covers most names with their quotes, comma and colon.
const partHead = 32

type stepKind uint8

const (
	stepItem stepKind = iota
	stepContent
	stepOpen // of a group
	stepClose
	stepVariant
	stepVar   // a number in a variable number of bytes
	stepInner // a group or a choice with nodes of its own
)

// step is one part of an object to write or to read.
type step struct {
	kind  stepKind
	field uint16
	name  string // as in values
	lead  string // `,"name":`
	frag  string // the same without the comma
	node  uint16 // index of the node that holds it among the body's nodes; stepOpen: of its first node, noIndex if there is none
	item  uint16 // stepItem: index in its block
	block uint16
	op    uint16 // stepContent, stepVariant, stepVar and stepInner
	in    uint16 // the stepOpen around it, noIndex at the top
	maybe bool   // a number that may be absent
	anon  bool   // stepInner: a choice whose fields are members of the enclosing object
	units uint16 // stepItem and stepVar: the step of the list, text or bytes whose number of units it determines, noIndex if there is none
	end   uint16 // stepOpen: its stepClose
	run   uint16 // index of the run that starts here, or noIndex
	brace byte   // stepOpen and stepClose: of the object or array
	last  uint16 // the step of the field that is read last of those with its name, if that is another one, otherwise noIndex
}

// plansOf returns the plans of a program, which are created on first use.
func plansOf(p *codec.Program) *plans { return p.Memo(newPlans).(*plans) }

func newPlans(p *codec.Program) any {
	bodies := 1
	for i := range p.Ops {
		if k := p.Ops[i].Code; k == codec.OpList || k == codec.OpCase || k == codec.OpGroup {
			bodies++
		}
	}
	c := &planner{
		plans: plans{bodies: make([]plan, bodies), slots: make([]uint16, len(p.Ops)), items: make([][]slot, len(p.Blocks)), step: make([]uint16, len(p.Fields)), brief: newBriefPlan(p)},
		p:     p, w: p.Wire(),
	}
	c.body(&c.w.Body, 0, 0)
	for i := range c.bodies {
		c.bodies[i].finishRuns(p.Blocks)
	}
	return &c.plans
}

type planner struct {
	plans
	p *codec.Program
	w *wire.Message
}

// body plans the body of the message, of an element or of an alternative, whose ops begin at pc.
func (c *planner) body(b *wire.Body, number, pc uint16) {
	c.steps(number, b.Fields, noIndex)
	nodes := uint16(0) // nodes before the part
	for i := range b.Parts {
		nodes += c.part(number, &b.Parts[i], pc, nodes)
		pc = c.p.Ops[pc].End
	}
	c.bodies[number].finish(int(nodes))
}

// part plans a part, which is read in one step by the op at pc. It returns the number of nodes of the body that the part produces.
func (c *planner) part(body uint16, p *wire.Part, pc, node uint16) (nodes uint16) {
	plan, o := &c.bodies[body], &c.p.Ops[pc]
	switch p.Kind {
	case wire.Block:
		for i := range c.p.Blocks[o.Block].Items {
			it := &c.p.Blocks[o.Block].Items[i]
			if it.Role != codec.RoleValue {
				continue
			}
			k := c.step[it.Field]
			st := &plan.steps[k]
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
	case wire.Tagged:
		at, ops := pc+1, make([]uint16, node, int(node)+len(p.Lists)+1)
		for i := range p.Lists {
			ops = append(ops, at)
			nodes += c.part(body, &p.Lists[i], at, node+nodes)
			at = c.p.Ops[at].End
		}
		c.bodies[body].ops = append(ops, at)
		return nodes
	case wire.Let:
		return 0
	case wire.Align:
	case wire.Var, wire.Computed:
		if len(p.Items) == 0 {
			st := &plan.steps[c.step[p.Field]]
			st.kind, st.node, st.op = stepContent, node, pc
			c.slots[pc] = c.step[p.Field]
		} else if p.Items[0].Kind == schema.Value {
			st := &plan.steps[c.step[p.Field]]
			st.kind, st.node, st.op = stepVar, node, pc
			c.slots[pc] = c.step[p.Field]
		}
	case wire.Group, wire.Call:
		st := &plan.steps[c.step[p.Field]]
		st.kind, st.node, st.op = stepInner, node, pc
		c.slots[pc] = c.step[p.Field]
		if p.Kind == wire.Group {
			c.body(p.Body, o.Body, pc+1)
		}
	case wire.Choice:
		if p.Field != wire.None {
			st := &plan.steps[c.step[p.Field]]
			st.kind, st.node, st.op = stepInner, node, pc
			st.anon = c.p.Fields[p.Field].Schema.Type.(*schema.Choice).Anon
			plan.anon = plan.anon || st.anon
			c.slots[pc] = c.step[p.Field]
			c.cases(p, pc)
			return 1
		}
		plan.steps = append(plan.steps, step{kind: stepVariant, field: noIndex, node: node, op: pc, run: noIndex, last: noIndex, in: noIndex, units: noIndex})
		c.cases(p, pc)
	default:
		k := c.step[p.Field]
		st := &plan.steps[k]
		st.kind, st.node, st.op = stepContent, node, pc
		c.slots[pc] = k
		if p.Kind == wire.List {
			c.body(p.Elem, o.Body, pc+1)
		}
		if e := p.Extent; e.Size == schema.Computed {
			if f := e.Expr.Solvable(); f != nil {
				c.countedBy(plan, f, k)
			}
		}
		if o.Size == schema.Until {
			return 2
		}
	}
	return 1
}

// countedBy notes that a field determines the number of units of a step. The body's plan is changed, so that step indexes stay valid.
func (c *planner) countedBy(p *plan, f *schema.Field, k uint16) {
	for i := range p.steps {
		if s := &p.steps[i]; (s.kind == stepItem || s.kind == stepVar) && s.field != noIndex && c.p.Fields[s.field].Schema == f {
			s.units = k
		}
	}
}

// cases plans the alternatives of the op at pc.
func (c *planner) cases(p *wire.Part, pc uint16) {
	at := pc + 1
	for i := range p.Cases {
		c.body(&p.Cases[i].Body, c.p.Ops[at].Body, at+1)
		at = c.p.Ops[at].End
	}
}

// steps plans the given adjacent fields.
func (c *planner) steps(pi uint16, fields []int, in uint16) {
	p := &c.bodies[pi]
	for _, i := range fields {
		f := &c.w.Fields[i]
		si := uint16(len(p.steps))
		lead := make([]byte, 1, len(f.Name)+4)
		lead[0] = ','
		if f.Name == "" || f.Name[0] != '[' {
			lead = append(appendText(lead, []byte(f.Name), schema.UTF8), ':')
		}
		st := step{field: uint16(i), name: f.Name, lead: string(lead), node: noIndex, item: noIndex, op: noIndex, run: noIndex, last: noIndex, in: in, units: noIndex}
		st.frag = st.lead[1:]
		c.step[i] = si
		switch t := f.Schema.Type.(type) {
		case *schema.Choice:
			st.kind = stepInner
			p.steps = append(p.steps, st)
		case *schema.Group:
			if t.HasBody() {
				st.kind = stepInner
				p.steps = append(p.steps, st)
				break
			}
			st.kind, st.brace = stepOpen, '{'
			end := step{kind: stepClose, node: noIndex, run: noIndex, last: noIndex, in: noIndex, units: noIndex, brace: '}'}
			if t.Array {
				st.brace, end.brace = '[', ']'
			}
			p.steps = append(p.steps, st)
			c.steps(pi, c.w.Inside(i), si)
			p.steps[si].end = uint16(len(p.steps))
			p.steps = append(p.steps, end)
		case *schema.Text, *schema.Blob, *schema.List:
			st.kind = stepContent
			p.steps = append(p.steps, st)
		default:
			st.kind = stepItem
			if n, ok := t.(*schema.Number); ok {
				st.maybe = n.Absent
			}
			p.steps = append(p.steps, st)
		}
	}
	for _, i := range fields {
		if last := c.w.Fields[i].Last; last != wire.None {
			p.steps[c.step[i]].last, p.twice = c.step[last], true
		}
	}
}

// finish sets the properties of a plan once its body is compiled.
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

// finishRuns computes the maximum output of the runs whose values are all plain numbers.
func (p *plan) finishRuns(blocks []codec.Block) {
	for i := range p.runs {
		r := &p.runs[i]
		room := 0
		for k := range r.parts {
			part := &r.parts[k]
			it := &blocks[r.block].Items[part.item]
			part.form, part.bits, part.peek = it.Form, uint8(it.Bits), it.Peek
			if !it.Form.IsNumber() || it.Form >= codec.FormNamed || it.Peek.Slow {
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
		p.tail += string(rune(s.brace))
	}
	p.flat = true
	p.runs[0].room += len(p.tail)
}

// findRun records the run that starts at a step, if any, and returns the step after it.
func (p *plan) findRun(start int) (next int) {
	switch s := &p.steps[start]; {
	case s.last != noIndex && s.kind == stepOpen:
		return int(s.end) + 1
	case s.last != noIndex || s.kind == stepClose || s.maybe:
		return start + 1
	}
	r := run{next: uint16(start)}
	text, node := "", uint16(noIndex)
	comma := true
	for i := start; i < len(p.steps); i++ {
		s := &p.steps[i]
		switch {
		case s.last != noIndex || s.maybe: // written or not, depending on the values
			i = len(p.steps)
			continue
		case s.kind == stepClose:
			text, comma = text+string(rune(s.brace)), true
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
			text, comma = text+string(rune(s.brace)), false
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
