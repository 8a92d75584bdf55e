package value

import (
	"wirebench/codec"
	"wirebench/defs/schema"
)

// scattered builds the elements of a list among tagged ones. One without elements has no node.
func (v *valuer) scattered(o *codec.Op, pc uint16, tok int32) {
	if !v.given(tok) {
		return
	}
	l := v.p.Fields[o.Field].Schema.Type.(*schema.List)
	list := v.node(codec.Node{Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeList})
	n := uint64(0)
	switch kind := v.toks[tok].kind; {
	case l.Once && (kind != tokArray || v.oneArray(l, tok)):
		v.element(o, pc, l, tok, 0)
		n++
	case kind == tokObject && l.Keyed != "":
		for k := tok + 1; k < int32(v.toks[tok].after) && len(v.errs) < maxValueErrors && !v.tooLarge(); k = int32(v.toks[k+1].after) {
			v.key, v.keyed = k, l.Keyed
			v.element(o, pc, l, k+1, int32(n))
			n++
		}
	case kind != tokArray:
		v.failAt(tok, o.Field, "", "wrong-kind", "%s where an array is expected: %s", kind, v.show(tok))
	default:
		for k := tok + 1; k < int32(v.toks[tok].after) && len(v.errs) < maxValueErrors && !v.tooLarge(); k = int32(v.toks[k].after) {
			v.element(o, pc, l, k, int32(n))
			n++
		}
	}
	if n == 0 {
		v.r.Nodes = v.r.Nodes[:list]
		return
	}
	x := &v.r.Nodes[list]
	x.Raw, x.Len, x.After = n, uint32(len(v.data))*8-x.Off, uint32(len(v.r.Nodes))
}

// oneArray reports whether an array is the value of the only element of a list, and not several of them, which are arrays, too.
func (v *valuer) oneArray(l *schema.List, tok int32) bool {
	if !isArray(l.Elem) {
		return false
	}
	first := tok + 1
	return first >= int32(v.toks[tok].after) || v.toks[first].kind != tokArray
}

// isArray reports whether the only field of a struct is shown as an array.
func isArray(s *schema.Struct) bool {
	for len(s.Fields) == 1 {
		switch t := s.Fields[0].Type.(type) {
		case *schema.List:
			return true
		case *schema.Group:
			if !t.Bare {
				return false
			}
			s = t.Struct
		default:
			return false
		}
	}
	return false
}

// otherTag checks the tag of an element that no list of the definition has.
func (v *valuer) otherTag(pc uint16, raw uint64, tok int32) {
	if pc == 0 || v.p.Ops[pc-1].Code != codec.OpList {
		return
	}
	list := pc - 1
	l, ok := v.p.Fields[v.p.Ops[list].Field].Schema.Type.(*schema.List)
	if !ok || !l.Other {
		return
	}
	switch {
	case !codec.LegalTag(raw):
		v.failAt(tok, v.p.Ops[pc].Field, "", "bad-tag", "%d is no tag: the number of the field times 8, plus 0, 1, 2, 3 or 5", raw)
	case v.p.HasTag(list, raw):
		v.failAt(tok, v.p.Ops[pc].Field, "", "bad-tag", "%d is the tag of a field of the definition", raw)
	}
}

// nodesOf lists the nodes of a body in [first, after), by their number in the plan.
func (r writer) nodesOf(p *plan, first, after uint32) {
	base := len(r.starts)
	for n := first; n < after && len(r.starts) < base+p.nodes; n = r.Nodes[n].After {
		if p.ops != nil {
			for k := len(r.starts) - base; k < p.nodes-1 && p.ops[k] != r.Nodes[n].Op; k++ {
				r.starts = append(r.starts, missingNode)
			}
		}
		r.starts = append(r.starts, int32(n))
	}
}

// once writes the value of a list with at most one element: that of the element, or null.
func (x *exampler) once(t *schema.List) int {
	if x.least || x.depth > deepExample || x.rng.IntN(2) == 0 {
		x.add("null")
		return 0
	}
	x.body(t.Elem, t.Bare)
	return 1
}
