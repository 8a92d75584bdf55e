package subspace_test

import (
	"io/fs"
	"testing"

	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/subspace"
)

// BenchmarkParse parses the shipped definitions, as an editor does after each keystroke.
func BenchmarkParse(b *testing.B) {
	fsys, _ := library.Dialect("subspace")
	var files []*source.File
	names, _ := fs.Glob(fsys, "*.def")
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			b.Fatal(err)
		}
		files = append(files, source.New(name, string(text)))
		b.SetBytes(int64(len(text)))
	}
	b.ReportAllocs()
	for b.Loop() {
		subspace.Parse(files, schema.Options{})
	}
}
