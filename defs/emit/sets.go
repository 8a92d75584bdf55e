package emit

import (
	"fmt"

	"wirebench/defs/schema"
)

// set is messages with unique codes at the same position: a receiver selects the message by its code.
type set struct {
	dir      schema.Dir
	group    string
	code     item // position of the code
	messages []*message
}

// want returns the preferred name of the set: its group and direction.
func (s *set) want() string {
	switch {
	case s.group == "" && s.dir == schema.Both:
		return "message"
	case s.group == "":
		return s.dir.String()
	case s.dir == schema.Both:
		return s.group
	}
	return s.group + "_" + s.dir.String()
}

// String describes the set.
func (s *set) String() string {
	out := "the messages"
	if s.group != "" {
		out += fmt.Sprintf(" of %s", s.group)
	}
	switch s.dir {
	case schema.ToServer:
		out += " to the server"
	case schema.ToClient:
		out += " to the client"
	}
	return out
}

// sets returns the sets of messages whose codes are known and at the same position in all of them.
func (p *plan) sets() []*set {
	type key struct {
		dir   schema.Dir
		group string
	}
	var order []key
	found := map[key]*set{}
	wrong := map[key]bool{}
	for _, m := range p.messages {
		if !m.m.HasKey {
			continue
		}
		k := key{m.m.Key.Dir, m.m.Key.Group}
		if found[k] == nil {
			found[k] = &set{dir: k.dir, group: k.group}
			order = append(order, k)
		}
	}
	var out []*set
	for _, k := range order {
		s := found[k]
		codes := map[uint32]bool{}
		for _, m := range p.messages {
			in := m.m.Key
			if !m.m.HasKey || in.Group != k.group || in.Dir != k.dir && (in.Dir != schema.Both || k.dir == schema.Both) {
				continue
			}
			if other := p.schema.Lookup(schema.Key{Dir: k.dir, Group: k.group, Code: in.Code}); other != nil && other != m.m || codes[in.Code] {
				continue // overridden by a newer version, or by another message with the same code
			}
			switch {
			case m.code == nil:
				wrong[k] = true
				continue
			case len(s.messages) == 0:
				s.code = *m.code
			case s.code.form != m.code.form || s.code.off != m.code.off || s.code.bits != m.code.bits || s.code.order != m.code.order:
				wrong[k] = true
			}
			codes[in.Code] = true
			s.messages = append(s.messages, m)
		}
		if !wrong[k] && len(s.messages) > 0 {
			out = append(out, s)
		}
	}
	return out
}
