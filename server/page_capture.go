package server

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"wirebench/templates"
)

// maxRailCaptures is how many captures a page lists.
const maxRailCaptures = 50

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
	s.relays(&view, ws.Workspace)
	form := pageForm{byCode: true, opened: map[string]bool{}, frame: &frameForm{}}
	ws.fill(&view, form)
	s.render(w, r, http.StatusOK, templates.WorkbenchPage(view))
}

// captures lists the captures of the workspace.
func (p *pageWork) captures() {
	r := &p.view.Rail
	if p.ws.Captures == nil {
		return
	}
	r.KeepsCaptures = true
	all, err := p.ws.Captures.List()
	if err != nil {
		return // the library is shown all the same
	}
	for i, x := range all {
		if i == maxRailCaptures {
			r.MoreCaptures = len(all) - i
			break
		}
		r.Captures = append(r.Captures, templates.CaptureItem{
			ID: x.ID, Name: x.Name, Href: captureAddress(p.ws.Name, x.ID), Size: sizeForPeople(x.Size), Added: x.Added.Format("2006-01-02 15:04"),
			Current: p.view.Capture != nil && p.view.Capture.ID == x.ID,
		})
	}
}

// captureAddress is where the page of a capture is.
func captureAddress(ws, id string) string {
	return "/w/" + url.PathEscape(ws) + "/captures/" + url.PathEscape(id)
}

// sizeForPeople is a number of bytes in the unit that is easiest to read.
func sizeForPeople(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}
