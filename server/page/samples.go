package page

import (
	"encoding/hex"
	"slices"
	"strings"

	"wirebench/codec"
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
	p.judge()
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

// maxJudged bounds the bytes of samples that are decoded for each change of the text.
const maxJudged = 256 << 10

// judge decodes the samples of the open message with its text.
func (p *work) judge() {
	s, use := &p.view.Samples, p.use
	if use == nil || use.Program == nil {
		return
	}
	var stored *codec.Program
	if m, err := p.ws.Find(p.form.message); err == nil && p.def.Edited {
		stored, _ = p.ws.Program(m)
	}
	list, fitStored, left := p.ws.Samples(p.view.Definition.File), 0, maxJudged
	rec := &codec.Record{}
	for i := range s.Rows {
		row := &s.Rows[i]
		data, err := hex.DecodeString(list[row.Number].Hex)
		if row.Other || err != nil {
			continue
		}
		if left -= row.Size; left < 0 {
			s.Left++
			continue
		}
		if x := list[row.Number]; x.Broken() {
			if s.Broken++; s.Broken == 1 {
				s.How = x.Text()
			}
			continue
		}
		if stored != nil {
			if stored.Decode(rec, data); workspace.Wrong(rec) == "" {
				fitStored++
			}
		}
		s.Judged++
		use.Program.Decode(rec, data)
		if row.Wrong = workspace.Wrong(rec); row.Wrong == "" {
			s.Fit++
		} else if s.Why == "" {
			s.Failing, s.Why = row.Number, row.Wrong
			if row.About != "" {
				s.Why = row.About + ": " + row.Wrong
			}
		}
	}
	s.Worse = stored != nil && s.Fit < fitStored
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
	f.input, f.form, f.byCode, f.edits, f.show, f.bytes = list[n].Hex, "", false, nil, 0, 0
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
	p.ws = p.ws.again()
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
	p.ws = p.ws.again()
	p.done("Removed the sample.")
}
