package store_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/server/store"
)

func TestCaptures(t *testing.T) {
	dir := t.TempDir()
	c, err := store.OpenCaptures(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	first, err := c.Add("session.pcapng", at, strings.NewReader("bytes of it"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Add("../later.log", at.Add(time.Hour), strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	if all, err := c.List(); err != nil || len(all) != 2 || all[0].ID != second.ID || all[1].Name != "session.pcapng" || all[1].Size != 11 || !all[1].Added.Equal(at) {
		t.Fatalf("%+v %v", all, err)
	}
	f, err := c.Open(first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(f); err != nil || string(data) != "bytes of it" || f.Close() != nil {
		t.Errorf("%q %v", data, err)
	}
	if _, err := c.Note(first.ID, func(n *store.Notes) { n.Noted = []store.Noted{{N: 3, Mark: true, Note: "here"}} }); err != nil {
		t.Fatal(err)
	}
	again, err := store.OpenCaptures(dir)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := again.Get(first.ID); err != nil || x.Notes.Frames[3] != "here" || len(x.Notes.Marked) != 1 {
		t.Errorf("%+v %v", x, err)
	}
	for _, id := range []string{"", "nothing", "../" + first.ID, first.ID + ".json", "..", "a/b", `a\b`, ".tmp"} {
		_, got := c.Get(id)
		_, opened := c.Open(id)
		if !errors.Is(got, fs.ErrNotExist) || !errors.Is(opened, fs.ErrNotExist) || !errors.Is(c.Remove(id), fs.ErrNotExist) {
			t.Errorf("%q: %v %v", id, got, opened)
		}
	}
	if err := c.Remove(first.ID); err != nil {
		t.Fatal(err)
	}
	if all, _ := c.List(); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	// A capture copied into the folder has no name except that of its file.
	if err := os.WriteFile(filepath.Join(dir, "mine.capture"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if x, err := c.Get("mine"); err != nil || x.Name != "mine" || x.Size != 1 {
		t.Errorf("%+v %v", x, err)
	}
}

// An upload that breaks off stores nothing and leaves no file.
func TestCaptureThatBreaksOff(t *testing.T) {
	dir := t.TempDir()
	c, err := store.OpenCaptures(dir)
	if err != nil {
		t.Fatal(err)
	}
	broken := io.MultiReader(strings.NewReader("some bytes"), brokenReader{})
	if _, err := c.Add("x.pcap", time.Now(), broken); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Error(entries)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }
