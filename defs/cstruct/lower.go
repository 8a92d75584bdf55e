package cstruct

import (
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// lower returns the messages of the file: its named structs.
func (u *unit) lower() []*schema.Message {
	u.check()
	codes := u.codes()
	var out []*schema.Message
	names := map[string]*record{}
	for _, r := range u.records {
		if r.typeDef.at.File != u.main.file || !r.top || !r.whole || r.typeDef.name == "" || r.params != nil {
			continue
		}
		name := r.typeDef.name
		if names[name] != nil && r.typeDef.scope != names[name].typeDef.scope {
			for s := r.typeDef.scope; s != nil && names[name] != nil; s = s.up {
				if s.name != "" {
					name = s.name + "_" + name
				}
			}
		}
		if first := names[name]; first != nil {
			u.report(duplicateStruct(r.typeDef.at, first.typeDef.at, name))
			r.broken = true
			continue
		}
		names[name] = r
		out = append(out, u.message(name, r, codes))
	}
	return out
}

// check evaluates the assertions.
func (u *unit) check() {
	for _, a := range u.asserts {
		v, bad := u.evaluate(a.x, env{scope: a.scope})
		if bad != nil || v != 0 || a.at.File != u.main.file {
			continue // what cannot be computed is not about sizes
		}
		u.report(assertionFails(a.at, u.sizes(a)))
		for _, x := range append(a.x.args, a.x) {
			if t := x.typ; t != nil && x.op == "sizeof" {
				if r := u.resolve(t, env{scope: a.scope}); r != nil && r.shape != nil {
					r.shape.broken = true
				}
			}
		}
	}
}

// sizes returns what the sides of a failed comparison are.
func (u *unit) sizes(a assertion) string {
	if len(a.x.args) != 2 {
		return ""
	}
	left, bad := u.evaluate(a.x.args[0], env{scope: a.scope})
	right, bad2 := u.evaluate(a.x.args[1], env{scope: a.scope})
	if bad != nil || bad2 != nil {
		return ""
	}
	return itoa(left) + " " + a.x.op + " " + itoa(right)
}

// given are the codes that are not at the structs: of enums and of the code map, by the names of structs without usual prefixes and endings.
type given map[string]givenCode

type givenCode struct {
	value int64
	enum  *enum
}

var nameEnds = regexp.MustCompile(`(?i)_?(struct|packet|pkt|msg|message|_t|_s)$`)

var nameStarts = regexp.MustCompile(`^(OP|MSG|PKT|PACKET|ID|CMD|OPCODE|k)_`)

// plainName returns a name without prefixes and endings that structs and their codes do not have in common: OP_Login and Login_Struct.
func plainName(name string) string {
	name = nameStarts.ReplaceAllString(name, "")
	if short := nameEnds.ReplaceAllString(name, ""); short != "" {
		name = short
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// codes returns the codes of the map, and of enums whose name says that they are codes.
func (u *unit) codes() given {
	out := given{}
	var walk func(s *scope, depth int)
	seen := map[*enum]bool{}
	walk = func(s *scope, depth int) {
		if depth > maxDepth {
			return
		}
		for _, name := range keys(s.types) {
			e := s.types[name].enum
			if e == nil || seen[e] {
				continue
			}
			seen[e] = true
			if _, ok := e.notes.find("opcode"); !ok && !strings.Contains(strings.ToLower(strings.ReplaceAll(e.name, "_", "")), "opcode") {
				continue
			}
			for _, c := range e.values {
				if v, bad := u.constant(c, 0); bad == nil {
					out[plainName(c.name)] = givenCode{v, e}
				}
			}
		}
		for _, name := range keys(s.kids) {
			walk(s.kids[name], depth+1)
		}
	}
	walk(u.root, 0)
	for _, name := range keys(u.options.Codes) {
		out[plainName(name)] = givenCode{value: int64(u.options.Codes[name])}
	}
	return out
}

// opcodeNames are the names of constants of a struct that are its code, in lower case and without "_".
var opcodeNames = strings.Fields("opcode kopcode packetid packettype messageid messagetype msgid msgtype packetcode messagecode command commandid cmd cmdid id kid code kcode")

// key sets the code of a message.
func (u *unit) key(m *schema.Message, r *record, codes given) {
	var of *enum
	code, found := int64(0), false
	take := func(x *expr, s *scope) {
		v, bad := u.evaluate(x, env{scope: s})
		if bad != nil {
			u.report(*bad)
			return
		}
		code, found = v, true
		if x.op == "name" {
			if c := u.constantNamed(x.path, s); c != nil {
				of = c.enum
			}
		}
	}
	if at, ok := r.notes.find("opcode"); ok {
		if x := u.annotated(at); x != nil {
			take(x, r.inner)
		}
	}
	for i := 0; i < len(opcodeNames) && !found; i++ {
		for _, name := range keys(r.inner.consts) {
			c := r.inner.consts[name]
			if !found && c.enum == nil && strings.ToLower(strings.ReplaceAll(name, "_", "")) == opcodeNames[i] {
				take(c.x, c.scope)
			}
		}
	}
	for _, b := range r.bases {
		for _, a := range b.args {
			if a.value == nil || a.value.op != "name" || found {
				continue
			}
			if c := u.constantNamed(a.value.path, r.typeDef.scope); c != nil && c.enum != nil {
				take(a.value, r.typeDef.scope)
			}
		}
	}
	if g, ok := codes[plainName(m.Name)]; ok && !found {
		code, of, found = g.value, g.enum, true
	}
	if of != nil {
		if _, directed := of.notes.find("dir"); !directed { // otherwise the direction tells its codes from those of others
			m.Key.Group = of.name
		}
		if at, ok := of.notes.find("group"); ok {
			m.Key.Group = text.CleanName(at.Text())
		}
		u.direction(m, &of.notes)
	}
	for s := r.typeDef.scope; s != nil && m.Key.Dir == schema.Both; s = s.up {
		u.direction(m, &s.notes)
	}
	u.direction(m, &r.notes)
	if at, ok := r.notes.find("group"); ok {
		m.Key.Group = text.CleanName(at.Text())
	}
	if found && (code < 0 || code > 1<<32-1) {
		u.report(badCode(r.typeDef.at, code))
		m.Broken = true
	} else if found {
		m.HasKey, m.Key.Code = true, uint32(code)
	}
}

// direction sets the direction of a message from an annotation.
func (u *unit) direction(m *schema.Message, n *notes) {
	at, ok := n.find("dir")
	if !ok {
		return
	}
	if d := schema.DirNamed(at.Text()); d != schema.Both {
		m.Key.Dir = d
	} else {
		u.report(badAnnotation(at, "the directions are c2s, of messages to the server, and s2c"))
	}
}

// annotated reads the expression of an annotation; nil if it has none, which is reported.
func (u *unit) annotated(at source.Span) *expr {
	t := &tree{file: at.File}
	l := &lexer{tree: t, src: at.File.Text, at: at.Start, end: at.End}
	for l.next() {
	}
	p := &parser{u: u, toks: t.tokens}
	x := p.expr(0)
	if x == nil || p.i < len(p.toks) || len(t.diags) > 0 {
		u.report(badAnnotation(at, "it is followed by an expression of numbers, constants and earlier fields"))
		return nil
	}
	return x
}

// message compiles the message of a record.
func (u *unit) message(name string, r *record, codes given) *schema.Message {
	m := &schema.Message{Name: name, Version: 1, Doc: r.notes.doc, Span: r.typeDef.at, Text: r.text, Body: &schema.Struct{}}
	before := len(u.diags)
	u.hidden = nil
	u.key(m, r, codes)
	if u.fields > maxAllFields {
		u.report(tooManyFields(r.typeDef.at, maxAllFields))
		m.Broken = true
		return m
	}
	s := u.shapeOf(r, nil, "", &typeExpr{at: r.typeDef.at}, 0)
	if s == nil {
		m.Broken = true
		return m
	}
	b := &builder{unit: u, message: m, s: m.Body, order: u.order, top: true}
	b.record(s, 0, true)
	u.fields += b.count
	m.Broken = m.Broken || s.broken || b.broken
	if m.Broken && len(u.diags) == before && u.hidden != nil {
		u.report(brokenInside(r.typeDef.at, name, u.hidden))
	}
	return m
}

// builder makes the fields and items of a struct.
type builder struct {
	*unit
	message *schema.Message
	s       *schema.Struct
	up      *builder
	order   schema.Order
	pos     int  // bits
	top     bool // is the message itself
	group   bool // is a group
	names   map[string]*schema.Field
	broken  bool
	count   int // fields, with those inside
	depth   int
	open    bool // ends where its contents do
}

// pad adds unused bits up to a place.
func (b *builder) pad(to int) {
	if to > b.pos {
		b.s.Wire = append(b.s.Wire, schema.Item{Kind: schema.Pad, Bits: to - b.pos})
		b.pos = to
	}
}

// fail reports an error that makes the message broken.
func (b *builder) fail(d diag.Diagnostic) {
	b.broken = true
	b.report(d)
}

// record adds the contents of a struct at a place. atEnd reports whether the message, or the element of a list of them, ends there: an array
// without a number of elements may be last.
func (b *builder) record(s *shape, base int, atEnd bool) {
	order := b.order
	if at, ok := s.record.notes.find("endian"); ok {
		b.endian(at)
	}
	defer func() { b.order = order }()
	b.broken = b.broken || s.broken
	if b.depth++; b.depth > maxDepth {
		b.fail(tooDeep(s.record.typeDef.at))
		return
	}
	defer func() { b.depth-- }()
	if s.record.union {
		b.union(s, base)
		return
	}
	for i := range s.slots {
		last := atEnd && i == len(s.slots)-1
		b.pad(base + s.slots[i].off)
		b.slot(s, &s.slots[i], base, last)
	}
	if !b.open && !s.broken {
		b.pad(base + 8*s.size)
	}
}

func (b *builder) endian(at source.Span) {
	switch at.Text() {
	case "big":
		b.order = schema.Big
	case "little":
		b.order = schema.Little
	default:
		b.fail(badAnnotation(at, "the byte orders are big and little"))
	}
}

// slot adds a member. Those of a base, and of a member without a name, are members of the struct itself.
func (b *builder) slot(s *shape, sl *slot, base int, last bool) {
	at := base + sl.off
	if sl.member == nil || sl.name() == "" && sl.bits < 0 {
		if sl.t.shape == nil {
			b.pad(at + 8*sl.t.size)
			return
		}
		b.record(sl.t.shape, at, last)
		return
	}
	m := sl.member
	order := b.order
	defer func() { b.order = order }()
	if v, ok := m.notes.find("endian"); ok {
		b.endian(v)
	}
	if sl.name() == "" { // bits without a name
		b.pad(at + sl.bits)
		return
	}
	f := &schema.Field{Name: text.CleanName(sl.name()), TypeText: typeText(m), Doc: m.notes.doc, Span: spanOf(m.at)}
	if have := b.names[f.Name]; have != nil {
		b.fail(duplicateField(m.at, have.Span, f.Name))
		return
	}
	if b.counted() {
		return
	}
	bits := sl.bits
	if bits < 0 {
		bits = 8 * sl.t.size
	}
	if b.protocol(f, sl, bits) {
		b.pos += bits
		return
	}
	f.Type = b.typeOf(m, sl, last)
	if f.Type == nil {
		b.broken = true
		b.pad(at + bits)
		return
	}
	b.field(f)
	b.pos += bits
}

// field adds a field.
func (b *builder) field(f *schema.Field) {
	b.s.Fields = append(b.s.Fields, f)
	b.s.Wire = append(b.s.Wire, schema.Item{Kind: schema.Value, Field: f})
	if b.names == nil {
		b.names = map[string]*schema.Field{}
	}
	if c, ok := f.Type.(*schema.Choice); ok {
		for i := range c.Cases {
			for m := range c.Cases[i].Body.Members() {
				b.names[m.Name] = m
			}
		}
		return
	}
	b.names[f.Name] = f
}

// counted counts a field. It returns true if there are too many, which is reported.
func (b *builder) counted() bool {
	root := b
	for root.up != nil {
		root = root.up
	}
	root.count++
	if root.count == maxFields+1 {
		root.fail(tooManyFields(b.message.Span, maxFields))
	}
	return root.count > maxFields
}

// protocol adds the item of a field that is the code of the message, or its size.
func (b *builder) protocol(f *schema.Field, sl *slot, bits int) bool {
	n := &sl.member.notes
	if at, ok := n.find("opcode"); ok && b.message.HasKey && b.whole() {
		if !sl.t.isInteger() || bits%8 != 0 || bits > 32 {
			b.fail(badAnnotation(at, "the code is an integer of 8, 16 or 32 bits"))
			return false
		}
		b.s.Wire = append(b.s.Wire, schema.Item{Kind: schema.Code, Bits: bits, Order: b.orderOf(sl.t)})
		return true
	}
	if at, ok := n.find("length"); ok && b.whole() {
		if !sl.t.isInteger() || bits%8 != 0 || bits > 32 || sl.t.signed && bits < 8 {
			b.fail(badAnnotation(at, "the size is an integer of 8, 16 or 32 bits"))
			return false
		}
		b.s.Wire = append(b.s.Wire, schema.Item{Kind: schema.Length, Bits: bits, Order: b.orderOf(sl.t)})
		return true
	}
	return false
}

// whole reports whether the struct is the message itself, or a header in it.
func (b *builder) whole() bool { return b.top || b.group && b.up.top }

func (b *builder) orderOf(t *typ) schema.Order {
	switch {
	case t.ordered:
		return t.order
	case t.size <= 1:
		return schema.Little
	}
	return b.order
}

// typeText returns the type of a member as written.
func typeText(m *member) string {
	words := m.typ.name()
	if m.of.pointer {
		words += "*"
	}
	for _, d := range m.of.dims {
		if d == nil {
			words += "[]"
		} else {
			words += "[" + text.Printable(text.Cut(d.at.Text())) + "]"
		}
	}
	if m.of.bits != nil {
		words += " : " + text.Printable(text.Cut(m.of.bits.at.Text()))
	}
	return words
}

// typeOf returns the type of a field; nil if it has none, which is reported.
func (b *builder) typeOf(m *member, sl *slot, last bool) schema.Type {
	t := sl.t
	x, counts := m.notes.find("count")
	if t.kind != arrayKind || !t.unsized() && t.n > 0 && !sl.one && !(counts && t.n == 1) {
		if counts {
			b.fail(badAnnotation(x, "it is for an array at the end without a number of elements: items[]"))
			return nil
		}
		return b.single(m, t, sl.bits, last)
	}
	if !last {
		if counts {
			b.fail(badAnnotation(x, "the array is not at the end of the message"))
			return nil
		}
		if t.unsized() {
			t = &typ{kind: arrayKind, elem: t.elem, align: t.align}
		}
		return b.array(m, t, schema.Extent{})
	}
	size := schema.Extent{Size: schema.ToEnd}
	if counts && x.Text() != "" {
		e := b.annotation(x)
		if e == nil {
			return nil
		}
		size = schema.Extent{Size: schema.Computed, Expr: e}
	}
	for up := b; up != nil; up = up.up {
		up.open = true
	}
	return b.array(m, t, size)
}

// single returns the type of a field that has a fixed size, or that is the struct at the end.
func (b *builder) single(m *member, t *typ, bits int, last bool) schema.Type {
	if bits < 0 {
		bits = 8 * t.size
	}
	switch t.kind {
	case structKind:
		in := b.inside(t.shape.name, t.shape, last)
		return &schema.Group{Struct: in}
	case arrayKind:
		return b.array(m, t, schema.Extent{Size: schema.Fixed, N: t.n})
	case opaqueKind:
		return &schema.Blob{Extent: schema.Extent{Size: schema.Fixed, N: t.size}}
	}
	n := &schema.Number{Bits: bits, Order: b.orderOf(t)}
	if bits%8 != 0 || b.pos%8 != 0 {
		n.Order = b.order
	}
	switch {
	case t.kind == boolKind:
		n.Kind = schema.Bool
	case t.kind == floatKind:
		n.Kind = schema.Float
	case t.signed:
		n.Kind = schema.Signed
	}
	if t.enum != nil {
		n.Enum = b.enumOf(t.enum, t)
	}
	return n
}

// inside returns the struct of a group or of an element.
func (b *builder) inside(name string, s *shape, atEnd bool) *schema.Struct {
	in := &builder{unit: b.unit, message: b.message, s: &schema.Struct{Name: name}, up: b, order: b.order, depth: b.depth, group: true}
	in.record(s, 0, atEnd)
	b.broken = b.broken || in.broken
	return in.s
}

// array returns the type of an array: text, bytes, or a list.
func (b *builder) array(m *member, t *typ, size schema.Extent) schema.Type {
	e := t.elem
	_, asBytes := m.notes.find("bytes")
	encoding, asText := m.notes.find("text")
	if size.Size == schema.Fixed {
		size.N = max(t.n, 0)
	}
	switch {
	case e.size == 1 && (e.kind == charKind || e.kind == byteKind && asText) && !asBytes:
		text := &schema.Text{Charset: b.options.Encoding(), Extent: size}
		if asText && encoding.Text() != "" {
			c, err := schema.ByteCharset(encoding.Text())
			if err != nil {
				b.fail(badAnnotation(encoding, err.Error()))
				return nil
			}
			text.Charset = c
		}
		return text
	case e.size == 2 && e.kind == charKind && !asBytes:
		text := &schema.Text{Charset: schema.UTF16LE, Extent: size}
		if b.order == schema.Big {
			text.Charset = schema.UTF16BE
		}
		return text
	case e.size == 1 && (e.kind == charKind || e.kind == byteKind):
		return &schema.Blob{Extent: size}
	}
	elem := &builder{unit: b.unit, message: b.message, s: &schema.Struct{}, up: b, order: b.order, depth: b.depth}
	list := &schema.List{Extent: size}
	if e.kind == structKind {
		elem.s.Name = e.shape.name
		open := b.open
		elem.record(e.shape, 0, size.Size != schema.Fixed)
		b.open = open
		list.Elem = elem.s
		if size.Size != schema.Fixed && e.size == 0 && len(elem.s.Wire) == 0 {
			b.fail(emptyElement(m.at))
			return nil
		}
	} else {
		if b.counted() {
			return nil
		}
		f := &schema.Field{TypeText: m.typ.name(), Span: spanOf(m.at)}
		if f.Type = elem.single(m, e, -1, false); f.Type == nil {
			return nil
		}
		elem.s.Fields = []*schema.Field{f}
		elem.s.Wire = []schema.Item{{Kind: schema.Value, Field: f}}
		list.Elem, list.Bare = elem.s, true
	}
	b.broken = b.broken || elem.broken
	return list
}

// union adds the member of a union that is shown: the one of @show, else the first of the largest ones. With @when the value of earlier fields
// decides.
func (b *builder) union(s *shape, base int) {
	if len(s.slots) == 0 {
		b.pad(base + 8*s.size)
		return
	}
	shown, others := -1, []string(nil)
	chosen := false
	var when []int
	for i := range s.slots {
		sl := &s.slots[i]
		if sl.member == nil {
			continue
		}
		if _, ok := sl.member.notes.find("when"); ok {
			when = append(when, i)
			continue
		}
		if _, ok := sl.member.notes.find("show"); ok && !chosen {
			shown, chosen = i, true
		}
		if shown < 0 || !chosen && s.sizeOf(i) > s.sizeOf(shown) {
			shown = i
		}
	}
	if len(when) > 0 {
		b.choice(s, base, when, shown)
		return
	}
	for i := range s.slots {
		if i != shown && s.slots[i].name() != "" {
			others = append(others, s.slots[i].name())
		}
	}
	if !chosen && len(others) > 0 {
		b.report(unionMember(s.record.typeDef.at, shownName(&s.slots[shown]), others))
	}
	b.slot(s, &s.slots[shown], base, false)
	b.pad(base + 8*s.size)
}

// sizeOf returns the size of a slot in bits.
func (s *shape) sizeOf(i int) int {
	if s.slots[i].bits >= 0 {
		return s.slots[i].bits
	}
	return 8 * s.slots[i].t.size
}

func shownName(s *slot) string {
	if n := s.name(); n != "" {
		return n
	}
	return "the one without a name"
}

// choice adds the members of a union of which earlier fields select one.
func (b *builder) choice(s *shape, base int, when []int, other int) {
	type one struct {
		slot int
		x    *expr
		e    *schema.Expr
	}
	var all []one
	for _, i := range when {
		at, _ := s.slots[i].member.notes.find("when")
		x := b.annotated(at)
		if x == nil {
			b.broken = true
			continue
		}
		e := b.expression(x)
		if e == nil {
			continue
		}
		all = append(all, one{i, x, e})
	}
	c := &schema.Choice{Anon: true}
	// Of one field that is compared with numbers the values select, which is easier to read.
	simple := len(all) > 0
	for _, o := range all {
		simple = simple && o.e.Op == schema.Equal && o.e.Args[0].Op == schema.Ref && o.e.Args[1].Op == schema.Literal && o.e.Args[0].Field == all[0].e.Args[0].Field
	}
	for i, o := range all {
		value := int64(i + 1)
		if simple {
			value = o.e.Args[1].Int
		}
		if n, ok := b.fieldType(o.e).(*schema.Number); simple && ok && n.Bits < 64 {
			value &= 1<<n.Bits - 1
		}
		c.Cases = append(c.Cases, schema.Alternative{Value: uint64(value), Name: s.slots[o.slot].name(), Body: b.alternative(s, o.slot)})
	}
	if len(all) == 0 {
		b.pad(base + 8*s.size)
		return
	}
	if simple {
		c.On = all[0].e.Args[0]
	} else {
		c.On = &schema.Expr{Op: schema.Literal}
		for i := len(all) - 1; i >= 0; i-- {
			c.On = &schema.Expr{Op: schema.If, Args: []*schema.Expr{all[i].e, {Op: schema.Literal, Int: int64(i + 1)}, c.On}}
		}
		if c.On.Size() > schema.MaxExpr {
			b.fail(badAnnotation(s.record.typeDef.at, "the conditions are too long"))
		}
	}
	rest := schema.Alternative{Else: true}
	if other >= 0 {
		rest.Name, rest.Body = s.slots[other].name(), b.alternative(s, other)
	} else {
		f := &schema.Field{Name: "bytes", TypeText: "union", Span: spanOf(s.record.typeDef.at), Type: &schema.Blob{Extent: schema.Extent{Size: schema.Fixed, N: s.size}}}
		f.Name = b.s.Free(f.Name)
		rest.Body = &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Kind: schema.Value, Field: f}}}
	}
	c.Cases = append(c.Cases, rest)
	f := &schema.Field{Type: c, TypeText: "union", Doc: s.record.notes.doc, Span: spanOf(s.record.typeDef.at)}
	b.field(f)
	b.pos = base + 8*s.size
}

