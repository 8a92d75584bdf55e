package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// open opens a workspace of files on disk.
func open(t *testing.T, files map[string]string) (*workspace.Workspace, string) {
	t.Helper()
	d, dir := workspacetest.Dir(t, files)
	home, _ := workspacetest.Dir(t, nil)
	return workspacetest.Open(t, workspace.Config{Files: d, Home: home}), dir
}

func revision(text string) *store.Revision {
	r := store.RevisionOf([]byte(text))
	return &r
}

func TestSave(t *testing.T) {
	w, dir := open(t, map[string]string{"C_A.1.def": "byte x\n", "C_A.2.def": "byte x\n"})
	var conflict *store.ConflictError
	var older *workspace.OlderError
	var name *workspace.NameError
	none := store.Revision("")
	for _, c := range []struct {
		what, file, text string
		expect           *store.Revision
		want             any // an error of this type, nil for none
	}{
		{"over the text that was seen", "C_A.2.def", "uint16 y\n", revision("byte x\n"), nil},
		{"over one that has moved", "C_A.2.def", "uint32 z\n", revision("byte x\n"), &conflict},
		{"a new one", "C_NEW.1.def", "byte n\n", &none, nil},
		{"a new one that is there", "C_NEW.1.def", "byte m\n", &none, &conflict},
		{"an older version that moves bytes", "C_A.1.def", "uint16 x\n", nil, &older},
		{"an older version that gets a field", "C_A.1.def", "byte x\nbyte y\n", nil, &older},
		{"an older version that stops being one", "C_A.1.def", "byt x\n", nil, &older},
		{"names and comments of an older version", "C_A.1.def", "byte renamed # and explained\n", nil, nil},
		{"a definition with mistakes", "C_NEW.1.def", "in32 n\n", nil, nil},
		{"a name of another kind", "C_NEW.exe", "byte n\n", nil, &name},
		{"a map that is none", "sysmsg.1.map", "C_A 1\n", nil, &name},
		{"another protocol's definition", "x.def", "packet: p\n    a = uint8\n", nil, &name},
	} {
		_, err := w.Save(c.file, []byte(c.text), c.expect)
		if c.want == nil && err != nil || c.want != nil && !errors.As(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
		if f := w.Now().File(c.file); err == nil && (f == nil || f.Text != c.text) {
			t.Errorf("%s: not in the snapshot", c.what)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "C_A.2.def")); err != nil || string(text) != "uint16 y\n" {
		t.Errorf("on disk: %q %v", text, err)
	}
	if _, err := w.Delete("C_NEW.1.def", revision("something else")); !errors.As(err, &conflict) {
		t.Error(err)
	}
	if _, err := w.Delete("C_NEW.1.def", nil); err != nil || w.Now().File("C_NEW.1.def") != nil {
		t.Error(err)
	}
}

// Files written by another program are read, and the change is reported.
func TestRunFollowsTheDisk(t *testing.T) {
	w, dir := open(t, map[string]string{"C_A.1.def": "byte x\n"})
	changed, stop := w.Changed()
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	first := w.Now()
	if err := os.WriteFile(filepath.Join(dir, "C_B.1.def"), []byte("byte y\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for deadline := time.After(20 * time.Second); w.Now().File("C_B.1.def") == nil; {
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("the new file is not seen")
		}
	}
	if first.File("C_B.1.def") != nil || first.ID == w.Now().ID {
		t.Error("the old snapshot has changed")
	}
}

// Reading the same files again changes nothing.
func TestReloadOfTheSame(t *testing.T) {
	w, _ := open(t, map[string]string{"C_A.1.def": "byte x\n"})
	changed, stop := w.Changed()
	defer stop()
	before := w.Now()
	if err := w.Reload(); err != nil || w.Now() != before {
		t.Error("another snapshot of the same files", err)
	}
	select {
	case <-changed:
		t.Error("a change was reported without one")
	default:
	}
}

// A folder that cannot be read leaves the library as it was, and the library says so until the folder is back.
func TestOutdated(t *testing.T) {
	w, dir := open(t, map[string]string{"C_A.1.def": "byte x\n"})
	away := dir + ".away"
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	if err := w.Reload(); err == nil {
		t.Error("the folder was read")
	}
	now := w.Now()
	if now.File("C_A.1.def") == nil || !strings.Contains(now.Library.Outdated, "the folder is gone") || strings.Contains(now.Library.Outdated, filepath.Dir(dir)) {
		t.Errorf("%q", now.Library.Outdated)
	}
	if err := w.Reload(); err == nil || w.Now() != now {
		t.Error("another snapshot of the same state", err)
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	if err := w.Reload(); err != nil || w.Now().Library.Outdated != "" {
		t.Error(err, w.Now().Library.Outdated)
	}
}

func TestSamples(t *testing.T) {
	w, dir := open(t, map[string]string{"C_A.1.def": "byte x\n"})
	add := func(file, hex, about string) error {
		return w.AddSample(file, workspace.Sample{Message: "C_A.1", Hex: hex, About: about})
	}
	for _, c := range []struct{ file, hex, about, want string }{
		{"C_A.1.def", "0500000001", "one", ""},
		{"C_A.1.def", "0500000002", "", ""},
		{"C_A.1.def", "0500000001", "the same", "already a sample: one"},
		{"C_A.1.def", "05x", "", "in hex"},
		{"C_B.1.def", "05", "", "not stored yet"},
		{"C_A.1.def", "06", strings.Repeat("x", 501), "500 bytes"},
	} {
		if err := add(c.file, c.hex, c.about); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.hex, err, c.want)
		}
	}
	if got := w.Now().Samples("C_A.1.def"); len(got) != 2 || got[0].About != "one" || !slices.Equal(w.Now().SampledFiles(), []string{"C_A.1.def"}) {
		t.Errorf("%+v %v", got, w.Now().SampledFiles())
	}
	path := filepath.Join(dir, "C_A.1.samples.jsonl")
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatalf("%q %v", text, err)
	}
	// A line that is not a sample stays.
	if err := os.WriteFile(path, append([]byte("// ours\n"), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Reload(); err != nil {
		t.Fatal(err)
	}
	if err := w.DropSample("C_A.1.def", workspace.Sample{Message: "C_A.1", Hex: "0500000001"}); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); !strings.HasPrefix(string(text), "// ours\n") || len(w.Now().Samples("C_A.1.def")) != 1 {
		t.Errorf("%q %v", text, w.Now().Samples("C_A.1.def"))
	}
	if err := w.DropSample("C_A.1.def", workspace.Sample{Message: "C_A.1", Hex: "77"}); err == nil {
		t.Error("a sample that is not there was removed")
	}
}

