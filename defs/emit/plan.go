package emit

import (
	"errors"
	"fmt"
	"math"
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
	losses   []Loss

	byStruct map[*schema.Struct]*record
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
	min    size
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
	min     size
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
	min    size     // of an element
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
	unit  size // bytes of one unit, at least
}

// size is a number of bytes, plus multiples of constants that have no value yet: an expression in C.
type size struct {
	n    uint64
	more string // "" or " + NAME * 2"
}

func (s size) String() string { return strconv.FormatUint(s.n, 10) + s.more }

func (s size) plus(t size) size {
	return size{min(s.n+t.n, math.MaxUint32), s.more + t.more}
}

func (s size) times(n uint64) size {
	if n == 0 {
		return size{}
	}
	out := size{n: math.MaxUint32}
	if s.n <= math.MaxUint32/n {
		out.n = s.n * n
	}
	if s.more != "" {
		out.more = fmt.Sprintf(" + (0%s) * %d", s.more, n)
	}
	return out
}

// impossible is the reason why a message cannot be expressed. It is a panic inside this file alone.
type impossible string

func fail(format string, args ...any) { panic(impossible(fmt.Sprintf(format, args...))) }

// newPlan makes the plan of a schema. symbols: the target can leave constants without a value to its user.
func newPlan(s *schema.Schema, o Options, symbols bool) *plan {
	p := &plan{schema: s, byStruct: map[*schema.Struct]*record{}, byShape: map[string]*record{}, shapes: map[*schema.Struct]string{}, losses: o.lost}
	for _, m := range s.Messages {
		p.message(m, symbols)
	}
	return p
}

func (p *plan) lose(m *schema.Message, field, format string, args ...any) {
	name := ""
	if m != nil {
		name = messageName(m)
	}
	p.losses = append(p.losses, Loss{Message: name, Field: field, Reason: fmt.Sprintf(format, args...)})
}

func (p *plan) message(m *schema.Message, symbols bool) {
	if m.Broken || m.Body == nil {
		p.lose(m, "", "the definition has errors; the message is left out")
		return
	}
	records := len(p.records)
	defer func() {
		switch e := recover().(type) {
		case nil:
		case impossible:
			p.lose(m, "", "%s; the message is left out", string(e))
			p.forget(records)
		default:
			panic(e)
		}
	}()
	if len(p.shape(m.Body, 0)) > maxShape {
		fail("there are too many fields")
	}
	out := &message{m: m, name: messageName(m)}
	open := map[string]bool{}
	p.constants(m.Body, open, &out.open, 0)
	if len(out.open) > 0 && !symbols {
		fail("the constant %s has no value", out.open[0])
	}
	want := m.Name
	if m.Version > 1 {
		want += "_v" + strconv.Itoa(m.Version)
	}
	r := &record{want: want, doc: m.Doc, message: out}
	out.record = r
	p.members(r, m.Body)
	c := &compiler{p: p, m: out, r: r, top: true}
	r.steps = c.body(m.Body, nil, r)
	r.min = p.minSize(m.Body)
	out.min = r.min
	out.header = (c.header + 7) / 8
	p.records = append(p.records, r)
	p.messages = append(p.messages, out)
	for _, l := range c.losses {
		p.lose(m, l.Field, "%s", l.Reason)
	}
}

// forget removes the records that a message made which then failed.
func (p *plan) forget(from int) {
	for _, r := range p.records[from:] {
		delete(p.byShape, r.shape)
		for s, other := range p.byStruct {
			if other == r {
				delete(p.byStruct, s)
			}
		}
	}
	p.records = p.records[:from]
}

// constants finds the constants that have no value.
func (p *plan) constants(s *schema.Struct, seen map[string]bool, out *[]string, depth int) {
	if depth > maxDepth {
		fail("it is nested deeper than %d", maxDepth)
	}
	note := func(limits ...*schema.Limit) {
		for _, l := range limits {
			if l != nil && l.Const != "" && !seen[l.Const] {
				seen[l.Const] = true
				*out = append(*out, l.Const)
			}
		}
	}
	for _, f := range s.Fields {
		switch t := f.Type.(type) {
		case *schema.Number:
			note(t.Min, t.Max)
		case *schema.Text:
			note(t.Min, t.Max)
		case *schema.Blob:
			note(t.Min, t.Max)
		case *schema.List:
			note(t.Min, t.Max)
			p.constants(t.Elem, seen, out, depth+1)
		case *schema.Group:
			p.constants(t.Struct, seen, out, depth+1)
		}
	}
	for _, v := range s.Variants {
		if v.Body != nil {
			p.constants(v.Body, seen, out, depth+1)
		}
	}
}

const (
	maxDepth = 64
	maxShape = 1 << 20 // characters
)

