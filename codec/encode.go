package codec

import (
	"fmt"
	"math"

	"wirebench/defs/schema"
)

// Encode lays src out anew, without gaps other than those that positions and computed sizes require: dst ends up as Decode of the bytes would set it, which are dst.Message(). src is a record that Decode
// read without error, or that ParseJSON produced; its program must be p. The key is src.Code; counter and checksum come from src.Session. The
// bytes are in memory owned by dst and are overwritten by the next Encode into dst. Compressed contents that have not changed keep their bytes.
func (p *Program) Encode(dst, src *Record) error {
	if src.Program != p {
		return fmt.Errorf("encode %s: the record is of another definition", p.Message.Name)
	}
	if src.Short || src.Illegal {
		return fmt.Errorf("encode %s: the record has errors", p.Message.Name)
	}
	if err := p.Resolved(); err != nil {
		return err
	}
	if p.Simple && p.quickEncode(dst, src) {
		return nil
	}
	return p.encode(dst, src, false, nil)
}

// encodeOver is Encode for a record whose values come from a message.
func (p *Program) encodeOver(dst, src *Record, over *overlay) error {
	if err := p.Resolved(); err != nil {
		return err
	}
	return p.encode(dst, src, false, over)
}

// EncodeClose is Encode for values whose positions may change: contents at positions follow all others without gaps. Another position is a
// *PositionError.
func (p *Program) EncodeClose(dst, src *Record) error {
	if err := p.Resolved(); err != nil {
		return err
	}
	return p.encode(dst, src, true, nil)
}

// encode lays out any record, and returns the error.
func (p *Program) encode(dst, src *Record, closely bool, over *overlay) error {
	dst.Reset(p)
	dst.Code, dst.Session = src.Code, src.Session
	e := encoder{p: p, src: src, close: closely, over: over, dst: dst, out: dst.own[:0], offsetAt: dst.fixups}
	if cap(e.offsetAt) < p.regs {
		e.offsetAt = make([]uint32, p.regs)
		dst.fixups = e.offsetAt
	}
	e.offsetAt, dst.saved, dst.placed = e.offsetAt[:p.regs], dst.saved[:0], dst.placed[:0]
	dst.voids, dst.owned, dst.clashes = dst.voids[:0], dst.owned[:0], dst.clashes[:0]
	e.ended, e.last = -1, len(src.Nodes)
	last := uint16(len(p.Ops))
	if p.tail > 0 {
		last--
	}
	e.body(0, last)
	if len(dst.placed) > 0 {
		e.placeAll()
	}
	e.checkEnd()
	dst.laid = len(e.out)
	e.body(last, uint16(len(p.Ops)))
	dst.own = e.out
	dst.Data = e.out
	if e.err != nil {
		dst.Nodes = dst.Nodes[:0]
		return fmt.Errorf("encode %s: %w", p.Message.Name, e.err)
	}
	if err := p.seal(dst); err != nil {
		dst.Nodes = dst.Nodes[:0]
		return fmt.Errorf("encode %s: %w", p.Message.Name, err)
	}
	dst.Used = len(e.out)
	if !p.reread {
		return nil
	}
	if err := p.again(dst); err != nil {
		dst.Nodes = dst.Nodes[:0]
		return fmt.Errorf("encode %s: %w", p.Message.Name, err)
	}
	return nil
}

func (p *Program) Resolved() error {
	if len(p.Unresolved) > 0 {
		return fmt.Errorf("encode %s: unresolved constant %s", p.Message.Name, p.Unresolved[0])
	}
	return nil
}

// seal writes the fields that depend on the complete frame.
func (p *Program) seal(r *Record) error {
	if len(r.Data) > MaxMessage {
		return fmt.Errorf("the message is longer than %d bytes", MaxMessage)
	}
	if p.length.bits != 0 {
		if !p.length.fits(uint64(len(r.Data))) {
			return fmt.Errorf("the message is %d bytes long, its length field holds at most %d", len(r.Data), uint64(1)<<p.length.bits-1)
		}
		p.length.store(r.Data, 0, uint64(len(r.Data)))
	}
	if p.key.bits != 0 {
		if !p.key.fits(uint64(r.Code)) {
			return fmt.Errorf("the code %d does not fit %d bits", r.Code, p.key.bits)
		}
		p.key.store(r.Data, 0, uint64(r.Code))
	}
	if p.counter.bits != 0 {
		p.counter.store(r.Data, 0, uint64(r.Session.Counter))
	}
	if p.check.bits != 0 && p.sum != nil {
		p.check.store(r.Data, 0, uint64(p.sum(r.Data, r.Session.Key)))
	}
	if p.Message.Seal != nil {
		p.Message.Seal(r.Data)
	}
	return nil
}

