package protodef

import "wirebench/defs/schema"

// Language returns the keywords of definitions: the types.
func Language() schema.Language {
	words := []schema.Word{
		{Name: "types", Kind: schema.MarkWord, Doc: "The named types of a namespace, which may also be its own members."},
		{Name: "name", Kind: schema.MarkWord, Doc: "The name of a field, a bit or a flag."},
		{Name: "type", Kind: schema.MarkWord, Doc: "The type of a field, of elements, or of the number that holds a value."},
		{Name: "anon", Kind: schema.MarkWord, Doc: "true: the fields inside are fields of the container around it."},
		{Name: "countType", Kind: schema.MarkWord, Doc: "The type of a count before the contents."},
		{Name: "countFor", Kind: schema.MarkWord, Doc: "The field whose elements are counted."},
		{Name: "lengthType", Kind: schema.MarkWord, Doc: "The type of a size in bytes before the contents."},
		{Name: "compareTo", Kind: schema.MarkWord, Doc: "The earlier field that a switch compares with: a path, such as type or ../type, or an expression of paths."},
		{Name: "fields", Kind: schema.MarkWord, Doc: "The types of a switch by value."},
		{Name: "default", Kind: schema.MarkWord, Doc: "The type for all other values."},
		{Name: "mappings", Kind: schema.MarkWord, Doc: "Names by number."},
		{Name: "size", Kind: schema.MarkWord, Doc: "The number of bits."},
		{Name: "signed", Kind: schema.MarkWord, Doc: "Whether the highest bit is a sign."},
		{Name: "flags", Kind: schema.MarkWord, Doc: "The names of bits, from the lowest on, or their values by name."},
		{Name: "encoding", Kind: schema.MarkWord, Doc: "The encoding of a text."},
		{Name: "endVal", Kind: schema.MarkWord, Doc: "The byte that ends a list."},
		{Name: "until", Kind: schema.MarkWord, Doc: "The condition that the last element of an array meets, such as last == 1; _ is an element without fields."},
		{Name: "value", Kind: schema.MarkWord, Doc: "The expression of a computed value: paths, integers and the operators of compareTo."},
		{Name: "position", Kind: schema.MarkWord, Doc: "The byte of the message at which contents begin: an expression."},
		{Name: "container", Kind: schema.GroupWord, Doc: "Fields in order: an array of objects with name (or anon) and type.", Insert: `["container", []]`},
		{Name: "switch", Kind: schema.GroupWord, Doc: "A type chosen by an earlier field: compareTo, fields by value, default."},
		{Name: "option", Kind: schema.GroupWord, Size: "1 byte and the value", Doc: "A byte, and the value if it is not 0."},
		{Name: "array", Kind: schema.GroupWord, Doc: "Elements of one type; their number is of countType, or count is a number or the path of a field, or they go on until a condition is met."},
		{Name: "mapper", Kind: schema.TypeWord, Doc: "A number that is shown by names: type, mappings."},
		{Name: "bitfield", Kind: schema.TypeWord, Doc: "Numbers of some bits, from the most significant bit on: name, size, signed."},
		{Name: "bitflags", Kind: schema.TypeWord, Doc: "A number whose bits have names: type, flags, shift."},
		{Name: "pstring", Kind: schema.TypeWord, Doc: "Text after its length in bytes: countType or count, encoding."},
		{Name: "buffer", Kind: schema.TypeWord, Doc: "Bytes after their number: countType or count."},
		{Name: "count", Kind: schema.TypeWord, Doc: "The number of elements of another field: type, countFor."},
		{Name: "topBitSetTerminatedArray", Kind: schema.GroupWord, Doc: "Elements whose first bit is set if another one follows."},
		{Name: "entityMetadataLoop", Kind: schema.GroupWord, Doc: "Elements up to a byte: type, endVal."},
		{Name: "compressed", Kind: schema.GroupWord, Doc: "A compressed value: method, lengthType (without one up to the end), type."},
		{Name: "encapsulated", Kind: schema.GroupWord, Doc: "A value after its size in bytes: lengthType, type."},
		{Name: "computed", Kind: schema.TypeWord, Size: "0 bytes", Doc: "A number that is not sent, but shown: value is an expression of earlier ones; type."},
		{Name: "at", Kind: schema.GroupWord, Size: "0 bytes here", Doc: "Contents at another byte of the message: position is an expression of earlier numbers; type."},
	}
	for _, n := range numbers {
		words = append(words, schema.Word{Name: n.name, Kind: schema.TypeWord, Doc: n.doc, Size: n.size})
	}
	for _, n := range [...][2]string{
		{"cstring", "Text up to a zero byte."},
		{"restBuffer", "The remaining bytes."},
		{"UUID", "Sixteen bytes, shown as a UUID."},
		{"void", "Nothing."},
		{"nbt", "A named tag tree, big-endian."},
		{"lnbt", "A named tag tree with little-endian numbers and variable-size integers."},
		{"anonymousNbt", "A tag tree whose root has no name."},
		{"optionalNbt", "A named tag tree, or a zero byte."},
		{"anonOptionalNbt", "A tag tree whose root has no name, or a zero byte."},
	} {
		words = append(words, schema.Word{Name: n[0], Kind: schema.TypeWord, Doc: n[1]})
	}
	return schema.Language{Comment: "//", Words: words, Syntax: "json"}
}
