// Package reshape edits definitions by the bytes of a message: a range of bytes becomes a field, a field gets another type, is split, joined
// with the next one, renamed or removed.
//
// A dialect proposes texts (package edit), and this package judges them: a text is accepted if it compiles without new errors, decodes the
// message with the new field in exactly the chosen bytes, and leaves the bytes of all other fields where they were. So a wrong proposal is
// never a wrong definition, and a menu of types shows what each of them would read.
package reshape

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/edit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Compiled is the meaning of a text.
type Compiled struct {
	File        *source.File
	Messages    []*schema.Message // of the file, in order
	Diagnostics diag.List
}

// Editor edits the definition of one message.
type Editor struct {
	dialect defs.Dialect
	compile func(text string) Compiled
	session codec.Session
	data    []byte

	was   Compiled
	index int // of the message in was
	rec   *codec.Record
	slots []slot
	names map[string]bool // of all fields
	work  int             // bytes compiled and decoded so far
	tidy  bool            // the text is in canonical form, and stays so
}

// Bounds of edits.
const (
	MaxData  = 64 << 10 // bytes of a message
	MaxText  = 1 << 20  // bytes of a definition
	maxValue = 120      // bytes of a value in a menu
	maxSplit = 64       // fields that one is split into
	maxWork  = 16 << 20 // bytes of texts and messages that are compiled and decoded by one editor
)

// New returns an editor for a message of a compiled text.
func New(dialect defs.Dialect, was Compiled, m *schema.Message, data []byte, session codec.Session, compile func(text string) Compiled) (*Editor, error) {
	e := &Editor{dialect: dialect, compile: compile, session: session, data: data, was: was, index: slices.Index(was.Messages, m)}
	switch {
	case dialect.Edits == nil:
		return nil, errors.New("definitions of this language are edited as text only")
	case e.index < 0:
		return nil, errors.New("the text has no such message")
	case len(data) > MaxData:
		return nil, fmt.Errorf("the message has more than %d bytes", MaxData)
	case len(was.File.Text) > MaxText:
		return nil, fmt.Errorf("the definition has more than %d bytes", MaxText)
	}
	p, err := codec.Compile(m)
	if err != nil {
		return nil, err
	}
	e.rec = e.decode(p)
	e.slots, e.names = slotsOf(e.rec), map[string]bool{}
	for i := range p.Fields {
		e.names[p.Fields[i].Name] = true
	}
	text, diags := dialect.Format(was.File)
	e.tidy = !diags.HasErrors() && text == was.File.Text
	return e, nil
}

func (e *Editor) decode(p *codec.Program) *codec.Record {
	rec := &codec.Record{Session: e.session}
	p.Decode(rec, e.data)
	return rec
}

// Result is an accepted text.
type Result struct {
	Text string
	Line int    // of the new field, from 1
	Path string // of the new field in the message
}

// Choice is a type that some bytes may have.
type Choice struct {
	Type  string `json:"type"`
	Group string `json:"group"` // heading in a menu
	Value string `json:"value"` // of the field, as JSON, shortened
	At    string `json:"at"`    // OFFSET:LENGTH of the field in bits: the chosen range, or that of its pointer, or with its tag
}

// Choices returns the types that a range of the message may have. The error is the reason why there are none.
func (e *Editor) Choices(at codec.Range) ([]Choice, error) {
	plans, err := e.plans(at)
	var out []Choice
	if err == nil {
		out = e.choices(plans, at, nil)
	}
	out = append(out, e.elsewhere(at)...)
	out = append(out, e.retypes(at)...)
	switch {
	case len(out) > 0:
		return out, nil
	case err != nil:
		return nil, err
	}
	return nil, fmt.Errorf("no type of %s can stand here", bytesText(at.Len))
}

