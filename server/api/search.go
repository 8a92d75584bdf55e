package api

import (
	"context"

	"wirebench/server/workspace"
)

type searchInput struct {
	Workspace string `path:"project"`
	Query     string `query:"q" maxLength:"200" doc:"words, all of which are found; a number also finds a code"`
	Limit     int    `query:"limit" default:"50" minimum:"1" maximum:"200"`
}

type searchOutput struct {
	Body SearchBody
}

// SearchBody is the result of a search, the best hits first.
type SearchBody struct {
	Found []workspace.Hit `json:"found"`
}

func (s *API) search(_ context.Context, in *searchInput) (*searchOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return &searchOutput{SearchBody{ws.Snapshot.Search(in.Query, in.Limit)}}, nil
}
