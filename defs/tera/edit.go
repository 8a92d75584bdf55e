package tera

import (
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/edit"
	"wirebench/defs/source"
)

// Edits change definitions by their fields.
//
// Fields of fixed size go where the fields before them are declared. A field with a pointer is declared at the end of its scope; if its
// pointer is not among those at the start of the scope, all pointers of the definition get ref lines, which does not change its meaning.
var Edits = edit.Rules{Begin: begin, Types: editTypes, Filler: filler, Write: writeFields, Retype: retypeContents, Loosen: loosenPointer, Rename: renameField, Include: renameIncluded, Remove: removeField}

// fixedBytes is the size of the types of fixed size in bytes.
func fixedBytes(name typeName) int {
	switch name {
	case angleType:
		return 2
	case vec3Type, vec3faType:
		return 12
	case customizeType, skillidType:
		return 8
	case skillid32Type:
		return 4
	}
	if name < angleType {
		return numbers[name].Bits / 8
	}
	return 0
}

// begin returns only a comment: the file name names the message, and its code is in a map.
func begin(name string, _ edit.Message) string {
	return "# description of " + name + "\n\n"
}

// editTypes returns the types of a number of bytes, in the order of the table.
func editTypes(_ *source.File, at edit.Run) []edit.Type {
	if at.Bits%8 != 0 {
		return nil
	}
	n := at.Bits / 8
	var single, several, elsewhere []edit.Type
	for _, t := range types {
		size := fixedBytes(t.is)
		switch {
		case t.is == stringType && n == pointerBits/8:
			elsewhere = append(elsewhere, edit.Type{Text: t.name, Group: "Offset of", Kind: edit.Pointer, Bits: at.Bits})
		case t.is == bytesType && n == 2*pointerBits/8, t.is == arrayType && n == 2*pointerBits/8:
			group := "Offset and count of"
			if t.is == arrayType {
				group = "Count and offset of"
			}
			elsewhere = append(elsewhere, edit.Type{Text: t.name, Group: group, Kind: edit.Pointer, Bits: at.Bits})
			for _, elem := range types {
				if t.is == arrayType && elem.is <= stringType && elem.is != skillid32Type {
					elsewhere = append(elsewhere, edit.Type{Text: t.name + "<" + elem.name + ">", Group: group, Kind: edit.Pointer, Bits: at.Bits, More: true})
				}
			}
		case size == 0:
		case size == n:
			single = append(single, edit.Type{Text: t.name, Group: "One value", Bits: at.Bits})
		case n%size == 0 && t.is != boolType && t.is != skillid32Type:
			several = append(several, edit.Type{Text: t.name + "[" + strconv.Itoa(n/size) + "]", Group: "Several values", Bits: at.Bits})
		}
	}
	return slices.Concat(single, elsewhere, several)
}

// filler returns unsigned integers.
func filler(bits int) (out []edit.Type) {
	for _, t := range []struct {
		name string
		bits int
	}{{"uint64", 64}, {"uint32", 32}, {"uint16", 16}, {"byte", 8}} {
		for ; bits >= t.bits; bits -= t.bits {
			out = append(out, edit.Type{Text: t.name, Bits: t.bits})
		}
	}
	return out
}

// editor is a definition that is being edited.
type editor struct {
	*tree
	*edit.Lines
	outer []int // by line: the index of the field that it is inside of, or -1
	head  int   // index of the first line that is not a comment
}

// maxEdited is the maximum number of fields that an edit replaces.
const maxEdited = 1000

func newEditor(f *source.File) (*editor, bool) {
	t := parseTree(f)
	e := &editor{t, edit.NewLines(f), make([]int, len(t.lines)), 0}
	for e.head < len(t.lines) && (t.lines[e.head].kind == blankLine || t.lines[e.head].kind == commentLine) {
		e.head++
	}
	var open []int
	for i := range t.lines {
		ln := &t.lines[i]
		if ln.kind != blankLine && ln.kind != commentLine {
			for len(open) > 0 && t.lines[open[len(open)-1]].depth >= ln.depth {
				open = open[:len(open)-1]
			}
		}
		e.outer[i] = -1
		if len(open) > 0 {
			e.outer[i] = open[len(open)-1]
		}
		if ln.kind == fieldLine {
			open = append(open, i)
		}
	}
	return e, !t.cut
}

