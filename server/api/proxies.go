package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/supervise"
)

// relayProblem converts an error of starting a listener to an error with a status.
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

type proxiesOutput struct{ Body ListenerList }

// ListenerList lists the listeners of a workspace.
type ListenerList struct {
	Proxies []relay.Info  `json:"proxies"`
	Allowed []string      `json:"allowed" doc:"allowed upstreams"`
	Refused []proxy.Event `json:"refused" doc:"sessions that were refused, the oldest first"`
}

// listProxies lists the running sessions of a workspace.
func (s *API) listProxies(_ context.Context, in *workspaceInput) (*proxiesOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return &proxiesOutput{*s.Listeners(ws.Name)}, nil
}

// Listeners lists the listeners of a workspace.
func (s *API) Listeners(ws string) *ListenerList {
	b := &ListenerList{[]relay.Info{}, s.Relays.Allowed(), s.Relays.Refused(ws)}
	if b.Refused == nil {
		b.Refused = []proxy.Event{}
	}
	for _, one := range s.Relays.Of(ws) {
		b.Proxies = append(b.Proxies, one.Info())
	}
	if s.Remote != nil {
		b.Proxies = append(b.Proxies, s.Remote.Listeners(ws)...)
	}
	return b
}

type startProxyInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      relay.Config
}

type proxyOutput struct {
	Status   int
	Location string `header:"Location" doc:"of a new listener"`
	Body     relay.Info
}

// startProxy starts a listener.
func (s *API) startProxy(ctx context.Context, in *startProxyInput) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	one, err := s.Relays.StartFor(ctx, ws.Workspace, in.Body)
	if err != nil {
		return nil, relayProblem(err)
	}
	s.Log.Info("proxy started", "project", ws.Name, "listen", in.Body.Listen, "upstream", in.Body.Upstream)
	return &proxyOutput{http.StatusCreated, addressBelow(ws.Name, "proxies", one.Info().ID), one.Info()}, nil
}

type stopProxiesInput struct {
	Workspace string   `path:"project" doc:"name of the project"`
	IDs       []string `query:"id" required:"true" minItems:"1" doc:"of the listeners"`
}

// stopProxies stops sessions. Their captures stay.
func (s *API) stopProxies(ctx context.Context, in *stopProxiesInput) (*struct{}, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	var all []*relay.Session
	for _, id := range in.IDs {
		one := s.Relays.Get(ws.Name, id)
		if one == nil {
			return nil, cmp.Or(s.atCollector(ws.Name, id), noSession(id))
		}
		all = append(all, one)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	var stopping supervise.Group // concurrently, each with the full time
	for _, one := range all {
		stopping.Go("listener", nil, func() {
			_ = one.Stop(ctx) // cut connections are among its events
			s.Log.Info("proxy stopped", "project", ws.Name, "name", one.State().Name)
		})
	}
	stopping.Wait()
	return nil, nil
}

// stopProxy stops one session.
func (s *API) stopProxy(ctx context.Context, in *SessionPath) (*struct{}, error) {
	return s.stopProxies(ctx, &stopProxiesInput{in.Workspace, []string{in.ID}})
}

// readProxy describes one session.
func (s *API) readProxy(_ context.Context, in *SessionPath) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	for _, x := range s.Listeners(ws.Name).Proxies {
		if x.ID == in.ID {
			return &proxyOutput{http.StatusOK, "", x}, nil
		}
	}
	return nil, noSession(in.ID)
}

func noSession(id string) error { return huma.Error404NotFound("no session " + id) }

// startDemo starts the demo game, with a listener between client and server, or returns the running one.
func (s *API) startDemo(ctx context.Context, in *workspaceInput) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	if s.Relays.Demo == nil {
		return nil, huma.Error404NotFound("this project has no demo game")
	}
	one, isNew, err := s.Relays.StartDemo(ctx, ws.Workspace)
	if err != nil {
		return nil, relayProblem(err)
	}
	out := &proxyOutput{http.StatusOK, "", one.Info()}
	if isNew {
		out.Status, out.Location = http.StatusCreated, addressBelow(ws.Name, "proxies", out.Body.ID)
	}
	return out, nil
}
