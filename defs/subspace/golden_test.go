package subspace

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirebench/defs/defstest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"

	"golang.org/x/tools/txtar"
)

// TestGolden parses the files of each case as one set. The section "formatted" has only files that Format changes.
func TestGolden(t *testing.T) {
	defstest.Run(t, "testdata/*.txtar", []string{"schema", "diagnostics", "formatted"}, func(t *testing.T, c *defstest.Case) map[string]string {
		var files []*source.File
		var formatted strings.Builder
		for _, in := range c.Files {
			files = append(files, source.New(in.Name, in.Text))
			if text := formatChecked(t, in.Name, in.Text); text != in.Text {
				formatted.WriteString(text)
			}
		}
		s, diags := Parse(files, schema.Options{})
		for _, m := range s.Messages {
			checkStruct(t, m.Body)
		}
		return map[string]string{"schema": s.String(), "diagnostics": diags.Render(), "formatted": formatted.String()}
	})
}

// formatChecked formats a file and checks that formatting preserves the meaning and is idempotent.
func formatChecked(t *testing.T, name, text string) string {
	t.Helper()
	formatted, _ := Format(source.New(name, text))
	if again, _ := Format(source.New(name, formatted)); again != formatted {
		t.Fatalf("formatting twice changes the text:\n%q\n%q", formatted, again)
	}
	before, diagsBefore := Parse([]*source.File{source.New(name, text)}, schema.Options{})
	after, diagsAfter := Parse([]*source.File{source.New(name, formatted)}, schema.Options{})
	if before.String() != after.String() {
		t.Fatalf("formatting changes the meaning:\n%s\n%s\nof\n%q\n%q", before.String(), after.String(), text, formatted)
	}
	if len(diagsBefore) != len(diagsAfter) {
		t.Fatalf("formatting changes the diagnostics:\n%s\n%s\nof\n%q", diagsBefore.Render(), diagsAfter.Render(), formatted)
	}
	return formatted
}

// TestEveryCodeHasACase checks that each diagnostic code of messages.go occurs in the cases of TestGolden.
func TestEveryCodeHasACase(t *testing.T) {
	words, err := os.ReadFile("messages.go")
	if err != nil {
		t.Fatal(err)
	}
	var cases strings.Builder
	eachCase(t, func(_ string, a *txtar.Archive) { cases.Write(txtar.Format(a)) })
	// These require files of many thousand lines: see TestLimits.
	large := []string{text.CodeTooManyLines, text.CodeTooManyMistakes, codeTooManyRows, codeTooManyParts, text.CodeLineTooLong}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^\tcode\w+\s+= "([a-z-]+)"$`).FindAllStringSubmatch(string(words), -1) {
		found++
		if !slices.Contains(large, m[1]) && !strings.Contains(cases.String(), "["+m[1]+"]\n") {
			t.Errorf("no case in testdata has %q", m[1])
		}
	}
	if found < 40 {
		t.Errorf("found only %d codes in messages.go", found)
	}
}

func eachCase(t testing.TB, each func(name string, a *txtar.Archive)) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		each(path, a)
	}
}

// TestFixesRepair applies every fix of the cases, one at a time, and checks that its line no longer has the error.
func TestFixesRepair(t *testing.T) {
	offered := map[string]bool{}
	eachCase(t, func(path string, a *txtar.Archive) {
		for _, in := range a.Files {
			if filepath.Ext(in.Name) != ".def" {
				continue
			}
			_, diags := Parse([]*source.File{source.New(in.Name, string(in.Data))}, schema.Options{})
			for _, d := range diags {
				if d.Fix == nil {
					continue
				}
				offered[d.Code] = true
				at := d.Fix.Span
				fixed := source.New(in.Name, at.File.Text[:at.Start]+d.Fix.Text+at.File.Text[at.End:])
				_, after := Parse([]*source.File{fixed}, schema.Options{})
				for _, other := range after {
					if other.Span.Pos().Line == d.Span.Pos().Line && other.Code == d.Code {
						t.Errorf("%s: the fix of %v leads to %v", path, d, other)
					}
				}
			}
		}
	})
	for _, code := range []string{text.CodeControlCharacter, codeMalformedRow, codeOffsetUnknown, codeOtherSize, codeOtherType, codeFixedText} {
		if !offered[code] {
			t.Errorf("no case offers a fix for %s", code)
		}
	}
}

// checkStruct checks the invariants that later passes rely on: every field has one value item, a preceding count if it needs one, a unique
// name, and a span.
func checkStruct(t *testing.T, s *schema.Struct) {
	t.Helper()
	counts := map[*schema.Field]int{}
	checkScope(t, s, counts, map[string]bool{})
}

func checkScope(t *testing.T, s *schema.Struct, outer map[*schema.Field]int, names map[string]bool) {
	t.Helper()
	fields := map[*schema.Field]bool{}
	collect(t, s, fields, "", names)
	contents, counts := map[*schema.Field]int{}, outer
	for _, it := range s.Wire {
		switch it.Kind {
		case schema.Value, schema.Count:
			if it.Kind == schema.Value && !fields[it.Field] {
				t.Fatalf("%v of %q, which is not a field of this struct", it.Kind, it.Field.Name)
			}
			if it.Kind == schema.Value {
				contents[it.Field]++
			} else if counts[it.Field]++; contents[it.Field] > 0 {
				t.Fatalf("the length of %q is after it", it.Field.Name)
			}
		case schema.Const:
			if len(it.Bytes) == 0 {
				t.Fatal("an empty constant")
			}
		case schema.Pad, schema.Code:
			if it.Bits <= 0 {
				t.Fatalf("%v of %d bits", it.Kind, it.Bits)
			}
		default:
			t.Fatalf("an item %v", it.Kind)
		}
	}
	for f := range fields {
		want := 0
		switch typ := f.Type.(type) {
		case *schema.Text:
			want = counted(typ.Extent)
		case *schema.Blob:
			want = counted(typ.Extent)
		case *schema.List:
			want = counted(typ.Extent)
			checkStruct(t, typ.Elem)
		}
		if contents[f] != 1 || counts[f] != want {
			t.Fatalf("%q has %d values, %d counts", f.Name, contents[f], counts[f])
		}
		if f.Span.IsZero() || f.TypeText == "" {
			t.Fatalf("%q has no span or no type", f.Name)
		}
	}
	if s.Optional < 0 || s.Optional > len(s.Wire) || s.Optional > 0 && len(s.Variants) > 0 {
		t.Fatalf("%d of %d items are optional, beside %d variants", s.Optional, len(s.Wire), len(s.Variants))
	}
	for _, v := range s.Variants {
		if v.Body == nil {
			continue
		}
		own := map[string]bool{}
		for name := range names {
			own[name] = true
		}
		checkScope(t, v.Body, map[*schema.Field]int{}, own)
	}
}

func counted(e schema.Extent) int {
	if e.Size == schema.Counted {
		return 1
	}
	return 0
}

// collect adds the fields that have an item in this struct: the fields of groups in place of the groups.
func collect(t *testing.T, s *schema.Struct, fields map[*schema.Field]bool, prefix string, names map[string]bool) {
	t.Helper()
	for _, f := range s.Fields {
		if name := prefix + f.Name; f.Name != "" && names[name] {
			t.Fatalf("%q is there twice", name)
		} else if names[name] = true; f.Name == "" && len(s.Fields) > 1 {
			t.Fatal("a field without a name")
		}
		if g, ok := f.Type.(*schema.Group); ok {
			collect(t, g.Struct, fields, prefix+f.Name+".", names)
			continue
		}
		fields[f] = true
	}
}
