package store_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/server/store"
	"wirebench/server/store/storetest"
)

// Killed before any step of any write, a folder of captures has at the next start all of an act or nothing, and no files that belong to
// nothing.
func TestEveryStepOfCaptures(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	look := func(t *testing.T, c *store.Captures, dir string) string {
		t.Helper()
		list, err := c.List()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, x := range list {
			f, err := c.Open(x.ID)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(f)
			f.Close()
			out = append(out, fmt.Sprintf("%s %q %v %q %v %v", x.Name, text, err, x.Notes.Text, x.Notes.Markers, x.Unfinished))
		}
		slices.Sort(out)
		return fmt.Sprintf("%s, %d files", strings.Join(out, "\n"), len(storetest.Files(t, dir)))
	}
	for name, act := range map[string]func(c *store.Captures, id string) error{
		"upload": func(c *store.Captures, _ string) error {
			_, err := c.Add("second", now, strings.NewReader("second"))
			return err
		},
		"append": func(c *store.Captures, id string) error {
			_, err := c.Append(id, 5, strings.NewReader(" and more"))
			return err
		},
		"note": func(c *store.Captures, id string) error {
			_, err := c.Note(id, func(n *store.Notes) {
				n.Text, n.Markers = "a note", append(n.Markers, store.Marker{N: 1, At: now, Text: "here"})
			})
			return err
		},
		"delete": func(c *store.Captures, id string) error { return c.Remove(id) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			steps := storetest.New(t, dir)
			c, err := store.OpenCaptures(dir, store.Alone(), steps.Before())
			if err != nil {
				t.Fatal(err)
			}
			x, err := c.Add("first", now, strings.NewReader("first"))
			if err != nil {
				t.Fatal(err)
			}
			before := look(t, c, dir)
			states := steps.Of(func() {
				if err := act(c, x.ID); err != nil {
					t.Fatal(err)
				}
			})
			after := look(t, c, dir)
			for i, l := range states {
				again, err := store.OpenCaptures(l.Dirs[0], store.Alone())
				if err != nil {
					t.Fatal(err)
				}
				if is := look(t, again, l.Dirs[0]); is != after && (is != before || i == len(states)-1) {
					t.Errorf("killed at %s:\n%s\nwant\n%s\nor\n%s", l.At, is, before, after)
				}
			}
			t.Logf("%d states", len(states))
		})
	}
	t.Run("recording", func(t *testing.T) {
		dir := t.TempDir()
		steps := storetest.New(t, dir)
		c, err := store.OpenCaptures(dir, store.Alone(), steps.Before())
		if err != nil {
			t.Fatal(err)
		}
		states := steps.Of(func() {
			_, r, err := c.Record(store.Capture{Name: "live"}, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"one ", "two ", "three"} {
				if _, err := r.Write([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		})
		seen := ""
		for i, l := range states {
			again, err := store.OpenCaptures(l.Dirs[0], store.Alone())
			if err != nil {
				t.Fatal(err)
			}
			list, err := again.List()
			if err != nil || len(list) > 1 || len(storetest.Files(t, l.Dirs[0])) != 2*len(list) {
				t.Fatalf("killed at %s: %v %v", l.At, list, err)
			}
			if len(list) == 0 && seen == "" {
				continue
			}
			f, err := again.Open(list[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(f)
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			if last := i == len(states)-1; !strings.HasPrefix("one two three", string(text)) || len(text) < len(seen) || (list[0].Lacks() != "") == last || last && len(text) != 13 {
				t.Errorf("killed at %s: %q, %s", l.At, text, list[0].Lacks())
			}
			seen = string(text)
		}
		t.Logf("%d states", len(states))
	})
}
