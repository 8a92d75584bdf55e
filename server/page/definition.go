package page

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/edit"
	"wirebench/defs/emit"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/server/store"
	"wirebench/server/view"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// textRevision returns the revision of a stored text as pages have it: with the line ends of forms and editors.
func textRevision(text string) string {
	return string(store.RevisionOf([]byte(source.UnixLines(text))))
}

// open opens the definition that the form names or contains.
func (p *work) open() {
	f := &p.form
	p.follow()
	p.text, p.def, p.use = nil, nil, nil
	p.view.Layout, p.view.Stale, p.view.Holes, p.view.Message = nil, false, nil, f.message
	p.view.Definition = templates.Definition{Text: f.definition, Language: p.ws.Snapshot.Dialect.Language, Begin: p.ws.Dialect.Begin, New: f.message, NewLabel: p.ws.newLabel()}
	p.view.Targets = nil
	for _, t := range emit.Targets {
		p.view.Targets = append(p.view.Targets, templates.Target{Name: t.Name, Title: t.Title})
	}
	d := &p.view.Definition
	stored, disk, err := p.stored(f.message)
	text, revision := f.definition, ""
	if err == nil {
		revision = textRevision(disk.Text)
	}
	switch {
	case text == "" && f.message == "":
		d.New = p.newName()
		return
	case strings.TrimSpace(text) == "" && err != nil && f.name != "": // nothing is written yet under the name that the page proposes
		d.New, p.view.Message = f.name, ""
		return
	case text == "" && err != nil && f.name == "":
		p.notice("There is " + err.Error())
		d.New = f.message
		return
	case err == nil && (text == "" || source.UnixLines(disk.Text) == text):
		text, f.base = "", revision
	case err == nil && f.shared != "":
		f.base = revision
	case err == nil && f.base != "" && f.base != revision && textRevision(text) == f.base:
		// The text was not edited, and another program has written the file.
		text, f.definition, f.base = "", "", revision
		p.done(disk.Name + " has changed on disk; this is its current text.")
	case err == nil && f.base == "":
		f.base = revision
	case err == nil && f.base != revision:
		d.Conflict = &templates.Conflict{Lines: lineChanges(source.UnixLines(disk.Text), text)}
	case err != nil && f.base != "" && f.name == "":
		d.Conflict = &templates.Conflict{Deleted: true}
	}
	t, err := p.ws.texts.Of(view.Asked{Snap: p.ws.Snapshot, Name: f.message, Part: f.part, Text: text, Good: p.good})
	if err != nil {
		p.notice(sentence("The definition cannot be read: " + err.Error()))
		return
	}
	p.text = t
	def := t.Def
	if stored != nil { // the name under which it is stored; the text may have another one now
		p.view.Message = p.ws.NameOf(stored)
	}
	_, d.Begun = p.begun(f.message)
	d.File, d.Text, d.Edited, d.Stored, d.Diagnostics = def.File.Name, source.UnixLines(def.File.Text), def.Edited, disk != nil, def.Diagnostics
	d.Base = f.base
	if workspace.IsEnvelope(f.message) {
		p.openedEnvelope(def)
		return
	}
	p.chosen(t)
	p.def, p.use = def, t.Use
	if !def.Broken() {
		p.good, p.weight = def, t.Held()
	}
	if def.Message != nil {
		if stored == nil && p.ws.Snapshot.Dialect.Versions {
			p.view.Message = def.Snap.NameOf(def.Message)
		}
		d.Version, d.Versioned = def.Message.Version, stored != nil && p.ws.Snapshot.Versioned(stored)
		d.Newest = p.ws.Newest(def.Message)
		if stored != nil && d.Newest > d.Version && def.Edited && d.Conflict == nil {
			d.Moves = !p.ws.KeepsLayout(stored, def.File.Text)
		}
	}
	p.view.Layout, p.view.Stale = t.Layout, t.Stale
	for _, h := range t.Holes {
		p.view.Holes = append(p.view.Holes, templates.Hole{Line: h.Line, Kept: h.Kept})
	}
}

// stored finds a stored definition by the name of its message, and its file; or an envelope, which has no message.
func (p *work) stored(name string) (*schema.Message, *source.File, error) {
	if !workspace.IsEnvelope(name) {
		m, err := p.ws.Find(name)
		if err != nil {
			return nil, nil, err
		}
		return m, m.Span.File, nil
	}
	f := p.ws.EnvelopeNamed(name)
	if f == nil {
		return nil, nil, fmt.Errorf("no envelope %q", name)
	}
	return nil, f, nil
}

