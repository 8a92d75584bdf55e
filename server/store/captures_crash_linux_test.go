package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func init() { children["notes"] = noteForever } // before the table is used

// noteForever notes frames by number, one after another, and prints each number once it is noted.
func noteForever(d *Dir) error {
	c, err := OpenCaptures(d.path)
	if err != nil {
		return err
	}
	all, err := c.List()
	if err != nil || len(all) != 1 {
		return fmt.Errorf("%d captures: %w", len(all), err)
	}
	for {
		n := uint64(len(all[0].Notes.Marked) + 1)
		all[0], err = c.Note(all[0].ID, func(notes *Notes) {
			for i := range notes.Noted {
				notes.Noted[i].Note = ""
			}
			notes.Noted = append(notes.Noted, Noted{N: n, Mark: true, Note: strings.Repeat(fmt.Sprint(n, " "), 500)})
		})
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// Notes written before the program is killed survive, whole.
func TestKilledNotes(t *testing.T) {
	dir := t.TempDir()
	c, err := OpenCaptures(dir)
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Add("session", time.Now(), strings.NewReader("bytes"))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		last := killed(t, "notes", c.dir)
		got, err := c.Get(x.ID)
		n := uint64(len(got.Notes.Marked))
		if err != nil || n < uint64(last) || n > uint64(last)+1 || got.Name != "session" || len(got.Notes.Frames) != 1 || got.Notes.Frames[n] != strings.Repeat(fmt.Sprint(n, " "), 500) {
			t.Fatalf("%d were noted, %d are, %v", last, n, err)
		}
	}
	if _, err := OpenCaptures(dir, Alone()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 {
		t.Error(left)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Error(entries)
	}
}
