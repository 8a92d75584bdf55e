package codec

import (
	"math"

	"wirebench/defs/schema"
)

// maxCalls limits the nesting of groups in themselves. Deeper messages are too complex.
const maxCalls = 512

// varint reads a number in a variable number of bytes.
func (d *decoder) varint(o *Op, pc uint16) bool {
	it := &d.p.Blocks[o.Block].Items[0]
	at := d.cur / 8
	var raw uint64
	n := 1
	if at < d.have && d.data[at] < 0x80 && it.Var != schema.ZigZag && it.Var != schema.SLEB128 {
		raw = uint64(d.data[at])
	} else {
		raw, n = ReadVarint(d.data[at:d.have], it.Var, it.Bits)
	}
	if n <= 0 {
		return d.badVarint(o, pc, it, n)
	}
	i := d.node(Node{Raw: raw, Off: d.cur, Len: uint32(n) * 8, Op: pc, Kind: NodeVar})
	if d.bytes -= n; d.bytes < 0 {
		d.exhausted()
	}
	if d.stop {
		return false
	}
	d.cur += uint32(n) * 8
	d.end = max(d.end, d.cur/8)
	if it.Role == RoleCode {
		d.r.Code = uint32(raw)
	}
	if it.Role == RoleTag && raw != uint64(it.Tag) {
		d.wrongTag(i, raw, it.Tag)
	}
	if it.Num != nil && (it.Num.Min != nil || it.Num.Max != nil) && it.Role == RoleValue && !it.Num.Legal(raw) {
		d.illegal(Problem{Code: ValueOutOfRange, Range: d.r.Nodes[i].Range(), Spot: spot(i, it.Field, -1), Got: raw})
	}
	if o.reg != noIndex && it.Form != FormBitfield && it.High(d.data, d.r.Nodes[i].Range()) > 0 {
		d.illegal(Problem{Code: NumberTooLong, Range: d.r.Nodes[i].Range(), Spot: spot(i, it.Field, -1), Got: uint64(n), Want: 64})
		d.stop = true
	}
	if o.reg != noIndex {
		d.loadVarint(&d.p.Blocks[o.Block].Loads[0], raw, d.r.Nodes[i].Range())
	}
	return !d.stop && (!d.measured || !d.r.Illegal)
}

// loadVarint sets the register of a number in a variable number of bytes, and judges a count.
func (d *decoder) loadVarint(l *Load, raw uint64, at Range) {
	if l.num != nil && !d.signedUnits(l, &raw, at) {
		return
	}
	d.r.regs[l.Reg] = raw
	if !l.unit {
		return
	}
	code, want := Judge(raw, l.minUnits, l.maxUnits), l.minUnits
	switch {
	case code == CountAbove:
		want = l.maxUnits
	case code == NoProblem && d.measured:
		if d.size = min(d.size+min(raw-l.minUnits, math.MaxUint32)*l.minElem, math.MaxUint32); d.size > uint64(d.have) {
			d.short(d.have*8, uint32(min(d.size, MaxMessage)))
		}
	}
	if code != NoProblem {
		d.illegal(Problem{Code: code, Range: at, Spot: spot(len(d.r.Nodes)-1, l.field, -1), Got: raw, Want: want})
	}
}

// signedUnits turns the bits of a count or a size, which has a number of its own, into units. It returns false for a negative one, which
// it reports unless it means that there are no contents.
func (d *decoder) signedUnits(l *Load, raw *uint64, at Range) bool {
	units := l.num.Units(*raw)
	*raw = uint64(units)
	d.r.regs[l.Reg] = *raw
	if units < 0 && !(l.null && units == -1) {
		d.negative(at, l.field, -*raw)
	}
	return units >= 0
}