// follow continues with the new name of a stored message that has been renamed, or of a definition that somebody has saved since it was begun.
func (p *work) follow() {
	f := &p.form
	if f.message == "" || f.name != "" {
		return
	}
	if f.base == "" && f.definition != "" { // a new one
		p.followSaved()
		return
	}
	if name := p.ws.NewName(f.message); name != "" {
		p.former, f.message = f.message, name
	}
}

// followSaved opens the message of a file that has the text of the page by now: its name may be another one than that of the file.
func (p *work) followSaved() {
	f := &p.form
	file := p.ws.File(f.shared)
	if file == nil || p.ws.Snapshot.FileName(f.message) != f.shared { // or the room is still that of the definition before
		return
	}
	if _, _, err := p.stored(f.message); err == nil {
		return
	}
	if all := p.ws.MessagesOf(file); len(all) > 0 {
		f.message = p.ws.NameOf(all[min(max(f.part, 1), len(all))-1])
	}
}

// chosen lists the messages of a text with several. A stored message is referred to by name from now on.
func (p *work) chosen(t *view.Text) {
	f, d := &p.form, &p.view.Definition
	if all := t.Def.Messages(); len(all) > 1 {
		for _, m := range all {
			line := templates.MessageLine{Name: t.Def.Snap.NameOf(m), Line: m.Span.Pos().Line}
			line.First, line.Last = ownLines(m, t.Def.Snap.Dialect.Language.Comment)
			d.Several = append(d.Several, line)
		}
		d.Part = slices.Index(all, t.Def.Message)
	}
	if f.part = t.Part; t.Name != f.message {
		p.view.Message, f.message = t.Name, t.Name
	}
}

// ownLines returns the first and the last line of what a file says of a message alone, with comments before it; 0 if that is not in one place.
func ownLines(m *schema.Message, comment string) (first, last int) {
	f := m.Text.File
	if f == nil || f != m.Span.File {
		return 0, 0
	}
	first, last = m.Text.Pos().Line, source.Span{File: f, Start: max(m.Text.End-1, m.Text.Start), End: m.Text.End}.Pos().Line
	for first > 1 {
		before := strings.TrimSpace(f.Line(first - 1).Text())
		if before == "" || !(comment != "" && strings.HasPrefix(before, comment) || strings.HasPrefix(before, "/*") || strings.HasPrefix(before, "* ") || strings.HasSuffix(before, "*/") || strings.HasPrefix(before, "<!--")) {
			break
		}
		first--
	}
	return first, last
}

// newLabel returns the label of the name field of a new definition.
func (ws *space) newLabel() string {
	if ws.Snapshot.Dialect.Versions {
		return "Name of the new message, with its version"
	}
	return "Name of the new file"
}

// openAnother opens another definition. Bytes entered by the user stay and are decoded with it; a sample is replaced by one of the new
// definition.
func (p *work) openAnother(message string) {
	f := &p.form
	keep := strings.TrimSpace(f.input) != "" && !p.ws.isSample(f.message, f.input) || len(f.edits) > 0 && strings.TrimSpace(f.input) != ""
	f.message, f.part, f.name, f.made, f.code, f.byCode = message, 0, "", sumOf(f.value), "", false
	p.openTyped()
	if keep {
		return
	}
	f.input, f.form, f.edits, f.show = "", "", nil, 0
	if m, err := p.ws.Find(message); err == nil {
		for _, s := range p.ws.Samples(m.Span.File.Name) {
			if of, err := p.ws.Find(s.Message); err == nil && of == m {
				f.input = s.Hex
				return
			}
		}
	}
}

// openTyped opens a definition with what people have typed and not saved, unless the form has a text.
func (p *work) openTyped() {
	f := &p.form
	if f.message == "" || f.definition != "" {
		return
	}
	if _, disk, err := p.stored(f.message); err != nil {
		if text, ok := p.begun(f.message); ok {
			f.definition, f.base, f.name = text, "", f.message
		}
	} else if p.typed != nil {
		if text, ok := p.typed(disk.Name); ok {
			f.definition, f.base = text, textRevision(disk.Text)
		}
	}
}

// begun returns the text of a definition that was begun and not saved.
func (p *work) begun(name string) (text string, ok bool) {
	if p.typed == nil || p.ws.has(name) {
		return "", false
	}
	return p.typed(p.ws.Snapshot.FileName(name))
}

// isSample reports whether a text is a stored sample of a message.
func (ws *space) isSample(message, text string) bool {
	m, err := ws.Find(message)
	if err != nil {
		return false
	}
	bare := strings.Join(strings.Fields(text), "")
	for _, s := range ws.Samples(m.Span.File.Name) {
		if s.Hex == bare {
			return true
		}
	}
	return false
}

