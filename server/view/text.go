package view

import (
	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/defs/edit"
	"wirebench/server/workspace"
)

// Asked is the text of a definition to analyze, in its library.
type Asked struct {
	Snap *workspace.Snapshot
	Name string                // of the message, as from Snapshot.NameOf, or of an envelope
	Part int                   // number of the message in a text with several, from 1; 0 chooses it by name
	Text string                // "" for the stored text
	Good *workspace.Definition // an earlier one without mistakes, for the lines with mistakes; nil for the stored one
}

// Text is what a text means, and what pages show of it. It is immutable.
type Text struct {
	Def  *workspace.Definition // of the text
	Name string                // with Part: how to ask for its message from now on; a stored one has a name
	Part int

	Use    *workspace.Definition // Def, or it without its mistakes, or an earlier one without mistakes: by which bytes are decoded; nil for an envelope
	Stale  bool                  // it is an earlier one
	Holes  []edit.Hole           // the lines with mistakes, if Use is without them
	Layout *view.LayoutInfo      // of Use; nil for an envelope
	Rows   []LayoutRow           // of Layout
	Cells  []Cell
}

// maxMistakes bounds the mistakes that a page lists.
const maxMistakes = 100

// Mistakes returns what is wrong with the text; never nil.
func (t *Text) Mistakes() []diag.Info {
	return t.Def.Diagnostics[:min(len(t.Def.Diagnostics), maxMistakes)]
}

// Of analyzes a text. The error is that of Snapshot.Open.
func Of(a Asked) (*Text, error) { return (*Cache)(nil).Of(a) }

// opened analyzes a text as it is. What is shown of one with mistakes is for mended to say.
func opened(a Asked) (*Text, error) {
	def, err := a.Snap.Open(a.Name, a.Text)
	if err != nil {
		return nil, err
	}
	t := &Text{Def: def, Name: a.Name}
	if workspace.IsEnvelope(a.Name) {
		return t, nil
	}
	t.choose(a)
	if t.Use = t.Def; !t.Def.Broken() {
		t.draw()
	}
	return t, nil
}

// choose chooses the message of a text with several.
func (t *Text) choose(a Asked) {
	all := t.Def.Messages()
	if len(all) < 2 {
		return
	}
	if a.Part > 0 && a.Part <= len(all) {
		t.Def, t.Part = t.Def.Chosen(a.Part-1), a.Part
	}
	if m, err := a.Snap.Find(t.Def.Snap.NameOf(t.Def.Message)); err == nil && m.Span.File.Name == t.Def.File.Name {
		t.Name, t.Part = a.Snap.NameOf(m), 0
	}
}

// mended returns the analysis of a text with mistakes: of the text without its lines with mistakes, or of the earlier text.
func (t *Text) mended(a Asked) *Text {
	m, good := *t, ""
	if a.Good != nil {
		good = a.Good.File.Text
	}
	if def, holes := t.Def.Mended(a.Snap, t.Name, good); def != nil {
		if m.Use, m.Holes = def, holes; t.Part > 0 {
			m.Use = def.Chosen(t.Part - 1)
		}
	} else if a.Good != nil {
		m.Use, m.Stale = a.Good, true
	}
	m.draw()
	return &m
}

// draw lays out what is shown.
func (t *Text) draw() {
	info := t.Use.Layout()
	t.Layout, t.Rows, t.Cells = &info, LayoutRows(info.Rows), Cells(&info)
}
