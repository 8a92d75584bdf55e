package store_test

import (
	"io"
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
