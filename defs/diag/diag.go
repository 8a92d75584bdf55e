package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wirebench/defs/source"
)

// Severity is the severity of a diagnostic.
type Severity uint8

// The severities, most severe first.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// Diagnostic is an error or a warning about a definition.
type Diagnostic struct {
	Severity Severity
	Code     string // stable identifier: "unknown-type"
	Message  string
	Help     string      // suggested replacement; may be empty
	Span     source.Span // the smallest span that contains the error
	Related  []Related   // related places, such as the first use of a duplicate name
	Fix      *Fix        // an edit that repairs it; nil if none is certain enough
}

// Related is another place that helps to explain a Diagnostic.
type Related struct {
	Span    source.Span
	Message string
}

// Fix replaces the text of Span with Text.
type Fix struct {
	Span source.Span
	Text string
}

// String returns the one-line form: file:line:col: error: message [code].
func (d Diagnostic) String() string {
	pos, name := d.Span.Pos(), ""
	if d.Span.File != nil {
		name = d.Span.File.Name
	}
	return source.Visible(fmt.Sprintf("%s:%d:%d: %s: %s [%s]", name, pos.Line, pos.Column, d.Severity, d.Message, d.Code))
}

// List is the diagnostics of one or several files.
type List []Diagnostic

// Add appends a diagnostic.
func (l *List) Add(d Diagnostic) { *l = append(*l, d) }

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Of returns the diagnostics of one file, in the order of the list.
func (l List) Of(file *source.File) List {
	var out List
	for _, d := range l {
		if d.Span.File == file {
			out = append(out, d)
		}
	}
	return out
}

// Sort orders the list by file name, position and severity and removes duplicates, so that output is deterministic.
func (l *List) Sort() {
	name := func(d Diagnostic) string {
		if d.Span.File == nil {
			return ""
		}
		return d.Span.File.Name
	}
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		return cmp.Or(strings.Compare(name(a), name(b)), cmp.Compare(a.Span.Start, b.Span.Start),
			cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Code, b.Code))
	})
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool {
		return a.Span == b.Span && a.Code == b.Code && a.Message == b.Message
	})
}

// Render returns each diagnostic with its line of the definition, the span marked below it, and the help:
//
//	C_CHAT.1.def:2:3: error: unknown type "in32" [unknown-type]
//	  2 | - in32 id
//	    |   ^~~~
//	    help: did you mean "int32"?
func (l List) Render() string {
	var b strings.Builder
	for _, d := range l {
		b.WriteString(d.String())
		b.WriteByte('\n')
		snippet(&b, d.Span, '~')
		if d.Help != "" {
			fmt.Fprintf(&b, "    help: %s\n", d.Help)
		}
		for _, r := range d.Related {
			if r.Span.File != nil {
				fmt.Fprintf(&b, "    %s:%d: %s\n", r.Span.File.Name, r.Span.Pos().Line, r.Message)
			} else {
				fmt.Fprintf(&b, "    %s\n", r.Message)
			}
		}
	}
	return b.String()
}

// snippet writes the line of the start of the span, and a line that marks the span.
func snippet(b *strings.Builder, s source.Span, mark byte) {
	if s.File == nil {
		return
	}
	pos := s.Pos()
	line := s.File.Line(pos.Line)
	text := strings.TrimPrefix(line.Text(), "\ufeff")
	before := strings.TrimPrefix(s.File.Text[line.Start:min(s.Start, line.End)], "\ufeff")
	number := fmt.Sprint(pos.Line)
	fmt.Fprintf(b, "  %s | %s\n", number, printable(text))
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return '\t'
		}
		return ' '
	}, before)
	width := 1
	if end := min(s.End, line.End); end > s.Start {
		width = max(1, len([]rune(s.File.Text[s.Start:end])))
	}
	fmt.Fprintf(b, "  %s | %s^%s\n", strings.Repeat(" ", len(number)), pad, strings.Repeat(string(mark), width-1))
}

// printable replaces control characters other than tab, so that a definition cannot send escape sequences to a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
			return '\ufffd'
		}
		return r
	}, text)
}
