package tera

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The limits of a definition. In the public definitions the longest line has some 300 bytes, the longest file 150 lines, and the deepest
// nesting is 3.
const (
	maxDepth    = 32 // dashes of a line, and nesting depth of types
	maxIncludes = 32 // @include lines expanded for one definition
)

// tree is the parse tree of one file, with all lines, comments and errors. It is immutable after parseTree.
type tree struct {
	file   *source.File
	lines  []line // lines[i] is line i+1
	diags  diag.List
	broken bool // diags has errors
	cut    bool // the file has more than text.MaxLines lines
}

// line is one line of a file.
type line struct {
	kind     lineKind
	indented bool        // starts with white space
	opens    bool        // badLine: looks like an array or object, so that deeper lines after it belong to it
	depth    int         // number of dashes
	span     source.Span // without indentation, trailing white space and line break
	typ      typeExpr    // fieldLine, refLine, countLine
	name     source.Span // fieldLine, refLine, countLine; includeLine: the file
	key      string      // the name, with "_" in place of invalid characters
	odd      bool        // key differs from the name, which was reported as invalid
	value    source.Span // the default after "=", or zero
	versions source.Span // "^from-to", or zero
	from, to int         // range of versions: from <= patch < to
	comment  source.Span // including "#", or zero
}

// lineKind is the kind of a line.
type lineKind uint8

const (
	blankLine lineKind = iota
	commentLine
	fieldLine
	refLine   // ref, or the obsolete offset
	countLine // obsolete, without effect beside offset
	includeLine
	badLine // malformed, and ignored
)

// typeExpr is a type as written: a name, then "<elem>", then brackets.
type typeExpr struct {
	span     source.Span
	name     source.Span
	elem     *typeExpr
	subtype  source.Span   // from "<" to ">", or zero
	brackets source.Span   // from the first "[" to the last "]", or zero
	sizes    []source.Span // the numbers in brackets, from left to right
	flags    []source.Span // the words in brackets
}

// text returns the type without redundant white space.
func (t *typeExpr) text() string {
	if t.elem == nil && t.brackets.IsZero() {
		return t.name.Text()
	}
	if raw := t.span.Text(); oneWord(raw) {
		return raw
	}
	var b strings.Builder
	b.WriteString(t.name.Text())
	if t.elem != nil {
		b.WriteByte('<')
		b.WriteString(t.elem.text())
		b.WriteByte('>')
	}
	isSpace := func(r rune) bool { return space.Width(string(r)) > 0 }
	b.WriteString(strings.Join(strings.FieldsFunc(t.brackets.Text(), isSpace), ""))
	return b.String()
}

// doc returns the comment of line i: the one at its end, and the indented comments directly below it.
func (t *tree) doc(i int) string {
	first := commentText(t.lines[i].comment)
	i++
	if i == len(t.lines) || !t.lines[i].goesOn() {
		return first
	}
	lines := []string{first}
	for ; i < len(t.lines) && t.lines[i].goesOn(); i++ {
		lines = append(lines, commentText(t.lines[i].comment))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// goesOn reports whether a line is a comment that continues the comment of the line above.
func (ln *line) goesOn() bool { return ln.kind == commentLine && ln.indented }

// head returns the comment at the start of the file: the first block of comment lines.
func (t *tree) head() string {
	var doc []string
	for i := range t.lines {
		switch {
		case t.lines[i].kind == commentLine:
			doc = append(doc, commentText(t.lines[i].comment))
		case t.lines[i].kind != blankLine || doc != nil:
			return strings.Join(doc, "\n")
		}
	}
	return strings.Join(doc, "\n")
}

// commentText returns the text of a comment without "#", for display.
func commentText(comment source.Span) string {
	words := comment.Text()
	if words == "" {
		return ""
	}
	words = words[1:]
	start, end := space.Trim(words)
	return text.Printable(words[start:end])
}
