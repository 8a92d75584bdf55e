package server

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/server/admit"
	"wirebench/server/workspace"
)

type emitInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	Body      struct {
		Target     string   `json:"target" enum:"c,go,ts,lua,ksy,md"`
		Messages   []string `json:"messages,omitempty" maxItems:"1000" doc:"NAME or NAME.VERSION; without them the highest version of each"`
		Definition string   `json:"definition,omitempty" maxLength:"1048576" doc:"unsaved text: its messages are written"`
		File       string   `json:"file,omitempty" maxLength:"500" doc:"only the messages of this file; with definition: the file whose text that is"`
		Name       string   `json:"name,omitempty" maxLength:"100" doc:"what files, packages and prefixes are called"`
		Vectors    int      `json:"vectors,omitempty" minimum:"0" maximum:"100" doc:"write a test as well (c, go, ts), with up to so many messages of each kind"`
	}
}

type emitOutput struct{ Body workspace.Emitted }

// emit writes definitions as code.
func (s *Server) emit(ctx context.Context, in *emitInput) (*emitOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	b := in.Body
	t, ok := emit.Find(b.Target)
	if !ok {
		return nil, huma.Error422UnprocessableEntity("no such target")
	}
	size := len(b.Definition)
	if size == 0 {
		size = ws.textsOf(b.Messages, b.File)
	}
	if err := admitted(ctx, admit.Emit, size, perEmitted); err != nil {
		return nil, err
	}
	var picked *schema.Schema
	var left []*schema.Message
	snap := ws.Snapshot
	switch {
	case b.Definition != "":
		d, err := ws.Snapshot.Open(strings.TrimSuffix(b.File, path.Ext(b.File)), b.Definition)
		if err != nil {
			return nil, asHTTP(err)
		}
		snap = d.Snap
		picked, left = snap.PickMessages(d.Messages())
	case b.File != "":
		f, err := ws.fileNamed(b.File)
		if err != nil {
			return nil, err
		}
		picked, left = snap.PickMessages(ws.MessagesOf(f))
	default:
		if picked, left, err = snap.Pick(b.Messages); err != nil {
			return nil, asHTTP(err)
		}
	}
	files, losses := t.Emit(picked, emit.Options{Name: b.Name, Vectors: snap.Vectors(picked, b.Vectors)})
	out := &emitOutput{workspace.EmittedOf(files, losses)}
	for _, m := range left {
		out.Body.Left = append(out.Body.Left, snap.NameOf(m))
	}
	return out, nil
}

// vectorsOnPage is how many messages of each kind the test has that is written beside code.
const vectorsOnPage = 3

// emitOpen writes the messages of the open definition as code, as its text is now.
func (p *pageWork) emitOpen(target string) {
	t, ok := emit.Find(target)
	if !ok || p.use == nil {
		p.notice("There is no definition to write as code: open one first.")
		return
	}
	picked, left := p.use.Snap.PickMessages(p.use.Messages())
	if len(picked.Messages) == 0 {
		p.notice(fmt.Sprintf("Nothing is written: the definitions of %d messages have mistakes.", len(left)))
		return
	}
	name := strings.TrimSuffix(path.Base(p.use.File.Name), path.Ext(p.use.File.Name))
	if p.ws.Snapshot.Dialect.Versions && p.use.Message != nil {
		name = p.use.Message.Name
	}
	files, losses := t.Emit(picked, emit.Options{Name: strings.ToLower(name), Vectors: p.use.Snap.Vectors(picked, vectorsOnPage)})
	var out []export
	for _, f := range files {
		out = append(out, export{f.Name, "text/plain; charset=utf-8", f.Text})
	}
	p.export = &exports{Title: t.Title, Files: out}
	for _, l := range losses {
		p.export.Losses = append(p.export.Losses, l.String())
	}
	for _, m := range left {
		p.export.Losses = append(p.export.Losses, p.use.Snap.NameOf(m)+": left out, its definition has mistakes")
	}
}

// zipped is several files as one.
func zipped(files []export) ([]byte, error) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, f := range files {
		w, err := z.Create(f.Name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(f.Text)); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return buf.Bytes(), err
}
