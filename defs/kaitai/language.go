package kaitai

import (
	"regexp"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Language returns the keywords of formats.
func Language() schema.Language {
	mark := func(name, doc string) schema.Word { return schema.Word{Name: name, Kind: schema.MarkWord, Doc: doc} }
	words := []schema.Word{
		mark("meta", "Properties of the format: id, endian, encoding, imports."),
		{Name: "seq", Kind: schema.GroupWord, Doc: "The fields, in order: a list of id and type."},
		{Name: "types", Kind: schema.GroupWord, Doc: "Types by name, each with its own seq."},
		{Name: "instances", Kind: schema.GroupWord, Doc: "Values that are computed (value), or at a position (pos), by name."},
		{Name: "enums", Kind: schema.GroupWord, Doc: "Names of values, by the name of the enum."},
		{Name: "params", Kind: schema.GroupWord, Doc: "Parameters of a type: values that a use of it gives in parentheses."},
		mark("id", "The name of the format, a field or a parameter."),
		mark("type", "The type of a field; switch-on and cases for one that depends on a value."),
		mark("endian", "The byte order of numbers: le or be; switch-on and cases for one that depends on a value."),
		mark("bit-endian", "The order of bits in bytes: be or le."),
		mark("encoding", "The encoding of text."),
		mark("imports", "Other files with types: paths relative to this file."),
		mark("size", "The number of bytes: an expression."),
		mark("size-eos", "true: up to the end of the stream."),
		mark("terminator", "The byte that ends text or bytes."),
		mark("consume", "false: the terminator is not part of the field."),
		mark("include", "true: the terminator is part of the value."),
		mark("eos-error", "false: the end of the stream ends text or bytes, too."),
		mark("pad-right", "The byte that fills text up to its size."),
		mark("contents", "Constant bytes: text, or a list of bytes and texts."),
		mark("repeat", "A list: expr, eos or until."),
		mark("repeat-expr", "The number of elements: an expression."),
		mark("repeat-until", "The condition that the last element meets; _ is the element."),
		mark("if", "The condition under which the field is present."),
		mark("switch-on", "The value that a type depends on."),
		mark("cases", "Types by value; _ is any other value."),
		mark("enum", "The enum with the names of the number's values."),
		mark("process", "zlib: the bytes are compressed."),
		mark("valid", "Legal values: eq, min, max."),
		mark("value", "The value of an instance: an expression."),
		mark("pos", "The position of an instance in its stream: an expression."),
		mark("io", "The stream of an instance, such as _root._io."),
		mark("doc", "Documentation."),
		mark("doc-ref", "Where the documentation is."),
	}
	types := [...][3]string{
		{"u1", "1 byte", "An unsigned integer."},
		{"u2", "2 bytes", "An unsigned integer."},
		{"u4", "4 bytes", "An unsigned integer."},
		{"u8", "8 bytes", "An unsigned integer."},
		{"s1", "1 byte", "A signed integer."},
		{"s2", "2 bytes", "A signed integer."},
		{"s4", "4 bytes", "A signed integer."},
		{"s8", "8 bytes", "A signed integer."},
		{"f4", "4 bytes", "A float."},
		{"f8", "8 bytes", "A float."},
		{"b1", "1 bit", "A truth value."},
		{"b4", "4 bits", "A number of bits: b2 to b64."},
		{"str", "", "Text of a size, or up to a terminator."},
		{"strz", "", "Text up to a zero byte."},
	}
	for _, t := range types {
		words = append(words, schema.Word{Name: t[0], Kind: schema.TypeWord, Doc: t[2], Size: t[1]})
		if c := t[0]; len(c) == 2 && c[1] != '1' && c[0] != 'b' {
			for _, order := range [...]string{"le", "be"} {
				words = append(words, schema.Word{Name: c + order, Kind: schema.TypeWord, Doc: strings.TrimSuffix(t[2], ".") + ", " + map[string]string{"le": "little-endian", "be": "big-endian"}[order] + ".", Size: t[1]})
			}
		}
	}
	return schema.Language{Comment: "#", Words: words, Syntax: "words"}
}

var keyLine = regexp.MustCompile(`(?m)^(meta|seq|types|instances|enums|params) *:`)

// IsText reports whether a text is a format: it has one of the keys of a format at the start of a line.
func IsText(s string) bool { return keyLine.MatchString(s) }

// Format returns a file as it is: the layout of YAML is that of its author. Lines end with "\n".
func Format(f *source.File) (string, diag.List) {
	s := f.Text
	for strings.Contains(s, "\r\n") { // "\r\r\n" has another one inside
		s = source.UnixLines(s)
	}
	return s, parseTree(f).diags
}
