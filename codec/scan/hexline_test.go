package scan

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// plainHexLine is HexLine rune by rune.
func plainHexLine(line string) (out []byte, wrong bool) {
	var digits []byte
	for col, c := range line {
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\ufeff' && col == 0:
		case strings.ContainsRune("0123456789abcdefABCDEF", c) && c != utf8.RuneError:
			digits = append(digits, byte(c))
		default:
			return nil, true
		}
	}
	if len(digits)%2 == 1 {
		return nil, true
	}
	for i := 0; i < len(digits); i += 2 {
		out = append(out, hexDigit[digits[i]]<<4|hexDigit[digits[i+1]])
	}
	return out, false
}

func TestHexLineErrors(t *testing.T) {
	for line, want := range map[string]string{
		"12 3": "an odd number of hex digits (3)", "12x4": `column 3: 'x' is not a hex digit`, "1 2 3": "an odd number of hex digits (3)",
		"12 34ö": `column 6: 'ö' is not a hex digit`, "ä": `column 1: 'ä' is not a hex digit`, "é12": `column 1: 'é' is not a hex digit`,
	} {
		if _, err := HexLine(line); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

func FuzzHexLine(f *testing.F) {
	for _, s := range []string{"", "12 34", "1 234\t", "\ufeff0a", "zz", "1", "12 3", "a\u0660"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := HexLine(line)
		want, wrong := plainHexLine(line)
		if wrong != (err != nil) || !bytes.Equal(got, want) {
			t.Errorf("%q: % x, %v, want % x", line, got, err, want)
		}
	})
}
