package schema_test

import (
	"testing"

	"wirebench/defs/schema"
)

// parts returns a message with numbers of variable size, choices and groups of all kinds.
func parts() *schema.Message {
	field := func(name string, t schema.Type) *schema.Field { return &schema.Field{Name: name, Type: t} }
	body := func(fields ...*schema.Field) *schema.Struct {
		s := &schema.Struct{Fields: fields}
		for _, f := range fields {
			s.Wire = append(s.Wire, schema.Item{Field: f})
		}
		return s
	}
	kind := field("kind", &schema.Number{Bits: 32, Kind: schema.Signed, Var: schema.ZigZag, Add: -1, Absent: true, Enum: &schema.Enum{
		Name: "Kind", Shown: true, Values: []schema.EnumValue{{Name: "a", Value: 1}},
	}})
	flags := field("flags", &schema.Bitfield{Bits: 32, Var: schema.LEB128, All: "_value", Names: []string{"x"}, Forms: []schema.Form{{
		Parts: []schema.Part{{Name: "x", Bits: 1, Kind: schema.Bool, Mask: 0x11}},
	}}})
	id := field("id", &schema.Blob{UUID: true, Extent: schema.Extent{Size: schema.Fixed, N: 16}})
	list := field("list", &schema.List{Elem: body(field("", &schema.Number{Bits: 8})), Bare: true, Extent: schema.Extent{Size: schema.Counted, Null: true}})
	until := field("until", &schema.List{Elem: body(field("a", &schema.Number{Bits: 8})), Extent: schema.Extent{Size: schema.Until, End: 0xff}})
	product := &schema.Expr{Op: schema.Mul, Args: []*schema.Expr{schema.RefTo(kind), {Op: schema.Neg, Args: []*schema.Expr{{Int: 3}}}}}
	sum := &schema.Expr{Op: schema.If, Args: []*schema.Expr{{Op: schema.Ref, Field: flags, Part: "x"}, product, {Int: 7}}}
	data := field("data", &schema.Blob{Extent: schema.Extent{Size: schema.Computed, Expr: sum}})
	tree := &schema.Struct{}
	inner := field("inner", &schema.Group{Struct: tree, Own: true})
	*tree = *body(field("leaf", &schema.Number{Bits: 8}), field("more", &schema.Choice{On: schema.RefTo(kind), Cases: []schema.Alternative{{Value: 2, Body: body(inner)}}}))
	root := field("root", &schema.Group{Struct: tree, Own: true})
	size := field("sized", &schema.Group{Struct: body(field("", &schema.Number{Bits: 8})), Sized: true, Null: true, Bare: true})
	name := "n"
	some := field("some", &schema.Choice{Cases: []schema.Alternative{{Name: "none"}, {Else: true, Bare: true, Body: body(field("", &schema.Number{Bits: 16, Kind: schema.Float, Order: schema.Big}))}}})
	text := field("text", &schema.Text{Charset: schema.UTF8, Extent: schema.Extent{Size: schema.Terminated}})
	by := field("", &schema.Choice{On: schema.RefTo(text), Anon: true, Cases: []schema.Alternative{{Text: &name, Body: body(field("b", &schema.Number{Bits: 8}))}}})
	m := message("M", 1, schema.ToServer, 3)
	m.Body = body(kind, flags, id, list, until, data, root, size, some, text, by)
	before := []schema.Item{
		{Kind: schema.Count, Field: list, Num: &schema.Number{Bits: 64, Kind: schema.Signed, Var: schema.VLQ}},
		{Kind: schema.Bytes, Field: size, Num: &schema.Number{Bits: 16, Order: schema.Big}},
		{Kind: schema.Present, Field: some, Num: &schema.Number{Bits: 8, Kind: schema.Bool}},
	}
	m.Body.Wire = append(before, m.Body.Wire...)
	return m
}

