package store_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirebench/server/store"
)

// A recording is a capture from its start, and can be read while it is written.
func TestRecording(t *testing.T) {
	c, err := store.OpenCaptures(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	x, f, err := c.Record(store.Capture{Name: "live"}, now)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "one", "onetwo"} {
		all, err := c.List()
		if err != nil || len(all) != 1 || all[0].ID != x.ID || all[0].Name != "live" || all[0].Size != int64(len(want)) {
			t.Fatalf("%v %v", all, err)
		}
		r, err := c.Open(x.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("%q, want %q (%v)", got, want, err)
		}
		r.Close()
		if _, err := io.WriteString(f, []string{"one", "two", ""}[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A recording says that it was not closed, to others than the program that records, and notices that its file was deleted.
func TestRecordingLacks(t *testing.T) {
	folder := t.TempDir()
	open := func() *store.Captures {
		c, err := store.OpenCaptures(folder)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	lacks := func(of *store.Captures, id string) string {
		x, err := of.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		return x.Lacks()
	}
	x, f, err := c.Record(store.Capture{Name: "live"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "data"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Note(x.ID, func(n *store.Notes) { n.Text = "noted meanwhile" }); err != nil {
		t.Fatal(err)
	}
	if got, killed := lacks(c, x.ID), lacks(open(), x.ID); got != "" || !strings.Contains(killed, "without closing") {
		t.Errorf("while it is recorded: %q; after a crash: %q", got, killed)
	}
	if f.Gone() {
		t.Error("the file is there")
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := lacks(open(), x.ID); got != "" {
		t.Errorf("closed: %q", got)
	}
	y, f, err := c.Record(store.Capture{Name: "deleted"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.Path(y.ID)); err != nil {
		t.Fatal(err)
	}
	if !f.Gone() {
		t.Error("the file was deleted")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	z, f, err := c.Record(store.Capture{Name: "discarded"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f.Discard()
	if _, err := c.Get(z.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("discarded: %v", err)
	}
}

// A recording whose end cannot be written, as the disk is full, is not shown as that of a program that crashed, and its next change says it.
func TestRecordingEndsOnAFullDisk(t *testing.T) {
	folder := t.TempDir()
	full := false
	c, err := store.OpenCaptures(folder, store.Alone(), store.BeforeSteps(func(step string) error {
		if full && step == "write" {
			return syscall.ENOSPC
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	x, f, err := c.Record(store.Capture{Name: "live"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	full = true
	if err := f.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	if x, err = c.Get(x.ID); err != nil || x.Unfinished || x.Lacks() != "" {
		t.Errorf("closed: %+v, %q (%v)", x, x.Lacks(), err)
	}
	full = false
	if _, err := c.Note(x.ID, func(n *store.Notes) { n.Text = "later" }); err != nil {
		t.Fatal(err)
	}
	again, err := store.OpenCaptures(folder)
	if err != nil {
		t.Fatal(err)
	}
	if x, err = again.Get(x.ID); err != nil || x.Unfinished {
		t.Errorf("at the next start: %+v (%v)", x, err)
	}
}
