// Package demo is a small game over loopback in each of the protocols, for trying Wirebench without a real game: a server, and clients that
// play automatically. A player walks, talks, fights, and loses and gains health; the server responds, and acts on its own. The messages
// follow the built-in definitions.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/transport/protocols"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds of a game.
const (
	MinRate    = 0.1              // messages per second
	MaxRate    = 1000             // messages per second
	maxPlayers = 64               // at once
	greeting   = 15 * time.Second // for a handshake, on a machine that has much else to do
	patience   = 2 * time.Second  // for the next message, at the end
	farewell   = 10 * time.Second // for all messages that are on their way at the end
	silence    = 30 * time.Second // an end without a datagram for this long is gone
	stillness  = 30 * time.Minute // idle timeout of TCP connections; long, because a user of the proxy may hold a message
)

// ErrEnded is the error of a client whose game was ended by the server.
var ErrEnded = errors.New("the server has ended the game")

// Options configure a game.
type Options struct {
	Protocol string // one of Protocols
	Group    string // "" is the main game; Groups lists the others
	Listen   string // loopback IP:port; "" is any port of 127.0.0.1. Games over UDP use the next port, too

	Rate float64 // approximate messages per second from each end: MinRate to MaxRate; 0 is 10
	Seed uint64  // of the random choices, except cipher keys

	Seen func(Event) // called for each message sent or received, from several goroutines; may be nil
}

// Event is a message at one end.
type Event struct {
	Dir     schema.Dir
	Got     bool   // received from the other end, not sent
	Name    string // of the definition
	Message []byte // in clear; must not be changed
}

// Protocols returns the names of all protocols with a demo: the built-in definitions say how their messages travel.
func Protocols() (names []string) {
	for _, p := range protocols.Protocols {
		if travels(p) {
			names = append(names, p.Dialect)
		}
	}
	return names
}

func travels(p protocols.Protocol) bool {
	if !p.Enveloped {
		return true
	}
	files, ok := library.Dialect(p.Dialect)
	if !ok {
		return true // of no language that is built in
	}
	names, _ := fs.Glob(files, "*.envelope")
	return len(names) > 0
}

// Groups returns the message groups of a protocol that have a game on their own port.
func Groups(protocol string) []string {
	r, _ := rulesOf(protocol)
	var names []string
	for _, p := range r.parts[min(1, len(r.parts)):] {
		names = append(names, p.group)
	}
	return names
}

// Ports returns the number of consecutive server ports of a game.
func Ports(protocol string) int {
	p, _ := protocols.Of(protocol)
	return len(p.Ports)
}

// Game is a game with a running server. It is safe for concurrent use.
type Game struct {
	Protocol string
	Network  string // "tcp" or "udp"
	Addr     string // IP:port of the server
	Ports    int    // number of consecutive ports from Addr on

	protocol protocols.Protocol
	rules    rules
	words    *words
	players  atomic.Int32 // at the server
	seeds    atomic.Uint64
	opts     Options
	ctx      context.Context
	cancel   context.CancelFunc
	wg       supervise.Group

	mu     sync.Mutex
	closed bool
}

// rules define the game of a protocol.
type rules struct {
	protocol string
	parts    []part                            // the main game, then the games of groups
	finish   func(name string, message []byte) // sets fields that definitions leave to the game; may be nil

	// Set if the second port of a server is for pings: the client's request, and the response of a server with a number of players. Nil if
	// all ports are for the game.
	ping func(at time.Time) []byte
	pong func(ping []byte, players int) []byte
}

// part is the game of one port.
type part struct {
	group  string    // name of Options.Group; "" = the main game
	groups [2]string // of messages to the server, and to the client
	actors [2]func(*speaker) actor
}

// games lists the protocols with a scripted game. The ends of other protocols send examples.
var games = []rules{teraGame, mutaGame, subspaceGame, protodefGame, mavlinkGame, kaitaiGame, protobufGame}

func rulesOf(protocol string) (rules, bool) {
	for _, r := range games {
		if r.protocol == protocol {
			return r, true
		}
	}
	p, ok := protocols.Of(protocol)
	ok = ok && travels(p)
	return rules{protocol: protocol, parts: []part{{actors: [2]func(*speaker) actor{newReciter, newReciter}}}}, ok
}

// Start starts the server of a game. It runs until the context ends or Close is called. The errors concern the options and the system.
func Start(ctx context.Context, o Options) (*Game, error) {
	r, ok := rulesOf(o.Protocol)
	if !ok {
		return nil, fmt.Errorf("protocol %q has no demo", o.Protocol)
	}
	if o.Rate == 0 {
		o.Rate = 10
	}
	if !(o.Rate >= MinRate && o.Rate <= MaxRate) {
		return nil, fmt.Errorf("a rate of %g: must be %g to %d messages per second", o.Rate, MinRate, MaxRate)
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	at, err := netip.ParseAddrPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: must be IP:port", o.Listen)
	}
	if !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen on %s: must be a loopback address, 127.0.0.1 or [::1]", o.Listen)
	}
	if o.Group != "" && !slices.Contains(Groups(o.Protocol), o.Group) {
		return nil, fmt.Errorf("group %q of protocol %s has no demo", o.Group, o.Protocol)
	}
	words, err := readWords(r, o.Group)
	if err != nil {
		return nil, err
	}
	p, _ := words.snap.Protocol()
	g := &Game{Protocol: o.Protocol, Network: p.Network(), Ports: len(p.Ports), protocol: p, rules: r, words: words, opts: o}
	l, addr, err := listen(at, g.Network, g.Ports)
	if err != nil {
		return nil, err
	}
	g.Addr = addr.String()
	g.ctx, g.cancel = context.WithCancel(ctx)
	for i, port := range l {
		g.wg.Go("demo game", nil, func() {
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

// listen opens consecutive ports: each a *net.TCPListener or a *net.UDPConn.
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
		// The ports after one that the system chose may be in use.
		if len(all) == 0 || at.Port() != 0 || try == 20 {
			return nil, first, err
		}
		all = nil
	}
}

// Client plays until the context or the game ends, and then disconnects within 2 seconds. addr is the address of the server or of a proxy.
// The error is nil after the end of the context, otherwise ErrEnded or an error of the connection.
func (g *Game) Client(ctx context.Context, addr string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer supervise.After(g.ctx, "player", cancel)()
	g.mu.Lock()
	if g.closed || g.ctx.Err() != nil {
		g.mu.Unlock()
		return nil
	}
	defer g.wg.Enter()()
	g.mu.Unlock()
	err := g.play(ctx, addr, rand.Uint64())
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Play runs Client repeatedly: when a connection ends or fails, it calls tell with the error and retries after a second.
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
	g.closed = true // no client may be added during Wait
	g.mu.Unlock()
	g.cancel()
	g.wg.Wait()
}

// interval is the time between two messages of an end.
func (g *Game) interval() time.Duration {
	return time.Duration(float64(time.Second) / g.opts.Rate)
}

// speaker makes an end of a connection.
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
