package workspace_test

import (
	"strings"
	"testing"

	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/server/workspace"
)

// The line of a field is in the file of its message: the text there has a word of the name of the field, or of one around it.
func TestLinesAreInTheFile(t *testing.T) {
	other := 0
	for _, d := range defs.Dialects {
		fsys, _ := library.Dialect(d.Name)
		lib, err := workspace.ReadFS(fsys)
		if err != nil {
			t.Fatal(err)
		}
		snap, err := workspace.Build(lib, workspace.Settings{Dialect: d.Name})
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, m := range snap.Schema().Messages {
			p, err := snap.Program(m)
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Fields {
				n := p.Line(uint16(i))
				if n == 0 {
					continue
				}
				lines++
				if f := p.Fields[i].Span.File; f != nil && f != m.Span.File {
					other++
				}
				text, has := strings.ToLower(m.Span.File.Line(n).Text()), p.Fields[i].Name == ""
				for at := i; at >= 0 && !has; at = p.Fields[at].Parent {
					for word := range strings.SplitSeq(strings.ToLower(strings.Trim(p.Fields[at].Name, "[]")), "_") {
						has = has || word != "" && strings.Contains(text, strings.TrimSuffix(word, "s"))
					}
				}
				if !has {
					t.Errorf("%s: %s: %s has line %d of %s: %s", d.Name, m.Name, p.Fields[i].Name, n, m.Span.File.Name, text)
				}
			}
		}
		if lines < 5 {
			t.Errorf("%s: %d lines", d.Name, lines)
		}
	}
	if other < 5 {
		t.Errorf("only %d fields are of another file than their message", other)
	}
}
