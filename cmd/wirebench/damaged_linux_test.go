package main

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A damaged file of any kind in the data folder, or something else in its place, ends nothing: the server starts, the log names the file
// once, the rest works, and its bytes are still there after something was written in its place. Otherwise a fifo may wait for ever, a null
// count as a whole file, and the next comment replace all others.
func TestDamagedFilesOfEachKind(t *testing.T) {
	const capture = "20260101-000000-aaaa"
	const step = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	kinds := []struct {
		name, whole string
		starts      bool              // with anything in its place
		not         string            // damages that are none
		write       [3]string         // a request that writes the file: method, path, body
		besides     map[string]string // files without which it is not read
	}{
		{name: "format.json", whole: `{"format":3}`},
		{name: "projects.json", whole: `{"samples":["tera","muta","subspace","protodef"]}`, starts: true},
		{name: "muta/project.json", whole: `{"title":"Muta","protocol":"muta"}`, starts: true},
		{name: "accounts.json", whole: `{"accounts":[]}`},
		{name: "audit.jsonl", whole: `{"at":"2026-01-01T00:00:00Z","who":"a","what":"b"}`, starts: true, not: "0 bytes"},
		{name: "audit.jsonl.1", whole: `{"at":"2026-01-01T00:00:00Z","who":"a","what":"b"}`, starts: true, not: "0 bytes"},
		{name: "tera/settings.json", whole: `{"patch":"92"}`, starts: true, write: [3]string{"PATCH", "/api/tera", `{"patch":"93"}`}},
		{name: "tera/threads.json", whole: `{"texts":{},"threads":[]}`, starts: true, write: [3]string{"POST", "/api/tera/threads", `{"file":"C_GOOD.1.def","line":1,"text":"hello"}`}},
		{name: "tera/capsules.json", whole: `[]`, starts: true},
		{name: "tera/capsules/0123456789abcdef0123456789abcdef.json", whole: `{"format":"x"}`, starts: true, besides: map[string]string{"tera/capsules.json": `[{"id":"0123456789abcdef0123456789abcdef","at":"2026-01-01T00:00:00Z"}]`}},
		{name: "tera/changes.json", whole: `[{"id":"` + step + `"}]`, starts: true, write: [3]string{"DELETE", "/api/tera/definitions/C_GOOD.1.def?force=true", ""}},
		{name: "tera/changes/" + step + ".tar.gz", whole: "\x1f\x8b\x08", starts: true, besides: map[string]string{"tera/changes.json": `[{"id":"` + step + `"}]`}},
		{name: "tera/history/C_GOOD.1.def.jsonl", whole: `{"id":"A","from":"2026-01-01T00:00:00Z","at":"2026-01-01T00:00:00Z","who":[],"t":"int32 x\n"}`, starts: true, write: [3]string{"PUT", "/api/tera/definitions/C_GOOD.1.def?force=true", "int32 y\n"}},
		{name: "tera/texts/C_GOOD.1.def.jsonl", whole: `[{"room":"A","v":0,"text":"int32 x\n"}]`, starts: true},
		{name: "tera/captures/" + capture + ".json", whole: `{"name":"one"}`, starts: true, write: [3]string{"PATCH", "/api/tera/captures/" + capture, `{"name":"two"}`}, besides: map[string]string{"tera/captures/" + capture + ".capture": "hello"}},
		{name: "tera/captures/" + capture + ".capture", whole: "hello", starts: true, not: "0 bytes, cut, random, null, another type"},
	}
	damages := []struct{ what, text string }{
		{"0 bytes", ""},
		{"cut", "cut"}, // at the middle
		{"random", "\x8f\x03{\xff\x1b\n\x9a\x00garbage\n"},
		{"null", "null"},
		{"another type", `"text"`},
		{"fifo", ""},
		{"directory", ""},
	}
	if testing.Short() { // null, another type, a fifo
		damages = damages[3:6]
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			for _, d := range damages {
				if strings.Contains(k.not, d.what) {
					continue
				}
				if d.what == "cut" {
					d.text = k.whole[:len(k.whole)/2]
				}
				t.Run(d.what, func(t *testing.T) {
					t.Parallel()
					data := t.TempDir()
					fill(t, data, map[string]string{"format.json": `{"format":3}`, "tera/project.json": `{"title":"Tera","protocol":"tera"}`, "tera/definitions/C_GOOD.1.def": "int32 x\n", "projects.json": `{"samples":["tera","muta","subspace","protodef"]}`})
					fill(t, data, k.besides)
					at := filepath.Join(data, filepath.FromSlash(k.name))
					_ = os.Remove(at)
					if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
						t.Fatal(err)
					}
					var err error
					irregular := false
					switch d.what {
					case "fifo":
						err, irregular = syscall.Mkfifo(at, 0o600), true
					case "directory":
						err, irregular = os.Mkdir(at, 0o755), true
					default:
						err = os.WriteFile(at, []byte(d.text), 0o600)
					}
					if err != nil {
						t.Fatal(err)
					}
					if !k.starts && (irregular || k.name == "accounts.json") {
						_, stderr, status := cli(t, "", "serve", "--listen", "127.0.0.1:0", "--data", data)
						if status == exitOK || !strings.Contains(stderr, at) {
							t.Errorf("%d %s", status, stderr)
						}
						return
					}
					addr, out := started(t, "--listen", "127.0.0.1:0", "--data", data)
					named := func() (n int) {
						for line := range strings.Lines(out.String()) {
							if strings.Contains(line, "level=") && (strings.Contains(line, at+" ") || strings.Contains(line, at+"\"") || strings.Contains(line, at+":") || strings.Contains(line, at+"\n")) {
								n++
							}
						}
						return n
					}
					for end := time.Now().Add(20 * time.Second); named() == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
					}
					if status, body := get(t, "http://"+addr+"/api/tera/definitions/C_GOOD.1.def"); status != 200 || !strings.Contains(body, "int32 x") {
						t.Errorf("the others: %d %s", status, body)
					}
					get(t, "http://"+addr+"/api/tera/captures")
					get(t, "http://"+addr+"/api/tera/threads")
					if n := named(); n != 1 {
						t.Errorf("named %d times: %s", n, out)
					}
					if k.write[0] != "" {
						status := sent(t, k.write[0], "http://"+addr+k.write[1], k.write[2])
						if irregular && strings.HasSuffix(k.name, "settings.json") && status < 400 || !irregular && status >= 300 {
							t.Errorf("writing: %d: %s", status, out)
						}
					}
					if irregular {
						if info, err := os.Lstat(at); err != nil || info.Mode().IsRegular() {
							t.Errorf("it was replaced: %v %v", info, err)
						}
						return
					}
					kept := false
					err = filepath.WalkDir(data, func(name string, e fs.DirEntry, err error) error {
						if err != nil || !e.Type().IsRegular() || !strings.HasPrefix(name, at) {
							return err
						}
						text, err := os.ReadFile(name)
						kept = kept || bytes.Contains(text, []byte(d.text))
						return err
					})
					if err != nil || !kept {
						t.Errorf("its text is gone: %v", err)
					}
				})
			}
		})
	}
}

// sent sends a request and returns the status of the answer.
func sent(t *testing.T, method, url, body string) int {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/json")
	} else if body != "" {
		req.Header.Set("Content-Type", "text/plain")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode >= 400 {
		t.Logf("%s %s: %s", method, url, text)
	}
	return res.StatusCode
}
