package collab

import (
	"slices"
	"strings"

	"wirebench/defs/text"
)

// Between returns a change that makes one text the other. Lines that are equal stay; of a line that differs its start and end stay, so that
// changes of others in the same line can be merged. Several lines are replaced as a whole by another number of lines, so that lines that others
// insert between them stay whole.
func Between(before, after Text) Change {
	a, b := strings.SplitAfter(before.String(), "\n"), strings.SplitAfter(after.String(), "\n")
	var out Change
	var old, now []string // lines of the present difference
	flush := func() {
		if len(old) == len(now) {
			for i := range old {
				out = out.replace(NewText(old[i]), NewText(now[i]))
			}
		} else {
			out = out.replace(NewText(strings.Join(old, "")), NewText(strings.Join(now, "")))
		}
		old, now = old[:0], now[:0]
	}
	for _, e := range text.Diff(a, b) {
		switch {
		case e.Old == 0:
			now = append(now, b[e.New-1])
		case e.New == 0:
			old = append(old, a[e.Old-1])
		default:
			flush()
			out = out.add(Span{Len: len(NewText(a[e.Old-1])), Keep: true}, false)
		}
	}
	flush()
	return out
}

// replace appends the replacement of one text by another. Their common start and end stay.
func (c Change) replace(before, after Text) Change {
	start, end := 0, 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	if splits(before, start) || splits(after, start) {
		start--
	}
	for end < len(before)-start && end < len(after)-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	if splits(before, len(before)-end) || splits(after, len(after)-end) {
		end--
	}
	if slices.Contains(before[start:len(before)-end], '\n') {
		for !beginsLine(before, start) {
			start--
		}
		for end > 0 && !(beginsLine(before, len(before)-end) && beginsLine(after, len(after)-end)) {
			end--
		}
	}
	c = c.add(Span{Len: start, Keep: true}, false)
	c = c.add(Span{Len: len(before) - start - end, Text: after[start : len(after)-end]}, false)
	return c.add(Span{Len: end, Keep: true}, false)
}

// beginsLine reports whether a line of a text begins at a unit.
func beginsLine(t Text, at int) bool { return at == 0 || t[at-1] == '\n' }
