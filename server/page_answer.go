package server

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"strings"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/templates"
)

// pageAnswer is what the server sends to an open page: what has to be changed in it.
type pageAnswer struct {
	N        int               `json:"n"`                  // the last message that this knows of
	HTML     map[string]string `json:"html,omitempty"`     // parts of the page, by the id of their element
	Lists    []listChange      `json:"lists,omitempty"`    // what has changed in lists of the page
	Keys     map[string]int    `json:"keys,omitempty"`     // lines of the definition, by the key of what they make
	Set      *pageControls     `json:"set,omitempty"`      // controls whose value the server has changed
	Mistakes *[]diag.Info      `json:"mistakes,omitempty"` // in the text that the page has
	Lines    map[int]string    `json:"lines,omitempty"`    // what is to be said about lines of the definition
	Data     json.RawMessage   `json:"data,omitempty"`     // pageData: the message that is shown, if it is another one
	Export   *exports          `json:"export,omitempty"`   // files that were asked for
	Failed   string            `json:"failed,omitempty"`   // why a value could not be changed
	Status   string            `json:"status"`
}

// pageControls are the controls of a page that the server may change.
type pageControls struct {
	Message    string            `json:"message"`
	Definition *string           `json:"definition,omitempty"` // another text than the page has
	Reset      bool              `json:"reset,omitempty"`      // it is another definition: nothing is to be undone
	Base       string            `json:"base"`
	Input      *string           `json:"input,omitempty"`
	Form       string            `json:"form"`
	ByCode     bool              `json:"bycode"`
	Show       int               `json:"show"`
	Edits      map[string]string `json:"edits"`
	Opened     []string          `json:"opened"`
	Edited     bool              `json:"edited"` // the definition is not the one on disk
	Shown      string            `json:"shown"`  // the text that layout and mistakes are of
	text       string
	input      string
}

// controls says which controls are to be changed. The definition and the input are sent only if they are not what the page has.
func (l *livePage) controls(out *pageAnswer, p *pageWork, had string) {
	d := &p.view.Definition
	c := pageControls{
		Message: l.form.message, Base: l.form.base, Form: l.form.form, ByCode: l.form.byCode, Show: l.form.show,
		Edits: writeEdits(l.form.edits), Opened: sortedNames(l.form.opened), Edited: d.Edited, text: d.Text, input: l.form.input,
	}
	if had != d.Text || l.told.Message != c.Message && had == "" {
		c.Definition, c.Reset = &d.Text, l.told.Message != c.Message
	}
	l.form.definition = d.Text
	if l.told.input != c.input {
		c.Input = &l.form.input
	}
	l.told = c
	out.Set = &c
	if p.def != nil {
		list := d.Diagnostics[:min(len(d.Diagnostics), maxProblems)]
		out.Mistakes = &list
	} else {
		out.Mistakes = &[]diag.Info{}
	}
	if p.view.Layout != nil && !p.view.Stale {
		out.Lines, out.Keys = lineHelp(p.view.Layout)
	}
}

// lineHelp is what there is to say about the lines of a definition, the part of the message that each makes, and the lines by the keys
// of those parts.
func lineHelp(l *view.LayoutInfo) (lines map[int]string, keys map[string]int) {
	lines, keys = map[int]string{}, map[string]int{}
	for _, r := range l.Rows {
		if r.Line <= 0 || len(keys) > 5000 {
			continue
		}
		keys[templates.Key(r.Path, r.Role)] = r.Line
		if r.Role == "value" || lines[r.Line] == "" {
			lines[r.Line] = templates.RowTitle(r)
		}
	}
	return lines, keys
}

// pageData is a message for the hex grid: its bytes, and what each run of bits is. Len and Part have one entry a run, in the order of
// the wire.
type pageData struct {
	Bytes   []byte     `json:"bytes"`           // base64
	Was     []byte     `json:"was,omitempty"`   // before it was edited
	Built   bool       `json:"built,omitempty"` // there was nothing before
	Changed [][2]int   `json:"changed,omitempty"`
	Len     []uint32   `json:"len"`    // bits
	Part    []int      `json:"part"`   // number of a part
	Jumps   [][2]int   `json:"jumps"`  // run and first bit, where a run does not begin at the end of the one before
	Parts   []pagePart `json:"parts"`  // what the runs are, each once
	Linked  bool       `json:"linked"` // the layout that is shown is the message's
	Used    int        `json:"used"`
	Name    string     `json:"name"`
	Dir     string     `json:"dir"`
}