// renameIncluded returns the text with another name for the files of a message that it includes.
func renameIncluded(f *source.File, from, to string) string {
	if !strings.Contains(f.Text, "@include") {
		return f.Text
	}
	var out []byte
	done := 0
	for _, ln := range parseTree(f).lines {
		if ln.kind != includeLine || ln.name.File != f {
			continue
		}
		at := ln.name.Start + len(ln.name.Text()) - len(baseName(ln.name.Text()))
		if strings.HasPrefix(f.Text[at:ln.name.End], from+".") {
			out = append(append(out, f.Text[done:at]...), to...)
			done = at + len(from)
		}
	}
	return string(append(out, f.Text[done:]...))
}

// at returns the index of the line of a span.
func (e *editor) at(s source.Span) (i int, ok bool) {
	if s.File != e.file {
		return 0, false // included
	}
	i = s.Pos().Line - 1
	return i, i < len(e.lines) && e.lines[i].kind == fieldLine
}

// editAt begins to edit a file, and returns the index of the line of a field.
func editAt(f *source.File, at source.Span) (e *editor, i int, ok bool) {
	if e, ok = newEditor(f); ok {
		i, ok = e.at(at)
	}
	return e, i, ok
}

// inside reports whether line k is below line i and inside it, or belongs to neither.
func (e *editor) inside(i, k int) bool {
	ln := &e.lines[k]
	return ln.kind == blankLine || ln.kind == commentLine || ln.kind != includeLine && ln.depth > e.lines[i].depth
}

// last returns the index of the last line of a field: of the fields inside it, or of its comment.
func (e *editor) last(i int) int {
	last := i
	for k := i + 1; k < len(e.lines) && e.inside(i, k); k++ {
		if ln := &e.lines[k]; ln.kind != blankLine && ln.kind != commentLine || ln.goesOn() && k == last+1 {
			last = k
		}
	}
	return last
}

// path returns the path of a field within its scope, as ref lines have it.
func (e *editor) path(i int) string {
	path := e.lines[i].key
	for i = e.outer[i]; i >= 0 && lookupType(e.lines[i].typ.name.Text()) == objectType; i = e.outer[i] {
		path = e.lines[i].key + "." + path
	}
	return path
}

// scopeOf returns the index of the array that a line is inside of, or -1.
func (e *editor) scopeOf(i int) int {
	for i = e.outer[i]; i >= 0 && lookupType(e.lines[i].typ.name.Text()) == objectType; {
		i = e.outer[i]
	}
	return i
}

// start returns the index of the first line inside an array, or of the first field of the definition, and its level.
func (e *editor) start(array int) (at, depth int) {
	if array < 0 {
		return e.head, 0
	}
	for at = array + 1; at < len(e.lines) && e.lines[at].goesOn(); at++ {
	}
	return at, e.lines[array].depth + 1
}

// end returns the index of the line after the fields of an array, or of the definition, and their level.
func (e *editor) end(array int) (at, depth int) {
	if array >= 0 {
		return e.last(array) + 1, e.lines[array].depth + 1
	}
	last := -1
	for i := range e.lines {
		if k := e.lines[i].kind; k != blankLine && k != commentLine || e.lines[i].goesOn() && i == last+1 && i > 0 {
			last = i
		}
	}
	if last < 0 {
		return len(e.lines), 0
	}
	return last + 1, 0
}

// model returns the line whose look a new line at index i gets: the nearest one, preferably of the same level and above; nil if there is
// none.
func (e *editor) model(i, depth int) (best *line) {
	isCode := func(k int) bool {
		return e.lines[k].kind == fieldLine || e.lines[k].kind == refLine
	}
	for k := i - 1; k >= 0 && e.lines[k].kind != blankLine && (best == nil || best.depth != depth); k-- {
		if isCode(k) && (best == nil || e.lines[k].depth == depth && best.depth != depth) {
			best = &e.lines[k]
		}
	}
	for k := i; k < len(e.lines) && e.lines[k].kind != blankLine && (best == nil || best.depth != depth); k++ {
		if isCode(k) && (best == nil || e.lines[k].depth == depth) {
			best = &e.lines[k]
		}
	}
	return best
}

