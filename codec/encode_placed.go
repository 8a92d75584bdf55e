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

// PositionError is the error of EncodeClose for contents that would be laid out at another position than the one that the values give.
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
		x.from = uint32(len(e.dst.Nodes))
		e.next, e.depth = int(x.src), x.depth
		n := &e.dst.Nodes[x.node]
		switch want := n.Raw; {
		case !e.close:
			e.placeAt(&x, want)
		default:
			at := uint32(len(e.out))
			e.contents(&x)
			n = &e.dst.Nodes[x.node]
			n.Off, n.Len = at*8, (uint32(len(e.out))-at)*8
			if e.err == nil && want != uint64(at) && !e.anywhere(n, e.dst.Nodes[x.from:]) {
				e.dislocated(&x, uint64(at), want)
			}
		}
		x.to = uint32(len(e.dst.Nodes))
		e.dst.placed[i] = x
	}
	if e.err != nil {
		return
	}
	for i := range e.dst.clashes {
		if c := &e.dst.clashes[i]; e.out[c.at] != c.is {
			e.misplaced(&c.of, "other contents have other bytes there", uint64(e.dst.Nodes[c.of.node].Off/8))
			return
		}
	}
	for i := range e.dst.placed {
		x := &e.dst.placed[i]
		if n := &e.dst.Nodes[x.node]; e.p.Place(n.Raw, uint64(len(e.out)), uint64(len(e.out))) != NoProblem { // of contents without bytes
			e.misplaced(x, "it is outside of the message", n.Raw)
			return
		}
	}
	e.arrange()
}

// contents lays out what is in a group with a position.
func (e *encoder) contents(x *placed) {
	o := &e.p.Ops[x.pc]
	if o.window || o.packing != schema.Unpacked {
		e.inside++
		defer func() { e.inside-- }()
	}
	e.last = int(e.src.Nodes[x.src-1].After)
	from, base := uint32(len(e.out)), e.base
	if o.packing != schema.Unpacked {
		e.base = from
	}
	e.body(x.pc+1, e.p.Ops[x.pc].End)
	e.base = base
	if o.packing != schema.Unpacked && e.err == nil {
		e.pack(o, from, int(x.src)-1)
		e.dst.Nodes = e.dst.Nodes[:x.from]
	}
	if o.window {
		e.window(o, from, int(x.src)-1)
	}
}

// clash is a byte of contents that was another one where they are to be: perhaps a count or an offset that is not known yet, so that it is compared
// at the end.
type clash struct {
	of placed
	at uint32 // byte of the output
	is byte
}

const maxClashes = 1 << 12

// maxVoid limits the bytes that belong to nothing and that only positions require, if the source does not have them.
const maxVoid = 1 << 22

// placeAt lays out contents at a byte: they may be anywhere, also in the bytes of others if these are the same.
func (e *encoder) placeAt(x *placed, at uint64) {
	out, voids := e.out, len(e.dst.voids)
	if at > uint64(len(out))+maxVoid && (e.origin() == nil || at > uint64(len(e.origin().Data))) {
		e.misplaced(x, "too many bytes before it would belong to nothing", at)
		return
	}
	if len(e.dst.owned) == 0 {
		e.own(out)
	}
	for len(out) < int(at) {
		out, e.dst.owned = append(out, e.void(len(out))), append(e.dst.owned, false)
	}
	e.out = slices.Grow(e.dst.overlay[:0], int(at))[:at] // what precedes them does not matter
	e.contents(x)
	made := e.out[at:]
	e.dst.overlay, e.out = e.out[:0], out
	n := &e.dst.Nodes[x.node]
	n.Off, n.Len = uint32(at)*8, uint32(len(made))*8
	for i, b := range made {
		k, mine := int(at)+i, true
		for _, v := range e.dst.voids[min(voids, len(e.dst.voids)):] {
			mine = mine && (uint32(k) < v.Off || uint32(k) >= v.End())
		}
		switch {
		case k == len(e.out):
			e.out, e.dst.owned = append(e.out, b), append(e.dst.owned, mine)
		case mine && e.dst.owned[k] && e.out[k] != b:
			if len(e.dst.clashes) >= maxClashes {
				e.misplaced(x, "other contents have other bytes there", at)
				return
			}
			e.dst.clashes = append(e.dst.clashes, clash{*x, uint32(k), b})
		case mine:
			e.out[k], e.dst.owned[k] = b, true
		}
	}
}

// own notes which bytes of the output belong to something: all but those that fill groups up.
func (e *encoder) own(out []byte) {
	owned := slices.Grow(e.dst.owned[:0], len(out))[:len(out)]
	for i := range owned {
		owned[i] = true
	}
	for _, v := range e.dst.voids {
		clear(owned[v.Off:v.End()])
	}
	e.dst.owned = owned
}

// void returns the byte of the source that belongs to nothing, at the same position; 0 if the source is not a message.
func (e *encoder) void(at int) byte {
	if from := e.origin(); from != nil && at < from.Size() {
		return from.Data[at]
	}
	return 0
}

// origin returns the message that the values come from, or nil.
func (e *encoder) origin() *Record {
	switch {
	case e.over != nil:
		return e.over.base
	case e.src.Used > 0:
		return e.src
	}
	return nil
}

// window fills a group of a computed size up, whose contents begin at a byte of the output. source is its node in the source, which has the
// size; so have the bytes after its contents, if the source is a message.
func (e *encoder) window(o *Op, from uint32, source int) {
	n := &e.src.Nodes[source]
	used, size := uint32(len(e.out))-from, n.Len/8
	if e.err != nil || used == size {
		return
	}
	if used > size {
		e.fail("%s has %d bytes, its size is %d", e.src.AppendPath(nil, o.Field, int32(source), -1), used, size)
		return
	}
	e.dst.voids = append(e.dst.voids, Range{uint32(len(e.out)), size - used}) // in bytes
	origin := e.origin()
	if _, base, ok := e.over.of(source); ok {
		n = base
	} else if e.over != nil {
		origin = nil
	}
	for ; used < size; used++ {
		b := byte(0)
		if at := n.Off/8 + used; origin != nil && used < n.Len/8 && at < uint32(len(origin.Data)) {
			b = origin.Data[at]
		}
		e.out = append(e.out, b)
	}
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

// misplaced reports that the contents of a group cannot be where the values say.
func (e *encoder) misplaced(x *placed, why string, want uint64) {
	e.fail("%s cannot begin at byte %d, its position (%s): %s", e.src.AppendPath(nil, e.p.Ops[x.pc].Field, int32(x.src)-1, -1), int64(want), e.position(x), why)
}

func (e *encoder) position(x *placed) string {
	return e.p.wire.ExprText(*e.p.wire.Regs[e.p.Ops[x.pc].at].Expr)
}

// dislocated reports that contents would be laid out at another position than the values say.
func (e *encoder) dislocated(x *placed, at, want uint64) {
	if e.err != nil {
		return
	}
	node := int32(x.src) - 1
	e.err = &PositionError{
		Node: int(node), At: at, Want: want,
		text: fmt.Sprintf("%s begins at byte %d, because it is laid out after all contents before it, but its position (%s) is %d",
			e.src.AppendPath(nil, e.p.Ops[x.pc].Field, node, -1), at, e.position(x), int64(want)),
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
