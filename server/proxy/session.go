package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/supervise"
)

// Session is a listener with its connections, log and recording. It is safe for concurrent use.
type Session struct {
	proxy    *Proxy
	name     string
	network  string
	limits   Limits
	pairs    []pair
	password string // see Config
	started  time.Time

	relayPorts [2]uint16

	log       *live.Log
	transport func(transport.Conn) transport.Transport
	rewriter  func(transport.Conn) transport.Rewriter // nil: the session only observes
	identify  func(transport.Conn, *transport.Frame)
	op        operator
	queue     *queue
	rec       *recorder // nil disables recording
	events    events
	seen      seen
	drops     drops         // for UDP
	moved     chan struct{} // has one element when the state may have changed

	ctx   context.Context // for connections being made
	stop  context.CancelFunc
	quiet chan struct{} // closed when the relay has ended
	relay supervise.Group
	watch supervise.Group
	once  sync.Once
	done  chan struct{} // closed when everything has ended

	mu       sync.Mutex
	stopping bool // refuse new connections
	cut      bool // refuse all connections
	idle     chan struct{}
	admitted int
	sources  map[netip.Addr]int
	conns    map[*conn]struct{}
	ended    []ConnState
	reused   map[ends]int
	total    int // number of connections
	refused  int
	failed   int
	withheld int
	unsent   atomic.Int64 // number of datagrams
	strays   atomic.Int64 // see State.Strays
	bytes    [2]int64     // of ended connections
	stopped  time.Time

	associations map[*association]struct{} // of SOCKS5 clients
}

// pair is a listening address with its upstream.
type pair struct {
	listen netip.AddrPort
	target target
	chosen string           // Socks5 or Redirect: the target is that of each connection
	tcp    *net.TCPListener // also for Socks5 in a session of UDP: for control connections
	udp    *net.UDPConn
}

func (p *pair) open(ctx context.Context, network, listen string) error {
	addr, err := listenAddr(listen)
	if err != nil {
		return err
	}
	if addr.Addr().Is4() { // 0.0.0.0 is IPv4 alone, as it says
		network += "4"
	}
	var config net.ListenConfig
	if strings.HasPrefix(network, "udp") {
		c, err := config.ListenPacket(ctx, network, addr.String())
		if err != nil {
			return err
		}
		p.udp = c.(*net.UDPConn)
		p.listen = addrOf(p.udp.LocalAddr())
		return nil
	}
	l, err := config.Listen(ctx, network, addr.String())
	if err != nil {
		return err
	}
	p.tcp = l.(*net.TCPListener)
	p.listen = addrOf(p.tcp.Addr())
	return nil
}

// network returns the network of the listener.
func (p *pair) network() string {
	if p.tcp != nil {
		return "tcp"
	}
	return "udp"
}

// listening appends the addresses of a network to which clients of the session send.
func (s *Session) listening(all []netip.AddrPort, network string) []netip.AddrPort {
	for i := range s.pairs {
		if s.pairs[i].network() == network {
			all = append(all, s.pairs[i].listen)
		}
	}
	if network == "udp" {
		s.mu.Lock()
		defer s.mu.Unlock()
		for a := range s.associations {
			all = append(all, a.at)
		}
	}
	return all
}

func newSession(p *Proxy, cfg Config) (*Session, error) {
	switch {
	case cfg.Network != "tcp" && cfg.Network != "udp":
		return nil, fmt.Errorf("network %q is not supported: use tcp or udp", cfg.Network)
	case len(cfg.Pairs) == 0 || len(cfg.Pairs) > MaxPairs:
		return nil, fmt.Errorf("%d pairs of addresses: 1 to %d are possible", len(cfg.Pairs), MaxPairs)
	case len(cfg.Name) > 200:
		return nil, errors.New("the name has more than 200 bytes")
	}
	if err := cfg.Limits.check(); err != nil {
		return nil, err
	}
	s := &Session{
		proxy: p, name: cmp.Or(cfg.Name, cfg.Pairs[0].Listen), network: cfg.Network, limits: cfg.Limits.withDefaults(cfg.Network), password: cfg.Password,
		pairs: make([]pair, len(cfg.Pairs)), started: time.Now(), log: cfg.Log, transport: cfg.Transport,
		rewriter: cfg.Rewriter, identify: cfg.Identify,
		moved: make(chan struct{}, 1), quiet: make(chan struct{}), done: make(chan struct{}),
		sources: map[netip.Addr]int{}, conns: map[*conn]struct{}{}, reused: map[ends]int{},
		relayPorts: cfg.RelayPorts, associations: map[*association]struct{}{},
	}
	if s.log == nil {
		s.log = live.NewRolling(0)
	}
	s.events.notify, s.events.audit = s.touch, cfg.Audit
	s.op.init(s.moved)
	s.queue = newQueue(s.limits.QueueItems, s.limits.QueueBytes)
	s.ctx, s.stop = context.WithCancel(context.Background())
	if cfg.Record != nil {
		s.rec = newRecorder(*cfg.Record, s.name, &s.events, func() { poke(s.moved) })
	}
	return s, nil
}

