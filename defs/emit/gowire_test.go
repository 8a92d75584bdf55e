package emit_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/defs/corpora"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// wiredVectors returns examples of all messages, and each example cut off.
func wiredVectors(t *testing.T, s *schema.Schema, n int) (out []emit.Vector) {
	t.Helper()
	for _, m := range s.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			continue
		}
		for _, e := range value.Examples(p, n, 3, 4660) {
			out = append(out, emit.Vector{Message: messageName(m), Value: e.Value, Bytes: e.Data, Used: e.Used, Outcome: emit.Outcome(e.Status.String())})
		}
	}
	return out
}

// unique gives each message a name of its own, so that vectors name it.
func unique(s *schema.Schema) {
	for i, m := range s.Messages {
		x := *m
		x.Name = fmt.Sprintf("%s_%s_%s", m.Name, m.Key.Group, m.Key.Dir)
		s.Messages[i] = &x
	}
	schema.Link(s)
}

// goPackage writes the Go code of a schema to a folder, with the test of its vectors.
func goPackage(t *testing.T, dir, name string, s *schema.Schema, list []emit.Vector) []emit.Loss {
	t.Helper()
	x, _ := emit.Find("go")
	files, losses := x.Emit(s, emit.Options{Name: name, Vectors: list})
	for _, f := range files {
		write(t, dir, name+"/"+f.Name, f.Text)
	}
	return losses
}

// goTest runs the tests of all packages of a folder.
func goTest(t *testing.T, dir string, args ...string) {
	t.Helper()
	write(t, dir, "go.mod", "module tried\n\ngo 1.24\n")
	cmd := exec.Command("go", append([]string{"test", "-vet=off", "-ldflags=-s -w"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go test: %v\n%s", err, out[:min(len(out), 6000)])
	}
}

// TestGoParts compiles code for a definition with all kinds of parts, and reads and writes its messages.
func TestGoParts(t *testing.T) {
	t.Parallel()
	s, diags := defs.Load([]*source.File{source.New("protocol.json", partsText)}, "protodef", schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	dir := t.TempDir()
	for _, l := range goPackage(t, dir, "parts", s, wiredVectors(t, s, 20)) {
		t.Errorf("lost: %s", l)
	}
	goTest(t, dir, "./...")
}

// TestGoRandomProtoDef compiles code for random definitions, and reads and writes generated messages.
func TestGoRandomProtoDef(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	vectors := 0
	for seed := range uint64(6) {
		s, _ := defs.Load([]*source.File{source.New("protocol.json", randomProtoDef(seed))}, "protodef", schema.Options{})
		unique(s)
		list := wiredVectors(t, s, 10)
		vectors += len(list)
		for _, l := range goPackage(t, dir, fmt.Sprintf("random%d", seed), s, list) {
			if !strings.Contains(l.Reason, "omitted") && !strings.Contains(l.Reason, "has errors") {
				t.Errorf("lost: %s", l)
			}
		}
	}
	if vectors < 60 {
		t.Errorf("only %d messages", vectors)
	}
	goTest(t, dir, "./...")
}

// TestCorporaGoProtoDef compiles code for published definitions, and reads and writes generated messages.
func TestCorporaGoProtoDef(t *testing.T) {
	dir := t.TempDir()
	n := 0
	for name, text := range protodefFiles(t, "*.json") {
		s, _ := defs.Load([]*source.File{source.New(name, text)}, "protodef", schema.Options{})
		unique(s)
		list := wiredVectors(t, s, 6)
		n++
		start := time.Now()
		losses := goPackage(t, dir, fmt.Sprintf("p%d", n), s, list)
		took := time.Since(start)
		file, err := os.Stat(filepath.Join(dir, fmt.Sprintf("p%d/p%d.go", n, n)))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d messages, %d vectors, %d bytes in %v", name, len(s.Messages), len(list), file.Size(), took)
		for _, l := range losses {
			t.Errorf("%s: lost: %s", name, l)
		}
	}
	start := time.Now()
	goTest(t, dir, "./...")
	t.Logf("built and tested in %v", time.Since(start))
}

// TestCorporaGoKaitai compiles code for formats of Kaitai Struct, and reads and writes generated messages.
func TestCorporaGoKaitai(t *testing.T) {
	var sets [][]*source.File // of names that are unique in a set
	for _, pattern := range []string{"../library/kaitai/*.ksy", "../kaitai/testdata/*.txtar"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, path := range paths {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(path, ".ksy") {
				a.Files = []txtar.File{{Name: filepath.Base(path), Data: a.Comment}}
			}
			for _, f := range a.Files {
				if strings.HasSuffix(f.Name, ".ksy") {
					sets = append(sets, []*source.File{source.New(f.Name, string(f.Data))})
				}
			}
		}
	}
	if c := corpora.Largest(t); !c.Own {
		var suite []*source.File
		for _, pattern := range []string{"kaitai/formats/*.ksy", "kaitai/formats/*/*.ksy"} {
			for _, name := range c.Glob(t, pattern) {
				suite = append(suite, source.New(strings.TrimPrefix(name, "kaitai/formats/"), c.Text(t, name)))
			}
		}
		sets = append(sets, suite)
	}
	dir := t.TempDir()
	whole, vectors := 0, 0
	for i, set := range sets {
		s, _ := defs.Load(set, "kaitai", schema.Options{}) // messages with errors are omitted
		list := wiredVectors(t, s, 8)
		name := fmt.Sprintf("k%d", i)
		losses := goPackage(t, dir, name, s, list)
		if out := emit.Nothing(s, losses); out != nil || len(s.Messages) == 0 {
			os.RemoveAll(filepath.Join(dir, name))
			continue
		}
		whole += len(s.Messages)
		vectors += len(list)
		for _, l := range losses {
			t.Logf("lost: %s", l)
		}
	}
	t.Logf("%d messages, %d vectors", whole, vectors)
	if whole < 1 || vectors < 10 {
		t.Error("too few")
	}
	goTest(t, dir, "./...")
}

// TestGoShipped compiles code for the shipped definitions of every language, and reads and writes generated messages.
func TestGoShipped(t *testing.T) {
	dir := t.TempDir()
	for _, d := range defs.Dialects {
		paths, err := filepath.Glob(filepath.Join("../library", d.Name, "*"))
		if err != nil {
			t.Fatal(err)
		}
		var files []*source.File
		for _, path := range paths {
			if ext := filepath.Ext(path); ext == ".jsonl" || ext == ".map" || ext == ".md" {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, source.New(filepath.Base(path), string(text)))
		}
		s, _ := defs.Load(files, d.Name, schema.Options{})
		unique(s)
		list := wiredVectors(t, s, 8)
		if len(list) == 0 {
			continue
		}
		t.Logf("%s: %d messages, %d vectors, lost %v", d.Name, len(s.Messages), len(list), goPackage(t, dir, d.Name+"s", s, list))
	}
	goTest(t, dir, "./...")
}
