package text

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// Mistake returns an error: it makes the definition unusable or ambiguous.
func Mistake(code string, at source.Span, message, help string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Message: message, Help: help, Span: at}
}

// Doubt returns a warning: the definition works but is probably not intended.
func Doubt(code string, at source.Span, message, help string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Message: message, Help: help, Span: at}
}

// Fixed returns d with an edit that repairs it.
func Fixed(d diag.Diagnostic, at source.Span, with string) diag.Diagnostic {
	d.Fix = &diag.Fix{Span: at, Text: with}
	return d
}

// Near returns d with a related place, unless that is the zero Span.
func Near(d diag.Diagnostic, at source.Span, message string) diag.Diagnostic {
	if !at.IsZero() {
		d.Related = append(d.Related, diag.Related{Span: at, Message: message})
	}
	return d
}

// Quote returns text of a definition in quotes for a message, truncated if it is too long.
func Quote(s string) string { return `"` + Printable(Cut(s)) + `"` }

// Cut truncates text that is too long for a message.
func Cut(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// Printable replaces control characters and invalid UTF-8.
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

// The limits of files in all languages.
const (
	MaxLines = 1 << 16 // lines of a file
	MaxLine  = 4096    // bytes of a line
)

// The codes of diagnostics that all languages share. They never change.
const (
	CodeControlCharacter = "control-character"
	CodeLineTooLong      = "line-too-long"
	CodeTooManyLines     = "too-many-lines"
	CodeTooManyMistakes  = "too-many-mistakes"
)

// Add adds a diagnostic to a list of at most that many, and TooManyMistakes in place of the first one beyond.
func Add(l *diag.List, d diag.Diagnostic, most int) {
	switch {
	case len(*l) < most:
		l.Add(d)
	case len(*l) == most:
		l.Add(TooManyMistakes(d.Span))
	}
}

// TooManyMistakes returns the diagnostic that the list of diagnostics is truncated.
func TooManyMistakes(at source.Span) diag.Diagnostic {
	return Mistake(CodeTooManyMistakes, at, "too many errors", "further errors are not shown; is this a definition?")
}

// TooManyLines returns the diagnostic of a file that exceeds the limit of lines.
func TooManyLines(at source.Span, most int) diag.Diagnostic {
	return Mistake(CodeTooManyLines, at, fmt.Sprintf("more than %d lines", most), "the rest is not read")
}

// LineTooLong returns the diagnostic of a line of more than MaxLine bytes.
func LineTooLong(line source.Span) diag.Diagnostic {
	size := line.End - line.Start
	return Mistake(CodeLineTooLong, line.Sub(MaxLine, size), fmt.Sprintf("the line has %d bytes", size),
		fmt.Sprintf("the limit is %d bytes", MaxLine))
}

// ControlCharacter returns the diagnostic of a control character that is not white space.
func ControlCharacter(at source.Span) diag.Diagnostic {
	return Fixed(Mistake(CodeControlCharacter, at, fmt.Sprintf("control character U+%04X", at.Text()[0]), "remove it"), at, "")
}
