package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/answer"
	"wirebench/server/workspace"
)

func problem(w http.ResponseWriter, status int, detail string) { answer.Problem(w, status, detail) }

// workspaceNamed finds a workspace, or says which there are.
func (s *Server) workspaceNamed(name string) (*workspace.Workspace, error) {
	if w := s.byName[name]; w != nil {
		return w, nil
	}
	names := make([]string, 0, len(s.byName))
	for n := range s.byName {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, huma.Error404NotFound(fmt.Sprintf("no workspace %q; there are: %s", name, strings.Join(names, ", ")))
}

// isAPI reports whether a program asks, to which a page would say nothing.
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

// refused logs a request that the table of access does not permit.
func (s *Server) refused(r *http.Request) { access.LogRefusal(s.Log, r, "") }

// notAllowed says which methods a path takes.
func (s *Server) notAllowed(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		found := method
		if method == http.MethodHead { // every page that can be read has one
			found = http.MethodGet
		}
		if s.router.Match(chi.NewRouteContext(), found, cmp.Or(r.URL.RawPath, r.URL.Path)) {
			allowed = append(allowed, method)
		}
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	problem(w, http.StatusMethodNotAllowed, r.URL.Path+" does not take "+r.Method+"; see /api/docs")
}
