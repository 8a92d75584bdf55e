package envelope

import (
	"fmt"
	"path/filepath"
	"regexp"
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
	number := func(name string) *schema.Field { return &schema.Field{Name: name, Type: &schema.Number{Bits: 8}} }
	message := func(name string, code uint32, fields ...*schema.Field) *schema.Message {
		m := &schema.Message{Name: name, HasKey: true, Key: schema.Key{Code: code}, Body: &schema.Struct{Fields: fields, Wire: []schema.Item{{Kind: schema.Code, Bits: 8}}}}
		for _, f := range fields {
			m.Body.Wire = append(m.Body.Wire, schema.Item{Kind: schema.Value, Field: f})
		}
		return m
	}
	inside := &schema.Field{Name: "server", Type: &schema.Group{Struct: &schema.Struct{Fields: []*schema.Field{number("port")}}}}
	own := &schema.Message{Name: "OWN", HasKey: true, Body: &schema.Struct{Fields: []*schema.Field{number("magic")}, Wire: []schema.Item{{Kind: schema.Value, Field: nil}, {Kind: schema.Code, Bits: 8}}}}
	own.Body.Wire[0].Field = own.Body.Fields[0]
	game := map[string][]*schema.Message{
		"a to-server": {message("HELLO", 1, number("x"), inside), message("BYE", 2)}, "a to-client": {message("HELLO", 1)},
		"c to-server": {own}, "c to-client": {message("HELLO", 1)},
	}
	for _, c := range []struct{ text, want string }{
		{"frame fixed 4\ncode u8\nstate a\n  HELO to-server -> b\n  BYE to-client -> b\n  7 -> b\nstate b\n", `4:3 "HELO" in group "a" to-server | 5:3 "BYE" in group "a" to-client`},
		{"frame fixed 4\ncode u8\ngroup a\nHELLO when x = 1: cipher off\nHELLO when server.port = 1: cipher off\nHELLO when y = 1: cipher off\nHELLO when server.x = 1: cipher off", `6:1 "HELLO" "y" | 7:1 "HELLO" "server.x"`},
		{"frame fixed 4\ncode u8\ngroup a\nHELLO to-server: cipher rc4 key x\nHELLO to-server: cipher rc4 key k\nBYE to-server: cipher rc4 key x of HELLO\nBYE to-server: cipher rc4 key x of HALLO\nBYE to-server: cipher rc4 key z of HELLO", `5:1 "HELLO" "k" | 7:1 "HALLO" | 8:1 "HELLO" "z"`},
		{"frame fixed 4\ncode u8\ngroup a\nbundle BYE to-server frame fixed 1\nbundle BY to-server frame fixed 1\nHELLO: compress zlib from x\nHELLO: compress zlib size u8 from w", `5:8 "BY" in group "a" to-server | 7:1 "HELLO" "w"`},
		{"frame fixed 4\ncode none HELLO\ngroup a\nHELLO: cipher off", ""},
		{"frame fixed 4\ncode none STARTUP\ngroup a\nSTARTUP: cipher off", `2:1 "STARTUP" in group "a" to-server | 2:1 "STARTUP" in group "a" to-client`},
		{"frame fixed 4\ncode u8 at 1\ngroup c", ""}, // after its own magic, or behind the header
		{"frame fixed 4\ncode u16 le\ngroup c", `2:1 "OWN"`},
		{"frame fixed 4\ncode u8 at 1\nfield flags u8 at 0\ngroup a\nHELLO when header.flags = 1: cipher off\nHELLO when header.flag = 1: cipher off", `6:1 "HELLO" "header.flag"`},
	} {
		e, diags := Parse(source.New("a.envelope", c.text))
		if diags.HasErrors() {
			t.Fatal(diags.Render())
		}
		var got []string
		for _, d := range e.Check(func(group string, dir schema.Dir) []*schema.Message { return game[group+" "+dirWord(dir)] }) {
			at := d.Span.File.Position(d.Span.Start)
			where := ""
			if _, rest, ok := strings.Cut(d.Message, " in group"); ok {
				where = " in group" + rest
			}
			said := fmt.Sprintf("%d:%d", at.Line, at.Column)
			for _, name := range regexp.MustCompile(`"[^"]*"`).FindAllString(strings.TrimSuffix(d.Message, where), -1) {
				said += " " + name
			}
			got = append(got, said+where)
		}
		if text := strings.Join(got, " | "); text != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, text, c.want)
		}
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
