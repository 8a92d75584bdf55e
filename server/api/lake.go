package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/ingest"
)

type lakeInput struct {
	Workspace string `path:"project" doc:"name of the project"`
}

type lakeOutput struct {
	Status int
	Body   ingest.LakeState
}

// readLake returns what the lake has of a project.
func (s *API) readLake(_ context.Context, in *lakeInput) (*lakeOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	if s.Lake != nil {
		if state, ok := s.Lake.State(ws.Name); ok {
			return &lakeOutput{http.StatusOK, state}, nil
		}
	}
	return nil, huma.Error409Conflict("this server keeps no lake of this project (--lake)")
}

// rewriteLake begins to replace the rows of a project in the lake.
func (s *API) rewriteLake(ctx context.Context, in *lakeInput) (*lakeOutput, error) {
	out, err := s.readLake(ctx, in)
	if err != nil {
		return nil, err
	}
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	s.Lake.Rewrite(ws.Name)
	out.Status = http.StatusAccepted
	return out, nil
}
