package protodef

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// builtin compiles a type of the language, or a native one that is known here.
func (l *lowerer) builtin(name string, n, a *node, sc *scope) (lowered, bool) {
	if number := numberNamed(name); number != nil {
		if size := a.get("size"); size != nil && (name == "int" || name == "lint") {
			n, ok := size.number()
			if !ok || n < 1 || n > 8 {
				l.report(malformedType(size.span, "an integer has 1 to 8 bytes", `["int", {"size": 3}]`))
				return lowered{}, true
			}
			number.Bits = int(n) * 8
		}
		return lowered{typ: number}, true
	}
	if name == "nbt" && l.varTags {
		return l.tags(varTags).root(true, false), true
	}
	if native, ok := natives[name]; ok && (a == nil || composed[name] == nil) {
		return native(l), true
	}
	make, ok := composed[name]
	if !ok {
		return lowered{}, false
	}
	if a == nil && name != "enum_size_based_on_values_len" && name != "lpVec3" {
		l.report(malformedType(n.span, text.Quote(name)+" has no arguments", "write it as an array of the name and the arguments"))
		return lowered{}, true
	}
	t := make(l, a, sc)
	if name == "enum_size_based_on_values_len" && t.names == nil {
		l.report(badCompare(n.span, "values_len", "is not an earlier number"))
	}
	return t, true
}

// isBuiltin reports whether the language has a type, or it is a native one that is known here.
func isBuiltin(name string) bool {
	return numberNamed(name) != nil || natives[name] != nil || composed[name] != nil
}

// composed are the types that are made from others. It is set below, because its functions refer to it.
var composed map[string]func(l *lowerer, a *node, sc *scope) lowered

func init() {
	composed = map[string]func(l *lowerer, a *node, sc *scope) lowered{
		"container": (*lowerer).container, "switch": (*lowerer).choice, "option": (*lowerer).option, "array": (*lowerer).array,
		"maybeIncompleteArray": (*lowerer).array, "mapper": (*lowerer).mapper, "bitfield": (*lowerer).bitfield,
		"bitflags": (*lowerer).bitflags, "pstring": (*lowerer).pstring, "buffer": (*lowerer).buffer, "count": (*lowerer).count,
		"topBitSetTerminatedArray": (*lowerer).whileArray, "entityMetadataLoop": (*lowerer).untilArray,
		"registryEntryHolder": (*lowerer).holder, "registryEntryHolderSet": (*lowerer).holderSet, "encapsulated": (*lowerer).encapsulated,
		"const": (*lowerer).constant, "align": (*lowerer).align, "bitfieldLE": (*lowerer).bitfieldLE, "cstring": (*lowerer).cstring, "compressed": (*lowerer).compressed,
		"optionalOnRemaining": (*lowerer).remaining, "enum_size_based_on_values_len": (*lowerer).enumSize, "lpVec3": (*lowerer).lpVec3,
		"computed": (*lowerer).computed, "at": (*lowerer).at,
	}
}

// container compiles fields in order.
func (l *lowerer) container(a *node, sc *scope) lowered {
	s, inner := &schema.Struct{}, newScope(sc)
	if a.kind != arrayNode {
		l.report(malformedType(a.span, "the fields of a container are an array, not "+a.kind.String(), `[{"name": "x", "type": "i32"}]`))
		return lowered{}
	}
	for _, f := range a.items {
		l.field(s, inner, f)
	}
	return lowered{typ: &schema.Group{Struct: s}, names: inner}
}

// field compiles one field of a container.
func (l *lowerer) field(s *schema.Struct, sc *scope, f *node) {
	of := f.get("type")
	name, anon := f.get("name"), f.get("anon").truth()
	switch {
	case of == nil:
		l.report(malformedType(f.span, "a field has no type", `{"name": "x", "type": "i32"}`))
		return
	case name.str() == "" && !anon:
		l.report(malformedType(f.span, "a field has no name", `give it one, or write "anon": true`))
		return
	}
	at := fieldSpan(f, name)
	t := l.typeOf(of, sc)
	if anon {
		l.merge(s, sc, t, at)
		return
	}
	if v := t.names; t.typ == nil {
		if v != nil { // a value that is not sent
			for _, e := range v.fields {
				sc.fields[name.text] = e
			}
		}
		return
	}
	field := attach(s, name.text, t, at)
	field.Doc = f.doc
	sc.fields[name.text] = entry{field: field, inside: t.names}
}

// fieldSpan returns the place of a field: its name.
func fieldSpan(f, name *node) source.Span {
	if name != nil {
		return name.span
	}
	return f.span
}

