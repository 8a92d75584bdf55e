package value_test

import (
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestErrorsInside states the paths of errors inside groups, choices, and groups that are nested in themselves.
func TestErrorsInside(t *testing.T) {
	const text = `{"types": {
		"m": ["container", [
			{"name": "kind", "type": ["mapper", {"type": "u8", "mappings": {"0": "none", "1": "one", "2": "two"}}]},
			{"name": "value", "type": ["switch", {"compareTo": "kind", "fields": {"one": "i8", "two": ["container", [{"name": "x", "type": "varint"}]]}, "default": "void"}]},
			{"anon": true, "type": ["switch", {"compareTo": "kind", "fields": {"one": ["container", [{"name": "extra", "type": "i8"}]]}, "default": "void"}]},
			{"name": "root", "type": "tree"}, {"name": "opts", "type": ["array", {"countType": "varint", "type": ["option", "i8"]}]},
			{"name": "id", "type": "UUID"}, {"name": "n", "type": "u8"}, {"name": "three", "type": ["array", {"count": "n", "type": "i8"}]},
			{"name": "flags", "type": ["bitflags", {"type": "u8", "flags": ["a"]}]}
		]],
		"tree": ["container", [
			{"name": "id", "type": "u8"}, {"name": "children", "type": ["array", {"countType": "varint", "type": "tree"}]}, {"name": "more", "type": ["option", "tree"]}
		]]
	}}`
	s, ds := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
	if len(ds) > 0 {
		t.Fatal(ds.Render())
	}
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	var in codec.Record
	for _, c := range [][2]string{
		{`{"kind":"three"}`, `kind: a string where a number or one of its names is expected: "three"`},
		{`{"kind":"one","value":300}`, `value: 300 does not fit int8: -128 to 127`},
		{`{"kind":"two","value":{"x":"a"}}`, `value.x: a string where a number is expected: "a"`},
		{`{"kind":"two","value":{"y":1}}`, `value.y: no field has this name; did you mean "x"?`},
		{`{"kind":"two","value":7}`, `value: a number where an object is expected: 7`},
		{`{"value":7}`, `value: there is no value here, because of the values before: 7`},
		{`{"extra":7}`, `extra: the chosen alternative does not have this field`},
		{`{"kind":"one","extra":700}`, `extra: 700 does not fit int8: -128 to 127`},
		{`{"root":{"idd":1}}`, `root.idd: no field has this name; did you mean "id"?`},
		{`{"root":{"id":256}}`, `root.id: 256 does not fit uint8: 0 to 255`},
		{`{"root":{"children":[{},{"children":[{"id":-1}]}]}}`, `root.children[1].children[0].id: -1 does not fit uint8: 0 to 255`},
		{`{"root":{"children":[{"idd":1}]}}`, `root.children[0].idd: no field has this name; did you mean "id"?`},
		{`{"root":{"more":{"more":{"id":"x"}}}}`, `root.more.more.id: a string where a number is expected: "x"`},
		{`{"root":{"children":[{"more":5}]}}`, `root.children[0].more: a number where an object is expected: 5`},
		{`{"opts":[1,null,true]}`, `opts[2]: a boolean where a number is expected: true`},
		{`{"id":"00"}`, `id: not a UUID of 32 hex digits: "00"`},
		{`{"n":2,"three":[1,2,3]}`, `three: 3 elements where 2 are needed by the values before`},
		{`{"flags":{"b":true}}`, `flags.b: no part has this name; did you mean "a"?`},
	} {
		err := value.ParseJSON(&in, p, []byte(c[0]))
		if err == nil || err.Error() != c[1] {
			t.Errorf("%s: %v, want %s", c[0], err, c[1])
		}
	}
}
