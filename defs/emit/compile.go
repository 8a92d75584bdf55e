package emit

import (
	"slices"

	"wirebench/defs/schema"
)

// compiler turns the wire of one struct into steps.
type compiler struct {
	p      *plan
	m      *message
	r      *record
	top    bool // the struct is a message's body
	header int  // bits
	where  map[*schema.Field]path
	labels map[*schema.Field]string
	count  map[*schema.Field]*local
	offset map[*schema.Field]*local
	locals int
	prefix string // of labels
	losses []Loss
}

// scope is a list of steps under construction.
type scope struct {
	steps []step
	open  bool // the last step is a block that is being filled
	first bool
}

// body compiles a struct. base is where its values are: nil for a record of its own.
func (c *compiler) body(s *schema.Struct, base path, r *record) []step {
	if c.where == nil {
		c.where, c.labels = map[*schema.Field]path{}, map[*schema.Field]string{}
		c.count, c.offset = map[*schema.Field]*local{}, map[*schema.Field]*local{}
	}
	c.enter(s, base, r, c.prefix)
	sc := &scope{first: c.top}
	c.wire(sc, s)
	c.variants(sc, s, r)
	c.flush(sc)
	return sc.steps
}

// enter makes the fields of a struct known, and those of groups that have no bytes of their own.
func (c *compiler) enter(s *schema.Struct, base path, r *record, prefix string) {
	for i, f := range s.Fields {
		m := r.slots[i]
		c.where[f] = append(slices.Clip(base), m)
		c.labels[f] = prefix + f.Name
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 && len(g.Struct.Variants) == 0 {
			c.enter(g.Struct, c.where[f], m.record, c.labels[f]+".")
		}
	}
}

func (c *compiler) find(f *schema.Field) path {
	p, ok := c.where[f]
	if !ok {
		name := ""
		if f != nil {
			name = f.Name
		}
		fail("an item is of a field %q that is not in its struct", name)
	}
	return p
}

func (c *compiler) wire(sc *scope, s *schema.Struct) {
	for i := range s.Wire {
		it := &s.Wire[i]
		optional := i >= len(s.Wire)-s.Optional
		if !optional || sc.open && sc.steps[len(sc.steps)-1].bits%8 != 0 {
			c.item(sc, it)
			continue
		}
		c.flush(sc)
		at := len(sc.steps)
		c.item(sc, it)
		if at == len(sc.steps) {
			continue
		}
		c.r.parts++
		for k := at; k < len(sc.steps); k++ {
			sc.steps[k].part = c.r.parts
		}
	}
	if s.Optional == 0 {
		return
	}
	for i := range sc.steps { // a member is optional if all of it is
		st := &sc.steps[i]
		if st.path != nil && st.path[0] != nil {
			st.path[0].part = max(st.path[0].part, st.part)
		}
		for k := range st.items {
			if p := st.items[k].path; p != nil && p[0] != nil && st.items[k].kind == schema.Value {
				p[0].part = max(p[0].part, st.part)
			}
		}
	}
}

func (c *compiler) flush(sc *scope) {
	if !sc.open {
		return
	}
	if sc.steps[len(sc.steps)-1].bits%8 != 0 {
		fail("fields before a variable part do not fill whole bytes")
	}
	sc.open, sc.first = false, false
}

// push adds bits to the block being filled.
func (c *compiler) push(sc *scope, it item) {
	if !sc.open {
		sc.steps = append(sc.steps, step{kind: stepBlock})
		sc.open = true
	}
	b := &sc.steps[len(sc.steps)-1]
	it.off = b.bits
	if it.order == schema.Big && (it.off%8 != 0 || it.bits%8 != 0) {
		fail("a big-endian number does not stand at whole bytes")
	}
	b.bits += it.bits
	if b.bits > 1<<26 {
		fail("a part of fixed size is too large")
	}
	b.items = append(b.items, it)
	if it.local != nil {
		it.local.item = it
	}
	switch it.kind {
	case schema.Length:
		c.frameItem(sc, it)
		x := it
		c.m.length = &x
	case schema.Code:
		c.frameItem(sc, it)
		x := it
		c.m.code = &x
	case schema.Counter, schema.Check:
		c.frameItem(sc, it)
	}
}

// frameItem notes how far the header reaches.
func (c *compiler) frameItem(sc *scope, it item) {
	if !c.top || !sc.first {
		fail("%s does not stand in the first fixed part of the message", it.kind)
	}
	c.header = it.off + it.bits
}

