package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs"
	"wirebench/server/access"
	"wirebench/server/projects"
	"wirebench/server/workspace"
)

// ProjectList lists the projects.
type ProjectList struct {
	Projects  []projects.Info `json:"projects" doc:"those of users, those of samples, archived and deleted ones"`
	Libraries []string        `json:"libraries" doc:"folders on the server below which the definitions of a new project may be"`
}

type projectsOutput struct{ Body ProjectList }

// ProjectPath names the project of a request.
type ProjectPath struct {
	Project string `path:"project" doc:"name of the project"`
}

type projectOutput struct {
	Status   int
	Location string `header:"Location" doc:"of a new project"`
	Body     MadeProject
}

// MadeProject is a project and, if it was made of files, the result for each file.
type MadeProject struct {
	projects.Info
	Files []*UploadedFile `json:"files,omitempty" doc:"of a project made of files: what was done with each"`
}

// addressOfProject returns the address of a project.
func addressOfProject(name string) string { return "/api/v1/projects/" + url.PathEscape(name) }

func (s *API) listProjects(ctx context.Context, _ *struct{}) (*projectsOutput, error) {
	out := &projectsOutput{ProjectList{s.Projects.Seen(access.From(ctx).Sees).List(), s.Projects.Allowed()}}
	if out.Body.Libraries == nil {
		out.Body.Libraries = []string{}
	}
	return out, nil
}

func (s *API) readProject(_ context.Context, in *ProjectPath) (*projectOutput, error) {
	info, err := s.Projects.Info(in.Project)
	return s.project(info, err)
}

func (s *API) project(info projects.Info, err error) (*projectOutput, error) {
	if err != nil {
		return nil, StoreProblem(err)
	}
	return &projectOutput{http.StatusOK, "", MadeProject{Info: info}}, nil
}

type makeInput struct{ RawRequest }

// ProjectConfig is the JSON body of a new project.
type ProjectConfig struct {
	Name     string `json:"name,omitempty" maxLength:"64" doc:"part of its addresses: lower-case letters, digits, - and _; default: made of the title"`
	Title    string `json:"title,omitempty" maxLength:"100" doc:"display name; default: the name, or that of the file, the folder or the copied project"`
	Protocol string `json:"protocol,omitempty" doc:"default: that of the files, the folder or the copied project"`
	Library  string `json:"library,omitempty" doc:"a folder on the server, below one of libraries, whose definitions are edited in place"`
	Copy     string `json:"copy,omitempty" doc:"a project whose definitions and settings are copied"`
	Captures bool   `json:"captures,omitempty" doc:"with copy: its captures, too"`
}

func (c *ProjectConfig) new() projects.New {
	return projects.New{Name: c.Name, Title: c.Title, Protocol: c.Protocol, Library: c.Library, From: c.Copy, Captures: c.Captures}
}

// fields returns the members as fields of a form.
func (c *ProjectConfig) fields() map[string]func(string) error {
	return map[string]func(string) error{
		"name":     func(v string) error { c.Name = v; return nil },
		"title":    func(v string) error { c.Title = v; return nil },
		"protocol": func(v string) error { c.Protocol = v; return nil },
		"library":  func(v string) error { c.Library = v; return nil },
		"copy":     func(v string) error { c.Copy = v; return nil },
		"captures": func(v string) error { c.Captures = v == "on" || v == "true"; return nil },
	}
}

// makeProject makes a project of a JSON body, or of a form with files.
func (s *API) makeProject(ctx context.Context, in *makeInput) (*projectOutput, error) {
	kind, _, _ := mime.ParseMediaType(in.request.Header.Get("Content-Type"))
	switch kind {
	case "multipart/form-data":
		info, report, err := s.TakeProject(ctx, in.writer, in.request)
		if err != nil {
			return nil, err
		}
		return &projectOutput{http.StatusCreated, addressOfProject(info.Name), MadeProject{info, report.Files}}, nil
	case "", "application/json":
	default:
		return nil, huma.NewError(http.StatusUnsupportedMediaType, "send the project as application/json, or with its files as multipart/form-data")
	}
	body, err := in.body(MaxSmallBody)
	if err != nil {
		return nil, err
	}
	var config ProjectConfig
	if err := strictJSON(body, &config); err != nil {
		return nil, err
	}
	w, err := s.Projects.Make(ctx, config.new())
	if err != nil {
		return nil, StoreProblem(err)
	}
	out, err := s.project(s.Projects.Info(w.Name))
	if err == nil {
		out.Status, out.Location = http.StatusCreated, addressOfProject(w.Name)
	}
	return out, err
}

// TakeProject makes a project of a form: the members of ProjectConfig as fields, and files. The error has a status; if it is about the
// files, it is an UploadProblem. Nothing is left of a project that could not be made.
func (s *API) TakeProject(ctx context.Context, w http.ResponseWriter, r *http.Request) (projects.Info, *UploadReport, error) {
	config := ProjectConfig{}
	u := &upload{replace: true, otherFields: config.fields()}
	if err := u.receive(ctx, w, r); err != nil {
		return projects.Info{}, nil, err
	}
	return s.projectOf(ctx, u, config)
}