type encoder struct {
	p        *Program
	src, dst *Record
	out      []byte
	next     int      // next source node
	last     int      // the first source node after the innermost group around
	offsetAt []uint32 // by register: position of its number in out, in bits
	ended    int      // len(out) at the first part that must end the message, -1 before
	endedBy  uint16   // op of that part
	depth    int      // of groups
	inside   int      // depth of groups with a size or compressed, at whose ends contents may end
	base     uint32   // byte at which the message begins, or the contents of a compressed group
	close    bool     // see EncodeClose
	over     *overlay // of EncodeOver, otherwise nil
	err      error
}

// end records that nothing may follow: the contents extend to the end of the message, or parts are missing because it ends before them.
func (e *encoder) end(pc uint16) {
	if e.ended < 0 {
		e.ended, e.endedBy = len(e.out), pc
	}
}

// checkEnd rejects a message that would decode differently because of its length.
func (e *encoder) checkEnd() {
	if e.err == nil && e.ended >= 0 && len(e.out) > e.ended {
		e.fail("%s extends to the end of the message, or is missing because the message ends before it; %d bytes follow",
			e.name(e.endedBy), len(e.out)-e.ended)
	}
	if e.err != nil || !e.p.byLength {
		return
	}
	for i := range e.dst.Nodes {
		if n := &e.dst.Nodes[i]; n.Kind == NodeVariant && !e.p.lengthFits(n, uint32(len(e.out))) {
			e.fail("the message has %d bytes, for which no alternative of the definition has these fields", len(e.out))
			return
		}
	}
}

// name returns the path of an op's field, for error messages.
func (e *encoder) name(pc uint16) string {
	o := &e.p.Ops[pc]
	field := o.Field
	if o.Code == OpBlock {
		for _, it := range e.p.Blocks[o.Block].Items {
			field = min(field, it.Field)
		}
	}
	return string(e.p.AppendFieldPath(nil, field))
}

// taken returns the path of the source node taken last, of an op's field.
func (e *encoder) taken(o *Op) []byte { return e.src.AppendPath(nil, o.Field, int32(e.next)-1, -1) }

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

func (e *encoder) node(n Node) int {
	n.After = uint32(len(e.dst.Nodes) + 1)
	e.dst.Nodes = append(e.dst.Nodes, n)
	return len(e.dst.Nodes) - 1
}

// take returns the next source node if it belongs to the op.
func (e *encoder) take(pc uint16) (*Node, bool) {
	if e.next < len(e.src.Nodes) {
		if n := &e.src.Nodes[e.next]; n.Op == pc {
			e.next++
			return n, true
		}
	}
	return nil, false
}

// body lays out the ops from pc to end once.
func (e *encoder) body(pc, end uint16) {
	for pc < end && e.err == nil {
		o := &e.p.Ops[pc]
		if o.Code == OpWeave {
			e.weave(o, pc)
			pc = o.End
			continue
		}
		if o.Code == OpTagged {
			e.tagged(o, pc)
			pc = o.End
			continue
		}
		if o.Code == OpLet {
			pc++
			continue
		}
		if o.null && e.isNull(pc) {
			e.node(Node{Off: uint32(len(e.out)) * 8, Op: pc, Kind: NodeNull})
			e.number(o.count, math.MaxUint64)
			pc = o.End
			continue
		}
		if o.NullSize && e.isNull(pc) {
			e.node(Node{Off: uint32(len(e.out)) * 8, Op: pc, Kind: NodeNull})
			e.number(o.size, o.nullSize)
			pc = o.End
			continue
		}
		n, ok := e.take(pc)
		if !ok {
			if o.Optional {
				e.end(pc)
			} else {
				e.fail("the record is incomplete")
			}
			return
		}
		nodes, size, later := len(e.dst.Nodes), len(e.out), len(e.dst.placed)
		switch o.Code {
		case OpBlock:
			e.block(o, pc, n)
		case OpText, OpBlob:
			if o.expr == nil {
				e.text(o, pc, n)
			} else {
				e.node(Node{Raw: n.Raw, Off: uint32(len(e.out)) * 8, Op: pc, Kind: o.kind})
			}
		case OpList:
			e.list(o, pc, n)
		case OpVariant:
			e.variant(pc, n)
		case OpVar:
			e.varint(o, pc, n)
		case OpGroup, OpCall:
			e.group(o, pc)
		case OpAlign:
			e.align(o, pc)
		case OpShown:
			e.node(Node{Raw: n.Raw, Off: uint32(len(e.out)) * 8, Op: pc, Kind: NodeVar})
		case OpWeave, OpCase, OpLet, OpTagged: // they have no node
		}
		if o.Size == schema.ToEnd && e.inside == 0 {
			e.end(pc)
		}
		if o.Optional && len(e.out) == size { // an optional part without bytes decodes as missing
			if len(e.dst.placed) > later {
				e.fail("%s has contents at another position, but no bytes of its own that show that it is present", e.name(pc))
				return
			}
			e.dst.Nodes = e.dst.Nodes[:nodes]
			e.end(pc)
		}
		pc = o.End
	}
}

