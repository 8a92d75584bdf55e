package api

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/scan"
	"wirebench/defs"
	"wirebench/defs/source"
	"wirebench/server/workspace"
)

type samplesInput struct{ FilePath }

type samplesOutput struct {
	Status int
	Body   struct {
		Samples []workspace.Sample `json:"samples" doc:"in the order they were added"`
	}
}

// listSamples lists the samples of a definition.
func (s *API) listSamples(_ context.Context, in *samplesInput) (*samplesOutput, error) {
	ws, f, err := s.sampled(in.FilePath)
	if err != nil {
		return nil, err
	}
	return samplesOf(ws, f, http.StatusOK), nil
}

// sampled returns the definition of a request, which may have samples.
func (s *API) sampled(p FilePath) (*space, *source.File, error) {
	ws, err := s.workspaceNamed(p.Workspace)
	if err != nil {
		return nil, nil, err
	}
	f, err := ws.fileNamed(p.File)
	switch {
	case err != nil:
	case defs.IsCodeMap(f.Name):
		err = huma.Error422UnprocessableEntity(f.Name + " is a code map; only definitions have samples")
	case workspace.IsEnvelope(f.Name):
		err = huma.Error422UnprocessableEntity(f.Name + " is an envelope; only definitions have samples")
	case defs.IsValidity(f.Name):
		err = huma.Error422UnprocessableEntity(f.Name + " is not a definition; only definitions have samples")
	}
	return ws, f, err
}

// samplesOf returns the current samples.
func samplesOf(ws *space, f *source.File, status int) *samplesOutput {
	out := &samplesOutput{Status: status}
	out.Body.Samples = append([]workspace.Sample{}, ws.Now().Samples(f.Name)...)
	return out
}

type sampleInput struct {
	FilePath
	Body struct {
		Message string `json:"message,omitempty" maxLength:"1000" doc:"NAME or NAME.VERSION, if the file defines several"`
		Hex     string `json:"hex" doc:"the message; spaces, line ends and 0x allowed"`
		About   string `json:"about,omitempty" maxLength:"500" doc:"description, one sentence"`
	}
}

// addSample adds a message to the samples of its definition.
func (s *API) addSample(_ context.Context, in *sampleInput) (*samplesOutput, error) {
	ws, f, err := s.sampled(in.FilePath)
	if err != nil {
		return nil, err
	}
	message, err := ws.messageIn(f, in.Body.Message)
	if err != nil {
		return nil, err
	}
	data, err := looseHex(in.Body.Hex)
	if err != nil {
		return nil, err
	}
	about := strings.Join(strings.Fields(in.Body.About), " ")
	if err := ws.AddSample(f.Name, workspace.Sample{Message: message, Hex: hex.EncodeToString(data), About: about}); err != nil {
		return nil, StoreProblem(err)
	}
	return samplesOf(ws, f, http.StatusCreated), nil
}

// messageIn returns the full name of a message of the file; if none is named, of the only one.
func (ws *space) messageIn(f *source.File, name string) (string, error) {
	messages := ws.MessagesOf(f)
	if name == "" && len(messages) == 1 {
		return ws.NameOf(messages[0]), nil
	}
	for _, m := range messages {
		if full := ws.NameOf(m); name == full || name == m.Name {
			return full, nil
		}
	}
	return "", huma.Error422UnprocessableEntity(f.Name+" defines: "+strings.Join(ws.fullNames(messages), ", "), &huma.ErrorDetail{Location: "body.message", Message: "not a message of this file", Value: name})
}

// looseHex reads the bytes of one message from hex in any spelling.
func looseHex(text string) ([]byte, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,", r) })
	for i, w := range words {
		if len(w) > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X') {
			words[i] = w[2:]
		}
	}
	data, err := scan.HexLine(strings.Join(words, " "))
	if err == nil && len(data) == 0 {
		return nil, huma.Error422UnprocessableEntity("a sample cannot be empty", &huma.ErrorDetail{Location: "body.hex", Message: "empty"})
	}
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("expected hex digits: "+err.Error(), &huma.ErrorDetail{Location: "body.hex", Message: err.Error()})
	}
	return data, nil
}

type dropSampleInput struct {
	FilePath
	Body struct {
		Message string `json:"message,omitempty" maxLength:"1000" doc:"NAME.VERSION, if several samples have the same bytes"`
		Hex     string `json:"hex" doc:"the message, in any spelling"`
	}
}

// dropSample removes a sample.
func (s *API) dropSample(_ context.Context, in *dropSampleInput) (*samplesOutput, error) {
	ws, f, err := s.sampled(in.FilePath)
	if err != nil {
		return nil, err
	}
	data, err := looseHex(in.Body.Hex)
	if err != nil {
		return nil, err
	}
	for _, x := range ws.Samples(f.Name) {
		if have, err := looseHex(x.Hex); err != nil || string(have) != string(data) || in.Body.Message != "" && in.Body.Message != x.Message {
			continue
		}
		if err := ws.DropSample(f.Name, x); err != nil {
			return nil, StoreProblem(err)
		}
		return samplesOf(ws, f, http.StatusOK), nil
	}
	return nil, huma.Error404NotFound(f.Name + " has no such sample")
}
