package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// Answer is the response to an open page: the changes of its parts. Missing parts are unchanged.
type Answer struct {
	N        int               `json:"n"`                  // number of the last message that it takes into account
	HTML     map[string]string `json:"html,omitempty"`     // parts of the page by element id
	Patches  map[string]Splice `json:"patches,omitempty"`  // changes of parts that the page has
	Resend   bool              `json:"resend,omitempty"`   // send the message again with all texts: it changes texts that the server does not have
	Set      *Controls         `json:"set,omitempty"`      // controls changed by the server
	Mistakes *[]diag.Info      `json:"mistakes,omitempty"` // all mistakes in the text of the page
	Layout   *Layout           `json:"layout,omitempty"`
	Data     *Data             `json:"data,omitempty"`   // the shown message
	Export   *Exports          `json:"export,omitempty"` // requested files
	Failed   string            `json:"failed,omitempty"` // reason why a value or a field could not be changed
	Line     int               `json:"line,omitempty"`   // of the changed field in the definition

	Renamed []workspace.Renaming `json:"renamed,omitempty"` // messages with new names
	Status  *string              `json:"status,omitempty"`
	Took    string               `json:"took,omitempty"` // time of decoding
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
	Rows  []ListPatch[LayoutRow] `json:"rows,omitempty"`
	Cells []ListPatch[Cell]      `json:"cells,omitempty"`
	Stale bool                   `json:"stale,omitempty"` // the line numbers are of an older text
	Holes []int                  `json:"holes,omitempty"` // lines that are shown as they were before their mistakes
}

// LayoutRow is a row of a layout. What follows from the row before is missing.
type LayoutRow struct {
	Path    string `json:"path"`
	Role    string `json:"role,omitempty"` // "" for a value
	Type    string `json:"type,omitempty"`
	Family  string `json:"family,omitempty"`  // its color; "" for integers
	Depth   int    `json:"depth,omitempty"`   // number of lists around it
	Bits    int64  `json:"bits"`              // minimum size
	Most    int64  `json:"most,omitempty"`    // maximum size if it is another, -1 if unlimited
	Element bool   `json:"element,omitempty"` // the offset is in an element
	Packed  bool   `json:"packed,omitempty"`  // the offset is in decompressed contents
	After   string `json:"after,omitempty"`   // the variable parts before: " + name"
	Jump    int64  `json:"jump,omitempty"`    // bits between the end of the row before and the offset
	Skip    int    `json:"skip,omitempty"`    // lines between that of the previous row with a line and its own
	Unlined bool   `json:"unlined,omitempty"`
	Note    string `json:"note,omitempty"`
	Doc     string `json:"doc,omitempty"`

	Computed bool `json:"computed,omitempty"` // from other values: it has no bits and no offset
	Placed   bool `json:"placed,omitempty"`   // the offset is in contents at a computed position
}

// Cell is a cell of the diagram of a layout, or a caption above cells. What follows from its row and from the cell before is missing.
type Cell struct {
	Caption string        `json:"caption,omitempty"` // "" for one that a kind describes
	Width   int           `json:"width,omitempty"`   // columns; 0 for a caption
	Row     int           `json:"row,omitempty"`     // rows between the row after that of the previous cell and its own
	Bits    int           `json:"bits,omitempty"`    // number of rows that share these bytes
	Kind    view.CellKind `json:"kind,omitempty" enum:"more,cut,body,pointer,next,list,packed,at,then"`
	Alt     bool          `json:"alt,omitempty"`  // the second tint of its family
	Path    string        `json:"path,omitempty"` // of an element that is drawn by itself
	Bit     int64         `json:"bit,omitempty"`  // and its place in its list
	Text    string        `json:"text,omitempty"`
	Plain   string        `json:"plain,omitempty"` // instead of all else: cells that only have a width, a letter each; see plainLetter
}

// maxLayout bounds the rows sent to a page.
const maxLayout = 5000

// layout sends the layout, except for the parts that the page has.
func (l *livePage) layout(out *Answer, w *templates.Workbench) {
	rows, cells := []LayoutRow{}, []Cell{}
	if w.Layout != nil {
		rows, cells = layoutRows(w.Layout.Rows), diagramCells(w.Layout)
	}
	x := &Layout{Rows: patched(l, "layout", rows), Cells: withPlain(patchedApart(l, "cells", cells, commonCells)), Stale: w.Layout == nil || w.Stale}
	for _, h := range w.Holes {
		if h.Kept {
			x.Holes = append(x.Holes, h.Line)
		}
	}
	if same := l.same("lines", fmt.Sprint(x.Stale, x.Holes)); !same || x.Rows != nil || x.Cells != nil {
		out.Layout = x
	}
}

