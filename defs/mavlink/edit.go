package mavlink

import (
	"fmt"
	"strings"

	"wirebench/defs/edit"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// fields edits the fields of messages.
var fields = edit.Tree{Blocks: blocks, Item: item, Type: func(typ, _ string) string { return typ }}

// Edits change definitions by their fields. Nothing refers to the name of a field or of a message.
var Edits = edit.Rules{Begin: begin, Types: editTypes, Filler: filler, Write: fields.Write, Rename: renameField, Name: nameMessage, Remove: fields.Remove}

// begin returns a file with the message of an identifier.
func begin(name string, of edit.Message) string {
	return fmt.Sprintf("<?xml version=\"1.0\"?>\n<mavlink>\n  <messages>\n    <message id=\"%d\" name=\"%s\">\n    </message>\n  </messages>\n</mavlink>\n", of.Code, strings.ToUpper(text.CleanName(name)))
}

// blocks returns the fields of the messages of a file.
func blocks(f *source.File) (out []edit.Block) {
	for _, m := range parse(f).messages {
		b := edit.Block{Of: m.nameAt, Into: source.Span{File: f, Start: m.into, End: m.into}, Lines: true, Indent: edit.Indent(f, m.into)}
		if m.bare { // nothing is before its fields that stands where they do
			b.Indent += "  "
		}
		for _, x := range m.fields {
			it := edit.Item{Span: x.at}
			if x.nameAt.Start > x.at.Start { // an attribute
				it.Name = x.nameAt
			}
			if x.typeAt.Start > x.at.Start {
				it.Type = x.typeAt
			}
			b.Items = append(b.Items, it)
		}
		out = append(out, b)
	}
	return out
}

// item returns a field on one line.
func item(name, typ string) []string {
	return []string{fmt.Sprintf(`<field type="%s" name="%s"></field>`, typ, name)}
}

// editTypes returns the types of a number of bits.
func editTypes(_ *source.File, at edit.Run) (out []edit.Type) {
	if at.Bits%8 != 0 || at.Bits > 8*maxPayload {
		return nil
	}
	add := func(group, typ string) { out = append(out, edit.Type{Text: typ, Group: group, Bits: at.Bits}) }
	for _, s := range scalars {
		if s.size*8 == at.Bits {
			add("One value", s.name)
		}
	}
	add("Text and bytes", fmt.Sprintf("char[%d]", at.Bits/8))
	for _, s := range scalars[1:] {
		if n := at.Bits / 8 / s.size; n > 1 && n*s.size*8 == at.Bits {
			add(map[bool]string{true: "Text and bytes", false: "Several values"}[s.name == "uint8_t"], fmt.Sprintf("%s[%d]", s.name, n))
		}
	}
	return out
}

// filler returns types for bits without a meaning: an integer, or bytes.
func filler(bits int) []edit.Type {
	switch bits {
	case 8, 16, 32, 64:
		return []edit.Type{{Text: fmt.Sprintf("uint%d_t", bits), Bits: bits}}
	}
	if bits <= 0 || bits%8 != 0 {
		return nil
	}
	return []edit.Type{{Text: fmt.Sprintf("uint8_t[%d]", bits/8), Bits: bits}}
}

func renameField(f *source.File, at source.Span, _, name string) (string, bool) {
	it, _, ok := fields.Find(f, at)
	if !ok || it.Name.IsZero() {
		return "", false
	}
	return edit.Splice(f, []source.Span{it.Name}, func(int) string { return name }), true
}

func nameMessage(f *source.File, message source.Span, name string) (string, bool) {
	if message.File != f {
		return "", false
	}
	return edit.Splice(f, []source.Span{message}, func(int) string { return name }), true
}