// merge adds the fields of a type without a name to a container.
func (l *lowerer) merge(s *schema.Struct, sc *scope, t lowered, at source.Span) {
	switch typ := t.typ.(type) {
	case nil:
		return
	case *schema.Group:
		if typ.At != nil {
			l.report(malformedType(at, "contents at a position need a name", `give the field a name`))
			return
		}
		if typ.HasBody() || len(t.before) > 0 {
			l.report(malformedType(at, "a type that contains itself needs a name", `give the field a name`))
			return
		}
		s.Fields = append(s.Fields, typ.Struct.Fields...)
		s.Wire = append(s.Wire, typ.Struct.Wire...)
	case *schema.Choice:
		if typ.On == nil && !slices.ContainsFunc(typ.Cases, func(c schema.Alternative) bool {
			return c.Body != nil && slices.ContainsFunc(c.Body.Fields, func(f *schema.Field) bool { return f.Name != "" })
		}) {
			l.report(malformedType(at, "an option without a name has no field that shows that it is present", `give the field a name`))
			return
		}
		typ.Anon = true
		attach(s, "", t, at)
	default:
		l.report(malformedType(at, "only a container, a bitfield or a switch can be without a name", `give the field a name`))
		return
	}
	if t.names == nil {
		return
	}
	for name, e := range t.names.fields {
		if _, taken := sc.fields[name]; !taken {
			sc.fields[name] = e
		}
	}
}

// choice compiles a switch.
func (l *lowerer) choice(a *node, sc *scope) lowered {
	to, fields := a.get("compareTo"), a.get("fields")
	if to.str() == "" || fields == nil || fields.kind != objectNode {
		l.report(malformedType(a.span, "a switch needs compareTo and fields", `["switch", {"compareTo": "type", "fields": {"1": "i32"}, "default": "void"}]`))
		return lowered{}
	}
	on, err := l.expression(to.text, sc)
	if err != nil {
		l.report(badCompare(to.span, to.text, err.Error()))
		return lowered{}
	}
	c := &schema.Choice{On: on.expr}
	names := newScope(sc)
	names.depth = sc.depth // the fields are in the same container
	add := func(x schema.Alternative, of *node) {
		t := l.typeOf(of, sc)
		if x.Body, x.Bare = body(t, of.span); x.Bare && x.Body != nil {
			x.Body.Fields[0].Span = source.Span{}
		}
		if t.names != nil {
			for name, e := range t.names.fields {
				if _, taken := names.fields[name]; !taken {
					names.fields[name] = e
				}
			}
		}
		c.Cases = append(c.Cases, x)
	}
	taken := map[uint64]bool{}
	var truth *node // the case of true, if it stands for all values but 0
	for i, k := range fields.keys {
		of := fields.items[i]
		if on.text {
			name := k.text
			add(schema.Alternative{Text: &name, Name: text.Quote(name)}, of)
			continue
		}
		values := on.value(k.text)
		if len(values) == 0 {
			if !strings.HasPrefix(k.text, "/") {
				l.report(unknownCase(k.span, k.text, to.text))
			}
			continue
		}
		if k.text == "true" && on.num != nil && on.num.Kind == schema.Bool {
			truth = of
			continue
		}
		for _, v := range values {
			if !taken[v] {
				taken[v] = true
				add(schema.Alternative{Value: v, Name: k.text}, of)
			}
		}
	}
	switch other := a.get("default"); {
	case truth != nil:
		if !taken[0] {
			if c.Cases = append(c.Cases, schema.Alternative{Value: 0, Name: "false"}); other != nil {
				c.Cases = c.Cases[:len(c.Cases)-1]
				add(schema.Alternative{Value: 0, Name: "false"}, other)
			}
		}
		add(schema.Alternative{Else: true, Name: "true"}, truth)
	case other != nil:
		add(schema.Alternative{Else: true}, other)
	}
	return lowered{typ: c, names: names}
}

// option compiles a value after a byte that is 0 if it is missing.
func (l *lowerer) option(a *node, sc *scope) lowered {
	t := l.typeOf(a, sc)
	c := &schema.Choice{Cases: []schema.Alternative{{Value: 0}, {Else: true}}}
	c.Cases[1].Body, c.Cases[1].Bare = body(t, a.span)
	if c.Cases[1].Bare {
		c.Cases[1].Body.Fields[0].Span = source.Span{}
	}
	return lowered{typ: c, before: []schema.Item{{Kind: schema.Present, Num: &schema.Number{Bits: 8, Kind: schema.Bool}}}, names: t.names}
}

