package emit_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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

// tryC compiles the C code of a schema, runs the test of its vectors under the sanitizers, and then reads random changes of them. It returns the
// number of messages of which there is code.
func tryC(t *testing.T, name string, s *schema.Schema, n int) (messages int, losses []emit.Loss) {
	t.Helper()
	unique(s)
	x, _ := emit.Find("c")
	list := wiredVectors(t, s, n)
	files, losses := x.Emit(s, emit.Options{Name: name, Vectors: list})
	kept := sample{name: name, schema: &schema.Schema{}}
	for _, m := range s.Messages {
		if strings.Contains(files[0].Text, "\n/* The message "+messageName(m)+". */\n") {
			kept.schema.Messages = append(kept.schema.Messages, m)
		}
	}
	messages = len(kept.schema.Messages)
	tested := slices.ContainsFunc(files, func(f emit.File) bool { return strings.HasSuffix(f.Name, "_test.c") })
	if messages == 0 || !tested {
		return messages, losses
	}
	dir := t.TempDir()
	for _, f := range files {
		write(t, dir, f.Name, f.Text)
	}
	start := time.Now()
	compileC(t, dir, slices.Concat([]string{"-O0", "-o", "vectors", name + "_test.c"}, cSources(files))...)
	cmd := exec.Command(filepath.Join(dir, "vectors"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out[:min(len(out), 3000)])
	}
	compared := 0
	for _, f := range files {
		compared += strings.Count(f.Text, "_t want = ")
	}
	t.Logf("%s: %d of %d messages, %d vectors, %d with values, %d bytes of C, compiled and run in %v", name, messages, len(s.Messages), len(list), compared, len(files[0].Text)+len(files[1].Text), time.Since(start))
	if messages <= 60 { // otherwise the compiler takes minutes
		changedC(t, dir, kept, files)
	}
	return messages, losses
}

// changedC reads messages with random changes, and compares the results with those of the codec.
func changedC(t *testing.T, dir string, s sample, files []emit.File) {
	t.Helper()
	text, err := os.ReadFile("testdata/harness/main.c.txt")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "main.c", cHarness(string(text), sample{name: s.name, schema: s.schema}, files[0].Name))
	compileC(t, dir, slices.Concat([]string{"-O0", "-o", "tried", "main.c"}, cSources(files))...)
	rng := rand.New(rand.NewPCG(5, 6))
	var in strings.Builder
	for _, m := range s.schema.Messages {
		p, err := codec.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range value.Examples(p, 6, 8, 4660) {
			for range 12 {
				if e.Status != codec.OK {
					break
				}
				data := append(bytes.Clone(e.Data), 0, 1, 0xff)
				for range rng.IntN(4) {
					data[rng.IntN(len(data))] = []byte{0, 1, 2, 4, 0x7f, 0x80, 0xff, byte(rng.Uint32())}[rng.IntN(8)]
				}
				copy(data, e.Data[:min(codeEnd(p, e.Data), len(e.Data))]) // a message with another code is another message
				r := addRow(t, &s, m, p, data[:len(data)-rng.IntN(min(len(data), 6))])
				fmt.Fprintf(&in, "%s %s\n", messageName(m), r.Hex)
			}
		}
	}
	cmd := exec.Command(filepath.Join(dir, "tried"))
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
	answers := readAnswers(t, run(t, cmd, []byte(in.String())))
	failed, seen := 0, map[string]int{}
	for i := range answers {
		a, r := &answers[i], &s.rows[i]
		seen[a.Status]++
		if a.Status == "illegal" && (a.Error == "-2" || a.Error == "-3") { // the memory, or the limit of work, is another one
			continue
		}
		if a.Status != r.status && a.Status != r.maybe && !(a.Status != "ok" && r.status != "ok") || a.Status == "ok" && a.Used != r.used {
			if failed++; failed < 5 {
				t.Errorf("%s: %s\ngot %s with %d bytes, want %s with %d", r.Message, r.Hex, a.Status, a.Used, r.status, r.used)
			}
		}
		if a.Status == "ok" && r.status == "ok" && a.Again != r.again && a.Again != r.exact && !r.sameMeaning(t, s.schema, a.Again) {
			if failed++; failed < 5 {
				t.Errorf("%s: %s\nwritten %s, want %s", r.Message, r.Hex, a.Again, r.again)
			}
		}
	}
	t.Logf("%s: %d changed messages: %v, %d wrong", s.name, len(answers), seen, failed)
}

