package muta

import (
	"errors"
	"slices"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The limits of definitions. Those of a message are within the limits of package codec.
const (
	maxFields    = 1 << 14 // of a packet, including the fields of each use of a struct
	maxAllFields = 1 << 18 // of all packets of a file
	maxDepth     = 32      // nesting depth of structs
	maxMessage   = 1 << 28 // bytes
)

// lowerer compiles the messages of one file.
type lowerer struct {
	tree      *tree
	diags     diag.List
	encoding  schema.Charset // of text without one
	broken    bool           // the current record has errors
	constants *constants
	named     map[string]bool // constants that have been reported

	groups     map[string]*group
	groupNames []string
	groupAt    map[string]source.Span // first definition of each group, in this file or in another
	among      *build.Among
	twice      map[*record]bool // types that are defined twice, and therefore ambiguous
	types      map[string]*definedType
	typeNames  []string
	fields     int // of all packets
	open       int // nesting depth of the structs under construction
}

// group is the common properties of the packets of a group.
type group struct {
	name   string
	first  uint64
	idBits int
	form   form
	n      int  // packets so far
	taken  bool // an earlier file has a group of this name, whose packets have the keys
	broken bool
}

// form is the encoding of a record. The directives of a group apply to its packets and their structs.
type form struct {
	order schema.Order
	bits  bool // numbers with a range are packed
}

// definedType is a struct or an enum.
type definedType struct {
	record *record
	enum   *enum // nil for a struct
	bodies map[form]*body
}

// enum is the values of an enum and their range.
type enum struct {
	names  []string
	values []number
	shared map[int]*schema.Enum // by the bits of the number: there may be many fields, and many values
	prim   *primitive
	lo, hi *schema.Limit
	broken bool
}

// body is the contents of a struct or a packet.
type body struct {
	open   bool // under construction: a use of it now is recursive
	s      *schema.Struct
	fields int // including those of nested structs
	depth  int // nesting depth of structs, including this one
	bytes  uint64
	broken bool
}

func newLowerer(t *tree, o schema.Options, among *build.Among) *lowerer {
	return &lowerer{
		tree: t, encoding: o.Encoding(), constants: newConstants(o.Constants), named: map[string]bool{},
		groups: map[string]*group{}, groupAt: map[string]source.Span{}, among: among, types: map[string]*definedType{}, twice: map[*record]bool{},
	}
}

// report adds a diagnostic about the current record.
func (l *lowerer) report(d diag.Diagnostic) {
	l.broken = l.broken || d.Severity == diag.Error
	text.Add(&l.diags, d, maxMistakes)
}

// candidates returns names to suggest in place of a wrong one: a limited number, and none if the diagnostic will not be shown.
func (l *lowerer) candidates(names []string) []string {
	const enough = 2000
	if len(l.diags) > maxMistakes {
		return nil
	}
	return names[:min(len(names), enough):min(len(names), enough)]
}

// lower compiles the messages, in the order of the file.
func (l *lowerer) lower() []*schema.Message {
	l.collect()
	for i := range l.tree.records {
		if r := &l.tree.records[i]; r.kind == groupRecord {
			l.group(r)
		}
	}
	for _, name := range l.typeNames {
		if t := l.types[name]; t.record.kind == enumRecord {
			t.enum = l.enum(t.record)
		}
	}
	var out []*schema.Message
	seen := map[string]source.Span{}
	for i := range l.tree.records {
		if r := &l.tree.records[i]; r.kind == packetRecord {
			out = append(out, l.packet(r, seen))
		}
	}
	for _, name := range l.typeNames { // report errors of unused types too
		if t := l.types[name]; t.record.kind == structRecord && len(t.bodies) == 0 {
			l.structBody(t, form{})
		}
	}
	return out
}

// collect records the types and the constants of the file, which may be used before their definition.
func (l *lowerer) collect() {
	for i := range l.tree.records {
		r := &l.tree.records[i]
		switch r.kind {
		case structRecord, enumRecord:
			first, known := l.types[r.key]
			switch {
			case findPrimitive(r.key) != nil:
				l.report(reservedName(r.name))
			case known:
				l.twice[first.record] = true
				l.report(duplicateName(r.name, first.record.name, r.kind.String()))
			case r.name.Text() != "":
				l.types[r.key] = &definedType{record: r, bodies: map[form]*body{}}
				l.typeNames = append(l.typeNames, r.key)
			}
		case constantsRecord:
			l.directives(r)
			for _, i := range r.attrs {
				l.constant(&l.tree.lines[i])
			}
		}
	}
	var entries []constant
	for _, e := range l.constants.entries {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b constant) int { return a.name.Start - b.name.Start })
	for _, e := range entries {
		name := e.name.Text()
		if _, given := l.constants.given[name]; given {
			continue
		}
		if _, err := l.constants.lookup(name); err != nil && !l.named[name] {
			l.named[name] = true
			l.report(badConstant(e.at, name, e.value, err))
		}
	}
}

