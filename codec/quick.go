package codec

import (
	"encoding/binary"
	"math"
	"slices"

	"wirebench/defs/schema"
)

// Most messages are valid, and simple: one block, then contents without contents of their own. The functions here read and write such
// messages in one pass. They accept a subset of what Decode and Encode accept, with the same result; false means "use the other".

// content is what there is after the first block of a simple message: text, bytes, or a list of elements of one size.
type content struct {
	op       uint16
	kind     NodeKind
	size     schema.Size
	unit     uint8 // bytes of a code unit, for the end of text
	linked   bool
	placed   bool // by an offset
	count    peek // in the first block
	offset   peek // likewise
	countAt  place
	offsetAt place
	n        uint64 // fixed number of units
	min, max uint64 // legal numbers of units
	each     uint64 // bytes of a unit
	next     uint64 // linked: byte of an element where the place of the next stands
}

// findSimple notes whether the messages of a program are simple.
func (p *Program) findSimple() {
	if len(p.ops) == 0 || p.ops[0].code != opBlock || p.ops[0].optional || len(p.Unresolved) > 0 {
		return
	}
	first := &p.blocks[p.ops[0].block]
	var contents []content
	used := map[uint16]bool{noIndex: true}
	for i := 1; i < len(p.ops); i = int(p.ops[i].end) {
		o := &p.ops[i]
		used[o.count], used[o.offset] = true, true
		c := content{
			op: uint16(i), kind: o.kind, size: o.size, unit: o.unit, linked: o.linked, placed: o.offset != noIndex,
			n: uint64(o.n), min: o.minUnits, max: o.maxUnits, each: uint64(o.unit),
		}
		switch o.code {
		case opText, opBlob:
		case opList:
			if !o.plain || o.size == schema.ToEnd || o.linked && !o.next16 {
				return
			}
			if b := &p.blocks[o.block]; len(b.checks) > 0 || b.bits == 0 {
				return
			}
			c.each, c.next = uint64(o.stride/8), uint64(o.nextAt.off/8)
		default:
			return
		}
		if o.optional || o.size == schema.ToEnd && int(o.end) < len(p.ops) {
			return
		}
		for k := range first.loads {
			switch l := &first.loads[k]; l.reg {
			case o.count:
				c.count, c.countAt = l.peek, p.regAt[l.reg]
			case o.offset:
				c.offset, c.offsetAt = l.peek, p.regAt[l.reg]
			}
		}
		if o.size == schema.Counted && c.count.bits == 0 || c.placed && c.offset.bits == 0 {
			return
		}
		contents = append(contents, c)
	}
	for i := range first.loads {
		if l := &first.loads[i]; !used[l.reg] || l.kind == RoleValue {
			return
		}
	}
	p.simple, p.contents, p.first, p.head = true, contents, first, first.bits/8
	p.lone = len(contents) == 0 && len(first.checks) == 0
	word := func(at place, off uint32) bool { return at.bits == 16 && at.off == off && at.order == schema.Little }
	p.frame16 = word(p.length, 0) && (p.key.bits == 0 || word(p.key, 16))
	if p.key.bits != 0 {
		p.keyMask = math.MaxUint32
	}
}

// shortFrame is the number of bytes of the frame of the most usual form, 0 if that is another or not all there.
func (p *Program) shortFrame(data []byte) uint32 {
	if !p.frame16 || len(data) < 2 {
		return 0
	}
	size := uint32(binary.LittleEndian.Uint16(data))
	if int(size) > len(data) {
		return 0
	}
	return size
}

// anyFrame is the number of bytes of the frame, 0 if they are not there.
func (p *Program) anyFrame(data []byte) uint32 {
	if len(data) > MaxMessage {
		return 0
	}
	have := uint32(len(data))
	if p.length.bits == 0 {
		return have
	}
	if have < p.header {
		return 0
	}
	if size := p.length.load(data, 0); size <= uint64(have) {
		return uint32(size)
	}
	return 0
}

// more makes room for n more nodes, which hold anything.
func more(nodes []Node, n int) []Node {
	if cap(nodes)-len(nodes) < n {
		nodes = slices.Grow(nodes, n)
	}
	return nodes[:len(nodes)+n]
}

// set fills a node field by field: a composite literal would be built elsewhere and copied.
func (n *Node) set(raw uint64, off, size uint32, after int, op uint16, kind NodeKind) {
	n.Raw = raw
	n.Off = off
	n.Len = size
	n.After = uint32(after)
	n.Op = op
	n.Kind = kind
	n.Bad = NoProblem
}

// budget is how much a quick reading may still ask for: nodes, and bytes of contents, which may share them.
type budget struct{ nodes, bytes uint64 }

func newBudget(data []byte) budget {
	return budget{uint64(nodeBudget(len(data))), uint64(byteBudget(len(data)))}
}

// legal reports whether the values of a block at the start of data that can be illegal are not.
func (b *block) legal(data []byte) bool {
	for _, i := range b.checks {
		if code, _ := b.items[i].legal(data, 0); code != NoProblem {
			return false
		}
	}
	return true
}

