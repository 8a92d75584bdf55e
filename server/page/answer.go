package page

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/templates"
)

// Answer is the response to an open page: the changes of its parts. Missing parts are unchanged.
type Answer struct {
	N        int                 `json:"n"`                  // number of the last message that it takes into account
	HTML     map[string]string   `json:"html,omitempty"`     // parts of the page by element id
	Lists    []ListChange        `json:"lists,omitempty"`    // changes of lists
	Set      *Controls           `json:"set,omitempty"`      // controls changed by the server
	Mistakes []diag.Info         `json:"mistakes,omitempty"` // all mistakes in the text of the page
	Outline  *ListPatch[Outline] `json:"outline,omitempty"`  // parts of the message by line of the definition
	Behind   bool                `json:"behind,omitempty"`   // the outline is of an older text
	Data     *Data               `json:"data,omitempty"`     // the shown message
	Export   *Exports            `json:"export,omitempty"`   // requested files
	Failed   string              `json:"failed,omitempty"`   // reason why a value could not be changed
	Status   string              `json:"status"`
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
	Opened     *[]string          `json:"opened,omitempty"`
	Edited     *bool              `json:"edited,omitempty"` // the text differs from the file on disk
}

// toldControls are the values of controls as known to a page.
type toldControls struct {
	message, definition, base, input, form string
	byCode, edited                         bool
	show                                   int
	edits                                  map[string]string
	opened                                 []string
}

// has returns the values that a page has after it has sent its form.
func (f *form) has(edited bool) toldControls {
	return toldControls{f.message, f.definition, f.base, f.input, f.form, f.byCode, edited, f.show, writeEdits(f.edits), sortedNames(f.opened)}
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
		another = *l.told != now.message
	} else {
		c.Edited = &now.edited // the page has the state of an earlier connection
	}
	if had.definition != now.definition || another && had.definition == "" {
		c.Definition, c.Reset = &now.definition, another
	}
	if !maps.Equal(had.edits, now.edits) {
		c.Edits = &now.edits
	}
	if !slices.Equal(had.opened, now.opened) {
		c.Opened = &now.opened
	}
	if another {
		c.Base = &now.base // the page opened with the base of its draft
	}
	l.told, l.edited = &now.message, now.edited
	if c != (Controls{}) {
		out.Set = &c
	}
	if p.def != nil {
		out.Mistakes = d.Diagnostics[:min(len(d.Diagnostics), maxProblems)]
	}
	if out.Behind = p.view.Layout == nil || p.view.Stale; !out.Behind {
		out.Outline = patched(l, "outline", outline(p.view.Layout))
	}
}

// other returns a changed value, nil if it is unchanged.
func other[T comparable](was, is T) *T {
	if was == is {
		return nil
	}
	return &is
}

// Outline is a part of the open message that a line of its definition describes.
type Outline struct {
	Key  string `json:"key"`
	Step int    `json:"step"`           // lines since the previous part, or since line 0
	Text string `json:"text,omitempty"` // annotation of the line
}

// maxOutline bounds the parts sent to a page.
const maxOutline = 5000

// outline returns the parts described by each line of a definition. Of several parts of a line one has the text: the last value, or else
// the first part.
func outline(l *view.LayoutInfo) []Outline {
	out, line, said := []Outline{}, 0, map[int]int{}
	for _, r := range l.Rows[:min(len(l.Rows), maxOutline)] {
		if r.Line <= 0 {
			continue
		}
		x := Outline{Key: templates.Key(r.Path, r.Role), Step: r.Line - line}
		before, ok := said[r.Line]
		if !ok || r.Role == codec.RoleValue.String() {
			if x.Text = templates.RowTitle(r); ok {
				out[before].Text = ""
			}
			said[r.Line] = len(out)
		}
		out, line = append(out, x), r.Line
	}
	return out
}

