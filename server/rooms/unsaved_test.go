package rooms

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirebench/server/collab"
	"wirebench/server/history"
	"wirebench/server/settings"
	"wirebench/server/workspace"
)

// Each unit that somebody has typed is in a line that is marked as theirs, and the lines that are not marked are lines of the file, in order.
func TestUnsavedLines(t *testing.T) {
	people := []string{"ann", "bob", "cat"}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		file := collab.NewText("a\nbb\nccc\n\ne\nff\n")
		text, by := slices.Clone(file), make([]string, len(file)) // whose each unit is
		unsaved, marks := keep(len(file)), []mark(nil)
		for step := range 40 {
			who := people[r.IntN(len(people))]
			at := r.IntN(len(text) + 1)
			gone := min(r.IntN(4)*r.IntN(2), len(text)-at)
			typed := collab.NewText(strings.Repeat("x", r.IntN(3)) + strings.Repeat("\n", r.IntN(2)) + strings.Repeat("y", r.IntN(2)))
			change := collab.Change{}
			for _, s := range []collab.Span{{Len: at, Keep: true}, {Len: gone, Text: typed}, {Len: len(text) - at - gone, Keep: true}} {
				if s.Len > 0 || len(s.Text) > 0 {
					change = append(change, s)
				}
			}
			next, err := change.Apply(text)
			if err != nil {
				t.Fatal(err)
			}
			if unsaved, err = unsaved.ThenAll([]collab.Update{{Change: change}}); err != nil {
				t.Fatal(err)
			}
			text, marks = next, marked(marks, change, who)
			by = slices.Replace(by, at, at+gone, slices.Repeat([]string{who}, len(typed))...)
			got := unsavedLines(file, text, unsaved, marks, step)
			checkUnsaved(t, file, text, by, got)
			if t.Failed() {
				t.Fatalf("seed %d, step %d: %q, %v, %+v", seed, step, text.String(), unsaved, got)
			}
		}
	}
}

func checkUnsaved(t *testing.T, file, text collab.Text, by []string, got Unsaved) {
	t.Helper()
	lines := strings.Split(text.String(), "\n")
	isMarked := make([]bool, len(lines)+1)
	for _, x := range got.Lines {
		for n := x.From; n <= x.To; n++ {
			isMarked[n] = true
		}
	}
	line := 1
	for i, u := range text {
		if by[i] != "" && !slices.ContainsFunc(got.Lines, func(x UnsavedLines) bool { return x.From <= line && line <= x.To }) && u != '\n' {
			t.Errorf("line %d is not marked, and %s has typed in it", line, by[i])
		}
		if by[i] != "" && u != '\n' && !slices.ContainsFunc(got.Lines, func(x UnsavedLines) bool {
			return x.By >= 0 && got.Who[x.By] == by[i] && x.From <= line && line <= x.To
		}) {
			t.Errorf("line %d is not marked as one of %s", line, by[i])
		}
		if u == '\n' {
			line++
		}
	}
	was := strings.Split(file.String(), "\n")
	for n, line := range lines {
		if isMarked[n+1] {
			continue
		}
		i := slices.Index(was, line)
		if i < 0 {
			t.Errorf("line %d, %q, is not marked, and not in the file", n+1, line)
			return
		}
		was = was[i+1:]
	}
}

// Who saves is first of the authors of the revision, and what is typed meanwhile stays unsaved, and theirs.
func TestSaveOfTwo(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\nstring name\n"})
	s := newSet(t)
	bob, ann := l.join(t, s, name, "bob"), l.join(t, s, name, "ann")
	ann.replace("id", "account")
	bob.replace("name", "title")
	const want = "uint32 account\nstring title\n"
	ann.has(want)
	bob.has(want)
	bob.until("both are told whose the lines are", func() bool {
		return len(bob.unsaved.Lines) == 2 && bob.unsaved.Who[bob.unsaved.Lines[0].By] == "ann" && bob.unsaved.Who[bob.unsaved.Lines[1].By] == "bob"
	})
	bob.written()
	bob.until("nothing is unsaved", func() bool { return len(bob.unsaved.Lines) == 0 && bob.unsaved.Version == bob.version })
	ann.until("she is told who has saved her line", func() bool { return ann.saved != nil && *ann.saved == Saved{By: "bob"} })
	list, err := l.History.Of(name)
	if err != nil || strings.Join(list[0].Who, ", ") != "bob, ann" {
		t.Errorf("%+v (%v)", list, err)
	}
	bob.written()
	if !bob.saved.Same {
		t.Error("there was nothing to save")
	}
	if again, err := l.History.Of(name); err != nil || len(again) != len(list) {
		t.Errorf("%+v (%v)", again, err)
	}
	ann.saved = nil
	bob.replace("title", "label")
	bob.written()
	ann.has("uint32 account\nstring label\n")
	if ann.saved != nil {
		t.Errorf("none of her lines is saved: %+v", ann.saved)
	}
}

