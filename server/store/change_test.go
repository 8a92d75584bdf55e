package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func revision(text string) *Revision { r := RevisionOf([]byte(text)); return &r }

var noFile = new(Revision)

func TestWrite(t *testing.T) {
	for _, test := range []struct {
		about, name string
		expect      *Revision
		conflict    *ConflictError // nil if written
	}{
		{"a new file", "new.def", nil, nil},
		{"a new file that must be new", "new.def", noFile, nil},
		{"a new file in new folders", "x/y/z.def", noFile, nil},
		{"over what is there", "a.def", nil, nil},
		{"over what was seen", "a.def", revision("old"), nil},
		{"over something else", "a.def", revision("older"), &ConflictError{"a.def", *revision("old"), []byte("old")}},
		{"over what should not be there", "a.def", noFile, &ConflictError{"a.def", *revision("old"), []byte("old")}},
		{"over what has been removed", "sub/gone.def", revision("old"), &ConflictError{"sub/gone.def", "", nil}},
		{"in a folder that has been removed", "gone/a.def", revision("old"), &ConflictError{"gone/a.def", "", nil}},
		{"a text that is there already", "a.def", revision("new"), &ConflictError{"a.def", *revision("old"), []byte("old")}},
	} {
		t.Run(test.about, func(t *testing.T) {
			d := open(t, map[string]string{"a.def": "old", "sub/b.def": "other"})
			want := tree(t, d)
			rev, err := d.Write(test.name, []byte("new"), test.expect)
			var conflict *ConflictError
			errors.As(err, &conflict)
			if diff := cmp.Diff(test.conflict, conflict); diff != "" || err != nil && conflict == nil {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			if test.conflict == nil {
				if rev != *revision("new") {
					t.Errorf("revision %s", rev)
				}
				want[test.name] = "new"
				for dir := filepath.Dir(test.name); dir != "."; dir = filepath.Dir(dir) {
					want[dir+"/"] = ""
				}
			}
			if diff := cmp.Diff(want, tree(t, d)); diff != "" {
				t.Errorf("on disk (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteRefusesNames(t *testing.T) {
	d := open(t, map[string]string{"C_Chat.1.def": "x", "Sub/a.def": "x", "straße/b.def": "x"})
	before := tree(t, d)
	for name, want := range map[string]string{
		"c_chat.1.def":   `"c_chat.1.def": "C_Chat.1.def" exists and differs only in case`,
		"sub/b.def":      `"sub/b.def": "Sub" exists and differs only in case`,
		"Sub/A.DEF":      `"Sub/A.DEF": "Sub/a.def" exists and differs only in case`,
		"sub":            `"sub": "Sub" exists and differs only in case`,
		"STRAßE/c.def":   `"STRAßE/c.def": "straße" exists and differs only in case`,
		"Sub":            `"Sub": this is a folder`,
		"Sub/a.def/b":    `"Sub/a.def/b": Sub/a.def is not a folder`,
		".hidden.def":    `".hidden.def": names that start with a dot are reserved for other programs`,
		"Sub/../../evil": `"Sub/../../evil": not a path below the folder`,
	} {
		_, err := d.Write(name, []byte("y"), nil)
		var wrong *NameError
		if !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", name, err, want)
		}
		if err := d.Append(name, []byte("y")); err == nil || err.Error() != want {
			t.Errorf("append to %s: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, tree(t, d)); diff != "" {
		t.Errorf("on disk (-want +got):\n%s", diff)
	}
	// Existing files whose names differ only in case can both be changed.
	put(t, d, "both.def", "1")
	put(t, d, "BOTH.def", "2")
	if _, err := d.Write("both.def", []byte("3"), nil); err != nil {
		t.Error(err)
	}
}

func TestWriteRefusesWhatListWouldNotRead(t *testing.T) {
	d := open(t, nil)
	if _, err := d.Write("a.def", make([]byte, MaxFileBytes), nil); err != nil {
		t.Error(err)
	}
	_, err := d.Write("a.def", make([]byte, MaxFileBytes+1), nil)
	if !errors.Is(err, ErrTooLarge) || err.Error() != "write a.def: 4194305 bytes, a file has at most 4194304" {
		t.Error(err)
	}
}

func TestWriteKeepsTheMode(t *testing.T) {
	if onWindows {
		t.Skip("files have no modes here")
	}
	d := open(t, map[string]string{"a.def": "x"})
	full := filepath.Join(d.path, "a.def")
	for _, mode := range []fs.FileMode{0o600, 0o664, 0o777, 0o644} {
		if err := os.Chmod(full, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Write("a.def", []byte("y"), nil); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(full); err != nil || info.Mode() != mode {
			t.Errorf("%v became %v (%v)", mode, info.Mode(), err)
		}
	}
}

func TestAReadOnlyFileStays(t *testing.T) {
	d := open(t, map[string]string{"a.def": "x"})
	if err := os.Chmod(filepath.Join(d.path, "a.def"), 0o444); err != nil {
		t.Fatal(err)
	}
	_, write := d.Write("a.def", []byte("y"), nil)
	for op, err := range map[string]error{"write": write, "append to": d.Append("a.def", []byte("y")), "remove": d.Remove("a.def", nil)} {
		if !errors.Is(err, ErrReadOnly) || err.Error() != op+" a.def: the file is read-only" {
			t.Errorf("%s: %v", op, err)
		}
	}
	if diff := cmp.Diff(map[string]string{"a.def": "x"}, tree(t, d)); diff != "" {
		t.Errorf("on disk (-want +got):\n%s", diff)
	}
}

// failAt makes the nth call of a step fail.
func failAt(d *Dir, step string, nth int, err error) {
	d.before = func(s string) error {
		if s == step {
			if nth--; nth == 0 {
				return err
			}
		}
		return nil
	}
}

// steps returns the steps of a change, in order.
func steps(t *testing.T, d *Dir, change func() error) []string {
	t.Helper()
	var all []string
	d.before = func(s string) error { all = append(all, s); return nil }
	if err := change(); err != nil {
		t.Fatal(err)
	}
	return all
}

// Whichever step of a change fails, the folder is unchanged. Only if the last step fails has the file changed, but may not survive a power
// failure.
func TestAnyStepMayFail(t *testing.T) {
	type change struct {
		about string
		do    func(d *Dir) error
		after map[string]string // what differs from before
		steps []string
	}
	was := map[string]string{"a.def": "old\n", "sub/b.def": "old\n"}
	write := func(name string) func(d *Dir) error {
		return func(d *Dir) error { _, err := d.Write(name, []byte("new\n"), nil); return err }
	}
	line := func(name string) func(d *Dir) error {
		return func(d *Dir) error { return d.Append(name, []byte("new")) }
	}
	for _, c := range []change{
		{
			"a new text", write("a.def"),
			map[string]string{"a.def": "new\n"},
			[]string{"create", "write", "mode", "sync", "close", "rename", "sync directory"},
		},
		{
			"a new file in two new folders", write("x/y/z.def"),
			map[string]string{"x/": "", "x/y/": "", "x/y/z.def": "new\n"},
			[]string{"make", "sync directory", "make", "sync directory", "create", "write", "sync", "close", "rename", "sync directory"},
		},
		{"a line", line("a.def"), map[string]string{"a.def": "old\nnew\n"}, []string{"create", "write", "sync"}},
		{
			"a line of a new file", line("x/z.def"),
			map[string]string{"x/": "", "x/z.def": "new\n"},
			[]string{"make", "sync directory", "create", "write", "sync", "sync directory"},
		},
		{
			"a removal", func(d *Dir) error { return d.Remove("sub/b.def", nil) },
			map[string]string{"sub/b.def": "-", "sub/": "-"},
			[]string{"remove", "sync directory"},
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			d := open(t, was)
			before := tree(t, d)
			if diff := cmp.Diff(c.steps, steps(t, d, func() error { return c.do(d) })); diff != "" {
				t.Fatalf("steps (-want +got):\n%s", diff)
			}
			after := maps.Clone(before)
			maps.Copy(after, c.after)
			maps.DeleteFunc(after, func(_, text string) bool { return text == "-" })
			if diff := cmp.Diff(after, tree(t, d)); diff != "" {
				t.Fatalf("without a failure (-want +got):\n%s", diff)
			}
			seen := map[string]int{}
			for i, step := range c.steps {
				seen[step]++
				for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
					d := open(t, was)
					failAt(d, step, seen[step], cause)
					err := c.do(d)
					if !errors.Is(err, cause) || errors.Is(err, ErrFull) != (cause == syscall.ENOSPC) {
						t.Errorf("%s %d: %v", step, seen[step], err)
					}
					want := before
					if changed := slices.Index(c.steps, "rename"); changed >= 0 && i > changed {
						want = after
					}
					if slices.Contains(c.steps, "remove") && i > 0 {
						want = maps.Clone(after)
						want["sub/"] = ""
					}
					if diff := cmp.Diff(want, tree(t, d)); diff != "" {
						t.Errorf("%s %d fails (-want +got):\n%s", step, seen[step], diff)
					}
					d.before = nil
					if err := c.do(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("once more, after %s %d has failed: %v", step, seen[step], err)
					}
				}
			}
		})
	}
}

// A revision returned with an error marks a completed write that may not survive a power failure.
func TestARevisionBesideAnError(t *testing.T) {
	d := open(t, map[string]string{"a.def": "old"})
	failAt(d, "sync directory", 1, syscall.EIO)
	if rev, err := d.Write("a.def", []byte("new"), nil); rev != *revision("new") || err == nil {
		t.Error(rev, err)
	}
	failAt(d, "rename", 1, syscall.EIO)
	if rev, err := d.Write("a.def", []byte("newer"), nil); rev != "" || err == nil {
		t.Error(rev, err)
	}
}

// Another program changes the file while we write our temporary file.
func TestAChangeDuringAWrite(t *testing.T) {
	for _, step := range []string{"create", "write", "sync", "close"} {
		d := open(t, map[string]string{"a.def": "old"})
		d.before = func(s string) error {
			if s == step {
				put(t, d, "a.def", "theirs")
			}
			return nil
		}
		_, err := d.Write("a.def", []byte("ours"), revision("old"))
		var conflict *ConflictError
		if !errors.As(err, &conflict) || string(conflict.Text) != "theirs" {
			t.Errorf("at %s: %v", step, err)
		}
		if diff := cmp.Diff(map[string]string{"a.def": "theirs"}, tree(t, d)); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", step, diff)
		}
	}
}

func TestErrorsForPeople(t *testing.T) {
	for _, test := range []struct {
		cause, kind error
		want        string
	}{
		{syscall.ENOSPC, ErrFull, "write C_CHAT.1.def: the disk is full"},
		{syscall.EDQUOT, ErrFull, "write C_CHAT.1.def: the disk quota is used up"},
		{syscall.EFBIG, ErrFull, "write C_CHAT.1.def: the file would be larger than the disk allows"},
		{syscall.EROFS, ErrReadOnly, "write C_CHAT.1.def: the disk is read-only"},
		{syscall.EACCES, ErrReadOnly, "write C_CHAT.1.def: permission denied"},
		{syscall.EPERM, ErrReadOnly, "write C_CHAT.1.def: permission denied"},
		{&fs.PathError{Op: "openat", Path: ".wirebench-1.tmp", Err: syscall.EIO}, syscall.EIO, "write C_CHAT.1.def: input/output error"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.ENOSPC}, ErrFull, "write C_CHAT.1.def: the disk is full"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EIO}, syscall.EIO, "write C_CHAT.1.def: input/output error"},
	} {
		d := open(t, nil)
		failAt(d, "write", 1, test.cause)
		_, err := d.Write("C_CHAT.1.def", nil, nil)
		if err == nil || err.Error() != test.want || !errors.Is(err, test.kind) || !errors.Is(err, test.cause) {
			t.Errorf("%v: %v, want %s", test.cause, err, test.want)
		}
		for _, other := range []error{ErrFull, ErrReadOnly} {
			if other != test.kind && errors.Is(err, other) {
				t.Errorf("%v is %v", err, other)
			}
		}
	}
}

func TestAppend(t *testing.T) {
	for _, test := range []struct{ about, was, line, want string }{
		{"to an empty file", "", "x", "x\n"},
		{"after a line", "a\n", "x", "a\nx\n"},
		{"with an end of line", "a\n", "x\n", "a\nx\n"},
		{"after a torn line", "a\nhal", "x", "a\nhal\nx\n"},
	} {
		t.Run(test.about, func(t *testing.T) {
			d := open(t, map[string]string{"a.txt": test.was})
			if err := d.Append("a.txt", []byte(test.line)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"a.txt": test.want}, tree(t, d)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	d := open(t, map[string]string{"full.txt": strings.Repeat("#", MaxFileBytes-2)})
	if err := d.Append("full.txt", []byte("x")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over the bound: %v", err)
	}
	if err := d.Append("new/full.txt", make([]byte, MaxFileBytes)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over the bound: %v", err)
	}
	if err := d.Append("a.txt", []byte("x\ny")); err == nil {
		t.Error("two lines")
	}
	if got := tree(t, d); len(got) != 1 || len(got["full.txt"]) != MaxFileBytes-2 {
		t.Errorf("%d files", len(got))
	}
}

func TestRemove(t *testing.T) {
	files := map[string]string{"a.def": "x", "x/y/b.def": "y", "x/c.def": "z"}
	for _, test := range []struct {
		about, name string
		expect      *Revision
		left        []string // nil = all
		is          error
	}{
		{"what is there", "a.def", nil, []string{"x/", "x/c.def", "x/y/", "x/y/b.def"}, nil},
		{"what was seen", "a.def", revision("x"), []string{"x/", "x/c.def", "x/y/", "x/y/b.def"}, nil},
		{"the last file of a folder", "x/y/b.def", nil, []string{"a.def", "x/", "x/c.def"}, nil},
		{"what is not there", "b.def", nil, nil, fs.ErrNotExist},
		{"what was seen and is not there", "b.def", revision("x"), nil, fs.ErrNotExist},
		{"what is in no folder", "y/b.def", revision("x"), nil, fs.ErrNotExist},
		{"something else", "a.def", revision("y"), nil, &ConflictError{"a.def", *revision("x"), []byte("x")}},
		{"what should not be there", "a.def", noFile, nil, &ConflictError{"a.def", *revision("x"), []byte("x")}},
		{"a folder", "x", nil, nil, &NameError{"x", "this is a folder"}},
	} {
		t.Run(test.about, func(t *testing.T) {
			d := open(t, files)
			if test.left == nil {
				test.left = slices.Sorted(maps.Keys(tree(t, d)))
			}
			err := d.Remove(test.name, test.expect)
			if !errors.Is(err, test.is) && (err == nil || test.is == nil || err.Error() != test.is.Error()) {
				t.Errorf("got %v, want %v", err, test.is)
			}
			if diff := cmp.Diff(test.left, slices.Sorted(maps.Keys(tree(t, d)))); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

// Of many writers with the same revision one succeeds, and its text is in the file.
func TestOneOfManyWins(t *testing.T) {
	d := open(t, map[string]string{"a.def": "0"})
	seen := revision("0")
	for round := range 10 {
		var mu sync.Mutex
		var won []string
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Go(func() {
				text := fmt.Sprint(round, " ", i)
				_, err := d.Write("a.def", []byte(text), seen)
				var conflict *ConflictError
				if err != nil && !errors.As(err, &conflict) {
					t.Error(err)
				}
				if _, err := d.Read("a.def"); err != nil {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					won = append(won, text)
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		f, err := d.Read("a.def")
		if err != nil || len(won) != 1 || string(f.Text) != won[0] {
			t.Fatalf("%v have won, %q is there (%v)", won, f.Text, err)
		}
		seen = &f.Revision
	}
}

func TestLinesOfManyAreWhole(t *testing.T) {
	d := open(t, nil)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 10 {
				if err := d.Append("a.txt", []byte(strings.Repeat(fmt.Sprint(i), 100))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	f, err := d.Read("a.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(f.Text)) {
		if lines++; line != strings.Repeat(line[:1], 100)+"\n" {
			t.Errorf("%q", line)
		}
	}
	if lines != 80 {
		t.Errorf("%d lines", lines)
	}
}

// Two encodings of one name are one file on some systems, so they are not two here.
func TestNamesThatLookTheSame(t *testing.T) {
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write("C_\u00c9.def", []byte("a"), nil); err != nil {
		t.Fatal(err)
	}
	var wrong *NameError
	if _, err := d.Write("C_E\u0301.def", []byte("b"), nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "encoded differently") {
		t.Errorf("%v", err)
	}
	if _, err := d.Write("C_\u00c9.def", []byte("c"), nil); err != nil {
		t.Error(err)
	}
}
