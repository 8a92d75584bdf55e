// Package storetest tests what a program leaves on disk when it is killed.
package storetest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"wirebench/server/store"
)

// Steps copies folders before each step of each write: each copy is what a program leaves that is killed there.
type Steps struct {
	t    testing.TB
	dirs []string

	mu   sync.Mutex
	on   bool
	last string
	left []Left
}

// Left is what a killed program leaves.
type Left struct {
	At   string   // where it was killed
	Dirs []string // copies of the folders
}

// New watches folders, from On.
func New(t testing.TB, dirs ...string) *Steps { return &Steps{t: t, dirs: dirs} }

// Before is the option for the folders.
func (s *Steps) Before() store.Option {
	return store.BeforeSteps(func(step string) error {
		s.copy("before " + step)
		return nil
	})
}

// Now copies the folders at a step of something that is no write of a folder.
func (s *Steps) Now(at string) { s.copy(at) }

// Of returns the different states while an act runs, the first and the last of which are those before and after it.
func (s *Steps) Of(act func()) []Left {
	s.t.Helper()
	s.mu.Lock()
	s.on, s.last, s.left = true, "", nil
	s.mu.Unlock()
	s.copy("before the act")
	act()
	s.copy("after the act")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = false
	return s.left
}

func (s *Steps) copy(at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.on {
		return
	}
	now := ""
	for _, dir := range s.dirs {
		now += State(s.t, dir) + "\n"
	}
	if now == s.last {
		return
	}
	s.last = now
	l := Left{At: fmt.Sprintf("%d, %s", len(s.left), at)}
	for _, dir := range s.dirs {
		to := s.t.TempDir()
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			s.t.Fatal(err)
		}
		l.Dirs = append(l.Dirs, to)
	}
	s.left = append(s.left, l)
}

// Files reads all files below a folder, hidden ones, too.
func Files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// State describes the files below a folder, except for the digits of temporary names.
func State(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	for name, text := range Files(t, dir) {
		if i := strings.Index(name, ".wirebench-"); i >= 0 {
			name = name[:i] + ".wirebench"
		}
		lines = append(lines, fmt.Sprintf("%q %x", name, sha256.Sum256([]byte(text))))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
