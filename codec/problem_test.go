package codec_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// Problems of list elements name the element.
func TestProblemsNameElements(t *testing.T) {
	for _, c := range []struct{ def, data, path, message string }{
		{
			"array<string> names", "1200 3412 0100 0800 0800 0000 0e00 4c00 4c00", "names[0]",
			`text "names[0]" has no terminating zero before the end of the frame`,
		},
		{
			"array<string> names", "1600 3412 0200 0800 0800 1000 0e00 0000 1000 0000 ff00", "names[1]",
			`offset 0xff of "names[1]" is outside the frame of 22 bytes`,
		},
		{
			"array members\n- string name\n- byte x", "1500 3412 0200 0800 0800 0f00 0200 07 0f00 0000 0000", "members[0].name",
			`offset 0x02 of "members[0].name" points into the header, which takes 4 bytes`,
		},
		{
			"array members\n- bytes data", "1800 3412 0200 0800 0800 1000 1800 0000 1000 0000 1800 0500", "members[1].data",
			`"members[1].data" takes 5 bytes from 0x18 on, but the frame ends at 0x18`,
		},
		{
			"array a\n- array<int16> b", "1400 3412 0100 0800 0800 0000 0300 1000 1000 0000", "a[0].b[0]",
			`6 bytes of "a[0].b[0]" expected from 0x10 on, but the frame ends at 0x14`,
		},
		{
			"array a\n- array<int16> b", "1600 3412 0100 0800 0800 0000 0300 1000 1000 0000 0700", "a[0].b",
			`list "a[0].b" has 3 elements by its count, but its chain ends after 1`,
		},
		{
			"array<int16> a", "0e00 3412 0200 0800 0800 ff00 0700", "a[1]",
			`offset 0xff of "a[1]" is outside the frame of 14 bytes`,
		},
		{
			"array<array<int16>> a", "1600 3412 0100 0800 0800 0000 0200 1000 1000 1000 0700", "a[0]",
			`list "a[0]" loops back to its element at 0x10; its count is 2`,
		},
		{"array<int16> a", "0e00 3412 0100 0800 0900 0000 0700", "a[0]", `"a[0]" at 0x08 has 0x09 as its own offset`},
	} {
		p := compile(t, "C_TEST.1.def", c.def+"\n", schema.Options{})
		data, err := hex.DecodeString(strings.ReplaceAll(c.data, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		var r codec.Record
		p.Decode(&r, data)
		all := r.AllProblems()
		if len(all) == 0 {
			t.Errorf("%q, %s: no problem", c.def, c.data)
			continue
		}
		path, message := string(r.AppendSpotPath(nil, all[0].Spot)), all[0].Message(&r)
		if path != c.path || message != c.message {
			t.Errorf("%q, %s: %s: %s, want %s: %s", c.def, c.data, path, message, c.path, c.message)
		}
	}
}

// An encoder names the element that is too much.
func TestEncodeNamesElements(t *testing.T) {
	p := compile(t, "C_TEST.1.def", "array members\n- bytes data\n- string name\n", schema.Options{})
	var in, out codec.Record
	text := `{"members":[{"data":"` + strings.Repeat("00", 40000) + `"},{"data":"` + strings.Repeat("00", 30000) + `"}]}`
	if err := value.ParseJSON(&in, p, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(&out, &in); err == nil || !strings.Contains(err.Error(), "members[1].name") {
		t.Error(err)
	}
}