func layoutRows(list []view.LayoutRow) []LayoutRow {
	list = list[:min(len(list), maxLayout)]
	out, line := make([]LayoutRow, len(list)), 0
	ends := []int64{0} // by depth: where the next row begins if it follows the one before
	for i := range list {
		r := &list[i]
		for len(ends) <= r.Depth {
			ends = append(ends, 0)
		}
		ends = ends[:r.Depth+1]
		x := LayoutRow{
			Path: r.Path, Role: r.Role, Type: r.Type, Family: string(r.Family), Depth: r.Depth, Bits: r.MinBits,
			Element: r.InElement, Packed: r.InPacked, After: r.After, Jump: r.AtBits - ends[r.Depth], Unlined: r.Line <= 0, Note: r.Note, Doc: r.Doc, Computed: r.Computed(), Placed: r.Placed,
		}
		if x.Role == codec.RoleValue.String() {
			x.Role = ""
		}
		if x.Family == string(view.FamilyInt) {
			x.Family = ""
		}
		if r.MaxBits == nil {
			x.Most = -1
		} else if *r.MaxBits != r.MinBits {
			x.Most = *r.MaxBits
		}
		if !x.Unlined {
			x.Skip, line = r.Line-line-1, r.Line
		}
		out[i], ends[r.Depth] = x, r.AtBits+r.MinBits
	}
	return out
}

func diagramCells(l *view.LayoutInfo) []Cell {
	cells := l.Cells()
	out, next := make([]Cell, 0, len(cells)), 0
	for _, c := range cells {
		x := Cell{Caption: c.Caption, Width: c.Width, Bits: len(c.Bits), Kind: c.Kind, Alt: c.Alt, Path: c.Path, Bit: c.Bit}
		switch {
		case c.Kind == view.CellCut:
			x.Text = c.Top
		case c.Width == 0 && c.Kind != "":
			x.Caption, x.Text = "", c.Low
		}
		if c.Row >= maxLayout {
			break
		}
		if c.Row >= 0 {
			x.Row = c.Row - next
		}
		if c.Row >= 0 && c.Width > 0 {
			next = c.Row + max(len(c.Bits), 1)
		}
		out = append(out, x)
	}
	return out
}

// plainLetter returns the letter of a cell of which only the width and the tint are to be said, or that has the further bytes of the one
// before: '0' plus the width less 1, plus 16 for the second tint, plus 32 for further bytes. Contents of variable size have letters, too. It
// is 0 for other cells.
func plainLetter(c Cell) byte {
	switch c {
	case Cell{Kind: view.CellAt}:
		return '!'
	case Cell{Kind: view.CellBody, Width: 16}:
		return '#'
	case Cell{Kind: view.CellBody, Width: 16, Alt: true}:
		return '$'
	}
	letter := byte('0' + c.Width - 1)
	rest := Cell{Width: c.Width}
	if rest.Alt = c.Alt; c.Alt {
		letter += 16
	}
	if c.Kind == view.CellMore {
		letter += 32
		rest.Kind, rest.Row = c.Kind, -1
	}
	if c.Width < 1 || c.Width > 16 || c != rest {
		return 0
	}
	return letter
}

// withPlain joins the plain cells of changes: a field inserted into a long definition moves most of them.
func withPlain(list []ListPatch[Cell]) []ListPatch[Cell] {
	for i := range list {
		out := make([]Cell, 0, len(list[i].New))
		var plain []byte
		end := func() {
			if len(plain) > 0 {
				out, plain = append(out, Cell{Plain: string(plain)}), nil
			}
		}
		for _, c := range list[i].New {
			if letter := plainLetter(c); letter != 0 {
				plain = append(plain, letter)
				continue
			}
			end()
			out = append(out, c)
		}
		end()
		list[i].New = out
	}
	return list
}

// Data is the shown message: its bytes, and the rows of its tree. The parts that the page has are missing.
type Data struct {
	Bytes   *BytesPatch         `json:"bytes,omitempty"`
	Built   bool                `json:"built,omitempty"` // there was no message before
	Changed [][2]int            `json:"changed,omitempty"`
	Parts   []ListPatch[Part]   `json:"parts,omitempty"`
	Rows    []ListPatch[int]    `json:"rows,omitempty"`  // index in Parts
	Bits    []ListPatch[uint32] `json:"bits,omitempty"`  // length of each run of bits: of each row that is not a group
	Texts   []ListPatch[string] `json:"texts,omitempty"` // and its value
	Jumps   []ListPatch[Jump]   `json:"jumps,omitempty"`
	Named   []ListPatch[Named]  `json:"named,omitempty"`
	Linked  bool                `json:"linked,omitempty"` // the shown layout is that of the message
	Stale   bool                `json:"stale,omitempty"`  // the line numbers of the parts are of an older text
	Used    int                 `json:"used"`
	Name    string              `json:"name"`
	Dir     string              `json:"dir"`
}

