package api

import (
	"archive/zip"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/publish"
)

// reference sends the pages of a project. Secrets in samples are replaced.
func (s *API) reference(_ context.Context, in *zipInput) (*huma.StreamResponse, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	site := publish.Site{Title: ws.title(), Snap: ws.Snapshot, At: time.Now()}
	if err := site.Check(); err != nil {
		return nil, huma.Error409Conflict(err.Error())
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		c.SetHeader("Content-Type", "application/zip")
		c.SetHeader("Content-Disposition", attachment(ws.Workspace.Name+"-reference.zip"))
		c.SetHeader("Cache-Control", "no-store")
		z := zip.NewWriter(c.BodyWriter())
		err := site.Write(func(name string, data []byte) error {
			part, err := z.Create(name)
			if err == nil {
				_, err = part.Write(data)
			}
			return err
		})
		if err != nil || z.Close() != nil {
			panic(http.ErrAbortHandler) // so that the client does not take a partial file for a complete one
		}
	}}, nil
}
