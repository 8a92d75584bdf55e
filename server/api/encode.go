package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/scan"
	"wirebench/codec/view"
	"wirebench/defs/schema"
	"wirebench/server/admit"
	"wirebench/server/settings"
	"wirebench/server/workspace"
)

type encodeInput struct {
	Workspace string `path:"project"`
	Body      EncodeBody
}

// EncodeBody holds the values of a message.
type EncodeBody struct {
	Message    string          `json:"message,omitempty" maxLength:"1000" doc:"NAME or NAME.VERSION; required unless definition has one message"`
	Version    int             `json:"version,omitempty" doc:"of the definition; default: the highest"`
	Group      string          `json:"group,omitempty" doc:"group of the message, if several have its name"`
	Dir        string          `json:"dir,omitempty" enum:"c2s,s2c" doc:"direction of the message, if both have its name"`
	Code       *uint32         `json:"code,omitempty" doc:"of the message; default: from its definition or the code map"`
	Value      json.RawMessage `json:"value" doc:"an object of values; missing ones are zero or empty"`
	Base       string          `json:"base,omitempty" maxLength:"16777216" doc:"bytes that the values come from, in hex: what has not changed keeps its bytes"`
	Definition string          `json:"definition,omitempty" maxLength:"4194304" doc:"unsaved text to use instead of the stored definition of message"`

	Settings settings.Settings `json:"settings,omitzero" doc:"settings that override those of the project, for this request"`
	Session  sessionBody       `json:"session,omitzero" doc:"of the connection, for headers with a checksum"`
}

type encodeOutput struct {
	Body struct {
		Hex    string            `json:"hex"`
		Fields []view.FieldValue `json:"fields" doc:"every run of bits with its range"`
	}
}

func (s *API) encode(ctx context.Context, in *encodeInput) (*encodeOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return s.encodeIn(ctx, ws, in.Body)
}

func (s *API) encodeIn(ctx context.Context, ws *space, b EncodeBody) (*encodeOutput, error) {
	if err := admitted(ctx, admit.Decode, len(b.Value)+len(b.Definition)+len(b.Base), admit.PerValue); err != nil {
		return nil, err
	}
	ws, err := ws.with(b.Settings)
	if err != nil {
		return nil, err
	}
	if b.Definition != "" {
		d, err := opened(ws.Snapshot, b.Message, b.Group, b.Dir, b.Definition)
		if err != nil {
			return nil, asHTTP(err)
		}
		ws = &space{ws.Workspace, d.Snap}
		if b.Message == "" {
			if b.Message, err = ws.messageIn(d.File, ""); err != nil {
				return nil, err
			}
		}
	}
	m, err := ws.named(b)
	if err != nil {
		return nil, asHTTP(err)
	}
	base, err := b.base()
	if err != nil {
		return nil, err
	}
	code := b.Code
	if code == nil && !m.HasKey {
		code = ws.Snapshot.CodeIn(m, base)
	}
	enc, err := ws.Snapshot.Encoder(m, code, b.Session.session())
	switch {
	case errors.Is(err, workspace.ErrNoCode):
		return nil, huma.Error422UnprocessableEntity(err.Error() + ": give a code")
	case err != nil:
		return nil, asHTTP(err)
	}
	data, problems := enc.EncodeOver(b.Value, base)
	if len(problems) > 0 {
		return nil, refused(problems)
	}
	out := &encodeOutput{}
	out.Body.Hex, out.Body.Fields = hex.EncodeToString(data), view.Fields(enc.Record())
	return out, nil
}

// base returns the bytes that the values come from; nil if there are none.
func (b *EncodeBody) base() ([]byte, error) {
	if b.Base == "" {
		return nil, nil
	}
	data, err := scan.HexLine(b.Base)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("base: "+err.Error(), &huma.ErrorDetail{Location: "body.base", Message: err.Error()})
	}
	return data, nil
}

// named finds the message to encode by name and, if given, group and direction.
func (ws *space) named(b EncodeBody) (*schema.Message, error) {
	if b.Message == "" {
		return nil, huma.Error422UnprocessableEntity("message is required", &huma.ErrorDetail{Location: "body.message", Message: "missing"})
	}
	name := b.Message
	if b.Version != 0 {
		name += "." + strconv.Itoa(b.Version)
	}
	return ws.FindIn(name, b.Group, schema.DirNamed(b.Dir))
}