// before returns the text of a line before its type.
func (e *editor) before(ln *line) string {
	from := e.file.Line(ln.span.Pos().Line).Start
	return e.file.Text[from:ln.typ.span.Start]
}

// code returns a line without comment, that looks like another one.
func (e *editor) code(like *line, depth int, typ, name string) string {
	head := strings.Repeat("- ", depth)
	if like == nil {
		return head + typ + " " + name
	}
	if like.depth == depth {
		head = e.before(like)
	}
	gap := e.file.Text[like.typ.span.End:like.name.Start]
	if strings.Contains(gap, "\t") {
		return head + typ + gap + name
	}
	return edit.Pad(head+typ, edit.Column(e.before(like)+e.file.Text[like.typ.span.Start:like.name.Start])) + name
}

// tail returns the text of a line after its name.
func (e *editor) tail(ln *line) string {
	if ln.versions.IsZero() {
		return ""
	}
	return " " + ln.versions.Text()
}

// comment adds the comment of a line to another text of the line, in its column.
func (e *editor) comment(ln *line, code string) string {
	if ln.comment.IsZero() {
		return code
	}
	whole := e.file.Line(ln.span.Pos().Line)
	return edit.Pad(code, edit.Column(e.file.Text[whole.Start:ln.comment.Start])) + ln.comment.Text()
}

// writeFields writes new fields.
func writeFields(f *source.File, at edit.Place, fields []edit.Field) (string, bool) {
	e, ok := newEditor(f)
	if !ok || len(fields) == 0 || len(at.Replaced) > maxEdited {
		return "", false
	}
	array := -1
	if !at.List.IsZero() {
		if array, ok = e.at(at.List); !ok {
			return "", false
		}
	}
	for k := range fields {
		if i, ok := e.at(fields[k].Like); ok && fields[k].Name == "" {
			fields[k].Name = e.lines[i].name.Text()
		}
	}
	marked := e.isExplicit()
	pointers := slices.ContainsFunc(fields, func(f edit.Field) bool { return f.Type.Kind == edit.Pointer })
	if pointers && !marked {
		if len(at.Replaced) == 0 && (at.Before.IsZero() || at.Pointer) && len(fields) == 1 && !e.hasFixed(array) {
			e.declare(array, fields[0])
			return e.Text(), true
		}
		if !e.markPointers(-1, "") {
			return "", false
		}
	}
	if len(at.Replaced) > 0 {
		ok = e.replace(at.Replaced, fields)
	} else {
		ok = e.insert(at, array, marked, fields)
	}
	for _, f := range fields {
		if f.Type.Kind == edit.Pointer {
			e.declare(array, f)
		}
	}
	return e.Text(), ok
}

// isExplicit reports whether the definition has ref lines.
func (e *editor) isExplicit() bool {
	return slices.ContainsFunc(e.lines, func(ln line) bool { return ln.kind == refLine })
}

// each calls f for the fields of a scope, those inside objects included.
func (e *editor) each(array int, f func(i int)) {
	for i := range e.lines {
		if e.lines[i].kind == fieldLine && e.scopeOf(i) == array {
			f(i)
		}
	}
}

// hasFixed reports whether a scope has fields of fixed size.
func (e *editor) hasFixed(array int) (has bool) {
	e.each(array, func(i int) {
		name := lookupType(e.lines[i].typ.name.Text())
		has = has || name != unknown && name < stringType
	})
	return has
}

// markPointers adds ref lines for all pointers, at the start of their scopes, where the pointers are. The one of line but, if it is not -1,
// gets another line. It returns false for definitions that include others.
func (e *editor) markPointers(but int, instead string) bool {
	for i := range e.lines {
		ln := &e.lines[i]
		switch {
		case ln.kind == includeLine:
			return false
		case ln.kind != fieldLine:
			continue
		}
		if name := lookupType(ln.typ.name.Text()); name != stringType && name != bytesType && name != arrayType {
			continue
		}
		at, depth := e.start(e.scopeOf(i))
		if i == but {
			e.Insert(at, e.comment(ln, e.code(e.model(at, depth), depth, instead, ln.name.Text())))
			e.keepComments(i, at)
		} else {
			e.Insert(at, e.code(e.model(at, depth), depth, "ref", e.path(i)))
		}
	}
	return true
}

