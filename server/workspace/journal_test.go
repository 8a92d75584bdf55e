package workspace_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/defs/benchtest"
	"wirebench/defs/corpora"
	"wirebench/server/history"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// childVariable has the folder of a library in a process of its own, which uploads files to it until it is killed.
const childVariable = "WIREBENCH_JOURNAL_CHILD"

func TestMain(m *testing.M) {
	if root := os.Getenv(childVariable); root != "" {
		if err := uploadForever(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// toolbox returns a library with its code map.
func toolbox(t *testing.T) map[string]string {
	c := corpora.Largest(t)
	all := c.Files(t, "tera/toolbox/definitions/*.def", "tera/toolbox/protocol.387396.map", "tera/toolbox/deprecated.json")
	if c.Own { // line ends as other systems write them
		for i := range 30 {
			all[fmt.Sprintf("C_A%d.1.def", i)] = fmt.Sprintf("# %d\r\nint32 a\r\nstring s", i)
		}
	}
	return all
}

// both opens a library with a journal.
func both(t *testing.T, files map[string]string) (w *workspace.Workspace, dir string, home *store.Dir) {
	t.Helper()
	kept, dir := workspacetest.Dir(t, files)
	home, _ = workspacetest.Dir(t, nil)
	return workspacetest.Open(t, workspace.Config{Files: kept, Home: home}), dir, home
}

func sameFiles(t *testing.T, what, dir string, want map[string]string) {
	t.Helper()
	have := onDisk(t, dir)
	for name := range maps.Keys(want) {
		if text, ok := have[name]; !ok || text != want[name] {
			t.Errorf("%s: %s has %.60q, want %.60q", what, name, text, want[name])
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: there is a file %s", what, name)
		}
	}
}

// An upload over a whole library is one step: undone, redone, undone again after a restart.
func TestCorporaUndoOfAnUpload(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	files := toolbox(t)
	w, dir, home := both(t, files)
	names := slices.Sorted(maps.Keys(files))
	var up []workspace.NewFile
	next := maps.Clone(files)
	for i, name := range names {
		if strings.HasSuffix(name, ".def") {
			text := "# replaced \xe9\n" + files[name]
			if i == 1 {
				text = ""
			}
			next[name] = text
			up = append(up, workspace.NewFile{Name: name, Text: []byte(text)})
		}
	}
	next["folder/C_QUITE_NEW.1.def"] = "byte x\n"
	up = append(up, workspace.NewFile{Name: "folder/C_QUITE_NEW.1.def", Text: []byte("byte x\n")})
	started := time.Now()
	results, step, err := w.SaveAll(t.Context(), up, true)
	if err != nil || step == nil {
		t.Fatal(step, err)
	}
	for _, r := range results {
		if r.Outcome == workspace.Refused { // an older version that would lose its bytes
			next[r.Name] = files[r.Name]
		}
	}
	t.Logf("%d files replaced in %v, %d bytes in the journal", len(up), time.Since(started), step.Size)
	sameFiles(t, "stored", dir, next)
	if !strings.Contains(step.About, "files replaced, 1 new") {
		t.Errorf("about %q", step.About)
	}
	started = time.Now()
	if s, err := w.Turn(step.ID, true, false); err != nil || !s.Undone {
		t.Fatal(s, err)
	}
	t.Logf("undone in %v", time.Since(started))
	sameFiles(t, "undone", dir, files)
	if w.Now().File("folder/C_QUITE_NEW.1.def") != nil {
		t.Error("the library still has the new file")
	}
	if _, err := w.Turn(step.ID, false, false); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "redone", dir, next)
	again := workspacetest.Open(t, workspace.Config{Files: w.Files, Home: home})
	if list := again.History.Steps(); len(list) != 1 || list[0].ID != step.ID || list[0].Undone {
		t.Fatalf("steps after a restart: %+v", list)
	}
	if _, err := again.Turn(step.ID, true, false); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "undone after a restart", dir, files)
}

// Files that have changed since are named, and left as they are.
func TestUndoOfTheRest(t *testing.T) {
	w, dir, _ := both(t, map[string]string{"C_A.1.def": "byte a\n", "C_B.1.def": "byte b\n"})
	_, step, err := w.SaveAll(t.Context(), []workspace.NewFile{{"C_A.1.def", []byte("int32 a\n")}, {"C_B.1.def", []byte("int32 b\n")}, {"C_C.1.def", []byte("int32 c\n")}}, true)
	if err != nil || step == nil || step.Files != 3 {
		t.Fatal(step, err)
	}
	if list, err := w.History.Of("C_A.1.def"); err != nil || list[0].Step != step.ID || list[1].Step != "" {
		t.Errorf("%+v %v", list, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "C_B.1.def"), []byte("int64 b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var why *history.StepError
	if _, err := w.Turn(step.ID, true, false); !errors.As(err, &why) || !slices.Equal(why.Changed, []string{"C_B.1.def"}) || why.Files != 3 {
		t.Fatalf("%v, %+v", err, why)
	}
	sameFiles(t, "refused", dir, map[string]string{"C_A.1.def": "int32 a\n", "C_B.1.def": "int64 b\n", "C_C.1.def": "int32 c\n"})
	if _, err := w.Turn(step.ID, true, true); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "the rest", dir, map[string]string{"C_A.1.def": "byte a\n", "C_B.1.def": "int64 b\n"})
	if _, err := w.Turn(step.ID, false, true); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "the rest again", dir, map[string]string{"C_A.1.def": "int32 a\n", "C_B.1.def": "int64 b\n", "C_C.1.def": "int32 c\n"})
	if _, err := w.Turn("ABCDEFGHIJKLMNOPQRSTUVWXYZ", true, false); !errors.As(err, &why) || !why.Gone {
		t.Error(err)
	}
}

// A file that cannot be written leaves all others as they were.
func TestUndoIsWholeOrNotAtAll(t *testing.T) {
	w, dir, _ := both(t, map[string]string{"C_A.1.def": "byte a\n", "C_B.1.def": "byte b\n"})
	_, step, err := w.SaveAll(t.Context(), []workspace.NewFile{{"C_A.1.def", []byte("int32 a\n")}, {"C_B.1.def", []byte("int32 b\n")}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "C_B.1.def"), 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Turn(step.ID, true, false); !errors.Is(err, store.ErrReadOnly) {
		t.Error(err)
	}
	sameFiles(t, "refused", dir, map[string]string{"C_A.1.def": "int32 a\n", "C_B.1.def": "int32 b\n"})
}

// The journal is bounded: the oldest steps are dropped, with their files.
func TestJournalIsBounded(t *testing.T) {
	w, _, home := both(t, nil)
	for i := range 30 {
		if _, step, err := w.GiveCodes(workspace.GivenCodes{Codes: []workspace.GivenCode{{"C_A", uint32(i)}, {"C_B", uint32(1000 + i)}}}); err != nil || step == nil || step.About != "2 codes in protocol.map" {
			t.Fatal(step, err)
		}
	}
	list := w.History.Steps()
	if len(list) != 20 {
		t.Fatalf("%d steps", len(list))
	}
	kept, err := os.ReadDir(home.Path("changes"))
	if err != nil || len(kept) != 20 {
		t.Errorf("%d files, %v", len(kept), err)
	}
	for i, s := range list { // the newest first, each over the one before
		if _, err := w.Turn(s.ID, true, false); err != nil {
			t.Fatal(i, err)
		}
	}
	if code := w.Now().Options.Codes["C_A"]; code != 9 {
		t.Errorf("the code is %d", code)
	}
	if _, err := w.Turn(list[0].ID, false, false); err == nil {
		t.Error("a step was redone over the wrong text")
	}
}

// A damaged journal is not undone, and does not disturb.
func TestDamagedJournal(t *testing.T) {
	w, dir, home := both(t, map[string]string{"C_A.1.def": "byte a\n"})
	step, err := w.Delete("C_A.1.def", nil)
	if err != nil || step.About != "C_A.1.def deleted" {
		t.Fatal(step, err)
	}
	for _, text := range []string{"", "x", strings.Repeat("\x1f\x8b", 100)} {
		if _, err := home.Write("changes/"+step.ID+".tar.gz", []byte(text), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Turn(step.ID, true, false); err == nil {
			t.Errorf("%q was undone", text)
		}
	}
	if _, err := home.Write("changes.json", []byte(`[{"id":"../../x"},{"id":"`+step.ID+`"}]`), nil); err != nil {
		t.Fatal(err)
	}
	if list := w.History.Steps(); len(list) != 1 {
		t.Errorf("%+v", list)
	}
	sameFiles(t, "nothing is written", dir, map[string]string{})
}

// uploadForever replaces all files of a library by turns, and prints the id of each step.
func uploadForever(root string) error {
	w, err := openAt(root)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		var up []workspace.NewFile
		for _, f := range w.Now().Library.Files {
			up = append(up, workspace.NewFile{Name: f.Name, Text: fmt.Appendf(nil, "# turn %d\nint32 a\n", n)})
		}
		_, step, err := w.SaveAll(context.Background(), up, true)
		if err != nil || step == nil {
			return fmt.Errorf("turn %d: %v, %w", n, step, err)
		}
		fmt.Println(n)
	}
}

func openAt(root string) (*workspace.Workspace, error) {
	files, err := store.Open(filepath.Join(root, "library"))
	if err != nil {
		return nil, err
	}
	home, err := store.Open(filepath.Join(root, "home"))
	if err != nil {
		return nil, err
	}
	return workspace.Open(workspace.Config{Name: "one", Dialect: "tera", Files: files, Home: home})
}

// A program that is killed between the writes of a step leaves a step that can be undone: every file has its text of before or after.
func TestUndoAfterACrash(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	halves := 0
	for round := range 4 {
		root := t.TempDir()
		library := filepath.Join(root, "library")
		if err := os.Mkdir(library, 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range 120 {
			if err := os.WriteFile(filepath.Join(library, fmt.Sprintf("C_A%d.1.def", i)), []byte("int32 a\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), childVariable+"="+root)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var says bytes.Buffer
		cmd.Stderr = &says
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatalf("no output: %s", says.String())
		}
		time.Sleep(time.Duration(3+round*13) * time.Millisecond) // anywhere within a step
		_ = cmd.Process.Kill()
		_ = cmd.Wait()

		w, err := openAt(root)
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]int{}
		for _, text := range onDisk(t, library) {
			texts[text]++
		}
		if len(texts) > 2 {
			t.Fatalf("texts of %d turns", len(texts))
		}
		if len(texts) == 2 {
			halves++
		}
		list := w.History.Steps()
		if len(list) == 0 {
			t.Fatal("no steps")
		}
		if _, err := w.Turn(list[0].ID, true, false); err != nil {
			t.Fatal(err)
		}
		clear(texts)
		for _, text := range onDisk(t, library) {
			texts[text]++
		}
		if len(texts) != 1 {
			t.Errorf("after the undo, texts of %d turns", len(texts))
		}
	}
	t.Logf("%d of 4 were killed between two writes", halves)
}

// A renaming is a step, too; files that include the definition, or list its versions of the game, follow, as do its history and comments. Pages
// follow the undo.
func TestUndoOfARenaming(t *testing.T) {
	files := map[string]string{
		"C_OLD.1.def": "\ufeff# C_OLD stays\r\nint32 a", "C_OLD.2.def": "int32 b\n", "C_OLDER.1.def": "@include C_OLD.1.def # C_OLD.1.def\n",
		"protocol.1.map":  "# C_OLD\r\nC_OLD = 16\r\nC_OLDER = 17",
		"deprecated.json": "{\n\t\"C_OLD\" : {\"1\": {\"max\": 90}},\n\t\"C_OLDER\": {}}",
	}
	w, dir, _ := both(t, files)
	if _, err := w.SaveBy([]string{"ann"}, "C_OLD.2.def", []byte("int32 b\n# more\n"), nil); err != nil {
		t.Fatal(err)
	}
	files["C_OLD.2.def"] += "# more\n"
	if _, err := w.Begin("ann", workspace.NewThread{File: "C_OLD.2.def", Line: 1, Text: "why"}); err != nil {
		t.Fatal(err)
	}
	// follows checks that the history and the comments of a definition are those of its present name.
	follows := func(name string) {
		t.Helper()
		list, err := w.History.Of(name)
		threads, _ := w.Threads()
		if err != nil || len(list) != 2 || threads[0].File != name {
			t.Errorf("%s: %d revisions %v, a comment on %s", name, len(list), err, threads[0].File)
		}
	}
	done, err := w.Rename(workspace.Renames{Files: []history.Renaming{{From: "C_OLD.1.def", To: "C_NEW.1.def"}, {From: "C_OLD.2.def", To: "C_NEW.2.def"}}, Codes: true})
	if err != nil || done.Undo == nil || done.Undo.About != "C_OLD.1.def renamed to C_NEW.1.def, and 1 more" {
		t.Fatal(done, err)
	}
	sameFiles(t, "renamed", dir, map[string]string{
		"C_NEW.1.def": files["C_OLD.1.def"], "C_NEW.2.def": files["C_OLD.2.def"], "C_OLDER.1.def": "@include C_NEW.1.def # C_OLD.1.def\n",
		"protocol.1.map":  "# C_OLD\r\nC_NEW = 16\r\nC_OLDER = 17",
		"deprecated.json": "{\n\t\"C_NEW\" : {\"1\": {\"max\": 90}},\n\t\"C_OLDER\": {}}",
	})
	follows("C_NEW.2.def")
	if _, err := w.Turn(done.Undo.ID, true, false); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "undone", dir, files)
	follows("C_OLD.2.def")
	if name := w.NewName("C_NEW.2"); name != "C_OLD.2" {
		t.Errorf("C_NEW.2 is now %q", name)
	}
	if _, err := w.Turn(done.Undo.ID, false, false); err != nil || w.NewName("C_OLD.1") != "C_NEW.1" {
		t.Error(err, w.NewName("C_OLD.1"))
	}
}

// Where one of several renamed files has changed since, the others go back with their histories, and that one keeps its own.
func TestUndoOfTheRestOfARenaming(t *testing.T) {
	w, dir, _ := both(t, map[string]string{"C_A.1.def": "byte a\n", "C_B.1.def": "byte b\n"})
	for _, name := range []string{"C_A.1.def", "C_B.1.def"} {
		if _, err := w.SaveBy([]string{"ann"}, name, []byte("int32 "+name[2:3]+"\n"), nil); err != nil {
			t.Fatal(err)
		}
	}
	done, err := w.Rename(workspace.Renames{Files: []history.Renaming{{From: "C_A.1.def", To: "C_Y.1.def"}, {From: "C_B.1.def", To: "C_Z.1.def"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "C_Z.1.def"), []byte("int64 z\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Turn(done.Undo.ID, true, true); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "the rest", dir, map[string]string{"C_A.1.def": "int32 A\n", "C_Z.1.def": "int64 z\n"})
	for name, want := range map[string]int{"C_A.1.def": 2, "C_Y.1.def": 0, "C_B.1.def": 0, "C_Z.1.def": 3} {
		if list, err := w.History.Of(name); err != nil || len(list) != want {
			t.Errorf("%s: %+v, want %d revisions, %v", name, list, want, err)
		}
	}
}

// Steps are told in JSON with all members that the page shows.
func TestStepAsJSON(t *testing.T) {
	w, _, _ := both(t, map[string]string{"C_A.1.def": "byte a\n"})
	step, err := w.Delete("C_A.1.def", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(step)
	for _, want := range []string{`"about":"C_A.1.def deleted"`, `"files":1`, `"names":["C_A.1.def"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}