// extent compiles the number of units: count is a number or a path, countType is that of a number before.
func (l *lowerer) extent(a *node, sc *scope, what string) (e schema.Extent, before []schema.Item, ok bool) {
	count, countType := a.get("count"), a.get("countType")
	n, fixed := count.number()
	switch {
	case countType != nil:
		number, is := l.integer(countType, sc, "a count")
		if !is {
			return e, nil, false
		}
		plain := *number
		plain.Enum = nil
		return schema.Extent{Size: schema.Counted}, []schema.Item{{Kind: schema.Count, Num: &plain}}, true
	case fixed && n >= 0 && n < 1<<20:
		return schema.Extent{Size: schema.Fixed, N: int(n)}, nil, true
	case count.str() != "":
		r, err := l.expression(count.text, sc)
		if err == nil && r.text {
			err = fmt.Errorf("is a text, not a number")
		}
		if err != nil {
			l.report(badCompare(count.span, count.text, err.Error()))
			return e, nil, false
		}
		return schema.Extent{Size: schema.Computed, Expr: r.expr}, nil, true
	case a.get("rest").truth():
		return schema.Extent{Size: schema.ToEnd}, nil, true
	}
	l.report(malformedType(a.span, what+" needs a count or a countType", `"countType": "varint", "count": 3, or "count": "field"`))
	return e, nil, false
}

func (l *lowerer) array(a *node, sc *scope) lowered {
	if until := a.get("until"); until != nil {
		return l.endingArray(a, until, sc)
	}
	e, before, ok := l.extent(a, sc, "an array")
	of := a.get("type")
	if of == nil {
		l.report(malformedType(a.span, "an array needs a type", `"type": "i32"`))
		return lowered{}
	}
	t := l.typeOf(of, sc)
	if !ok {
		return lowered{}
	}
	return lowered{typ: list(t, of, e), before: before}
}

// endingArray compiles elements up to one that meets a condition. The condition is in the scope of the element; "_" is an element without
// fields.
func (l *lowerer) endingArray(a, until *node, sc *scope) lowered {
	of := a.get("type")
	if of == nil || until.str() == "" {
		l.report(malformedType(a.span, "an array with a condition needs a type and an expression", `{"type": "u8", "until": "_ == 0"}`))
		return lowered{}
	}
	if a.get("count") != nil || a.get("countType") != nil || a.get("rest") != nil {
		l.report(malformedType(until.span, "an array has either a condition that ends it or a count", `leave out "until", or the count`))
		return lowered{}
	}
	errs := l.errs
	t := l.typeOf(of, sc)
	if t.typ == nil {
		if l.errs == errs {
			l.report(malformedType(of.span, "the elements of an array with a condition have no contents", "give them a type with contents"))
		}
		return lowered{}
	}
	out := list(t, of, schema.Extent{Size: schema.Ending})
	inner := newScope(sc)
	if t.names != nil { // those of a named type are in another scope
		maps.Copy(inner.fields, t.names.fields)
	}
	if out.Bare {
		inner.fields["_"] = entry{field: out.Elem.Fields[0], inside: t.names}
	}
	if out.Expr = l.formula(until, inner); out.Expr == nil {
		return lowered{}
	}
	return lowered{typ: out}
}

// formula returns the expression of a number: one in the language of compareTo, or an integer. It reports a mistake and returns nil.
func (l *lowerer) formula(n *node, sc *scope) *schema.Expr {
	if v, ok := n.number(); ok {
		return &schema.Expr{Int: v}
	}
	if v, ok := parseInt(n.str()); ok {
		return &schema.Expr{Int: v}
	}
	r, err := l.expression(n.text, sc)
	if err == nil && r.text {
		err = fmt.Errorf("is a text, not a number")
	}
	if err != nil {
		l.report(badFormula(n.span, n.text, err.Error()))
		return nil
	}
	return r.expr
}

// sent returns the number of a type that is one, and is not computed.
func sent(t lowered) (n *schema.Number, ok bool) {
	n, ok = t.typ.(*schema.Number)
	return n, ok && n.Expr == nil
}

// integer compiles the type of a count or of a size. It reports one that is no integer.
func (l *lowerer) integer(of *node, sc *scope, what string) (n *schema.Number, ok bool) {
	errs := l.errs
	if n, ok = sent(l.typeOf(of, sc)); ok {
		n = shorter(n)
	}
	if ok = ok && n.Kind != schema.Float && n.Scale == 0; !ok && l.errs == errs {
		l.report(malformedType(of.span, what+" is an integer", `for example "varint"`))
	}
	return n, ok
}

