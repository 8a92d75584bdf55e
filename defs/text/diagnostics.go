package text

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// Mistake is a diagnostic of something that makes a definition unusable or ambiguous.
func Mistake(code string, at source.Span, message, help string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Message: message, Help: help, Span: at}
}

// Doubt is a diagnostic of something that works but is probably not meant.
func Doubt(code string, at source.Span, message, help string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Message: message, Help: help, Span: at}
}

// Fixed offers an edit.
func Fixed(d diag.Diagnostic, at source.Span, with string) diag.Diagnostic {
	d.Fix = &diag.Fix{Span: at, Text: with}
	return d
}

// Near points to another place, if it is one.
func Near(d diag.Diagnostic, at source.Span, message string) diag.Diagnostic {
	if !at.IsZero() {
		d.Related = append(d.Related, diag.Related{Span: at, Message: message})
	}
	return d
}

// Quote puts a person's words in quotes, cut where they are too long for a message.
func Quote(s string) string { return `"` + Printable(Cut(s)) + `"` }

// Cut cuts words that are too long for a message.
func Cut(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// Printable replaces bytes that are no text, and control characters, which have no business in a comment.
func Printable(s string) string {
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

// The bounds of files of all languages.
const (
	MaxLines = 1 << 16 // lines of a file
	MaxLine  = 4096    // bytes of a line
)

// The codes of diagnostics that all languages have. They never change.
const (
	CodeControlCharacter = "control-character"
	CodeLineTooLong      = "line-too-long"
	CodeTooManyLines     = "too-many-lines"
	CodeTooManyMistakes  = "too-many-mistakes"
)

// Add adds a diagnostic to a list of at most so many, and says once that there are more.
func Add(l *diag.List, d diag.Diagnostic, most int) {
	switch {
	case len(*l) < most:
		l.Add(d)
	case len(*l) == most:
		l.Add(TooManyMistakes(d.Span))
	}
}

// TooManyMistakes says that there are more.
func TooManyMistakes(at source.Span) diag.Diagnostic {
	return Mistake(CodeTooManyMistakes, at, "too many mistakes", "the rest is not shown; is this a definition?")
}

// TooManyLines says that a file has more lines than are read.
func TooManyLines(at source.Span, most int) diag.Diagnostic {
	return Mistake(CodeTooManyLines, at, fmt.Sprintf("more than %d lines", most), "the rest is not read")
}

// LineTooLong is about a line of more than MaxLine bytes.
func LineTooLong(line source.Span) diag.Diagnostic {
	size := line.End - line.Start
	return Mistake(CodeLineTooLong, line.Sub(MaxLine, size), fmt.Sprintf("the line has %d bytes", size),
		fmt.Sprintf("a line holds at most %d bytes", MaxLine))
}

// ControlCharacter is about one that is not white space.
func ControlCharacter(at source.Span) diag.Diagnostic {
	return Fixed(Mistake(CodeControlCharacter, at, fmt.Sprintf("control character U+%04X", at.Text()[0]), "remove it"), at, "")
}
