package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/server/objects"
)

// kept is a Journal in memory.
type kept struct {
	all    []Change
	refuse error
	behind []error
}

func (k *kept) Keep(changes ...Change) (func(error), error) {
	if k.refuse != nil {
		return nil, k.refuse
	}
	for _, c := range changes {
		c.Data = bytes.Clone(c.Data)
		k.all = append(k.all, c)
	}
	return func(err error) {
		if err != nil {
			k.behind = append(k.behind, err)
		}
	}, nil
}

// filesOf returns the files of a folder that matter: their contents, by name. Those of nobody but the user are marked.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == lockFile || isTemporary(e.Name()) {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 == 0 {
			rel += " (secret)"
		}
		out[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// differ returns the names of files that two trees do not have alike.
func differ(a, b map[string]string) (out []string) {
	for name := range maps.Keys(a) {
		if got, ok := b[name]; !ok || got != a[name] {
			out = append(out, name)
		}
	}
	for name := range maps.Keys(b) {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// busy makes changes of all kinds in a data folder.
type busy struct {
	*testing.T
	rng  *rand.Rand
	data *Data
	n    int
	errs int
}

// busyIn returns changes in a data folder, whose captures also go to a place.
func busyIn(t *testing.T, data *Data, seed uint64) *busy {
	t.Helper()
	folder, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	place, err := OpenPlace(folder, t.TempDir(), 1<<30, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(place.Close)
	data.KeepIn(place)
	return &busy{T: t, rng: rand.New(rand.NewPCG(seed, 1)), data: data}
}

func (b *busy) might(err error) {
	if err != nil {
		b.errs++
	}
}

func (b *busy) step() {
	b.n++
	project := fmt.Sprintf("p%d", b.rng.IntN(3))
	home, err := b.data.Dir(project)
	if err != nil {
		b.Fatal(err)
	}
	definitions, err := b.data.Dir(project, "definitions")
	if err != nil {
		b.Fatal(err)
	}
	captures, err := b.data.Captures(project, "captures")
	if err != nil {
		b.Fatal(err)
	}
	name := fmt.Sprintf("C_%d.1.def", b.rng.IntN(4))
	if b.rng.IntN(3) == 0 {
		name = "of/" + name
	}
	all, err := captures.List()
	if err != nil {
		b.Fatal(err)
	}
	id := ""
	if len(all) > 0 {
		id = all[b.rng.IntN(len(all))].ID
	}
	kind := b.rng.IntN(16)
	if kind == 12 && b.rng.IntN(4) > 0 {
		kind = 6
	}
	switch kind {
	case 0, 1:
		_, err = definitions.Write(name, fmt.Appendf(nil, "uint32 a%d\n", b.n), nil)
	case 2:
		err = definitions.Remove(name, nil)
	case 3, 4:
		err = home.Append("log.jsonl", fmt.Appendf(nil, "line %d", b.n))
	case 5:
		err = home.Move("log.jsonl", fmt.Sprintf("older/%d.jsonl", b.rng.IntN(3)))
	case 6:
		_, err = captures.Add(fmt.Sprint(b.n), time.Now(), strings.NewReader(strings.Repeat("x", b.rng.IntN(3*pieceBytes))))
	case 7:
		if id != "" {
			x, e := captures.Get(id)
			_, err = captures.Append(id, x.Size, strings.NewReader("more"))
			err = errors.Join(e, err)
		}
	case 8:
		if id != "" {
			_, err = captures.Note(id, func(n *Notes) { n.Text = fmt.Sprint(b.n) })
		}
	case 9:
		if id != "" {
			err = captures.Remove(id)
		}
	case 10:
		_, r, e := captures.Record(Capture{Name: "recorded"}, time.Now())
		if err = e; err == nil {
			_, e1 := r.Write([]byte("one, two"))
			e2 := r.Truncate(3)
			_, e3 := r.Write([]byte("; three"))
			err = errors.Join(e1, e2, e3, r.Close())
		}
	case 11:
		err = b.data.Secret("accounts.json").Write(fmt.Appendf(nil, `{"n": %d}`, b.n))
	case 12:
		made, e := os.MkdirTemp(b.data.Path(), ".new-")
		if e != nil {
			b.Fatal(e)
		}
		of, e := Open(made)
		if e != nil {
			b.Fatal(e)
		}
		for i := range 3 {
			if _, e = of.Write(fmt.Sprintf("definitions/C_NEW%d.1.def", i), fmt.Appendf(nil, "byte b%d\n", b.n), nil); e != nil {
				b.Fatal(e)
			}
		}
		err = errors.Join(b.data.RemoveAll(project), b.data.Place(filepath.Base(made), project))
		if err == nil && b.rng.IntN(2) == 0 {
			to := "q" + project
			err = errors.Join(b.data.RemoveAll(to), b.data.Rename(project, to))
		}
		os.RemoveAll(made)
	case 13, 14:
		if id != "" {
			if err = captures.Deposit(b.Context(), id); err == nil {
				_, err = captures.Evict(b.Context(), id)
			}
		}
	case 15:
		err = captures.Tidy(b.Context())
	}
	b.might(err)
}

// TestJournal makes changes of all kinds in a folder. Whoever makes the changes of its journal in another folder, with any part of them a second time,
// has the same files.
func TestJournal(t *testing.T) {
	defer func(was int) { pieceBytes = was }(pieceBytes)
	pieceBytes = 100
	for seed := range uint64(5) {
		claimed, err := Claim(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer claimed.Close()
		j := &kept{}
		data, err := claimed.Begin(j)
		if err != nil {
			t.Fatal(err)
		}
		b := busyIn(t, data, seed)
		for range 60 {
			b.step()
		}
		want := filesOf(t, data.Path())
		if len(want) < 5 || len(j.behind) > 0 {
			t.Fatalf("%d files, %v", len(want), j.behind)
		}
		make := func(root *os.Root, from, to int) {
			for i := from; i < to; i++ {
				if err := j.all[i].Make(root); err != nil {
					t.Fatalf("seed %d: change %d of %d, %s: %v", seed, i, len(j.all), j.all[i].Name, err)
				}
			}
		}
		for range 20 {
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			had := b.rng.IntN(len(j.all) + 1)
			from := b.rng.IntN(had + 1)
			for i := from; i < had && b.rng.IntN(8) > 0; i++ { // in the middle of a file
				if j.all[i].Kind == Spliced && j.all[i].At > 0 {
					from = i
				}
			}
			for i := range had {
				if j.all[i].Apart() && i+1 < had { // or that one alone
					from = max(from, i+1)
				}
			}
			make(root, 0, had)
			make(root, from, len(j.all))
			root.Close()
			if d := differ(want, filesOf(t, dir)); len(d) > 0 {
				t.Fatalf("seed %d: with changes %d to %d a second time, other files: %v", seed, from, had, d)
			}
		}
	}
}

// TestJournalRefuses: what the journal does not keep is not made in the folder either.
func TestJournalRefuses(t *testing.T) {
	claimed, err := Claim(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer claimed.Close()
	j := &kept{}
	data, err := claimed.Begin(j)
	if err != nil {
		t.Fatal(err)
	}
	b := busyIn(t, data, 1)
	for range 30 {
		b.step()
	}
	was, n, errs := filesOf(t, data.Path()), len(j.all), b.errs
	j.refuse = errors.New("no majority")
	for range 60 {
		b.step()
	}
	if d := differ(was, filesOf(t, data.Path())); len(d) > 0 || len(j.all) != n {
		t.Errorf("changed although the journal refused: %v", d)
	}
	if b.errs-errs < 30 {
		t.Errorf("%d errors of 60 steps", b.errs-errs)
	}
}

// TestNodeFolder: the folder of a node of a cluster is not opened as one of its own.
func TestNodeFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, MarkFile), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenData(dir, nil); err == nil || !strings.Contains(err.Error(), "migrate") {
		t.Fatal(err)
	}
	if got := filesOf(t, dir); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// TestBegin refuses folders of other formats, and does not upgrade them.
func TestBegin(t *testing.T) {
	for _, format := range []int{0, Format - 1, Format + 1} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "p", "definitions"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, formatFile), fmt.Appendf(nil, `{"format": %d}`, format), 0o666); err != nil {
			t.Fatal(err)
		}
		claimed, err := Claim(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		j := &kept{}
		if _, err := claimed.Begin(j); err == nil || len(j.all) > 0 {
			t.Errorf("format %d was begun, with %d changes", format, len(j.all))
		}
		claimed.Close()
	}
}