// pagePart is what runs of bits of a message have in common.
type pagePart struct {
	Key    string `json:"key"`  // the same as in the layout
	Path   string `json:"path"` // without indexes
	Type   string `json:"type"`
	Role   string `json:"role"`
	Line   int    `json:"line,omitempty"` // of the definition
	Family string `json:"family"`         // of its colour
}

// message sends the shown message, if it is another one than the page has.
func (l *livePage) message(out *pageAnswer, p *pageWork) error {
	text, err := json.Marshal(dataOf(p))
	if err != nil {
		return err
	}
	if sum := maphash.Bytes(l.seed, text); sum != l.sent["data"] {
		l.sent["data"], out.Data = sum, text
	}
	return nil
}

// dataOf is the shown message for the hex grid.
func dataOf(p *pageWork) *pageData {
	d := &pageData{Bytes: []byte{}, Len: []uint32{}, Part: []int{}, Jumps: [][2]int{}, Parts: []pagePart{}}
	m := p.view.Shown
	if m == nil {
		return d
	}
	d.Was, d.Built, d.Linked, d.Used = m.Was, m.Edited && m.Was == nil, m.Linked, m.Used
	d.Name, d.Dir = m.Name, p.job.messages[m.Number].dir.String()
	if m.Data != nil {
		d.Bytes = m.Data
	}
	if m.Edited && m.Was != nil {
		d.Changed = templates.Changes(m.Was, m.Data)
	}
	d.Len, d.Part = make([]uint32, len(m.Fields)), make([]int, len(m.Fields))
	type kind struct {
		field      uint16
		role, path string // the path of what has no field
	}
	parts, end := map[kind]int{}, uint32(0)
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.BitOffset != end {
			d.Jumps = append(d.Jumps, [2]int{i, int(f.BitOffset)})
		}
		end = f.BitOffset + f.BitLength
		k := kind{f.Field, f.Role, ""}
		if f.Field == codec.NoField {
			k.path = templates.Indexless(f.Path)
		}
		n, ok := parts[k]
		if !ok {
			n = len(d.Parts)
			parts[k] = n
			part := pagePart{Key: templates.Key(f.Path, f.Role), Path: templates.Indexless(f.Path), Type: f.Type, Role: f.Role, Family: templates.Family(f)}
			if m.Linked && !m.Stale {
				part.Line = f.Line
			}
			d.Parts = append(d.Parts, part)
		}
		d.Len[i], d.Part[i] = f.BitLength, n
	}
	return d
}

// valueAnswer is a value of the shown message, to be copied or to be edited.
type valueAnswer struct {
	N     int `json:"n"`
	Value struct {
		Path    string          `json:"path"`
		Role    string          `json:"role"`
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Value   json.RawMessage `json:"value"`
		Typed   string          `json:"typed"` // as a person would write it
		Failed  string          `json:"failed,omitempty"`
	} `json:"value"`
}

// value looks a value of the shown message up.
func (l *livePage) value() *valueAnswer {
	out := &valueAnswer{N: l.n}
	v := &out.Value
	v.Path, v.Role = l.form.path, l.form.role
	view := templates.Workbench{}
	p := &pageWork{ws: &space{l.ws, l.ws.Now()}, form: l.form, view: &view, good: l.good, pastes: &l.pastes}
	p.form.action = ""
	p.open()
	p.show()
	m := view.Shown
	if m == nil || m.Status == "error" {
		v.Failed = "there is no message"
		return out
	}
	v.Message = m.Message
	if v.Role == codec.RoleValue.String() || v.Role == "" {
		v.Type = m.Types[templates.WithoutIndexes(v.Path)]
		at, err := findJSON(m.Value, v.Path)
		if err != nil {
			v.Failed = err.Error()
			return out
		}
		v.Value = m.Value[at.from:at.to]
	} else {
		for _, f := range m.Fields {
			if f.Path == v.Path && f.Role == v.Role && (l.form.arg == "" || l.form.arg == fmt.Sprint(f.BitOffset)) {
				v.Type, v.Value = f.Type, f.Value
				break
			}
		}
		if v.Value == nil {
			v.Failed = "there is no such value"
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
