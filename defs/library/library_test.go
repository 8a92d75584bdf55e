package library_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// dialectFiles returns the definitions and the code maps of a dialect.
func dialectFiles(t *testing.T, dialect string) (definitions, maps []*source.File) {
	t.Helper()
	fsys, ok := library.Dialect(dialect)
	if !ok {
		t.Fatalf("no files of %s ship with the program", dialect)
	}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		switch f := source.New(name, string(text)); {
		case defs.IsCodeMap(name):
			maps = append(maps, f)
		case defs.IsDefinition(name) || defs.Recognizes(name, string(text)):
			definitions = append(definitions, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return definitions, maps
}

// load loads the definitions of a dialect as the program does. Any diagnostic is a failure, even a warning.
func load(t *testing.T, dialect string, patch int) *schema.Schema {
	t.Helper()
	definitions, maps := dialectFiles(t, dialect)
	o := schema.Options{Values: map[string]string{"patch": tera.FormatPatch(patch)}}
	for _, f := range maps {
		codes, diags := defs.ParseCodeMap(f)
		if len(diags) > 0 {
			t.Error(diags.Render())
		}
		o.Codes = codes
	}
	s, diags := defs.Load(definitions, dialect, o)
	if len(diags) > 0 {
		t.Error(diags.Render())
	}
	return s
}

// TestOneCodeMap checks that there is only one code map, which the program then uses automatically, and none if the codes are in the definitions.
func TestOneCodeMap(t *testing.T) {
	for _, d := range defs.Dialects {
		definitions, maps := dialectFiles(t, d.Name)
		alone, _ := defs.Load(definitions, d.Name, schema.Options{})
		want := 0
		if !slices.ContainsFunc(alone.Messages, func(m *schema.Message) bool { return m.HasKey }) {
			want = 1
		}
		if len(maps) != want {
			t.Errorf("%s has %d code maps, want %d", d.Name, len(maps), want)
		}
	}
}

// TestDefinitions checks that the definitions are in canonical form and have no diagnostics, and that each message has a doc and a code.
func TestDefinitions(t *testing.T) {
	for _, d := range defs.Dialects {
		definitions, _ := dialectFiles(t, d.Name)
		for _, f := range definitions {
			text, diags := d.Format(f)
			if len(diags) > 0 {
				t.Error(diags.Render())
			}
			if again, _ := d.Format(source.New(f.Name, text)); again != text {
				t.Errorf("%s: formatting twice changes the text", f.Name)
			}
			if text == f.Text {
				continue
			}
			t.Errorf("%s is not in canonical form", f.Name)
			if *update {
				if err := os.WriteFile(path.Join(d.Name, f.Name), []byte(text), 0o644); err != nil {
					t.Error(err)
				}
			}
		}
		s := load(t, d.Name, 0)
		if d.Versions && len(s.Messages) != len(definitions) || len(s.Messages) < len(definitions) {
			t.Errorf("%s: %d messages of %d definitions", d.Name, len(s.Messages), len(definitions))
		}
		for _, m := range s.Messages {
			if m.Doc == "" {
				t.Errorf("%s.%d has no doc", m.Name, m.Version)
			}
			if !m.HasKey && d.Versions {
				t.Errorf("%s has no code", m.Name)
			}
			if _, err := codec.Compile(m); err != nil {
				t.Errorf("%s.%d: %v", m.Name, m.Version, err)
			}
		}
		for name := range s.Codes {
			if s.Find(name, 0) == nil {
				t.Errorf("%s has a code but no definition", name)
			}
		}
	}
}

func TestDialectsThatDoNotShip(t *testing.T) {
	for _, name := range []string{"", ".", "..", "/", "nothing", "tera/", "./tera", "tera/samples.jsonl", "TERA"} {
		if _, ok := library.Dialect(name); ok {
			t.Errorf("there is a dialect %q", name)
		}
		if s := library.Samples(name); s != nil {
			t.Errorf("%q has %d samples", name, len(s))
		}
	}
}
