package codec

// Walker tracks the elements around a node, for nodes visited in ascending order. It builds the paths of all leaves in one pass.
type Walker struct {
	r     *Record
	next  uint32   // first node not visited
	after []uint32 // ends of the lists and calls around next, outermost first
	elem  []int32  // index of the current element of each list; inCall for a call
	op    []uint16 // the op of each
	calls int      // number of calls among them
}

// inCall marks a call among lists.
const inCall = -2

// Paths returns a Walker for the leaves of a record.
func (r *Record) Paths() Walker { return Walker{r: r} }

// Start sets the record, whose leaves follow from the first one on.
func (w *Walker) Start(r *Record) {
	w.r, w.next, w.calls, w.after, w.elem, w.op = r, 0, 0, w.after[:0], w.elem[:0], w.op[:0]
}

// Depth returns the number of lists around the last leaf.
func (w *Walker) Depth() int { return len(w.elem) - w.calls }

// to advances to a node and returns the indexes of the elements around it, with inCall for calls. The slice is valid until the next call.
func (w *Walker) to(node uint32) []int32 {
	for ; w.next <= node && int(w.next) < len(w.r.Nodes); w.next++ {
		w.leave(w.next)
		n := &w.r.Nodes[w.next]
		switch n.Kind {
		case NodeList:
			w.enter(n, -1)
		case NodeGroup:
			if w.r.Program.Ops[n.Op].Code == OpCall {
				w.enter(n, inCall)
				w.calls++
			}
		case NodeElem:
			if len(w.elem) > 0 {
				w.elem[len(w.elem)-1]++
			}
		case NodeBlock, NodeText, NodeBlob, NodeVariant, NodeVar, NodeEnd, NodeNull, NodeAlign: // the same elements are around what follows
		}
	}
	w.leave(node)
	if k := len(w.elem) - 1; k >= 0 && w.elem[k] == -1 {
		return w.elem[:k] // the list itself
	}
	return w.elem
}

func (w *Walker) enter(n *Node, elem int32) {
	w.after, w.elem, w.op = append(w.after, n.After), append(w.elem, elem), append(w.op, n.Op)
}

// leave removes the lists that end at or before a node.
func (w *Walker) leave(node uint32) {
	for k := len(w.after) - 1; k >= 0 && w.after[k] <= node; k-- {
		if w.elem[k] == inCall {
			w.calls--
		}
		w.after, w.elem, w.op = w.after[:k], w.elem[:k], w.op[:k]
	}
}

// Append appends the path of a leaf, which must not precede the previous one.
func (w *Walker) Append(dst []byte, l Leaf) []byte {
	indexes := w.to(l.Node)
	if l.Elem >= 0 {
		indexes = append(indexes[:len(indexes):len(indexes)], l.Elem)
	}
	base := -1
	if w.calls > 0 {
		dst, base, indexes = w.through(dst, indexes)
	}
	if l.Field == noIndex && (l.Role == RoleHere || l.Role == RoleNext || len(indexes) > 0) {
		if f := w.r.ListOf(l.Node); f != noIndex {
			return w.r.Program.AppendBelow(dst, base, f, indexes)
		}
	}
	if l.Field == noIndex {
		return append(dst, l.Role.String()...)
	}
	return w.r.Program.AppendBelow(dst, base, l.Field, indexes)
}

// through appends the path of the innermost call. It returns the field of the group that it reads, and the indexes inside it.
func (w *Walker) through(dst []byte, indexes []int32) ([]byte, int, []int32) {
	p, base, from := w.r.Program, -1, 0
	for k, e := range indexes {
		if e == inCall {
			o := &p.Ops[w.op[k]]
			dst = p.AppendBelow(dst, base, o.Field, indexes[from:k])
			base, from = int(p.Ops[o.Group].Field), k+1
		}
	}
	return dst, base, indexes[from:]
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
