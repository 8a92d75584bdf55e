// Package server is the HTTP side of the workbench: JSON under /api for programs, and pages. Handlers translate requests and call other
// packages, which do not depend on HTTP.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/api"
	"wirebench/server/captures"
	"wirebench/server/live"
	"wirebench/server/page"
	"wirebench/server/projects"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/rooms"
	"wirebench/server/runs"
	"wirebench/server/scores"
	"wirebench/server/socket"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
	"wirebench/static"
)

// Config holds the dependencies of a Server.
type Config struct {
	Projects *projects.Set // the server does not close it
	Log      *slog.Logger
	Version  string
	Door     *access.Door // nil admits everybody as an admin
	// Hosts are the accepted host names of requests, without port; empty accepts any. A server for this machine only lists the names of
	// the machine, so that a web page cannot reach it under a name of its own.
	Hosts []string

	Upstreams   *proxy.Upstreams        // allowed upstreams of the proxy; nil allows this machine only
	Ports       relay.Ports             // on which users may start listeners
	RelayLimits proxy.Limits            // of listeners that have no own
	Own         func() []netip.AddrPort // addresses on which the server listens: the proxy never connects there

	Trusted []netip.Prefix // proxies whose headers tell the address of the client

	Memory int64      // bytes that the concurrent work of all requests may use; 0 = a quarter of the available memory
	Disk   *live.Disk // for the frames of captures that do not fit in memory; nil: such captures are incomplete

	GitRemote string                                                         // from which pull takes, where definitions are in a git repository; "" for none
	Demo      func(ctx context.Context, dialect string) (*relay.Game, error) // starts a demo game; nil if there is none
}

// Server serves the requests. Its pages hold connections, which Close ends.
type Server struct {
	Config
	document  *huma.OpenAPI
	router    chi.Router
	handler   http.Handler
	pages     socket.Set
	lists     lists // of frames
	texts     lists
	panes     lists
	rates     admit.Rate
	budget    *admit.Budget
	ended     atomic.Bool
	sending   sending
	captures  *captures.Set
	runs      *runs.Set
	rooms     rooms.Set
	relays    *relay.Set
	scores    *scores.Set
	api       *api.API
	metrics   *metrics
	workbench *page.Workbench
	pushes    page.Pushes
}

// New returns the handler of all routes.
func New(cfg Config) (*Server, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	supervise.LogTo(cfg.Log)
	s := &Server{Config: cfg, lists: lists{what: "captures", most: maxListed}, texts: lists{what: "definitions", most: maxTexts}, panes: lists{what: "panes", most: maxPanes}}
	s.rates.PerSecond, s.rates.AtOnce = ratePerSecond, rateAtOnce
	s.rooms.Log, s.rooms.Changed = cfg.Log, func(project string) { s.pushes.Tell(project, page.TopicPeople) }
	s.rooms.Suggested = func(project string) { s.pushes.Tell(project, api.TopicThreads) }
	if cfg.Memory == 0 {
		cfg.Memory = defaultBudget()
	}
	s.budget = admit.New(cfg.Memory)
	s.captures = captures.NewSet(s.budget, cfg.Disk)
	if s.Upstreams == nil {
		var err error
		if s.Upstreams, err = proxy.NewUpstreams(proxy.DefaultUpstreams, nil); err != nil {
			return nil, err
		}
	}
	s.scores = scores.NewSet(s.captures, cfg.Log)
	s.relays = relay.New(relay.Options{
		Upstreams: s.Upstreams, Own: s.Own, Captures: s.captures, Ports: s.Ports, Limits: s.RelayLimits,
		Changed: func(ws string) { s.pushes.Tell(ws, page.TopicListeners) },
		Moved:   func(ws string) { s.pushes.Tell(ws, page.TopicTraffic) },
		Held:    func(ws, id string) { s.pushes.Tell(ws, page.TopicHeld+id) },
	})
	s.relays.Demo = cfg.Demo
	s.runs = runs.New(runs.Options{
		Captures: s.captures, Relays: s.relays, Log: cfg.Log,
		Changed: func(ws, id string) { s.pushes.Tell(ws, page.TopicReplay+id) },
	})
	s.api = api.New(api.API{
		Projects: cfg.Projects, Captures: s.captures, Relays: s.relays, Runs: s.runs, Rooms: &s.rooms, Scores: s.scores, Log: cfg.Log, Tell: s.pushes.Tell, GitRemote: cfg.GitRemote, Door: cfg.Door,
	})
	s.workbench = &page.Workbench{Projects: cfg.Projects, Captures: s.captures, Relays: s.relays, API: s.api, Scores: s.scores, Budget: s.budget, Log: cfg.Log}
	s.metrics = newMetrics(s)
	s.router = s.routes()
	s.handler = access.Everybody(s.router)
	if cfg.Door != nil {
		s.workbench.Changed = cfg.Door.Changed
		cfg.Door.Projects = s.projectNames
		cfg.Projects.Renamed(func(was, is string) {
			if err := cfg.Door.Accounts.Renamed(was, is); err != nil {
				cfg.Log.Error("roles of a project", "was", was, "is", is, "error", err)
			}
		})
		s.handler = cfg.Door.Guard(s.router)
	}
	if cfg.Door != nil && cfg.Door.Base != nil {
		s.handler = s.atBase(cfg.Door.Base, s.handler)
	}
	s.handler = access.Forwarded(cfg.Trusted, secured(below(static.Base(), s.handler)))
	cfg.Projects.Each(s.follow, func() { s.pushes.TellAll(page.TopicProjects) })
	return s, nil
}

