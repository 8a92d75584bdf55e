package codec

import (
	"wirebench/defs/schema"
)

// steps plans how the given fields, which stand side by side, are read by people.
func (c *compiler) steps(pi int, fields []int) {
	for k, i := range fields {
		f := c.w.Fields[i].Schema
		steps := c.p.plans[pi].steps
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
			c.p.plans[pi].steps = append(steps, st)
			c.steps(pi, c.w.Inside(i))
			steps = c.p.plans[pi].steps
			steps[si].end = uint16(len(steps))
			steps = append(steps, step{kind: stepClose, node: noIndex, run: noIndex, same: noIndex})
			if prev != noIndex && steps[prev].kind == stepOpen && steps[prev].end-prev == steps[si].end-si {
				for k := uint16(1); si+k < steps[si].end; k++ { // they are of one type: part by part
					if steps[si+k].kind != stepClose {
						giveWay(steps, prev+k, si+k)
					}
				}
			}
			c.p.plans[pi].steps = steps
		case *schema.Text, *schema.Blob, *schema.List:
			st.kind = stepContent
			c.p.plans[pi].steps = append(steps, st)
		default:
			st.kind = stepItem
			c.p.plans[pi].steps = append(steps, st)
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
			if !it.form.isNumber() || it.form == formBitfield || it.peek.slow {
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