// shorter returns a number of at most 64 bits.
func shorter(n *schema.Number) *schema.Number {
	if n.Var != schema.Long {
		return n
	}
	short := *n
	short.Var = schema.LEB128
	return &short
}

// computed compiles a number that is computed from earlier values, and not sent. Without a type it is an i32, or a bool if the expression
// compares.
func (l *lowerer) computed(a *node, sc *scope) lowered {
	value, of := a.get("value"), a.get("type")
	if value.str() == "" && (value == nil || value.kind != numberNode) {
		l.report(malformedType(a.span, "a computed value needs an expression", `["computed", {"value": "width * height", "type": "i32"}]`))
		return lowered{}
	}
	e := l.formula(value, sc)
	n, text := schema.Number{Bits: 32, Kind: schema.Signed}, "i32"
	switch {
	case of != nil:
		t := l.typeOf(of, sc)
		number, ok := sent(t)
		if !ok || number.Kind == schema.Float || number.Scale != 0 || number.Add != 0 || number.Absent {
			if t.typ != nil {
				l.report(malformedType(of.span, "a computed value is an integer or a bool", `for example "i32"`))
			}
			return lowered{}
		}
		n, text = *number, t.text
		n.Var, n.Order = schema.Sized, schema.Little
	case e != nil && isTruth(e):
		n, text = schema.Number{Bits: 8, Kind: schema.Bool}, "bool"
	}
	if n.Expr = e; e == nil {
		return lowered{}
	}
	return lowered{typ: &n, text: "computed<" + text + ">"}
}

// at compiles contents that begin at another byte of the message.
func (l *lowerer) at(a *node, sc *scope) lowered {
	position, of := a.get("position"), a.get("type")
	if of == nil || position.str() == "" && (position == nil || position.kind != numberNode) {
		l.report(malformedType(a.span, "contents at a position need an expression and a type", `["at", {"position": "offset", "type": "cstring"}]`))
		return lowered{}
	}
	e, errs := l.formula(position, sc), l.errs
	t := l.typeOf(of, sc)
	s, bare := body(t, of.span)
	if s == nil && l.errs == errs {
		l.report(malformedType(of.span, "there are no contents at the position", "give them a type with contents"))
	}
	if e == nil || s == nil {
		return lowered{}
	}
	if bare {
		s.Fields[0].Span = source.Span{}
	}
	return lowered{typ: &schema.Group{Struct: s, Bare: bare, At: e}, text: "at<" + t.text + ">", names: t.names}
}

// isTruth reports whether an expression is 0 or 1 as the answer to a question.
func isTruth(e *schema.Expr) bool {
	switch e.Op {
	case schema.Not, schema.Equal, schema.NotEqual, schema.Less, schema.LessEqual, schema.Greater, schema.GreaterEqual, schema.And, schema.Or:
		return true
	case schema.Ref:
		n, ok := e.Field.Type.(*schema.Number)
		return ok && n.Kind == schema.Bool
	}
	return false
}

// list returns a list of elements of a type.
func list(t lowered, of *node, e schema.Extent) *schema.List {
	s, bare := contents(t, of.span)
	if bare {
		s.Fields[0].Span = source.Span{}
	}
	return &schema.List{Elem: s, Bare: bare, Extent: e}
}

func (l *lowerer) mapper(a *node, sc *scope) lowered {
	of, mappings := a.get("type"), a.get("mappings")
	if of == nil || mappings == nil || mappings.kind != objectNode {
		l.report(malformedType(a.span, "a mapper needs type and mappings", `["mapper", {"type": "varint", "mappings": {"0": "zero"}}]`))
		return lowered{}
	}
	t := l.typeOf(of, sc)
	number, ok := t.typ.(*schema.Number)
	if !ok || number.Kind >= schema.Float {
		if t.typ != nil {
			l.report(malformedType(of.span, "a mapper is of an integer", `for example "varint"`))
		}
		return lowered{}
	}
	n := *number
	n.Enum = &schema.Enum{Shown: true}
	for i, k := range mappings.keys {
		v, ok := parseInt(k.text)
		if !ok {
			l.report(malformedType(k.span, text.Quote(k.text)+" is not an integer", "the names of mappings are decimal or hexadecimal integers"))
			continue
		}
		n.Enum.Values = append(n.Enum.Values, schema.EnumValue{Name: mappings.items[i].text, Value: uint64(v) & schema.Mask(n.Bits)})
	}
	return lowered{typ: &n}
}

// bitfield compiles numbers of some bits, from the most significant bit of the first byte on.
func (l *lowerer) bitfield(a *node, sc *scope) lowered { return l.bits(a, sc, schema.Big) }