// openNew begins a definition, or opens it if somebody has saved it since the page was told that it is not saved.
func (p *work) openNew(name string) {
	if _, _, err := p.stored(name); name == "" || err != nil {
		p.beginNew(name)
		return
	}
	p.form.definition, p.form.base = "", ""
	p.openAnother(name)
}

// beginNew begins an unsaved definition with the given name, or with an unused one. It opens the one that somebody has begun under the name.
func (p *work) beginNew(name string) (begun bool) {
	f := &p.form
	if name == "" || p.ws.has(name) {
		name = p.newName()
	}
	f.message, f.part, f.name, f.base = name, 0, name, ""
	if f.definition, begun = p.begun(name); !begun {
		f.definition = p.ws.aboutNew(name)
	}
	f.made, f.code = sumOf(f.value), ""
	if p.ws.isSample(f.message, f.input) {
		f.input = ""
	}
	return begun
}

// rename sets the name of an unsaved definition.
func (p *work) rename() {
	f := &p.form
	switch {
	case f.name == "" || f.name == f.message:
	case f.message != "" && p.ws.has(f.message):
		f.name = ""
	case strings.TrimSpace(f.definition) != "" && p.ws.has(f.name):
		p.notice("A definition of " + f.name + " exists already: choose another name.")
		f.name = ""
		if f.action == "save" { // do not save it under the old name
			f.action = ""
		}
	default:
		if said := p.ws.aboutNew(f.message); f.shared == "" && strings.HasPrefix(f.definition, said) { // the pages do it in a room
			f.definition = p.ws.aboutNew(f.name) + strings.TrimPrefix(f.definition, said)
		}
		f.message = f.name
	}
}

// aboutNew returns the initial text of a new definition.
func (ws *space) aboutNew(name string) string {
	if workspace.IsEnvelope(name) {
		return ws.newEnvelope()
	}
	return strings.ReplaceAll(ws.Dialect.Begin, "$NAME", name)
}

func (ws *space) has(name string) bool {
	_, err := ws.Find(name)
	return err == nil || ws.File(ws.Snapshot.FileName(name)) != nil
}

// save stores the text of the open definition.
func (p *work) save() {
	d := &p.view.Definition
	if p.def == nil {
		p.notice("No definition to save: write one and give it a name.")
		return
	}
	if d.Conflict != nil && !d.Conflict.Deleted {
		p.notice("Not saved: the file on disk has changed since you opened it. Choose below which text to keep.")
		return
	}
	if !p.def.Edited && d.Stored {
		p.done("No changes to save.")
		return
	}
	text, expect := p.def.File.Text, store.Revision("")
	if f := p.ws.File(d.File); f != nil {
		expect = workspace.Revision(f)
		text = edit.Restore(f.Text, text)
	} else {
		text = p.ws.LikeOthers(text)
	}
	if _, err := p.ws.SaveBy(p.who, d.File, []byte(text), &expect); err != nil {
		p.notSaved(err)
		return
	}
	p.keepOpen(p.def)
	p.continueStored("Saved " + d.File + ".")
}

// keepOpen keeps the same message of a text open after it has been stored, under its new name.
func (p *work) keepOpen(def *workspace.Definition) {
	now := p.ws.again()
	f := now.File(def.File.Name)
	if f == nil || def.Message == nil {
		return
	}
	all := now.MessagesOf(f)
	if i := slices.Index(def.Messages(), def.Message); i >= 0 && i < len(all) {
		p.form.message, p.form.part = now.NameOf(all[i]), 0
	}
}

// continueStored continues with the current library.
func (p *work) continueStored(text string) {
	p.ws = p.ws.again()
	p.form.definition, p.form.base, p.form.name, p.form.action = "", "", "", ""
	p.done(text)
	p.open()
}

// notSaved reports why the text was not stored. The text stays in the page.
func (p *work) notSaved(err error) {
	var moved *store.ConflictError
	var older *workspace.OlderError
	switch {
	case errors.As(err, &moved):
		p.ws = p.ws.again()
		p.open()
		p.notice("Not saved: " + p.view.Definition.File + " has just been changed by someone else. Choose below which text to keep.")
	case errors.As(err, &older):
		p.notice("Not saved: " + older.Error() + ".")
	case errors.Is(err, store.ErrFull):
		p.notice("Not saved: the disk is full. The text stays here and the file is unchanged: free some space and save again.")
	case errors.Is(err, store.ErrReadOnly):
		p.notice("Not saved: the folder of the definitions cannot be written to. The text stays here; copy it if you close this page.")
	default:
		p.notice(sentence("Not saved: " + err.Error()))
	}
}