// align reads padding. If the message ends inside it, the message is incomplete.
func (d *decoder) align(o *Op, pc uint16) bool {
	at := (d.cur + 7) / 8
	size := (o.N - (at-d.base)%o.N) % o.N
	i := d.node(Node{Off: at * 8, Len: min(size, d.have-min(at, d.have)) * 8, Op: pc, Kind: NodeAlign})
	if at+size > d.have {
		bad := d.over(PastFrame, uint64(at)*8, uint64(at+size)*8, noIndex, i)
		if i < len(d.r.Nodes) {
			d.r.Nodes[i].Bad = bad
		}
		return false
	}
	d.cur = (at + size) * 8
	d.end = max(d.end, at+size)
	return !d.stop
}

// badVarint adds the node of a number that is cut off (n is 0) or too long.
func (d *decoder) badVarint(o *Op, pc uint16, it *Item, n int) bool {
	if o.reg != noIndex {
		d.r.regs[o.reg] = 0
	}
	from := uint64(d.cur)
	if n == 0 {
		i := d.node(Node{Off: d.cur, Len: d.have*8 - min(d.cur, d.have*8), Op: pc, Kind: NodeVar})
		bad := d.over(PastFrame, from, uint64(d.have)*8+8, it.Field, i)
		if i < len(d.r.Nodes) {
			d.r.Nodes[i].Bad = bad
		}
		return false
	}
	size, want := uint32(it.Var.MaxBytes(int(it.Bits)))*8, uint64(it.Bits)
	if it.Var == schema.Long {
		want = 128
	}
	i := d.node(Node{Off: d.cur, Len: size, Op: pc, Kind: NodeVar, Bad: NumberTooLong})
	d.illegal(Problem{Code: NumberTooLong, Range: Range{d.cur, size}, Spot: spot(i, it.Field, -1), Got: uint64(size / 8), Want: want})
	return false
}

// negative reports a count or a size below 0, and stops.
func (d *decoder) negative(at Range, field uint16, below uint64) {
	d.illegal(Problem{Code: CountNegative, Range: at, Spot: spot(len(d.r.Nodes)-1, field, -1), Got: below})
	d.stop = true
}

// group reads a group with a body of its own: that of the op at body, for the op at pc.
func (d *decoder) group(o *Op, pc, body uint16) bool {
	if o.NullSize && d.r.regs[o.size] == o.nullSize {
		d.node(Node{Off: d.cur, Op: pc, Kind: NodeNull})
		return !d.stop
	}
	if o.at != noIndex {
		return d.placed(o, pc)
	}
	g := d.node(Node{Off: d.cur, Op: pc, Kind: NodeGroup})
	if d.stop {
		return false
	}
	return d.inGroup(o, g, body)
}

// inGroup reads the contents of a group, whose node is given.
func (d *decoder) inGroup(o *Op, g int, body uint16) (ok bool) {
	switch {
	case o.window && int64(d.r.regs[o.size]) < 0:
		d.negative(Range{d.cur, 0}, o.Field, -d.r.regs[o.size])
	case o.packing != schema.Unpacked:
		ok = d.unpack(o, g)
	case o.size == noIndex:
		ok = d.body(body+1, d.p.Ops[body].End)
	default:
		ok = d.sized(o, g)
	}
	if g < len(d.r.Nodes) {
		n := &d.r.Nodes[g]
		n.Len, n.After = d.cur-n.Off, uint32(len(d.r.Nodes))
	}
	return ok && !d.stop
}

// bounds sets the registers of the bytes at which the contents of a group begin and end.
func (d *decoder) bounds(o *Op, from, to uint32) {
	if o.begin != noIndex {
		d.r.regs[o.begin], d.r.regs[o.stop] = uint64(from), uint64(to)
	}
	d.from = from
}

// sized reads a group of a known number of bytes. Bytes after its contents are unexplained.
func (d *decoder) sized(o *Op, node int) bool {
	from, size := uint64(d.cur/8), d.r.regs[o.size]
	to := from + min(size, math.MaxUint32)
	have, limit := d.have, d.limit
	if to > uint64(have) {
		bad := d.over(ContentsOutside, from*8, to*8, o.Field, node)
		if node < len(d.r.Nodes) {
			d.r.Nodes[node].Bad = bad
		}
		d.bounds(o, uint32(from), d.have)
		d.body(d.r.Nodes[node].Op+1, o.End)
		return false
	}
	around := d.from
	defer func() { d.from = around }()
	d.bounds(o, uint32(from), uint32(to))
	if d.inside == 0 {
		d.whole, d.most = have, limit
	}
	d.have, d.limit = uint32(to), uint32(to)
	d.inside++
	d.body(d.r.Nodes[node].Op+1, o.End)
	d.inside--
	d.have, d.limit = have, limit
	d.cur, d.end = uint32(to)*8, max(d.end, uint32(to))
	return !d.stop
}

