package codec

import "wirebench/defs/schema"

// varint lays out a number in its shortest encoding. That of a count or a size is replaced if the contents turn out to have another one.
func (e *encoder) varint(o *Op, pc uint16, n *Node) {
	it := e.p.Var(o)
	at := uint32(len(e.out))
	if it.Role == RoleCode {
		same := *n
		same.Raw = uint64(e.src.Code)
		n = &same
	}
	was, base, ok := e.over.of(e.next - 1)
	switch {
	case ok && was.Raw == n.Raw && it.Var != schema.Long && base.Bad == NoProblem: // perhaps with more bytes than it needs
		e.out = append(e.out, e.over.base.bytesOf(base)...)
	case it.Var == schema.Long && n.Len > 0:
		e.out = it.Shortest(e.out, e.src.Data[n.Off/8:n.Range().End()/8], n.Raw)
	case n.Raw < 0x80 && it.Var <= schema.LEB128:
		e.out = append(e.out, byte(n.Raw))
	default:
		e.out = AppendVarint(e.out, n.Raw, it.Var, it.Bits)
	}
	if o.reg != noIndex {
		e.offsetAt[o.reg] = uint32(len(e.dst.Nodes)) // of a number of variable size, the node
	}
	e.node(Node{Raw: n.Raw, Off: at * 8, Len: (uint32(len(e.out)) - at) * 8, Op: pc, Kind: NodeVar})
}

// number sets a count or a size, which was laid out before the contents that determine it.
func (e *encoder) number(reg uint16, v uint64) {
	at := e.loadOf(reg)
	if num := e.p.regNum[reg]; num != nil {
		raw, ok := num.RawUnits(int64(v))
		if !ok {
			e.fail("%d does not fit its number, %s", int64(v), num.Name())
			return
		}
		v = raw
	} else if at.bits < 64 && v>>at.bits != 0 {
		e.fail("%d does not fit the %d bits of its number", v, at.bits)
		return
	}
	if !e.p.regVar[reg] {
		StoreBits(e.out, e.offsetAt[reg], uint32(at.bits), at.order, v)
		return
	}
	n := &e.dst.Nodes[e.offsetAt[reg]]
	if n.Raw == v {
		return
	}
	it := e.p.Var(&e.p.Ops[n.Op])
	var b [10]byte
	was := n.Off/8 + n.Len/8
	short := AppendVarint(b[:0], v, it.Var, it.Bits)
	if by := len(short) - int(n.Len/8); by != 0 {
		e.shift(was, by, e.dst.Nodes[e.offsetAt[reg]+1:])
	}
	n.Raw, n.Len = v, uint32(len(short))*8
	copy(e.out[n.Off/8:], short)
}

// shift moves the bytes from a byte on, with the nodes and the places of numbers in them. Lists and groups in progress set their lengths
// when they end.
func (e *encoder) shift(from uint32, by int, nodes []Node) {
	old := len(e.out)
	for range by {
		e.out = append(e.out, 0)
	}
	copy(e.out[int(from)+by:], e.out[from:old])
	if by < 0 {
		e.out = e.out[:old+by]
	}
	for i := range nodes {
		if nodes[i].Kind == NodeAlign {
			e.fail("the size of %s takes more than one byte, which would move the padding in it", e.name(nodes[i].Op))
		}
		nodes[i].Off = uint32(int(nodes[i].Off) + by*8)
	}
	for r := range e.offsetAt {
		if !e.p.regVar[r] && e.offsetAt[r] >= from*8 {
			e.offsetAt[r] = uint32(int(e.offsetAt[r]) + by*8)
		}
	}
}

// group lays out a group with a body of its own.
func (e *encoder) group(o *Op, pc uint16) {
	if o.at != noIndex {
		e.later(pc)
		return
	}
	body := pc
	if o.Code == OpCall {
		body = o.Group
		for _, r := range e.p.calls[body] {
			e.dst.saved = append(e.dst.saved, uint64(e.offsetAt[r]))
		}
	}
	if e.depth++; e.depth > maxCalls+1 {
		e.fail("%s is nested too deeply", e.name(pc))
		return
	}
	if o.size != noIndex || o.packing != schema.Unpacked {
		e.inside++
	}
	from, base, source, placed, last := uint32(len(e.out)), e.base, e.next-1, len(e.dst.placed), e.last
	e.last = int(e.src.Nodes[source].After)
	g := e.node(Node{Off: from * 8, Op: pc, Kind: NodeGroup})
	if o.packing != schema.Unpacked {
		e.base = from
	}
	e.body(body+1, e.p.Ops[body].End)
	e.base, e.last = base, last
	if o.packing != schema.Unpacked && e.err == nil {
		if len(e.dst.placed) > placed {
			e.fail("%s is compressed, and has contents at another position", e.name(pc))
			return
		}
		from = e.dst.Nodes[g].Off / 8 // may have moved
		e.pack(o, from, source)
		e.dst.Nodes = e.dst.Nodes[:g+1]
	}
	if o.size == noIndex && o.packing != schema.Unpacked {
		if e.inside--; e.inside == 0 {
			e.end(pc)
		}
	}
	if o.window {
		e.inside--
		e.window(o, e.dst.Nodes[g].Off/8, source)
	} else if o.size != noIndex {
		e.inside--
		e.number(o.size, uint64(len(e.out))-uint64(e.dst.Nodes[g].Off/8))
	}
	n := &e.dst.Nodes[g]
	n.Len, n.After = uint32(len(e.out))*8-n.Off, uint32(len(e.dst.Nodes))
	e.depth--
	if o.Code == OpCall {
		regs := e.p.calls[body]
		saved := e.dst.saved[len(e.dst.saved)-len(regs):]
		for i, r := range regs {
			e.offsetAt[r] = uint32(saved[i])
		}
		e.dst.saved = e.dst.saved[:len(e.dst.saved)-len(regs)]
	}
}

// align lays out padding of zeros. A number before it that changes its size afterwards would move it, which is an error: see shift.
func (e *encoder) align(o *Op, pc uint16) {
	at := uint32(len(e.out))
	size := (o.N - (at-e.base)%o.N) % o.N
	for range size {
		e.out = append(e.out, 0)
	}
	if _, base, ok := e.over.of(e.next - 1); ok && base.Len == size*8 {
		copy(e.out[at:], e.over.base.bytesOf(base))
	}
	e.node(Node{Off: at * 8, Len: size * 8, Op: pc, Kind: NodeAlign})
}

// isNull takes the next source node if it is that of contents that are null.
func (e *encoder) isNull(pc uint16) bool {
	if e.next < len(e.src.Nodes) && e.src.Nodes[e.next].Kind == NodeNull && e.src.Nodes[e.next].Op == pc {
		e.next++
		return true
	}
	return false
}

// endUntil lays out the byte that ends a list.
func (e *encoder) endUntil(o *Op, pc uint16) {
	if e.next < len(e.src.Nodes) && e.src.Nodes[e.next].Kind == NodeEnd && e.src.Nodes[e.next].Op == pc {
		e.next++
	}
	e.node(Node{Raw: uint64(o.End0), Off: uint32(len(e.out)) * 8, Len: 8, Op: pc, Kind: NodeEnd})
	e.out = append(e.out, o.End0)
}
