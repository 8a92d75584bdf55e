package tera

import (
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestMeantLine checks the lines that people write by habit from other languages.
func TestMeantLine(t *testing.T) {
	for line, want := range map[string]string{
		"int32 id;":                  "int32 id",
		"int32 id ;":                 "int32 id",
		"int32 id,":                  "int32 id",
		"// x":                       "# x",
		"//":                         "#",
		"/* x */":                    "# x",
		"int32 id; // the player":    "int32 id # the player",
		"int32 id // the player":     "int32 id # the player",
		"uint8 id /* a */":           "byte id # a",
		"int32 id[4]":                "int32[4] id",
		"int32 id[];":                "array<int32> id",
		"int[] ids;":                 "array<int32> ids",
		"List<int> ids;":             "array<int32> ids",
		"std::vector<uint16_t> ids;": "array<uint16> ids",
		"id int32":                   "int32 id",
		"id: int32":                  "int32 id",
		"id : uint32":                "uint32 id",
		"id:i32,":                    "int32 id",
		"public int Id;":             "int32 Id",
		"public readonly uint id;":   "uint32 id",
		"unsigned int id;":           "uint32 id",
		"std::string name;":          "string name",
		"int32 id = 5;":              "int32 id=5",
		"id u32":                     "uint32 id",
		"id in32":                    "",
		"int32":                      "",
		"foo bar;":                   "",
		"struct player {":            "",
	} {
		if got := meantLine(line); got != want {
			t.Errorf("%q: meant %q, want %q", line, got, want)
		}
		if want == "" {
			continue
		}
		if _, ds := Parse([]*source.File{source.New("S_TEST.1.def", want+"\n")}, schema.Options{}); ds.HasErrors() {
			t.Errorf("%q: the repair %q has mistakes: %s", line, want, ds.Render())
		}
		f := source.New("S_TEST.1.def", "int16 first\n"+line+"\n")
		_, ds := Parse([]*source.File{f}, schema.Options{})
		if len(ds) != 1 || ds[0].Fix == nil {
			t.Errorf("%q: %s", line, ds.Render())
			continue
		}
		at := ds[0].Fix
		if got := f.Text[:at.Span.Start] + at.Text + f.Text[at.Span.End:]; got != "int16 first\n"+want+"\n" {
			t.Errorf("%q: the quick fix gives %q", line, got)
		}
	}
}
