package projects_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"wirebench/defs"
	"wirebench/server/projects"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// opened opens the projects of a data folder; it is closed at the end of the test.
func opened(t *testing.T, data string, o projects.Options, libraries ...projects.Library) *projects.Set {
	t.Helper()
	kept, err := store.OpenData(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Data = kept
	s, err := projects.OpenData(o, libraries...)
	if err != nil {
		kept.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		kept.Close()
	})
	return s
}

// folder returns a folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func names(s *projects.Set) string {
	var list []string
	for _, i := range s.List() {
		name := i.Name
		if i.State != projects.Open {
			name += "(" + string(i.State) + ")"
		}
		list = append(list, name)
	}
	return strings.Join(list, " ")
}

// samples returns the names of the projects of samples, one for each language but for some.
func samples(without ...string) string {
	var all []string
	for _, d := range defs.Dialects {
		if !slices.Contains(without, d.Name) {
			all = append(all, d.Name)
		}
	}
	return strings.Join(all, " ")
}

func TestMakeRenameArchiveDelete(t *testing.T) {
	data := t.TempDir()
	ctx := context.Background()
	t.Run("first", func(t *testing.T) {
		s := opened(t, data, projects.Options{})
		if got := names(s); got != samples() {
			t.Fatal(got)
		}
		if s.First().Name != "tera" {
			t.Errorf("/ opens %s", s.First().Name)
		}
		w, err := s.Make(ctx, projects.New{Title: "My Game: EU", Protocol: "tera"})
		if err != nil || w.Name != "my-game-eu" || w.Title() != "My Game: EU" {
			t.Fatalf("%+v %v", w, err)
		}
		if s.First() != w {
			t.Error("/ does not open the project of the user")
		}
		if _, err := w.Save("C_HI.1.def", []byte("uint32 a\n"), nil); err != nil {
			t.Fatal(err)
		}
		// The samples do not meet the definitions of the user.
		if _, err := w.Now().Find("C_CHAT"); err == nil {
			t.Error("a new project has the samples")
		}
		copied, err := s.Make(ctx, projects.New{Name: "copy", From: "my-game-eu"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := copied.Now().Find("C_HI"); err != nil {
			t.Error(err)
		}
		if _, err := s.Edit("my-game-eu", projects.Change{Name: "game", Title: "Game"}, nil); err != nil {
			t.Fatal(err)
		}
		if w := s.Find("my-game-eu"); w == nil || w.Name != "game" {
			t.Error("the earlier name leads nowhere")
		}
		// A name leads to the project that had it last.
		for _, c := range [][2]string{{"copy", "a"}, {"a", "copy"}} {
			if _, err := s.Edit(c[0], projects.Change{Name: c[1]}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Make(ctx, projects.New{Name: "a", Protocol: "tera"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Edit("a", projects.Change{Name: "b"}, nil); err != nil {
			t.Fatal(err)
		}
		if w := s.Find("a"); w == nil || w.Name != "b" {
			t.Errorf("a leads to %v", w)
		}
		if _, err := s.Edit("b", projects.Change{State: projects.Deleted}, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Remove("b"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Edit("copy", projects.Change{State: projects.Archived}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Edit("subspace", projects.Change{State: projects.Deleted}, nil); err != nil {
			t.Fatal(err)
		}
		if got := names(s); got != "game "+samples("subspace")+" copy(archived) subspace(deleted)" {
			t.Error(got)
		}
		if s.Find("subspace") != nil || s.Find("copy") != nil {
			t.Error("a closed project is found")
		}
	})
	t.Run("second", func(t *testing.T) {
		s := opened(t, data, projects.Options{})
		if got := names(s); got != "game "+samples("subspace")+" copy(archived) subspace(deleted)" {
			t.Fatal(got)
		}
		if _, err := s.Find("my-game-eu").Now().Find("C_HI"); err != nil {
			t.Error(err)
		}
		if err := s.Remove("copy"); err == nil {
			t.Error("a project that is not deleted was removed")
		}
		if _, err := s.Edit("subspace", projects.Change{State: projects.Open}, nil); err != nil || s.Find("subspace") == nil {
			t.Errorf("not restored: %v", err)
		}
		if _, err := s.Edit("muta", projects.Change{State: projects.Deleted}, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Remove("muta"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("third", func(t *testing.T) { // removed samples do not come back
		if got := names(opened(t, data, projects.Options{})); got != "game subspace "+samples("muta", "subspace")+" copy(archived)" && got != "game "+samples("muta")+" copy(archived)" {
			t.Error(got)
		}
	})
}

// A folder of --library is a project from then on. It takes the name of its protocol, which programs of before projects know, if that is
// free; the samples stay apart.
func TestLibrary(t *testing.T) {
	data, dir := t.TempDir(), filepath.Join(folder(t, nil), "My Defs")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "C_CHAT.1.def"), []byte("uint32 mine\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	l := projects.Library{Dir: dir, Protocol: "tera"}
	t.Run("new data", func(t *testing.T) {
		s := opened(t, data, projects.Options{}, l)
		if got := names(s); got != "tera tera-samples "+samples("tera") || s.First().Name != "tera" {
			t.Fatal(got, s.First().Name)
		}
		if n := s.Find("tera").Now().Count(); n != 1 {
			t.Errorf("%d messages", n)
		}
	})
	t.Run("without the flag", func(t *testing.T) {
		if n := opened(t, data, projects.Options{}).Find("tera").Now().Count(); n != 1 {
			t.Errorf("%d messages", n)
		}
	})
	t.Run("the name is taken", func(t *testing.T) {
		data := t.TempDir()
		t.Run("first", func(t *testing.T) { opened(t, data, projects.Options{}) })
		t.Run("then", func(t *testing.T) {
			s := opened(t, data, projects.Options{}, l)
			if got := names(s); got != "my-defs "+samples() || s.First().Name != "my-defs" {
				t.Error(got, s.First().Name)
			}
		})
	})
}

func TestMakeRefuses(t *testing.T) {
	ours, other := folder(t, map[string]string{"C_A.1.def": "uint32 a\n"}), folder(t, map[string]string{"C_A.1.def": "uint32 a\n"})
	if err := os.Symlink(other, filepath.Join(ours, "link")); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	s := opened(t, data, projects.Options{Allowed: []string{ours}})
	for what, n := range map[string]projects.New{
		"no name":                  {Protocol: "tera"},
		"a reserved name":          {Name: "v1", Protocol: "tera"},
		"the folder of copies":     {Name: "set-aside", Protocol: "tera"},
		"a device of Windows":      {Name: "nul", Protocol: "tera"},
		"a path":                   {Name: "../x", Protocol: "tera"},
		"a name that is taken":     {Name: "tera", Protocol: "tera"},
		"no protocol":              {Name: "x"},
		"an unknown protocol":      {Name: "x", Protocol: "nosuch"},
		"an unknown project":       {Name: "x", From: "nosuch"},
		"another protocol":         {Name: "x", From: "tera", Protocol: "muta"},
		"a folder not allowed":     {Name: "x", Library: other},
		"a folder by a link":       {Name: "x", Library: filepath.Join(ours, "link")},
		"a folder above":           {Name: "x", Library: filepath.Join(ours, "..")},
		"a relative folder":        {Name: "x", Library: "."},
		"a folder and a project":   {Name: "x", Library: ours, From: "tera"},
		"a title of control bytes": {Title: "\xff", Protocol: "tera"},
	} {
		if w, err := s.Make(context.Background(), n); err == nil {
			t.Errorf("%s: made %s", what, w.Name)
		}
	}
	entries, err := os.ReadDir(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(append(strings.Fields(samples()), "projects.json", "format.json", "wirebench.lock"), e.Name()) {
			t.Errorf("%s is left", e.Name())
		}
	}
	w, err := s.Make(context.Background(), projects.New{Name: "x", Library: ours})
	if err != nil || w.Dialect != "tera" {
		t.Fatal(err)
	}
	if _, err := s.Make(context.Background(), projects.New{Name: "y", Library: ours}); err == nil {
		t.Error("two projects edit one folder")
	}
}

// What runs for a project ends when the project is closed; a project in use stays.
func TestEach(t *testing.T) {
	s := opened(t, t.TempDir(), projects.Options{})
	var running, changes atomic.Int32
	began := make(chan string, 10)
	s.Each(func(ctx context.Context, w *workspace.Workspace) {
		running.Add(1)
		began <- w.Name
		<-ctx.Done()
		running.Add(-1)
	}, func() { changes.Add(1) })
	samples := int32(len(defs.Dialects))
	for range samples {
		<-began
	}
	if _, err := s.Make(context.Background(), projects.New{Name: "x", Protocol: "muta"}); err != nil || <-began != "x" {
		t.Fatal(err)
	}
	inUse := errors.New("in use")
	if _, err := s.Edit("x", projects.Change{State: projects.Archived}, func(*workspace.Workspace) error { return inUse }); !errors.Is(err, inUse) || running.Load() != samples+1 {
		t.Errorf("%v, %d running", err, running.Load())
	}
	if _, err := s.Edit("x", projects.Change{State: projects.Archived}, nil); err != nil || running.Load() != samples || changes.Load() != 2 {
		t.Errorf("%v, %d running, %d changes", err, running.Load(), changes.Load())
	}
	s.Close()
	if running.Load() != 0 {
		t.Errorf("%d still run", running.Load())
	}
}

// The folders of projects that were being made or removed when the program was killed are removed at the next start.
func TestFoldersOfACrash(t *testing.T) {
	data := t.TempDir()
	opened(t, data, projects.Options{})
	data = copied(t, data)
	left := []string{".new-123", ".removed-game"}
	for _, name := range left {
		if err := os.CopyFS(filepath.Join(data, name), os.DirFS(filepath.Join(data, "tera"))); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(opened(t, data, projects.Options{})); got != samples() {
		t.Error(got)
	}
	for _, name := range left {
		if _, err := os.Lstat(filepath.Join(data, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
}

func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// A project whose description is damaged keeps its files, and the others open.
func TestDamagedRecord(t *testing.T) {
	data := t.TempDir()
	t.Run("first", func(t *testing.T) { opened(t, data, projects.Options{}) })
	if err := os.WriteFile(filepath.Join(data, "muta", "project.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Run("then", func(t *testing.T) {
		s := opened(t, data, projects.Options{})
		if got := names(s); got != samples("muta")+" muta(archived)" {
			t.Error(got)
		}
		if i, err := s.Info("muta"); err != nil || i.Trouble == "" {
			t.Errorf("%+v %v", i, err)
		}
	})
}

func FuzzNameFor(f *testing.F) {
	f.Add("My Game: EU")
	f.Add("ÄÖÜ 98.02")
	f.Fuzz(func(t *testing.T, title string) {
		if name := projects.NameFor(title); strings.ContainsFunc(name, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
		}) || len(name) > 64 {
			t.Errorf("%q becomes %q", title, name)
		}
	})
}