// bitfieldLE compiles numbers of some bits, from the least significant bit of the first byte on.
func (l *lowerer) bitfieldLE(a *node, sc *scope) lowered { return l.bits(a, sc, schema.Little) }

func (l *lowerer) bits(a *node, sc *scope, order schema.Order) lowered {
	s, inner := &schema.Struct{}, newScope(sc)
	total := 0
	for _, f := range a.items {
		size, ok := f.get("size").number()
		if name := f.get("name").str(); !ok || size < 1 || size > 64 || name == "" {
			l.report(malformedType(f.span, "a part of a bitfield needs a name and a size of 1 to 64 bits", `{"name": "x", "size": 4, "signed": false}`))
			return lowered{}
		}
		n := &schema.Number{Bits: int(size), Order: order}
		if f.get("signed").truth() {
			n.Kind = schema.Signed
		}
		name := f.get("name")
		t := lowered{typ: n, text: map[bool]string{false: "u", true: "i"}[n.Kind == schema.Signed] + itoa(n.Bits)}
		inner.fields[name.text] = entry{field: attach(s, name.text, t, fieldSpan(f, name))}
		total += n.Bits
	}
	if pad := -total & 7; pad > 0 {
		s.Wire = append(s.Wire, schema.Item{Kind: schema.Pad, Bits: pad, Order: order})
	}
	return lowered{typ: &schema.Group{Struct: s}, names: inner}
}

// bitflags compiles a number whose bits have names.
func (l *lowerer) bitflags(a *node, sc *scope) lowered {
	of, flags := a.get("type"), a.get("flags")
	if of == nil || flags == nil || flags.kind != objectNode && flags.kind != arrayNode {
		l.report(malformedType(a.span, "bitflags need type and flags", `["bitflags", {"type": "u8", "flags": ["a", "b"]}]`))
		return lowered{}
	}
	t := l.typeOf(of, sc)
	n, ok := sent(t)
	if !ok || n.Kind >= schema.Float || n.Bits%8 != 0 {
		if t.typ != nil {
			l.report(malformedType(of.span, "bitflags are of an integer", `for example "u8"`))
		}
		return lowered{}
	}
	b := &schema.Bitfield{Bits: n.Bits, Order: n.Order, Var: n.Var, All: "_value", Forms: make([]schema.Form, 1)}
	most := n.Bits
	if n.Var == schema.Long {
		most = 128
	}
	shifted := func(at source.Span, name string, shift int64) {
		switch {
		case name == "":
		case shift < 0 || shift >= int64(most):
			l.report(beyondBits(at, name, most))
		case b.Forms[0].Part(name) != nil:
		default:
			b.Names = append(b.Names, name)
			b.Forms[0].Parts = append(b.Forms[0].Parts, schema.Part{Name: name, Shift: int(shift), Bits: 1, Kind: schema.Bool})
		}
	}
	add := func(at source.Span, name string, mask uint64) {
		if mask > schema.Mask(n.Bits) {
			l.report(beyondBits(at, name, most))
			return
		}
		if name == "" || mask == 0 || b.Forms[0].Part(name) != nil {
			return
		}
		b.Names = append(b.Names, name)
		part := schema.Part{Name: name, Shift: bits.TrailingZeros64(mask), Bits: 1, Kind: schema.Bool}
		if mask&(mask-1) != 0 {
			part.Mask = mask
		}
		b.Forms[0].Parts = append(b.Forms[0].Parts, part)
	}
	for i, v := range flags.items {
		mask, ok := v.number()
		switch {
		case flags.kind == arrayNode:
			shifted(v.span, v.str(), int64(i))
		case !ok || mask < 0:
		case a.get("shift").truth():
			shifted(flags.keys[i].span, flags.keys[i].text, mask)
		default:
			add(flags.keys[i].span, flags.keys[i].text, uint64(mask))
		}
	}
	return lowered{typ: b}
}

func (l *lowerer) pstring(a *node, sc *scope) lowered {
	e, before, ok := l.extent(a, sc, "a pstring")
	if !ok {
		return lowered{}
	}
	set, ok := l.charset(a)
	if !ok {
		return lowered{}
	}
	t := &schema.Text{Charset: set, Extent: e}
	pad, padded := a.get("pad").number()
	switch {
	case set.Unit() == 2: // the length is in bytes
		return l.sizedText(a, t, sc)
	case e.Size != schema.Fixed:
	case padded && pad >= 0 && pad <= 255:
		t.Pad = byte(pad)
	default:
		t.Min = &schema.Limit{Uint: uint64(e.N)} // all characters count
	}
	return lowered{typ: t, before: before}
}

