package codec_test

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/packettest"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// A name that occurs several times is one value: it is written to each of its fields, and the last one read takes precedence.
func TestSameNameManyTimes(t *testing.T) {
	for _, c := range []struct {
		typ, value, last string
		bytes, other     string // of the value, and with a different value in a field before the last one
	}{
		{"int32", "5", "5", "05000000", "07000000"},
		{"float", "2.5", "2.5", "00002040", "00000000"},
		{"bool", "true", "true", "01", "00"},
		{"vec3", `{"x":1,"y":0,"z":2}`, `{"x":1,"y":0,"z":2}`, "0000803f0000000000000040", "000000000000803f00000000"},
		{
			"customize", `{"tattoos":3}`, `{"unk":0,"skinColor":0,"faceStyle":0,"faceDecal":0,"hairStyle":0,"hairColor":0,"voice":0,"tattoos":3}`,
			"0000000000000003", "0100000000000000",
		},
	} {
		for n := 1; n <= 5; n++ {
			// Other fields between them, and in the elements of a list, where they have their own values.
			line := c.typ + " a\nbyte b%d\n"
			text, inner := "array l\n", ""
			for i := range n {
				text += "- " + strings.ReplaceAll(fmt.Sprintf(line, i), "\nbyte", "\n- byte")
				inner += fmt.Sprintf(line, i)
			}
			p := compile(t, "X.1.def", text+inner, schema.Options{})
			var in, out, rec codec.Record
			if err := value.ParseJSON(&in, p, fmt.Appendf(nil, `{"a":%s,"l":[{"a":%[1]s}]}`, c.value)); err != nil {
				t.Fatalf("%s × %d: %v", c.typ, n, err)
			}
			if err := p.Encode(&out, &in); err != nil {
				t.Fatal(err)
			}
			message := func(row string) string {
				size := len(row) / 2
				return fmt.Sprintf("%02x0000000100%02x00%s%02[2]x000000%[3]s", 12+2*size, 8+size, row)
			}
			want := message(strings.Repeat(c.bytes+"00", n))
			if got := fmt.Sprintf("%x", out.Data); got != want {
				t.Errorf("%s × %d: %s, want %s", c.typ, n, got, want)
				continue
			}
			// All but the last have a different value.
			p.Decode(&rec, packettest.Unhex(t, message(strings.Repeat(c.other+"00", n-1)+c.bytes+"00")))
			if got := string(value.AppendJSON(nil, &rec)); strings.Count(got, `"a":`+c.last) != 2 || strings.Count(got, `"a":`) != 2 {
				t.Errorf("%s × %d: %s", c.typ, n, got)
			}
		}
	}
}
