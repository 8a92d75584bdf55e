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
	want := 1 + min(len(list), 1)
	if target == "c" {
		want += len(cSources(files)) // sources, and another header if there are several
		if len(cSources(files)) > 1 {
			want++
		}
	}
	if len(files) != want {
		t.Fatalf("%s: %d files were written, want %d", name, len(files), want)
	}
	return files
}

func TestCorporaGoVectors(t *testing.T) {
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
	for _, file := range generate(t, "go", bytesSchema(), "hexes") {
		write(t, dir, "hexes/"+file.Name, file.Text)
	}
	write(t, dir, "hexes/json_test.go", goJSON)
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

// bytesSchema has bytes, and lists of numbers of one byte, in each place.
func bytesSchema() *schema.Schema {
	blob := func(e schema.Extent) schema.Type { return &schema.Blob{Extent: e} }
	return linked(measured("g", "all", 1, lengthsFirst(codeBits(8), map[string]int{"some": 8, "list": 8, "numbers": 8},
		field("key", blob(fixed(4))), field("some", blob(counted(0, 9))), field("list", bare(blob(fixed(2)), counted(0, 9))),
		field("numbers", bare(number(8, 0), counted(0, 9))), field("pair", bare(number(8, 0), fixed(2))))))
}

// goJSON is a test of the JSON of generated Go: bytes are hex, lists of numbers are lists.
const goJSON = `package hexes

import (
	"encoding/json"
	"testing"
)

func TestJSON(t *testing.T) {
	m := All{Key: Hex4{0xde, 0xad, 0xbe, 0xef}, Some: Hex{0, 255}, List: []Hex2{{1, 2}}, Numbers: []uint8{7, 200}, Pair: [2]uint8{3, 4}}
	text, err := json.Marshal(&m)
	const want = "{\"key\":\"deadbeef\",\"some\":\"00ff\",\"list\":[\"0102\"],\"numbers\":[7,200],\"pair\":[3,4]}"
	if err != nil || string(text) != want {
		t.Errorf("%s %v, want %s", text, err, want)
	}
	var again, none All
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	a, _ := m.AppendBinary(nil)
	b, err := again.AppendBinary(nil)
	if err != nil || string(a) != string(b) {
		t.Errorf("%x and %x, %v", a, b, err)
	}
	if err := json.Unmarshal([]byte("{\"key\":\"de\",\"some\":null,\"numbers\":null}"), &again); err != nil || again.Key != (Hex4{0xde}) || len(again.Some) != 2 {
		t.Errorf("%v %v", again, err)
	}
	for _, wrong := range []string{"{\"key\":\"0102030405\"}", "{\"some\":\"xy\"}", "{\"some\":[1]}", "{\"numbers\":[256]}", "{\"numbers\":\"AAE=\"}"} {
		if json.Unmarshal([]byte(wrong), &none) == nil {
			t.Errorf("accepted %s", wrong)
		}
	}
}
`
