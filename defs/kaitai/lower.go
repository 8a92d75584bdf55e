package kaitai

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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

// object makes a field a use of a type.
func (l *lowerer) object(x *inst, d *typeDef, args []*val, in place, f *schema.Field, at source.Span) *val {
	parent := x
	return l.child(x, parent, d, args, in, f, at)
}

func sameArgs(a, b map[string]*val) bool {
	for k, v := range a {
		w := b[k]
		if v == w {
			continue
		}
		if w == nil || v.kind != w.kind || !v.kind.scalar() || v.e.Op != w.e.Op || v.e.Int != w.e.Int || v.e.Text != w.e.Text || v.e.Op != schema.Literal && v.e.Op != schema.TextLiteral {
			return false
		}
	}
	return true
}

// child is object with the parent that expressions see.
func (l *lowerer) child(x, parent *inst, d *typeDef, args []*val, in place, f *schema.Field, at source.Span) *val {
	if len(args) != len(d.params) {
		l.wrong(malformed(at, fmt.Sprintf("%q has %d parameters, not %d", d.name, len(d.params), len(args)), "give it one value for each of its params"))
	}
	n := &inst{def: d, parent: parent, outer: x, stream: in, always: l.always, guards: l.guards, params: map[string]*val{}}
	for i, p := range d.params {
		n.params[p.id] = args[i]
	}
	if x == nil {
		n.root, n.top = n, true
	} else {
		n.root = x.root
		if x.def.unit != d.unit { // a type of another file is a root of its own
			n.root, n.parent = n, nil
		}
	}
	n.endian = l.endianOf(x, d)
	for h := x; h != nil; h = h.outer {
		if h.def != d || h.top || h.endian != n.endian || !sameArgs(n.params, h.params) {
			continue
		}
		if l.always > h.always && l.guards == h.guards {
			l.fail(at, "%q contains itself, without a condition", d.name)
		}
		h.again, h.elsewhere = true, h.elsewhere || h.stream != in
		f.Type = &schema.Group{Struct: h.s, Own: true}
		return &val{kind: structVal, field: f}
	}
	if x != nil && x.opening != "" { // what is inside may refer to it
		x.vals[x.opening] = &val{kind: structVal, inst: n, field: f}
		x.opening = ""
	}
	if n.depth() > maxDepth {
		l.fail(at, "types are nested more than %d times, or contain themselves with other arguments", maxDepth)
	}
	if d.endianOn != nil && n.endian == "" {
		return l.bothEndians(n, f)
	}
	return l.fill(n, f, at)
}

// endianOf returns the byte order of a use of a type: its own, or that of the types around it in the text.
func (l *lowerer) endianOf(x *inst, d *typeDef) string {
	for of := d; of != nil; of = of.parent {
		if of.endian != "" {
			return of.endian
		}
		if of.endianOn == nil {
			continue
		}
		for h := x; h != nil && of != d; h = h.parent {
			for in := h.def; in != nil; in = in.parent {
				if in == of {
					return h.endian
				}
			}
		}
		return ""
	}
	return ""
}

// fill compiles the contents of a use of a type.
func (l *lowerer) fill(n *inst, f *schema.Field, at source.Span) *val {
	n.s = &schema.Struct{Name: n.def.name}
	n.vals, n.state = map[string]*val{}, map[*attr]state{}
	if n.top {
		n.root = n
	}
	if n.root != nil && n.root.vals == nil { // of a root with two byte orders
		n.root = n
	}
	g := &schema.Group{Struct: n.s}
	f.Type = g
	l.shownParams(n)
	ids := map[string]bool{}
	for _, list := range [...][]*attr{n.def.params, n.def.seq, n.def.instances} {
		for _, a := range list {
			if ids[a.id] {
				l.report(sameName(a.at, a.id))
			}
			ids[a.id] = true
		}
	}
	for _, a := range n.def.seq {
		if n.dead {
			l.mistakes(n, a)
			continue
		}
		l.attr(n, a)
	}
	n.align()
	for _, a := range n.def.instances {
		l.instance(n, a)
	}
	if n.again {
		switch {
		case !n.outs.IsZero():
			l.fail(n.outs, "%q contains itself, and depends on the object around it", n.def.name)
		case n.usesStream && n.elsewhere:
			l.fail(at, "%q contains itself, and depends on its stream", n.def.name)
		}
		g.Own = true
	}
	if n.dead && n.outer != nil && n.outer.stream == n.stream {
		n.outer.dead = true
	}
	return &val{kind: structVal, inst: n, field: f}
}

// shownParams adds the parameters that are numbers or text, which are values of the object as others are.
func (l *lowerer) shownParams(n *inst) {
	for _, p := range n.def.params {
		v := *n.params[p.id]
		if v.kind == noVal {
			l.report(loss(p.at, v.why, fmt.Sprintf("%q is not shown", p.id)))
		}
		if !v.kind.scalar() {
			continue
		}
		f := &schema.Field{Name: p.id, Doc: p.doc, Span: l.spanOf(p), TypeText: typeText(p)}
		if p.enum != nil && v.enum == nil {
			v.enum = l.enum(p.enum, n.def)
		}
		f.Type = valueType(&v)
		n.s.Fields = append(n.s.Fields, f)
		n.s.Wire = append(n.s.Wire, schema.Item{Field: f})
		if o := v.e.Op; o != schema.Literal && o != schema.TextLiteral && o != schema.FloatLiteral { // as it is now
			v.e, v.field = schema.RefTo(f), f
			n.params[p.id] = &v
		}
	}
}

