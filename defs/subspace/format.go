package subspace

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Format returns a definition in canonical form. It preserves the meaning, the order of lines and all comments, and is idempotent. The
// diagnostics are those of malformed lines, which are unchanged.
//
// Offsets, sizes and comments are aligned with "offset size comment", types of packets have the form 0x0E, lines of tables have single
// spaces and no indentation. The text of a page keeps its indentation. Lines end with "\n", there is no byte order mark, and there are no
// consecutive empty lines.
//
// A file with more lines than a definition may have is returned unchanged.
func Format(f *source.File) (string, diag.List) {
	t := parseTree(f)
	if t.cut {
		return f.Text, t.diags
	}
	var b strings.Builder
	empty := false
	for i := range t.lines {
		ln := &t.lines[i]
		if ln.kind == blankLine {
			empty = b.Len() > 0
			continue
		}
		if empty {
			b.WriteByte('\n')
			empty = false
		}
		b.WriteString(ln.formatted(f, i+1))
		b.WriteByte('\n')
	}
	return b.String(), t.diags
}

// formatted returns line n of the result.
func (ln *line) formatted(f *source.File, n int) string {
	line := ""
	switch ln.kind {
	case titleLine:
		if code, ok := hexNumber(ln.code.Text()); ok {
			line = fmt.Sprintf("0x%02X", code)
		}
		line = join(line, words(ln.name), words(ln.remark))
	case headerLine:
		line = strings.ToLower(words(withoutComment(ln.span)))
	case rowLine:
		line = strings.TrimRight(fmt.Sprintf("%-6s %-4s %s", ln.offset.Text(), ln.size.Text(), words(ln.rest)), " ")
	case directionLine:
		line = directionWord + " " + strings.ToLower(ln.word.Text())
	case groupLine:
		line = groupWord + " " + ln.word.Text()
	case commentLine:
		return ln.comment.Text()
	case docLine, sentenceLine:
		return ln.span.Text()
	default: // text of a page, and malformed lines
		whole := f.Line(n)
		before := strings.Map(func(r rune) rune {
			if r == '\ufeff' {
				return -1
			}
			return r
		}, f.Text[whole.Start:ln.span.Start])
		return before + ln.span.Text()
	}
	if formatted := join(line, ln.comment.Text()); len(formatted) <= text.MaxLine {
		return formatted
	}
	return ln.span.Text()
}

// words returns the text of a span, with single spaces.
func words(at source.Span) string { return strings.Join(strings.Fields(at.Text()), " ") }

// join joins the non-empty parts with spaces.
func join(parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, " ")
}
