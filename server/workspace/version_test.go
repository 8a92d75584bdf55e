package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// A version stored by another program meanwhile stays unchanged: the next free number is taken.
func TestSaveVersion(t *testing.T) {
	files, dir := workspacetest.Dir(t, map[string]string{"C_A.1.def": "byte a\n"})
	w := workspacetest.Open(t, workspace.Config{Files: files})
	m, err := w.Now().Find("C_A.1")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "C_A.2.def"), []byte("byte theirs\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	file, rev, err := w.SaveVersion(m, []byte("byte ours\n"))
	if err != nil || file != "C_A.3.def" || rev != store.RevisionOf([]byte("byte ours\n")) {
		t.Errorf("%s %s %v", file, rev, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "C_A.2.def")); string(text) != "byte theirs\n" {
		t.Errorf("the other version says %q", text)
	}
}
