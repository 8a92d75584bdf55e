package diag

// Info is a Diagnostic as other programs get it. Lines and columns are 1-based, columns in Unicode characters.
type Info struct {
	File      string `json:"file,omitempty"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column" doc:"first column after it"`
	Severity  string `json:"severity" enum:"error,warning"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Help      string `json:"help,omitempty" doc:"what to write instead"`
}

// Info describes the diagnostic.
func (d Diagnostic) Info() Info {
	out := Info{Severity: d.Severity.String(), Code: d.Code, Message: d.Message, Help: d.Help}
	if f := d.Span.File; f != nil {
		from, to := f.Position(d.Span.Start), f.Position(d.Span.End)
		out.File, out.Line, out.Column, out.EndLine, out.EndColumn = f.Name, from.Line, from.Column, to.Line, to.Column
	}
	return out
}
