package emit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirebench/defs"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// ratio returns the size of a target's files relative to the definitions, after subtracting base, and the losses.
func ratio(t *testing.T, target emit.Target, dialect, text string, base int) (float64, []emit.Loss) {
	t.Helper()
	name := "S_BUDGET.1.def"
	if dialect == "protodef" {
		name = "protocol.json"
	}
	s, _ := defs.Load([]*source.File{source.New(name, text)}, dialect, schema.Options{Codes: map[string]uint32{"S_BUDGET": 1}})
	start := time.Now()
	files, losses := target.Emit(s, emit.Options{})
	out := 0
	for _, f := range files {
		out += len(f.Text)
	}
	t.Logf("%s %s: %d to %d bytes in %v, %d losses", dialect, target.Name, len(text), out, time.Since(start), len(losses))
	return float64(max(0, out-base)) / float64(len(text)+16*len(s.Messages)+1), losses
}

// TestBudget checks that definitions with excessive output exceed their size at most 100 times.
func TestBudget(t *testing.T) {
	many := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	long := strings.Repeat("long_name_", 20)
	nested := strings.Builder{}
	for depth := range 30 {
		nested.WriteString(strings.Repeat("- ", depth) + "object " + long[:100] + "\n")
	}
	muta := "group: g\n\t__id = uint16\n"
	doubling := muta + "struct: s0\n\ta = uint8\n\tb = uint8\n"
	for i := 1; i < 13; i++ {
		doubling += fmt.Sprintf("struct: s%d\n\ta = s%d\n\tb = s%d\n", i, i-1, i-1)
	}
	proto := func(types, used string) string {
		return `{"types": {` + types + many(15, `"m#": ["container", [{"name": "a", "type": "varint"}, `+used+`]],`) + `"last": "void"}}`
	}
	names := strings.TrimSuffix(many(60, `"`+long+`#",`), ",")
	tower := func(of string) string { // s12 contains s0 4096 times
		out := `"s0": ["container", [{"name": "a", "type": ` + of + `}]],`
		for i := 1; i < 13; i++ {
			out += fmt.Sprintf(`"s%d": ["container", [{"name": "a", "type": "s%d"}, {"name": "b", "type": "s%d"}]],`, i, i-1, i-1)
		}
		return out
	}
	for name, c := range map[string]struct{ dialect, text string }{
		"ProtoDef doubling":        {"protodef", proto(tower(`"varint"`), `{"name": "x", "type": "s12"}`)},
		"ProtoDef options":         {"protodef", proto(tower(`["option", "varint"]`), `{"name": "x", "type": "s12"}`)},
		"ProtoDef arrays":          {"protodef", proto(tower(`"varint"`), `{"name": "x", "type": ["array", {"countType": "varint", "type": "s10"}]}`)},
		"ProtoDef trees":           {"protodef", proto(`"t": ["container", [{"name": "a", "type": ["option", "u"]}, {"name": "b", "type": ["option", "t"]}]], "u": ["container", [`+strings.TrimSuffix(many(20, `{"name": "c#", "type": ["option", "t"]},`), ",")+`]],`, `{"name": "x", "type": "t"}`)},
		"ProtoDef nested options":  {"protodef", proto("", `{"name": "`+long+`", "type": `+strings.Repeat(`["option", `, 40)+`"varint"`+strings.Repeat(`]`, 40)+`}`)},
		"ProtoDef nested switches": {"protodef", proto("", strings.Repeat(`{"name": "x", "type": ["switch", {"compareTo": "a", "fields": {"1": ["container", [{"name": "a", "type": "u8"}, `, 30)+`{"name": "y", "type": "u8"}`+strings.Repeat(`]]}}]}`, 30))},
		"ProtoDef flags":           {"protodef", proto(`"f": ["bitflags", {"type": "u64", "flags": [`+names+`]}],`, strings.TrimSuffix(many(200, `{"name": "f#", "type": "f"},`), ","))},
		"ProtoDef names":           {"protodef", proto(`"f": ["mapper", {"type": "varint", "mappings": {`+strings.TrimSuffix(many(200, `"#": "`+long+`#",`), ",")+`}}],`, `{"name": "k", "type": "f"}, `+strings.TrimSuffix(many(100, `{"name": "f#", "type": ["switch", {"compareTo": "k", "fields": {"`+long+`1": "varint"}}]},`), ","))},
		"ProtoDef many cases":      {"protodef", proto("", `{"name": "x", "type": ["switch", {"compareTo": "a", "fields": {`+strings.TrimSuffix(many(500, `"#": "void",`), ",")+`}}]}`)},
		"ProtoDef one type":        {"protodef", proto(`"t": ["container", [`+strings.TrimSuffix(many(300, `{"name": "f#", "type": "varint"},`), ",")+`]],`, strings.TrimSuffix(many(50, `{"name": "g#", "type": "t"},`), ","))},
		"ProtoDef expressions":     {"protodef", proto("", strings.TrimSuffix(many(200, `{"name": "g#", "type": ["switch", {"compareTo": "a `+strings.Repeat("+ a ", 50)+`", "fields": {"1": "u8"}}]},`), ","))},
		"strings":                  {"tera", many(8000, "string a#\n")},
		"long strings":             {"tera", many(1000, "string "+long+"#\n")},
		"arrays":                   {"tera", many(2000, "array a#\n- string s\n")},
		"long object":              {"tera", "object " + long + "\n" + many(1500, "- int32 a#\n")},
		"deep":                     {"tera", nested.String() + many(500, strings.Repeat("- ", 30)+"int32 a#\n")},
		"doubling":                 {"muta", doubling + many(30, "packet: p#\n\t__group = g\n\tx = s12\n")},
		"doubling less":            {"muta", doubling + many(300, "packet: p#\n\t__group = g\n\tx = s7\n")},
		"one struct":               {"muta", muta + "struct: s\n" + many(500, "\tf# = uint32\n") + many(2000, "packet: p#\n\t__group = g\n\tx = s\n")},
		"long enum":                {"muta", muta + "enum: " + long + "\n\t__type = uint16\n" + many(1000, "\tA# =\n") + "packet: p\n\t__group = g\n" + many(1000, "\tf# = "+long+"\n")},
		"long group":               {"muta", "group: " + long + "\n" + many(200, "packet: p#\n\t__group = "+long+"\n\tx = uint8 {4}\n")},
		"packets":                  {"muta", muta + many(4000, "packet: p#\n\t__group = g\n")},
	} {
		for _, target := range emit.Targets {
			t.Run(name+"/"+target.Name, func(t *testing.T) {
				if r, _ := ratio(t, target, c.dialect, c.text, 1<<20); r > 100 {
					t.Errorf("the files are %.0f times as large as the definitions", r)
				}
			})
		}
	}
}

