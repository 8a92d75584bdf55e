package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fill writes files to a folder.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A second server refuses to start in the data folder of the first, and names its process.
func TestSecondServerIsRefused(t *testing.T) {
	data := t.TempDir()
	started(t, "--listen", "127.0.0.1:0", "--data", data)
	_, stderr, status := cli(t, "", "serve", "--listen", "127.0.0.1:0", "--data", data)
	if status == exitOK || !strings.Contains(stderr, data) || !strings.Contains(stderr, fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("%d %s", status, stderr)
	}
}

// Health says why the server cannot work, and not where its data are.
func TestHealthSaysWhy(t *testing.T) {
	data := t.TempDir()
	addr, _ := started(t, "--listen", "127.0.0.1:0", "--data", data)
	if err := os.Mkdir(filepath.Join(data, "wirebench.try"), 0o777); err != nil {
		t.Fatal(err)
	}
	_, said, status := cli(t, "", "health", "--listen", addr)
	if status != exitInput || !strings.Contains(said, "503") || !strings.Contains(said, "the data folder cannot be written: is a directory") || strings.Contains(said, data) {
		t.Errorf("%d %s", status, said)
	}
}

func TestNewerDataIsRefused(t *testing.T) {
	data := t.TempDir()
	fill(t, data, map[string]string{"format.json": `{"format":99}`})
	_, stderr, status := cli(t, "", "serve", "--listen", "127.0.0.1:0", "--data", data)
	if status == exitOK || !strings.Contains(stderr, "format 99") || !strings.Contains(stderr, data) {
		t.Errorf("%d %s", status, stderr)
	}
}

// An upgrade of a data folder without a format version keeps its content.
func TestOlderDataIsUpgraded(t *testing.T) {
	data := t.TempDir()
	about := `{"id":"20260101-000000-aaaa","name":"old.pcap","size":5,"added":"2026-01-01T00:00:00Z","notes":{"marked":[2],"frames":{"3":"here"}}}`
	fill(t, data, map[string]string{
		"tera/settings.json":                         `{"patch":"92","theme":"dark"}`,
		"tera/definitions/C_OLD.1.def":               "int32 x\n",
		"tera/captures/20260101-000000-aaaa.capture": "bytes",
		"tera/captures/20260101-000000-aaaa.json":    about,
	})
	addr, out := started(t, "--listen", "127.0.0.1:0", "--data", data)
	if status, body := get(t, "http://"+addr+"/api/tera/captures"); status != 200 || !strings.Contains(body, "old.pcap") || !strings.Contains(body, "here") {
		t.Errorf("%d %s", status, body)
	}
	copies, _ := filepath.Glob(filepath.Join(data, "set-aside", "*", "tera", "captures", "20260101-000000-aaaa.json"))
	if len(copies) != 1 {
		t.Fatalf("%v: %s", copies, out)
	}
	if text, err := os.ReadFile(copies[0]); err != nil || string(text) != about {
		t.Errorf("%s, %v", text, err)
	}

	// Unknown settings survive a change.
	req, err := http.NewRequest("PATCH", "http://"+addr+"/api/tera", strings.NewReader(`{"patch":"93"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	text, err := os.ReadFile(filepath.Join(data, "tera", "settings.json"))
	if err != nil || !strings.Contains(string(text), `"theme": "dark"`) || !strings.Contains(string(text), `"patch": "93"`) {
		t.Errorf("%d %s, %v", res.StatusCode, text, err)
	}
}

// A damaged file affects only itself: the server starts, and the log has its full path.
func TestDamagedFilesCostThemselves(t *testing.T) {
	for what, text := range map[string]string{
		"garbage": "\x00\xff{\"a\":\x80" + strings.Repeat("\x01garbage\n", 50), "cut": `{"patch":"9`, "empty": "",
		"of other types": `{"format":"x","patch":7,"name":[],"notes":4}`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			fill(t, data, map[string]string{
				"tera/definitions/C_GOOD.1.def":              "int32 x\n",
				"tera/captures/20260101-000000-aaaa.capture": "hello",
				"tera/captures/20260101-000000-bbbb.capture": "hello",
				"tera/captures/20260101-000000-bbbb.json":    `{"name":"kept"}`,
			})
			damaged := []string{
				"format.json", "tera/settings.json", "subspace/settings.json", "tera/captures/20260101-000000-aaaa.json",
				"tera/definitions/C_GOOD.1.samples.jsonl", "tera/captures/20260101-000000-cccc.capture",
				"tera/definitions/C_BAD.1.def", "tera/definitions/protocol.9.map", "muta/definitions/bad.def", "subspace/definitions/bad.txt",
			}
			for _, name := range damaged {
				fill(t, data, map[string]string{name: text})
			}
			addr, out := started(t, "--listen", "127.0.0.1:0", "--data", data)
			if status, body := get(t, "http://"+addr+"/api/tera/definitions/C_GOOD.1.def"); status != 200 || !strings.Contains(body, "int32 x") {
				t.Errorf("the others: %d %s", status, body)
			}
			status, body := get(t, "http://"+addr+"/api/tera/captures")
			if status != 200 || strings.Count(body, `"size"`) != 3 || !strings.Contains(body, `"kept"`) {
				t.Errorf("the captures: %d %s", status, body)
			}
			get(t, "http://"+addr+"/api/tera/captures/20260101-000000-cccc/frames?count=1")
			for i, name := range damaged {
				if i >= 6 || i >= 4 && (what == "empty" || what == "of other types") {
					continue // no data is lost: mistakes show on the page, and a text without messages is an empty capture
				}
				if full := filepath.Join(data, filepath.FromSlash(name)); !strings.Contains(out.String(), full) {
					t.Errorf("the log does not name %s: %s", full, out)
				}
			}
		})
	}
}
