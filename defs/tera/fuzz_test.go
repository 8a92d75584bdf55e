package tera

import (
	"os"
	"path/filepath"
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"

	"golang.org/x/tools/txtar"
)

// FuzzParse parses any text as a definition that can include itself, and checks that nothing panics, spans are inside their file, messages
// have a body whose items refer to its fields, and formatting preserves the meaning and is idempotent.
func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(data).Files {
			if filepath.Ext(file.Name) == ".def" {
				f.Add(string(file.Data), uint16(7300))
			}
		}
	}
	f.Add("int32 a\r\n@include C_FUZZ.1.def\n\ufeff\u00a0- x\x00", uint16(0))
	f.Fuzz(func(t *testing.T, text string, patch uint16) {
		file := source.New("C_FUZZ.1.def", text)
		s, diags := Parse([]*source.File{file}, schema.Options{Values: map[string]string{"patch": FormatPatch(int(patch)), "integrity": "true"}})
		for _, d := range diags {
			if d.Span.File != file || d.Span.Start < 0 || d.Span.Start > d.Span.End || d.Span.End > len(text) {
				t.Fatalf("%s: span %d..%d of %d bytes", d.Code, d.Span.Start, d.Span.End, len(text))
			}
		}
		if len(diags) > 2*(maxMistakes+1) {
			t.Fatalf("%d diagnostics", len(diags))
		}
		_ = diags.Render()
		m := s.Messages[0]
		if m.Broken != diags.HasErrors() {
			t.Fatalf("Broken is %v\n%s", m.Broken, diags.Render())
		}
		checkStruct(t, m.Body)
		formatChecked(t, file.Name, text)
	})
}

// checkStruct checks the invariants that later passes rely on: every fixed field has one item, every variable field one for its contents
// and its pointer before it, and names are unique except for repeated values.
func checkStruct(t *testing.T, s *schema.Struct) {
	t.Helper()
	fields := make(map[*schema.Field]bool)
	collect(t, s, fields)
	contents, offsets, counts := map[*schema.Field]int{}, map[*schema.Field]int{}, map[*schema.Field]int{}
	for _, it := range s.Wire {
		if it.Field != nil && !fields[it.Field] {
			t.Fatalf("%v of %q, which is not a field of this struct", it.Kind, it.Field.Name)
		}
		switch it.Kind {
		case schema.Value:
			contents[it.Field]++
		case schema.Weave:
			if len(it.Weave) < 2 {
				t.Fatal("a single interleaved list")
			}
			for _, f := range it.Weave {
				contents[f]++
			}
		case schema.Offset:
			offsets[it.Field]++
		case schema.Count:
			counts[it.Field]++
		}
	}
	for f := range fields {
		wantOffset, wantCount := 0, 0
		switch typ := f.Type.(type) {
		case *schema.Text:
			wantOffset = 1
		case *schema.Blob:
			wantOffset, wantCount = 1, 1
		case *schema.List:
			if typ.Linked {
				wantOffset, wantCount = 1, 1
			}
			checkStruct(t, typ.Elem)
		}
		if contents[f] != 1 || offsets[f] != wantOffset || counts[f] != wantCount {
			t.Fatalf("%q has %d values, %d offsets, %d counts", f.Name, contents[f], offsets[f], counts[f])
		}
		if f.Span.IsZero() || f.TypeText == "" {
			t.Fatalf("%q has no span or no type", f.Name)
		}
	}
}

// collect adds the fields that have an item in this struct: the fields of objects in place of the objects.
func collect(t *testing.T, s *schema.Struct, fields map[*schema.Field]bool) {
	names := make(map[string]*schema.Field)
	for _, f := range s.Fields {
		if first := names[f.Name]; f.Same != first {
			t.Fatalf("%q: Same is wrong", f.Name)
		} else if first == nil {
			names[f.Name] = f
		}
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 {
			collect(t, g.Struct, fields)
			continue
		}
		fields[f] = true
	}
}