// block copies the fields and records the positions of its offsets and counts.
func (e *encoder) block(o *Op, pc uint16, n *Node) {
	b := &e.p.Blocks[o.Block]
	at := uint32(len(e.out)) * 8
	e.node(Node{Off: at, Len: b.Bits, Op: pc, Kind: NodeBlock})
	e.out = append(e.out, e.src.Data[n.Off/8:(n.Off+b.Bits)/8]...)
	if was, base, ok := e.over.of(e.next - 1); ok && base.Len == b.Bits && base.Bad == NoProblem {
		from := e.over.base.Data[base.Off/8 : base.Range().End()/8]
		copy(e.out[at/8:], from)
		mergeBlock(b, e.out, at, e.src.Data, n.Off, e.over.same.Data, was.Off)
	}
	for i := range b.Loads {
		if l := &b.Loads[i]; l.kind != RoleValue && l.kind != RolePresent {
			e.offsetAt[l.Reg] = at + l.Off
			StoreBits(e.out, at+l.Off, uint32(l.Bits), l.Order, 0)
		}
	}
}

// place writes the offset and the count of the contents that begin here.
func (e *encoder) place(o *Op, units uint64, null bool) {
	if o.count != noIndex && o.Size == schema.Counted {
		at := e.loadOf(o.count)
		switch {
		case at.bits < 64 && units>>at.bits != 0 && e.p.regNum[o.count] == nil:
			e.fail("%s has %d units, its count holds at most %d", e.taken(o), units, uint64(1)<<at.bits-1)
			return
		case units < o.MinUnits:
			e.fail("%s has %d units, at least %d are needed", e.taken(o), units, o.MinUnits)
			return
		case units > o.MaxUnits:
			e.fail("%s has %d units, at most %d are allowed", e.taken(o), units, o.MaxUnits)
			return
		}
		e.number(o.count, units)
	}
	if o.offset != noIndex && !null {
		at := e.loadOf(o.offset)
		if len(e.out)>>at.bits != 0 {
			e.fail("the message is too long: %s would start at byte %d, its offset holds at most %d", e.taken(o), len(e.out), uint64(1)<<at.bits-1)
			return
		}
		StoreBits(e.out, e.offsetAt[o.offset], uint32(at.bits), at.order, uint64(len(e.out)))
	}
}

// loadOf returns the width and byte order of the number in a register.
func (e *encoder) loadOf(reg uint16) *place { return &e.p.regAt[reg] }

func (e *encoder) content(o *Op, pc uint16, n *Node, kind NodeKind, bytes []byte) int {
	at := uint32(len(e.out)) * 8
	e.out = append(e.out, bytes...)
	return e.node(Node{Raw: n.Raw, Off: at, Len: uint32(len(bytes)) * 8, Op: pc, Kind: kind})
}

func (e *encoder) text(o *Op, pc uint16, n *Node) {
	e.place(o, n.Raw, false)
	if e.err != nil {
		return
	}
	end := n.Off/8 + uint32(n.Raw)*uint32(o.Unit)
	if o.trim {
		end = n.Range().End() / 8
	}
	i := e.content(o, pc, n, o.kind, e.src.Data[n.Off/8:end])
	if o.Size != schema.Terminated || o.trim || o.keep || o.with || o.lax && n.Len == uint32(n.Raw)*uint32(o.Unit)*8 {
		return
	}
	e.out = append(e.out, o.End0)
	if o.Unit == 2 {
		e.out = append(e.out, 0)
	}
	e.dst.Nodes[i].Len += uint32(o.Unit) * 8
}

