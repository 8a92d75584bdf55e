package emit_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/tooltest"
)

func TestToolTypeScriptVectors(t *testing.T) {
	t.Parallel()
	node := tooltest.Path(t, "node")
	dir := t.TempDir()
	write(t, dir, "package.json", `{"type": "module"}`)
	var imports, packages strings.Builder
	var rows []row
	var sources, scripts []string
	for _, s := range samples(t) {
		for _, file := range generate(t, "ts", s.schema, s.name, vectors(t, s, 100)...) {
			write(t, dir, file.Name, file.Text)
			sources = append(sources, filepath.Join(dir, file.Name))
			write(t, dir, strings.TrimSuffix(file.Name, ".ts")+".js", javaScript(t, file))
		}
		scripts = append(scripts, s.name+"_test.js")
		fmt.Fprintf(&imports, "import * as %s from \"./%s.js\";\n", s.name, s.name)
		fmt.Fprintf(&packages, "\t%s: {...%s, find: %s.%s},\n", s.name, s.name, s.name, finder(s.schema))
		for _, r := range s.rows {
			if r.Write != nil {
				r.Write = tagged(t, s.schema, r)
			}
			rows = append(rows, r)
		}
	}
	typeCheck(t, node, dir, sources)
	for _, script := range scripts {
		if out, err := exec.Command(node, filepath.Join(dir, script)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out[:min(len(out), 3000)])
		}
	}
	text, err := os.ReadFile("testdata/harness/main.js.txt")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "main.js", strings.NewReplacer("// IMPORTS\n", imports.String(), "\t// PACKAGES\n", packages.String()).Replace(string(text)))
	answers := readAnswers(t, run(t, exec.Command(node, filepath.Join(dir, "main.js")), jsonLines(t, rows)))
	compare(t, rows, answers)
}

// javaScript returns a file without types.
func javaScript(t *testing.T, f emit.File) string {
	t.Helper()
	out := api.Transform(f.Text, api.TransformOptions{Loader: api.LoaderTS, Target: api.ES2022, LogLevel: api.LogLevelSilent})
	if len(out.Errors) > 0 {
		t.Fatalf("%s: %s at %v", f.Name, out.Errors[0].Text, out.Errors[0].Location)
	}
	return string(out.Code)
}

// finder returns the name of the function that reads a message by its code, if the schema has codes.
func finder(s *schema.Schema) string {
	group := s.Messages[0].Key.Group
	if group == "" {
		return "none"
	}
	return "read" + strings.ToUpper(group[:1]) + group[1:]
}

// typeCheck runs the compiler of the page's sources, if it is installed.
func typeCheck(t *testing.T, node, dir string, sources []string) {
	t.Helper()
	tsc, err := filepath.Abs("../../web/node_modules/typescript/bin/tsc")
	if err == nil {
		_, err = os.Stat(tsc)
	}
	if err != nil {
		if os.Getenv("WIREBENCH_BROWSER") == "required" {
			t.Errorf("tsc is needed: %v", err)
		}
		t.Logf("types are not checked, tsc is not here: %v", err)
		return
	}
	args := append([]string{tsc, "--noEmit", "--strict", "--noImplicitReturns", "--noUncheckedIndexedAccess", "--target", "es2022", "--lib", "es2022,dom", "--types", ""}, sources...)
	cmd := exec.Command(node, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out[:min(len(out), 3000)])
	}
}

// tagged returns a value with marked 64-bit numbers, bytes and named numbers, as JSON has no distinct form for them.
func tagged(t *testing.T, s *schema.Schema, r row) json.RawMessage {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(r.Write))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Messages {
		if messageName(m) == r.Message {
			out := tag(&schema.Group{Struct: m.Body}, v).(map[string]any)
			if !m.HasKey {
				out["$code"] = r.Code
			}
			text, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
	}
	t.Fatalf("no message %s", r.Message)
	return nil
}

func tag(typ schema.Type, v any) any {
	switch typ := typ.(type) {
	case *schema.Number:
		if typ.Scale == 0 && typ.Kind != schema.Float && typ.Kind != schema.Bool && typ.Bits > 32 {
			return map[string]any{"$big": fmt.Sprint(v)}
		}
		if s, ok := v.(string); ok {
			return map[string]any{"$float": s}
		}
	case *schema.Blob:
		return map[string]any{"$hex": v}
	case *schema.List:
		out := []any{}
		for _, e := range v.([]any) {
			if typ.Bare {
				out = append(out, tag(typ.Elem.Fields[0].Type, e))
			} else {
				out = append(out, tag(&schema.Group{Struct: typ.Elem}, e))
			}
		}
		return out
	case *schema.Bitfield:
		out := v.(map[string]any)
		for _, f := range typ.Forms {
			for _, p := range f.Parts {
				if _, ok := out[p.Name]; !ok && p.Kind == schema.Bool {
					out[p.Name] = false
				} else if !ok {
					out[p.Name] = 0
				}
			}
		}
		return out
	case *schema.Group:
		out := map[string]any{}
		for _, f := range typ.Struct.Fields {
			if x, ok := v.(map[string]any)[f.Name]; ok {
				for n := 1; f.Same != nil && n < len(typ.Struct.Fields); n++ { // an earlier field has the same value
					name := fmt.Sprintf("%s#%d", f.Name, n)
					if _, ok := out[name]; !ok {
						out[name] = tag(f.Type, x)
						break
					}
				}
				out[f.Name] = tag(f.Type, x)
			}
		}
		return out
	}
	return v
}

// TestToolTypeScriptRuntime runs the tests of the runtime, with contents that Go compresses.
func TestToolTypeScriptRuntime(t *testing.T) {
	t.Parallel()
	node := tooltest.Path(t, "node")
	dir := t.TempDir()
	write(t, dir, "package.json", `{"type": "module"}`)
	plain := []byte(strings.Repeat("to be or not to be, that is the question: ", 3))
	var packed strings.Builder
	for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, flate.BestCompression} {
		var out [3]bytes.Buffer
		z, _ := zlib.NewWriterLevel(&out[0], level)
		f, _ := flate.NewWriter(&out[1], level)
		g, _ := gzip.NewWriterLevel(&out[2], level)
		for i, w := range []io.WriteCloser{z, f, g} {
			w.Write(plain)
			w.Close()
			fmt.Fprintf(&packed, "\t[%d, \"%x\"],\n", i+1, out[i].Bytes())
		}
	}
	var sources []string
	for _, name := range []string{"runtime", "pack", "runtime_test"} {
		text, err := os.ReadFile("runtime/" + name + ".ts")
		if err != nil {
			t.Fatal(err)
		}
		f := emit.File{Name: name + ".ts", Text: strings.Replace(string(text), "\t// PACKED\n", packed.String(), 1)}
		write(t, dir, f.Name, f.Text)
		write(t, dir, name+".js", javaScript(t, f))
		sources = append(sources, filepath.Join(dir, f.Name))
	}
	typeCheck(t, node, dir, sources)
	if out, err := exec.Command(node, filepath.Join(dir, "runtime_test.js")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out[:min(len(out), 3000)])
	}
}
