package diag_test

import (
	"encoding/json"
	"testing"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

func TestInfo(t *testing.T) {
	f, other := source.New("C_A.1.def", "byte größe # 😀\nin32 😀x\n"), source.New("C_B.1.def", "x")
	for name, c := range map[string]struct {
		diagnostic diag.Diagnostic
		want       string
	}{
		"without a fix": {
			diag.Diagnostic{Severity: diag.Warning, Code: "c", Message: "m", Span: at(f, 5, 12)},
			`{"file":"C_A.1.def","line":1,"column":6,"end_line":1,"end_column":11,"severity":"warning","code":"c","message":"m"}`,
		},
		"with a fix that replaces": {
			diag.Diagnostic{Code: "c", Message: "m", Help: "h", Span: at(f, 20, 24), Fix: &diag.Fix{Span: at(f, 20, 24), Text: "int32"}},
			`{"file":"C_A.1.def","line":2,"column":1,"end_line":2,"end_column":5,"severity":"error","code":"c","message":"m","help":"h",` +
				`"fix":{"line":2,"column":1,"end_line":2,"end_column":5,"text":"int32"}}`,
		},
		"with a fix that removes, after a character of four bytes and across a line break": {
			diag.Diagnostic{Code: "c", Message: "m", Span: at(f, 20, 24), Fix: &diag.Fix{Span: at(f, 19, 29)}},
			`{"file":"C_A.1.def","line":2,"column":1,"end_line":2,"end_column":5,"severity":"error","code":"c","message":"m",` +
				`"fix":{"line":1,"column":15,"end_line":2,"end_column":7,"text":""}}`,
		},
		"with a fix in another file": {
			diag.Diagnostic{Code: "c", Message: "m", Span: at(f, 0, 1), Fix: &diag.Fix{Span: at(other, 0, 1), Text: "y"}},
			`{"file":"C_A.1.def","line":1,"column":1,"end_line":1,"end_column":2,"severity":"error","code":"c","message":"m"}`,
		},
		"without a place": {
			diag.Diagnostic{Code: "c", Message: "m", Fix: &diag.Fix{Text: "y"}},
			`{"line":0,"column":0,"end_line":0,"end_column":0,"severity":"error","code":"c","message":"m"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(c.diagnostic.Info())
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
