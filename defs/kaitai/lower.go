package kaitai

import (
	"fmt"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/defs/wire"
)

// The limits of a message.
const (
	maxFields = 20000 // attributes, counted for each use of their types
	maxDepth  = 40    // nesting depth of types
)

// lowerer compiles the message of one file.
type lowerer struct {
	tree  *tree
	among *build.Among
	diags diag.List
	seen  map[source.Span]bool

	tops   map[string]*typeDef // types of files
	selves map[*typeDef]bool   // types that contain themselves, or not
	files  map[*tree]bool
	fields int
	always int // instances at a position around the current type
	guards int // conditions, lists and alternatives around it
	broken bool
}

func newLowerer(t *tree, among *build.Among) *lowerer {
	return &lowerer{tree: t, among: among, seen: map[source.Span]bool{}, tops: map[string]*typeDef{}, selves: map[*typeDef]bool{}, files: map[*tree]bool{}}
}

// report adds a diagnostic, once for each place: types are compiled for each use.
func (l *lowerer) report(d diag.Diagnostic) {
	if d.Severity == diag.Error {
		l.broken = true
	}
	if d.Span.File != l.tree.file { // of imported files: shown there, too, but the effect is here
		d.Related = append(d.Related, diag.Related{Span: d.Span, Message: "in an imported file"})
		d.Span = l.tree.file.Line(1)
	}
	if !l.seen[d.Span] || d.Span == l.tree.file.Line(1) {
		l.seen[d.Span] = true
		text.Add(&l.diags, d, maxMistakes)
	}
}

// inst is a use of a type.
type inst struct {
	def     *typeDef
	parent  *inst // of the language: _parent
	outer   *inst // the one in whose struct this one is
	root    *inst
	stream  place
	endian  string // of types without one of their own
	s       *schema.Struct
	vals    map[string]*val
	params  map[string]*val
	state   map[*attr]state
	bits    int // of the last byte, if a field of bits was the last one
	order   schema.Order
	dead    bool // what follows cannot be read
	top     bool // the message
	always  int  // lowerer.always around it
	guards  int
	opening string // the field whose type is compiled

	again      bool        // it contains itself
	outs       source.Span // refers to objects around it
	usesStream bool
	elsewhere  bool // contains itself in another stream
}

type state uint8

const (
	waiting state = iota
	placing
	placed
)

// inside reports whether an instance is in another one, or is it.
func (x *inst) inside(of *inst) bool {
	for ; x != nil; x = x.outer {
		if x == of {
			return true
		}
	}
	return false
}

func (x *inst) depth() (n int) {
	for ; x != nil; x = x.outer {
		n++
	}
	return n
}

func (l *lowerer) lower() []*schema.Message {
	d := l.tree.root
	if d == nil {
		return nil
	}
	l.load(l.tree)
	if len(d.params) > 0 || len(d.seq)+len(d.instances) == 0 && len(d.types) > 0 {
		return nil // for imports
	}
	m := &schema.Message{Name: d.name, Version: 1, Span: d.at, Doc: d.doc}
	if m.Span.File == nil {
		m.Span = l.tree.file.Line(1)
	}
	f := &schema.Field{}
	ok := l.try(func() { l.object(nil, d, nil, place{}, f, d.at) })
	g, is := f.Type.(*schema.Group)
	switch {
	case !ok || !is:
		l.broken = true
		m.Body = &schema.Struct{}
	case g.HasBody():
		m.Body = &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Field: f}}}
	default:
		m.Body = g.Struct
	}
	if _, err := wire.Compile(m); err != nil {
		l.report(text.Mistake("not-compiled", m.Span, fmt.Sprintf("the format cannot be compiled: %v", err), "the message has no fields"))
		m.Body = &schema.Struct{}
	}
	m.Broken = l.broken || l.tree.diags.HasErrors()
	return []*schema.Message{m}
}

// load finds the types of a file and of those that it imports.
func (l *lowerer) load(t *tree) {
	if l.files[t] || len(l.files) > 1000 {
		return
	}
	l.files[t] = true
	if t.root == nil {
		return
	}
	for _, name := range [...]string{fileBase(t.file.Name), t.root.name} {
		if l.tops[name] == nil {
			l.tops[name] = t.root
		}
	}
	for _, i := range t.imports {
		if to := l.imported(t, i); to != nil {
			l.load(to)
		}
	}
}

// try runs f, and reports a loss.
func (l *lowerer) try(f func()) (ok bool) {
	d := l.caught(f)
	if d == nil {
		return true
	}
	if d.d.Message != "" {
		l.report(d.d)
	}
	return false
}

