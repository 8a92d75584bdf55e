package codec

import (
	"bytes"
	"slices"

	"wirebench/defs/schema"
)

// EncodeOver is Encode over the message that the values come from: base is its record, same the one that ParseJSON makes of the values of base,
// and src the one of the values to encode. What is the same in both keeps its bytes: the whole message, if all is; otherwise padding, gaps,
// order and places of contents, and numbers with more bytes than they need, as long as no size changes; where one does, what
// is laid out anew keeps padding, gaps in groups and such numbers. Bytes after the message stay, too. patched reports that values were written into
// a copy of the message: where several have the same bytes, one of them counts.
func (p *Program) EncodeOver(dst, src, same, base *Record) (patched bool, err error) {
	rest := base.Data[min(base.Used, base.Size()):base.Size()]
	if base.Program != p || same.Program != p {
		return false, p.Encode(dst, src)
	}
	if src.alike(same) && (src.Code == base.Code || !p.NeedsCode()) {
		dst.own, dst.Session = append(dst.own[:0], base.Message()...), base.Session
		p.Decode(dst, dst.own)
		return false, nil
	}
	m := overlay{base: base, same: same, toSame: pairs(src, same), toBase: pairs(same, base)}
	if out, ok := m.patch(p, src, dst.own[:0]); ok {
		dst.own, dst.Session = out, src.Session
		p.Decode(dst, out)
		return true, nil
	}
	if err := p.encodeOver(dst, src, &m); err != nil {
		return false, err
	}
	if len(rest) > 0 && base.Status() == OK {
		dst.own = append(dst.own, rest...)
		p.Decode(dst, dst.own)
	}
	return false, nil
}

// overlay says which nodes of the message that values come from belong to those of the record to encode.
type overlay struct {
	base, same     *Record
	toSame, toBase []int32 // by node, -1 if there is none
}

// of returns the nodes that belong to one of the record to encode.
func (m *overlay) of(node int) (same, base *Node, ok bool) {
	if m == nil || node >= len(m.toSame) || m.toSame[node] < 0 || m.toBase[m.toSame[node]] < 0 {
		return nil, nil, false
	}
	k := m.toSame[node]
	return &m.same.Nodes[k], &m.base.Nodes[m.toBase[k]], true
}

// alike reports whether two records of ParseJSON have the same values.
func (r *Record) alike(x *Record) bool {
	return slices.Equal(r.Nodes, x.Nodes) && bytes.Equal(r.Data, x.Data)
}

// pairs returns the nodes of b that belong to those of a.
func pairs(a, b *Record) []int32 {
	x := pairer{a: a, b: b, out: make([]int32, len(a.Nodes)), steps: 16 * (len(a.Nodes) + len(b.Nodes))}
	for i := range x.out {
		x.out[i] = -1
	}
	x.nodes(0, uint32(len(a.Nodes)), 0, uint32(len(b.Nodes)))
	return x.out
}

type pairer struct {
	a, b  *Record
	out   []int32
	steps int // that comparisons may still take
}

// nodes pairs siblings.
func (x *pairer) nodes(i, iEnd, k, kEnd uint32) {
	for ; i < iEnd; i = x.a.Nodes[i].After {
		n := &x.a.Nodes[i]
		at := k
		for at < kEnd && (x.b.Nodes[at].Op != n.Op || x.b.Nodes[at].Kind != n.Kind) {
			at = x.b.Nodes[at].After
		}
		if at >= kEnd {
			continue
		}
		y := &x.b.Nodes[at]
		k = y.After
		x.out[i] = int32(at)
		switch {
		case n.Kind == NodeList && n.After > i+1 && y.After > at+1:
			x.elements(i, at)
		case n.Kind != NodeVariant || n.Raw == y.Raw:
			x.nodes(i+1, n.After, at+1, y.After)
		}
	}
}

