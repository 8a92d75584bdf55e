package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"a b c", "a b c", "=a =b =c"},
		{"a b c", "a x c", "=a -b +x =c"},
		{"", "a b", "+a +b"},
		{"a b", "", "-a -b"},
		{"a b c d", "b c x d", "-a =b =c +x =d"},
		{"a b a b", "b a", "-a =b =a -b"},
	} {
		if got := drawn(strings.Fields(c.before), strings.Fields(c.after)); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.before, c.after, got, c.want)
		}
	}
}

func drawn(before, after []string) string {
	var out []string
	for _, e := range Diff(before, after) {
		switch {
		case e.New == 0:
			out = append(out, "-"+before[e.Old-1])
		case e.Old == 0:
			out = append(out, "+"+after[e.New-1])
		default:
			out = append(out, "="+after[e.New-1])
		}
	}
	return strings.Join(out, " ")
}

// Every line of both texts is there once, in order, and aligned lines are equal.
func TestDiffIsComplete(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		lines := func() (out []string) {
			for range r.IntN(30) {
				out = append(out, string(rune('a'+r.IntN(4))))
			}
			return out
		}
		before, after := lines(), lines()
		checkDiff(t, before, after)
	}
	large := slices.Repeat([]string{"x", "y"}, 3000) // more differences than are aligned
	checkDiff(t, large, slices.Repeat([]string{"z"}, 3000))
}

func checkDiff(t *testing.T, before, after []string) {
	t.Helper()
	old, now := 0, 0
	for _, e := range Diff(before, after) {
		if e.Old > 0 {
			old++
		}
		if e.New > 0 {
			now++
		}
		if e.Old > 0 && e.Old != old || e.New > 0 && e.New != now || e.Old > 0 && e.New > 0 && before[e.Old-1] != after[e.New-1] {
			t.Fatalf("%q and %q: %v", before, after, e)
		}
	}
	if old != len(before) || now != len(after) {
		t.Fatalf("%q and %q: %d and %d lines", before, after, old, now)
	}
}
