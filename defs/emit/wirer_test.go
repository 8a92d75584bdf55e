package emit_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	"wirebench/defs/tooltest"
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

// modules is a folder with the code of schemas in one language, and tests of their vectors.
type modules struct {
	dir    string
	target string
	add    func(f emit.File, name string)
	test   func()
	schema *schema.Schema // of the files that are added
}

// goModules are those of Go.
func goModules(t *testing.T) *modules {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module tried\n\ngo 1.24\n")
	return &modules{dir: dir, target: "go", add: func(f emit.File, name string) { write(t, dir, name+"/"+f.Name, f.Text) }, test: func() {
		for _, args := range [][]string{{"build", "./..."}, {"test", "-vet=off", "-ldflags=-s -w", "./..."}} { // packages without vectors, too
			cmd := exec.Command("go", args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("go %s: %v\n%s", args[0], err, out[:min(len(out), 6000)])
			}
		}
	}}
}

// tsModules are those of TypeScript.
func tsModules(t *testing.T) *modules {
	node, dir := tooltest.Path(t, "node"), t.TempDir()
	write(t, dir, "package.json", `{"type": "module"}`)
	var sources, scripts []string
	return &modules{dir: dir, target: "ts", add: func(f emit.File, _ string) {
		write(t, dir, f.Name, f.Text)
		sources = append(sources, filepath.Join(dir, f.Name))
		js := strings.TrimSuffix(f.Name, ".ts") + ".js"
		write(t, dir, js, javaScript(t, f))
		if strings.HasSuffix(js, "_test.js") {
			scripts = append(scripts, js)
		}
	}, test: func() {
		typeCheck(t, node, dir, sources)
		for _, script := range scripts {
			if out, err := exec.Command(node, filepath.Join(dir, script)).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", script, err, out[:min(len(out), 3000)])
			}
		}
	}}
}

// emit adds the code of a schema, unless it has nothing. It returns the number of vectors.
func (m *modules) emit(t *testing.T, name string, s *schema.Schema, n int, allowed ...string) int {
	t.Helper()
	x, _ := emit.Find(m.target)
	list := wiredVectors(t, s, n)
	start := time.Now()
	files, losses := x.Emit(s, emit.Options{Name: name, Vectors: list})
	t.Logf("%s: %d messages, %d vectors, %d bytes in %v", name, len(s.Messages), len(list), len(files[0].Text), time.Since(start))
	for _, l := range losses {
		if slices.ContainsFunc(append(allowed, "without compression"), func(a string) bool { return strings.Contains(l.Reason, a) }) {
			t.Logf("%s: lost: %s", name, l)
		} else {
			t.Errorf("%s: lost: %s", name, l)
		}
	}
	if len(s.Messages) == 0 || emit.Nothing(s, losses) != nil {
		return 0
	}
	m.schema = s
	for _, f := range files {
		m.add(f, name)
	}
	return len(list)
}

// emitParts adds a definition with all kinds of parts.
func (m *modules) emitParts(t *testing.T) {
	s, diags := defs.Load([]*source.File{source.New("protocol.json", partsText)}, "protodef", schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	m.emit(t, "parts", s, 20)
	m.test()
}

// packedText is a definition with compressed contents.
const packedText = `meta: {id: packed, endian: le}
seq:
  - {id: kind, type: u2}
  - {id: body, size-eos: true, process: zlib, type: inner}
types:
  inner:
    seq:
      - {id: number, type: u4}
      - {id: name, type: strz, encoding: UTF-8}
      - {id: rest, size-eos: true}
`

// emitPacked adds a definition with compressed contents.
func (m *modules) emitPacked(t *testing.T) {
	s, diags := defs.Load([]*source.File{source.New("packed.ksy", packedText)}, "kaitai", schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	if n := m.emit(t, "packed", s, 20); n < 10 {
		t.Errorf("%d vectors", n)
	}
	m.test()
}

// emitRandom adds random definitions.
func (m *modules) emitRandom(t *testing.T) {
	vectors := 0
	for seed := range uint64(6) {
		s, _ := defs.Load([]*source.File{source.New("protocol.json", randomProtoDef(seed))}, "protodef", schema.Options{})
		unique(s)
		vectors += m.emit(t, fmt.Sprintf("random%d", seed), s, 10, "omitted", "has errors")
	}
	if vectors < 60 {
		t.Errorf("only %d messages", vectors)
	}
	m.test()
}

// emitProtoDef adds published definitions.
func (m *modules) emitProtoDef(t *testing.T) {
	n := 0
	for name, text := range protodefFiles(t, "*.json") {
		s, _ := defs.Load([]*source.File{source.New(name, text)}, "protodef", schema.Options{})
		unique(s)
		n++
		t.Logf("p%d is %s", n, name)
		m.emit(t, fmt.Sprintf("p%d", n), s, 6)
	}
	start := time.Now()
	m.test()
	t.Logf("built and tested in %v", time.Since(start))
}

// emitKaitai adds formats of Kaitai Struct.
func (m *modules) emitKaitai(t *testing.T) {
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
	vectors := 0
	for i, set := range sets {
		s, _ := defs.Load(set, "kaitai", schema.Options{}) // messages with errors are omitted
		vectors += m.emit(t, fmt.Sprintf("k%d", i), s, 8, "")
	}
	if t.Logf("%d vectors", vectors); vectors < 10 {
		t.Error("too few")
	}
	m.test()
}

// emitShipped adds the shipped definitions of every language.
func (m *modules) emitShipped(t *testing.T) {
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
		m.emit(t, d.Name+"s", s, 8, "")
	}
	m.test()
}

// The tests compile the code, and read and write generated messages.

func TestGoParts(t *testing.T) {
	t.Parallel()
	goModules(t).emitParts(t)
}

func TestGoPacked(t *testing.T)             { goModules(t).emitPacked(t) }
func TestToolTypeScriptPacked(t *testing.T) { tsModules(t).emitPacked(t) }

func TestGoRandomProtoDef(t *testing.T) {
	t.Parallel()
	goModules(t).emitRandom(t)
}

func TestGoShipped(t *testing.T)           { goModules(t).emitShipped(t) }
func TestCorporaGoProtoDef(t *testing.T)   { goModules(t).emitProtoDef(t) }
func TestCorporaGoKaitai(t *testing.T)     { goModules(t).emitKaitai(t) }
func TestToolTypeScriptParts(t *testing.T) { tsModules(t).emitParts(t) }

func TestToolTypeScriptRandomProtoDef(t *testing.T) { tsModules(t).emitRandom(t) }
func TestToolTypeScriptShipped(t *testing.T)        { tsModules(t).emitShipped(t) }
func TestToolTypeScriptProtoDef(t *testing.T)       { tsModules(t).emitProtoDef(t) }
func TestToolTypeScriptKaitai(t *testing.T)         { tsModules(t).emitKaitai(t) }