// caught runs f, and returns what it fails with.
func (l *lowerer) caught(f func()) (out *lossError) {
	defer func() {
		if r := recover(); r != nil {
			d, ok := r.(*lossError)
			if !ok {
				panic(r)
			}
			out = d
		}
	}()
	f()
	return nil
}

// align ends a run of bits.
func (x *inst) align() {
	if x.bits > 0 {
		x.s.Wire = append(x.s.Wire, schema.Item{Kind: schema.Pad, Bits: 8 - x.bits, Order: x.order})
		x.bits = 0
	}
}

// attr compiles an entry of seq.
func (l *lowerer) attr(x *inst, a *attr) {
	if l.fields++; l.fields > maxFields {
		l.tooMany()
		x.dead, l.broken = true, true
		return
	}
	if !a.isBits() || a.repeat != "" {
		x.align()
	}
	d := l.caught(func() { l.entry(x, a, x.stream, false) })
	if d == nil {
		return
	}
	l.broken = true
	raw := (a.size != nil || a.sizeEOS) && (a.process != nil || a.typ != nil || a.on != nil)
	if raw {
		was := x.dead
		x.dead = false
		raw = l.caught(func() { l.entry(x, a, x.stream, true) }) == nil
		x.dead = x.dead || was && !raw
	}
	what := d.d
	if what.Message != "" {
		if what.Code == "not-supported" {
			what.Help = fmt.Sprintf("%q and what follows it in %q is not read", a.id, x.def.name)
			if raw {
				what.Help = fmt.Sprintf("%q is shown as bytes", a.id)
			}
		}
		l.report(what)
	}
	x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is not read", a.id)}
	if !raw {
		x.dead = true
	}
}

// tooMany reports, once, that there are too many fields.
func (l *lowerer) tooMany() {
	if l.fields == maxFields+1 {
		l.report(tooLarge(l.tree.file.Line(1), fmt.Sprintf("the format has more than %d fields, each use of a type counted", maxFields)))
	}
}

// mistakes reports what is wrong with an entry of seq that is not read because of what precedes it.
func (l *lowerer) mistakes(x *inst, a *attr) {
	s, bits := x.s, x.bits
	x.s, x.bits = &schema.Struct{}, 0
	if l.fields < maxFields {
		l.fields++
		if d := l.caught(func() { l.entry(x, a, x.stream, false) }); d != nil && d.d.Severity == diag.Error && d.d.Message != "" {
			l.report(d.d)
		}
	}
	x.s, x.bits, x.dead = s, bits, true
	x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is not read", a.id)}
}

// entry compiles a field at the current position, with its condition.
func (l *lowerer) entry(x *inst, a *attr, in place, raw bool) {
	f := &schema.Field{Name: a.id, Doc: a.doc, Span: l.spanOf(a)}
	if a.cond != nil {
		cond := l.truth(x, a.cond, context{})
		switch {
		case cond.Op != schema.Literal:
			l.guards++
			defer func() { l.guards-- }()
			x.opening = a.id
			v, item := l.repeated(x, a, in, f, raw, false)
			body := &schema.Struct{}
			if item.Kind == schema.Value {
				body.Fields = []*schema.Field{f}
			}
			body.Wire = []schema.Item{item}
			if item.Kind == schema.Const && len(item.Bytes) == 0 {
				body.Wire = nil
			}
			l.when(x, cond, body, a)
			x.vals[a.id] = v
			if a.valid != nil && !v.ranged {
				l.report(loss(a.valid.span, "valid of a field under a condition, except for constant eq, min and max of numbers", "it is not checked"))
			}
			return
		case cond.Int == 0:
			x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is never read", a.id)}
			return
		}
	}
	x.opening = a.id
	v, item := l.repeated(x, a, in, f, raw, true)
	if item.Kind == schema.Value {
		x.s.Fields = append(x.s.Fields, f)
	}
	if item.Kind != schema.Const || len(item.Bytes) > 0 {
		x.s.Wire = append(x.s.Wire, item)
	}
	x.vals[a.id] = v
	if a.valid == nil || v.ranged {
		return
	}
	if a.fixed {
		l.report(loss(a.valid.span, "valid of contents", "it is not checked"))
		return
	}
	l.used(v, a.valid.span)
	l.check(x, a, v)
}

// when adds fields that are present under a condition.
func (l *lowerer) when(x *inst, cond *schema.Expr, body *schema.Struct, a *attr) {
	f := &schema.Field{Span: l.spanOf(a), Type: &schema.Choice{On: cond, Anon: true, Cases: []schema.Alternative{{Value: 1, Name: "true", Body: body}, {Else: true}}}}
	x.s.Fields = append(x.s.Fields, f)
	x.s.Wire = append(x.s.Wire, schema.Item{Field: f})
}

