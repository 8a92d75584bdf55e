// Package demo is a small game over loopback, in each of the protocols: a server, and clients that play by themselves, so that a first look
// needs no game. A player walks, talks, fights and loses and gains health; the server answers, and has a life of its own. What they say is
// made by the definitions that ship with the program.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/transport/protocols"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// Bounds of a game.
const (
	MinRate    = 0.1  // messages a second
	MaxRate    = 1000 // messages a second
	maxPlayers = 64   // at once
	patience   = 2 * time.Second
	silence    = 30 * time.Second // without a datagram an end is gone
	stillness  = 30 * time.Minute // without a byte a connection of TCP is given up. A person between the ends may hold a message for long
)

// ErrEnded says that the server ended a client's game.
var ErrEnded = errors.New("the server has ended the game")

// Options say how a game is.
type Options struct {
	Protocol string // one of Protocols
	Group    string // "" is the game; Groups has what other ports of the protocol play
	Listen   string // IP:port of this machine alone; "" is any port of 127.0.0.1. A game in datagrams takes the next port, too

	Rate float64 // about how many messages a second each end sends: MinRate to MaxRate; 0 is 10
	Seed uint64  // of what is left to chance, except ciphers' keys

	Seen func(Event) // is called, by several goroutines, for each message that an end sends or gets; nil: nobody looks
}

// Event is a message at one end.
type Event struct {
	Dir     schema.Dir
	Got     bool   // the other end sent it; else this one did
	Name    string // of the definition
	Message []byte // in clear; it must not be changed
}

// Protocols are all protocols.
func Protocols() []string {
	names := make([]string, len(protocols.Protocols))
	for i, p := range protocols.Protocols {
		names[i] = p.Dialect
	}
	return names
}

// Groups are the groups of messages that have a game on a port of their own, by protocol.
func Groups(protocol string) []string {
	r, _ := rulesOf(protocol)
	var names []string
	for _, p := range r.parts[min(1, len(r.parts)):] {
		names = append(names, p.group)
	}
	return names
}

// Ports are how many ports that follow one another a game has.
func Ports(protocol string) int {
	p, _ := protocols.Of(protocol)
	return len(p.Ports)
}

// Game is a game whose server runs. It may be used by all goroutines.
type Game struct {
	Protocol string
	Network  string // "tcp" or "udp"
	Addr     string // IP:port of the server
	Ports    int    // that follow one another from Addr on, and belong together

	protocol protocols.Protocol
	rules    rules
	words    *words
	players  atomic.Int32 // at the server
	seeds    atomic.Uint64
	opts     Options
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// rules are a protocol's game.
type rules struct {
	protocol string
	parts    []part                            // the game, then those of other ports
	finish   func(name string, message []byte) // sets what definitions leave to the game; nil: nothing

	// Where a server's second port is for pings: the client's question, and the answer of a server with so many players. Nil: all ports
	// are for the game.
	ping func(at time.Time) []byte
	pong func(ping []byte, players int) []byte
}

// part is who plays on one port.
type part struct {
	group  string    // by which it is asked for; "" = the game
	groups [2]string // of what goes to the server, and to the client
	actors [2]func(*speaker) actor
}

// games are those of protocols whose ends say something that makes sense. In the others they say examples.
var games = []rules{teraGame, mutaGame, subspaceGame}

func rulesOf(protocol string) (rules, bool) {
	for _, r := range games {
		if r.protocol == protocol {
			return r, true
		}
	}
	_, ok := protocols.Of(protocol)
	return rules{protocol: protocol, parts: []part{{actors: [2]func(*speaker) actor{newReciter, newReciter}}}}, ok
}

// Start starts the server of a game. It runs until the context ends or Close is called. The errors are of the options and of the system.
func Start(ctx context.Context, o Options) (*Game, error) {
	r, ok := rulesOf(o.Protocol)
	if !ok {
		return nil, fmt.Errorf("there is no demo of protocol %q", o.Protocol)
	}
	if o.Rate == 0 {
		o.Rate = 10
	}
	if !(o.Rate >= MinRate && o.Rate <= MaxRate) {
		return nil, fmt.Errorf("a rate of %g: it is %g to %d messages a second", o.Rate, MinRate, MaxRate)
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	at, err := netip.ParseAddrPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen to %s: IP:port is expected", o.Listen)
	}
	if !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen to %s: the demo is for this machine alone, 127.0.0.1 or [::1]", o.Listen)
	}
	if o.Group != "" && !slices.Contains(Groups(o.Protocol), o.Group) {
		return nil, fmt.Errorf("there is no demo of group %q of protocol %s", o.Group, o.Protocol)
	}
	words, err := readWords(r, o.Group)
	if err != nil {
		return nil, err
	}
	p, _ := protocols.Of(o.Protocol)
	g := &Game{Protocol: o.Protocol, Network: p.Network(), Ports: len(p.Ports), protocol: p, rules: r, words: words, opts: o}
	l, addr, err := listen(at, g.Network, g.Ports)
	if err != nil {
		return nil, err
	}
	g.Addr = addr.String()
	g.ctx, g.cancel = context.WithCancel(ctx)
	for i, port := range l {
		g.wg.Go(func() {
			defer port.Close()
			switch port := port.(type) {
			case *net.TCPListener:
				g.serveStreams(port)
			case *net.UDPConn:
				if i > 0 && r.pong != nil {
					g.answer(port)
				} else {
					g.serveDatagrams(port)
				}
			}
		})
	}
	return g, nil
}

