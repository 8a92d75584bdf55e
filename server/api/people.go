package api

import (
	"context"

	"wirebench/server/rooms"
)

type peopleOutput struct{ Body PeopleList }

// PeopleList is who edits which definitions.
type PeopleList struct {
	Files []rooms.FilePeople `json:"files" doc:"definitions that somebody has open, by name"`
	Begun []Begun            `json:"begun,omitempty" doc:"definitions that were begun and not saved"`
}

// Begun is a definition that was begun and not saved.
type Begun struct {
	File    string `json:"file" doc:"the name that its file would have"`
	Message string `json:"message" doc:"the name of the definition"`
}

// listPeople lists who edits which definitions.
func (s *API) listPeople(_ context.Context, in *workspaceInput) (*peopleOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &peopleOutput{PeopleList{Files: s.Rooms.People(ws.Name)}}
	now := ws.Now()
	for _, file := range s.Rooms.Begun(ws.Workspace) {
		out.Body.Begun = append(out.Body.Begun, Begun{file, now.NameOfNew(file)})
	}
	return out, nil
}
