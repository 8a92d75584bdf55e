package emit

import (
	"strings"
	"testing"

	"wirebench/defs/muta"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Every target writes text in every encoding, or says at the top of its file that it does not convert it.
func TestEncodingsOfText(t *testing.T) {
	for _, encoding := range schema.CharsetNames() {
		set, _ := schema.CharsetNamed(encoding)
		s, ds := muta.Parse([]*source.File{source.New("a.def", "group: g\n\npacket: say\n   __group = g\n   name = char {16}\n")}, schema.Options{Values: map[string]string{"encoding": encoding}})
		if set.Unit() == 2 {
			s, ds = protodef.Parse([]*source.File{source.New("a.json", `{"toServer": {"types": {
				"say": ["container", [{"name": "name", "type": ["cstring", {"encoding": "`+encoding+`"}]}]],
				"packet": ["container", [{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"1": "say"}}]},
					{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"say": "say"}}]}]]}}}`)}, schema.Options{})
		}
		if len(ds) > 0 || len(s.Messages) != 1 {
			t.Fatal(encoding, ds.Render())
		}
		for _, target := range Targets {
			files, _ := target.Emit(s, Options{Vectors: []Vector{{Message: "say", Bytes: []byte("\x01\x01A"), Value: []byte(`{"name":"A"}`)}}})
			text := ""
			for _, f := range files {
				text += f.Text
			}
			want := map[bool]string{true: "text in " + set.String() + " is not converted: each byte is a character", false: ""}[set.Table()]
			switch {
			case target.Name == "md":
				want = "(" + set.String() + ")"
			case target.Name == "ksy":
				want = "encoding: "
			case set == schema.UTF16BE && target.Name == "lua":
				want = `set = "utf16be"`
			case set == schema.UTF16BE && target.Name != "c":
				want = "utf16BE"
			case set == schema.UTF16BE:
				want = "text in utf16be"
			}
			if !strings.Contains(strings.ReplaceAll(text, `\`, ""), want) {
				t.Errorf("%s, %s: no %q in\n%.2000s", target.Name, encoding, want, text)
			}
		}
	}
}