// A text that gets another name keeps what is not saved; one whose new name is taken stays as it is.
func TestRenameWithUnsaved(t *testing.T) {
	const to = "C_B.1.def"
	l := newLibrary(t, map[string]string{name: "uint32 id\n", "C_TAKEN.1.def": "byte b\n"})
	s := newSet(t)
	ann := l.join(t, s, name, "ann")
	ann.replace("id", "account")
	ann.has("uint32 account\n")
	rename := func(to string) error {
		files := []history.Renaming{{From: name, To: to}}
		return s.Rename(l.Workspace, files, func() error {
			_, err := l.Workspace.Rename(workspace.Renames{Files: files})
			return err
		})
	}
	if err := rename("C_TAKEN.1.def"); err == nil {
		t.Fatal("the name is taken")
	}
	if bob := l.join(t, s, name, "bob"); bob.text.String() != "uint32 account\n" {
		t.Errorf("after a refused name: %q", bob.text.String())
	}
	if taken := l.join(t, s, "C_TAKEN.1.def", "bob"); taken.text.String() != "byte b\n" {
		t.Errorf("the other text: %q", taken.text.String())
	}
	if err := rename(to); err != nil {
		t.Fatal(err)
	}
	bob := l.join(t, s, to, "bob")
	if bob.text.String() != "uint32 account\n" || l.text(t, to) != "uint32 id\n" {
		t.Errorf("%q, the file has %q", bob.text.String(), l.text(t, to))
	}
	bob.written()
	if l.text(t, to) != "uint32 account\n" {
		t.Errorf("saved: %q", l.text(t, to))
	}
}

// In a project that saves as people type, the file follows, but never with errors.
func TestSaveAsPeopleType(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	if err := l.Configure(func(x *settings.Settings) { x.SaveTyped = true }); err != nil {
		t.Fatal(err)
	}
	s := newSet(t)
	ann := l.join(t, s, name, "ann")
	ann.replace("id", "account")
	ann.until("the file follows", func() bool { return ann.version == 1 && ann.file.Version == 1 })
	ann.replace("uint32", "uint3 uint32")
	ann.has("uint3 uint32 account\n")
	ann.until("it is told", func() bool { return len(ann.unsaved.Lines) == 1 })
	s.Settle(l.Workspace)
	if got := l.text(t, name); got != "uint32 account\n" {
		t.Errorf("with a mistake: %q", got)
	}
	ann.replace("uint3 ", "")
	ann.has("uint32 account\n")
	ann.replace("account", "number")
	ann.has("uint32 number\n")
	ann.Leave()
	s.Close()
	if got := l.text(t, name); got != "uint32 number\n" {
		t.Errorf("after the last one has left: %q", got)
	}
}

// Where the file follows what people type, saving ends a revision: what the same people type next is another one.
func TestSaveWhatIsSaved(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\n"})
	if err := l.Configure(func(x *settings.Settings) { x.SaveTyped = true }); err != nil {
		t.Fatal(err)
	}
	ann := l.join(t, newSet(t), name, "ann")
	for i, word := range []string{"account", "number", "count"} {
		ann.replace([]string{"id", "account", "number"}[i], word)
		ann.until("the file follows", func() bool { return l.text(t, name) == "uint32 "+word+"\n" && ann.file.Version == ann.version })
		if i < 2 {
			ann.written()
		}
	}
	list, err := l.History.Of(name)
	if err != nil || len(list) != 4 {
		t.Errorf("%+v, %v", list, err)
	}
}

// What another program writes that has lines which are not saved here has them once, whoever of both writes them again.
func TestOutsideHasTheSame(t *testing.T) {
	l := newLibrary(t, map[string]string{name: "uint32 id\nstring name\n"})
	s := newSet(t)
	ann := l.join(t, s, name, "ann")
	ann.replace("string", "byte level\nbyte rank\nstring")
	ann.has("uint32 id\nbyte level\nbyte rank\nstring name\n")
	if _, err := l.Save(name, []byte("# outside\nuint32 id\nbyte level\nstring name\n"), nil); err != nil {
		t.Fatal(err)
	}
	const both = "# outside\nuint32 id\nbyte level\nbyte rank\nstring name\n"
	ann.has(both)
	ann.until("one line is not saved", func() bool {
		return ann.unsaved.Version == ann.version && len(ann.unsaved.Lines) == 1 && ann.unsaved.Lines[0] == UnsavedLines{4, 4, 0}
	})
	if _, err := l.Save(name, []byte(both), nil); err != nil {
		t.Fatal(err)
	}
	ann.until("all is saved", func() bool { return ann.file.Version == ann.version && len(ann.unsaved.Lines) == 0 })
	ann.has(both)
	// The same while the text is closed.
	ann.replace("level", "grade")
	ann.has(strings.Replace(both, "level", "grade", 1))
	ann.Leave()
	s.Close()
	if _, err := l.Save(name, []byte(strings.Replace(both, "level", "grade", 1)+"byte last\n"), nil); err != nil {
		t.Fatal(err)
	}
	l.join(t, newSet(t), name, "bob").has(strings.Replace(both, "level", "grade", 1) + "byte last\n")
}