// constant lowers a line of a constants record.
func (l *lowerer) constant(ln *line) {
	name := ln.key.Text()
	if isDirective(name) || !text.IsName(name) {
		return
	}
	if first, twice := l.constants.entries[name]; twice {
		l.report(duplicateName(ln.key, first.name, "constant"))
		return
	}
	if ln.value.Text() == "" {
		l.named[name] = true
		l.report(noValue(ln.span, name))
	}
	l.constants.entries[name] = constant{name: ln.key, at: ln.value, value: ln.value.Text()}
}

// directives returns the valid directives of a record. A directive with an empty value is ignored.
func (l *lowerer) directives(r *record) map[string]*line {
	out := map[string]*line{}
	for _, i := range r.attrs {
		ln := &l.tree.lines[i]
		key := ln.key.Text()
		if !isDirective(key) || !text.IsName(key) {
			continue
		}
		d := findDirective(key)
		switch {
		case d == nil:
			l.report(unknownDirective(ln.key))
		case !slices.Contains(d.on, r.kind):
			l.report(misplacedDirective(ln.key, d, r.kind))
		case out[key] != nil:
			l.report(duplicateName(ln.key, out[key].key, "directive"))
		default:
			out[key] = ln
			if words := ln.value.Text(); words != "" && d.values != nil && !slices.Contains(d.values, words) {
				l.report(badDirective(ln, d.values))
			}
		}
	}
	return out
}

// value returns the value of a directive, or its default if it is missing or invalid.
func value(all map[string]*line, name string) string {
	d := findDirective(name)
	if ln := all[name]; ln != nil && slices.Contains(d.values, ln.value.Text()) {
		return ln.value.Text()
	}
	return d.values[0]
}

// group lowers the record of a group.
func (l *lowerer) group(r *record) {
	if r.name.Text() == "" {
		return
	}
	l.broken = r.broken
	first, known := l.groupAt[r.key]
	if !known {
		first = l.elsewhere(r.key)
	}
	taken := !first.IsZero()
	if taken {
		l.report(duplicateName(r.name, first, "group"))
		if g := l.groups[r.key]; g != nil {
			g.broken = true
			return
		}
	} else {
		l.groupAt[r.key] = r.name
	}
	all := l.directives(r)
	g := &group{name: r.key, first: 1, idBits: findPrimitive(value(all, idDirective)).bits, taken: taken}
	if value(all, endianDirective) == "big" {
		g.form.order = schema.Big
	}
	g.form.bits = value(all, packDirective) == "bits"
	if ln := all[firstDirective]; ln != nil && ln.value.Text() != "" {
		n, err := literal(ln.value.Text())
		if most := g.maxID(); err != nil || n.whole == nil || !n.whole.IsUint64() || n.whole.Uint64() > most {
			l.report(badFirst(ln.value, most))
		} else {
			g.first = n.whole.Uint64()
		}
	}
	for _, i := range r.attrs {
		if ln := &l.tree.lines[i]; !isDirective(ln.key.Text()) {
			l.report(misplacedField(ln.key, r.kind))
		}
	}
	g.broken = l.broken
	l.groups[g.name] = g
	l.groupNames = append(l.groupNames, g.name)
}

