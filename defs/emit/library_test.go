package emit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tooltest"
)

// librarySchema returns the shipped definitions of a dialect, which must have no errors.
func librarySchema(t *testing.T, dialect string) *schema.Schema {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../library", dialect, "*.def"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*source.File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, source.New(filepath.Base(path), string(text)))
	}
	s, ds := defs.Load(files, dialect, schema.Options{})
	if dialect == "tera" && (ds.HasErrors() || len(s.Messages) < 30) {
		t.Fatalf("%d messages\n%s", len(s.Messages), ds.Render())
	}
	return s
}

// TestToolLibrary checks that the shipped definitions compile in each language and pass the generated tests. Constants without a value are set.
func TestToolLibrary(t *testing.T) {
	t.Parallel()
	for _, d := range defs.Dialects {
		s := librarySchema(t, d.Name)
		if len(s.Messages) == 0 {
			t.Logf("%s: there are no definitions", d.Name)
			continue
		}
		list := exampleVectors(t, s, 3)
		t.Run(d.Name+"/go", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "go.mod", "module tried\n\ngo 1.24\n")
			for _, f := range emitted(t, "go", d.Name, s, list) {
				write(t, dir, f.Name, f.Text)
			}
			cmd := exec.Command("go", "test", ".")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("go test: %v\n%s", err, out[:min(len(out), 3000)])
			}
		})
		t.Run(d.Name+"/c", func(t *testing.T) {
			t.Parallel()
			tooltest.Path(t, "cc")
			dir := t.TempDir()
			files := emitted(t, "c", d.Name, s, list)
			for _, f := range files {
				write(t, dir, f.Name, f.Text)
			}
			flags := []string{"-O0", "-fno-sanitize=all"} // TestToolCVectors uses the sanitizers
			for _, m := range s.Messages {
				if p, err := codec.Compile(m); err == nil {
					for _, name := range p.Unresolved {
						flags = append(flags, "-D"+name+"=5")
					}
				}
			}
			compileC(t, dir, append(flags, "-c", d.Name+"_test.c")...)
			link := []string{"-o", "vectors", d.Name + "_test.o"}
			if _, ok := tooltest.Look(t, "g++"); !ok { // the sources are C++, too
				compileC(t, dir, slices.Concat(flags, link, cSources(files))...)
			} else {
				compileCPP(t, dir, slices.Concat(flags, link, []string{"-x", "c++"}, cSources(files))...)
			}
			if out, err := exec.Command(filepath.Join(dir, "vectors")).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out[:min(len(out), 3000)])
			}
		})
		t.Run(d.Name+"/ts", func(t *testing.T) {
			t.Parallel()
			node := tooltest.Path(t, "node")
			dir := t.TempDir()
			write(t, dir, "package.json", `{"type": "module"}`)
			var sources []string
			for _, f := range emitted(t, "ts", d.Name, s, list) {
				write(t, dir, f.Name, f.Text)
				write(t, dir, strings.TrimSuffix(f.Name, ".ts")+".js", javaScript(t, f))
				sources = append(sources, filepath.Join(dir, f.Name))
			}
			typeCheck(t, node, dir, sources)
			if out, err := exec.Command(node, filepath.Join(dir, d.Name+"_test.js")).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out[:min(len(out), 3000)])
			}
		})
	}
}

// emitted returns the files of a target.
func emitted(t *testing.T, target, name string, s *schema.Schema, list []emit.Vector) []emit.File {
	t.Helper()
	x, ok := emit.Find(target)
	if !ok {
		t.Fatal(target)
	}
	files, losses := x.Emit(s, emit.Options{Name: name, Vectors: list})
	for _, l := range losses {
		t.Logf("lost: %s", l)
		if name == "tera" {
			t.Errorf("loss in TERA: %s", l)
		}
	}
	if sources := len(cSources(files)); target == "c" && sources == 0 || target != "c" && len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	return files
}

// exampleVectors returns n examples of each message, with their outcomes.
func exampleVectors(t *testing.T, s *schema.Schema, n int) []emit.Vector {
	t.Helper()
	var out []emit.Vector
	for _, m := range s.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range value.Examples(p, n, 3, 4660) {
			out = append(out, emit.Vector{Message: messageName(m), Value: e.Value, Bytes: e.Data, Used: e.Used, Outcome: emit.Outcome(e.Status.String())})
		}
	}
	return out
}