func (c *compiler) item(sc *scope, it *schema.Item) {
	book := item{kind: it.Kind, bits: it.Bits, order: it.Order}
	switch it.Kind {
	case schema.Value:
		c.value(sc, it.Field)
		return
	case schema.Weave:
		c.flush(sc)
		st := step{kind: stepWeave}
		for _, f := range it.Weave {
			inner := &scope{}
			c.content(inner, f)
			l := inner.steps[0]
			if t, ok := l.typ.(*schema.List); !ok || !t.Linked {
				fail("the interleaved field %q is not a chained list", f.Name)
			}
			st.lists = append(st.lists, l)
		}
		sc.steps = append(sc.steps, st)
		return
	case schema.Const:
		book.bytes, book.bits = it.Bytes, len(it.Bytes)*8
	case schema.Count, schema.Offset:
		c.locals++
		book.local = &local{id: c.locals}
		book.path, book.label = c.find(it.Field), c.labels[it.Field]
		if it.Kind == schema.Offset {
			c.offset[it.Field] = book.local
			break
		}
		c.count[it.Field] = book.local
		book.ext, book.unit = c.extent(it.Field.Type)
	case schema.Code, schema.Counter, schema.Check:
		if it.Kind == schema.Code && c.m.m.HasKey {
			book.code = c.m.m.Key.Code
			break
		}
		m := &member{name: it.Kind.String(), typ: &schema.Number{Bits: it.Bits}, book: it.Kind, isBook: true}
		c.r.members = append(c.r.members, m)
		book.path, book.typ = path{m}, m.typ
		if it.Kind == schema.Check && it.Sum != nil {
			c.losses = append(c.losses, Loss{Reason: "the checksum is read and written as it is, not computed", Field: "check"})
		}
	}
	if book.bits < 1 && it.Kind != schema.Const || book.bits > 32 && it.Kind != schema.Const && it.Kind != schema.Pad {
		fail("%s has %d bits", it.Kind, book.bits)
	}
	c.push(sc, book)
}

func (c *compiler) extent(t schema.Type) (schema.Extent, size) {
	switch t := t.(type) {
	case *schema.Text:
		return t.Extent, size{n: uint64(t.Charset.Unit())}
	case *schema.Blob:
		return t.Extent, size{n: 1}
	case *schema.List:
		return t.Extent, c.p.minSize(t.Elem)
	}
	fail("a count is of something that has no units")
	return schema.Extent{}, size{}
}

func (c *compiler) value(sc *scope, f *schema.Field) {
	at := c.find(f)
	it := item{kind: schema.Value, path: at, typ: f.Type, label: c.labels[f]}
	switch t := f.Type.(type) {
	case *schema.Number:
		if t.Bits < 1 || t.Bits > 64 || t.Kind == schema.Float && t.Bits != 32 && t.Bits != 64 {
			fail("the number %q has %d bits", f.Name, t.Bits)
		}
		it.bits, it.order = t.Bits, t.Order
		c.push(sc, it)
		if b := sc.steps[len(sc.steps)-1]; t.Kind == schema.Float && b.items[len(b.items)-1].off%8 != 0 {
			fail("the float %q does not start at a whole byte", f.Name)
		}
		return
	case *schema.Packed:
		if len(t.Forms) == 0 || t.Bits%8 != 0 || t.Bits < 8 || t.Bits > 64 {
			fail("the packed number %q has %d bits", f.Name, t.Bits)
		}
		it.bits, it.order = t.Bits, t.Order
		c.push(sc, it)
		return
	case *schema.Text:
		if t.Size == schema.Fixed {
			it.bits = max(t.N, 0) * t.Charset.Unit() * 8
			c.pushBytes(sc, it)
			return
		}
	case *schema.Blob:
		if t.Size == schema.Fixed {
			it.bits = max(t.N, 0) * 8
			c.pushBytes(sc, it)
			return
		}
	case *schema.Group:
		c.group(sc, f, t.Struct, at)
		return
	}
	c.content(sc, f)
}

func (c *compiler) pushBytes(sc *scope, it item) {
	if sc.open && sc.steps[len(sc.steps)-1].bits%8 != 0 {
		fail("%q does not start at a whole byte", it.label)
	}
	c.push(sc, it)
}

func (c *compiler) group(sc *scope, f *schema.Field, s *schema.Struct, at path) {
	if len(s.Variants) > 0 || s.Optional > 0 {
		fail("the group %q has alternatives or optional parts", f.Name)
	}
	for i := range s.Wire {
		if s.Wire[i].Kind == schema.Count {
			c.flush(sc) // its lengths are judged after the values before it
			break
		}
	}
	r := c.p.byStruct[s]
	if last := at[len(at)-1]; r == nil && last != nil {
		r = last.record
	}
	if r == nil {
		fail("the group %q has no type", f.Name)
	}
	old := make(map[*schema.Field]path, len(s.Fields))
	for _, inner := range s.Fields {
		old[inner] = c.where[inner]
	}
	label := c.labels[f]
	if label != "" {
		label += "."
	}
	c.enter(s, at, r, label)
	for i := range s.Wire {
		c.item(sc, &s.Wire[i])
	}
	if len(s.Wire) == 0 {
		return // its fields stand in the struct around it
	}
	for inner, p := range old {
		if p != nil {
			c.where[inner] = p
		}
	}
}

