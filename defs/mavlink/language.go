package mavlink

import (
	"strconv"

	"wirebench/defs/schema"
)

// Language returns the words of definitions.
func Language() schema.Language {
	var words []schema.Word
	for _, s := range scalars {
		doc := [...]string{schema.Unsigned: "An integer without a sign.", schema.Signed: "An integer.", schema.Float: "A number with a fraction, IEEE 754."}[s.kind]
		if s.name == "char" {
			doc = "A character; char[N] is text that zeros fill up."
		}
		size := strconv.Itoa(s.size) + " byte"
		if s.size > 1 {
			size += "s"
		}
		words = append(words, schema.Word{Name: s.name, Kind: schema.TypeWord, Doc: doc, Size: size})
	}
	words = append(words, schema.Word{Name: versionType, Kind: schema.TypeWord, Doc: "The version of the protocol.", Size: "1 byte"})
	for _, w := range [...][2]string{
		{"mavlink", "The element around a file."},
		{"include", "Another file of the project whose enums this one uses."},
		{"enums", "The enums of the file."},
		{"enum", "Names for values; as an attribute of a field: that of its values."},
		{"bitmask", "true: the entries of the enum are bits."},
		{"entry", "A value with a name."},
		{"value", "The value of an entry: 5, 0x20 or 2**5."},
		{"messages", "The messages of the file."},
		{"message", "A message: id, name."},
		{"id", "The number of a message; those up to 255 are in frames of both versions."},
		{"description", "What something is for."},
		{"field", "A field of a message: type, name."},
		{"extensions", "Fields after it are not in frames of version 1, and not in the checksum of the definition."},
		{"units", "The unit of a field."},
		{"invalid", "The value of a field that is not known."},
		{"multiplier", "What a number is multiplied by to be in its unit. Values are not."},
		{"print_format", "How programs write a number."},
		{"instance", "true: the field tells messages of several devices apart."},
		{"deprecated", "It should not be used any more: since, replaced_by."},
		{"superseded", "Another message does more: since, replaced_by."},
		{"wip", "It may still change."},
	} {
		words = append(words, schema.Word{Name: w[0], Kind: schema.MarkWord, Doc: w[1]})
	}
	return schema.Language{Words: words, Syntax: "words"} // no comment ends with its line
}
