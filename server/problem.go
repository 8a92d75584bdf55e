package server

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/answer"
	"wirebench/server/workspace"
)

func problem(w http.ResponseWriter, status int, detail string) { answer.Problem(w, status, detail) }

// workspaceNamed returns a project.
func (s *Server) workspaceNamed(name string) (*workspace.Workspace, error) {
	w, err := s.Projects.Get(name)
	if err != nil {
		return nil, huma.Error404NotFound(err.Error())
	}
	return w, nil
}

// isAPI reports whether a request comes from a program, which cannot use an HTML page.
func isAPI(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/api/docs"
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	if isAPI(r) {
		problem(w, http.StatusNotFound, "no route "+r.Method+" "+r.URL.Path+"; see /api/docs")
		return
	}
	s.workbench.NotFound(w, r)
}

// refused logs a request that the access policy does not permit.
func (s *Server) refused(r *http.Request) {
	access.LogRefusal(s.Log, r, "")
	if s.Door != nil {
		s.Door.Refused(r)
	}
}

// notAllowed responds with the methods that a path supports.
func (s *Server) notAllowed(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		found := method
		if method == http.MethodHead { // supported wherever GET is
			found = http.MethodGet
		}
		if s.router.Match(chi.NewRouteContext(), found, cmp.Or(r.URL.RawPath, r.URL.Path)) {
			allowed = append(allowed, method)
		}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	problem(w, http.StatusMethodNotAllowed, r.URL.Path+" does not support "+r.Method+"; see /api/docs")
}
