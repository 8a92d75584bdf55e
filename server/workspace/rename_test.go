package workspace_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/server/history"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// onDisk returns all files of a folder.
func onDisk(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func renameFiles() map[string]string {
	return map[string]string{
		"C_A.1.def": "byte a\r\n", "C_A.2.def": "\ufeffbyte a\nbyte b\n", "C_B.1.def": "byte c\n",
		"C_A.2.samples.jsonl": `{"message":"C_A.2","hex":"0600010001","about":"one"}` + "\nnot a sample\n",
		"protocol.1.map":      "C_A 1 # the first\r\nC_B = 2\r\nC_KNOWN 9\r\n", "protocol.2.map": "C_B 7\nC_A 8",
	}
}

func TestRename(t *testing.T) {
	type r = history.Renaming
	for _, c := range []struct {
		about string
		list  []r
		codes bool
		want  map[string]string // differences: "" is gone
		err   string
	}{
		{"one version", []r{{From: "C_A.2.def", To: "C_NEW.1.def"}}, true, map[string]string{
			"C_A.2.def": "", "C_NEW.1.def": "\ufeffbyte a\nbyte b\n", "C_A.2.samples.jsonl": "",
			"C_NEW.1.samples.jsonl": `{"message":"C_NEW.1","hex":"0600010001","about":"one"}` + "\nnot a sample\n",
		}, ""},
		{"all versions with the code", []r{{From: "C_A.2.def", To: "C_NEW.2.def"}, {From: "C_A.1.def", To: "C_NEW.1.def"}}, true, map[string]string{
			"C_A.1.def": "", "C_A.2.def": "", "C_NEW.1.def": "byte a\r\n", "C_NEW.2.def": "\ufeffbyte a\nbyte b\n", "C_A.2.samples.jsonl": "",
			"C_NEW.2.samples.jsonl": `{"message":"C_NEW.2","hex":"0600010001","about":"one"}` + "\nnot a sample\n",
			"protocol.1.map":        "C_NEW 1 # the first\r\nC_B = 2\r\nC_KNOWN 9\r\n", "protocol.2.map": "C_B 7\nC_NEW 8",
		}, ""},
		{"without the code", []r{{From: "C_B.1.def", To: "S_B.1.def"}}, false, map[string]string{"C_B.1.def": "", "S_B.1.def": "byte c\n"}, ""},
		{"another version", []r{{From: "C_B.1.def", To: "C_B.4.def"}}, true, map[string]string{"C_B.1.def": "", "C_B.4.def": "byte c\n"}, ""},
		{"into a folder", []r{{From: "C_B.1.def", To: "mine/C_B.1.def"}}, true, map[string]string{"C_B.1.def": "", "mine/C_B.1.def": "byte c\n"}, ""},
		{"onto another", []r{{From: "C_B.1.def", To: "C_A.1.def"}}, true, nil, "exists already"},
		{"onto one of another folder", []r{{From: "C_B.1.def", To: "mine/C_A.1.def"}}, true, nil, "C_A.1.def exists already"},
		{"other case", []r{{From: "C_B.1.def", To: "C_b.1.def"}}, true, nil, "case"},
		{"onto the code of another", []r{{From: "C_B.1.def", To: "C_KNOWN.1.def"}}, true, nil, "C_KNOWN has the code 9"},
		{"not a name", []r{{From: "C_B.1.def", To: "C B.1.def"}}, true, nil, "letters, digits and _"},
		{"without a version", []r{{From: "C_B.1.def", To: "C_C.def"}}, true, nil, "NAME.VERSION.def"},
		{"no definition", []r{{From: "C_B.1.def", To: "C_C.1.txt"}}, true, nil, "def"},
		{"outside", []r{{From: "C_B.1.def", To: "../C_C.1.def"}}, true, nil, "not a path below the folder"},
		{"a device", []r{{From: "C_B.1.def", To: "NUL.1.def"}}, true, nil, "Windows reserves"},
		{"too long", []r{{From: "C_B.1.def", To: strings.Repeat("C", 300) + ".1.def"}}, true, nil, "at most 200"},
		{"a map", []r{{From: "protocol.1.map", To: "protocol.3.map"}}, true, nil, "not a definition"},
		{"unknown", []r{{From: "C_C.1.def", To: "C_D.1.def"}}, true, nil, "C_C.1.def"},
		{"the second fails", []r{{From: "C_B.1.def", To: "C_C.1.def"}, {From: "C_A.1.def", To: "C_C.1.def"}}, true, nil, "twice"},
		{"itself", []r{{From: "C_B.1.def", To: "C_B.1.def"}}, true, nil, "this name already"},
	} {
		t.Run(strings.ReplaceAll(c.about, " ", "_"), func(t *testing.T) {
			files, dir := workspacetest.Dir(t, renameFiles())
			w := workspacetest.Open(t, workspace.Config{Files: files})
			choose(t, w, "protocol.1.map")
			before := onDisk(t, dir)
			done, err := w.Rename(workspace.Renames{Files: c.list, Codes: c.codes})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				if now := onDisk(t, dir); !maps.Equal(now, before) {
					t.Errorf("changed: %q", now)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := maps.Clone(before)
			for name, text := range c.want {
				if want[name] = text; text == "" {
					delete(want, name)
				}
			}
			if now := onDisk(t, dir); !maps.Equal(now, want) {
				t.Errorf("on disk: %q\nwant %q", now, want)
			}
			var back []r
			for i, f := range done.Files {
				back = append(back, r{From: f.To, To: f.From})
				if m := done.Messages[i]; m.From != m.To && w.Now().File(f.From) == nil && w.NewName(m.From) != m.To {
					t.Errorf("%s is now %q", m.From, w.NewName(m.From))
				}
			}
			if _, err := w.Rename(workspace.Renames{Files: back, Codes: c.codes}); err != nil {
				t.Fatal(err)
			}
			if now := onDisk(t, dir); !maps.Equal(now, before) {
				t.Errorf("renamed back: %q\nwant %q", now, before)
			}
		})
	}
}

// A failure on the way leaves everything as it was.
func TestRenameRestores(t *testing.T) {
	for n := 1; ; n++ {
		files, dir := workspacetest.Dir(t, renameFiles())
		failing := &failingFiles{Files: files}
		w := workspacetest.Open(t, workspace.Config{Files: failing})
		before := onDisk(t, dir)
		failing.at = n
		_, err := w.Rename(workspace.Renames{Files: []history.Renaming{{From: "C_A.2.def", To: "C_NEW.2.def"}, {From: "C_A.1.def", To: "C_NEW.1.def"}}, Codes: true})
		if err == nil {
			if n < 6 {
				t.Errorf("only %d steps", n-1)
			}
			return
		}
		if now := onDisk(t, dir); !maps.Equal(now, before) {
			t.Fatalf("step %d: %q\nwant %q", n, now, before)
		}
	}
}

// failingFiles fails the change with a number.
type failingFiles struct {
	workspace.Files
	n, at int
}

func (f *failingFiles) fails() bool {
	f.n++
	return f.n == f.at
}

func (f *failingFiles) Write(name string, text []byte, expect *store.Revision) (store.Revision, error) {
	if f.fails() {
		return "", errors.New("disk")
	}
	return f.Files.Write(name, text, expect)
}

func (f *failingFiles) Remove(name string, expect *store.Revision) error {
	if f.fails() {
		return errors.New("disk")
	}
	return f.Files.Remove(name, expect)
}

func TestCopy(t *testing.T) {
	for _, c := range []struct{ file, to, want, err string }{
		{"C_A.1.def", "", "C_A.3.def", ""},
		{"C_A.2.def", "C_NEW.7.def", "C_NEW.7.def", ""},
		{"C_A.1.def", "C_A.2.def", "", "exists already"},
		{"C_A.1.def", "C A.2.def", "", "letters"},
		{"protocol.1.map", "protocol.3.map", "", "not a definition"},
	} {
		files, dir := workspacetest.Dir(t, renameFiles())
		w := workspacetest.Open(t, workspace.Config{Files: files})
		f := w.Now().File(c.file)
		name, _, err := w.Copy(f, c.to)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s as %s: %v", c.file, c.to, err)
			}
			continue
		}
		if err != nil || name != c.want || onDisk(t, dir)[c.want] != f.Text {
			t.Errorf("%s as %s: %s %v", c.file, c.to, name, err)
		}
	}
}

