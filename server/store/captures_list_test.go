package store

import (
	"strings"
	"testing"
	"time"
)

func TestListSince(t *testing.T) {
	c, err := OpenCaptures(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var ids []string
	for i, name := range []string{"first", "second", "in the same second", "last"} {
		x, err := c.Add(name, start.Add([]time.Duration{0, time.Minute, time.Minute + time.Millisecond, time.Hour}[i]), strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, x.ID)
	}
	for since, want := range map[string]string{
		"": "last, in the same second, second, first", ids[0]: "last, in the same second, second, first", ids[1]: "last, in the same second, second",
		ids[2]: "last, in the same second, second", ids[3]: "last", "9": "", "20261120-100100": "last, in the same second, second", "\x00": "last, in the same second, second, first",
	} {
		all, err := c.ListSince(since)
		var names []string
		for _, x := range all {
			names = append(names, x.Name)
		}
		if got := strings.Join(names, ", "); err != nil || got != want {
			t.Errorf("since %q: %s %v, want %s", since, got, err, want)
		}
	}
}
