package codec_test

import (
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// Names of values are displayed, and accepted instead of the numbers; JSON contains the numbers.
func TestEnum(t *testing.T) {
	kind := &schema.Field{Name: "kind", Type: &schema.Number{Bits: 8, Kind: schema.Signed, Enum: &schema.Enum{Name: "Kind", Values: []schema.EnumValue{
		{Name: "nobody", Value: 0xFF}, {Name: "all", Value: 2},
	}}}}
	p, err := codec.Compile(&schema.Message{Name: "M", Version: 1, Body: &schema.Struct{
		Fields: []*schema.Field{kind}, Wire: []schema.Item{{Kind: schema.Value, Field: kind}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ json, hex, shown, back string }{
		{`{"kind":"nobody"}`, "ff", "-1 (nobody)", `{"kind":-1}`},
		{`{"kind":-1}`, "ff", "-1 (nobody)", `{"kind":-1}`},
		{`{"kind":"all"}`, "02", "2 (all)", `{"kind":2}`},
		{`{"kind":7}`, "07", "7\n", `{"kind":7}`},
	} {
		var in, out codec.Record
		if err := value.ParseJSON(&in, p, []byte(c.json)); err != nil {
			t.Errorf("%s: %v", c.json, err)
			continue
		}
		if err := p.Encode(&out, &in); err != nil {
			t.Fatal(err)
		}
		p.Decode(&in, out.Data)
		if text := view.Transcript(&in); !strings.Contains(text, c.shown) || string(value.AppendJSON(nil, &in)) != c.back {
			t.Errorf("%s: %s %s", c.json, text, value.AppendJSON(nil, &in))
		}
	}
	var in codec.Record
	for _, wrong := range []string{`{"kind":"some"}`, `{"kind":""}`, `{"kind":"2"}`} {
		if err := value.ParseJSON(&in, p, []byte(wrong)); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}
