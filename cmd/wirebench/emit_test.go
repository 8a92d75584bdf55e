package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every target writes the built-in definitions of every dialect, and every loss has a reason.
func TestEmit(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine and many cases, with -short")
	}
	for _, protocol := range []string{"tera", "muta", "subspace"} {
		for _, target := range strings.Split(targetNames(), ", ") {
			out, errs, status := cli(t, "", "emit", "--protocol", protocol, "--target", target, "--json", "--vectors", "2")
			var got struct {
				Files  []struct{ Name, Text string }
				Losses []struct{ Reason string }
			}
			if err := json.Unmarshal([]byte(out), &got); status != 0 || err != nil || len(got.Files) == 0 {
				t.Fatalf("%s %s: status %d, %v\n%s", protocol, target, status, err, errs)
			}
			for _, f := range got.Files {
				if f.Name == "" || strings.Contains(f.Name, "/") || !strings.Contains(f.Text, "wirebench emit --target "+target) {
					t.Errorf("%s %s: file %q does not name its command", protocol, target, f.Name)
				}
			}
			for _, l := range got.Losses {
				if l.Reason == "" {
					t.Errorf("%s %s: a loss without a reason", protocol, target)
				}
			}
		}
	}
}

// The emitted Go code compiles and passes its emitted test.
func TestEmittedGoTestsItself(t *testing.T) {
	dir := t.TempDir()
	if out, errs, status := cli(t, "", "emit", "--protocol", "muta", "--target", "go", "--name", "game", "--vectors", "5", "--out", dir); status != 0 {
		t.Fatalf("status %d\n%s%s", status, out, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module game\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "ok") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestEmitOfNothing checks that an output without a message is an error, with the reason for each message.
func TestEmitOfNothing(t *testing.T) {
	dir := t.TempDir()
	text := `{"types": {"there": ["at", {"position": 9, "type": "varint"}],
		"packet_one": ["container", [{"name": "n", "type": "there"}]], "packet_two": ["container", [{"name": "m", "type": "there"}]],
		"packet": ["container", [{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"0x00": "one", "0x01": "two"}}]}, {"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"one": "packet_one", "two": "packet_two"}}]}]]}}`
	if err := os.WriteFile(filepath.Join(dir, "protocol.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, "C_BAD.1.def"), []byte("in32 x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, target := range strings.Split(targetNames(), ", ") {
		into, all := filepath.Join(t.TempDir(), "out"), target != "c" && target != "ksy" // which lack them
		out, errs, status := cli(t, "", "emit", "--library", dir, "--protocol", "protodef", "--target", target, "--out", into)
		if _, err := os.Stat(into); !all && (status != 1 || out != "" || err == nil || !strings.Contains(errs, "omitted: one: ") || !strings.Contains(errs, "omitted: two: ") || !strings.Contains(errs, "nothing was written")) {
			t.Errorf("%s: status %d, %v\n%s%s", target, status, err, out, errs)
		} else if all && status != 0 {
			t.Errorf("%s: status %d\n%s%s", target, status, out, errs)
		}
		if out, errs, status := cli(t, "", "emit", "--library", empty, "--target", target, "--json"); status != 1 || out != "" || !strings.Contains(errs, "C_BAD.1: its definition has errors") {
			t.Errorf("%s of mistakes: status %d\n%s%s", target, status, out, errs)
		}
	}
}

func TestEmitRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--target", "cobol"}, "must be one of c, go"},
		{[]string{"--target", "go", "--message", "C_NOBODY"}, "no definition"},
		{[]string{"--target", "c", "--vectors", "1"}, "give --out DIR"},
	} {
		if out, errs, status := cli(t, "", append([]string{"emit"}, c.args...)...); status != 2 || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%v: status %d\n%s%s", c.args, status, out, errs)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"C_GOOD.1.def": "byte x\n", "C_BAD.1.def": "in32 x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, errs, status := cli(t, "", "emit", "--library", dir, "--target", "md"); status != 1 || !strings.Contains(out, "C\\_GOOD") || strings.Contains(out, "C\\_BAD") || !strings.Contains(errs, "C_BAD.1 is omitted") {
		t.Errorf("status %d\n%s%s", status, out, errs)
	}
}
