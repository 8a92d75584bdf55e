package store

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Captures above the quota of their project, or of all, are refused with what they take; a recording pauses, and has room again when some
// are deleted.
func TestQuota(t *testing.T) {
	data, err := OpenData(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	q := &Quota{Each: 4 << 20, All: 6 << 20}
	data.Limit(q)
	open := func(name string) *Captures {
		t.Helper()
		c, err := data.Captures(name, "captures")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	recount := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		for _, u := range q.members {
			u.at = time.Time{}
		}
	}
	one, two := open("one"), open("two")
	file := func(n int) *strings.Reader { return strings.NewReader(strings.Repeat("x", n)) }
	x, err := one.Add("a", time.Now(), file(3<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Add("b", time.Now(), file(2<<20)); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "1 MiB that are left of the quota") {
		t.Errorf("%v", err)
	}
	if all, err := one.List(); err != nil || len(all) != 1 {
		t.Errorf("%v: %d captures", err, len(all))
	}
	if _, err := one.Add("c", time.Now(), file(1<<20)); err != nil {
		t.Error(err)
	}
	var full *QuotaError
	if _, err := one.Add("d", time.Now(), file(1)); !errors.As(err, &full) || full.Of != "this project" || full.Used != 4<<20 {
		t.Errorf("%v", err)
	}
	if _, err := one.Append(x.ID, x.Size, file(1)); !errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
	if err := one.Room(false); !errors.As(err, &full) {
		t.Errorf("a recording: %v", err)
	}
	if err := two.Room(true); err != nil {
		t.Errorf("in another project: %v", err)
	}
	if _, err := two.Add("e", time.Now(), file(3<<20)); !errors.Is(err, ErrFull) {
		t.Errorf("above that of all: %v", err)
	}
	if err := one.Remove(x.ID); err != nil {
		t.Fatal(err)
	}
	recount()
	if err := one.Room(true); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if used, most := one.Used(); used != 1<<20 || most != 4<<20 {
		t.Errorf("%d of %d", used, most)
	}
	if _, err := two.Add("e", time.Now(), file(3<<20)); err != nil {
		t.Error(err)
	}
}
