package server

import (
	"context"
	"net/http"
	"time"

	"wirebench/server/captures"
)

// Bounds of looking into a capture by the protocols of other workspaces.
const (
	elsewhereTime = 3 * time.Second
	maxElsewhere  = 8 // workspaces that are tried
)

// elsewhere is a workspace whose protocol a capture has messages of.
type elsewhere struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Frames int    `json:"frames" doc:"messages in the first part of the file, and not more than are needed to see it"`
}

type elsewhereOutput struct {
	Body struct {
		Workspaces []elsewhere `json:"workspaces" doc:"other workspaces whose protocol finds messages in it"`
	}
}

// elsewhereOf says in which other workspaces a capture shows something.
func (s *Server) elsewhereOf(ctx context.Context, in *CapturePath) (*elsewhereOutput, error) {
	ws, x, err := s.captureAt(*in)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, elsewhereTime)
	defer stop()
	out := &elsewhereOutput{}
	out.Body.Workspaces = []elsewhere{}
	tried := map[string]bool{ws.Snapshot.Dialect.Name: true}
	for _, w := range s.Workspaces {
		other := s.space(w.Name)
		if other == nil || other.Captures == nil || tried[other.Snapshot.Dialect.Name] || len(tried) > maxElsewhere {
			continue
		}
		tried[other.Snapshot.Dialect.Name] = true
		n, err := captures.Messages(ctx, ws.Captures, x.ID, other.Snapshot)
		if err != nil {
			return nil, captureProblem(err)
		}
		if n > 0 {
			out.Body.Workspaces = append(out.Body.Workspaces, elsewhere{other.Name, other.Title, n})
		}
	}
	return out, nil
}

type copyInput struct {
	CapturePath
	To string `query:"to" required:"true" maxLength:"100" doc:"name of the workspace that gets it"`
}

// copyCapture stores the file of a capture in another workspace, too. Marks and notes stay: they are about frames of a protocol.
func (s *Server) copyCapture(_ context.Context, in *copyInput) (*captureOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	to, err := s.withCaptures(in.To)
	if err != nil {
		return nil, err
	}
	x, err := ws.Captures.Get(in.ID)
	if err != nil {
		return nil, captureProblem(err)
	}
	file, err := ws.Captures.Open(x.ID)
	if err != nil {
		return nil, captureProblem(err)
	}
	defer file.Close()
	made, err := to.Captures.Add(x.Name, time.Now(), file)
	if err != nil {
		return nil, captureProblem(err)
	}
	return &captureOutput{http.StatusCreated, made}, nil
}
