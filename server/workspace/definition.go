package workspace

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/edit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// MaxDefinition is the maximum size of an unsaved definition in bytes.
const MaxDefinition = 4 << 20

// Definition is the definition that a request is about, in its library: the stored text, or an unsaved text in its place. It is immutable and safe for concurrent use.
type Definition struct {
	Snap        *Snapshot
	File        *source.File
	Message     *schema.Message // nil if the text defines none
	Program     *codec.Program  // nil without a message, and if the message is too large for a program
	Diagnostics []diag.Info     // of the file
	Edited      bool            // the text differs from the stored one

	searches searches
}

// Open returns the stored definition of a message, or parses text as if it were stored in its place.
func (s *Snapshot) Open(name, text string) (*Definition, error) {
	if IsEnvelope(name) {
		return s.openEnvelope(name, text)
	}
	d := &Definition{Snap: s}
	m, err := s.Find(name)
	switch {
	case text == "":
		if err != nil {
			return nil, err
		}
		d.Message, d.File = m, m.Span.File
	case err == nil && text == m.Span.File.Text:
		d.Message, d.File = m, m.Span.File
	case len(text) > MaxDefinition:
		return nil, fmt.Errorf("a definition of more than %d bytes", MaxDefinition)
	default:
		d.Edited = true
		d.Snap, d.File = s.With(s.FileName(name), text)
		d.Message = d.same(s, name, m)
	}
	d.compile()
	return d, nil
}

// OpenFile returns a text as if it were stored in a file, with the first of its messages. Code maps and envelopes have none.
func (s *Snapshot) OpenFile(file, text string) *Definition {
	d := &Definition{Snap: s, File: source.New(file, text), Edited: true, Diagnostics: []diag.Info{}}
	var list diag.List
	switch {
	case IsEnvelope(file):
		list = s.CheckEnvelope(d.File)
	case defs.IsCodeMap(file):
		_, list = defs.ParseCodeMap(d.File)
	case defs.IsValidity(file):
		_, list = defs.ParseValidity([]*source.File{d.File})
	default:
		d.Snap, d.File = s.With(file, text)
		if all := d.Messages(); len(all) > 0 {
			d.Message = all[0]
		}
		d.compile()
	}
	for _, x := range list {
		d.Diagnostics = append(d.Diagnostics, x.Info())
	}
	return d
}

// same returns the message of an edited text that corresponds to a stored one: the one with its name, or the one at its position, since
// names may be edited.
func (d *Definition) same(in *Snapshot, name string, stored *schema.Message) *schema.Message {
	all := d.Messages()
	if len(all) == 0 {
		return nil
	}
	if m, err := d.Snap.Find(name); err == nil && m.Span.File == d.File {
		return m
	}
	if stored != nil {
		if i := slices.Index(in.Beside(stored), stored); i >= 0 && i < len(all) {
			return all[i]
		}
	}
	return all[0]
}

// Messages returns all messages of the text.
func (d *Definition) Messages() []*schema.Message {
	return d.Snap.MessagesOf(d.File)
}

// Chosen returns the definition with another message of the text, by its index.
func (d *Definition) Chosen(i int) *Definition {
	all := d.Messages()
	if i >= len(all) || all[i] == d.Message {
		return d
	}
	other := &Definition{Snap: d.Snap, File: d.File, Message: all[i], Edited: d.Edited}
	other.compile()
	return other
}

// compile compiles the program of the message, and lists what is wrong with the text.
func (d *Definition) compile() {
	d.Diagnostics = []diag.Info{}
	for _, x := range d.Snap.DiagnosticsOf(d.File) {
		d.Diagnostics = append(d.Diagnostics, x.Info())
	}
	if d.Message == nil {
		return
	}
	var err error
	if d.Program, err = d.Snap.Program(d.Message); err != nil {
		d.Diagnostics = append(d.Diagnostics, TooLarge(d.Message, err).Info())
	}
}

// TooLarge returns the diagnostic for a message that is too large to compile.
func TooLarge(m *schema.Message, err error) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Error, Code: "too-large", Message: err.Error(), Span: m.Span}
}

