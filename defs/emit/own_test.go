package emit_test

import (
	"strings"
	"testing"

	"wirebench/defs"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// The part of a file about its messages has all that is named after them; the support around it does not depend on them.
func TestOwnPart(t *testing.T) {
	load := func(text string) *schema.Schema {
		s, diags := defs.Load([]*source.File{source.New("C_EXAMPLE.1.def", text)}, "tera", schema.Options{Codes: map[string]uint32{"C_EXAMPLE": 7}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return s
	}
	one, other := load("uint32 zebra\narray animals\n- string okapi\n"), load("uint32 zebra\nuint32 giraffe\n")
	for _, target := range emit.Targets {
		files, _ := target.Emit(one, emit.Options{})
		others, _ := target.Emit(other, emit.Options{})
		own := ""
		for i, f := range files {
			if f.Own == (emit.Range{}) || f.Own.Start < 0 || f.Own.End > len(f.Text) || f.Own.End < f.Own.Start {
				t.Fatalf("%s: %s has its part at %v of %d", target.Name, f.Name, f.Own, len(f.Text))
			}
			own += f.Text[f.Own.Start:f.Own.End]
			after, _ := strings.CutPrefix(others[i].Text[others[i].Own.End:], f.Text[f.Own.End:])
			if after != "" && target.Name != "ts" { // which has only what its messages need
				t.Errorf("%s: the end of %s differs between definitions", target.Name, f.Name)
			}
			if around := f.Text[:f.Own.Start] + f.Text[f.Own.End:]; strings.Contains(strings.ToLower(around), "okapi") {
				t.Errorf("%s: a field outside the part of %s", target.Name, f.Name)
			}
		}
		for _, name := range []string{"zebra", "okapi"} {
			if !strings.Contains(strings.ToLower(own), name) {
				t.Errorf("%s: no %s in\n%s", target.Name, name, own)
			}
		}
	}
}
