package schema

import "iter"

// Members returns the fields that are members of a value of the struct: its own, those of its variants, and those of the alternatives of
// choices without a name, which are not members themselves. Not all of them are present in one value.
func (s *Struct) Members() iter.Seq[*Field] {
	return func(yield func(*Field) bool) { s.members(yield) }
}

func (s *Struct) members(yield func(*Field) bool) bool {
	if s == nil {
		return true
	}
	for _, f := range s.Fields {
		if c, ok := f.Type.(*Choice); ok && c.Anon {
			for i := range c.Cases {
				if !c.Cases[i].Body.members(yield) {
					return false
				}
			}
			continue
		}
		if !yield(f) {
			return false
		}
	}
	for i := range s.Variants {
		if !s.Variants[i].Body.members(yield) {
			return false
		}
	}
	return true
}

// Bodies returns the structs that a type consists of: that of the elements of a list or of a group, and those of the alternatives of a
// choice. A group may contain itself: walks through all types must remember the structs that they have seen.
func Bodies(t Type) []*Struct {
	switch t := t.(type) {
	case *List:
		if t.Elem != nil {
			return []*Struct{t.Elem}
		}
	case *Group:
		if t.Struct != nil {
			return []*Struct{t.Struct}
		}
	case *Choice:
		var out []*Struct
		for i := range t.Cases {
			if b := t.Cases[i].Body; b != nil {
				out = append(out, b)
			}
		}
		return out
	}
	return nil
}
