package captures

import (
	"testing"

	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// definitions returns a snapshot of the given definitions.
func definitions(t testing.TB, dialect string, files map[string]string) *workspace.Snapshot {
	t.Helper()
	d, _ := workspacetest.Dir(t, files)
	return workspacetest.Open(t, workspace.Config{Dialect: dialect, Files: d}).Now()
}