// Data is a message for the hex grid: its bytes and its runs of bits. Len and Part have one entry per run, in wire order. Missing bytes and
// lists are unchanged.
type Data struct {
	Bytes   *[]byte            `json:"bytes,omitempty"` // base64
	Built   bool               `json:"built,omitempty"` // there was no message before
	Changed [][2]int           `json:"changed,omitempty"`
	Len     *ListPatch[uint32] `json:"len,omitempty"`    // bits
	Part    *ListPatch[int]    `json:"part,omitempty"`   // index in Parts
	Jumps   [][2]int           `json:"jumps,omitempty"`  // run and first bit, for runs that do not begin at the end of the previous one
	Parts   *ListPatch[Part]   `json:"parts,omitempty"`  // distinct parts of runs
	Linked  bool               `json:"linked,omitempty"` // the shown layout is that of the message
	Stale   bool               `json:"stale,omitempty"`  // the line numbers of the parts are of an older text
	Used    int                `json:"used"`
	Name    string             `json:"name"`
	Dir     string             `json:"dir"`
}

// Part describes runs of bits that belong to the same part of a message.
type Part struct {
	Key    string `json:"key"`  // as in the layout
	Path   string `json:"path"` // without indexes
	Type   string `json:"type"`
	Role   string `json:"role"`
	Lined  bool   `json:"lined,omitempty"` // it has a line in the definition
	Step   int    `json:"step,omitempty"`  // lines since the previous part with a line
	Family string `json:"family"`          // its color
}

// message sends the shown message, except for the parts that the page has.
func (l *livePage) message(out *Answer, p *work) {
	d := &Data{Jumps: [][2]int{}}
	data, lens, kinds, parts := []byte{}, []uint32{}, []int{}, []Part{}
	if m := p.view.Shown; m != nil {
		d.Built, d.Linked, d.Stale, d.Used = m.Edited && m.Was == nil, m.Linked, m.Stale, m.Used
		d.Name, d.Dir = m.Name, p.job.Messages[m.Number].Dir.String()
		if m.Data != nil {
			data = m.Data
		}
		if m.Edited && m.Was != nil {
			d.Changed = templates.Changes(m.Was, m.Data)
		}
		lens, kinds, parts = d.runs(m)
	}
	same := l.same("data", fmt.Sprint(*d))
	if !l.same("bytes", string(data)) {
		d.Bytes = &data
	}
	d.Len, d.Part, d.Parts = patched(l, "len", lens), patched(l, "part", kinds), patched(l, "parts", parts)
	if !same || d.Bytes != nil || d.Len != nil || d.Part != nil || d.Parts != nil {
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

// runs returns the runs of bits of a message: their lengths, the indexes of their parts, and these parts. It records the runs that do not
// begin at the end of the previous one in Jumps.
func (d *Data) runs(m *templates.Message) (lens []uint32, kinds []int, parts []Part) {
	lens, kinds, parts = make([]uint32, len(m.Fields)), make([]int, len(m.Fields)), []Part{}
	type kind struct {
		field      uint16
		role, path string // path for bookkeeping without a field, or the type of a gap
	}
	numbers, end, line := map[kind]int{}, uint32(0), 0
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.BitOffset != end {
			d.Jumps = append(d.Jumps, [2]int{i, int(f.BitOffset)})
		}
		end = f.BitOffset + f.BitLength
		k := kind{f.Field, f.Role, ""}
		if f.Role == codec.RoleGap.String() {
			k.path = f.Type
		} else if f.Field == codec.NoField {
			k.path = templates.Indexless(f.Path)
		}
		n, ok := numbers[k]
		if !ok {
			n = len(parts)
			numbers[k] = n
			part := Part{Key: templates.Key(f.Path, f.Role), Path: templates.Indexless(f.Path), Type: f.Type, Role: f.Role, Family: templates.Family(f)}
			if m.Linked && f.Line > 0 {
				part.Lined, part.Step = true, f.Line-line
				line = f.Line
			}
			parts = append(parts, part)
		}
		lens[i], kinds[i] = f.BitLength, n
	}
	return lens, kinds, parts
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
	view := templates.Workbench{}
	p := &work{ws: &space{l.ws, l.ws.Now()}, form: l.form, view: &view, good: l.good, pastes: &l.pastes}
	p.form.action = ""
	p.open()
	p.show()
	m := view.Shown
	if m == nil || m.Status == "error" {
		v.Failed = "no message"
		return out
	}
	v.Message = m.Message
	if v.Role == codec.RoleValue.String() || v.Role == "" {
		v.Type = m.Types[templates.WithoutIndexes(v.Path)]
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