// listen opens the ports of a server, which follow one another: each a *net.TCPListener or a *net.UDPConn.
func listen(at netip.AddrPort, network string, ports int) (all []io.Closer, first netip.AddrPort, err error) {
	for try := 0; ; try++ {
		first = at
		for i := range ports {
			addr := netip.AddrPortFrom(first.Addr(), first.Port()+uint16(i))
			if network == "tcp" {
				var l *net.TCPListener
				if l, err = net.ListenTCP(network, net.TCPAddrFromAddrPort(addr)); err == nil {
					all, addr = append(all, l), l.Addr().(*net.TCPAddr).AddrPort()
				}
			} else {
				var l *net.UDPConn
				if l, err = net.ListenUDP(network, net.UDPAddrFromAddrPort(addr)); err == nil {
					all, addr = append(all, l), l.LocalAddr().(*net.UDPAddr).AddrPort()
				}
			}
			if err != nil {
				break
			}
			if i == 0 {
				first = addr
			}
		}
		if err == nil {
			return all, first, nil
		}
		for _, l := range all {
			l.Close()
		}
		// The ports behind one that the system chose may be taken.
		if len(all) == 0 || at.Port() != 0 || try == 20 {
			return nil, first, err
		}
		all = nil
	}
}

// Client plays until the context or the game ends, and says goodbye then, which takes 2 seconds at most. It connects to an address: that of
// the server, or of something between. The error is nil after the context has ended, else ErrEnded or of the connection.
func (g *Game) Client(ctx context.Context, addr string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.ctx, cancel)()
	g.mu.Lock()
	if g.closed || g.ctx.Err() != nil {
		g.mu.Unlock()
		return nil
	}
	g.wg.Add(1)
	g.mu.Unlock()
	defer g.wg.Done()
	err := g.play(ctx, addr, rand.Uint64())
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Play is Client again and again: when the connection ends or there is none, it tells why and tries anew after a second.
func (g *Game) Play(ctx context.Context, addr string, tell func(error)) {
	for ctx.Err() == nil && g.ctx.Err() == nil {
		if err := g.Client(ctx, addr); err != nil && tell != nil {
			tell(err)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		case <-g.ctx.Done():
		}
	}
}

// Close ends the server and all clients, and waits for them.
func (g *Game) Close() {
	g.mu.Lock()
	g.closed = true // so that no client is added while others are waited for
	g.mu.Unlock()
	g.cancel()
	g.wg.Wait()
}

// interval is the time between two messages of an end's own.
func (g *Game) interval() time.Duration {
	return time.Duration(float64(time.Second) / g.opts.Rate)
}

// speaker makes one end for a connection.
func (g *Game) speaker(dir schema.Dir, send func(message []byte, reliable bool) error, seed uint64) *speaker {
	s := &speaker{words: g.words, dir: dir, send: send, rng: rand.New(rand.NewPCG(g.opts.Seed, seed)), encoders: map[string]*workspace.Encoder{}}
	s.told = func(e Event) {
		if g.opts.Seen != nil {
			e.Message = slices.Clone(e.Message)
			g.opts.Seen(e)
		}
	}
	return s
}