// TestStringOfParts checks the text of a message with parts that depend on values.
func TestStringOfParts(t *testing.T) {
	const want = `M.1 c2s code 3
fields:
  kind int32 zigzag add -1 absent shown enum Kind{a=1}
  flags bitfield32 leb128 all "_value" (x) {0x0=0x0 x@0:bool1&0x11}
  id blob fixed 16 uuid
  list list bare counted null
    (element) uint8
  until list until ff
    a uint8
  data blob computed of (flags."x" ? (kind * -(3)) : 7)
  root group own 1
    leaf uint8
    more choice on ../kind
      case 2
        inner group own 1 again
  sized group sized null bare
    (element) uint8
  some choice present
    case 0 named "none" without a body
    else bare
      (element) float16 big
  text text utf8 terminated
  (element) choice anonymous on text
    case "n"
      b uint8
wire:
  count list as int64 vlq
  bytes sized as uint16 big
  present some as bool8
  value kind
  value flags
  value id
  value list
    value (element)
  value until
    value a
  value data
  value root
    value leaf
    value more
      case 2
        value inner
  value sized
    value (element)
  value some
    case 0 named "none" without a body
    else bare
      value (element)
  value text
  value (element)
    case "n"
      value b
`
	if got := parts().String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestStringTellsApart checks that a change of any property changes the text.
func TestStringTellsApart(t *testing.T) {
	typ := func(m *schema.Message, name string) schema.Type {
		for _, f := range m.Body.Fields {
			if f.Name == name {
				return f.Type
			}
		}
		t.Fatalf("no field %s", name)
		return nil
	}
	number := func(m *schema.Message) *schema.Number { return typ(m, "kind").(*schema.Number) }
	bits := func(m *schema.Message) *schema.Bitfield { return typ(m, "flags").(*schema.Bitfield) }
	group := func(m *schema.Message) *schema.Group { return typ(m, "sized").(*schema.Group) }
	choice := func(m *schema.Message) *schema.Choice { return typ(m, "").(*schema.Choice) }
	list := func(m *schema.Message, name string) *schema.List { return typ(m, name).(*schema.List) }
	other := "other"
	was := parts().String()
	for name, change := range map[string]func(m *schema.Message){
		"var":           func(m *schema.Message) { number(m).Var = schema.SLEB128 },
		"add":           func(m *schema.Message) { number(m).Add = 1 },
		"absent":        func(m *schema.Message) { number(m).Absent = false },
		"shown":         func(m *schema.Message) { number(m).Enum.Shown = false },
		"bitfield var":  func(m *schema.Message) { bits(m).Var = schema.Sized },
		"all":           func(m *schema.Message) { bits(m).All = "" },
		"mask":          func(m *schema.Message) { bits(m).Forms[0].Parts[0].Mask = 3 },
		"uuid":          func(m *schema.Message) { typ(m, "id").(*schema.Blob).UUID = false },
		"null list":     func(m *schema.Message) { list(m, "list").Null = false },
		"end":           func(m *schema.Message) { list(m, "until").End = 1 },
		"while":         func(m *schema.Message) { list(m, "until").Size = schema.While },
		"own":           func(m *schema.Message) { typ(m, "root").(*schema.Group).Own = false },
		"sized":         func(m *schema.Message) { group(m).Sized = false },
		"null group":    func(m *schema.Message) { group(m).Null = false },
		"bare group":    func(m *schema.Message) { group(m).Bare = false },
		"anonymous":     func(m *schema.Message) { choice(m).Anon = false },
		"selector":      func(m *schema.Message) { choice(m).On = schema.RefTo(m.Body.Fields[0]) },
		"value":         func(m *schema.Message) { choice(m).Cases[0].Text = nil },
		"text":          func(m *schema.Message) { choice(m).Cases[0].Text = &other },
		"else":          func(m *schema.Message) { choice(m).Cases[0].Else = true },
		"body":          func(m *schema.Message) { choice(m).Cases[0].Body = nil },
		"bare choice":   func(m *schema.Message) { choice(m).Cases[0].Bare = true },
		"expression":    func(m *schema.Message) { typ(m, "data").(*schema.Blob).Expr.Args[2].Int = 8 },
		"number":        func(m *schema.Message) { m.Body.Wire[0].Num.Kind = schema.Unsigned },
		"number or not": func(m *schema.Message) { m.Body.Wire[1].Num = nil },
	} {
		m := parts()
		change(m)
		if m.String() == was {
			t.Errorf("%s: the text is the same", name)
		}
	}
}