// maxID returns the largest id of the group's type.
func (g *group) maxID() uint64 { return 1<<g.idBits - 1 }

// enum lowers the record of an enum.
func (l *lowerer) enum(r *record) *enum {
	l.broken = r.broken || l.twice[r]
	e := &enum{prim: findPrimitive(value(l.directives(r), typeDirective))}
	seen := map[string]source.Span{}
	next := number{whole: wholeZero}
	unresolved := ""
	for _, i := range r.attrs {
		ln := &l.tree.lines[i]
		name := ln.key.Text()
		if isDirective(name) {
			continue
		}
		if first, twice := seen[name]; twice {
			l.report(duplicateName(ln.key, first, "value"))
			continue
		}
		seen[name] = ln.key
		at, n := ln.key, next
		if ln.value.Text() != "" {
			at = ln.value
			b := l.bound(at)
			switch {
			case b.err != nil:
				l.report(badBound(at, b.err.Error(), "write an integer"))
				continue
			case b.name != "":
				unresolved = b.name
				next.whole = nil
				continue
			case b.value.whole == nil:
				l.report(badBound(at, "is not an integer", "write an integer"))
				continue
			}
			n = b.value
		} else if next.whole == nil {
			continue // its value depends on an invalid one
		}
		if !fits(n, e.prim) {
			l.report(badEnumValue(at, n.String(), e.prim.name))
			continue
		}
		next = n.plusOne()
		e.names = append(e.names, name)
		e.values = append(e.values, n)
	}
	if len(seen) == 0 {
		l.report(emptyEnum(r.name))
	}
	switch {
	case unresolved != "":
		e.lo, e.hi = &schema.Limit{Const: unresolved}, &schema.Limit{Const: unresolved}
	case len(e.values) > 0:
		lo, hi := e.values[0], e.values[0]
		for _, n := range e.values {
			if n.whole.Cmp(lo.whole) < 0 {
				lo = n
			}
			if n.whole.Cmp(hi.whole) > 0 {
				hi = n
			}
		}
		e.lo, e.hi = lo.limit(), hi.limit()
	}
	e.broken = l.broken
	return e
}

// packet compiles the message of a packet.
func (l *lowerer) packet(r *record, seen map[string]source.Span) *schema.Message {
	l.broken = r.broken
	m := &schema.Message{
		Name: r.key, Version: 1, Doc: l.tree.doc(r.line), Span: r.name, Measured: true, Key: schema.Key{},
	}
	if r.name.Text() == "" {
		m.Span = l.tree.lines[r.line].span
	}
	if first, twice := seen[r.key]; twice && r.name.Text() != "" {
		l.report(duplicateName(r.name, first, "packet"))
	} else if t := l.types[r.key]; t != nil {
		l.report(duplicateName(r.name, t.record.name, "type"))
	}
	if seen[r.key].IsZero() {
		seen[r.key] = r.name
	}
	all := l.directives(r)
	g := l.groupOf(r, all)
	id := g.first + uint64(g.n)
	g.n++
	switch {
	case g.name == "":
	case id > g.maxID():
		m.Key.Group = g.name
		l.report(tooManyPackets(r.name, id, g))
	default:
		m.HasKey, m.Key = !g.taken, schema.Key{Group: g.name, Code: uint32(id)}
	}
	f := g.form
	if ln := all[packDirective]; ln != nil && ln.value.Text() != "" {
		f.bits = value(all, packDirective) == "bits"
	}
	code := schema.Item{Kind: schema.Code, Bits: g.idBits}
	if g.idBits > 8 {
		code.Order = f.order
	}
	b := l.body(r, f, []schema.Item{code})
	if l.fields += b.fields; l.fields > maxAllFields {
		l.report(tooManyFields(r.name, maxAllFields))
		b.s = &schema.Struct{Wire: []schema.Item{code}}
	}
	m.Body, m.Broken = b.s, b.broken || l.broken || g.broken
	return m
}

