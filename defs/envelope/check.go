package envelope

import (
	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// Check compares the rules with definitions: it warns about messages that do not exist. messages returns the names of the messages of a group
// in a direction; Both means either.
func (e *Envelope) Check(messages func(group string, dir schema.Dir) []string) diag.List {
	var diags diag.List
	type key struct {
		group string
		dir   schema.Dir
	}
	known := map[key][]string{}
	for i := range e.States {
		s := &e.States[i]
		for _, r := range s.Rules {
			if r.Message.ByCode || r.Message.Name == s.Code[0].Name || r.Message.Name == s.Code[1].Name {
				continue
			}
			found, names := false, []string(nil)
			for way, dir := range [...]schema.Dir{schema.ToServer, schema.ToClient} {
				if !Ways(r.Dir, way) {
					continue
				}
				k := key{s.Group[way], dir}
				if _, have := known[k]; !have {
					known[k] = messages(k.group, k.dir)
				}
				names = append(names, known[k]...)
			}
			for _, n := range names {
				found = found || n == r.Message.Name
			}
			if !found {
				diags.Add(unknownMessage(r.At, r.Message.Name, s, r.Dir, names))
			}
		}
	}
	diags.Sort()
	return diags
}