// charset returns the encoding of a text, UTF-8 if none is given.
func (l *lowerer) charset(a *node) (set schema.Charset, ok bool) {
	name := a.get("encoding")
	if name.str() == "" {
		return schema.UTF8, true
	}
	if set, ok = schema.CharsetNamed(name.text); !ok {
		l.report(malformedType(name.span, text.Quote(name.text)+" is not the name of an encoding", "for example "+strings.Join(schema.CharsetNames()[:8], ", ")))
	}
	return set, ok
}

// sizedText returns a text with a length in bytes.
func (l *lowerer) sizedText(a *node, t *schema.Text, sc *scope) lowered {
	n, _ := a.get("count").number()
	switch t.Size {
	case schema.Fixed:
		if n%int64(t.Charset.Unit()) != 0 {
			l.report(malformedType(a.get("count").span, "the count of a text is in bytes, and "+itoa(int(n))+" are no whole characters", "write a multiple of "+itoa(t.Charset.Unit())))
			return lowered{}
		}
		t.N = int(n) / t.Charset.Unit()
		t.Min = &schema.Limit{Uint: uint64(t.N)}
		return lowered{typ: t}
	case schema.Counted:
		number, _ := l.integer(a.get("countType"), sc, "a count")
		t.Extent = schema.Extent{Size: schema.ToEnd}
		s := &schema.Struct{}
		attach(s, "", lowered{typ: t, text: t.Charset.String()}, nowhere)
		return lowered{typ: &schema.Group{Struct: s, Sized: true, Bare: true}, before: []schema.Item{{Kind: schema.Bytes, Num: number}}}
	case schema.Computed:
		t.Expr = &schema.Expr{Op: schema.Div, Args: []*schema.Expr{t.Expr, {Int: int64(t.Charset.Unit())}}}
	}
	return lowered{typ: t}
}

// cstring compiles text up to a byte.
func (l *lowerer) cstring(a *node, _ *scope) lowered {
	set, ok := l.charset(a)
	if !ok {
		return lowered{}
	}
	t := &schema.Text{Charset: set, Extent: schema.Extent{Size: schema.Terminated}}
	if end, ok := a.get("terminator").number(); ok && end > 0 && end < 256 && set.Unit() == 1 {
		t.End = byte(end)
	}
	return lowered{typ: t}
}

// constant compiles bytes that are always the same.
func (l *lowerer) constant(a *node, _ *scope) lowered {
	b, err := hex.DecodeString(strings.ReplaceAll(a.get("hex").str(), " ", ""))
	if err != nil || len(b) == 0 || len(b) > 1<<16 {
		l.report(malformedType(a.span, "a constant has bytes in hex", `["const", {"hex": "cafe"}]`))
		return lowered{}
	}
	return lowered{typ: &schema.Group{Struct: &schema.Struct{Wire: []schema.Item{{Kind: schema.Const, Bytes: b}}}}}
}

// align compiles padding up to a multiple of some bytes from the start of the message.
func (l *lowerer) align(a *node, _ *scope) lowered {
	n, ok := a.number()
	if !ok || n < 1 || n > 4096 {
		l.report(malformedType(a.span, "an alignment is a number of bytes", `["align", 4]`))
		return lowered{}
	}
	return lowered{typ: &schema.Group{Struct: &schema.Struct{Wire: []schema.Item{{Kind: schema.Align, Bits: int(n) * 8}}}}}
}

func (l *lowerer) buffer(a *node, sc *scope) lowered {
	e, before, ok := l.extent(a, sc, "a buffer")
	if !ok {
		return lowered{}
	}
	return lowered{typ: &schema.Blob{Extent: e}, before: before}
}

// count compiles the number of elements of another field, which is a field of its own.
func (l *lowerer) count(a *node, sc *scope) lowered {
	of := a.get("type")
	if of == nil {
		l.report(malformedType(a.span, "a count needs a type", `["count", {"type": "i16", "countFor": "list"}]`))
		return lowered{}
	}
	return l.typeOf(of, sc)
}

