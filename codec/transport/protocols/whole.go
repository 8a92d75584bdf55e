package protocols

import (
	"wirebench/codec"
	"wirebench/defs/schema"
)

// Key returns a function that reads the code of a message that has no transport. The function serves one goroutine.
//
// If the direction is known, its group is tried first; otherwise, or if the message cannot belong to that group, the first group with a
// message of this code applies. ok reports that there is a code; it need not have a definition.
func (e *Env) Key() func(dir schema.Dir, message []byte) (key schema.Key, ok bool) {
	type start struct {
		group   string
		program *codec.Program
	}
	var starts []start // prefixes of the messages of a group
	for _, g := range e.Definitions.Groups() {
		if m := e.Definitions.Frame(g); m != nil {
			if p, err := e.Definitions.Program(m); err == nil {
				starts = append(starts, start{g, p})
			}
		}
	}
	ways := [...]string{schema.ToServer: e.Group(0, schema.ToServer), schema.ToClient: e.Group(0, schema.ToClient)}
	var rec codec.Record
	return func(dir schema.Dir, message []byte) (key schema.Key, ok bool) {
		read := func(s start) (schema.Key, bool) {
			s.program.Decode(&rec, message)
			return schema.Key{Dir: dir, Group: s.group, Code: rec.Code}, rec.HasCode() && rec.Status() != codec.Illegal
		}
		if dir != schema.Both {
			for _, s := range starts {
				if s.group == ways[dir] {
					if k, is := read(s); is {
						return k, true
					}
				}
			}
		}
		for _, s := range starts {
			k, is := read(s)
			if is && e.Definitions.Lookup(k) != nil {
				return k, true
			}
			if is && !ok {
				key, ok = k, true
			}
		}
		return key, ok
	}
}
