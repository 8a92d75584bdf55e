package edit

import (
	"slices"
	"strings"

	"wirebench/defs/text"
)

// byteOrderMark starts files of some programs. It is not shown, so it cannot be removed by typing.
const byteOrderMark = "\ufeff"

// Restore returns a text that was edited where line ends are "\n" and bytes that are not UTF-8 are U+FFFD: lines that it shares with the
// text of before are as they were, a line that replaces another ends like it, a new one like the line above, and the byte order mark stays.
func Restore(before, now string) string {
	mark := ""
	if strings.HasPrefix(before, byteOrderMark) {
		mark, before, now = byteOrderMark, before[len(byteOrderMark):], strings.TrimPrefix(now, byteOrderMark)
	}
	old, lines := strings.SplitAfter(before, "\n"), strings.SplitAfter(now, "\n")
	at := common(shown(old), shown(lines))
	end := lineEnd(old[0], "\n")
	kept := map[int]bool{}
	for _, k := range at {
		kept[k] = true
	}
	var b strings.Builder
	b.WriteString(mark)
	next := 0 // index in the old lines
	for i, line := range lines {
		body := bare(line)
		if at[i] >= 0 {
			next = at[i]
			body = bare(old[next])
		}
		if next < len(old) && (at[i] >= 0 || !kept[next]) { // the same line, or one that is replaced
			end = lineEnd(old[next], end)
			next++
		}
		b.WriteString(body)
		if line != bare(line) {
			b.WriteString(end)
		}
	}
	return b.String()
}

// bare returns a line without its end.
func bare(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// lineEnd returns the end of a line, or of the line above if it has none.
func lineEnd(line, above string) string {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(line, "\n"):
		return "\n"
	}
	return above
}

// shown returns lines as they are edited.
func shown(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = string([]rune(bare(line)))
	}
	return out
}

// common returns for each line its index in the old lines, or -1.
func common(old, now []string) []int {
	at := slices.Repeat([]int{-1}, len(now))
	for _, e := range text.Diff(old, now) {
		if e.Old > 0 && e.New > 0 {
			at[e.New-1] = e.Old - 1
		}
	}
	return at
}
