package protodef_test

import (
	"strings"
	"testing"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

const gameYAML = `!version: 1.0
!import: common.yml

# In the lobby

^types:
   string: ["pstring", { "countType": "varint" }]   # text
   Item:
      present: bool
      _: present ?
         if true:
            id: varint
            # What it is called
            label?: string
   Place: [
      "bitfield",
      [
         { name: x, size: 0b100, signed: false },   # in tiles
         { name: 'y', size: 4, signed: true }
      ]
   ]
^lobby.toServer.types:
   packet_join:
      name: string
      room: u8 =>
         0: small
         0x10: large
         3: 'private' # by invitation
      kind: u8 => Kinds
      secret: room ?
         if small or large: void
         if private:
            word: string
         default: varint
   packet_leave:
      # Nothing
   packet:
      name: varint =>
      - join
      - leave
      params: name ?
         if join: packet_join
         if leave: packet_leave
^lobby.toClient.types:
   packet_items:
      items: Item[]varint
      places: []u8
         at: Place
         price: i32
      tags: []$2
         _: []varint
            key: string
      kind: '["mapper", {"type": "u8", "mappings": {"0": "all"}}]'
   packet:
      name: varint =>
         0: items
      params: name ?
         if items: packet_items
`

const commonYAML = `Kinds: =>
   1: player
   2: guest
`

const gameJSON = `{
  "types": {
    "string": ["pstring", {"countType": "varint"}],
    "Item": ["container", [
      {"name": "present", "type": "bool"},
      {"anon": true, "type": ["switch", {"compareTo": "present", "fields": {"true": ["container", [
        {"name": "id", "type": "varint"},
        // What it is called
        {"name": "label", "type": ["option", "string"]}
      ]]}}]}
    ]],
    "Place": ["bitfield", [{"name": "x", "size": 4, "signed": false}, {"name": "y", "size": 4, "signed": true}]]
  },
  "lobby": {
    "toServer": {"types": {
      "packet_join": ["container", [
        {"name": "name", "type": "string"},
        {"name": "room", "type": ["mapper", {"type": "u8", "mappings": {"0": "small", "3": "private", "16": "large"}}]},
        {"name": "kind", "type": ["mapper", {"type": "u8", "mappings": {"1": "player", "2": "guest"}}]},
        {"name": "secret", "type": ["switch", {"compareTo": "room", "fields": {
          "small": "void", "large": "void", "private": ["container", [{"name": "word", "type": "string"}]]
        }, "default": "varint"}]}
      ]],
      "packet_leave": ["container", []],
      "packet": ["container", [
        {"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0": "join", "1": "leave"}}]},
        {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"join": "packet_join", "leave": "packet_leave"}}]}
      ]]
    }},
    "toClient": {"types": {
      "packet_items": ["container", [
        {"name": "items", "type": ["array", {"countType": "varint", "type": "Item"}]},
        {"name": "places", "type": ["array", {"countType": "u8", "type": ["container", [
          {"name": "at", "type": "Place"}, {"name": "price", "type": "i32"}
        ]]}]},
        {"name": "tags", "type": ["array", {"count": 2, "type": ["array", {"countType": "varint", "type": ["container", [
          {"name": "key", "type": "string"}
        ]]}]}]},
        {"name": "kind", "type": ["mapper", {"type": "u8", "mappings": {"0": "all"}}]}
      ]],
      "packet": ["container", [
        {"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0": "items"}}]},
        {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"items": "packet_items"}}]}
      ]]
    }}
  }
}
`

func parse(t *testing.T, files map[string]string) (*schema.Schema, diag.List) {
	t.Helper()
	var list []*source.File
	for name, text := range files {
		list = append(list, source.New(name, text))
	}
	return protodef.Parse(list, schema.Options{})
}

func TestYAMLMeansWhatJSONMeans(t *testing.T) {
	got, diags := parse(t, map[string]string{"a/game.yml": gameYAML, "a/common.yml": commonYAML, "common.yml": "x: y\n"})
	got.Messages = got.Messages[:3] // without those of the other common.yml
	diags = diags.Of(got.Messages[0].Span.File)
	want, others := parse(t, map[string]string{"game.json": gameJSON})
	if len(diags) > 0 || len(others) > 0 {
		t.Fatalf("%s%s", diags.Render(), others.Render())
	}
	if got, want := got.String(), want.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if m := got.Messages[0]; m.Name != "join" || m.Span.Pos().Line != 23 || m.Body.Fields[1].Span.Pos().Line != 25 {
		t.Errorf("%s is at line %d, its second field at %d", m.Name, m.Span.Pos().Line, m.Body.Fields[1].Span.Pos().Line)
	}
}

func TestYAMLNumbersOfPackets(t *testing.T) {
	s, diags := parse(t, map[string]string{
		"proto.yml": "!import: packet_map.yml\npacket_first:\n   !id: 0x10\n   name: Name\npacket_second:\n   !id: 2\n   x: li32\n",
		"types.yml": "Name: [\"pstring\", {\"countType\": \"u8\"}]\n",
	})
	if len(diags) > 0 || len(s.Messages) != 2 || s.Messages[0].Key.Code != 0x10 || s.Messages[1].Name != "second" {
		t.Fatalf("%s%s", s, diags.Render())
	}
}

func TestYAMLMistakes(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a: u8\nno colon\n", `x.yml:2:1: error: "no colon" has no ":" [not-yaml]`},
		{"a: u8\n   b: u8\n", `x.yml:2:4: error: this line is indented more than a value before it [not-yaml]`},
		{"a:\n   b: in32\n", `x.yml:2:7: error: no type is named "in32" [unknown-type]`},
		{"a:\n   b: u8[]\n", `x.yml:2:7: error: the type of the count of elements is missing [not-yaml]`},
		{"a:\n   b: u8 => Nothing\n", `x.yml:2:7: error: no mapping is named "Nothing" [not-yaml]`},
		{"a:\n   b: u8\n   c: b ?\n      when 1: u8\n", `x.yml:4:7: error: a case starts with "if" or "default" [not-yaml]`},
		{"!import: other.yml\n", `x.yml:1:10: error: no file is named "other.yml" [no-file]`},
		{"a:\n   b: [\"pstring\", {\"countType\": \"varint\"\n", `x.yml:3:1: error: the file ends inside an object [not-json]`},
		{"a:\n   b:\n   c: u8\n", `x.yml:2:6: warning: the field "b" has no type and is left out [no-type]`},
	} {
		_, diags := parse(t, map[string]string{"x.yml": test.text})
		if len(diags) == 0 || !strings.HasPrefix(diags[0].String(), test.want) {
			t.Errorf("%q: %v, want %s", test.text, diags, test.want)
		}
	}
}

