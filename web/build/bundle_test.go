package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sources writes a small web directory. The real one may need packages that are not installed.
func sources(t *testing.T, script string) string {
	t.Helper()
	web := t.TempDir()
	for name, text := range map[string]string{
		"src/app/main.ts":     script,
		"src/app/part.ts":     "export const word: string = \"→\";\n",
		"src/app/app.css":     ":root { --bg: light-dark(#fff, #000); }\n.pane { color: var(--bg); }\n",
		"src/app/favicon.svg": "<svg/>",
	} {
		path := filepath.Join(web, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return web
}

const goodScript = "import { word } from \"./part\";\ndocument.title = word;\n"

func TestBundle(t *testing.T) {
	first, err := bundle(sources(t, goodScript))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"app.css", "app.js", "favicon.svg", "imports.json"}, slices.Sorted(maps.Keys(first.files))); diff != "" {
		t.Errorf("names of the files (-want +got):\n%s", diff)
	}
	if script := string(first.files["app.js"]); !strings.Contains(script, "→") || strings.Contains(script, "import") {
		t.Errorf("app.js is not one file of UTF-8 text: %s", script)
	}
	if style := string(first.files["app.css"]); !strings.Contains(style, "light-dark(") {
		t.Errorf("app.css lost its light-dark(): %s", style)
	}
	for _, name := range []string{"app.js", "app.css"} {
		if !strings.Contains(first.summary, name) {
			t.Errorf("summary does not name %s:\n%s", name, first.summary)
		}
	}

	elsewhere, err := bundle(sources(t, goodScript))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.files, elsewhere.files); diff != "" {
		t.Errorf("the same sources in another directory give other bytes (-first +second):\n%s", diff)
	}
}

func TestBundleRefusesBrokenSource(t *testing.T) {
	_, err := bundle(sources(t, "import { word } from \"./missing\";\n"))
	if err == nil || !strings.Contains(err.Error(), "./missing") || !strings.Contains(err.Error(), "src/app/main.ts:1") {
		t.Errorf("error does not say what is missing and where: %v", err)
	}
}

// Code imported on demand is in a file of its own, and does not count as loaded at start; an old file of another build is removed.
func TestBundleSplits(t *testing.T) {
	built, err := bundle(sources(t, "void import(\"./part\").then((part) => { document.title = part.word; });\n"))
	if err != nil {
		t.Fatal(err)
	}
	var chunks []string
	for name, content := range built.files {
		if strings.HasPrefix(name, "chunks/part-") && strings.Contains(string(content), "→") {
			chunks = append(chunks, name)
		}
	}
	if len(chunks) != 1 || strings.Contains(string(built.files["app.js"]), "→") || !strings.Contains(string(built.files["app.js"]), `import("./`+chunks[0]) {
		t.Fatalf("not split: %q, app.js: %s", chunks, built.files["app.js"])
	}
	if got := string(built.files["imports.json"]); strings.Contains(got, chunks[0]) {
		t.Errorf("counted as loaded at start: %s", got)
	}

	static := t.TempDir()
	if err := built.write(static, built.stale(static)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(static, "chunks", "part-OLD.js"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"chunks/part-OLD.js"}, built.stale(static)); diff != "" {
		t.Errorf("stale files (-want +got):\n%s", diff)
	}
	if err := built.write(static, built.stale(static)); err != nil || built.stale(static) != nil {
		t.Errorf("the old file stays: %v", err)
	}
}

func TestStale(t *testing.T) {
	built, err := bundle(sources(t, goodScript))
	if err != nil {
		t.Fatal(err)
	}
	static := t.TempDir()
	all := []string{"app.css", "app.js", "favicon.svg", "imports.json"}
	if diff := cmp.Diff(all, built.stale(static)); diff != "" {
		t.Errorf("stale files of an empty directory (-want +got):\n%s", diff)
	}
	if err := built.write(static, all); err != nil {
		t.Fatal(err)
	}
	if stale := built.stale(static); stale != nil {
		t.Errorf("stale right after writing: %v", stale)
	}
	if err := os.WriteFile(filepath.Join(static, "app.css"), []byte("body{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"app.css"}, built.stale(static)); diff != "" {
		t.Errorf("stale files after an edit by hand (-want +got):\n%s", diff)
	}
	if err := built.write(filepath.Join(static, "nowhere"), all); err == nil {
		t.Error("writing to a directory that is not there gave no error")
	}
}
