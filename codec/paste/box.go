package paste

import (
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// Dumps in a drawn box: Netty, hexyl, WowPacketParser. A row is read as the row of a dump without a box.

// bars are the characters that part the columns of a box.
var bars = []string{"|", "│", "┃", "║", "┊", "┆"}

func barAt(s string) int {
	for _, bar := range bars {
		if strings.HasPrefix(s, bar) {
			return len(bar)
		}
	}
	return 0
}

// unbox returns a row of a box as a row with text between bars: "0000  41 42  |AB|". ok is false for other lines.
func unbox(s string) (row string, ok bool) {
	s = strings.TrimSpace(s)
	n := barAt(s)
	if n == 0 || len(s) < 8 || len(s) > maxDumpLine {
		return "", false
	}
	var out strings.Builder
	bytes, dotted := 0, false
	for s = s[n:]; ; s = s[n:] {
		end := strings.IndexAny(s, "|│┃║┊┆")
		if end < 0 {
			return strings.TrimLeft(out.String(), " "), bytes > 0
		}
		cell := strings.TrimSpace(s[:end])
		switch n := pairs(cell); {
		case out.Len() == 0 && len(cell) >= 4 && hexRun(cell, 0) == len(cell):
			out.WriteString(cell + " ")
		case n > 0 && (bytes == 0 || dotted), cell == "" && dotted:
			out.WriteString(" " + strings.Join(strings.Fields(cell), " "))
			bytes += n
		default:
			for _, bar := range bars {
				s = strings.TrimSuffix(s, bar)
			}
			return strings.TrimLeft(out.String()+"  |"+boxText(s, bytes)+"|", " "), bytes > 0
		}
		n = barAt(s[end:])
		dotted = strings.HasPrefix(s[end:], "┊") || strings.HasPrefix(s[end:], "┆")
		n += end
	}
}

// boxText returns the text of a row of so many bytes: each character may have a space after it, and each half a bar.
func boxText(text string, bytes int) string {
	text = strings.NewReplacer("┊", "", "┆", "").Replace(text)
	if wide := strings.TrimPrefix(text, " "); bytes > 1 && len(wide) >= 2*bytes-1 && len([]rune(wide)) == len(wide) {
		var halves [2][]byte
		for i := range len(wide) {
			halves[i%2] = append(halves[i%2], wide[i])
		}
		if strings.Trim(string(halves[1]), " ") == "" {
			text = string(halves[0])
		}
	}
	for n := len([]rune(text)); n > bytes && strings.HasSuffix(text, " "); n-- {
		text = text[:len(text)-1]
	}
	return text
}

// pairs returns the number of bytes in a cell of nothing but pairs of hex digits, else 0.
func pairs(cell string) int {
	words := strings.Fields(cell)
	if slices.ContainsFunc(words, func(w string) bool { return len(w) != 2 || hexRun(w, 0) != 2 }) {
		return 0
	}
	return len(words)
}

// isRule reports whether a line is drawn, without words.
func isRule(s string) bool {
	for _, r := range s {
		if r < 0x80 && scan.IsWord(byte(r)) && r != '_' || r >= 0x80 && (r < 0x2500 || r > 0x257f) {
			return false
		}
	}
	return true
}

// isHeading reports whether a line numbers the columns of a dump, "0 1 2 3 4 5 6 7", perhaps with words.
func isHeading(s string) bool {
	next, most, words := uint64(0), uint64(0), false
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '|' || r >= 0x2500 && r <= 0x257f }) {
		v, end := readNumber(f, 0, 16)
		switch {
		case end != len(f):
			words, next = true, 0
		case v == next, v == 0:
			words = words || len(f) == 1
			next = v + 1
			most = max(most, next)
		default:
			next = 0
		}
	}
	return most >= 8 && words
}
