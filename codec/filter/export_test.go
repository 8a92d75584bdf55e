package filter

import "wirebench/defs/schema"

// Print parses a filter and returns its canonical form. ok is false if it is invalid.
func Print(text string) (string, bool) {
	root, _, _, mistakes := read(text)
	if len(mistakes) > 0 {
		return "", false
	}
	return root.String(), true
}

// Plain returns a filter that decides as f, and reads no number at a fixed offset without its record.
func Plain(f *Filter) *Filter {
	out := &Filter{everything: f.everything, plans: map[*schema.Message]*plan{}, names: f.names}
	out.machines.New = f.machines.New
	out.none = &plan{root: plain(f.none.root)}
	for m, p := range f.plans {
		out.plans[m] = &plan{root: plain(p.root)}
	}
	return out
}

func plain(c *cond) *cond {
	x := *c
	if c.op == cFixed {
		if x.op = cOrder; c.set != nil {
			x.op = cIn
		}
	}
	x.kids = nil
	for _, kid := range c.kids {
		x.kids = append(x.kids, plain(kid))
	}
	return &x
}
