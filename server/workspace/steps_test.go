package workspace_test

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirebench/server/history"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/store/storetest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// stands is all that people see of a project.
type stands struct{ files, history, journal, rest string }

var stepID = regexp.MustCompile(`[A-Z2-7]{26}`)

func standing(t *testing.T, w *workspace.Workspace, dir, home string) (s stands) {
	t.Helper()
	s.files = storetest.State(t, dir)
	for _, name := range slices.Sorted(maps.Keys(storetest.Files(t, home))) {
		file, ok := strings.CutPrefix(name, "history/")
		if file, ok2 := strings.CutSuffix(file, ".jsonl"); ok && ok2 {
			list, err := w.History.Of(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				text, err := w.History.Text(file, r.ID)
				s.history += fmt.Sprintf("%s %q %q %v\n", file, r.Who, text, err)
			}
		}
		if strings.HasPrefix(name, "changes/") || strings.HasPrefix(name, "capsules/") || strings.Contains(name, ".wirebench") {
			s.journal += stepID.ReplaceAllString(name, "ID") + "\n" // also files that belong to nothing
		}
	}
	for _, x := range w.History.Steps() {
		about, _, _ := strings.Cut(x.About, " (completed")
		s.journal += fmt.Sprintf("%s, %d files, undone %v\n", about, x.Files, x.Undone)
	}
	threads, err := w.Threads()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range threads {
		s.rest += fmt.Sprintf("thread %s %d %v %q", x.File, x.Line, x.Open, x.ClosedBy)
		for _, r := range x.Remarks {
			s.rest += " " + r.Text
		}
		if x.Suggestion != nil {
			s.rest += " " + x.Suggestion.State
		}
		s.rest += "\n"
	}
	capsules, err := w.Capsules()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range capsules {
		text, err := w.Capsule(x.ID)
		s.rest += fmt.Sprintf("capsule %s %s %v\n", x.ID, text, err)
	}
	for _, id := range []string{capsuleA, capsuleB} {
		text, _ := w.Capsule(id)
		s.rest += fmt.Sprintf("%.4s %s\n", id, text)
	}
	s.rest += fmt.Sprintf("settings %+v", w.UserSettings().Map)
	return s
}

var capsuleA, capsuleB = strings.Repeat("a", 32), strings.Repeat("b", 32)

