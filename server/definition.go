package server

import (
	"fmt"
	"slices"
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
		d.edited = true
		d.snap, d.file = ws.With(ws.fileName(name), text)
		d.message = d.same(ws, name, m)
	}
	d.diagnostics = []diag.Info{}
	for _, x := range d.snap.DiagnosticsOf(d.file) {
		d.diagnostics = append(d.diagnostics, x.Info())
	}
	d.compile()
	return d, nil
}

// same is the message of an edited text that is meant by the name of a stored one: that of the name, or the one in its place, as
// names are edited like everything else.
func (d *definition) same(ws *space, name string, stored *schema.Message) *schema.Message {
	all := d.messages()
	if len(all) == 0 {
		return nil
	}
	if m, err := d.snap.Find(name); err == nil && m.Span.File == d.file {
		return m
	}
	if stored != nil {
		if i := slices.Index(ws.Beside(stored), stored); i >= 0 && i < len(all) {
			return all[i]
		}
	}
	return all[0]
}

// messages are all of the text.
func (d *definition) messages() []*schema.Message {
	return d.snap.MessagesOf(d.file)
}

// compile makes the program of the message.
func (d *definition) compile() {
	d.program = nil
	if d.message == nil {
		return
	}
	var err error
	if d.program, err = d.snap.Program(d.message); err != nil {
		d.diagnostics = append(d.diagnostics, tooLarge(d.message, err).Info())
	}
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
	message = strings.TrimSuffix(message, ".def")
	if message == "" || len(message) > longest {
		message = "UNSAVED"
	}
	return ws.firstVersion(message) + ".def"
}

// firstVersion is the name of a message that is new: with a version, where the dialect has them.
func (ws *space) firstVersion(message string) string {
	if ws.Dialect.Versions && !strings.Contains(message, ".") {
		return message + ".1"
	}
	return message
}
