package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// Target is a resolved and permitted upstream, for a connection outside of sessions.
type Target struct {
	p *Proxy
	t target
}

// Target resolves and checks an upstream as Start does, except that it may be a listener of the proxy, whose clients include such
// connections. The error wraps ErrRefused or ErrMoved, or is about the address or the resolver.
func (p *Proxy) Target(ctx context.Context, upstream string) (Target, error) {
	t, err := p.opts.Upstreams.find(ctx, upstream, p.checkAlone)
	return Target{p, t}, err
}

func (p *Proxy) checkAlone(addr netip.AddrPort) error { return p.check(addr, nil) }

// Port returns the requested port.
func (x Target) Port() uint16 {
	if len(x.t.addrs) == 0 {
		return 0
	}
	return x.t.addrs[0].Port()
}

// Dial connects by "tcp" or "udp". It checks each address again, as the list may have changed. The caller closes the connection.
func (x Target) Dial(ctx context.Context, network string) (net.Conn, error) {
	last := errors.New("the name has no address")
	for _, addr := range x.t.addrs {
		if err := x.p.opts.Upstreams.permit(x.t, addr, x.p.checkAlone); err != nil {
			return nil, err
		}
		c, err := x.p.opts.Dial(ctx, network, addr)
		if err == nil && x.t.tls {
			c, err = x.p.encrypted(ctx, c, x.t, addr)
		}
		if err == nil {
			return c, nil
		}
		if last = err; ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("connect to %s: %w", x.t.text, last)
}
