package tera

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// corpusDir has the public definitions of tera-toolbox, which are not part of the product.
const corpusDir = "../../../shared/corpora/tera/toolbox"

// corpus returns all definitions of the public corpus, or skips the test.
func corpus(t testing.TB) []*source.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(corpusDir, "definitions", "*.def"))
	if err != nil || len(paths) == 0 {
		t.Skip("the public TERA definitions are not here")
	}
	files := make([]*source.File, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = source.New(filepath.Base(path), string(text))
	}
	return files
}

// TestParseCorpus parses every public definition. None has an error, and the warnings are about known oddities.
func TestParseCorpus(t *testing.T) {
	files := corpus(t)
	s, diags := Parse(files, schema.Options{})
	for _, d := range diags {
		if d.Severity == diag.Error {
			t.Error(d)
		}
	}
	var warned []string
	for _, d := range diags {
		warned = append(warned, d.Span.File.Name+" "+d.Code)
	}
	if got, want := strings.Join(warned, "\n"), "C_MOVE_WARE_POS.1.def repeated-field"; got != want {
		t.Errorf("warnings:\n%s\nwant:\n%s", got, want)
	}
	if len(s.Messages) != len(files) || len(files) != 836 {
		t.Errorf("%d messages of %d files, want 836", len(s.Messages), len(files))
	}
	for _, m := range s.Messages {
		if m.Broken {
			t.Errorf("%s.%d is broken", m.Name, m.Version)
		}
	}
}

// BenchmarkParseCorpus parses and lowers definitions, one file at a time.
func BenchmarkParseCorpus(b *testing.B) {
	files := corpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Parse(files[i%len(files):i%len(files)+1], schema.Options{})
	}
}
