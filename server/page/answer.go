package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"

	"wirebench/defs/diag"
	"wirebench/server/history"
	"wirebench/server/view"
	"wirebench/templates"
)

// Answer is the response to an open page: the changes of its parts. Missing parts are unchanged.
type Answer struct {
	N        int               `json:"n"`                  // number of the last message that it takes into account
	Of       *uint32           `json:"of,omitempty"`       // sum32 of the text of the room that it is about, without a line feed at its end
	HTML     map[string]string `json:"html,omitempty"`     // parts of the page by element id
	Patches  map[string]Splice `json:"patches,omitempty"`  // changes of parts that the page has
	Resend   bool              `json:"resend,omitempty"`   // send the message again with all texts: it changes texts that the server does not have
	List     *view.ListChange  `json:"list,omitempty"`     // messages of the library
	Set      *Controls         `json:"set,omitempty"`      // controls changed by the server
	Mistakes *[]diag.Info      `json:"mistakes,omitempty"` // all mistakes in the text of the page
	Layout   *Layout           `json:"layout,omitempty"`
	Data     *Data             `json:"data,omitempty"`   // the shown message
	Picked   *Picked           `json:"picked,omitempty"` // the frame that the page has picked
	Export   *Exports          `json:"export,omitempty"` // requested files
	Failed   string            `json:"failed,omitempty"` // reason why a value or a field could not be changed
	Line     int               `json:"line,omitempty"`   // of the changed field in the definition

	Renamed []history.Renaming `json:"renamed,omitempty"` // messages with new names
	Status  *string            `json:"status,omitempty"`
}

// Controls are the controls of a page that the server may change. Missing ones are unchanged.
type Controls struct {
	Message    *string            `json:"message,omitempty"`
	Definition *string            `json:"definition,omitempty"`
	Reset      bool               `json:"reset,omitempty"` // another definition was opened: reset the undo history
	Base       *string            `json:"base,omitempty"`
	Input      *string            `json:"input,omitempty"`
	Form       *string            `json:"form,omitempty"`
	ByCode     *bool              `json:"bycode,omitempty"`
	Show       *int               `json:"show,omitempty"`
	Edits      *map[string]string `json:"edits,omitempty"`
	Edited     *bool              `json:"edited,omitempty"` // the text differs from the file on disk
}

// toldControls are the values of controls as known to a page.
type toldControls struct {
	message, definition, base, input, form string
	byCode, edited                         bool
	show                                   int
	edits                                  map[string]string
}

// has returns the values that a page has after it has sent its form.
func (f *form) has(edited bool) toldControls {
	return toldControls{f.message, f.definition, f.base, f.input, f.form, f.byCode, edited, f.show, writeEdits(f.edits)}
}

// controls adds the controls that differ from the values of the page.
func (l *livePage) controls(out *Answer, p *work, had toldControls) {
	d := &p.view.Definition
	l.form.definition = d.Text
	now := l.form.has(d.Edited)
	c := Controls{
		Message: other(had.message, now.message), Base: other(had.base, now.base), Input: other(had.input, now.input), Form: other(had.form, now.form),
		ByCode: other(had.byCode, now.byCode), Show: other(had.show, now.show), Edited: other(had.edited, now.edited),
	}
	another := now.message != ""
	if l.told != nil {
		another = *l.told != now.message && *l.told != p.former
	} else {
		c.Edited = &now.edited // the page has the state of an earlier connection
	}
	if had.definition != now.definition || another && had.definition == "" {
		c.Definition, c.Reset = &now.definition, another
	}
	if !maps.Equal(had.edits, now.edits) {
		c.Edits = &now.edits
	}
	if another {
		c.Base = &now.base // the page opened with the base of its draft
	}
	if l.typed && !now.edited {
		c.Edited = &now.edited
	}
	l.told, l.edited, l.typed = &now.message, now.edited, false
	if c != (Controls{}) {
		out.Set = &c
	}
}

// other returns a changed value, nil if it is unchanged.
func other[T comparable](was, is T) *T {
	if was == is {
		return nil
	}
	return &is
}

// Layout is the layout of the open message, without the parts that the page has.
type Layout struct {
	Rows  []view.ListPatch[view.LayoutRow] `json:"rows,omitempty"`
	Cells []view.ListPatch[view.Cell]      `json:"cells,omitempty"`
	Stale bool                             `json:"stale,omitempty"` // the line numbers are of an older text
	Holes []int                            `json:"holes,omitempty"` // lines that are shown as they were before their mistakes
}

