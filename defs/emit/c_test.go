package emit_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirebench/defs"
	"wirebench/defs/corpora"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tooltest"
)

// cFlags are strict compiler flags.
var cFlags = []string{"-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

func compileC(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("cc", append(append([]string{}, cFlags...), args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out[:min(len(out), 3000)])
	}
}

// cppFlags are strict flags of a C++ compiler, for the standard of 2011.
var cppFlags = []string{"-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"}

func compileCPP(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("g++", append(append([]string{}, cppFlags...), args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, out[:min(len(out), 3000)])
	}
}

// cSources returns the names of the sources among generated files.
func cSources(files []emit.File) (names []string) {
	for _, f := range files {
		if strings.HasSuffix(f.Name, ".c") && !strings.HasSuffix(f.Name, "_test.c") {
			names = append(names, f.Name)
		}
	}
	return names
}

// TestToolCVectors reads all messages and writes them again; the generated test compares the values of some.
func TestToolCVectors(t *testing.T) {
	t.Parallel()
	tooltest.Path(t, "cc")
	text, err := os.ReadFile("testdata/harness/main.c.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files := generate(t, "c", s.schema, s.name, vectors(t, s, 100)...)
			for _, file := range files {
				write(t, dir, file.Name, file.Text)
			}
			write(t, dir, "main.c", cHarness(string(text), s, files[0].Name))
			optimize := "-O1"
			if len(s.schema.Messages) > 6 {
				optimize = "-O0" // otherwise the sanitizers take a minute
			}
			compileC(t, dir, slices.Concat([]string{optimize, "-o", "tried", "main.c"}, cSources(files))...)
			sanitize := "-fsanitize=address,undefined"
			if optimize == "-O0" {
				sanitize = "-fno-sanitize=all" // the other program has them
			}
			compileC(t, dir, slices.Concat([]string{"-O0", sanitize, "-o", "vectors", s.name + "_test.c"}, cSources(files))...)
			if out, err := exec.Command(filepath.Join(dir, "vectors")).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", s.name, err, out[:min(len(out), 3000)])
			}
			var rows []row
			var in strings.Builder
			for _, r := range s.rows {
				if r.Write != nil {
					continue
				}
				name := r.Message
				if r.Set != "" {
					name = "*"
				}
				rows = append(rows, r)
				fmt.Fprintf(&in, "%s %s\n", name, r.Hex)
			}
			cmd := exec.Command(filepath.Join(dir, "tried"))
			cmd.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
			answers := readAnswers(t, run(t, cmd, []byte(in.String())))
			for i := range answers {
				if i == len(rows) {
					break
				}
				a, r := &answers[i], &rows[i]
				a.Value = r.value // values have no text form
				if a.Again != r.again && a.Again != r.exact && r.sameMeaning(t, s.schema, a.Again) {
					a.Again = r.again // bytes after the terminator of a text are preserved, a bool is 1
				}
			}
			compare(t, rows, answers)
		})
	}
}

// notWord is a character that is not part of an identifier.
var notWord = regexp.MustCompile(`[^0-9A-Za-z_]`)

// cHarness is the test program of one header.
func cHarness(text string, s sample, header string) string {
	var members, functions, rows strings.Builder
	peek := "abort();"
	taken := map[string]bool{}
	for _, m := range s.schema.Messages {
		name := strings.ToLower(notWord.ReplaceAllString(m.Name, "_"))
		if m.Version > 1 {
			name += fmt.Sprintf("_v%d", m.Version)
		}
		for base, i := name, 2; taken[name]; i++ {
			name = fmt.Sprintf("%s_%d", base, i)
		}
		taken[name] = true
		if g := m.Key.Group; g != "" && len(s.rows) > 0 {
			peek = "return " + g + "_peek(in, id);"
		}
		fmt.Fprintf(&members, "\t%s_t %s_;\n", name, name)
		fmt.Fprintf(&functions, "static int read_%s(wb_in *in, value *v) { return %s_read(in, &v->%s_); }\n", name, name, name)
		fmt.Fprintf(&functions, "static int write_%s(wb_out *out, const value *v) { return %s_write(out, &v->%s_); }\n", name, name, name)
		fmt.Fprintf(&functions, "static size_t size_%s(const value *v) { return %s_compute_sz(&v->%s_); }\n", name, name, name)
		fmt.Fprintf(&rows, "\t{%q, %d, read_%s, write_%s, size_%s},\n", messageName(m), m.Key.Code, name, name, name)
	}
	return strings.NewReplacer("/* INCLUDE */", fmt.Sprintf("#include %q", header), "\t/* MEMBERS */\n", members.String(),
		"/* FUNCTIONS */\n", functions.String(), "\t/* MESSAGES */\n", rows.String(), "/* PEEK */", peek).Replace(text)
}

// TestToolCSources checks that the definitions of a library, which are many, are several sources, and that these, and names that are reserved
// in C++, are C and C++. Only their syntax is checked: optimized code takes half a minute.
func TestToolCSources(t *testing.T) {
	t.Parallel()
	tooltest.Path(t, "cc")
	vec := inOrder(field("x", number(8, 0)))
	vec.Name = "vec"
	clash := func(name string) *schema.Message { // a member that is named like its type
		return datagram(name, inOrder(field("vec_t", &schema.Group{Struct: vec}), field(name+"_t", number(8, 0)), field("class", number(8, 0)), field("xor_eq", number(8, 0))))
	}
	words := []*schema.Message{clash("new"), clash("template"), clash("plain")}
	for name, s := range map[string]*schema.Schema{"words": linked(words...), "toolbox": toolbox(t)} {
		dir := t.TempDir()
		target, _ := emit.Find("c")
		files, _ := target.Emit(s, emit.Options{Name: name})
		args := append([]string{"-fsyntax-only"}, cSources(files)...)
		for _, f := range files {
			write(t, dir, f.Name, f.Text)
			if n := strings.Count(f.Text, "\n"); n > 20_000 {
				t.Errorf("%s has %d lines", f.Name, n)
			}
		}
		if name == "toolbox" && len(files) < 6 {
			t.Errorf("%d files", len(files))
		}
		compileC(t, dir, args...)
		if _, ok := tooltest.Look(t, "g++"); ok {
			compileCPP(t, dir, append([]string{"-x", "c++"}, args...)...)
		}
	}
}

// toolbox returns many definitions.
func toolbox(t *testing.T) *schema.Schema {
	texts := corpora.Definitions(600)
	if c := corpora.Wide(t); c != nil {
		texts = c.Files(t, "tera/toolbox/definitions/*.def")
	}
	var files []*source.File
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		files = append(files, source.New(name, texts[name]))
	}
	s, _ := defs.Load(files, "tera", schema.Options{})
	return s
}
