package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"wirebench/server/supervise"
)

// MaxSessions is the maximum number of running sessions.
const MaxSessions = 100

// Options holds the dependencies of a Proxy. Only Upstreams is required.
type Options struct {
	Upstreams *Upstreams
	Own       func() []netip.AddrPort // addresses on which the workbench listens

	Roots *x509.CertPool // of the certificates of upstreams with TLS, for tests; nil uses those of the system

	// Dial connects to a checked address, for tests; nil uses the system.
	Dial func(ctx context.Context, network string, addr netip.AddrPort) (net.Conn, error)
}

// Proxy holds the running sessions. It is safe for concurrent use.
type Proxy struct {
	opts  Options
	local func() []netip.Prefix

	events events // of sessions that failed to start

	starting sync.Mutex // serializes starts, so that they see each other's addresses

	mu       sync.Mutex
	closed   bool
	sessions []*Session
	outgoing map[end][]netip.AddrPort // upstreams by our ends of the connections to them
}

// New returns a proxy without sessions.
func New(opts Options) *Proxy {
	if opts.Dial == nil {
		dialer := &net.Dialer{}
		opts.Dial = func(ctx context.Context, network string, addr netip.AddrPort) (net.Conn, error) {
			return dialer.DialContext(ctx, network, addr.String())
		}
	}
	if opts.Own == nil {
		opts.Own = func() []netip.AddrPort { return nil }
	}
	return &Proxy{opts: opts, local: localNetworks, outgoing: map[end][]netip.AddrPort{}, events: events{notify: func() {}}}
}

// Events returns the events with a number above n about sessions of an owner that failed to start. Events of running sessions are in
// Session.Events.
func (p *Proxy) Events(owner string, n int) []Event {
	all := p.events.since(n)
	return slices.DeleteFunc(all, func(e Event) bool { return e.owner != owner })
}

func systemResolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// Sessions returns the running sessions, in the order of their start.
func (p *Proxy) Sessions() []*Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sessions)
}

