package page

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
	"wirebench/server/workspace"
	"wirebench/templates"
)

// Page renders the page of a workspace for its address or a form. It keeps the text entered.
func (b *Workbench) Page(w http.ResponseWriter, r *http.Request) {
	ws := b.space(r)
	if ws == nil {
		b.NotFound(w, r)
		return
	}
	if message := r.URL.Query().Get("message"); message != "" && r.Method != http.MethodPost { // of a form or of an earlier version
		q := r.URL.Query()
		q.Del("message")
		to := templates.ProjectPath(ws.Name, "definitions", message)
		if len(q) > 0 {
			to += "?" + q.Encode()
		}
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	view := templates.Workbench{Frame: b.Frame(r, "Wirebench: "+ws.Workspace.Title(), ws.Name)}
	view.Frame.Nonce = allowStyles(w)
	view.Frame.First = view.Frame.Relays && view.Frame.Samples && !view.Frame.LookOnly
	if r.Method != http.MethodPost {
		b.list(ws.fill(&view, ws.addressForm(messageOf(r), r.URL.Query()), authors(r), b.typed(ws.Workspace)), r)
		b.Render(w, r, http.StatusOK, templates.WorkbenchPage(view))
		return
	}
	status := http.StatusOK
	if err := r.ParseForm(); err != nil {
		var big *http.MaxBytesError
		status, view.Notice = http.StatusBadRequest, sentence("The form could not be read: "+err.Error())
		if errors.As(err, &big) {
			status, view.Notice = http.StatusRequestEntityTooLarge, fmt.Sprintf("The form has more than %d bytes.", api.MaxBody)
		}
		r.PostForm = url.Values{}
	}
	f := postedForm(r.PostForm)
	if why := b.permit(r, &f); why != "" {
		status, view.Notice = http.StatusForbidden, why
	}
	kind, size := f.work()
	ticket, err := b.Budget.Acquire(r.Context(), access.Of(r).Key(), kind, size)
	if err != nil {
		answer.Error(w, answer.Busy(err))
		return
	}
	defer ticket.Release()
	p := ws.fill(&view, f, authors(r), nil)
	if p.export != nil {
		p.export.send(w)
		return
	}
	b.list(p, r)
	b.Render(w, r, status, templates.WorkbenchPage(view))
}

// typed returns a function that returns the text of a file as people have typed it, if that is not saved.
func (b *Workbench) typed(ws *workspace.Workspace) func(file string) (string, bool) {
	return func(file string) (string, bool) { return b.API.Rooms.Typed(ws, file) }
}

// allowStyles permits the one script that knows the nonce, the editor, to add style sheets.
func allowStyles(w http.ResponseWriter) string {
	nonce := rand.Text()
	const policy = "Content-Security-Policy"
	w.Header().Set(policy, w.Header().Get(policy)+"; style-src 'self' 'nonce-"+nonce+"'")
	return nonce
}

// messageOf returns the message in the address of a request. Its name may have slashes, which the router leaves escaped.
func messageOf(r *http.Request) string {
	name := chi.URLParam(r, "message")
	if r.URL.RawPath == "" {
		return name
	}
	if unescaped, err := url.PathUnescape(name); err == nil {
		return unescaped
	}
	return name
}