// valueType returns the type of a value that is computed.
func valueType(v *val) schema.Type {
	switch v.kind {
	case intVal:
		n := &schema.Number{Bits: 64, Kind: schema.Signed, Expr: v.e}
		switch lo, hi := bounds(v.e); {
		case v.wide:
			n.Kind = schema.Unsigned
		case lo >= math.MinInt32 && hi <= math.MaxInt32:
			n.Bits = 32
		case lo >= 0 && hi <= math.MaxUint32:
			n.Bits, n.Kind = 32, schema.Unsigned
		}
		if v.enum != nil {
			n.Enum = enumNames(v.enum, n)
		}
		return n
	case boolVal:
		return &schema.Number{Bits: 8, Kind: schema.Bool, Expr: v.e}
	case floatVal:
		return &schema.Number{Bits: 64, Kind: schema.Float, Expr: v.e}
	case strVal:
		return &schema.Text{Charset: schema.UTF8, Value: v.e}
	}
	return &schema.Blob{Value: v.e}
}

// bothEndians compiles a type whose byte order depends on a value, for both of them.
func (l *lowerer) bothEndians(n *inst, f *schema.Field) *val {
	d := n.def
	n.vals, n.state, n.s = map[string]*val{}, map[*attr]state{}, &schema.Struct{Name: d.name}
	on := l.eval(n, d.endianOn, context{})
	cond := lit(2) // neither: the type has no contents
	for i := len(d.endians) - 1; i >= 0; i-- {
		c := d.endians[i]
		is := int64(0)
		if c.node.text == "be" {
			is = 1
		}
		if c.key == nil {
			cond = lit(is)
			continue
		}
		cond = op2(l.equal(n, on, c.key), lit(is), cond)
	}
	var alts []alt
	choice := &schema.Choice{On: cond, Anon: true}
	for i, endian := range [...]string{"le", "be"} {
		m := *n
		m.endian, m.s = endian, nil
		inner := &schema.Field{}
		v := l.fill(&m, inner, d.at)
		g := inner.Type.(*schema.Group)
		a := schema.Alternative{Value: uint64(i), Name: endian, Body: g.Struct}
		if g.Own {
			l.fail(d.endianOn.n.span, "%q contains itself, and its byte order depends on a value", d.name)
		}
		choice.Cases = append(choice.Cases, a)
		alts = append(alts, alt{op(schema.Equal, cond, lit(int64(i))), v})
	}
	n.s.Fields = []*schema.Field{{Type: choice}}
	n.s.Wire = []schema.Item{{Field: n.s.Fields[0]}}
	f.Type = &schema.Group{Struct: n.s}
	return &val{kind: unionVal, alts: alts}
}