// elements pairs those of a list: equal ones at its start and at its end, and those between by their number.
func (x *pairer) elements(i, k uint32) {
	a, b := elems(x.a, i), elems(x.b, k)
	end := 0
	if len(a) != len(b) {
		start := 0
		for start < min(len(a), len(b)) && x.equal(a[start], b[start]) {
			start++
		}
		for end < min(len(a), len(b))-start && x.equal(a[len(a)-1-end], b[len(b)-1-end]) {
			end++
		}
	}
	pair := func(i, k uint32) {
		x.out[i] = int32(k)
		x.nodes(i+1, x.a.Nodes[i].After, k+1, x.b.Nodes[k].After)
	}
	for n := range min(len(a), len(b)) - end {
		pair(a[n], b[n])
	}
	for n := range end {
		pair(a[len(a)-1-n], b[len(b)-1-n])
	}
}

// elems returns the nodes of the elements of a list.
func elems(r *Record, list uint32) (out []uint32) {
	for i := list + 1; i < r.Nodes[list].After; i = r.Nodes[i].After {
		if r.Nodes[i].Kind == NodeElem {
			out = append(out, i)
		}
	}
	return out
}

// equal reports whether two elements have the same values.
func (x *pairer) equal(i, k uint32) bool {
	n := x.a.Nodes[i].After - i
	if x.steps -= int(n); x.steps < 0 || x.b.Nodes[k].After-k != n {
		return false
	}
	for d := range n {
		a, b := &x.a.Nodes[i+d], &x.b.Nodes[k+d]
		if a.Op != b.Op || a.Kind != b.Kind || a.Raw != b.Raw || a.Len != b.Len {
			return false
		}
		if a.Kind != NodeGroup && a.Kind != NodeVar && a.After == i+d+1 && !bytes.Equal(x.a.bytesOf(a), x.b.bytesOf(b)) {
			return false
		}
	}
	return true
}

// bytesOf returns the bytes of a node.
func (r *Record) bytesOf(n *Node) []byte {
	to := min((n.Range().End()+7)/8, uint32(len(r.Data)))
	return r.Data[min(n.Off/8, to):to]
}

// patch returns the message with the values of src where it differs, if no size, number of elements or alternative does.
func (m *overlay) patch(p *Program, src *Record, out []byte) (_ []byte, ok bool) {
	if len(src.Nodes) != len(m.same.Nodes) || len(m.base.Packs) > 0 {
		return nil, false
	}
	out = append(out, m.base.Message()...)
	for i := range src.Nodes {
		n := &src.Nodes[i]
		was, base, ok := m.of(i)
		if !ok || int(m.toSame[i]) != i || n.Op != was.Op || n.Kind != was.Kind || n.Kind != NodeVar && (n.Raw != was.Raw || n.Len != was.Len) || base.Bad != NoProblem {
			return nil, false
		}
		o := &p.Ops[n.Op]
		switch n.Kind {
		case NodeVar:
			if it := p.Var(o); n.Raw != was.Raw && !it.Computed() && !stretch(out[base.Off/8:base.Range().End()/8], n.Raw, it) {
				return nil, false
			}
		case NodeText, NodeBlob:
			if a, b := src.bytesOf(n), m.same.bytesOf(was); o.Made() == nil && !bytes.Equal(a, b) {
				if n.Len > base.Len {
					return nil, false
				}
				copy(out[base.Off/8:], a)
			}
		case NodeBlock, NodeElem, NodeList:
			if o.Block == noIndex || n.Kind == NodeElem && !o.Plain || n.Kind == NodeList && (!o.Plain || o.Linked) || n.Len == 0 {
				continue
			}
			b := &p.Blocks[o.Block]
			if n.Len != base.Len || b.Bits == 0 || n.Len%b.Bits != 0 {
				return nil, false
			}
			for at := uint32(0); at < n.Len; at += b.Bits {
				mergeBlock(b, out, base.Off+at, src.Data, n.Off+at, m.same.Data, was.Off+at)
			}
		case NodeVariant, NodeGroup, NodeEnd, NodeNull, NodeAlign: // no bytes that values change
		}
	}
	m.reseal(p, src, out)
	return out, true
}

