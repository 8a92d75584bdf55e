package muta

import (
	"strings"
	"unicode/utf8"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// indent precedes all lines of a record except its header.
const indent = "   "

// maxColumn is the length of the longest key that others are aligned with, in characters.
const maxColumn = 40

// Format returns a definition in canonical form. It preserves the meaning, the order of lines and all comments, and is idempotent. The
// diagnostics are those of malformed lines, which are unchanged.
//
// Headers start the line, after an empty line; all other lines of a record are indented by three spaces. In a block of lines without an
// empty one, all "=" are in one column. Comments stay with the record or field that they describe. Lines end with "\n", there is no byte
// order mark, and there are no consecutive empty lines.
//
// A file with more lines than a definition may have is returned unchanged.
func Format(f *source.File) (string, diag.List) {
	t := parseTree(f)
	if t.cut {
		return f.Text, t.diags
	}
	w := formatter{tree: t}
	for i := range t.lines {
		w.line(i)
	}
	return w.b.String(), t.diags
}

// formatter writes the lines of a tree.
type formatter struct {
	tree   *tree
	b      strings.Builder
	empty  bool // an empty line is due before the next one
	column int  // of the "=" in this block
	until  int  // index of the first line after this block
	next   int  // index of the first line after these comments
	doc    int  // index of the first comment that belongs to it
	inside bool // of a record
	last   recordKind
	record int // index of the next record
}

// text writes one line.
func (w *formatter) text(parts ...string) {
	if w.empty && w.b.Len() > 0 {
		w.b.WriteByte('\n')
	}
	w.empty = false
	for _, s := range parts {
		w.b.WriteString(s)
	}
	w.b.WriteByte('\n')
}

// line writes line i.
func (w *formatter) line(i int) {
	ln := &w.tree.lines[i]
	words := ln.span.Text()
	switch ln.kind {
	case blankLine:
		w.empty = true
	case commentLine:
		w.comment(i)
	case headerLine:
		kind := w.tree.records[w.record].kind
		w.record++
		if w.tree.docStart(i) == i { // otherwise it precedes the comment
			w.beforeHeader(kind)
		}
		w.inside, w.last = true, kind
		header := ln.key.Text() + ":"
		for _, part := range []string{ln.value.Text(), ln.comment.Text()} {
			if part != "" {
				header += " " + part
			}
		}
		if len(header) > text.MaxLine {
			header = words
		}
		w.text(header)
	case attrLine:
		w.attr(i)
	case badLine:
		if w.record < len(w.tree.records) && w.tree.records[w.record].line == i {
			w.inside, w.last = true, w.tree.records[w.record].kind
			w.record++
		}
		if ln.indented {
			w.text(indent, words)
		} else {
			w.text(words)
		}
	}
}

// beforeHeader adds an empty line before a header, except within a list of includes.
func (w *formatter) beforeHeader(kind recordKind) {
	if w.inside && (kind != includeRecord || w.last != includeRecord) {
		w.empty = true
	}
}

// comment writes a comment: inside a record it is indented if it was, or if a line of the record follows.
func (w *formatter) comment(i int) {
	ln := &w.tree.lines[i]
	if i >= w.next {
		for w.next = i; w.next < len(w.tree.lines) && w.tree.lines[w.next].kind == commentLine; {
			w.next++
		}
		if w.next < len(w.tree.lines) {
			w.doc = w.tree.docStart(w.next)
		}
	}
	before := ""
	if w.next < len(w.tree.lines) {
		switch n := &w.tree.lines[w.next]; {
		case n.kind == headerLine && i >= w.doc:
			if i == w.doc {
				w.beforeHeader(w.tree.records[w.record].kind)
			}
			w.text(ln.span.Text())
			return
		case n.kind == attrLine:
			before = indent
		}
	}
	if ln.indented {
		before = indent
	}
	w.text(before, ln.span.Text())
}

// attr writes a line "key = value".
func (w *formatter) attr(i int) {
	if i >= w.until {
		w.block(i)
	}
	ln := &w.tree.lines[i]
	key, value := ln.key.Text(), ln.value.Text()
	if ln.readable {
		value = ln.field.text()
	}
	short := key + " ="
	for _, part := range []string{value, ln.comment.Text()} {
		if part != "" {
			short += " " + part
		}
	}
	pad := max(w.column-utf8.RuneCountInString(key), 0)
	switch {
	case len(short)+pad <= text.MaxLine:
		w.text(indent, key, strings.Repeat(" ", pad), short[len(key):])
	case len(short) <= text.MaxLine:
		w.text(indent, short)
	default:
		w.text(indent, ln.span.Text())
	}
}

// block computes the column of the lines from i to the next empty line or header.
func (w *formatter) block(i int) {
	w.column = 0
	for w.until = i; w.until < len(w.tree.lines); w.until++ {
		ln := &w.tree.lines[w.until]
		if ln.kind == blankLine || ln.kind == headerLine {
			return
		}
		if width := utf8.RuneCountInString(ln.key.Text()); ln.kind == attrLine && width <= maxColumn {
			w.column = max(w.column, width)
		}
	}
}
