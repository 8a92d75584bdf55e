package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/proxy"
	"wirebench/server/relay"
)

// relayProblem gives an error of starting a listener its status.
func relayProblem(err error) error {
	var record *relay.RecordError
	switch {
	case errors.As(err, &record):
		return captureProblem(record.Err)
	case errors.Is(err, proxy.ErrRefused), errors.Is(err, proxy.ErrMoved):
		return huma.Error403Forbidden(err.Error())
	}
	return huma.Error422UnprocessableEntity(err.Error())
}

type proxiesOutput struct {
	Body struct {
		Proxies []relay.Info  `json:"proxies"`
		Allowed []string      `json:"allowed" doc:"upstreams that may be connected to"`
		Refused []proxy.Event `json:"refused" doc:"sessions that were not let start, the oldest first"`
	}
}

// listProxies lists the running sessions of a workspace.
func (s *Server) listProxies(_ context.Context, in *workspaceInput) (*proxiesOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &proxiesOutput{}
	b := &out.Body
	b.Proxies, b.Allowed, b.Refused = []relay.Info{}, s.relays.Allowed(), s.relays.Refused(ws.Name)
	if b.Refused == nil {
		b.Refused = []proxy.Event{}
	}
	for _, one := range s.relays.Of(ws.Name) {
		b.Proxies = append(b.Proxies, one.Info())
	}
	return out, nil
}

type startProxyInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	Body      relay.Config
}

type proxyOutput struct {
	Status int
	Body   relay.Info
}

// startProxy starts a listener.
func (s *Server) startProxy(ctx context.Context, in *startProxyInput) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	one, err := s.relays.Start(ctx, ws.Workspace, in.Body)
	if err != nil {
		return nil, relayProblem(err)
	}
	s.Log.Info("proxy started", "workspace", ws.Name, "listen", in.Body.Listen, "upstream", in.Body.Upstream)
	return &proxyOutput{http.StatusCreated, one.Info()}, nil
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

type stopProxiesInput struct {
	Workspace string   `path:"ws" doc:"name of the workspace"`
	IDs       []string `query:"id" required:"true" minItems:"1" doc:"of the listeners"`
}

// stopProxies ends sessions. Their captures stay.
func (s *Server) stopProxies(ctx context.Context, in *stopProxiesInput) (*struct{}, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	var all []*relay.Session
	for _, id := range in.IDs {
		one := s.relays.Get(ws.Name, id)
		if one == nil {
			return nil, noSession(id)
		}
		all = append(all, one)
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	var stopping sync.WaitGroup // all at once: each has the whole time
	for _, one := range all {
		stopping.Go(func() {
			_ = one.Stop(ctx) // that connections were cut is one of its events
			s.Log.Info("proxy stopped", "workspace", ws.Name, "name", one.State().Name)
		})
	}
	stopping.Wait()
	return nil, nil
}

// stopProxy ends one session.
func (s *Server) stopProxy(ctx context.Context, in *SessionPath) (*struct{}, error) {
	return s.stopProxies(ctx, &stopProxiesInput{in.Workspace, []string{in.ID}})
}

// readProxy describes one session.
func (s *Server) readProxy(_ context.Context, in *SessionPath) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	one := s.relays.Get(ws.Name, in.ID)
	if one == nil {
		return nil, noSession(in.ID)
	}
	return &proxyOutput{http.StatusOK, one.Info()}, nil
}

func noSession(id string) error { return huma.Error404NotFound("there is no session " + id) }

// startDemo starts the demo game, with a listener between its ends. If it runs already that is the answer.
func (s *Server) startDemo(ctx context.Context, in *workspaceInput) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	if s.relays.Demo == nil {
		return nil, huma.Error404NotFound("there is no demo game here")
	}
	one, isNew, err := s.relays.StartDemo(ctx, ws.Workspace)
	if err != nil {
		return nil, relayProblem(err)
	}
	out := &proxyOutput{http.StatusOK, one.Info()}
	if isNew {
		out.Status = http.StatusCreated
	}
	return out, nil
}
