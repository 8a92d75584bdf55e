// Package workspacetest opens workspaces for tests.
package workspacetest

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"wirebench/defs"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Dir stores files in a new folder.
func Dir(t testing.TB, files map[string]string) (d *store.Dir, path string) {
	t.Helper()
	path = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d, path
}

// Captures returns a store of captures in a new folder.
func Captures(t testing.TB) *store.Captures {
	t.Helper()
	kept, err := store.OpenCaptures(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// Open opens a workspace. Its defaults are the name "one" and the first dialect.
func Open(t testing.TB, c workspace.Config) *workspace.Workspace {
	t.Helper()
	c.Name, c.FirstTitle, c.Dialect = cmp.Or(c.Name, "one"), cmp.Or(c.FirstTitle, "One protocol"), cmp.Or(c.Dialect, defs.Dialects[0].Name)
	w, err := workspace.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