// equal returns whether a value is that of a case.
func (l *lowerer) equal(x *inst, on *val, key *expr) *schema.Expr {
	k := l.eval(x, key, context{})
	switch {
	case k.kind == on.kind && k.kind.scalar():
		return op(schema.Equal, on.e, k.e)
	case on.kind == boolVal && k.kind == intVal || on.kind == intVal && k.kind == boolVal:
		return op(schema.Equal, on.e, k.e)
	}
	l.wrong(badExpression(key.n.span, "this case is "+k.kind.String()+", but the value is "+on.kind.String()))
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

// user compiles a field of a type of the file.
func (l *lowerer) user(x *inst, a *attr, t *typeRef, in place, f *schema.Field, c context) *val {
	d := l.find(t.path, x.def)
	if d == nil && len(t.path) == 1 && l.opaque(x.def) {
		if to := l.imported(x.def.unit, importOf{t.path[0], a.typNode.span}); to != nil {
			l.load(to)
			d = to.root
		}
	}
	if d == nil {
		name := strings.Join(t.path, "::")
		l.wrong(unknownType(a.typNode.span, name, l.nearType(name, x.def)))
	}
	var args []*val
	for _, e := range t.args {
		in := c
		in.in, in.n = x, a.typNode
		v := l.ex(&in, e) // one that is not known matters where it is used
		if v.kind.scalar() && v.e.Size() > schema.MaxExpr/4 {
			v = &val{kind: noVal, why: "an argument of many operations"}
		}
		if v.kind.scalar() && (a.size != nil || a.sizeEOS) && around(v.e) {
			l.fail(a.typNode.span, "a position in the stream of an object that contains itself, as an argument")
		}
		args = append(args, v)
	}
	parent := x
	if a.parent != nil {
		if a.parent.n.str() == "false" {
			parent = nil
		} else {
			v := l.eval(x, a.parent, c)
			if v.kind != structVal || v.inst == nil {
				l.fail(a.parent.n.span, "a parent that depends on a value")
			}
			parent = v.inst
		}
	}
	if len(a.term) > 0 && a.size == nil && !a.sizeEOS {
		l.fail(a.at, "an object that ends at a terminator")
	}
	if a.pad >= 0 || len(a.term) > 0 {
		l.fail(a.at, "padding or a terminator after an object")
	}
	if a.size == nil && !a.sizeEOS {
		if a.process != nil {
			l.wrong(malformed(a.process.span, "process needs a size", "size: 4"))
		}
		return l.child(x, parent, d, args, in, f, a.typNode.span)
	}
	g, inner := l.window(x, a, in, f, c)
	body := &schema.Field{TypeText: f.TypeText}
	v := l.child(x, parent, d, args, inner, body, a.typNode.span)
	switch b := body.Type.(*schema.Group); {
	case b.HasBody():
		g.Bare, g.Struct = true, &schema.Struct{Fields: []*schema.Field{body}, Wire: []schema.Item{{Field: body}}}
	default:
		g.Struct = b.Struct
	}
	f.Type = g
	return v
}

// opaque reports whether types that a file does not define are those of other files.
func (l *lowerer) opaque(d *typeDef) bool { return d.unit.opaque }

// window makes a field a group of a size.
func (l *lowerer) window(x *inst, a *attr, in place, f *schema.Field, c context) (*schema.Group, place) {
	g := &schema.Group{Sized: true}
	inner := place{field: f, packed: in.packed}
	if a.process != nil {
		inner.packed = true
	}
	switch {
	case a.size != nil:
		g.Size = l.number(x, a.size, c)
	case in.packed || a.process != nil:
		g.Sized = false // to the end of what is around
		if a.process == nil {
			inner = in
		}
	default:
		g.Size = toEnd(in)
	}
	if a.process != nil {
		if c.read = g.Size; c.read == nil {
			c.read = toEnd(in)
		}
		g.Packed, g.Key = l.process(x, a, c)
	}
	f.Type = g
	return g, inner
}

// around reports whether an expression depends on the innermost group with a size around it.
func around(e *schema.Expr) bool {
	return e.Op == schema.From || e.Op == schema.To || slices.ContainsFunc(e.Args, around)
}

// recursive reports whether a type contains itself.
func (l *lowerer) recursive(d *typeDef) bool {
	if is, ok := l.selves[d]; ok {
		return is
	}
	seen := map[*typeDef]bool{}
	var walk func(of *typeDef) bool
	walk = func(of *typeDef) bool {
		if seen[of] {
			return of == d
		}
		seen[of] = true
		for _, list := range [...][]*attr{of.seq, of.instances} {
			for _, a := range list {
				refs := []*typeRef{a.typ}
				for _, c := range a.cases {
					refs = append(refs, c.typ)
				}
				for _, r := range refs {
					if r == nil {
						continue
					}
					if to := l.find(r.path, of); to != nil && (to == d || walk(to)) {
						return true
					}
				}
			}
		}
		return false
	}
	l.selves[d] = walk(d)
	return l.selves[d]
}

// process returns the method of a process, and its key.
func (l *lowerer) process(x *inst, a *attr, c context) (schema.Packing, *schema.Expr) {
	s := a.process.str()
	name, rest, args := strings.Cut(s, "(")
	name = strings.TrimSpace(name)
	if name == "zlib" && !args {
		return schema.Zlib, nil
	}
	if name != "xor" && name != "rol" && name != "ror" {
		l.fail(a.process.span, "process %s", text.Quote(s))
	}
	rest, closed := strings.CutSuffix(strings.TrimRight(rest, " "), ")")
	e, err := parseExpr(rest)
	if err != nil || !closed {
		l.wrong(badExpression(a.process.span, name+" has one argument"))
	}
	e.shift(strings.Index(s, "(") + 1)
	key := l.eval(x, &expr{e, a.process}, c)
	switch {
	case name == "xor" && (key.kind == intVal || key.kind == bytesVal):
		return schema.Xor, key.e
	case name == "rol" && key.kind == intVal:
		return schema.Rotate, key.e
	case name == "ror" && key.kind == intVal:
		return schema.Rotate, op(schema.Sub, lit(8), key.e)
	}
	l.wrong(badExpression(a.process.span, name+" of "+key.kind.String()))
	return 0, nil
}

// toEnd returns the number of bytes up to the end of a stream.
func toEnd(in place) *schema.Expr {
	if in.around {
		return op(schema.Sub, &schema.Expr{Op: schema.To}, &schema.Expr{Op: schema.Cursor})
	}
	return op(schema.Sub, &schema.Expr{Op: schema.End, Field: in.field}, &schema.Expr{Op: schema.Cursor})
}

// bare returns the struct of one value without a name.
func bare(f *schema.Field) *schema.Struct {
	return &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Field: f}}}
}

