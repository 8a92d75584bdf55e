package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/schema"
	"wirebench/server/captures"
	"wirebench/server/live"
	"wirebench/server/replay"
	"wirebench/server/store"
)

func (s *API) registerReplaysScript(api huma.API) {
	add(api, "POST /api/{ws}/captures/{id}/script", "make-script", "Make a replay script of a connection of a capture", s.makeScript, status(422, 503))
}

// Limits of scripts made of captures.
const (
	maxReplayMessages = 60_000   // more than the steps of a script
	maxReplayBytes    = 16 << 20 // of them
	maxReplayConns    = 1000     // listed
	maxScriptMakers   = 2        // at once; other requests wait
)

// ReplayConn is a connection of a capture that can be replayed.
type ReplayConn struct {
	Conn     string `json:"conn" doc:"client-server, as in frames"`
	Session  int    `json:"session,omitempty" doc:"number among successive connections of the same addresses"`
	ToServer int    `json:"to_server" doc:"messages"`
	ToClient int    `json:"to_client" doc:"messages"`

	index uint32 // in the log
}

func (c ReplayConn) messages() int { return c.ToServer + c.ToClient }

// ReplayPart selects the connection of a capture to replay.
type ReplayPart struct {
	Conn    string `json:"conn,omitempty" maxLength:"200" doc:"connection, client-server; default: the only one"`
	Session int    `json:"session,omitempty" minimum:"0" doc:"number among successive connections of the same addresses"`
}

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
		ReplayPart
		Play string `json:"play,omitempty" enum:"client,server" default:"client" doc:"side that the script plays"`
		Text bool   `json:"as_text,omitempty" doc:"return the script as indented text for editing, since some JSON parsers do not keep all digits of numbers"`
	}
}

type scriptOutput struct {
	Body struct {
		Conns   []ReplayConn    `json:"conns" doc:"connections with messages, by descending number of messages"`
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
	made, err := s.scriptOf(ctx, ws, x, in.Body.ReplayPart, play, true)
	if err != nil {
		return nil, err
	}
	out := &scriptOutput{}
	b := &out.Body
	b.Conns, b.Conn, b.Session, b.Note = made.conns, made.of.Conn, made.of.Session, made.note
	if b.More = max(len(b.Conns)-maxReplayConns, 0); b.More > 0 {
		b.Conns = b.Conns[:maxReplayConns]
	}
	b.Steps, b.Lifts = len(made.script.Steps), []ReplayLift{}
	for _, l := range made.script.Lifts {
		b.Lifts = append(b.Lifts, ReplayLift(l))
	}
	text, err := made.script.Encode()
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

// madeScript is a script made of a capture.
type madeScript struct {
	script *replay.Script
	of     ReplayConn
	conns  []ReplayConn // with messages, by descending number of messages
	note   string
}

// scriptOf makes the script of a connection of a capture. If none is named and there are several, it takes the one with most messages or
// returns an error.
func (s *API) scriptOf(ctx context.Context, ws *space, x store.Capture, part ReplayPart, play schema.Dir, largest bool) (made madeScript, err error) {
	select {
	case s.replays.making <- struct{}{}:
		defer func() { <-s.replays.making }()
	case <-ctx.Done():
		return made, ctx.Err()
	}
	var open *captures.Capture
	for held := false; !held; held = s.Captures.Hold(open) {
		if open, err = s.Captures.Get(ws.Workspace, ws.Snapshot, x); err != nil {
			return made, captureProblem(err)
		}
	}
	defer s.Captures.LetGo(open)
	whole, err := open.Wait(ctx)
	switch {
	case err != nil:
		return made, err
	case whole && open.Err() != nil:
		made.note = open.Err().Error()
	case whole:
	case !open.Running():
		return made, huma.Error503ServiceUnavailable("the capture is still being read: try again")
	default:
		made.note = "the connection is still open: the script has its messages so far"
	}
	made.conns = replayConns(open.Log())
	if made.of, err = chosenConn(made.conns, part, largest); err != nil {
		return made, err
	}
	messages, all := replayMessages(open.Log(), made.of.index)
	if !all {
		made.note = fmt.Sprintf("only the first %d messages", len(messages))
	}
	made.script, err = replay.FromFrames(messages, replay.FromOptions{Definitions: ws.Snapshot, Protocol: ws.Snapshot.Dialect.Name, Play: play})
	if err != nil {
		return made, huma.Error422UnprocessableEntity(err.Error())
	}
	return made, nil
}

// replayConns returns the connections of a log with messages, by descending number of messages.
func replayConns(log *live.Log) []ReplayConn {
	conns := log.Conns()
	all := make([]ReplayConn, len(conns))
	for i, c := range conns {
		all[i] = ReplayConn{Conn: c.Name, Session: c.Session, index: uint32(i)}
	}
	log.Each(log.Base(), log.Len(), func(_ int, e live.Entry, _ []byte) bool {
		if e.Kind != transport.Message || int(e.Conn) >= len(all) {
			return true
		}
		switch e.Dir {
		case schema.ToServer:
			all[e.Conn].ToServer++
		case schema.ToClient:
			all[e.Conn].ToClient++
		}
		return true
	})
	all = slices.DeleteFunc(all, func(c ReplayConn) bool { return c.messages() == 0 })
	slices.SortStableFunc(all, func(a, b ReplayConn) int { return b.messages() - a.messages() })
	return all
}

// chosenConn returns the requested connection.
func chosenConn(all []ReplayConn, part ReplayPart, largest bool) (ReplayConn, error) {
	switch {
	case len(all) == 0:
		return ReplayConn{}, huma.Error422UnprocessableEntity("the capture has no messages that can be replayed")
	case part.Conn == "" && (largest || len(all) == 1):
		return all[0], nil
	case part.Conn == "":
		var names []string
		for _, c := range all[:min(len(all), 10)] {
			name := c.Conn
			if c.Session > 0 {
				name += fmt.Sprintf(" (session %d)", c.Session)
			}
			names = append(names, name)
		}
		return ReplayConn{}, huma.Error422UnprocessableEntity(fmt.Sprintf("the capture has %d connections; choose one as \"conn\": %s", len(all), strings.Join(names, ", ")))
	}
	for _, c := range all {
		if c.Conn == part.Conn && c.Session == part.Session {
			return c, nil
		}
	}
	return ReplayConn{}, huma.Error422UnprocessableEntity(fmt.Sprintf("connection %s, session %d does not exist or has no messages", part.Conn, part.Session))
}

// replayMessages returns the messages of a connection as the other end received them, and whether they are complete.
func replayMessages(log *live.Log, conn uint32) (list []replay.Message, all bool) {
	all = log.Base() == 0
	size := 0
	var f transport.Frame
	log.Each(log.Base(), log.Len(), func(i int, e live.Entry, data []byte) bool {
		if e.Conn != conn || e.Kind != transport.Message || e.Flags&live.Dropped != 0 {
			return true
		}
		if size += len(data); size > maxReplayBytes || len(list) == maxReplayMessages {
			all = false
			return false
		}
		log.Frame(i, e, data, &f)
		list = append(list, replay.Copy(&f))
		return true
	})
	return list, all
}

// replayEnv returns the keys of a capture; nil if they cannot be read, as in readingOf.
func replayEnv(ws *space, x store.Capture) *protocols.Env {
	env := &protocols.Env{Definitions: ws.Snapshot, Options: ws.Snapshot.Options.Values}
	if keys, err := protocols.ParseKeys(x.Keys); err == nil {
		env.Keys = keys
	}
	return env
}
