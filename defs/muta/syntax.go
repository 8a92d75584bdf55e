package muta

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The bounds of a definition.
const (
	maxMistakes = 100 // diagnostics of reading a file, and of its meaning
)

// tree is one file as it is written, line by line, comments and mistakes kept. It is immutable after parseTree.
type tree struct {
	file    *source.File
	lines   []line // lines[i] is line i+1
	records []record
	diags   diag.List
	cut     bool // the file has more than text.MaxLines lines
}

// line is one line of a file.
type line struct {
	kind     lineKind
	indented bool        // white space stands before it, and it is inside a record
	span     source.Span // without white space around it
	key      source.Span // attrLine; headerLine: the word before ":"
	value    source.Span // what follows "=" or ":", perhaps empty
	comment  source.Span // behind the value, which is a mistake; or no place
	field    fieldExpr   // attrLine of a field: its value
	readable bool        // field could be read
}

// lineKind says what a line is.
type lineKind uint8

const (
	blankLine lineKind = iota
	commentLine
	headerLine
	attrLine
	badLine // cannot be read: costs this one line
)

// record is a header and the lines below it.
type record struct {
	kind   recordKind
	name   source.Span
	key    string // the name, with "_" for what cannot stand in a name
	line   int    // index of the header in lines, which may be a badLine
	attrs  []int  // indices of its attrLines in lines
	broken bool   // one of its lines has an error
}

// fieldExpr is the value of a field: a type, and what may follow it.
type fieldExpr struct {
	typ      source.Span
	ranges   source.Span // "[lo, hi]", or no place
	lo, hi   source.Span
	length   source.Span // the word in "<>", or no place
	limits   source.Span // "{min, max}", or no place
	min, max source.Span // min is no place if it is left out
}

// isArray reports whether there are limits of a number of elements.
func (e *fieldExpr) isArray() bool { return !e.limits.IsZero() }

// text is the value in its canonical form.
func (e *fieldExpr) text() string {
	var b strings.Builder
	b.WriteString(e.typ.Text())
	if !e.ranges.IsZero() {
		b.WriteString(" [" + e.lo.Text() + ", " + e.hi.Text() + "]")
	}
	if !e.length.IsZero() {
		b.WriteString(" <" + e.length.Text() + ">")
	}
	if e.isArray() {
		b.WriteString(" {")
		if !e.min.IsZero() {
			b.WriteString(e.min.Text() + ", ")
		}
		b.WriteString(e.max.Text() + "}")
	}
	return b.String()
}

// doc is the comment that goes with line i: the comment lines directly above it, for a header those that are not indented.
func (t *tree) doc(i int) string {
	first := t.docStart(i)
	if first == i {
		return ""
	}
	lines := make([]string, 0, i-first)
	for _, ln := range t.lines[first:i] {
		words := ln.span.Text()[1:]
		start, end := space.Trim(words)
		lines = append(lines, text.Printable(words[start:end]))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// docStart is the index of the first line of the comment that goes with line i, or i.
func (t *tree) docStart(i int) int {
	first := i
	for first > 0 && t.lines[first-1].kind == commentLine && (t.lines[i].kind != headerLine || !t.lines[first-1].indented) {
		first--
	}
	return first
}

// space is white space: none outside of ASCII.
var space text.Space
