package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// A plan is the common input of targets that are programming languages: the types of values, and the steps for reading and writing a
// message. A step is a block of fixed size, a run of bytes or a list. The order of the steps, and of the checks inside a block, is the same
// as in the codec.
type plan struct {
	schema   *schema.Schema
	records  []*record // inner ones first
	messages []*message
	losses

	byStruct map[*schema.Struct]*record
	made     []*schema.Struct // the keys of byStruct, in order
	byShape  map[string]*record
	shapes   map[*schema.Struct]string
	ids      map[string]string // short names of shapes
	room     int               // see afford
	counted  map[*schema.Struct]bool
	packed   bool             // some contents are compressed
	within   []*schema.Struct // those whose shape is being written
	reach    int              // the outermost of them that a shape refers to
}

// message is a converted message.
type message struct {
	m      *schema.Message
	name   string // see messageName
	record *record
	code   *item
	min    string   // bytes
	open   []string // constants without a value
	laid   *wire.Message
	mem    []*member // by field, of targets that write messages from their parts
	plain  bool      // it has no features
	packed bool      // it has compressed contents
}

// record is a type of the output, with members.
type record struct {
	want    string // name, before it is made legal in the target
	doc     string
	fields  int // number of members for the struct's Fields, in their order; those of alternatives follow
	members []*member
	alts    map[string]*member // members of alternatives, by name and type
	message *message
	parts   int  // number of optional steps at the end
	choice  bool // the alternative does not depend on a value
	open    bool // its members are being made
	union   bool // at most one of its members has a value
	shape   string
}

// member is one value of a record.
type member struct {
	field  *schema.Field
	name   string // as in the definition, or the name of the code, counter or checksum
	nth    int    // of the fields of this name all but the one that is read last have a number, from 1; see label
	typ    schema.Type
	record *record         // of a group, and of the elements of a list; of a choice with several types
	elem   *member         // of a list of bare elements
	kinds  []*member       // of a choice: its types, each once
	kind   map[int]*member // by alternative
	ptr    bool            // the record may contain itself
	null   bool            // the group may have no value
	part   int             // number of optional parts that it requires; 0: always present
	alt    bool            // of an alternative
	book   schema.ItemKind
	isBook bool    // one of Code, Counter, Check, and Present for a member that is another one's chosen
	chosen *member // of a choice without a name: its alternative, if nothing else tells it where it is written
}

// label returns the name of the member in values: "name", and "name#1" for an earlier field of the same name.
func (m *member) label() string {
	if m.nth == 0 {
		return m.name
	}
	return m.name + "#" + strconv.Itoa(m.nth)
}

// naming returns the members in the order in which they get the identifiers of a target: fields have precedence over earlier fields of their
// name, and over bookkeeping.
func (r *record) naming() []*member {
	out := slices.Clone(r.members)
	slices.SortStableFunc(out, func(a, b *member) int { return a.rank() - b.rank() })
	return out
}

func (m *member) rank() int {
	switch {
	case m.isBook:
		return 2
	case m.nth > 0:
		return 1
	}
	return 0
}

// item is a number of fixed size in a block, or the code of a message.
type item struct {
	kind  schema.ItemKind
	off   int // bits from the start of the block
	bits  int
	order schema.Order
	form  schema.Varint // of a code
}

// newPlan returns the plan of a schema. symbols: the user of the target may define constants without a value. checks fail for other messages that the
// target cannot express.
func newPlan(s *schema.Schema, o Options, symbols bool, known features, checks ...func(*wire.Message)) *plan {
	p := &plan{schema: s, byStruct: map[*schema.Struct]*record{}, byShape: map[string]*record{}, shapes: map[*schema.Struct]string{}, ids: map[string]string{}, room: o.room, counted: map[*schema.Struct]bool{}, losses: slices.Clone(o.lost)}
	for _, m := range s.Messages {
		p.message(m, symbols, known, checks)
	}
	return p
}

