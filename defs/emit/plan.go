package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// A plan is what the targets that are programming languages have in common: the types that hold values, and the steps in which a
// message is read and written. A step is what is read in one go: a block of fixed size, a run of bytes, a list. The order of the
// steps, and of the checks inside a block, is the codec's.
type plan struct {
	schema   *schema.Schema
	records  []*record // inner ones first
	messages []*message
	losses

	byStruct map[*schema.Struct]*record
	made     []*schema.Struct // the keys of byStruct, in order
	byShape  map[string]*record
	shapes   map[*schema.Struct]string
}

// message is a message that can be expressed.
type message struct {
	m      *schema.Message
	name   string // see messageName
	record *record
	header int // bytes, offsets lead behind it
	length *item
	code   *item
	min    string   // bytes
	open   []string // constants without a value
}

// record is a type of the output, with members.
type record struct {
	want    string // its name, before the target makes it legal
	doc     string
	fields  int // number of members that stand in the struct's Fields; those of alternatives follow
	members []*member
	alts    map[string]*member // those of alternatives, by name and type
	slots   []*member          // by index of the struct's Fields: fields of one name share a member
	steps   []step
	element bool // it is the element of a list: it has functions of its own
	message *message
	parts   int  // number of steps at the end that may be missing
	choice  bool // the alternative does not follow from a value
	shape   string
}

// member is one value of a record.
type member struct {
	field  *schema.Field
	name   string // as in the definition. Code, counter and checksum have names of their own
	typ    schema.Type
	record *record // of a group, and of the elements of a list
	part   int     // of how many parts that may be missing this is the last one needed; 0: always there
	alt    bool    // of an alternative
	book   schema.ItemKind
	isBook bool // one of Code, Counter, Check
}

// path leads from a record to a value inside it. For the value of a bare element it starts with nil.
type path []*member

type stepKind uint8

const (
	stepBlock stepKind = iota
	stepRun            // text or bytes of variable size
	stepList
	stepWeave
	stepChoice
)

// step is a part that is read in one go.
type step struct {
	kind   stepKind
	part   int // of the parts that may be missing this is the one with the number; 0: always there
	bits   int
	items  []item
	path   path
	typ    schema.Type
	count  *local // number of units, nil if it is not on the wire
	offset *local
	elem   []step   // of a bare list
	rec    *record  // of any other list
	here   *item    // linked lists: places inside the first block of the element
	next   *item    // likewise
	min    string   // bytes of an element
	lists  []step   // of a weave
	cases  []choice // of a choice
	end    bool     // it goes on to the end of the message
}

// choice is one alternative.
type choice struct {
	min, max int
	field    path // nil: by length
	typ      *schema.Number
	value    uint64
	steps    []step
}

// local is a count or an offset that was read.
type local struct {
	id   int
	item item // where it stands, for what is written later
}

// item is a run of bits in a block.
type item struct {
	kind  schema.ItemKind
	off   int // bits from the start of the block
	bits  int
	order schema.Order
	path  path
	typ   schema.Type
	local *local
	bytes []byte
	code  uint32 // of a message whose code the definitions tell
	label string // path for messages: "members[].name"
	ext   schema.Extent
	unit  string // bytes of one unit, at least
}

// newPlan makes the plan of a schema. symbols: the target can leave constants without a value to its user.
func newPlan(s *schema.Schema, o Options, symbols bool) *plan {
	p := &plan{schema: s, byStruct: map[*schema.Struct]*record{}, byShape: map[string]*record{}, shapes: map[*schema.Struct]string{}, losses: slices.Clone(o.lost)}
	for _, m := range s.Messages {
		p.message(m, symbols)
	}
	return p
}

func (p *plan) message(m *schema.Message, symbols bool) {
	records, structs := len(p.records), len(p.made)
	why := try(m, func(laid *wire.Message) {
		if len(p.shape(m.Body)) > maxShape {
			fail("there are too many fields")
		}
		out := &message{m: m, name: messageName(m), open: laid.Unresolved}
		if len(out.open) > 0 && !symbols {
			fail("the constant %s has no value", out.open[0])
		}
		out.record = &record{want: typeName(m), doc: m.Doc, message: out}
		p.members(out.record, m.Body)
		c := newCompiler(p, out, laid)
		c.record(out.record, &laid.Body)
		p.records = append(p.records, out.record)
		p.messages = append(p.messages, out)
		p.losses = append(p.losses, c.losses...)
	})
	if why != "" {
		p.lose(m, "", "%s", why)
		p.forget(records, structs)
	}
}

