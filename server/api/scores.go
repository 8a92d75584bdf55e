package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/scores"
)

func (s *API) registerScores(api huma.API) {
	add(api, "GET /api/v1/{ws}/scores", "scores", "How each definition explains the messages of its code in all captures", s.scores)
}

type scoresInput struct {
	Workspace string `path:"ws" doc:"name of the project"`
	Wait      int    `query:"wait" minimum:"0" maximum:"60" default:"10" doc:"seconds to wait until all messages are judged"`
}

type scoresOutput struct{ Body *scores.Scores }

// Times of judging: other requests for the project wait for a part.
const (
	scorePart  = 200 * time.Millisecond
	scorePause = 100 * time.Millisecond // while captures are read
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