// units is the number of units of contents, if it is stated.
func (c *content) units(data []byte) uint64 {
	if c.size != schema.Counted {
		return c.n
	}
	return c.count.from(data)
}

// locate finds contents that do not simply follow the ones before, or whose number is not stated: where they begin, how many
// units they are, and where they end. The elements of a linked list are not looked at; its end is its beginning.
func (c *content) locate(p *Program, data []byte, cur uint64, left *budget) (from, n, end uint64, ok bool) {
	have := uint64(len(data))
	from, n = cur, c.units(data)
	if c.placed {
		from = c.offset.from(data)
	}
	if c.size == schema.Counted && number(n, c.min, c.max) != NoProblem {
		return 0, 0, 0, false
	}
	if n == 0 && c.placed && (c.size == schema.Counted || c.size == schema.Fixed) {
		if c.linked {
			return 0, 0, 0, true
		}
		from = min(from, have)
		return from, 0, from, true
	}
	if p.place(from, have, have) != NoProblem || c.placed && from == 0 { // a null place is for others to judge
		return 0, 0, 0, false
	}
	size := n * c.each
	switch {
	case c.linked:
		if size > left.bytes || n > left.nodes {
			return 0, 0, 0, false
		}
		left.bytes -= size
		left.nodes -= n
		return from, n, from, true
	case c.size == schema.ToEnd:
		n = (have - from) / c.each
		size = n * c.each
	case c.size == schema.Terminated:
		e, found := terminator(data, uint32(from), uint32(have), uint32(c.unit))
		if !found {
			return 0, 0, 0, false
		}
		size = uint64(e) - from
		n = size/c.each - 1
	}
	if from+size > have || size > left.bytes {
		return 0, 0, 0, false
	}
	left.bytes -= size
	return from, n, from + size, true
}

// quickDecode reads a simple message.
func (p *Program) quickDecode(r *Record, data []byte) bool {
	size := p.shortFrame(data)
	if size == 0 {
		size = p.anyFrame(data)
	}
	if size < p.head {
		return false
	}
	r.Nodes = more(r.Nodes[:0], 1)
	r.Nodes[0].set(0, 0, p.head*8, 1, 0, NodeBlock)
	r.Used = int(size)
	switch {
	case !p.lone:
		if !p.quickContents(r, data[:size]) {
			return false
		}
	case p.length.bits == 0:
		r.Used = int(p.head)
	}
	if p.frame16 && p.head >= 4 {
		r.Code = uint32(binary.LittleEndian.Uint16(data[2:])) & p.keyMask
	} else if p.key.bits != 0 {
		r.Code = uint32(p.key.load(data, 0))
	}
	return true
}

// quickContents reads what follows the first block.
func (p *Program) quickContents(r *Record, data []byte) bool {
	if p.first.reach > uint32(len(data)) || len(p.first.checks) > 0 && !p.first.legal(data) {
		return false
	}
	left := newBudget(data)
	cur, have := uint64(p.head), uint64(len(data))
	last := cur
	nodes := r.Nodes
	for i := range p.contents {
		c := &p.contents[i]
		from, n, end, ok := cur, uint64(0), uint64(0), true
		if c.size == schema.Counted && !c.placed && !c.count.slow {
			n = word(data, c.count.at) >> (c.count.shift & 63) & c.count.mask
			if end = cur + n*c.each; end > have || number(n, c.min, c.max) != NoProblem {
				return false
			}
		} else if from, n, end, ok = c.locate(p, data, cur, &left); !ok {
			return false
		}
		nodes = more(nodes, 1)
		nodes[len(nodes)-1].set(n, uint32(from)*8, uint32(end-from)*8, len(nodes), c.op, c.kind)
		if c.linked && n > 0 {
			if nodes, end, ok = c.chain(data, from, n, nodes); !ok {
				return false
			}
		}
		if end > from { // where nothing is read does not count
			last = max(last, end)
		}
		if !c.placed {
			cur = end
		}
	}
	r.Nodes = nodes
	if p.length.bits == 0 {
		r.Used = int(last)
	}
	return true
}

// chain appends the elements of a chain that goes forwards: one that goes back may be a circle. The last node is that of its list.
func (c *content) chain(data []byte, at, n uint64, nodes []Node) (all []Node, end uint64, ok bool) {
	size, next, have := c.each, c.next, uint64(len(data))
	bits, list := uint32(size)*8, len(nodes)-1
	nodes = more(nodes, int(n))
	last := uint64(0)
	for i := list + 1; i < len(nodes); i++ {
		if link(at, last) != NoProblem || at+size > have || at+next+2 > have {
			return nodes, 0, false
		}
		nodes[i].set(0, uint32(at)*8, bits, i+1, c.op, NodeElem)
		last = at
		at = uint64(binary.LittleEndian.Uint16(data[at+next : at+next+2]))
	}
	l := &nodes[list]
	l.After = uint32(len(nodes))
	l.Len = uint32(last+size)*8 - l.Off
	return nodes, last + size, true
}

