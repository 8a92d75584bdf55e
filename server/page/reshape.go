package page

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/reshape"
	"wirebench/defs/edit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/templates"
)

// editor returns an editor of the open definition by the shown message. Without one, the message is one of zeros.
func (p *work) editor() (*reshape.Editor, error) {
	if p.def == nil || p.def.Message == nil {
		return nil, errors.New("open a definition first")
	}
	if p.def.Broken() {
		return nil, fmt.Errorf("the definition has errors: correct line %d first", p.firstError())
	}
	j := p.read()
	if j == nil || p.form.show >= len(j.Messages) {
		data, _, _, err := p.def.Snap.EncodeValue(p.def.Message, new(uint32), []byte("{}"))
		if err != nil {
			return nil, err
		}
		return p.def.Editor(data, codec.Session{})
	}
	j.Request.Fields = false
	if res := j.Decode(p.form.show); res.Message == "" || !sameMessage(j.Rec.Program.Message, p.def.Message) {
		return nil, errors.New("the bytes belong to another definition than the open one")
	}
	return p.def.Editor(slices.Clone(j.Messages[p.form.show].Data), j.Rec.Session)
}

// firstError returns the first line with an error.
func (p *work) firstError() int {
	for _, x := range p.def.Diagnostics {
		if x.Severity == "error" {
			return x.Line
		}
	}
	return 1
}

// bits parses the argument of an action: OFFSET:LENGTH in bits.
func (f *form) bits() (at codec.Range, err error) {
	off, length, _ := strings.Cut(f.arg, ":")
	from, err := strconv.ParseUint(off, 10, 31)
	if err == nil {
		var n uint64
		n, err = strconv.ParseUint(length, 10, 31)
		at = codec.Range{Off: uint32(from), Len: uint32(n)}
	}
	if err != nil {
		return at, fmt.Errorf("%q is not a range of bits", f.arg)
	}
	return at, nil
}

// reshape changes the text of the open definition by its fields. On failure p.failed has the reason.
func (p *work) reshape() {
	f := &p.form
	e, err := p.editor()
	var done reshape.Result
	if err == nil {
		done, err = p.reshaped(e)
	}
	if err != nil {
		p.failed = err.Error()
		return
	}
	base := f.base
	f.definition = source.UnixLines(done.Text)
	p.open()
	f.base = base
	p.line = done.Line
}

func (p *work) reshaped(e *reshape.Editor) (reshape.Result, error) {
	f := &p.form
	switch f.action {
	case "rename":
		return e.Rename(f.path, f.field)
	case "erase":
		return e.Remove(f.path)
	}
	at, err := f.bits()
	if err != nil {
		return reshape.Result{}, err
	}
	if f.action == "split" {
		return e.Split(at, atLeast0(f.typed))
	}
	return e.Define(at, f.typed, f.field)
}

// types lists the types that a range of the shown message may have.
func (p *work) types() (out Choices) {
	e, err := p.editor()
	if err == nil {
		at, wrong := p.form.bits()
		if err = wrong; err == nil {
			if !e.IsField(at) {
				out.Name = e.FreeName()
			}
			out.Types, err = e.Choices(at)
		}
	}
	if err != nil {
		out.Types, out.Failed = []reshape.Choice{}, err.Error()
	}
	return out
}

// Choices are the types that some bytes of the shown message may have.
type Choices struct {
	Types  []reshape.Choice `json:"types"`
	Name   string           `json:"name"` // an unused name; "" if the bytes are a field, which keeps its name
	Failed string           `json:"failed,omitempty"`
}

// ChoicesAnswer is the response to the action "types".
type ChoicesAnswer struct {
	N       int     `json:"n"`
	Choices Choices `json:"choices"`
}

// choices lists the types of a range.
func (l *livePage) choices() *ChoicesAnswer {
	view := templates.Workbench{}
	p := l.begun(&view)
	p.form.action = ""
	p.open()
	return &ChoicesAnswer{l.n, p.types()}
}

// beginning proposes a definition of a message that its definition does not explain, or that has none.
func (p *work) beginning(m *templates.Message) {
	snap := p.ws.Snapshot
	explained := m.Status == codec.OK.String() && m.Leftover == 0 && (m.Other != "" || !hasProblem(m.Problems, codec.WrongCode.String()))
	begun := m.Linked && !p.view.Definition.Stored
	if explained || begun || m.What != "" || len(m.Data) == 0 || snap.Dialect.Edits == nil || m.Status == "error" && !hasProblem(m.Problems, "no-message") {
		return
	}
	b := &m.Begin
	b.Offered = p.form.frame != nil && p.form.frame.Offer != ""
	of := p.unknown()
	guess := snap.Dialect.Edits.Guess != nil
	if snap.Dialect.Codes != nil && !of.HasCode && !guess {
		return // too short for a code
	}
	b.Code = of.Code
	name, known := "", false
	if snap.Dialect.Codes != nil && of.HasCode {
		name, known = snap.CodeName(of.Code)
		if !known {
			b.Map = snap.MapForCodes()
		}
	}
	if !known && snap.Dialect.Versions {
		name = fmt.Sprintf("%sUNKNOWN_%04X", map[schema.Dir]string{schema.ToServer: "C_", schema.ToClient: "S_"}[of.Dir], of.Code)
	} else if !of.HasCode && guess {
		name = "Unknown"
	} else if !known {
		name = fmt.Sprintf("unknown_%02x", of.Code)
	}
	b.Name = snap.FirstVersion(name)
}

// unknown describes the message of the input that was decoded last and has no definition.
func (p *work) unknown() edit.Message {
	j := p.job
	of := edit.Message{Dir: j.Messages[p.form.show].Dir, Group: j.Request.Group, Data: j.Messages[p.form.show].Data}
	if c := p.form.chosen; c != nil && c.told != nil && c.told.Offer != nil { // its bytes may not have the code
		of.Code, of.HasCode = c.told.Offer.Code, true
		return of
	}
	if j.Rec.Program != nil && j.Rec.HasCode() {
		of.Code, of.HasCode = j.Rec.Code, true
		if frame := j.Rec.Program.Message; frame != nil {
			of.Group = frame.Key.Group
		}
	} else if data := j.Messages[p.form.show].Data; len(data) > 0 && len(p.ws.Dialect.Frames) == 0 && p.ws.Dialect.Edits.Guess == nil {
		of.Code, of.HasCode = uint32(data[0]), true
	}
	return of
}

// beginFrom begins a definition of the shown message, which stays.
func (p *work) beginFrom(name string) {
	f := &p.form
	if p.job = p.read(); p.job == nil || f.show >= len(p.job.Messages) {
		p.beginNew(name)
		return
	}
	p.job.Request.Message, p.job.Definition = nil, nil
	p.job.Decode(f.show)
	of := p.unknown()
	if begin := p.ws.Dialect.Edits; !p.beginNew(name) && begin != nil {
		bare, _, _ := strings.Cut(f.message, ".")
		f.definition = begin.Begin(bare, of)
	}
	f.byCode = false
}