// Layout returns the layout of the message, without rows if it has no program.
func (d *Definition) Layout() view.LayoutInfo {
	if d.Program == nil {
		return view.LayoutInfo{Rows: []view.LayoutRow{}}
	}
	return view.Layout(d.Program)
}

// maxMended is the number of times that Mended looks for errors.
const maxMended = 3

// Mended returns the definition without the errors of single lines, which are as in an earlier text without errors, or empty: the rest of a
// text can be shown while a line is being typed. It returns nil if there is more wrong with the text.
func (d *Definition) Mended(in *Snapshot, name, good string) (*Definition, []edit.Hole) {
	var holes []edit.Hole
	mended, now := source.UnixLines(d.File.Text), d
	for range maxMended {
		var bad []int
		for _, x := range now.Diagnostics {
			if breaks(x) && x.File == d.File.Name && !slices.Contains(bad, x.Line) {
				bad = append(bad, x.Line)
			}
		}
		text, more, ok := edit.Mend(mended, source.UnixLines(good), bad)
		if !ok || text == mended {
			return nil, nil
		}
		next, err := in.Open(name, text)
		if err != nil || next.Message == nil {
			return nil, nil
		}
		mended, holes, now = text, append(holes, more...), next
		if now.Program != nil && !slices.ContainsFunc(now.Diagnostics, breaks) {
			slices.SortFunc(holes, func(a, b edit.Hole) int { return a.Line - b.Line })
			return now, holes
		}
		good = "" // lines with errors that come of this are left out
	}
	return nil, nil
}

// breaks reports whether a diagnostic is an error that leaves a line without meaning. A line with a constant that has no value keeps its
// layout, which is symbolic.
func breaks(x diag.Info) bool {
	return x.Severity == diag.Error.String() && x.Code != "unresolved-constant"
}

// Broken reports whether the definition has errors, or no message at all.
func (d *Definition) Broken() bool {
	return d.Program == nil || slices.ContainsFunc(d.Diagnostics, func(x diag.Info) bool { return x.Severity == diag.Error.String() })
}

// FileName returns the name of the file in which the text of a message would be stored.
func (s *Snapshot) FileName(message string) string {
	if m, err := s.Find(message); err == nil {
		return m.Span.File.Name
	}
	if IsEnvelope(message) {
		return message
	}
	const longest = 200
	message = strings.TrimSuffix(message, s.Dialect.Ext)
	if message == "" || len(message) > longest {
		message = "UNSAVED"
	}
	return s.FirstVersion(message) + s.Dialect.Ext
}

// NameOfNew returns the name of a message that would be stored in a file, as FileName: the file has none yet.
func (s *Snapshot) NameOfNew(file string) string {
	if IsEnvelope(file) {
		return file
	}
	return strings.TrimSuffix(file, s.Dialect.Ext)
}

// FirstVersion returns the full name of a new message: with a version, if the dialect has versions.
func (s *Snapshot) FirstVersion(message string) string {
	if s.Dialect.Versions && !strings.Contains(message, ".") {
		return message + ".1"
	}
	return message
}

// Versioned reports whether the file of a message is named after it and its version.
func (s *Snapshot) Versioned(m *schema.Message) bool {
	return s.Dialect.Versions && strings.HasPrefix(path.Base(m.Span.File.Name), fullName(m.Name, m.Version)+".")
}

// FileOfVersion returns the name of the file of another version of a message: in the same folder and with the same ending.
func FileOfVersion(m *schema.Message, version int) string {
	dir, base := path.Split(m.Span.File.Name)
	return path.Join(dir, fullName(m.Name, version)+strings.TrimPrefix(base, fullName(m.Name, m.Version)))
}

// WithDraft returns the library with an additional unsaved definition.
func (s *Snapshot) WithDraft(name, text string) (*Snapshot, error) {
	if m, err := s.Find(name); err == nil && m.Span.File.Text == text {
		return s, nil
	}
	if len(text) > MaxDefinition {
		return nil, fmt.Errorf("a definition of more than %d bytes", MaxDefinition)
	}
	snap, _ := s.With(s.FileName(name), text)
	return snap, nil
}

// HasWords reports whether a name contains all words.
func HasWords(name string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}

func fullName(name string, version int) string { return fmt.Sprintf("%s.%d", name, version) }
