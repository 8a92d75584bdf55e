package api

import (
	"testing"
	"unicode/utf16"
)

// Positions are those of the text in the browser, whatever precedes them.
func TestUnits(t *testing.T) {
	for _, text := range []string{"", "abc", "ä", "😀", "a😀b", "日本😀😀x", "�"} {
		units := utf16.Encode([]rune(text))
		for at := range text {
			n := unitsOf(text, at)
			if want := len(utf16.Encode([]rune(text[:at]))); n != want {
				t.Errorf("%q: byte %d is unit %d, want %d", text, at, n, want)
			}
			if got := byteOf(text, n); got != at {
				t.Errorf("%q: unit %d is byte %d, want %d", text, n, got, at)
			}
		}
		if unitsOf(text, len(text)+5) != len(units) || byteOf(text, len(units)+5) != len(text) || byteOf(text, -1) != 0 {
			t.Errorf("%q: its ends", text)
		}
	}
	if got := byteOf("a😀b", 2); got != 5 {
		t.Errorf("inside of a pair: byte %d", got)
	}
}
