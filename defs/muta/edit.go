package muta

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/defs/edit"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Edits change definitions by their fields. Fields of a kind are in the order of their lines.
var Edits = edit.Rules{Begin: begin, Types: editTypes, Filler: filler, Write: writeFields, Retype: retypeArray, Rename: renameField, Name: namePacket, Remove: removeField}

// begin returns a group with a packet that has the code of a message.
func begin(name string, of edit.Message) string {
	name = text.CleanName(name)
	first := ""
	if of.HasCode {
		first = fmt.Sprintf("   __first = %d\n", of.Code)
		if of.Code > 0xFF {
			first += "   __id    = uint16\n"
		}
	}
	return fmt.Sprintf("# description of %s\n\ngroup: %s_group\n%s\npacket: %s\n   __group = %s_group\n", name, name, first, name, name)
}

// editTypes returns the types of a number of bytes, in the order of the table: for a single value, and for the length of an array.
func editTypes(_ *source.File, at edit.Run) []edit.Type {
	var single, lengths []edit.Type
	length := ""
	for _, p := range primitives {
		if p.length && p.bits == at.Bits {
			length = p.name
		}
	}
	for _, p := range primitives {
		if p.bits == at.Bits {
			single = append(single, edit.Type{Text: p.name, Group: "One value", Bits: at.Bits})
		}
		switch length {
		case "":
		case "uint8":
			lengths = append(lengths, edit.Type{Text: p.name + " {255}", Group: "Length of", Kind: edit.Pointer, Bits: at.Bits})
		default:
			lengths = append(lengths, edit.Type{Text: p.name + " <" + length + "> {1000}", Group: "Length of", Kind: edit.Pointer, Bits: at.Bits})
		}
	}
	return slices.Concat(single, lengths)
}

// filler returns unsigned integers.
func filler(bits int) (out []edit.Type) {
	for _, name := range []string{"uint64", "uint32", "uint16", "uint8"} {
		for p := findPrimitive(name); bits >= p.bits; bits -= p.bits {
			out = append(out, edit.Type{Text: name, Bits: p.bits})
		}
	}
	return out
}

// editor is a file that is being edited.
type editor struct {
	*tree
	*edit.Lines
}

func newEditor(f *source.File) (*editor, bool) {
	t := parseTree(f)
	return &editor{t, edit.NewLines(f)}, !t.cut
}

// at returns the index of the line of a field.
func (e *editor) at(s source.Span) (i int, ok bool) {
	if s.File != e.file {
		return 0, false
	}
	i = s.Pos().Line - 1
	return i, i < len(e.lines) && e.lines[i].kind == attrLine
}

// editAt begins to edit a file, and returns the index of the line of a field.
func editAt(f *source.File, at source.Span) (e *editor, i int, ok bool) {
	if e, ok = newEditor(f); ok {
		i, ok = e.at(at)
	}
	return e, i, ok
}

// recordOf returns the index of the record that a line is in, or -1.
func (e *editor) recordOf(i int) int {
	n, _ := slices.BinarySearchFunc(e.records, i+1, func(r record, line int) int { return r.line - line })
	return n - 1
}

// end returns the index of the line after the last field or directive of a record.
func (e *editor) end(r int) int {
	if n := len(e.records[r].attrs); n > 0 {
		return e.records[r].attrs[n-1] + 1
	}
	return e.records[r].line + 1
}

// before returns the text of a line up to a place in it.
func (e *editor) before(at source.Span) string {
	return e.file.Text[e.file.Line(at.Pos().Line).Start:at.Start]
}

// code returns the line of a field, that looks like the other fields of its record.
func (e *editor) code(r int, name, typ string) string {
	head, column := indent, -1
	if attrs := e.records[r].attrs; len(attrs) > 0 {
		ln := &e.lines[attrs[len(attrs)-1]]
		head = e.before(ln.key)
		at := strings.IndexByte(ln.span.Text()[ln.key.End-ln.span.Start:], '=') + ln.key.End
		column = edit.Column(e.file.Text[e.file.Line(ln.span.Pos().Line).Start:at])
	}
	return edit.Pad(head+name, column) + "= " + typ
}

