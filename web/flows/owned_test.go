package flows

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/defs/tooltest"
	"wirebench/server"
	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/web/browsertest"
)

// checkout is a folder of definitions that another program owns, a git repository where there is git.
type checkout struct {
	*testing.T
	dir   string
	files map[string]string      // as they should be
	modes map[string]fs.FileMode // at the start
}

func newCheckout(t *testing.T, files map[string]string) *checkout {
	t.Helper()
	c := &checkout{t, t.TempDir(), maps.Clone(files), map[string]fs.FileMode{}}
	for name, text := range files {
		servertest.WriteFile(t, filepath.Join(c.dir, name), text)
	}
	return c
}

// git runs git, if there is one, and returns its output.
func (c *checkout) git(args ...string) string {
	c.Helper()
	if _, ok := tooltest.Look(c, "git"); !ok {
		return ""
	}
	cmd := exec.CommandContext(c.Context(), "git", append([]string{"-C", c.dir, "-c", "core.autocrlf=false", "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}

// commit makes the present files those to compare with.
func (c *checkout) commit() {
	c.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", "x")
	for name := range c.files {
		info, err := os.Lstat(filepath.Join(c.dir, name))
		if err != nil {
			c.Fatal(err)
		}
		c.modes[name] = info.Mode()
	}
}

// has checks that the folder has exactly the files that it should have, with their modes, and that git sees so many changed lines.
func (c *checkout) has(what, numstat string) {
	c.Helper()
	var there []string
	_ = fs.WalkDir(os.DirFS(c.dir), ".", func(name string, e fs.DirEntry, err error) error {
		if e.IsDir() && name == ".git" {
			return fs.SkipDir
		}
		if !e.IsDir() {
			there = append(there, name)
		}
		return err
	})
	if want := slices.Sorted(maps.Keys(c.files)); !slices.Equal(there, want) {
		c.Errorf("%s: files %v, want %v", what, there, want)
	}
	for name, want := range c.files {
		path := filepath.Join(c.dir, name)
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			c.Errorf("%s: %s has %q, want %q (%v)", what, name, text, want, err)
		}
		if info, err := os.Lstat(path); err == nil && c.modes[name] != 0 && info.Mode() != c.modes[name] {
			c.Errorf("%s: %s has mode %v, not %v", what, name, info.Mode(), c.modes[name])
		}
	}
	if got := strings.ReplaceAll(strings.TrimSpace(c.git("diff", "--numstat")), "\t", " "); got != numstat && c.git("--version") != "" {
		c.Errorf("%s: git diff says %q, want %q", what, got, numstat)
	}
	c.commit()
}

// waits waits until a file has another text than before, and no file is being written.
func (c *checkout) waits(name, old string) {
	c.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(c.dir, name))
		writing, _ := filepath.Glob(filepath.Join(c.dir, "*/.wirebench-*"))
		if err == nil && string(text) != old && len(writing) == 0 {
			return
		}
	}
	c.Fatalf("%s was not saved", name)
}

// All acts of editing in a folder that another program owns change the lines that they are about, and nothing else: line ends, byte order
// marks, missing line breaks at the end, columns, modes and links stay, and no other files are written.
func TestFlowOwnedFolder(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	const bom = "\ufeff"
	c := newCheckout(t, map[string]string{
		"definitions/C_MARKED.1.def": bom + "# a mark,\ttabs and CR LF\r\nuint32\tid\t# its number\r\nuint32\tflags",
		"definitions/C_MIXED.1.def":  "# mixed\r\nuint32 id\nuint32 flags\r\nbyte   last   # at the end\n\n\n",
		"definitions/C_LATIN.1.def":  "# caf\xe9 in Latin-1\nuint32 id\n",
		"definitions/C_KEPT.1.def":   "uint32 id\n",
		"real/C_LINKED.1.def":        "uint32 id\n",
		"map_base/protocol.7.map":    "C_ZULU = 9\r\nC_MARKED   = 1   # the first\r\n\r\nC_MIXED=2",
		"README.md":                  "not ours",
		"package.json":               "{}\n",
	})
	if err := os.Symlink("../real/C_LINKED.1.def", filepath.Join(c.dir, "definitions/C_LINK.1.def")); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	c.files["definitions/C_LINK.1.def"] = c.files["real/C_LINKED.1.def"]
	for name, mode := range map[string]fs.FileMode{"definitions/C_MARKED.1.def": 0o755, "map_base/protocol.7.map": 0o600} {
		if err := os.Chmod(filepath.Join(c.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	c.git("init", "-q")
	c.commit()

	data := t.TempDir()
	kept, err := store.OpenData(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	set, err := projects.OpenData(projects.Options{Data: kept}, projects.Library{Dir: c.dir, Protocol: "tera"})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, server.Config{Projects: set})
	srv := serve(t, s)
	project := set.First().Name
	ask := func(method, path, body string, into any) {
		t.Helper()
		if code := servertest.Ask(t, s, method, "/api/v1/"+project+path, "application/json", body, into); code >= 300 {
			t.Fatalf("%s %s: %d", method, path, code)
		}
	}
	f := flow{t, browsertest.Open(t, srv.URL+"/p/"+project+"/definitions/C_MARKED.1", openSelector)}
	p := f.page()
	save := func(name, was, is, stat string) {
		t.Helper()
		old := c.files[name]
		c.files[name] = strings.Replace(old, was, is, 1)
		f.press("Ctrl+s")
		c.waits(name, old)
		c.has(name, stat+" "+name)
	}

	// Text is typed: into a file with a byte order mark and CR LF, without a line break at the end.
	f.caret(2)
	f.types(" that counts")
	save("definitions/C_MARKED.1.def", "its number", "its number that counts", "1 1")

	// A field from bytes.
	f.paste("0e00 0100 07000000 00000000 0500")
	f.shows("#fields-head", "2 bytes left over")
	f.shows(row("id"), "7")
	f.dragBytes(12, 14)
	f.rightByte(12)
	p.Click("menuitem", "uint16…")
	p.Type("level")
	p.Press("Enter")
	f.shows("#layout-rows", "level")
	save("definitions/C_MARKED.1.def", "flags", "flags\r\nuint16\tlevel", "2 1")

	f.open("C_MIXED.1")
	f.caret(3)
	f.types("2")
	save("definitions/C_MIXED.1.def", "flags", "flags2", "1 1")

	f.open("C_LATIN.1")
	f.caret(2)
	f.types("s")
	save("definitions/C_LATIN.1.def", "id\n", "ids\n", "1 1")

	// Through a link: the file that it leads to.
	f.open("C_LINK.1")
	f.caret(1)
	f.types(" # linked")
	f.press("Ctrl+s")
	c.waits("definitions/C_LINK.1.def", "uint32 id\n")
	c.files["definitions/C_LINK.1.def"] = "uint32 id # linked\n"
	c.files["real/C_LINKED.1.def"] = "uint32 id # linked\n"
	c.has("a link", "1 1 real/C_LINKED.1.def")

	// A code given by hand: one line of the map.
	ask("POST", "/codes", `{"message": "C_MIXED", "code": 20}`, nil)
	c.files["map_base/protocol.7.map"] = strings.Replace(c.files["map_base/protocol.7.map"], "C_MIXED=2", "C_MIXED=20", 1)
	c.has("a code", "1 1 map_base/protocol.7.map")
	ask("POST", "/codes", `{"message": "C_MARKED", "code": 30}`, nil)
	c.files["map_base/protocol.7.map"] = strings.Replace(c.files["map_base/protocol.7.map"], "= 1   #", "= 30   #", 1)
	c.has("another code", "1 1 map_base/protocol.7.map")

	// A new name: the file and the line of the map.
	var renamed struct{ Undo struct{ ID string } }
	ask("POST", "/rename", `{"files": [{"from": "C_MARKED.1", "to": "C_SIGNED.1"}], "codes": true}`, &renamed)
	before := maps.Clone(c.files)
	c.files["definitions/C_SIGNED.1.def"] = c.files["definitions/C_MARKED.1.def"]
	delete(c.files, "definitions/C_MARKED.1.def")
	c.files["map_base/protocol.7.map"] = strings.Replace(c.files["map_base/protocol.7.map"], "C_MARKED ", "C_SIGNED ", 1)
	c.has("renamed", "0 4 definitions/C_MARKED.1.def\n1 1 map_base/protocol.7.map")
	delete(c.modes, "definitions/C_MARKED.1.def")
	ask("POST", "/changes/"+renamed.Undo.ID+"/undo", "", nil)
	c.files = before
	delete(c.modes, "definitions/C_SIGNED.1.def")
	c.has("renamed back", "0 4 definitions/C_SIGNED.1.def\n1 1 map_base/protocol.7.map")

	// An upload that replaces, and its undo.
	w := set.First()
	up := []workspace.NewFile{{Name: "C_KEPT.1.def", Text: []byte("uint64 id\r\n")}, {Name: "protocol.7.map", Text: []byte("C_KEPT 1\n")}}
	_, step, err := w.SaveAll(t.Context(), up, true)
	if err != nil || step == nil {
		t.Fatal(step, err)
	}
	before = maps.Clone(c.files)
	c.files["definitions/C_KEPT.1.def"], c.files["map_base/protocol.7.map"] = "uint64 id\r\n", "C_KEPT 1\n"
	c.has("replaced", "1 1 definitions/C_KEPT.1.def\n1 4 map_base/protocol.7.map")
	ask("POST", "/changes/"+step.ID+"/undo", "", nil)
	c.files = before
	c.has("undone", "1 1 definitions/C_KEPT.1.def\n4 1 map_base/protocol.7.map")

	// A new definition, deleted and restored; samples, settings and captures are kept elsewhere.
	if code := servertest.Ask(t, s, "PUT", "/api/v1/"+project+"/definitions/definitions%2FC_FRESH.1.def?force=true", "text/plain", "byte x", nil); code != 201 {
		t.Fatal(code)
	}
	c.files["definitions/C_FRESH.1.def"] = "byte x"
	ask("POST", "/definitions/C_KEPT.1.def/samples", `{"hex": "0800010001000000", "message": "C_KEPT.1"}`, nil)
	ask("PATCH", "", `{"patch": "92", "map": "map_base/protocol.7.map"}`, nil)
	c.has("others", "")
	ask("DELETE", "/definitions/C_KEPT.1.def?force=true", "", nil)
	delete(c.files, "definitions/C_KEPT.1.def")
	c.has("deleted", "0 1 definitions/C_KEPT.1.def")
	ask("POST", "/changes/"+w.History.Steps()[0].ID+"/undo", "", nil)
	c.files["definitions/C_KEPT.1.def"] = "uint32 id\n"
	delete(c.modes, "definitions/C_KEPT.1.def")
	c.has("restored", "")
	if n := len(w.Now().Samples("definitions/C_KEPT.1.def")); n != 1 {
		t.Errorf("%d samples", n)
	}
	for _, name := range []string{"samples/definitions/C_KEPT.1.samples.jsonl", "settings.json", "changes.json", "project.json"} {
		if _, err := os.Stat(filepath.Join(data, project, name)); err != nil {
			t.Error(err)
		}
	}
}
