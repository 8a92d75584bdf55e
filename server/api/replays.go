package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/runs"
)

// replayProblem returns an error of making a script or starting a run with its HTTP status.
func replayProblem(err error) error {
	var capture *runs.CaptureError
	switch {
	case errors.As(err, &capture):
		return captureProblem(capture.Err)
	case errors.Is(err, runs.ErrTooMany):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, runs.ErrReading):
		return huma.Error503ServiceUnavailable(err.Error())
	case errors.Is(err, runs.ErrNotLoopback):
		return huma.Error403Forbidden(err.Error())
	}
	return relayProblem(err)
}

// replayNamed finds a run of a workspace.
func (s *API) replayNamed(workspace, id string) (*runs.Run, error) {
	ws, err := s.workspaceNamed(workspace)
	if err != nil {
		return nil, err
	}
	for _, x := range s.Runs.Of(ws.Name) {
		if x.ID() == id {
			return x, nil
		}
	}
	return nil, huma.Error404NotFound("no such replay, or it was removed in favor of newer ones")
}

type startReplayInput struct {
	CapturePath
	Body runs.Config
}

type startReplayOutput struct {
	Status   int
	Location string `header:"Location" doc:"of the replay"`
	Body     struct {
		ID     string          `json:"id"`
		Listen string          `json:"listen,omitempty" doc:"address to which the client connects"`
		Script json.RawMessage `json:"script"`
	}
}

// startReplay starts a run.
func (s *API) startReplay(ctx context.Context, in *startReplayInput) (*startReplayOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	run, script, err := s.Runs.Start(ctx, runs.Recording{Workspace: ws.Workspace, Snapshot: ws.Snapshot, Capture: x}, in.Body)
	if err != nil {
		return nil, replayProblem(err)
	}
	out := &startReplayOutput{Status: http.StatusCreated, Location: addressBelow(ws.Name, "replays", run.ID())}
	out.Body.ID, out.Body.Listen, out.Body.Script = run.ID(), run.Now().Listen, script
	return out, nil
}

type replaysOutput struct {
	Body struct {
		Replays []runs.Info `json:"replays" doc:"the newest first"`
	}
}

// listReplays lists the runs of a workspace.
func (s *API) listReplays(_ context.Context, in *workspaceInput) (*replaysOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &replaysOutput{}
	out.Body.Replays = []runs.Info{}
	for _, x := range slices.Backward(s.Runs.Of(ws.Name)) {
		out.Body.Replays = append(out.Body.Replays, x.Now())
	}
	return out, nil
}

// ReplayPath is the workspace and replay in the path of a request.
type ReplayPath struct {
	Workspace string `path:"project" doc:"name of the project"`
	ID        string `path:"id" maxLength:"100" doc:"of the replay"`
}

type readReplayInput struct {
	ReplayPath
	From  int `query:"from" minimum:"0" doc:"number of results to skip"`
	Count int `query:"count" minimum:"1" maximum:"1000" default:"200" doc:"maximum number listed"`
}

type replayOutput struct {
	Body struct {
		runs.Info
		Results []runs.Result `json:"results" doc:"one for each execution of a step, in order"`
	}
}

// readReplay answers with the state of a run.
func (s *API) readReplay(_ context.Context, in *readReplayInput) (*replayOutput, error) {
	x, err := s.replayNamed(in.Workspace, in.ID)
	if err != nil {
		return nil, err
	}
	out := &replayOutput{}
	out.Body.Info, out.Body.Results = x.From(in.From, in.Count)
	return out, nil
}

// stopReplay stops a run and waits for its end. Its results stay.
func (s *API) stopReplay(ctx context.Context, in *ReplayPath) (*struct{}, error) {
	x, err := s.replayNamed(in.Workspace, in.ID)
	if err != nil {
		return nil, err
	}
	x.Stop()
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	select {
	case <-x.Done():
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, huma.Error503ServiceUnavailable("it is still stopping")
		}
	}
	return nil, nil
}
