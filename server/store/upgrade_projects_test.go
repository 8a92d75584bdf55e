package store

import (
	"os"
	"path/filepath"
	"testing"
)

// Workspaces of a version without projects become projects; other folders stay as they are.
func TestWorkspacesBecomeProjects(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"format.json":                `{"format":2}`,
		"tera/definitions/C_A.1.def": "uint32 a\n",
		"tera/settings.json":         `{"patch":"98.02"}`,
		"muta/captures/x.about.json": `{}`, // its definitions were in --library
		"lost+found/x":               "",
		"notes/x.txt":                "",
		"subspace/definitions/a.def": "",
		"subspace/project.json":      `{"protocol":"subspace","title":"Mine"}`, // by an interrupted upgrade
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OpenData(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, want := range map[string]string{
		"tera/project.json":     `{"protocol":"tera"}` + "\n",
		"muta/project.json":     `{"protocol":"muta"}` + "\n",
		"subspace/project.json": `{"protocol":"subspace","title":"Mine"}`,
		"projects.json":         `{"samples":["subspace","tera"]}` + "\n",
		"tera/settings.json":    `{"patch":"98.02"}`,
	} {
		if text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name))); err != nil || string(text) != want {
			t.Errorf("%s: %q %v, want %q", name, text, err, want)
		}
	}
	for _, name := range []string{"lost+found", "notes", SetAside} {
		if _, err := os.Lstat(filepath.Join(root, name, "project.json")); err == nil {
			t.Errorf("%s has become a project", name)
		}
	}
}