// groupOf returns the group of a packet, or a placeholder if it is undefined, so that the rest of the packet can be checked.
func (l *lowerer) groupOf(r *record, all map[string]*line) *group {
	ln := all[groupDirective]
	switch {
	case ln == nil:
		l.report(missingGroup(r.name, source.Span{}))
	case ln.value.Text() == "":
		l.report(missingGroup(r.name, ln.span))
	case l.groups[ln.value.Text()] == nil:
		l.report(undefinedGroup(ln.value, l.candidates(l.groupNames)))
	default:
		return l.groups[ln.value.Text()]
	}
	return &group{idBits: 8, first: 1}
}

// structBody returns the body of a struct in a given form; nil if it is recursive or nested too deeply.
func (l *lowerer) structBody(t *definedType, f form) *body {
	b := t.bodies[f]
	switch {
	case b == nil:
	case b.open:
		return nil
	default:
		return b
	}
	if l.open >= maxDepth {
		return nil
	}
	l.open++
	t.bodies[f] = &body{open: true}
	broken := l.broken
	l.broken = t.record.broken || l.twice[t.record]
	inner := f
	all := l.directives(t.record)
	if ln := all[packDirective]; ln != nil && ln.value.Text() != "" {
		inner.bits = value(all, packDirective) == "bits"
	}
	b = l.body(t.record, inner, nil)
	b.broken = b.broken || l.broken
	b.depth++
	l.broken = broken
	l.open--
	t.bodies[f] = b
	return b
}

// body compiles the struct of a record: after head the lengths of all arrays, then the single values, then the contents.
func (l *lowerer) body(r *record, f form, head []schema.Item) *body {
	b := &body{s: &schema.Struct{Wire: head}}
	if r.kind == structRecord {
		b.s.Name = r.key
	}
	seen := make(map[string]source.Span, len(r.attrs))
	var lengths, contents []schema.Item
	var singles []*schema.Field
	var bits uint64
	for _, item := range head {
		bits += uint64(item.Bits)
	}
	for _, i := range r.attrs {
		ln := &l.tree.lines[i]
		name := ln.key.Text()
		if isDirective(name) {
			continue
		}
		key := text.CleanName(name)
		if first, twice := seen[key]; twice {
			l.report(duplicateName(ln.key, first, "field"))
			continue
		}
		seen[key] = ln.key
		if !ln.readable {
			continue
		}
		p, ok := l.field(ln, f)
		switch {
		case !ok:
			continue
		case b.fields+p.fields > maxFields:
			l.report(tooManyFields(ln.span, maxFields))
			continue
		case b.bytes+p.bytes > maxMessage:
			l.report(tooManyBytes(ln.span, maxMessage))
			continue
		}
		b.fields += p.fields
		b.bytes += p.bytes
		b.depth = max(b.depth, p.depth)
		b.broken = b.broken || p.broken
		field := &schema.Field{Name: key, Type: p.typ, TypeText: ln.field.text(), Doc: l.tree.doc(i), Span: ln.span}
		b.s.Fields = append(b.s.Fields, field)
		if p.length > 0 {
			length := schema.Item{Kind: schema.Count, Field: field, Bits: p.length}
			if p.length > 8 {
				length.Order = f.order
			}
			lengths = append(lengths, length)
			contents = append(contents, schema.Item{Kind: schema.Value, Field: field})
		} else {
			singles = append(singles, field)
		}
	}
	b.bytes += (bits + 7) / 8
	b.s.Wire = append(append(append(b.s.Wire, lengths...), l.placeSingles(singles, f)...), contents...)
	return b
}