// typeName is what the type of a message would be called.
func typeName(m *schema.Message) string {
	if m.Version > 1 {
		return m.Name + "_v" + strconv.Itoa(m.Version)
	}
	return m.Name
}

// forget removes the records that a message made which then failed.
func (p *plan) forget(records, structs int) {
	for _, r := range p.records[records:] {
		delete(p.byShape, r.shape)
	}
	for _, s := range p.made[structs:] {
		delete(p.byStruct, s)
	}
	p.records, p.made = p.records[:records], p.made[:structs]
}

const maxShape = 1 << 20 // characters

// shape is a text that is equal for structs whose values and bytes are equal.
func (p *plan) shape(s *schema.Struct) string {
	if old, ok := p.shapes[s]; ok {
		return old
	}
	var b strings.Builder
	index := map[*schema.Field]string{}
	p.shapeFields(&b, s.Fields, index, "")
	shapeWire(&b, s.Wire, index)
	fmt.Fprintf(&b, "o%d", s.Optional)
	for i, v := range s.Variants {
		fmt.Fprintf(&b, "v%d,%d,%s,%d{", v.MinLen, v.MaxLen, index[v.Field], v.Value)
		if v.Body != nil {
			p.shapeFields(&b, v.Body.Fields, index, "v"+strconv.Itoa(i)+".")
			shapeWire(&b, v.Body.Wire, index)
		}
		b.WriteByte('}')
	}
	if b.Len() > maxShape {
		fail("there are too many fields")
	}
	p.shapes[s] = b.String()
	return b.String()
}

func (p *plan) shapeFields(b *strings.Builder, fields []*schema.Field, index map[*schema.Field]string, prefix string) {
	for i, f := range fields {
		if _, ok := index[f]; !ok {
			index[f] = prefix + strconv.Itoa(i)
		}
		fmt.Fprintf(b, "%q:", f.Name)
		if f.Same != nil {
			fmt.Fprintf(b, "=%s", index[f.Same])
		}
		p.shapeType(b, f.Type)
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 {
			hoisted(g.Struct, index, prefix+strconv.Itoa(i)+".")
		}
		b.WriteByte(';')
	}
}

func hoisted(s *schema.Struct, index map[*schema.Field]string, prefix string) {
	for i, f := range s.Fields {
		index[f] = prefix + strconv.Itoa(i)
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 {
			hoisted(g.Struct, index, prefix+strconv.Itoa(i)+".")
		}
	}
}

func shapeWire(b *strings.Builder, wire []schema.Item, index map[*schema.Field]string) {
	for i := range wire {
		it := &wire[i]
		fmt.Fprintf(b, "%d,%s,%d,%d,%x", it.Kind, index[it.Field], it.Bits, it.Order, it.Bytes)
		for _, f := range it.Weave {
			fmt.Fprintf(b, "+%s", index[f])
		}
		b.WriteByte('|')
	}
}

// typeShape is a text that is equal for types whose values and bytes are equal.
func (p *plan) typeShape(t schema.Type) string {
	var b strings.Builder
	p.shapeType(&b, t)
	return b.String()
}

func (p *plan) shapeType(b *strings.Builder, t schema.Type) {
	limit := func(l *schema.Limit) {
		if l != nil {
			fmt.Fprintf(b, "%d,%d,%v,%s", l.Int, l.Uint, l.Float, l.Const)
		}
		b.WriteByte('/')
	}
	extent := func(e schema.Extent) {
		fmt.Fprintf(b, "%d,%d,", e.Size, e.N)
		limit(e.Min)
		limit(e.Max)
	}
	switch t := t.(type) {
	case *schema.Number:
		fmt.Fprintf(b, "n%d,%d,%d,%v,%v,%v", t.Bits, t.Kind, t.Order, t.Scale, t.Wrap, t.Truncate)
		limit(t.Min)
		limit(t.Max)
	case *schema.Bitfield:
		fmt.Fprintf(b, "p%d,%d,%v,%v", t.Bits, t.Order, t.Names, t.Forms)
	case *schema.Text:
		fmt.Fprintf(b, "t%d", t.Charset)
		extent(t.Extent)
	case *schema.Blob:
		b.WriteByte('b')
		extent(t.Extent)
	case *schema.List:
		fmt.Fprintf(b, "l%v,%v", t.Bare, t.Linked)
		extent(t.Extent)
		b.WriteString("{" + p.shape(t.Elem) + "}")
	case *schema.Group:
		b.WriteString("g{" + p.shape(t.Struct) + "}")
	default:
		fail("a field has no type")
	}
}

