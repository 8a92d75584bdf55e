package tera

import (
	"math"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// typeName is what the name of a type means.
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
	stringType // from here on the bytes stand elsewhere and a pointer to them here
	bytesType
	arrayType
	objectType // no bytes of its own
	refType    // no field at all: the pointer of one
)

// typeNames are all types, in the order they are documented.
var typeNames = []string{
	"bool", "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double", "angle", "vec3", "vec3fa",
	"skillid", "skillid32", "customize", "string", "bytes", "array", "object", "ref",
}

// lookupType finds a type by its name, which is case-sensitive.
func lookupType(name string) typeName {
	switch name {
	case "bool":
		return boolType
	case "byte":
		return byteType
	case "int16":
		return int16Type
	case "uint16":
		return uint16Type
	case "int32":
		return int32Type
	case "uint32":
		return uint32Type
	case "int64":
		return int64Type
	case "uint64":
		return uint64Type
	case "float":
		return floatType
	case "double":
		return doubleType
	case "angle":
		return angleType
	case "vec3":
		return vec3Type
	case "vec3fa":
		return vec3faType
	case "skillid":
		return skillidType
	case "skillid32":
		return skillid32Type
	case "customize":
		return customizeType
	case "string":
		return stringType
	case "bytes":
		return bytesType
	case "array":
		return arrayType
	case "object":
		return objectType
	case "ref", "offset", "count":
		return refType
	}
	return unknown
}

// otherNames are types of other languages, and what people mean by them. There is no signed byte.
var otherNames = map[string]string{
	"int8": "byte", "uint8": "byte", "sbyte": "byte", "char": "byte", "i8": "byte", "u8": "byte", "uint8_t": "byte",
	"short": "int16", "i16": "int16", "int16_t": "int16", "ushort": "uint16", "u16": "uint16", "uint16_t": "uint16",
	"int": "int32", "i32": "int32", "int32_t": "int32", "uint": "uint32", "u32": "uint32", "uint32_t": "uint32",
	"long": "int64", "i64": "int64", "int64_t": "int64", "ulong": "uint64", "u64": "uint64", "uint64_t": "uint64",
	"float32": "float", "f32": "float", "single": "float", "float64": "double", "f64": "double", "boolean": "bool",
	"str": "string", "text": "string", "u16string": "string", "blob": "bytes", "list": "array", "struct": "object",
	"vector3": "vec3", "rotation": "angle",
}

// angleUnit is the radians of one step of an angle: a half turn has 32768. It is the double that the reference parsers
// compute as 1 / 32768 * pi.
var angleUnit = 1.0 / 32768 * float64(math.Pi)

// pointerBits is the width of every count and every offset.
const pointerBits = 16

// The types that are the same wherever they are used.
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

// numbers are the types of one number, by name.
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

// skill makes the type of a skill id: id in the lowest idBits, then 4 bits of type, npc, and reserved up to the end. The actions
// of monsters (npc is set, type is 1) have an id of only 16 bits, and the hunting zone in the rest. All reserved bits are
// kept, where the reference writers keep one. Source: tera-data-parser-js, lib/types/skillid.
func skill(bits, idBits, zoneBits int) *schema.Packed {
	typeAt, npcAt := idBits, idBits+4
	rest := []schema.Part{
		{Name: "type", Shift: typeAt, Bits: 4},
		{Name: "npc", Shift: npcAt, Bits: 1, Kind: schema.Bool},
		{Name: "reserved", Shift: npcAt + 1, Bits: bits - npcAt - 1},
	}
	zone := []schema.Part{{Name: "id", Bits: 16}, {Name: "huntingZoneId", Shift: 16, Bits: zoneBits}}
	return &schema.Packed{
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

// The parts of the types that are several numbers, in the order of their bytes.
var (
	vec3Parts      = []string{"x", "y", "z"}
	customizeParts = []string{"unk", "skinColor", "faceStyle", "faceDecal", "hairStyle", "hairColor", "voice", "tattoos"}
)

// parts makes a group of numbers of one type. Every use gets fields of its own, which know the line they come from.
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

// fixedType makes a type whose bytes stand where it is declared, and says how many. The name is one of those before stringType.
func (l *lowerer) fixedType(name typeName, span source.Span) (schema.Type, int) {
	switch name {
	case angleType:
		if l.o.Truncate {
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

// IsType reports whether a word is a type of this language, with or without what may follow its name: "array<int32>".
func IsType(word string) bool {
	if i := strings.IndexAny(word, "<["); i > 0 {
		word = word[:i]
	}
	return lookupType(word) != unknown
}
