package page

import (
	"net/http"

	"wirebench/defs/source"
	"wirebench/server/access"
	"wirebench/server/collab"
)

// action is the action of a button of the page. A nil part does nothing.
type action struct {
	before func(*work) // runs before a definition is opened, and may decide which
	after  func(*work) // with the open definition
}

// actions are all actions of a page. The access policy has the role that each needs.
var actions = map[string]action{
	"decode": {}, // what every request does
	"layout": {},
	"paste":  {}, // see work.show
	"values": {}, // see work.values
	"value":  {}, // see livePage.value
	"types":  {}, // see livePage.choices
	"find":   {}, // see livePage.found
	"form":   {}, // see livePage.formed

	"open":     {before: func(p *work) { p.openAnother(p.form.arg) }},
	"begin":    {before: func(p *work) { p.beginFrom(p.form.arg) }},
	"new":      {before: func(p *work) { p.openNew(p.form.arg) }},
	"stored":   {before: (*work).dropEdit},
	"theirs":   {before: (*work).dropEdit},
	"mine":     {before: (*work).mergeMine},
	"show":     {before: func(p *work) { p.form.show, p.form.bytes = p.form.number(), 0 }},
	"bytes":    {before: func(p *work) { p.form.bytes = p.form.number() }},
	"pick":     {before: func(p *work) { p.form.part = p.form.number() }},
	"sample":   {before: func(p *work) { p.takeSample(p.form.number()) }},
	"original": {before: func(p *work) { delete(p.form.edits, p.form.show) }},

	"format": {after: (*work).format},
	"encode": {after: func(p *work) { p.encode(p.form.value) }},
	"build":  {after: func(p *work) { p.encode(p.start()) }},
	"svg":    {after: (*work).exportLayout},
	"text":   {after: (*work).exportLayout},
	"emit":   {after: func(p *work) { p.emitOpen(p.form.arg) }},
	"set":    {after: (*work).changeValue},
	"insert": {after: (*work).changeValue},
	"remove": {after: (*work).changeValue},
	"copy":   {after: (*work).changeValue},
	"up":     {after: (*work).changeValue},
	"down":   {after: (*work).changeValue},
	"case":   {after: (*work).changeValue},
	"fill":   {after: (*work).fill},
	"repair": {after: (*work).repair},
	"define": {after: (*work).reshape},
	"split":  {after: (*work).reshape},
	"rename": {after: (*work).reshape},
	"erase":  {after: (*work).reshape},

	"save":    {after: (*work).save},
	"version": {after: (*work).newVersion},
	"delete":  {after: (*work).remove},
	"keep":    {after: (*work).keepSample},
	"drop":    {after: func(p *work) { p.dropSample(p.form.number()) }},
}

// mergeMine joins the text with the one that the file has got meanwhile. Without the text that it was made of it stays as it is.
func (p *work) mergeMine() {
	f := &p.form
	if _, disk, err := p.stored(f.message); err == nil {
		base, known := p.ws.TextOf(disk.Name, f.base)
		merged := collab.Merge(collab.NewText(base), collab.NewText(f.definition), collab.NewText(source.UnixLines(disk.Text))).String()
		if !known {
			p.notice("What your text was made of is not known: it is not merged, and Save replaces the file.")
		} else if merged != f.definition {
			f.definition = merged
			p.done("Your text is merged with the changes of the file.")
		}
	}
	f.base = ""
}

// dropEdit opens the stored definition and discards the edited text.
func (p *work) dropEdit() { p.form.definition, p.form.base = "", "" }

// maxActionLogged bounds the name of an action in the log, which clients can choose.
const maxActionLogged = 40

// permit drops the action of a form that the access policy does not permit, and returns a notice; "" if it is permitted.
func (b *Workbench) permit(r *http.Request, f *form) (why string) {
	name, ws := f.action, ""
	if at := b.space(r); at != nil {
		ws = at.Name
	}
	who, ok := access.Of(r).Now() // the page may have been open for long
	if name == "" || ok && who.May("action "+name, ws) {
		if access.Changes("action "+name) && b.Changed != nil {
			b.Changed(r, "action "+name, http.StatusOK)
		}
		return ""
	}
	if b.Changed != nil {
		b.Changed(r, "action "+name[:min(len(name), maxActionLogged)], http.StatusForbidden)
	}
	access.LogRefusal(b.Log, r, "page action "+name[:min(len(name), maxActionLogged)])
	f.action, f.arg = "", ""
	if ok && who.May("action save", ws) {
		return "This action is not permitted: nothing was changed."
	}
	return "View only: nothing was changed on the server. Your text stays in this page."
}
