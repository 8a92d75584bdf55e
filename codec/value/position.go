package value

import (
	"math"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// unknownEnd is where bytes end that are still being built, for expressions: beyond every message.
const unknownEnd = codec.UnknownEnd

// unknown reports whether a size depends on an end that is not known yet.
func unknown(size uint64) bool { return int64(size) > unknownEnd/2 }

// position is how many bytes of the message precede what is built next, for expressions that depend on it. It counts nodes when it is asked.
type position struct {
	at    uint64
	nodes int // counted so far
}

// here returns the position of what is built next.
func (v *valuer) here() uint64 {
	for ; v.pos.nodes < len(v.r.Nodes); v.pos.nodes++ {
		v.pos.at += v.sizeOf(&v.r.Nodes[v.pos.nodes])
	}
	return v.pos.at
}

// move sets the position of what is built next.
func (v *valuer) move(at uint64) { v.pos = position{at, len(v.r.Nodes)} }

// sizeOf returns the bytes of a node without those of the nodes inside it.
func (v *valuer) sizeOf(n *codec.Node) uint64 {
	o := &v.p.Ops[n.Op]
	switch n.Kind {
	case codec.NodeBlock:
		return uint64(n.Len / 8)
	case codec.NodeText, codec.NodeBlob:
		switch {
		case o.Made() != nil:
			return 0
		case o.Size == schema.Terminated && !o.Lax() && !o.Keep() && !o.With():
			return uint64(n.Len/8) + uint64(o.Unit)
		}
		return uint64(n.Len / 8)
	case codec.NodeVar:
		if it := v.p.Var(o); !it.Computed() {
			if it.Var == schema.Long {
				return uint64(len(it.Shortest(nil, v.data[n.Off/8:n.Range().End()/8], n.Raw)))
			}
			return uint64(len(codec.AppendVarint(nil, n.Raw, it.Var, it.Bits)))
		}
	case codec.NodeList:
		if o.Plain && !o.Linked {
			return uint64(n.Len / 8)
		}
	case codec.NodeEnd:
		return 1
	case codec.NodeAlign:
		return uint64(o.N-uint32(v.pos.at)%o.N) % uint64(o.N)
	case codec.NodeElem, codec.NodeVariant, codec.NodeGroup, codec.NodeNull: // no bytes of their own
	}
	return 0
}

// values returns what expressions refer to.
func (v *valuer) values() codec.Values {
	x := codec.Values{Program: v.p, Regs: v.regs, Data: v.data, Nodes: v.r.Nodes, Building: true}
	if v.p.Rereads() {
		x.At, x.From, x.To = uint32(min(v.here(), math.MaxUint32)), v.from, v.limit()
	}
	return x
}

// let sets the register of a computed value.
func (v *valuer) let(o *codec.Op) {
	x, reg := o.Let()
	vals := v.values()
	if x.Kind() == schema.TextExpr {
		v.regs[reg] = v.keep(vals.Text(x))
		return
	}
	v.regs[reg] = uint64(vals.Int(x))
	if v.p.Begins(reg) {
		v.from = v.regs[reg]
	}
}

// keep stores a computed text, and returns its reference.
func (v *valuer) keep(text []byte) (ref uint64) {
	from := len(v.data)
	v.data = append(v.data, text...)
	v.blank += len(text)
	return uint64(from)<<32 | uint64(len(text))
}

// made adds a computed text or computed bytes, whatever value is given.
func (v *valuer) made(o *codec.Op, pc uint16) {
	vals := v.values()
	ref := v.keep(vals.Text(o.Made()))
	if reg, ok := o.Register(); ok {
		v.regs[reg] = ref
	}
	kind := codec.NodeBlob
	if o.Code == codec.OpText {
		kind = codec.NodeText
	}
	v.node(codec.Node{Raw: uint64(uint32(ref)), Off: uint32(ref>>32) * 8, Len: uint32(ref) * 8, Op: pc, Kind: kind})
}

// window is a group with a size or a position that is being built.
type window struct {
	begin uint64
	pos   position // of what follows a group with a position
	from  uint64   // see valuer.from
	size  uint64
	ok    bool
}

// openWindow sets the registers of the bytes at which a group begins and ends.
func (v *valuer) openWindow(o *codec.Op, tok int32) (w window) {
	if !v.p.Rereads() {
		return w
	}
	w.pos.at = v.here()
	w.pos.nodes = v.pos.nodes
	if reg, ok := o.Position(); ok {
		v.move(v.regs[reg])
	}
	w.begin = v.here()
	end := uint64(unknownEnd)
	if reg, ok := o.Window(); ok {
		w.size, w.ok = v.regs[reg], !unknown(v.regs[reg])
		if w.ok && (int64(w.size) < 0 || w.size > codec.MaxMessage) {
			v.failAt(tok, o.Field, "", "wrong-size", "%d bytes are needed by the values before", int64(w.size))
			w.size, w.ok = 0, false
		}
		if w.ok {
			end = w.begin + w.size
		}
	}
	v.bounds(o, w.begin, end)
	w.from = v.from
	if o.HasSize() {
		v.from, v.limits = w.begin, append(v.limits, end)
	} else {
		v.limits = append(v.limits, v.limit())
	}
	return w
}

func (v *valuer) bounds(o *codec.Op, begin, end uint64) {
	if b, e, ok := o.Bounds(); ok {
		v.regs[b], v.regs[e] = begin, end
	}
}

// closeWindow checks the size of a group that was built. The node of one with a computed size has it.
func (v *valuer) closeWindow(o *codec.Op, w window, node int, tok int32) {
	if !v.p.Rereads() {
		return
	}
	v.limits, v.from = v.limits[:len(v.limits)-1], w.from
	used := v.here() - w.begin
	if w.ok {
		if used > w.size && !o.Packed() {
			v.failAt(tok, o.Field, "", "wrong-size", "%d bytes where %d are needed by the values before", used, w.size)
		}
		used = w.size
	}
	if _, ok := o.Window(); ok {
		v.r.Nodes[node].Len = uint32(used) * 8
	}
	v.bounds(o, w.begin, w.begin+used)
	if _, ok := o.Position(); ok {
		v.pos = position{w.pos.at, len(v.r.Nodes)}
		return
	}
	v.move(w.begin + used)
}

// endsRight checks that bytes from one on, which a certain unit ends, have it where it may be. tok is their value.
func (v *valuer) endsRight(o *codec.Op, tok int32, from int) {
	data, unit := v.data[from:], int(o.Unit)
	for i := 0; i+unit <= len(data); i += unit {
		if data[i] != o.End0 || unit == 2 && data[i+1] != 0 {
			continue
		}
		if o.With() && i+unit == len(data) {
			return
		}
		v.failAt(tok, o.Field, "", "end-inside", "the value has %d before its end, which would end it", o.End0)
		return
	}
	if o.With() && !o.Lax() {
		v.failAt(tok, o.Field, "", "no-end", "the value does not end with %d, which ends it", o.End0)
	}
}

// limit returns where the innermost group with a computed size ends that is being built, unknownEnd if there is none.
func (v *valuer) limit() uint64 {
	if n := len(v.limits); n > 0 {
		return v.limits[n-1]
	}
	return unknownEnd
}

// closes reports whether an optional part is the constant that ends a group with a size, and has room: it has no value that decides.
func (v *valuer) closes(o *codec.Op, pi, node uint16) bool {
	if len(v.limits) == 0 || o.Code != codec.OpBlock {
		return false
	}
	for i := range v.plans.bodies[pi].steps {
		if s := &v.plans.bodies[pi].steps[i]; s.node >= node && s.node != noIndex {
			return false
		}
	}
	b := &v.p.Blocks[o.Block]
	for i := range b.Items {
		if b.Items[i].Role != codec.RoleConst {
			return false
		}
	}
	end := v.here() + uint64(b.Bits/8)
	for _, l := range v.limits {
		if end > l {
			return false
		}
	}
	return true
}

// padding fills text or bytes of n units up, whose size is known, and returns the number of bytes of the padding.
func (v *valuer) padding(o *codec.Op, tok int32, n int) int {
	pad, ok := o.Trim()
	if !ok || o.Size == schema.Terminated {
		return 0
	}
	if n > 0 && v.data[len(v.data)-1] == pad {
		v.failAt(tok, o.Field, "", "end-inside", "the value ends with %d, which fills it up", pad)
		return 0
	}
	size := n
	switch reg, _ := o.Count(); o.Size {
	case schema.Fixed:
		size = int(o.N)
	case schema.Computed:
		size = int(min(v.regs[reg], codec.MaxMessage))
	case schema.ToEnd:
		if end := v.limit(); end != unknownEnd {
			size = int(end - min(v.here(), end))
		}
	}
	size = max(size-n, 0)
	v.blank += size
	for k := 0; k < size && !v.tooLarge(); k++ {
		v.data = append(v.data, pad)
	}
	return size
}
