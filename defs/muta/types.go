package muta

import (
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/text"
)

// primitive is a predefined type.
type primitive struct {
	name, size, doc string
	bits            int
	kind            schema.NumKind
	char            bool // text of one byte per character, not a number
	length          bool // valid as the type of a length
}

// primitives are all primitives in the order of the documentation, for the parser and for explanations in the editor.
var primitives = []primitive{
	{name: "char", bits: 8, char: true, size: "1 byte", doc: "One character; char {MAX} is text."},
	{name: "uint8", bits: 8, length: true, size: "1 byte", doc: "An integer from 0 to 255."},
	{name: "uint16", bits: 16, length: true, size: "2 bytes", doc: "An integer from 0 to 65,535."},
	{name: "uint32", bits: 32, length: true, size: "4 bytes", doc: "An integer from 0 to 4,294,967,295."},
	{name: "uint64", bits: 64, size: "8 bytes", doc: "An unsigned integer of 64 bits."},
	{name: "int8", bits: 8, kind: schema.Signed, size: "1 byte", doc: "An integer from -128 to 127."},
	{name: "int16", bits: 16, kind: schema.Signed, size: "2 bytes", doc: "An integer from -32,768 to 32,767."},
	{name: "int32", bits: 32, kind: schema.Signed, size: "4 bytes", doc: "An integer from -2,147,483,648 to 2,147,483,647."},
	{name: "int64", bits: 64, kind: schema.Signed, size: "8 bytes", doc: "A signed integer of 64 bits."},
	{name: "float", bits: 32, kind: schema.Float, size: "4 bytes", doc: "A single-precision floating-point number."},
	{name: "double", bits: 64, kind: schema.Float, size: "8 bytes", doc: "A double-precision floating-point number."},
}

// says returns the doc as a clause for a message.
func (p *primitive) says() string {
	return text.Quote(p.name) + " is " + strings.ToLower(p.doc[:1]) + strings.TrimSuffix(p.doc[1:], ".")
}

// findPrimitive returns the primitive of that name, or nil.
func findPrimitive(name string) *primitive {
	for i := range primitives {
		if primitives[i].name == name {
			return &primitives[i]
		}
	}
	return nil
}

// otherNames maps type names of other languages to the likely equivalent.
var otherNames = map[string]string{
	"byte": "uint8", "u8": "uint8", "uint8_t": "uint8", "uchar": "uint8", "bool": "uint8 [0, 1]", "u16": "uint16", "uint16_t": "uint16",
	"ushort": "uint16", "u32": "uint32", "uint32_t": "uint32", "uint": "uint32", "u64": "uint64", "uint64_t": "uint64",
	"sbyte": "int8", "i8": "int8", "int8_t": "int8", "i16": "int16", "int16_t": "int16", "short": "int16", "int": "int32", "i32": "int32",
	"int32_t": "int32", "i64": "int64", "int64_t": "int64", "long": "int64", "float32": "float", "f32": "float", "float64": "double",
	"f64": "double",
}

// recordKind is the kind of a record, given by the word before ":".
type recordKind uint8

const (
	otherRecord recordKind = iota // of other tools that use the same file format, or an error
	groupRecord
	packetRecord
	structRecord
	enumRecord
	constantsRecord
	includeRecord
)

// recordKinds are all kinds, in the order of the documentation.
var recordKinds = []struct {
	is        recordKind
	name, doc string
	ours      bool // not in the original tool
}{
	{groupRecord, "group", "A set of packets with a separate range of ids.", false},
	{packetRecord, "packet", "A message; its fields follow, indented.", false},
	{structRecord, "struct", "Fields that packets and other structs use as a type.", false},
	{enumRecord, "enum", "A type: a number with named values, one line NAME = VALUE for each.", true},
	{constantsRecord, "constants", "Values of the names in limits and ranges, one line NAME = VALUE for each.", true},
	{includeRecord, "include", "Included by the generated C code; preserved and not read.", false},
}

// String returns the word, "" for otherRecord.
func (k recordKind) String() string {
	for i := range recordKinds {
		if recordKinds[i].is == k {
			return recordKinds[i].name
		}
	}
	return ""
}

// kindOf returns the kind of a word.
func kindOf(word string) recordKind {
	for i := range recordKinds {
		if recordKinds[i].name == word {
			return recordKinds[i].is
		}
	}
	return otherRecord
}

// The directives.
const (
	groupDirective  = "__group"
	firstDirective  = "__first"
	idDirective     = "__id"
	endianDirective = "__endian"
	packDirective   = "__pack"
	typeDirective   = "__type"
)

// directive is a key that is not a field.
type directive struct {
	name   string
	on     []recordKind
	values []string // valid values, the first is the default; nil: not a list
	doc    string
	ours   bool // not in the original tool
}

// directives are all directives, in the order of the documentation.
var directives = []directive{
	{groupDirective, []recordKind{packetRecord}, nil, "The group of the packet, in the same file.", false},
	{firstDirective, []recordKind{groupRecord}, nil, "The id of the group's first packet, 1 by default.", true},
	{idDirective, []recordKind{groupRecord}, []string{"uint8", "uint16"}, "The type of the group's ids: uint8, which is the default, or uint16.", true},
	{endianDirective, []recordKind{groupRecord}, []string{"little", "big"}, "The byte order of the group's packets: little, which is the default, or big.", true},
	{packDirective, []recordKind{groupRecord, packetRecord, structRecord}, []string{"bytes", "bits"}, "With bits, integers with a range have only as many bits as the range requires; the default is bytes.", true},
	{typeDirective, []recordKind{enumRecord}, intNames(), "The type of an enum on the wire, uint8 by default.", true},
}

// intNames returns the integer types, unsigned first.
func intNames() (names []string) {
	for _, p := range primitives {
		if !p.char && p.kind != schema.Float {
			names = append(names, p.name)
		}
	}
	return names
}

// findDirective returns the directive of that name, or nil.
func findDirective(name string) *directive {
	for i := range directives {
		if directives[i].name == name {
			return &directives[i]
		}
	}
	return nil
}

// isDirective reports whether a key is a directive, known or unknown.
func isDirective(key string) bool { return strings.HasPrefix(key, "__") }
