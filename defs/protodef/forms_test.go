package protodef_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec"
	"wirebench/defs/diag"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// The lines around the types of a namespace, which the other form of a file does not have.
const (
	openTypes  = `"types": {`
	closeTypes = `} `
)

// withoutTypes returns a text without these lines, for some of its namespaces.
func withoutTypes(text string, some func() bool) string {
	var out []string
	gone := []bool{}
	for line := range strings.SplitSeq(text, "\n") {
		switch line {
		case openTypes:
			gone = append(gone, some())
			if gone[len(gone)-1] {
				continue
			}
		case closeTypes:
			last := gone[len(gone)-1]
			if gone = gone[:len(gone)-1]; last {
				continue
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func all() bool { return true }

// dumped returns messages as text, with the text of places in the file, not their offsets.
func dumped(list []*schema.Message) string {
	var b strings.Builder
	seen := map[any]int{}
	var dump func(v reflect.Value)
	dump = func(v reflect.Value) {
		if s, ok := v.Interface().(source.Span); ok {
			if s.File != nil {
				fmt.Fprintf(&b, "%q", s.Text())
			}
			return
		}
		switch v.Kind() {
		case reflect.Interface:
			if !v.IsNil() {
				dump(v.Elem())
			}
		case reflect.Pointer:
			if v.IsNil() {
				return
			}
			at := v.Interface()
			if n, ok := seen[at]; ok {
				fmt.Fprintf(&b, "#%d", n)
				return
			}
			seen[at] = len(seen)
			fmt.Fprintf(&b, "%d:%s", seen[at], v.Elem().Type().Name())
			dump(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
					fmt.Fprintf(&b, " %s=", f.Name)
					dump(v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			b.WriteByte('[')
			for i := range v.Len() {
				dump(v.Index(i))
				b.WriteByte('\n')
			}
			b.WriteByte(']')
		default:
			fmt.Fprint(&b, v.Interface())
		}
	}
	dump(reflect.ValueOf(list))
	return b.String()
}

// said returns diagnostics with the texts of their places.
func said(list diag.List) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%s %s [%s] at %s\n", d.Severity, d.Message, d.Code, d.Span.Text())
		if d.Fix != nil {
			fmt.Fprintf(&b, "\tfix %s: %s\n", d.Fix.Span.Text(), d.Fix.Text)
		}
	}
	return b.String()
}

// sameForms checks that two texts are the same definitions.
func sameForms(t *testing.T, full, bare string) (s *schema.Schema, diags diag.List) {
	t.Helper()
	s, diags = protodef.Parse([]*source.File{source.New("m.json", full)}, schema.Options{})
	other, more := protodef.Parse([]*source.File{source.New("m.json", bare)}, schema.Options{})
	if d := cmp.Diff(dumped(s.Messages), dumped(other.Messages)); d != "" {
		t.Fatalf("%s\nand\n%s\ndiffer:\n%s", full, bare, d)
	}
	if said(diags) != said(more) {
		t.Fatalf("%s\n%s\nand\n%s\n%s", full, said(diags), bare, said(more))
	}
	for _, text := range []string{full, bare} {
		if !protodef.IsText(text) {
			t.Fatalf("not recognized:\n%s", text)
		}
		if diags.HasErrors() {
			continue
		}
		formatted, _ := protodef.Format(source.New("m.json", text))
		again, wrong := protodef.Parse([]*source.File{source.New("m.json", formatted)}, schema.Options{})
		if len(again.Messages) != len(s.Messages) || said(wrong) != said(diags) {
			t.Fatalf("formatted:\n%s\n%s", formatted, said(wrong))
		}
	}
	return s, diags
}

const (
	formsPacket = `"packet": ["container", [
{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"0": "hello", "1": "bye"}}]},
{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"hello": "hello", "bye": "void"}}]}
]]`
	formsString = `"string": ["pstring", {"countType": "varint"}]`
	formsHello  = "// a greeting\n" + `"hello": ["container", [{"name": "text", "type": "string"}]]`
)

// lines joins lines of a file.
func lines(l ...string) string { return strings.Join(l, "\n") }

// TestForms: a file with types in "types", the same types alone, and mixtures are the same definitions, with places at the same text.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		about, text string
		messages    string
		wrong       string
	}{
		{"a map of types", lines("{", openTypes, formsString+",", formsHello+",", formsPacket, closeTypes, "}"), "hello /0 bye /1", ""},
		{"containers without a packet", lines("{", openTypes, formsString+",", formsHello+",", `"bye": ["container", []]`, closeTypes, "}"), "hello bye", ""},
		{
			"directions", lines("{", openTypes, formsString, closeTypes, ",", `"toClient": {`, openTypes, formsHello+",", formsPacket, closeTypes, "},", `"toServer": {`, openTypes, formsPacket+",", `"hello": "u8"`, closeTypes, "}", "}"),
			"hello s2c/0 bye s2c/1 bye c2s/1 hello c2s/0", "",
		},
		{
			"states", lines("{", openTypes, formsString, closeTypes, ",", `"play": {`, openTypes, formsHello, closeTypes, ",", `"toClient": {`, openTypes, formsPacket, closeTypes, "}", "}", "}"),
			"hello s2c/play/0 bye s2c/play/1", "",
		},
		{"natives and aliases", lines("{", openTypes, `"varint": "native",`, `"text": "string",`, `"string": ["pstring", {"countType": "varint"}],`, `"hello": ["container", [{"name": "text", "type": "text"}]]`, closeTypes, "}"), "hello", ""},
		{"types that contain themselves", lines("{", openTypes, `"tree": ["container", [{"name": "in", "type": ["option", "tree"]}]]`, closeTypes, "}"), "tree", ""},
		{"types as objects", lines("{", openTypes, `"string": {"type": "pstring", "typeArgs": {"countType": "varint"}},`, `"hello": {"type": "container", "typeArgs": [{"name": "text", "type": "string"}]}`, closeTypes, "}"), "hello", ""},
		{"a mistake in a use", lines("{", openTypes, `"hello": ["container", [{"name": "text", "type": "vraint"}]]`, closeTypes, "}"), "hello", `error no type is named "vraint" [unknown-type] at "vraint"` + "\n\tfix vraint: varint\n"},
		{"a mistake in a type that is not used", lines("{", openTypes, `"byte": ["containr", []],`, `"hello": ["container", []]`, closeTypes, "}"), "hello", `error no type is named "containr" [unknown-type] at "containr"` + "\n\tfix containr: container\n"},
	} {
		t.Run(c.about, func(t *testing.T) {
			s, diags := sameForms(t, c.text, withoutTypes(c.text, all))
			var got []string
			for _, m := range s.Messages {
				name := m.Name
				if m.HasKey {
					name += " " + strings.ReplaceAll(fmt.Sprintf("%s/%s/%d", m.Key.Dir, m.Key.Group, m.Key.Code), "//", "/")
				}
				got = append(got, name)
			}
			if strings.Join(got, " ") != c.messages || said(diags) != c.wrong {
				t.Errorf("%q, want %q\n%s", got, c.messages, said(diags))
			}
			rng := rand.New(rand.NewPCG(31, 5))
			for range 8 {
				sameForms(t, c.text, withoutTypes(c.text, func() bool { return rng.IntN(2) == 0 }))
			}
		})
	}
}

// TestRandomForms: definitions of any kind are the same in both forms, with the same mistakes.
func TestRandomForms(t *testing.T) {
	n := 0
	for seed := range uint64(400) {
		d := &drawer{Rand: rand.New(rand.NewPCG(seed, 31))}
		named := func(name string) string { return `"` + name + `": ["container", ` + d.fields(3) + `]` }
		text := lines("{", openTypes, named("a"), closeTypes, ",", `"play": {`, openTypes, named("b")+",", named("c"), closeTypes, ",", `"toServer": {`, openTypes, named("d"), closeTypes, "}", "}", "}")
		s, _ := sameForms(t, text, withoutTypes(text, func() bool { return d.IntN(2) == 0 }))
		for _, m := range s.Messages {
			if _, err := codec.Compile(m); err == nil && !m.Broken {
				n++
			}
		}
	}
	if n < 400 {
		t.Errorf("%d messages", n)
	}
}

// TestNotRead: what is in a namespace and is not read is said at its key.
func TestNotRead(t *testing.T) {
	for text, want := range map[string]string{
		`"version": "1.20"`:               `warning "version" is ignored: no type is named "1.20" [unknown-type] at "version"`,
		`"$schema": "https://a.example/"`: `warning "$schema" is ignored: no type is named "https://a.example/" [unknown-type] at "$schema"`,
		`"alias": "vraint"`:               `warning "alias" is ignored: no type is named "vraint" [unknown-type] at "alias"` + "\n\tfix vraint: varint",
		`"build": 7`:                      `warning "build" is ignored: it is neither a type nor a namespace, but a number [not-read] at "build"`,
		`"beta": true`:                    `warning "beta" is ignored: it is neither a type nor a namespace, but true or false [not-read] at "beta"`,
		`"nothing": null`:                 `warning "nothing" is ignored: it is neither a type nor a namespace, but null [not-read] at "nothing"`,
		`"of": ["1.19", "1.20"]`:          `warning "of" is ignored: no type is named "1.19" [unknown-type] at "of"`,
		`"by": [{"name": "somebody"}]`:    `warning "by" is ignored: it is neither a type nor a namespace, but an array [not-read] at "by"`,
		`"meta": {"title": "a game"}`:     `warning "title" is ignored: no type is named "a game" [unknown-type] at "title"`,
		`"packet": ["containr", [{"name": "x", "type": "u8"}]]`: `error no type is named "containr" [unknown-type] at "containr"` + "\n\tfix containr: container",
		`"types": ["container", []]`:                            `error "types" is an object of types by name, not an array [malformed-type] at "types"`,
		`"types": "native"`:                                     `error "types" is an object of types by name, not a string [malformed-type] at "types"`,
		`"types": null`:                                         `error "types" is an object of types by name, not null [malformed-type] at "types"`,
		`"types": {"version": "1.20"}`:                          `error no type is named "1.20" [unknown-type] at "1.20"`,
		`"types": {"size": 4}`:                                  `error a type is a name, or an array of a name and arguments, not a number [malformed-type] at 4`,
		`"types": {"play": {"x": "u8"}}`:                        `error a type is a name, or an array of a name and arguments, not an object [malformed-type] at {"x": "u8"}`,
		`"types": {"x": []}`:                                    `error a type is a name, or an array of a name and arguments, not an array [malformed-type] at []`,
		`"a": "u8", "types": {"a": "u16"}`:                      `warning "a" occurs twice in this namespace [same-name] at "a"`,
		`"types": {"a": "u16"}, "a": "u8"`:                      `warning "a" occurs twice in this namespace [same-name] at "a"`,
		`"a": "u8", "a": "u16"`:                                 `warning "a" occurs twice in this object [same-name] at "a"`,
		`"play": {"x": "u8"}, "play": {"y": "u8"}`:              `warning "play" occurs twice in this object [same-name] at "play"`,
		`"types": {"x": "u8"}, "types": {"y": "u8"}`:            `warning "types" occurs twice in this object [same-name] at "types"`,
		`"native": "native", "mine": "native", "u8": "u8"`:      "",
		`"params": ["array", {"countType": "$count", "type": "$type"}], "play": {}, "of": ["params", {"count": "u8", "type": "u8"}]`: "",
		`"type": "varint", "typed": {"type": "varint"}`: "",
	} {
		for _, around := range []string{"%s", `"play": {"toClient": {%s}}`} {
			_, diags := protodef.Parse([]*source.File{source.New("m.json", `{`+fmt.Sprintf(around, text)+`}`)}, schema.Options{})
			if got := strings.TrimSuffix(said(diags), "\n"); got != want {
				t.Errorf("%s\n%s\nwant\n%s", text, got, want)
			}
		}
	}
	many := []string{`"twice": "u8"`}
	for i := range 40 {
		many = append(many, fmt.Sprintf(`"t%d": "u8"`, i))
	}
	text := `{` + strings.Join(append(many, `"twice": ["container", []]`), ", ") + `}`
	if s, diags := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{}); len(diags) != 1 || diags[0].Code != "same-name" || len(s.Messages) != 1 {
		t.Errorf("a name that occurs again after many others: %v\n%s", s.Messages, diags.Render())
	}
}

// TestYAMLForms: a namespace of a file in YAML is read whether its name ends in types or not.
func TestYAMLForms(t *testing.T) {
	text := func(types string) string {
		return "^types:\n   string: [\"pstring\", {\"countType\": \"varint\"}]\n^play.toServer" + types + ":\n   hello:\n      text: string\n   bye: void\n" +
			"   packet:\n      name: varint =>\n         0: hello\n         1: bye\n      params: name ?\n         if hello: hello\n         if bye: void\n"
	}
	var got [2]*schema.Schema
	for i, types := range []string{".types", ""} {
		f := source.New("proto.yml", text(types))
		s, diags := protodef.Parse([]*source.File{f}, schema.Options{})
		if got[i] = s; len(s.Messages) != 2 || len(diags) > 0 || !protodef.IsText(f.Text) {
			t.Fatalf("%v\n%s", s.Messages, diags.Render())
		}
	}
	if d := cmp.Diff(dumped(got[0].Messages), dumped(got[1].Messages)); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{
		"x: u8\nm:\n   x: u8\nx: u16\n":              `warning "x" occurs twice in this namespace [same-name] at x`,
		"^play.types:\n   x: u8\n   x: u16\n":        `warning "x" occurs twice in this namespace [same-name] at x`,
		"^play.types:\n   x: u8\n^play:\n   x: u8\n": `warning "x" occurs twice in this namespace [same-name] at x`,
		"m:\n   x: u8\nversion: 1.20\n":              `error no type is named "1.20" [unknown-type] at 1.20`,
	} {
		_, diags := protodef.Parse([]*source.File{source.New("proto.yml", text)}, schema.Options{})
		if got := strings.TrimSuffix(said(diags), "\n"); got != want {
			t.Errorf("%s%s\nwant %s", text, got, want)
		}
	}
}

// TestIsText: definitions are recognized, also with mistakes; other files in JSON and YAML are not.
func TestIsText(t *testing.T) {
	for _, text := range []string{
		`{"string": ["pstring", {"countType": "varint"}], "packet": ["container", []]}`,
		`{"play": {"toClient": {"packet": ["container", [{"name": "x", "type": "u8"}]]}}}`,
		"// a game\n{ /* {[ */\n  \"version\": \"1.20\",\n  \"packet\" : [ \"container\" , [\n",
		"\ufeff{\"meta\": {\"by\": [\"me\", {\"x\": 1}]}, \"a\": [\"switch\", {",
		`{"types": {"varint": "native"}}`, `{"play": {"types": {"x": "varint"`,
		`{"title": "unclosed, "m": 1,` + "\n" + `"x": ["array", {"count": 2, "type": "u8"}]}`,
		"^play.toClient:\n   x: u8\n", "!import: types.yml\n",
	} {
		if !protodef.IsText(text) {
			t.Errorf("not recognized: %s", text)
		}
	}
	for _, text := range []string{
		"", "{", "}", `"`, `{"`, `{"a`, `{"a":`, "/*", "{/", `{"a": "\`,
		`{"373824": "eu-98.02/98", "376012": "na-99.02"}`,
		`{"S_LOGIN": {"14": {"max": 113, "readable": true}}}`,
		`{"name": "x", "version": "1.2.3", "types": "index.d.ts", "files": ["array", "count"], "exports": {".": {"types": "./x.d.ts"}}}`,
		`{"compilerOptions": {"types": ["node"], "module": "native"}}`,
		`{"files": [{"name": "p.json", "text": "{\"types\": {\"x\": \"varint\"}, \"m\": [\"container\", []]}"}], "frames": []}`,
		`{"openapi": "3.1.0", "components": {"schemas": {"A": {"type": ["array", "null"], "properties": {"types": {"type": "array", "items": {"type": "string"}}}}}}}`,
		`[{"types": {"x": "varint"}, "m": ["container", []]}]`,
		`{"maps": {"373824": {"S_LOGIN": 1}}, "protocol": {"S_LOGIN.1.def": "aW50MzIgYQ=="}, "deprecated": {}}`,
		`{"layers": [{"types": {"x": "varint"}}], "rules": {"quotes": ["error", {"a": 1}]}}`,
		"{\n// \"m\": [\"container\", []]\n}", `{"a": "b // \"m\": [\"container\", ["}`,
		"version: 2\nservices:\n  x: y\n",
	} {
		if protodef.IsText(text) {
			t.Errorf("recognized: %s", text)
		}
	}
}
