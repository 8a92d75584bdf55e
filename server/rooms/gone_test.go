package rooms

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// ends waits until the room of the client ends.
func (c *client) ends() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	for {
		m, err := c.Next(ctx)
		if errors.Is(err, ErrClosed) {
			return
		}
		if err != nil {
			c.t.Fatal(err)
		}
		c.take(m)
	}
}

// A file, or its whole folder, is away for a while, and people type meanwhile: what is confirmed is in the file that comes back.
func TestGoneForAWhile(t *testing.T) {
	for what, x := range map[string]struct {
		leave, back func(folder, file string) error
		away        time.Duration
		closes      bool
		want        string // start of the text
	}{
		"saved by an editor that removes it first": {
			func(_, file string) error { return os.Remove(file) },
			func(_, file string) error { return os.WriteFile(file, []byte("# by the editor\nuint32 id\n"), 0o666) },
			3 * steadyTime, false, "# by the editor\n",
		},
		"a branch without it, for a moment": {
			func(_, file string) error { return os.Rename(file, file+"~") },
			func(_, file string) error { return os.Rename(file+"~", file) },
			3 * steadyTime, false, "",
		},
		"a branch without it, for long": {
			func(_, file string) error { return os.Rename(file, file+"~") },
			func(_, file string) error { return os.Rename(file+"~", file) },
			0, true, "",
		},
		"the folder is away": {
			func(folder, _ string) error { return os.Rename(folder, folder+"~") },
			func(folder, _ string) error { return os.Rename(folder+"~", folder) },
			goneTime + 500*time.Millisecond, false, "",
		},
		"the folder is not mounted: it is empty": {
			func(folder, _ string) error {
				return errors.Join(os.Rename(folder, folder+"~"), os.Mkdir(folder, 0o777))
			},
			func(folder, _ string) error { return errors.Join(os.Remove(folder), os.Rename(folder+"~", folder)) },
			0, true, "",
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			folder, home := filepath.Join(t.TempDir(), "files"), t.TempDir()
			file := filepath.Join(folder, name)
			if err := errors.Join(os.Mkdir(folder, 0o777), os.WriteFile(file, []byte("uint32 id\n"), 0o666)); err != nil {
				t.Fatal(err)
			}
			l := openLibrary(t, folder, home)
			s := newSet(t)
			ann := l.join(t, s, name, "ann")
			ann.replace("uint32", "(1) uint32")
			ann.until("confirmed", func() bool { return strings.Contains(ann.text.String(), "(1)") })
			if err := errors.Join(x.leave(folder, file), l.Reload()); err != nil && x.closes {
				t.Fatal(err)
			}
			ann.replace("uint32", "(2) uint32")
			ann.until("confirmed without the file", func() bool { return strings.Contains(ann.text.String(), "(2)") })
			if x.closes {
				ann.ends()
				ann.Leave()
			} else {
				time.Sleep(x.away)
			}
			if err := errors.Join(x.back(folder, file), l.Reload()); err != nil {
				t.Fatal(err)
			}
			if x.closes {
				ann = l.join(t, s, name, "ann")
			}
			ann.Write()
			want := x.want + "(1) (2) uint32 id\n"
			ann.has(want)
			ann.until("it is in the file", func() bool { return l.text(t, name) == want })
		})
	}
}

// Another file of the name of one that was deleted gets nothing of it; what was not in the file is in the history.
func TestAnotherFileOfTheName(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	s := newSet(t)
	ann := l.join(t, s, name, "ann")
	if err := errors.Join(os.Remove(filepath.Join(l.files, name)), l.Reload()); err != nil {
		t.Fatal(err)
	}
	ann.replace("id", "account")
	ann.ends()
	ann.Leave()
	if err := errors.Join(os.WriteFile(filepath.Join(l.files, name), []byte("byte level\n"), 0o666), l.Reload()); err != nil {
		t.Fatal(err)
	}
	m, err := s.Join(t.Context(), l.Workspace, name, Person{Name: "bob"}, Have{})
	if err != nil {
		t.Fatal(err)
	}
	news, err := m.Next(t.Context())
	if err != nil || news.Start == nil || *news.Start.Text != "byte level\n" || !strings.Contains(news.Start.Notice, "history") {
		t.Errorf("%+v %v", news.Start, err)
	}
	list, err := l.History(name)
	for _, r := range list {
		if text, err := l.RevisionText(name, r.ID); err == nil && text == "uint32 account\n" && strings.Join(r.Who, " ") == "ann" {
			return
		}
	}
	t.Errorf("the text of ann is not in the history: %+v %v", list, err)
}

// A write that is said to have failed after the file has the text is not the change of another program.
func TestWriteThatIsSaidToFail(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("uint32 id\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var failed atomic.Int32
	files, err := store.Open(dir, store.BeforeSteps(func(step string) error {
		if step == "sync directory" && failed.Add(1) == 1 {
			return errors.New("the disk is slow today")
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	home, _ := workspacetest.Dir(t, nil)
	l := library{workspacetest.Open(t, workspace.Config{Files: files, Home: home}), dir, ""}
	ann := l.join(t, newSet(t), name, "ann")
	ann.replace("uint32", "(1) uint32")
	ann.until("it is confirmed", func() bool { return ann.version == 1 })
	if err := ann.Write(); err != nil {
		t.Fatal(err)
	}
	for failed.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := l.Reload(); err != nil { // the library is told
		t.Fatal(err)
	}
	ann.replace("id", "account")
	ann.has("(1) uint32 account\n")
	ann.written()
	if got := l.text(t, name); got != "(1) uint32 account\n" {
		t.Errorf("%q", got)
	}
}
