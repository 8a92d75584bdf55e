package value

import (
	"math/rand/v2"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// LeastElement returns the JSON of the least legal element of a list, or nil if null stands for it: no bound of the element excludes zeros
// and empty texts.
func LeastElement(p *codec.Program, l *schema.List) []byte {
	if l.Elem == nil || !bounded(l.Elem, map[*schema.Struct]bool{}) {
		return nil
	}
	x := exampler{rng: rand.New(rand.NewPCG(1, 0)), names: earlierNames(p.Wire())}
	x.findHints(p.Message.Body)
	x.begin(true)
	x.body(l.Elem, l.Bare)
	if x.failed {
		return nil
	}
	return x.out
}

// bounded reports whether zeros and empty texts and lists are not all legal in a struct.
func bounded(s *schema.Struct, seen map[*schema.Struct]bool) bool {
	if s == nil || seen[s] {
		return false
	}
	seen[s] = true
	for f := range s.Members() {
		switch t := f.Type.(type) {
		case *schema.Number:
			if t.Expr == nil && excludesZero(t) {
				return true
			}
		case *schema.Text:
			if least(t.Extent) {
				return true
			}
		case *schema.Blob:
			if least(t.Extent) {
				return true
			}
		case *schema.List:
			if least(t.Extent) {
				return true
			}
		case *schema.Group:
			if !t.Null && bounded(t.Struct, seen) {
				return true
			}
		}
	}
	return false
}

// least reports whether there must be a unit.
func least(e schema.Extent) bool { return e.Size != schema.Fixed && e.Min != nil && e.Min.Uint > 0 }

func excludesZero(n *schema.Number) bool {
	switch n.Kind {
	case schema.Signed:
		return n.Min != nil && n.Min.Int > 0 || n.Max != nil && n.Max.Int < 0
	case schema.Float:
		return n.Min != nil && n.Min.Float > 0 || n.Max != nil && n.Max.Float < 0
	}
	return n.Min != nil && n.Min.Uint > 0
}
