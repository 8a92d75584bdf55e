package tera

import (
	"math"
	"strconv"
	"sync"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// lowerer turns a definition into a message. Its slices are stacks that the scopes share: a scope uses the elements above its start, and
// truncates the stacks when it ends.
type lowerer struct {
	o     options
	among *build.Among
	diags diag.List

	mistakes    int
	broken      bool
	explicit    bool // has a ref line: ref lines determine the positions of all pointers
	counted     bool // has a count line
	shortSkills bool // skillid has 32 bits
	includes    int  // number of included files
	including   []*tree
	entries     []entry

	// Pointers are items of the kind pointer with their field, until appendPointer expands them.
	pointers, fixed, contents []schema.Item
	names                     map[*schema.Struct]map[string]*schema.Field // of structs with many fields
	variable                  map[*schema.Field]bool                      // first fields of a name that a later variable field has
}

// lowerers are pooled to reuse their stacks.
var lowerers = sync.Pool{New: func() any { return new(lowerer) }}

// begin resets a lowerer for another definition.
func (l *lowerer) begin(o options, among *build.Among) {
	*l = lowerer{
		o: o, among: among, including: l.including[:0], entries: l.entries[:0],
		pointers: l.pointers[:0], fixed: l.fixed[:0], contents: l.contents[:0],
	}
}

// pointer is an item kind that is internal to lowering: the whole pointer of a field, which is later expanded to one or two items. Without
// a field it is a ref line whose field has not been lowered yet.
const pointer = schema.ItemKind(math.MaxUint8)

// scope is the body of a message or an element of an array: bytes that begin with pointers.
type scope struct {
	size      int  // bytes of header, pointers and fixed fields
	overflown bool // too-large was reported
	refs      map[string]*ref
	late      map[string]int // explicit: fields without a ref so far, by path: index in fixed
	lateOrder []pathOf
	counts    []countAt       // count lines
	paths     map[string]bool // paths of the fields with pointers; nil if not needed
	firstPtr  int             // start of the scope in pointers
	first     int             // start of the scope in fixed
	firstBody int             // start of the scope in contents
}

// ref is a ref line whose field has not been lowered yet.
type ref struct {
	span  source.Span // the name
	at    int         // index in fixed
	used  bool
	wrong bool // an error was reported
	half  bool // the obsolete offset: two bytes, whatever its field is
}

// pathOf is a line and the path that it names within its scope, as in "object.field".
type pathOf struct {
	path  string
	entry *entry
}

// countAt is a count line, and where it would be if no field had its count.
type countAt struct {
	pathOf
	at int // index in fixed
}

// maxMistakes limits the diagnostics of one file.
const maxMistakes = 200

// report adds a diagnostic, up to maxMistakes.
func (l *lowerer) report(d diag.Diagnostic) {
	l.broken = l.broken || d.Severity == diag.Error
	l.mistakes++
	switch {
	case l.mistakes <= maxMistakes:
		l.diags.Add(d)
	case l.mistakes == maxMistakes+1:
		l.diags.Add(text.TooManyMistakes(d.Span))
	}
}

// message lowers the definition in a file.
func (l *lowerer) message(t *tree, name FileName) *schema.Message {
	l.flatten(t)
	l.nest()
	l.shortSkills = l.o.skillBits == 32 || l.o.skillBits == 0 && l.o.patch != 0 && l.o.patch < firstLongSkill

	m := &schema.Message{
		Name:    name.Name,
		Version: name.Version,
		Key:     schema.Key{Dir: Direction(name.Name)},
		Doc:     t.head(),
		Span:    source.Span{File: t.file},
	}
	if code, ok := l.o.codes[name.Name]; ok && code <= math.MaxUint16 {
		m.Key.Code, m.HasKey = code, true
	}
	header := []schema.Item{{Kind: schema.Length, Bits: 16}, {Kind: schema.Code, Bits: 16}}
	size := 4
	if l.o.integrity && m.Key.Dir == schema.ToServer {
		header = append(header, longHeader...)
		size = 12
	}
	m.Body = l.scope(header, size, 0, len(l.entries))
	m.ReadOnly, m.Unreadable = l.o.deprecation(name)
	if m.ReadOnly != "" {
		l.report(deprecated(m.Span.Sub(0, 0), m.ReadOnly))
	} else if r, ok := l.o.validity[name.Name][name.Version]; ok && l.o.patch == 0 {
		l.report(deprecatedSomewhere(m.Span.Sub(0, 0), validFor(r)))
	}
	m.Broken = l.broken
	return m
}

// firstLongSkill is the first patch with a skillid of 64 bits: 74.
const firstLongSkill = 7400

// maxFrame is the maximum size of a message in bytes: its length has 16 bits.
const maxFrame = math.MaxUint16

// elementHeader is the items at the start of every element of an array.
var elementHeader = []schema.Item{{Kind: schema.Here, Bits: pointerBits}, {Kind: schema.Next, Bits: pointerBits}}

// scope lowers entries[lo:hi] to a struct: header, pointers, fixed fields, contents.
func (l *lowerer) scope(header []schema.Item, size, lo, hi int) *schema.Struct {
	sc := scope{size: size, firstPtr: len(l.pointers), first: len(l.fixed), firstBody: len(l.contents)}
	s := new(schema.Struct)
	l.container(&sc, s, lo, hi, "")
	l.finishRefs(&sc)

	pointers, fixed, contents := l.pointers[sc.firstPtr:], l.fixed[sc.first:], l.contents[sc.firstBody:]
	wire := make([]schema.Item, 0, len(header)+2*len(pointers)+len(fixed)+len(contents)+len(sc.refs))
	wire = append(wire, header...)
	for i := range pointers {
		wire = appendPointer(wire, pointers[i].Field)
	}
	for i := range fixed {
		if fixed[i].Kind == pointer {
			wire = appendPointer(wire, fixed[i].Field)
		} else {
			wire = append(wire, fixed[i])
		}
	}
	s.Wire = append(wire, contents...)
	l.pointers, l.fixed, l.contents = l.pointers[:sc.firstPtr], l.fixed[:sc.first], l.contents[:sc.firstBody]
	return s
}

// appendPointer appends the items of a field's pointer. An array has its count first, bytes have their offset first.
// Source: tera-data README, "ref"; novadrop, network protocol.
func appendPointer(wire []schema.Item, f *schema.Field) []schema.Item {
	if f == nil {
		return wire
	}
	offset := schema.Item{Kind: schema.Offset, Field: f, Bits: pointerBits}
	count := schema.Item{Kind: schema.Count, Field: f, Bits: pointerBits}
	switch t := f.Type.(type) {
	case *schema.List:
		return append(wire, count, offset)
	case *schema.Blob:
		return append(wire, offset, count)
	case *schema.Group: // an array of pointers
		for _, elem := range t.Struct.Fields {
			wire = appendPointer(wire, elem)
		}
		return wire
	}
	return append(wire, offset)
}

// appendContents appends the items of the contents of a field with a pointer.
func appendContents(wire []schema.Item, f *schema.Field) []schema.Item {
	g, ok := f.Type.(*schema.Group)
	if !ok {
		return append(wire, schema.Item{Kind: schema.Value, Field: f})
	}
	for _, elem := range g.Struct.Fields {
		wire = appendContents(wire, elem)
	}
	return wire
}

// pointerSize returns the number of bytes of a field's pointer.
func pointerSize(t schema.Type) int {
	switch t := t.(type) {
	case *schema.Text:
		return 2
	case *schema.Group:
		return len(t.Struct.Fields) * pointerSize(t.Struct.Fields[0].Type)
	}
	return 4
}

// container lowers entries[lo:hi] to fields of owner: the struct of the scope, or an object inside it. The path of a field of an object
// starts with prefix.
func (l *lowerer) container(sc *scope, owner *schema.Struct, lo, hi int, prefix string) {
	woven := weave{at: -1}
	if owner.Fields == nil {
		owner.Fields = make([]*schema.Field, 0, l.children(lo, hi))
	}
	for lo < hi {
		e := &l.entries[lo]
		after := l.after(lo, hi)
		switch {
		case e.gone:
			l.checkOnly(lo, after)
		case e.kind == refLine:
			l.ref(sc, e, prefix)
		case e.kind == countLine:
			sc.counts = append(sc.counts, countAt{pathOf{path: prefix + e.key, entry: e}, len(l.fixed)})
			l.fixed = append(l.fixed, schema.Item{Kind: pointer})
		default:
			l.field(sc, owner, &woven, lo, after, prefix)
		}
		lo = after
	}
	l.endWeave(&woven)
}

// children returns the number of top-level entries of entries[lo:hi].
func (l *lowerer) children(lo, hi int) int {
	n := 0
	for i := lo; i < hi; i++ {
		if l.entries[i].level == l.entries[lo].level {
			n++
		}
	}
	return n
}

// after returns the index of the first entry that is not inside entry i.
func (l *lowerer) after(i, hi int) int {
	level := l.entries[i].level
	for i++; i < hi && l.entries[i].level > level; {
		i++
	}
	return i
}

// field lowers entries[i:after], a field and its nested fields.
func (l *lowerer) field(sc *scope, owner *schema.Struct, woven *weave, i, after int, prefix string) {
	e := &l.entries[i]
	t := &e.typ
	if !e.value.IsZero() {
		l.report(unusedDefault(e.value))
	}
	name := lookupType(t.name.Text())
	if name == unknown {
		l.report(unknownType(t.name))
		return
	}
	if name == objectType {
		l.ignored(t)
		l.object(sc, owner, i, after, prefix)
		woven.last = false
		return
	}
	f := &schema.Field{Name: l.key(owner, e), TypeText: t.text(), Doc: e.tree.doc(e.at), Span: e.span}
	typ, size, ok := l.typ(t, name, e.span)
	if !ok {
		return
	}
	f.Type = typ
	if size > 0 {
		if l.define(owner, f, e, false) {
			l.fixed = append(l.fixed, schema.Item{Kind: schema.Value, Field: f})
			l.grow(sc, e, size)
			woven.last = false
		}
		return
	}
	if !l.define(owner, f, e, true) {
		return
	}
	if list, ok := typ.(*schema.List); ok && list.Elem == nil {
		list.Elem = l.scope(elementHeader, 4, i+1, after)
	}
	l.grow(sc, e, pointerSize(typ))
	l.place(sc, e, f, prefix)
	l.weave(woven, e, f)
}

// grow adds to the minimum size of a scope. If it exceeds the size of a message, that is reported once.
func (l *lowerer) grow(sc *scope, e *entry, bytes int) {
	sc.size += bytes
	if sc.size > maxFrame && !sc.overflown {
		sc.overflown = true
		l.report(tooLarge(e.span))
	}
}

// objectWord is the text of the type object.
const objectWord = "object"

// object lowers an object. It has no bytes of its own: its fields are part of the enclosing scope. A repeated object continues the first
// one, and the bytes of its fields are at the position of their declaration. Source: S_EACH_SKILL_RESULT.15, "reaction".
func (l *lowerer) object(sc *scope, owner *schema.Struct, i, after int, prefix string) {
	e := &l.entries[i]
	key := l.key(owner, e)
	f := l.find(owner, key)
	if f == nil {
		f = &schema.Field{
			Name: key, TypeText: objectWord, Doc: e.tree.doc(e.at), Span: e.span,
			Type: &schema.Group{Struct: new(schema.Struct)},
		}
		l.add(owner, f)
	} else if f.TypeText != objectWord {
		l.report(duplicateName(e.name, f))
		return
	} else if f.Doc == "" {
		f.Doc = e.tree.doc(e.at)
	}
	if l.explicit || l.counted {
		prefix += key + "."
	}
	l.container(sc, f.Type.(*schema.Group).Struct, i+1, after, prefix)
}

// define adds a field to a struct, unless its name is in use. Fields of fixed size may share a name, also with one variable field.
// Source: C_MOVE_WARE_POS.1, "unk3"; S_LOAD_ACHIEVEMENT_LIST.1 of dialect P, "achievements".
func (l *lowerer) define(owner *schema.Struct, f *schema.Field, e *entry, variable bool) bool {
	old := l.find(owner, f.Name)
	if old == nil {
		l.add(owner, f)
		return true
	}
	if old.TypeText == objectWord || variable && (isVariable(old.Type) || l.variable[old]) {
		l.report(duplicateName(e.name, old))
		return false
	}
	if variable {
		if l.variable == nil {
			l.variable = map[*schema.Field]bool{}
		}
		l.variable[old] = true
	}
	l.report(repeatedField(e.name, old))
	f.Same = old
	owner.Fields = append(owner.Fields, f)
	return true
}

// isVariable reports whether the contents of a type are elsewhere, at an offset.
func isVariable(t schema.Type) bool {
	list, ok := t.(*schema.List)
	return t == schema.Type(textType) || t == schema.Type(blobType) || ok && list.Linked || isArray(t)
}

// isArray reports whether a type is an array of pointers, such as string[2].
func isArray(t schema.Type) bool {
	g, ok := t.(*schema.Group)
	return ok && g.Array
}

// key returns the name of a field. The replacement of an invalid name must not equal an existing name.
func (l *lowerer) key(owner *schema.Struct, e *entry) string {
	if e.odd && l.find(owner, e.key) != nil {
		return e.key + "_" + strconv.Itoa(len(owner.Fields)+1)
	}
	return e.key
}

// fewFields is the number of fields up to which find uses a linear search.
const fewFields = 24

// find returns the first field of that name, or nil.
func (l *lowerer) find(owner *schema.Struct, name string) *schema.Field {
	if index := l.names[owner]; index != nil {
		return index[name]
	}
	for _, f := range owner.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// add appends a field whose name is new.
func (l *lowerer) add(owner *schema.Struct, f *schema.Field) {
	owner.Fields = append(owner.Fields, f)
	if index := l.names[owner]; index != nil {
		index[f.Name] = f
		return
	}
	if len(owner.Fields) <= fewFields {
		return
	}
	if l.names == nil {
		l.names = make(map[*schema.Struct]map[string]*schema.Field)
	}
	index := make(map[string]*schema.Field, 2*len(owner.Fields))
	for _, f := range owner.Fields {
		if f.Same == nil {
			index[f.Name] = f
		}
	}
	l.names[owner] = index
}
