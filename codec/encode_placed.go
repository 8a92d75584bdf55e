package codec

import (
	"cmp"
	"fmt"
	"slices"

	"wirebench/defs/schema"
)

// placed is a group whose contents are laid out after all other bytes: at a position that an expression gives.
type placed struct {
	pc       uint16
	node     uint32 // its node
	src      uint32 // the source node after its own
	from, to uint32 // the nodes of the contents, in the order of layout
	depth    int    // of groups around it
}

// PositionError is the error of contents that would be laid out at another position than the one that the values give.
type PositionError struct {
	Node     int    // of the source record: the group
	At, Want uint64 // bytes from the start of the message: where the contents would be, and the position that the values give
	text     string
}

func (e *PositionError) Error() string { return e.text }

// later notes a group of which the contents are laid out later.
func (e *encoder) later(pc uint16) {
	n := &e.src.Nodes[e.next-1]
	k := e.node(Node{Raw: n.Raw, Off: uint32(len(e.out)) * 8, Op: pc, Kind: NodeGroup})
	e.dst.placed = append(e.dst.placed, placed{pc: pc, node: uint32(k), src: uint32(e.next), depth: e.depth})
	e.next = int(n.After)
}

// placeAll lays out the contents of the groups that were noted, and those noted meanwhile, in order.
func (e *encoder) placeAll() {
	e.inside = 0
	for i := 0; i < len(e.dst.placed) && e.err == nil; i++ {
		x := e.dst.placed[i]
		at := uint32(len(e.out))
		x.from = uint32(len(e.dst.Nodes))
		e.next, e.depth = int(x.src), x.depth
		e.body(x.pc+1, e.p.Ops[x.pc].End)
		if e.err != nil {
			return
		}
		x.to = uint32(len(e.dst.Nodes))
		n := &e.dst.Nodes[x.node]
		n.Off, n.Len = at*8, (uint32(len(e.out))-at)*8
		if n.Raw != uint64(at) && !e.anywhere(n, e.dst.Nodes[x.from:]) {
			e.misplaced(&x, uint64(at), n.Raw)
			return
		}
		e.dst.placed[i] = x
	}
	if e.err != nil {
		return
	}
	for i := range e.dst.placed {
		x := &e.dst.placed[i]
		if n := &e.dst.Nodes[x.node]; e.p.Place(n.Raw, uint64(len(e.out)), uint64(len(e.out))) != NoProblem { // of contents without bytes
			e.misplaced(x, uint64(len(e.out)), n.Raw)
			return
		}
	}
	e.arrange()
}

// anywhere moves contents without bytes to the position that the values give. It reports whether they decode there as they do elsewhere.
func (e *encoder) anywhere(n *Node, contents []Node) bool {
	if n.Len > 0 || n.Raw > uint64(MaxMessage) {
		return false
	}
	for i := range contents {
		if c := &contents[i]; c.Kind == NodeAlign || e.p.Ops[c.Op].Size == schema.ToEnd {
			return false
		}
	}
	n.Off = uint32(n.Raw) * 8
	for i := range contents {
		contents[i].Off = n.Off
	}
	return true
}

// misplaced reports that the contents of a group are not where the values say.
func (e *encoder) misplaced(x *placed, at, want uint64) {
	if e.err != nil {
		return
	}
	o, node := &e.p.Ops[x.pc], int32(x.src)-1
	e.err = &PositionError{
		Node: int(node), At: at, Want: want,
		text: fmt.Sprintf("%s begins at byte %d, because it is laid out after all contents before it, but its position (%s) is %d",
			e.src.AppendPath(nil, o.Field, node, -1), at, e.p.wire.ExprText(*e.p.wire.Regs[o.at].Expr), int64(want)),
	}
}

// arrange puts the nodes in the order of Decode: those of contents after the node of their group.
func (e *encoder) arrange() {
	e.dst.moved = slices.Grow(e.dst.moved[:0], len(e.dst.Nodes))[:len(e.dst.Nodes)]
	out := e.segment(slices.Grow(e.dst.spare[:0], len(e.dst.Nodes)), 0, e.dst.placed[0].from)
	e.dst.Nodes, e.dst.spare = out, e.dst.Nodes
}

// segment appends the nodes [from, to) in the order of layout, with the contents of their groups.
func (e *encoder) segment(out []Node, from, to uint32) []Node {
	nodes, moved := e.dst.Nodes, e.dst.moved
	for i := from; i < to; i++ {
		moved[i] = uint32(len(out))
		out = append(out, nodes[i])
		if o := &e.p.Ops[nodes[i].Op]; o.Code != OpGroup || o.at == noIndex {
			continue
		}
		k, _ := slices.BinarySearchFunc(e.dst.placed, i, func(x placed, i uint32) int { return cmp.Compare(x.node, i) })
		out = e.segment(out, e.dst.placed[k].from, e.dst.placed[k].to)
	}
	end := uint32(len(out))
	for i := from; i < to; i++ {
		if after := nodes[i].After; after < to {
			out[moved[i]].After = moved[after]
		} else {
			out[moved[i]].After = end
		}
	}
	return out
}
