package cstruct

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/edit"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Edits change definitions by their fields. Only fields that have a line of their own are changed: others are as their author arranged them.
var Edits = edit.Rules{Begin: begin, Types: editTypes, Filler: filler, Write: writeFields, Rename: renameField, Name: nameStruct, Remove: removeField}

// begin returns a packed struct with the code of a message.
func begin(name string, of edit.Message) string {
	name = text.CleanName(name)
	notes := "// description of " + name + "\n"
	if of.HasCode {
		notes += fmt.Sprintf("// @opcode 0x%02x\n", of.Code)
	}
	if of.Group != "" {
		notes += "// @group " + of.Group + "\n"
	}
	if of.Dir.String() != "" {
		notes += "// @dir " + of.Dir.String() + "\n"
	}
	return "#include <stdint.h>\n\n#pragma pack(push, 1)\n\n" + notes + "struct " + name + " {\n};\n\n#pragma pack(pop)\n"
}

// editTypes returns the types of a number of bits.
func editTypes(_ *source.File, at edit.Run) (out []edit.Type) {
	add := func(group string, names ...string) {
		for _, n := range names {
			out = append(out, edit.Type{Text: n, Group: group, Bits: at.Bits})
		}
	}
	switch at.Bits {
	case 8:
		add("One value", "uint8_t", "int8_t", "char", "bool")
	case 16:
		add("One value", "uint16_t", "int16_t", "be16")
	case 32:
		add("One value", "uint32_t", "int32_t", "float", "be32")
	case 64:
		add("One value", "uint64_t", "int64_t", "double", "be64")
	}
	if n := at.Bits / 8; at.Bits%8 != 0 && at.Bits < 64 {
		add("Bits", fmt.Sprintf("uint%d_t : %d", bitUnit(at.Bits), at.Bits), fmt.Sprintf("int%d_t : %d", bitUnit(at.Bits), at.Bits))
	} else if at.Bits%8 == 0 && n > 1 {
		add("Text and bytes", fmt.Sprintf("char[%d]", n), fmt.Sprintf("uint8_t[%d]", n))
	}
	if at.ToEnd {
		for _, t := range []string{"char[]", "uint8_t[]"} {
			out = append(out, edit.Type{Text: t, Group: "To the end", Bits: -1})
		}
	}
	return out
}

// bitUnit returns the bits of the smallest integer that has so many bits.
func bitUnit(bits int) int {
	n := 8
	for n < bits {
		n *= 2
	}
	return n
}

// filler returns types for bits without a meaning: an integer, or bytes.
func filler(bits int) []edit.Type {
	switch {
	case bits < 0:
		return []edit.Type{{Text: "uint8_t[]", Bits: -1}}
	case bits%8 != 0 && bits > 64:
		return []edit.Type{{Text: fmt.Sprintf("uint8_t[%d]", bits/8), Bits: bits / 8 * 8}, {Text: fmt.Sprintf("uint8_t : %d", bits%8), Bits: bits % 8}}
	case bits%8 != 0:
		return []edit.Type{{Text: fmt.Sprintf("uint%d_t : %d", bitUnit(bits), bits), Bits: bits}}
	case bits == 8 || bits == 16 || bits == 32 || bits == 64:
		return []edit.Type{{Text: fmt.Sprintf("uint%d_t", bits), Bits: bits}}
	}
	return []edit.Type{{Text: fmt.Sprintf("uint8_t[%d]", bits/8), Bits: bits}}
}

// fieldLine is a line with one field: what is before it, the field, and its comment.
var fieldLine = regexp.MustCompile(`^(\s*(?:/\*[^*]*\*/\s*)?)([\w:<>* ]+?)(\s*[* ]\s*)(\w+)((?:\s*\[[^\];]*\])*(?:\s*:\s*[^;/]+)?)(\s*;.*)$`)

// written returns the field of a type and a name: "char[16]" and "name" are "char name[16]".
func written(typ, name string) string {
	base, rest := typ, ""
	if i := strings.IndexAny(typ, "[:"); i >= 0 {
		base, rest = strings.TrimSpace(typ[:i]), typ[i:]
	}
	if strings.HasPrefix(rest, ":") {
		rest = " " + rest
	}
	return base + " " + name + rest
}

// editor is a file that is being edited, with its records.
type editor struct {
	*edit.Lines
	file *source.File
	unit *unit
}

func newEditor(f *source.File) *editor {
	t := &tree{file: f}
	lex(t)
	u := newUnit(t, nil)
	u.read(t)
	return &editor{edit.NewLines(f), f, u}
}

// parts returns the parts of the line of a field, and its index; ok is false if it does not have a line of its own.
func (e *editor) parts(at source.Span) (parts []string, i int, ok bool) {
	if at.File != e.file {
		return nil, 0, false
	}
	i = at.Pos().Line - 1
	line := e.file.Line(i + 1)
	n := 0
	for _, r := range e.unit.records {
		for _, m := range r.members {
			if m.at.File == e.file && m.at.Start >= line.Start && m.at.End <= line.End {
				n++
			}
		}
	}
	parts = fieldLine.FindStringSubmatch(line.Text())
	return parts, i, parts != nil && n == 1
}

