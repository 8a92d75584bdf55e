package source

import "testing"

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain ä 漢\n\t": "plain ä 漢\n\t", "\x1b[31mred\x07": `\x1b[31mred\x07`, "a\u202eb\u2066": `a\u202eb\u2066`, "\u009b1m": `\x9b1m`,
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