// extent compiles text or bytes, of a type made with its extent, in units of some bytes. plain: without terminators and padding.
func (l *lowerer) extent(x *inst, a *attr, in place, c context, f *schema.Field, of func(schema.Extent) schema.Type, unit int, plain bool) *schema.Field {
	term, pad := a.term, a.pad
	if plain {
		term, pad = nil, -1
	}
	if len(term) > 0 && len(term) != unit {
		l.fail(a.at, "a terminator of %d bytes", len(term))
	}
	if len(term) > 1 && (term[0] != 0 || term[1] != 0) {
		l.fail(a.at, "a terminator of %d bytes other than zero", len(term))
	}
	ended := schema.Extent{Size: schema.Terminated, Lax: true, Keep: a.keep, With: a.include}
	if len(term) > 0 {
		ended.End = term[0]
	}
	switch {
	case a.size == nil && !a.sizeEOS && len(term) == 0:
		l.wrong(malformed(a.at, text.Quote(a.id)+" has no size", "give it a size, size-eos: true or a terminator"))
	case a.size == nil && !a.sizeEOS:
		ended.Lax = !a.strict
		f.Type = of(ended)
		return f
	case len(term) > 0 || unit > 1:
		ended.Keep, ended.Trim, ended.Pad = false, pad >= 0 && (len(term) == 0 || byte(pad) != term[0]), byte(max(pad, 0)) // as the package of Kaitai Struct
		g, _ := l.window(x, a, in, f, c)
		if plain {
			g.Packed = schema.Unpacked
		}
		if len(term) == 0 {
			ended = schema.Extent{Size: schema.ToEnd}
		}
		if !g.Sized {
			l.fail(a.at, "a terminator in bytes that are processed")
		}
		inner := &schema.Field{Type: of(ended)}
		g.Bare, g.Struct = true, bare(inner)
		return inner
	case a.sizeEOS:
		f.Type = of(schema.Extent{Size: schema.ToEnd, Trim: pad >= 0, Pad: byte(max(pad, 0))})
		return f
	}
	n := l.number(x, a.size, c)
	if pad >= 0 {
		f.Type = of(schema.Extent{Size: schema.Computed, Expr: n, Trim: true, Pad: byte(pad)})
		return f
	}
	if _, text := of(schema.Extent{}).(*schema.Blob); text && n.Op == schema.Literal && n.Int > 0 && n.Int < 1<<20 {
		f.Type = of(schema.Extent{Size: schema.Fixed, N: int(n.Int)})
		return f
	}
	f.Type = of(schema.Extent{Size: schema.Computed, Expr: n})
	return f
}

// texts compiles text and bytes. inside: the window of a type that depends on a value is around it.
func (l *lowerer) texts(x *inst, a *attr, name string, in place, f *schema.Field, c context, inside bool) *val {
	b := *a
	if inside {
		b.size, b.sizeEOS = nil, true
		b.process = nil
	}
	if a.process != nil && !inside {
		g, inner := l.window(x, a, in, f, c)
		body := &schema.Field{}
		v := l.texts(x, a, name, inner, body, c, true)
		g.Bare, g.Struct = true, bare(body)
		f.Type = g
		v.field = body
		return v
	}
	if name == "" {
		of := l.extent(x, &b, in, c, f, func(e schema.Extent) schema.Type { return &schema.Blob{Extent: e} }, 1, false)
		return &val{kind: bytesVal, e: schema.RefTo(of), field: of}
	}
	set, set16 := l.charsetOf(x, a)
	if name == "strz" && len(b.term) == 0 {
		b.term = make([]byte, set.Unit())
	}
	if set16 && len(b.term) == 1 && b.term[0] == 0 {
		b.term = []byte{0, 0}
	}
	if b.pad >= 0 && set.Unit() > 1 {
		l.fail(a.at, "pad-right of text in %s", set)
	}
	of := l.extent(x, &b, in, c, f, func(e schema.Extent) schema.Type { return &schema.Text{Charset: set, Extent: e} }, set.Unit(), false)
	return &val{kind: strVal, e: schema.RefTo(of), field: of}
}

// charsetOf returns the encoding of a text.
func (l *lowerer) charsetOf(x *inst, a *attr) (set schema.Charset, wide bool) {
	n := a.encoding
	for d := x.def; d != nil && n == nil; d = d.parent {
		n = d.encoding
	}
	if n == nil || n.str() == "" {
		l.wrong(malformed(a.at, text.Quote(a.id)+" has no encoding", "encoding: UTF-8, here or in meta"))
	}
	set, ok := charset(n.text)
	if !ok {
		l.fail(n.span, "the encoding %s", text.Quote(n.text))
	}
	return set, set.Unit() == 2
}

// bits compiles a field of bits.
func (l *lowerer) bits(x *inst, a *attr, name string, f *schema.Field, inline bool) *val {
	n := &schema.Number{Bits: bitsOf(name), Order: schema.Big}
	if l.bitEndian(x, name) == "le" {
		n.Order = schema.Little
	}
	if n.Bits > 64 {
		l.wrong(malformed(a.typNode.span, "a field has at most 64 bits", "b64"))
	}
	if n.Bits == 1 && a.enum == nil {
		n.Kind = schema.Bool
	}
	switch {
	case !inline && (n.Bits%8 != 0 || x.bits != 0):
		l.fail(a.at, "bits in a list, under a condition, or in a type that depends on a value, which are not whole bytes")
	case inline && x.bits != 0 && x.order != n.Order:
		l.fail(a.at, "fields of bits in two orders in one byte")
	}
	l.enumOf(x, a, n)
	if inline {
		x.bits, x.order = (x.bits+n.Bits)%8, n.Order
	}
	f.Type = n
	return l.limited(x, a, n, numberVal(f))
}

// limited gives a number its legal range, as far as that is one.
func (l *lowerer) limited(x *inst, a *attr, n *schema.Number, v *val) *val {
	if a.enum != nil {
		v.enum = l.enum(a.enum, x.def)
	}
	if v.ranged = l.limits(x, a, n); !v.ranged {
		n.Min, n.Max = nil, nil
	}
	return v
}

func (l *lowerer) bitEndian(x *inst, name string) string {
	switch {
	case strings.HasSuffix(name, "le"):
		return "le"
	case strings.HasSuffix(name, "be"):
		return "be"
	}
	for d := x.def; d != nil; d = d.parent {
		if d.bitEndian != "" {
			return d.bitEndian
		}
	}
	return "be"
}

