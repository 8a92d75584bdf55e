package page

import (
	"encoding/hex"
	"slices"
	"strings"

	"wirebench/server/workspace"
	"wirebench/templates"
)

// samples lists the samples of the open definition.
func (p *work) samples() {
	s := &p.view.Samples
	if p.def == nil || p.def.Message == nil {
		return
	}
	s.CanKeep = p.view.Definition.Stored && p.view.Shown != nil && p.view.Shown.Status != "error" && len(p.view.Shown.Data) > 0
	for i, x := range p.ws.Samples(p.view.Definition.File) {
		row := templates.SampleRow{Number: i, About: x.About, Size: len(x.Hex) / 2, Message: x.Message}
		of, err := p.ws.Find(x.Message)
		row.Other = err != nil || !sameMessage(of, p.def.Message)
		if p.view.Shown != nil {
			row.Current = x.Hex == hex.EncodeToString(p.view.Shown.Data)
		}
		s.CanKeep = s.CanKeep && !row.Current
		s.Rows = append(s.Rows, row)
	}
	slices.SortStableFunc(s.Rows, func(a, b templates.SampleRow) int { // samples of the open message first
		if a.Other == b.Other {
			return 0
		}
		if a.Other {
			return 1
		}
		return -1
	})
}

// takeSample replaces the input by a sample.
func (p *work) takeSample(n int) {
	m, err := p.ws.Find(p.form.message)
	if err != nil {
		return
	}
	list := p.ws.Samples(m.Span.File.Name)
	if n >= len(list) {
		p.notice("This sample no longer exists.")
		return
	}
	f := &p.form
	f.input, f.form, f.byCode, f.edits, f.show, f.bytes, f.rows = list[n].Hex, "", false, nil, 0, 0, 0
	if list[n].Message != f.message {
		if of, err := p.ws.Find(list[n].Message); err == nil && of.Span.File == m.Span.File {
			f.message = list[n].Message
		}
	}
}

// keepSample stores the shown message beside its definition.
func (p *work) keepSample() {
	j := p.read()
	if j == nil || p.def == nil || p.form.show >= len(j.Messages) || len(j.Messages[p.form.show].Data) == 0 {
		p.notice("No message to keep.")
		return
	}
	about := strings.Join(strings.Fields(p.form.about), " ")
	err := p.ws.AddSample(p.view.Definition.File, workspace.Sample{Message: p.view.Message, Hex: hex.EncodeToString(j.Messages[p.form.show].Data), About: about})
	if err != nil {
		p.notSaved(err)
		return
	}
	p.ws = &space{p.ws.Workspace, p.ws.Now()}
	p.form.about = ""
	p.done("Kept as a sample of " + p.view.Message + ".")
}

// dropSample removes a sample.
func (p *work) dropSample(n int) {
	file := p.view.Definition.File
	list := p.ws.Samples(file)
	if n >= len(list) {
		p.notice("This sample no longer exists.")
		return
	}
	if err := p.ws.DropSample(file, list[n]); err != nil {
		p.notSaved(err)
		return
	}
	p.ws = &space{p.ws.Workspace, p.ws.Now()}
	p.done("Removed the sample.")
}
