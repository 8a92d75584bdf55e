package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/schema"
	"wirebench/server/replay"
	"wirebench/server/supervise"
)

// talk plays one end of a connection until it ends, and closes the link. When the context ends, this end stops sending and reads until the
// other end has sent everything.
func (g *Game) talk(ctx context.Context, link *heardLink, dir schema.Dir, port uint16, seed uint64) error {
	defer link.Close()
	env := &protocols.Env{Definitions: g.words.snap, Envelope: g.words.snap.Envelope, Rules: []protocols.Rule{
		{Dir: schema.ToServer, Group: g.words.groups[0]},
		{Dir: schema.ToClient, Group: g.words.groups[1]},
	}, Options: g.words.snap.Options.Values}
	end, err := g.protocol.End(env, dir, port, protocols.Ends{Random: rand.Reader})
	if err != nil {
		return err
	}
	w := replay.NewWire(link, end, !g.protocol.Streams)
	defer w.Close()
	begin, stop := context.WithTimeout(ctx, greeting)
	defer stop()
	if err := w.Wait(begin); err != nil {
		return fmt.Errorf("the handshake failed: %w", err)
	}
	s := g.speaker(dir, func(message []byte, reliable bool) error {
		return w.Send(ctx, transport.Outgoing{Bytes: message, Unreliable: !reliable})
	}, seed)
	s.finish = g.rules.finish
	a := g.words.actors[1-index(dir)](s)
	a.begin()

	listening, deaf := context.WithCancel(context.Background())
	in := make(chan replay.Message)
	var ear supervise.Group
	ear.Go("player", nil, func() {
		defer close(in)
		for {
			m, err := w.Receive(listening)
			if err != nil {
				return
			}
			select {
			case in <- m:
			case <-listening.Done():
				return
			}
		}
	})
	defer ear.Wait()
	defer deaf()
	tick := time.NewTicker(g.interval())
	defer tick.Stop()
	done := ctx.Done()
	var quiet, leaving, left <-chan time.Time
	for s.err == nil {
		select {
		case m, ok := <-in:
			if !ok {
				return g.ended(done, dir)
			}
			if m.Kind != transport.Message {
				return errors.New(m.Note)
			}
			if _, err := s.hear(m.Bytes, m.Key.Group, a); err != nil && s.err == nil {
				return err
			}
			if quiet != nil {
				quiet = time.After(lull)
			}
			if leaving != nil && g.protocol.Streams { // an end of datagrams may go on sending, since it does not see that this one leaves
				leaving = time.After(patience)
			}
		case <-tick.C:
			if done == nil {
				break
			}
			if w.Wait(ended) != nil {
				return g.ended(done, dir)
			}
			if time.Since(link.heard()) > g.silence() {
				return errors.New("the other end sends nothing")
			}
			a.tick()
		case <-done:
			done, leaving, left = nil, time.After(patience), time.After(farewell)
			last, stop := context.WithTimeout(context.Background(), patience)
			defer stop()
			s.send = func(message []byte, reliable bool) error {
				return w.Send(last, transport.Outgoing{Bytes: message, Unreliable: !reliable})
			}
			a.leave()
			s.send = func([]byte, bool) error { return nil }
			s.told = onlyGot(s.told)
			if g.protocol.Streams {
				_ = w.CloseWrite() // the other end then closes the connection
			} else if quiet = time.After(lull); dir == schema.ToClient {
				return nil
			}
		case <-quiet:
			return nil
		case <-leaving:
			return nil
		case <-left:
			return nil
		}
	}
	if done != nil && w.Wait(ended) != nil {
		return g.ended(done, dir)
	}
	return s.err
}

// lull is the time without a datagram that ends a connection after an end has stopped sending.
const lull = 150 * time.Millisecond

// ended is a context that has ended: waiting with it returns the current state at once.
var ended = func() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}()

// ended returns the error of an end after the other end has closed the connection, nil if this end is closing, too.
func (g *Game) ended(done <-chan struct{}, dir schema.Dir) error {
	if done != nil && dir == schema.ToServer {
		return ErrEnded
	}
	return nil
}

// silence returns the idle timeout.
func (g *Game) silence() time.Duration {
	if g.protocol.Streams {
		return stillness
	}
	return silence
}

// onlyGot drops events of sent messages.
func onlyGot(told func(Event)) func(Event) {
	return func(e Event) {
		if e.Got {
			told(e)
		}
	}
}

// heardLink is a link that records when data was last received.
type heardLink struct {
	replay.Link
	last atomic.Int64
}

func newLink(l replay.Link) *heardLink {
	h := &heardLink{Link: l}
	h.last.Store(time.Now().UnixNano())
	return h
}

func (l *heardLink) heard() time.Time { return time.Unix(0, l.last.Load()) }

func (l *heardLink) Read(p []byte) (int, error) {
	n, err := l.Link.Read(p)
	if n > 0 {
		l.last.Store(time.Now().UnixNano())
	}
	return n, err
}