// Settings are stored and validated, and a map that disappears causes no error.
func TestConfigure(t *testing.T) {
	w, dir := open(t, map[string]string{"C_A.1.def": "byte x\n", "protocol.1.map": "C_A 5\n", "protocol.2.map": "C_A 6\n"})
	if w.Now().CodeMap != "" {
		t.Error("one of two maps was chosen automatically")
	}
	set := func(change func(*settings.Settings)) error { return w.Configure(change) }
	if err := set(func(u *settings.Settings) { u.Map = "protocol.2.map"; u.Set("patch", "92.03") }); err != nil {
		t.Fatal(err)
	}
	if m, err := w.Now().Find("C_A"); err != nil || m.Key.Code != 6 || w.Now().Options.Values["patch"] != "92.03" {
		t.Errorf("%+v %v", m, err)
	}
	for what, change := range map[string]func(*settings.Settings){
		"a map that is not there": func(u *settings.Settings) { u.Map = "protocol.3.map" },
		"a patch that is none":    func(u *settings.Settings) { u.Set("patch", "new") },
		"a platform":              func(u *settings.Settings) { u.Set("platform", "toaster") },
		"an angle":                func(u *settings.Settings) { u.Set("angle", "steep") },
	} {
		if set(change) == nil || w.UserSettings().Map != "protocol.2.map" || w.UserSettings().Options["patch"] != "92.03" {
			t.Errorf("%s was taken: %+v", what, w.UserSettings())
		}
	}
	again, err := workspace.Open(workspace.Config{Name: "one", Dialect: "tera", Files: w.Files, Home: w.Home})
	if err != nil || again.UserSettings().Map != "protocol.2.map" || again.Now().CodeMap != "protocol.2.map" {
		t.Errorf("%+v %v", again.UserSettings(), err)
	}
	if err := os.Remove(filepath.Join(dir, "protocol.2.map")); err != nil {
		t.Fatal(err)
	}
	if err := w.Reload(); err != nil || w.Now().CodeMap != "protocol.1.map" {
		t.Errorf("%q %v", w.Now().CodeMap, err)
	}
}