// placed reads a group whose contents begin at a computed byte of the message. The cursor stays where it is, and the parts after the group
// are read even if its contents cannot be.
func (d *decoder) placed(o *Op, pc uint16) bool {
	cur, have, limit, inside, end, around := d.cur, d.have, d.limit, d.inside, d.end, d.from
	switch {
	case o.in != noIndex:
		d.have, d.inside = uint32(min(d.r.regs[o.inEnd], uint64(len(d.data)))), 1
		d.limit, d.from = d.have, uint32(d.r.regs[o.in])
	case o.inner:
	case inside > 0:
		d.have, d.limit, d.inside, d.from = d.whole, d.most, 0, 0
	}
	at := d.r.regs[o.at]
	code := d.p.Place(at, uint64(d.have), uint64(d.limit))
	from := min(at, MaxMessage) * 8
	g := d.node(Node{Raw: at, Off: d.clip(from, from).Off, Op: pc, Kind: NodeGroup, Bad: code})
	switch {
	case d.stop:
	case code == Truncated:
		d.short(d.have*8, uint32(min(at, MaxMessage)))
	case code != NoProblem:
		d.stray(code, d.clip(uint64(cur), uint64(cur)), spot(g, o.Field, -1), at)
	default:
		d.cur = uint32(from)
		d.inGroup(o, g, pc)
	}
	d.cur, d.have, d.limit, d.inside, d.from = cur, have, limit, inside, around
	if o.in != noIndex {
		d.end = end // the contents are in bytes that are read already
	}
	return !d.stop
}

// listNode adds the node of a list, and sets the register that has it.
func (d *decoder) listNode(o *Op, n Node) (node int) {
	if node = d.node(n); o.node != noIndex {
		d.r.regs[o.node] = uint64(node)
	}
	return node
}

// number notes which element of a list is read, of those that expressions depend on.
func (d *decoder) number(o *Op, list int, count uint64) {
	if o.index != noIndex {
		d.r.regs[o.index] = count
	}
	if o.node != noIndex {
		d.r.Nodes[list].Raw = count // so far
	}
}

// let sets the register of a computed value.
func (d *decoder) let(o *Op) {
	if o.expr.Plain() {
		d.r.regs[o.reg] = uint64(eval(o.expr, d.r.regs))
		return
	}
	v := d.values()
	if o.expr.Kind() == schema.TextExpr {
		text := v.Text(o.expr)
		d.r.regs[o.reg] = d.keep(&v, text, NoNode, 0)
		return
	}
	d.r.regs[o.reg] = uint64(v.Int(o.expr))
	if d.p.Begins(o.reg) {
		d.from = d.cur / 8
	}
	d.charge(uint64(v.Cost))
}

func (d *decoder) values() Values {
	return Values{Program: d.p, Regs: d.r.regs, Data: d.data, Nodes: d.r.Nodes, At: (d.cur + 7) / 8, From: uint64(d.from), To: uint64(min(d.limit, d.have))}
}

// show adds the node of a computed number.
func (d *decoder) show(o *Op, pc uint16) {
	v := d.values()
	raw := d.p.Show(o, &v)
	i := d.node(Node{Raw: raw, Off: d.cur, Op: pc, Kind: NodeVar})
	d.charge(uint64(v.Cost))
	if n := d.p.Var(o).Num; (n.Min != nil || n.Max != nil) && !n.Legal(raw) {
		d.illegal(Problem{Code: ValueOutOfRange, Range: Range{d.cur, 0}, Spot: spot(i, o.Field, -1), Got: raw})
	}
}

