package codec

import (
	"bytes"
	"math"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// MaxMessage is the maximum number of bytes of a message. Ranges are in bits, in 32-bit numbers.
const MaxMessage = wire.MaxMessage

// nodeBudget returns the number of nodes that a message of n bytes may produce; byteBudget limits the bytes of its contents, which may
// share bytes. One byte can require three nodes: an element, its block with the length of a text, and the empty text.
func nodeBudget(n int) int { return 1<<12 + 4*n }
func byteBudget(n int) int { return 1<<20 + 4*n }

// nestedNodes is added for messages with choices, which need no bytes.
const nestedNodes = 1 << 16

// Decode decodes a message into dst. It never fails: dst holds everything that could be read, and problems that state where and why
// decoding stopped. Contents with an offset of their own are read even if contents before them are damaged.
func (p *Program) Decode(dst *Record, data []byte) {
	dst.Program, dst.Data, dst.Problems = p, data, dst.Problems[:0]
	dst.Short, dst.Illegal, dst.Code, dst.Filled, dst.Packs = false, false, 0, 0, dst.Packs[:0]
	if p.Simple && p.quickDecode(dst, data) {
		return
	}
	p.decode(dst, data, false)
}

// DecodeStart is Decode for bytes that other bytes of the message may follow: they have no tail.
func (p *Program) DecodeStart(dst *Record, data []byte) {
	if p.tail == 0 {
		p.Decode(dst, data)
		return
	}
	dst.Program, dst.Data, dst.Problems = p, data, dst.Problems[:0]
	dst.Short, dst.Illegal, dst.Code, dst.Filled, dst.Packs = false, false, 0, 0, dst.Packs[:0]
	p.decode(dst, data, true)
}

// decode decodes any message and reports its problems. part reports that the bytes may be a part of it.
func (p *Program) decode(dst *Record, data []byte, part bool) {
	dst.Reset(p)
	if !p.setFirst {
		clear(dst.regs)
	}
	dst.saved = dst.saved[:0]
	dst.Data = data
	d := decoder{p: p, r: dst, data: data, have: uint32(len(data)), limit: math.MaxUint32, nodes: nodeBudget(len(data)) + len(p.Ops), bytes: byteBudget(len(data))}
	if p.nested {
		d.nodes += nestedNodes
	}
	if len(data) > MaxMessage {
		dst.Data, d.data, d.have = data[:0], data[:0], 0
		d.illegal(Problem{Code: TooLarge, Got: uint64(len(data)), Want: MaxMessage})
		return
	}
	dst.Used = len(data)
	if len(p.Unresolved) > 0 {
		d.illegal(Problem{Code: UnresolvedLimit})
		dst.Used = 0
		return
	}
	if end := p.key.off + uint32(p.key.bits); p.key.bits != 0 && d.have*8 >= end {
		dst.Code = uint32(p.key.load(data, 0))
	}
	if p.length.bits != 0 && !d.frame() {
		return
	}
	if p.Message.Measured {
		d.size, d.measured = p.minSize, true
		if d.size > uint64(d.have) {
			d.short(0, uint32(min(d.size, MaxMessage)))
		}
	}
	if p.wholeReg != noIndex {
		dst.regs[p.wholeReg] = uint64(min(d.limit, d.have))
	}
	if p.tail > 0 {
		d.withTail(part)
	} else {
		d.body(0, uint16(len(p.Ops)))
	}
	if d.limit == math.MaxUint32 && !d.r.Short {
		dst.Used = int(min(d.end, d.have))
	}
	if dst.Illegal && p.length.bits == 0 {
		dst.Used = 0
	}
}

// decoder is the state of one Decode. Offsets are in bytes, cursors in bits.
type decoder struct {
	p        *Program
	r        *Record
	data     []byte // up to the end of the frame
	have     uint32 // bytes of the frame that are present
	limit    uint32 // bytes of the frame; MaxUint32 if unknown
	cur      uint32 // bits
	end      uint32 // bytes read so far, for messages whose frame has no length
	nodes    int    // remaining budgets
	bytes    int
	size     uint64 // minimum size in bytes implied by all counts read so far
	measured bool
	stop     bool   // the budget is used up
	depth    int    // of calls
	base     uint32 // byte at which the message begins, or decompressed contents
	from     uint32 // byte at which the innermost group with a size begins
	granted  int    // nodes added to the budget for these
	inside   int    // number of groups with a size around the cursor
	whole    uint32 // have and limit outside of them
	most     uint32
}

// withTail reads the contents up to the tail, and the tail at the end of the frame.
func (d *decoder) withTail(part bool) {
	p, have, limit := d.p, d.have, d.limit
	last := uint16(len(p.Ops) - 1)
	if part || have < p.tail || limit < p.tail {
		d.body(0, last)
		d.short(d.have*8, uint32(min(p.minSize, MaxMessage)))
		return
	}
	d.have -= p.tail
	d.data, d.limit = d.data[:d.have], d.have
	if p.wholeReg != noIndex {
		d.r.regs[p.wholeReg] = uint64(d.have)
	}
	d.body(0, last)
	if d.stop {
		return
	}
	d.data, d.have, d.limit = d.data[:have], have, limit
	d.cur = (have - p.tail) * 8
	d.body(last, last+1)
}

// frame reads the frame's length.
func (d *decoder) frame() bool {
	p, r := d.p, d.r
	if end := (p.length.off + uint32(p.length.bits) + 7) / 8; d.have < end {
		d.short(0, p.header)
		d.body(0, uint16(len(p.Ops)))
		return false
	}
	n := p.length.load(d.data, 0)
	if n < uint64(p.header) {
		d.limit = uint32(n)
		d.illegal(Problem{Code: LengthTooSmall, Range: Range{p.length.off, uint32(p.length.bits)}, Got: n, Want: uint64(p.header)})
		d.limit = p.header // show as much of the header as is present
		d.have = min(d.have, d.limit)
		d.data = d.data[:d.have]
		r.Used = int(d.have)
		d.quietHeader()
		return false
	}
	d.limit = uint32(min(n, math.MaxUint32))
	if d.have > d.limit {
		d.have = d.limit
		d.data = d.data[:d.have]
	}
	r.Used = int(d.have)
	if d.have < d.limit {
		d.short(d.have*8, d.limit)
	}
	return true
}

// quietHeader adds a node for the first block although the frame is too small for it.
func (d *decoder) quietHeader() {
	if len(d.p.Ops) > 0 && d.p.Ops[0].Code == OpBlock {
		d.node(Node{Len: min(d.p.Blocks[d.p.Ops[0].Block].Bits, d.have*8), Kind: NodeBlock, Bad: LengthTooSmall})
	}
}

// maxProblems limits the problems of a record: a hostile message can have one in every element.
const maxProblems = 1000

func (d *decoder) problem(p Problem) {
	if len(d.r.Problems) < maxProblems {
		d.r.Problems = append(d.r.Problems, p)
	}
}

func (d *decoder) illegal(p Problem) {
	if d.measured && d.r.Short {
		return // the message is too short: its contents are not checked
	}
	d.r.Illegal = true
	d.problem(p)
}

// short reports once that the data ends before the message does.
func (d *decoder) short(from, need uint32) {
	if d.r.Short {
		return
	}
	d.r.Short = true
	d.problem(Problem{Code: Truncated, Range: Range{min(from, d.have*8), 0}, Got: uint64(d.have), Want: uint64(need)})
}

// node appends a node, unless the budget is used up.
func (d *decoder) node(n Node) int {
	i := len(d.r.Nodes)
	if d.nodes--; d.nodes < 0 {
		d.exhausted()
		return i
	}
	d.r.Nodes = more(d.r.Nodes, 1)
	d.r.Nodes[i] = n
	d.r.Nodes[i].After = uint32(i + 1)
	return i
}

func (d *decoder) exhausted() {
	if !d.stop {
		d.stop = true
		d.illegal(Problem{Code: TooComplex, Got: uint64(d.r.Size())})
	}
}

// charge deducts bytes of contents from the budget.
func (d *decoder) charge(n uint64) bool {
	if n > uint64(d.bytes) {
		d.exhausted()
		return false
	}
	d.bytes -= int(n)
	return true
}

// over reports that bits from cur on extend beyond the available data. It returns the code for the node.
func (d *decoder) over(code ProblemCode, from, to uint64, field uint16, node int) ProblemCode {
	if to > uint64(d.limit)*8 {
		p := Problem{Code: code, Range: d.clip(from, to), Spot: spot(node, field, -1), Got: uint64(d.limit), Want: to - from}
		if code == ContentsOutside {
			p.Want /= 8
		}
		d.illegal(p)
		return code
	}
	d.short(d.have*8, uint32(min((to+7)/8, MaxMessage)))
	return Truncated
}

// clip returns the part of a range that is present.
func (d *decoder) clip(from, to uint64) Range {
	end := uint64(d.have) * 8
	from, to = min(from, end), min(to, end)
	return Range{uint32(from), uint32(to - from)}
}

// body runs the ops from pc to end once, at the cursor. It returns false if the position of the next part is unknown.
func (d *decoder) body(pc, end uint16) bool {
	for pc < end && !d.stop {
		o := &d.p.Ops[pc]
		if o.Optional && d.cur >= d.have*8 && !(d.r.Short && d.limit != math.MaxUint32) {
			return true
		}
		switch o.Code {
		case OpBlock:
			if !d.block(o, pc) {
				return false
			}
		case OpText, OpBlob:
			if !d.text(o, pc) {
				return false
			}
		case OpList:
			if !d.list(o, pc) {
				return false
			}
			pc = o.End
			continue
		case OpWeave:
			pc++ // decoding follows the chains
			continue
		case OpTagged:
			if !d.tagged(o, pc) {
				return false
			}
			pc = o.End
			continue
		case OpVariant:
			if !d.variant(pc) {
				return false
			}
			pc = o.End
			continue
		case OpVar:
			if !d.varint(o, pc) {
				return false
			}
		case OpGroup:
			if !d.group(o, pc, pc) {
				return false
			}
			pc = o.End
			continue
		case OpCall:
			if !d.call(o, pc) {
				return false
			}
		case OpAlign:
			if !d.align(o, pc) {
				return false
			}
		case OpShown:
			d.show(o, pc)
		case OpLet:
			d.let(o)
		case OpCase: // read by its OpVariant
		}
		pc++
	}
	return !d.stop
}

// block reads a run of fixed-size fields. If it is truncated, the node covers the part that is present.
func (d *decoder) block(o *Op, pc uint16) bool {
	b := &d.p.Blocks[o.Block]
	at := d.cur
	if end := uint64(at) + uint64(b.Bits); end > uint64(d.have)*8 {
		n := d.node(Node{Off: at, Len: d.clip(uint64(at), end).Len, Op: pc, Kind: NodeBlock})
		bad := d.over(PastFrame, uint64(at), end, noIndex, n)
		if n < len(d.r.Nodes) {
			d.r.Nodes[n].Bad = bad
		}
		for i := range b.Loads { // discard the registers of an earlier element
			d.r.regs[b.Loads[i].Reg] = 0
		}
		return false
	}
	d.node(Node{Off: at, Len: b.Bits, Op: pc, Kind: NodeBlock})
	if d.bytes -= int(b.cost); d.bytes < 0 {
		d.exhausted()
		return false
	}
	var pad [8]byte
	w := window(d.data, at/8, &pad)
	for i := range b.Loads {
		l := &b.Loads[i]
		v := l.peek.From(w)
		d.r.regs[l.Reg] = v
		if l.num != nil && !d.signedUnits(l, &v, Range{at + l.Off, uint32(l.Bits)}) {
			continue
		}
		if l.unit && (v < l.minUnits || v > l.maxUnits || d.measured) {
			d.count(l, at, v)
		}
	}
	if d.measured && d.size > uint64(d.have) {
		d.short(d.have*8, uint32(min(d.size, MaxMessage)))
	}
	if len(b.Checks) > 0 {
		d.checks(b, at, len(d.r.Nodes)-1, -1)
	}
	d.cur = at + b.Bits
	d.end = max(d.end, (d.cur+7)/8)
	return !d.measured || !d.r.Illegal
}

// count checks a number of units.
func (d *decoder) count(l *Load, at uint32, v uint64) {
	code, want := Judge(v, l.minUnits, l.maxUnits), l.minUnits
	switch code {
	case CountAbove:
		want = l.maxUnits
	case NoProblem:
		if d.measured {
			d.size = min(d.size+(v-l.minUnits)*l.minElem, math.MaxUint32) // counts have at most 32 bits, minElem fewer: no overflow
		}
		return
	}
	d.illegal(Problem{Code: code, Range: Range{at + l.Off, uint32(l.Bits)}, Spot: spot(len(d.r.Nodes)-1, l.field, -1), Got: v, Want: want})
}

// checks checks the values of a block that can be illegal.
func (d *decoder) checks(b *Block, at uint32, node, elem int) {
	for _, i := range b.Checks {
		it := &b.Items[i]
		if code, raw := it.legal(d.data, at); code != NoProblem {
			d.illegal(Problem{Code: code, Range: Range{at + it.Off, it.Bits}, Spot: spot(node, it.Field, int32(elem)), Got: raw})
		}
	}
}

// start returns where contents begin. ok is false if they cannot be read; next reports whether the part after them still can.
func (d *decoder) start(o *Op, pc uint16, kind NodeKind) (from uint32, ok, next bool) {
	if o.offset == noIndex {
		return (d.cur + 7) / 8, true, true
	}
	v := d.r.regs[o.offset]
	code := d.p.Place(v, uint64(d.have), uint64(d.limit))
	if code == NoProblem {
		return uint32(v), true, true
	}
	if code == Truncated {
		d.short(d.have*8, uint32(min(v, MaxMessage)))
	}
	n := d.node(Node{Off: d.clip(v*8, v*8).Off, Op: pc, Kind: kind, Bad: code})
	if code != Truncated {
		d.stray(code, d.offsetRange(o), spot(n, o.Field, -1), v)
	}
	return 0, false, true
}

// stray reports an offset that points out of the message or into its header.
func (d *decoder) stray(code ProblemCode, at Range, of Spot, v uint64) {
	want := uint64(d.p.header)
	if code == OffsetOutside {
		want = uint64(min(d.limit, MaxMessage))
	}
	d.illegal(Problem{Code: code, Range: at, Spot: of, Got: v, Want: want})
}

// offsetRange returns the range of the offset of some contents: in the newest block that loads it.
func (d *decoder) offsetRange(o *Op) Range {
	if len(d.r.Problems) >= maxProblems {
		return Range{} // not needed: problems are not recorded
	}
	for i := len(d.r.Nodes) - 1; i >= 0; i-- {
		n := &d.r.Nodes[i]
		if n.Kind != NodeBlock {
			continue
		}
		b := &d.p.Blocks[d.p.Ops[n.Op].Block]
		for k := range b.Loads {
			if l := &b.Loads[k]; l.Reg == o.offset {
				return Range{n.Off + l.Off, uint32(l.Bits)}
			}
		}
	}
	return Range{}
}

// units returns the number of units of contents, and whether they extend to the end of the frame.
func (d *decoder) units(o *Op) (n uint64, toEnd bool) {
	switch o.Size {
	case schema.Fixed:
		return uint64(o.N), false
	case schema.Counted, schema.Computed:
		return min(d.r.regs[o.count], math.MaxUint32), false
	case schema.Until, schema.While, schema.Ending:
		return 0, false
	}
	return 0, true
}

func (d *decoder) text(o *Op, pc uint16) bool {
	if o.expr != nil {
		return d.made(o, pc)
	}
	if o.Size != schema.Terminated {
		return d.run(o, pc, o.kind)
	}
	if o.offset != noIndex && d.r.regs[o.offset] == 0 {
		d.node(Node{Op: pc, Kind: NodeText}) // a null pointer: empty
		return true
	}
	from, ok, next := d.start(o, pc, o.kind)
	if !ok {
		return next
	}
	have := d.have
	if o.trim {
		have = from + uint32(trimmed(d.data[from:have], o.pad))
	}
	end, found := terminator(d.data, min(from, have), have, uint32(o.Unit), o.End0)
	if found && o.keep {
		end -= uint32(o.Unit)
	}
	size := end - from
	units := size / uint32(o.Unit)
	if found && !o.keep && !o.with {
		units--
	}
	if !found && o.lax && (d.limit == math.MaxUint32 || d.have >= d.limit) {
		found = true
	}
	if o.trim {
		end = d.have
		size = end - from
	}
	if !d.charge(uint64(size)) {
		return false
	}
	n := d.node(Node{Raw: uint64(units), Off: from * 8, Len: size * 8, Op: pc, Kind: o.kind})
	d.end = max(d.end, end)
	if o.offset == noIndex {
		d.cur = end * 8
	}
	if found {
		if o.reg != noIndex {
			d.r.regs[o.reg] = uint64(from)<<32 | uint64(units)*uint64(o.Unit)
		}
		return true
	}
	bad := Truncated
	if d.have < d.limit {
		d.short(d.have*8, d.have+uint32(o.Unit))
	} else {
		bad = NotTerminated
		d.illegal(Problem{Code: bad, Range: Range{from * 8, size * 8}, Spot: spot(n, o.Field, -1)})
	}
	if n < len(d.r.Nodes) {
		d.r.Nodes[n].Bad = bad
	}
	return o.offset != noIndex
}

// terminator returns the end of text: the byte after its zero unit, or after the given byte that ends it, or after the last complete unit if there is none.
func terminator(data []byte, from, have, unit uint32, last byte) (end uint32, found bool) {
	if unit == 1 {
		if i := bytes.IndexByte(data[from:have], last); i >= 0 {
			return from + uint32(i) + 1, true
		}
		return have, false
	}
	s := data[from:have]
	for i := 0; i+1 < len(s); i += 2 {
		if s[i]|s[i+1] == 0 {
			return from + uint32(i) + 2, true
		}
	}
	return from + uint32(len(s))&^1, false
}

// run reads text or bytes of known size.
func (d *decoder) run(o *Op, pc uint16, kind NodeKind) bool {
	n, toEnd := d.units(o)
	if o.reg != noIndex {
		d.r.regs[o.reg] = 0
	}
	if o.null && d.r.regs[o.count] == math.MaxUint64 {
		d.node(Node{Off: d.cur, Op: pc, Kind: NodeNull})
		return true
	}
	if o.Size == schema.Computed && int64(d.r.regs[o.count]) < 0 {
		d.negative(Range{d.cur, 0}, o.Field, -d.r.regs[o.count])
		return false
	}
	if n == 0 && !toEnd && o.offset != noIndex {
		v := d.r.regs[o.offset] // nothing is read: any offset is valid
		d.node(Node{Off: d.clip(v*8, v*8).Off, Op: pc, Kind: kind})
		return true
	}
	from, ok, next := d.start(o, pc, kind)
	if !ok {
		return next
	}
	if toEnd {
		n = uint64(d.have-min(from, d.have)) / uint64(o.Unit)
	}
	size := n * uint64(o.Unit) // counts have at most 32 bits
	to := uint64(from) + size
	if to <= uint64(d.have) {
		if !d.charge(size) {
			return false
		}
		if o.trim {
			n = trimmed(d.data[from:to], o.pad)
			size = n
		}
		d.node(Node{Raw: n, Off: from * 8, Len: uint32(to)*8 - from*8, Op: pc, Kind: kind})
		d.end = max(d.end, uint32(to))
		if o.reg != noIndex {
			d.r.regs[o.reg] = uint64(from)<<32 | size
		}
		if o.offset == noIndex {
			d.cur = uint32(to) * 8
		}
		return true
	}
	there := uint64(d.have-from) / uint64(o.Unit)
	if !d.charge(there) {
		return false
	}
	i := d.node(Node{Raw: there, Off: from * 8, Len: uint32(there) * uint32(o.Unit) * 8, Op: pc, Kind: kind})
	bad := d.over(ContentsOutside, uint64(from)*8, to*8, o.Field, i)
	if i < len(d.r.Nodes) {
		d.r.Nodes[i].Bad = bad
	}
	return o.offset != noIndex
}

func (d *decoder) list(o *Op, pc uint16) bool {
	n, toEnd := d.units(o)
	if o.Linked {
		return d.chain(o, pc, n)
	}
	if n == 0 && !toEnd && o.offset != noIndex {
		v := d.r.regs[o.offset]
		d.node(Node{Off: d.clip(v*8, v*8).Off, Op: pc, Kind: NodeList})
		return true
	}
	switch {
	case o.Size >= schema.Until:
		return d.until(o, pc)
	case o.null && d.r.regs[o.count] == math.MaxUint64:
		d.node(Node{Off: d.cur, Op: pc, Kind: NodeNull})
		return true
	case o.Size == schema.Computed && int64(d.r.regs[o.count]) < 0:
		d.negative(Range{d.cur, 0}, o.Field, -d.r.regs[o.count])
		return false
	}
	from, ok, next := d.start(o, pc, NodeList)
	if !ok {
		return next
	}
	saved := d.cur
	d.cur = from * 8
	if o.Plain && d.p.Blocks[o.Block].Bits%8 == 0 {
		ok = d.plainRun(o, pc, n, toEnd)
	} else {
		ok = d.elements(o, pc, n, toEnd)
	}
	d.end = max(d.end, d.cur/8)
	if o.offset != noIndex {
		d.cur = saved
		return !d.stop
	}
	return ok
}

// plainRun reads adjacent elements of equal size into one node.
func (d *decoder) plainRun(o *Op, pc uint16, n uint64, toEnd bool) bool {
	stride := uint64(o.Stride)
	room := uint64(d.have)*8 - min(uint64(d.cur), uint64(d.have)*8)
	if toEnd {
		if stride == 0 { // no number of elements would reach the end
			n, room = 0, 0
		} else {
			n = room / stride
		}
		if stride > 0 && room%stride != 0 { // a partial element
			d.over(PastFrame, uint64(d.cur)+n*stride, uint64(d.cur)+(n+1)*stride, o.Field, len(d.r.Nodes))
		}
	}
	there := n
	if stride > 0 && n > room/stride {
		there = room / stride
	}
	// An element is charged at least one byte, even if it occupies none.
	if !d.charge(there * uint64(max(d.p.Blocks[o.Block].cost, 1))) {
		return false
	}
	at := d.cur
	i := d.listNode(o, Node{Raw: there, Off: at, Len: uint32(there * stride), Op: pc, Kind: NodeList})
	d.cur += uint32(there * stride)
	if b := &d.p.Blocks[o.Block]; len(b.Checks) > 0 {
		for k := uint64(0); k < there && !(d.measured && d.r.Illegal); k++ {
			d.checks(b, at+uint32(k*stride), i, int(k))
		}
	}
	if there < n {
		bad := d.over(ContentsOutside, uint64(at), uint64(at)+n*stride, o.Field, i)
		if i < len(d.r.Nodes) {
			d.r.Nodes[i].Bad = bad
		}
		return false
	}
	return !d.measured || !d.r.Illegal
}

// elements reads consecutive elements of different sizes.
func (d *decoder) elements(o *Op, pc uint16, n uint64, toEnd bool) bool {
	list := d.listNode(o, Node{Off: d.cur, Op: pc, Kind: NodeList})
	ok := true
	count := uint64(0)
	for ok && (toEnd && d.cur < d.have*8 || !toEnd && count < n) {
		if !d.charge(1) {
			break
		}
		at := d.cur
		i := d.node(Node{Off: at, Op: pc, Kind: NodeElem})
		if d.stop {
			break
		}
		d.number(o, list, count)
		count++
		ok = d.body(pc+1, o.End)
		e := &d.r.Nodes[i]
		e.Len, e.After = d.cur-at, uint32(len(d.r.Nodes))
		if toEnd && d.cur == at {
			break // elements without bytes would never end
		}
	}
	if list < len(d.r.Nodes) {
		l := &d.r.Nodes[list]
		l.Raw, l.Len, l.After = count, d.cur-l.Off, uint32(len(d.r.Nodes))
	}
	return ok && !d.stop
}

// chain reads elements that contain the offset of the next one. Senders may write them in any order; a cycle is an error.
func (d *decoder) chain(o *Op, pc uint16, n uint64) bool {
	list := d.node(Node{Op: pc, Kind: NodeList})
	if n == 0 || d.stop {
		return !d.stop
	}
	saved := d.cur
	next := d.r.regs[o.offset]
	d.r.Nodes[list].Off = d.clip(next*8, next*8).Off
	var bad ProblemCode
	count, highest := uint64(0), uint64(0)
	for count < n {
		back := NoProblem
		if count > 0 {
			if back = link(next, highest); back == ChainTooShort {
				bad = back
				d.illegal(Problem{Code: bad, Range: d.lastNext(o, list), Spot: spot(list, o.Field, -1), Got: count, Want: n})
				break
			}
		}
		if code := d.p.Place(next, uint64(d.have), uint64(d.limit)); code != NoProblem {
			bad = d.strayElement(o, list, code, count, next)
			break
		}
		if back == ChainCycle && d.seen(list, uint32(next)*8) {
			if !d.stop {
				bad = back
				d.illegal(Problem{Code: bad, Range: d.lastNext(o, list), Spot: spot(list, o.Field, -1), Got: next, Want: n})
			}
			break
		}
		highest = max(highest, next)
		var whole bool
		next, whole = d.element(o, pc, uint32(next)*8)
		if d.stop {
			break
		}
		count++
		if !whole {
			bad = d.r.Nodes[len(d.r.Nodes)-1].Bad
			break
		}
	}
	l := &d.r.Nodes[list]
	l.Raw, l.After, l.Bad = count, uint32(len(d.r.Nodes)), bad
	if count > 0 {
		last := &d.r.Nodes[len(d.r.Nodes)-1]
		l.Len = max(l.Len, last.Off+last.Len-min(l.Off, last.Off+last.Len))
	}
	d.cur = saved
	return !d.stop
}

// strayElement reports a chain that points out of the message.
func (d *decoder) strayElement(o *Op, list int, code ProblemCode, count, next uint64) ProblemCode {
	if code == Truncated {
		d.short(d.have*8, uint32(min(next, MaxMessage)))
		return code
	}
	if count == 0 {
		d.stray(code, d.offsetRange(o), spot(list, o.Field, -1), next)
	} else {
		d.stray(code, d.lastNext(o, list), spot(list, o.Field, int32(count)), next)
	}
	return code
}

// element reads one element of a chain. whole is false if the offset of the next one is missing.
func (d *decoder) element(o *Op, pc uint16, at uint32) (next uint64, whole bool) {
	i := len(d.r.Nodes)
	if o.Plain {
		b := &d.p.Blocks[o.Block]
		end := uint64(at) + uint64(b.Bits)
		if end > uint64(d.have)*8 {
			i = d.node(Node{Off: at, Len: d.clip(uint64(at), end).Len, Op: pc, Kind: NodeElem})
			bad := d.over(PastFrame, uint64(at), end, o.Field, i)
			if i < len(d.r.Nodes) {
				d.r.Nodes[i].Bad = bad
			}
			return 0, false
		}
		if !d.charge(uint64(b.cost)) {
			return 0, false
		}
		d.node(Node{Off: at, Len: b.Bits, Op: pc, Kind: NodeElem})
		d.end = max(d.end, uint32(end/8))
		if len(b.Checks) > 0 {
			d.checks(b, at, i, -1)
		}
		return o.nextAt.load(d.data, at), true
	}
	if i = d.node(Node{Off: at, Op: pc, Kind: NodeElem}); d.stop {
		return 0, false
	}
	if !d.charge(4) {
		return 0, false
	}
	d.cur = at
	ok := d.body(pc+1, o.End)
	e := &d.r.Nodes[i]
	e.After = uint32(len(d.r.Nodes))
	if len(d.r.Nodes) > i+1 {
		e.Len = d.r.Nodes[i+1].Len // its fixed part; contents have ranges of their own
		e.Bad = d.r.Nodes[i+1].Bad
	}
	if !ok && e.Bad != 0 {
		return 0, false
	}
	return o.nextAt.load(d.data, at), true
}

// seen reports whether the list already has an element at this position. It is called only when a chain goes backwards, and its cost is
// deducted from the budget.
func (d *decoder) seen(list int, at uint32) bool {
	for i := list + 1; i < len(d.r.Nodes); i = int(d.r.Nodes[i].After) {
		if d.bytes--; d.bytes < 0 {
			d.exhausted()
			return true
		}
		if d.r.Nodes[i].Off == at {
			return true
		}
	}
	return false
}

// lastNext returns the range of the newest element's next offset.
func (d *decoder) lastNext(o *Op, list int) Range {
	last := -1
	for i := list + 1; i < len(d.r.Nodes); i = int(d.r.Nodes[i].After) {
		last = i
	}
	if last < 0 {
		return Range{}
	}
	return Range{d.r.Nodes[last].Off + o.nextAt.off, uint32(o.nextAt.bits)}
}

// variant reads the selected alternative.
func (d *decoder) variant(pc uint16) bool {
	v := d.node(Node{Off: d.cur, Op: pc, Kind: NodeVariant, Raw: math.MaxUint64})
	if d.stop {
		return false
	}
	c, k, ok := d.p.alternative(pc, d.r.regs, uint32(len(d.data)), d.data)
	d.p.Clear(pc, d.r.regs)
	if !ok {
		return true
	}
	d.r.Nodes[v].Raw = k
	ok = d.body(c+1, d.p.Ops[c].End)
	n := &d.r.Nodes[v]
	n.Len, n.After = d.cur-n.Off, uint32(len(d.r.Nodes))
	return ok
}
