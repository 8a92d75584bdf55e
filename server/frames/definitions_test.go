package frames

import (
	"os"
	"path/filepath"
	"testing"

	"wirebench/server/live"
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

// readLog is a log to which nothing is added any more, as the source of a list.
type readLog struct{ log *live.Log }

func (r readLog) Log() *live.Log       { return r.log }
func (r readLog) Complete() bool       { return true }
func (r readLog) Running() bool        { return false }
func (r readLog) Ciphered(string) bool { return false }
func (r readLog) View(snap *workspace.Snapshot, spec ViewSpec, notes store.Notes) *View {
	return NewView(r.log, snap, spec, notes)
}
