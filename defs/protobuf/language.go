package protobuf

import "wirebench/defs/schema"

// Language returns the words of definitions.
func Language() schema.Language {
	var words []schema.Word
	for _, w := range [...][3]string{
		{"double", "8 bytes", "A number with a fraction, IEEE 754."},
		{"float", "4 bytes", "A number with a fraction, IEEE 754."},
		{"int32", "1 to 10 bytes", "An integer; negative ones have ten bytes."},
		{"int64", "1 to 10 bytes", "An integer; negative ones have ten bytes."},
		{"uint32", "1 to 5 bytes", "An integer without a sign."},
		{"uint64", "1 to 10 bytes", "An integer without a sign."},
		{"sint32", "1 to 5 bytes", "An integer, small for small negative ones, too."},
		{"sint64", "1 to 10 bytes", "An integer, small for small negative ones, too."},
		{"fixed32", "4 bytes", "An integer without a sign."},
		{"fixed64", "8 bytes", "An integer without a sign."},
		{"sfixed32", "4 bytes", "An integer."},
		{"sfixed64", "8 bytes", "An integer."},
		{"bool", "1 byte", "A truth value."},
		{"string", "", "Text in UTF-8, with its size in front."},
		{"bytes", "", "Bytes, with their size in front."},
	} {
		words = append(words, schema.Word{Name: w[0], Kind: schema.TypeWord, Size: w[1], Doc: w[2]})
	}
	for _, w := range [...][2]string{
		{"message", "A message: fields with numbers."},
		{"enum", "Names of values."},
		{"oneof", "Fields of which one is sent."},
		{"group", "A field with a message of its own, between two tags."},
		{"extend", "Fields of another message; they are shown as unknown ones."},
		{"service", "Calls: they mean nothing for bytes."},
	} {
		words = append(words, schema.Word{Name: w[0], Kind: schema.GroupWord, Doc: w[1]})
	}
	for _, w := range [...][2]string{
		{"syntax", "proto2 or proto3, at the start of the file."},
		{"edition", "In place of syntax: 2023."},
		{"package", "What the names of the file begin with."},
		{"import", "Another file of the project, whose types this one uses."},
		{"public", "Who imports this file has the types of the import, too."},
		{"option", "A setting of the file, a message or a field."},
		{"optional", "A field that may be missing."},
		{"required", "A field that should not be missing."},
		{"repeated", "A field with any number of values."},
		{"map", "A repeated field of keys and values."},
		{"packed", "true: the values of a repeated field are sent in one piece."},
		{"default", "The value of a field that is not sent."},
		{"deprecated", "true: it should not be used any more."},
		{"reserved", "Numbers and names that must not be used again."},
		{"extensions", "Numbers of fields that other files may add."},
		{"rpc", "A call of a service."},
		{"returns", "The message that answers a call."},
	} {
		words = append(words, schema.Word{Name: w[0], Kind: schema.MarkWord, Doc: w[1]})
	}
	return schema.Language{Comment: "//", Words: words, Syntax: "words"}
}