// layout sends the layout, except for the parts that the page has.
func (l *livePage) layout(out *Answer, p *work) {
	rows, cells := []view.LayoutRow{}, []view.Cell{}
	if p.text != nil {
		rows, cells = p.text.Rows, p.text.Cells
	}
	w := p.view
	x := &Layout{Rows: patched(l, "layout", rows), Cells: patched(l, "cells", cells), Stale: w.Layout == nil || w.Stale}
	for _, h := range w.Holes {
		if h.Kept {
			x.Holes = append(x.Holes, h.Line)
		}
	}
	if same := l.same("lines", fmt.Sprint(x.Stale, x.Holes)); !same || x.Rows != nil || x.Cells != nil {
		out.Layout = x
	}
}

// Data is the shown message: its bytes, and the rows of its tree. The parts that the page has are missing.
type Data struct {
	Bytes   *view.BytesPatch             `json:"bytes,omitempty"`
	Built   bool                         `json:"built,omitempty"` // there was no message before
	Changed [][2]int                     `json:"changed,omitempty"`
	Parts   []view.ListPatch[view.Part]  `json:"parts,omitempty"`
	Rows    []view.ListPatch[int]        `json:"rows,omitempty"`  // index in Parts
	Bits    []view.ListPatch[uint32]     `json:"bits,omitempty"`  // length of each run of bits: of each row that is not a group
	Texts   []view.ListPatch[string]     `json:"texts,omitempty"` // and its value
	Jumps   []view.ListPatch[view.Jump]  `json:"jumps,omitempty"`
	Named   []view.ListPatch[view.Named] `json:"named,omitempty"`
	Linked  bool                         `json:"linked,omitempty"` // the shown layout is that of the message
	Stale   bool                         `json:"stale,omitempty"`  // the line numbers of the parts are of an older text
	Used    int                          `json:"used"`
	Name    string                       `json:"name"`
	Dir     string                       `json:"dir"`
}

// message sends the shown message, except for the parts that the page has.
func (l *livePage) message(out *Answer, p *work) {
	d := &Data{}
	data := []byte{}
	t := view.TreeOf(nil, nil, false)
	if m := p.view.Shown; m != nil {
		t = view.TreeOf(&m.Result, m.Types, m.Linked)
		d.Built, d.Linked, d.Stale, d.Used = m.Edited && m.Was == nil, m.Linked, m.Stale, m.Used
		d.Name, d.Dir = m.Name, p.job.Messages[m.Number].Dir.String()
		if m.Data != nil {
			data = m.Data
		}
		if m.Edited && m.Was != nil {
			d.Changed = view.Changes(m.Was, m.Data)
		}
	}
	same := l.same("data", fmt.Sprint(*d))
	if l.shown == nil {
		d.Bytes = &view.BytesPatch{Remove: -1, New: data}
	} else if !bytes.Equal(l.shown, data) {
		d.Bytes = view.ChangedBytes(l.shown, data)
	}
	l.shown = data
	d.Parts, d.Rows, d.Bits, d.Texts = patched(l, "parts", t.Parts), patched(l, "rows", t.Rows), patched(l, "bits", t.Bits), patched(l, "texts", t.Texts)
	d.Jumps, d.Named = patched(l, "jumps", t.Jumps), patched(l, "named", t.Named)
	if !same || d.Bytes != nil || d.Parts != nil || d.Rows != nil || d.Bits != nil || d.Texts != nil || d.Jumps != nil || d.Named != nil {
		out.Data = d
	}
}

// sentLists holds the hashes of the elements that a page has, by list.
type sentLists map[string][]uint32

// patched returns the changes that make the list of the page equal to items, nil if it is equal.
func patched[T comparable](l *livePage, id string, items []T) []view.ListPatch[T] {
	sums := view.Sums(l.seed, items)
	old, known := l.lists[id]
	l.lists[id] = sums
	if !known {
		return []view.ListPatch[T]{{Remove: -1, New: items}} // the list of the page came with the page
	}
	return view.ListPatches(old, sums, items)
}

// same reports whether the page has the current version of a part; otherwise it is sent.
func (l *livePage) same(id, is string) bool {
	sum := maphash.String(l.seed, is)
	old, ok := l.sent[id]
	l.sent[id] = sum
	return ok && old == sum
}

// mistakes sends the mistakes in the text, unless the page has the same ones.
func (l *livePage) mistakes(out *Answer, p *work) {
	list := []diag.Info{}
	if p.text != nil {
		list = p.text.Mistakes()
	}
	text, _ := json.Marshal(list) // cannot fail: it has only texts and numbers
	if !l.same("mistakes", string(text)) {
		out.Mistakes = &list
	}
}

// first returns the answer that the page draws before it is connected.
func first(p *work) *Answer {
	l := &livePage{seed: maphash.MakeSeed(), sent: map[string]uint64{}, lists: sentLists{}}
	status := templates.StatusText(*p.view)
	out := &Answer{Status: &status}
	l.mistakes(out, p)
	l.layout(out, p)
	l.message(out, p)
	return out
}
