package server

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/transport/protocols"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// DemoGame is a small game of a protocol on this machine.
type DemoGame struct {
	Server string                                 // its address
	Play   func(ctx context.Context, addr string) // is a client of the server or of what relays to it, until the context ends
	Close  func()                                 // ends the server and waits for that
}

// demos are the demo games that run, at most one in a workspace.
type demos struct {
	mu  sync.Mutex
	all map[string]string // id of the session, by workspace
}

// startDemo starts the demo game, with a listener between its ends. If it runs already that is the answer.
func (s *Server) startDemo(ctx context.Context, in *workspaceInput) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	if s.Demo == nil {
		return nil, huma.Error404NotFound("there is no demo game here")
	}
	s.demos.mu.Lock()
	defer s.demos.mu.Unlock()
	if one := s.proxies.get(ws.Name, s.demos.all[ws.Name]); one != nil {
		return &proxyOutput{http.StatusOK, one.info()}, nil
	}
	playing, stop := context.WithCancel(s.captures.Context())
	game, err := s.Demo(playing, ws.Snapshot.Dialect.Name)
	if err != nil {
		stop()
		return nil, huma.Error422UnprocessableEntity("the demo game does not start: " + err.Error())
	}
	one, err := s.relayDemo(ctx, ws, game.Server)
	if err != nil {
		stop()
		game.Close()
		return nil, err
	}
	if s.demos.all == nil {
		s.demos.all = map[string]string{}
	}
	s.demos.all[ws.Name] = one.id
	s.captures.Go(func() {
		defer game.Close()
		defer stop()
		go func() {
			<-one.Done() // the game ends with its listener
			stop()
		}()
		game.Play(playing, one.State().Pairs[0].Listen)
		<-playing.Done()
	})
	return &proxyOutput{http.StatusCreated, one.info()}, nil
}

// relayDemo starts the listener of a demo game. Of several ports that follow one another the first has to be a free one.
func (s *Server) relayDemo(ctx context.Context, ws *space, upstream string) (*liveSession, error) {
	cfg := ProxyConfig{Name: "demo game", Listen: "127.0.0.1:0", Upstream: upstream, Operate: true}
	protocol, _ := protocols.Of(ws.Snapshot.Dialect.Name)
	for try := 0; ; try++ {
		if protocol.Ports > 1 {
			free, err := net.ListenPacket("udp", cfg.Listen)
			if err != nil {
				return nil, err
			}
			cfg.Listen = free.LocalAddr().String()
			free.Close()
		}
		one, err := s.proxies.start(ctx, ws.Workspace, cfg)
		if err == nil || protocol.Ports <= 1 || try == 20 {
			return one, err
		}
		cfg.Listen = "127.0.0.1:0" // the one behind it was taken
	}
}

// relays puts what runs in a workspace into its page.
func (s *Server) relays(v *templates.Workbench, ws *workspace.Workspace) {
	if ws.Captures == nil {
		return
	}
	v.Rail.Relays, v.Rail.Demo = true, s.Demo != nil
}
