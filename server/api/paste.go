package api

import (
	"context"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/paste"
	"wirebench/server/admit"
	"wirebench/server/workspace"
)

type pasteInput struct {
	Workspace string `path:"project"`
	Body      struct {
		Text string `json:"text" doc:"any text that contains bytes"`
		Form string `json:"form,omitempty" doc:"form of the text, instead of guessing"`

		Pattern string `json:"pattern,omitempty" maxLength:"1000" doc:"regular expression for messages, instead of a form: named groups data (hex) or base64, time, dir, name, seqno"`
	}
}

type pasteOutput struct{ Body paste.PasteInfo }

// paste answers with the form of a text and its bytes.
func (s *API) paste(ctx context.Context, in *pasteInput) (*pasteOutput, error) {
	if _, err := s.workspaceNamed(in.Workspace); err != nil {
		return nil, err
	}
	if err := admitted(ctx, admit.Paste, len(in.Body.Text), admit.PerPasted); err != nil {
		return nil, err
	}
	p, err := workspace.RecogniseBy(in.Body.Text, in.Body.Form, in.Body.Pattern)
	if err != nil {
		return nil, unreadable(err)
	}
	return &pasteOutput{p.Info()}, nil
}

// place is a position in a text of the request; both numbers count from 1.
type place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// unreadable returns the error for a text without bytes, with the position if known.
func unreadable(err error) error {
	var at *paste.Error
	if !errors.As(err, &at) || at.Line == 0 {
		return huma.Error422UnprocessableEntity(err.Error())
	}
	return huma.Error422UnprocessableEntity(err.Error(), &huma.ErrorDetail{
		Message: at.Message, Location: "body.text", Value: place{at.Line, at.Column},
	})
}
