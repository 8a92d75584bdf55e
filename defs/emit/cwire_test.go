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

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/tooltest"
)

// cModules are those of C. The tests run under the sanitizers; then messages with random changes are read.
func cModules(t *testing.T) *modules {
	tooltest.Path(t, "cc")
	type module struct {
		name  string
		files []emit.File
		schema.Schema
	}
	var all []*module
	m := &modules{dir: t.TempDir(), target: "c"}
	m.add = func(f emit.File, name string) {
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &module{name, nil, *m.schema})
		}
		last := all[len(all)-1]
		last.files = append(last.files, f)
		write(t, m.dir, name+"/"+f.Name, f.Text)
	}
	m.test = func() {
		for _, x := range all {
			dir, compared := filepath.Join(m.dir, x.name), 0
			if !strings.HasSuffix(x.files[len(x.files)-1].Name, "_test.c") {
				continue // no vectors
			}
			for _, f := range x.files {
				compared += strings.Count(f.Text, "_t want = ")
			}
			compileC(t, dir, slices.Concat([]string{"-O0", "-o", "vectors", x.name + "_test.c"}, cSources(x.files))...)
			if out, err := exec.Command(filepath.Join(dir, "vectors")).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", x.name, err, out[:min(len(out), 3000)])
			}
			var kept []*schema.Message
			for _, m := range x.Messages {
				if strings.Contains(x.files[0].Text, "\n/* The message "+messageName(m)+". */\n") {
					kept = append(kept, m)
				}
			}
			t.Logf("%s: %d of %d messages, the values of %d are compared", x.name, len(kept), len(x.Messages), compared)
			if len(kept) <= 40 { // otherwise the compiler takes minutes
				changedC(t, dir, sample{name: x.name, schema: &schema.Schema{Messages: kept}}, x.files)
			}
		}
	}
	return m
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

func TestToolCParts(t *testing.T) {
	t.Parallel()
	cModules(t).emitParts(t)
}

func TestToolCRandomProtoDef(t *testing.T) {
	t.Parallel()
	cModules(t).emitRandom(t)
}

func TestToolCPacked(t *testing.T)   { cModules(t).emitPacked(t) }
func TestToolCShipped(t *testing.T)  { cModules(t).emitShipped(t) }
func TestToolCProtoDef(t *testing.T) { cModules(t).emitProtoDef(t) }
func TestToolCKaitai(t *testing.T)   { cModules(t).emitKaitai(t) }
