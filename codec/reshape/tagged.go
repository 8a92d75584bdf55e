package reshape

import (
	"fmt"
	"slices"

	"wirebench/codec"
	"wirebench/defs/edit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// element is one with a tag, of a message whose fields are in any order.
type element struct {
	edit.Tagged
	at   codec.Range // with its tag
	size uint32      // bits of the size in front of its contents
	line source.Span // of its field; zero: it has none
}

// elementAt returns the innermost element with a tag around a range.
func (e *Editor) elementAt(at codec.Range) (found element, ok bool) {
	p := e.rec.Program
	for i := range e.rec.Nodes {
		n := &e.rec.Nodes[i]
		if n.Kind != codec.NodeElem || n.Off > at.Off || n.Off+n.Len < at.End() || at.Len == 0 {
			continue
		}
		field := p.Ops[n.Op].Field
		l, is := taggedList(p, field)
		if !is {
			continue
		}
		x := element{at: n.Range(), line: p.Fields[field].Span}
		data := e.rec.Data[n.Off/8 : n.Range().End()/8]
		tag, size := codec.ReadVarint(data, schema.LEB128, 64)
		if size <= 0 {
			continue
		}
		x.Tag, x.Data, x.In = uint32(tag), data[size:], e.rec.Program.Message.Body.Name
		if parent := p.Fields[field].Parent; parent >= 0 {
			x.In = ""
			if g, is := p.Fields[parent].Schema.Type.(*schema.Group); is {
				x.In = g.Struct.Name
			}
		}
		if x.Repeated = !l.Other && !l.Once; l.Other {
			x.line = source.Span{}
			x.Repeated = e.countTag(i, x.Tag) > 1
		}
		if _, n := codec.ReadVarint(x.Data, schema.LEB128, 64); tag&7 == wireBytes && n > 0 {
			x.size = uint32(n) * 8
		}
		found, ok = x, true
	}
	return found, ok
}

// taggedList returns the type of a field whose elements have tags.
func taggedList(p *codec.Program, field uint16) (l *schema.List, ok bool) {
	if l, ok = p.Fields[field].Schema.Type.(*schema.List); ok {
		ok = l.Size == schema.Scattered
	}
	return l, ok
}

// countTag returns the number of the elements with a tag in the list of an element.
func (e *Editor) countTag(node int, tag uint32) (count int) {
	nodes := e.rec.Nodes
	list := node
	for list >= 0 && (nodes[list].Kind != codec.NodeList || int(nodes[list].After) <= node || nodes[list].Op != nodes[node].Op) {
		list--
	}
	if list < 0 {
		return 1
	}
	for i := list + 1; i < int(nodes[list].After); i = int(nodes[i].After) {
		if e.tagOf(i) == tag {
			count++
		}
	}
	return count
}

// tagOf returns the tag of an element, 0 if it has none.
func (e *Editor) tagOf(node int) uint32 {
	at := e.rec.Nodes[node].Range()
	tag, size := codec.ReadVarint(e.rec.Data[at.Off/8:at.End()/8], schema.LEB128, 64)
	if size <= 0 {
		return 0
	}
	return uint32(tag)
}

// wireBytes is the part of a tag that says that contents with a size follow.
const wireBytes = 2

// is reports whether a range is that of the element, of what follows its tag, or of its contents.
func (x *element) is(at codec.Range) bool {
	data := x.at.End() - uint32(len(x.Data))*8
	return at.End() == x.at.End() && (at.Off == x.at.Off || at.Off == data || at.Off == data+x.size)
}

// elementPlan is the plan for an element: its field gets another type, or it becomes a field.
func (e *Editor) elementPlan(x *element) []plan {
	p := plan{place: edit.Place{Message: e.was.Messages[e.index].Span, Tagged: &x.Tagged}, element: x}
	if !x.line.IsZero() {
		p.place.Replaced, p.like = []source.Span{x.line}, x.line
	}
	return []plan{p}
}

// fieldOfElement returns the field that an element of another record of the message is of, and its node.
func (e *Editor) fieldOfElement(rec *codec.Record, x *element, t edit.Type) (field uint16, node int, err error) {
	for i := range rec.Nodes {
		n := &rec.Nodes[i]
		if n.Kind != codec.NodeElem || n.Range() != x.at {
			continue
		}
		field := rec.Program.Ops[n.Op].Field
		if l, ok := taggedList(rec.Program, field); ok && !l.Other && l.Tag == x.Tag {
			return field, i, nil
		}
	}
	return codec.NoField, 0, fmt.Errorf("%s would not be at these bytes", t.Name())
}

// keepsOthers reports whether a record has all leaves of the original one, except for those in elements with the tag of x.
func (e *Editor) keepsOthers(rec *codec.Record, x *element) error {
	now := map[leafKey]int{}
	for _, k := range keysOf(rec) {
		now[k]++
	}
	var except []codec.Range
	for i := range e.rec.Nodes {
		n := &e.rec.Nodes[i]
		if n.Kind != codec.NodeElem {
			continue
		}
		if _, ok := taggedList(e.rec.Program, e.rec.Program.Ops[n.Op].Field); ok && e.tagOf(i) == x.Tag {
			except = append(except, n.Range())
		}
	}
	for _, k := range keysOf(e.rec) {
		if slices.ContainsFunc(except, func(r codec.Range) bool { return r.Off <= k.off && k.off+k.len <= r.End() }) {
			continue
		}
		if now[k]--; now[k] < 0 {
			return errMoves
		}
	}
	return nil
}
