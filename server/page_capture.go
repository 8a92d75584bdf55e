package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"wirebench/templates"
)

// capturePage draws the page of a capture: a frame is shown when the page asks for it.
func (s *Server) capturePage(w http.ResponseWriter, r *http.Request) {
	ws := s.space(chi.URLParam(r, "ws"))
	if ws == nil || ws.Captures == nil {
		s.notFound(w, r)
		return
	}
	x, err := ws.Captures.Get(chi.URLParam(r, "id"))
	if err != nil {
		s.notFound(w, r)
		return
	}
	view := templates.Workbench{Frame: s.frame(r, x.Name+" · Wirebench", ws.Name), Capture: &templates.Capture{ID: x.ID, Name: x.Name}}
	view.Capture.Live = s.captures.Runs(ws.Name, x.ID)
	view.Frame.Nonce = allowStyles(w)
	s.putRelays(&view, ws.Workspace)
	form := pageForm{byCode: true, opened: map[string]bool{}, frame: &frameForm{}}
	ws.fill(&view, form)
	s.render(w, r, http.StatusOK, templates.WorkbenchPage(view))
}
