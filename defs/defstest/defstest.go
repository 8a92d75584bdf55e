package defstest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden sections of txtar files and fail")

// Case is one txtar file.
type Case struct {
	Settings map[string]string // name=value lines before the first section
	Files    []File            // inputs, in order
}

// File is one input.
type File struct{ Name, Text string }

// File returns the text of the named input, "" if there is none.
func (c *Case) File(name string) string {
	for _, f := range c.Files {
		if f.Name == name {
			return f.Text
		}
	}
	return ""
}

// Run runs every txtar file that the pattern matches as a subtest. All sections except those named in golden are inputs; run returns the
// golden sections of a case, which are compared, or rewritten with -update. Run fails if no file matches.
func Run(t *testing.T, pattern string, golden []string, run func(t *testing.T, c *Case) map[string]string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no test cases match %s (%v)", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := newCase(archive, golden)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			check(t, path, archive, golden, run(t, c))
		})
	}
}

// newCase returns the inputs of an archive.
func newCase(a *txtar.Archive, golden []string) (*Case, error) {
	c := &Case{Settings: make(map[string]string)}
	for line := range strings.Lines(string(a.Comment)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.Contains(name, " ") {
			c.Settings[name] = value
		}
	}
	for _, f := range a.Files {
		if slices.Contains(golden, f.Name) {
			continue
		}
		name, quoted := strings.CutSuffix(f.Name, ".quoted")
		text := string(f.Data)
		if quoted {
			var err error
			if text, err = unquote(text); err != nil {
				return nil, err
			}
		}
		c.Files = append(c.Files, File{Name: name, Text: text})
	}
	return c, nil
}

// unquote concatenates string literals, one per line.
func unquote(text string) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		part, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			return "", err
		}
		b.WriteString(part)
	}
	return b.String(), nil
}

// check compares the golden sections with the results, or rewrites them.
func check(t *testing.T, path string, a *txtar.Archive, golden []string, got map[string]string) {
	t.Helper()
	want := make(map[string]string, len(golden))
	for _, f := range a.Files {
		want[f.Name] = string(f.Data)
	}
	same := true
	for _, name := range golden {
		if section(got[name]) != section(want[name]) {
			same = false
			if !*update {
				t.Errorf("%s: %s is\n%s\nwant\n%s", path, name, got[name], want[name])
			}
		}
	}
	if !*update || same {
		return
	}
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return slices.Contains(golden, f.Name) })
	for _, name := range golden {
		if got[name] != "" {
			a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(section(got[name]))})
		}
	}
	text := txtar.Format(a)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s: rewritten; check the difference", path)
}

// section returns a text as the contents of a txtar section: with a final line break.
func section(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
