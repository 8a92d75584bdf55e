package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"wirebench/server/history"
	"wirebench/server/store"
)

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
					had("# unseen\n"+text, history.Outside)
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
					w.History.End(file)
					had(text, who)
				}
			case "outside":
				if err = os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err == nil {
					err = w.Reload()
					had(text, history.Outside)
				}
			case "undo":
				was := w.Now().File(file).Text
				for _, s := range w.History.Steps() {
					if _, err := w.Turn(s.ID, true, false, people...); err == nil {
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
		list, err := w.History.Of(file)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, x := range list {
			text, err := w.History.Text(file, x.ID)
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

// People save, upload, undo and read the history at once: nobody waits for ever, and each save is a revision of who made it.
func TestHistoryAtOnce(t *testing.T) {
	files, home := t.TempDir(), t.TempDir()
	open := func(dir string) *store.Dir {
		d, err := store.Open(dir, store.SyncLater())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	w, err := Open(Config{Name: "one", Dialect: "tera", Files: open(files), Home: open(home)})
	if err != nil {
		t.Fatal(err)
	}
	people := []string{"ann", "bob", "cat", "dan"}
	if _, err := w.Save("C_ALL.1.def", []byte("byte a\n"), nil); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, who := range people {
		all.Go(func() {
			for i := range 25 {
				text := fmt.Sprintf("# %s %d\nbyte a\n", who, i)
				_, err := w.SaveBy([]string{who}, "C_ALL.1.def", []byte(text), nil)
				_, step, err2 := w.SaveAll(t.Context(), []NewFile{{"C_" + strings.ToUpper(who) + ".1.def", []byte(text)}}, true, who)
				if err != nil || err2 != nil || step == nil {
					t.Error(err, err2, step)
					return
				}
				if _, err := w.Turn(step.ID, true, false, who); err != nil {
					t.Error(err)
				}
				if _, err := w.History.Of("C_ALL.1.def"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list, err := w.History.Of("C_ALL.1.def")
	if err != nil || len(list) != 25*len(people)+1 {
		t.Fatalf("%d revisions, %v", len(list), err)
	}
	for _, x := range list[:len(list)-1] {
		if text, err := w.History.Text("C_ALL.1.def", x.ID); err != nil || len(x.Who) != 1 || !strings.HasPrefix(text, "# "+x.Who[0]+" ") {
			t.Errorf("%q of %q, %v", text, x.Who, err)
		}
	}
	for _, s := range w.History.Steps() {
		if !s.Undone {
			t.Errorf("%+v", s)
		}
	}
}
