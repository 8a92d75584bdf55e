package envelope

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/defs/defstest"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

var goldens = []string{"envelope", "diagnostics", "formatted"}

// TestGolden parses, prints and formats the files of each case.
func TestGolden(t *testing.T) {
	defstest.Run(t, "testdata/*.txtar", goldens, func(t *testing.T, c *defstest.Case) map[string]string {
		var printed, formatted strings.Builder
		var diags diag.List
		for _, in := range c.Files {
			e, d := Parse(source.New(in.Name, in.Text))
			diags = append(diags, d...)
			printed.WriteString("# " + in.Name + "\n" + e.String())
			if !d.HasErrors() {
				checkPrinted(t, e)
			}
			formatted.WriteString("# " + in.Name + "\n" + formatChecked(t, in.Text))
		}
		return map[string]string{"envelope": printed.String(), "diagnostics": diags.Render(), "formatted": formatted.String()}
	})
}

// checkPrinted checks that the text of an envelope has its meaning.
func checkPrinted(t *testing.T, e *Envelope) {
	t.Helper()
	text := e.String()
	again, diags := Parse(source.New("printed", text))
	if diags.HasErrors() || again.String() != text {
		t.Errorf("printed:\n%s\nwhich is read as\n%s\n%s", text, again, diags.Render())
	}
}

// formatChecked formats a text, and checks that formatting is idempotent and preserves the meaning.
func formatChecked(t *testing.T, text string) string {
	t.Helper()
	out, _ := Format(source.New("f", text))
	if again, _ := Format(source.New("f", out)); again != out {
		t.Errorf("formatting twice changes the text:\n%s\nthen\n%s", out, again)
	}
	before, a := Parse(source.New("f", text))
	after, b := Parse(source.New("f", out))
	if before.String() != after.String() || a.HasErrors() != b.HasErrors() {
		t.Errorf("formatting changes the meaning:\n%s\nto\n%s", before, after)
	}
	return out
}

func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(string(file.Data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		file := source.New("f", text)
		e, diags := Parse(file)
		for _, d := range diags {
			if d.Span.File != file || d.Span.Start < 0 || d.Span.End > len(text) || d.Span.Start > d.Span.End {
				t.Fatalf("%v has the span %d to %d", d, d.Span.Start, d.Span.End)
			}
		}
		if !diags.HasErrors() {
			checkPrinted(t, e)
		}
		formatChecked(t, text)
	})
}

func TestLanguage(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range Language().Words {
		if seen[w.Name] || len(w.Doc) < 10 || !strings.HasSuffix(w.Doc, ".") {
			t.Errorf("%q is there twice, or has no sentence: %q", w.Name, w.Doc)
		}
		seen[w.Name] = true
	}
}

func TestCheck(t *testing.T) {
	e, diags := Parse(source.New("a.envelope", "frame fixed 4\ncode u8\nstate a\n  HELO to-server -> b\n  BYE to-client -> b\n  7 -> b\nstate b\n"))
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	got := e.Check(func(group string, dir schema.Dir) []string {
		if group == "a" && dir == schema.ToServer {
			return []string{"HELLO", "BYE"}
		}
		return nil
	}).Render()
	const want = `a.envelope:4:3: warning: there is no message "HELO" in group "a" to-server [unknown-message]
  4 |   HELO to-server -> b
    |   ^~~~
    help: did you mean "HELLO"?
a.envelope:5:3: warning: there is no message "BYE" in group "a" to-client [unknown-message]
  5 |   BYE to-client -> b
    |   ^~~
    help: the rule never acts
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A line with a mistake is not missing, too.
func TestMistakesAreNotMissing(t *testing.T) {
	const good = "frame length u16 le\ncode u8\n"
	for _, text := range []string{
		"frame length varnt\ncode u8\n", "frame lenght u16 le\ncode u8\n", "frme length u16 le\ncode u8\n", "frame length u16\ncode u8\n",
		"frame length u16 le\ncode u9\n", "frame length u16 le\ncod u8\n", "frame length u16 le\ncode\n", "frame\ncode u8\n",
		"frame to-client length varnt\nframe to-server length u8\ncode u8\n", good + "state play\n  frame length varnt\n", good + "state play\n  code u\n",
	} {
		_, diags := Parse(source.New("e.envelope", text))
		if len(diags) != 1 || diags[0].Code == codeMissing {
			t.Errorf("%q: %v, want one mistake of the line", text, diags)
		}
	}
	for _, text := range []string{"code u8\n", "frame length u16 le\n", "frame to-client length u8\ncode u8\n"} {
		if _, diags := Parse(source.New("e.envelope", text)); len(diags) != 1 || diags[0].Code != codeMissing {
			t.Errorf("%q: %v, want what is missing", text, diags)
		}
	}
}