// choices returns the types of a range; with judge only those whose decoded field it accepts.
func (e *Editor) choices(plans []plan, at codec.Range, judge func(t edit.Type, done *accepted) bool) (out []Choice) {
	name, left := e.FreeName(), 0
	if !plans[0].like.IsZero() {
		name = ""
	}
	for _, t := range e.dialect.Edits.Types(e.was.File, e.run(at)) {
		if judge != nil && t.Kind != edit.Pointer {
			continue
		}
		done, best, err := e.first(plans, at, t, name)
		if err != nil || t.More && done.left >= left || judge != nil && !judge(t, &done) {
			continue
		}
		if !t.More {
			left = done.left
		}
		plans[0], plans[best] = plans[best], plans[0] // other types most likely go there, too
		of := at
		if x := plans[0].element; x != nil {
			of = x.at
		}
		out = append(out, Choice{Type: t.Name(), Group: t.Group, Value: done.value, At: fmt.Sprintf("%d:%d", of.Off, of.Len)})
	}
	return out
}

// elsewhere returns the types whose contents a range may be: those of pointers that have its offset.
func (e *Editor) elsewhere(at codec.Range) (out []Choice) {
	if at.Off%8 != 0 || !e.contains(at) || slices.ContainsFunc(e.slots, func(s slot) bool { return s.off <= at.Off && at.Off < s.end() }) {
		return nil
	}
	tried := 0
	for p := 0; p+2 <= int(at.Off/8) && tried < maxPointers; p++ {
		if int(e.data[p])|int(e.data[p+1])<<8 != int(at.Off/8) {
			continue
		}
		tried++
		here := uint32(p) * 8
		for _, ptr := range []codec.Range{{Off: here, Len: 16}, {Off: here, Len: 32}, {Off: here - min(here, 16), Len: 32}} {
			plans, err := e.plans(ptr)
			if err != nil {
				continue
			}
			for _, c := range e.choices(plans, ptr, func(_ edit.Type, done *accepted) bool { return done.contents == at.Off }) {
				c.Group = fmt.Sprintf("Contents of the offset at 0x%02x", p)
				out = append(out, c)
			}
		}
	}
	return out
}

// maxPointers bounds the numbers that are tried as the offset of contents.
const maxPointers = 4

// IsField reports whether a range is exactly one field, or has the pointer of one.
func (e *Editor) IsField(at codec.Range) bool {
	if x, ok := e.elementAt(at); ok {
		return !x.line.IsZero()
	}
	if _, ok := e.pointerAt(at); ok {
		return true
	}
	return slices.ContainsFunc(e.slots, func(s slot) bool { return s.fixed && s.off == at.Off && s.len == at.Len })
}

// Define makes a range of the message a field. An empty name is replaced by an unused one, or by the name of the field that had the range.
func (e *Editor) Define(at codec.Range, typ, name string) (Result, error) {
	if s, ok := e.pointerAt(at); ok && s.has(at) {
		done, err := e.retype(s, at, typ, name)
		return done.Result, err
	}
	plans, err := e.plans(at)
	if err != nil {
		return Result{}, err
	}
	all := e.dialect.Edits.Types(e.was.File, e.run(at))
	i := slices.IndexFunc(all, func(t edit.Type) bool { return t.Name() == typ })
	if i < 0 {
		return Result{}, fmt.Errorf("%s is not a type of %s", typ, bytesText(at.Len))
	}
	wanted := name
	if !plans[0].like.IsZero() { // references to the field have its name
		name = ""
	}
	done, _, err := e.first(plans, at, all[i], name)
	if err != nil || name == wanted {
		return done.Result, err
	}
	now := e.compile(done.Text)
	again, err := New(e.dialect, now, now.Messages[e.indexIn(&now)], e.data, e.session, e.compile)
	if err != nil {
		return Result{}, err
	}
	return again.Rename(done.Path, wanted)
}

