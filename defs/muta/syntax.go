package muta

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// The bounds of a definition.
const (
	maxLines    = 1 << 16 // lines of a file
	maxLine     = 4096    // bytes of a line
	maxMistakes = 100     // diagnostics of reading a file, and of its meaning
)

// tree is one file as it is written, line by line, comments and mistakes kept. It is immutable after parseTree.
type tree struct {
	file    *source.File
	lines   []line // lines[i] is line i+1
	records []record
	diags   diag.List
	cut     bool // the file has more than maxLines lines
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
		text := ln.span.Text()[1:]
		start, end := trim(text)
		lines = append(lines, printable(text[start:end]))
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

// isBlank reports whether a byte is white space within a line.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// trim returns the bounds of s without white space around it.
func trim(s string) (start, end int) {
	end = len(s)
	for start < end && isBlank(s[start]) {
		start++
	}
	for end > start && isBlank(s[end-1]) {
		end--
	}
	return start, end
}

// trimmed is a span without white space around it.
func trimmed(s source.Span) source.Span {
	start, end := trim(s.Text())
	return s.Sub(start, end)
}

// isName reports whether s is a name: letters, digits and "_", no digit first.
func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// cleanName is s with "_" for what cannot stand in a name.
func cleanName(s string) string {
	if isName(s) {
		return s
	}
	out := []byte(s)
	for i, c := range out {
		if !isNameByte(c) {
			out[i] = '_'
		}
	}
	if len(out) == 0 || out[0] >= '0' && out[0] <= '9' {
		out = append([]byte{'_'}, out...)
	}
	return string(out)
}

// printable replaces bytes that are no text, and control characters, which have no business in a comment.
func printable(s string) string {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return strings.Map(func(r rune) rune {
				switch {
				case r == '\t':
					return ' '
				case r < 0x20, r >= 0x7f && r < 0xa0:
					return '\ufffd'
				}
				return r
			}, s)
		}
	}
	return s
}
