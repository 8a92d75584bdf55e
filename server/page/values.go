package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// Bounds of values on a page.
const (
	maxValue    = 1 << 20
	maxProblems = 100
)

// notJSON returns the position where a text is not valid JSON, nil if it is valid. The codec counts bytes, the page lines and columns.
func notJSON(text string) *view.ProblemInfo {
	var any json.RawMessage
	var wrong *json.SyntaxError
	if err := json.Unmarshal([]byte(text), &any); !errors.As(err, &wrong) {
		return nil
	}
	before := text[:max(0, min(int(wrong.Offset)-1, len(text)))]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return &view.ProblemInfo{Severity: "error", Code: "not-json", Message: fmt.Sprintf("line %d, column %d: %v", line, column, wrong)}
}

// encodedNote describes the result of encoding and its difference from the previous message.
func encodedNote(data, was []byte) string {
	note := fmt.Sprintf("Encoded: %d bytes", len(data))
	if was == nil {
		return note + "."
	}
	if bytes.Equal(data, was) {
		return note + ", the same as before."
	}
	first := 0
	for first < min(len(data), len(was)) && data[first] == was[first] {
		first++
	}
	if len(data) != len(was) {
		return fmt.Sprintf("%s (%+d), different from 0x%02x on.", note, len(data)-len(was), first)
	}
	n := 0
	for i := range data {
		if data[i] != was[i] {
			n++
		}
	}
	return fmt.Sprintf("%s, %d of them changed, the first at 0x%02x.", note, n, first)
}

// encode replaces the shown message by the bytes of values.
func (p *work) encode(text string) {
	v := &p.view.Values
	if p.def == nil || p.def.Program == nil {
		p.notice("Choose a message first: its definition encodes the values.")
		return
	}
	value := cmp.Or(strings.TrimSpace(text), "{}")
	if where := notJSON(value); where != nil {
		v.Problems = []view.ProblemInfo{*where}
		return
	}
	var code *uint32
	if p.form.code != "" {
		n, err := strconv.ParseUint(p.form.code, 0, 32)
		if err != nil {
			v.Problems = []view.ProblemInfo{{Severity: "error", Code: "bad-code", Message: "the code must be a 32-bit number, decimal or 0x, not " + strconv.Quote(p.form.code)}}
			return
		}
		c := uint32(n)
		code = &c
	} else if p.form.action == "build" && !p.def.Message.HasKey {
		code = new(uint32) // a placeholder to be overwritten
	}
	data, _, problems, err := p.def.Snap.EncodeValueOver(p.def.Message, code, []byte(value), p.base())
	switch {
	case errors.Is(err, workspace.ErrNoCode):
		v.Problems = []view.ProblemInfo{{Severity: "error", Code: "no-code", Message: "neither the definition nor a code map has the code of this message: enter it below"}}
	case err != nil:
		v.Problems = []view.ProblemInfo{{Severity: "error", Code: "cannot-encode", Message: err.Error()}}
	case len(problems) > 0:
		v.Problems = problems[:min(len(problems), maxProblems)]
	default:
		var was []byte
		if p.form.action == "build" {
			p.form.input, p.form.edits, p.form.show = "", nil, 0
		}
		if p.job = p.read(); p.job != nil && p.form.show < len(p.job.Messages) {
			was = p.job.Messages[p.form.show].Data
		}
		if p.job == nil { // replaces an unreadable input
			p.form.input = ""
		}
		v.Encoded = encodedNote(data, was)
		p.form.byCode = false
		p.setBytes(slices.Clone(data))
	}
	if p.form.action == "build" && len(v.Problems) > 0 {
		p.notice("Nothing was built: " + v.Problems[0].Message + ".")
	}
}

// base returns the bytes of the shown message, if it is one of the open definition: values that are typed come from them.
func (p *work) base() []byte {
	if p.form.action == "build" {
		return nil
	}
	job := p.read()
	if job == nil || job.Rec.Program == nil || job.Rec.Program.Message != p.def.Message {
		return nil
	}
	return bytes.Clone(job.Rec.Message())
}

// values offers values to encode: those edited by the user, else those of the message, else empty ones.
func (p *work) values() {
	v := &p.view.Values
	if p.def == nil || p.def.Program == nil {
		return
	}
	v.Offered = true
	shown := p.view.Shown
	ofShown := shown != nil && shown.Linked && len(shown.Value) > 0
	v.Code = p.form.code
	if v.Code == "" && !p.def.Message.HasKey && p.def.Program.NeedsCode() {
		v.Code = "0"
		if ofShown && shown.Code != nil {
			v.Code = fmt.Sprintf("0x%04X", *shown.Code)
		}
	}
	if p.def.Message.HasKey {
		v.CodeHint = fmt.Sprintf("0x%04X", p.def.Message.Key.Code)
	}
	changed := p.form.value != "" && sumOf(p.form.value) != p.form.made
	if p.form.action == "encode" || changed && p.form.action != "values" {
		v.Text, v.Made, v.Kept = p.form.value, p.form.made, changed && p.form.action != "encode"
		if p.form.action == "encode" && len(v.Problems) == 0 {
			v.Made = sumOf(v.Text) // now those of the message
		}
		return
	}
	if p.live && !p.form.values { // not visible
		v.Made = sumOf("")
		return
	}
	raw := p.startValue
	if ofShown {
		raw = func() []byte { return shown.Value }
	}
	if v.Text = templates.JSONText(raw()); len(v.Text) > maxValue {
		v.Text, v.TooLong = "", true
	}
	v.Made = sumOf(v.Text)
}

// start returns the JSON of the values that a message begins with: no field is set, unless that would not be legal, as where a text has a
// least length or a number a lower bound. It is then the least legal message.
func (p *work) start() string {
	if p.def == nil || p.def.Program == nil {
		return "{}"
	}
	code := p.def.Message.Key.Code
	if _, _, problems, err := p.def.Snap.EncodeValue(p.def.Message, &code, []byte("{}")); err == nil && len(problems) > 0 {
		if least := value.Examples(p.def.Program, 1, 1, code); len(least) > 0 {
			return string(least[0].Value)
		}
	}
	return "{}"
}

// startValue returns the values of start with all fields.
func (p *work) startValue() []byte {
	code := p.def.Message.Key.Code
	data, _, problems, err := p.def.Snap.EncodeValue(p.def.Message, &code, []byte(p.start()))
	if err != nil || len(problems) > 0 {
		return []byte("{}")
	}
	var rec codec.Record
	return p.def.Snap.Decode(&rec, data, workspace.Request{Message: p.def.Message}).Value
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

		Choices []view.FormValue `json:"choices,omitempty"` // what it is chosen from; other numbers are legal, too
		Failed  string           `json:"failed,omitempty"`
	} `json:"value"`
}

// value looks up a value of the shown message.
func (l *livePage) value() *ValueAnswer {
	out := &ValueAnswer{N: l.n}
	v := &out.Value
	v.Path, v.Role = l.form.path, l.form.role
	p := l.begun(&templates.Workbench{})
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
		v.Value, v.Choices = m.Value[at.From:at.To], view.ChoicesOf(p.job.Rec.Program, view.WithoutIndexes(v.Path))
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
