package server

import (
	"math"
	"net"
	"net/netip"
	"sync"
)

// maxConnections is the number of TCP connections that one address may hold, signed in or not, so that nobody uses up the descriptors by opening
// connections and sending nothing.
const maxConnections = 500

// LimitConnections bounds the connections of each address, or /64 network of IPv6. Connections above the bound are closed at once. Addresses
// of this machine and of trusted proxies are not bounded: they may stand for many clients. All of them together get at most half of the
// descriptors of the process, and one address a quarter of that: files and the connections of the proxy need the others.
func LimitConnections(l net.Listener, trusted []netip.Prefix) net.Listener {
	out := &limited{Listener: l, trusted: trusted, most: maxConnections, mostInAll: math.MaxInt, open: map[netip.Prefix]int{}}
	if n := descriptors(); n > 0 {
		out.mostInAll = n / 2
		out.most = min(out.most, max(out.mostInAll/4, 1))
	}
	return out
}

type limited struct {
	net.Listener
	trusted         []netip.Prefix
	most, mostInAll int

	mu    sync.Mutex
	open  map[netip.Prefix]int
	inAll int
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		of, bounded := l.clientOf(c)
		l.mu.Lock()
		full := l.inAll >= l.mostInAll || bounded && l.open[of] >= l.most
		if !full {
			l.inAll++
			l.open[of]++
		}
		l.mu.Unlock()
		if !full {
			return &counted{Conn: c, l: l, of: of}, nil
		}
		_ = c.Close()
	}
}

// clientOf returns the address or network of a client, and whether its connections are bounded.
func (l *limited) clientOf(c net.Conn) (of netip.Prefix, bounded bool) {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return of, false
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.IsLoopback() {
		return of, false
	}
	for _, p := range l.trusted {
		if p.Contains(ip) {
			return of, false
		}
	}
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	of, err = ip.Prefix(bits)
	return of, err == nil
}

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn
	l    *limited
	of   netip.Prefix
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() {
		c.l.mu.Lock()
		defer c.l.mu.Unlock()
		c.l.inAll--
		if c.l.open[c.of]--; c.l.open[c.of] == 0 {
			delete(c.l.open, c.of)
		}
	})
	return c.Conn.Close()
}