// Split divides a field into several of equal size.
func (e *Editor) Split(at codec.Range, into int) (Result, error) {
	if into < 2 || into > maxSplit || at.Len%uint32(into) != 0 || at.Len/uint32(into)%8 != 0 {
		return Result{}, fmt.Errorf("%s cannot be split into %d fields", bytesText(at.Len), into)
	}
	if _, tagged := e.elementAt(at); tagged {
		return Result{}, errors.New("a field with a tag cannot be split")
	}
	plans, err := e.plans(at)
	if err != nil {
		return Result{}, err
	}
	each := at.Len / uint32(into)
	types := e.dialect.Edits.Filler(int(each))
	if len(types) != 1 {
		return Result{}, fmt.Errorf("no type has %s", bytesText(each))
	}
	part := codec.Range{Off: at.Off, Len: each}
	for i := range plans {
		p := plans[i]
		var fields []edit.Field
		for used := map[string]bool{}; len(fields) < into; {
			if len(fields) == 0 && !p.like.IsZero() {
				fields = append(fields, edit.Field{Type: types[0], Like: p.like})
			} else {
				fields = append(fields, edit.Field{Type: types[0], Name: e.freeName(used)})
			}
		}
		if done, failed := e.try(p, p.around(e, fields), part, at, types[0]); failed == nil {
			return done.Result, nil
		} else if err == nil {
			err = failed
		}
	}
	return Result{}, err
}

// Rename changes the name of the field that a range belongs to. path is the path of the field, or of a list or group.
func (e *Editor) Rename(path, name string) (Result, error) {
	f, err := e.fieldOf(path)
	if err != nil {
		return Result{}, err
	}
	info := &e.rec.Program.Fields[f]
	text, ok := e.dialect.Edits.Rename(e.was.File, info.Span, path, name)
	if !ok {
		return Result{}, errors.New("this name is not in the text of the definition")
	}
	return e.accept(text, info.Span.Pos().Line, func(a, b *leafKey) bool { return a.off == b.off && a.len == b.len && a.role == b.role })
}

// Remove removes a field. Its bytes are unexplained then, and those of later fields may move.
func (e *Editor) Remove(path string) (Result, error) {
	f, err := e.fieldOf(path)
	if err != nil {
		return Result{}, err
	}
	span := e.rec.Program.Fields[f].Span
	text, ok := e.dialect.Edits.Remove(e.was.File, span)
	if !ok {
		return Result{}, errors.New("this field is not a line of the definition")
	}
	return e.accept(text, span.Pos().Line, nil)
}

// accept compiles a text, and compares the leaves of the message if they must stay.
func (e *Editor) accept(text string, line int, stays func(a, b *leafKey) bool) (Result, error) {
	text, now, err := e.compiled(text, false)
	if err != nil {
		return Result{}, err
	}
	if stays != nil {
		p, err := codec.Compile(now.Messages[e.index])
		if err != nil {
			return Result{}, err
		}
		a, b := keysOf(e.rec), keysOf(e.decode(p))
		if len(a) != len(b) {
			return Result{}, errMoves
		}
		for i := range a {
			if !stays(&a[i], &b[i]) {
				return Result{}, errMoves
			}
		}
	}
	return Result{Text: text, Line: line}, nil
}

var errMoves = errors.New("this would move other fields")

// fieldOf returns the field of a path with or without indexes.
func (e *Editor) fieldOf(path string) (uint16, error) {
	want := withoutIndexes(path)
	p := e.rec.Program
	for i := range p.Fields {
		if withoutIndexes(string(p.AppendFieldPath(nil, uint16(i)))) == want && !p.Fields[i].Span.IsZero() && p.Fields[i].Name != "" {
			return uint16(i), nil
		}
	}
	return 0, fmt.Errorf("no field %s", path)
}

// withoutIndexes removes the indexes of list elements from a path: members[0].name is members.name.
func withoutIndexes(path string) string {
	for {
		i := strings.IndexByte(path, '[')
		n := strings.IndexByte(path[max(i, 0):], ']')
		if i < 0 || n < 0 {
			return path
		}
		path = path[:i] + path[i+n+1:]
	}
}

