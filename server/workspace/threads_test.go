package workspace

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/server/history"
	"wirebench/server/store"
)

func threadsOf(t *testing.T, files map[string]string) (w *Workspace, dir, home string) {
	t.Helper()
	dir, home = t.TempDir(), t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return openThreads(t, dir, home), dir, home
}

func openThreads(t *testing.T, dir, home string) *Workspace {
	t.Helper()
	d, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	h, err := store.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(Config{Name: "one", Dialect: "tera", Files: d, Home: h})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A comment stays at its line while others are added, moved and changed, also by other programs while nothing runs, and follows a new name of
// its field and of its file.
func TestThreadsFollow(t *testing.T) {
	w, dir, home := threadsOf(t, map[string]string{"C_A.1.def": "# a message\n\nuint32 id\narray list\n- string name\nbyte last\n"})
	x, err := w.Begin("ann", NewThread{File: "C_A.1.def", Line: 5, Text: "What is this, @bob?"})
	if err != nil || x.Line != 5 || x.Path != "list[].name" || x.Now != "- string name" || len(x.Remarks[0].Mentions) != 1 || x.Remarks[0].Mentions[0] != "bob" {
		t.Fatal(x, err)
	}
	look := func(line int, path string) {
		t.Helper()
		all, err := w.Threads()
		if err != nil || len(all) != 1 || all[0].Line != line || all[0].Path != path || !all[0].Open {
			t.Fatalf("%+v %v", all, err)
		}
	}
	save := func(text string) {
		t.Helper()
		if _, err := w.Save("C_A.1.def", []byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	save("# a message\n\nuint32 id\nuint64 more\narray list\n- string name\nbyte last\n")
	look(6, "list[].name")
	save("# a message\n\nuint32 id\nuint64 more\narray list\n- string title\nbyte last\n")
	look(6, "list[].title")
	if err := os.WriteFile(filepath.Join(dir, "C_A.1.def"), []byte("# a message 😀\r\n\r\nuint64 more\r\narray list\r\n- string title\r\nbyte last\r\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	w = openThreads(t, dir, home)
	look(5, "list[].title")
	if _, err := w.Rename(Renames{Files: []history.Renaming{{From: "C_A.1.def", To: "C_B.1.def"}}}); err != nil {
		t.Fatal(err)
	}
	look(5, "list[].title")
	w = openThreads(t, dir, home)
	look(5, "list[].title")
	if _, err := w.Save("C_B.1.def", []byte("uint64 more\n"), nil); err != nil {
		t.Fatal(err)
	}
	look(0, "")
	all, _ := w.Threads()
	if all[0].Was != "- string name" || all[0].File != "C_B.1.def" {
		t.Errorf("%+v", all[0])
	}
}

// A suggestion changes the text of now, in which others have changed other lines; it is accepted once, and is in the history as of its author.
func TestSuggestion(t *testing.T) {
	w, _, _ := threadsOf(t, map[string]string{"C_A.1.def": "uint32 a\nuint32 b\nuint32 c\n"})
	base := "uint32 a\nuint32 b\nuint32 c\n"
	x, err := w.Begin("ann", NewThread{File: "C_A.1.def", Text: "b is a float", Suggestion: &Suggestion{Base: base, Text: "uint32 a\nfloat b\nuint32 c\n"}})
	if err != nil || x.Line != 2 || x.Suggestion.State != "open" {
		t.Fatal(x, err)
	}
	if _, err := w.SaveBy([]string{"bob"}, "C_A.1.def", []byte("byte first\nuint32 a\nuint32 b\nuint32 c # last\n"), nil); err != nil {
		t.Fatal(err)
	}
	const want = "byte first\nuint32 a\nfloat b\nuint32 c # last\n"
	if _, now, merged, err := w.Merged(x.ID); err != nil || merged != want || now == merged {
		t.Fatalf("%q %v", merged, err)
	}
	if x, err = w.Accept("bob", x.ID); err != nil || x.Open || x.Suggestion.State != "accepted" || x.ClosedBy != "bob" || x.Line != 3 {
		t.Fatal(x, err)
	}
	if got := w.Now().File("C_A.1.def").Text; got != want {
		t.Errorf("%q", got)
	}
	var no *ThreadError
	if _, err := w.Accept("bob", x.ID); !errors.As(err, &no) {
		t.Error(err)
	}
	history, err := w.History.Of("C_A.1.def")
	if err != nil || len(history) == 0 || history[0].Who[len(history[0].Who)-1] != "ann" {
		t.Errorf("%+v %v", history, err)
	}
	// One that is declined can be opened again.
	y, err := w.Begin("ann", NewThread{File: "C_A.1.def", Text: "gone", Suggestion: &Suggestion{Base: want, Text: "byte first\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if y, err = w.Resolve("bob", y.ID, false); err != nil || y.Suggestion.State != "declined" || y.Open {
		t.Fatal(y, err)
	}
	if _, err := w.Accept("bob", y.ID); !errors.As(err, &no) {
		t.Error(err)
	}
	if y, err = w.Resolve("bob", y.ID, true); err != nil || y.Suggestion.State != "open" || !y.Open {
		t.Fatal(y, err)
	}
}

// A suggestion of a new file is one with its text; accepted, the file is there, once, with both people in its history. A file that has come into
// being meanwhile is never overwritten.
func TestSuggestionOfNewFile(t *testing.T) {
	w, dir, home := threadsOf(t, map[string]string{"C_A.1.def": "uint32 a\n"})
	begin := func(file, text string) Thread {
		t.Helper()
		x, err := w.Begin("ann", NewThread{File: file, Text: "why", Suggestion: &Suggestion{Text: text}})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var no *ThreadError
	one, other, same := begin("C_B.1.def", "uint32 b\n"), begin("C_B.1.def", "uint64 b\n"), begin("C_B.1.def", "uint32 b\n")
	if !one.New || one.Message != "C_B.1" || one.Line != 0 || w.Now().File("C_B.1.def") != nil {
		t.Errorf("%+v", one)
	}
	w = openThreads(t, dir, home)
	if _, now, merged, err := w.Merged(one.ID); err != nil || now != "" || merged != "uint32 b\n" {
		t.Errorf("%q %q %v", now, merged, err)
	}
	x, err := w.Accept("bob", one.ID)
	if err != nil || x.New || x.Line != 1 || x.Suggestion.State != "accepted" {
		t.Fatalf("%+v %v", x, err)
	}
	if f := w.Now().File("C_B.1.def"); f == nil || f.Text != "uint32 b\n" {
		t.Errorf("%+v", f)
	}
	if all, err := w.History.Of("C_B.1.def"); err != nil || len(all) != 1 || strings.Join(all[0].Who, " ") != "bob ann" {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := w.Accept("bob", other.ID); !errors.As(err, &no) || w.Now().File("C_B.1.def").Text != "uint32 b\n" {
		t.Error(err)
	}
	if x, err = w.Accept("bob", same.ID); err != nil || w.Now().File("C_B.1.def").Text != "uint32 b\n" {
		t.Errorf("%+v %v", x, err)
	}
	for _, name := range []string{"", "../C.1.def", ".hidden/C_C.1.def", "A/../../B.1.def"} {
		if x, err := w.Begin("ann", NewThread{File: name, Text: "why", Suggestion: &Suggestion{Text: "uint32 b\n"}}); err == nil {
			t.Errorf("%q: %+v", name, x)
		}
	}

	// Codes go by their lines: those of others stay, and one that another message has got is said.
	codes := func(list ...GivenCode) Thread {
		t.Helper()
		name, s, err := w.SuggestCodes(GivenCodes{Codes: list})
		if err != nil {
			t.Fatal(err)
		}
		x, err := w.Begin("ann", NewThread{File: name, Text: "why", Suggestion: s})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	first, second, third := codes(GivenCode{"C_A", 7}, GivenCode{"C_B.1", 8}), codes(GivenCode{"C_C", 9}, GivenCode{"C_A", 7}), codes(GivenCode{"C_D", 8})
	if code := w.suggestedCode("C_C"); code == nil || *code != 9 {
		t.Error("the suggested code is not known")
	}
	for _, id := range []string{first.ID, second.ID} {
		if _, err := w.Accept("bob", id); err != nil {
			t.Fatal(err)
		}
	}
	steps := w.History.Steps()
	if len(steps) != 2 || steps[0].About != "codes in protocol.map, suggested by ann and accepted by bob" {
		t.Fatalf("%+v", steps)
	}
	if _, err := w.Turn(steps[0].ID, true, false, "bob"); err != nil || w.Now().Options.Codes["C_C"] != 0 {
		t.Error(err)
	}
	if _, err := w.Turn(steps[0].ID, false, false, "bob"); err != nil {
		t.Error(err)
	}
	if _, err := w.Accept("bob", third.ID); !errors.As(err, &no) || !strings.Contains(err.Error(), "C_B has the code 8") {
		t.Error(err)
	}
	if got := w.Now().Options.Codes; len(got) != 3 || got["C_A"] != 7 || got["C_B"] != 8 || got["C_C"] != 9 {
		t.Errorf("%v", got)
	}
	if snap, code, err := w.WithCode("C_NEW.1", nil); snap != nil || err != nil {
		t.Error(code, err)
	}
	ten := uint32(10)
	if snap, code, err := w.WithCode("C_NEW.1", &ten); err != nil || code != 10 || snap.Options.Codes["C_NEW"] != 10 || len(snap.Options.Codes) != 4 {
		t.Error(code, err)
	}
}

// A purge removes the text of a suggestion for a file that is gone.
func TestPurgeOfNewSuggestion(t *testing.T) {
	w, _, home := threadsOf(t, map[string]string{"C_A.1.def": "uint32 a\n"})
	if _, err := w.Save("C_B.1.def", []byte("uint32 hunter2\n"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Delete("C_B.1.def", nil); err != nil {
		t.Fatal(err)
	}
	x, err := w.Begin("ann", NewThread{File: "C_B.1.def", Text: "again", Suggestion: &Suggestion{Text: "uint32 hunter2\nbyte b\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Purge("C_B.1.def"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(home, threadsFile))
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%s %v", text, err)
	}
	if all, err := w.Threads(); err != nil || len(all) != 1 || all[0].ID != x.ID || all[0].Open || all[0].Suggestion.State != "declined" {
		t.Errorf("%+v %v", all, err)
	}
}

// Threads are bounded, and mistakes are named.
func TestThreadsRefused(t *testing.T) {
	w, _, home := threadsOf(t, map[string]string{"C_A.1.def": "uint32 a\n"})
	for _, n := range []NewThread{
		{File: "C_A.1.def", Line: 1, Text: " "},
		{File: "C_A.1.def", Line: 9, Text: "x"},
		{File: "C_NONE.1.def", Line: 1, Text: "x"},
		{File: "C_A.1.def", Line: 1, Text: "a\x00b"},
		{File: "C_A.1.def", Line: 1, Text: strings.Repeat("x", maxRemark+1)},
		{File: "C_A.1.def", Text: "x", Suggestion: &Suggestion{Base: "a", Text: "a"}},
		{File: "C_A.1.def", Text: "x", Suggestion: &Suggestion{Base: "a", Text: strings.Repeat("b", maxSuggestion+1)}},
	} {
		if x, err := w.Begin("ann", n); err == nil {
			t.Errorf("%+v", x)
		}
	}
	if _, err := w.Answer("ann", "nothing", "x"); err == nil {
		t.Error("an answer to nothing")
	}
	x, err := w.Begin("ann", NewThread{Capture: "id", Frame: 3, Offset: 4, Length: 2, Text: "these bytes"})
	if err != nil || x.File != "" || x.Frame != 3 {
		t.Fatal(x, err)
	}
	if x, err = w.Answer("bob", x.ID, "yes"); err != nil || len(x.Remarks) != 2 {
		t.Fatal(x, err)
	}
	if err := os.WriteFile(filepath.Join(home, threadsFile), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := w.Forget(x.ID); err != nil {
		t.Fatal(err) // what is in memory is written
	}
	if all, err := w.Threads(); err != nil || len(all) != 0 {
		t.Error(all, err)
	}
}

// TestThreadsRandom changes a text at random: a comment is at a line of it, or its line is gone.
func TestThreadsRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lines := []string{"uint32 a", "string b # 😀", "", "array list", "- byte c", "# text"}
	draw := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(8) {
			b.WriteString(lines[rng.IntN(len(lines))] + "\n")
		}
		return b.String()
	}
	w, _, _ := threadsOf(t, map[string]string{"C_A.1.def": draw()})
	for range 300 {
		text := w.Now().File("C_A.1.def").Text
		if n := strings.Count(text, "\n"); n > 0 {
			if _, err := w.Begin("", NewThread{File: "C_A.1.def", Line: 1 + rng.IntN(n), Text: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Save("C_A.1.def", []byte(draw()), nil); err != nil {
			t.Fatal(err)
		}
		text = w.Now().File("C_A.1.def").Text
		all, err := w.Threads()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			now := strings.Split(text, "\n")
			if x.Line > len(now) || x.Line > 0 && x.Now != strings.TrimSpace(now[x.Line-1]) {
				t.Fatalf("%+v is not in\n%s", x, text)
			}
		}
	}
}

// A mention concerns the one whose name it is, whole and in any case; a suggestion those who may accept it, but not the one who has made it.
func TestConcerning(t *testing.T) {
	comment := func(text string) Thread {
		return Thread{Open: true, By: "ann", Remarks: []Remark{{By: "ann", Text: "first"}, {By: "ann", Text: text}}}
	}
	suggestion := Thread{Open: true, By: "ann", Remarks: []Remark{{By: "ann", Text: "better"}}, Suggestion: &Suggestion{State: "open"}}
	closed := comment("@bob")
	closed.Open = false
	for _, c := range []struct {
		name    string
		accepts bool
		thread  Thread
		want    bool
	}{
		{"bob", true, comment("what is this, @bob?"), true},
		{"Bob", false, comment("@bob."), true},
		{"bob", true, comment("@bobby and me@bob"), false},
		{"bob", true, comment("@bob-2, @bob.jr"), false},
		{"Ada Lovelace", true, comment("(@ada lovelace)"), true},
		{"a.c", true, comment("@abc"), false},
		{"", true, comment("@ bob"), false},
		{"bob", true, closed, false},
		{"bob", true, suggestion, true},
		{"bob", false, suggestion, false},
		{"ann", true, suggestion, false},
		{"", true, suggestion, true},
	} {
		if got := Concerning(c.name, c.accepts)(c.thread); got != c.want {
			t.Errorf("%q, %v: %q concerns them: %v", c.name, c.accepts, c.thread.Remarks[len(c.thread.Remarks)-1].Text, got)
		}
	}
}
