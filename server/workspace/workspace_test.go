package workspace_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"wirebench/codec"
	"wirebench/defs/source"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

func build(t testing.TB, files fs.FS, set workspace.Settings) *workspace.Snapshot {
	t.Helper()
	lib, err := workspace.ReadFS(files)
	if err != nil {
		t.Fatal(err)
	}
	s, err := workspace.Build(lib, set)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestReadTellsFilesApart(t *testing.T) {
	lib, err := workspace.ReadFS(fstest.MapFS{
		"a/C_A.1.def": text("byte x"), "b.js": text("x"), "protocol.7.map": text("C_A 1"), "sysmsg.7.map": text("X 1"),
		"notes.txt": text("some words, and more of them"), ".git/C_B.1.def": text("byte x"), "node_modules/C_C.1.def": text("byte x"),
		"big.def": text(strings.Repeat("#", 5<<20)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(lib.Files) != 1 || lib.Files[0].Name != "a/C_A.1.def" || len(lib.Maps) != 1 || lib.Maps[0].Name != "protocol.7.map" || len(lib.Skipped) != 4 {
		t.Errorf("files %v, maps %v, skipped %v", lib.Files, lib.Maps, lib.Skipped)
	}
}

// A code map is used when there is exactly one; a chosen map takes precedence.
func TestCodeMaps(t *testing.T) {
	files := fstest.MapFS{"C_A.1.def": text("byte x"), "protocol.1.map": text("C_A 5")}
	if m := build(t, files, workspace.Settings{}).Schema().Find("C_A", 0); !m.HasKey || m.Key.Code != 5 {
		t.Errorf("one map: %+v", m.Key)
	}
	if m := build(t, files, workspace.Settings{Codes: source.New("other.map", "C_A 6")}).Schema().Find("C_A", 0); m.Key.Code != 6 {
		t.Errorf("the map chosen: %+v", m.Key)
	}
	files["protocol.2.map"] = text("C_A 7")
	if m := build(t, files, workspace.Settings{}).Schema().Find("C_A", 0); m.HasKey {
		t.Errorf("two maps: %+v", m.Key)
	}
}

func TestBuildRefusesSeveralProtocols(t *testing.T) {
	lib, err := workspace.ReadFS(fstest.MapFS{"C_A.1.def": text("byte x"), "x.def": text("packet: p\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.Build(lib, workspace.Settings{}); err == nil || !strings.Contains(err.Error(), "several protocols") {
		t.Error(err)
	}
	if s, err := workspace.Build(lib, workspace.Settings{Dialect: "tera"}); err != nil || s.Count() != 1 {
		t.Error(err)
	}
	if _, err := workspace.Build(lib, workspace.Settings{Dialect: "nope"}); err == nil {
		t.Error("an unknown protocol is no error")
	}
}

// With returns another snapshot; the first stays unchanged.
func TestWith(t *testing.T) {
	s := build(t, fstest.MapFS{"C_A.1.def": text("byte x"), "C_B.1.def": text("byte y")}, workspace.Settings{})
	next, f := s.With("C_A.1.def", "uint16 z\nin32 w")
	m := next.MessagesOf(f)[0]
	if !m.Broken || m.Body.Fields[0].Name != "z" {
		t.Fatal(m)
	}
	if next.Count() != 2 || s.Schema().Find("C_A", 0).Body.Fields[0].Name != "x" {
		t.Error("the edit is not one of one file")
	}
	if enc, err := next.Encoder(m, new(uint32), codec.Session{}); err != nil {
		t.Error(err)
	} else if _, problems := enc.Encode([]byte("{}")); len(problems) != 1 || problems[0].Code != "definition-has-errors" {
		t.Error(problems)
	}
}

// The chosen code map stays in use.
func TestWithKeepsTheCodes(t *testing.T) {
	files := fstest.MapFS{"C_A.1.def": text("byte x"), "protocol.1.map": text("C_A 5")}
	s := build(t, files, workspace.Settings{Codes: source.New("other.map", "C_A 6")})
	next, f := s.With("C_A.1.def", "byte y")
	if m := next.MessagesOf(f)[0]; m.Key.Code != 6 || next.CodeMap != "other.map" {
		t.Errorf("%+v %q", m.Key, next.CodeMap)
	}
}

func TestFindSaysWhatIsNear(t *testing.T) {
	s := build(t, fstest.MapFS{"C_CHAT.1.def": text(""), "C_CHAT.3.def": text("")}, workspace.Settings{})
	if m, err := s.Find("C_CHAT"); err != nil || m.Version != 3 {
		t.Error(m, err)
	}
	if m, err := s.Find("C_CHAT.1"); err != nil || m.Version != 1 {
		t.Error(m, err)
	}
	_, err := s.Find("C_CAHT.3")
	var missing *workspace.NotFoundError
	if !errors.As(err, &missing) || missing.Near() != "C_CHAT.3" {
		t.Error(err)
	}
}

// A definition whose text is not written yet has a name of its language, also where files are recognized by their text.
func TestCheckNew(t *testing.T) {
	for dialect, name := range map[string]string{"tera": "C_A.1.def", "muta": "game.def", "subspace": "packets.def", "protodef": "regatta.json"} {
		files, _ := workspacetest.Dir(t, nil)
		w := workspacetest.Open(t, workspace.Config{Dialect: dialect, Files: files})
		if err := w.CheckNew(name); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
		for _, wrong := range []string{"a.txt", "../" + name, ""} {
			if w.CheckNew(wrong) == nil {
				t.Errorf("%s: %q can be the name of a definition", dialect, wrong)
			}
		}
	}
}
