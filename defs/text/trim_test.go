package text_test

import (
	"testing"

	"wirebench/defs/text"
)

func TestTrimLines(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " \n\t\r\n": "", "0\r": "0\n", "a \r\r\n b\t": "a\n b\n", "a\n\n\nb\n\n": "a\n\n\nb\n", "a\rb\n": "a\rb\n", "\u00a0\n": "\u00a0\n",
	} {
		got := text.TrimLines(in)
		if got != want || text.TrimLines(got) != got {
			t.Errorf("%q is %q, then %q", in, got, text.TrimLines(got))
		}
	}
}
