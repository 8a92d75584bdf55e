package edit

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRestore(t *testing.T) {
	for _, c := range []struct{ about, before, now, want string }{
		{"unchanged", "\ufeffa\r\nb\nc", "a\nb\nc", "\ufeffa\r\nb\nc"},
		{"with the mark", "\ufeffa\r\n", "\ufeffa\nb\n", "\ufeffa\r\nb\r\n"},
		{"a line in the middle", "a\r\nb\nc\r\n", "a\nx\nb\nc\n", "a\r\nx\r\nb\nc\r\n"},
		{"a changed line", "a\nb\r\nc\n", "a\nbb\nc\n", "a\nbb\r\nc\n"},
		{"no line break at the end", "a\r\nb", "a\nb\nc", "a\r\nb\r\nc"},
		{"a line break at the end", "a\r\nb", "a\nb\n", "a\r\nb\r\n"},
		{"not UTF-8", "# caf\xe9\r\nbyte a", "# caf\ufffd\nbyte b", "# caf\xe9\r\nbyte b"},
		{"empty before", "", "a\nb\n", "a\nb\n"},
		{"empty now", "a\r\n", "", ""},
		{"moved", "a\r\nb\n", "b\na\n", "b\na\n"},
		{"removed", "a\r\nb\nc\r\n", "a\nc\n", "a\r\nc\r\n"},
	} {
		if got := Restore(c.before, c.now); got != c.want {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
}

// A text that was not edited is restored exactly, and an edited one differs only in its line ends from the edited one.
func TestRestoreKeepsTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(ends []string) string {
		var b strings.Builder
		for range rng.IntN(30) {
			b.WriteString([]string{"", "a", "b", "\t# c", "d e"}[rng.IntN(5)] + ends[rng.IntN(len(ends))])
		}
		return b.String() + []string{"", "end"}[rng.IntN(2)]
	}
	unix := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	for range 5000 {
		before, now := random([]string{"\n", "\r\n"}), random([]string{"\n"})
		if got := Restore(before, unix(before)); got != before {
			t.Fatalf("%q became %q", before, got)
		}
		if got := Restore(before, now); unix(got) != now {
			t.Fatalf("%q, %q became %q", before, now, got)
		}
	}
	long := strings.Repeat("a\nb\n", 20000)
	if got := Restore(long, strings.Repeat("c\na\n", 20000)); !strings.HasPrefix(got, "c\na\n") {
		t.Error("many lines")
	}
}