// FuzzBudget checks the ratio for any definition.
func FuzzBudget(f *testing.F) {
	f.Add("string a\nobject b\n- array c\n-- string d\n", false)
	f.Add("group: g\nstruct: s\n\ta = uint8\npacket: p\n\t__group = g\n\tx = s {2,4}\n", true)
	f.Fuzz(func(t *testing.T, text string, muta bool) {
		dialect := map[bool]string{true: "muta", false: "tera"}[muta]
		for _, target := range emit.Targets {
			if r, _ := ratio(t, target, dialect, text, 1<<20); r > 100 {
				t.Errorf("%s is %.0f times as large as %q", target.Name, r, text)
			}
		}
	})
}

// TestShortened checks that long offsets and names are abbreviated in Markdown, and that the file has an explanation.
func TestShortened(t *testing.T) {
	target, _ := emit.Find("md")
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "string name_%d\n", i)
	}
	s, _ := defs.Load([]*source.File{source.New("S_SHORT.1.def", text.String())}, "tera", schema.Options{})
	files, _ := target.Emit(s, emit.Options{})
	for _, want := range []string{"Long offsets and names are abbreviated", " + 40 parts before | varies"} {
		if !strings.Contains(files[0].Text, want) {
			t.Errorf("no %q in\n%s", want, files[0].Text)
		}
	}
}
