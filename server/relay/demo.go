package relay

import (
	"context"
	"fmt"
	"net"

	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Game is a running demo game of a protocol on this machine.
type Game struct {
	Server string                                 // address of the server
	Play   func(ctx context.Context, addr string) // runs a client of the server, or of a proxy in front of it, until the context is done
	Close  func()                                 // stops the server and waits for its end
}

// StartDemo starts the demo game of a workspace, with a listener between client and server. isNew is false if it was running already.
func (p *Set) StartDemo(ctx context.Context, ws *workspace.Workspace) (one *Session, isNew bool, err error) {
	p.starting.Lock()
	defer p.starting.Unlock()
	if one := p.Get(ws.Name, p.demos[ws.Name]); one != nil {
		return one, false, nil
	}
	playing, stop := context.WithCancel(p.captures.Context())
	game, err := p.Demo(playing, ws.Now().Dialect.Name)
	if err != nil {
		stop()
		return nil, false, fmt.Errorf("start demo game: %w", err)
	}
	if one, err = p.relayDemo(ctx, ws, game.Server); err != nil {
		stop()
		game.Close()
		return nil, false, err
	}
	p.demos[ws.Name] = one.ID
	p.captures.Go("demo game", nil, func() {
		defer game.Close()
		defer stop()
		supervise.Go("demo game", nil, func() {
			defer stop()
			<-one.Done() // the game ends with its listener
		})
		game.Play(playing, one.State().Pairs[0].Listen)
		<-playing.Done()
	})
	return one, true, nil
}

// relayDemo starts the listener of a demo game. Of several consecutive ports the first must be a free one.
func (p *Set) relayDemo(ctx context.Context, ws *workspace.Workspace, upstream string) (*Session, error) {
	cfg := Config{Name: "demo game", Listen: "127.0.0.1:0", Upstream: upstream, Operate: true}
	protocol, _ := ws.Now().Protocol()
	for try := 0; ; try++ {
		if len(protocol.Ports) > 1 {
			var err error
			if cfg.Listen, err = freePort(protocol.Network(), cfg.Listen); err != nil {
				return nil, err
			}
		}
		one, err := p.Start(ctx, ws, cfg)
		if err == nil || len(protocol.Ports) <= 1 || try == 20 {
			return one, err
		}
		cfg.Listen = "127.0.0.1:0" // one of the following ports was in use
	}
}

// freePort returns an address with a port chosen by the system, which is free again.
func freePort(network, addr string) (string, error) {
	if network == "udp" {
		l, err := net.ListenPacket(network, addr)
		if err != nil {
			return "", err
		}
		defer l.Close()
		return l.LocalAddr().String(), nil
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