func (p *plan) message(m *schema.Message, symbols bool, known features, checks []func(*wire.Message)) {
	records, structs := len(p.records), len(p.made)
	ok := p.try(m, known, func(laid *wire.Message) {
		p.encodings(laid)
		if len(p.shape(m.Body)) > maxShape {
			fail("too many fields")
		}
		out := &message{m: m, name: messageName(m), open: laid.Unresolved, laid: laid, plain: len(laid.Features()) == 0}
		if len(out.open) > 0 && !symbols {
			fail("the constant %s has no value", out.open[0])
		}
		out.record = &record{want: typeName(m), doc: m.Doc, message: out}
		p.members(out.record, m.Body)
		out.min = byteSum(laid.Body.Min)
		w := wiring{plan: p, m: out}
		w.message()
		for _, check := range checks {
			check(laid)
		}
		p.records = append(p.records, out.record)
		p.messages = append(p.messages, out)
		p.losses = append(p.losses, w.losses...)
	})
	if !ok {
		p.forget(records, structs)
	}
}

// stored reports the messages whose contents the target cannot compress.
func (p *plan) stored() {
	for _, m := range p.messages {
		if m.packed {
			p.lose(m.m, "", "compressed contents are read, and written without compression")
		}
	}
}

// typeName returns the preferred name of the type of a message.
func typeName(m *schema.Message) string {
	if m.Version > 1 {
		return m.Name + "_v" + strconv.Itoa(m.Version)
	}
	return m.Name
}

// forget removes the records of a message that failed.
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

// shape returns a text that is equal for structs with the same values and encoding.
func (p *plan) shape(s *schema.Struct) string {
	if old, ok := p.shapes[s]; ok {
		return old
	}
	if i := slices.Index(p.within, s); i >= 0 {
		p.reach = min(p.reach, i)
		return "^" + strconv.Itoa(len(p.within)-i)
	}
	depth, reach := len(p.within), p.reach
	p.within, p.reach = append(p.within, s), depth
	defer func() { p.within, p.reach = p.within[:depth], min(p.reach, reach) }()
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
		fail("too many fields")
	}
	if p.reach < depth { // it depends on those around it
		return b.String()
	}
	id := p.ids[b.String()]
	if id == "" {
		id = "#" + strconv.Itoa(len(p.ids))
		p.ids[b.String()] = id
	}
	p.shapes[s] = id
	return id
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
		if n := it.Num; n != nil {
			fmt.Fprintf(b, "n%d,%d,%d", n.Bits, n.Kind, n.Order)
		}
		b.WriteByte('|')
	}
}

// typeShape returns a text that is equal for types with the same values and encoding.
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
		if e.Trim {
			b.WriteString("t,")
		}
		limit(e.Min)
		limit(e.Max)
	}
	switch t := t.(type) {
	case *schema.Number:
		fmt.Fprintf(b, "n%d,%d,%d,%v,%v,%v,%d", t.Bits, t.Kind, t.Order, t.Scale, t.Wrap, t.Truncate, t.Add)
		if t.Var == schema.Long {
			b.WriteByte('l')
		}
		limit(t.Min)
		limit(t.Max)
	case *schema.Bitfield:
		fmt.Fprintf(b, "p%d,%d,%v,%v", t.Bits, t.Order, t.Names, t.Forms)
	case *schema.Text:
		fmt.Fprintf(b, "t%d", t.Charset)
		extent(t.Extent)
	case *schema.Blob:
		if b.WriteByte('b'); t.Value != nil {
			b.WriteByte('v')
		}
		extent(t.Extent)
	case *schema.List:
		fmt.Fprintf(b, "l%v,%v", t.Bare, t.Linked)
		extent(t.Extent)
		b.WriteString("{" + p.shape(t.Elem) + "}")
	case *schema.Group:
		fmt.Fprintf(b, "g%v,%v{%s}", t.Bare, t.Null, p.shape(t.Struct))
	case *schema.Choice:
		fmt.Fprintf(b, "c%v{", t.Anon)
		for i := range t.Cases {
			if a := &t.Cases[i]; a.Body != nil {
				fmt.Fprintf(b, "%d,%v,%v{%s}", a.Value, a.Else, a.Bare, p.shape(a.Body))
			}
		}
		b.WriteByte('}')
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
	r.open = true
	p.members(r, s)
	r.open = false
	p.records = append(p.records, r)
	return r
}

// isName reports whether a text is a single word of letters and digits.
func isName(text string) bool { return text != "" && legal(text) == text }