// codeEnd returns the number of bytes up to the end of the code of a message, 0 if it has none.
func codeEnd(p *codec.Program, data []byte) int {
	switch w := p.Wire(); {
	case !p.Message.HasKey:
		return 0
	case w.CodeVar:
		return slices.IndexFunc(data, func(b byte) bool { return b < 0x80 }) + 1
	default:
		return (w.Code.Off + w.Code.Bits + 7) / 8
	}
}

// TestToolCParts compiles code for a definition with all kinds of parts, and reads and writes its messages.
func TestToolCParts(t *testing.T) {
	t.Parallel()
	tooltest.Path(t, "cc")
	s, diags := defs.Load([]*source.File{source.New("protocol.json", partsText)}, "protodef", schema.Options{})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	if _, losses := tryC(t, "parts", s, 30); len(losses) > 0 {
		t.Errorf("lost: %v", losses)
	}
}

// TestToolCRandomProtoDef compiles code for random definitions, and reads and writes generated messages.
func TestToolCRandomProtoDef(t *testing.T) {
	t.Parallel()
	tooltest.Path(t, "cc")
	messages := 0
	for seed := range uint64(10) {
		s, _ := defs.Load([]*source.File{source.New("protocol.json", randomProtoDef(seed))}, "protodef", schema.Options{})
		n, losses := tryC(t, fmt.Sprintf("random%d", seed), s, 10)
		messages += n
		for _, l := range losses {
			if !strings.Contains(l.Reason, "omitted") && !strings.Contains(l.Reason, "has errors") {
				t.Errorf("lost: %s", l)
			}
		}
	}
	if messages < 10 {
		t.Errorf("only %d messages", messages)
	}
}

// TestToolCProtoDef compiles code for published definitions, and reads and writes generated messages.
func TestToolCProtoDef(t *testing.T) {
	tooltest.Path(t, "cc")
	n := 0
	for name, text := range protodefFiles(t, "*.json") {
		s, _ := defs.Load([]*source.File{source.New(name, text)}, "protodef", schema.Options{})
		n++
		_, losses := tryC(t, fmt.Sprintf("p%d", n), s, 3)
		for _, l := range losses {
			t.Errorf("%s: lost: %s", name, l)
		}
	}
}

// TestToolCKaitai compiles code for formats of Kaitai Struct, and reads and writes generated messages.
func TestToolCKaitai(t *testing.T) {
	tooltest.Path(t, "cc")
	var sets [][]*source.File
	paths, err := filepath.Glob("../library/kaitai/*.ksy")
	if err != nil || len(paths) == 0 {
		t.Fatal("no formats", err)
	}
	own, _ := filepath.Glob("../kaitai/testdata/*.txtar")
	for _, path := range append(paths, own...) {
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
	if c := corpora.Largest(t); !c.Own {
		var suite []*source.File
		for _, name := range slices.Concat(c.Glob(t, "kaitai/formats/*.ksy"), c.Glob(t, "kaitai/formats/*/*.ksy")) {
			suite = append(suite, source.New(strings.TrimPrefix(name, "kaitai/formats/"), c.Text(t, name)))
		}
		sets = append(sets, suite)
	}
	all, with := 0, 0
	for i, set := range sets {
		s, _ := defs.Load(set, "kaitai", schema.Options{}) // messages with errors are omitted
		n, _ := tryC(t, fmt.Sprintf("k%d", i), s, 8)
		all, with = all+len(s.Messages), with+n
	}
	if t.Logf("%d of %d messages", with, all); with < 1 {
		t.Error("too few")
	}
}

// TestToolCShipped compiles code for the shipped definitions of every language, and reads and writes generated messages.
func TestToolCShipped(t *testing.T) {
	tooltest.Path(t, "cc")
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
		n, losses := tryC(t, d.Name+"s", s, 8)
		t.Logf("%s: %d of %d messages, lost %v", d.Name, n, len(s.Messages), losses)
	}
}
