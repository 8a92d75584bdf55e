package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A capsule is unpacked into definitions and a capture that they decode; names that leave the folder are refused, and so is a folder with files.
func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "capsule.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"format":"wirebench-capsule/1","title":"t","made":"2026-01-02","protocol":"tera","files":[{"name":"sub/C_A.1.def","text":"uint32 a\n"}],"codes":{"C_A":17},"frames":[{"n":9,"after":0,"dir":"c2s","message":"C_A.1","code":17,"hex":"0800110005000000"}]}`)
	to := filepath.Join(dir, "out")
	if _, said, status := cli(t, "", "unpack", file, to); status != 0 {
		t.Fatal(said)
	}
	text, _ := os.ReadFile(file)
	piped := filepath.Join(dir, "piped")
	if _, said, status := cli(t, string(text), "unpack", "-", piped); status != 0 {
		t.Fatal(said)
	}
	for _, name := range []string{"sub/C_A.1.def", "frames.jsonl"} {
		a, _ := os.ReadFile(filepath.Join(to, name))
		if b, err := os.ReadFile(filepath.Join(piped, name)); err != nil || string(a) != string(b) {
			t.Errorf("%s of standard input: %q, want %q, %v", name, b, a, err)
		}
	}
	out, said, status := cli(t, "", "frames", "--library", to, filepath.Join(to, "frames.jsonl"))
	if status != 0 || !strings.Contains(out, "C_A") || !strings.Contains(out, "a 5") {
		t.Fatal(out, said, status)
	}
	if _, said, status := cli(t, "", "unpack", file, to); status == 0 || !strings.Contains(said, "not empty") {
		t.Error(said, status)
	}
	write(`{"format":"wirebench-capsule/1","protocol":"tera","files":[{"name":"../C_A.1.def","text":"uint32 a\n"}],"frames":[{"hex":"08"}]}`)
	if _, said, status := cli(t, "", "unpack", file, filepath.Join(dir, "other")); status == 0 {
		t.Error(said)
	}
	if _, err := os.Stat(filepath.Join(dir, "C_A.1.def")); err == nil {
		t.Error("a file was written outside")
	}
}

// A bundle of definitions is read wherever definitions are, and taken apart; what is left out is said.
func TestBundleOfDefinitions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "data.json")
	const bundle = `{"maps": {"7": {"C_A": 17, "C_B": 18}}, "protocol": {"C_A.1.def": "dWludDMyIGEK", "C_B.1.def": "aW4zMiBhCg=="}, "deprecated": {}}`
	if err := os.WriteFile(file, []byte(bundle), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{file, dir} { // a file, and a folder that has one
		out, said, status := cli(t, "0800110005000000\n", "decode", "--library", from)
		if status != 0 || !strings.Contains(out, "C_A.1") {
			t.Errorf("decode with %s: %s %s", from, out, said)
		}
		out, said, status = cli(t, "", "check", from)
		if status == 0 || !strings.Contains(out, "data.json!/C_B.1.def:1:1: error") {
			t.Errorf("check %s: %s %s", from, out, said)
		}
	}
	to := filepath.Join(dir, "out")
	if _, said, status := cli(t, "", "unpack", file, to); status != 0 || !strings.Contains(said, "3 files in") {
		t.Fatal(said)
	}
	for name, want := range map[string]string{"C_A.1.def": "uint32 a\n", "C_B.1.def": "in32 a\n", "protocol.7.map": "C_A 17\nC_B 18\n"} {
		if text, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	if err := os.WriteFile(file, []byte(strings.Replace(bundle, "C_B.1.def", "C_B.1.js", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, said, status := cli(t, "", "unpack", file, filepath.Join(dir, "less")); status == 0 || !strings.Contains(said, "C_B.1.js: a program") || !strings.Contains(said, "2 files in") {
		t.Error(status, said)
	}
	if _, said, status := cli(t, "", "check", file); status != 0 || !strings.Contains(said, "data.json!/C_B.1.js: a program") {
		t.Error(status, said)
	}
	out, said, status := cli(t, "", "project", "new", "A bundle", file, "--data", filepath.Join(dir, "data"))
	if status != 0 || !strings.Contains(out, "tera") || !strings.Contains(said, "C_B.1.js: error: a program") {
		t.Error(status, out, said)
	}
}

// Types without "types" are read wherever definitions are, and what is ignored is said.
func TestTypesWithoutTypes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "game.json")
	const text = `{
  "version": "1.20",
  "string": ["pstring", {"countType": "varint"}],
  "toServer": {
    "hello": ["container", [{"name": "text", "type": "string"}]],
    "packet": ["container", [
      {"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"5": "hello"}}]},
      {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"hello": "hello"}}]}
    ]]
  }
}
`
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, said, status := cli(t, "", "check", file)
	if status != 0 || !strings.Contains(out, `game.json:2:3: warning: "version" is ignored`) || strings.Count(out, "\n") != 1 {
		t.Errorf("check: %s %s", out, said)
	}
	for _, args := range [][]string{{"decode", "--library", dir}, {"layout", "--library", dir, "--message", "hello"}, {"emit", "--library", dir, "--target", "md"}} {
		if out, said, status := cli(t, "05026869\n", args...); status != 0 || !strings.Contains(strings.ToLower(out), "hello") {
			t.Errorf("%s: %s %s", args, out, said)
		}
	}
	if out, said, status := cli(t, "", "fmt", file); status != 0 || out != text {
		t.Errorf("fmt: %s %s", out, said)
	}
}
