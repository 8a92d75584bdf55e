package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/history"
)

type changesOutput struct{ Body ChangeList }

// ChangeList is the journal of a project.
type ChangeList struct {
	Changes []history.Step `json:"changes" doc:"newest first: uploads, new names of messages, codes, deleted files"`
}

// listChanges lists the journal of a project.
func (s *API) listChanges(_ context.Context, in *workspaceInput) (*changesOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &changesOutput{}
	out.Body.Changes = ws.History.Steps()
	return out, nil
}

type changeInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	ID        string `path:"id" maxLength:"40" doc:"id of the change"`
	Rest      bool   `query:"rest" doc:"leave files that have changed since, instead of refusing"`
}

type changeOutput struct{ Body history.Step }

// ChangeProblem is the error body for a change that cannot be undone or redone: its files have changed since.
type ChangeProblem struct {
	huma.ErrorModel
	Changed []string `json:"changed" doc:"files that have changed since"`
	Files   int      `json:"files" doc:"number of files of the change"`
}

func (s *API) undoChange(ctx context.Context, in *changeInput) (*changeOutput, error) {
	return s.turnChange(ctx, in, true)
}

func (s *API) redoChange(ctx context.Context, in *changeInput) (*changeOutput, error) {
	return s.turnChange(ctx, in, false)
}

// turnChange undoes or redoes a change.
func (s *API) turnChange(ctx context.Context, in *changeInput, undo bool) (*changeOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &changeOutput{}
	err = s.Rooms.Rename(ws.Workspace, ws.History.Moves(in.ID, undo), func() (err error) {
		out.Body, err = ws.Turn(in.ID, undo, in.Rest, authors(ctx)...)
		return err
	})
	if err != nil {
		return nil, StoreProblem(err)
	}
	return out, nil
}

// stepProblem converts a *history.StepError to an error with a status.
func stepProblem(e *history.StepError) error {
	if e.Gone {
		return huma.Error404NotFound(e.Error())
	}
	changed := append([]string{}, e.Changed...)
	return &ChangeProblem{errorModel(http.StatusConflict, e.Error()), changed, e.Files}
}
