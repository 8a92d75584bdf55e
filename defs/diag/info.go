package diag

// Info is a Diagnostic in JSON. Lines and columns are 1-based, columns in Unicode characters.
type Info struct {
	File      string   `json:"file,omitempty"`
	Line      int      `json:"line"`
	Column    int      `json:"column"`
	EndLine   int      `json:"end_line"`
	EndColumn int      `json:"end_column" doc:"exclusive"`
	Severity  string   `json:"severity" enum:"error,warning"`
	Code      string   `json:"code"`
	Message   string   `json:"message"`
	Help      string   `json:"help,omitempty" doc:"suggested replacement"`
	Fix       *FixInfo `json:"fix,omitempty" doc:"an edit of the same file that repairs it, if one is certain enough"`
}

// FixInfo is a Fix in JSON, with positions as in Info.
type FixInfo struct {
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column" doc:"exclusive"`
	Text      string `json:"text" doc:"replacement of the range; empty to remove it"`
}

// Info returns the diagnostic in JSON form.
func (d Diagnostic) Info() Info {
	out := Info{Severity: d.Severity.String(), Code: d.Code, Message: d.Message, Help: d.Help}
	if f := d.Span.File; f != nil {
		from, to := f.Position(d.Span.Start), f.Position(d.Span.End)
		out.File, out.Line, out.Column, out.EndLine, out.EndColumn = f.Name, from.Line, from.Column, to.Line, to.Column
	}
	if d.Fix != nil && d.Fix.Span.File != nil && d.Fix.Span.File == d.Span.File {
		f := d.Fix.Span.File
		from, to := f.Position(d.Fix.Span.Start), f.Position(d.Fix.Span.End)
		out.Fix = &FixInfo{Line: from.Line, Column: from.Column, EndLine: to.Line, EndColumn: to.Column, Text: d.Fix.Text}
	}
	return out
}
