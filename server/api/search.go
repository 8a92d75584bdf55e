package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/workspace"
)

func (s *API) registerSearch(api huma.API) {
	add(api, "GET /api/v1/projects/{project}/search", "search", "Messages, fields, codes and comments of the library that contain words", s.search, small, status(422))
}

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
