// Package servertest has what tests of a server need, and the browser tests, too: projects, captures, games and requests. It starts no server,
// so that the tests of package server can use it.
package servertest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/server/access"
	"wirebench/server/projects"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// WriteFile writes a file, and makes its folder.
func WriteFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// WriteFiles writes files in a new folder.
func WriteFiles(t testing.TB, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		WriteFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

// OnDisk returns the text of a file, "" if there is none.
func OnDisk(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// Stands waits until a file has a text.
func Stands(t *testing.T, dir, name, want string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) { // a page draws its state a moment after its text
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && string(text) == want {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%s on disk: %q %v, want %q", name, text, err, want)
			return
		}
	}
}

// Files are a few definitions of the first dialect.
func Files() map[string]string {
	files := map[string]string{
		"C_JOIN.1.def":      "string channel_name # where\nuint16 password\n",
		"C_LIST.1.def":      "array members\n- uint32 id\n- string name\n",
		"S_BROKEN.1.def":    "in32 x\nbyte y\n",
		"C_PLAIN.1.def":     "byte x\n",
		"C_WIDE.1.def":      "uint64 a\nint64 b\n",
		"C_THOUSANDS.1.def": thousands(),
		"protocol.1.map":    "C_JOIN 1\nC_LIST 2\nS_BROKEN 3\n",
		"notes/readme.html": "x",
	}
	maps.Copy(files, Samples)
	return files
}

// thousands returns a definition of 2000 fields.
func thousands() string {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "byte b%d\n", i)
	}
	return b.String()
}

// Samples are samples of Files.
var Samples = map[string]string{
	"C_JOIN.1.samples.jsonl": `{"message":"C_JOIN.1","hex":"12000100080039304c0061006e006e000000","about":"a text"}` + "\n",
	"C_LIST.1.samples.jsonl": `{"message":"C_LIST.1","hex":"240002000200080008001600120001000000410000001600000020000200000042000000","about":"a list"}` + "\n",
}

// OpenWorkspace opens a workspace "one" of a directory, whose home is beside it: opened again, it is as it was. change, if not nil, may wrap its
// files.
func OpenWorkspace(t testing.TB, dir string, change func(workspace.Files) workspace.Files) *workspace.Workspace {
	t.Helper()
	d, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	beside := dir + ".home"
	if err := os.MkdirAll(beside, 0o777); err != nil {
		t.Fatal(err)
	}
	home, err := store.Open(beside)
	if err != nil {
		t.Fatal(err)
	}
	files := workspace.Files(d)
	if change != nil {
		files = change(files)
	}
	return workspacetest.Open(t, workspace.Config{Files: files, Home: home})
}

// CaptureWorkspace opens a workspace "one" that stores captures.
func CaptureWorkspace(t testing.TB, dialect string, files map[string]string, stored ...string) *workspace.Workspace {
	t.Helper()
	d, _ := workspacetest.Dir(t, files)
	kept := workspacetest.Captures(t)
	for _, text := range stored {
		if _, err := kept.Add("stored", time.Now(), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	home, _ := workspacetest.Dir(t, nil)
	return workspacetest.Open(t, workspace.Config{Dialect: dialect, Files: d, Home: home, Captures: kept})
}

// Fixed returns a set of projects that cannot change.
func Fixed(t testing.TB, list ...*workspace.Workspace) *projects.Set {
	t.Helper()
	set, err := projects.Fixed(list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// OpenProjects opens the projects of a data folder.
func OpenProjects(t testing.TB, data string, o projects.Options) *projects.Set {
	t.Helper()
	kept, err := store.OpenData(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	o.Data = kept
	set, err := projects.OpenData(o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Tokens are those of an admin and of a viewer.
var Tokens = access.Tokens{Admin: "all", Viewer: "look"}

// Log is a log that can be read while it is written.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