// BytesPatch is a change of the bytes: New replaces Remove of them from At on.
type BytesPatch struct {
	At     int    `json:"at,omitempty"`
	Remove int    `json:"remove,omitempty"` // -1 for all
	New    []byte `json:"new"`              // base64
}

// changedBytes returns the change between two messages: the bytes between their common start and end.
func changedBytes(was, now []byte) *BytesPatch {
	start, end := 0, 0
	for start < min(len(was), len(now)) && was[start] == now[start] {
		start++
	}
	for end < min(len(was), len(now))-start && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
	}
	return &BytesPatch{start, len(was) - start - end, now[start : len(now)-end]}
}

// message sends the shown message, except for the parts that the page has.
func (l *livePage) message(out *Answer, p *work) {
	d := &Data{}
	data := []byte{}
	m := p.view.Shown
	if m != nil {
		d.Built, d.Linked, d.Stale, d.Used = m.Edited && m.Was == nil, m.Linked, m.Stale, m.Used
		d.Name, d.Dir = m.Name, p.job.Messages[m.Number].Dir.String()
		if m.Data != nil {
			data = m.Data
		}
		if m.Edited && m.Was != nil {
			d.Changed = templates.Changes(m.Was, m.Data)
		}
	}
	t := treeOf(m)
	same := l.same("data", fmt.Sprint(*d))
	if l.shown == nil {
		d.Bytes = &BytesPatch{0, -1, data}
	} else if !bytes.Equal(l.shown, data) {
		d.Bytes = changedBytes(l.shown, data)
	}
	l.shown = data
	d.Parts, d.Rows, d.Bits, d.Texts = patched(l, "parts", t.parts), patched(l, "rows", t.rows), patched(l, "bits", t.bits), patched(l, "texts", t.texts)
	d.Jumps, d.Named = patched(l, "jumps", t.jumps), patched(l, "named", t.named)
	if !same || d.Bytes != nil || d.Parts != nil || d.Rows != nil || d.Bits != nil || d.Texts != nil || d.Jumps != nil || d.Named != nil {
		out.Data = d
	}
}

// same reports whether the page has the current version of a part; otherwise it is sent.
func (l *livePage) same(id, is string) bool {
	sum := maphash.String(l.seed, is)
	old, ok := l.sent[id]
	l.sent[id] = sum
	return ok && old == sum
}

// mistakes sends the mistakes in the text, unless the page has the same ones.
func (l *livePage) mistakes(out *Answer, d *templates.Definition) {
	list := append([]diag.Info{}, d.Diagnostics[:min(len(d.Diagnostics), maxProblems)]...)
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
	l.mistakes(out, &p.view.Definition)
	l.layout(out, p.view)
	l.message(out, p)
	return out
}

// ValueAnswer is a value of the shown message, for copying or editing.
type ValueAnswer struct {
	N     int `json:"n"`
	Value struct {
		Path    string          `json:"path"`
		Role    string          `json:"role"`
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Value   json.RawMessage `json:"value"`
		Typed   string          `json:"typed"` // in the form in which a user would type it
		Failed  string          `json:"failed,omitempty"`
	} `json:"value"`
}

// value looks up a value of the shown message.
func (l *livePage) value() *ValueAnswer {
	out := &ValueAnswer{N: l.n}
	v := &out.Value
	v.Path, v.Role = l.form.path, l.form.role
	p := &work{ws: spaceOf(l.ws, l.of), form: l.form, view: &templates.Workbench{}, good: l.good, pastes: &l.pastes}
	p.form.action = ""
	p.open()
	p.show()
	m := p.view.Shown
	if m == nil || m.Status == "error" {
		v.Failed = "no message"
		return out
	}
	v.Message = m.Message
	if v.Role == codec.RoleValue.String() || v.Role == "" {
		v.Type = m.Types[view.WithoutIndexes(v.Path)]
		at, err := value.FindJSON(m.Value, v.Path)
		if err != nil {
			v.Failed = err.Error()
			return out
		}
		v.Value = m.Value[at.From:at.To]
	} else {
		for _, f := range m.Fields {
			if f.Path == v.Path && f.Role == v.Role && (l.form.arg == "" || l.form.arg == fmt.Sprint(f.BitOffset)) {
				v.Type, v.Value = f.Type, f.Value
				break
			}
		}
		if v.Value == nil {
			v.Failed = "the value does not exist"
			return out
		}
	}
	v.Typed = string(v.Value)
	var text string
	if json.Unmarshal(v.Value, &text) == nil && !strings.ContainsAny(text, "\n\r\x00\ufffd") {
		v.Typed = text
	}
	return out
}