// shape is a text that is equal for structs whose values and bytes are equal.
func (p *plan) shape(s *schema.Struct, depth int) string {
	if old, ok := p.shapes[s]; ok {
		return old
	}
	if depth > maxDepth {
		fail("it is nested deeper than %d", maxDepth)
	}
	var b strings.Builder
	index := map[*schema.Field]string{}
	p.shapeFields(&b, s.Fields, index, "", depth)
	shapeWire(&b, s.Wire, index)
	fmt.Fprintf(&b, "o%d", s.Optional)
	for i, v := range s.Variants {
		fmt.Fprintf(&b, "v%d,%d,%s,%d{", v.MinLen, v.MaxLen, index[v.Field], v.Value)
		if v.Body != nil {
			p.shapeFields(&b, v.Body.Fields, index, "v"+strconv.Itoa(i)+".", depth)
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

func (p *plan) shapeFields(b *strings.Builder, fields []*schema.Field, index map[*schema.Field]string, prefix string, depth int) {
	for i, f := range fields {
		if _, ok := index[f]; !ok {
			index[f] = prefix + strconv.Itoa(i)
		}
		fmt.Fprintf(b, "%q:", f.Name)
		if f.Same != nil {
			fmt.Fprintf(b, "=%s", index[f.Same])
		}
		p.shapeType(b, f.Type, depth)
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 {
			hoisted(g.Struct, index, prefix+strconv.Itoa(i)+".", depth)
		}
		b.WriteByte(';')
	}
}

func hoisted(s *schema.Struct, index map[*schema.Field]string, prefix string, depth int) {
	if depth > maxDepth {
		fail("it is nested deeper than %d", maxDepth)
	}
	for i, f := range s.Fields {
		index[f] = prefix + strconv.Itoa(i)
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 {
			hoisted(g.Struct, index, prefix+strconv.Itoa(i)+".", depth+1)
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
	p.shapeType(&b, t, 0)
	return b.String()
}

func (p *plan) shapeType(b *strings.Builder, t schema.Type, depth int) {
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
	case *schema.Packed:
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
		b.WriteString("{" + p.shape(t.Elem, depth+1) + "}")
	case *schema.Group:
		b.WriteString("g{" + p.shape(t.Struct, depth+1) + "}")
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
		shape = want + " " + p.shape(s, 0)
		if r := p.byShape[shape]; r != nil {
			p.byStruct[s] = r
			return r
		}
	} else if want = parent.want + "_" + f.Name; f.Name == "" {
		want = parent.want + "_element"
	}
	r := &record{want: want, shape: shape, doc: ""}
	p.byStruct[s] = r
	if shape != "" {
		p.byShape[shape] = r
	}
	p.members(r, s)
	r.min = p.minSize(s)
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

// minSize is the number of bytes that a struct takes at least, as the codec counts them.
func (p *plan) minSize(s *schema.Struct) size {
	var bits uint64
	var whole size
	for i := range s.Wire[:len(s.Wire)-min(s.Optional, len(s.Wire))] {
		it := &s.Wire[i]
		switch it.Kind {
		case schema.Value:
			switch t := it.Field.Type.(type) {
			case *schema.Number:
				bits += uint64(t.Bits)
			case *schema.Packed:
				bits += uint64(t.Bits)
			default:
				whole = whole.plus(p.minType(t))
			}
		case schema.Const:
			bits += uint64(len(it.Bytes)) * 8
		case schema.Weave:
		default:
			bits += uint64(max(it.Bits, 0))
		}
	}
	return whole.plus(size{n: (bits + 7) / 8})
}

func (p *plan) minType(t schema.Type) size {
	switch t := t.(type) {
	case *schema.Text:
		return minUnits(t.Extent, size{n: uint64(t.Charset.Unit())})
	case *schema.Blob:
		return minUnits(t.Extent, size{n: 1})
	case *schema.List:
		return minUnits(t.Extent, p.minSize(t.Elem))
	case *schema.Group:
		return p.minSize(t.Struct)
	}
	return size{}
}

func minUnits(e schema.Extent, unit size) size {
	switch {
	case e.Size == schema.Fixed:
		return unit.times(uint64(max(e.N, 0)))
	case e.Size == schema.Terminated:
		return unit
	case e.Min == nil:
		return size{}
	case e.Min.Const != "":
		return size{more: fmt.Sprintf(" + (uint64_t)%s * (%s)", e.Min.Const, unit)}
	}
	return unit.times(e.Min.Uint)
}

// compile says what stands where in a message.
func compile(m *schema.Message) (*wire.Message, error) {
	out, err := wire.Compile(m)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "compile "+m.Name+": "))
	}
	return out, nil
}