// Close stops all sessions, as Session.Stop does, and refuses further ones.
func (p *Proxy) Close(ctx context.Context) error {
	p.starting.Lock()
	p.mu.Lock()
	p.closed = true
	all := slices.Clone(p.sessions)
	p.mu.Unlock()
	p.starting.Unlock()
	errs := make([]error, len(all))
	var wg supervise.Group
	for i, s := range all {
		wg.Go("listener", func(err error) { errs[i] = err }, func() { errs[i] = s.Stop(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func addrOf(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.TCPAddr:
		return plainAddr(a.AddrPort())
	case *net.UDPAddr:
		return plainAddr(a.AddrPort())
	}
	return netip.AddrPort{}
}

func plainAddr(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func itoa(n int) string { return strconv.Itoa(n) }

// check returns an error if a connection to an address would come back to the workbench. listening are the addresses of listeners of the
// same network protocol.
func (p *Proxy) check(addr netip.AddrPort, listening []netip.AddrPort) error {
	var local []netip.Prefix
	load := func() []netip.Prefix {
		if local == nil {
			local = p.local()
		}
		return local
	}
	if addr.Addr().Is4() && !addr.Addr().IsLoopback() && isBroadcast(addr.Addr(), load()) {
		return errors.New("is broadcast")
	}
	for _, own := range p.opts.Own() {
		if own.Port() == addr.Port() && (own.Addr().Unmap() == addr.Addr() || isLocal(addr.Addr(), load())) {
			return errors.New("is the workbench itself")
		}
	}
	for _, l := range listening {
		if l.Port() == addr.Port() && (l.Addr() == addr.Addr() || l.Addr().IsUnspecified() && isLocal(addr.Addr(), load())) {
			return errors.New("is a listener of the proxy itself")
		}
	}
	return nil
}

// listening returns the addresses of all listeners of a network.
func (p *Proxy) listening(network string) []netip.AddrPort {
	var all []netip.AddrPort
	for _, s := range p.Sessions() {
		all = s.listening(all, network)
	}
	return all
}

// dial connects to a target. It checks the addresses again, as the list and our listeners may have changed.
func (p *Proxy) dial(ctx context.Context, network string, t target) (net.Conn, netip.AddrPort, error) {
	var last error
	listening := p.listening(network)
	for _, addr := range t.addrs {
		if err := p.opts.Upstreams.permit(t, addr, func(a netip.AddrPort) error { return p.check(a, listening) }); err != nil {
			return nil, addr, err
		}
		c, err := p.opts.Dial(ctx, network, addr)
		if err == nil && t.tls {
			c, err = p.encrypted(ctx, c, t, addr)
		}
		if err == nil {
			return p.keep(network, c), addr, nil
		}
		if last = err; ctx.Err() != nil {
			break
		}
	}
	return nil, netip.AddrPort{}, last
}

// encrypted returns a connection over one that was made to an upstream. The one is closed after an error.
func (p *Proxy) encrypted(ctx context.Context, c net.Conn, t target, addr netip.AddrPort) (net.Conn, error) {
	name := t.name
	if name == "" {
		name = addr.Addr().String()
	}
	over := tls.Client(c, &tls.Config{ServerName: name, RootCAs: p.opts.Roots, MinVersion: tls.VersionTLS12})
	if err := over.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return over, nil
}

// Start starts a session. The context is used only while starting. The error wraps ErrRefused or ErrMoved if an upstream is refused;
// otherwise it is about the configuration, the resolver or the system.
func (p *Proxy) Start(ctx context.Context, cfg Config) (_ *Session, err error) {
	s, err := newSession(p, cfg)
	if err != nil {
		return nil, err
	}
	p.starting.Lock()
	defer p.starting.Unlock()
	p.mu.Lock()
	full, gone := len(p.sessions) >= MaxSessions, p.closed
	p.mu.Unlock()
	if gone {
		return nil, errors.New("the proxy is closed")
	}
	if full {
		return nil, fmt.Errorf("%d sessions are running, the maximum", MaxSessions)
	}
	defer func() {
		if err != nil {
			s.closeListeners()
		}
		if errors.Is(err, ErrRefused) || errors.Is(err, ErrMoved) {
			p.events.of(cfg.Owner, Failure, "%s: %v", s.name, err)
		}
	}()
	for i := range s.pairs {
		network := s.network
		if cfg.Pairs[i].Upstream == Socks5 {
			network = "tcp"
		}
		if err := s.pairs[i].open(ctx, network, cfg.Pairs[i].Listen); err != nil {
			return nil, fmt.Errorf("listen to %s: %w", cfg.Pairs[i].Listen, err)
		}
	}
	listening := s.listening(p.listening(s.network), s.network)
	resolving, stop := context.WithTimeout(ctx, s.limits.Dial)
	defer stop()
	if err := s.checkChosen(cfg); err != nil {
		return nil, err
	}
	for i := range s.pairs {
		if to := cfg.Pairs[i].Upstream; IsChosen(to) {
			s.pairs[i].chosen, s.pairs[i].target = to, target{text: to}
			continue
		}
		s.pairs[i].target, err = p.opts.Upstreams.find(resolving, cfg.Pairs[i].Upstream, func(a netip.AddrPort) error { return p.check(a, listening) })
		if err != nil {
			return nil, err
		}
	}
	// Conversely, a running session may have the new listeners as its upstream.
	for _, other := range p.Sessions() {
		listening := s.listening(nil, other.network)
		for i := range other.pairs {
			for _, addr := range other.pairs[i].target.addrs {
				if p.check(addr, listening) != nil {
					return nil, fmt.Errorf("%w: %s would be the upstream of %q", ErrRefused, addr, other.name)
				}
			}
		}
	}
	p.mu.Lock()
	p.sessions = append(p.sessions, s)
	p.mu.Unlock()
	s.run()
	return s, nil
}

func (p *Proxy) remove(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.sessions, s); i >= 0 {
		p.sessions = slices.Delete(p.sessions, i, i+1)
	}
}

// acceptPause is the pause of a listener after a temporary error, such as too many open files.
const acceptPause = 50 * time.Millisecond
