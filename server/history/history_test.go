package history

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/defs/benchtest"
	"wirebench/server/store"
)

// open returns a history whose revisions are recorded by hand.
func open(t *testing.T) (h *History, home string) {
	t.Helper()
	home = t.TempDir()
	d, err := store.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Project: "one", Home: d, Log: slog.New(slog.DiscardHandler)}), home
}

// record records a revision of a time.
func (h *History) recordAt(from, to string, at time.Time, typed bool, who ...string) {
	h.add(&revision{file: "C_A.1.def", before: from, text: to, from: at, at: at, who: who}, typed)
}

// What one person types in a shared text is one revision; pauses, other programs and other people begin another one.
func TestRevisionsOfHistory(t *testing.T) {
	h, _ := open(t)
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	text := "a\n"
	change := func(after time.Duration, to string, who ...string) {
		now = now.Add(after)
		h.recordAt(text, to, now, !slices.Contains(who, Outside), who...)
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
	got, err := h.Of("C_A.1.def")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range got {
		text, err := h.Text("C_A.1.def", r.ID)
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
	old := maxBytes
	maxBytes = 200_000
	defer func() { maxBytes = old }()
	h, home := open(t)
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	text := func(i int) string {
		return fmt.Sprintf("# %d\n%s", i, strings.Repeat(fmt.Sprintf("uint32 f%d # %s\n", i, strings.Repeat("x", 200)), 20))
	}
	for i := range 140 {
		now = now.Add(time.Hour)
		h.recordAt(text(i), text(i+1), now, false, "ann")
		if i == 100 {
			h.write("", true)
			x, err := h.Of("C_A.1.def")
			if err == nil {
				err = h.Name("C_A.1.def", x[0].ID, "the hundredth")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := h.Of("C_A.1.def")
	if err != nil || len(got) < 20 {
		t.Fatalf("%d revisions, %v", len(got), err)
	}
	info, err := os.Stat(filepath.Join(home, "history", "C_A.1.def.jsonl"))
	if err != nil || info.Size() > int64(maxBytes)+20_000 {
		t.Errorf("%v %v", info, err)
	}
	named := 0
	for i, r := range got {
		now, err := h.Text("C_A.1.def", r.ID)
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
	h.recordAt("lost\n", "found\n", now, false)
	again, err := h.Of("C_A.1.def")
	if err != nil || again[0].Added != 1 || again[1].Added != 0 {
		t.Fatalf("%+v %v", again[:2], err)
	}
	for i, want := range []string{"found\n", "lost\n", text(140)} {
		if now, err := h.Text("C_A.1.def", again[i].ID); err != nil || now != want {
			t.Errorf("%d: %.20q %v", i, now, err)
		}
	}
	if n, _, err := h.Forget([]string{"C_A.1.def"}); err != nil || n != len(again) {
		t.Fatal(n, err)
	}
	if x, err := h.Of("C_A.1.def"); err != nil || len(x) != 0 {
		t.Errorf("%d revisions are left, %v", len(x), err)
	}
	if _, err := h.Of("../x"); err == nil {
		t.Error("a name that leaves the folder")
	}
}

// A line that cannot be read takes what was made of its text, and nothing that is written later.
func TestDamagedHistory(t *testing.T) {
	h, home := open(t)
	path := filepath.Join(home, "history", "C_A.1.def.jsonl")
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	save := func(from, to string) {
		h.recordAt(from, to, now, false, "ann")
		h.Write()
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
	list, err := h.Of("C_A.1.def")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, x := range list {
		text, _ := h.Text("C_A.1.def", x.ID)
		said = append(said, strings.TrimSpace(text))
	}
	if want := []string{"d", "c", "", "a"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// The history of a file that gets the name of one that is gone follows the history of that one, once even if the program ends in between.
func TestMovedHistory(t *testing.T) {
	h, home := open(t)
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	h.recordAt("a\n", "b\n", now, false, "ann")
	h.Write()
	path := func(file string) string { return filepath.Join(home, "history", file+".jsonl") }
	mine, err := os.ReadFile(path("C_A.1.def"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("C_B.1.def"), []byte(`{"id":"old","who":["bob"],"t":"of bob\n"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h.move([]Renaming{{"C_A.1.def", "C_B.1.def"}})
		var said []string
		list, err := h.Of("C_B.1.def")
		for _, r := range list {
			text, err := h.Text("C_B.1.def", r.ID)
			said = append(said, fmt.Sprint(r.Who, " ", text, err))
		}
		if want := []string{"[ann] b\n<nil>", "[] a\n<nil>", "[bob] of bob\n<nil>"}; err != nil || !slices.Equal(said, want) {
			t.Errorf("%q, want %q, %v", said, want, err)
		}
		if list, err := h.Of("C_A.1.def"); err != nil || len(list) > 0 {
			t.Errorf("%+v is left, %v", list, err)
		}
		if err := os.WriteFile(path("C_A.1.def"), mine, 0o666); err != nil { // as a program leaves it that ended after the first write
			t.Fatal(err)
		}
	}
}
