package emit_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// natural are names of fields that generated code could want for its own purposes.
var natural = []string{
	"alternative", "append", "capacity", "check", "code", "count", "counter", "data", "here", "len", "length", "list", "message", "mem", "name", "next",
	"offset", "out", "parts", "pos", "problem", "read", "result", "size", "status", "type", "unknown", "value", "write",
}

// TestNaturalNames checks that fields have their natural names in every target, and bookkeeping has others.
func TestNaturalNames(t *testing.T) {
	var fields []*schema.Field
	for _, name := range natural {
		fields = append(fields, field(name, number(8, 0)))
	}
	inner := inOrder(append(slices.Clone(fields), field("text", text(schema.UTF8, ended)))...)
	body := inOrder(fields...)
	body.Fields = append(body.Fields, field("chain", &schema.List{Elem: inner, Linked: true, Extent: schema.Extent{Size: schema.Counted}}))
	inner.Wire = append([]schema.Item{{Kind: schema.Here, Bits: 16}, {Kind: schema.Next, Bits: 16}}, inner.Wire...)
	chain := body.Fields[len(body.Fields)-1]
	body.Wire = slices.Concat([]schema.Item{
		{Kind: schema.Length, Bits: 16},
		{Kind: schema.Code, Bits: 16},
		{Kind: schema.Counter, Bits: 16},
		{Kind: schema.Check, Bits: 32},
		{Kind: schema.Count, Field: chain, Bits: 16},
		{Kind: schema.Offset, Field: chain, Bits: 16},
	}, body.Wire, values(chain))
	body.Variants = []schema.Variant{{MinLen: 100, Body: inOrder(field("more", number(8, 0)))}}
	tail := inOrder(fields...)
	tail.Optional = 2
	s := linked(&schema.Message{Name: "S_ALL", Version: 1, Body: body}, &schema.Message{Name: "S_TAIL", Version: 1, Body: tail})
	patterns := map[string]string{
		"c": `uint8_t NAME;`, "go": "NAME uint8 `json:\"LABEL\"`", "ts": `\bNAME\??: number;`, "ksy": `- id: "?NAME"?\n +-orig-id: "LABEL"`, "lua": `"S_ALL.NAME", "LABEL"`,
	}
	for _, target := range emit.Targets {
		if patterns[target.Name] == "" {
			continue
		}
		files, losses := target.Emit(s, emit.Options{})
		var all strings.Builder
		for _, f := range files {
			all.WriteString(f.Text)
		}
		code := regexp.MustCompile(" +").ReplaceAllString(all.String(), " ")
		for _, name := range natural {
			shown := name
			switch {
			case target.Name == "go":
				shown = strings.ToUpper(name[:1]) + name[1:]
			case target.Name == "ksy" && name == "read": // a method in some languages
				continue
			}
			pattern := strings.NewReplacer("NAME", shown, "LABEL", name).Replace(patterns[target.Name])
			if !regexp.MustCompile(pattern).MatchString(code) {
				t.Errorf("%s has no member %s: %s", target.Name, name, pattern)
			}
		}
		if renamed := regexp.MustCompile(`.*_2\b.*`).FindString(code); renamed != "" && !strings.Contains(renamed, "read_2") {
			t.Errorf("%s renames something:\n%s\n%v", target.Name, renamed, losses)
		}
	}
}

// TestRepeatedNames checks that each of several fields with one name has its own member.
func TestRepeatedNames(t *testing.T) {
	s := teraText(t, schema.Options{}, source.New("C_TWICE.1.def", "int32 a\nint32 b\nint32 a\nint64 a\nint32 a_1\n"))
	for name, want := range map[string][]string{
		"c":   {"int32_t a_1_2;", "int32_t a_2;", "int64_t a;", "int32_t a_1;"},
		"go":  {"A_1 int32 `json:\"a#1\"`", "A_2 int32 `json:\"a#2\"`", "A int64 `json:\"a\"`", "A1 int32 `json:\"a_1\"`"},
		"ts":  {`"a#1": number;`, `"a#2": number;`, "a: bigint;", "a_1: number;"},
		"ksy": {`-orig-id: "a#1"`, `-orig-id: "a#2"`, `-orig-id: "a"`, `-orig-id: "a_1"`},
	} {
		target, _ := emit.Find(name)
		files, losses := target.Emit(s, emit.Options{})
		code := regexp.MustCompile(" +").ReplaceAllString(files[0].Text, " ")
		for _, w := range want {
			if !strings.Contains(code, w) {
				t.Errorf("%s has no %s:\n%s", name, w, code[:min(len(code), 3000)])
			}
		}
		if len(losses) > 0 {
			t.Errorf("%s: lost %v", name, losses)
		}
	}
}

// TestLossesByKind checks that there is one line for each kind of loss, with the number of places and the first of them.
func TestLossesByKind(t *testing.T) {
	var messages []*schema.Message
	for i := range 5 {
		a, b := number(8, 0), number(8, 0)
		a.Max, b.Max = &schema.Limit{Const: fmt.Sprintf("MOST_%d", i)}, &schema.Limit{Const: "LIMIT"}
		messages = append(messages, datagram(fmt.Sprintf("m%d", i), inOrder(field("a", a), field("b", b), field("inside", &schema.Blob{Nested: true, Extent: toEnd}))))
	}
	target, _ := emit.Find("ksy")
	_, losses := target.Emit(linked(messages...), emit.Options{})
	var got []string
	for _, l := range losses {
		got = append(got, l.String())
	}
	want := []string{
		"the constant … has no value; its limit is not checked (10 places: m0: a (MOST_0), m0: b (LIMIT), m1: a (MOST_1), …)",
		"the nested message is shown as bytes (5 places: m0: inside, m1: inside, m2: inside, …)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if one := losses[0]; one.Count != 10 || len(one.Places) != 3 {
		t.Errorf("%+v", one)
	}
}
