package api

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/server/admit"
	"wirebench/server/workspace"
)

type emitInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      struct {
		Target     string   `json:"target" enum:"c,go,ts,lua,ksy,md"`
		Messages   []string `json:"messages,omitempty" maxItems:"1000" doc:"NAME or NAME.VERSION; default: the highest version of each, with definition: all of it"`
		Definition string   `json:"definition,omitempty" maxLength:"4194304" doc:"unsaved text whose messages are written"`
		File       string   `json:"file,omitempty" maxLength:"500" doc:"only the messages of this file; with definition: the file that it replaces"`
		Name       string   `json:"name,omitempty" maxLength:"100" doc:"name of files, packages and prefixes"`
		Vectors    int      `json:"vectors,omitempty" minimum:"0" maximum:"100" doc:"also write a test (c, go, ts), with up to this many messages of each kind"`
	}
}

type emitOutput struct{ Body workspace.Emitted }

// emit writes definitions as code.
func (s *API) emit(ctx context.Context, in *emitInput) (*emitOutput, error) {
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
	if err := admitted(ctx, admit.Emit, size, admit.PerEmitted); err != nil {
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
		list := d.Messages()
		if len(b.Messages) > 0 {
			list = slices.DeleteFunc(slices.Clone(list), func(m *schema.Message) bool {
				return !slices.ContainsFunc(b.Messages, func(name string) bool { found, err := snap.Find(name); return err == nil && found == m })
			})
			if len(list) == 0 && d.Message != nil { // its name in the text is another one
				list = []*schema.Message{d.Message}
			}
		}
		picked, left = snap.PickMessages(list)
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
	files, losses := snap.Emit(t, picked, b.Name, b.Vectors)
	// An unsaved text may have mistakes for a while: what it cannot write is in left and in the losses.
	if err := snap.Written(t, picked, left, losses); err != nil && b.Definition == "" {
		return nil, nothingWritten(err)
	}
	out := &emitOutput{workspace.EmittedOf(files, losses)}
	for _, m := range left {
		out.Body.Left = append(out.Body.Left, snap.NameOf(m))
	}
	return out, nil
}

// maxReasons bounds the messages that an error names.
const maxReasons = 100

// nothingWritten is the response for an output without messages: the reason for each.
func nothingWritten(err error) error {
	var nothing *workspace.NothingWritten
	if !errors.As(err, &nothing) || len(nothing.Reasons) == 0 {
		return huma.Error422UnprocessableEntity(err.Error())
	}
	all := make([]error, 0, maxReasons)
	for i, reason := range nothing.Reasons {
		if i == maxReasons {
			all = append(all, fmt.Errorf("and %d more", len(nothing.Reasons)-i))
			break
		}
		all = append(all, errors.New(reason))
	}
	return huma.Error422UnprocessableEntity(fmt.Sprintf("none of %d messages can be written as %s", len(nothing.Reasons), nothing.Target), all...)
}

// textsOf returns the size of the definitions to be written as code, in bytes.
func (ws *space) textsOf(messages []string, file string) (n int) {
	for _, f := range ws.Library.Files {
		switch {
		case file != "" && f.Name == file, file == "" && len(messages) == 0:
			n += len(f.Text)
		}
	}
	for _, name := range messages {
		if m, err := ws.Find(name); err == nil {
			n += len(m.Span.File.Text)
		}
	}
	return n
}
