package codec

import (
	"cmp"
	"math"
	"slices"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// tagTable has the lists of an OpTagged by their tags.
type tagTable struct {
	lists map[uint32]uint16 // ops
	other uint16            // of all other tags; 0: there is none
	ends  bool              // a tag of wire type 4 ends the lists
}

// tags makes the tag table of an OpTagged.
func (c *compiler) tags(at int, p *wire.Part) {
	t := tagTable{lists: make(map[uint32]uint16, len(p.Lists)), ends: p.Ends}
	op := at + 1
	for i := range p.Lists {
		l := p.Lists[i].List
		if l.Other {
			t.other = uint16(op)
		} else {
			t.lists[l.Tag] = uint16(op)
		}
		c.p.Ops[op].once = l.Once
		op = int(c.p.Ops[op].End)
	}
	c.p.Ops[at].jump = uint16(len(c.p.tags))
	c.p.tags = append(c.p.tags, t)
	c.p.nested, c.p.reread = true, true
}

// of returns the list of a tag, 0 if there is none.
func (t *tagTable) of(tag uint64) uint16 {
	if tag <= math.MaxUint32 {
		if op, ok := t.lists[uint32(tag)]; ok {
			return op
		}
	}
	return t.other
}

// once reports whether a field is a list whose only element stands for it.
func (p *Program) once(field int) bool {
	l, ok := p.Fields[field].Schema.Type.(*schema.List)
	return ok && l.Once
}

// Once reports whether a list is shown as its only element, if it has one.
func (o *Op) Once() bool { return o.once }

// HasTag reports whether a list of an OpTagged has elements with a tag, other than the one at an op.
func (p *Program) HasTag(list uint16, tag uint64) bool {
	for i := range p.tags {
		if t := &p.tags[i]; t.other == list {
			return t.of(tag) != list
		}
	}
	return false
}

// The wire types of tags, the low bits of them.
const (
	wireVarint = iota
	wireFixed64
	wireBytes
	wireStart // of a group
	wireEnd
	wireFixed32
)

// LegalTag reports whether an element may have a tag: it has a number above 0 and a known wire type.
func LegalTag(tag uint64) bool {
	kind := tag & 7
	return tag>>3 > 0 && tag <= math.MaxUint32 && kind <= wireFixed32 && kind != wireEnd
}

// maxGroups is how deep groups may be nested whose fields are not known.
const maxGroups = 512

// occurrence is an element among tagged ones, by its list and its first byte.
type occurrence struct {
	list uint16
	at   uint32
}

func compareOccurrences(a, b occurrence) int {
	return cmp.Or(cmp.Compare(a.list, b.list), cmp.Compare(a.at, b.at))
}

// tagged reads elements up to the end of the frame, or of the group around them. The nodes are list by list, as those of other lists are; a list
// without elements has none.
func (d *decoder) tagged(o *Op, pc uint16) bool {
	first, end := len(d.r.occurrences), d.cur/8
	bad, isBad := uint64(0), false
	t := &d.p.tags[o.jump]
	whole := true
	for whole && end < d.have {
		tag, n := ReadVarint(d.data[end:d.have], schema.LEB128, 64)
		if n > 0 && t.ends && tag&7 == wireEnd {
			break
		}
		if !d.charge(1) {
			return false
		}
		list := t.other
		if n > 0 {
			list = t.of(tag)
		}
		if list == 0 || n > 0 && !LegalTag(tag) {
			bad, isBad, whole = tag, n > 0, false
		}
		if list != 0 {
			d.r.occurrences = append(d.r.occurrences, occurrence{list, end})
		}
		if n <= 0 || !whole {
			whole = false
			break
		}
		next, ok := d.skip(uint64(end)+uint64(n), tag)
		if d.stop {
			return false
		}
		if whole = ok; ok {
			end = next
		}
	}
	found := d.r.occurrences[first:]
	if !slices.IsSortedFunc(found, compareOccurrences) {
		slices.SortFunc(found, compareOccurrences)
	}
	for i, last := first, first+len(found); i < last && !d.stop; {
		i = d.taggedList(i, last)
	}
	d.r.occurrences = d.r.occurrences[:first]
	if isBad {
		d.illegal(Problem{Code: BadTag, Range: d.clip(uint64(end)*8, uint64(end)*8+8), Got: bad})
	}
	if !whole || d.stop {
		return false
	}
	d.cur, d.end = end*8, max(d.end, end)
	return true
}

// taggedList reads the elements of one list from an occurrence on, and returns the first one of another list.
func (d *decoder) taggedList(i, last int) int {
	pc := d.r.occurrences[i].list
	o := &d.p.Ops[pc]
	list := d.listNode(o, Node{Off: d.r.occurrences[i].at * 8, Op: pc, Kind: NodeList})
	count, end := uint64(0), uint32(0)
	for ; i < last && d.r.occurrences[i].list == pc && !d.stop; i++ {
		d.cur = d.r.occurrences[i].at * 8
		at := d.cur
		k := d.node(Node{Off: at, Op: pc, Kind: NodeElem})
		if d.stop {
			break
		}
		d.number(o, list, count)
		count++
		d.body(pc+1, o.End)
		end = max(d.cur, at)
		e := &d.r.Nodes[k]
		e.Len, e.After = end-at, uint32(len(d.r.Nodes))
	}
	if list < len(d.r.Nodes) {
		l := &d.r.Nodes[list]
		l.Raw, l.Len, l.After = count, max(end, l.Off)-l.Off, uint32(len(d.r.Nodes))
	}
	return i
}

// skip returns the end of what follows a tag. ok is false if it is beyond what is there, or cannot be known.
func (d *decoder) skip(at, tag uint64) (end uint32, ok bool) {
	have := uint64(d.have)
	depth, from := 0, at
	var open [maxGroups]uint32 // the tags that end the groups around
	for {
		switch tag & 7 {
		case wireVarint:
			_, n := ReadVarint(d.data[min(at, have):have], schema.LEB128, 64)
			if n <= 0 {
				return 0, false
			}
			at += uint64(n)
		case wireFixed64:
			at += 8
		case wireFixed32:
			at += 4
		case wireBytes:
			size, n := ReadVarint(d.data[min(at, have):have], schema.LEB128, 64)
			if n <= 0 || size > have {
				return 0, false
			}
			at += uint64(n) + size
		case wireStart:
			if depth == maxGroups {
				d.exhausted()
				return 0, false
			}
			open[depth] = uint32(tag) + 1
			depth++
		case wireEnd:
			if depth--; tag != uint64(open[depth]) {
				d.illegal(Problem{Code: BadTag, Range: d.clip(at*8-8, at*8), Got: tag, Want: uint64(open[depth])})
				return 0, false
			}
		}
		if at > have {
			return 0, false
		}
		if depth == 0 {
			return uint32(at), tag&7 != wireEnd || d.charge(at-from) // the fields inside are read again
		}
		next, n := ReadVarint(d.data[at:have], schema.LEB128, 64)
		if n <= 0 || next&7 != wireEnd && !LegalTag(next) {
			return 0, false
		}
		tag, at = next, at+uint64(n)
	}
}

// wrongTag reports a tag after elements that does not end them.
func (d *decoder) wrongTag(node int, got uint64, want uint32) {
	d.r.Nodes[node].Bad = WrongConstant
	d.illegal(Problem{Code: BadTag, Range: d.r.Nodes[node].Range(), Spot: spot(node, noIndex, -1), Got: got, Want: uint64(want)})
}

// laidElement is an element of tagged lists that is laid out.
type laidElement struct {
	list     uint16
	src      int    // its source node
	key      uint64 // orders the elements
	from, to int    // its nodes in dst
}

// tagged lays out the elements of lists: list by list, or in the order of the message that the values come from.
func (e *encoder) tagged(o *Op, pc uint16) {
	var all []laidElement
	for c := pc + 1; c < o.End && e.next < e.last; c = e.p.Ops[c].End {
		n, ok := e.take(c)
		if !ok {
			continue
		}
		start := len(all)
		for i := e.next; i < int(n.After); i = int(e.src.Nodes[i].After) {
			all = append(all, laidElement{list: c, src: i, key: math.MaxUint64})
		}
		e.places(all[start:])
		e.next = int(n.After)
	}
	done, first := e.next, len(e.dst.Nodes)
	order := make([]*laidElement, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	if e.over != nil {
		slices.SortStableFunc(order, func(a, b *laidElement) int { return cmp.Compare(a.key, b.key) })
	}
	for _, x := range order {
		e.next = x.src
		if _, ok := e.take(x.list); !ok || e.err != nil {
			e.fail("the record is incomplete")
			return
		}
		x.from = e.node(Node{Off: uint32(len(e.out)) * 8, Op: x.list, Kind: NodeElem})
		e.body(x.list+1, e.p.Ops[x.list].End)
		el := &e.dst.Nodes[x.from]
		el.Len, el.After = uint32(len(e.out))*8-el.Off, uint32(len(e.dst.Nodes))
		x.to = len(e.dst.Nodes)
	}
	e.next = done
	if e.err == nil {
		e.listNodes(all, first)
	}
}

// places sets the keys of the elements of a list, which stay in their order. New ones follow the one before them, or precede the first.
func (e *encoder) places(list []laidElement) {
	if e.over == nil {
		return
	}
	at := -1 // the last element with a place
	for i := range list {
		_, base, ok := e.over.of(list[i].src)
		switch {
		case ok && at < 0:
			for k := range i {
				list[k].key = uint64(base.Off)
			}
			fallthrough
		case ok:
			at, list[i].key = i, uint64(base.Off)
		case at >= 0:
			list[i].key = list[at].key
		}
		if i > 0 && at >= 0 {
			list[i].key = max(list[i].key, list[i-1].key)
		}
	}
}

// listNodes orders the nodes of elements, from the first one on, by their lists, which get nodes of their own.
func (e *encoder) listNodes(all []laidElement, first int) {
	laid := slices.Clone(e.dst.Nodes[first:])
	e.dst.Nodes = e.dst.Nodes[:first]
	list := -1
	for i := range all {
		x := &all[i]
		if i == 0 || all[i-1].list != x.list {
			list = e.node(Node{Off: laid[x.from-first].Off, Op: x.list, Kind: NodeList})
		}
		by := uint32(len(e.dst.Nodes) - x.from)
		for _, n := range laid[x.from-first : x.to-first] {
			n.After += by
			e.dst.Nodes = append(e.dst.Nodes, n)
		}
		l, el := &e.dst.Nodes[list], &laid[x.from-first]
		l.Raw++
		l.Off, l.Len = min(l.Off, el.Off), max(l.Off+l.Len, el.Off+el.Len)-min(l.Off, el.Off)
		l.After = uint32(len(e.dst.Nodes))
	}
}