// content adds a step of variable size.
func (c *compiler) content(sc *scope, f *schema.Field) {
	c.flush(sc)
	at := c.find(f)
	ext, unit := c.extent(f.Type)
	st := step{kind: stepRun, path: at, typ: f.Type, count: c.count[f], offset: c.offset[f], min: unit, end: ext.Size == schema.ToEnd}
	st.items = []item{{kind: schema.Value, path: at, typ: f.Type, label: c.labels[f], ext: ext, unit: unit}}
	if ext.Size == schema.Counted && st.count == nil {
		fail("%q has no count before it", f.Name)
	}
	if t, ok := f.Type.(*schema.List); ok {
		st.kind = stepList
		if t.Size == schema.Terminated {
			fail("the list %q is ended by a zero", f.Name)
		}
		c.elements(&st, t, at, f)
	}
	sc.steps = append(sc.steps, st)
}

// elements compiles the elements of a list.
func (c *compiler) elements(st *step, t *schema.List, at path, f *schema.Field) {
	var steps []step
	if t.Bare {
		inner := t.Elem.Fields[0]
		old, had := c.where[inner]
		c.where[inner] = path{nil}
		c.labels[inner] = c.labels[f] + "[]"
		if t.Elem.Optional > 0 || len(t.Elem.Variants) > 0 {
			fail("the elements of %q are single values with optional parts", f.Name)
		}
		sc := &scope{}
		if g, ok := inner.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 {
			c.enter(g.Struct, path{nil}, c.p.byStruct[g.Struct], c.labels[inner]+".")
		}
		for i := range t.Elem.Wire {
			c.item(sc, &t.Elem.Wire[i])
		}
		c.flush(sc)
		st.elem, steps = sc.steps, sc.steps
		if had {
			c.where[inner] = old
		}
	} else {
		r := c.p.byStruct[t.Elem]
		if r == nil {
			fail("the list %q has no type", f.Name)
		}
		if !r.element {
			inner := &compiler{p: c.p, m: c.m, r: r}
			r.steps = inner.body(t.Elem, nil, r)
			r.element = true
		}
		st.rec, steps = r, r.steps
	}
	if !t.Linked {
		return
	}
	if st.count == nil || st.offset == nil {
		fail("the chained list %q has no count or no offset", f.Name)
	}
	if len(steps) > 0 && steps[0].kind == stepBlock {
		for i := range steps[0].items {
			switch it := &steps[0].items[i]; it.kind {
			case schema.Here:
				st.here = it
			case schema.Next:
				st.next = it
			}
		}
	}
	if st.next == nil {
		fail("the elements of the chained list %q do not start with the place of the next", f.Name)
	}
}

// variants adds the alternatives at the end of a struct.
func (c *compiler) variants(sc *scope, s *schema.Struct, r *record) {
	if len(s.Variants) == 0 {
		return
	}
	if s.Optional > 0 {
		fail("there are alternatives after optional parts")
	}
	c.flush(sc)
	st := step{kind: stepChoice}
	for _, v := range s.Variants {
		ch := choice{min: max(v.MinLen, 0), max: max(v.MaxLen, 0), value: v.Value}
		if v.Field != nil {
			ch.field = c.find(v.Field)
			n, ok := v.Field.Type.(*schema.Number)
			if !ok || n.Kind == schema.Float || n.Scale != 0 {
				fail("alternatives are chosen by %q, which is not a whole number", v.Field.Name)
			}
			ch.typ = n
		}
		if v.Body != nil {
			if len(v.Body.Variants) > 0 || v.Body.Optional > 0 {
				fail("there are alternatives or optional parts inside an alternative")
			}
			for _, f := range v.Body.Fields {
				m := c.p.altMember(r, f)
				c.where[f], c.labels[f] = path{m}, c.prefix+f.Name
				if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 {
					c.enter(g.Struct, c.where[f], m.record, c.labels[f]+".")
				}
			}
			inner := &scope{}
			for i := range v.Body.Wire {
				c.item(inner, &v.Body.Wire[i])
			}
			c.flush(inner)
			ch.steps = inner.steps
		}
		st.cases = append(st.cases, ch)
	}
	sc.steps = append(sc.steps, st)
}
