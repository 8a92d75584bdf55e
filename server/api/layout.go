package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/server/admit"
	"wirebench/server/settings"
)

type layoutInput struct {
	Workspace string `path:"project"`
	Body      struct {
		Text    string `json:"text,omitempty" maxLength:"4194304" doc:"of a definition"`
		Message string `json:"message,omitempty" maxLength:"1000" doc:"NAME or NAME.VERSION of the stored definition, or the name to use for text"`
		Field   string `json:"field,omitempty" maxLength:"1048576" doc:"path: only the rows of this field, with offsets that the layout abbreviates in full"`

		Settings settings.Settings `json:"settings,omitzero" doc:"settings that override those of the project, for this request"`
	}
}

type layoutOutput struct {
	Body struct {
		view.LayoutInfo
		Diagnostics []diag.Info `json:"diagnostics" doc:"mistakes in the definition"`
	}
}

// layout returns the layout of a definition. A definition with mistakes is not an error: it may be half typed.
func (s *API) layout(ctx context.Context, in *layoutInput) (*layoutOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	if in.Body.Text == "" && in.Body.Message == "" {
		return nil, huma.Error422UnprocessableEntity("text or message is required")
	}
	if err := admitted(ctx, admit.Layout, len(in.Body.Text), admit.PerCompiled); err != nil {
		return nil, err
	}
	if ws, err = ws.with(in.Body.Settings); err != nil {
		return nil, err
	}
	d, err := ws.Snapshot.Open(in.Body.Message, in.Body.Text)
	if err != nil {
		return nil, asHTTP(err)
	}
	out := &layoutOutput{}
	out.Body.LayoutInfo, out.Body.Diagnostics = d.Layout(), d.Diagnostics
	if in.Body.Field != "" && d.Program != nil {
		out.Body.LayoutInfo = view.FieldLayout(d.Program, in.Body.Field)
	}
	return out, nil
}
