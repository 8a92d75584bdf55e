package schema_test

import (
	"testing"

	"wirebench/defs/schema"
)

func message(name string, version int, dir schema.Dir, code uint32) *schema.Message {
	return &schema.Message{
		Name: name, Version: version, HasKey: true, Key: schema.Key{Dir: dir, Code: code}, Body: &schema.Struct{},
	}
}

func TestLinkTakesTheHighestVersion(t *testing.T) {
	s := &schema.Schema{Messages: []*schema.Message{
		message("A", 2, schema.ToClient, 7), message("A", 10, schema.ToClient, 7), message("A", 9, schema.ToClient, 7),
		{Name: "NONE", Version: 1},
	}}
	for range 2 { // linking again changes nothing
		if diags := schema.Link(s); len(diags) != 0 {
			t.Fatal(diags.Render())
		}
		if m := s.ByKey[schema.Key{Dir: schema.ToClient, Code: 7}]; m == nil || m.Version != 10 || len(s.ByKey) != 1 {
			t.Errorf("found %v of %d", m, len(s.ByKey))
		}
	}
	for version, want := range map[int]int{0: 10, 2: 2, 9: 9} {
		if m := s.Find("A", version); m == nil || m.Version != want {
			t.Errorf("version %d: found %v", version, m)
		}
	}
	if s.Find("A", 3) != nil || s.Find("B", 0) != nil {
		t.Error("found a message that does not exist")
	}
}

func TestLinkReportsTwoMessagesOnOneCode(t *testing.T) {
	s := &schema.Schema{Messages: []*schema.Message{
		message("A", 1, schema.ToClient, 7), message("B", 1, schema.ToClient, 7), message("C", 1, schema.ToServer, 7),
		message("D", 1, schema.Both, 7),
	}}
	diags := schema.Link(s)
	var got []string
	for _, d := range diags {
		got = append(got, d.Code+": "+d.Message)
	}
	want := []string{
		`same-code: "A" and "B" have the same code 7`,
		`same-code: "C" and "D" have the same code 7`,
		`same-code: "A" and "D" have the same code 7`,
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %q, want %q", got, want)
	}
	if m := s.ByKey[schema.Key{Dir: schema.ToClient, Code: 7}]; m.Name != "A" {
		t.Errorf("the code means %s", m.Name)
	}
}

func TestLookupOfAnUnknownDirection(t *testing.T) {
	s := &schema.Schema{Messages: []*schema.Message{
		message("C", 1, schema.ToServer, 1), message("S", 1, schema.ToClient, 2), message("I", 1, schema.Both, 3),
		message("C2", 1, schema.ToServer, 4), message("S2", 1, schema.ToClient, 4),
	}}
	if diags := schema.Link(s); len(diags) != 0 {
		t.Fatal(diags.Render())
	}
	for _, c := range []struct {
		dir  schema.Dir
		code uint32
		want string
	}{
		{schema.Both, 1, "C"},
		{schema.Both, 2, "S"},
		{schema.Both, 3, "I"},
		{schema.ToServer, 3, "I"},
		{schema.ToClient, 3, "I"},
		{schema.ToClient, 1, ""},
		{schema.Both, 4, ""}, // either one
		{schema.ToServer, 4, "C2"},
		{schema.Both, 5, ""},
	} {
		got := ""
		if m := s.Lookup(schema.Key{Dir: c.dir, Code: c.code}); m != nil {
			got = m.Name
		}
		if got != c.want {
			t.Errorf("%q %d: found %q, want %q", c.dir, c.code, got, c.want)
		}
	}
}

// TestString checks features that only dialects other than TERA use, and that the text includes every part of a message.
func TestString(t *testing.T) {
	kind := &schema.Field{Name: "kind", Doc: "what it is", Type: &schema.Number{
		Bits: 8, Min: &schema.Limit{Uint: 1}, Max: &schema.Limit{Const: "MAX"},
		Enum: &schema.Enum{Name: "Kind", Values: []schema.EnumValue{{Name: "A", Value: 1}, {Name: "B", Value: 2}}},
	}}
	name := &schema.Field{Name: "name", Type: &schema.Text{
		Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Counted, Min: &schema.Limit{Uint: 2}, Max: &schema.Limit{Uint: 16}},
	}}
	fixed := &schema.Field{Name: "fixed", Type: &schema.Blob{Extent: schema.Extent{Size: schema.Fixed, N: 4}}}
	rest := &schema.Field{Name: "rest", Type: &schema.Blob{Extent: schema.Extent{Size: schema.ToEnd}, Nested: true}}
	temp := &schema.Field{Name: "temp", Type: &schema.Number{
		Bits: 32, Kind: schema.Float, Order: schema.Big, Min: &schema.Limit{Float: -1.5},
	}}
	level := &schema.Field{Name: "level", Type: &schema.Number{
		Bits: 16, Kind: schema.Signed, Scale: 0.5, Wrap: true, Truncate: true, Max: &schema.Limit{Int: -3},
	}}
	m := message("M", 1, schema.ToServer, 3)
	m.Key.Group, m.Measured, m.Broken, m.Doc = "g", true, true, "doc"
	m.Body = &schema.Struct{
		Fields: []*schema.Field{kind, name, fixed},
		Wire: []schema.Item{
			{Kind: schema.Code, Bits: 8},
			{Kind: schema.Count, Field: name, Bits: 16, Order: schema.Big},
			{Kind: schema.Const, Bytes: []byte{0, 0x0e}},
			{Kind: schema.Pad, Bits: 3},
			{Kind: schema.Value, Field: kind},
			{Kind: schema.Value, Field: name},
			{Kind: schema.Value, Field: fixed},
		},
		Optional: 1,
		Variants: []schema.Variant{
			{Field: kind, Value: 2, Body: &schema.Struct{
				Fields: []*schema.Field{temp, level},
				Wire:   []schema.Item{{Kind: schema.Value, Field: temp}, {Kind: schema.Value, Field: level}},
			}},
			{MinLen: 5, MaxLen: 9},
			{MinLen: 10, Body: &schema.Struct{
				Fields: []*schema.Field{rest},
				Wire:   []schema.Item{{Kind: schema.Value, Field: rest}, {Kind: schema.Value, Field: temp}},
			}},
		},
	}
	const want = `M.1 c2s group g code 3 broken measured # "doc"
fields:
  kind uint8 1..MAX enum Kind{A=1, B=2} # "what it is"
  name text latin1 counted 2..16
  fixed blob fixed 4
wire:
  code 8
  count name 16 big
  const 00 0e
  pad 3
  value kind
  value name
  value fixed
  optional 1
  variant kind = 2
    fields:
      temp float32 big -1.5..
      level int16 scale 0.5 wrap truncate ..-3
    wire:
      value temp
      value level
  variant of 5..9 bytes
    no body
  variant of 10 bytes or more
    fields:
      rest blob to-end nested
    wire:
      value rest
      value ?temp
`
	if got := (&schema.Schema{Messages: []*schema.Message{m}}).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
