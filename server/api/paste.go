package api

import (
	"context"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/paste"
	"wirebench/server/admit"
	"wirebench/server/workspace"
)

func (s *API) registerPaste(api huma.API) {
	add(api, "POST /api/{ws}/paste", "paste", "Say what a pasted text is, and the bytes in it", s.paste, small, status(400, 413, 422))
}

type pasteInput struct {
	Workspace string `path:"ws"`
	Body      struct {
		Text string `json:"text" doc:"any text with bytes in it"`
		Form string `json:"form,omitempty" doc:"take the text as this form instead of guessing"`
	}
}

type pasteOutput struct{ Body paste.PasteInfo }

// paste says what a text is, and the bytes in it.
func (s *API) paste(ctx context.Context, in *pasteInput) (*pasteOutput, error) {
	if _, err := s.workspaceNamed(in.Workspace); err != nil {
		return nil, err
	}
	if err := admitted(ctx, admit.Paste, len(in.Body.Text), admit.PerPasted); err != nil {
		return nil, err
	}
	p, err := workspace.Recognise(in.Body.Text, in.Body.Form)
	if err != nil {
		return nil, unreadable(err)
	}
	return &pasteOutput{p.Info()}, nil
}

// place is a place in a text of the request; both count from 1.
type place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// unreadable is the error for a text that holds no bytes, with the place if it has one.
func unreadable(err error) error {
	var at *paste.Error
	if !errors.As(err, &at) || at.Line == 0 {
		return huma.Error422UnprocessableEntity(err.Error())
	}
	return huma.Error422UnprocessableEntity(err.Error(), &huma.ErrorDetail{
		Message: at.Message, Location: "body.text", Value: place{at.Line, at.Column},
	})
}
