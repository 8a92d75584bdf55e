package codec

import (
	"encoding/binary"
	"math"
	"slices"

	"wirebench/defs/schema"
)

// Most messages are valid, and simple: one block, then contents without contents of their own. The functions here read and write such
// messages in one pass. They accept a subset of what Decode and Encode accept, with the same result; false means "use the other".

// Content is a content after the first block of a simple message: text, bytes, or a list of elements of one size.
type Content struct {
	Op       uint16
	Kind     NodeKind
	Size     schema.Size
	unit     uint8 // bytes of a code unit, for the terminator of text
	Linked   bool
	Placed   bool // located by an offset
	Count    Peek // in the first block
	Offset   Peek // in the first block
	countAt  place
	offsetAt place
	n        uint64 // fixed number of units
	Min, Max uint64 // legal numbers of units
	Each     uint64 // bytes of a unit
	Next     uint64 // linked: offset within an element of the next element's offset, in bytes
}

// findSimple determines whether the messages of a program are simple.
func (p *Program) findSimple() {
	if len(p.Ops) == 0 || p.Ops[0].Code != OpBlock || p.Ops[0].Optional || len(p.Unresolved) > 0 {
		return
	}
	first := &p.Blocks[p.Ops[0].Block]
	var contents []Content
	used := map[uint16]bool{noIndex: true}
	for i := 1; i < len(p.Ops); i = int(p.Ops[i].End) {
		o := &p.Ops[i]
		used[o.count], used[o.offset] = true, true
		c := Content{
			Op: uint16(i), Kind: o.kind, Size: o.Size, unit: o.Unit, Linked: o.Linked, Placed: o.offset != noIndex,
			n: uint64(o.N), Min: o.MinUnits, Max: o.MaxUnits, Each: uint64(o.Unit),
		}
		switch o.Code {
		case OpText, OpBlob:
		case OpList:
			if !o.Plain || o.Size == schema.ToEnd || o.Linked && !o.next16 {
				return
			}
			if b := &p.Blocks[o.Block]; len(b.Checks) > 0 || b.Bits == 0 {
				return
			}
			c.Each, c.Next = uint64(o.Stride/8), uint64(o.nextAt.off/8)
		default:
			return
		}
		if o.Optional || o.Size == schema.ToEnd && int(o.End) < len(p.Ops) || o.Size > schema.ToEnd || o.End0 != 0 ||
			o.expr != nil || o.lax || o.keep || o.with || o.trim || o.node != noIndex || o.Code == OpBlob && o.Size == schema.Terminated {
			return
		}
		for k := range first.Loads {
			switch l := &first.Loads[k]; l.Reg {
			case o.count:
				c.Count, c.countAt = l.peek, p.regAt[l.Reg]
			case o.offset:
				c.Offset, c.offsetAt = l.peek, p.regAt[l.Reg]
			}
		}
		if o.Size == schema.Counted && c.Count.bits == 0 || c.Placed && c.Offset.bits == 0 {
			return
		}
		contents = append(contents, c)
	}
	for i := range first.Loads {
		if l := &first.Loads[i]; !used[l.Reg] || l.kind == RoleValue || l.num != nil {
			return
		}
	}
	p.Simple, p.Contents, p.First, p.Head = true, contents, first, first.Bits/8
	p.Lone = len(contents) == 0 && len(first.Checks) == 0
	word := func(at place, off uint32) bool { return at.bits == 16 && at.off == off && at.order == schema.Little }
	p.Frame16 = word(p.length, 0) && (p.key.bits == 0 || word(p.key, 16))
	if p.key.bits != 0 {
		p.keyMask = math.MaxUint32
	}
}

// shortFrame returns the number of bytes of a frame in the most common form, or 0 if the form differs or bytes are missing.
func (p *Program) shortFrame(data []byte) uint32 {
	if !p.Frame16 || len(data) < 2 {
		return 0
	}
	size := uint32(binary.LittleEndian.Uint16(data))
	if int(size) > len(data) {
		return 0
	}
	return size
}

