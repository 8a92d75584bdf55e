package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/store"
)

type appendInput struct {
	CapturePath
	Offset int64 `query:"offset" required:"true" minimum:"0" doc:"current size of the capture; the body is appended there"`
	RawRequest
}

type appendOutput struct{ Body store.Capture }

// offsetProblem is the error body for an offset other than the end of the capture.
type offsetProblem struct {
	huma.ErrorModel
	Offset int64 `json:"offset" doc:"current size: continue from here"`
}

// appendCapture appends a piece to a capture. The piece is on disk when it answers.
func (s *API) appendCapture(_ context.Context, in *appendInput) (*appendOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	if s.Captures.Runs(ws.Name, in.ID) || s.Captures.Writes(ws.Name, in.ID) {
		return nil, huma.Error403Forbidden("this capture belongs to a running listener and cannot be appended to")
	}
	if x, err := ws.Captures.Get(in.ID); err == nil && x.Collected != nil {
		return nil, huma.Error403Forbidden("this capture belongs to a collector and cannot be appended to")
	}
	x, err := ws.Captures.Append(in.ID, in.Offset, in.large(store.MaxAppend))
	var moved *store.OffsetError
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &moved):
		return nil, &offsetProblem{errorModel(http.StatusConflict, moved.Error()), moved.Size}
	case errors.As(err, &large):
		return nil, bodyError(large)
	case err != nil:
		return nil, captureProblem(err)
	}
	s.Captures.Grown(ws.Name, in.ID, x.Size, time.Now())
	return &appendOutput{x}, nil
}
