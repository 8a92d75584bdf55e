package emit_test

import (
	"wirebench/defs/schema"
)

// Schemas with the features of all dialects: lengths first, constants and bits, optional ends, alternatives, chained lists.

func field(name string, t schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }

func number(bits int, kind schema.NumKind) *schema.Number {
	return &schema.Number{Bits: bits, Kind: kind}
}

func ranged(bits int, kind schema.NumKind, lo, hi float64) *schema.Number {
	limit := func(v float64) *schema.Limit {
		return &schema.Limit{Int: int64(v), Uint: uint64(max(v, 0)), Float: v}
	}
	return &schema.Number{Bits: bits, Kind: kind, Min: limit(lo), Max: limit(hi)}
}

func bigEndian(bits int, kind schema.NumKind) *schema.Number {
	return &schema.Number{Bits: bits, Kind: kind, Order: schema.Big}
}

func counted(lo, hi uint64) schema.Extent {
	e := schema.Extent{Size: schema.Counted, Max: &schema.Limit{Uint: hi}}
	if lo > 0 {
		e.Min = &schema.Limit{Uint: lo}
	}
	return e
}

func text(set schema.Charset, e schema.Extent) *schema.Text {
	return &schema.Text{Charset: set, Extent: e}
}

var (
	fixed = func(n int) schema.Extent { return schema.Extent{Size: schema.Fixed, N: n} }
	ended = schema.Extent{Size: schema.Terminated}
	toEnd = schema.Extent{Size: schema.ToEnd}
)

func values(fields ...*schema.Field) []schema.Item {
	var items []schema.Item
	for _, f := range fields {
		items = append(items, schema.Item{Kind: schema.Value, Field: f})
	}
	return items
}

// inOrder returns a struct with its fields in wire order.
func inOrder(fields ...*schema.Field) *schema.Struct {
	return &schema.Struct{Fields: fields, Wire: values(fields...)}
}

func bare(t schema.Type, e schema.Extent) *schema.List {
	return &schema.List{Elem: inOrder(field("", t)), Bare: true, Extent: e}
}

// lengthsFirst returns a struct with the lengths of its lists and texts first, then other values, then the contents.
func lengthsFirst(head []schema.Item, bits map[string]int, fields ...*schema.Field) *schema.Struct {
	s := &schema.Struct{Fields: fields, Wire: head}
	var single, contents []*schema.Field
	for _, f := range fields {
		if n := bits[f.Name]; n != 0 {
			s.Wire = append(s.Wire, schema.Item{Kind: schema.Count, Field: f, Bits: n})
			contents = append(contents, f)
		} else {
			single = append(single, f)
		}
	}
	s.Wire = append(append(s.Wire, values(single...)...), values(contents...)...)
	return s
}

func codeBits(n int) []schema.Item { return []schema.Item{{Kind: schema.Code, Bits: n}} }

func constant(b ...byte) []schema.Item { return []schema.Item{{Kind: schema.Const, Bytes: b}} }

func measured(group, name string, code uint32, body *schema.Struct) *schema.Message {
	return &schema.Message{Name: name, Version: 1, HasKey: true, Key: schema.Key{Group: group, Code: code}, Body: body, Measured: true}
}

func datagram(name string, body *schema.Struct) *schema.Message {
	return &schema.Message{Name: name, Version: 1, Body: body}
}

func linked(messages ...*schema.Message) *schema.Schema {
	s := &schema.Schema{Messages: messages}
	schema.Link(s)
	return s
}

// svmsg returns the group of the article "Network message serialization in MUTA".
func svmsg() *schema.Schema {
	return linked(
		measured("svmsg", "svmsg_pong", 1, lengthsFirst(codeBits(8), nil)),
		measured("svmsg", "svmsg_time", 2, lengthsFirst(codeBits(8), nil, field("utc", number(64, 0)))),
		measured("svmsg", "svmsg_new_character_created", 3, lengthsFirst(codeBits(8), map[string]int{"name": 8},
			field("id", number(64, 0)), field("name", text(schema.Latin1, counted(2, 16))), field("race", number(8, 0)),
			field("sex", number(8, 0)), field("map_id", number(32, 0)))),
	)
}

