package edit

import (
	"slices"
	"strings"
)

// byteOrderMark starts files of some programs. It is not shown, so it cannot be removed by typing.
const byteOrderMark = "\ufeff"

// mostMatched bounds the work of finding the lines of a text in another one: the product of the numbers of lines that differ.
const mostMatched = 1 << 22

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

// lineEnd returns the end of a line; without one, that of the line above.
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

// common returns for each line its index in the old lines, or -1: a longest common subsequence, unless the texts differ in very many lines.
func common(old, now []string) []int {
	at := slices.Repeat([]int{-1}, len(now))
	first := 0
	for first < len(old) && first < len(now) && old[first] == now[first] {
		at[first] = first
		first++
	}
	n, m := len(old), len(now)
	for n > first && m > first && old[n-1] == now[m-1] {
		n, m = n-1, m-1
		at[m] = n
	}
	rows, columns := n-first, m-first
	if rows == 0 || columns == 0 || rows*columns > mostMatched {
		return at
	}
	length := make([]int32, (rows+1)*(columns+1)) // of the common subsequence of the lines from there on
	cell := func(i, j int) *int32 { return &length[i*(columns+1)+j] }
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			if old[first+i] == now[first+j] {
				*cell(i, j) = *cell(i+1, j+1) + 1
			} else {
				*cell(i, j) = max(*cell(i+1, j), *cell(i, j+1))
			}
		}
	}
	for i, j := 0, 0; i < rows && j < columns; {
		switch {
		case old[first+i] == now[first+j]:
			at[first+j] = first + i
			i, j = i+1, j+1
		case *cell(i+1, j) >= *cell(i, j+1):
			i++
		default:
			j++
		}
	}
	return at
}