func (s *Session) run() {
	for i := range s.pairs {
		p := &s.pairs[i]
		to := describe(p.target)
		if p.chosen != "" {
			to = "where each client asks for (" + p.chosen + ")"
		}
		if s.network == "udp" && p.chosen == Socks5 {
			s.events.add(Info, "tcp %s associates clients, whose datagrams it forwards to %s", p.listen, to)
		} else {
			s.events.add(Info, "%s %s forwards to %s", s.network, p.listen, to)
		}
		if p.udp != nil {
			s.drops.watch(p.udp, nil)
			s.relay.Go("listener", s.Fail, func() { s.relayUDP(p) })
		} else {
			s.relay.Go("listener", s.Fail, func() { s.acceptTCP(p) })
		}
	}
	if s.rec != nil {
		s.watch.Go("listener", s.Fail, s.rec.write)
	}
	s.watch.Go("listener", func(err error) { s.blind(err) }, s.observe)
	s.watch.Go("listener", s.Fail, s.expire)
}

func describe(t target) string {
	if t.name == "" {
		return t.text
	}
	var addrs []netip.Addr
	for _, a := range t.addrs {
		addrs = append(addrs, a.Addr())
	}
	return t.text + " (" + listed(addrs) + ")"
}

func (s *Session) closeListeners() {
	for i := range s.pairs {
		if l := s.pairs[i].tcp; l != nil {
			_ = l.Close()
		}
		if c := s.pairs[i].udp; c != nil {
			s.tellDrops(s.drops.leave(c))
			_ = c.Close()
		}
	}
}

// Stop ends the session. New connections are refused; TCP connections may end by themselves until the context is done, and are reset then.
// A connection without traffic for half a second is reset before. UDP has no end to wait for. When Stop returns, the log and the recording
// are complete, and no goroutine is left. The error is that of the context if it was done first.
func (s *Session) Stop(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		defer close(s.done)
		s.mu.Lock()
		s.stopping = true
		var idle chan struct{}
		if s.admitted > 0 && s.network == "tcp" {
			idle = make(chan struct{})
			s.idle = idle
		}
		s.mu.Unlock()
		for i := range s.pairs {
			if l := s.pairs[i].tcp; l != nil {
				_ = l.Close()
			}
		}
		s.op.end()
		if idle != nil {
			err = s.settle(ctx, idle)
		}
		s.stop()
		s.mu.Lock()
		s.cut = true
		var open []*conn
		for c := range s.conns {
			open = append(open, c)
		}
		s.mu.Unlock()
		for _, c := range open {
			s.because(c, "the session ended")
			c.abort("stop")
		}
		s.closeListeners()
		s.relay.Wait()
		close(s.quiet)
		s.queue.close()
		s.watch.Wait()
		s.mu.Lock()
		s.stopped = time.Now()
		s.mu.Unlock()
		s.events.add(Info, "stopped")
		s.log.Close()
		s.proxy.remove(s)
	})
	<-s.done
	return err
}

// Fail ends the session after a fault of one of its parts, but does not wait for the end.
func (s *Session) Fail(err error) {
	s.events.add(Failure, "%v", err)
	supervise.Go("listener", nil, func() { _ = s.Stop(s.ctx) })
}

// blind ends the session after a fault of its observer: what is still observed is not in the log.
func (s *Session) blind(err error) {
	s.Fail(err)
	var b batch
	for done := false; !done; {
		if b, done = s.queue.take(b); !done && len(b.items) == 0 {
			<-s.queue.wake
		}
	}
	s.rec.finish()
}

// faulted ends a connection after a fault of one of its goroutines.
func (s *Session) faulted(c *conn, err error) {
	s.because(c, "a fault of the program")
	s.events.add(Failure, "%s: %v", c.Name(), err)
	c.abort("fault")
}

// stillTime is the time without traffic after which a connection of an ending session is reset.
const stillTime = 500 * time.Millisecond

// settle waits until all connections have ended, and resets idle ones.
func (s *Session) settle(ctx context.Context, idle <-chan struct{}) error {
	from := time.Now()
	tick := time.NewTicker(stillTime / 5) // traffic sends no signal, and checking is cheap
	defer tick.Stop()
	for {
		select {
		case <-idle:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case now := <-tick.C:
			if now.Sub(from) < stillTime {
				continue
			}
			var still []*conn
			s.mu.Lock()
			for c := range s.conns {
				if c.active.Load() < now.Add(-stillTime).UnixNano() {
					still = append(still, c)
				}
			}
			s.mu.Unlock()
			for _, c := range still {
				s.because(c, "the session ended")
				c.abort("stop")
			}
		}
	}
}

// Done returns a channel that is closed when the session has ended and the log and the recording are complete.
func (s *Session) Done() <-chan struct{} { return s.done }

// Moved returns a channel that receives a value after traffic or a change of the state, several changes as one. It is for one reader, which
// then calls State. The observer sends it, not the relay, after each batch.
func (s *Session) Moved() <-chan struct{} { return s.moved }