// enumOf gives the names of an enum to a number.
func (l *lowerer) enumOf(x *inst, a *attr, n *schema.Number) {
	if a.enum == nil {
		return
	}
	d := l.enum(a.enum, x.def)
	if d == nil {
		l.wrong(badExpression(a.enumNode.span, "no enum is named "+text.Quote(strings.Join(a.enum, "::"))))
	}
	n.Enum = enumNames(d, n)
}

func enumNames(d *enumDef, n *schema.Number) *schema.Enum {
	e := &schema.Enum{Name: d.name, Shown: true}
	lo, hi := n.Bounds()
	for _, v := range d.values {
		switch {
		case v.low && (n.Kind != schema.Signed || int64(v.value) < lo), !v.low && v.value > hi:
			continue
		}
		e.Values = append(e.Values, schema.EnumValue{Name: v.name, Value: v.value & schema.Mask(n.Bits)})
	}
	return e
}

// limits gives a number the bounds of valid. It reports whether there are no other constraints.
func (l *lowerer) limits(x *inst, a *attr, n *schema.Number) bool {
	v := a.valid
	if v == nil {
		return true
	}
	set := func(of *node, to ...**schema.Limit) bool {
		e, err := parseExpr(of.str())
		if err != nil || of.kind != scalarNode {
			return false
		}
		var limit *schema.Limit
		d := l.caught(func() {
			val := l.eval(x, &expr{e, of}, context{})
			switch {
			case n.Kind == schema.Float && val.e.Op == schema.FloatLiteral:
				limit = &schema.Limit{Float: val.e.Float}
			case n.Kind == schema.Float && val.kind == intVal && val.e.Op == schema.Literal:
				limit = &schema.Limit{Float: float64(val.e.Int)}
			case val.kind == intVal && val.e.Op == schema.Literal && n.Kind == schema.Signed:
				limit = &schema.Limit{Int: val.e.Int}
			case val.kind == intVal && val.e.Op == schema.Literal && n.Kind == schema.Unsigned && (val.e.Int >= 0 || val.wide):
				limit = &schema.Limit{Uint: uint64(val.e.Int)}
			}
		})
		if d != nil || limit == nil {
			return false
		}
		for _, t := range to {
			*t = limit
		}
		return true
	}
	ok := false
	if v.kind == scalarNode {
		ok = set(v, &n.Min, &n.Max)
	}
	if v.kind == mapNode {
		ok = true
		for i, k := range v.keys {
			switch k.text {
			case "eq":
				ok = set(v.items[i], &n.Min, &n.Max) && ok
			case "min":
				ok = set(v.items[i], &n.Min) && ok
			case "max":
				ok = set(v.items[i], &n.Max) && ok
			default:
				ok = false
			}
		}
	}
	return ok
}

// check adds the constraint of a value that is not the range of a number: a computed truth value that must be true.
func (l *lowerer) check(x *inst, a *attr, v *val) {
	d := l.caught(func() {
		cond := l.constraint(x, a, v)
		if cond.Op == schema.Literal && cond.Int != 0 {
			return
		}
		if x.bits != 0 {
			l.fail(a.valid.span, "valid of bits that share a byte with others, except for constant eq, min and max")
		}
		must := &schema.Limit{Uint: 1}
		f := &schema.Field{Name: a.id + "_valid", Span: l.spanOf(a), TypeText: "valid", Type: &schema.Number{Bits: 8, Expr: cond, Min: must, Max: must}}
		x.s.Fields = append(x.s.Fields, f)
		x.s.Wire = append(x.s.Wire, schema.Item{Field: f})
	})
	if d == nil {
		return
	}
	if d.d.Severity == diag.Warning {
		d.d.Help = "it is not checked"
	}
	if d.d.Message != "" {
		l.report(d.d)
	}
}

// constraint returns the condition of valid.
func (l *lowerer) constraint(x *inst, a *attr, v *val) *schema.Expr {
	n := a.valid
	if v.kind == noVal || v.kind == structVal || v.kind == listVal || v.kind == ioVal {
		l.fail(n.span, "valid of %s", v.kind)
	}
	c := context{in: x, elem: v}
	compare := func(of *node, o string) *schema.Expr {
		e, err := parseExpr(of.str())
		if of.kind == listNode {
			e = &ex{kind: exArray}
			for _, i := range of.items {
				item, err := parseExpr(i.str())
				if err != nil {
					l.wrong(badExpression(i.span, err.Error()))
				}
				e.args = append(e.args, item)
			}
		} else if err != nil {
			l.wrong(badExpression(of.span, err.Error()))
		}
		at := c
		at.n = &node{span: of.span}
		r := l.binary(&at, &ex{kind: exBinary, name: o, args: []*ex{{kind: exName, name: "_"}, e}})
		if r.kind != boolVal {
			l.fail(of.span, "valid of %s", r.kind)
		}
		return r.e
	}
	if n.kind != mapNode {
		return compare(n, "==")
	}
	all := lit(1)
	for i, k := range n.keys {
		item := n.items[i]
		one := lit(0)
		switch k.text {
		case "eq":
			one = compare(item, "==")
		case "min":
			one = compare(item, ">=")
		case "max":
			one = compare(item, "<=")
		case "any-of":
			for _, i := range item.items {
				one = either(one, compare(i, "=="))
			}
		case "in-enum":
			if v.kind != intVal || v.enum == nil {
				l.fail(item.span, "in-enum of %s", v.kind)
			}
			for _, known := range v.enum.values {
				one = either(one, op(schema.Equal, v.e, lit(int64(known.value))))
			}
		case "expr":
			e, err := parseExpr(item.str())
			if err != nil {
				l.wrong(badExpression(item.span, err.Error()))
			}
			one = l.truth(x, &expr{e, item}, c)
		default:
			l.fail(k.span, "valid with %s", text.Quote(k.text))
		}
		if all = op(schema.And, all, one); all.Size() > schema.MaxExpr {
			l.fail(n.span, "the expression has more than %d operations", schema.MaxExpr)
		}
	}
	return all
}

