package api

import (
	"context"

	"wirebench/server/history"
	"wirebench/server/workspace"
)

// MapChoice says which code map to change, and how.
type MapChoice struct {
	Map  string `json:"map,omitempty" maxLength:"500" doc:"file name of the code map to change; default: the one in use, or a new one if the library has none"`
	Take bool   `json:"take,omitempty" doc:"take the codes from other messages that have them"`
}

type codeInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      struct {
		workspace.GivenCode
		MapChoice
	}
}

type codesInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      struct {
		Codes []workspace.GivenCode `json:"codes" minItems:"1" maxItems:"5000" doc:"the last one applies where a message is given twice"`
		MapChoice
	}
}

type codeOutput struct{ Body CodeReport }

// CodeReport reports the code map that a message has its code from.
type CodeReport struct {
	Message string        `json:"message" doc:"name without a version"`
	Code    uint32        `json:"code"`
	Map     string        `json:"map" doc:"file name of the code map"`
	Used    bool          `json:"used" doc:"this code map is in use"`
	Undo    *history.Step `json:"undo,omitempty" doc:"the change of the code map, for undo; missing if it had the code already"`
}

type codesOutput struct{ Body CodesReport }

// CodesReport reports the code map that messages have their codes from.
type CodesReport struct {
	Map  string        `json:"map" doc:"file name of the code map"`
	Used bool          `json:"used" doc:"this code map is in use"`
	Undo *history.Step `json:"undo,omitempty" doc:"the change of the code map, for undo; missing if it had all the codes already"`
}

// giveCode gives a message a code.
func (s *API) giveCode(ctx context.Context, in *codeInput) (*codeOutput, error) {
	b := &in.Body
	codes, used, step, err := s.give(ctx, in.Workspace, []workspace.GivenCode{b.GivenCode}, b.MapChoice)
	if err != nil {
		return nil, err
	}
	return &codeOutput{CodeReport{workspace.MessageName(b.Message), b.Code, codes, used, step}}, nil
}

// giveCodes gives many messages codes.
func (s *API) giveCodes(ctx context.Context, in *codesInput) (out *codesOutput, err error) {
	out = &codesOutput{}
	b := &out.Body
	b.Map, b.Used, b.Undo, err = s.give(ctx, in.Workspace, in.Body.Codes, in.Body.MapChoice)
	return out, err
}

func (s *API) give(ctx context.Context, project string, codes []workspace.GivenCode, to MapChoice) (codeMap string, used bool, step *history.Step, err error) {
	ws, err := s.workspaceNamed(project)
	if err != nil {
		return "", false, nil, err
	}
	codeMap, step, err = ws.GiveCodes(workspace.GivenCodes{Codes: codes, Map: to.Map, Take: to.Take, Who: authors(ctx)})
	if err != nil {
		return "", false, nil, StoreProblem(err)
	}
	return codeMap, ws.Workspace.Now().CodeMap == codeMap, step, nil
}