// touch signals a change of the state.
func (s *Session) touch() {
	s.log.Touch()
	poke(s.moved)
}

// Log returns the log of frames.
func (s *Session) Log() *live.Log { return s.log }

// Events returns the events with a number above n, oldest first. Only the last few hundred are kept.
func (s *Session) Events(n int) []Event { return s.events.since(n) }

// Warn adds an event about a part that does not work; the session continues.
func (s *Session) Warn(format string, args ...any) { s.events.add(Warning, format, args...) }

// Conns returns the open connections, in order, and the most recently ended ones.
func (s *Session) Conns() (open, ended []ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		open = append(open, c.state())
	}
	slices.SortFunc(open, func(a, b ConnState) int { return a.ID - b.ID })
	return open, slices.Clone(s.ended)
}

// State is the state of a session, for display.
type State struct {
	Name     string      `json:"name"`
	Network  string      `json:"network" enum:"tcp,udp"`
	Pairs    []PairState `json:"pairs"`
	Started  time.Time   `json:"started"`
	Stopped  time.Time   `json:"stopped,omitzero"`
	Running  bool        `json:"running"`
	Open     int         `json:"open" doc:"connections"`
	Total    int         `json:"total" doc:"connections so far"`
	Refused  int         `json:"refused" doc:"connections refused by a limit"`
	Failed   int         `json:"failed" doc:"connections whose upstream could not be reached"`
	ToServer int64       `json:"to_server" doc:"bytes"`
	ToClient int64       `json:"to_client" doc:"bytes"`
	Withheld int         `json:"withheld,omitempty" doc:"datagrams withheld from addresses that have not proved that they receive"`
	Dropped  int64       `json:"dropped,omitempty" doc:"datagrams dropped by the system or the proxy because they arrived too fast"`
	Blind    bool        `json:"blind,omitempty" doc:"the system does not report how many datagrams it drops"`
	Unsent   int64       `json:"unsent,omitempty" doc:"datagrams that the system failed to send"`
	Strays   int64       `json:"strays,omitempty" doc:"datagrams to SOCKS5 associations that were dropped: of others than the client, fragments, without a valid header, or for refused destinations"`

	Associations int `json:"associations,omitempty" doc:"UDP associations of SOCKS5 clients"`

	Frames   int         `json:"frames" doc:"so far"`
	Base     int         `json:"base" doc:"index of the first retained frame"`
	Lost     int64       `json:"lost,omitempty" doc:"bytes that were relayed but not observed"`
	Unseen   int         `json:"unseen,omitempty" doc:"connections that were relayed but not observed"`
	Unlogged int64       `json:"unlogged,omitempty" doc:"frames that the log refused"`
	Record   RecordState `json:"record"`
	Operate  *Operating  `json:"operate,omitempty" doc:"for a session that can be operated"`
}

// PairState is a listening address and its upstream.
type PairState struct {
	Listen   string   `json:"listen"`
	Upstream string   `json:"upstream"`
	Pinned   []string `json:"pinned" doc:"resolved addresses"`
}

// State returns the current state of the session.
func (s *Session) State() State {
	lost, unseen := s.queue.losses()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := State{
		Name: s.name, Network: s.network, Started: s.started, Stopped: s.stopped, Running: s.stopped.IsZero(), Open: len(s.conns),
		Total: s.total, Refused: s.refused, Failed: s.failed, ToServer: s.bytes[0], ToClient: s.bytes[1], Withheld: s.withheld,
		Frames: s.log.Len(), Base: s.log.Base(), Lost: lost, Unseen: unseen, Unlogged: s.seen.unlogged.Load(),
	}
	x.Dropped, x.Blind = s.drops.state()
	x.Unsent = s.unsent.Load()
	x.Strays, x.Associations = s.strays.Load(), len(s.associations)
	for c := range s.conns {
		x.ToServer += c.bytes[0].Load()
		x.ToClient += c.bytes[1].Load()
	}
	for i := range s.pairs {
		p := PairState{Listen: s.pairs[i].listen.String(), Upstream: s.pairs[i].target.text}
		for _, a := range s.pairs[i].target.addrs {
			p.Pinned = append(p.Pinned, a.String())
		}
		x.Pairs = append(x.Pairs, p)
	}
	if s.rec != nil {
		x.Record = s.rec.state()
	}
	if s.rewriter != nil {
		x.Operate = s.op.state()
	}
	return x
}

// refuse counts and reports a refused client. The address is omitted, so that repetitions are merged.
func (s *Session) refuse(why string) {
	s.mu.Lock()
	s.refused++
	s.mu.Unlock()
	s.events.add(Warning, "a client is refused: %s", why)
}

// failChosen reports a client whose upstream is unknown, refused or not found.
func (s *Session) failChosen(t target, err error) {
	if t.text == "" {
		s.refuse(err.Error())
	} else {
		s.fail(t, err)
	}
}

// fail counts and reports an unreachable upstream.
func (s *Session) fail(t target, err error) {
	s.mu.Lock()
	s.failed++
	s.mu.Unlock()
	s.events.add(Failure, "upstream %s: %v", t.text, reason(err))
}
