package api

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs/source"
	"wirebench/server/history"
	"wirebench/server/workspace"
)

type renameInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      struct {
		Files    []history.Renaming `json:"files,omitempty" maxItems:"2000" doc:"from: a file, or the name of a message; to: a file name with its folder, or a name without an ending, in the same folder"`
		Messages []history.Renaming `json:"messages,omitempty" maxItems:"2000" doc:"new names of messages where the text of a definition names them: the text and its samples change; one for each file"`
		Codes    bool               `json:"codes,omitempty" doc:"messages keep their codes: in all code maps, a name that no definition has any more follows"`
	}
}

// fileOf finds a file by its name, or by the name of one of its messages.
func (ws *space) fileOf(name string) (*source.File, error) {
	f, err := ws.fileNamed(name)
	if !is404(err) {
		return f, err
	}
	if m, wrong := ws.Find(name); wrong == nil {
		return m.Span.File, nil
	}
	return nil, err
}

// is404 reports whether an error says that there is no such thing.
func is404(err error) bool {
	var none huma.StatusError
	return errors.As(err, &none) && none.GetStatus() == http.StatusNotFound
}

type renameOutput struct{ Body workspace.Renamed }

// renameDefinitions renames files and messages.
func (s *API) renameDefinitions(ctx context.Context, in *renameInput) (*renameOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	files := make([]history.Renaming, 0, len(in.Body.Files))
	for _, r := range in.Body.Files {
		f, err := ws.fileOf(r.From)
		if err != nil {
			return nil, err
		}
		files = append(files, history.Renaming{From: f.Name, To: ws.Sibling(f, r.To)})
	}
	var done *workspace.Renamed
	if err := s.Rooms.Rename(ws.Workspace, files, func() (err error) {
		done, err = ws.Rename(workspace.Renames{Files: files, Messages: in.Body.Messages, Codes: in.Body.Codes, Who: authors(ctx)})
		return err
	}); err != nil {
		return nil, StoreProblem(err)
	}
	return &renameOutput{*done}, nil
}

type copyDefinitionInput struct {
	FilePath
	Body *struct {
		To string `json:"to,omitempty" maxLength:"500" doc:"file name of the copy, with its folder, or a name without an ending, in the same folder; default: the next version, or an unused name"`
	}
}

// copyDefinition copies a file without its samples.
func (s *API) copyDefinition(_ context.Context, in *copyDefinitionInput) (*storedOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	f, err := ws.fileOf(in.File)
	if err != nil {
		return nil, err
	}
	to := ""
	if in.Body != nil && in.Body.To != "" {
		to = ws.Sibling(f, in.Body.To)
	}
	name, rev, err := ws.Copy(f, to)
	if err != nil {
		return nil, saveProblem(rev, err)
	}
	return s.saved(ws, name, rev, true), nil
}

type zipInput struct {
	Workspace string `path:"project" doc:"name of the project"`
}

// zipDefinitions sends the files of the library.
func (s *API) zipDefinitions(_ context.Context, in *zipInput) (*huma.StreamResponse, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		c.SetHeader("Content-Type", "application/zip")
		c.SetHeader("Content-Disposition", attachment(ws.Workspace.Name+".zip"))
		c.SetHeader("Cache-Control", "no-store")
		z := zip.NewWriter(c.BodyWriter())
		for name, text := range ws.Library.Texts() {
			part, err := z.Create(name)
			if err == nil {
				_, err = io.WriteString(part, text)
			}
			if err != nil {
				panic(http.ErrAbortHandler) // so that the client does not take a partial file for a complete one
			}
		}
		if z.Close() != nil {
			panic(http.ErrAbortHandler)
		}
	}}, nil
}