func clmsgMove() *schema.Schema {
	key := text(schema.Latin1, schema.Extent{Size: schema.Fixed, N: 1, Min: &schema.Limit{Uint: 1}})
	return linked(measured("clmsg", "clmsg_move", 1, lengthsFirst(codeBits(8), nil,
		field("sequence", number(16, 0)), field("dx", ranged(8, schema.Signed, -1, 1)), field("dy", ranged(8, schema.Signed, -1, 1)),
		field("x", number(32, schema.Signed)), field("y", number(16, schema.Signed)), field("z", number(64, schema.Signed)),
		field("speed", ranged(32, schema.Float, 0, 12.5)), field("angle", number(64, schema.Float)),
		field("mode", ranged(8, 0, 1, 4)), field("key", key))))
}

func clmsgChat() *schema.Schema {
	return linked(measured("clmsg", "clmsg_chat", 1, lengthsFirst(codeBits(8), map[string]int{"to": 8, "text": 16},
		field("channel", number(8, 0)), field("to", text(schema.Latin1, counted(0, 12))), field("text", text(schema.Latin1, counted(1, 1000))))))
}

func prmsg() *schema.Schema {
	return linked(
		measured("prmsg", "prmsg_hello", 10, lengthsFirst(codeBits(16), map[string]int{"token": 16}, field("token", bare(number(8, 0), counted(4, 4))))),
		measured("prmsg", "prmsg_forward", 11, lengthsFirst(codeBits(16), map[string]int{"data": 16},
			field("socket_id", number(32, 0)), field("data", bare(number(8, 0), counted(0, 4096))))),
	)
}

// squad returns a schema with a struct that contains a length, a list of structs with texts, a list of lists, and names that are invalid in
// targets.
func squad() *schema.Schema {
	header := field("header", &schema.Group{Struct: lengthsFirst(nil, map[string]int{"title": 8}, field("rank", number(16, 0)), field("title", text(schema.Latin1, counted(0, 255))))})
	members := field("members", &schema.List{Extent: counted(1, 300), Elem: lengthsFirst(nil, map[string]int{"name": 8, "items": 8},
		field("level", ranged(8, 0, 1, 60)), field("name", text(schema.Latin1, counted(1, 16))), field("items", bare(number(16, 0), counted(0, 4))))})
	at := field("at", &schema.Group{Struct: inOrder(field("x", number(32, schema.Signed)), field("y", number(32, schema.Float)))})
	words := measured("game", "int", 8, lengthsFirst(codeBits(16), map[string]int{"class": 8},
		field("type", number(8, 0)), field("func", number(8, schema.Bool)), field("Func", number(16, 0)), field("read", number(8, 0)),
		field("a-b", number(8, 0)), field("a_b", number(8, 0)), field("2nd", number(8, 0)), field("größe", number(8, 0)),
		field("class", bare(text(schema.UTF8, fixed(3)), counted(0, 9))), field("constructor", number(64, schema.Signed))))
	return linked(measured("game", "squad", 7, lengthsFirst(codeBits(16), map[string]int{"members": 16}, header, members, at, field("flag", number(8, 0)))), words)
}