// keepComments writes the comments of the lines that belong to a field, which is being removed, before another line.
func (e *editor) keepComments(i, at int) {
	for k := i + 1; k <= e.last(i); k++ {
		if ln := &e.lines[k]; !ln.comment.IsZero() {
			e.Insert(at, e.comment(ln, "")) // an indented comment belongs to the field above
		}
	}
}

// pointerBytes returns the number of bytes of the pointer of the field on a line, 0 if it is not exactly one pointer.
func (ln *line) pointerBytes() int {
	if ln.kind != fieldLine || strings.Contains(ln.typ.span.Text(), "[") {
		return 0
	}
	switch lookupType(ln.typ.name.Text()) {
	case stringType:
		return pointerBits / 8
	case bytesType, arrayType:
		return 2 * pointerBits / 8
	}
	return 0
}

// retypeContents changes the type of a field with a pointer. An array with fields stays one.
func retypeContents(f *source.File, at source.Span, typ string) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok || e.lines[i].pointerBytes() == 0 {
		return "", false
	}
	for k := i + 1; k <= e.last(i); k++ {
		if kind := e.lines[k].kind; kind != blankLine && kind != commentLine {
			return "", false
		}
	}
	ln := &e.lines[i]
	gap := source.Span{File: f, Start: ln.typ.span.End, End: ln.name.Start}
	shifted := edit.Shift(gap.Text(), edit.Column(typ)-edit.Column(ln.typ.span.Text()))
	return edit.Splice(f, []source.Span{ln.typ.span, gap}, func(i int) string { return []string{typ, shifted}[i] }), true
}

// loosenPointer makes the pointer of a field a plain number.
func loosenPointer(f *source.File, at source.Span) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok {
		return "", false
	}
	ln := &e.lines[i]
	size := ln.pointerBytes()
	if size == 0 {
		return "", false
	}
	number := filler(size * 8)[0].Text
	if e.isExplicit() {
		path, ref := e.path(i), -1
		for k := range e.lines {
			switch other := &e.lines[k]; {
			case other.kind == countLine:
				return "", false
			case other.kind == refLine && other.key == path && e.scopeOf(k) == e.scopeOf(i):
				ref = k
			}
		}
		if ref < 0 {
			return "", false
		}
		like := &e.lines[ref]
		text := e.comment(like, e.code(like, like.depth, number, ln.name.Text()))
		if like.comment.IsZero() {
			text = e.comment(ln, text)
		} else if !ln.comment.IsZero() {
			e.Insert(e.last(ref)+1, e.comment(ln, ""))
		}
		e.Lines.Replace(ref, text)
		e.keepComments(i, e.last(ref)+1)
	} else if !e.markPointers(i, number) {
		return "", false
	}
	for k, last := i, e.last(i); k <= last; k++ {
		e.Delete(k)
	}
	return e.Text(), true
}

// declare adds the declaration of a field with a pointer at the end of a scope.
func (e *editor) declare(array int, f edit.Field) {
	at, depth := e.end(array)
	if at == len(e.lines) && e.empty() {
		e.Insert(at, "")
	}
	e.Insert(at, e.code(e.model(at, depth), depth, f.Type.Text, f.Name))
}

// empty reports whether the definition has comments only, and no empty line after them.
func (e *editor) empty() bool {
	return e.head == len(e.lines) && e.file.Text != "" && !strings.HasSuffix(source.UnixLines(e.file.Text), "\n\n")
}

// written returns the type of the line of a new field.
func written(f edit.Field) string {
	if f.Type.Kind == edit.Pointer {
		return "ref"
	}
	return f.Type.Text
}