// AnyFrame returns the number of bytes of the frame, or 0 if bytes are missing.
func (p *Program) AnyFrame(data []byte) uint32 {
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

// more makes room for n more nodes with arbitrary content.
func more(nodes []Node, n int) []Node {
	if cap(nodes)-len(nodes) < n {
		nodes = slices.Grow(nodes, max(n, len(nodes))) // doubled, so that growing costs little
	}
	return nodes[:len(nodes)+n]
}

// set assigns a node field by field: a composite literal would be built elsewhere and copied.
func (n *Node) set(raw uint64, off, size uint32, after int, op uint16, kind NodeKind) {
	n.Raw = raw
	n.Off = off
	n.Len = size
	n.After = uint32(after)
	n.Op = op
	n.Kind = kind
	n.Bad = NoProblem
}

// Budget is the remaining allowance of a fast path: nodes, and bytes of contents, which may share bytes.
type Budget struct{ Nodes, Bytes uint64 }

func NewBudget(data []byte) Budget {
	return Budget{uint64(nodeBudget(len(data))), uint64(byteBudget(len(data)))}
}

// Legal reports whether all values of a block at the start of data are legal.
func (b *Block) Legal(data []byte) bool {
	for _, i := range b.Checks {
		if code, _ := b.Items[i].legal(data, 0); code != NoProblem {
			return false
		}
	}
	return true
}

// units returns the number of units of contents, if it is stated.
func (c *Content) units(data []byte) uint64 {
	if c.Size != schema.Counted {
		return c.n
	}
	return c.Count.From(data)
}

// Locate locates contents that do not simply follow the previous ones, or whose number is not stated: where they begin, their number of
// units, and where they end. It does not read the elements of a linked list, whose end is its beginning.
func (c *Content) Locate(p *Program, data []byte, cur uint64, left *Budget) (from, n, end uint64, ok bool) {
	have := uint64(len(data))
	from, n = cur, c.units(data)
	if c.Placed {
		from = c.Offset.From(data)
	}
	if c.Size == schema.Counted && Judge(n, c.Min, c.Max) != NoProblem {
		return 0, 0, 0, false
	}
	if n == 0 && c.Placed && (c.Size == schema.Counted || c.Size == schema.Fixed) {
		if c.Linked {
			return 0, 0, 0, true
		}
		from = min(from, have)
		return from, 0, from, true
	}
	if p.Place(from, have, have) != NoProblem || c.Placed && from == 0 { // null offsets are handled by the slow path
		return 0, 0, 0, false
	}
	size := n * c.Each
	switch {
	case c.Linked:
		if size > left.Bytes || n > left.Nodes {
			return 0, 0, 0, false
		}
		left.Bytes -= size
		left.Nodes -= n
		return from, n, from, true
	case c.Size == schema.ToEnd:
		n = (have - from) / c.Each
		size = n * c.Each
	case c.Size == schema.Terminated:
		e, found := terminator(data, uint32(from), uint32(have), uint32(c.unit), 0)
		if !found {
			return 0, 0, 0, false
		}
		size = uint64(e) - from
		n = size/c.Each - 1
	}
	if from+size > have || size > left.Bytes {
		return 0, 0, 0, false
	}
	left.Bytes -= size
	return from, n, from + size, true
}

// quickDecode decodes a simple message.
func (p *Program) quickDecode(r *Record, data []byte) bool {
	size := p.shortFrame(data)
	if size == 0 {
		size = p.AnyFrame(data)
	}
	if size < p.Head {
		return false
	}
	r.Nodes = more(r.Nodes[:0], 1)
	r.Nodes[0].set(0, 0, p.Head*8, 1, 0, NodeBlock)
	r.Used = int(size)
	switch {
	case !p.Lone:
		if !p.quickContents(r, data[:size]) {
			return false
		}
	case p.length.bits == 0:
		r.Used = int(p.Head)
	}
	if p.Frame16 && p.Head >= 4 {
		r.Code = uint32(binary.LittleEndian.Uint16(data[2:])) & p.keyMask
	} else if p.key.bits != 0 {
		r.Code = uint32(p.key.load(data, 0))
	}
	return true
}

// quickContents reads the contents after the first block.
func (p *Program) quickContents(r *Record, data []byte) bool {
	if p.First.Reach > uint32(len(data)) || len(p.First.Checks) > 0 && !p.First.Legal(data) {
		return false
	}
	left := NewBudget(data)
	cur, have := uint64(p.Head), uint64(len(data))
	last := cur
	nodes := r.Nodes
	for i := range p.Contents {
		c := &p.Contents[i]
		from, n, end, ok := cur, uint64(0), uint64(0), true
		if c.Size == schema.Counted && !c.Placed && !c.Count.Slow {
			n = Word(data, c.Count.At) >> (c.Count.Shift & 63) & c.Count.Mask
			if end = cur + n*c.Each; end > have || Judge(n, c.Min, c.Max) != NoProblem {
				return false
			}
		} else if from, n, end, ok = c.Locate(p, data, cur, &left); !ok {
			return false
		}
		nodes = more(nodes, 1)
		nodes[len(nodes)-1].set(n, uint32(from)*8, uint32(end-from)*8, len(nodes), c.Op, c.Kind)
		if c.Linked && n > 0 {
			if nodes, end, ok = c.chain(data, from, n, nodes); !ok {
				return false
			}
		}
		if end > from { // empty contents do not count
			last = max(last, end)
		}
		if !c.Placed {
			cur = end
		}
	}
	r.Nodes = nodes
	if p.length.bits == 0 {
		r.Used = int(last)
	}
	return true
}

// chain appends the elements of a chain that only goes forwards: a backward link may be a cycle. The last node is the list's.
func (c *Content) chain(data []byte, at, n uint64, nodes []Node) (all []Node, end uint64, ok bool) {
	size, next, have := c.Each, c.Next, uint64(len(data))
	bits, list := uint32(size)*8, len(nodes)-1
	nodes = more(nodes, int(n))
	last := uint64(0)
	for i := list + 1; i < len(nodes); i++ {
		if link(at, last) != NoProblem || at+size > have || at+next+2 > have {
			return nodes, 0, false
		}
		nodes[i].set(0, uint32(at)*8, bits, i+1, c.Op, NodeElem)
		last = at
		at = uint64(binary.LittleEndian.Uint16(data[at+next : at+next+2]))
	}
	l := &nodes[list]
	l.After = uint32(len(nodes))
	l.Len = uint32(last+size)*8 - l.Off
	return nodes, last + size, true
}

// quickEncode lays out a simple message anew. The nodes of src must be those of a simple message.
func (p *Program) quickEncode(dst, src *Record) bool {
	if len(src.Nodes) == 0 || src.Nodes[0].Op != 0 || src.Nodes[0].Len != p.Head*8 {
		return false
	}
	from := src.Nodes[0].Off / 8
	dst.own = append(dst.own[:0], src.Data[from:from+p.Head]...)
	dst.Nodes = more(dst.Nodes[:0], 1)
	dst.Nodes[0].set(0, 0, p.Head*8, 1, 0, NodeBlock)
	if !p.Lone && !p.encodeContents(dst, src) {
		return false
	}
	dst.Program, dst.Data, dst.Problems, dst.Packs = p, dst.own, dst.Problems[:0], dst.Packs[:0]
	dst.Short, dst.Illegal = false, false
	dst.Used, dst.Code, dst.Session = len(dst.own), src.Code, src.Session
	if p.Frame16 && p.Head >= 4 && len(dst.own) <= math.MaxUint16 && src.Code <= math.MaxUint16 && p.counter.bits|p.check.bits == 0 {
		binary.LittleEndian.PutUint16(dst.own, uint16(len(dst.own)))
		if p.keyMask != 0 {
			binary.LittleEndian.PutUint16(dst.own[2:], uint16(src.Code))
		}
		return true
	}
	return p.seal(dst) == nil
}

// encodeContents lays out the contents after the first block.
func (p *Program) encodeContents(dst, src *Record) bool {
	out, nodes, next := dst.own, dst.Nodes, 1
	for i := range p.Contents {
		c := &p.Contents[i]
		if next >= len(src.Nodes) || src.Nodes[next].Op != c.Op {
			return false
		}
		n := &src.Nodes[next]
		next++
		at, size := uint32(len(out)), uint32(n.Raw)*uint32(c.Each)
		if c.Size == schema.Counted {
			if !c.countAt.fits(n.Raw) || Judge(n.Raw, c.Min, c.Max) != NoProblem {
				return false
			}
			c.countAt.store(out, 0, n.Raw)
		}
		if c.Placed {
			where := uint64(at)
			if c.Linked && n.Raw == 0 {
				where = 0
			}
			if !c.offsetAt.fits(where) {
				return false
			}
			c.offsetAt.store(out, 0, where)
		}
		nodes = more(nodes, 1)
		if c.Linked {
			if int(n.After) != next+int(n.Raw) {
				return false
			}
			nodes[len(nodes)-1].set(n.Raw, at*8, size*8, len(nodes), c.Op, NodeList)
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
		if c.Size == schema.Terminated {
			out = append(out, 0, 0)[:len(out)+int(c.unit)]
		}
		nodes[len(nodes)-1].set(n.Raw, at*8, (uint32(len(out))-at)*8, len(nodes), c.Op, c.Kind)
	}
	if len(out) > MaxMessage {
		return false
	}
	dst.own, dst.Nodes = out, nodes
	return true
}

// encodeChain lays out elements of one size, each with the offset of the next; the last node is the list's.
func (p *Program) encodeChain(c *Content, out []byte, nodes []Node, data []byte, elems []Node) ([]byte, []Node, bool) {
	start, size, list := uint32(len(out)), uint32(c.Each), len(nodes)-1
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
		inner[i].set(0, start*8+uint32(i)*bits, bits, list+i+2, c.Op, NodeElem)
	}
	if together {
		out = append(out, data[first/8:first/8+uint32(len(elems))*size]...)
	} else {
		for i := range elems {
			out = append(out, data[elems[i].Off/8:elems[i].Off/8+size]...)
		}
	}
	here := &p.Ops[c.Op].here
	here16 := here.bits == 16 && here.order == schema.Little && here.off%8 == 0
	at, next := start, uint32(c.Next)
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
