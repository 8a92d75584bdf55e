package muta

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The limits of a definition.
const (
	maxMistakes = 100 // diagnostics of parsing a file, and of lowering it
)

// tree is the parse tree of one file, with all lines, comments and errors. It is immutable after parseTree.
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
	indented bool        // starts with white space, and is inside a record
	span     source.Span // without surrounding white space
	key      source.Span // attrLine; headerLine: the word before ":"
	value    source.Span // the part after "=" or ":", possibly empty
	comment  source.Span // a comment after the value, which is an error; or zero
	field    fieldExpr   // attrLine of a field: its value
	readable bool        // field is valid
}

// lineKind is the kind of a line.
type lineKind uint8

const (
	blankLine lineKind = iota
	commentLine
	headerLine
	attrLine
	badLine // malformed, and ignored
)

// record is a header and the lines below it.
type record struct {
	kind   recordKind
	name   source.Span
	key    string // the name, with "_" in place of invalid characters
	line   int    // index of the header in lines, which may be a badLine
	attrs  []int  // indexes of its attrLines in lines
	broken bool   // one of its lines has an error
}

// fieldExpr is the value of a field: a type and its optional suffixes.
type fieldExpr struct {
	typ      source.Span
	ranges   source.Span // "[lo, hi]", of text "[encoding]", or zero
	lo, hi   source.Span // of text, hi is the encoding
	length   source.Span // the word in "<>", or zero
	limits   source.Span // "{min, max}", or zero
	min, max source.Span // min is zero if it is missing
}

// isArray reports whether the value has limits of a number of elements.
func (e *fieldExpr) isArray() bool { return !e.limits.IsZero() }

// encoded reports whether the value is text that names its encoding, or seems to: no constant has a hyphen.
func (e *fieldExpr) encoded() bool {
	p := findPrimitive(e.typ.Text())
	if p == nil || !p.char || e.ranges.IsZero() || !e.lo.IsZero() {
		return false
	}
	_, known := schema.CharsetNamed(e.hi.Text())
	return known || strings.Contains(e.hi.Text()[1:], "-")
}

// text returns the value in canonical form.
func (e *fieldExpr) text() string {
	var b strings.Builder
	b.WriteString(e.typ.Text())
	switch {
	case e.ranges.IsZero():
	case e.lo.IsZero():
		b.WriteString(" [" + e.hi.Text() + "]")
	default:
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

// doc returns the comment of line i: the comment lines directly above it, for a header those that are not indented.
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

// docStart returns the index of the first line of the comment of line i, or i.
func (t *tree) docStart(i int) int {
	first := i
	for first > 0 && t.lines[first-1].kind == commentLine && (t.lines[i].kind != headerLine || !t.lines[first-1].indented) {
		first--
	}
	return first
}

// space is white space: only ASCII.
var space text.Space
