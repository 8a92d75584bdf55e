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

func (s *API) registerCompare(api huma.API) {
	add(api, "POST /api/v1/{ws}/compare", "compare-definitions", "Compare two definitions: their lines, their fields, and how far each byte has moved", s.compareDefinitions, small, status(400, 413, 422))
}

// ComparedDefinition is a definition to compare.
type ComparedDefinition struct {
	Message string `json:"message" minLength:"1" maxLength:"1000" doc:"NAME or NAME.VERSION"`
	Text    string `json:"text,omitempty" maxLength:"4194304" doc:"unsaved text in place of the stored one"`
}

type compareTextsInput struct {
	Workspace string `path:"ws" doc:"name of the project"`
	Body      struct {
		Old ComparedDefinition `json:"old"`
		New ComparedDefinition `json:"new"`
	}
}

type compareTextsOutput struct{ Body ComparedDefinitions }

// ComparedDefinitions is a comparison of two definitions.
type ComparedDefinitions struct {
	view.Compared
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
	if err := admitted(ctx, admit.Layout, 2*(len(in.Body.Old.Text)+len(in.Body.New.Text)), admit.PerCompiled); err != nil {
		return nil, err
	}
	var sides [2]*workspace.Definition
	var lines [2][]string
	out := &compareTextsOutput{}
	b := &out.Body
	for i, x := range []ComparedDefinition{in.Body.Old, in.Body.New} {
		d, err := ws.Snapshot.Open(x.Message, x.Text)
		if err != nil {
			return nil, asHTTP(err)
		}
		if d.Program == nil {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("%s has mistakes, so it has no layout", x.Message))
		}
		if d.Broken() {
			b.Wrong = append(b.Wrong, x.Message)
		}
		sides[i], lines[i] = d, strings.Split(strings.TrimSuffix(source.UnixLines(d.File.Text), "\n"), "\n")
	}
	b.Compared = view.ComparePrograms(sides[0].Program, sides[1].Program)
	var where *view.ComparedRow
	if b.Compat, where = b.Compared.Compat(); where != nil {
		b.Where = cmp.Or(where.Old, where.New).Offset
	}
	b.Lines = []ComparedLine{}
	for _, e := range text.Diff(lines[0], lines[1]) {
		line := ComparedLine{Old: e.Old, New: e.New}
		if e.New > 0 {
			line.Text = lines[1][e.New-1]
		} else {
			line.Text = lines[0][e.Old-1]
		}
		b.Lines = append(b.Lines, line)
	}
	return out, nil
}