// members makes the members of a record.
func (p *plan) members(r *record, s *schema.Struct) {
	for _, f := range s.Fields {
		m := &member{field: f, name: f.Name, typ: f.Type}
		r.members = append(r.members, m)
	}
	r.fields = len(r.members)
	for _, m := range r.members {
		p.inner(r, m)
	}
	for i, v := range s.Variants {
		if v.Field == nil {
			r.choice = true
		}
		if (v.Field == nil) != (s.Variants[0].Field == nil) {
			fail("alternative %d depends on something else than the first", i+1)
		}
		if v.Body == nil {
			continue
		}
		for _, f := range v.Body.Fields {
			p.altMember(r, f)
		}
	}
}

// inner makes the records of a member's type.
func (p *plan) inner(r *record, m *member) {
	switch t := m.typ.(type) {
	case *schema.Group:
		m.null = m.null || t.Null
		if bare(t) {
			m.typ = t.Struct.Fields[0].Type
			p.inner(r, m)
			return
		}
		m.record = p.record(t.Struct, r, m.field)
		m.ptr = m.record.open
	case *schema.List:
		if t.Bare && len(t.Elem.Fields) == 1 {
			inner := *t.Elem.Fields[0]
			inner.Name = m.field.Name
			m.elem = &member{field: &inner, name: m.name, typ: inner.Type}
			p.inner(r, m.elem)
			m.elem.ptr = false // the list is a pointer
			m.record = m.elem.record
			return
		}
		if t.Bare {
			fail("the bare elements of %q are not single values", m.field.Name)
		}
		m.record = p.record(t.Elem, r, m.field)
	case *schema.Choice:
		p.choice(r, m, t)
	}
}

// bare reports whether the value of a group is that of its only field.
func bare(g *schema.Group) bool {
	if !g.Bare || g.Own || len(g.Struct.Fields) != 1 {
		return false
	}
	c, ok := g.Struct.Fields[0].Type.(*schema.Choice)
	return !ok || !c.Anon
}

// choice makes the types of the alternatives of a choice: members of the record around them, or one or several kinds.
func (p *plan) choice(r *record, m *member, t *schema.Choice) {
	m.kind = map[int]*member{}
	byType, names := map[string]*member{}, map[string]bool{}
	for i := range t.Cases {
		a := &t.Cases[i]
		switch {
		case a.Body == nil:
			continue
		case t.Anon:
			for _, f := range a.Body.Fields {
				p.altMember(r, f)
			}
			continue
		}
		name := a.Name
		if name == "" {
			name = "case" + strconv.FormatUint(a.Value, 10)
		}
		if a.Text != nil { // its name is in quotes
			name = *a.Text
		}
		if a.Else && a.Name == "" {
			name = "other"
		}
		inner := schema.Field{Name: m.field.Name + "_" + name, Type: &schema.Group{Struct: a.Body}}
		if a.Bare {
			inner.Type, inner.TypeText = a.Body.Fields[0].Type, a.Body.Fields[0].TypeText
		}
		shape := p.typeShape(inner.Type)
		k := byType[shape]
		if k == nil {
			for i := 2; names[name]; i++ {
				name = strings.TrimRight(name, "_0123456789") + "_" + strconv.Itoa(i)
			}
			names[name] = true
			k = &member{field: &inner, name: name, typ: inner.Type}
			byType[shape] = k
			m.kinds = append(m.kinds, k)
			p.inner(r, k)
			k.ptr = false // there is a pointer to each kind
		}
		m.kind[i] = k
	}
	if len(m.kinds) > 1 {
		m.record = &record{want: r.want + "_" + m.field.Name, members: m.kinds, fields: len(m.kinds), union: true}
		p.records = append(p.records, m.record)
	}
}

// altMember returns the member of an alternative's field. Fields of the same name and type share a member.
func (p *plan) altMember(r *record, f *schema.Field) *member {
	if r.alts == nil {
		r.alts = map[string]*member{}
	}
	key := f.Name + " " + p.typeShape(f.Type)
	for old := f.Same; old != nil; old = old.Same {
		key += "#"
	}
	if m := r.alts[key]; m != nil {
		return m
	}
	m := &member{field: f, name: f.Name, typ: f.Type, alt: true}
	p.inner(r, m)
	r.members = append(r.members, m)
	r.alts[key] = m
	return m
}