func either(a, b *schema.Expr) *schema.Expr {
	if a.Op == schema.Literal && a.Int == 0 {
		return b
	}
	return op(schema.Or, a, b)
}

// bitsOf returns the number of bits of a type such as b12le, 0 for others.
func bitsOf(name string) int {
	s := strings.TrimSuffix(strings.TrimSuffix(name, "le"), "be")
	if len(s) < 2 || s[0] != 'b' || s[1] == '0' {
		return 0
	}
	n, err := strconv.ParseUint(s[1:], 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// numberOf returns the number of a type such as u4le, nil for others.
func numberOf(name, endian string) *schema.Number {
	if len(name) < 2 {
		return nil
	}
	n := &schema.Number{Bits: 8 * int(name[1]-'0')}
	switch name[0] {
	case 'u':
	case 's':
		n.Kind = schema.Signed
	case 'f':
		n.Kind = schema.Float
	default:
		return nil
	}
	switch name[1] {
	case '1', '2':
		if n.Kind == schema.Float {
			return nil
		}
	case '4', '8':
	default:
		return nil
	}
	switch name[2:] {
	case "":
	case "le", "be":
		if endian = name[2:]; n.Bits == 8 {
			return nil
		}
	default:
		return nil
	}
	if endian == "be" && n.Bits > 8 {
		n.Order = schema.Big
	}
	return n
}

// numberVal returns the value of a number.
func numberVal(f *schema.Field) *val {
	n := f.Type.(*schema.Number)
	v := &val{e: schema.RefTo(f), field: f, wide: n.Kind == schema.Unsigned && n.Bits == 64}
	switch n.Kind {
	case schema.Bool:
		v.kind = boolVal
	case schema.Float:
		v.kind = floatVal
	}
	return v
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

// choice compiles a type that depends on a value.
func (l *lowerer) choice(x *inst, a *attr, in place, f *schema.Field, c context) *val {
	x.opening = ""
	l.guards++
	defer func() { l.guards-- }()
	on := l.eval(x, a.on, c)
	if !on.kind.scalar() || on.kind == floatVal {
		l.wrong(badExpression(a.on.n.span, "a type depends on an integer, a truth value, a string or bytes, not on "+on.kind.String()))
	}
	sized := a.size != nil || a.sizeEOS
	cf, inner := f, in
	var g *schema.Group
	if sized {
		g, inner = l.window(x, a, in, f, c)
		cf = &schema.Field{TypeText: "switch"}
		g.Bare, g.Struct = true, bare(cf)
	}
	out := &schema.Choice{}
	var alts []alt
	number, _ := fieldType(on).(*schema.Number)
	texts, _ := fieldType(on).(*schema.Text)
	direct := number != nil && on.e.Op == schema.Ref
	byText := texts != nil && on.e.Op == schema.Ref && on.kind == strVal
	byNumber := on.kind == intVal || on.kind == boolVal
	select_ := lit(-1)
	var conds []*schema.Expr
	var rest *schema.Expr // no earlier case applies
	seen := map[uint64]bool{}
	for i := range a.cases {
		k := a.cases[i].key
		if k == nil {
			continue
		}
		same := l.equal(x, on, k)
		key := l.eval(x, k, c)
		alternative := schema.Alternative{Name: ""}
		if constant := key.e.Op == schema.Literal; byNumber && !constant {
			byNumber = false
		}
		if key.e.Op != schema.TextLiteral {
			byText = false
		}
		if byNumber {
			alternative.Value = uint64(key.e.Int)
			if direct {
				if alternative.Value &= schema.Mask(number.Bits); number.Kind == schema.Unsigned && uint64(key.e.Int) > schema.Mask(number.Bits) {
					byNumber = false
				}
			}
			if seen[alternative.Value] {
				l.wrong(sameName(k.n.span, k.n.str()))
			}
			seen[alternative.Value] = true
			if key.enum != nil {
				for _, v := range key.enum.values {
					if int64(v.value) == key.e.Int {
						alternative.Name = v.name
					}
				}
			}
		}
		if byText {
			s := key.e.Text
			alternative.Text = &s
		}
		conds = append(conds, same)
		out.Cases = append(out.Cases, alternative)
		if rest == nil {
			rest = op(schema.Not, same)
		} else {
			rest = op(schema.And, rest, op(schema.Not, same))
		}
	}
	out.On = on.e
	if !byNumber && !byText {
		for i := len(conds) - 1; i >= 0; i-- {
			select_ = op2(conds[i], lit(int64(i)), select_)
			out.Cases[i].Value, out.Cases[i].Text = uint64(i), nil
		}
		if out.On = select_; out.On.Size() > schema.MaxExpr {
			l.fail(a.on.n.span, "the expression has more than %d operations", schema.MaxExpr)
		}
	}
	k := 0
	dead := false
	for i := range a.cases {
		one := &a.cases[i]
		if one.key == nil {
			continue
		}
		was := x.dead
		x.dead = false
		v := l.caseBody(x, a, one, inner, &out.Cases[k], c, sized)
		dead, x.dead = dead || x.dead, was
		if v != nil {
			alts = append(alts, alt{conds[k], v})
		}
		k++
	}
	otherwise := schema.Alternative{Else: true}
	given := false
	for i := range a.cases {
		if one := &a.cases[i]; one.key == nil {
			given = true
			if v := l.caseBody(x, a, one, inner, &otherwise, c, sized); v != nil {
				alts = append(alts, alt{rest, v})
			}
		}
	}
	if !given && sized {
		otherwise.Bare, otherwise.Body = true, bare(&schema.Field{Type: &schema.Blob{Extent: schema.Extent{Size: schema.ToEnd}}, TypeText: "bytes"})
	}
	out.Cases = append(out.Cases, otherwise)
	if dead {
		x.dead = true
	}
	cf.Type = out
	if sized {
		f.Type = g
	}
	if len(alts) == 0 {
		return &val{kind: noVal, why: fmt.Sprintf("%q has no type that is read", a.id)}
	}
	v := val{kind: noVal, why: fmt.Sprintf("%q has too many types", a.id)}
	l.caught(func() { v = *l.merge(a.at, alts) })
	v.field = nil
	return &v
}

func fieldType(v *val) schema.Type {
	if v.field == nil {
		return nil
	}
	return v.field.Type
}

// caseBody compiles the contents of a case.
func (l *lowerer) caseBody(x *inst, a *attr, one *caseOf, in place, to *schema.Alternative, c context, sized bool) *val {
	if one.typ == nil {
		if one.node.kind != nullNode {
			panic(&lossError{}) // it has been reported
		}
		if sized {
			to.Bare, to.Body = true, bare(&schema.Field{Type: &schema.Blob{Extent: schema.Extent{Size: schema.ToEnd}}, TypeText: "bytes"})
		}
		return nil
	}
	b := *a
	b.typ, b.typNode, b.on, b.cases, b.repeat, b.cond, b.process = one.typ, one.node, nil, nil, "", nil, nil
	if sized {
		b.size, b.sizeEOS = nil, false
	}
	name := ""
	if len(b.typ.path) == 1 && len(b.typ.args) == 0 {
		name = b.typ.path[0]
	}
	f := &schema.Field{TypeText: one.node.str()}
	var v *val
	if sized && (name == "str" || name == "strz" || name == "bytes") {
		if name == "bytes" {
			name = ""
		}
		v = l.texts(x, &b, name, in, f, c, true)
	} else {
		v = l.single(x, &b, in, f, false, false, c.index)
	}
	if g, ok := f.Type.(*schema.Group); ok && !g.HasBody() {
		to.Body = g.Struct
	} else {
		to.Bare, to.Body = true, bare(f)
	}
	return v
}

// instance compiles an instance, once.
func (l *lowerer) instance(x *inst, a *attr) {
	if x.state[a] != waiting {
		return
	}
	if l.fields++; l.fields > maxFields {
		l.tooMany()
		x.vals[a.id] = &val{kind: noVal, why: "the format has too many fields"}
		l.broken = true
		return
	}
	x.state[a] = placing
	d := l.caught(func() {
		if x.bits != 0 {
			l.fail(a.at, "an instance that is used between bits of one byte")
		}
		if a.value != nil {
			l.computed(x, a)
		} else {
			l.positioned(x, a)
		}
	})
	x.state[a] = placed
	if d == nil {
		return
	}
	if d.d.Message != "" {
		w := d.d
		if w.Code == "not-supported" {
			w.Help = fmt.Sprintf("%q is not shown", a.id)
		}
		l.report(w)
	}
	x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is not known", a.id)}
}

// computed compiles an instance with a value.
func (l *lowerer) computed(x *inst, a *attr) {
	cond := lit(1)
	if a.cond != nil {
		cond = l.truth(x, a.cond, context{})
		if cond.Op == schema.Literal && cond.Int == 0 {
			x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is never there", a.id)}
			return
		}
	}
	v := *l.eval(x, a.value, context{})
	f := &schema.Field{Name: a.id, Doc: a.doc, Span: l.spanOf(a), TypeText: "value"}
	if !v.kind.scalar() { // another name of what is shown elsewhere
		x.vals[a.id] = &v
		return
	}
	if v.kind == intVal && a.enum != nil {
		if v.enum = l.enum(a.enum, x.def); v.enum == nil {
			l.wrong(badExpression(a.enumNode.span, "no enum is named "+text.Quote(strings.Join(a.enum, "::"))))
		}
	}
	f.Type = valueType(&v)
	body := &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Field: f}}}
	if cond.Op == schema.Literal {
		x.s.Fields = append(x.s.Fields, f)
		x.s.Wire = append(x.s.Wire, body.Wire...)
	} else {
		l.when(x, cond, body, a)
	}
	if o := v.e.Op; o != schema.Literal && o != schema.TextLiteral && o != schema.FloatLiteral {
		v.e, v.field = schema.RefTo(f), f
	}
	x.vals[a.id] = &v
}

