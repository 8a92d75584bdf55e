package value_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// TestHalfFloats writes and reads floats of 16 bits; those that are too large are refused.
func TestHalfFloats(t *testing.T) {
	f := &schema.Field{Name: "h", Type: &schema.Number{Bits: 16, Kind: schema.Float, Order: schema.Big}}
	p, err := codec.Compile(&schema.Message{Name: "half", Body: &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Field: f}}}})
	if err != nil {
		t.Fatal(err)
	}
	var in, out codec.Record
	for _, c := range [][2]string{{"1.5", "3e00"}, {"-65504", "fbff"}, {`"NaN"`, "7e00"}, {`"-Infinity"`, "fc00"}, {"65520", ""}, {"0.00006103515625", "0400"}} {
		err := value.ParseJSON(&in, p, []byte(`{"h":`+c[0]+`}`))
		if c[1] == "" {
			if err == nil || !strings.Contains(err.Error(), "does not fit a 16-bit float: at most 65504") {
				t.Errorf("%s: %v", c[0], err)
			}
			continue
		}
		if err != nil || p.Encode(&out, &in) != nil {
			t.Fatalf("%s: %v", c[0], err)
		}
		if got := hex.EncodeToString(out.Data); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// TestNaNs: every NaN survives JSON, in blocks of one float and of several, and text that is no NaN of the width is refused.
func TestNaNs(t *testing.T) {
	for _, c := range []struct {
		bits       int
		hex, value string
	}{
		{16, "7e00", "NaN"},
		{16, "7e01", "NaN(0x7e01)"},
		{16, "fc01", "NaN(0xfc01)"},
		{32, "7fc00000", "NaN"},
		{32, "7fc00001", "NaN(0x7fc00001)"},
		{32, "ff800001", "NaN(0xff800001)"},
		{32, "7f800001", "NaN(0x7f800001)"},
		{64, "7ff8000000000000", "NaN"},
		{64, "fff8000000000000", "NaN(0xfff8000000000000)"},
		{64, "7ff0000000000001", "NaN(0x7ff0000000000001)"},
	} {
		fields, items := []*schema.Field{}, []schema.Item{}
		for _, name := range []string{"a", "b"} {
			f := &schema.Field{Name: name, Type: &schema.Number{Bits: c.bits, Kind: schema.Float, Order: schema.Big}}
			fields, items = append(fields, f), append(items, schema.Item{Field: f})
		}
		p, err := codec.Compile(&schema.Message{Name: "nan", Body: &schema.Struct{Fields: fields, Wire: items}})
		if err != nil {
			t.Fatal(err)
		}
		data, err := hex.DecodeString(c.hex + c.hex)
		if err != nil {
			t.Fatal(err)
		}
		var rec, in, out codec.Record
		p.Decode(&rec, data)
		text := string(value.AppendJSON(nil, &rec))
		if want := `{"a":"` + c.value + `","b":"` + c.value + `"}`; text != want {
			t.Errorf("%s: %s, want %s", c.hex, text, want)
		}
		if err := value.ParseJSON(&in, p, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := p.Encode(&out, &in); err != nil || hex.EncodeToString(out.Data) != c.hex+c.hex {
			t.Errorf("%s: encoded %x (%v)", c.value, out.Data, err)
		}
		for _, wrong := range []string{"NaN(0x0)", "NaN(0x7fc00001", "NaN()", "NaN(7)", "NaN(0x17fc0000000000001)", "nan(0x7e01)"} {
			if err := value.ParseJSON(&in, p, []byte(`{"a":"`+wrong+`"}`)); err == nil {
				t.Errorf("%s is taken for a float of %d bits", wrong, c.bits)
			}
		}
	}
}
