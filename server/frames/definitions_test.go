package frames

import (
	"testing"

	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// definitions returns a snapshot of the given definitions.
func definitions(t testing.TB, dialect string, files map[string]string) *workspace.Snapshot {
	t.Helper()
	d, _ := workspacetest.Dir(t, files)
	return workspacetest.Open(t, workspace.Config{Dialect: dialect, Files: d}).Now()
}

// readLog is a complete log as the source of a list.
type readLog struct{ log *live.Log }

func (r readLog) Log() *live.Log       { return r.log }
func (r readLog) Complete() bool       { return true }
func (r readLog) Running() bool        { return false }
func (r readLog) Ciphered(string) bool { return false }
func (r readLog) View(snap *workspace.Snapshot, spec ViewSpec, notes store.Notes) *View {
	return NewView(r.log, snap, spec, notes)
}