// insert adds fields after another one, or at the start of their scope.
func (e *editor) insert(place edit.Place, array int, marked bool, fields []edit.Field) bool {
	at, depth := e.start(array)
	if !place.Before.IsZero() {
		i, ok := e.at(place.Before)
		switch {
		case !ok:
			return false
		case !place.Pointer:
			at, depth = e.last(i)+1, e.lines[i].depth
		case marked:
			path := e.path(i)
			ref := slices.IndexFunc(e.lines, func(ln line) bool {
				return ln.kind == refLine && ln.key == path && e.scopeOf(ln.span.Pos().Line-1) == e.scopeOf(i)
			})
			if ref < 0 {
				return false
			}
			at, depth = e.last(ref)+1, e.lines[ref].depth
		}
	}
	if at == len(e.lines) && e.empty() {
		e.Insert(at, "")
	}
	for _, f := range fields {
		e.Insert(at, e.code(e.model(at, depth), depth, written(f), f.Name))
	}
	return true
}

// replace replaces fields of fixed size. Their comments stay.
func (e *editor) replace(lines []source.Span, fields []edit.Field) bool {
	var all []int
	for _, s := range lines {
		i, ok := e.at(s)
		if !ok || fixedBytes(lookupType(e.lines[i].typ.name.Text())) == 0 {
			return false
		}
		all = append(all, i)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	first := &e.lines[all[0]]
	own := 0               // index of the field that gets the comment of the first line
	kept := map[int]bool{} // lines whose comment is kept
	for k, f := range fields {
		if i, ok := e.at(f.Like); ok {
			if kept[i] = true; i == all[0] {
				own = k
			}
		}
	}
	kept[all[0]] = true
	after := e.last(all[0]) + 1
	for k, f := range fields {
		like := first
		if i, ok := e.at(f.Like); ok {
			like = &e.lines[i]
		}
		text := e.code(like, first.depth, written(f), f.Name) + e.tail(like)
		if k == own || !f.Like.IsZero() {
			text = e.comment(like, text)
		}
		switch {
		case k == 0:
			e.Lines.Replace(all[0], text)
		case k <= own:
			e.Insert(all[0]+1, text)
		default:
			e.Insert(after, text)
		}
	}
	for _, i := range all[1:] {
		if ln := &e.lines[i]; !kept[i] && !ln.comment.IsZero() {
			e.Insert(after, e.comment(ln, "")) // an indented comment belongs to the field above
		}
		e.Delete(i)
	}
	return true
}

// renameField renames a field, and its ref line.
func renameField(f *source.File, at source.Span, _, name string) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok {
		return "", false
	}
	path, scope := e.path(i), e.scopeOf(i)
	isObject := lookupType(e.lines[i].typ.name.Text()) == objectType
	next := path[:len(path)-len(e.lines[i].key)] + name
	var spans []source.Span
	var names []string
	for k := range e.lines {
		ln := &e.lines[k]
		switch {
		case k == i:
			whole := ln.name
			whole.End = ln.span.End
			gap := edit.Shift(whole.Text()[len(ln.name.Text()):], edit.Column(name)-edit.Column(ln.name.Text()))
			spans, names = append(spans, whole), append(names, name+gap)
		case ln.kind != refLine && ln.kind != countLine || e.scopeOf(k) != scope:
		case ln.key == path:
			spans, names = append(spans, ln.name), append(names, next)
		case isObject && strings.HasPrefix(ln.key, path+"."):
			spans, names = append(spans, ln.name), append(names, next+ln.key[len(path):])
		}
	}
	return edit.Splice(f, spans, func(i int) string { return names[i] }), true
}

// removeField removes a field, the fields inside it, its comment and its ref line.
func removeField(f *source.File, at source.Span) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok {
		return "", false
	}
	path, scope := e.path(i), e.scopeOf(i)
	for k := range e.lines {
		ln := &e.lines[k]
		if (ln.kind == refLine || ln.kind == countLine) && e.scopeOf(k) == scope && (ln.key == path || strings.HasPrefix(ln.key, path+".")) {
			e.Delete(k)
		}
	}
	for k, last := i, e.last(i); k <= last; k++ {
		e.Delete(k)
	}
	return e.Text(), true
}