// positioned compiles an instance that is read at a position.
func (l *lowerer) positioned(x *inst, a *attr) {
	in := x.stream
	switch {
	case a.io != nil:
	case l.recursive(x.def): // whichever stream it is
		in = place{packed: in.packed, around: true}
	default:
		l.streamOf(x)
	}
	if a.io != nil {
		v := l.eval(x, a.io, context{})
		if v.kind != ioVal {
			l.fail(a.io.n.span, "a stream that depends on a value")
		}
		in = v.io
	}
	if in.packed {
		l.fail(a.at, "a position in bytes that are processed")
	}
	if a.pos == nil && a.io != nil {
		l.fail(a.io.n.span, "the current position of another stream")
	}
	var cond *schema.Expr
	if a.cond != nil {
		if cond = l.truth(x, a.cond, context{}); cond.Op == schema.Literal {
			if cond.Int == 0 {
				x.vals[a.id] = &val{kind: noVal, why: fmt.Sprintf("%q is never there", a.id)}
				return
			}
			cond = nil
		}
	}
	at := &schema.Expr{Op: schema.Cursor} // without pos
	if a.pos != nil {
		if at = l.number(x, a.pos, context{}); in.around {
			at = op(schema.Add, &schema.Expr{Op: schema.From}, at)
		} else if in.field != nil {
			at = op(schema.Add, &schema.Expr{Op: schema.Begin, Field: in.field}, at)
		}
	}
	g := &schema.Group{At: at, In: in.field, Inner: in.around, Look: true}
	f := &schema.Field{Name: a.id, Doc: a.doc, Span: l.spanOf(a), Type: g, TypeText: typeText(a)}
	inner := &schema.Field{}
	was := x.dead
	x.dead = false
	l.always++
	defer func() { l.always-- }()
	if cond != nil {
		l.guards++
		defer func() { l.guards-- }()
	}
	if a.repeat == "" {
		x.opening = a.id
	}
	d := l.caught(func() {
		v, item := l.repeated(x, a, in, inner, false, false)
		switch b, is := inner.Type.(*schema.Group); {
		case item.Kind == schema.Const:
			g.Struct = &schema.Struct{Wire: []schema.Item{item}}
		case is && !b.HasBody():
			g.Struct = b.Struct
		default:
			g.Bare, g.Struct = true, bare(inner)
		}
		x.vals[a.id] = v
	})
	x.dead = was
	if d != nil {
		panic(d)
	}
	if cond != nil {
		l.when(x, cond, &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Field: f}}}, a)
		return
	}
	x.s.Fields = append(x.s.Fields, f)
	x.s.Wire = append(x.s.Wire, schema.Item{Field: f})
}

