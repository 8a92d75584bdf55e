package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/transport/protocols"
	"wirebench/defs/schema"
	"wirebench/server/replay"
)

func (s *API) registerReplays(api huma.API) {
	add(api, "POST /api/{ws}/captures/{id}/replay", "start-replay", "Replay a recorded conversation against a server, or as the server for a client", s.startReplay, created, status(403, 409, 413, 422, 503))
	add(api, "GET /api/{ws}/replays", "replays", "The running replays and the last finished ones", s.listReplays)
	add(api, "GET /api/{ws}/replays/{id}", "replay", "The state of a replay: its steps so far, differences, and report", s.readReplay)
	add(api, "DELETE /api/{ws}/replays/{id}", "stop-replay", "Stop a replay; its results stay", s.stopReplay, status(503))
}

// Limits of replays.
const (
	MaxReplays       = 8       // running at once, in all workspaces
	MaxKeptReplays   = 16      // including finished ones, of which the oldest are removed
	maxReplayResults = 20_000  // kept per replay
	maxReplayMemory  = 4 << 20 // approximate size of the results in bytes
	maxReplayVars    = 1000    // values at the end
	maxReplayValue   = 200     // bytes shown of a value
)

// ReplayConfig configures a replay.
type ReplayConfig struct {
	ReplayPart
	To        string                     `json:"to,omitempty" maxLength:"300" doc:"host:port of the server, to replay as its client; it must be an allowed upstream or a listener of the proxy"`
	Listen    string                     `json:"listen,omitempty" maxLength:"100" doc:"IP:port to listen on, to replay as the server for the first client; loopback only: clients of other machines connect through a listener of the proxy"`
	Script    json.RawMessage            `json:"script,omitempty" doc:"the script, as JSON or text; default: the script that POST .../script makes of the connection"`
	Speed     float64                    `json:"speed,omitempty" minimum:"0" maximum:"1000000" doc:"2 is twice as fast; 0: from the script"`
	Tolerance string                     `json:"tolerance,omitempty" enum:"exact,fields,shape" doc:"which differences count; default: from the script"`
	Vars      map[string]json.RawMessage `json:"vars,omitempty" maxProperties:"10000" doc:"values of the script, by name"`
	KeepGoing bool                       `json:"keep_going,omitempty" doc:"continue when an expected message is missing"`
	Plain     bool                       `json:"plain,omitempty" doc:"without encryption"`
	Seconds   int                        `json:"max_seconds,omitempty" minimum:"1" maximum:"3600" default:"600" doc:"time limit, including the wait for a client"`
}

// ReplayInfo is the state of a run.
type ReplayInfo struct {
	ID        string        `json:"id"`
	Capture   string        `json:"capture"`
	Conn      string        `json:"conn,omitempty" doc:"the replayed connection of the capture; missing if the request had a script"`
	Session   int           `json:"session,omitempty"`
	Play      string        `json:"play" enum:"client,server"`
	To        string        `json:"to,omitempty"`
	Listen    string        `json:"listen,omitempty" doc:"the address, with its port"`
	State     string        `json:"state" enum:"connecting,listening,playing,done"`
	Done      bool          `json:"done"`
	Error     string        `json:"error,omitempty" doc:"why there is no report: no connection, or an invalid script"`
	Steps     int           `json:"steps" doc:"messages that the script sends and expects, with loops unrolled"`
	Total     int           `json:"total" doc:"results so far, without keepalives"`
	LeftOut   int           `json:"left_out,omitempty" doc:"results not kept"`
	Different int           `json:"different"`
	Missing   int           `json:"missing"`
	Failed    int           `json:"failed"`
	Note      string        `json:"note,omitempty" doc:"why the script lacks parts of the recording"`
	Report    *ReplayReport `json:"report,omitempty" doc:"after the end; the results are in a separate list"`
}

