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
