package archive

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/server/captures"
	"wirebench/server/projects"
	"wirebench/server/store"
	"wirebench/server/store/storetest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// kept is a project whose captures are kept in a place.
type kept struct {
	*testing.T
	*Set
	ws  *workspace.Workspace
	in  *storetest.Objects
	log *bytes.Buffer
}

// keep returns a Set that does nothing by itself, of captures that take at most most bytes.
func keep(t *testing.T, most int64) *kept {
	t.Helper()
	caps := workspacetest.Captures(t)
	place, in := storetest.Place(t, most)
	caps.In(place)
	files, _ := workspacetest.Dir(t, nil)
	ws := workspacetest.Open(t, workspace.Config{Name: "one", Dialect: "muta", Files: files, Captures: caps})
	all, err := projects.Fixed(ws)
	if err != nil {
		t.Fatal(err)
	}
	open := captures.NewSet(nil, nil)
	t.Cleanup(open.Close)
	k := &kept{T: t, ws: ws, in: in, log: &bytes.Buffer{}}
	k.Set = newSet(Options{Projects: all, Captures: open, Place: place, Log: slog.New(slog.NewTextHandler(k.log, nil)), Settle: time.Minute})
	return k
}

// add adds a capture whose last byte came some time ago.
func (k *kept) add(name string, size int, age time.Duration) store.Capture {
	k.Helper()
	x, err := k.ws.Captures.Add(name, time.Now().Add(-age), strings.NewReader("00000000  01 02\n"+strings.Repeat("\n", size-16)))
	if err != nil {
		k.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(k.ws.Captures.Path(x.ID), at, at); err != nil {
		k.Fatal(err)
	}
	return x
}

func (k *kept) sweep() {
	k.Helper()
	if err := k.Sweep(k.Context()); err != nil {
		k.Fatal(err)
	}
}

// is checks which captures are only here, both here and in the place, and only there.
func (k *kept) is(here, both, away string) {
	k.Helper()
	list, err := k.ws.Captures.List()
	if err != nil {
		k.Fatal(err)
	}
	var got [3][]string
	for _, x := range list {
		switch {
		case x.Away:
			got[2] = append(got[2], x.Name)
		case k.ws.Captures.Due(x.ID):
			got[0] = append(got[0], x.Name)
		default:
			got[1] = append(got[1], x.Name)
		}
	}
	for i, want := range []string{here, both, away} {
		slices.Sort(got[i])
		if is := strings.Join(got[i], " "); is != want {
			k.Errorf("%s: %q, want %q", []string{"here", "both", "away"}[i], is, want)
		}
	}
}

// TestSweep: complete captures are stored, and the files of those opened longest ago go when all take too much.
func TestSweep(t *testing.T) {
	k := keep(t, 1000) // 875 for captures
	k.add("new", 300, 0)
	old := k.add("old", 300, 4*time.Hour)
	k.add("older", 300, 5*time.Hour)
	k.add("oldest", 300, 6*time.Hour)
	_, recording, err := k.ws.Captures.Record(store.Capture{Name: "recorded"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recording.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	collected, err := k.ws.Captures.Collect(store.Capture{ID: store.NewCaptureID(time.Now()), Name: "collected", Collected: &store.Collected{By: "host"}}, time.Now(), []byte("some"))
	if err != nil {
		t.Fatal(err)
	}
	k.ws.Captures.Grows(collected.ID, false)
	for _, x := range []string{collected.ID} {
		at := time.Now().Add(-3 * time.Hour)
		if err := os.Chtimes(k.ws.Captures.Path(x), at, at); err != nil {
			t.Fatal(err)
		}
	}
	k.sweep()
	k.is("collected new recorded", "old older", "oldest")
	if k.Due() != 3 || k.Problem() != nil || len(k.in.Names(t, ".capture")) != 3 {
		t.Error(k.Due(), k.Problem(), k.in.Names(t, ""))
	}
	k.sweep() // nothing is done twice
	if n := k.Place.Numbers(); n.Uploads != 3 || n.Removals != 0 {
		t.Errorf("%+v", n)
	}
	if err := recording.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := k.ws.Captures.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		if x.Name == "older" { // it is opened, so that the other goes
			f, err := k.ws.Captures.Open(x.ID)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if x.Name == "new" || x.Name == "recorded" {
			at := time.Now().Add(-time.Hour)
			if err := os.Chtimes(k.ws.Captures.Path(x.ID), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	k.sweep()
	k.is("collected", "new older recorded", "old oldest")
	if err := k.ws.Captures.Remove(old.ID); err != nil {
		t.Fatal(err)
	}
	k.sweep()
	k.is("collected", "new older recorded", "oldest")
	if got := k.in.Names(t, ""); len(got) != 4 {
		t.Error(got)
	}
}

// TestSweepIndexes: a capture that was read has its index beside it once it is in the place, and is opened by it when it is only there.
func TestSweepIndexes(t *testing.T) {
	k := keep(t, 0)
	x := k.add("one", 300, time.Hour)
	open := func() *captures.Capture {
		x, err := k.ws.Captures.Get(x.ID)
		if err != nil {
			t.Fatal(err)
		}
		o, err := k.Captures.Get(k.ws, k.ws.For(x), x)
		if err != nil {
			t.Fatal(err)
		}
		<-o.Done()
		return o
	}
	frames := open().Log().Len()
	if frames == 0 {
		t.Fatal("no frames")
	}
	k.sweep()
	k.is("", "", "one")
	if got := k.in.Names(t, ".index"); len(got) != 1 || len(k.in.Names(t, "")) != 2 {
		t.Fatal(got)
	}
	k.Captures.Drop("one", x.ID)
	k.in.Reads()
	if got := open().Log().Len(); got != frames {
		t.Errorf("%d frames of %d", got, frames)
	}
	for _, r := range k.in.Reads() {
		if !strings.HasSuffix(r.Name, ".index") {
			t.Errorf("%s is read", r.Name)
		}
	}
	k.sweep()
	if n := k.Place.Numbers(); n.Uploads != 2 {
		t.Errorf("%+v", n)
	}
}

// TestSweepFaults: a place that fails is said once, and what could not be done is done when it is back; nothing leaves the data folder before.
func TestSweepFaults(t *testing.T) {
	k := keep(t, 0)
	x := k.add("one", 300, time.Hour)
	k.add("two", 300, 2*time.Hour)
	fails := func(op string) {
		k.in.Fail(func(is, _ string) error {
			if is == op {
				return errors.New("503 Slow Down")
			}
			return nil
		})
	}
	broken := func() {
		t.Helper()
		err := k.Sweep(t.Context())
		if !errors.Is(err, store.ErrAway) || !strings.Contains(err.Error(), "503 Slow Down") {
			t.Errorf("%v", err)
		}
		k.said(err)
		if !errors.Is(k.Problem(), store.ErrAway) {
			t.Error(k.Problem())
		}
	}
	fails("put")
	broken()
	broken()
	k.is("one two", "", "")
	fails("open")
	broken()
	k.is("", "one two", "")
	k.in.Fail(nil)
	k.sweep()
	k.said(nil)
	k.is("", "", "one two")
	fails("remove")
	if err := k.ws.Captures.Remove(x.ID); err != nil {
		t.Fatal(err)
	}
	k.is("", "", "two")
	broken()
	k.in.Fail(nil)
	k.sweep()
	if got := k.in.Names(t, ""); len(got) != 1 {
		t.Error(got)
	}
	for text, want := range map[string]int{"captures cannot be kept in their place": 3, "captures are kept in their place again": 1, "capture stored": 2} {
		if got := strings.Count(k.log.String(), text); got != want {
			t.Errorf("%s: %d times, want %d", text, got, want)
		}
	}
}