// recordAt returns the record whose contents a place is in: that of a message, or that of the elements of a list.
func (e *editor) recordAt(at edit.Place) *record {
	for _, r := range e.unit.records {
		if at.List.IsZero() && r.typeDef.at == at.Message {
			return r
		}
		for _, m := range r.members {
			if !at.List.IsZero() && m.at.File == e.file && m.at.Start >= at.List.Start && m.at.End <= at.List.End && len(m.typ.path) > 0 {
				if d := e.unit.typeNamed(m.typ.path, r.inner); d != nil && d.record != nil && d.at.File == e.file {
					return d.record
				}
			}
		}
	}
	return nil
}

// opening returns the index of the line after the "{" of a record; ok is false if something follows it on its line.
func (e *editor) opening(r *record) (int, bool) {
	rest := e.file.Text[r.typeDef.at.End:]
	i := strings.IndexByte(rest, '{')
	if i < 0 {
		return 0, false
	}
	at := r.typeDef.at.End + i
	line := e.file.LineAt(at)
	after := strings.TrimSpace(e.file.Text[at+1 : line.End])
	return e.file.Position(at).Line, after == "" || strings.HasPrefix(after, "//") || strings.HasPrefix(after, "/*") && strings.HasSuffix(after, "*/")
}

// indentOf returns the white space before the fields of a record.
func (e *editor) indentOf(r *record) string {
	if r != nil && len(r.members) > 0 && r.members[0].at.File == e.file {
		line := e.file.LineAt(r.members[0].at.Start).Text()
		return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	}
	return "    "
}

// writeFields writes new fields.
func writeFields(f *source.File, at edit.Place, fields []edit.Field) (string, bool) {
	e := newEditor(f)
	if len(fields) == 0 {
		return "", false
	}
	if len(at.Replaced) > 0 {
		return e.replace(at.Replaced, fields)
	}
	i, indent := 0, ""
	if at.Before.IsZero() {
		r := e.recordAt(at)
		if r == nil {
			return "", false
		}
		var ok bool
		if i, ok = e.opening(r); !ok {
			return "", false
		}
		indent = e.indentOf(r)
	} else {
		parts, line, ok := e.parts(at.Before)
		if !ok {
			return "", false
		}
		i, indent = line+1, parts[1][:len(parts[1])-len(strings.TrimLeft(parts[1], " \t"))]
	}
	for _, field := range fields {
		e.Insert(i, indent+written(field.Type.Text, field.Name)+";")
	}
	return e.Text(), true
}

// replace replaces fields. The comments beside them stay at the first new one.
func (e *editor) replace(lines []source.Span, fields []edit.Field) (string, bool) {
	var all []int
	var first []string
	for _, s := range lines {
		parts, i, ok := e.parts(s)
		if !ok {
			return "", false
		}
		if all = append(all, i); first == nil || i == slices.Min(all) {
			first = parts
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for k, f := range fields {
		name := f.Name
		typ := f.Type.Text
		if parts, _, ok := e.parts(f.Like); ok {
			if name == "" {
				name = parts[4]
			}
			if typ == "" {
				typ = strings.TrimSpace(parts[2]) + parts[5]
			}
		}
		code := first[1] + written(typ, name)
		if k == 0 {
			e.Lines.Replace(all[0], code+strings.TrimRight(first[6], "\r"))
		} else {
			e.Insert(all[0]+1, first[1][:len(first[1])-len(strings.TrimLeft(first[1], " \t"))]+written(typ, name)+";")
		}
	}
	for _, i := range all[1:] {
		e.Delete(i)
	}
	return e.Text(), true
}

// renameField renames a field, also in annotations of its struct.
func renameField(f *source.File, at source.Span, _, name string) (string, bool) {
	e := newEditor(f)
	parts, i, ok := e.parts(at)
	if !ok {
		return "", false
	}
	old := parts[4]
	line := e.file.Line(i + 1)
	start := line.Start + len(parts[1]) + len(parts[2]) + len(parts[3])
	spans := []source.Span{{File: f, Start: start, End: start + len(old)}}
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(old) + `\b`)
	for _, r := range e.unit.records {
		for _, m := range r.members {
			for _, a := range m.notes.words {
				if w := a.name.Text(); (w == "@count" || w == "@when") && a.value.File == f {
					for _, at := range word.FindAllStringIndex(a.value.Text(), -1) {
						spans = append(spans, a.value.Sub(at[0], at[1]))
					}
				}
			}
		}
	}
	slices.SortFunc(spans, func(a, b source.Span) int { return a.Start - b.Start })
	return edit.Splice(f, slices.Compact(spans), func(int) string { return name }), true
}

// nameStruct renames a struct, and its uses in the file.
func nameStruct(f *source.File, message source.Span, name string) (string, bool) {
	if message.File != f {
		return "", false
	}
	t := &tree{file: f}
	lex(t)
	var spans []source.Span
	found := false
	for i := range t.tokens {
		if t.tokens[i].kind == wordToken && t.tokens[i].text == message.Text() {
			spans = append(spans, t.tokens[i].at)
			found = found || t.tokens[i].at == message
		}
	}
	return edit.Splice(f, spans, func(int) string { return name }), found
}

// removeField removes a field, with its comment.
func removeField(f *source.File, at source.Span) (string, bool) {
	e := newEditor(f)
	_, i, ok := e.parts(at)
	if !ok {
		return "", false
	}
	e.Delete(i)
	for i--; i >= 0 && strings.HasPrefix(strings.TrimSpace(e.file.Line(i+1).Text()), "//"); i-- {
		e.Delete(i)
	}
	return e.Text(), true
}
