package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// staged makes a file that Put can take.
func staged(t *testing.T, s Store, data []byte) string {
	t.Helper()
	f, err := os.CreateTemp(s.Stage(), "test-*")
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func listed(t *testing.T, s Store, prefix string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := out[info.Name]; ok {
			t.Errorf("%s is listed twice", info.Name)
		}
		out[info.Name] = info.Size
	}
	return out
}

// contract checks what every Store does.
func contract(t *testing.T, s Store) {
	t.Helper()
	ctx := t.Context()
	big := make([]byte, 40<<20+17)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(big)
	contents := map[string][]byte{"a0": []byte("one"), "a.b/c": {}, "a/b": []byte("two"), "a/b=ü %2F/c": []byte("three"), "d/e/f": big}
	for name, data := range contents {
		if err := s.Put(ctx, name, staged(t, s, []byte("an earlier one of "+name))); err != nil {
			t.Fatal(name, err)
		}
		if err := s.Put(ctx, name, staged(t, s, data)); err != nil {
			t.Fatal(name, err)
		}
		o, err := s.Open(ctx, name)
		if err != nil || o.Size() != int64(len(data)) {
			t.Fatal(name, err)
		}
		for range 30 {
			from := rand.IntN(len(data) + 1)
			part := make([]byte, rand.IntN(1<<21))
			n, err := o.ReadAt(part, int64(from))
			want := data[from:min(from+len(part), len(data))]
			if !bytes.Equal(part[:n], want) || (n < len(part)) != errors.Is(err, io.EOF) || n == len(part) && err != nil {
				t.Fatalf("%s: %d of %d bytes from %d on: %v", name, n, len(part), from, err)
			}
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(s.Stage()); len(left) > 0 {
		t.Errorf("%d staged files are left", len(left))
	}
	for prefix, want := range map[string][]string{"": slices.Sorted(maps.Keys(contents)), "a": {"a.b/c", "a/b", "a/b=ü %2F/c", "a0"}, "a/": {"a/b", "a/b=ü %2F/c"}, "a/b": {"a/b", "a/b=ü %2F/c"}, "d/e/": {"d/e/f"}, "d/e/x": nil, "x/y": nil} {
		got := listed(t, s, prefix)
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
			t.Errorf("%q: %q, want %q", prefix, names, want)
		}
		for name, size := range got {
			if size != int64(len(contents[name])) {
				t.Errorf("%s has %d bytes, listed: %d", name, len(contents[name]), size)
			}
		}
	}
	if _, _, err := s.Read(ctx, "d/e/f", 1000); !errors.Is(err, ErrLarge) {
		t.Error(err)
	}
	if data, _, err := s.Read(ctx, "a/b", 1000); err != nil || string(data) != "two" {
		t.Error(string(data), err)
	}
	for _, err := range []error{last(s.Read(ctx, "a/none", 10)), second(s.Open(ctx, "none")), second(s.Open(ctx, "d/e"))} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	for _, name := range []string{"", ".", "/a", "a/", "a//b", "../a", "a/../b", ".lock", "a/.b", "./a"} {
		if s.Put(ctx, name, staged(t, s, nil)) == nil || second(s.Write(ctx, name, nil, "")) == nil || last(s.Read(ctx, name, 10)) == nil || second(s.Open(ctx, name)) == nil || s.Remove(ctx, name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
	if err := s.Put(ctx, "stolen", filepath.Join(t.TempDir(), "x")); err == nil {
		t.Error("a file from elsewhere was taken")
	}
	tag, err := s.Write(ctx, "m/n.json", []byte("1"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(ctx, "m/n.json", []byte("2"), ""); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if _, err := s.Write(ctx, "m/other.json", []byte("2"), tag); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	next, err := s.Write(ctx, "m/n.json", []byte("3"), tag)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(ctx, "m/n.json", []byte("4"), tag); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if data, now, err := s.Read(ctx, "m/n.json", 100); err != nil || string(data) != "3" || now != next {
		t.Error(string(data), err)
	}
	won := raced(t, s, next)
	if data, _, err := s.Read(ctx, "m/n.json", 100); err != nil || string(data) != won {
		t.Error(string(data), won, err)
	}
	for range 2 {
		for name := range listed(t, s, "") {
			if err := s.Remove(ctx, name); err != nil {
				t.Error(err)
			}
		}
		if err := s.Remove(ctx, "never/was"); err != nil {
			t.Error(err)
		}
	}
	if got := listed(t, s, ""); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

// raced writes an object several times at once, of which one must win, and returns its text.
func raced(t *testing.T, s Store, tag string) string {
	t.Helper()
	var mu sync.Mutex
	var won []string
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			text := fmt.Sprint("racer ", i)
			_, err := s.Write(t.Context(), "m/n.json", []byte(text), tag)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, text)
			} else if !errors.Is(err, ErrChanged) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Fatalf("%q won", won)
	}
	return won[0]
}

func second[A any](_ A, err error) error          { return err }
func last[A, B any](_ A, _ B, err error) error    { return err }
func exists(t *testing.T, s Store, n string) bool { return len(listed(t, s, n)) > 0 }

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	contract(t, f)
	if _, err := OpenFolder(dir); !errors.Is(err, ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	staged(t, f, []byte("left by a crash"))
	if _, err := f.Write(t.Context(), "kept", []byte("x"), ""); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = OpenFolder(dir); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if left, _ := os.ReadDir(f.Stage()); len(left) > 0 || !exists(t, f, "kept") {
		t.Error("a crash left something, or something is lost")
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			t.Errorf("an empty folder is left: %s", e.Name())
		}
	}
	// A link does not lead out of the folder.
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err == nil {
		if data, _, err := f.Read(t.Context(), "link", 100); err == nil {
			t.Errorf("read %q", data)
		}
	}
}

// Objects are put and removed at once, in folders that come and go with them.
func TestFolderConcurrently(t *testing.T) {
	f, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 50 {
				name := fmt.Sprintf("a/%d/%d", k%2, i)
				if err := f.Put(context.Background(), name, staged(t, f, []byte(name))); err != nil {
					t.Error(err)
				}
				if data, _, err := f.Read(context.Background(), name, 100); err != nil || string(data) != name {
					t.Error(string(data), err)
				}
				if err := f.Remove(context.Background(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// A folder that is closed, or that somebody has removed, refuses what it is asked.
func TestFolderIsGone(t *testing.T) {
	for name, end := range map[string]func(f *Folder, dir string) error{
		"closed":  func(f *Folder, _ string) error { return f.Close() },
		"removed": func(_ *Folder, dir string) error { return os.RemoveAll(dir) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, beside := filepath.Join(t.TempDir(), "lake"), t.TempDir()
			f, err := OpenFolder(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			file := staged(t, f, []byte("x"))
			if err := os.Rename(file, filepath.Join(beside, "x")); err != nil {
				t.Fatal(err)
			}
			if err := end(f, dir); err != nil {
				t.Fatal(err)
			}
			if name == "closed" {
				if err := os.Rename(filepath.Join(beside, "x"), file); err != nil {
					t.Fatal(err)
				}
			}
			if f.Put(t.Context(), "a/b/c", file) == nil || second(f.Write(t.Context(), "a/b/d", nil, "")) == nil || f.rename(".stage/x", "a/b/c") == nil || f.makeDirs("a/b") == nil {
				t.Error("it was written")
			}
		})
	}
}