// Killed before any step of any write of an act, a project has at the next start all of the act or nothing, and no files that belong to
// nothing.
func TestEveryStepOfActs(t *testing.T) {
	files := map[string]string{
		"C_A.1.def": "uint32 a\n", "C_B.1.def": "uint32 b\r\n", "C_A.1.samples.jsonl": `{"message":"C_A.1","hex":"0800010001000000"}` + "\n",
		"protocol.1.map": "C_A 1\nC_B 2\n", "other.2.map": "C_A 3\n",
	}
	upload := func(w *workspace.Workspace) error {
		return any2(w.SaveAll(context.Background(), []workspace.NewFile{
			{Name: "C_A.1.def", Text: []byte("uint32 a2\n")}, {Name: "C_B.1.def", Text: []byte("uint32 b2\n")}, {Name: "C_C.1.def", Text: []byte("byte c\n")},
		}, true, "ann"))
	}
	save := func(name, text string) func(w *workspace.Workspace) error {
		return func(w *workspace.Workspace) error { return any1(w.SaveBy([]string{"ann"}, name, []byte(text), nil)) }
	}
	rename := func(w *workspace.Workspace) error {
		return any1(w.Rename(workspace.Renames{Files: []history.Renaming{{From: "C_A.1.def", To: "C_Z.1.def"}}, Codes: true, Who: []string{"ann"}}))
	}
	comment := func(w *workspace.Workspace) error {
		return any1(w.Begin("ann", workspace.NewThread{File: "C_A.1.def", Line: 1, Text: "why"}))
	}
	suggest := func(w *workspace.Workspace) error {
		return any1(w.Begin("ann", workspace.NewThread{File: "C_A.1.def", Line: 1, Text: "more", Suggestion: &workspace.Suggestion{Base: files["C_A.1.def"], Text: "uint32 a\nuint32 more\n"}}))
	}
	capsule := func(id string) func(w *workspace.Workspace) error {
		return func(w *workspace.Workspace) error {
			return w.AddCapsule(workspace.CapsuleInfo{ID: id}, []byte(`{"Files":[]}`))
		}
	}
	undo := func(w *workspace.Workspace) error { return any1(w.Turn(w.History.Steps()[0].ID, true, false, "bob")) }
	type act = func(w *workspace.Workspace) error
	for name, x := range map[string]struct {
		before []act
		act    act
		single bool // one definition: it has its text of before or after, and no text is lost; the name of who saved may be missing
		most   bool // it may be half done, and is done again
	}{
		"save":               {act: save("C_A.1.def", "uint32 now\n"), single: true},
		"save again":         {before: []act{save("C_A.1.def", "uint32 now\n")}, act: save("C_A.1.def", "uint32 then\n"), single: true},
		"save of a new file": {act: save("C_N.1.def", "uint32 n\n"), single: true},
		"upload":             {act: upload},
		"delete":             {before: []act{comment}, act: func(w *workspace.Workspace) error { return any1(w.Delete("C_A.1.def", nil)) }},
		"rename":             {before: []act{save("C_A.1.def", "uint32 now\n"), comment}, act: rename},
		"undo of an upload":  {before: []act{upload}, act: undo},
		"undo of a renaming": {before: []act{save("C_A.1.def", "uint32 now\n"), comment, rename}, act: undo},
		"redo":               {before: []act{upload, undo}, act: func(w *workspace.Workspace) error { return any1(w.Turn(w.History.Steps()[0].ID, false, false, "bob")) }},
		"codes": {act: func(w *workspace.Workspace) error {
			return any2(w.GiveCodes(workspace.GivenCodes{Map: "protocol.1.map", Codes: []workspace.GivenCode{{Message: "C_A", Code: 9}}}))
		}},
		"comment":             {act: comment},
		"accept a suggestion": {before: []act{suggest}, act: func(w *workspace.Workspace) error { x, _ := w.Threads(); return any1(w.Accept("bob", x[0].ID)) }, single: true},
		"sample": {act: func(w *workspace.Workspace) error {
			return w.AddSample("C_A.1.def", workspace.Sample{Message: "C_A.1", Hex: "0800010002000000"})
		}},
		"settings": {act: func(w *workspace.Workspace) error {
			return w.Configure(func(s *settings.Settings) { s.Map = "other.2.map" })
		}},
		"capsule":               {before: []act{capsule(capsuleB)}, act: capsule(capsuleA)},
		"deletion of a capsule": {before: []act{capsule(capsuleA), capsule(capsuleB)}, act: func(w *workspace.Workspace) error { return w.DropCapsule(capsuleA) }},
		"purge":                 {before: []act{save("C_A.1.def", "uint32 now\n"), upload, rename}, act: func(w *workspace.Workspace) error { return any1(w.Purge("C_Z.1.def")) }, most: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := workspacetest.Dir(t, files)
			home := t.TempDir()
			steps := storetest.New(t, dir, home)
			w := startAt(t, dir, home, steps.Before())
			if err := w.Configure(func(s *settings.Settings) { s.Map = "protocol.1.map" }); err != nil {
				t.Fatal(err)
			}
			for _, do := range x.before {
				if err := do(w); err != nil {
					t.Fatal(err)
				}
			}
			before := standing(t, w, dir, home)
			states := steps.Of(func() {
				if err := x.act(w); err != nil {
					t.Fatal(err)
				}
			})
			after := standing(t, w, dir, home)
			if len(states) < 2 {
				t.Errorf("only %d states", len(states))
			}
			for i, l := range states {
				dir, home := l.Dirs[0], l.Dirs[1]
				w := startAt(t, dir, home)
				s := standing(t, w, dir, home)
				want := before
				if x.most {
					if err := x.act(w); err != nil {
						t.Errorf("killed at %s: again: %v", l.At, err)
					}
					if i == len(states)-1 {
						continue
					}
					s, want = standing(t, w, dir, home), after
				} else if i == len(states)-1 || s.files != before.files || s.rest != before.rest || s.journal != before.journal {
					want = after
				}
				if x.single {
					for _, line := range strings.Split(before.history, "\n") {
						if !strings.Contains(s.history, line) {
							t.Errorf("killed at %s: not in the history: %s", l.At, line)
						}
					}
					first, _, _ := strings.Cut(before.files, "\n") // C_A
					if old := fmt.Sprintf("%q", files["C_A.1.def"]); !strings.Contains(s.files, first) && !strings.Contains(s.history, old) {
						t.Errorf("killed at %s: the text of before is nowhere: %s", l.At, s.history)
					}
					if i < len(states)-1 {
						s.history = want.history
					}
				}
				if s != want {
					t.Errorf("killed at %s:\n%+v\nwant\n%+v", l.At, s, want)
				}
				if again := standing(t, startAt(t, dir, home), dir, home); !x.most && !x.single && again != s {
					t.Errorf("killed at %s, opened again:\n%+v\nwant\n%+v", l.At, again, s)
				}
			}
			t.Logf("%d states", len(states))
		})
	}
}

func any1[A any](_ A, err error) error { return err }

func any2[A, B any](_ A, _ B, err error) error { return err }

func startAt(t *testing.T, dir, home string, options ...store.Option) *workspace.Workspace {
	t.Helper()
	open := func(path string) *store.Dir {
		d, err := store.Open(path, append(options, store.Alone())...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return workspacetest.Open(t, workspace.Config{Files: open(dir), Home: open(home)})
}