// A change of an imported file is a change of the files that import it.
func TestYAMLFollowsImports(t *testing.T) {
	main := source.New("main.yml", "!import: parts.yml\n^toServer.types:\n   packet_a: Part\n   packet:\n      name: u8 =>\n         1: a\n      params: name ?\n         if a: packet_a\n")
	set := build.New(&protodef.Rules, []*source.File{main}, schema.Options{})
	if len(set.Diagnostics()) == 0 {
		t.Fatal("a missing file is not reported")
	}
	first := source.New("parts.yml", "Part:\n   x: u8\n")
	set = set.With(nil, []*source.File{first})
	second := source.New("parts.yml", "Part:\n   y: u16\n")
	next := set.With([]*source.File{first}, []*source.File{second})
	for _, s := range []*build.Set{set, next} {
		if len(s.Diagnostics()) > 0 || s.Len() != 1 {
			t.Fatalf("%d messages, %s", s.Len(), s.Diagnostics().Render())
		}
	}
	if a, b := set.Named("a")[0].Body.Fields[0].Name, next.Named("a")[0].Body.Fields[0].Name; a != "x" || b != "y" {
		t.Errorf("fields %s and %s", a, b)
	}
}

func FuzzYAML(f *testing.F) {
	f.Add(gameYAML)
	f.Add(commonYAML)
	f.Add("a: []\n - x\n\t? b\n")
	f.Add("'a': 'b\n\"c\": [{\n- - -\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, files := range [][]*source.File{
			{source.New("a.yml", text)},
			{source.New("a.yml", "!import: b.yml\n"+text), source.New("b.yml", text)},
		} {
			s, diags := protodef.Parse(files, schema.Options{})
			_, _ = s.String(), diags.Render()
		}
	})
}
