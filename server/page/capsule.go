package page

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"wirebench/server/publish"
	"wirebench/server/workspace"
)

// Capsule serves the page of a capsule, as it is saved: without the frame of other pages. What it has is of others: only its own style and
// script apply, and it has no origin.
func (b *Workbench) Capsule(w http.ResponseWriter, r *http.Request) {
	ws := b.Projects.Find(chi.URLParam(r, "project"))
	if ws == nil {
		b.NotFound(w, r)
		return
	}
	page, err := capsulePage(ws, chi.URLParam(r, "id"))
	if err != nil {
		b.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", publish.CapsulePolicy()+"; sandbox allow-scripts allow-downloads; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Query().Has("download") {
		w.Header().Set("Content-Disposition", `attachment; filename="capsule-`+chi.URLParam(r, "id")[:8]+`.html"`)
	}
	_, _ = w.Write(page)
}

func capsulePage(ws *workspace.Workspace, id string) ([]byte, error) {
	text, err := ws.Capsule(id)
	if err != nil {
		return nil, err
	}
	c, err := publish.ReadCapsule(text)
	if err != nil {
		return nil, err
	}
	return c.Page()
}