func (l *lowerer) spanOf(a *attr) source.Span {
	if a.line.File != l.tree.file {
		return source.Span{}
	}
	return a.line
}

// repeated compiles a field, which may be a list.
func (l *lowerer) repeated(x *inst, a *attr, in place, f *schema.Field, raw, inline bool) (*val, schema.Item) {
	f.TypeText = typeText(a)
	if a.repeat == "" {
		if a.fixed && !raw {
			return l.constant(a)
		}
		v := l.single(x, a, in, f, raw, inline, nil)
		return v, schema.Item{Field: f}
	}
	x.opening = ""
	l.guards++
	defer func() { l.guards-- }()
	list := &schema.List{}
	f.Type = list
	switch a.repeat {
	case "expr":
		if a.count == nil {
			l.wrong(malformed(a.at, "repeat: expr needs a repeat-expr", "repeat-expr: 4"))
		}
		list.Extent = schema.Extent{Size: schema.Computed, Expr: l.number(x, a.count, context{})}
	case "eos":
		list.Size = schema.ToEnd
	case "until":
		if a.until == nil {
			l.wrong(malformed(a.at, "repeat: until needs a repeat-until", "repeat-until: _ == 0"))
		}
		list.Size = schema.Ending
	}
	was := x.dead
	x.dead = false
	var elem *val
	ef := &schema.Field{Span: f.Span, TypeText: f.TypeText}
	if a.fixed && !raw {
		_, item := l.constant(a)
		elem = bytesOf(a.contents)
		list.Elem = &schema.Struct{Wire: []schema.Item{item}}
	} else {
		elem = l.single(x, a, in, ef, raw, false, f)
		if g, ok := ef.Type.(*schema.Group); ok && !g.HasBody() {
			list.Elem = g.Struct
		} else {
			list.Elem, list.Bare = &schema.Struct{Fields: []*schema.Field{ef}, Wire: []schema.Item{{Field: ef}}}, true
		}
	}
	if x.dead {
		l.fail(a.at, "the elements of %q, of which parts cannot be read", a.id)
	}
	x.dead = was
	if a.repeat == "until" {
		list.Expr = l.truth(x, a.until, context{elem: elem, index: f})
	}
	return &val{kind: listVal, field: f, elem: elem, ranged: elem.ranged}, schema.Item{Field: f}
}

// constant compiles contents.
func (l *lowerer) constant(a *attr) (*val, schema.Item) {
	return bytesOf(a.contents), schema.Item{Kind: schema.Const, Bytes: a.contents, Bits: 8 * len(a.contents)}
}

// single compiles a value that is not repeated. list is that whose element it is.
func (l *lowerer) single(x *inst, a *attr, in place, f *schema.Field, raw, inline bool, list *schema.Field) *val {
	c := context{index: list}
	f.TypeText = typeText(a)
	if raw {
		l.extent(x, a, in, c, f, func(e schema.Extent) schema.Type { return &schema.Blob{Extent: e} }, 1, true)
		return &val{kind: noVal, why: fmt.Sprintf("%q is shown as bytes", a.id)}
	}
	name := ""
	if a.typ != nil && len(a.typ.path) == 1 && len(a.typ.args) == 0 {
		name = a.typ.path[0]
	}
	switch {
	case a.on != nil:
		return l.choice(x, a, in, f, c)
	case a.typ == nil || name == "str" || name == "strz":
		return l.texts(x, a, name, in, f, c, false)
	case bitsOf(name) > 0:
		return l.bits(x, a, name, f, inline)
	}
	if n := numberOf(name, x.endian); n != nil {
		if n.Bits > 8 && x.endian == "" && !strings.HasSuffix(name, "le") && !strings.HasSuffix(name, "be") {
			l.wrong(malformed(a.typNode.span, text.Quote(name)+" has no byte order", "write "+name+"le or "+name+"be, or meta/endian"))
		}
		l.enumOf(x, a, n)
		f.Type = n
		return l.limited(x, a, n, numberVal(f))
	}
	return l.user(x, a, a.typ, in, f, c)
}

// typeText returns a type as text.
func typeText(a *attr) string {
	s := ""
	switch {
	case a.on != nil && a.typNode != nil && a.typNode.kind == mapNode:
		s = "switch"
	case a.typNode != nil:
		s = text.Cut(a.typNode.str())
	case a.fixed:
		s = "contents"
	case a.value != nil:
		s = "value"
	default:
		s = "bytes"
	}
	if a.repeat != "" {
		s += "[]"
	}
	return s
}
