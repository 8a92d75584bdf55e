package codec

// Walker tracks the elements around a node, for nodes visited in ascending order. It builds the paths of all leaves in one pass.
type Walker struct {
	r     *Record
	next  uint32   // first node not visited
	after []uint32 // ends of the lists around next, outermost first
	elem  []int32  // index of the current element of each list
}

// Paths returns a Walker for the leaves of a record.
func (r *Record) Paths() Walker { return Walker{r: r} }

// Depth returns the number of lists around the last leaf.
func (w *Walker) Depth() int { return len(w.elem) }

// to advances to a node and returns the indexes of the elements around it. The slice is valid until the next call.
func (w *Walker) to(node uint32) []int32 {
	for ; w.next <= node && int(w.next) < len(w.r.Nodes); w.next++ {
		w.leave(w.next)
		n := &w.r.Nodes[w.next]
		switch n.Kind {
		case NodeList:
			w.after = append(w.after, n.After)
			w.elem = append(w.elem, -1)
		case NodeElem:
			if len(w.elem) > 0 {
				w.elem[len(w.elem)-1]++
			}
		}
	}
	w.leave(node)
	if k := len(w.elem) - 1; k >= 0 && w.elem[k] < 0 {
		return w.elem[:k] // the list itself
	}
	return w.elem
}

// leave removes the lists that end at or before a node.
func (w *Walker) leave(node uint32) {
	for k := len(w.after) - 1; k >= 0 && w.after[k] <= node; k-- {
		w.after, w.elem = w.after[:k], w.elem[:k]
	}
}

// Append appends the path of a leaf, which must not precede the previous one.
func (w *Walker) Append(dst []byte, l Leaf) []byte {
	indexes := w.to(l.Node)
	if l.Elem >= 0 {
		indexes = append(indexes[:len(indexes):len(indexes)], l.Elem)
	}
	if l.Field == noIndex && (l.Role == RoleHere || l.Role == RoleNext || len(indexes) > 0) {
		if f := w.r.ListOf(l.Node); f != noIndex {
			return w.r.Program.AppendIndexed(dst, f, indexes)
		}
	}
	if l.Field == noIndex {
		return append(dst, l.Role.String()...)
	}
	return w.r.Program.AppendIndexed(dst, l.Field, indexes)
}

// ListOf returns the field of the list whose element holds a node, NoField if there is none.
func (r *Record) ListOf(node uint32) uint16 {
	n := &r.Nodes[node]
	if n.Kind == NodeElem || n.Kind == NodeList {
		return r.Program.Ops[n.Op].Field
	}
	for i := int(n.Op) - 1; i >= 0; i-- { // the list op that this op is in the body of
		if o := &r.Program.Ops[i]; o.Code == OpList && o.End > n.Op {
			return o.Field
		}
	}
	return noIndex
}

// Depth returns the number of lists and groups around a field.
func (p *Program) Depth(field uint16) (depth int) {
	if field == noIndex {
		return 0
	}
	for f := p.Fields[field].Parent; f >= 0; f = p.Fields[f].Parent {
		depth++
	}
	return depth
}
