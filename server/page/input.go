package page

import (
	"fmt"

	"wirebench/codec/paste"
	"wirebench/defs/schema"
	"wirebench/templates"
)

// Bounds of what a page lists.
const (
	maxListed = 200 // messages of one input
	maxNotes  = 5   // notes on a pasted text
)

// verdict describes how the input was interpreted, and the size of the message shown.
func (p *work) verdict() {
	in, paste := &p.view.Input, p.job.Paste
	what, size := "1 byte", len(p.job.Messages[p.form.show].Data)
	if p.half {
		what = fmt.Sprintf("%d½ bytes", size)
	} else if size != 1 {
		what = fmt.Sprintf("%d bytes", size)
	}
	if n := len(p.job.Messages); n > 1 {
		what = fmt.Sprintf("%d messages, this one %s", n, what)
	}
	if paste == nil {
		in.Verdict = "Built from values, " + what
		return
	}
	in.Verdict, in.Why = paste.Title+", "+what, paste.Why
	if worthKeeping(paste) && in.Form == "" { // in a form chosen by the user, it might be read differently when the capture is opened
		in.Keep = paste.Title
	}
	for i, n := range paste.Notes {
		if i == maxNotes {
			in.Notes = append(in.Notes, fmt.Sprintf("%d more notes", len(paste.Notes)-maxNotes))
			break
		}
		in.Notes = append(in.Notes, n.String())
	}
}

// worthKeeping reports whether a frame list shows more of a text than its first message does.
func worthKeeping(p *paste.Paste) bool {
	if len(p.Messages) > 1 || p.Packets {
		return true
	}
	return len(p.Messages) == 1 && (p.Messages[0].Dir != schema.Both || p.Messages[0].Time.String() != "")
}

// list lists the messages of an input with several.
func (p *work) list(show int, status string) {
	j := p.job
	j.Request.Fields = false
	for i, m := range j.Messages {
		if i == maxListed {
			p.view.MoreMessages = len(j.Messages) - maxListed
			break
		}
		row := templates.MessageRow{Number: i, Dir: m.Dir.String(), Size: len(m.Data), Open: i == show, Edited: m.Edited}
		if j.Paste != nil {
			row.Time = j.Paste.Messages[i].Time.String()
		}
		res := j.Decode(i)
		if row.Status, row.Name = res.Status, res.Message; row.Name == "" && res.Code != nil {
			row.Name = fmt.Sprintf("code 0x%04X", *res.Code)
		}
		if i == show {
			row.Status = status
		}
		p.view.Messages = append(p.view.Messages, row)
	}
}

// forms returns the forms of pasted text, grouped for a menu.
func forms() []templates.FormGroup {
	var out []templates.FormGroup
	for _, f := range paste.Forms() {
		if len(out) == 0 || out[len(out)-1].Title != f.Group {
			out = append(out, templates.FormGroup{Title: f.Group})
		}
		g := &out[len(out)-1]
		g.Forms = append(g.Forms, templates.FormChoice{ID: f.ID, Title: f.Title})
	}
	return out
}
