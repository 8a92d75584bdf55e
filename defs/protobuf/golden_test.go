package protobuf

import (
	"strings"
	"testing"

	"wirebench/defs/defstest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestGolden parses the files of each case as one set.
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
		s, diags := Parse(files, schema.Options{Values: c.Settings})
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
