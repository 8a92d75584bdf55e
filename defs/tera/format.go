package tera

import (
	"strings"
	"unicode/utf8"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Format returns a definition in canonical form. It preserves the meaning, the order of lines and all comments, and is idempotent. The
// diagnostics are those of malformed lines, which are unchanged.
//
// Dashes are separated by spaces. In a block of lines without an empty one, all names are in one column. Comments after consecutive fields
// are in one column too, as are the indented comments below a field, which belong to it; other comments start the line. Lines end with
// "\n", there is no byte order mark, and there are no consecutive empty lines.
//
// A file with more lines than a definition may have is returned unchanged.
func Format(f *source.File) (string, diag.List) {
	t := parseTree(f)
	if t.cut {
		return f.Text, t.diags
	}
	rows := t.rows()
	for _, align := range []bool{true, false} {
		layOut(rows, align)
		if text, ok := write(rows); ok {
			return text, t.diags
		}
	}
	return f.Text, t.diags
}

// row is one line of the result.
type row struct {
	kind    rowKind
	head    string // codeRow: dashes and type
	rest    string // codeRow: the part after the type
	comment string // including "#"; rawRow: the whole line
	code    string // head and rest, aligned
	column  int    // of the comment, in characters
	goesOn  bool   // a comment below it belongs to it
}

// rowKind is the kind of a row.
type rowKind uint8

const (
	emptyRow  rowKind = iota
	codeRow           // a field, ref, count or @include
	remarkRow         // a comment that starts the line
	belowRow          // an indented comment that belongs to the code above it
	rawRow            // a malformed line
)

// rows converts lines to rows, without redundant empty ones.
func (t *tree) rows() []row {
	rows := make([]row, 0, len(t.lines))
	before := emptyRow // kind of the previous row, which an indented comment may belong to
	for i := range t.lines {
		ln := &t.lines[i]
		r := row{comment: ln.comment.Text()}
		switch ln.kind {
		case blankLine:
			before = emptyRow
			continue
		case commentLine:
			r.kind = remarkRow
			if ln.indented && before == codeRow {
				r.kind = belowRow
				rows[len(rows)-1].goesOn = true
			} else if ln.indented && before == rawRow {
				r.kind, r.comment = rawRow, raw(t.file.Line(i+1))
			}
		case badLine:
			r.kind, r.comment = rawRow, raw(t.file.Line(i+1))
		case includeLine:
			r.kind, r.rest = codeRow, "@include "+ln.name.Text()
		case fieldLine, refLine, countLine:
			r.kind, r.head, r.rest = codeRow, strings.Repeat("- ", ln.depth)+ln.typ.text(), ln.name.Text()
			if !ln.value.IsZero() {
				r.rest += "=" + ln.value.Text()
			}
			if !ln.versions.IsZero() {
				r.rest += " " + ln.versions.Text()
			}
		}
		if len(rows) > 0 && t.lines[i-1].kind == blankLine {
			rows = append(rows, row{})
		}
		if r.kind != belowRow {
			before = r.kind
		}
		rows = append(rows, r)
	}
	return rows
}

// raw returns a line unchanged, except for leading and trailing characters that are not canonical.
func raw(line source.Span) string {
	words := line.Text()
	_, end := space.Trim(words)
	return strings.TrimLeft(words[:end], text.BOM)
}

// layOut sets the code of every row and the column of its comment.
func layOut(rows []row, align bool) {
	for len(rows) > 0 {
		block := 0
		for block < len(rows) && rows[block].kind != emptyRow {
			block++
		}
		layOutBlock(rows[:block], align)
		rows = rows[min(block+1, len(rows)):]
	}
}

// layOutBlock aligns the rows of a block.
func layOutBlock(rows []row, align bool) {
	width := 0
	if align {
		for i := range rows {
			width = max(width, utf8.RuneCountInString(rows[i].head))
		}
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case r.kind != codeRow:
		case r.head == "":
			r.code = r.rest
		default:
			r.code = r.head + spaces(max(width-utf8.RuneCountInString(r.head), 0)+1) + r.rest
		}
	}
	for len(rows) > 0 {
		run, column := 0, 0
		for run < len(rows) && (rows[run].kind == belowRow || rows[run].kind == codeRow && (rows[run].comment != "" || rows[run].goesOn)) {
			column = max(column, utf8.RuneCountInString(rows[run].code)+1)
			run++
		}
		for i := range rows[:run] {
			rows[i].column = column
			if !align && rows[i].kind == codeRow {
				rows[i].column = utf8.RuneCountInString(rows[i].code) + 1
			}
		}
		rows = rows[max(run, 1):]
	}
}

// write returns the text. It fails if a line exceeds the limit.
func write(rows []row) (words string, ok bool) {
	var b strings.Builder
	for i := range rows {
		r := &rows[i]
		start := b.Len()
		switch {
		case r.kind == belowRow:
			b.WriteString(spaces(r.column))
			start = b.Len()
		case r.kind == codeRow && r.comment != "":
			b.WriteString(r.code)
			b.WriteString(spaces(r.column - utf8.RuneCountInString(r.code)))
		default:
			b.WriteString(r.code)
		}
		b.WriteString(r.comment)
		if r.kind != rawRow && b.Len()-start > text.MaxLine {
			return "", false
		}
		b.WriteByte('\n')
	}
	return b.String(), true
}

// spaces returns n spaces, none if n is negative.
func spaces(n int) string {
	const some = "                                                                "
	if n <= len(some) {
		return some[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}
