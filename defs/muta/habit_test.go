package muta

import (
	"strings"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestMeantLine checks the lines that people write by habit from other languages: the quick fix gives a line without mistakes.
func TestMeantLine(t *testing.T) {
	for line, want := range map[string]string{
		"int32 id;":               "id = int32",
		"int32 id,":               "id = int32",
		"int32 id; // the player": "# the player\nid = int32",
		"// x":                    "# x",
		"/* x */":                 "# x",
		"int32 id[4]":             "id = int32 {4, 4}",
		"int32_t id[4];":          "id = int32 {4, 4}",
		"id int32":                "id = int32",
		"id: int32":               "id = int32",
		"id: u32,":                "id = uint32",
		"id = int32;":             "id = int32",
		"id = int32 // x":         "# x\nid = int32",
		"unsigned int id;":        "id = uint32",
		"public short id;":        "id = int16",
		"bool on;":                "on = uint8 [0, 1]",
		"int32 id[]":              "",
		"id = int32":              "",
		"foo bar;":                "",
	} {
		if got := meantLine(line); got != want {
			t.Errorf("%q: meant %q, want %q", line, got, want)
		}
		if want == "" {
			continue
		}
		const before = "struct: p\n   first = int8\n   "
		f := source.New("m.def", before+line+"\n")
		_, ds := Parse([]*source.File{f}, schema.Options{})
		if len(ds) == 0 || ds[0].Fix == nil || !strings.Contains(ds[0].Help, "did you mean") {
			t.Errorf("%q: %s", line, ds.Render())
			continue
		}
		at := ds[0].Fix
		got := f.Text[:at.Span.Start] + at.Text + f.Text[at.Span.End:]
		if want := before + strings.ReplaceAll(want, "\n", "\n   ") + "\n"; got != want {
			t.Errorf("%q: the quick fix gives %q, want %q", line, got, want)
		}
		if _, ds := Parse([]*source.File{source.New("m.def", got)}, schema.Options{}); ds.HasErrors() {
			t.Errorf("%q: the repair has mistakes: %s", line, ds.Render())
		}
	}
}
