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
	add(api, "POST /api/{ws}/captures/{id}/replay", "start-replay", "Play a recorded conversation against a server, or the server to a client", s.startReplay, created, status(403, 409, 413, 422, 503))
	add(api, "GET /api/{ws}/replays", "replays", "The replays that run, and the last ones", s.listReplays)
	add(api, "GET /api/{ws}/replays/{id}", "replay", "How a replay stands: its steps so far, what was different, its report", s.readReplay)
	add(api, "DELETE /api/{ws}/replays/{id}", "stop-replay", "Stop a replay; its results stay", s.stopReplay, status(503))
}

// Bounds of replays.
const (
	MaxReplays       = 8       // that run at once, in all workspaces
	MaxKeptReplays   = 16      // with those that have ended; the oldest of these give way
	maxReplayResults = 20_000  // kept of one
	maxReplayMemory  = 4 << 20 // bytes of them, about
	maxReplayVars    = 1000    // values at the end
	maxReplayValue   = 200     // bytes of a value that is shown
)

// ReplayConfig says what is replayed, and with whom.
type ReplayConfig struct {
	ReplayPart
	To        string                     `json:"to,omitempty" maxLength:"300" doc:"host:port of the server whose client is played; it must be one that the proxy may connect to, or a listener of the proxy"`
	Listen    string                     `json:"listen,omitempty" maxLength:"100" doc:"IP:port at which the server is played, for the first client that comes; loopback only: clients of other machines come by a listener of the proxy"`
	Script    json.RawMessage            `json:"script,omitempty" doc:"what is played, or its text; missing: what POST .../script makes of the connection"`
	Speed     float64                    `json:"speed,omitempty" minimum:"0" maximum:"1000000" doc:"2 is twice as fast; 0: as the script says"`
	Tolerance string                     `json:"tolerance,omitempty" enum:"exact,fields,shape" doc:"which differences count; missing: as the script says"`
	Vars      map[string]json.RawMessage `json:"vars,omitempty" maxProperties:"10000" doc:"values of the script, by name"`
	KeepGoing bool                       `json:"keep_going,omitempty" doc:"go on when an expected message does not come"`
	Plain     bool                       `json:"plain,omitempty" doc:"no cipher, where the protocol has one"`
	Seconds   int                        `json:"max_seconds,omitempty" minimum:"1" maximum:"3600" default:"600" doc:"after which it is stopped, with the wait for a client"`
}

// ReplayInfo is a run as it stands.
type ReplayInfo struct {
	ID        string        `json:"id"`
	Capture   string        `json:"capture"`
	Conn      string        `json:"conn,omitempty" doc:"connection of the capture that is replayed; missing where the script came with the request"`
	Session   int           `json:"session,omitempty"`
	Play      string        `json:"play" enum:"client,server"`
	To        string        `json:"to,omitempty"`
	Listen    string        `json:"listen,omitempty" doc:"the address, with its port"`
	State     string        `json:"state" enum:"connecting,listening,playing,done"`
	Done      bool          `json:"done"`
	Error     string        `json:"error,omitempty" doc:"why there is no report: no connection, or a script that cannot be played"`
	Steps     int           `json:"steps" doc:"messages that the script sends and expects, all loops carried out"`
	Total     int           `json:"total" doc:"results so far; those of keepalives are not among them"`
	LeftOut   int           `json:"left_out,omitempty" doc:"results that are not kept"`
	Different int           `json:"different"`
	Missing   int           `json:"missing"`
	Failed    int           `json:"failed"`
	Note      string        `json:"note,omitempty" doc:"why the script has not all of the recording"`
	Report    *ReplayReport `json:"report,omitempty" doc:"when it has ended; its results are in the list beside it"`
}

// replaySet is the runs, the oldest first.
type replaySet struct {
	making chan struct{} // as many as scripts are made at once

	mu   sync.Mutex
	last int // number of the newest
	all  []*replayRun
}

func newReplaySet() *replaySet { return &replaySet{making: make(chan struct{}, maxScriptMakers)} }

// add takes a run in, unless too many run.
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
		r.all = slices.Delete(r.all, oldest, oldest+1) // there is one: fewer run
	}
	r.last++
	x.info.ID = strconv.Itoa(r.last)
	r.all = append(r.all, x)
	return nil
}

// of are the runs of a workspace.
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
	return nil, huma.Error404NotFound("there is no such replay, or newer ones took its place")
}

type startReplayInput struct {
	CapturePath
	Body ReplayConfig
}

type startReplayOutput struct {
	Status int
	Body   struct {
		ID     string          `json:"id"`
		Listen string          `json:"listen,omitempty" doc:"where the client is waited for"`
		Script json.RawMessage `json:"script"`
	}
}

// startReplay starts a run. What can be wrong with the request is said before anything is sent.
func (s *API) startReplay(ctx context.Context, in *startReplayInput) (*startReplayOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	cfg := &in.Body
	protocol, ok := protocols.Of(ws.Snapshot.Dialect.Name)
	if !ok {
		return nil, huma.Error422UnprocessableEntity("connections of this protocol cannot be played")
	}
	if (cfg.To == "") == (cfg.Listen == "") {
		return nil, huma.Error422UnprocessableEntity(`either "to" or "listen" is needed: who is to be played?`)
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
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("the script plays the other part: it is for %q", map[bool]string{true: "listen", false: "to"}[cfg.To != ""]))
	}
	if run.script.Protocol != "" && run.script.Protocol != ws.Snapshot.Dialect.Name {
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("the script is of protocol %.40q, this workspace of %s", run.script.Protocol, ws.Snapshot.Dialect.Name))
	}
	run.cfg.Script = nil // it is long, and read
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

// turns are the messages that steps send and expect, with all loops. Scripts that were checked have few enough for an int.
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

// ReplayPath names a run in the address of a request.
type ReplayPath struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	ID        string `path:"id" maxLength:"100" doc:"of the replay"`
}

type readReplayInput struct {
	ReplayPath
	From  int `query:"from" minimum:"0" doc:"how many of the results are left out"`
	Count int `query:"count" minimum:"1" maximum:"1000" default:"200" doc:"how many are listed at most"`
}

type replayOutput struct {
	Body struct {
		ReplayInfo
		Results []ReplayResult `json:"results" doc:"of each step, each time it was done, in the order in which they were"`
	}
}

// readReplay says how a run stands.
func (s *API) readReplay(_ context.Context, in *readReplayInput) (*replayOutput, error) {
	x, err := s.replayNamed(in.Workspace, in.ID)
	if err != nil {
		return nil, err
	}
	out := &replayOutput{}
	out.Body.ReplayInfo, out.Body.Results = x.from(in.From, in.Count)
	return out, nil
}

// stopReplay ends a run, and waits for that. What it has done so far stays to be read.
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
			return nil, huma.Error503ServiceUnavailable("it has not ended yet, but will")
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

// RunningReplays returns how many replays run.
func (s *API) RunningReplays() int { return s.replays.running() }
