package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/server/api"
	"wirebench/server/settings"
	"wirebench/templates"
)

// Upload stores the files of the form of a page without scripts, and reports the result for each. Scripts use the JSON route.
func (b *Workbench) Upload(w http.ResponseWriter, r *http.Request) {
	ws := b.space(r)
	if ws == nil {
		b.NotFound(w, r)
		return
	}
	view := templates.Uploaded{Frame: b.Frame(r, "Wirebench: upload", ws.Name), Back: templates.ProjectPath(ws.Name, "definitions")}
	report, err := api.TakeUpload(r.Context(), ws.Workspace, w, r, false)
	status := http.StatusOK
	var files []*api.UploadedFile
	var useless *api.UploadProblem
	var known huma.StatusError
	switch {
	case errors.As(err, &useless):
		status, files, view.Trouble = useless.Status, useless.Files, useless.Detail
	case errors.As(err, &known):
		status, view.Trouble = known.GetStatus(), known.Error()
	case err != nil:
		status, view.Trouble = http.StatusInternalServerError, err.Error()
	default:
		files = report.Files
	}
	view.Files = uploadedRows(ws.Name, files)
	b.Render(w, r, status, templates.UploadPage(view))
}

// uploadedRows returns the rows of the files of an upload to a project.
func uploadedRows(project string, files []*api.UploadedFile) []templates.UploadedFile {
	var rows []templates.UploadedFile
	for _, f := range files {
		row := templates.UploadedFile{File: f.File, From: f.From, Result: f.Result, Reason: f.Reason, Mistakes: f.Diagnostics}
		if f.Message != "" {
			row.Href = templates.ProjectPath(project, "definitions", f.Message)
		}
		if f.Capture != "" {
			row.Href = templates.ProjectPath(project, "captures", f.Capture)
		}
		rows = append(rows, row)
	}
	return rows
}

// Settings changes the settings of a workspace from the form of the page, and redirects to the page.
func (b *Workbench) Settings(w http.ResponseWriter, r *http.Request) {
	ws := b.space(r)
	if ws == nil {
		b.NotFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	err := r.ParseForm()
	var constants map[string]string
	if err == nil {
		constants, err = postedConstants(r.PostForm.Get("constants"))
	}
	if err == nil {
		err = ws.Configure(func(u *settings.Settings) {
			if r.PostForm.Has("map") {
				u.Map = r.PostForm.Get("map")
			}
			for _, o := range ws.Snapshot.Dialect.Options {
				if r.PostForm.Has(o.Name) {
					u.Set(o.Name, strings.TrimSpace(r.PostForm.Get(o.Name)))
				}
			}
			if r.PostForm.Has("save") { // else the form lacks the box, which browsers leave out when it is not ticked
				u.SaveTyped = r.PostForm.Has("save_typed")
			}
			if r.PostForm.Has("constants") {
				u.Constants = constants
			}
		})
	}
	if err != nil {
		b.Render(w, r, http.StatusUnprocessableEntity, templates.Trouble(b.Frame(r, "Wirebench: settings", ws.Name), "The settings were not changed", sentence(err.Error()), templates.ProjectPath(ws.Name, "definitions")))
		return
	}
	http.Redirect(w, r, templates.ProjectPath(ws.Name, "definitions"), http.StatusSeeOther)
}

// postedConstants parses the constants of the form. An unreadable line is an error, so that nothing is lost.
func postedConstants(text string) (map[string]string, error) {
	found, diags := defs.ParseConstants(source.New("constants", source.UnixLines(text)))
	for _, d := range diags {
		if d.Severity == diag.Error {
			return nil, fmt.Errorf("line %d: %s", d.Span.Pos().Line, d.Message)
		}
	}
	return found, nil
}
