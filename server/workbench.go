package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/answer"
	"wirebench/server/api"
	"wirebench/templates"
)

// workbench draws the page of a workspace: plainly by its address, or what a form asks for. It keeps what was typed.
func (s *Server) workbench(w http.ResponseWriter, r *http.Request) {
	ws := s.space(chi.URLParam(r, "ws"))
	if ws == nil {
		s.notFound(w, r)
		return
	}
	view := templates.Workbench{Frame: s.frame(r, "Wirebench: "+ws.title(), ws.Name)}
	view.Frame.Nonce = allowStyles(w)
	s.putRelays(&view, ws.Workspace)
	if r.Method != http.MethodPost {
		ws.fill(&view, ws.addressForm(r.URL.Query()))
		s.render(w, r, http.StatusOK, templates.WorkbenchPage(view))
		return
	}
	status := http.StatusOK
	if err := r.ParseForm(); err != nil {
		var big *http.MaxBytesError
		status, view.Notice = http.StatusBadRequest, "The form could not be read: "+err.Error()+"."
		if errors.As(err, &big) {
			status, view.Notice = http.StatusRequestEntityTooLarge, fmt.Sprintf("That is more than %d bytes.", api.MaxBody)
		}
		r.PostForm = url.Values{}
	}
	form := postedForm(r.PostForm)
	kind, size := form.work()
	ticket, err := s.budget.Acquire(r.Context(), access.Of(r).Client, kind, size)
	if err != nil {
		answer.Error(w, answer.Busy(err))
		return
	}
	defer ticket.Release()
	p := ws.fill(&view, form)
	if p.refused != "" {
		s.logRefusal(r, "page action "+p.refused)
		status = http.StatusForbidden
	}
	if p.export != nil {
		p.export.send(w)
		return
	}
	s.render(w, r, status, templates.WorkbenchPage(view))
}

// allowStyles lets one script of the page, which knows the nonce, add style sheets: the editor does.
func allowStyles(w http.ResponseWriter) string {
	nonce := rand.Text()
	w.Header().Set("Content-Security-Policy", contentPolicy+"; style-src 'self' 'nonce-"+nonce+"'")
	return nonce
}

// address is the page with one thing asked for.
func (ws *space) address(key, value string) string {
	return "/w/" + url.PathEscape(ws.Name) + "?" + url.Values{key: {value}}.Encode()
}
