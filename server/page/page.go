// Package page renders the pages of the workbench and performs their actions: by forms, or piece by piece over the channels of an open
// page.
package page

import (
	"log/slog"
	"net/http"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/answer"
	"wirebench/server/captures"
	"wirebench/server/relay"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// Workbench serves the pages of the workspaces. All fields must be set.
type Workbench struct {
	Workspaces []*workspace.Workspace // with distinct names
	Captures   *captures.Set
	Relays     *relay.Set
	Budget     *admit.Budget // memory budget of all work
	Log        *slog.Logger
}

// space is a workspace with one snapshot: a request sees the same library throughout, even while it changes.
type space struct {
	*workspace.Workspace
	*workspace.Snapshot
}

// space returns the workspace named in the address, nil if there is none.
func (b *Workbench) space(r *http.Request) *space {
	name := chi.URLParam(r, "ws")
	for _, w := range b.Workspaces {
		if w.Name == name {
			return &space{w, w.Now()}
		}
	}
	return nil
}

// Home redirects to the first workspace.
func (b *Workbench) Home(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/w/"+b.Workspaces[0].Name, http.StatusFound)
}

// Frame returns the frame of a page: title, navigation and role.
func (b *Workbench) Frame(r *http.Request, title, ws string) templates.Frame {
	who := access.Of(r)
	f := templates.Frame{Title: title, Workspace: ws, LookOnly: who.Role < access.Operator, SignedIn: who.SignedIn}
	for _, w := range b.Workspaces {
		f.Workspaces = append(f.Workspaces, templates.Link{Href: "/w/" + w.Name, Text: w.Title})
	}
	return f
}

// Render responds with a page.
func (b *Workbench) Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := c.Render(r.Context(), w); err != nil {
		b.Log.Error("render", "id", w.Header().Get(answer.RequestID), "path", r.URL.Path, "error", err)
	}
}

// NotFound responds with the page for unknown addresses.
func (b *Workbench) NotFound(w http.ResponseWriter, r *http.Request) {
	b.Render(w, r, http.StatusNotFound, templates.NotFound(b.Frame(r, "Wirebench: not found", ""), r.URL.Path))
}
