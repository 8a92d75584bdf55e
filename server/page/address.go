package page

import (
	"net/http"

	"wirebench/templates"
)

// Definitions redirects from the address of a project to its definitions.
func (b *Workbench) Definitions(w http.ResponseWriter, r *http.Request) {
	ws := b.space(r)
	if ws == nil {
		b.NotFound(w, r)
		return
	}
	http.Redirect(w, r, templates.ProjectPath(ws.Name, "definitions"), http.StatusFound)
}