// mergeList gives elements of equal size, laid out at a bit of out, the bytes that values do not show: those of the same elements at the start
// and at the end of the list, and between them those with the same number.
func (m *overlay) mergeList(b *Block, out []byte, at uint32, src []byte, n, was, base *Node) {
	count, old, size := int(n.Raw), int(was.Raw), b.Bits/8
	if size == 0 || b.Bits%8 != 0 {
		return
	}
	elem := func(data []byte, from uint32, k int) []byte { return data[from/8+uint32(k)*size:][:size] }
	start, end := 0, 0
	for start < min(count, old) && bytes.Equal(elem(src, n.Off, start), elem(m.same.Data, was.Off, start)) {
		start++
	}
	for end < min(count, old)-start && bytes.Equal(elem(src, n.Off, count-1-end), elem(m.same.Data, was.Off, old-1-end)) {
		end++
	}
	for k := range count {
		from := k
		switch {
		case k >= count-end:
			from = old - (count - k)
		case k >= old-end:
			continue
		}
		copy(elem(out, at, k), elem(m.base.Data, base.Off, from))
		mergeBlock(b, out, at+uint32(k)*b.Bits, src, n.Off+uint32(k)*b.Bits, m.same.Data, was.Off+uint32(from)*b.Bits)
	}
}

// mergeBlock sets the items of a block that differ in two records.
func mergeBlock(b *Block, out []byte, at uint32, src []byte, from uint32, same []byte, was uint32) {
	for k := range b.Items {
		it := &b.Items[k]
		switch it.Role {
		case RoleOffset, RoleHere, RoleNext, RoleLength, RoleCounter, RoleCheck, RolePad, RoleConst:
			continue
		}
		if it.Bits <= 64 {
			if v := LoadBits(src, from+it.Off, it.Bits, it.Order); v != LoadBits(same, was+it.Off, it.Bits, it.Order) {
				StoreBits(out, at+it.Off, it.Bits, it.Order, v)
			}
			continue
		}
		a, n := src[(from+it.Off)/8:], it.Bits/8
		if !bytes.Equal(a[:n], same[(was+it.Off)/8:][:n]) {
			copy(out[(at+it.Off)/8:], a[:n])
		}
	}
}

// stretch writes a number of variable size into the bytes of another one. ok is false if it does not have room.
func stretch(to []byte, raw uint64, it *Item) (ok bool) {
	if it.Var == schema.Long {
		return false
	}
	var b [10]byte
	short := AppendVarint(b[:0], raw, it.Var, it.Bits)
	if len(short) > len(to) || len(short) < len(to) && it.Var != schema.LEB128 && it.Var != schema.ZigZag && it.Var < schema.Wide {
		return false
	}
	n := copy(to, short)
	for ; n < len(to); n++ {
		to[n-1] |= 0x80
		to[n] = 0
	}
	return true
}

// reseal computes checksums of a changed message again, if those of the base were right.
func (m *overlay) reseal(p *Program, src *Record, out []byte) {
	if p.keyVar {
		return
	}
	if p.key.bits != 0 && src.Code != m.base.Code {
		p.key.store(out, 0, uint64(src.Code))
	}
	frame := m.base.Message()[:m.base.Used]
	was := bytes.Clone(frame)
	if p.Message.Seal != nil {
		if p.Message.Seal(was); bytes.Equal(was, frame) {
			p.Message.Seal(out[:m.base.Used])
		}
	}
	if p.check.bits != 0 && p.sum != nil && p.check.load(frame, 0) == uint64(p.sum(frame, src.Session.Key)) {
		p.check.store(out, 0, uint64(p.sum(out[:m.base.Used], src.Session.Key)))
	}
}
