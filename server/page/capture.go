package page

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"

	"wirebench/server/store"
	"wirebench/templates"
)

// Capture renders the page of a capture. Frames are rendered on request of the page.
func (b *Workbench) Capture(w http.ResponseWriter, r *http.Request) {
	ws := b.space(r)
	if ws == nil || ws.Captures == nil {
		b.NotFound(w, r)
		return
	}
	x, err := ws.Captures.Get(chi.URLParam(r, "id"))
	if err != nil {
		b.NotFound(w, r)
		return
	}
	ws.of = store.Capture{Settings: x.Settings}
	ws = ws.again()
	view := templates.Workbench{Frame: b.Frame(r, x.Name+" · Wirebench", ws.Name), Capture: &templates.Capture{ID: x.ID, Name: x.Name}}
	view.Capture.Live = b.Captures.Runs(ws.Name, x.ID) || b.API.Collects(ws.Name, x.ID)
	view.Frame.List = listOf(ws)
	view.Frame.Nonce = allowStyles(w)
	b.list(ws.fill(&view, form{byCode: true, frame: &FrameForm{}}, authors(r), nil), r)
	b.Render(w, r, http.StatusOK, templates.WorkbenchPage(view))
}

// Place returns the handler of the place for the captures of a project, or for its live traffic.
func (b *Workbench) Place(place, title string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ws := b.space(r)
		if ws == nil || ws.Captures == nil {
			b.NotFound(w, r)
			return
		}
		f := b.Frame(r, title+" · "+ws.Title()+" · Wirebench", ws.Name)
		f.Place, f.List, f.Nonce = place, listOf(ws), allowStyles(w)
		b.Render(w, r, http.StatusOK, templates.PlacePage(f))
	}
}

// listOf returns what a project says about lists of frames, as JSON for its pages.
func listOf(ws *space) string {
	list := ws.UserSettings().List
	if list == nil {
		return ""
	}
	text, _ := json.Marshal(list) // cannot fail: texts and numbers
	return string(text)
}