// whileArray compiles elements whose first bit is set if another one follows.
func (l *lowerer) whileArray(a *node, sc *scope) lowered {
	of := a.get("type")
	if of == nil {
		l.report(malformedType(a.span, "an array needs a type", `"type": "i8"`))
		return lowered{}
	}
	named := l.space.find(of.str())
	shared, known := l.done[named]
	delete(l.done, named) // the first field changes, so that the struct is of this use alone
	out := list(l.typeOf(of, sc), of, schema.Extent{Size: schema.While})
	if delete(l.done, named); known {
		l.done[named] = shared
	}
	elem := *out.Elem
	out.Elem = &elem
	if len(elem.Wire) == 0 || elem.Wire[0].Kind != schema.Value {
		l.report(malformedType(of.span, "the elements do not begin with a byte", "their first field is an i8 or a u8"))
		return lowered{}
	}
	first := elem.Wire[0].Field
	n, ok := first.Type.(*schema.Number)
	if !ok || n.Bits != 8 || n.Var != schema.Sized || n.Kind >= schema.Float || n.Expr != nil {
		l.report(malformedType(of.span, "the elements do not begin with a byte", "their first field is an i8 or a u8"))
		return lowered{}
	}
	small := *n
	small.Bits, small.Kind, small.Order = 7, schema.Unsigned, schema.Big
	first.Type = &small
	elem.Wire = append([]schema.Item{{Kind: schema.More, Bits: 1, Order: schema.Big}}, elem.Wire...)
	return lowered{typ: out}
}

// untilArray compiles elements up to a byte.
func (l *lowerer) untilArray(a *node, sc *scope) lowered {
	of := a.get("type")
	end, ok := a.get("endVal").number()
	if of == nil || !ok || end < -128 || end > 255 {
		l.report(malformedType(a.span, "an entityMetadataLoop needs type and endVal", `{"endVal": 255, "type": "entityMetadataItem"}`))
		return lowered{}
	}
	return lowered{typ: list(l.typeOf(of, sc), of, schema.Extent{Size: schema.Until, End: byte(end)})}
}

// holder compiles a number from a registry, or its value: a varint that is one more than the number, or 0 before the value.
func (l *lowerer) holder(a *node, sc *scope) lowered {
	base, other := a.get("baseName"), a.get("otherwise")
	if base.str() == "" || other.get("name").str() == "" || other.get("type") == nil {
		l.report(malformedType(a.span, "a registryEntryHolder needs baseName and otherwise", `{"baseName": "id", "otherwise": {"name": "data", "type": "string"}}`))
		return lowered{}
	}
	s := &schema.Struct{}
	id := attach(s, base.text, lowered{typ: &schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.LEB128, Add: -1, Absent: true}, text: "varint"}, fieldSpan(a, base))
	in := &schema.Struct{}
	if t := l.typeOf(other.get("type"), sc); t.typ != nil {
		attach(in, other.get("name").text, t, fieldSpan(other, other.get("name")))
	}
	attach(s, "", lowered{typ: &schema.Choice{On: schema.RefTo(id), Anon: true, Cases: []schema.Alternative{{Value: 0, Body: in, Name: "absent"}, {Else: true}}}}, nowhere)
	return lowered{typ: &schema.Group{Struct: s}}
}

// holderSet compiles a list of numbers from a registry, or the name of one: a varint that is one more than the count, or 0 before the name.
func (l *lowerer) holderSet(a *node, sc *scope) lowered {
	base, other := a.get("base"), a.get("otherwise")
	if base.get("name").str() == "" || base.get("type") == nil || other.get("name").str() == "" || other.get("type") == nil {
		l.report(malformedType(a.span, "a registryEntryHolderSet needs base and otherwise", `{"base": {"name": "name", "type": "string"}, "otherwise": {"name": "ids", "type": "varint"}}`))
		return lowered{}
	}
	s := &schema.Struct{}
	n := counted(list(l.typeOf(other.get("type"), sc), other.get("type"), schema.Extent{Size: schema.Counted, Null: true}),
		&schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.LEB128, Add: -1})
	n.text = "array"
	ids := attach(s, other.get("name").text, n, fieldSpan(other, other.get("name")))
	in := &schema.Struct{}
	if t := l.typeOf(base.get("type"), sc); t.typ != nil {
		attach(in, base.get("name").text, t, fieldSpan(base, base.get("name")))
	}
	attach(s, "", lowered{typ: &schema.Choice{On: schema.RefTo(ids), Anon: true, Cases: []schema.Alternative{{Value: math.MaxUint64, Body: in, Name: "absent"}, {Else: true}}}}, nowhere)
	return lowered{typ: &schema.Group{Struct: s}}
}

