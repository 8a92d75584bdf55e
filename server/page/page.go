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
	"wirebench/server/api"
	"wirebench/server/captures"
	"wirebench/server/projects"
	"wirebench/server/relay"
	"wirebench/server/scores"
	"wirebench/server/store"
	"wirebench/server/view"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// Workbench serves the pages of the workspaces. All fields but Changed must be set.
type Workbench struct {
	Projects *projects.Set
	Captures *captures.Set
	Relays   *relay.Set
	API      *api.API
	Scores   *scores.Set
	Budget   *admit.Budget // memory budget of all work
	Log      *slog.Logger
	Changed  func(r *http.Request, action string, status int) // called for actions that change something, or are refused; nil: not

	held  held       // by open pages
	texts view.Cache // of all pages
	lists view.Lists // of messages
}

// space is a workspace with one snapshot: a request sees the same library throughout, even while it changes.
type space struct {
	*workspace.Workspace
	*workspace.Snapshot
	of    store.Capture // on the page of a capture, its settings
	texts *view.Cache   // nil: none
}

// spaceOf returns a workspace with its current library, as a capture is read with.
func spaceOf(w *workspace.Workspace, of store.Capture, texts *view.Cache) *space {
	return &space{w, w.For(of), of, texts}
}

// again returns the workspace with its library of now.
func (ws *space) again() *space { return spaceOf(ws.Workspace, ws.of, ws.texts) }

// space returns the workspace named in the address, nil if there is none.
func (b *Workbench) space(r *http.Request) *space {
	w := b.Projects.Find(chi.URLParam(r, "project"))
	if w == nil {
		return nil
	}
	return spaceOf(w, store.Capture{}, &b.texts)
}

// Home redirects to the definitions of the first project, or to the list of projects.
func (b *Workbench) Home(w http.ResponseWriter, r *http.Request) {
	to := "/projects"
	if first := b.Projects.Seen(access.Of(r).Sees).First(); first != nil {
		to = templates.ProjectPath(first.Name, "definitions")
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// Frame returns the frame of a page: title, navigation and role.
func (b *Workbench) Frame(r *http.Request, title, ws string) templates.Frame {
	who := access.Of(r)
	f := templates.Frame{Title: title, Workspace: ws, SignedIn: who.SignedIn, Who: who.Name}
	f.LookOnly, f.Role = !who.May("action save", ws), who.In(ws).String()
	f.Formerly, f.Samples = b.Projects.Earlier(ws), b.Projects.Samples(ws)
	if w := b.Projects.Find(ws); w != nil && w.Captures != nil {
		_, plays := w.Now().Protocol()
		plays = plays && w.Now().Travels()
		f.Relays, f.Demo, f.Ports = true, plays && b.Relays.Demo != nil, b.Relays.Ports().String()
	}
	if w := b.Projects.Find(ws); w != nil {
		f.NoEnvelope = !w.Now().Travels()
		if here := b.API.GitOf(w); here != nil {
			f.Git = &templates.Git{Branch: here.Branch, Missing: here.Missing}
		}
	}
	for _, w := range b.Projects.Seen(who.Sees).All() {
		f.Projects = append(f.Projects, templates.Project{Name: w.Name, Title: w.Title()})
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