// made adds the node of a computed text or of computed bytes, which are behind the message.
func (d *decoder) made(o *Op, pc uint16) bool {
	v := d.values()
	text := v.Text(o.expr)
	n := d.node(Node{Op: pc, Kind: o.kind})
	if d.stop {
		return false
	}
	ref := d.keep(&v, text, uint32(n), d.cur)
	if o.reg != noIndex {
		d.r.regs[o.reg] = ref
	}
	x := &d.r.Nodes[n]
	x.Off, x.Len, x.Raw = uint32(ref>>32)*8, uint32(ref)*8, uint64(uint32(ref))
	return !d.stop
}

// NoNode is the node of a Pack that has a text which no node shows.
const NoNode = math.MaxUint32

// keep appends a computed text to the data of the record, behind the message, and returns its reference.
func (d *decoder) keep(v *Values, text []byte, node, at uint32) (ref uint64) {
	r := d.r
	if !d.charge(uint64(v.Cost + len(text) + 16)) {
		return 0
	}
	if len(r.Packs) == 0 {
		r.plain = append(r.plain[:0], r.Data...)
	}
	from := len(r.plain)
	if len(r.Packs) > 0 && from+len(text)-int(r.Packs[0].From) > maxUnpacked {
		d.exhausted()
		return 0
	}
	r.plain = append(r.plain, text...)
	r.Packs = append(r.Packs, Pack{Node: node, From: uint32(from), To: uint32(from + len(text)), Sent: Range{at, 0}})
	r.Data, d.data = r.plain, r.plain
	return uint64(from)<<32 | uint64(len(text))
}

// call reads the body of an enclosing group again.
func (d *decoder) call(o *Op, pc uint16) bool {
	if d.depth++; d.depth > maxCalls {
		d.exhausted()
		return false
	}
	regs := d.p.calls[o.Group]
	mark := len(d.r.saved)
	for _, r := range regs {
		d.r.saved = append(d.r.saved, d.r.regs[r])
	}
	ok := d.group(o, pc, o.Group)
	for i, r := range regs {
		d.r.regs[r] = d.r.saved[mark+i]
	}
	d.r.saved = d.r.saved[:mark]
	d.depth--
	return ok
}

// until reads elements up to a byte that ends the list, or to an element that states that it is the last one or meets a condition.
func (d *decoder) until(o *Op, pc uint16) bool {
	list := d.listNode(o, Node{Off: d.cur, Op: pc, Kind: NodeList})
	ok, count, ended := true, uint64(0), false
	for ok && !ended && !d.stop {
		at := d.cur
		if o.Size == schema.Until {
			if at >= d.have*8 {
				bad := d.over(PastFrame, uint64(at), uint64(at)+8, o.Field, list)
				if list < len(d.r.Nodes) {
					d.r.Nodes[list].Bad = bad
				}
				ok = false
				break
			}
			if d.data[at/8] == o.End0 {
				ended = true
				break
			}
		}
		if !d.charge(1) {
			break
		}
		i := d.node(Node{Off: at, Op: pc, Kind: NodeElem})
		if d.stop {
			break
		}
		d.number(o, list, count)
		count++
		ok = d.body(pc+1, o.End)
		e := &d.r.Nodes[i]
		e.Len, e.After = d.cur-at, uint32(len(d.r.Nodes))
		if ok && o.Size == schema.While {
			ended = o.more.load(d.data, at) == 0
		}
		if ok && o.Size == schema.Ending {
			ended = d.r.regs[o.ended] != 0
		}
	}
	if list < len(d.r.Nodes) {
		l := &d.r.Nodes[list]
		l.Raw, l.Len, l.After = count, d.cur-l.Off, uint32(len(d.r.Nodes))
	}
	if ended && o.Size == schema.Until {
		d.node(Node{Raw: uint64(o.End0), Off: d.cur, Len: 8, Op: pc, Kind: NodeEnd})
		d.cur += 8
		d.end = max(d.end, d.cur/8)
	}
	return ok && !d.stop
}
