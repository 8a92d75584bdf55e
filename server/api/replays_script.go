package api

import (
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs/schema"
	"wirebench/server/runs"
)

// maxReplayConns bounds the connections that are listed.
const maxReplayConns = 1000

// ReplayLift is a replay.LiftNote as the API describes it.
type ReplayLift struct {
	Name string   `json:"name"`
	From string   `json:"from" doc:"step and path"`
	To   []string `json:"to" doc:"steps and paths"`
	Why  string   `json:"why"`
}

type makeScriptInput struct {
	CapturePath
	Body struct {
		runs.Part
		Play string `json:"play,omitempty" enum:"client,server" default:"client" doc:"side that the script plays"`
		Text bool   `json:"as_text,omitempty" doc:"return the script as indented text for editing, since some JSON parsers do not keep all digits of numbers"`
	}
}

type scriptOutput struct {
	Body struct {
		Conns   []runs.Conn     `json:"conns" doc:"connections with messages, by descending number of messages"`
		More    int             `json:"more,omitempty" doc:"connections not listed"`
		Conn    string          `json:"conn" doc:"connection of the script; by default the one with most messages"`
		Session int             `json:"session,omitempty"`
		Note    string          `json:"note,omitempty" doc:"why the script lacks parts of the connection"`
		Steps   int             `json:"steps" doc:"number of steps"`
		Lifts   []ReplayLift    `json:"lifts" doc:"values taken from received messages"`
		Text    string          `json:"text,omitempty" doc:"the script as text, with as_text"`
		Script  json.RawMessage `json:"script,omitempty" doc:"the script, without as_text; its lifts name the values taken from received messages, and why"`
	}
}

// makeScript answers with the replay script of a connection.
func (s *API) makeScript(ctx context.Context, in *makeScriptInput) (*scriptOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	play := schema.ToServer
	if in.Body.Play == "server" {
		play = schema.ToClient
	}
	made, err := s.Runs.Script(ctx, runs.Recording{Workspace: ws.Workspace, Snapshot: ws.Snapshot, Capture: x}, in.Body.Part, play, true)
	if err != nil {
		return nil, replayProblem(err)
	}
	out := &scriptOutput{}
	b := &out.Body
	b.Conns, b.Conn, b.Session, b.Note = made.Conns, made.Of.Conn, made.Of.Session, made.Note
	if b.More = max(len(b.Conns)-maxReplayConns, 0); b.More > 0 {
		b.Conns = b.Conns[:maxReplayConns]
	}
	b.Steps, b.Lifts = len(made.Script.Steps), []ReplayLift{}
	for _, l := range made.Script.Lifts {
		b.Lifts = append(b.Lifts, ReplayLift(l))
	}
	text, err := made.Script.Encode()
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	if in.Body.Text {
		b.Text = string(text)
	} else {
		b.Script = text
	}
	return out, nil
}
