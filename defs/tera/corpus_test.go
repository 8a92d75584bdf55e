package tera

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"wirebench/defs/corpora"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// corpus returns all definitions of a corpus.
func corpus(t testing.TB, c *corpora.Corpus) (files []*source.File) {
	t.Helper()
	texts := c.Files(t, "tera/toolbox/definitions/*.def")
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, source.New(name, texts[name]))
	}
	return files
}

// TestCorporaParse parses every public definition. None has an error, and the warnings are about known oddities.
func TestCorporaParse(t *testing.T) { corpora.Run(t, testParseCorpus) }

func testParseCorpus(t *testing.T, c *corpora.Corpus) {
	files := corpus(t, c)
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
	want, least := "", 70
	if !c.Own {
		want, least = "C_MOVE_WARE_POS.1.def repeated-field", 836
	}
	if got := strings.Join(warned, "\n"); got != want {
		t.Errorf("warnings:\n%s\nwant:\n%s", got, want)
	}
	if len(s.Messages) != len(files) || len(files) < least {
		t.Errorf("%d messages of %d files, want %d", len(s.Messages), len(files), least)
	}
	for _, m := range s.Messages {
		if m.Broken {
			t.Errorf("%s.%d is broken", m.Name, m.Version)
		}
	}
}

// BenchmarkParseCorpus parses and lowers definitions, one file at a time.
func BenchmarkParseCorpus(b *testing.B) {
	files := corpus(b, corpora.Largest(b))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Parse(files[i%len(files):i%len(files)+1], schema.Options{})
	}
}
