package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// Target is an upstream that was resolved and let pass, for a connection that is no session's.
type Target struct {
	p *Proxy
	t target
}

// Target resolves and checks an upstream as Start does, with one exception: it may be a listener of the proxy, since what connects there is
// a client like others. The error is ErrRefused or ErrMoved, wrapped, or of the address or the resolver.
func (p *Proxy) Target(ctx context.Context, upstream string) (Target, error) {
	t, err := p.opts.Upstreams.find(ctx, upstream, p.checkAlone)
	return Target{p, t}, err
}

func (p *Proxy) checkAlone(addr netip.AddrPort) error { return p.check(addr, nil) }

// Port is the one that was asked for.
func (x Target) Port() uint16 {
	if len(x.t.addrs) == 0 {
		return 0
	}
	return x.t.addrs[0].Port()
}

// Dial connects, by "tcp" or "udp". Each address is checked once more, as the list may have changed. The caller closes the connection.
func (x Target) Dial(ctx context.Context, network string) (net.Conn, error) {
	last := errors.New("it has no address")
	for _, addr := range x.t.addrs {
		if err := x.p.opts.Upstreams.permit(x.t, addr, x.p.checkAlone); err != nil {
			return nil, err
		}
		c, err := x.p.opts.Dial(ctx, network, addr)
		if err == nil {
			return c, nil
		}
		if last = err; ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("connect to %s: %w", x.t.text, last)
}