func (e *encoder) list(o *Op, pc uint16, n *Node) {
	if o.Linked {
		e.place(o, n.Raw, n.Raw == 0)
		e.chain(o, pc, n)
		return
	}
	e.place(o, n.Raw, false)
	if e.err != nil {
		return
	}
	if o.Plain && e.p.Blocks[o.Block].Bits%8 == 0 && n.After == uint32(e.next) {
		at := uint32(len(e.out)) * 8
		e.content(o, pc, n, NodeList, e.src.Data[n.Off/8:(n.Off+n.Len)/8])
		if was, base, ok := e.over.of(e.next - 1); ok && base.Bad == NoProblem && base.Len == was.Len {
			e.over.mergeList(&e.p.Blocks[o.Block], e.out, at, e.src.Data, n, was, base)
		}
		return
	}
	list := e.node(Node{Raw: n.Raw, Off: uint32(len(e.out)) * 8, Op: pc, Kind: NodeList})
	for i := uint64(0); i < n.Raw && e.err == nil; i++ {
		if _, ok := e.take(pc); !ok {
			e.fail("the record is incomplete")
			return
		}
		at := uint32(len(e.out)) * 8
		k := e.node(Node{Off: at, Op: pc, Kind: NodeElem})
		e.body(pc+1, o.End)
		el := &e.dst.Nodes[k]
		at = el.Off // may have moved
		el.Len, el.After = uint32(len(e.out))*8-at, uint32(len(e.dst.Nodes))
		if o.Size == schema.Until && e.err == nil && (uint32(len(e.out))*8 == at || e.out[at/8] == o.End0) {
			e.fail("element %d of %s begins with %d, the end of the list", i, e.taken(o), o.End0)
		}
		if o.Size == schema.While && e.err == nil {
			more := uint64(1)
			if i == n.Raw-1 {
				more = 0
			}
			o.more.store(e.out, at, more)
		}
	}
	l := &e.dst.Nodes[list]
	l.Len, l.After = uint32(len(e.out))*8-l.Off, uint32(len(e.dst.Nodes))
	switch {
	case e.err != nil:
	case (o.Size == schema.While || o.Size == schema.Ending) && n.Raw == 0:
		e.fail("%s is empty, but has at least one element", e.taken(o))
	case o.Size == schema.Until:
		e.endUntil(o, pc)
	}
}

// chain lays out consecutive elements that contain the offset of the next one.
func (e *encoder) chain(o *Op, pc uint16, n *Node) {
	if e.err != nil {
		return
	}
	list := e.node(Node{Raw: n.Raw, Op: pc, Kind: NodeList})
	prev := uint32(0)
	for i := uint64(0); i < n.Raw && e.err == nil; i++ {
		if i == 0 {
			e.dst.Nodes[list].Off = uint32(len(e.out)) * 8
		}
		prev = e.chained(o, pc, prev, i == 0)
	}
	e.endList(list)
}

// endList sets the end of a chained list as Decode does: after the fixed part of its last element.
func (e *encoder) endList(list int) {
	l := &e.dst.Nodes[list]
	l.After = uint32(len(e.dst.Nodes))
	if l.After > uint32(list)+1 {
		last := &e.dst.Nodes[l.After-1]
		l.Len = max(l.Len, last.Off+last.Len-min(l.Off, last.Off+last.Len))
	}
}

// chained lays out one element and links the previous one to it. It returns the element's position in bits.
func (e *encoder) chained(o *Op, pc uint16, prev uint32, first bool) uint32 {
	n, ok := e.take(pc)
	if !ok {
		e.fail("the record is incomplete")
		return 0
	}
	at := uint32(len(e.out)) * 8
	if !o.nextAt.fits(uint64(at / 8)) {
		e.fail("the message is too long: %s would start at byte %d, the offset of the next element holds at most %d",
			e.taken(o), at/8, uint64(1)<<o.nextAt.bits-1)
		return 0
	}
	k := e.node(Node{Off: at, Op: pc, Kind: NodeElem})
	if o.Plain {
		b := &e.p.Blocks[o.Block]
		e.out = append(e.out, e.src.Data[n.Off/8:(n.Off+b.Bits)/8]...)
		e.dst.Nodes[k].Len = b.Bits
	} else {
		e.body(pc+1, o.End)
		if e.err != nil {
			return 0
		}
		el := &e.dst.Nodes[k]
		el.After = uint32(len(e.dst.Nodes))
		if int(el.After) > k+1 {
			el.Len = e.dst.Nodes[k+1].Len
		}
	}
	if o.here.bits != 0 {
		o.here.store(e.out, at, uint64(at/8))
	}
	o.nextAt.store(e.out, at, 0)
	if !first {
		o.nextAt.store(e.out, prev, uint64(at/8))
	}
	return at
}

