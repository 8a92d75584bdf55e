// Package server is the HTTP side of the workbench: JSON under /api for programs, pages for people. A handler translates and calls;
// what it calls knows nothing of HTTP.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/api"
	"wirebench/server/captures"
	"wirebench/server/page"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/runs"
	"wirebench/server/socket"
	"wirebench/server/workspace"
)

// Config is what a server is made of.
type Config struct {
	Workspaces []*workspace.Workspace
	Log        *slog.Logger
	Version    string
	Tokens     access.Tokens
	Hosts      []string // names under which the server may be asked, without port; empty = any. A server for this machine alone
	// names those of the machine, so that no page on the web can reach it under a name of its own.

	Upstreams *proxy.Upstreams        // where the proxy may connect to; nil = this machine alone
	Own       func() []netip.AddrPort // where the server listens: the proxy never connects there

	Memory int64 // bytes that the work of all requests may take at a time; 0 = a quarter of what there is

	Demo func(ctx context.Context, dialect string) (*relay.Game, error) // starts a demo game; nil = there is none
}

// Server answers the requests. Its pages hold connections, which Close ends.
type Server struct {
	Config
	byName    map[string]*workspace.Workspace
	document  *huma.OpenAPI
	router    chi.Router
	handler   http.Handler
	pages     socket.Set
	budget    *admit.Budget
	ended     atomic.Bool
	captures  *captures.Set
	runs      *runs.Set
	relays    *relay.Set
	api       *api.API
	metrics   *metrics
	workbench *page.Workbench
	pushes    page.Pushes
	unfollow  context.CancelFunc // ends what tells the pages of changes
}

// New makes the handler of all routes.
func New(cfg Config) (*Server, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Config: cfg, byName: map[string]*workspace.Workspace{}}
	if cfg.Memory == 0 {
		cfg.Memory = defaultBudget()
	}
	s.budget = admit.New(cfg.Memory)
	s.captures = captures.NewSet(s.budget)
	for _, w := range cfg.Workspaces {
		if w == nil || w.Name == "" || w.Name == "docs" || w.Name == "openapi.json" || s.byName[w.Name] != nil {
			return nil, fmt.Errorf("a workspace without a name, or with one that is taken: %+v", w)
		}
		s.byName[w.Name] = w
	}
	if s.Upstreams == nil {
		var err error
		if s.Upstreams, err = proxy.NewUpstreams(proxy.DefaultUpstreams, nil); err != nil {
			return nil, err
		}
	}
	s.relays = relay.New(relay.Options{
		Upstreams: s.Upstreams, Own: s.Own, Captures: s.captures,
		Changed: func(ws string) { s.pushes.Tell(ws, page.TopicListeners) },
		Held:    func(ws, id string) { s.pushes.Tell(ws, page.TopicHeld+id) },
	})
	s.relays.Demo = cfg.Demo
	if len(cfg.Workspaces) == 0 {
		return nil, fmt.Errorf("a server without workspaces")
	}
	s.runs = runs.New(runs.Options{
		Captures: s.captures, Relays: s.relays, Log: cfg.Log,
		Changed: func(ws, id string) { s.pushes.Tell(ws, page.TopicReplay+id) },
	})
	s.api = api.New(api.API{
		Workspaces: cfg.Workspaces, Captures: s.captures, Relays: s.relays, Runs: s.runs, Log: cfg.Log,
	})
	s.workbench = &page.Workbench{Workspaces: cfg.Workspaces, Captures: s.captures, Relays: s.relays, Budget: s.budget, Log: cfg.Log}
	s.metrics = newMetrics(s)
	s.router = s.routes()
	s.handler = s.router
	if cfg.Tokens != (access.Tokens{}) {
		s.handler = access.Require(cfg.Tokens, s.router, cfg.Log)
	}
	s.handler = secured(s.handler)
	ctx, cancel := context.WithCancel(context.Background())
	s.unfollow = cancel
	for _, w := range cfg.Workspaces {
		if w.Captures != nil {
			s.captures.Go(func() { s.followCaptures(ctx, w) })
		}
	}
	return s, nil
}

// followCaptures tells pages of changes of the captures of a workspace, by this server and by other programs, until the context ends.
func (s *Server) followCaptures(ctx context.Context, ws *workspace.Workspace) {
	ws.Captures.Follow(ctx, func() {
		s.captures.ForgetBrief(ws.Captures)
		s.pushes.Tell(ws.Name, page.TopicCaptures)
	})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close is Shutdown within a few seconds.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	_ = s.Shutdown(ctx)
}

// Shutdown tells the open pages that the server ends, and waits until their connections have, proxies have stopped and captures are no
// longer read: side by side, until the context ends. Its error names what has not ended. Only the first call does anything.
func (s *Server) Shutdown(ctx context.Context) error {
	if !s.ended.CompareAndSwap(false, true) {
		return nil
	}
	s.unfollow()
	steps := []struct {
		name string
		run  func()
	}{
		{"pages", func() { s.pages.Close(ctx) }},
		{"proxies", func() {
			settle, cancel := context.WithTimeout(ctx, settleTime)
			defer cancel()
			_ = s.relays.Close(settle) // connections that were cut are events of theirs
		}},
		{"captures", s.captures.Close},
	}
	done := make(chan int, len(steps))
	left := map[int]bool{}
	for i := range steps {
		left[i] = true
		go func() {
			steps[i].run()
			done <- i
		}()
	}
	for len(left) > 0 {
		select {
		case i := <-done:
			delete(left, i)
		case <-ctx.Done():
			var names []string
			for i := range steps {
				if left[i] {
					names = append(names, steps[i].name)
				}
			}
			return fmt.Errorf("%s: %w", strings.Join(names, ", "), ctx.Err())
		}
	}
	return nil
}

// StartProxy starts a listener, as POST /api/{ws}/proxies does. It ends with the server.
func (s *Server) StartProxy(ctx context.Context, cfg relay.Config) error {
	ws := s.byName[cfg.Workspace]
	if ws == nil {
		return fmt.Errorf("there is no workspace %q", cfg.Workspace)
	}
	_, err := s.relays.Start(ctx, ws, cfg)
	return err
}

// settleTime is how long connections through the proxies may end by themselves before they are cut: recordings take the rest.
const settleTime = 3 * time.Second

// stopPatience is how long something that is stopped may take to end.
const stopPatience = 5 * time.Second

// NewHTTPServer makes a server with time-outs, so that no client can hold a connection for nothing.
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
