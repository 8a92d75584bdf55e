package tera

import (
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestLongHeader checks that a message with the header added equals the message with the option integrity, and shares its fields with the
// original.
func TestLongHeader(t *testing.T) {
	files := []*source.File{
		source.New("C_MANY.1.def", "string s\nint32 x\narray a\n- bytes b\n- float f\nobject o\n- vec3 v\n- string t\n"),
		source.New("C_NONE.1.def", ""),
		source.New("C_REF.2.def", "int32 x\nref s\nbool y\nstring s\n"),
		source.New("S_ONE.1.def", "int32 x\n"),
	}
	short, diags := Parse(files, schema.Options{})
	long, _ := Parse(files, schema.Options{Values: map[string]string{"integrity": "true"}})
	if len(diags) != 0 || len(short.Messages) != len(files) {
		t.Fatal(diags)
	}
	for i, m := range short.Messages {
		before := m.String()
		got, want := LongHeader(m), long.Messages[i]
		if got.String() != want.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", m.Name, got, want)
		}
		if m.String() != before {
			t.Errorf("%s itself is changed", m.Name)
		}
		if (got == m) != (m.Key.Dir == schema.ToClient) || LongHeader(got) != got || LongHeader(want) != want {
			t.Errorf("%s: the header comes once, for what clients send", m.Name)
		}
		for k, f := range m.Body.Fields {
			if got.Body.Fields[k] != f {
				t.Errorf("%s.%s is another field", m.Name, f.Name)
			}
		}
	}
}
