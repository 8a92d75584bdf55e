// Package source holds the text of definitions and spans of it.
//
// A Span of text is counted in bytes; a range of a message is counted in bits (package codec). Lines and columns are computed on demand.
package source

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// File is the text of a definition file. It is immutable after New.
type File struct {
	Name  string // shown to users: path relative to the library, with slashes
	Text  string
	lines []int // byte offset of the start of each line
}

// New returns a File. Lines end with "\n" or "\r\n".
func New(name, text string) *File {
	f := &File{Name: name, Text: text, lines: make([]int, 1, 1+strings.Count(text, "\n"))}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	return f
}

// NumLines returns the number of lines; a text that ends with a line break has an empty last line.
func (f *File) NumLines() int { return len(f.lines) }

// Line returns line n (1-based) without its line break, as a Span.
func (f *File) Line(n int) Span {
	start, end := f.lines[n-1], len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	if end > start && f.Text[end-1] == '\r' {
		end--
	}
	return Span{File: f, Start: start, End: end}
}

// LineAt returns the line of an offset, without its line break.
func (f *File) LineAt(offset int) Span {
	return f.Line(sort.SearchInts(f.lines, min(max(offset, 0), len(f.Text))+1))
}

// Position is a line and a column.
type Position struct {
	Line   int // 1-based
	Column int // 1-based, in Unicode characters
}

// Position returns the line and column of a byte offset. An offset outside the text is clamped.
func (f *File) Position(offset int) Position {
	offset = min(max(offset, 0), len(f.Text))
	line := sort.SearchInts(f.lines, offset+1)
	return Position{Line: line, Column: 1 + utf8.RuneCountInString(f.Text[f.lines[line-1]:offset])}
}

// Span is a range of bytes in a definition. The zero Span means no position.
type Span struct {
	File  *File
	Start int // bytes from the start of the file, 0-based
	End   int // exclusive
}

// IsZero reports whether the span has no position.
func (s Span) IsZero() bool { return s.File == nil }

// Text returns the text of the span.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.Text[s.Start:s.End]
}

// Sub returns the part of s from byte i to byte j, relative to its start.
func (s Span) Sub(i, j int) Span { return Span{File: s.File, Start: s.Start + i, End: s.Start + j} }

// Pos returns the position of the span's start, or the zero Position for the zero Span.
func (s Span) Pos() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(s.Start)
}

// UnixLines converts line ends to "\n": browsers submit forms, and Windows stores files, with CR LF.
func UnixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
