package reshape

import (
	"errors"
	"fmt"
	"slices"

	"wirebench/codec"
	"wirebench/defs/edit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// slot is the part of a message that a line of the definition describes, or bookkeeping.
type slot struct {
	off, len uint32 // bits
	field    uint16 // of the line; that of the list whose elements have the bookkeeping; codec.NoField: none
	role     codec.Role
	fixed    bool // a value of fixed size at this place, which can be replaced
	contents bool // of variable size
	rest     bool // bytes or text up to the end of the message
	book     bool // belongs to no line
}

func (s *slot) end() uint32 { return s.off + s.len }

// topOf returns the outermost field on the line of a field: the vector of a coordinate, the array of an element.
func topOf(p *codec.Program, f uint16) uint16 {
	for {
		parent := p.Fields[f].Parent
		if parent < 0 || p.Fields[parent].Span != p.Fields[f].Span && !p.Fields[f].Span.IsZero() {
			return f
		}
		f = uint16(parent)
	}
}

// bitsOf returns the size of a type, -1 if it depends on the data.
func bitsOf(t schema.Type) int {
	switch t := t.(type) {
	case *schema.Number:
		if t.Var == 0 {
			return t.Bits
		}
	case *schema.Bitfield:
		return t.Bits
	case *schema.Text:
		if t.Size == schema.Fixed {
			return t.N * t.Charset.Unit() * 8
		}
	case *schema.Blob:
		if t.Size == schema.Fixed {
			return t.N * 8
		}
	case *schema.List:
		if n := structBits(t.Elem); n >= 0 && t.Size == schema.Fixed {
			return n * t.N
		}
	case *schema.Group:
		return structBits(t.Struct)
	}
	return -1
}

func structBits(s *schema.Struct) int {
	sum := 0
	for _, it := range s.Wire {
		n := it.Bits
		switch it.Kind {
		case schema.Value:
			n = bitsOf(it.Field.Type)
		case schema.Const:
			n = len(it.Bytes) * 8
		}
		if n < 0 || sum > MaxData*8 {
			return -1
		}
		sum += n
	}
	return sum
}

// slotsOf returns the slots of a record, in the order of the message.
func slotsOf(rec *codec.Record) []slot {
	leaves := rec.AppendLeaves(nil)
	slices.SortStableFunc(leaves, func(a, b codec.Leaf) int { return int(a.Off) - int(b.Off) })
	p := rec.Program
	var out []slot
	for i := 0; i < len(leaves); i++ {
		l := leaves[i]
		if l.Len == 0 {
			continue
		}
		s := slot{off: l.Off, len: l.Len, field: l.Field, role: l.Role, book: l.Field == codec.NoField}
		switch {
		case s.book:
			s.field = rec.ListOf(l.Node)
		case l.Role == codec.RoleValue:
			s.field = topOf(p, l.Field)
			typ := p.Fields[s.field].Schema.Type
			size := bitsOf(typ)
			if n, ok := typ.(*schema.Number); ok && n.Var != 0 { // as long as here
				size = int(l.Len)
			}
			if s.fixed, s.contents = size > 0, size < 0; s.fixed {
				for i+1 < len(leaves) && leaves[i+1].Off < s.off+uint32(size) && leaves[i+1].Field != codec.NoField && topOf(p, leaves[i+1].Field) == s.field {
					i++
				}
				s.len = uint32(size)
			} else if typ, ok := typ.(*schema.Blob); ok {
				s.rest = typ.Size == schema.ToEnd
			} else if typ, ok := p.Fields[s.field].Schema.Type.(*schema.Text); ok {
				s.rest = typ.Size == schema.ToEnd
			}
		default: // a pointer
			s.field = topOf(p, l.Field)
			for i+1 < len(leaves) && leaves[i+1].Off == s.end() && leaves[i+1].Role != codec.RoleValue && leaves[i+1].Field == l.Field {
				i++
				s.len += leaves[i].Len
			}
		}
		out = append(out, s)
	}
	return out
}

// plan is a place for new fields.
type plan struct {
	place       edit.Place
	front, back codec.Range // parts of replaced fields that remain
	backRest    bool        // the second extends to the end of the message
	like        source.Span // the only line that is replaced as a whole
	frontLike   source.Span // lines whose name and comment the remaining parts get
	backLike    source.Span
	skip        uint32 // bits before the new fields that get fields of unknown meaning

	element *element // the place is an element with a tag
}

// around returns the new fields, with those for the remaining parts of replaced fields and for skipped bits.
// It returns nil if nothing can fill them.
func (p *plan) around(e *Editor, fields []edit.Field) (out []edit.Field) {
	whole, used := true, map[string]bool{}
	for _, f := range fields {
		used[f.Name] = true
	}
	fill := func(bits uint32, like source.Span, rest bool) {
		types := e.dialect.Edits.Filler(int(bits))
		if rest {
			if types = e.dialect.Edits.Filler(-1); !like.IsZero() {
				types = []edit.Type{{Bits: -1}}
			}
		}
		whole = whole && (bits == 0 || len(types) > 0)
		for i, t := range types {
			f := edit.Field{Type: t}
			if i == 0 && !like.IsZero() {
				f.Like = like
			} else {
				f.Name = e.freeName(used)
			}
			out = append(out, f)
		}
	}
	fill(p.skip, source.Span{}, false)
	fill(p.front.Len, p.frontLike, false)
	out = append(out, fields...)
	fill(p.back.Len, p.backLike, p.backRest)
	if !whole {
		return nil
	}
	return out
}

// plans returns the places for a range, the most likely first.
func (e *Editor) plans(at codec.Range) ([]plan, error) {
	if !e.contains(at) {
		return nil, errors.New("these bytes are not in the message")
	}
	if x, ok := e.elementAt(at); ok {
		if !x.is(at) {
			return nil, fmt.Errorf("bytes %d to %d are one field, with its tag: select them all, or what follows the tag", x.at.Off/8, x.at.End()/8-1)
		}
		return e.elementPlan(&x), nil
	}
	var over []slot
	for _, s := range e.slots {
		if s.off >= at.End() || s.end() <= at.Off {
			continue
		}
		if s.book && s.role == codec.RolePad {
			continue
		}
		if !s.fixed && !s.rest {
			return nil, e.refusal(&s)
		}
		over = append(over, s)
	}
	if len(over) > 0 {
		return e.replacing(at, over)
	}
	return e.inserting(at), nil
}

// refusal says why a part of a message cannot become a field.
func (e *Editor) refusal(s *slot) error {
	name := ""
	if s.field != codec.NoField {
		name = string(e.rec.Program.AppendFieldPath(nil, s.field))
	}
	switch {
	case s.contents:
		return fmt.Errorf("these bytes are contents of %q, whose place is determined by other fields", name)
	case s.book && s.field != codec.NoField:
		return fmt.Errorf("these bytes are the %s of an element of %q", s.role, name)
	case s.book:
		return fmt.Errorf("these bytes are the %s of the message", s.role)
	}
	return fmt.Errorf("these bytes are the %s of %q; remove that field first", s.role, name)
}

// replacing returns the plan for a range that has fields.
func (e *Editor) replacing(at codec.Range, over []slot) ([]plan, error) {
	p := plan{place: edit.Place{Message: e.was.Messages[e.index].Span, List: e.listLine(e.listAround(over[0].field))}}
	for i := range over {
		s := &over[i]
		line := e.rec.Program.Fields[s.field].Span
		if i > 0 && s.off != over[i-1].end() {
			return nil, errors.New("there are unexplained bytes between these fields")
		}
		if e.listAround(s.field) != e.listAround(over[0].field) {
			return nil, errors.New("these bytes belong to different lists")
		}
		if !slices.Contains(p.place.Replaced, line) {
			p.place.Replaced = append(p.place.Replaced, line)
		}
	}
	first, last := &over[0], &over[len(over)-1]
	lineOf := func(s *slot) source.Span { return e.rec.Program.Fields[s.field].Span }
	switch {
	case at.Off < first.off: // unexplained bytes before
		return nil, errors.New("the bytes before this field are unexplained: define them on their own")
	case at.Off > first.off:
		p.front, p.frontLike = codec.Range{Off: first.off, Len: at.Off - first.off}, lineOf(first)
	}
	if at.End() < last.end() {
		p.back, p.backRest = codec.Range{Off: at.End(), Len: last.end() - at.End()}, last.rest
		if len(over) > 1 || p.front.Len == 0 {
			p.backLike = lineOf(last)
		} else if last.rest {
			p.frontLike, p.backLike = source.Span{}, lineOf(last)
		}
	}
	if len(over) == 1 && p.front.Len == 0 && p.back.Len == 0 {
		p.like = lineOf(first)
	}
	return []plan{p}, nil
}

// listAround returns the list whose elements have a field, codec.NoField if there is none.
func (e *Editor) listAround(f uint16) uint16 {
	for f != codec.NoField {
		info := &e.rec.Program.Fields[f]
		switch {
		case info.Parent < 0:
			return codec.NoField
		case info.InList:
			return uint16(info.Parent)
		}
		f = uint16(info.Parent)
	}
	return codec.NoField
}

func (e *Editor) listLine(list uint16) source.Span {
	if list == codec.NoField {
		return source.Span{}
	}
	return e.rec.Program.Fields[list].Span
}

// inserting returns the plans for a range without fields: after the field before it, in its list or in one around that.
func (e *Editor) inserting(at codec.Range) (out []plan) {
	message := e.was.Messages[e.index].Span
	add := func(place edit.Place, from uint32) {
		place.Message = message
		p := plan{place: place}
		if skip := at.Off - min(from, at.Off); e.dialect.Edits.Holes {
			p.place.Skip = int(skip)
		} else {
			p.skip = skip
		}
		out = append(out, p)
	}
	last := -1 // the part before the range
	for i := range e.slots {
		if e.slots[i].end() <= at.Off && (last < 0 || e.slots[i].end() >= e.slots[last].end()) {
			last = i
		}
	}
	if last < 0 {
		add(edit.Place{}, 0)
		return out
	}
	seen := map[uint16]bool{}
	for i := last; i >= 0 && len(out) < maxPlans; i-- {
		s := &e.slots[i]
		list := e.listAround(s.field)
		if s.book {
			list = s.field
		}
		if s.end() > at.Off || seen[list] || s.contents && i != last {
			continue
		}
		seen[list] = true
		if s.book {
			from := s.end()
			if e.dialect.Edits.Holes {
				from = 0 // rows have offsets from the start of the message
			}
			add(edit.Place{List: e.listLine(list)}, from)
			continue
		}
		pointer := s.role != codec.RoleValue
		groups := []uint16{s.field}
		for f := s.field; ; {
			info := &e.rec.Program.Fields[f]
			if info.Parent < 0 || info.InList {
				break
			}
			f = uint16(info.Parent)
			groups = append(groups, f)
		}
		if pointer {
			groups = groups[:1]
		}
		for k := len(groups) - 1; k >= 0; k-- { // outside of groups first
			add(edit.Place{List: e.listLine(list), Before: e.rec.Program.Fields[groups[k]].Span, Pointer: pointer}, s.end())
		}
		if i == last { // the list that ends before the range
			for outer := list; outer != codec.NoField; outer = e.listAround(outer) {
				add(edit.Place{List: e.listLine(e.listAround(outer)), Before: e.rec.Program.Fields[outer].Span}, s.end())
			}
		}
	}
	return out
}

// maxPlans bounds the places that are tried.
const maxPlans = 12
