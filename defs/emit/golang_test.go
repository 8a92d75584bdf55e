package emit_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/defs/emit"
	"wirebench/defs/schema"
)

// generate writes the files of a target, including the test of its vectors if there are any.
func generate(t *testing.T, target string, s *schema.Schema, name string, list ...emit.Vector) []emit.File {
	t.Helper()
	x, ok := emit.Find(target)
	if !ok {
		t.Fatalf("no target %q", target)
	}
	files, losses := x.Emit(s, emit.Options{Name: name, Vectors: list})
	for _, l := range losses {
		t.Errorf("%s: lost: %s", name, l)
	}
	if want := 1 + min(len(list), 1); len(files) != want {
		t.Fatalf("%s: %d files were written, want %d", name, len(files), want)
	}
	return files
}

func TestGoVectors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "go.mod", "module tried\n\ngo 1.24\n")
	var imports, packages strings.Builder
	var rows []row
	for _, s := range samples(t) {
		for _, file := range generate(t, "go", s.schema, s.name, vectors(t, s, 100)...) {
			write(t, dir, s.name+"/"+file.Name, file.Text)
		}
		fmt.Fprintf(&imports, "\t%q\n", "tried/"+s.name)
		fmt.Fprintf(&packages, "\t%q: {func(name string) message { return %s.Messages[name]() }, nil, %s.Incomplete, %s.Illegal},\n", s.name, s.name, s.name, s.name)
		if set := s.schema.Messages[0].Key.Group; set != "" {
			find := "Read" + strings.ToUpper(set[:1]) + set[1:]
			text := strings.Replace(packages.String(), fmt.Sprintf("%s.Messages[name]() }, nil,", s.name),
				fmt.Sprintf("%s.Messages[name]() }, func(set string, data []byte) (message, int, error) { m, n, err := %s.%s(data); return m, n, err },", s.name, s.name, find), 1)
			packages.Reset()
			packages.WriteString(text)
		}
		rows = append(rows, s.rows...)
	}
	text, err := os.ReadFile("testdata/harness/main.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	program := strings.NewReplacer("\t// IMPORTS\n", imports.String(), "\t// PACKAGES\n", packages.String()).Replace(string(text))
	write(t, dir, "main.go", program)
	build := exec.Command("go", "test", "-vet=off", "-ldflags=-s -w", "./...")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("go test: %v\n%s", err, out[:min(len(out), 5000)])
	}
	build = exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, "tried"), ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	compare(t, rows, readAnswers(t, run(t, exec.Command(filepath.Join(dir, "tried")), jsonLines(t, rows))))
}

// run runs a program with input and returns its output.
func run(t *testing.T, cmd *exec.Cmd, input []byte) []byte {
	t.Helper()
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &stderr
	if err := cmd.Run(); err != nil {
		text := stderr.String()
		if len(text) > 4000 {
			text = text[:4000]
		}
		t.Fatalf("%v\n%s", err, text)
	}
	return out.Bytes()
}
