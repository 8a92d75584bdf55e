package subspace

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// The bounds of a definition. The wiki's page has some 150 lines; the largest packet has 87 rows.
const (
	maxRows     = 4096    // rows of a packet
	maxSize     = 1 << 16 // bytes that a packet has at least
	maxMistakes = 200     // diagnostics of reading one file
	maxVariants = 200     // parts of a packet that depend on its size or on a value
)

// tree is one file as it is written, line by line, comments and mistakes kept. It is immutable after parseTree.
type tree struct {
	file  *source.File
	lines []line // lines[i] is line i+1
	diags diag.List
	cut   bool // the file has more than text.MaxLines lines
}

// line is one line of a file.
type line struct {
	kind    lineKind
	span    source.Span // without white space around it
	code    source.Span // titleLine: "0x03", or no place
	name    source.Span // titleLine: the words before a parenthesis
	remark  source.Span // titleLine: what follows them, or no place
	offset  source.Span // rowLine
	size    source.Span
	rest    source.Span // rowLine: what follows the size, without the comment
	word    source.Span // directiveLine: what is set
	comment source.Span // from "#" on, or no place
	says    saying      // sentenceLine
	bad     bool        // titleLine: something is wrong with it, but the packet starts here
}

// lineKind says what a line is.
type lineKind uint8

const (
	blankLine lineKind = iota
	commentLine
	titleLine
	headerLine // offset size comment
	rowLine
	directionLine // direction s2c, or s2c alone
	groupLine
	sentenceLine // says something that is understood
	docLine      // text right below a table
	proseLine    // text of the page
	badLine      // cannot be read: costs this one line
)

// belongs reports whether text right below the line belongs to its packet.
func (k lineKind) belongs() bool {
	switch k {
	case titleLine, headerLine, rowLine, sentenceLine, docLine, badLine:
		return true
	}
	return false
}

// commentText is what a comment says, without "#", ready to be shown.
func commentText(comment source.Span) string {
	return plain(strings.TrimPrefix(comment.Text(), "#"))
}

// plain is text ready to be shown: with single spaces, and without control characters and bytes that are no text.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return '\ufffd'
		}
		return r
	}, s)
}