// choose puts a code map in use.
func choose(t *testing.T, w *workspace.Workspace, name string) {
	t.Helper()
	if err := w.Configure(func(s *settings.Settings) { s.Map = name }); err != nil {
		t.Fatal(err)
	}
}

// A message whose text names it is renamed with its samples and its file, in one step.
func TestRenameMessages(t *testing.T) {
	type r = history.Renaming
	muta := map[string]string{
		"game.def":           "# hello\ngroup: c\ngroup: s\n\n# says hello\npacket: hello\n   __group = c\n   a = uint8\npacket: other\n   __group = s\n",
		"game.samples.jsonl": `{"message":"hello","hex":"0105"}` + "\n" + `{"message":"other","hex":"01"}` + "\n",
		"more.def":           "group: x\npacket: third\n   __group = x\n",
	}
	subspace := map[string]string{
		"game.def":           "0x03 ping request (c2s)   # of ping request\r\noffset size comment\r\n1 4 u32 time\r\n\r\n0x04 pong\r\noffset size comment\r\n1 4 u32 time\r\n",
		"game.samples.jsonl": `{"message":"ping_request.1","about":"ping_request","hex":"0301020304"}` + "\n",
	}
	for _, c := range []struct {
		about, dialect string
		files          map[string]string
		give           workspace.Renames
		want           map[string]string // differences: "" is gone
		err            string
	}{
		{"a packet", "muta", muta, workspace.Renames{Messages: []r{{From: "hello", To: "hi"}}}, map[string]string{
			"game.def": strings.Replace(muta["game.def"], "packet: hello", "packet: hi", 1), "game.samples.jsonl": strings.Replace(muta["game.samples.jsonl"], "hello", "hi", 1),
		}, ""},
		{"a packet and its file", "muta", muta, workspace.Renames{Files: []r{{From: "game.def", To: "play.def"}}, Messages: []r{{From: "hello", To: "hi"}}}, map[string]string{
			"game.def": "", "game.samples.jsonl": "", "play.def": strings.Replace(muta["game.def"], "packet: hello", "packet: hi", 1), "play.samples.jsonl": strings.Replace(muta["game.samples.jsonl"], "hello", "hi", 1),
		}, ""},
		{"words of a title", "subspace", subspace, workspace.Renames{Messages: []r{{From: "ping_request", To: "sync_request"}}}, map[string]string{
			"game.def": strings.Replace(subspace["game.def"], "ping request", "sync request", 1), "game.samples.jsonl": strings.Replace(subspace["game.samples.jsonl"], "ping_request", "sync_request", 1),
		}, ""},
		{"a name in use", "muta", muta, workspace.Renames{Messages: []r{{From: "hello", To: "other"}}}, nil, "duplicate packet"},
		{"a name in use in SubSpace", "subspace", subspace, workspace.Renames{Messages: []r{{From: "ping_request", To: "pong"}}}, nil, "pong exists already"},
		{"not a name", "muta", muta, workspace.Renames{Messages: []r{{From: "hello", To: "hi there"}}}, nil, "letters, digits and _"},
		{"unknown", "muta", muta, workspace.Renames{Messages: []r{{From: "nobody", To: "hi"}}}, nil, "nobody"},
		{"the same", "muta", muta, workspace.Renames{Messages: []r{{From: "hello", To: "hello"}}}, nil, "this name already"},
		{"nothing", "muta", muta, workspace.Renames{}, nil, "nothing"},
		{"of TERA", "tera", renameFiles(), workspace.Renames{Messages: []r{{From: "C_A", To: "C_B"}}}, nil, "is that of its file"},
	} {
		t.Run(strings.ReplaceAll(c.about, " ", "_"), func(t *testing.T) {
			files, dir := workspacetest.Dir(t, c.files)
			home, _ := workspacetest.Dir(t, nil)
			w := workspacetest.Open(t, workspace.Config{Files: files, Home: home, Dialect: c.dialect})
			before := onDisk(t, dir)
			done, err := w.Rename(c.give)
			want := maps.Clone(before)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			for name, text := range c.want {
				if want[name] = text; text == "" {
					delete(want, name)
				}
			}
			if now := onDisk(t, dir); !maps.Equal(now, want) {
				t.Errorf("on disk: %q\nwant %q", now, want)
			}
			if c.err != "" {
				return
			}
			if is := w.NewName(c.give.Messages[0].From); is != c.give.Messages[0].To {
				t.Errorf("%s is now %q", c.give.Messages[0].From, is)
			}
			if _, err := w.Turn(done.Undo.ID, true, false); err != nil {
				t.Fatal(err)
			}
			if now := onDisk(t, dir); !maps.Equal(now, before) {
				t.Errorf("undone: %q\nwant %q", now, before)
			}
			if is := w.NewName(c.give.Messages[0].To); is != c.give.Messages[0].From {
				t.Errorf("after the undo, %s is %q", c.give.Messages[0].To, is)
			}
		})
	}
}

// A name that another program has given a file again, as the checkout of a branch does, is followed to its last new name.
func TestNewNameOfWhatIsThereAgain(t *testing.T) {
	files, dir := workspacetest.Dir(t, map[string]string{"C_A.1.def": "byte a\n"})
	home, _ := workspacetest.Dir(t, nil)
	w := workspacetest.Open(t, workspace.Config{Files: files, Home: home})
	for _, name := range []string{"C_B.1", "C_C.1"} {
		if _, err := w.Rename(workspace.Renames{Files: []history.Renaming{{From: "C_A.1.def", To: name + ".def"}}}); err != nil {
			t.Fatal(err)
		}
		if is := w.NewName("C_A.1"); is != name {
			t.Errorf("C_A.1 is now %q, not %q", is, name)
		}
		if err := errors.Join(os.Rename(filepath.Join(dir, name+".def"), filepath.Join(dir, "C_A.1.def")), w.Reload()); err != nil {
			t.Fatal(err)
		}
	}
}
