package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs"
	"wirebench/defs/source"
	"wirebench/server/access"
	"wirebench/server/workspace"
)

// StartBody says whose definitions apply.
type StartBody struct {
	Project  string   `json:"project,omitempty" maxLength:"64" doc:"name of the project whose definitions and settings apply; GET /api/v1/projects lists them"`
	Language Language `json:"language,omitempty" doc:"of definition, if there is no project; default: recognized by the text"`
}

// Language is the name of a language of definitions.
type Language string

// Schema lists the languages.
func (Language) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, name := range languages() {
		s.Enum = append(s.Enum, name)
	}
	return s
}

// chosen returns the project of a request that may do an operation in it, or one without files in the language of the definition.
func (s *API) chosen(ctx context.Context, operation string, b StartBody, definition string) (*space, error) {
	if b.Project != "" {
		if b.Language != "" {
			return nil, huma.Error422UnprocessableEntity("language is for a definition without a project: the language of a project is fixed")
		}
		return s.permitted(ctx, operation, b.Project)
	}
	if definition == "" {
		return nil, huma.Error422UnprocessableEntity(`send "definition", the text of a definition, with its "language" (` + strings.Join(languages(), ", ") +
			`), or "project", the name of a project; GET /api/v1/projects lists them`)
	}
	language := string(b.Language)
	if language == "" {
		if language = languageOf(definition); language == "" {
			return nil, huma.Error422UnprocessableEntity("the language of the definition is not recognized: send language, one of " + strings.Join(languages(), ", "))
		}
	}
	w, err := workspace.Empty(language)
	if err != nil {
		return nil, err
	}
	return &space{w, w.Now()}, nil
}

// permitted returns a project in which the person may do an operation. Projects that the person may not see do not exist.
func (s *API) permitted(ctx context.Context, operation, name string) (*space, error) {
	full, who := name, access.From(ctx)
	if w := s.Projects.Find(name); w != nil { // by an earlier name
		full = w.Name
	}
	if !who.Sees(full) {
		return nil, huma.Error404NotFound(access.NoProject(name))
	}
	if o := s.byID[operation].Needs; who.Lacks(o, full) != "" {
		return nil, huma.Error403Forbidden(o.Name + " in project " + name + " " + who.Lacks(o, full))
	}
	return s.workspaceNamed(name)
}

// languages returns the names of the languages of definitions.
func languages() (out []string) {
	for _, d := range defs.Dialects {
		out = append(out, d.Name)
	}
	return out
}

// languageOf recognizes the language of a text, "" if it is none. If several do, the last one does, as with lines: a .proto has enums as in C.
func languageOf(text string) string {
	for _, d := range slices.Backward(defs.Dialects) {
		if d.IsText != nil && d.IsText(text) {
			return d.Name
		}
	}
	name, _ := defs.Detect(source.New("definition", text))
	return name
}

// DecodeAny is the body of a request to decode messages.
type DecodeAny struct {
	StartBody
	DecodeBody
}

type decodeAnyInput struct{ Body DecodeAny }

func (s *API) decodeAny(ctx context.Context, in *decodeAnyInput) (*decodeOutput, error) {
	ws, err := s.chosen(ctx, "decode", in.Body.StartBody, in.Body.Definition)
	if err != nil {
		return nil, err
	}
	return s.decodeIn(ctx, ws, in.Body.DecodeBody)
}

// EncodeAny is the body of a request to encode values.
type EncodeAny struct {
	StartBody
	EncodeBody
}

type encodeAnyInput struct{ Body EncodeAny }

func (s *API) encodeAny(ctx context.Context, in *encodeAnyInput) (*encodeOutput, error) {
	ws, err := s.chosen(ctx, "encode", in.Body.StartBody, in.Body.Definition)
	if err != nil {
		return nil, err
	}
	return s.encodeIn(ctx, ws, in.Body.EncodeBody)
}

type uploadAnyInput struct {
	Project string `query:"project" maxLength:"64" doc:"name of the project; also a form field before the files. Without one a project is made of the files"`
	UploadQuery
	RawRequest
}

type uploadAnyOutput struct {
	Status   int
	Location string `header:"Location" doc:"of a new project"`
	Body     UploadReport
}

// uploadAny stores the files of a form in a project that the query or a field before the files names. Without it they become a new project.
func (s *API) uploadAny(ctx context.Context, in *uploadAnyInput) (*uploadAnyOutput, error) {
	u := &upload{replace: in.Replace}
	var to *space
	choose := func(name string) (err error) {
		if len(u.all) > 0 || to != nil {
			return huma.Error422UnprocessableEntity("send the field project once, before the files")
		}
		if to, err = s.permitted(ctx, "upload", name); err == nil {
			u.captures = to.Captures
		}
		return err
	}
	if in.Project != "" {
		if err := choose(in.Project); err != nil {
			return nil, err
		}
	}
	config := ProjectConfig{}
	u.otherFields = config.fields()
	u.otherFields["project"] = choose
	if err := u.receive(ctx, in.writer, in.request); err != nil {
		u.takeBack()
		return nil, err
	}
	if to == nil {
		return s.uploadNew(ctx, u, config)
	}
	if config != (ProjectConfig{}) {
		u.takeBack()
		return nil, huma.Error422UnprocessableEntity("the fields of a new project are for a form without the field project")
	}
	report, err := u.store(ctx, to.Workspace)
	if err != nil {
		return nil, err
	}
	report.Project = to.Name
	return &uploadAnyOutput{http.StatusOK, "", *report}, nil
}

// uploadNew makes a project of the files of a form.
func (s *API) uploadNew(ctx context.Context, u *upload, config ProjectConfig) (*uploadAnyOutput, error) {
	if why := access.From(ctx).Lacks(s.byID["make-project"].Needs, ""); why != "" {
		return nil, huma.Error403Forbidden("making a project " + why + ": send project, the name of a project")
	}
	if len(u.all) == 0 {
		return nil, uselessUpload(u.report(nil))
	}
	info, report, err := s.projectOf(ctx, u, config)
	if err != nil {
		return nil, err
	}
	report.Project = info.Name
	return &uploadAnyOutput{http.StatusCreated, addressOfProject(info.Name), *report}, nil
}