// placeSingles returns the items of the single values. In the form of bits, consecutive numbers with a range share bytes, the first in the
// lowest bits; the unused bits of the last byte are padding.
func (l *lowerer) placeSingles(fields []*schema.Field, f form) []schema.Item {
	var items []schema.Item
	used := 0 // used bits of the last byte, 0 = all
	fill := func() {
		if used > 0 {
			items = append(items, schema.Item{Kind: schema.Pad, Bits: 8 - used})
		}
		used = 0
	}
	for _, field := range fields {
		n, ok := field.Type.(*schema.Number)
		if bits := 0; f.bits && ok {
			if bits = neededBits(n); bits > 0 {
				l.shrink(n, bits)
				used = (used + bits) % 8
				items = append(items, schema.Item{Kind: schema.Value, Field: field})
				continue
			}
		}
		fill()
		items = append(items, schema.Item{Kind: schema.Value, Field: field})
	}
	fill()
	return items
}

// neededBits returns the number of bits that the range of an integer requires, 0 if it is unknown.
func neededBits(n *schema.Number) int {
	if n.Kind == schema.Float || n.Min == nil || n.Max == nil || n.Min.Const != "" || n.Max.Const != "" {
		return 0
	}
	if n.Kind == schema.Unsigned {
		return max(bitLen(n.Max.Uint), 1)
	}
	return 1 + max(bitLen(signFree(n.Min.Int)), bitLen(signFree(n.Max.Int)))
}

// signFree returns the bits of a number in two's complement without the sign bit.
func signFree(n int64) uint64 { return uint64(n ^ n>>63) }

func bitLen(n uint64) (bits int) {
	for ; n > 0; n >>= 1 {
		bits++
	}
	return bits
}

// shrink returns a copy of a number with fewer bits and without byte order.
func (l *lowerer) shrink(n *schema.Number, bits int) {
	n.Bits, n.Order = bits, schema.Little
	if n.Enum != nil {
		n.Enum = l.types[n.Enum.Name].enum.ofBits(n.Enum.Name, bits)
	}
}

// ofBits returns the enum for numbers of that many bits.
func (e *enum) ofBits(name string, bits int) *schema.Enum {
	out := e.shared[bits]
	if out != nil {
		return out
	}
	out = &schema.Enum{Name: name, Values: make([]schema.EnumValue, len(e.values))}
	for i, v := range e.values {
		raw := v.whole.Uint64()
		if v.whole.Sign() < 0 {
			raw = uint64(v.whole.Int64())
		}
		out.Values[i] = schema.EnumValue{Name: e.names[i], Value: raw & schema.Mask(bits)}
	}
	if e.shared == nil {
		e.shared = map[int]*schema.Enum{}
	}
	e.shared[bits] = out
	return out
}

// bound is the value of a bound of a range or of a number of elements.
type bound struct {
	value number
	name  string // of the constant, if it has no value
	err   error  // it is not a valid bound
}

// bound evaluates a number or the name of a constant. It reports a constant without a value, once per file; that does not make the message
// broken.
func (l *lowerer) bound(at source.Span) bound {
	words := at.Text()
	if !text.IsName(words) {
		n, err := literal(words)
		return bound{value: n, err: err}
	}
	n, err := l.constants.lookup(words)
	if err == nil {
		return bound{value: n}
	}
	if !l.named[words] {
		l.named[words] = true
		if given, ok := l.constants.given[words]; ok {
			text.Add(&l.diags, badConstant(at, words, given, err), maxMistakes)
		} else {
			name := words
			if m := (missing{}); errors.As(err, &m) {
				name = m.name
			}
			text.Add(&l.diags, unresolved(at, name), maxMistakes)
		}
	}
	return bound{name: words}
}
