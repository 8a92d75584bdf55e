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

// Answer is what the server sends to an open page: what has to be changed in it. What is missing is as it was.
type Answer struct {
	N        int                 `json:"n"`                  // the last message that this knows of
	HTML     map[string]string   `json:"html,omitempty"`     // parts of the page, by the id of their element
	Lists    []ListChange        `json:"lists,omitempty"`    // what has changed in lists of the page
	Set      *Controls           `json:"set,omitempty"`      // controls whose value the server has changed
	Mistakes []diag.Info         `json:"mistakes,omitempty"` // all, in the text that the page has
	Outline  *ListPatch[Outline] `json:"outline,omitempty"`  // what the lines of the definition make
	Behind   bool                `json:"behind,omitempty"`   // the outline is of an older text than the page has
	Data     *Data               `json:"data,omitempty"`     // the message that is shown
	Export   *Exports            `json:"export,omitempty"`   // files that were asked for
	Failed   string              `json:"failed,omitempty"`   // why a value could not be changed
	Status   string              `json:"status"`
}

// Controls are the controls of a page that the server may change. Those that are missing are as the page has them.
type Controls struct {
	Message    *string            `json:"message,omitempty"`
	Definition *string            `json:"definition,omitempty"`
	Reset      bool               `json:"reset,omitempty"` // it is another definition: nothing is to be undone
	Base       *string            `json:"base,omitempty"`
	Input      *string            `json:"input,omitempty"`
	Form       *string            `json:"form,omitempty"`
	ByCode     *bool              `json:"bycode,omitempty"`
	Show       *int               `json:"show,omitempty"`
	Edits      *map[string]string `json:"edits,omitempty"`
	Opened     *[]string          `json:"opened,omitempty"`
	Edited     *bool              `json:"edited,omitempty"` // the definition is not the one on disk
}

// toldControls are the values of controls that a page has.
type toldControls struct {
	message, definition, base, input, form string
	byCode, edited                         bool
	show                                   int
	edits                                  map[string]string
	opened                                 []string
}

// has is what a page has after it has sent what is in its form.
func (f *form) has(edited bool) toldControls {
	return toldControls{f.message, f.definition, f.base, f.input, f.form, f.byCode, edited, f.show, writeEdits(f.edits), sortedNames(f.opened)}
}

// controls says which controls are to be changed: those that are not as the page has them.
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
		c.Edited = &now.edited // what the page has is of another connection
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
		c.Base = &now.base // it opened that with the one of its draft
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

// other is a value that is not as it was, nil if it is.
func other[T comparable](was, is T) *T {
	if was == is {
		return nil
	}
	return &is
}

// Outline is a part of the open message that a line of its definition makes.
type Outline struct {
	Key  string `json:"key"`
	Step int    `json:"step"`           // lines since that of the one before, or since line 0
	Text string `json:"text,omitempty"` // what is to be said about the line
}

// maxOutline bounds the parts that a page is told of.
const maxOutline = 5000

// outline is what the lines of a definition make. Of the parts of one line one has the text: the last value, or else the first part.
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

// Data is a message for the hex grid: its bytes, and what each run of bits is. Len and Part have one entry a run, in the order of
// the wire. What is missing of the bytes and lists is as the page has it.
type Data struct {
	Bytes   *[]byte            `json:"bytes,omitempty"` // base64
	Built   bool               `json:"built,omitempty"` // there was nothing before
	Changed [][2]int           `json:"changed,omitempty"`
	Len     *ListPatch[uint32] `json:"len,omitempty"`    // bits
	Part    *ListPatch[int]    `json:"part,omitempty"`   // number of a part
	Jumps   [][2]int           `json:"jumps,omitempty"`  // run and first bit, where a run does not begin at the end of the one before
	Parts   *ListPatch[Part]   `json:"parts,omitempty"`  // what the runs are, each once
	Linked  bool               `json:"linked,omitempty"` // the layout that is shown is the message's
	Stale   bool               `json:"stale,omitempty"`  // the lines of its parts are of an older text than the page has
	Used    int                `json:"used"`
	Name    string             `json:"name"`
	Dir     string             `json:"dir"`
}

// Part is what runs of bits of a message have in common.
type Part struct {
	Key    string `json:"key"`  // the same as in the layout
	Path   string `json:"path"` // without indexes
	Type   string `json:"type"`
	Role   string `json:"role"`
	Lined  bool   `json:"lined,omitempty"` // a line of the definition makes it
	Step   int    `json:"step,omitempty"`  // how many lines that is after that of the last part before it that has one
	Family string `json:"family"`          // of its colour
}

// message sends the shown message, as far as it is not the one that the page has.
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

// same reports whether the page has a part as it is now, which it is sent otherwise.
func (l *livePage) same(id, is string) bool {
	sum := maphash.String(l.seed, is)
	old, ok := l.sent[id]
	l.sent[id] = sum
	return ok && old == sum
}

// runs are the runs of bits of a message: their lengths and the numbers of their parts, and those parts. It notes which do not begin at the
// end of the one before.
func (d *Data) runs(m *templates.Message) (lens []uint32, kinds []int, parts []Part) {
	lens, kinds, parts = make([]uint32, len(m.Fields)), make([]int, len(m.Fields)), []Part{}
	type kind struct {
		field      uint16
		role, path string // path: of bookkeeping without a field, or the type of a gap
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

// ValueAnswer is a value of the shown message, to be copied or to be edited.
type ValueAnswer struct {
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
		v.Failed = "there is no message"
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