// CloseWrite ends the sending direction of a stream.
func (l *heardLink) CloseWrite() error {
	if half, ok := l.Link.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// serveStreams accepts players on a port.
func (g *Game) serveStreams(l *net.TCPListener) {
	port := l.Addr().(*net.TCPAddr).AddrPort().Port()
	defer supervise.After(g.ctx, "demo game", func() { l.Close() })()
	for {
		conn, err := l.AcceptTCP()
		if g.ctx.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return
		}
		if err != nil { // too many open files
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if !g.admit(newLink(conn), port, nil) {
			conn.Close()
		}
	}
}

// admit starts a player, unless there are too many. left, if not nil, is called at the end.
func (g *Game) admit(link *heardLink, port uint16, left func()) bool {
	if g.players.Add(1) > maxPlayers {
		g.players.Add(-1)
		return false
	}
	seed := g.seeds.Add(1)
	g.wg.Go("player", nil, func() {
		defer g.players.Add(-1)
		if left != nil {
			defer left()
		}
		_ = g.talk(g.ctx, link, schema.ToClient, port, seed) // the client reports the error
	})
	return true
}

// serveDatagrams accepts players on a port, one for each address that sends a datagram. The socket is closed after the last has left.
func (g *Game) serveDatagrams(conn *net.UDPConn) {
	port := conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	var mu sync.Mutex
	players := map[netip.AddrPort]*datagramLink{}
	var playing sync.WaitGroup
	defer supervise.After(g.ctx, "demo game", func() {
		playing.Wait()
		conn.Close()
	})()
	buf := make([]byte, 1<<16)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // of a single datagram, such as port unreachable
			continue
		}
		mu.Lock()
		l := players[from]
		if l == nil && g.ctx.Err() == nil {
			l = &datagramLink{conn: conn, to: from, in: make(chan []byte, 64), over: make(chan struct{}), due: make(chan struct{}, 1)}
			playing.Add(1)
			left := func() {
				mu.Lock()
				delete(players, from)
				mu.Unlock()
				playing.Done()
			}
			if g.admit(newLink(l), port, left) {
				players[from] = l
			} else {
				playing.Done()
				l = nil
			}
		}
		mu.Unlock()
		if l != nil {
			select {
			case l.in <- append([]byte(nil), buf[:n]...):
			default: // dropped
			}
		}
	}
}

// datagramLink is the server's link to one of the clients that share its socket.
type datagramLink struct {
	conn *net.UDPConn
	to   netip.AddrPort
	in   chan []byte
	over chan struct{}
	once sync.Once

	mu       sync.Mutex
	deadline time.Time
	due      chan struct{} // the deadline has changed
}

// Read waits for the next datagram or the deadline.
func (l *datagramLink) Read(p []byte) (int, error) {
	for {
		l.mu.Lock()
		deadline := l.deadline
		l.mu.Unlock()
		var late <-chan time.Time
		if !deadline.IsZero() {
			late = time.After(time.Until(deadline))
		}
		select {
		case data := <-l.in:
			return copy(p, data), nil
		case <-l.over:
			return 0, net.ErrClosed
		case <-late:
			return 0, os.ErrDeadlineExceeded
		case <-l.due:
		}
	}
}

// Write sends a datagram to the client.
func (l *datagramLink) Write(p []byte) (int, error) { return l.conn.WriteToUDPAddrPort(p, l.to) }

// SetReadDeadline sets the deadline of Read.
func (l *datagramLink) SetReadDeadline(t time.Time) error {
	l.mu.Lock()
	l.deadline = t
	l.mu.Unlock()
	select {
	case l.due <- struct{}{}:
	default:
	}
	return nil
}

// SetWriteDeadline does nothing: writing a datagram does not block.
func (l *datagramLink) SetWriteDeadline(time.Time) error { return nil }

// Close ends Read. The socket stays open for other clients.
func (l *datagramLink) Close() error {
	l.once.Do(func() { close(l.over) })
	return nil
}

// answer responds to pings on a port.
func (g *Game) answer(conn *net.UDPConn) {
	defer supervise.After(g.ctx, "demo game", func() { conn.Close() })()
	buf := make([]byte, 64)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		if pong := g.rules.pong(buf[:n], int(g.players.Load())); pong != nil {
			_, _ = conn.WriteToUDPAddrPort(pong, from)
		}
	}
}

// play runs one client.
func (g *Game) play(ctx context.Context, addr string, seed uint64) error {
	network := g.Network
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return err
	}
	to, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return err
	}
	if g.rules.ping != nil && to.Port() < 65535 {
		asking, stop := context.WithCancel(ctx)
		var asks supervise.Group
		defer asks.Wait()
		defer stop()
		asks.Go("player", nil, func() { g.ask(asking, netip.AddrPortFrom(to.Addr(), to.Port()+1)) })
	}
	return g.talk(ctx, newLink(conn), schema.ToServer, to.Port(), seed)
}

// pingEvery is the interval of a client's pings.
const pingEvery = 5 * time.Second

// ask pings the port after the game's. A response is not required: a proxy may relay the first port only.
func (g *Game) ask(ctx context.Context, at netip.AddrPort) {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		return
	}
	defer conn.Close()
	for wait := pingEvery / 5; ; wait = pingEvery {
		select {
		case <-time.After(wait):
			_, _ = conn.Write(g.rules.ping(time.Now()))
		case <-ctx.Done():
			return
		}
	}
}
