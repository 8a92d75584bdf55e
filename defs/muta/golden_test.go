package muta

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/defs/defstest"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

var goldens = []string{"schema", "diagnostics", "formatted"}

// TestGolden parses the files of each case: definitions as one set, with the constants of the file consts. Setting: encoding. The section "formatted" has only
// definitions that Format changes.
func TestGolden(t *testing.T) {
	defstest.Run(t, "testdata/*.txtar", goldens, func(t *testing.T, c *defstest.Case) map[string]string {
		o := schema.Options{Values: c.Settings}
		var files []*source.File
		var diags diag.List
		var formatted strings.Builder
		for _, in := range c.Files {
			f := source.New(in.Name, in.Text)
			if in.Name == "consts" {
				o.Constants, diags = ParseConstants(f)
				continue
			}
			files = append(files, f)
			if text := formatChecked(t, in.Name, in.Text); text != in.Text {
				formatted.WriteString(text)
			}
		}
		s, d := Parse(files, o)
		diags = append(diags, d...)
		diags.Sort()
		return map[string]string{"schema": s.String(), "diagnostics": diags.Render(), "formatted": formatted.String()}
	})
}

// formatChecked formats a text, and checks that formatting is idempotent and preserves the meaning.
func formatChecked(t *testing.T, name, text string) string {
	t.Helper()
	out, _ := Format(source.New(name, text))
	if again, _ := Format(source.New(name, out)); again != out {
		t.Errorf("formatting twice changes the text:\n%s\nthen\n%s", out, again)
	}
	before, _ := Parse([]*source.File{source.New(name, text)}, schema.Options{})
	after, _ := Parse([]*source.File{source.New(name, out)}, schema.Options{})
	if before.String() != after.String() {
		t.Errorf("formatting changes the meaning:\n%s\nto\n%s", before, after)
	}
	return out
}

func TestExampleOfTheArticle(t *testing.T) {
	const text = "group: g\n\npacket: a\n   __group = g\n\npacket: b\n   __group = g\n\npacket: created\n   __group = g\n   id = uint64\n" +
		"   name = char <uint8> {MIN, MAX}\n   race = uint8\n   sex = uint8\n   map_id = uint32\n"
	s, diags := Parse([]*source.File{source.New("x.def", text)}, schema.Options{Constants: map[string]string{"MIN": "2", "MAX": "16"}})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	const want = `created.1 group g code 3 measured
fields:
  id uint64
  name text latin1 counted 2..16
  race uint8
  sex uint8
  map_id uint32
wire:
  code 8
  count name 8
  value id
  value race
  value sex
  value map_id
  value name
`
	if got := s.Messages[2].String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestEveryCodeHasACase checks that each diagnostic code of messages.go occurs in the cases of TestGolden.
func TestEveryCodeHasACase(t *testing.T) {
	source, err := os.ReadFile("messages.go")
	if err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob("testdata/*.txtar")
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	limits := map[string]bool{"line-too-long": true, "too-many-lines": true, "too-many-mistakes": true, "too-large": true} // in TestLimits
	for _, m := range regexp.MustCompile(`(?m)^\tcode\w+ += "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		if code := m[1]; !limits[code] && !strings.Contains(all.String(), "["+code+"]") {
			t.Errorf("no case has %s", code)
		}
	}
}

// FuzzParse parses any text, and checks that nothing panics, spans are inside their file, and formatting preserves the meaning and is
// idempotent.
func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(data).Files {
			if filepath.Ext(file.Name) == ".def" {
				f.Add(string(file.Data))
			}
		}
	}
	f.Add("\t\ufeffgroup: g") // formatting removes the tab
	f.Add("\ufeffgroup: g\r\npacket: p\r\n\t__group = g\r\n\ta = uint8 [0, 0xff] <uint32> {A, 7}\x00")
	f.Fuzz(func(t *testing.T, text string) {
		file := source.New("x.def", text)
		s, diags := Parse([]*source.File{file}, schema.Options{})
		_, more := ParseConstants(file)
		for _, d := range slices.Concat(diags, more) {
			if d.Span.File != file || d.Span.Start < 0 || d.Span.Start > d.Span.End || d.Span.End > len(text) {
				t.Fatalf("%s: span %d..%d of %d bytes", d.Code, d.Span.Start, d.Span.End, len(text))
			}
		}
		_ = diags.Render()
		if len(diags) > 2*(maxMistakes+1) || len(more) > maxMistakes+1 {
			t.Fatalf("%d diagnostics, %d of constants", len(diags), len(more))
		}
		for _, m := range s.Messages {
			checkRecord(t, m.Body, 1)
		}
		formatChecked(t, "x.def", text)
	})
}

// checkRecord checks the invariants that later passes rely on: after head items the lengths of all arrays, then the single values, then
// the contents, each of them once and in order of declaration.
func checkRecord(t *testing.T, s *schema.Struct, head int) {
	t.Helper()
	var want []string
	names := map[string]bool{}
	for _, arrays := range []bool{true, false} {
		for _, f := range s.Fields {
			if names[f.Name] == arrays || f.Span.IsZero() || f.TypeText == "" && f.Name != "" {
				t.Fatalf("%q is repeated, or has no span or no type", f.Name)
			}
			if arrays {
				names[f.Name] = true
			}
			if isArray(f) == arrays && arrays {
				want = append(want, "count "+f.Name)
			} else if isArray(f) == arrays {
				want = append(want, "value "+f.Name)
			}
		}
	}
	for _, f := range s.Fields {
		if isArray(f) {
			want = append(want, "value "+f.Name)
		}
		switch typ := f.Type.(type) {
		case *schema.List:
			checkRecord(t, typ.Elem, 0)
		case *schema.Group:
			checkRecord(t, typ.Struct, 0)
		}
	}
	var got []string
	bits := 0
	for _, item := range s.Wire[head:] {
		if item.Kind == schema.Pad {
			bits += item.Bits
			continue
		}
		got = append(got, item.Kind.String()+" "+item.Field.Name)
		if n, ok := item.Field.Type.(*schema.Number); ok && item.Kind == schema.Value {
			bits += n.Bits
		}
	}
	if !slices.Equal(got, want) || bits%8 != 0 {
		t.Fatalf("%d bits of single values; items %q, want %q", bits, got, want)
	}
}

func isArray(f *schema.Field) bool {
	switch typ := f.Type.(type) {
	case *schema.Text:
		return typ.Size == schema.Counted
	case *schema.List:
		return true
	}
	return false
}
