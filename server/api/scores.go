package api

import (
	"context"
	"time"

	"wirebench/server/scores"
)

type scoreInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      struct {
		Message  string `json:"message" maxLength:"500"`
		Text     string `json:"text,omitempty" doc:"the text of the definition, if it is not the stored one"`
		Revision string `json:"revision,omitempty" maxLength:"40" doc:"id of a revision in the history of its file, whose text is judged"`

		Code *uint32 `json:"code,omitempty" doc:"of a message whose code is not known, to try it; without it the code of an open suggestion counts"`
	}
}

type scoreOutput struct{ Body scores.Score }

// score judges a definition by all messages of the project.
func (s *API) score(ctx context.Context, in *scoreInput) (*scoreOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	text, err := ws.textOr(&ComparedDefinition{in.Body.Message, in.Body.Text, in.Body.Revision})
	if err != nil {
		return nil, err
	}
	def, err := ws.Open(in.Body.Message, text)
	if err != nil {
		return nil, StoreProblem(err)
	}
	tried := (*uint32)(nil)
	if def.Message != nil && !def.Message.HasKey {
		if snap, code, err := ws.WithCode(def.Message.Name, in.Body.Code); err != nil {
			return nil, StoreProblem(err)
		} else if snap != nil {
			tried = &code
			if def, err = snap.Open(in.Body.Message, text); err != nil {
				return nil, StoreProblem(err)
			}
		}
	}
	board := s.Scores.Of(ws.Workspace)
	until := time.Now().Add(maxScore)
	run := board.Run(def, nil)
	for {
		more := run.Advance(ctx, scorePart)
		if out := run.Score(); !more && out.State.Reading == 0 || ctx.Err() != nil || !time.Now().Before(until) {
			out.Tried = tried
			return &scoreOutput{out}, ctx.Err()
		} else if !more {
			select {
			case <-ctx.Done():
			case <-time.After(scorePause):
			}
		}
	}
}

type scoresInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Wait      int    `query:"wait" minimum:"0" maximum:"60" default:"10" doc:"seconds to wait until all messages are judged"`
}

type scoresOutput struct{ Body *scores.Scores }

// Times of judging: other requests for the project wait for a part.
const (
	scorePart  = 200 * time.Millisecond
	scorePause = 100 * time.Millisecond // while captures are read
	maxScore   = 10 * time.Second       // for one definition; then the figures so far are the answer
)

// scores returns the scores of a project.
func (s *API) scores(ctx context.Context, in *scoresInput) (*scoresOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	board := s.Scores.Of(ws.Workspace)
	until := time.Now().Add(time.Duration(in.Wait) * time.Second)
	for {
		out := board.Scores(ctx, ws.Snapshot, scorePart)
		if out.Done || ctx.Err() != nil || !time.Now().Before(until) {
			return &scoresOutput{out}, ctx.Err()
		}
		if out.State.Reading > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(scorePause):
			}
		}
	}
}
