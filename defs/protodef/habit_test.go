package protodef_test

import (
	"testing"

	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestMeantTypes: a type of another language has a repair, in JSON and in YAML.
func TestMeantTypes(t *testing.T) {
	for typ, want := range map[string]string{"int32": "i32", "uint8_t": "u8", "Double": "f64", "int": "int", "varnit": "varint", "nothing": ""} {
		for name, text := range map[string][2]string{
			"m.json": {`{"types": {"m": ["container", [{"name": "x", "type": "`, `"}]]}}`},
			"m.yml":  {"m:\n  x: ", "\n"},
		} {
			f := source.New(name, text[0]+typ+text[1])
			_, ds := protodef.Parse([]*source.File{f}, schema.Options{})
			got := ""
			switch {
			case !ds.HasErrors():
				got = typ
			case ds[0].Fix != nil:
				at := ds[0].Fix
				if fixed := f.Text[:at.Span.Start] + at.Text + f.Text[at.Span.End:]; fixed != text[0]+want+text[1] {
					t.Errorf("%s %s: the quick fix gives %s", name, typ, fixed)
				}
				got = at.Text
			}
			if got != want {
				t.Errorf("%s %s: %q, want %q\n%s", name, typ, got, want, ds.Render())
			}
		}
	}
}
