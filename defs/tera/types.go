package tera

import (
	"math"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// typeName identifies a type.
type typeName uint8

const (
	unknown typeName = iota
	boolType
	byteType
	int16Type
	uint16Type
	int32Type
	uint32Type
	int64Type
	uint64Type
	floatType
	doubleType
	angleType
	vec3Type
	vec3faType
	skillidType
	skillid32Type
	customizeType
	stringType // this and the following types have a pointer and separate contents
	bytesType
	arrayType
	objectType // no bytes of its own
	refType    // not a field: the pointer of a field
)

// types are all types in the order of the documentation, for the parser and for explanations in the editor.
var types = [...]struct {
	is              typeName
	name, size, doc string
}{
	{boolType, "bool", "1 byte", "A boolean; every byte other than 0 is true."},
	{byteType, "byte", "1 byte", "An integer from 0 to 255."},
	{int16Type, "int16", "2 bytes", "An integer from -32,768 to 32,767."},
	{uint16Type, "uint16", "2 bytes", "An integer from 0 to 65,535."},
	{int32Type, "int32", "4 bytes", "An integer from -2,147,483,648 to 2,147,483,647."},
	{uint32Type, "uint32", "4 bytes", "An integer from 0 to 4,294,967,295."},
	{int64Type, "int64", "8 bytes", "A signed integer of 64 bits."},
	{uint64Type, "uint64", "8 bytes", "An unsigned integer of 64 bits, such as the id of an object in the game."},
	{floatType, "float", "4 bytes", "A single-precision floating-point number."},
	{doubleType, "double", "8 bytes", "A double-precision floating-point number."},
	{angleType, "angle", "2 bytes", "An angle in radians; on the wire 32,768 steps are half a turn."},
	{vec3Type, "vec3", "12 bytes", "A position: x, y and z, each a float."},
	{vec3faType, "vec3fa", "12 bytes", "A rotation: x, y and z in radians, each a float."},
	{skillidType, "skillid", "8 bytes, 4 in old definitions", "A skill: id, type, and whether it is used by a monster."},
	{skillid32Type, "skillid32", "4 bytes", "A skill in the 32-bit form of older patches."},
	{customizeType, "customize", "8 bytes", "The appearance of a character: eight named bytes."},
	{stringType, "string", "offset: 2 bytes, text elsewhere", "Zero-terminated text in UTF-16."},
	{bytesType, "bytes", "offset and count: 4 bytes, contents elsewhere", "Opaque bytes."},
	{arrayType, "array", "count and offset: 4 bytes, elements elsewhere", "A list: the fields of an element follow with one more dash, or the element type is in angle brackets: array<int32>."},
	{objectType, "object", "no bytes of its own", "A name for the fields that follow with one more dash."},
	{refType, "ref", "size of the pointer of its field", "The position of the pointer of the field with this name, which is declared further below."},
}

// oldWords are obsolete keywords for "ref".
var oldWords = [...]struct{ name, doc string }{
	{"offset", "An obsolete form of ref."},
	{"count", "An obsolete keyword for a part of a pointer; it has no effect beside offset."},
}

// typeNames are the names of all types, in the order of the documentation.
var typeNames = func() (names []string) {
	for _, t := range types {
		names = append(names, t.name)
	}
	return names
}()

// typesByName maps names to types; names are case-sensitive. It includes the obsolete keywords for ref.
var typesByName = func() map[string]typeName {
	out := make(map[string]typeName, len(types)+len(oldWords))
	for _, t := range types {
		out[t.name] = t.is
	}
	for _, w := range oldWords {
		out[w.name] = refType
	}
	return out
}()

// lookupType returns the type of a name, or unknown.
func lookupType(name string) typeName { return typesByName[name] }

// otherNames maps type names of other languages to the likely equivalent. There is no signed byte.
var otherNames = map[string]string{
	"int8": "byte", "uint8": "byte", "sbyte": "byte", "char": "byte", "i8": "byte", "u8": "byte", "uint8_t": "byte",
	"short": "int16", "i16": "int16", "int16_t": "int16", "ushort": "uint16", "u16": "uint16", "uint16_t": "uint16",
	"int": "int32", "i32": "int32", "int32_t": "int32", "uint": "uint32", "u32": "uint32", "uint32_t": "uint32",
	"long": "int64", "i64": "int64", "int64_t": "int64", "ulong": "uint64", "u64": "uint64", "uint64_t": "uint64",
	"float32": "float", "f32": "float", "single": "float", "float64": "double", "f64": "double", "boolean": "bool",
	"str": "string", "text": "string", "u16string": "string", "blob": "bytes", "list": "array", "struct": "object",
	"vector3": "vec3", "rotation": "angle",
}

// angleUnit is one step of an angle in radians: half a turn has 32768 steps. It is the double that the reference parsers compute as
// 1 / 32768 * pi.
var angleUnit = 1.0 / 32768 * float64(math.Pi)

// pointerBits is the width of every count and every offset in bits.
const pointerBits = 16

// Shared types.
var (
	unsigned8   = &schema.Number{Bits: 8}
	float32Type = &schema.Number{Bits: 32, Kind: schema.Float}
	float32Turn = &schema.Number{Bits: 32, Kind: schema.Float, Scale: angleUnit}
	angleRound  = &schema.Number{Bits: 16, Kind: schema.Signed, Scale: angleUnit, Wrap: true}
	angleCut    = &schema.Number{Bits: 16, Kind: schema.Signed, Scale: angleUnit, Wrap: true, Truncate: true}
	textType    = &schema.Text{Charset: schema.UTF16LE, Extent: schema.Extent{Size: schema.Terminated}}
	blobType    = &schema.Blob{Extent: schema.Extent{Size: schema.Counted}}
	skill64     = skill(64, 28, 12)
	skill32     = skill(32, 26, 10)
)

// numbers are the types of a single number, by name.
var numbers = [...]*schema.Number{
	boolType:   {Bits: 8, Kind: schema.Bool},
	byteType:   unsigned8,
	int16Type:  {Bits: 16, Kind: schema.Signed},
	uint16Type: {Bits: 16},
	int32Type:  {Bits: 32, Kind: schema.Signed},
	uint32Type: {Bits: 32},
	int64Type:  {Bits: 64, Kind: schema.Signed},
	uint64Type: {Bits: 64},
	floatType:  float32Type,
	doubleType: {Bits: 64, Kind: schema.Float},
}

// skill returns the type of a skill id: id in the lowest idBits, then 4 bits of type, npc, and reserved bits. The actions of monsters (npc
// is set, type is 1) have an id of only 16 bits, and the hunting zone in the remaining bits of the id. All reserved bits are preserved;
// the reference writers preserve one. The short form has one, which the reference readers show as the 31 of the long form. Source:
// tera-data-parser-js, lib/types/skillid.
func skill(bits, idBits, zoneBits int) *schema.Bitfield {
	typeAt, npcAt := idBits, idBits+4
	rest := []schema.Part{
		{Name: "type", Shift: typeAt, Bits: 4},
		{Name: "npc", Shift: npcAt, Bits: 1, Kind: schema.Bool},
		{Name: "reserved", Shift: npcAt + 1, Bits: bits - npcAt - 1},
	}
	if reserved := &rest[2]; reserved.Bits == 1 {
		reserved.Ones = 31
	}
	zone := []schema.Part{{Name: "id", Bits: 16}, {Name: "huntingZoneId", Shift: 16, Bits: zoneBits}}
	return &schema.Bitfield{
		Bits:  bits,
		Names: []string{"npc", "type", "huntingZoneId", "id", "reserved"},
		Forms: []schema.Form{
			{
				Mask:  1<<npcAt | 0xF<<typeAt,
				Match: 1<<npcAt | 1<<typeAt,
				Parts: append(zone, rest...),
				When:  "npc is true and type is 1",
			},
			{
				Parts: append([]schema.Part{{Name: "id", Bits: idBits}}, rest...),
				When:  "npc is false or type is not 1",
			},
		},
	}
}

// The parts of the types of several numbers, in wire order.
var (
	vec3Parts      = []string{"x", "y", "z"}
	customizeParts = []string{"unk", "skinColor", "faceStyle", "faceDecal", "hairStyle", "hairColor", "voice", "tattoos"}
)

// parts returns a group of numbers of one type. Every use has separate fields, with the span of its line.
func parts(names []string, typ *schema.Number, typeText string, span source.Span) *schema.Group {
	fields := make([]schema.Field, len(names))
	s := &schema.Struct{Fields: make([]*schema.Field, len(names)), Wire: make([]schema.Item, len(names))}
	for i, name := range names {
		fields[i] = schema.Field{Name: name, Type: typ, TypeText: typeText, Span: span}
		s.Fields[i] = &fields[i]
		s.Wire[i] = schema.Item{Kind: schema.Value, Field: &fields[i]}
	}
	return &schema.Group{Struct: s}
}

// fixedType returns a type of fixed size and its size in bytes. The name must be one of those before stringType.
func (l *lowerer) fixedType(name typeName, span source.Span) (schema.Type, int) {
	switch name {
	case angleType:
		if l.o.truncate {
			return angleCut, 2
		}
		return angleRound, 2
	case vec3Type:
		return parts(vec3Parts, float32Type, "float", span), 12
	case vec3faType:
		return parts(vec3Parts, float32Turn, "float", span), 12
	case customizeType:
		return parts(customizeParts, unsigned8, "byte", span), 8
	case skillidType:
		if !l.shortSkills {
			return skill64, 8
		}
		return skill32, 4
	case skillid32Type:
		return skill32, 4
	}
	return numbers[name], numbers[name].Bits / 8
}

// IsLine reports whether a line looks like a field: the name of a type and one or two words.
func IsLine(line string) bool {
	if hash := strings.IndexByte(line, '#'); hash >= 0 {
		line = line[:hash]
	}
	words := strings.Fields(strings.TrimLeft(line, "- \t"))
	return (len(words) == 2 || len(words) == 3) && IsType(words[0])
}

// IsType reports whether a word is a type of this language, possibly with an element type or brackets: "array<int32>".
func IsType(word string) bool {
	if i := strings.IndexAny(word, "<["); i > 0 {
		word = word[:i]
	}
	return lookupType(word) != unknown
}
