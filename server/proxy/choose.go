package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"wirebench/server/supervise"
)

// Upstreams that each client chooses for itself. Every destination is judged by the list of allowed upstreams, as a fixed one is.
const (
	Socks5   = "socks5"   // by the SOCKS5 protocol (RFC 1928): CONNECT in sessions of TCP, UDP ASSOCIATE in sessions of UDP
	Redirect = "redirect" // by the address that it has connected to, before the kernel has redirected it to the listener (Linux, TCP)
)

// IsChosen reports whether an upstream is one that clients choose.
func IsChosen(upstream string) bool { return upstream == Socks5 || upstream == Redirect }

// maxPassword bounds the password of a SOCKS5 listener (RFC 1929).
const maxPassword = 255

// checkChosen refuses sessions whose clients may not choose their upstream.
func (s *Session) checkChosen(cfg Config) error {
	for i := range s.pairs {
		if strings.HasPrefix(cfg.Pairs[i].Upstream, TLS) && cfg.Network != "tcp" {
			return errors.New("TLS is for TCP alone")
		}
		if !IsChosen(cfg.Pairs[i].Upstream) {
			continue
		}
		switch {
		case cfg.Pairs[i].Upstream == Redirect && cfg.Network != "tcp":
			return fmt.Errorf("%s is for TCP alone", Redirect)
		case len(cfg.Password) > maxPassword:
			return fmt.Errorf("the password has more than %d bytes", maxPassword)
		case cfg.Pairs[i].Upstream == Socks5 && cfg.Password == "" && !s.pairs[i].listen.Addr().IsLoopback():
			return errors.New("a SOCKS5 listener that other machines reach needs a password")
		case cfg.Pairs[i].Upstream == Redirect && !canRedirect:
			return errors.New("redirected connections need Linux")
		}
	}
	return nil
}

// chosen returns the target that a client has chosen. answer tells the client the result of connecting; it must be called once unless there is
// an error.
func (s *Session) chosen(ctx context.Context, p *pair, down net.Conn) (t target, answer func(up net.Conn, err error) error, err error) {
	defer closeWith(s.ctx, down)()
	_ = down.SetDeadline(time.Now().Add(s.limits.Dial))
	defer func() { _ = down.SetDeadline(time.Time{}) }()
	var to string
	answer = func(net.Conn, error) error { return nil }
	if p.chosen == Redirect {
		addr, err := originalDestination(down)
		if err != nil {
			return t, nil, err
		}
		if to = addr.String(); addr == addrOf(down.LocalAddr()) {
			return t, nil, fmt.Errorf("%w: the connection was made to the listener itself, not redirected to it", ErrRefused)
		}
	} else {
		if to, err = socksRequest(down, s.password, socksConnect); err != nil {
			return t, nil, err
		}
		answer = func(up net.Conn, err error) error { return socksReply(down, up, err) }
	}
	listening := s.proxy.listening(s.network)
	t, err = s.proxy.opts.Upstreams.find(ctx, to, func(a netip.AddrPort) error { return s.proxy.check(a, listening) })
	if err != nil {
		_ = answer(nil, err)
	}
	return t, answer, err
}

// closeWith closes a connection when a context is done before release is called. After release nothing of it is left.
func closeWith(ctx context.Context, c net.Conn) (release func()) {
	closed := make(chan struct{})
	stop := supervise.After(ctx, "connection", func() {
		defer close(closed)
		_ = c.Close()
	})
	return func() {
		if !stop() {
			<-closed
		}
	}
}