// replaySet is the set of runs, the oldest first.
type replaySet struct {
	making chan struct{} // semaphore of scripts being made

	mu   sync.Mutex
	last int // number of the newest
	all  []*replayRun
}

func newReplaySet() *replaySet { return &replaySet{making: make(chan struct{}, maxScriptMakers)} }

// add adds a run, unless too many are running.
func (r *replaySet) add(x *replayRun) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	running := 0
	for _, one := range r.all {
		if !one.ended() {
			running++
		}
	}
	if running >= MaxReplays {
		return huma.Error409Conflict(fmt.Sprintf("%d replays run: stop one first", running))
	}
	for len(r.all) >= MaxKeptReplays {
		oldest := slices.IndexFunc(r.all, (*replayRun).ended)
		r.all = slices.Delete(r.all, oldest, oldest+1) // there is one, since fewer are running
	}
	r.last++
	x.info.ID = strconv.Itoa(r.last)
	r.all = append(r.all, x)
	return nil
}

// of returns the runs of a workspace.
func (r *replaySet) of(ws string) []*replayRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.all), func(x *replayRun) bool { return x.ws != ws })
}

// replayNamed finds a run of a workspace.
func (s *API) replayNamed(workspace, id string) (*replayRun, error) {
	ws, err := s.workspaceNamed(workspace)
	if err != nil {
		return nil, err
	}
	for _, x := range s.replays.of(ws.Name) {
		if x.info.ID == id {
			return x, nil
		}
	}
	return nil, huma.Error404NotFound("no such replay, or it was removed in favour of newer ones")
}

type startReplayInput struct {
	CapturePath
	Body ReplayConfig
}

type startReplayOutput struct {
	Status int
	Body   struct {
		ID     string          `json:"id"`
		Listen string          `json:"listen,omitempty" doc:"address to which the client connects"`
		Script json.RawMessage `json:"script"`
	}
}

// startReplay starts a run. Mistakes of the request are reported before anything is sent.
func (s *API) startReplay(ctx context.Context, in *startReplayInput) (*startReplayOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	cfg := &in.Body
	protocol, ok := protocols.Of(ws.Snapshot.Dialect.Name)
	if !ok {
		return nil, huma.Error422UnprocessableEntity("connections of this protocol cannot be replayed")
	}
	if (cfg.To == "") == (cfg.Listen == "") {
		return nil, huma.Error422UnprocessableEntity(`either "to" or "listen" is required`)
	}
	run := &replayRun{
		ws: ws.Name, snap: ws.Snapshot, protocol: protocol, cfg: *cfg, env: replayEnv(ws, x), done: make(chan struct{}),
		info: ReplayInfo{Capture: x.ID, To: cfg.To, State: "connecting", Play: "client"},
	}
	run.changed = func() { s.ReplayChanged(ws.Name, run.info.ID) }
	part := schema.ToServer
	if cfg.Listen != "" {
		part, run.info.State, run.info.Play = schema.ToClient, "listening", "server"
	}
	if err := run.open(ctx, s.Relays); err != nil {
		return nil, err
	}
	started := false
	defer func() {
		if !started {
			run.close()
		}
	}()
	out := &startReplayOutput{Status: http.StatusCreated}
	if len(cfg.Script) > 0 {
		if cfg.Script[0] == '"' {
			var text string
			if err := json.Unmarshal(cfg.Script, &text); err != nil {
				return nil, huma.Error422UnprocessableEntity("script: " + err.Error())
			}
			cfg.Script = []byte(text)
		}
		if run.script, err = replay.ParseScript(cfg.Script); err != nil {
			return nil, huma.Error422UnprocessableEntity("script: " + err.Error())
		}
		out.Body.Script = cfg.Script
	} else {
		made, err := s.scriptOf(ctx, ws, x, cfg.ReplayPart, part, false)
		if err != nil {
			return nil, err
		}
		run.script, run.info.Conn, run.info.Session, run.info.Note = made.script, made.of.Conn, made.of.Session, made.note
		if out.Body.Script, err = made.script.Encode(); err != nil {
			return nil, huma.Error422UnprocessableEntity(err.Error())
		}
	}
	if run.script.Sends() != part {
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("the script is for the other side: use %q", map[bool]string{true: "listen", false: "to"}[cfg.To != ""]))
	}
	if run.script.Protocol != "" && run.script.Protocol != ws.Snapshot.Dialect.Name {
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("the script is for protocol %.40q, this workspace for %s", run.script.Protocol, ws.Snapshot.Dialect.Name))
	}
	run.cfg.Script = nil // it is long, and no longer needed
	run.info.Steps = turns(run.script.Steps, 1)
	playing, stop := context.WithCancel(s.Captures.Context())
	run.stop = stop
	if err := s.replays.add(run); err != nil {
		stop()
		return nil, err
	}
	started = true
	out.Body.ID, out.Body.Listen = run.info.ID, run.info.Listen
	s.Log.Info("replay started", "workspace", ws.Name, "capture", x.ID, "replay", run.info.ID, "with", cmp.Or(cfg.To, run.info.Listen))
	s.Captures.Go(func() {
		defer stop()
		defer close(run.done)
		run.play(playing)
		end := run.now()
		s.Log.Info("replay ended", "workspace", ws.Name, "replay", end.ID, "results", end.Total, "error", end.Error)
	})
	return out, nil
}

