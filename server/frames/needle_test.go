package frames

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNeedle(t *testing.T) {
	for _, c := range []struct {
		name, as, text, data string // data: hex
		fold                 bool
		start, end           int // -1: not found
	}{
		{"text", "text", "hi", "00 68 69 00", false, 1, 3},
		{"the first one", "text", "hi", "68 69 68 69", false, 0, 2},
		{"capitals count", "text", "HI", "00 68 69 00", false, -1, 0},
		{"capitals do not", "text", "HI", "00 68 69 00", true, 1, 3},
		{"UTF-16", "text", "hi", "00 68 00 69 00", false, 1, 5},
		{"UTF-16 in capitals", "text", "hi", "00 48 00 49 00", true, 1, 5},
		{"a letter of two bytes", "text", "ä", "ff c3 a4", false, 1, 3},
		{"its capital", "text", "ä", "ff c3 84", true, 1, 3},
		{"forms of other lengths", "text", "k", "e2 84 aa", true, 0, 3}, // the kelvin sign
		{"beyond 16 bits", "text", "😀", "3d d8 00 de", false, 0, 4},
		{"a byte a letter", "text", "Ää", "00 c4 e4 c3", false, 1, 3},
		{"a byte a letter, its capital", "text", "äk", "c4 4b", true, 0, 2},
		{"a letter that no byte has", "text", "äω", "e4 c9", false, -1, 0},
		{"a letter whose capital no byte has", "text", "ÿ", "ff", true, 0, 1},
		{"cut off", "text", "hi", "00 68", false, -1, 0},
		{"begins anew", "text", "aab", "61 61 61 62", false, 1, 4},
		{"hex", "hex", "e8 03", "00 e8 03", false, 1, 3},
		{"hex together", "hex", "E803", "00 e8 03", false, 1, 3},
		{"any byte", "hex", "e8 ?? 00", "e8 e8 03 00 e8 07 00", false, 1, 4},
		{"any first byte", "hex", "?? 03", "03 03", false, 0, 2},
		{"any last byte", "hex", "03 ??", "00 03", false, -1, 0},
		{"half a byte", "hex", "e", "0e", false, -1, 0},
		{"no hex", "hex", "xy", "00", false, -1, 0},
		{"nothing", "hex", "", "00", false, -1, 0},
		{"a filter is not looked for in bytes", "filter", "len > 3", "6c 65 6e", false, -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := hex.DecodeString(strings.ReplaceAll(c.data, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			a := FindQuery{Text: c.text, As: c.as, Fold: c.fold}
			start, end := a.needle().in(t.Context(), data)
			if start != c.start || c.start >= 0 && end != c.end {
				t.Errorf("found at %d to %d, want %d to %d", start, end, c.start, c.end)
			}
		})
	}
}

// Without folding a text is found exactly where its bytes are; with folding, at the latest there.
func FuzzNeedle(f *testing.F) {
	f.Add("hi", []byte("oh hi"))
	f.Add("K", []byte("\xe2\x84\xaa"))
	f.Add("\xff", []byte("\xff"))
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		if len(text) > 64 || !utf8.ValidString(text) {
			return
		}
		exact, end := textNeedle(text, false).in(t.Context(), data)
		if text != "" && (exact < 0) && bytes.Contains(data, []byte(text)) {
			t.Errorf("%q is in % x", text, data)
		}
		if exact >= 0 && (end > len(data) || end < exact) {
			t.Errorf("from %d to %d of %d bytes", exact, end, len(data))
		}
		if folded, _ := textNeedle(text, true).in(t.Context(), data); exact >= 0 && (folded < 0 || folded > exact) {
			t.Errorf("%q: at %d, folded at %d", text, exact, folded)
		}
	})
}
