package tera_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

func coded(text string) string { return `"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"` }

// contents returns what a bundle was taken apart into, one part a line.
func contents(b *schema.Bundle) string {
	var out strings.Builder
	for _, f := range b.Files {
		fmt.Fprintf(&out, "%s = %q\n", f.Name, f.Text)
	}
	for _, x := range b.Left {
		fmt.Fprintf(&out, "%s: %s\n", x.Name, x.Reason)
	}
	return out.String()
}

// TestBundle: a bundle is taken apart, and each part that is left out is named.
func TestBundle(t *testing.T) {
	const chat = `"S_CHAT.1.def": ` + `"c3RyaW5nIHRleHQK"`
	for text, want := range map[string]string{
		`{"maps": {"7": {"S_CHAT": 9, "C_CHAT": 4, "A": 9}}, "protocol": {` + chat + `}, "deprecated": {"S_CHAT": {"1": {"max": 9}}}}`: `protocol.7.map = "C_CHAT 4\nA 9\nS_CHAT 9\n"
S_CHAT.1.def = "string text\n"
deprecated.json = "{\n  \"S_CHAT\": {\n    \"1\": {\n      \"max\": 9\n    }\n  }\n}\n"
`,
		`{"protocol": {` + chat + `, "S_CHAT.1.console.def": "", "s_chat.1.def": ` + coded("\ufeff# ü\r\n") + `, "S_A.2.def": "YQ"}, "deprecated": {}}`: "S_CHAT.1.def = \"string text\\n\"\nS_CHAT.1.console.def = \"\"\ns_chat.1.def = \"\\ufeff# ü\\r\\n\"\nS_A.2.def = \"a\"\n",
		"\ufeff" + ` {"deprecated": {}, "protocol": {"../S_A.1.def": "", "a/S_B.1.def": "", "a\\S_C.1.def": "", "S_D.def": "", "S_E.x.def": "", "": "", "S_F.1.js": "",
			"S_G.1.def": 5, "S_H.1.def": null, "S_I.1.def": "???", "S_J.01.def": "", "S_J.1.def": "", "S_K.1.def": "", "S_K.1.def": "YQ=="}}`: `S_J.01.def = ""
S_K.1.def = ""
../S_A.1.def: not the name of a definition, such as S_LOGIN.14.def
a/S_B.1.def: not the name of a definition, such as S_LOGIN.14.def
a\S_C.1.def: not the name of a definition, such as S_LOGIN.14.def
S_D.def: not the name of a definition, such as S_LOGIN.14.def
S_E.x.def: not the name of a definition, such as S_LOGIN.14.def
: not the name of a definition, such as S_LOGIN.14.def
S_F.1.js: a program, which cannot be read; write it as a definition
S_G.1.def: its text is not a string
S_H.1.def: its text is not a string
S_I.1.def: its text is not base64
S_J.1.def: the bundle has this version as S_J.01.def, too, which is used
S_K.1.def: the bundle has this version as S_K.1.def, too, which is used
`,
		`{"maps": {"7": {"A": "12", "B": -1, "C": 65536, "D": 1.5, "E": "x", "F": null, "G": {}, "H": 3, "H": 4, "": 1, "I J": 1, "K#": 1, "L=": 1, "M": 65535, "N": 0}, "x": {}, "8": 1, "07": {}, "../9": {}, "7": {}}}`: `protocol.7.map = "N 0\nH 3\nA 12\nM 65535\n"
protocol.7.map: B: its code -1 is not a number from 0 to 65535
protocol.7.map: C: its code 65536 is not a number from 0 to 65535
protocol.7.map: D: its code 1.5 is not a number from 0 to 65535
protocol.7.map: E: its code "x" is not a number from 0 to 65535
protocol.7.map: F: its code null is not a number from 0 to 65535
protocol.7.map: G: its code {} is not a number from 0 to 65535
protocol.7.map: H: it has a code already, which is used
protocol.7.map: : not the name of a message
protocol.7.map: I J: not the name of a message
protocol.7.map: K#: not the name of a message
protocol.7.map: L=: not the name of a message
maps: x: not the number of a build
maps: 8: not an object of codes by name
maps: 07: the bundle has this build twice; the first one is used
maps: ../9: not the number of a build
maps: 7: the bundle has this build twice; the first one is used
`,
		`{"maps": {"7": {}}, "protocol": [], "deprecated": 4, "author": "me", "maps": {}, "sysmsg": {}}`: "protocol.7.map = \"\"\nprotocol: not an object\ndeprecated: not an object\nauthor: not a part of bundles that is known\nmaps: the bundle has it twice; the first one is used\nsysmsg: not a part of bundles that is known\n",
	} {
		if text[0] == '{' && !strings.Contains(text, `"deprecated": 4`) && !tera.IsBundle("x/data.json", []byte(text)) {
			t.Errorf("not recognized: %s", text)
		}
		b, err := tera.ReadBundle([]byte(text), 100)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(want, contents(b)); d != "" {
			t.Errorf("%s\n%s", text, d)
		}
		for _, f := range b.Files {
			if tera.IsCodeMap(f.Name) {
				if _, diags := tera.ParseMap(f); diags.HasErrors() {
					t.Errorf("%s\n%s", f.Text, diags.Render())
				}
			}
		}
		for i := range text { // a part of one
			_, _ = tera.ReadBundle([]byte(text[:i]), 100)
		}
	}
	for _, text := range []string{"", "[]", `{"maps": {"1": {}}`, `{"maps": {"1": {}}} x`, `{"protocol": {"A.1.def": "` + "\x01" + `"}}`, `{"maps": ` + strings.Repeat(`{"1":`, 20000)} {
		if b, err := tera.ReadBundle([]byte(text), 100); err == nil {
			t.Errorf("%.40s: %s", text, contents(b))
		}
	}
	if _, err := tera.ReadBundle([]byte(`{"maps": {"1": {}, "2": {}, "3": {}}}`), 2); !errors.Is(err, schema.ErrBundle) {
		t.Errorf("too many files: %v", err)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `"x%d": "",`, i)
	}
	b, err := tera.ReadBundle([]byte(`{"protocol": {`+many.String()+`"A.1.def": ""}}`), 100)
	if err != nil || len(b.Files) != 1 || len(b.Left) != 201 || b.Left[200].Reason != "800 more parts are left out" {
		t.Errorf("%v %d", err, len(b.Left))
	}
}

