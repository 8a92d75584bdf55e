package view_test

import (
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

func TestBrief(t *testing.T) {
	p, data := chatProgram(t)
	var rec codec.Record
	p.Decode(&rec, data)
	for most, want := range map[int]string{
		200: `gold 7, members ×2, name "Lann"`,
		1:   `gold 7`,
	} {
		if got := string(view.AppendBrief(nil, &rec, most)); got != want {
			t.Errorf("in %d bytes: %q, want %q", most, got, want)
		}
	}
	p.Decode(&rec, data[:6])
	if got := string(view.AppendBrief([]byte("x"), &rec, 200)); !strings.HasPrefix(got, "x") {
		t.Errorf("of a message that is cut off: %q", got)
	}
}

func chatProgram(t *testing.T) (*codec.Program, []byte) {
	t.Helper()
	num := func(name string, bits int) *schema.Field {
		return &schema.Field{Name: name, Type: &schema.Number{Bits: bits}}
	}
	id := num("id", 16)
	gold, list, name := num("gold", 32), &schema.Field{Name: "members"}, &schema.Field{Name: "name"}
	list.Type = &schema.List{Elem: &schema.Struct{Fields: []*schema.Field{id}, Wire: []schema.Item{{Kind: schema.Value, Field: id, Bits: 16}}}, Extent: schema.Extent{Size: schema.Counted}}
	name.Type = &schema.Text{Charset: schema.UTF8, Extent: schema.Extent{Size: schema.ToEnd}}
	body := &schema.Struct{
		Fields: []*schema.Field{gold, list, name},
		Wire: []schema.Item{
			{Kind: schema.Value, Field: gold}, {Kind: schema.Count, Field: list, Bits: 8}, {Kind: schema.Value, Field: list}, {Kind: schema.Value, Field: name},
		},
	}
	p, err := codec.Compile(&schema.Message{Name: "M", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return p, []byte("\x07\x00\x00\x00\x02\x01\x00\x02\x00Lann")
}