// thread is one of several lists whose elements are interleaved.
type thread struct {
	pc    uint16
	src   int    // source node of its next element
	count uint64 // number of elements
	prev  uint32 // position of the newest element, in bits
	nodes []Node // numbered from its list node
}

// openThread returns a new thread, reusing memory if possible.
func (e *encoder) openThread() *thread {
	t := &e.dst.threads
	if len(*t) < cap(*t) {
		*t = (*t)[:len(*t)+1]
	} else {
		*t = append(*t, thread{})
	}
	x := &(*t)[len(*t)-1]
	x.nodes = x.nodes[:0]
	return x
}

// weave lays out the elements of several lists interleaved: all first elements, all second ones, and so on. The nodes are ordered as Decode
// orders them, list by list.
func (e *encoder) weave(o *Op, pc uint16) {
	from := len(e.dst.threads) // elements may contain weaves, which append threads; so threads are referred to by index
	most := uint64(0)
	for c := pc + 1; c < o.End; c = e.p.Ops[c].End {
		n, ok := e.take(c)
		if !ok {
			e.fail("the record is incomplete")
			e.dst.threads = e.dst.threads[:from]
			return
		}
		t := e.openThread()
		t.pc, t.src, t.count, t.prev = c, e.next, n.Raw, 0
		t.nodes = append(t.nodes, Node{Raw: n.Raw, Op: c, Kind: NodeList})
		e.next = int(n.After)
		if most = max(most, n.Raw); n.Raw == 0 {
			e.place(&e.p.Ops[c], 0, true)
		}
	}
	done, base, after := e.next, len(e.dst.Nodes), len(e.dst.threads)
	for i := uint64(0); i < most && e.err == nil; i++ {
		for k := from; k < after; k++ {
			if e.err == nil && i < e.dst.threads[k].count {
				e.turn(k, i, base)
			}
		}
	}
	e.next = done
	for k := from; k < after; k++ {
		start := uint32(len(e.dst.Nodes))
		for j, n := range e.dst.threads[k].nodes {
			if j > 0 {
				n.After += start
			}
			e.dst.Nodes = append(e.dst.Nodes, n)
		}
		e.endList(int(start))
	}
	e.dst.threads = e.dst.threads[:from]
}

// turn lays out element i of a thread. Its nodes are created after base and moved to the thread.
func (e *encoder) turn(k int, i uint64, base int) {
	t := e.dst.threads[k]
	e.next = t.src
	if o := &e.p.Ops[t.pc]; i == 0 {
		e.place(o, t.count, false)
		t.nodes[0].Off = uint32(len(e.out)) * 8
	}
	t.prev = e.chained(&e.p.Ops[t.pc], t.pc, t.prev, i == 0)
	t.src = e.next
	shift := uint32(len(t.nodes)) - uint32(base) // from the record's numbers to the thread's own
	for _, n := range e.dst.Nodes[base:] {
		n.After += shift
		t.nodes = append(t.nodes, n)
	}
	e.dst.Nodes = e.dst.Nodes[:base]
	e.dst.threads[k] = t
}

func (e *encoder) variant(pc uint16, n *Node) {
	v := e.node(Node{Off: uint32(len(e.out)) * 8, Op: pc, Kind: NodeVariant, Raw: n.Raw})
	if c, ok := e.p.caseOf(pc, n.Raw); ok {
		e.body(c+1, e.p.Ops[c].End)
	}
	x := &e.dst.Nodes[v]
	x.Len, x.After = uint32(len(e.out))*8-x.Off, uint32(len(e.dst.Nodes))
}

// StoreCheck computes the checksum of a whole frame anew, or sets it to 0 if the session's key is not known. Messages without a checksum, and
// those too short for one, stay as they are.
func (p *Program) StoreCheck(frame []byte, session Session) {
	if p.Message.Seal != nil {
		p.Message.Seal(frame)
	}
	if p.check.bits == 0 || p.sum == nil || (p.check.off+uint32(p.check.bits)+7)/8 > uint32(len(frame)) {
		return
	}
	sum := uint32(0)
	if session.KeyKnown {
		sum = p.sum(frame, session.Key)
	}
	p.check.store(frame, 0, uint64(sum))
}
