package tera

import (
	"slices"
	"strings"
	"testing"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// parseOne parses one definition.
func parseOne(text string) (*schema.Message, diag.List) {
	s, diags := Parse([]*source.File{source.New("C_TEST.1.def", text)}, schema.Options{})
	return s.Messages[0], diags
}

func TestFieldSpansAreWholeLines(t *testing.T) {
	m, diags := parseOne("array list\r\n \t-  vec3   at # where \r\n- array< int32 > ids")
	if len(diags) != 0 {
		t.Fatal(diags.Render())
	}
	elem := m.Body.Fields[0].Type.(*schema.List).Elem
	at, ids := elem.Fields[0], elem.Fields[1]
	x := at.Type.(*schema.Group).Struct.Fields[0]
	bare := ids.Type.(*schema.List).Elem.Fields[0]
	for _, c := range []struct {
		f              *schema.Field
		span, typeText string
		line           int
	}{
		{m.Body.Fields[0], "array list", "array", 1},
		{at, "-  vec3   at # where", "vec3", 2},
		{x, "-  vec3   at # where", "float", 2}, // a part has the span of its line
		{ids, "- array< int32 > ids", "array<int32>", 3},
		{bare, "- array< int32 > ids", "int32", 3},
	} {
		if c.f.Span.Text() != c.span || c.f.TypeText != c.typeText || c.f.Span.Pos().Line != c.line {
			t.Errorf("%q: span %q, type %q, line %d", c.f.Name, c.f.Span.Text(), c.f.TypeText, c.f.Span.Pos().Line)
		}
	}
	if m.Span.Pos().Line != 1 || m.Span.File.Name != "C_TEST.1.def" {
		t.Errorf("the message is at %v", m.Span)
	}
}

// TestWhiteSpace checks every character that is white space in JavaScript, and some that are not.
func TestWhiteSpace(t *testing.T) {
	for _, r := range "\t\v\f\r \u00a0\u1680\u2000\u2007\u200a\u2028\u2029\u202f\u205f\u3000\ufeff" {
		m, diags := parseOne(string(r) + "int32" + string(r) + "a" + string(r))
		if len(diags) != 0 || len(m.Body.Fields) != 1 || m.Body.Fields[0].Name != "a" {
			t.Errorf("%U: %s", r, diags.Render())
		}
	}
	for _, r := range "\u0085\u180e\u200b\u2060é" {
		if _, diags := parseOne("int32" + string(r) + "a"); !diags.HasErrors() {
			t.Errorf("%U is accepted as white space", r)
		}
	}
}

func TestCommentsAreMadePrintable(t *testing.T) {
	m, diags := parseOne("# head \x1b[31m\nint32 a # \xff\x01\tb")
	if len(diags) != 0 {
		t.Fatal(diags.Render())
	}
	if want := "head \ufffd[31m"; m.Doc != want {
		t.Errorf("doc %q, want %q", m.Doc, want)
	}
	if got, want := m.Body.Fields[0].Doc, "\ufffd\ufffd b"; got != want {
		t.Errorf("doc of the field %q, want %q", got, want)
	}
}

// TestFilesInAnyOrder checks that the order of the files does not matter.
func TestFilesInAnyOrder(t *testing.T) {
	var files []*source.File
	for _, name := range []string{"b/S_A.1.def", "a/S_A.1.def", "S_B.2.def", "S_B.10.def", "x.def", "S_B.1.pc.def"} {
		files = append(files, source.New(name, "in32 a\nint32 "+strings.ToLower(name[:1])+"\n@include x.def\n"))
	}
	s, diags := Parse(files, schema.Options{Values: map[string]string{"platform": "pc"}})
	slices.Reverse(files)
	again, diagsAgain := Parse(files, schema.Options{Values: map[string]string{"platform": "pc"}})
	if s.String() != again.String() || diags.Render() != diagsAgain.Render() {
		t.Errorf("%s%s\nthen\n%s%s", s, diags.Render(), again, diagsAgain.Render())
	}
	var names []string
	for _, m := range s.Messages {
		names = append(names, FileName{Name: m.Name, Version: m.Version}.String())
	}
	if want := []string{"S_A.1.def", "S_B.1.def", "S_B.2.def", "S_B.10.def"}; !slices.Equal(names, want) {
		t.Errorf("messages %v, want %v", names, want)
	}
}

// TestCodesAreSixteenBits checks that a code of more than 16 bits is ignored.
func TestCodesAreSixteenBits(t *testing.T) {
	files := []*source.File{source.New("S_A.1.def", ""), source.New("S_B.1.def", ""), source.New("S_C.1.def", "")}
	s, _ := Parse(files, schema.Options{Codes: map[string]uint32{"S_A": 0, "S_B": 1 << 16}})
	for i, want := range []bool{true, false, false} {
		if s.Messages[i].HasKey != want {
			t.Errorf("%s: HasKey %v, want %v", s.Messages[i].Name, s.Messages[i].HasKey, want)
		}
	}
}
