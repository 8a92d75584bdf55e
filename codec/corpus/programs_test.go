package corpus_test

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/defstest"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// compile returns the first message of a definition.
func compile(t testing.TB, dialect, name, text string) *codec.Program {
	t.Helper()
	s, ds := defs.Load([]*source.File{source.New(name, text)}, dialect, schema.Options{})
	if ds.HasErrors() {
		t.Fatalf("%s%s", text, ds.Render())
	}
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// encode returns the message with the given values.
func encode(t testing.TB, p *codec.Program, values string) []byte {
	t.Helper()
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, []byte(values)); err != nil {
		t.Fatal(values, err)
	}
	in.Code = 7
	if p.Message.HasKey {
		in.Code = p.Message.Key.Code
	}
	if err := p.Encode(&out, &in); err != nil {
		t.Fatal(values, err)
	}
	return append([]byte(nil), out.Data...)
}

// drawProgram returns the program of a random definition.
func drawProgram(t *rapid.T) *codec.Program {
	var b strings.Builder
	n := 0
	var fields func(depth int)
	fields = func(depth int) {
		for range rapid.IntRange(1, 4).Draw(t, "fields") {
			n++
			line := func(typ string) { fmt.Fprintf(&b, "%s%s f%d\n", strings.Repeat("- ", depth), typ, n) }
			typ := rapid.SampledFrom(types).Draw(t, "type")
			if typ == "array" || typ == "object" {
				if depth == 3 {
					typ = "byte"
				} else {
					line(typ)
					fields(depth + 1)
					continue
				}
			}
			line(typ)
		}
	}
	fields(0)
	s, ds := defs.Load([]*source.File{source.New("C_DRAWN.1.def", b.String())}, "tera", schema.Options{})
	if ds.HasErrors() {
		t.Fatalf("%s%s", b.String(), ds.Render())
	}
	p, err := codec.Compile(s.Messages[0])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var types = []string{
	"bool", "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double", "vec3", "angle", "skillid", "string",
	"bytes", "array", "array", "object", "array<int32>", "array<string>", "array<vec3>", "array<array<int16>>", "byte[3]",
}

// libraryPrograms returns all messages of the library, and those of defstest.Variable.
var libraryPrograms = sync.OnceValue(func() (out []*codec.Program) {
	for _, d := range defs.Dialects {
		fsys, ok := library.Dialect(d.Name)
		if !ok {
			continue
		}
		var files []*source.File
		_ = fs.WalkDir(fsys, ".", func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && strings.HasSuffix(path, ".def") {
				if text, err := fs.ReadFile(fsys, path); err == nil {
					files = append(files, source.New(path, string(text)))
				}
			}
			return nil
		})
		s, _ := defs.Load(files, d.Name, schema.Options{})
		for _, m := range s.Messages {
			if p, err := codec.Compile(m); err == nil {
				out = append(out, p)
			}
		}
	}
	s, _ := defs.Load([]*source.File{source.New("variable.json", defstest.Variable)}, "protodef", schema.Options{})
	for _, m := range s.Messages {
		if p, err := codec.Compile(m); err == nil {
			out = append(out, p)
		}
	}
	return out
})
