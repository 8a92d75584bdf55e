package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/captures"
	"wirebench/server/store"
)

// Limits of trying other workspaces' protocols on a capture.
const (
	elsewhereTime = 3 * time.Second
	maxElsewhere  = 8 // workspaces tried

	mostMapsElsewhere = 4 // code maps tried in one
)

// Elsewhere is a workspace whose protocol finds messages in a capture.
type Elsewhere struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Frames int    `json:"frames" doc:"messages that its definitions explain in the first part of the file; counting stops early"`
	Share  int    `json:"share" doc:"percent of the bytes of the first part that they explain"`
}

type elsewhereOutput struct{ Body ElsewhereList }

// ElsewhereList lists the workspaces in which a capture has messages.
type ElsewhereList struct {
	Workspaces []Elsewhere `json:"workspaces" doc:"other projects whose protocol finds messages in it"`
}

// elsewhereOf lists the other workspaces whose protocols find messages in a capture.
func (s *API) elsewhereOf(ctx context.Context, in *CapturePath) (*elsewhereOutput, error) {
	ws, x, err := s.captureAt(*in)
	if err != nil {
		return nil, err
	}
	found, err := s.elsewhere(ctx, ws, x)
	if err != nil {
		return nil, err
	}
	return &elsewhereOutput{ElsewhereList{found}}, nil
}

// elsewhere returns the projects of other protocols that find messages in a capture.
func (s *API) elsewhere(ctx context.Context, ws *space, x store.Capture) ([]Elsewhere, error) {
	ctx, stop := context.WithTimeout(ctx, elsewhereTime)
	defer stop()
	out := []Elsewhere{}
	tried := map[string]bool{ws.Snapshot.Dialect.Name: true}
	for _, w := range s.Projects.Seen(access.From(ctx).Sees).All() {
		other := &space{w, w.Now()}
		if other.Captures == nil || tried[other.Snapshot.Dialect.Name] || len(tried) > maxElsewhere {
			continue
		}
		tried[other.Snapshot.Dialect.Name] = true
		f, err := captures.Messages(ctx, ws.Captures, x.ID, other.Snapshot)
		if err != nil {
			return nil, captureProblem(err)
		}
		for i, codes := range other.Snapshot.Library.Maps { // the one in force may be of another build, or none
			if f.Messages > 0 || !f.Framed || i == mostMapsElsewhere {
				break
			}
			var as store.Capture
			as.Settings.Map = codes.Name
			if f, err = captures.Messages(ctx, ws.Captures, x.ID, w.For(as)); err != nil {
				return nil, captureProblem(err)
			}
		}
		if f.Messages > 0 {
			out = append(out, Elsewhere{other.Name, other.title(), f.Messages, f.Percent()})
		}
	}
	return out, nil
}

type copyInput struct {
	CapturePath
	To string `query:"to" required:"true" maxLength:"100" doc:"name of the target project"`
}

// copyCapture stores the file of a capture in another workspace, too. Marks and notes are not copied: they refer to frames of one protocol.
func (s *API) copyCapture(ctx context.Context, in *copyInput) (*captureOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	to, err := s.withCaptures(in.To)
	if err == nil && !access.From(ctx).Sees(to.Name) { // as if it did not exist
		err = huma.Error404NotFound(access.NoProject(in.To))
	}
	if err != nil {
		return nil, err
	}
	if why := access.From(ctx).Refusal("capture copied", to.Name); why != "" {
		return nil, huma.Error403Forbidden("storing a capture in " + to.Name + " " + why)
	}
	if err := ws.mayHaveFile(ctx); err != nil {
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
	return &captureOutput{http.StatusCreated, addressBelow(to.Name, "captures", made.ID), made}, nil
}