// fieldType returns the type of the field of a comparison.
func (b *builder) fieldType(e *schema.Expr) schema.Type {
	if len(e.Args) == 2 && e.Args[0].Op == schema.Ref {
		return e.Args[0].Field.Type
	}
	return nil
}

// alternative returns one member of a union, with padding up to the size of the union.
func (b *builder) alternative(s *shape, i int) *schema.Struct {
	in := &builder{unit: b.unit, message: b.message, s: &schema.Struct{}, up: b, order: b.order, depth: b.depth}
	in.slot(s, &s.slots[i], 0, false)
	in.pad(8 * s.size)
	b.broken = b.broken || in.broken
	return in.s
}

// annotation returns the expression of an annotation over earlier fields; nil if it has none, which is reported.
func (b *builder) annotation(at source.Span) *schema.Expr {
	x := b.annotated(at)
	if x == nil {
		b.broken = true
		return nil
	}
	e := b.expression(x)
	if e != nil && e.Size() > schema.MaxExpr {
		b.fail(badAnnotation(at, "it is too long"))
		return nil
	}
	return e
}

// expression compiles an expression over earlier fields.
func (b *builder) expression(x *expr) *schema.Expr {
	literal := func(n int64) *schema.Expr { return &schema.Expr{Op: schema.Literal, Int: n} }
	switch x.op {
	case "number":
		return literal(x.n)
	case "name":
		f, bad := b.fieldNamed(x)
		if bad {
			return nil
		}
		if f != nil {
			return schema.RefTo(f)
		}
		if slices.Contains(x.path, ".") {
			b.fail(b.meant(unknownName(x.at, x.at.Text(), "is no earlier field"), x.at, x.at.Text(), b.fieldNames()))
			return nil
		}
		if c := b.constantNamed(x.path, b.scopeOf()); c == nil && b.pp.macros[x.name()] == nil {
			b.fail(b.meant(unknownName(x.at, x.name(), "is no earlier field, and no constant"), x.at, x.name(), append(b.fieldNames(), b.constantNames()...)))
			return nil
		}
		fallthrough
	case "sizeof", "alignof", "offsetof", "cast":
		n, bad := b.evaluate(x, env{scope: b.scopeOf()})
		if bad != nil {
			b.fail(*bad)
			return nil
		}
		return literal(n)
	}
	e := &schema.Expr{}
	switch op, two := binary[x.op]; {
	case two && len(x.args) == 2:
		e.Op = op
	case x.op == "?" && len(x.args) == 3:
		e.Op = schema.If
	default:
		one, ok := unary[x.op]
		if !ok {
			b.fail(notConstant(x.at, "is no expression of numbers"))
			return nil
		}
		e.Op = one
	}
	for _, a := range x.args {
		y := b.expression(a)
		if y == nil {
			return nil
		}
		e.Args = append(e.Args, y)
	}
	return e
}

