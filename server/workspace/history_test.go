package workspace

import (
	"fmt"
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

// Changes that follow each other are one revision; pauses, other programs and other people begin another one.
func TestRevisionsOfHistory(t *testing.T) {
	w, _ := historyOf(t)
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	text := "a\n"
	change := func(after time.Duration, to string, who ...string) {
		now = now.Add(after)
		w.history.changed("C_A.1.def", text, to, who, now)
		text = to
	}
	change(0, "b\n", "ann")
	change(time.Second, "c\n", "ann")
	change(10*time.Second, "d\n", "bob") // both write
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
	if want := []string{"carl h", "outside g", "carl f", "ann+bob e", " a"}; !slices.Equal(said, want) {
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
		w.history.changed("C_A.1.def", text(i), text(i+1), []string{"ann"}, now)
		if i == 100 {
			w.writeHistory(w.history.take("", true, now))
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
	w.history.changed("C_A.1.def", "lost\n", "found\n", nil, now)
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
