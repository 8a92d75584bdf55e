package envelope

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Format returns an envelope in canonical form. It preserves the meaning, the order of lines and all comments, and is idempotent. The
// diagnostics are those of malformed lines, of which only the indentation changes.
//
// There is one space between words, none before ":" and ",", and two before a comment. Lines of a state are indented by two spaces, entries
// of a table by two more than their framing. An empty line precedes each state, and there are no consecutive empty lines.
//
// A text with more lines than one may have is returned unchanged.
func Format(f *source.File) (string, diag.List) {
	var diags diag.List
	lines := readLines(f, func(d diag.Diagnostic) { text.Add(&diags, d, maxMistakes) })
	if f.NumLines() > text.MaxLines {
		return f.Text, diags
	}
	var b strings.Builder
	empty := false
	for i := range lines {
		ln := &lines[i]
		words := ln.span.Text()
		if words == "" {
			empty = true
			continue
		}
		if len(ln.tokens) > 0 && ln.isState() && !precededByComment(lines, i) {
			empty = true
		}
		if len(ln.tokens) == 0 && leadsToState(lines, i) {
			empty = true
		}
		if empty && b.Len() > 0 {
			b.WriteByte('\n')
		}
		empty = false
		b.WriteString(strings.Repeat(indentation, level(lines, i)))
		if ln.bad {
			b.WriteString(words)
		} else {
			b.WriteString(ln.canonical())
		}
		b.WriteByte('\n')
	}
	return b.String(), diags
}

// canonical returns the words of a line and its comment.
func (ln *line) canonical() string {
	var b strings.Builder
	for i, t := range ln.tokens {
		if i > 0 && (!t.sign || t.text != ":" && t.text != ",") {
			b.WriteByte(' ')
		}
		b.WriteString(t.span.Text())
	}
	if !ln.comment.IsZero() {
		if len(ln.tokens) > 0 {
			b.WriteString("  ")
		}
		b.WriteString(ln.comment.Text())
	}
	if b.Len() > text.MaxLine {
		return ln.span.Text()
	}
	return b.String()
}

// level returns the levels of indentation of a line. A comment has that of the next line that is not one, if it is indented at all.
func level(lines []line, i int) int {
	ln := &lines[i]
	n := 0
	switch {
	case ln.bad:
		return min(ln.indent, 1)
	case len(ln.tokens) == 0:
		if ln.indent == 0 {
			return 0
		}
		for k := i + 1; k < len(lines); k++ {
			if len(lines[k].tokens) > 0 && !lines[k].bad {
				return max(level(lines, k), 1)
			}
		}
		return 1
	}
	if ln.inState {
		n++
	}
	if ln.table {
		n++
	}
	return n
}

// leadsToState reports whether a line is the first one of the comments right above a state.
func leadsToState(lines []line, i int) bool {
	if lines[i].indent > 0 || lines[i].bad || i > 0 && isComment(&lines[i-1]) {
		return false
	}
	for i++; i < len(lines) && isComment(&lines[i]); i++ {
	}
	return i < len(lines) && lines[i].isState()
}

// precededByComment reports whether comments are right above a line.
func precededByComment(lines []line, i int) bool { return i > 0 && isComment(&lines[i-1]) }

func isComment(ln *line) bool {
	return len(ln.tokens) == 0 && !ln.comment.IsZero() && ln.indent == 0
}