// TestIsBundle: other files in JSON are none.
func TestIsBundle(t *testing.T) {
	for name, text := range map[string]string{
		"data.txt": `{"maps": {"7": {"A": 1}}}`, "deprecated.json": `{"maps": {"7": {"A": 1}}}`, "a.json": `{"maps": {"europe": {"A": 1}}}`,
		"b.json": `{"protocol": {"types": {"string": "native"}}}`, "c.json": `{"name": "x", "maps": {"7": {}}}`, "d.json": `{"deprecated": {"7": {}}}`,
		"revisions.json": `{"373824": "eu-98.02/98"}`, "e.json": `[{"maps": {"7": {}}}]`, "f.json": "",
	} {
		if tera.IsBundle(name, []byte(text)) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestBundleLosesNothing: each part of a random bundle is in a file or is named.
func TestBundleLosesNothing(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 31))
		of := func(list ...string) string { return list[rng.IntN(len(list))] }
		var parts, names []string
		for range rng.IntN(12) {
			parts = append(parts, `"`+of("S_A", "s_a", "C_B", "x/C_B", "")+of(".1", ".2", ".01", "")+of(".def", ".js", ".txt")+`": `+of(coded("byte a\n"), `"*"`, "7"))
		}
		for i := range rng.IntN(12) {
			names = append(names, `"`+of("S_A", "S B", "C_C", fmt.Sprint("N", i))+`": `+of("1", "2", "70000", `"x"`, "[]"))
		}
		b, err := tera.ReadBundle([]byte(`{"protocol": {`+strings.Join(parts, ", ")+`}, "maps": {"5": {`+strings.Join(names, ", ")+`}}}`), 100)
		if err != nil {
			t.Fatal(err)
		}
		found := len(b.Left)
		for _, f := range b.Files {
			if tera.IsCodeMap(f.Name) {
				found += strings.Count(f.Text, "\n")
			} else {
				found++
			}
		}
		if found != len(parts)+len(names) {
			t.Fatalf("%d of %d + %d\n%s\n%s\n%s", found, len(parts), len(names), parts, names, contents(b))
		}
	}
}

// TestCorporaBundle: a library as a bundle is the same library.
func TestCorporaBundle(t *testing.T) {
	corpora.Run(t, func(t *testing.T, c *corpora.Corpus) {
		type object = map[string]any
		maps, protocol, texts := object{}, object{}, map[string]string{}
		for _, file := range c.Glob(t, "tera/toolbox/definitions/*.def") {
			texts[path.Base(file)] = c.Text(t, file)
			protocol[path.Base(file)] = []byte(c.Text(t, file)) // which package json writes in base64
		}
		codes := map[string]map[string]uint32{}
		for _, file := range c.Glob(t, "tera/toolbox/*.map") {
			f := source.New(path.Base(file), c.Text(t, file))
			codes[f.Name], _ = tera.ParseMap(f)
			maps[tera.BuildOfMap(f.Name)] = codes[f.Name]
		}
		text, err := json.Marshal(object{"maps": maps, "protocol": protocol, "deprecated": json.RawMessage(c.Text(t, "tera/toolbox/deprecated.json"))})
		if err != nil || !tera.IsBundle("data.json", text) {
			t.Fatal(err)
		}
		b, err := tera.ReadBundle(text, 20000)
		if err != nil || len(b.Left) > 0 || len(b.Files) != len(texts)+len(codes)+1 {
			t.Fatalf("%v, %d files of %d, %v", err, len(b.Files), len(texts)+len(codes)+1, b.Left)
		}
		for _, f := range b.Files {
			switch {
			case tera.IsCodeMap(f.Name):
				if read, diags := tera.ParseMap(f); !cmp.Equal(read, codes[f.Name]) || diags.HasErrors() {
					t.Errorf("%s differs\n%s", f.Name, diags.Render())
				}
			case tera.IsDeprecated(f.Name):
				if _, diags := tera.ParseDeprecated(f); len(diags) > 0 {
					t.Error(diags.Render())
				}
			case f.Text != texts[f.Name]:
				t.Errorf("%s differs", f.Name)
			}
		}
	})
}