// encapsulated compiles a value after its size in bytes; a size of 0 means that there is none.
func (l *lowerer) encapsulated(a *node, sc *scope) lowered {
	of, size := a.get("type"), a.get("lengthType")
	if of == nil || size == nil {
		l.report(malformedType(a.span, "an encapsulated value needs lengthType and type", `{"lengthType": "varint", "type": "Item"}`))
		return lowered{}
	}
	t := l.typeOf(of, sc)
	number, ok := l.integer(size, sc, "the size of an encapsulated value")
	if !ok {
		return lowered{}
	}
	s, bare := contents(t, of.span)
	return lowered{
		typ:    &schema.Group{Struct: s, Sized: true, Bare: bare, Null: true},
		before: []schema.Item{{Kind: schema.Bytes, Num: number}}, names: t.names,
	}
}

// compressed compiles a value that is compressed, after its size in bytes or up to the end of the message.
func (l *lowerer) compressed(a *node, sc *scope) lowered {
	const example = `["compressed", {"method": "zlib", "lengthType": "varint", "type": "Item"}]`
	of, size, method := a.get("type"), a.get("lengthType"), a.get("method")
	if of == nil || method == nil {
		l.report(malformedType(a.span, "a compressed value needs method and type", example))
		return lowered{}
	}
	packing, ok := schema.PackingNamed(method.str())
	if !ok {
		l.report(malformedType(method.span, text.Quote(method.str())+" is not a method of compression", strings.Join(schema.Packings(), ", ")))
		return lowered{}
	}
	t := l.typeOf(of, sc)
	s, bare := contents(t, of.span)
	g := &schema.Group{Struct: s, Bare: bare, Packed: packing}
	if size == nil {
		return lowered{typ: g, names: t.names}
	}
	number, ok := l.integer(size, sc, "the size of a compressed value")
	if !ok {
		return lowered{}
	}
	g.Sized = true
	return lowered{typ: g, before: []schema.Item{{Kind: schema.Bytes, Num: number}}, names: t.names}
}

// remaining compiles a last field that is missing if the message ends before it.
func (l *lowerer) remaining(a *node, sc *scope) lowered {
	of := a.get("type")
	if of == nil {
		l.report(malformedType(a.span, "an optional value needs a type", `"type": "i32"`))
		return lowered{}
	}
	t := l.typeOf(of, sc)
	if g, ok := t.typ.(*schema.Group); ok && g.At != nil {
		l.report(malformedType(of.span, "contents at a position cannot be missing at the end of the message", "give it another type"))
		return lowered{}
	}
	if g, ok := t.typ.(*schema.Group); ok && !g.HasBody() && len(g.Struct.Fields) == 0 {
		l.report(malformedType(of.span, "an optional value without fields does not show that it is there", "give it another type"))
		return lowered{}
	}
	t.text = "optionalOnRemaining<" + t.text + ">"
	return t
}

// enumSize compiles a value that is not sent: the size of the numbers that index so many values.
func (l *lowerer) enumSize(_ *node, sc *scope) lowered {
	r, ok := l.resolve("values_len", sc)
	if !ok {
		return lowered{}
	}
	above := func(n int64) *schema.Expr {
		return &schema.Expr{Op: schema.Greater, Args: []*schema.Expr{r.expr, {Int: n}}}
	}
	sum := &schema.Expr{Op: schema.Add, Args: []*schema.Expr{above(0x100), above(0x10000)}}
	names := newScope(nil)
	names.fields[""] = entry{virtual: sum, names: map[string]int64{"byte": 0, "short": 1, "int": 2}}
	return lowered{names: names}
}

// lpVec3 compiles three numbers that are packed in six bytes and a scale: a first byte of 0 alone is zero.
func (l *lowerer) lpVec3(_ *node, _ *scope) lowered {
	s := &schema.Struct{}
	first := attach(s, "first", lowered{typ: &schema.Number{Bits: 8}, text: "u8"}, nowhere)
	in := &schema.Struct{}
	attach(in, "second", lowered{typ: &schema.Number{Bits: 8}, text: "u8"}, nowhere)
	attach(in, "rest", lowered{typ: &schema.Number{Bits: 32, Order: schema.Big}, text: "u32"}, nowhere)
	scale := &schema.Struct{}
	attach(scale, "scale", lowered{typ: numberNamed("varint"), text: "varint"}, nowhere)
	bit := &schema.Expr{Op: schema.BitAnd, Args: []*schema.Expr{schema.RefTo(first), {Int: 4}}}
	attach(in, "", lowered{typ: &schema.Choice{On: bit, Anon: true, Cases: []schema.Alternative{{Value: 4, Body: scale}, {Else: true}}}}, nowhere)
	attach(s, "", lowered{typ: &schema.Choice{On: schema.RefTo(first), Anon: true, Cases: []schema.Alternative{{Value: 0}, {Else: true, Body: in}}}}, nowhere)
	return lowered{typ: &schema.Group{Struct: s}}
}
