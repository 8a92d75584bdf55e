package subspace

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// The limits of a definition. The wiki's page has some 150 lines; the largest packet has 87 rows.
const (
	maxRows     = 4096    // rows of a packet
	maxSize     = 1 << 16 // minimum size of a packet in bytes
	maxMistakes = 200     // diagnostics of parsing one file
	maxVariants = 200     // parts of a packet that depend on its size or on a value
)

// tree is the parse tree of one file, with all lines, comments and errors. It is immutable after parseTree.
type tree struct {
	file  *source.File
	lines []line // lines[i] is line i+1
	diags diag.List
	cut   bool // the file has more than text.MaxLines lines
}

// line is one line of a file.
type line struct {
	kind    lineKind
	span    source.Span // without surrounding white space
	code    source.Span // titleLine: "0x03", or zero
	name    source.Span // titleLine: the words before a parenthesis
	remark  source.Span // titleLine: the part after the name, or zero
	offset  source.Span // rowLine
	size    source.Span
	rest    source.Span // rowLine: the part after the size, without the comment
	word    source.Span // directiveLine: the value
	comment source.Span // including "#", or zero
	says    saying      // sentenceLine
	bad     bool        // titleLine: it has an error, but starts a packet
}

// lineKind is the kind of a line.
type lineKind uint8

const (
	blankLine lineKind = iota
	commentLine
	titleLine
	headerLine // offset size comment
	rowLine
	directionLine // direction s2c, or s2c alone
	groupLine
	sentenceLine // a supported sentence
	docLine      // text directly below a table
	proseLine    // text of the page
	badLine      // malformed, and ignored
)

// belongs reports whether text directly below the line belongs to its packet.
func (k lineKind) belongs() bool {
	switch k {
	case titleLine, headerLine, rowLine, sentenceLine, docLine, badLine:
		return true
	}
	return false
}

// commentText returns the text of a comment without "#", for display.
func commentText(comment source.Span) string {
	return plain(strings.TrimPrefix(comment.Text(), "#"))
}

// plain returns text for display: with single spaces, and without control characters and invalid UTF-8.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, s)
}