// projectNames returns the names of the projects that somebody sees.
func (s *Server) projectNames(who access.Principal) (out []string) {
	for _, p := range s.Projects.Seen(who.Sees).List() {
		out = append(out, p.Name)
	}
	return out
}

// guard returns the access policy.
func (s *Server) guard() access.Guard {
	g := access.Guard{Operations: s.api.Needs(), Refused: s.refused, Project: func(name string) string {
		if ws := s.Projects.Find(name); ws != nil {
			return ws.Name
		}
		return name
	}}
	if s.Door != nil && s.Door.Audit != nil {
		g.Done = s.Door.Changed
	}
	return g
}

// follow notifies pages of changes of a project, by this server and by other programs, until the context is done: of its captures, and of
// definitions in a git repository.
func (s *Server) follow(ctx context.Context, ws *workspace.Workspace) {
	supervise.After(ctx, "score", func() { s.scores.Drop(ws) })
	s.rooms.Check(ws)
	changed, stop := ws.Changed()
	supervise.Go("git", func(error) { stop() }, func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-changed:
				if s.api.GitOf(ws) != nil {
					s.pushes.Tell(ws.Name, api.TopicGit)
				}
			}
		}
	})
	if ws.Captures == nil {
		return
	}
	tell := func(topic string) func() {
		return func() {
			s.captures.ForgetBrief(ws.Captures)
			s.pushes.Tell(ws.Name, topic)
		}
	}
	ws.Captures.Follow(ctx, tell(page.TopicCaptures), tell(page.TopicGrowth))
}

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close is Shutdown within a few seconds.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	_ = s.Shutdown(ctx)
}

// Shutdown notifies the open pages, and waits until their connections have ended, proxies have stopped and captures are no longer read, all
// concurrently, until the context is done. Its error names what may not be on disk then: recordings. Other parts that have not ended hold
// nothing that was acknowledged; the log names them. Further calls do nothing.
func (s *Server) Shutdown(ctx context.Context) error {
	if !s.ended.CompareAndSwap(false, true) {
		return nil
	}
	s.sending.end()
	s.relays.Ending()
	s.rooms.Close() // the texts go to their files
	s.Projects.Close()
	const recordings = "recordings of listeners"
	steps := map[string]func(){
		"pages": func() { s.pages.Close(ctx) },
		recordings: func() {
			settle, cancel := context.WithTimeout(ctx, settleTime)
			defer cancel()
			_ = s.relays.Close(settle) // connections that are cut off appear in their events
		},
		"scores":   s.scores.Close,
		"captures": s.captures.Close,
	}
	done := make(chan string, len(steps))
	for name, run := range steps {
		supervise.Go(name, nil, func() {
			defer func() { done <- name }()
			run()
		})
	}
	left := maps.Clone(steps)
	for len(left) > 0 {
		select {
		case name := <-done:
			delete(left, name)
		case <-ctx.Done():
			s.Log.Info("ended before all parts had", "parts", strings.Join(slices.Sorted(maps.Keys(left)), ", "))
			if left[recordings] != nil {
				return fmt.Errorf("%s: %w", recordings, ctx.Err())
			}
			return nil
		}
	}
	return nil
}

// StartProxy starts a listener, as POST /api/v1/projects/{project}/proxies does. It stops with the server.
func (s *Server) StartProxy(ctx context.Context, cfg relay.Config) error {
	ws, err := s.Projects.Get(cfg.Workspace)
	if err != nil {
		return err
	}
	_, err = s.relays.Start(ctx, ws, cfg)
	return err
}

// settleTime is the time for connections through the proxies to end by themselves before they are cut off; the remaining time is for
// recordings.
const settleTime = 3 * time.Second

// stopPatience is the time limit for stopping.
const stopPatience = 5 * time.Second

// NewHTTPServer returns a server with timeouts, so that no client can hold a connection indefinitely.
func NewHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 16,
	}
}
