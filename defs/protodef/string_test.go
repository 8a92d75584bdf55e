package protodef_test

import (
	"testing"

	"wirebench/defs/defstest"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestStringsDiffer: messages that are encoded differently have different golden forms. Those of types that contain themselves end.
func TestStringsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, typ := range []string{
		`"i32"`, `"u32"`, `"varint"`, `"zigzag32"`, `"UUID"`, `["buffer", {"count": 16}]`, `["option", "i8"]`, `["option", "varint"]`,
		`["switch", {"compareTo": "n", "fields": {"1": "i8"}}]`, `["switch", {"compareTo": "n", "fields": {"2": "i8"}}]`,
		`["switch", {"compareTo": "n", "fields": {"1": "i8"}, "default": "void"}]`, `["switch", {"compareTo": "n > 1", "fields": {"1": "i8"}}]`,
		`["array", {"count": "n", "type": "i8"}]`, `["array", {"count": "n + 1", "type": "i8"}]`, `["array", {"countType": "varint", "type": "i8"}]`,
		`["array", {"countType": "i32", "type": "i8"}]`, `["entityMetadataLoop", {"endVal": 127, "type": "i8"}]`,
		`["entityMetadataLoop", {"endVal": 126, "type": "i8"}]`, `["bitflags", {"type": "u8", "flags": ["a"]}]`, `["bitflags", {"type": "varint", "flags": ["a"]}]`,
		`["mapper", {"type": "u8", "mappings": {"1": "a"}}]`, `["encapsulated", {"lengthType": "varint", "type": "i8"}]`, `["option", "t"]`,
	} {
		text := `{"types": {"t": ["container", [{"name": "n", "type": "u8"}, {"name": "x", "type": ` + typ + `}]]}}`
		s, ds := protodef.Parse([]*source.File{source.New("t.json", text)}, schema.Options{})
		if len(ds) > 0 {
			t.Fatal(ds.Render())
		}
		if other, ok := seen[s.String()]; ok {
			t.Errorf("%s is like %s:\n%s", typ, other, s)
		}
		seen[s.String()] = typ
	}
	s, _ := protodef.Parse([]*source.File{source.New("variable.json", defstest.Variable)}, schema.Options{})
	if n := len(s.String()); n < 10_000 || n > 1<<20 {
		t.Errorf("%d bytes", n)
	}
}
