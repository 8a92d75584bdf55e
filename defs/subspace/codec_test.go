package subspace_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/subspace"

	"golang.org/x/tools/txtar"
)

// FuzzCompile parses any text as a definition, and checks that messages that are not broken compile, and that decoded messages whose value
// is complete round-trip.
func FuzzCompile(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatal("no cases", err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			f.Add(string(file.Data), []byte{3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0})
		}
	}
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		s, _ := subspace.Parse([]*source.File{source.New("fuzz.def", text)}, schema.Options{})
		for _, m := range s.Messages {
			if m.Broken {
				continue
			}
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatalf("%v\n%s", err, m)
			}
			var rec, in, out codec.Record
			p.Decode(&rec, data)
			if rec.Status() != codec.OK || rec.Used != len(data) || len(rec.AppendWarnings(nil)) > 0 || rec.Unexplained() > 0 {
				continue
			}
			values := value.AppendJSON(nil, &rec)
			if err := value.ParseJSON(&in, p, values); err != nil {
				t.Fatalf("%v\n%s\n%s", err, values, m)
			}
			in.Code = rec.Code
			if err := p.Encode(&out, &in); err != nil {
				t.Fatalf("%v\n%s\n%s", err, values, m)
			}
			p.Decode(&rec, bytes.Clone(out.Data))
			if again := value.AppendJSON(nil, &rec); !bytes.Equal(again, values) {
				t.Fatalf("%s round-trips to %s\n%s", values, again, m)
			}
		}
	})
}