// sizeofType returns the number of bits of the type of sizeof<type>.
func (l *lowerer) sizeofType(c *context, e *ex) int64 {
	if len(e.path) == 1 {
		if n := numberOf(e.path[0], "le"); n != nil {
			return int64(n.Bits)
		}
		if n := bitsOf(e.path[0]); n > 0 {
			return int64(n)
		}
	}
	d := l.find(e.path, c.in.def)
	if d == nil {
		l.wrong(unknownType(c.at(e), strings.Join(e.path, "::"), ""))
	}
	return l.sizeof(d, c.at(e), 0)
}

// sizeof returns the number of bits of a type of fixed size.
func (l *lowerer) sizeof(d *typeDef, at source.Span, depth int) (bits int64) {
	if depth > maxDepth {
		l.fail(at, "the size of %q, which has no fixed size", d.name)
	}
	for _, a := range d.seq {
		if !a.isBits() {
			bits = (bits + 7) / 8 * 8
		}
		name := ""
		if a.typ != nil && len(a.typ.path) == 1 {
			name = a.typ.path[0]
		}
		n := int64(0)
		switch {
		case a.cond != nil || a.repeat != "" || a.on != nil || a.sizeEOS:
			l.fail(at, "the size of %q, which has no fixed size", d.name)
		case a.fixed:
			n = int64(len(a.contents)) * 8
		case a.size != nil && a.size.e != nil && a.size.e.kind == exInt:
			n = int64(a.size.e.int) * 8
		case a.size != nil || a.typ == nil || name == "str" || name == "strz":
			l.fail(at, "the size of %q, which has no fixed size", d.name)
		case bitsOf(name) > 0:
			n = int64(bitsOf(name))
		case numberOf(name, "le") != nil:
			n = int64(numberOf(name, "le").Bits)
		default:
			in := l.find(a.typ.path, d)
			if in == nil {
				l.wrong(unknownType(a.typNode.span, name, ""))
			}
			n = (l.sizeof(in, at, depth+1) + 7) / 8 * 8
		}
		if bits += n; bits > 1<<40 {
			l.fail(at, "the size of %q, which is too large", d.name)
		}
	}
	return bits
}

// sizeofField returns the number of bytes of a value of fixed size.
func sizeofField(f *schema.Field) (int64, bool) {
	if f == nil {
		return 0, false
	}
	e := schema.Extent{Size: schema.ToEnd}
	switch t := f.Type.(type) {
	case *schema.Number:
		return int64(t.Bits+7) / 8, t.Expr == nil
	case *schema.Blob:
		e = t.Extent
	case *schema.Text:
		e = t.Extent
	}
	switch {
	case e.Size == schema.Fixed:
		return int64(e.N), true
	case e.Size == schema.Computed && e.Expr.Op == schema.Literal:
		return e.Expr.Int, true
	}
	return 0, false
}