// turns returns the number of messages that steps send and expect, with loops unrolled. Checked scripts have few enough for an int.
func turns(steps []replay.Step, times int) (n int) {
	for i := range steps {
		switch st := &steps[i]; {
		case st.Repeat != nil:
			n += turns(st.Repeat.Steps, times*st.Repeat.Times)
		case st.Send != nil || st.Expect != nil:
			n += times
		}
	}
	return n
}

type replaysOutput struct {
	Body struct {
		Replays []ReplayInfo `json:"replays" doc:"the newest first"`
	}
}

// listReplays lists the runs of a workspace.
func (s *API) listReplays(_ context.Context, in *workspaceInput) (*replaysOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &replaysOutput{}
	out.Body.Replays = []ReplayInfo{}
	for _, x := range slices.Backward(s.replays.of(ws.Name)) {
		out.Body.Replays = append(out.Body.Replays, x.now())
	}
	return out, nil
}

// ReplayPath is the workspace and replay in the path of a request.
type ReplayPath struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	ID        string `path:"id" maxLength:"100" doc:"of the replay"`
}

type readReplayInput struct {
	ReplayPath
	From  int `query:"from" minimum:"0" doc:"number of results to skip"`
	Count int `query:"count" minimum:"1" maximum:"1000" default:"200" doc:"maximum number listed"`
}

type replayOutput struct {
	Body struct {
		ReplayInfo
		Results []ReplayResult `json:"results" doc:"one for each execution of a step, in order"`
	}
}

// readReplay answers with the state of a run.
func (s *API) readReplay(_ context.Context, in *readReplayInput) (*replayOutput, error) {
	x, err := s.replayNamed(in.Workspace, in.ID)
	if err != nil {
		return nil, err
	}
	out := &replayOutput{}
	out.Body.ReplayInfo, out.Body.Results = x.from(in.From, in.Count)
	return out, nil
}

// stopReplay stops a run and waits for its end. Its results stay.
func (s *API) stopReplay(ctx context.Context, in *ReplayPath) (*struct{}, error) {
	x, err := s.replayNamed(in.Workspace, in.ID)
	if err != nil {
		return nil, err
	}
	x.stop()
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	select {
	case <-x.done:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, huma.Error503ServiceUnavailable("it is still stopping")
		}
	}
	return nil, nil
}

func (r *replaySet) running() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		if !one.ended() {
			n++
		}
	}
	return n
}

// RunningReplays returns the number of running replays.
func (s *API) RunningReplays() int { return s.replays.running() }
