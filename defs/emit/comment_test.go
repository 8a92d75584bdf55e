package emit

import "testing"

// Comments end where they should, and have no start of another one, of which compilers warn.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{"a /* b */ c\nd": "a / * b * / c d", "*/": "* /", "/*": "/ *", "/*/": "/ * /"} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
