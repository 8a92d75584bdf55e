package subspace

import (
	"testing"

	"wirebench/defs/schema"
	"wirebench/defs/source"

	"golang.org/x/tools/txtar"
)

// FuzzParse parses any text as a definition, and checks that nothing panics, spans are inside the file, structs have the invariants that
// later passes rely on, and formatting preserves the meaning and is idempotent.
func FuzzParse(f *testing.F) {
	eachCase(f, func(_ string, a *txtar.Archive) {
		for _, file := range a.Files {
			f.Add(string(file.Data))
		}
	})
	f.Add("0x01 a\r\n1 ? cstr[] b\n\ufeff\u00a0- x\x00")
	f.Fuzz(func(t *testing.T, text string) {
		file := source.New("fuzz.def", text)
		s, diags := Parse([]*source.File{file}, schema.Options{})
		for _, d := range diags {
			if d.Span.File != file || d.Span.Start < 0 || d.Span.Start > d.Span.End || d.Span.End > len(text) {
				t.Fatalf("%s: span %d..%d of %d bytes", d.Code, d.Span.Start, d.Span.End, len(text))
			}
		}
		_ = diags.Render()
		broken := false
		for _, m := range s.Messages {
			broken = broken || m.Broken
			checkStruct(t, m.Body)
		}
		if broken && !diags.HasErrors() {
			t.Fatal("a message is broken without an error")
		}
		formatChecked(t, file.Name, text)
	})
}