// datagrams returns a schema with constants, bits, both byte orders, optional ends, alternatives, and contents to the end.
func datagrams() *schema.Schema {
	payload := field("payload", &schema.Blob{Nested: true, Extent: schema.Extent{Size: schema.Counted}})
	elem := &schema.Struct{Fields: []*schema.Field{payload}, Wire: append([]schema.Item{{Kind: schema.Count, Field: payload, Bits: 8}}, values(payload)...)}
	packets := field("packets", &schema.List{Elem: elem, Extent: toEnd})
	cluster := &schema.Struct{Fields: []*schema.Field{packets}, Wire: append(constant(0, 0x0e), values(packets)...)}

	head := []*schema.Field{
		field("rotation", number(8, schema.Signed)), field("x", number(16, schema.Signed)),
		field("weapon", &schema.Group{Struct: inOrder(field("type", number(5, 0)), field("level", number(2, 0)), field("bouncing", number(1, schema.Bool)),
			field("shrap_level", number(2, 0)), field("shrap", number(5, 0)), field("alternate", number(1, schema.Bool)))}),
	}
	extra := inOrder(field("energy", number(16, 0)), field("super", number(1, 0)), field("bursts", number(4, schema.Signed)))
	extra.Wire = append(extra.Wire, schema.Item{Kind: schema.Pad, Bits: 3})
	tail := field("extra", &schema.Group{Struct: extra})
	position := &schema.Struct{Fields: append(head, tail), Wire: append(append(constant(3), values(head...)...), values(tail)...), Optional: 1}

	many := []*schema.Field{field("a", number(8, 0)), field("b", number(16, 0)), field("lo", number(4, 0)), field("hi", number(4, 0)), field("c", number(8, 0))}
	note := field("note", text(schema.Latin1, schema.Extent{Size: schema.Counted}))
	optional := &schema.Struct{Fields: append(many, note), Wire: values(many...), Optional: 6}
	optional.Wire = append(append(optional.Wire, schema.Item{Kind: schema.Count, Field: note, Bits: 8}), values(note)...)

	name, crc, size := field("name", text(schema.Latin1, fixed(4))), field("crc", number(32, 0)), field("size", number(32, 0))
	more := field("more", &schema.Blob{Extent: toEnd})
	byLength := &schema.Struct{Fields: []*schema.Field{name}, Wire: append(constant(0x29), values(name)...), Variants: []schema.Variant{
		{MinLen: 9, MaxLen: 9, Body: inOrder(crc)}, {MinLen: 13, MaxLen: 13, Body: inOrder(crc, size)}, {MinLen: 20, Body: inOrder(more)},
	}}

	kind := field("kind", number(8, 0))
	points := field("points", number(32, schema.Signed))
	other := field("points", text(schema.Latin1, ended)) // same name as in the previous alternative, but another type
	choice := inOrder(kind, field("pid", number(16, 0)))
	choice.Variants = []schema.Variant{
		{Field: kind, Value: 1, Body: inOrder(other)}, {Field: kind, Value: 2, Body: inOrder(points)}, {Field: kind, Value: 3},
	}

	numbers := inOrder(field("a", bigEndian(16, 0)), field("b", bigEndian(64, 0)), field("c", bigEndian(32, schema.Float)),
		field("d", number(3, 0)), field("e", number(7, schema.Signed)), field("f", number(54, 0)), field("g", number(24, schema.Signed)), field("h", bigEndian(48, 0)),
		field("i", text(schema.Latin1, fixed(5))), field("j", text(schema.UTF8, fixed(6))), field("k", &schema.Blob{Extent: fixed(3)}),
		field("l", number(64, schema.Float)), field("m", &schema.Number{Bits: 16, Scale: 0.25}), field("n", text(schema.UTF16LE, fixed(3))),
		field("o", &schema.Number{Bits: 16, Kind: schema.Signed, Scale: 0.1, Min: &schema.Limit{Int: -500}, Max: &schema.Limit{Int: 500}}),
		field("p", bare(number(8, schema.Signed), fixed(4))), field("q", bare(&schema.Group{Struct: inOrder(field("x", number(8, 0)))}, fixed(2))),
		field("r", ranged(32, schema.Float, -1, 1)), field("s", ranged(64, 0, 1, 1e15)))

	arenas := field("arenas", &schema.List{Elem: inOrder(field("name", text(schema.Latin1, ended)), field("count", number(16, schema.Signed))), Extent: toEnd})
	lines := inOrder(field("lines", bare(text(schema.UTF8, ended), toEnd)))
	return linked(
		datagram("cluster", cluster), datagram("position", position), datagram("optional", optional), datagram("by_length", byLength),
		datagram("choice", choice), datagram("choices", inOrder(field("list", &schema.List{Elem: choice, Extent: toEnd}))),
		datagram("numbers", numbers), datagram("arenas", &schema.Struct{Fields: []*schema.Field{arenas}, Wire: append(constant(0x2f), values(arenas)...)}),
		datagram("lines", lines),
	)
}
