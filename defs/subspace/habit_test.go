package subspace

import (
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestMeantRow checks the lines that people write by habit from other languages: the quick fix gives a line without mistakes.
func TestMeantRow(t *testing.T) {
	for line, want := range map[string]string{
		"int32 id;":               "? 4 i32 id",
		"int32 id; // the player": "? 4 i32 id # the player",
		"// x":                    "# x",
		"int32 id[4]":             "? 16 i32[4] id",
		"id int32":                "? 4 i32 id",
		"id: u16,":                "? 2 u16 id",
		"bool on;":                "? 1 bool on",
		"public double x;":        "? 8 f64 x",
		"text of a row":           "",
		"bytes received":          "",
	} {
		if got := meantRow(line); got != want {
			t.Errorf("%q: meant %q, want %q", line, got, want)
		}
		if want == "" {
			continue
		}
		const before = "0x03 p\noffset size comment\n0 1 type 0x03\n1 1 u8 first\n"
		f := source.New("m.def", before+line+"\n")
		_, ds := Parse([]*source.File{f}, schema.Options{})
		if len(ds) == 0 || ds[0].Fix == nil {
			t.Errorf("%q: %s", line, ds.Render())
			continue
		}
		at := ds[0].Fix
		got := f.Text[:at.Span.Start] + at.Text + f.Text[at.Span.End:]
		if got != before+want+"\n" {
			t.Errorf("%q: the quick fix gives %q", line, got)
		}
		if _, ds := Parse([]*source.File{source.New("m.def", got)}, schema.Options{}); ds.HasErrors() {
			t.Errorf("%q: the repair has mistakes: %s", line, ds.Render())
		}
	}
}
