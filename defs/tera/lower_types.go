package tera

import (
	"strconv"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// typ lowers the type of a field. The size is the number of bytes among the fixed fields, 0 for a field with a pointer. An array whose
// fields are on the following lines is returned without Elem. If ok is false, the reason was reported.
func (l *lowerer) typ(t *typeExpr, name typeName, span source.Span) (typ schema.Type, size int, ok bool) {
	switch name {
	case unknown:
		l.report(unknownType(t.name))
		return nil, 0, false
	case objectType, refType:
		l.report(badElement(t))
		return nil, 0, false
	case stringType, bytesType:
		l.ignored(t)
		typ = textType
		if name == bytesType {
			typ = blobType
		}
		typ, ok = l.pointerArray(t, typ, span)
		return typ, 0, ok
	case arrayType:
		l.arrayFlags(t)
		list, ok := l.array(t, span)
		return list, 0, ok
	}
	l.ignored(t)
	typ, size = l.fixedType(name, span)
	for i, n := range t.sizes {
		typ, size, ok = l.fixedList(typ, size, n, t.sizes[:i], t, span)
		if !ok {
			return nil, 0, false
		}
	}
	return typ, size, true
}

// array lowers "array" and "array<T>".
func (l *lowerer) array(t *typeExpr, span source.Span) (*schema.List, bool) {
	list := &schema.List{Linked: true, Extent: schema.Extent{Size: schema.Counted}}
	if t.elem == nil {
		return list, true
	}
	name := lookupType(t.elem.name.Text())
	switch {
	case name == arrayType && t.elem.elem == nil:
		l.report(badElement(t.elem))
		return nil, false
	case name == objectType:
		// The meaning is clear: the following fields are those of the elements.
		l.report(objectElement(t))
		return list, true
	}
	if name == arrayType && t.elem.isInterleaved() {
		l.report(ignoredFlags(t.elem))
	}
	f := &schema.Field{TypeText: t.elem.text(), Span: span}
	typ, size, ok := l.typ(t.elem, name, span)
	if !ok {
		return nil, false
	}
	if isArray(typ) {
		l.report(badElement(t.elem))
		return nil, false
	}
	f.Type = typ
	list.Bare = true
	wire := make([]schema.Item, 0, 5)
	wire = append(wire, elementHeader...)
	if size == 0 {
		wire = appendPointer(wire, f)
	}
	list.Elem = &schema.Struct{
		Fields: []*schema.Field{f},
		Wire:   append(wire, schema.Item{Kind: schema.Value, Field: f}),
	}
	return list, true
}

// fixedList lowers "type[n]" (dialect P): n consecutive values without pointer, count or terminator. The inner sizes are to the left of n.
func (l *lowerer) fixedList(elem schema.Type, size int, n source.Span, inner []source.Span, t *typeExpr, span source.Span) (
	schema.Type, int, bool,
) {
	count, ok := number(n.Text())
	if !ok || count == 0 || count > maxFrame/size {
		l.report(badLength(n, maxFrame/size))
		return nil, 0, false
	}
	text := t.name.Text()
	for _, s := range inner {
		text += "[" + s.Text() + "]"
	}
	f := &schema.Field{Type: elem, TypeText: text, Span: span}
	return &schema.List{
		Bare:   true,
		Extent: schema.Extent{Size: schema.Fixed, N: count},
		Elem: &schema.Struct{
			Fields: []*schema.Field{f},
			Wire:   []schema.Item{{Kind: schema.Value, Field: f}},
		},
	}, size * count, true
}

// maxPointers is the maximum number of pointers of one field. Each is a field of the schema.
const maxPointers = 1024

// pointerArray lowers "string[n]" and "bytes[n]" (dialect P): n pointers, and n contents elsewhere.
func (l *lowerer) pointerArray(t *typeExpr, elem schema.Type, span source.Span) (schema.Type, bool) {
	left, counts := maxPointers, make([]int, len(t.sizes))
	for i, n := range t.sizes {
		count, ok := number(n.Text())
		if !ok || count == 0 || count > left {
			l.report(badLength(n, left))
			return nil, false
		}
		counts[i], left = count, left/count
	}
	return arraysOf(t.name.Text(), elem, t.sizes, counts, span), true
}

// arraysOf returns the type of arrays of contents. Each element gets a separate field, which has a separate pointer.
func arraysOf(text string, elem schema.Type, sizes []source.Span, counts []int, span source.Span) schema.Type {
	last := len(counts) - 1
	if last < 0 {
		return elem
	}
	inner := text
	for _, s := range sizes[:last] {
		inner += "[" + s.Text() + "]"
	}
	s := &schema.Struct{Fields: make([]*schema.Field, counts[last])}
	for i := range s.Fields {
		s.Fields[i] = &schema.Field{
			Name: strconv.Itoa(i), Type: arraysOf(text, elem, sizes[:last], counts[:last], span), TypeText: inner, Span: span,
		}
	}
	return &schema.Group{Struct: s, Array: true}
}

// interleaved is the only flag.
const interleaved = "interleaved"

// arrayFlags checks the contents of the brackets of an array.
func (l *lowerer) arrayFlags(t *typeExpr) {
	if len(t.sizes) > 0 {
		l.report(fixedVariable(t))
	}
	for _, flag := range t.flags {
		if flag.Text() != interleaved {
			l.report(unknownFlag(flag))
		}
	}
}

// isInterleaved reports whether a type has the flag.
func (t *typeExpr) isInterleaved() bool {
	for _, flag := range t.flags {
		if flag.Text() == interleaved {
			return true
		}
	}
	return false
}

// ignored reports a subtype or flags on a type that is not an array.
func (l *lowerer) ignored(t *typeExpr) {
	if t.elem != nil {
		l.report(ignoredSubtype(t))
	}
	if len(t.flags) > 0 {
		l.report(ignoredFlags(t))
	}
	if len(t.sizes) > 0 && lookupType(t.name.Text()) == objectType {
		l.report(fixedVariable(t))
	}
}

// checkOnly checks the types of entries[lo:hi], which do not exist at this patch, so that their errors are reported as well.
func (l *lowerer) checkOnly(lo, hi int) {
	for ; lo < hi; lo++ {
		e := &l.entries[lo]
		if e.kind != fieldLine {
			continue
		}
		switch name := lookupType(e.typ.name.Text()); name {
		case objectType:
			l.ignored(&e.typ)
		default:
			l.typ(&e.typ, name, e.span)
		}
	}
}
