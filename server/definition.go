package server

import (
	"fmt"
	"strings"

	"wirebench/codec"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/workspace"
)

// definition is the text that a request is about, in the library in which it counts: the stored one, or that with unsaved text in
// the place of a file.
type definition struct {
	snap        *workspace.Snapshot
	file        *source.File
	message     *schema.Message // nil if the text defines none
	program     *codec.Program  // nil without message, and if that is more than a program can hold
	diagnostics []diag.Info     // of the file
	edited      bool            // the text is not the stored one
}

// open finds the stored definition of a message, or reads text as if it were stored in that place.
func (ws *space) open(name, text string) (*definition, error) {
	d := &definition{snap: ws.Snapshot}
	m, err := ws.Find(name)
	switch {
	case text == "":
		if err != nil {
			return nil, err
		}
		d.message, d.file = m, m.Span.File
	case err == nil && text == m.Span.File.Text:
		d.message, d.file = m, m.Span.File
	case len(text) > maxDefinition:
		return nil, fmt.Errorf("a definition of more than %d bytes", maxDefinition)
	default:
		d.edited, d.file = true, source.New(ws.fileName(name), text)
		if d.snap, d.message, err = ws.With(d.file); err != nil {
			return nil, err
		}
		if named, err := d.snap.Find(name); err == nil && named.Span.File == d.file { // one of several in the file
			d.message = named
		}
	}
	d.diagnostics = []diag.Info{}
	for _, x := range d.snap.Diagnostics.Of(d.file) {
		d.diagnostics = append(d.diagnostics, x.Info())
	}
	if d.message != nil {
		if d.program, err = d.snap.Program(d.message); err != nil {
			d.diagnostics = append(d.diagnostics, tooLarge(d.message, err).Info())
		}
	}
	return d, nil
}

// tooLarge is the mistake of a definition that cannot be compiled.
func tooLarge(m *schema.Message, err error) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: "too-large", Message: err.Error(), Span: m.Span}
}

// fileName is the name under which the text of a message would be stored.
func (ws *space) fileName(message string) string {
	if m, err := ws.Find(message); err == nil {
		return m.Span.File.Name
	}
	const longest = 200
	name, version, found := strings.Cut(strings.TrimSuffix(message, ".def"), ".")
	if name == "" || len(message) > longest {
		name = "UNSAVED"
	}
	if !found || len(message) > longest {
		version = "1"
	}
	return name + "." + version + ".def"
}