// writeFields writes new fields.
func writeFields(f *source.File, at edit.Place, fields []edit.Field) (string, bool) {
	e, ok := newEditor(f)
	switch {
	case !ok || len(fields) == 0:
		return "", false
	case len(at.Replaced) > 0:
		return e.replace(at.Replaced, fields)
	}
	r, i := -1, 0
	switch {
	case !at.Before.IsZero():
		if i, ok = e.at(at.Before); !ok {
			return "", false
		}
		r, i = e.recordOf(i), i+1
	case at.List.IsZero() && at.Message.File == f:
		r = e.recordOf(at.Message.Pos().Line - 1)
	}
	if r < 0 {
		return "", false
	}
	if at.Before.IsZero() || at.Pointer {
		i = e.end(r)
	}
	for _, field := range fields {
		e.Insert(i, e.code(r, field.Name, field.Type.Text))
	}
	return e.Text(), true
}

// replace replaces fields. The comments above them stay, above the first new one.
func (e *editor) replace(lines []source.Span, fields []edit.Field) (string, bool) {
	var all []int
	for _, s := range lines {
		i, ok := e.at(s)
		if !ok || !e.lines[i].readable {
			return "", false
		}
		all = append(all, i)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	r := e.recordOf(all[0])
	if r < 0 || e.recordOf(all[len(all)-1]) != r {
		return "", false
	}
	for k, f := range fields {
		name := f.Name
		if i, ok := e.at(f.Like); ok && name == "" {
			name = e.lines[i].key.Text()
		}
		if code := e.code(r, name, f.Type.Text); k == 0 {
			e.Lines.Replace(all[0], code)
		} else {
			e.Insert(all[0]+1, code)
		}
	}
	for _, i := range all[1:] {
		for k := e.docStart(i); k < i; k++ {
			e.Insert(all[0], strings.TrimRight(e.file.Line(k+1).Text(), "\r"))
			e.Delete(k)
		}
		e.Delete(i)
	}
	return e.Text(), true
}

// retypeArray changes the type of the elements of an array. Its bounds and its length type stay.
func retypeArray(f *source.File, at source.Span, typ string) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok || !e.lines[i].readable {
		return "", false
	}
	word, _, _ := strings.Cut(typ, " ")
	was := e.lines[i].field.typ
	if e.lines[i].field.encoded() && word != was.Text() {
		was.End = e.lines[i].field.ranges.End // an encoding is for text
	}
	return edit.Splice(f, []source.Span{was}, func(int) string { return word }), true
}

// renameField renames a field.
func renameField(f *source.File, at source.Span, _, name string) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok {
		return "", false
	}
	ln := &e.lines[i]
	gap := edit.Shift(e.file.Text[ln.key.End:ln.span.End], edit.Column(name)-edit.Column(ln.key.Text()))
	whole := ln.key
	whole.End = ln.span.End
	return edit.Splice(f, []source.Span{whole}, func(int) string { return name + gap }), true
}

// namePacket renames a packet. No other line refers to it.
func namePacket(f *source.File, message source.Span, name string) (string, bool) {
	e, ok := newEditor(f)
	if !ok || message.File != f {
		return "", false
	}
	for _, r := range e.records {
		if r.kind == packetRecord && r.name == message {
			return edit.Splice(f, []source.Span{message}, func(int) string { return name }), true
		}
	}
	return "", false
}

// removeField removes a field and its comment.
func removeField(f *source.File, at source.Span) (string, bool) {
	e, i, ok := editAt(f, at)
	if !ok {
		return "", false
	}
	for k := e.docStart(i); k <= i; k++ {
		e.Delete(k)
	}
	return e.Text(), true
}
