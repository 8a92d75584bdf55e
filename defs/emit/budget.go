package emit

import (
	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// The output is limited to budgetRatio times the size of the definitions, plus budgetBase. A struct that is used in many places is written
// in each of them, and paths repeat the names of enclosing fields, so that a definition can cause output of any size. Messages that would
// exceed the budget are omitted.
const (
	budgetRatio = 100
	budgetBase  = 1 << 20 // bytes
)

// within applies the budget to a target.
func within(write func(*schema.Schema, Options) ([]File, []Loss)) func(*schema.Schema, Options) ([]File, []Loss) {
	return func(s *schema.Schema, o Options) ([]File, []Loss) {
		s, o.lost, o.room = affordable(s)
		return write(s, o)
	}
}

const tooMuch = "the output would be much larger than the definition, which uses a struct in many places"

// affordable returns the schema without the messages that would exceed the budget.
// room is the budget for what the size of structs does not tell, see plan.afford.
func affordable(s *schema.Schema) (_ *schema.Schema, _ losses, room int) {
	c := costs{known: map[*schema.Struct]cost{}, enums: map[*schema.Enum]bool{}, described: map[*schema.Struct]bool{}, bitfields: map[*schema.Bitfield]bool{}}
	bytes := make([]int, len(s.Messages))
	for i, m := range s.Messages {
		c.source += 18 + len(m.Name) + len(m.Doc)
		bytes[i] = 2200 + 40*len(m.Name) + 2*len(m.Doc)
		if m.Body != nil && !m.Broken {
			bytes[i] += c.of(m.Body, 0).bytes + c.names
			c.names = 0
		}
	}
	left := budgetBase + budgetRatio*c.source
	room = left / 2
	var kept []*schema.Message
	var lost losses
	for i, m := range s.Messages {
		if bytes[i] <= left {
			left -= bytes[i]
			kept = append(kept, m)
		} else {
			lost.lose(m, "", tooMuch+isOmitted)
		}
	}
	if len(lost) == 0 {
		return s, nil, room
	}
	out := *s
	out.Messages = kept
	return &out, lost, room
}

// afford omits a message whose parts would take more than the rest of the budget. Those of a struct that has a method count once.
func (p *plan) afford(parts []wire.Part) {
	size := 0
	var count func(parts []wire.Part)
	count = func(parts []wire.Part) {
		for i := range parts {
			x := &parts[i]
			size += 180 + 80*len(x.Items)
			bodies := []*wire.Body{x.Body, x.Elem}
			for k := range x.Cases {
				bodies = append(bodies, &x.Cases[k].Body)
			}
			for _, b := range bodies {
				if b != nil && b.Struct != nil && !p.counted[b.Struct] {
					p.counted[b.Struct] = true
					count(b.Parts)
				}
			}
		}
	}
	count(parts)
	if size > p.room {
		fail("%s", tooMuch)
	}
	p.room -= size
}

// costs estimates the size of the output about structs, for the most verbose target.
type costs struct {
	known     map[*schema.Struct]cost
	enums     map[*schema.Enum]bool     // enumerations that have been counted
	names     int                       // bytes of the names of values that are written once
	described map[*schema.Struct]bool   // see described
	bitfields map[*schema.Bitfield]bool // those whose names have been counted
	source    int                       // size of the definitions of all structs in bytes, each once
}

// cost is the cost of one use of a struct: bytes, and the number of repetitions of its path.
type cost struct{ paths, bytes int }

func (c *costs) of(s *schema.Struct, depth int) cost {
	if depth > wire.MaxDepth {
		return cost{} // refused by targets
	}
	if x, ok := c.known[s]; ok {
		return x
	}
	c.known[s] = cost{2, 400} // of a use of itself
	var sum cost
	add := func(inner cost, prefix int) {
		const most = 1 << 40
		sum.paths = min(sum.paths+inner.paths, most)
		sum.bytes = min(sum.bytes+inner.bytes+prefix*inner.paths, most)
	}
	for _, f := range s.Fields {
		name := len(f.Name)
		c.source += 2 + name + len(f.TypeText) + len(f.Doc)
		own := cost{8, 580} // text or bytes
		switch t := f.Type.(type) {
		case *schema.Number:
			own = cost{5, 160 + c.values(t.Enum, name)}
		case *schema.Bitfield:
			own = cost{30, 2600 + c.parts(t)}
		case *schema.Group:
			own = cost{2, 120}
			add(c.of(t.Struct, depth+1), name+1)
		case *schema.List:
			own = cost{24, 2000}
			add(c.of(t.Elem, depth+1), name+3)
		case *schema.Choice:
			own = cost{4, 300}
			for i := range t.Cases {
				c.source += 4 + len(t.Cases[i].Name)
				if b := t.Cases[i].Body; b != nil {
					add(c.of(b, depth+1), name+1)
				}
			}
		}
		own.bytes += 2*len(f.Doc) + 2*len(f.TypeText)
		add(own, name)
	}
	for _, v := range s.Variants {
		c.source += 8
		add(cost{1, 200}, 0)
		if v.Body != nil {
			add(c.of(v.Body, depth+1), 0)
		}
	}
	if c.known[s] = sum; described(s, c.described, 0) {
		c.known[s] = cost{2, 400} // a link to its description
	}
	return sum
}

// parts returns the cost of the names of the parts of a bitfield.
func (c *costs) parts(p *schema.Bitfield) (bytes int) {
	for i := range p.Forms {
		for k := range p.Forms[i].Parts {
			bytes += 2 * len(p.Forms[i].Parts[k].Name)
		}
	}
	if !c.bitfields[p] {
		c.bitfields[p] = true
		c.source += bytes / 2
	}
	return bytes
}

// values returns the cost of the names of the values of a field.
func (c *costs) values(e *schema.Enum, name int) (bytes int) {
	if e == nil {
		return 0
	}
	for _, v := range e.Values {
		bytes += 80 + name + 2*len(v.Name)
	}
	if !c.enums[e] {
		c.enums[e] = true
		c.names += bytes
		for _, v := range e.Values {
			c.source += 3 + len(v.Name)
		}
	}
	if len(e.Values) > manyValues {
		return 200
	}
	return bytes
}
