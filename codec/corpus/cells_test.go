package corpus_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"wirebench/codec"
	"wirebench/codec/corpus"
)

func TestCells(t *testing.T) {
	p := compile(t, "tera", "C_T.1.def",
		"string name\nvec3 loc\nfloat speed\narray members\n- int32 id\n- string title\n- array<int16> marks\narray<string> words\nbytes data\narray<byte> many\narray<vec3> ways\n")
	data := encode(t, p, `{"name":"Lann","loc":{"x":1.5,"y":-2,"z":0.1},"speed":0.1,"members":[{"id":1,"title":"a","marks":[1,2]},{"id":2,"title":"","marks":[3]}],
		"words":["x","y","z"],"data":"dead","many":[`+strings.Repeat("7,", 99)+`7],"ways":[{"x":1,"y":2,"z":3},{"x":4,"y":5,"z":6}]}`)
	var rec codec.Record
	p.Decode(&rec, data)
	cases := [][2]string{
		{"name", "Lann"},
		{"loc", "(1.5, -2, 0.1)"},
		{"loc.y", "-2"},
		{"speed", "0.1"},
		{"members", "2"},
		{"members[].id", "2: 1, 2"},
		{"members.id", "2: 1, 2"},
		{"members[*].title", "2: a, "},
		{"members[1].id", "2"},
		{"members[7].id", ""},
		{"members.marks", "3: 1, 2, 3"},
		{"members[0].marks", "2: 1, 2"},
		{"words", "3: x, y, z"},
		{"words[]", "3: x, y, z"},
		{"words[2]", "z"},
		{"data", "dead"},
		{"many", "100: 7" + strings.Repeat(", 7", 15) + "…"},
		{"ways", "2"},
		{"ways.x", "2: 1, 4"},
		{".x", "3: 1.5, 1, 4"},
		{".loc.x", "1.5"},
		{".id", "2: 1, 2"},
		{".members[1].id", "2"},
		{".name", "Lann"},
		{"id", ""},
		{".nothing", ""},
		{"nothing", ""},
		{"", ""},
		{"members[", ""},
		{"members[-1].id", ""},
		{"members[99999999999].id", ""},
		{"]", ""},
	}
	paths, want := make([]string, 0, len(cases)), make([]string, 0, len(cases))
	for _, c := range cases {
		paths, want = append(paths, c[0]), append(want, c[1])
	}
	if diff := gocmp.Diff(want, corpus.NewCells(p, paths).Append(nil, &rec)); diff != "" {
		t.Error(diff)
	}
}

func TestCellsAreShort(t *testing.T) {
	p := compile(t, "tera", "C_T.1.def", "string s\narray<string> l\nbytes b\nvec3 v\n")
	long := strings.Repeat("aä", 300)
	data := encode(t, p, `{"s":"`+long+`","l":["`+long+`","`+long+`"],"b":"`+strings.Repeat("00", 500)+`"}`)
	var rec codec.Record
	p.Decode(&rec, data)
	for i, s := range corpus.NewCells(p, []string{"s", "l", "b"}).Append(nil, &rec) {
		if len(s) > corpus.MaxCell || len(s) < corpus.MaxCell-4 || !strings.HasSuffix(s, "…") || !utf8.ValidString(s) {
			t.Errorf("%d: %d bytes: %s", i, len(s), s)
		}
	}
}

func TestCellsOfVariable(t *testing.T) {
	p := compile(t, "protodef", "v.json", `{"types": {"m": ["container", [
		{"name": "n", "type": "varint"}, {"name": "id", "type": "UUID"}, {"name": "kind", "type": ["mapper", {"type": "varint", "mappings": {"0": "zero", "5": "five"}}]},
		{"name": "flags", "type": ["bitflags", {"type": "u8", "flags": ["a", "b"]}]},
		{"name": "maybe", "type": ["option", "i16"]}, {"name": "none", "type": ["option", "i16"]},
		{"name": "at", "type": ["option", ["container", [{"name": "x", "type": "i8"}, {"name": "y", "type": "varint"}]]]},
		{"name": "list", "type": ["array", {"countType": "varint", "type": ["option", ["pstring", {"countType": "varint"}]]}]},
		{"anon": true, "type": ["switch", {"compareTo": "n", "fields": {"300": ["container", [{"name": "extra", "type": "f32"}]]}}]}
	]]}}`)
	data := encode(t, p, `{"n":300,"id":"069a79f4-44e9-4726-a5be-fca90e38aaf5","kind":"five","flags":9,"maybe":-7,"at":{"x":1,"y":500},"list":["p",null,"q"],"extra":0.5}`)
	var rec codec.Record
	p.Decode(&rec, data)
	for _, c := range [][2]string{
		{"n", "300"},
		{"id", "069a79f4-44e9-4726-a5be-fca90e38aaf5"},
		{"kind", "five"},
		{"flags", "a +8"},
		{"maybe", "-7"},
		{"none", ""},
		{"at", "(1, 500)"},
		{"at.y", "500"},
		{"list", "2: p, q"},
		{"list[2]", "q"},
		{"list[1]", ""},
		{"extra", "0.5"},
	} {
		if got := corpus.NewCells(p, []string{c[0]}).Append(nil, &rec)[0]; got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}
