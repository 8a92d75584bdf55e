package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// The output about the layout of a definition may be 100 times its size, plus this many bytes.
const layoutFloor = 1 << 17

// longDefinitions returns definitions, by dialect, whose layouts would grow quadratically or without bound.
func longDefinitions() map[string][]string {
	name := strings.Repeat("name", 15)
	var strs, nested, list, structs, array strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&strs, "string s%d\n", i)
		fmt.Fprintf(&array, "array a%d\n- string b\n", i)
	}
	for i := range 15 {
		fmt.Fprintf(&nested, "%sarray %s%d\n", strings.Repeat("- ", i), name, i)
	}
	for i := range 2000 {
		fmt.Fprintf(&nested, "%sbyte x%d\n", strings.Repeat("- ", 15), i)
	}
	fmt.Fprintf(&list, "array %s\n", name)
	for i := range 1000 {
		fmt.Fprintf(&list, "- string x%d\n", i)
	}
	structs.WriteString("group: g\npacket: p\n  __group = g\n  x = s0\n")
	for i := range 14 {
		fmt.Fprintf(&structs, "struct: s%d\n  first = s%d\n  second = s%d\n", i, i+1, i+1)
	}
	structs.WriteString("struct: s14\n  v = uint8\n")
	tower := `{"types": {"s0": ["container", [{"name": "a", "type": ["option", "varint"]}, {"name": "b", "type": "string"}]], "string": ["pstring", {"countType": "varint"}],`
	for i := 1; i < 12; i++ {
		tower += fmt.Sprintf(`"s%d": ["container", [{"name": "%s", "type": "s%d"}, {"name": "b", "type": ["option", "s%d"]}]],`, i, name, i-1, i-1)
	}
	deep := strings.Repeat(`["option", `, 50) + `"varint"` + strings.Repeat("]", 50)
	value := strings.Repeat("value", 100)
	cases := strings.TrimSuffix(strings.Repeat(`{"name": "x", "type": ["switch", {"compareTo": "k", "fields": {"`+value+`": "u8"}}]},`, 300), ",")
	tree := `{"types": {"t": ["container", [{"name": "a", "type": "u8"}` + strings.Repeat(`, {"name": "b", "type": ["option", "t"]}`, 200) + `]]}}`
	return map[string][]string{
		"tera": {strs.String(), array.String(), nested.String(), list.String(), "byte[9999] a\n", "byte[9999][999] a\nint32 b\n"},
		"protodef": {
			tower + `"last": "void"}}`, tree, `{"types": {"c": ["container", [{"name": "` + name + `", "type": ` + deep + `}]]}}`,
			`{"types": {"c": ["container", [{"name": "k", "type": ["mapper", {"type": "u8", "mappings": {"1": "` + value + `"}}]}, ` + cases + `]]}}`,
		},
		"muta": {structs.String(), strings.ReplaceAll(structs.String(), "v = uint8", "v = uint8\n  text = char {5}")},
	}
}

// checkBudget lays out all messages of a definition.
func checkBudget(t *testing.T, dialect, text string) {
	t.Helper()
	file := "C_LONG.1.def"
	if dialect == "protodef" {
		file = "protocol.json"
	}
	s, _ := defs.Load([]*source.File{source.New(file, text)}, dialect, schema.Options{})
	total := map[string]int{}
	for _, m := range s.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			continue
		}
		info := view.Layout(p)
		b, err := json.Marshal(info)
		if err != nil {
			t.Fatal(err)
		}
		total["JSON"] += len(b)
		total["table"] += len(info.Text())
		total["diagram"] += len(info.Diagram())
	}
	for what, n := range total {
		if n > 100*len(text)+layoutFloor*max(len(s.Messages), 1) {
			t.Errorf("%s: %d bytes of %s for a definition of %d", dialect, n, what, len(text))
		}
	}
}

// TestLayoutBudget: the output about a layout is bounded by a multiple of the definition's size.
func TestLayoutBudget(t *testing.T) {
	for dialect, texts := range longDefinitions() {
		for _, text := range texts {
			checkBudget(t, dialect, text)
		}
	}
}

// FuzzLayoutBudget searches for definitions whose layout is too long.
func FuzzLayoutBudget(f *testing.F) {
	for _, d := range defs.Dialects {
		f.Add(d.Name, d.Example.Text)
	}
	for dialect, texts := range longDefinitions() {
		for _, text := range texts {
			f.Add(dialect, text)
		}
	}
	f.Fuzz(func(t *testing.T, dialect, text string) {
		if _, ok := defs.Find(dialect); !ok || len(text) > 1<<16 {
			return
		}
		checkBudget(t, dialect, text)
	})
}

// TestFieldLayout: an offset that the layout abbreviates is written in full when the field is requested alone.
func TestFieldLayout(t *testing.T) {
	s, _ := defs.Load([]*source.File{source.New("C_LONG.1.def", longDefinitions()["tera"][0])}, "tera", schema.Options{})
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	all := view.Layout(p)
	if got := all.Rows[len(all.Rows)-1].Offset; got != "6004 + 2999 parts before" {
		t.Errorf("the last text is at %q", got)
	}
	one := view.FieldLayout(p, "s2999")
	if len(one.Rows) != 2 || !strings.HasPrefix(one.Rows[1].Offset, "6004 + s0 + s1 + ") || !strings.HasSuffix(one.Rows[1].Offset, " + s2998") {
		t.Errorf("%d rows, %.100s", len(one.Rows), one.Rows[len(one.Rows)-1].Offset)
	}
}
