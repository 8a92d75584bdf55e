package view

import (
	"encoding/json"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/build"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func formOf(t *testing.T, dialect, file, text, message string) Form {
	t.Helper()
	d, _ := defs.Find(dialect)
	set := build.New(d.Rules, []*source.File{source.New(file, text)}, schema.Options{})
	for m := range set.Messages() {
		if m.Name == message {
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			return FormOf(p)
		}
	}
	t.Fatalf("no message %s", message)
	return Form{}
}

func TestForm(t *testing.T) {
	for _, c := range []struct{ dialect, file, text, message, want string }{
		{"tera", "S_X.1.def", "uint32 id # its number\narray list\n- string name\n- array<int32> more\nvec3 at\nskillid skill\nstring[2] two\nuint32 id\n", "S_X", `
id int uint32 its number?
list list array (name text string, more list array<int32> plain ( int int32))
at group vec3 (x float float, y float float, z float float)
skill group skillid (npc bool part, type int part, huntingZoneId int part, id int part, reserved int part)
two list string[2] plain fixed ( text string)`},
		{"subspace", "a.def", "0x06 chat (c2s)\noffset size comment\n1 1 u8 kind (arena = 0, public = 2)\n2 1 i8 n (-1..5)\nif kind is public:\n3 2 u16[1] a\nif kind is arena:\n3 ? bytes rest\n", "chat", `
kind int u8 arena=0 public=2
n int i8 -1..5
case kind is 2 (public): a list u16[1] plain fixed ( int u16)
case kind is 0 (arena): rest bytes bytes`},
	} {
		f := formOf(t, c.dialect, c.file, c.text, c.message)
		var b strings.Builder
		var write func(x FormField)
		write = func(x FormField) {
			b.WriteString(x.Name + " " + string(x.Kind) + " " + x.Type)
			if x.Doc != "" {
				b.WriteString(" " + x.Doc + "?")
			}
			if x.Min+x.Max != "" {
				b.WriteString(" " + x.Min + ".." + x.Max)
			}
			for _, v := range x.Values {
				b.WriteString(" " + v.Name + "=" + v.Value)
			}
			if x.Plain {
				b.WriteString(" plain")
			}
			if x.Fixed {
				b.WriteString(" fixed")
			}
			if len(x.Fields) > 0 {
				b.WriteString(" (")
				for i, y := range x.Fields {
					if i > 0 {
						b.WriteString(", ")
					}
					write(y)
				}
				b.WriteString(")")
			}
		}
		for _, x := range f.Fields {
			b.WriteString("\n")
			write(x)
		}
		for _, k := range f.Cases {
			b.WriteString("\ncase " + k.Title + ": ")
			for _, x := range k.Fields {
				write(x)
			}
		}
		if got := b.String(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
		if _, err := json.Marshal(f); err != nil {
			t.Error(err)
		}
	}
}

// A definition with shared structs has a bounded form.
func TestFormIsBounded(t *testing.T) {
	text := "group: g\n\nstruct: s0\n   a = uint8\n"
	for i := range 30 {
		n := string(rune('a' + i))
		prev := "s0"
		if i > 0 {
			prev = "s" + string(rune('a'+i-1))
		}
		text += "\nstruct: s" + n + "\n   x = " + prev + "\n   y = " + prev + "\n"
	}
	text += "\npacket: p\n   __group = g\n   all = sj\n"
	f := formOf(t, "muta", "a.def", text, "p")
	if text, _ := json.Marshal(f); !f.More && len(text) > 1<<20 {
		t.Errorf("%d bytes", len(text))
	}
}

// A new element of a list is legal: null, unless a bound excludes zeros and empty texts.
func TestStartOfElements(t *testing.T) {
	const muta = "group: g\npacket: m\n   __group = g\n   list = item <uint8> {0, 9}\n"
	for _, c := range []struct {
		dialect, file, text string
		starts              bool
	}{
		{"muta", "game.def", "struct: item\n   id = uint8 {3, 9}\n   n = int8\n" + muta, true},
		{"muta", "game.def", "struct: item\n   name = char <uint8> {2, 4}\n" + muta, true},
		{"muta", "game.def", "struct: inner\n   name = char <uint8> {1, 4}\nstruct: item\n   in = inner\n" + muta, true},
		{"muta", "game.def", "struct: item\n   name = char <uint8> {0, 4}\n   n = int8\n" + muta, false},
		{"muta", "game.def", "group: g\npacket: m\n   __group = g\n   list = uint16 <uint8> {0, 9}\n", false},
		{"subspace", "a.def", "0x06 m (c2s)\noffset size comment\n0 1 type 0x06\n1 1 u8 n (2..5)\nlist repeat from offset 1 until end\n", true},
		{"subspace", "a.def", "0x06 m (c2s)\noffset size comment\n0 1 type 0x06\n1 1 i8 n (-1..5)\nlist repeat from offset 1 until end\n", false},
	} {
		d, _ := defs.Find(c.dialect)
		set := build.New(d.Rules, []*source.File{source.New(c.file, c.text)}, schema.Options{})
		found := false
		for m := range set.Messages() {
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range FormOf(p).Fields {
				if x.Name != "list" {
					continue
				}
				found = true
				encodes := func(element string) bool {
					var in, out codec.Record
					return value.ParseJSON(&in, p, []byte(`{"list":[`+element+`]}`)) == nil && p.Encode(&out, &in) == nil
				}
				if (x.Start != nil) != c.starts || encodes("null") == c.starts || c.starts && !encodes(string(x.Start)) {
					t.Errorf("%s: an element begins with %q; null is legal: %t", c.text, x.Start, encodes("null"))
				}
			}
		}
		if !found {
			t.Errorf("%s has no list: %v", c.text, set.Diagnostics())
		}
	}
}

// What a value is chosen from.
func TestChoices(t *testing.T) {
	d, _ := defs.Find("muta")
	set := build.New(d.Rules, []*source.File{source.New("a.def", "group: msg\n\nenum: race\n   HUMAN = 1\n   ELF = 5\n\npacket: born\n   __group = msg\n   races = race {3}\n   age = uint8\n")}, schema.Options{})
	tera, _ := defs.Find("tera")
	flags := build.New(tera.Rules, []*source.File{source.New("S_X.1.def", "array list\n- bool on\n")}, schema.Options{})
	for _, c := range []struct {
		set        *build.Set
		path, want string
	}{
		{set, "races[]", `[{"name":"HUMAN","value":"1"},{"name":"ELF","value":"5"}]`},
		{set, "age", "null"},
		{set, "gone", "null"},
		{flags, "list[].on", `[{"name":"false","value":"false"},{"name":"true","value":"true"}]`},
	} {
		for m := range c.set.Messages() {
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := json.Marshal(ChoicesOf(p, c.path)); string(got) != c.want {
				t.Errorf("%s: %s, want %s", c.path, got, c.want)
			}
		}
	}
}