// scopeOf returns the scope of the message.
func (b *builder) scopeOf() *scope {
	for _, r := range b.records {
		if r.typeDef.at == b.message.Span {
			return r.inner
		}
	}
	return b.root
}

// fieldNamed returns the earlier number that a name means: of the struct, or of those around it. bad reports that it is no number, which has
// been reported.
func (b *builder) fieldNamed(x *expr) (f *schema.Field, bad bool) {
	for at := b; at != nil; at = at.up {
		s := at.s
		for i := 0; i < len(x.path); i += 2 { // names, with "." between them
			f = nil
			for have := range s.Members() {
				if have.Name == x.path[i] {
					f = have
				}
			}
			if f == nil {
				break
			}
			if g, ok := f.Type.(*schema.Group); ok && i+2 < len(x.path) {
				s = g.Struct
			}
		}
		if f != nil {
			n, ok := f.Type.(*schema.Number)
			if !ok || n.Kind == schema.Float {
				b.fail(unknownName(x.at, f.Name, "is no integer"))
				return nil, true
			}
			return f, false
		}
	}
	return nil, false
}

func (b *builder) fieldNames() (names []string) {
	for at := b; at != nil; at = at.up {
		for f := range at.s.Members() {
			names = append(names, f.Name)
		}
	}
	return names
}
