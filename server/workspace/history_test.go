package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/defs/benchtest"
	"wirebench/server/store"
)

// historyOf opens a workspace without files, whose history is written by hand.
func historyOf(t *testing.T) (w *Workspace, home string) {
	t.Helper()
	home = t.TempDir()
	h, err := store.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	files, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if w, err = Open(Config{Name: "one", Dialect: "tera", Files: files, Home: h}); err != nil {
		t.Fatal(err)
	}
	return w, home
}

// What one person types in a shared text is one revision; pauses, other programs and other people begin another one.
func TestRevisionsOfHistory(t *testing.T) {
	w, _ := historyOf(t)
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	text := "a\n"
	change := func(after time.Duration, to string, who ...string) {
		now = now.Add(after)
		w.history.changed("C_A.1.def", text, to, who, !slices.Contains(who, Outside), now)
		text = to
	}
	change(0, "b\n", "ann")
	change(time.Second, "c\n", "ann")
	change(10*time.Second, "d\n", "bob")
	change(time.Minute, "e\n", "bob")
	change(time.Minute, "f\n", "carl")
	change(time.Second, "g\n", Outside)
	change(time.Second, "h\n", "carl")
	change(3*time.Minute, "i\n", "carl")
	change(time.Second, "j\n", "carl")
	change(time.Second, "i\n", "carl")
	change(time.Second, "h\n", "carl") // as before: no revision
	got, err := w.History("C_A.1.def")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range got {
		text, err := w.RevisionText("C_A.1.def", r.ID)
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, strings.Join(r.Who, "+")+" "+strings.TrimSpace(text))
	}
	if want := []string{"carl h", "outside g", "carl f", "bob e", "ann c", " a"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// A history has the text of each revision, after its older half is gone, too; what it does not know is a revision of its own.
func TestLongHistory(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	old := maxHistory
	maxHistory = 200_000
	defer func() { maxHistory = old }()
	w, home := historyOf(t)
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	text := func(i int) string {
		return fmt.Sprintf("# %d\n%s", i, strings.Repeat(fmt.Sprintf("uint32 f%d # %s\n", i, strings.Repeat("x", 200)), 20))
	}
	for i := range 140 {
		now = now.Add(time.Hour)
		w.history.changed("C_A.1.def", text(i), text(i+1), []string{"ann"}, false, now)
		if i == 100 {
			w.writeHistory("", true)
			x, err := w.History("C_A.1.def")
			if err == nil {
				err = w.NameRevision("C_A.1.def", x[0].ID, "the hundredth")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := w.History("C_A.1.def")
	if err != nil || len(got) < 20 {
		t.Fatalf("%d revisions, %v", len(got), err)
	}
	info, err := os.Stat(filepath.Join(home, "history", "C_A.1.def.jsonl"))
	if err != nil || info.Size() > int64(maxHistory)+20_000 {
		t.Errorf("%v %v", info, err)
	}
	named := 0
	for i, r := range got {
		now, err := w.RevisionText("C_A.1.def", r.ID)
		if err != nil || now != text(140-i) {
			t.Fatalf("revision %d: %.20q %v", i, now, err)
		}
		if r.Name != "" {
			named++
		}
	}
	if named != 1 {
		t.Errorf("%d revisions have names", named)
	}

	// The text has changed without the history, as after a crash.
	w.history.changed("C_A.1.def", "lost\n", "found\n", nil, false, now)
	again, err := w.History("C_A.1.def")
	if err != nil || again[0].Added != 1 || again[1].Added != 0 {
		t.Fatalf("%+v %v", again[:2], err)
	}
	for i, want := range []string{"found\n", "lost\n", text(140)} {
		if now, err := w.RevisionText("C_A.1.def", again[i].ID); err != nil || now != want {
			t.Errorf("%d: %.20q %v", i, now, err)
		}
	}
	if _, err := w.Purge("C_A.1.def"); err != nil {
		t.Fatal(err)
	}
	if x, err := w.History("C_A.1.def"); err != nil || len(x) != 0 {
		t.Errorf("%d revisions are left, %v", len(x), err)
	}
	if _, err := w.History("../x"); err == nil {
		t.Error("a name that leaves the folder")
	}
}

// Every text that a file had once somebody was told so can be read from the history, with the people who wrote it and nobody else: saves of
// several people or of people without names, of many files, undone and done again, and what other programs wrote, also unseen and while the
// program was killed.
func TestEveryTextIsInTheHistory(t *testing.T) {
	const file = "C_A.1.def"
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 29))
		dir, home := t.TempDir(), t.TempDir()
		var w *Workspace
		start := func() {
			files, err := store.Open(dir, store.SyncLater())
			if err != nil {
				t.Fatal(err)
			}
			h, err := store.Open(home, store.SyncLater())
			if err != nil {
				t.Fatal(err)
			}
			if w, err = Open(Config{Name: "one", Dialect: "tera", Files: files, Home: h}); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte("int32 a0\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		start()
		want := []string{} // "people: text"
		had := func(text, who string) { want = append(want, who+": "+text) }
		var did []string
		for i := range 40 {
			text := fmt.Sprintf("int32 a%d\nint32 b%d\n", i+1, r.IntN(3))
			people := [][]string{{"ann"}, {"bob"}, nil}[r.IntN(3)]
			who := strings.Join(people, "+")
			var err error
			what := []string{"save", "force", "many", "typed", "outside", "unseen", "undo", "kill"}[r.IntN(8)]
			did = append(did, what)
			switch what {
			case "save":
				was := Revision(w.Now().File(file))
				if _, err = w.SaveBy(people, file, []byte(text), &was); err == nil {
					had(text, who)
				}
			case "unseen": // another program was faster, and is written over
				if err = os.WriteFile(filepath.Join(dir, file), []byte("# unseen\n"+text), 0o666); err == nil {
					had("# unseen\n"+text, Outside)
				}
				fallthrough
			case "force":
				if _, err = w.SaveBy(people, file, []byte(text), nil); err == nil {
					had(text, who)
				}
			case "many":
				if _, _, err = w.SaveAll(t.Context(), []NewFile{{file, []byte(text)}, {"C_B.1.def", []byte(text)}}, true, people...); err == nil {
					had(text, who)
				}
			case "typed":
				if _, err = w.SaveTyped(people, file, []byte(text), nil); err == nil {
					w.EndRevision(file)
					had(text, who)
				}
			case "outside":
				if err = os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err == nil {
					err = w.Reload()
					had(text, Outside)
				}
			case "undo":
				was := w.Now().File(file).Text
				for _, s := range w.Steps() {
					if _, err := w.Undo(s.ID, false, people...); err == nil {
						if now := w.Now().File(file).Text; now != was {
							had(now, who)
						}
						break
					}
				}
			case "kill": // and another program writes before the next start
				text = "# while it was down\n" + text
				err = os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666)
				start()
			}
			if err != nil {
				t.Fatal(what, err)
			}
		}
		list, err := w.History(file)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, x := range list {
			text, err := w.RevisionText(file, x.ID)
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			got[strings.Join(x.Who, "+")+": "+text] = true
		}
		for _, x := range want {
			if !got[x] {
				t.Errorf("seed %d: %q is not in the history, after %q", seed, x, did)
			}
		}
	}
}

// A line that cannot be read takes what was made of its text, and nothing that is written later.
func TestDamagedHistory(t *testing.T) {
	w, home := historyOf(t)
	path := filepath.Join(home, "history", "C_A.1.def.jsonl")
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	save := func(from, to string) {
		w.history.changed("C_A.1.def", from, to, []string{"ann"}, false, now)
		w.writeHistory("", false)
	}
	save("a\n", "b\nlonger\n")
	save("b\nlonger\n", "c\n")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[1] = "\x00\x00\x00\n"
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	save("c\n", "d\n")
	list, err := w.History("C_A.1.def")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, x := range list {
		text, _ := w.RevisionText("C_A.1.def", x.ID)
		said = append(said, strings.TrimSpace(text))
	}
	if want := []string{"d", "c", "", "a"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}