// projectOf makes a project of the files of a form that has been read.
func (s *API) projectOf(ctx context.Context, u *upload, config ProjectConfig) (projects.Info, *UploadReport, error) {
	if len(u.files) > 0 && config.Protocol == "" && config.Copy == "" {
		protocol, err := workspace.ProtocolOf(u.files)
		switch {
		case errors.Is(err, workspace.ErrNoDefinitions):
			first := u.files[0]
			return projects.Info{}, nil, noDefinitions(fmt.Sprintf("no definitions of a known protocol among the files: %s looks like %s", first.Name, looksLike(first.Text[:min(len(first.Text), 512)])), u.all)
		case err != nil:
			return projects.Info{}, nil, huma.Error422UnprocessableEntity(err.Error())
		}
		config.Protocol = protocol
	}
	if len(u.files) == 0 && len(u.all) > 0 && config.Protocol == "" && config.Copy == "" && config.Library == "" {
		return projects.Info{}, nil, noDefinitions(u.all[0].File+" is "+u.all[0].Reason, u.all)
	}
	if len(u.files) > 0 && (config.Library != "" || config.Copy != "") {
		return projects.Info{}, nil, huma.Error422UnprocessableEntity("a project is made of files, of a folder or of another project: only one of them")
	}
	if config.Title == "" && config.Name == "" && len(u.all) > 0 {
		config.Title = titleOf(u.all[0])
	}
	n := config.new()
	report := &UploadReport{Files: u.all}
	if len(u.all) > 0 {
		n.Fill = func(w *workspace.Workspace) (err error) {
			report, err = u.store(ctx, w)
			return err
		}
	}
	made, err := s.Projects.Make(ctx, n)
	var useless *UploadProblem
	switch {
	case errors.As(err, &useless):
		return projects.Info{}, nil, useless
	case err != nil:
		return projects.Info{}, nil, StoreProblem(err)
	}
	info, err := s.Projects.Info(made.Name)
	if err != nil {
		return projects.Info{}, nil, StoreProblem(err)
	}
	return info, report, nil
}

// titleOf returns the title of a project made of a file: the name of the file, or of the zip that contained it, without the endings.
func titleOf(f *UploadedFile) string {
	name := path.Base(strings.ReplaceAll(cmp.Or(f.From, f.File), "\\", "/"))
	if bare, _, _ := strings.Cut(name, "."); f.From == "" && bare != "" && !defs.ByContents(name) {
		return bare // C_LOGIN.2.def
	}
	return strings.TrimSuffix(name, path.Ext(name)) // game 98.02.zip
}

type changeProjectInput struct {
	ProjectPath
	Body struct {
		Name  string         `json:"name,omitempty" maxLength:"64" doc:"its new name; addresses with the earlier one lead to it"`
		Title string         `json:"title,omitempty" maxLength:"100"`
		State projects.State `json:"state,omitempty" enum:"open,archived"`
	}
}

// MayRename returns an error with status 403 if the name of a project changes and the person may not change it: whether a name is free, and
// where an earlier one leads, concerns all projects.
func (s *API) MayRename(ctx context.Context, name, to string) error {
	if why := access.From(ctx).Refusal("project name", ""); to != "" && to != name && why != "" {
		return huma.Error403Forbidden("changing the name of a project " + why)
	}
	return nil
}

func (s *API) changeProject(ctx context.Context, in *changeProjectInput) (*projectOutput, error) {
	if err := s.MayRename(ctx, in.Project, in.Body.Name); err != nil {
		return nil, err
	}
	info, err := s.Projects.Edit(in.Project, projects.Change{Name: in.Body.Name, Title: in.Body.Title, State: in.Body.State}, s.InUse)
	return s.project(info, err)
}

type deleteProjectInput struct {
	ProjectPath
	Forever bool `query:"forever" doc:"remove the files of a deleted project; a library in a folder elsewhere stays"`
}

type deletedOutput struct{ Status int }

func (s *API) deleteProject(_ context.Context, in *deleteProjectInput) (*deletedOutput, error) {
	var err error
	if in.Forever {
		err = s.Projects.Remove(in.Project)
	} else {
		_, err = s.Projects.Edit(in.Project, projects.Change{State: projects.Deleted}, s.InUse)
	}
	if err != nil {
		return nil, StoreProblem(err)
	}
	return &deletedOutput{http.StatusNoContent}, nil
}

// InUse returns an error with status 409 if listeners or replays run in a project, which then cannot be closed.
func (s *API) InUse(w *workspace.Workspace) error {
	var why []string
	n := 0
	for _, one := range s.Relays.Of(w.Name) {
		if one.State().Running {
			n++
		}
	}
	if n > 0 {
		why = append(why, fmt.Sprintf("%d running listeners", n))
	}
	n = 0
	for _, run := range s.Runs.Of(w.Name) {
		if !run.Ended() {
			n++
		}
	}
	if n > 0 {
		why = append(why, fmt.Sprintf("%d running replays", n))
	}
	if len(why) == 0 {
		return nil
	}
	return huma.Error409Conflict("the project has " + strings.Join(why, " and ") + ": stop them first")
}
