package protodef_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// The fields of a packet beside its mapper and its switch are fields of each of its messages.
func TestPacketsWithOtherFields(t *testing.T) {
	const (
		ping   = `"ping": ["container", [{"name": "v", "type": "lu32"}]]`
		mapper = `{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"0x25": "ping"}}]}`
		cases  = `{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"ping": "ping"}}]}`
		field  = `{"name": "%s", "type": "%s"}`
	)
	for _, c := range []struct{ name, ping, fields, hex, json string }{
		{"nothing else", ping, mapper + "," + cases, "2501000000", `{"v":1}`},
		{"before", ping, fmt.Sprintf(field, "ff", "u8") + "," + mapper + "," + cases, "ff2501000000", `{"header":{"ff":255},"v":1}`},
		{"between", ping, mapper + "," + fmt.Sprintf(field, "size", "lu16") + "," + cases, "25080001000000", `{"header":{"size":8},"v":1}`},
		{"both", ping, fmt.Sprintf(field, "ff", "u8") + "," + mapper + "," + fmt.Sprintf(field, "size", "lu16") + "," + cases, "ff25080001000000", `{"header":{"ff":255,"size":8},"v":1}`},
		{"after", ping, mapper + "," + cases + "," + fmt.Sprintf(field, "end", "u8"), "2501000000a5", `{"v":1,"tail":{"end":165}}`},
		{"of any size, after the code", ping, mapper + "," + fmt.Sprintf(field, "size", "varint") + "," + cases, "25ac0201000000", `{"header":{"size":300},"v":1}`},
		{"a name that the contents have", strings.ReplaceAll(ping, `"v"`, `"header"`), fmt.Sprintf(field, "ff", "u8") + "," + mapper + "," + cases, "ff2501000000", `{"header_":{"ff":255},"header":1}`},
		{
			"contents that refer to it", `"ping": ["container", [{"name": "v", "type": ["array", {"count": "../n", "type": "u8"}]}]]`,
			mapper + "," + fmt.Sprintf(field, "n", "u8") + "," + cases, "25020506", `{"header":{"n":2},"v":[5,6]}`,
		},
		{"contents of no fields", `"ping": "void"`, fmt.Sprintf(field, "ff", "u8") + "," + mapper + "," + cases, "ff25", `{"header":{"ff":255}}`},
		{"a mapper that is no code", ping, `{"name": "kind", "type": ["mapper", {"type": "u8", "mappings": {"1": "a"}}]},` + mapper + "," + cases, "012501000000", `{"header":{"kind":"a"},"v":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := `{"types": {}, "toServer": {"types": {` + c.ping + `, "packet": ["container", [` + c.fields + `]]}}}`
			s, diags := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
			if len(diags) > 0 || len(s.Messages) != 1 || s.Messages[0].Name != "ping" || s.Messages[0].Key != (schema.Key{Dir: schema.ToServer, Code: 0x25}) {
				t.Fatalf("%v\n%s", s.Messages, diags.Render())
			}
			p, err := codec.Compile(s.Messages[0])
			if err != nil {
				t.Fatal(err)
			}
			data, _ := hex.DecodeString(c.hex)
			var rec, built, out codec.Record
			p.Decode(&rec, data)
			text = string(value.AppendJSON(nil, &rec))
			if rec.Status() != codec.OK || rec.Used != len(data) || rec.Code != 0x25 || rec.Unexplained() != 0 || text != c.json {
				t.Fatalf("%s, %d of %d bytes, code %d: %s", rec.Status(), rec.Used, len(data), rec.Code, text)
			}
			if err := value.ParseJSON(&built, p, []byte(text)); err != nil {
				t.Fatal(err)
			}
			built.Code = rec.Code
			if err := p.Encode(&out, &built); err != nil || hex.EncodeToString(out.Data) != c.hex {
				t.Errorf("encoded %x %v", out.Data, err)
			}
		})
	}
}

// A direction without a packet lists its containers, as messages without a code, although another direction of the file has one.
func TestMessagesBesidePackets(t *testing.T) {
	const packet = `"packet": ["container", [{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"81": "query"}}]},
		{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"query": "query"}}]}]]`
	text := `{"types": {"shared": ["container", [{"name": "x", "type": "u8"}]]},
		"startup": {"toServer": {"types": {"startup": ["container", [{"name": "version", "type": "u32"}]]}}},
		"open": {"toServer": {"types": {"query": ["container", [{"name": "sql", "type": "u8"}]], ` + packet + `}}}}`
	s, diags := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
	var got []string
	for _, m := range s.Messages {
		got = append(got, fmt.Sprintf("%s %v %v", m.Name, m.Key, m.HasKey))
	}
	want := []string{
		fmt.Sprintf("startup %v false", schema.Key{Dir: schema.ToServer, Group: "startup"}),
		fmt.Sprintf("query %v true", schema.Key{Dir: schema.ToServer, Group: "open", Code: 81}),
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(diags) > 0 {
		t.Errorf("%q\nwant %q\n%s", got, want, diags.Render())
	}
}
