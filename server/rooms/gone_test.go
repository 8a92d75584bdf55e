package rooms

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

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
			goneTime + 500*time.Millisecond, false, "",
		},
		"a branch without it, for so long that nobody has it open": {
			func(_, file string) error { return os.Rename(file, file+"~") },
			func(_, file string) error { return os.Rename(file+"~", file) },
			goneTime + 500*time.Millisecond, true, "",
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
			goneTime + 500*time.Millisecond, true, "",
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
			time.Sleep(x.away)
			if x.closes {
				ann.Leave()
				wait(t, s)
				if got := s.Begun(l.Workspace); !slices.Equal(got, []string{name}) {
					t.Errorf("begun: %q", got)
				}
			}
			if err := errors.Join(x.back(folder, file), l.Reload()); err != nil {
				t.Fatal(err)
			}
			if got := s.Begun(l.Workspace); x.closes && len(got) > 0 {
				t.Errorf("with its file, begun: %q", got)
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

// Another file of the name of one that was deleted stands beside what was not saved: nothing of either is lost, and the file has only its own.
func TestAnotherFileOfTheName(t *testing.T) {
	for _, closes := range []bool{false, true} {
		l := newLibrary(t, map[string]string{name: "uint32 id\n"})
		s := newSet(t)
		ann := l.join(t, s, name, "ann")
		ann.replace("id", "account")
		ann.has("uint32 account\n")
		if err := errors.Join(os.Remove(filepath.Join(l.files, name)), l.Reload()); err != nil {
			t.Fatal(err)
		}
		if closes { // at once, so that the deletion is seen when the log is read
			ann.Leave()
			wait(t, s)
		} else {
			time.Sleep(goneTime + 500*time.Millisecond)
		}
		if got := s.Begun(l.Workspace); !slices.Equal(got, []string{name}) {
			t.Errorf("begun: %q", got)
		}
		if err := errors.Join(os.WriteFile(filepath.Join(l.files, name), []byte("byte level\n"), 0o666), l.Reload()); err != nil {
			t.Fatal(err)
		}
		if closes {
			ann = l.join(t, s, name, "ann")
		}
		ann.until("both", func() bool {
			return strings.Count(ann.text.String(), "uint32 account\n") == 1 && strings.Count(ann.text.String(), "byte level\n") == 1
		})
		if got := l.text(t, name); got != "byte level\n" {
			t.Errorf("the file has %q", got)
		}
	}
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
