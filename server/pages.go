package server

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// home leads to the first workspace.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/w/"+s.Workspaces[0].Name, http.StatusFound)
}

// frame is what stands around every page.
func (s *Server) frame(r *http.Request, title, ws string) templates.Frame {
	who := access.Of(r)
	f := templates.Frame{Title: title, Workspace: ws, LookOnly: who.Role < access.Operator, SignedIn: who.SignedIn}
	for _, w := range s.Workspaces {
		f.Workspaces = append(f.Workspaces, templates.Link{Href: "/w/" + w.Name, Text: w.Title})
	}
	return f
}

func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := c.Render(r.Context(), w); err != nil {
		s.Log.Error("render", "id", w.Header().Get(requestID), "path", r.URL.Path, "error", err)
	}
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
	s.render(w, r, http.StatusNotFound, templates.NotFound(s.frame(r, "Wirebench: nothing here", ""), r.URL.Path))
}

// logRefusal says who was refused what; what is "" where method and path say it.
func (s *Server) logRefusal(r *http.Request, what string) { access.LogRefusal(s.Log, r, what) }

func (s *Server) refused(r *http.Request) { s.logRefusal(r, "") }

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

// putRelays puts what runs in a workspace into its page.
func (s *Server) putRelays(v *templates.Workbench, ws *workspace.Workspace) {
	if ws.Captures == nil {
		return
	}
	v.Rail.Relays, v.Rail.Demo = true, s.relays.Demo != nil
}
