// Package runs replays captures: it makes scripts of their connections, runs them against a server or a client, and keeps the state and
// the results of the runs.
package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"

	"wirebench/defs/schema"
	"wirebench/server/captures"
	"wirebench/server/relay"
	"wirebench/server/replay"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Limits of replays.
const (
	MaxRunning = 8       // running at once, in all workspaces
	MaxKept    = 16      // including finished ones, of which the oldest are removed
	maxResults = 20_000  // kept per replay
	maxMemory  = 4 << 20 // approximate size of the results in bytes
	maxVars    = 1000    // values at the end
	maxValue   = 200     // bytes shown of a value
)

// Errors of starting a run that are not mistakes of its configuration.
var (
	ErrTooMany     = fmt.Errorf("%d replays run: stop one first", MaxRunning)
	ErrReading     = errors.New("the capture is still being read: try again")
	ErrNotLoopback = errors.New("is not loopback; for clients of other machines, start a listener of the proxy whose upstream is the replay")
)

// CaptureError is an error opening the capture.
type CaptureError struct{ Err error }

func (e *CaptureError) Error() string { return e.Err.Error() }
func (e *CaptureError) Unwrap() error { return e.Err }

// Config configures a replay.
type Config struct {
	Part
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

// Info is the state of a run.
type Info struct {
	ID        string  `json:"id"`
	Capture   string  `json:"capture"`
	Conn      string  `json:"conn,omitempty" doc:"the replayed connection of the capture; missing if the request had a script"`
	Session   int     `json:"session,omitempty"`
	Play      string  `json:"play" enum:"client,server"`
	To        string  `json:"to,omitempty"`
	Listen    string  `json:"listen,omitempty" doc:"the address, with its port"`
	State     string  `json:"state" enum:"connecting,listening,playing,done"`
	Done      bool    `json:"done"`
	Error     string  `json:"error,omitempty" doc:"why there is no report: no connection, or an invalid script"`
	Steps     int     `json:"steps" doc:"messages that the script sends and expects, with loops unrolled"`
	Total     int     `json:"total" doc:"results so far, without keepalives"`
	LeftOut   int     `json:"left_out,omitempty" doc:"results not kept"`
	Different int     `json:"different"`
	Missing   int     `json:"missing"`
	Failed    int     `json:"failed"`
	Recording string  `json:"recording,omitempty" doc:"id of the capture of what was sent and received"`
	Note      string  `json:"note,omitempty" doc:"why the script lacks parts of the recording"`
	Report    *Report `json:"report,omitempty" doc:"after the end; the results are in a separate list"`
}

// Recording is a capture of a workspace, read with the definitions of a snapshot.
type Recording struct {
	Workspace *workspace.Workspace
	Snapshot  *workspace.Snapshot
	Capture   store.Capture
}

// Options configure a Set. All must be set.
type Options struct {
	Captures *captures.Set
	Relays   *relay.Set // decide which servers a run may connect to
	Log      *slog.Logger
	Changed  func(ws, id string) // called when the state of a run of a workspace changes
}

// Set is the set of runs, of all workspaces.
type Set struct {
	Options
	making chan struct{} // semaphore of scripts being made

	mu   sync.Mutex
	last int    // number of the newest
	all  []*Run // the oldest first
}

// New returns a set without runs.
func New(o Options) *Set { return &Set{Options: o, making: make(chan struct{}, maxMakers)} }

// add adds a run, unless too many are running.
func (s *Set) add(x *Run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running() >= MaxRunning {
		return ErrTooMany
	}
	for len(s.all) >= MaxKept {
		oldest := slices.IndexFunc(s.all, (*Run).Ended)
		s.all = slices.Delete(s.all, oldest, oldest+1) // there is one, since fewer are running
	}
	s.last++
	x.info.ID = strconv.Itoa(s.last)
	s.all = append(s.all, x)
	return nil
}

// Of returns the runs of a workspace, the oldest first.
func (s *Set) Of(ws string) []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.all), func(x *Run) bool { return x.ws != ws })
}

// Running returns the number of running replays.
func (s *Set) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running()
}

func (s *Set) running() (n int) {
	for _, one := range s.all {
		if !one.Ended() {
			n++
		}
	}
	return n
}

// Start starts a run, and returns it with its script. Mistakes of the configuration are reported before anything is sent.
func (s *Set) Start(ctx context.Context, of Recording, cfg Config) (*Run, json.RawMessage, error) {
	ws, snap := of.Workspace, of.Snapshot
	protocol, ok := snap.Protocol()
	if !ok {
		return nil, nil, errors.New("connections of this protocol cannot be replayed")
	}
	if (cfg.To == "") == (cfg.Listen == "") {
		return nil, nil, errors.New(`either "to" or "listen" is required`)
	}
	run := &Run{
		ws: ws.Name, snap: snap, protocol: protocol, cfg: cfg, env: captures.EnvOf(snap, of.Capture), done: make(chan struct{}), captures: ws.Captures, log: s.Log,
		like: store.Capture{Name: of.Capture.Name, Settings: of.Capture.Settings, Keys: of.Capture.Keys},
		info: Info{Capture: of.Capture.ID, To: cfg.To, State: "connecting", Play: "client"},
	}
	run.changed = func() { s.Changed(ws.Name, run.info.ID) }
	part := schema.ToServer
	if cfg.Listen != "" {
		part, run.info.State, run.info.Play = schema.ToClient, "listening", "server"
	}
	if err := run.open(ctx, s.Relays); err != nil {
		return nil, nil, err
	}
	started := false
	defer func() {
		if !started {
			run.close()
		}
	}()
	text := cfg.Script
	if len(text) > 0 {
		if text[0] == '"' {
			var said string
			if err := json.Unmarshal(text, &said); err != nil {
				return nil, nil, fmt.Errorf("script: %w", err)
			}
			text = []byte(said)
		}
		script, err := replay.ParseScript(text)
		if err != nil {
			return nil, nil, fmt.Errorf("script: %w", err)
		}
		run.script = script
	} else {
		made, err := s.Script(ctx, of, cfg.Part, part, false)
		if err != nil {
			return nil, nil, err
		}
		run.script, run.info.Conn, run.info.Session, run.info.Note = made.Script, made.Of.Conn, made.Of.Session, made.Note
		if text, err = made.Script.Encode(); err != nil {
			return nil, nil, err
		}
	}
	if run.script.Sends() != part {
		return nil, nil, fmt.Errorf("the script is for the other side: use %q", map[bool]string{true: "listen", false: "to"}[cfg.To != ""])
	}
	if run.script.Protocol != "" && run.script.Protocol != snap.Dialect.Name {
		return nil, nil, fmt.Errorf("the script is for protocol %.40q, this project for %s", run.script.Protocol, snap.Dialect.Name)
	}
	run.cfg.Script = nil // it is long, and no longer needed
	run.info.Steps = turns(run.script.Steps, 1)
	playing, stop := context.WithCancel(s.Captures.Context())
	run.stop = stop
	if err := s.add(run); err != nil {
		stop()
		return nil, nil, err
	}
	started = true
	s.Log.Info("replay started", "project", ws.Name, "capture", of.Capture.ID, "replay", run.info.ID, "with", cmp.Or(cfg.To, run.info.Listen))
	s.Captures.Go("replay", nil, func() {
		defer stop()
		defer close(run.done)
		run.play(playing)
		end := run.Now()
		s.Log.Info("replay ended", "project", ws.Name, "replay", end.ID, "results", end.Total, "error", end.Error)
	})
	return run, text, nil
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
