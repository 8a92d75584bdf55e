package api

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/view"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/server/admit"
	"wirebench/server/workspace"
)

// ComparedDefinition is a definition to compare.
type ComparedDefinition struct {
	Message  string `json:"message" minLength:"1" maxLength:"1000" doc:"NAME or NAME.VERSION"`
	Text     string `json:"text,omitempty" maxLength:"4194304" doc:"unsaved text in place of the stored one"`
	Revision string `json:"revision,omitempty" maxLength:"40" doc:"id of a revision in the history of its file, whose text is in place of the stored one"`
}

type compareTextsInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      struct {
		Old ComparedDefinition `json:"old"`
		New ComparedDefinition `json:"new"`
	}
}

type compareTextsOutput struct{ Body ComparedDefinitions }

// ComparedDefinitions is a comparison of two definitions.
type ComparedDefinitions struct {
	view.Compared
	NoLayout string `json:"noLayout,omitempty" doc:"why only the lines are compared, which is so where a revision has no layout"`

	Compat view.Compat    `json:"compat" enum:"same,extended,broken" doc:"same: all fields have the same bytes; extended: others come after them; broken: a field has other bytes or another type, or is gone"`
	Where  string         `json:"where,omitempty" doc:"offset of the first part that breaks or extends the layout"`
	Lines  []ComparedLine `json:"lines" doc:"of both texts; moved lines are removed and added"`
	Wrong  []string       `json:"wrong,omitempty" doc:"definitions with mistakes: the layout has only what is valid in them"`
}

// ComparedLine is a line of one or both texts.
type ComparedLine struct {
	Old  int    `json:"old,omitempty" doc:"its number, from 1; absent if it was added"`
	New  int    `json:"new,omitempty" doc:"its number, from 1; absent if it was removed"`
	Text string `json:"text"`
}

// compareDefinitions compares two definitions of a project, stored or not.
func (s *API) compareDefinitions(ctx context.Context, in *compareTextsInput) (*compareTextsOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	sides := [2]ComparedDefinition{in.Body.Old, in.Body.New}
	size := 0
	for i := range sides {
		if sides[i].Text, err = ws.textOr(&sides[i]); err != nil {
			return nil, err
		}
		size += len(sides[i].Text)
	}
	if err := admitted(ctx, admit.Layout, 2*size, admit.PerCompiled); err != nil {
		return nil, err
	}
	var texts [2]*workspace.Definition
	out := &compareTextsOutput{}
	b := &out.Body
	for i, x := range sides {
		d, err := ws.Snapshot.Open(x.Message, x.Text)
		if err != nil {
			return nil, asHTTP(err)
		}
		switch {
		case d.Program != nil:
		case sides[0].Revision+sides[1].Revision == "":
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("%s has mistakes, so it has no layout", x.Message))
		default:
			b.NoLayout = fmt.Sprintf("the %s text has no layout", [2]string{"old", "new"}[i])
		}
		if d.Broken() {
			b.Wrong = append(b.Wrong, x.Message)
		}
		texts[i] = d
	}
	b.fill(texts[0], texts[1])
	return out, nil
}

// fill compares the lines of two texts and, unless NoLayout says why not, their layouts.
func (b *ComparedDefinitions) fill(before, after *workspace.Definition) {
	b.Compat, b.Rows, b.Lines = view.CompatSame, []view.ComparedRow{}, comparedLines(before.File, after.File)
	if b.NoLayout != "" {
		return
	}
	b.Compared = view.ComparePrograms(before.Program, after.Program)
	var where *view.ComparedRow
	if b.Compat, where = b.Compared.Compat(); where != nil {
		b.Where = cmp.Or(where.Old, where.New).Offset
	}
}

// textOr returns the text of a definition: that of its revision, or the one that it has.
func (ws *space) textOr(x *ComparedDefinition) (string, error) {
	if x.Revision == "" {
		return x.Text, nil
	}
	if x.Text != "" {
		return "", huma.Error422UnprocessableEntity("a definition has either a text or a revision")
	}
	text, err := ws.History.Text(ws.FileName(x.Message), x.Revision)
	return cmp.Or(text, "\n"), StoreProblem(err) // an empty text stands for the stored one
}

// comparedLines compares the lines of two files.
func comparedLines(before, after *source.File) []ComparedLine {
	linesOf := func(f *source.File) []string {
		return strings.Split(strings.TrimSuffix(source.UnixLines(f.Text), "\n"), "\n")
	}
	olds, news, out := linesOf(before), linesOf(after), []ComparedLine{}
	for _, e := range text.Diff(olds, news) {
		line := ComparedLine{Old: e.Old, New: e.New}
		if e.New > 0 {
			line.Text = news[e.New-1]
		} else {
			line.Text = olds[e.Old-1]
		}
		out = append(out, line)
	}
	return out
}
