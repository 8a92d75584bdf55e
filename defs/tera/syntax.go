package tera

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The bounds of a definition. The longest line of the public definitions has some 300 bytes, the longest file 150 lines, the
// deepest nesting is 3.
const (
	maxDepth    = 32 // dashes of a line, and types inside each other
	maxIncludes = 32 // @include lines followed for one definition
)

// tree is one file as it is written, line by line, comments and mistakes kept. It is immutable after parseTree.
type tree struct {
	file   *source.File
	lines  []line // lines[i] is line i+1
	diags  diag.List
	broken bool // diags has errors
	cut    bool // the file has more than text.MaxLines lines
	marked bool // uses something that only dialect P has
}

// line is one line of a file.
type line struct {
	kind     lineKind
	indented bool        // white space stands before it
	opens    bool        // bad only: looks like an array or object, so that deeper lines after it belong to it
	depth    int         // number of dashes
	span     source.Span // without indentation, trailing white space and line break
	typ      typeExpr    // fieldLine, refLine, countLine
	name     source.Span // likewise; includeLine: the file
	key      string      // the name, with "_" for what cannot stand in a name
	odd      bool        // key is not the name as it is written, which was reported
	value    source.Span // the default after "=", or no place
	versions source.Span // "^from-to", or no place
	from, to int         // the patches of it: from <= patch < to
	comment  source.Span // from "#" on, or no place
}

// lineKind says what a line is.
type lineKind uint8

const (
	blankLine lineKind = iota
	commentLine
	fieldLine
	refLine   // ref or, the old word for it, offset
	countLine // an old word that means nothing beside offset
	includeLine
	badLine // cannot be read: costs this one line
)

// typeExpr is a type as it is written: a name, then "<elem>", then brackets.
type typeExpr struct {
	span     source.Span
	name     source.Span
	elem     *typeExpr
	subtype  source.Span   // from "<" to ">", or no place
	brackets source.Span   // from the first "[" to the last "]", or no place
	sizes    []source.Span // the numbers in brackets, from left to right
	flags    []source.Span // the words in brackets
}

// text is the type without needless white space.
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

// doc is the comment that goes with line i: the one at its end, and the indented comments directly below it.
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

// goesOn reports whether a line is a comment that belongs to the line above.
func (ln *line) goesOn() bool { return ln.kind == commentLine && ln.indented }

// head is the comment at the head of the file: the first comment lines that stand together before anything else.
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

// commentText is what a comment says, without "#", ready to be shown.
func commentText(comment source.Span) string {
	words := comment.Text()
	if words == "" {
		return ""
	}
	words = words[1:]
	start, end := space.Trim(words)
	return text.Printable(words[start:end])
}
