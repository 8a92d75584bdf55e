package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// patienceOfTests is how long a test waits for an event.
const patienceOfTests = 30 * time.Second

// content is the content of the folder at a call of changed: names and texts, or the error of reading it.
type content map[string]string

// watch watches a folder until the test ends, and waits for the first call. Every later change must be reported.
func watch(t *testing.T, d *Dir) <-chan content {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	calls := make(chan content, 1000)
	ended := make(chan error, 1)
	go func() {
		ended <- d.Watch(ctx, func() {
			files, _, err := d.List()
			found := content{}
			if err != nil {
				found["error"] = err.Error()
			}
			for _, f := range files {
				found[f.Name] = string(f.Text)
			}
			calls <- found
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	await(t, calls, "the first call", func(content) bool { return true })
	return calls
}

// await waits for a call whose content satisfies found.
func await(t *testing.T, calls <-chan content, what string, found func(content) bool) {
	t.Helper()
	var last content
	for timeout := time.After(patienceOfTests); ; {
		select {
		case last = <-calls:
			if found(last) {
				return
			}
		case <-timeout:
			t.Fatalf("%s was not reported; the last call found %v", what, last)
		}
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// changes are changes by people and their programs to a folder with a.def ("old"), x/b.def ("old") and x/y/c.def ("old").
var changes = []struct {
	about string
	do    func(t *testing.T, d *Dir)
	found func(content) bool
}{
	{
		"a new file",
		func(t *testing.T, d *Dir) { put(t, d, "new.def", "new") },
		func(f content) bool { return f["new.def"] == "new" },
	},
	{
		"a new text in place",
		func(t *testing.T, d *Dir) { put(t, d, "x/y/c.def", "newer") },
		func(f content) bool { return f["x/y/c.def"] == "newer" },
	},
	{
		"a file replaced by rename",
		func(t *testing.T, d *Dir) { _, err := d.Write("x/b.def", []byte("newer"), nil); do(t, err) },
		func(f content) bool { return f["x/b.def"] == "newer" },
	},
	{
		"a file moved in from elsewhere",
		func(t *testing.T, d *Dir) {
			from := filepath.Join(t.TempDir(), "b.def")
			do(t, os.WriteFile(from, []byte("from elsewhere"), 0o666))
			do(t, os.Rename(from, filepath.Join(d.path, "x", "b.def")))
		},
		func(f content) bool { return f["x/b.def"] == "from elsewhere" },
	},
	{
		"a removed file",
		func(t *testing.T, d *Dir) { do(t, os.Remove(filepath.Join(d.path, "a.def"))) },
		func(f content) bool { return f["a.def"] == "" && f["x/b.def"] == "old" },
	},
	{
		"a file in new directories",
		func(t *testing.T, d *Dir) { put(t, d, "n/e/w/d.def", "new") },
		func(f content) bool { return f["n/e/w/d.def"] == "new" },
	},
	{
		"a removed directory",
		func(t *testing.T, d *Dir) { do(t, os.RemoveAll(filepath.Join(d.path, "x"))) },
		func(f content) bool { return len(f) == 1 && f["a.def"] == "old" },
	},
	{
		"a renamed directory",
		func(t *testing.T, d *Dir) {
			do(t, os.Rename(filepath.Join(d.path, "x"), filepath.Join(d.path, "z")))
		},
		func(f content) bool { return f["z/y/c.def"] == "old" && f["x/y/c.def"] == "" },
	},
	{
		"a directory moved in with what is below it",
		func(t *testing.T, d *Dir) {
			from := filepath.Join(t.TempDir(), "m")
			do(t, os.MkdirAll(filepath.Join(from, "n"), 0o777))
			do(t, os.WriteFile(filepath.Join(from, "n", "d.def"), []byte("from elsewhere"), 0o666))
			do(t, os.Rename(from, filepath.Join(d.path, "m")))
		},
		func(f content) bool { return f["m/n/d.def"] == "from elsewhere" },
	},
	{
		"the folder deleted",
		func(t *testing.T, d *Dir) { do(t, os.RemoveAll(d.path)) },
		func(f content) bool { return strings.Contains(f["error"], "the folder is gone") },
	},
	{
		"the folder deleted and made anew",
		func(t *testing.T, d *Dir) {
			do(t, os.RemoveAll(d.path))
			put(t, d, "x/anew.def", "new")
		},
		func(f content) bool { return len(f) == 1 && f["x/anew.def"] == "new" },
	},
	{
		"the folder exchanged for another",
		func(t *testing.T, d *Dir) {
			do(t, os.Rename(d.path, d.path+".old"))
			put(t, d, "x/other.def", "new")
		},
		func(f content) bool { return len(f) == 1 && f["x/other.def"] == "new" },
	},
	{
		"the folder exchanged by a rename further up",
		func(t *testing.T, d *Dir) {
			do(t, os.Rename(filepath.Dir(d.path), filepath.Dir(d.path)+".old"))
			put(t, d, "x/other.def", "new")
		},
		func(f content) bool { return len(f) == 1 && f["x/other.def"] == "new" },
	},
}

func watched(t *testing.T) *Dir {
	d, err := Open(filepath.Join(t.TempDir(), "parent", "definitions"))
	do(t, err)
	for _, name := range []string{"a.def", "x/b.def", "x/y/c.def"} {
		put(t, d, name, "old")
	}
	d.pollEvery = 100 * time.Millisecond
	return d
}

// After each change, a later one is reported as well: the watches are in place.
func TestWatchTellsChanges(t *testing.T) {
	for _, poll := range []bool{false, true} {
		name := "by events"
		if poll {
			name = "by looking"
		}
		t.Run(name, func(t *testing.T) {
			for _, change := range changes {
				t.Run(change.about, func(t *testing.T) {
					t.Parallel()
					d := watched(t)
					if poll {
						d.pollEvery = 5 * time.Millisecond
						d.newWatcher = func() (*watcher, error) { return nil, syscall.EMFILE }
					}
					calls := watch(t, d)
					change.do(t, d)
					await(t, calls, change.about, change.found)
					for _, name := range []string{"x/y/c.def", "z/y/c.def", "n/e/w/d.def", "m/n/d.def", "later/d.def"} {
						put(t, d, name, "and then "+name)
						await(t, calls, "a later change of "+name, func(f content) bool { return f[name] == "and then "+name })
					}
				})
			}
		})
	}
}

// A moved directory keeps its watch under the old name; then another directory takes that name.
func TestWatchAfterDirectoriesChangePlaces(t *testing.T) {
	d := watched(t)
	calls := watch(t, d)
	do(t, os.Rename(filepath.Join(d.path, "x"), filepath.Join(d.path, "0")))
	await(t, calls, "the rename", func(f content) bool { return f["0/y/c.def"] == "old" })
	put(t, d, "x/y/c.def", "another")
	await(t, calls, "the new directory", func(f content) bool { return f["x/y/c.def"] == "another" })
	for _, name := range []string{"0/y/c.def", "x/y/c.def", "0/b.def"} {
		put(t, d, name, "changed")
		await(t, calls, name, func(f content) bool { return f[name] == "changed" })
	}
}

func TestCallsNeverOverlap(t *testing.T) {
	d := watched(t)
	ctx, cancel := context.WithCancel(t.Context())
	entered, leave := make(chan struct{}), make(chan struct{})
	var running, most atomic.Int32
	ended := make(chan error, 1)
	go func() {
		ended <- d.Watch(ctx, func() {
			most.Store(max(most.Load(), running.Add(1)))
			entered <- struct{}{}
			<-leave
			running.Add(-1)
		})
	}()
	for i := range 5 {
		<-entered
		put(t, d, "a.def", strings.Repeat("x", i)) // during a call: another one must follow
		put(t, d, "x/b.def", strings.Repeat("x", i))
		leave <- struct{}{}
	}
	<-entered
	cancel()
	leave <- struct{}{}
	if err := <-ended; err != nil || running.Load() != 0 || most.Load() != 1 {
		t.Errorf("%v; %d calls are running, at most %d were", err, running.Load(), most.Load())
	}
}

func TestWatchWaitsForTheLastCall(t *testing.T) {
	for _, poll := range []bool{false, true} {
		d := watched(t)
		if poll {
			d.newWatcher = func() (*watcher, error) { return nil, syscall.EMFILE }
		}
		ctx, cancel := context.WithCancel(t.Context())
		var over atomic.Bool
		if err := d.Watch(ctx, func() {
			cancel()
			for range 1000 {
				_, _ = d.Read("a.def") // time for Watch to return too early
			}
			over.Store(true)
		}); err != nil || !over.Load() {
			t.Errorf("Watch has returned during a call: %v", err)
		}
	}
}

func TestMatters(t *testing.T) {
	root := filepath.FromSlash("/data/.definitions")
	for _, test := range []struct {
		about, name             string
		op                      fsnotify.Op
		matters, moved, created bool
	}{
		{"a file has come", "a.def", fsnotify.Create, true, false, true},
		{"a file has changed", "x/a.def", fsnotify.Write, true, false, false},
		{"a file has gone", "a.def", fsnotify.Remove, true, false, false},
		{"a file is named anew", "a.def", fsnotify.Rename, true, false, false},
		{"only attributes have changed", "a.def", fsnotify.Chmod, false, false, false},
		{"attributes and text have changed", "a.def", fsnotify.Chmod | fsnotify.Write, true, false, false},
		{"a temporary file of ours", temporaryStart + "0123456789abcdef" + temporaryEnd, fsnotify.Create, false, false, false},
		{"a hidden directory", ".git", fsnotify.Create, false, false, false},
		{"packages of others", "node_modules", fsnotify.Create, false, false, false},
		{"a directory has gone", "x", fsnotify.Remove, true, true, false},
		{"a directory is named anew", "x", fsnotify.Rename, true, true, false},
		{"another directory has come to its place", "x", fsnotify.Create, true, true, true},
		{"the folder has gone, whose name is hidden", "", fsnotify.Remove, true, true, false},
	} {
		t.Run(test.about, func(t *testing.T) {
			f := following{dirs: map[string]bool{root: true, filepath.Join(root, "x"): true}}
			matters := f.matters(fsnotify.Event{Name: filepath.Join(root, filepath.FromSlash(test.name)), Op: test.op})
			if matters != test.matters || f.moved != test.moved || f.created != test.created {
				t.Errorf("matters %v, moved %v, created %v", matters, f.moved, f.created)
			}
		})
	}
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestWatchLooksWhereNoEventsCome(t *testing.T) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Skip("the system has no watcher left: ", err)
	}
	w.Close()
	for _, test := range []struct {
		about  string
		broken func(d *Dir)
	}{
		{"no watcher is to be had", func(d *Dir) {
			d.newWatcher = func() (*watcher, error) { return nil, errors.New("the reason") }
		}},
		{"one directory too many", func(d *Dir) { failAt(d, "watch", 2, errors.New("the reason")) }},
		{"reading events fails", func(d *Dir) {
			d.newWatcher = func() (*watcher, error) {
				w, err := newWatcher()
				w.fail(errors.New("the reason"))
				return w, err
			}
		}},
	} {
		t.Run(test.about, func(t *testing.T) {
			var log buffer
			d := watched(t)
			WithLog(slog.New(slog.NewTextHandler(&log, nil)))(d)
			d.pollEvery = 5 * time.Millisecond
			test.broken(d)
			calls := watch(t, d)
			put(t, d, "x/y/c.def", "newer")
			await(t, calls, "the change", func(f content) bool { return f["x/y/c.def"] == "newer" })
			put(t, d, "x/b.def", "newer")
			await(t, calls, "another change", func(f content) bool { return f["x/b.def"] == "newer" })
			if got := log.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, `reason="the reason"`) {
				t.Errorf("log:\n%s", got)
			}
		})
	}
}

// Dropped events are made up for by a complete check of the folder.
func TestWatchAfterAnOverflow(t *testing.T) {
	d := watched(t)
	watchers := make(chan *watcher, 10)
	d.newWatcher = func() (*watcher, error) {
		w, err := newWatcher()
		watchers <- w
		return w, err
	}
	calls := watch(t, d)
	(<-watchers).Errors <- fsnotify.ErrEventOverflow
	await(t, calls, "the overflow", func(content) bool { return true })
	<-watchers
	put(t, d, "x/y/c.def", "newer")
	await(t, calls, "a change after it", func(f content) bool { return f["x/y/c.def"] == "newer" })
}

// All folders share one watcher of the system, and each sees its own changes: also a folder below another one, one by two names, and one whose
// neighbor is no longer watched.
func TestWatchesShareOneWatcher(t *testing.T) {
	shared := &sharedWatcher{users: map[*watcher]bool{}, watched: map[string]int{}}
	base := t.TempDir()
	folder := func(path string) (*Dir, <-chan content) {
		t.Helper()
		d, err := Open(filepath.Join(base, path))
		do(t, err)
		put(t, d, "a.def", "old")
		d.newWatcher = shared.newWatcher
		return d, watch(t, d)
	}
	outer, inOuter := folder("one")
	inner, inInner := folder("one/x")
	do(t, os.Symlink(filepath.Join(base, "one"), filepath.Join(base, "link")))
	linked, inLinked := folder("link")
	ctx, stop := context.WithCancel(t.Context())
	brief := make(chan struct{})
	go func() {
		defer close(brief)
		_ = outer.Watch(ctx, func() {})
	}()
	var many []<-chan content
	var dirs []*Dir
	for i := range 150 {
		d, c := folder(fmt.Sprintf("many/%d", i))
		dirs, many = append(dirs, d), append(many, c)
	}
	stop()
	<-brief
	put(t, outer, "a.def", "outer")
	await(t, inOuter, "a change", func(f content) bool { return f["a.def"] == "outer" })
	await(t, inLinked, "a change by another name", func(f content) bool { return f["a.def"] == "outer" })
	put(t, inner, "a.def", "inner")
	await(t, inInner, "a change below", func(f content) bool { return f["a.def"] == "inner" })
	await(t, inOuter, "a change in a folder below", func(f content) bool { return f["x/a.def"] == "inner" })
	put(t, linked, "b.def", "new")
	await(t, inOuter, "a change by the other name", func(f content) bool { return f["b.def"] == "new" })
	for i, d := range dirs {
		put(t, d, "a.def", "new")
		await(t, many[i], "a change in one of many", func(f content) bool { return f["a.def"] == "new" })
	}
}
