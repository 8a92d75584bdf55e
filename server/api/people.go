package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/rooms"
)

func (s *API) registerPeople(api huma.API) {
	add(api, "GET /api/v1/{ws}/people", "people", "Who edits which definitions together now", s.listPeople)
}

type peopleOutput struct{ Body PeopleList }

// PeopleList is who edits which definitions.
type PeopleList struct {
	Files []rooms.FilePeople `json:"files" doc:"definitions that somebody has open, by name"`
}

// listPeople lists who edits which definitions.
func (s *API) listPeople(_ context.Context, in *workspaceInput) (*peopleOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return &peopleOutput{PeopleList{s.Rooms.People(ws.Name)}}, nil
}
