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