// newVersion stores the text as the next version of its message, and opens it.
func (p *work) newVersion() {
	if p.def == nil || p.def.Message == nil {
		p.notice("No message for a new version.")
		return
	}
	if !p.ws.Snapshot.Versioned(p.def.Message) {
		p.notice("The name of this file has no version.")
		return
	}
	text := p.def.File.Text
	if f := p.ws.File(p.def.File.Name); f != nil {
		text = edit.Restore(f.Text, text)
	}
	name, _, err := p.ws.SaveVersion(p.def.Message, []byte(text))
	if err != nil {
		p.notSaved(err)
		return
	}
	was := p.view.Message
	p.form.message = strings.TrimSuffix(path.Base(name), path.Ext(name))
	p.continueStored("Made " + name + " from " + was + ".")
}

// newName returns an unused name for a definition.
func (p *work) newName() string {
	for i := 1; ; i++ {
		name := p.ws.Dialect.New
		if i > 1 {
			name += "_" + strconv.Itoa(i)
		}
		full := p.ws.FirstVersion(name)
		if _, begun := p.begun(full); !begun && len(p.ws.Named(name)) == 0 && !p.ws.has(full) {
			return full
		}
	}
}

// remove deletes the open definition.
func (p *work) remove() {
	d := &p.view.Definition
	f := p.ws.File(d.File)
	if f == nil {
		p.notice("No stored definition to delete.")
		return
	}
	rev := workspace.Revision(f)
	if _, err := p.ws.Delete(d.File, &rev); err != nil {
		p.notSaved(err)
		return
	}
	// The text stays in the page: saving restores the file.
	text := d.Text
	p.ws = p.ws.again()
	p.form.definition, p.form.base, p.form.name = text, "", p.form.message
	p.done("Deleted " + d.File + ". Its text is still here: Save restores the file.")
	p.open()
}

// format replaces the text by its canonical form.
func (p *work) format() {
	if p.def == nil {
		return
	}
	format := p.ws.Dialect.Format
	if p.view.Definition.Envelope {
		format = envelope.Format
	}
	text, diags := format(p.def.File)
	if diags.HasErrors() {
		p.notice("Not formatted: " + diags[0].String())
		return
	}
	if source.UnixLines(text) == p.view.Definition.Text {
		p.done("The text is already formatted.")
		return
	}
	base := p.form.base
	p.form.definition = source.UnixLines(text)
	p.open()
	p.form.base = base
	p.done("Formatted.")
}

// exportLayout exports the layout as a file.
func (p *work) exportLayout() {
	if p.view.Layout == nil {
		p.notice("There is no layout: open a definition first.")
		return
	}
	name := ""
	if p.use.Message != nil {
		name = p.use.Snap.NameOf(p.use.Message)
	}
	if p.form.action == "svg" {
		p.export = oneExport("Layout", name, ".svg", "image/svg+xml", templates.LayoutSVG(name, p.view.Layout))
		return
	}
	p.export = oneExport("Layout", name, ".txt", "text/plain; charset=utf-8", templates.LayoutText(name, p.view.Layout))
}

// maxChangedLines is the number of changed lines shown of each side.
const maxChangedLines = 60

// lineChanges returns the lines that differ between two texts, in their order; where both have some, those on disk come first.
func lineChanges(disk, page string) []templates.ChangedLine {
	a, b := strings.Split(disk, "\n"), strings.Split(page, "\n")
	var out []templates.ChangedLine
	onDisk, here := 0, 0
	for _, e := range text.Diff(a, b) {
		switch {
		case e.New == 0:
			if onDisk++; onDisk <= maxChangedLines {
				out = append(out, templates.ChangedLine{Sign: "disk", Number: e.Old, Text: a[e.Old-1]})
			}
		case e.Old == 0:
			if here++; here <= maxChangedLines {
				out = append(out, templates.ChangedLine{Sign: "here", Number: e.New, Text: b[e.New-1]})
			}
		}
	}
	for _, more := range []struct {
		sign string
		n    int
	}{{"disk", onDisk - maxChangedLines}, {"here", here - maxChangedLines}} {
		if more.n > 0 {
			out = append(out, templates.ChangedLine{Sign: more.sign, Text: fmt.Sprintf("… %d more lines", more.n)})
		}
	}
	return out
}

// sentence ends a text with a full stop, unless it ends with another sign.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
