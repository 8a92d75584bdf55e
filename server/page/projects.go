package page

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"wirebench/defs"
	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/server/projects"
	"wirebench/templates"
)

// ProjectsPage lists the projects, with a form for a new one.
func (b *Workbench) ProjectsPage(w http.ResponseWriter, r *http.Request) { b.projects(w, r, nil) }

// projects renders the list with the error of a form, or nil.
func (b *Workbench) projects(w http.ResponseWriter, r *http.Request, problem error) {
	view := templates.Projects{Frame: b.Frame(r, "Wirebench: projects", ""), Libraries: b.Projects.Allowed()}
	view.Frame.LookOnly = !access.Of(r).May("POST /projects", "") // who may make and change projects
	for _, d := range defs.Dialects {
		view.Protocols = append(view.Protocols, templates.Choice{Value: d.Name, Text: d.Title})
	}
	for _, p := range b.Projects.Seen(access.Of(r).Sees).List() {
		row := templates.ProjectRow{
			Name: p.Name, Title: p.Title, Protocol: p.Protocol, State: string(p.State), Samples: p.Samples, Library: p.Library,
			Definitions: p.Definitions, Messages: p.Messages, Captures: p.Captures, Trouble: p.Trouble,
		}
		if d, ok := defs.Find(p.Protocol); ok {
			row.Protocol = d.Title
		}
		view.Rows = append(view.Rows, row)
	}
	status := http.StatusOK
	if problem != nil {
		status, view.Trouble = statusOf(problem), problem.Error()
	}
	b.Render(w, r, status, templates.ProjectsPage(view))
}

func statusOf(err error) int {
	var known huma.StatusError
	if errors.As(err, &known) {
		return known.GetStatus()
	}
	return http.StatusInternalServerError
}

// MakeProject makes a project of the form of the page, and opens its definitions, or lists what was not stored.
func (b *Workbench) MakeProject(w http.ResponseWriter, r *http.Request) {
	made, report, err := b.API.TakeProject(r.Context(), w, r)
	var useless *api.UploadProblem
	switch {
	case errors.As(err, &useless):
		view := templates.Uploaded{Frame: b.Frame(r, "Wirebench: new project", ""), Trouble: useless.Detail, Back: "/projects"}
		view.Files = uploadedRows("", useless.Files)
		b.Render(w, r, useless.Status, templates.UploadPage(view))
		return
	case err != nil:
		b.projects(w, r, err)
		return
	}
	to := templates.ProjectPath(made.Name, "definitions")
	for _, f := range report.Files {
		if f.Reason != "" {
			view := templates.Uploaded{Frame: b.Frame(r, "Wirebench: new project", made.Name), Back: to, Files: uploadedRows(made.Name, report.Files)}
			b.Render(w, r, http.StatusOK, templates.UploadPage(view))
			return
		}
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// ChangeProject renames a project, changes its state or removes it for good, by the form of the page.
func (b *Workbench) ChangeProject(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	err := r.ParseForm()
	name, form := chi.URLParam(r, "project"), r.PostForm
	if err == nil {
		switch form.Get("action") {
		case "rename":
			if err = b.API.MayRename(r.Context(), name, form.Get("name")); err != nil {
				break
			}
			_, err = b.Projects.Edit(name, projects.Change{Name: form.Get("name"), Title: form.Get("title")}, b.API.InUse)
		case "archive":
			_, err = b.Projects.Edit(name, projects.Change{State: projects.Archived}, b.API.InUse)
		case "open":
			_, err = b.Projects.Edit(name, projects.Change{State: projects.Open}, nil)
		case "delete":
			_, err = b.Projects.Edit(name, projects.Change{State: projects.Deleted}, b.API.InUse)
		case "remove":
			err = b.Projects.Remove(name)
		default:
			err = huma.Error400BadRequest("unknown action " + cmp.Or(form.Get("action"), "(none)"))
		}
	}
	if err != nil {
		b.projects(w, r, api.StoreProblem(err))
		return
	}
	http.Redirect(w, r, "/projects", http.StatusSeeOther)
}
