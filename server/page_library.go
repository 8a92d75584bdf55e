package server

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"wirebench/server/workspace"
	"wirebench/templates"
)

// changeSettings takes the settings of a workspace from the page's form, and goes back to the page.
func (s *Server) changeSettings(w http.ResponseWriter, r *http.Request) {
	ws := s.space(chi.URLParam(r, "ws"))
	if ws == nil {
		s.notFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	err := r.ParseForm()
	if err == nil {
		err = ws.Configure(func(u *workspace.UserSettings) {
			u.Map, u.Patch = r.PostForm.Get("map"), strings.TrimSpace(r.PostForm.Get("patch"))
		})
	}
	if err != nil {
		s.render(w, r, http.StatusUnprocessableEntity, templates.Trouble(s.frame("Wirebench: settings", ws.Name), "The settings are as they were", err.Error()+".", "/w/"+url.PathEscape(ws.Name)))
		return
	}
	http.Redirect(w, r, "/w/"+url.PathEscape(ws.Name), http.StatusSeeOther)
}
