package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/answer"
)

func problem(w http.ResponseWriter, status int, detail string) { answer.Problem(w, status, detail) }

// space is a workspace as it is now, nil if there is none of that name.
func (s *Server) space(name string) *space {
	w := s.byName[name]
	if w == nil {
		return nil
	}
	return &space{w, w.Now()}
}

// workspaceNamed finds a workspace, or says which there are.
func (s *Server) workspaceNamed(name string) (*space, error) {
	if w := s.space(name); w != nil {
		return w, nil
	}
	names := make([]string, 0, len(s.byName))
	for n := range s.byName {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, huma.Error404NotFound(fmt.Sprintf("no workspace %q; there are: %s", name, strings.Join(names, ", ")))
}