// bytesText returns a size for messages.
func bytesText(bits uint32) string {
	switch {
	case bits%8 != 0:
		return fmt.Sprintf("%d bits", bits)
	case bits == 8:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", bits/8)
}

// contains reports whether a range has bits, all of them in the message.
func (e *Editor) contains(at codec.Range) bool {
	return at.Len > 0 && uint64(at.Off)+uint64(at.Len) <= uint64(len(e.data))*8
}

// run describes a range of the message to a dialect.
func (e *Editor) run(at codec.Range) edit.Run {
	run := edit.Run{
		Off: int(at.Off), Bits: int(at.Len), ToEnd: int(at.End()) == len(e.data)*8,
		Zero: at.End()%8 == 0 && at.Len >= 8 && e.data[at.End()/8-1] == 0,
	}
	if x, ok := e.elementAt(at); ok {
		run.Tagged = &x.Tagged
	}
	return run
}

// FreeName returns a name for a field of unknown meaning.
func (e *Editor) FreeName() string { return e.freeName(map[string]bool{}) }

// freeName returns another name, and adds it to the used ones.
func (e *Editor) freeName(used map[string]bool) string {
	for i := 1; ; i++ {
		if name := "unk" + strconv.Itoa(i); !used[name] && !e.names[name] {
			used[name] = true
			return name
		}
	}
}

// accepted is an accepted text with the value of the new field.
type accepted struct {
	Result
	value    string
	contents uint32 // of a pointer: offset of its contents in bits
	left     int    // bytes that no field explains
}

// first returns the text of the first plan that is accepted, and its index.
func (e *Editor) first(plans []plan, at codec.Range, t edit.Type, name string) (done accepted, index int, err error) {
	for i := range plans {
		p := &plans[i]
		f := edit.Field{Name: name, Type: t, Like: p.like}
		if f.Name == "" && f.Like.IsZero() {
			f.Name = e.FreeName()
		}
		if done, failed := e.try(*p, p.around(e, []edit.Field{f}), at, at, t); failed == nil {
			return done, i, nil
		} else if err == nil {
			err = failed
		}
	}
	return done, 0, err
}

// try writes fields at a place and judges the text. at is the range of the new field, all the range of all new fields.
func (e *Editor) try(p plan, fields []edit.Field, at, all codec.Range, t edit.Type) (accepted, error) {
	text, ok := e.dialect.Edits.Write(e.was.File, p.place, fields)
	if !ok {
		return accepted{}, fmt.Errorf("%s cannot be written here", t.Name())
	}
	if p.element != nil {
		return e.judgeElement(text, p.element, t)
	}
	return e.judge(text, at, all, t, nil)
}

// judge accepts a text that has a field at a range, and leaves the bytes of all other fields where they were: those of all new fields are in
// the range all. A field with a pointer that gets another type may have other contents.
func (e *Editor) judge(text string, at, all codec.Range, t edit.Type, old *slot) (accepted, error) {
	text, now, err := e.compiled(text, false)
	if err != nil {
		return accepted{}, err
	}
	prog, err := codec.Compile(now.Messages[e.index])
	if err != nil {
		return accepted{}, err
	}
	rec := e.decode(prog)
	if rec.Status() != codec.OK && rec.Status() >= e.rec.Status() && (e.rec.Status() == codec.OK || len(rec.Nodes) < len(e.rec.Nodes)) {
		return accepted{}, fmt.Errorf("%s does not fit: %s", t.Name(), why(rec))
	}
	field, leaf, err := exactly(rec, at, t)
	if err != nil {
		return accepted{}, err
	}
	if rec.Fit() == codec.Misplaced && e.rec.Fit() != codec.Misplaced {
		return accepted{}, fmt.Errorf("%s would share bytes with other fields", t.Name())
	}
	if old != nil {
		err = e.keepsBut(rec, old)
	} else {
		err = e.keeps(rec, all)
	}
	if err != nil {
		return accepted{}, err
	}
	elem := int32(-1)
	if n := &rec.Nodes[leaf.Node]; n.Kind == codec.NodeList && prog.Fields[field].InList && int(prog.Ops[n.Op].Field) == prog.Fields[field].Parent {
		elem = leaf.Elem
	}
	path := string(rec.AppendPath(nil, field, int32(leaf.Node), elem))
	done := accepted{Result: Result{text, prog.Fields[field].Span.Pos().Line, path}, value: shortValue(rec, path), left: rec.Unexplained()}
	if t.Kind == edit.Pointer {
		done.contents = contentsOf(rec, field)
	}
	return done, nil
}

// judgeElement accepts a text in which an element with a tag belongs to a field, and that leaves all other fields where they were.
func (e *Editor) judgeElement(text string, x *element, t edit.Type) (accepted, error) {
	text, now, err := e.compiled(text, true)
	if err != nil {
		return accepted{}, err
	}
	i := e.indexIn(&now)
	if i < 0 {
		return accepted{}, errors.New("this would change the messages of the text")
	}
	prog, err := codec.Compile(now.Messages[i])
	if err != nil {
		return accepted{}, err
	}
	rec := e.decode(prog)
	if rec.Status() != codec.OK && (e.rec.Status() == codec.OK || len(rec.Nodes) < len(e.rec.Nodes)) {
		return accepted{}, fmt.Errorf("%s does not fit: %s", t.Name(), why(rec))
	}
	field, node, err := e.fieldOfElement(rec, x, t)
	if err != nil {
		return accepted{}, err
	}
	if err := e.keepsOthers(rec, x); err != nil {
		return accepted{}, err
	}
	path := string(rec.AppendPath(nil, field, int32(node), -1))
	return accepted{Result: Result{text, prog.Fields[field].Span.Pos().Line, path}, value: shortValue(rec, path), left: rec.Unexplained()}, nil
}

// indexIn returns the index of the edited message in a text, which may have new messages; -1 if it is gone.
func (e *Editor) indexIn(now *Compiled) int {
	if len(now.Messages) == len(e.was.Messages) {
		return e.index
	}
	name := e.was.Messages[e.index].Name
	return slices.IndexFunc(now.Messages, func(m *schema.Message) bool { return m.Name == name })
}

// contentsOf returns the offset of the contents of a field, 0 if it has none.
func contentsOf(rec *codec.Record, field uint16) (off uint32) {
	for i := range rec.Nodes {
		n := &rec.Nodes[i]
		if o := &rec.Program.Ops[n.Op]; n.Kind != codec.NodeBlock && n.Len > 0 && o.Field == field && (off == 0 || n.Off < off) {
			off = n.Off
		}
	}
	return off
}

// compiled compiles a text, and refuses new errors, and new messages unless more is set. A text that was in canonical form is brought into it.
func (e *Editor) compiled(text string, more bool) (string, Compiled, error) {
	if e.tidy {
		if tidy, diags := e.dialect.Format(source.New(e.was.File.Name, text)); !diags.HasErrors() {
			text = tidy
		}
	}
	if e.work += len(text) + len(e.data); e.work > maxWork {
		return "", Compiled{}, errors.New("the definition is too large to try more types")
	}
	now := e.compile(text)
	if new := len(now.Messages) - len(e.was.Messages); new < 0 || new > 0 && !more {
		return "", now, errors.New("this would change the messages of the text")
	}
	known := map[string]int{}
	for _, d := range e.was.Diagnostics {
		known[d.Message]++
	}
	for _, d := range now.Diagnostics {
		if known[d.Message]--; known[d.Message] < 0 && (d.Severity == diag.Error || strings.HasPrefix(d.Code, "duplicate") || strings.HasPrefix(d.Code, "repeated")) {
			return "", now, errors.New(d.Message)
		}
	}
	return text, now, nil
}

// why returns the first problem of a record.
func why(rec *codec.Record) string {
	for _, p := range rec.Problems {
		return p.Message(rec)
	}
	return "the message cannot be read"
}

// exactly returns the field that has exactly a range, and its first leaf there.
func exactly(rec *codec.Record, at codec.Range, t edit.Type) (field uint16, first codec.Leaf, err error) {
	wrong := fmt.Errorf("%s would not be at these bytes", t.Name())
	field = codec.NoField
	next := at.Off
	leaves := rec.AppendLeaves(nil)
	slices.SortStableFunc(leaves, func(a, b codec.Leaf) int { return int(a.Off) - int(b.Off) })
	for _, l := range leaves {
		if l.Range().End() <= at.Off || l.Off >= at.End() || l.Len == 0 {
			continue
		}
		isPointer := l.Role == codec.RoleCount || l.Role == codec.RoleOffset
		if l.Off != next || l.Range().End() > at.End() || l.Field == codec.NoField && l.Role != codec.RolePad || (t.Kind == edit.Pointer) != isPointer {
			return field, first, wrong
		}
		next = l.Range().End()
		if l.Field == codec.NoField { // padding
			continue
		}
		top := topOf(rec.Program, l.Field)
		if field == codec.NoField {
			field, first = top, l
		} else if field != top {
			return field, first, wrong
		}
	}
	if next != at.End() || field == codec.NoField {
		return field, first, wrong
	}
	return field, first, nil
}

// keeps reports whether a record has all leaves of the original one, except for those in a range.
func (e *Editor) keeps(rec *codec.Record, except codec.Range) error {
	now := map[leafKey]int{}
	places := map[codec.Range]int{}
	for _, k := range keysOf(rec) {
		now[k]++
		places[codec.Range{Off: k.off, Len: k.len}]++
	}
	whole := codec.Range{Off: except.Off, Len: except.Len}
	for _, s := range e.slots {
		if (s.fixed || s.rest) && s.off < except.End() && except.Off < s.end() { // the parts of a divided field
			from, to := min(whole.Off, s.off), max(whole.End(), s.end())
			whole = codec.Range{Off: from, Len: to - from}
		}
	}
	for _, k := range keysOf(e.rec) {
		if k.off >= whole.Off && k.off+k.len <= whole.End() {
			continue
		}
		if now[k] > 0 {
			now[k]--
		} else if k.role != codec.RoleValue || places[codec.Range{Off: k.off, Len: k.len}] == 0 {
			return errMoves
		}
	}
	return nil
}

// leafKey identifies a leaf of a record.
type leafKey struct {
	path     string
	off, len uint32
	role     codec.Role
}

func keysOf(rec *codec.Record) []leafKey {
	leaves := rec.AppendLeaves(nil)
	out := make([]leafKey, 0, len(leaves))
	paths := make([]string, len(rec.Program.Fields))
	for _, l := range leaves {
		k := leafKey{off: l.Off, len: l.Len, role: l.Role}
		if l.Field != codec.NoField {
			if paths[l.Field] == "" {
				paths[l.Field] = string(rec.Program.AppendFieldPath(nil, l.Field))
			}
			k.path = paths[l.Field]
		}
		out = append(out, k)
	}
	return out
}

// floats matches numbers with a fraction or an exponent in JSON.
var floats = regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]?\d+)\b|-?\d+\.\d+\b`)

// shortValue returns the value of a path as JSON, shortened.
func shortValue(rec *codec.Record, path string) string {
	all := value.AppendJSON(nil, rec)
	at, err := value.FindJSON(all, path)
	if err != nil {
		return ""
	}
	text := floats.ReplaceAllStringFunc(string(all[at.From:at.To]), func(n string) string {
		x, _ := strconv.ParseFloat(n, 64)
		return strconv.FormatFloat(x, 'g', 7, 64)
	})
	if len(text) > maxValue {
		text = strings.ToValidUTF8(text[:maxValue], "") + "…"
	}
	return text
}
