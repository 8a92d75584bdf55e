package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// open opens a folder that contains files.
func open(t *testing.T, files map[string]string) *Dir {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "definitions"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		put(t, d, name, text)
	}
	return d
}

// put writes a file as another program would.
func put(t *testing.T, d *Dir, name, text string) {
	t.Helper()
	full := filepath.Join(d.path, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// tree returns the texts of all files below the folder, including hidden ones, and its directories.
func tree(t *testing.T, d *Dir) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(d.path, func(full string, e fs.DirEntry, err error) error {
		if err != nil || full == d.path {
			return err
		}
		name, err := filepath.Rel(d.path, full)
		if err != nil {
			return err
		}
		if e.IsDir() {
			all[filepath.ToSlash(name)+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(full)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func namesOf(files []File) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Name)
	}
	return out
}

func TestRevisionOf(t *testing.T) {
	// The first digits of the SHA-256 of "abc", as in FIPS 180-2, and of the empty text.
	if got := RevisionOf([]byte("abc")); got != "ba7816bf8f01cfea" {
		t.Error(got)
	}
	if got := RevisionOf(nil); got != "e3b0c44298fc1c14" {
		t.Error(got)
	}
}

func TestListReadsTheFilesThatCount(t *testing.T) {
	d := open(t, map[string]string{
		"b.def": "2", "a/z.def": "3", "a.def": "1", "notes.TXT": "4", "protocol.7.map": "5", "README": "6",
		"b.samples.jsonl": "7", "other.jsonl": "x", "page.html": "x", "a:b.def": "x", "bad\x01/c.def": "x",
		".hidden.def": "x", ".git/d.def": "x", "node_modules/e.def": "x", "a/" + temporaryStart + "0123456789abcdef.tmp": "x",
		"1/2/3/4/5/6/7/deep.def": "8", "1/2/3/4/5/6/7/8/deeper.def": "x",
		"big.def": strings.Repeat("#", MaxFileBytes+1), "full.def": strings.Repeat("#", MaxFileBytes),
	})
	if err := os.Symlink("a.def", filepath.Join(d.path, "link.def")); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	if err := os.Symlink("a", filepath.Join(d.path, "linked")); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	files, skipped, err := d.List()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1/2/3/4/5/6/7/deep.def", "README", "a.def", "a/z.def", "b.def", "b.samples.jsonl", "full.def", "link.def", "notes.TXT", "protocol.7.map"}
	if diff := cmp.Diff(want, namesOf(files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	wantSkipped := []string{
		`"bad\x01": the character U+0001 is not printable`,
		"1/2/3/4/5/6/7/8/deeper.def: at most 8 folders deep",
		"a:b.def: the character : is not allowed in names",
		"big.def: 4194305 bytes, a file has at most 4194304",
		"linked: not a regular file",
		"other.jsonl: not a definition",
		"page.html: not a definition",
	}
	if diff := cmp.Diff(wantSkipped, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if f := files[3]; string(f.Text) != "3" || f.Revision != RevisionOf([]byte("3")) {
		t.Errorf("%+v", f)
	}
}

func TestListRefusesAFolderOfTooMuch(t *testing.T) {
	d := open(t, map[string]string{"a.def": "12345", "x/b.def": "12345", "ignored.html": "12345"})
	for _, test := range []struct {
		files, bytes int
		want         string
	}{
		{2, 10, ""},
		{1, 10, "more than 1 files"},
		{2, 9, "more than 9 bytes"},
	} {
		d.maxFiles, d.maxBytes = test.files, test.bytes
		files, _, err := d.List()
		if test.want == "" && (err != nil || len(files) != 2) || test.want != "" && (err == nil || err.Error() != "read folder "+d.Name()+": "+test.want) {
			t.Errorf("%d files, %d bytes: %v, %v", test.files, test.bytes, namesOf(files), err)
		}
	}
}

func TestOpenMakesTheFolder(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	if _, err := Open(root); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		t.Error(info, err)
	}
}

func TestOpenRefusesAFile(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(root, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{root, filepath.Join(root, "below")} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestOpenRemovesWhatACrashHasLeft(t *testing.T) {
	d := open(t, map[string]string{
		".wirebench-0123456789abcdef.tmp": "x", "a/b/.wirebench-fedcba9876543210.tmp": "x",
		".wirebench-0123456789abcdeg.tmp": "no digits", ".wirebench-notes.tmp": "of somebody", ".git/.wirebench-0123456789abcdef.tmp": "not ours",
	})
	if _, err := Open(d.path, Alone()); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a/": "", "a/b/": "", ".git/": "", ".git/.wirebench-0123456789abcdef.tmp": "not ours",
		".wirebench-0123456789abcdeg.tmp": "no digits", ".wirebench-notes.tmp": "of somebody",
	}
	if diff := cmp.Diff(want, tree(t, d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRead(t *testing.T) {
	d := open(t, map[string]string{"a/b.def": "text", "settings.json": "{}", "big.def": strings.Repeat("#", MaxFileBytes+1)})
	f, err := d.Read("a/b.def")
	if diff := cmp.Diff(File{"a/b.def", []byte("text"), RevisionOf([]byte("text"))}, f); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if f, err := d.Read("settings.json"); err != nil || string(f.Text) != "{}" {
		t.Errorf("another ending: %+v, %v", f, err)
	}
	for _, test := range []struct {
		about, name, want string
		is                error
	}{
		{"no such file", "c.def", "read c.def: the file does not exist", fs.ErrNotExist},
		{"no such folder", "c/d.def", "read c/d.def: the file does not exist", fs.ErrNotExist},
		{"a folder", "a", "read a: not a regular file", nil},
		{"a file as a folder", "a/b.def/c.def", `"a/b.def/c.def": a/b.def is not a folder`, nil},
		{"too large", "big.def", "read big.def: 4194305 bytes, a file has at most 4194304", ErrTooLarge},
		{"outside", "../a", `"../a": not a path below the folder`, nil},
	} {
		t.Run(test.about, func(t *testing.T) {
			_, err := d.Read(test.name)
			if err == nil || err.Error() != test.want || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestNoLinkLeadsOutside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.MkdirAll(outside, 0o777); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "secret.def")
	if err := os.WriteFile(secret, []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	d := open(t, nil)
	for link, target := range map[string]string{"file.def": secret, "dir": outside, "self": "."} {
		if err := os.Symlink(target, filepath.Join(d.path, link)); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	for _, name := range []string{"file.def", "dir/secret.def", "dir/new.def", "self/file.def", "self/new.def"} {
		if f, err := d.Read(name); err == nil {
			t.Errorf("read %s: %q", name, f.Text)
		}
		if _, err := d.Write(name, []byte("changed"), nil); err == nil {
			t.Errorf("wrote %s", name)
		}
		if err := d.Append(name, []byte("changed")); err == nil {
			t.Errorf("appended to %s", name)
		}
		if err := d.Remove(name, nil); err == nil {
			t.Errorf("removed %s", name)
		}
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("outside: %q, %v", text, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

// A change goes to the file that a link leads to, and the link stays; removing it leaves the file.
func TestLinksWithinTheFolder(t *testing.T) {
	d := open(t, map[string]string{"shared/a.def": "one"})
	for link, target := range map[string]string{"link.def": "shared/a.def", "shared/again.def": "../link.def", "loop.def": "loop.def"} {
		if err := os.Symlink(target, filepath.Join(d.path, link)); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	for i, name := range []string{"link.def", "shared/again.def"} {
		f, err := d.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint("text ", i)
		if _, err := d.Write(name, []byte(text), &f.Revision); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"link.def", "shared/again.def", "shared/a.def"} {
			if f, err := d.Read(name); err != nil || string(f.Text) != text {
				t.Errorf("%s: %q, %v", name, f.Text, err)
			}
			info, err := os.Lstat(filepath.Join(d.path, name))
			if link := name != "shared/a.def"; err != nil || link != (info.Mode()&fs.ModeSymlink != 0) {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
	if _, err := d.Read("loop.def"); err == nil {
		t.Error("a link to itself was read")
	}
	if files, _, err := d.List(); err != nil || len(files) != 3 {
		t.Errorf("%v, %v", files, err)
	}
	if err := d.Remove("link.def", nil); err != nil {
		t.Error(err)
	}
	if f, err := d.Read("shared/a.def"); err != nil || string(f.Text) != "text 1" {
		t.Errorf("%q, %v", f.Text, err)
	}
}

// A missing folder is not an empty one: callers would drop everything they have loaded.
func TestAFolderThatIsGone(t *testing.T) {
	d := open(t, map[string]string{"a.def": "x"})
	if err := os.RemoveAll(d.path); err != nil {
		t.Fatal(err)
	}
	_, _, list := d.List()
	_, read := d.Read("a.def")
	_, write := d.Write("a.def", nil, nil)
	for what, err := range map[string]error{"list": list, "read": read, "write": write, "append": d.Append("a.def", nil), "remove": d.Remove("a.def", nil)} {
		if !errors.Is(err, ErrGone) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := os.MkdirAll(d.path, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write("a.def", []byte("y"), nil); err != nil {
		t.Errorf("made anew: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"a.def": "y"}, tree(t, d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
