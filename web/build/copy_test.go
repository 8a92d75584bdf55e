package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/evanw/esbuild/pkg/api"

	"wirebench/codec/paste"
	"wirebench/defs/schema"
	"wirebench/defs/tooltest"
	"wirebench/web/browsertest"
)

// copied are the outputs of the copy menus for bytes and for a value, by format.
type copied struct{ Bytes, Values map[string]string }

// copies makes all formats in a browser.
func copies(t *testing.T, data []byte, value string) copied {
	t.Helper()
	web, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: web,
		Stdin: &api.StdinOptions{
			Contents:   `export { bytesFormats } from "./kit/copy/bytes"; export { valueFormats } from "./kit/copy/values";`,
			ResolveDir: filepath.Join(web, "src"),
			Loader:     api.LoaderTS,
		},
		Bundle:      true,
		Format:      api.FormatIIFE,
		GlobalName:  "formats",
		Engines:     engines,
		Charset:     api.CharsetUTF8,
		LogLevel:    api.LogLevelSilent,
		TsconfigRaw: `{"compilerOptions":{"strict":true,"target":"ES2023","verbatimModuleSyntax":true}}`,
	})
	if len(result.Errors) > 0 {
		t.Fatal(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><body id="main">formats`)
	}))
	t.Cleanup(srv.Close)
	ctx := browsertest.Open(t, srv.URL, "#main")
	browsertest.Run(t, ctx, chromedp.Evaluate(string(result.OutputFiles[0].Contents)+";0", nil))
	return browsertest.Value[copied](t, ctx, fmt.Sprintf(`(() => {
		const data = Uint8Array.from(atob(%q), (c) => c.charCodeAt(0));
		const from = { offset: 0, name: "C_CHAT.2", dir: "c2s", time: "10:11:12.345" };
		const v = { path: "", name: "", message: "C_CHAT", type: "", value: %s };
		return {
			bytes: Object.fromEntries(formats.bytesFormats.filter((f) => f.id !== "raw").map((f) => [f.id, f.write(data, from)])),
			values: Object.fromEntries(formats.valueFormats.map((f) => [f.id, f.write(v)])),
		};
	})()`, base64.StdEncoding.EncodeToString(data), value))
}

// manyBytes are all byte values, and an incomplete line of them.
func manyBytes() []byte {
	data := make([]byte, 0, 300)
	for i := range cap(data) {
		data = append(data, byte(i))
	}
	return data
}

const manyValues = `{"number":1,"big":"72057594037927936","y":true,"text":"a \"q\" | 'b', c: #d\n\u0000\u0085\u2028\ufeff😀\\",
	"pos":{"x":1.5,"y":-2e-7,"on":1e21},"members":[{"id":7,"name":"yes"},{"id":8,"name":"-1","list":[[1,2],[]]}],
	"codes":[1,2,3],"words":["12:30","~","","null"," a ","%"],"mixed":[1,"a",null,true],"none":[],"group":{},"":0}`

// output runs a program and returns its output. The test is skipped if the program is not installed.
func output(t *testing.T, dir, input, name string, args ...string) string {
	t.Helper()
	if _, ok := tooltest.Look(t, name); !ok {
		tooltest.Skip(t, name+" is not installed")
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", name, strings.Join(args, " "), err, stderr.String(), input)
	}
	return string(out)
}

// The programs that the formats are for read the copied text: they print the bytes as hex, or the value as JSON.
func TestBrowserCopiedTextIsUnderstood(t *testing.T) {
	data := manyBytes()
	all := copies(t, data, manyValues)
	hex := fmt.Sprintf("%x", data)

	t.Run("xxd", func(t *testing.T) {
		if got, want := all.Bytes["xxd"], output(t, "", string(data), "xxd"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		for _, id := range []string{"hex", "spaced"} {
			if got := output(t, "", all.Bytes[id], "xxd", "-r", "-p"); got != string(data) {
				t.Errorf("%s: got %x", id, got)
			}
		}
	})
	sources := []struct {
		name, file string
		text       string
		commands   [][]string
	}{
		{
			"C", "a.c", "#include <stdio.h>\n" + all.Bytes["c"] + "static const char text[] = " + all.Bytes["escaped"] + ";\nint main(void) {\n" +
				"for (unsigned i = 0; i < sizeof c_chat_2_bytes; i++) {\nif (c_chat_2_bytes[i] != (unsigned char)text[i]) return 1;\nprintf(\"%02x\", c_chat_2_bytes[i]);\n}\nreturn 0; }\n",
			[][]string{{"gcc", "-Wall", "-Werror", "-o", "a", "a.c"}, {"./a"}},
		},
		{
			"C++", "a.cc", "#include <array>\n#include <cstdint>\n#include <cstdio>\n" + all.Bytes["cpp"] +
				"int main() { for (auto b : c_chat_2_bytes) std::printf(\"%02x\", b); }\n",
			[][]string{{"g++", "-std=c++17", "-Wall", "-Werror", "-o", "a", "a.cc"}, {"./a"}},
		},
		{
			"Go", "a.go", "package main\n\nimport \"fmt\"\n\n" + all.Bytes["go"] + "\nfunc main() {\n\tfmt.Printf(\"%x\", cChat2Bytes)\n}\n",
			[][]string{{"go", "run", "a.go"}},
		},
		{
			"Rust", "a.rs", all.Bytes["rust"] + "fn main() { for b in C_CHAT_2_BYTES { print!(\"{:02x}\", b) } }\n",
			[][]string{{"rustc", "--edition", "2021", "-o", "a", "a.rs"}, {"./a"}},
		},
		{"Python", "a.py", all.Bytes["python"] + "print(c_chat_2_bytes.hex(), end='')\n", [][]string{{"python3", "a.py"}}},
		{"Java", "A.java", "class A { public static void main(String[] a) {\n" + all.Bytes["java"] +
			"for (byte b : cChat2Bytes) System.out.printf(\"%02x\", b); } }\n", [][]string{{"java", "A.java"}}},
		{"JavaScript", "a.js", all.Bytes["javascript"] + "process.stdout.write(Buffer.from(cChat2Bytes).toString('hex'))\n", [][]string{{"node", "a.js"}}},
		{"Lua", "a.lua", all.Bytes["lua"] + "for _, b in ipairs(c_chat_2_bytes) do io.write(string.format('%02x', b)) end\n", [][]string{{"lua", "a.lua"}}},
	}
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			if got := compiled(t, s.file, s.text, s.commands); got != hex {
				t.Errorf("got  %s\nwant %s\n%s", got, hex, s.text)
			}
		})
	}

	values := []struct {
		name, file, text string
		command          []string
	}{
		{
			"a Go literal", "a.go", "package main\n\nimport (\n\t\"encoding/json\"\n\t\"os\"\n)\n\nfunc main() {\n\tjson.NewEncoder(os.Stdout).Encode(" + all.Values["go"] + ")\n}\n",
			[]string{"go", "run", "a.go"},
		},
		{"a TypeScript literal", "a.js", "process.stdout.write(JSON.stringify(" + all.Values["typescript"] + "))\n", []string{"node", "a.js"}},
		{"JSON, one line", "a.js", "process.stdout.write(JSON.stringify(" + all.Values["json-line"] + "))\n", []string{"node", "a.js"}},
		{
			"YAML", "a.yaml", all.Values["yaml"],
			[]string{"python3", "-c", "import json, yaml; print(json.dumps(yaml.safe_load(open('a.yaml', encoding='utf-8'))))"},
		},
	}
	for _, v := range values {
		t.Run(v.name, func(t *testing.T) {
			if v.name == "YAML" && exec.Command("python3", "-c", "import yaml").Run() != nil {
				t.Skip("PyYAML is not installed")
			}
			got := compiled(t, v.file, v.text, [][]string{v.command})
			if normal(t, got) != normal(t, manyValues) {
				t.Errorf("got  %s\nwant %s\n%s", normal(t, got), normal(t, manyValues), v.text)
			}
		})
	}
	t.Run("CSV", func(t *testing.T) {
		got := compiled(t, "a.csv", all.Values["csv"], [][]string{{"python3", "-c", "import csv,json;print(json.dumps(list(csv.reader(open('a.csv',newline='',encoding='utf-8')))))"}})
		want := `[["number","big","y","text","pos.x","pos.y","pos.on","members","codes","words","mixed","none",""],
			["1","72057594037927936","true","a \"q\" | 'b', c: #d\n\u0000\u0085\u2028\ufeff😀\\","1.5","-2e-7","1e+21",
			"[{\"id\":7,\"name\":\"yes\"},{\"id\":8,\"name\":\"-1\",\"list\":[[1,2],[]]}]","[1,2,3]","[\"12:30\",\"~\",\"\",\"null\",\" a \",\"%\"]","[1,\"a\",null,true]","[]","0"]]`
		if normal(t, got) != normal(t, want) {
			t.Errorf("got  %s\nwant %s", normal(t, got), normal(t, want))
		}
	})
}

// Copied text can be pasted.
func TestBrowserCopiedBytesCanBePasted(t *testing.T) {
	data := manyBytes()
	all := copies(t, data, "0")
	for id, text := range all.Bytes {
		if id == "text" {
			continue // lacks some bytes
		}
		t.Run(id, func(t *testing.T) {
			got, err := paste.Recognise(text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if len(got.Messages) != 1 || !bytes.Equal(got.Messages[0].Bytes, data) {
				t.Fatalf("read as %s: %d messages\n%s", got.Form, len(got.Messages), text)
			}
			m := got.Messages[0]
			if told := id == "tera-log" || id == "text2pcap"; told && (m.Dir != schema.ToServer || m.Time.String() != "10:11:12.345") {
				t.Errorf("direction %v at %v", m.Dir, m.Time)
			}
		})
	}
}

// compiled writes a file, runs commands in its directory and returns the output of the last one.
func compiled(t *testing.T, file, text string, commands [][]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out string
	for _, c := range commands {
		if name, ok := strings.CutPrefix(c[0], "./"); ok {
			c[0] = filepath.Join(dir, name)
		}
		out = output(t, dir, "", c[0], c[1:]...)
	}
	return out
}

// normal is JSON with sorted names.
func normal(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
