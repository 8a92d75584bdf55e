package rooms

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// A program that is killed leaves the disk as it is between two steps of its writes. So instead of killing a program at random moments, steps
// copies both folders before each step of each write: each copy is what a program leaves that is killed there.
type steps struct {
	t           *testing.T
	files, home string

	mu    sync.Mutex
	on    bool
	acked []string // what was confirmed
	sent  []string // what was sent
	left  []left
	last  string // the state of the copy before
}

// left is what a killed program leaves.
type left struct {
	at          string
	files, home string
	acked, sent []string
}

// openSteps opens a workspace whose steps are copied.
func openSteps(t *testing.T, files, home string) (*steps, library) {
	t.Helper()
	x := &steps{t: t, files: files, home: home}
	open := func(path string) workspace.Home {
		d, err := store.Open(path, store.Alone(), store.BeforeSteps(func(step string) error {
			x.copy(filepath.Base(path) + ": " + step)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return x, library{workspacetest.Open(t, workspace.Config{Files: open(files), Home: open(home)}), files, home}
}

func (x *steps) copy(at string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.on {
		return
	}
	file, _ := os.ReadFile(filepath.Join(x.files, name))
	log, _ := os.ReadFile(filepath.Join(x.home, "texts", name+".jsonl"))
	if now := fmt.Sprintf("%q\n%q\n%q", file, log, x.acked); now != x.last {
		x.last = now
		x.left = append(x.left, left{fmt.Sprintf("%d, before %s", len(x.left), at), copyOf(x.t, x.files), copyOf(x.t, x.home), slices.Clone(x.acked), slices.Clone(x.sent)})
	}
}

func (x *steps) set(f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	f()
}

// check checks a text after a kill: what was confirmed is there exactly once, what was sent at most once.
func (l left) check(t *testing.T, where, text string) {
	t.Helper()
	for _, word := range l.acked {
		if n := strings.Count(text, word); n != 1 {
			t.Errorf("killed at %s: %s: the confirmed %q is there %d times: %q", l.at, where, word, n, text)
		}
	}
	for _, word := range l.sent {
		if n := strings.Count(text, word); n > 1 {
			t.Errorf("killed at %s: %s: %q is there %d times: %q", l.at, where, word, n, text)
		}
	}
}

// add adds a word at the start of the text, and waits until it is confirmed.
func (x *steps) add(c *client, word string) {
	x.t.Helper()
	x.set(func() { x.sent = append(x.sent, word) })
	c.replace("uint32", word+" uint32")
	c.until(word+" is confirmed", func() bool { return strings.Contains(c.text.String(), word) })
	x.set(func() { x.acked = append(x.acked, word) })
}

// written saves the text.
func (c *client) written() {
	c.t.Helper()
	c.saved = nil
	if err := c.Write(); err != nil {
		c.t.Fatal(err)
	}
	c.until("the file is written", func() bool { return c.saved != nil && c.file.Version == c.version })
	if c.saved.Problem != "" {
		c.t.Error(c.saved.Problem)
	}
}

// session is what ann does while the steps are copied: she types, the file is written, and another program writes it, too.
func session(t *testing.T) *steps {
	t.Helper()
	files, home := filepath.Join(t.TempDir(), "files"), filepath.Join(t.TempDir(), "home")
	for _, dir := range []string{files, home} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(files, name), []byte("uint32 id\r\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	x, l := openSteps(t, files, home)
	x.on = true
	s := &Set{}
	ann := l.join(t, s, name, "ann")
	x.add(ann, "(1)")
	x.add(ann, "(2)")
	ann.written()
	x.add(ann, "(3)")
	ann.written()
	outside := "# outside\r\n" + l.text(t, name)
	x.add(ann, "(4)")
	x.set(func() { x.sent = append(x.sent, "# outside") })
	if err := os.WriteFile(filepath.Join(files, name), []byte(outside), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := l.Reload(); err != nil {
		t.Fatal(err)
	}
	ann.until("what another program wrote is there", func() bool { return strings.HasPrefix(ann.text.String(), "# outside\n") })
	x.set(func() { x.acked = append(x.acked, "# outside") })
	x.add(ann, "(5)")
	ann.written()
	x.add(ann, "(6)")
	ann.Leave()
	s.Close()
	x.on = false
	if len(x.left) < 20 {
		t.Errorf("only %d states", len(x.left))
	}
	return x
}

// Killed at any step of any write, also while it recovers, the program has what was confirmed exactly once, in the text and in the file.
func TestEveryStep(t *testing.T) {
	x := session(t)
	again := 0
	for _, l := range x.left {
		again += l.recover(t, true)
	}
	t.Logf("%d states are left by kills, and %d by kills while recovering", len(x.left), again)
}

// recover starts the program where another one was killed. With deeper, it is killed again at each step of that. It returns the number of
// these steps.
func (l left) recover(t *testing.T, deeper bool) int {
	t.Helper()
	x, lib := openSteps(t, copyOf(t, l.files), copyOf(t, l.home))
	x.on, x.acked, x.sent = deeper, l.acked, l.sent
	s := &Set{}
	bob := lib.join(t, s, name, "bob")
	l.check(t, "the text", bob.text.String())
	bob.Write()
	bob.written()
	l.check(t, "the file", lib.text(t, name))
	bob.Leave()
	s.Close()
	if t.Failed() {
		return 0
	}
	for _, deep := range x.left {
		deep.at = l.at + ", then " + deep.at
		deep.recover(t, false)
	}
	return len(x.left)
}

// What another program does to the file after a kill takes nothing and doubles nothing.
func TestEveryStepAndAnotherProgram(t *testing.T) {
	x := session(t)
	for what, act := range map[string]func(file, text string) error{
		"a line at the start": func(file, text string) error { return os.WriteFile(file, []byte("# first\r\n"+text), 0o666) },
		"a line at the end":   func(file, text string) error { return os.WriteFile(file, []byte(text+"# last\r\n"), 0o666) },
		"other line ends": func(file, text string) error {
			return os.WriteFile(file, []byte(strings.ReplaceAll(text, "\r\n", "\n")), 0o666)
		},
		"removed and made again": func(file, text string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			s := &Set{}
			if _, err := s.Join(t.Context(), openLibrary(t, filepath.Dir(file), filepath.Join(filepath.Dir(file), "../home")).Workspace, name, Person{}, Have{}); err != nil && !errors.Is(err, ErrNoFile) {
				return fmt.Errorf("without a file: %w", err)
			}
			s.Close()
			return os.WriteFile(file, []byte(text), 0o666)
		},
		"renamed over": func(file, text string) error {
			if err := os.WriteFile(file+"~", []byte("# first\r\n"+text), 0o666); err != nil {
				return err
			}
			return os.Rename(file+"~", file)
		},
	} {
		for _, l := range x.left {
			root := t.TempDir()
			for from, to := range map[string]string{l.files: "files", l.home: "home"} {
				if err := os.CopyFS(filepath.Join(root, to), os.DirFS(from)); err != nil {
					t.Fatal(err)
				}
			}
			l.files, l.home, l.at = filepath.Join(root, "files"), filepath.Join(root, "home"), l.at+", "+what
			file := filepath.Join(l.files, name)
			text, err := os.ReadFile(file)
			if err == nil {
				err = act(file, string(text))
			}
			if err != nil {
				t.Fatal(err)
			}
			l.recover(t, false)
		}
	}
}

// One wrong bit or a cut end anywhere in the log: what was confirmed is there exactly once. Of a line that is lost, what follows is kept
// aside, and everyone who comes is told; nothing is there twice.
func TestDamagedLog(t *testing.T) {
	x := session(t)
	most := x.left[0]
	for _, l := range x.left { // a log of several lines, with changes that are not in the file
		if strings.Contains(logOf(t, l.home), `(4)`) && !strings.Contains(string(must(os.ReadFile(filepath.Join(l.files, name)))), "(4)") {
			most = l
		}
	}
	log := logOf(t, most.home)
	files, home := copyOf(t, most.files), copyOf(t, most.home)
	text := string(must(os.ReadFile(filepath.Join(files, name))))
	lib := library{workspacetest.Open(t, workspace.Config{Files: must(store.Open(files, store.SyncLater())), Home: must(store.Open(home, store.SyncLater()))}), files, home}
	try := func(what, damaged string, lossless bool) {
		t.Helper()
		for path, text := range map[string]string{filepath.Join(home, "texts", name+".jsonl"): damaged, filepath.Join(files, name): text} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := lib.Reload(); err != nil {
			t.Fatal(err)
		}
		r, err := open(place{lib.Workspace, name}, false, nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		l := most
		l.at = what
		if !lossless {
			l.sent, l.acked = slices.Concat(l.sent, l.acked), nil
			for _, word := range most.acked {
				if !strings.Contains(r.doc.Text().String(), word) && r.notice == "" {
					t.Errorf("%s: %s is lost without a word", what, word)
				}
			}
		}
		l.check(t, "the text", r.doc.Text().String())
	}
	whole, problems := readLog([]byte(log), text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for i := range len(log) * 8 {
		damaged := []byte(log)
		damaged[i/8] ^= 1 << (i % 8)
		p, problems := readLog(damaged, text)
		if p.doc == nil || p.doc.Text().String() != whole.doc.Text().String() || p.room != whole.room || !slices.Equal(p.files, whole.files) || p.missing {
			t.Errorf("bit %d of byte %d: %+v %v", i%8, i/8, p, problems)
		}
	}
	for i := range 8 {
		damaged := []byte(log)
		damaged[len(log)*i/8] ^= 1 << i
		try(fmt.Sprintf("bit %d of byte %d", i, len(log)*i/8), string(damaged), true)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
	for i := range lines {
		without := slices.Concat(lines[:i], lines[i+1:])
		zeros := slices.Concat(lines[:i], []string{strings.Repeat("\x00", len(lines[i])-1) + "\n"}, lines[i+1:])
		try(fmt.Sprintf("line %d of %d is missing", i+1, len(lines)), strings.Join(without, "")+"\n", false)
		try(fmt.Sprintf("line %d of %d is zeros", i+1, len(lines)), strings.Join(zeros, "")+"\n", false)
	}
	last := len(log) - len(lines[len(lines)-1]) - 1
	for i := last; i < len(log); i++ {
		try(fmt.Sprintf("cut after %d of %d bytes", i, len(log)), log[:i], false)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func logOf(t *testing.T, home string) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(home, "texts", name+".jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(log)
}
