package api

import (
	"context"
	"errors"
	"fmt"

	"wirebench/codec"
	"wirebench/codec/paste"
	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/server/admit"
	"wirebench/server/settings"
	"wirebench/server/workspace"
)

type decodeInput struct {
	Workspace string `path:"project"`
	Body      DecodeBody
}

// DecodeBody holds messages to decode.
type DecodeBody struct {
	Message    string `json:"message,omitempty" maxLength:"1000" doc:"NAME or NAME.VERSION; without it the message's own code chooses"`
	Hex        string `json:"hex,omitempty" doc:"one message a line, blanks allowed"`
	Paste      string `json:"paste,omitempty" doc:"any text that contains bytes, instead of hex"`
	Form       string `json:"form,omitempty" doc:"with paste: its form, instead of guessing"`
	Pattern    string `json:"pattern,omitempty" maxLength:"1000" doc:"with paste: a regular expression for messages, as in paste"`
	Definition string `json:"definition,omitempty" maxLength:"4194304" doc:"unsaved text to use instead of the stored definition of message"`
	Dir        string `json:"dir,omitempty" enum:"c2s,s2c" doc:"direction of the messages, if codes depend on it"`
	Group      string `json:"group,omitempty" doc:"group in which to look up codes"`

	Settings settings.Settings `json:"settings,omitzero" doc:"settings that override those of the project, for this request"`
	Session  sessionBody       `json:"session,omitzero" doc:"of the connection, for headers with a checksum"`
}

// sessionBody is the part of a connection's state that headers with a checksum depend on.
type sessionBody struct {
	Key     *uint32 `json:"key,omitempty" doc:"of the checksum. Decoding verifies the checksum with it; encoding uses 0 by default"`
	Counter uint32  `json:"counter,omitempty" doc:"sequence number of the message to encode; default 1"`
}

func (b sessionBody) session() codec.Session {
	s := codec.Session{Counter: max(b.Counter, 1)}
	if b.Key != nil {
		s.Key, s.KeyKnown = *b.Key, true
	}
	return s
}

type decodeOutput struct {
	Body struct {
		Results     []view.Result    `json:"results" doc:"one per message, in order"`
		Paste       *paste.PasteInfo `json:"paste,omitempty" doc:"how the pasted text was read"`
		Diagnostics []diag.Info      `json:"diagnostics,omitempty" doc:"of the definition in the request"`
	}
}

func (s *API) decode(ctx context.Context, in *decodeInput) (*decodeOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return s.decodeIn(ctx, ws, in.Body)
}

func (s *API) decodeIn(ctx context.Context, ws *space, b DecodeBody) (*decodeOutput, error) {
	if err := admitted(ctx, admit.Decode, len(b.Hex)+len(b.Paste)+len(b.Definition), admit.PerDecoded); err != nil {
		return nil, err
	}
	ws, err := ws.with(b.Settings)
	if err != nil {
		return nil, err
	}
	job, err := decodeJobOf(ws.Snapshot, b)
	if err != nil {
		return nil, asHTTP(err)
	}
	out := &decodeOutput{}
	out.Body.Results = make([]view.Result, 0, len(job.Messages))
	budget := maxFields
	for i := range job.Messages {
		res := job.Decode(i)
		if budget -= len(res.Fields); budget < 0 {
			return nil, asHTTP(fmt.Errorf("more than %d fields: send fewer messages per request", maxFields))
		}
		out.Body.Results = append(out.Body.Results, res)
	}
	if job.Definition != nil && b.Definition != "" {
		out.Body.Diagnostics = job.Definition.Diagnostics
	}
	if job.Paste != nil {
		info := job.Paste.Info()
		out.Body.Paste = &info
	}
	return out, nil
}

// maxFields limits the fields in one answer.
const maxFields = 600_000

// decodeJobOf reads the bytes of all messages of a request. The error is about the request; mistakes of a message are in its job.
func decodeJobOf(ws *workspace.Snapshot, b DecodeBody) (*workspace.Input, error) {
	if b.Hex != "" && b.Paste != "" {
		return nil, errors.New("either hex or paste, not both")
	}
	j := &workspace.Input{Snap: ws, Request: workspace.Request{Group: b.Group, Dir: schema.DirNamed(b.Dir), Fields: true, Session: b.Session.session()}}
	if b.Message != "" || b.Definition != "" {
		d, err := opened(ws, b.Message, b.Group, b.Dir, b.Definition)
		if err != nil {
			return nil, err
		}
		j.Use(d)
	}
	if b.Paste != "" && b.Pattern != "" {
		return j, j.ReadPattern(b.Paste, b.Form, b.Pattern)
	}
	if b.Paste != "" {
		return j, j.ReadPaste(b.Paste, b.Form)
	}
	return j, j.ReadLines(b.Hex)
}

// opened returns the definition of a message, or text in its place.
func opened(ws *workspace.Snapshot, name, group, dir, text string) (*workspace.Definition, error) {
	if m, err := ws.FindIn(name, group, schema.DirNamed(dir)); err == nil {
		name = ws.NameOf(m)
	}
	return ws.Open(name, text)
}
