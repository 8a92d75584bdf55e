package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/defs/tooltest"
)

// clientBlock returns the program of a kind on the page about clients, for a server.
func clientBlock(t *testing.T, kind, addr string) string {
	t.Helper()
	for _, b := range manualBlocks(t) {
		if b.page == "clients.md" && b.kind == kind {
			return strings.Replace(b.text, "127.0.0.1:8080", addr, 1)
		}
	}
	t.Fatalf("there is no program in %s", kind)
	return ""
}

// ran runs a program, and returns what it prints.
func ran(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

// TestManualGoClient runs the Go program of the manual against a server.
func TestManualGoClient(t *testing.T) {
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0")
	file := filepath.Join(write(t, map[string]string{"main.go": clientBlock(t, "go", addr)}), "main.go")
	if out := ran(t, ".", "go", "run", file); !strings.Contains(out, "S_CHAT.2.def [S_CHAT.2]\n") {
		t.Errorf("%s", out)
	}
}

// TestToolManualClients runs the other programs of the manual: the one that makes its client of the description, and the one with the types of the
// page, which the compiler checks.
func TestToolManualClients(t *testing.T) {
	node, web := tooltest.Path(t, "node"), tooltest.Packages(t, "../../web", ".bin/tsc")
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0")
	files := map[string]string{"client.mjs": clientBlock(t, "js", addr), "client.ts": clientBlock(t, "ts", addr), "package.json": `{"type": "module"}`}
	for _, name := range []string{"api.ts", "operations.ts"} {
		text, err := os.ReadFile("../../web/src/api/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	dir := write(t, files)
	if out := ran(t, dir, node, "client.mjs"); !strings.Contains(out, " messages\n") || !strings.Contains(out, `"message":`) {
		t.Errorf("%s", out)
	}
	tsc := func() string {
		cmd := exec.Command(node, filepath.Join(web, "node_modules/.bin/tsc"), "--strict", "--exactOptionalPropertyTypes", "--target", "ES2022", "--module", "ESNext", "--moduleResolution", "bundler", "--types", "", "--outDir", "out", "client.ts")
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := tsc(); out != "" {
		t.Fatal(out)
	}
	if out := ran(t, dir, node, "out/client.js"); !strings.HasPrefix(out, "C_CHECK") && !strings.Contains(out, " ok ") {
		t.Errorf("%s", out)
	}
	wrong := strings.Replace(files["client.ts"], "hex:", "hexx:", 1)
	if err := os.WriteFile(filepath.Join(dir, "client.ts"), []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := tsc(); !strings.Contains(out, "hexx") {
		t.Errorf("the compiler does not see a wrong member: %s", out)
	}
}
