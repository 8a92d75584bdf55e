package captures

import (
	"os"
	"path/filepath"
	"testing"

	"wirebench/server/store"
	"wirebench/server/workspace"
)

// definitions is a workspace with some definitions.
func definitions(t testing.TB, dialect string, files map[string]string) *workspace.Snapshot {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Config{Name: "one", Title: "One protocol", Dialect: dialect, Files: d})
	if err != nil {
		t.Fatal(err)
	}
	return w.Now()
}
