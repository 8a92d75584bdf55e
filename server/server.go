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
	"wirebench/server/archive"
	"wirebench/server/bus"
	"wirebench/server/captures"
	"wirebench/server/cluster"
	"wirebench/server/collect"
	"wirebench/server/ingest"
	"wirebench/server/live"
	"wirebench/server/objects"
	"wirebench/server/page"
	"wirebench/server/projects"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/retain"
	"wirebench/server/rooms"
	"wirebench/server/runs"
	"wirebench/server/scores"
	"wirebench/server/settings"
	"wirebench/server/socket"
	"wirebench/server/store"
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

	Bus    *bus.Options          // NATS, from which traffic of collectors is received; nil: none is
	Stream collect.StreamOptions // of that traffic

	Keep settings.Keep // how long captures of all projects stay; the zero value: for ever

	Cluster   *cluster.Node // of which this server is what serves now; nil for none
	GitRemote string        // from which pull takes, where definitions are in a git repository; "" for none
	Lake      objects.Store // to which the messages of all captures go; nil for none. The server does not close it
	LakeEvery time.Duration // after which they are there
	Place     *store.Place  // where complete captures are kept, as the projects know; nil: in the data folder. Its requests end with the server

	Demo func(ctx context.Context, dialect string) (*relay.Game, error) // starts a demo game; nil if there is none
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
	receiver  *collect.Receiver // nil: there are no collectors
	scores    *scores.Set
	lake      *ingest.Feed // nil for none
	retention *retain.Set
	archive   *archive.Set // nil: captures stay in the data folder
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
	if cfg.Lake != nil {
		s.lake = ingest.New(ingest.Options{Store: cfg.Lake, Every: cfg.LakeEvery, Captures: s.captures, Name: cfg.Projects.InLake, Log: cfg.Log})
	}
	s.scores = scores.NewSet(s.captures, cfg.Log)
	changed := func(ws string) { s.pushes.Tell(ws, page.TopicListeners) }
	moved := func(ws string) { s.pushes.Tell(ws, page.TopicTraffic) }
	held := func(ws, id string) { s.pushes.Tell(ws, page.TopicHeld+id) }
	s.relays = relay.New(relay.Options{
		Upstreams: s.Upstreams, Own: s.Own, Captures: s.captures, Ports: s.Ports, Limits: s.RelayLimits,
		Changed: changed, Moved: moved, Held: held,
	})
	s.relays.Demo = cfg.Demo
	s.runs = runs.New(runs.Options{
		Captures: s.captures, Relays: s.relays, Log: cfg.Log,
		Changed: func(ws, id string) { s.pushes.Tell(ws, page.TopicReplay+id) },
	})
	var taken func(*workspace.Workspace, store.Capture) bool
	if s.lake != nil {
		taken = func(ws *workspace.Workspace, x store.Capture) bool { return s.lake.Whole(ws.Name, x) }
	}
	s.retention = retain.New(retain.Options{
		Taken:    taken,
		Projects: cfg.Projects, Captures: s.captures, Keep: cfg.Keep, Log: cfg.Log, Audit: s.removedByItself,
		Changed: func(ws *workspace.Workspace) { s.pushes.Tell(ws.Name, page.TopicCaptures) },
	})
	s.api = api.New(api.API{
		Projects: cfg.Projects, Captures: s.captures, Relays: s.relays, Runs: s.runs, Rooms: &s.rooms, Scores: s.scores, Retention: s.retention, Log: cfg.Log, Tell: s.pushes.Tell, GitRemote: cfg.GitRemote, Door: cfg.Door, Lake: s.lake, Cluster: cfg.Cluster,
	})
	s.workbench = &page.Workbench{Projects: cfg.Projects, Captures: s.captures, Relays: s.relays, API: s.api, Scores: s.scores, Budget: s.budget, Log: cfg.Log}
	if cfg.Bus != nil {
		var err error
		if s.receiver, err = collect.NewReceiver(collect.Config{Bus: *cfg.Bus, Stream: cfg.Stream, Leads: cfg.Cluster != nil, Log: cfg.Log, Grown: s.captures.Grown, Changed: changed, Moved: moved, Held: held}); err != nil {
			return nil, fmt.Errorf("NATS: %w", err)
		}
		s.api.Remote = s.receiver
	}
	if cfg.Place != nil {
		s.archive = archive.New(archive.Options{
			Projects: cfg.Projects, Captures: s.captures, Place: cfg.Place, Log: cfg.Log,
			Changed: func(ws *workspace.Workspace) {
				s.captures.ForgetBrief(ws.Captures)
				s.pushes.Tell(ws.Name, page.TopicCaptures)
			},
		})
	}
	s.metrics = newMetrics(s)
	if s.lake != nil {
		s.metrics.registry.MustRegister(&lakeCollector{s})
	}
	if s.archive != nil {
		s.metrics.registry.MustRegister(&placeCollector{s})
	}
	if s.receiver != nil {
		s.metrics.registry.MustRegister(&collectCollector{s.receiver})
	}
	if cfg.Cluster != nil {
		s.metrics.registry.MustRegister(&clusterCollector{cfg.Cluster})
	}
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
	s.handler = access.Forwarded(cfg.Trusted, secured(below(static.Base(), s.logged(s.handler))))
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
	var work supervise.Group
	defer work.Wait()
	if s.lake != nil {
		work.Go("lake", nil, func() { s.lake.Follow(ctx, ws) })
	}
	if s.receiver != nil {
		work.Go("collectors", nil, func() { s.receiver.Follow(ctx, ws) })
	}
	tell := func(topic string) func() {
		return func() {
			s.captures.ForgetBrief(ws.Captures)
			if s.lake != nil {
				s.lake.Changed(ws.Name)
			}
			if s.archive != nil {
				s.archive.Wake()
			}
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
	if s.receiver != nil {
		s.receiver.Close()
	}
	const recordings = "recordings of listeners"
	steps := map[string]func(){
		"pages": func() { s.pages.Close(ctx) },
		recordings: func() {
			settle, cancel := context.WithTimeout(ctx, settleTime)
			defer cancel()
			_ = s.relays.Close(settle) // connections that are cut off appear in their events
		},
		"scores":    s.scores.Close,
		"retention": s.retention.Close,
		"captures":  s.captures.Close,
	}
	if s.archive != nil {
		steps["archive"] = s.archive.Close
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

// removedByItself adds a removal for age or for room to the audit log.
func (s *Server) removedByItself(project, what, on string) {
	if s.Door != nil {
		s.Door.Audit.Add(access.Event{Who: "retention of " + project, What: what, On: on})
	}
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
