package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

const variableText = `{"types": {
	"tree": ["container", [{"name": "id", "type": "u8"}, {"name": "more", "type": ["option", "tree"]}]],
	"packet": ["container", [
		{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0": "m"}}]},
		{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"m": ["container", [
			{"name": "kind", "type": ["mapper", {"type": "varint", "mappings": {"1": "one", "2": "two"}}]},
			{"name": "flags", "type": ["bitflags", {"type": "u8", "flags": ["a", "b"]}]},
			{"name": "sound", "type": ["registryEntryHolder", {"baseName": "id", "otherwise": {"name": "data", "type": "u8"}}]},
			{"name": "value", "type": ["switch", {"compareTo": "kind", "fields": {"one": "i16", "two": ["pstring", {"countType": "varint"}]}}]},
			{"anon": true, "type": ["switch", {"compareTo": "kind", "fields": {"one": ["container", [{"name": "extra", "type": "varint"}]]}, "default": "void"}]},
			{"name": "root", "type": "tree"}
		]]}}]}
	]]
}}`

func variableProgram(t *testing.T) *codec.Program {
	t.Helper()
	s, ds := defs.Load([]*source.File{source.New("variable.json", variableText)}, "protodef", schema.Options{})
	if len(ds) > 0 {
		t.Fatal(ds.Render())
	}
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTranscriptOfVariable shows named and absent numbers, bookkeeping of variable size, and groups in themselves.
func TestTranscriptOfVariable(t *testing.T) {
	p := variableProgram(t)
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, []byte(`{"kind":"two","flags":5,"sound":{"data":7},"value":"hi","root":{"id":1,"more":{"id":2}}}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(err)
	}
	want := `m.1  code 0 (0x0000)  12 bytes  ok
offset  bytes                    text      field                     type            value
0x0000  00                       .         [code]                    varint32        0 (0x0000)
0x0001  02                       .         kind                      mapper<varint>  2 (two)
0x0002  05                       .         flags                     bitflags<u8>    {"_value":5,"a":true,"b":false}
0x0003  00                       .         sound.id                  varint          none
0x0004  07                       .         sound.data                u8              7
0x0005  02                       .         [value count]             varint32        2
0x0006  68 69                    hi        value                     pstring<varint>  "hi"
0x0008  01                       .         root.id                   u8              1
0x0009  01                       .         [root.more present]       bool            true
0x000A  02                       .         root.more.id              u8              2
0x000B  00                       .         [root.more.more present]  bool            false
`
	got := view.Transcript(&out)
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if squeeze(got) != squeeze(want) {
		t.Errorf("\n%s\n%s", got, want)
	}
	if got := string(value.AppendBrief(nil, &out, 200)); !strings.HasPrefix(got, `kind two, flags {"_value":5,"a":true,"b":false}, sound.data 7, value "hi", root.id 1, root.more.id 2`) {
		t.Error(got)
	}
	if got := squeeze(view.Layout(p).Text()); !strings.Contains(got, "code varint32 code") || !strings.Contains(got, "1 + code") || !strings.Contains(got, "value varint32 count") {
		t.Error(view.Layout(p).Text())
	}
}

// TestFormOfVariable: choices and values that may be missing are JSON, names are chosen, and a group in itself ends.
func TestFormOfVariable(t *testing.T) {
	text, err := json.Marshal(view.FormOf(variableProgram(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"name":"kind","type":"mapper\u003cvarint\u003e","kind":"int","values":[{"name":"one","value":"one"},{"name":"two","value":"two"}],"named":true}`,
		`{"name":"flags","type":"bitflags\u003cu8\u003e","kind":"group","fields":[{"name":"a","type":"part","kind":"bool"},{"name":"b","type":"part","kind":"bool"}]}`,
		`"fields":[{"name":"id","type":"varint","kind":"json"},{"name":"data","type":"u8","kind":"json"}]`,
		`{"name":"value","type":"switch kind","kind":"json"}`, `{"name":"extra","type":"varint","kind":"json"}`,
		`{"name":"root","type":"tree","kind":"group","fields":[{"name":"id","type":"u8","kind":"int"},{"name":"more","type":"option\u003ctree\u003e","kind":"json"}]}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
