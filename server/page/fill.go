package page

import (
	"encoding/json"
	"errors"
	"slices"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/templates"
)

// ValuesForm is the values of the shown message for a form, or those of an empty message of the open definition.
type ValuesForm struct {
	Message string          `json:"message"`
	Form    view.Form       `json:"form"`
	Value   json.RawMessage `json:"value"`
	Case    int             `json:"case"` // index of the alternative of the message, -1 if it has none
	Made    bool            `json:"made"` // there is no message: these are defaults
	Failed  string          `json:"failed,omitempty"`
}

// FormAnswer is the response to the action "form".
type FormAnswer struct {
	N    int        `json:"n"`
	Form ValuesForm `json:"form"`
}

// maxFormValue bounds the values of a form, as JSON.
const maxFormValue = 256 << 10

// formed describes the values for a form.
func (l *livePage) formed() *FormAnswer {
	page := templates.Workbench{}
	p := l.begun(&page)
	p.form.action = ""
	p.open()
	out := p.valuesForm()
	if len(out.Value) > maxFormValue {
		out.Value, out.Failed = []byte("{}"), "the values of this message are too many for a form"
	}
	return &FormAnswer{l.n, out}
}

func (p *work) valuesForm() (out ValuesForm) {
	out.Value, out.Case = []byte("{}"), -1
	rec := &codec.Record{}
	if j, res, err := p.shownValues(); err == nil && res.Message != "" {
		rec, out.Value = &j.Rec, res.Value
	} else {
		if p.def == nil || p.def.Program == nil {
			out.Failed = "choose a message first: its definition has the fields"
			return out
		}
		data, _, problems, err := p.def.Snap.EncodeValue(p.def.Message, new(uint32), []byte(p.start()))
		switch {
		case err != nil:
			out.Failed = err.Error()
			return out
		case len(problems) > 0:
			out.Failed = problems[0].Message
			return out
		}
		p.def.Program.Decode(rec, slices.Clone(data))
		out.Value, out.Made = value.AppendJSON(nil, rec), true
	}
	out.Message, out.Form = rec.Program.Message.Name, view.FormOf(rec.Program)
	for i := range rec.Nodes {
		if n := &rec.Nodes[i]; n.Kind == codec.NodeVariant && n.Raw < uint64(len(out.Form.Cases)) {
			out.Case = int(n.Raw)
		}
	}
	return out
}

// fill makes the shown message one of the values of a form. On failure p.failed has the reason.
func (p *work) fill() {
	if err := p.filled(); err != nil {
		p.failed = err.Error()
	}
}

func (p *work) filled() error {
	typed := []byte(p.form.typed)
	if wrong := notJSON(p.form.typed); wrong != nil {
		return errors.New(wrong.Message)
	}
	if _, res, err := p.shownValues(); err == nil && res.Message != "" {
		data, err := p.encoded(res, typed)
		if err == nil {
			p.setBytes(data)
		}
		return err
	}
	if p.def == nil || p.def.Message == nil {
		return errors.New("choose a message first")
	}
	data, _, problems, err := p.def.Snap.EncodeValue(p.def.Message, new(uint32), typed)
	switch {
	case err != nil:
		return err
	case len(problems) > 0:
		return problemError(problems[0])
	}
	p.form.input, p.form.edits, p.form.show, p.form.byCode = "", nil, 0, false
	p.setBytes(slices.Clone(data))
	return nil
}
