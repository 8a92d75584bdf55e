package diag_test

import (
	"testing"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

func at(f *source.File, from, to int) source.Span { return source.Span{File: f, Start: from, End: to} }

func TestRender(t *testing.T) {
	f := source.New("C_A.1.def", "\ufeffbyte a\n\t- in32 größe\x1b # c\r\n")
	var l diag.List
	l.Add(diag.Diagnostic{Code: "late", Message: "later", Span: at(f, 18, 25), Severity: diag.Warning})
	l.Add(diag.Diagnostic{Code: "unknown-type", Message: `unknown type "in32"`, Help: `did you mean "int32"?`, Span: at(f, 13, 17), Related: []diag.Related{{Span: at(f, 3, 7), Message: "as here"}}})
	l.Add(diag.Diagnostic{Code: "unknown-type", Message: `unknown type "in32"`, Span: at(f, 13, 17)})
	l.Sort()
	want := `C_A.1.def:2:4: error: unknown type "in32" [unknown-type]
  2 | 	- in32 größe� # c
    | 	  ^~~~
    help: did you mean "int32"?
    C_A.1.def:1: as here
C_A.1.def:2:9: warning: later [late]
  2 | 	- in32 größe� # c
    | 	       ^~~~~
`
	if got := l.Render(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !l.HasErrors() || len(l.Of(f)) != 2 || len(l.Of(source.New("x", ""))) != 0 {
		t.Errorf("%v", l)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"in32", "int32"}, {"INT32", "int32"}, {"stirng", "string"}, {"x", ""}, {"completely", ""}, {"", ""}, {"uint23", "uint32"},
	} {
		if got := diag.Nearest(c.word, []string{"int32", "uint32", "string", "double"}); got != c.want {
			t.Errorf("%q: %q, want %q", c.word, got, c.want)
		}
	}
}
