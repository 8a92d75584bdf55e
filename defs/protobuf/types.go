package protobuf

import (
	"google.golang.org/protobuf/types/descriptorpb"

	"wirebench/defs/schema"
)

// The wire types of tags.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireGroup   = 3
	wireEnd     = 4
	wireFixed32 = 5
)

// scalar is a type of numbers.
type scalar struct {
	wire   uint32
	number schema.Number
}

// scalars are the numbers. Enums are like int32.
var scalars = map[descriptorpb.FieldDescriptorProto_Type]scalar{
	descriptorpb.FieldDescriptorProto_TYPE_DOUBLE:   {wireFixed64, schema.Number{Bits: 64, Kind: schema.Float}},
	descriptorpb.FieldDescriptorProto_TYPE_FLOAT:    {wireFixed32, schema.Number{Bits: 32, Kind: schema.Float}},
	descriptorpb.FieldDescriptorProto_TYPE_INT64:    {wireVarint, schema.Number{Bits: 64, Kind: schema.Signed, Var: schema.LEB128}},
	descriptorpb.FieldDescriptorProto_TYPE_UINT64:   {wireVarint, schema.Number{Bits: 64, Var: schema.LEB128}},
	descriptorpb.FieldDescriptorProto_TYPE_INT32:    {wireVarint, schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.WideSigned}},
	descriptorpb.FieldDescriptorProto_TYPE_FIXED64:  {wireFixed64, schema.Number{Bits: 64}},
	descriptorpb.FieldDescriptorProto_TYPE_FIXED32:  {wireFixed32, schema.Number{Bits: 32}},
	descriptorpb.FieldDescriptorProto_TYPE_BOOL:     {wireVarint, schema.Number{Bits: 64, Kind: schema.Bool, Var: schema.LEB128}},
	descriptorpb.FieldDescriptorProto_TYPE_UINT32:   {wireVarint, schema.Number{Bits: 32, Var: schema.Wide}},
	descriptorpb.FieldDescriptorProto_TYPE_ENUM:     {wireVarint, schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.WideSigned}},
	descriptorpb.FieldDescriptorProto_TYPE_SFIXED32: {wireFixed32, schema.Number{Bits: 32, Kind: schema.Signed}},
	descriptorpb.FieldDescriptorProto_TYPE_SFIXED64: {wireFixed64, schema.Number{Bits: 64, Kind: schema.Signed}},
	descriptorpb.FieldDescriptorProto_TYPE_SINT32:   {wireVarint, schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.ZigZag}},
	descriptorpb.FieldDescriptorProto_TYPE_SINT64:   {wireVarint, schema.Number{Bits: 64, Kind: schema.Signed, Var: schema.ZigZag}},
}

// number returns the items of a tag and of a size.
func tagItem(tag uint32) schema.Item {
	return schema.Item{Kind: schema.Tag, Tag: tag, Num: &schema.Number{Bits: 32, Var: schema.Wide}}
}

func sizeItem(kind schema.ItemKind, f *schema.Field) schema.Item {
	return schema.Item{Kind: kind, Field: f, Num: &schema.Number{Bits: 64, Var: schema.LEB128}}
}

func valueItem(f *schema.Field) schema.Item { return schema.Item{Kind: schema.Value, Field: f} }

// bare returns a struct whose only field has no name, and its value.
func bare(t schema.Type, typeText string, before ...schema.Item) (*schema.Struct, *schema.Field) {
	f := &schema.Field{Type: t, TypeText: typeText}
	return &schema.Struct{Fields: []*schema.Field{f}, Wire: append(before, valueItem(f))}, f
}

// sized returns the elements of a list whose contents have a size in front.
func sized(tag uint32, kind schema.ItemKind, t schema.Type, typeText string) *schema.Struct {
	s, f := bare(t, typeText)
	s.Wire = []schema.Item{tagItem(tag), sizeItem(kind, f), valueItem(f)}
	return s
}

// packed returns the elements of a list of numbers that are sent in one piece.
func packed(tag uint32, n *schema.Number, typeText string) *schema.Struct {
	one, _ := bare(n, typeText)
	all, _ := bare(&schema.List{Elem: one, Bare: true, Extent: schema.Extent{Size: schema.ToEnd}}, typeText)
	return sized(tag, schema.Bytes, &schema.Group{Sized: true, Bare: true, Struct: all}, typeText)
}

// unknownFields returns the list of the fields that a message does not have. own is the struct of groups among them.
func unknownFields(name string, own *schema.Struct) *schema.Field {
	tag := &schema.Field{Name: "tag", Type: &schema.Number{Bits: 32, Var: schema.Wide}, TypeText: "uint32", Doc: "8 times the number of the field, plus its wire type"}
	ref := &schema.Expr{Op: schema.Ref, Field: tag}
	with := func(op schema.ExprOp, n int64) *schema.Expr {
		return &schema.Expr{Op: op, Args: []*schema.Expr{ref, {Op: schema.Literal, Int: n}}}
	}
	number := &schema.Field{Name: "field", Type: &schema.Number{Bits: 32, Expr: with(schema.ShiftRight, 3)}, TypeText: "uint32"}
	alternative := func(wire uint64, name string, s *schema.Struct) schema.Alternative {
		return schema.Alternative{Value: wire, Name: name, Body: s, Bare: true}
	}
	varint, _ := bare(&schema.Number{Bits: 64, Var: schema.LEB128}, "varint")
	fixed64, _ := bare(&schema.Number{Bits: 64}, "fixed64")
	fixed32, _ := bare(&schema.Number{Bits: 32}, "fixed32")
	bytes, f := bare(&schema.Blob{Extent: schema.Extent{Size: schema.Counted}}, "bytes")
	bytes.Wire = []schema.Item{sizeItem(schema.Count, f), valueItem(f)}
	group, _ := bare(&schema.Group{Own: true, Struct: own}, "group")
	value := &schema.Field{Name: "value", TypeText: "by wire type", Type: &schema.Choice{On: with(schema.BitAnd, 7), Cases: []schema.Alternative{
		alternative(wireVarint, "varint", varint), alternative(wireFixed64, "fixed64", fixed64), alternative(wireBytes, "bytes", bytes),
		alternative(wireGroup, "group", group), alternative(wireFixed32, "fixed32", fixed32),
	}}}
	elem := &schema.Struct{Fields: []*schema.Field{tag, number, value}, Wire: []schema.Item{valueItem(tag), valueItem(number), valueItem(value)}}
	return &schema.Field{
		Name: name, TypeText: "unknown fields", Type: &schema.List{Other: true, Elem: elem, Extent: schema.Extent{Size: schema.Scattered}},
	}
}

// unknownGroup returns the struct of a group of which no field is known.
func unknownGroup() *schema.Struct {
	s := &schema.Struct{Name: "group"}
	fields := unknownFields("unknown", s)
	end := &schema.Field{Name: "end", Type: &schema.Number{Bits: 32, Var: schema.Wide}, TypeText: "uint32", Doc: "the tag that ends the group: that of the group plus 1"}
	s.Fields = []*schema.Field{fields, end}
	s.Wire = []schema.Item{{Kind: schema.Tagged, Weave: []*schema.Field{fields}, Ends: true}, valueItem(end)}
	return s
}