// quickEncode lays out a simple message anew. It is for records whose nodes are those of a simple message.
func (p *Program) quickEncode(dst, src *Record) bool {
	if len(src.Nodes) == 0 || src.Nodes[0].Op != 0 || src.Nodes[0].Len != p.head*8 {
		return false
	}
	from := src.Nodes[0].Off / 8
	dst.own = append(dst.own[:0], src.Data[from:from+p.head]...)
	dst.Nodes = more(dst.Nodes[:0], 1)
	dst.Nodes[0].set(0, 0, p.head*8, 1, 0, NodeBlock)
	if !p.lone && !p.encodeContents(dst, src) {
		return false
	}
	dst.Program, dst.Data, dst.Problems = p, dst.own, dst.Problems[:0]
	dst.Short, dst.Illegal = false, false
	dst.Used, dst.Code, dst.Session = len(dst.own), src.Code, src.Session
	if p.frame16 && p.head >= 4 && len(dst.own) <= math.MaxUint16 && src.Code <= math.MaxUint16 && p.counter.bits|p.check.bits == 0 {
		binary.LittleEndian.PutUint16(dst.own, uint16(len(dst.own)))
		if p.keyMask != 0 {
			binary.LittleEndian.PutUint16(dst.own[2:], uint16(src.Code))
		}
		return true
	}
	return p.seal(dst) == nil
}

// encodeContents lays out what follows the first block.
func (p *Program) encodeContents(dst, src *Record) bool {
	out, nodes, next := dst.own, dst.Nodes, 1
	for i := range p.contents {
		c := &p.contents[i]
		if next >= len(src.Nodes) || src.Nodes[next].Op != c.op {
			return false
		}
		n := &src.Nodes[next]
		next++
		at, size := uint32(len(out)), uint32(n.Raw)*uint32(c.each)
		if c.size == schema.Counted {
			if !c.countAt.fits(n.Raw) || number(n.Raw, c.min, c.max) != NoProblem {
				return false
			}
			c.countAt.store(out, 0, n.Raw)
		}
		if c.placed {
			where := uint64(at)
			if c.linked && n.Raw == 0 {
				where = 0
			}
			if !c.offsetAt.fits(where) {
				return false
			}
			c.offsetAt.store(out, 0, where)
		}
		nodes = more(nodes, 1)
		if c.linked {
			if int(n.After) != next+int(n.Raw) {
				return false
			}
			nodes[len(nodes)-1].set(n.Raw, at*8, size*8, len(nodes), c.op, NodeList)
			if n.Raw == 0 {
				nodes[len(nodes)-1].Off = 0
				continue
			}
			var ok bool
			if out, nodes, ok = p.encodeChain(c, out, nodes, src.Data, src.Nodes[next:n.After]); !ok {
				return false
			}
			next = int(n.After)
			continue
		}
		if int(n.After) != next {
			return false
		}
		from := n.Off / 8
		out = append(out, src.Data[from:from+size]...)
		if c.size == schema.Terminated {
			out = append(out, 0, 0)[:len(out)+int(c.unit)]
		}
		nodes[len(nodes)-1].set(n.Raw, at*8, (uint32(len(out))-at)*8, len(nodes), c.op, c.kind)
	}
	if len(out) > MaxMessage {
		return false
	}
	dst.own, dst.Nodes = out, nodes
	return true
}

// encodeChain lays out elements of one size, each with the place of the next; the last node is that of their list.
func (p *Program) encodeChain(c *content, out []byte, nodes []Node, data []byte, elems []Node) ([]byte, []Node, bool) {
	start, size, list := uint32(len(out)), uint32(c.each), len(nodes)-1
	if total := uint64(start) + uint64(len(elems))*uint64(size); total > math.MaxUint16 {
		return out, nodes, false
	}
	together := true // in the order of the chain already, as most senders lay them out
	nodes = more(nodes, len(elems))
	first, bits, inner := elems[0].Off, size*8, nodes[list+1:]
	for i := range elems {
		e := &elems[i]
		if e.Kind != NodeElem || e.Len != bits || e.After != elems[0].After+uint32(i) {
			return out, nodes, false
		}
		together = together && e.Off == first+uint32(i)*bits
		inner[i].set(0, start*8+uint32(i)*bits, bits, list+i+2, c.op, NodeElem)
	}
	if together {
		out = append(out, data[first/8:first/8+uint32(len(elems))*size]...)
	} else {
		for i := range elems {
			out = append(out, data[elems[i].Off/8:elems[i].Off/8+size]...)
		}
	}
	here := &p.ops[c.op].here
	here16 := here.bits == 16 && here.order == schema.Little && here.off%8 == 0
	at, next := start, uint32(c.next)
	for range elems {
		e := out[at : at+size]
		switch {
		case here16:
			binary.LittleEndian.PutUint16(e[here.off/8:], uint16(at))
		case here.bits != 0:
			here.store(e, 0, uint64(at))
		}
		binary.LittleEndian.PutUint16(e[next:], uint16(at+size))
		at += size
	}
	binary.LittleEndian.PutUint16(out[at-size+next:], 0)
	nodes[list].After = uint32(len(nodes))
	return out, nodes, true
}
