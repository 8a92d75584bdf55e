package server

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"wirebench/static"
	"wirebench/templates"
	"wirebench/web/docs"
)

// manual renders a page of the manual: the first one, the one in the path, or the results of a search (?q=).
func (s *Server) manual(w http.ResponseWriter, r *http.Request) {
	if query := strings.TrimSpace(r.URL.Query().Get("q")); query != "" {
		m := templates.Manual{Query: query, Hits: docs.Search(query)}
		s.workbench.Render(w, r, http.StatusOK, templates.ManualPage(s.workbench.Frame(r, "Wirebench: search the manual", ""), m))
		return
	}
	page := docs.Pages()[0]
	if name := chi.URLParam(r, "page"); name != "" {
		found := false
		if page, found = docs.Find(name); !found {
			s.notFound(w, r)
			return
		}
	}
	if base := static.Base(); base != "" {
		page.HTML = strings.ReplaceAll(page.HTML, `href="/docs/`, `href="`+base+`/docs/`)
	}
	s.workbench.Render(w, r, http.StatusOK, templates.ManualPage(s.workbench.Frame(r, "Wirebench: "+page.Title, ""), templates.Manual{Page: page}))
}
