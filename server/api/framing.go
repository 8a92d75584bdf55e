package api

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/capture"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/server/captures"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// maxFramingShown is the number of bytes shown of each framed message.
const maxFramingShown = 32

// maxFramingUnpacked is the number of bytes split of a compressed file.
const maxFramingUnpacked = 1 << 20

type framingInput struct {
	Workspace string `path:"project"`
	Body      struct {
		Framing string `json:"framing" maxLength:"200" doc:"whole, fixed:40, prefixed:2le@4+self+keep, delimited:0d0a, envelope, each with +c2s or +s2c"`
		Hex     string `json:"hex" doc:"the first bytes of a file, which may be compressed"`
		Cut     bool   `json:"cut,omitempty" doc:"the file continues after them"`
		Limit   int    `json:"limit,omitempty" minimum:"0" maximum:"100" doc:"maximum number of messages; default: 20"`
	}
}

type framingOutput struct{ Body FramingReport }

// FramingReport is the result of splitting bytes by a framing.
type FramingReport struct {
	Framing string        `json:"framing" doc:"in its canonical form"`
	Frames  []FramedBytes `json:"frames"`
	More    bool          `json:"more" doc:"there are more than the limit"`
}

// FramedBytes is a message split off by a framing.
type FramedBytes struct {
	Offset  int64   `json:"offset" doc:"of its first byte in the file"`
	Length  int     `json:"length"`
	Hex     string  `json:"hex" doc:"its first 32 bytes"`
	Code    *uint32 `json:"code,omitempty"`
	Message string  `json:"message,omitempty" doc:"name of its definition"`
	Status  string  `json:"status,omitempty" enum:"ok,incomplete,illegal,unknown"`
	Problem string  `json:"problem,omitempty" doc:"why no message is here"`
}

// tryFraming splits the first bytes of a file into messages and names their definitions, to show whether a framing fits before the file is
// stored.
func (s *API) tryFraming(_ context.Context, in *framingInput) (*framingOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	f, err := capture.ParseFraming(in.Body.Framing)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error(), &huma.ErrorDetail{Message: err.Error(), Location: "body.framing", Value: in.Body.Framing})
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(in.Body.Hex), ""))
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("hex is not valid", &huma.ErrorDetail{Message: err.Error(), Location: "body.hex"})
	}
	cut := in.Body.Cut
	if inner, whole := scan.UnpackHead(data, maxFramingUnpacked, !cut); len(inner) > 0 {
		data, cut = inner, !whole
	}
	limit := in.Body.Limit
	if limit == 0 {
		limit = 20
	}
	out := &framingOutput{}
	out.Body.Framing, out.Body.Frames = f.String(), []FramedBytes{}
	if bad := ws.BadEnvelope(); f.Own && bad != nil {
		return nil, huma.Error422UnprocessableEntity("the envelope " + bad.Name + " has mistakes")
	}
	protocol, _ := ws.Protocol()
	how := captures.OptionsOf(ws.Snapshot, protocol, store.Capture{Framing: f.String()})
	how.Limit = limit + 1
	read := workspace.NewReading(ws.Snapshot)
	err = capture.ReadRaw(scan.NewInput(bytes.NewReader(data)), how, func(x *transport.Frame) {
		if len(out.Body.Frames) == limit {
			out.Body.More = true
			return
		}
		if cut && x.Offset+int64(len(x.Bytes)) == int64(len(data)) && (f.Kind != envelope.Fixed || x.Kind == transport.Problem) {
			out.Body.More = true // the request does not have the rest
			return
		}
		out.Body.Frames = append(out.Body.Frames, framed(read, x))
	})
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	return out, nil
}

// framed describes a message split off by a framing.
func framed(read *workspace.Reading, f *transport.Frame) FramedBytes {
	out := FramedBytes{Offset: f.Offset, Length: len(f.Bytes), Hex: hex.EncodeToString(f.Bytes[:min(len(f.Bytes), maxFramingShown)])}
	if f.Kind != transport.Message {
		out.Problem = f.Note
		return out
	}
	read.Take(f)
	info := read.Describe(workspace.Want{}, workspace.Listed{})
	out.Code, out.Message, out.Status = info.Code, info.Message, info.Status
	return out
}
