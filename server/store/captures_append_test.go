package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

func appendable(t *testing.T, text string) (*Captures, string) {
	t.Helper()
	c, err := OpenCaptures(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Add("growing", time.Unix(1_790_000_000, 0), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return c, x.ID
}

func contents(t *testing.T, c *Captures, id string) string {
	t.Helper()
	f, err := c.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAppendToCapture(t *testing.T) {
	c, id := appendable(t, "start")
	changed, stop := c.Changed(id)
	defer stop()
	if _, err := c.Note(id, func(n *Notes) { n.Text = "mine" }); err != nil {
		t.Fatal(err)
	}
	<-changed
	x, err := c.Append(id, 5, strings.NewReader(" middle"))
	if err != nil || x.Size != 12 || x.Notes.Text != "mine" || x.Name != "growing" {
		t.Fatalf("%+v, %v", x, err)
	}
	<-changed
	for _, test := range []struct {
		name   string
		id     string
		offset int64
		r      io.Reader
		want   func(error) bool
	}{
		{"again", id, 5, strings.NewReader(" middle"), at(12)},
		{"too far", id, 13, strings.NewReader("x"), at(12)},
		{"below zero", id, -1, strings.NewReader("x"), at(12)},
		{"another", "20260101-000000-0000000000000000", 0, strings.NewReader("x"), is(fs.ErrNotExist)},
		{"elsewhere", "../" + id, 12, strings.NewReader("x"), is(fs.ErrNotExist)},
		{"too much", id, 12, bytes.NewReader(make([]byte, MaxAppend+1)), is(ErrTooLarge)},
		{"broken off", id, 12, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF)), is(io.ErrUnexpectedEOF)},
	} {
		if _, err := c.Append(test.id, test.offset, test.r); !test.want(err) {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := contents(t, c, id); got != "start middle" {
			t.Fatalf("%s: %q is there", test.name, got)
		}
	}
	if _, err := c.Append(id, 12, strings.NewReader(" end")); err != nil || contents(t, c, id) != "start middle end" {
		t.Errorf("%q, %v", contents(t, c, id), err)
	}
}

func is(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }

func at(size int64) func(error) bool {
	return func(err error) bool {
		var moved *OffsetError
		return errors.As(err, &moved) && moved.Size == size
	}
}

// Of several concurrent appends at the same offset one succeeds.
func TestAppendToCaptureAtOnce(t *testing.T) {
	c, id := appendable(t, "")
	var wg sync.WaitGroup
	for _, text := range []string{"aaaa", "bbbb", "cccc", "dddd"} {
		wg.Go(func() {
			for size := int64(0); ; {
				_, err := c.Append(id, size, strings.NewReader(text))
				var moved *OffsetError
				if !errors.As(err, &moved) {
					if err != nil {
						t.Error(err)
					}
					return
				}
				size = moved.Size
			}
		})
	}
	wg.Wait()
	got := contents(t, c, id)
	for _, text := range []string{"aaaa", "bbbb", "cccc", "dddd"} {
		if len(got) != 16 || strings.Count(got, text) != 1 {
			t.Errorf("%q", got)
		}
	}
}