// record returns the type of a struct inside another one.
func (p *plan) record(s *schema.Struct, parent *record, f *schema.Field) *record {
	if r := p.byStruct[s]; r != nil {
		return r
	}
	want := s.Name
	if want == "" && len(s.Wire) > 0 && isName(f.TypeText) {
		if _, ok := f.Type.(*schema.Group); ok {
			want = f.TypeText // a type with a name, such as a vector
		}
	}
	shape := ""
	if want != "" {
		shape = want + " " + p.shape(s)
		if r := p.byShape[shape]; r != nil {
			p.byStruct[s], p.made = r, append(p.made, s)
			return r
		}
	} else if want = parent.want + "_" + f.Name; f.Name == "" {
		want = parent.want + "_element"
	}
	r := &record{want: want, shape: shape}
	p.byStruct[s], p.made = r, append(p.made, s)
	if shape != "" {
		p.byShape[shape] = r
	}
	p.members(r, s)
	p.records = append(p.records, r)
	return r
}

// isName reports whether a type's text is one word of letters and digits.
func isName(text string) bool { return text != "" && legal(text) == text }

// members makes the members of a record.
func (p *plan) members(r *record, s *schema.Struct) {
	index := map[*schema.Field]int{}
	for i, f := range s.Fields {
		index[f] = i
		if f.Same == nil {
			m := &member{field: f, name: f.Name, typ: f.Type}
			p.inner(r, m)
			r.members = append(r.members, m)
			r.slots = append(r.slots, m)
			continue
		}
		k, ok := index[f.Same]
		if !ok || p.typeShape(s.Fields[k].Type) != p.typeShape(f.Type) {
			fail("%q stands twice with different types", f.Name)
		}
		r.slots = append(r.slots, r.slots[k])
	}
	r.fields = len(r.members)
	for i, v := range s.Variants {
		if v.Field == nil {
			r.choice = true
		}
		if (v.Field == nil) != (s.Variants[0].Field == nil) {
			fail("alternative %d is chosen in another way than the first", i+1)
		}
		if v.Body == nil {
			continue
		}
		for _, f := range v.Body.Fields {
			p.altMember(r, f)
		}
	}
}

// inner makes the record of a member's type.
func (p *plan) inner(r *record, m *member) {
	switch t := m.typ.(type) {
	case *schema.Group:
		m.record = p.record(t.Struct, r, m.field)
	case *schema.List:
		m.record = p.elemRecord(t, r, m.field)
	}
}

// elemRecord is the record of a list's elements; nil if they are single values without one.
func (p *plan) elemRecord(t *schema.List, r *record, f *schema.Field) *record {
	if !t.Bare {
		return p.record(t.Elem, r, f)
	}
	if len(t.Elem.Fields) != 1 {
		fail("the elements of %q are not one value each", f.Name)
	}
	inner := *t.Elem.Fields[0]
	inner.Name = f.Name
	switch e := inner.Type.(type) {
	case *schema.Group:
		return p.record(e.Struct, r, &inner)
	case *schema.List:
		return p.elemRecord(e, r, &inner)
	}
	return nil
}

// altMember finds or makes the member of an alternative's field. Fields of one name and type share one.
func (p *plan) altMember(r *record, f *schema.Field) *member {
	if r.alts == nil {
		r.alts = map[string]*member{}
	}
	key := f.Name + " " + p.typeShape(f.Type)
	if m := r.alts[key]; m != nil {
		return m
	}
	m := &member{field: f, name: f.Name, typ: f.Type, alt: true}
	p.inner(r, m)
	r.members = append(r.members, m)
	r.alts[key] = m
	return m
}
