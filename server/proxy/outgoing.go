package proxy

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
)

// end is our end of a connection to an upstream.
type end struct {
	network string
	addr    netip.AddrPort
}

// outgoing is a connection to an upstream. Its end is ours until just before it is closed: then the system may give the port to a client.
type outgoing struct {
	net.Conn
	forget func()
}

func (p *Proxy) keep(network string, c net.Conn) net.Conn {
	at, to := end{network, addrOf(c.LocalAddr())}, addrOf(c.RemoteAddr())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outgoing[at] = append(p.outgoing[at], to)
	return &outgoing{c, sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		all := p.outgoing[at]
		if i := slices.Index(all, to); len(all) > 1 {
			p.outgoing[at] = slices.Delete(all, i, i+1)
		} else {
			delete(p.outgoing, at)
		}
	})}
}

// ours reports whether the address of a client is our end of a connection to an upstream: then the proxy is its own client, through a router
// or the rules of the system. down is the client's connection, nil for datagrams. One port may have connections to several addresses of this
// machine: that of a client is ours only if it was made to the same one.
func (p *Proxy) ours(client netip.AddrPort, down net.Conn) bool {
	network := "udp"
	if down != nil {
		network = "tcp"
	}
	p.mu.Lock()
	all := slices.Clone(p.outgoing[end{network, client}])
	p.mu.Unlock()
	return slices.ContainsFunc(all, func(to netip.AddrPort) bool {
		if down == nil || to == addrOf(down.LocalAddr()) || !isLocal(to.Addr(), p.local()) {
			return true
		}
		before, err := originalDestination(down)
		return err == nil && before == to
	})
}

func (c *outgoing) Close() error {
	c.forget()
	return c.Conn.Close()
}

// CloseWrite ends the sending direction.
func (c *outgoing) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SetLinger is that of the connection of the system, also under TLS.
func (c *outgoing) SetLinger(seconds int) error {
	plain := c.Conn
	if over, ok := plain.(*tls.Conn); ok {
		plain = over.NetConn()
	}
	if l, ok := plain.(interface{ SetLinger(sec int) error }); ok {
		return l.SetLinger(seconds)
	}
	return errors.ErrUnsupported
}

// SetReadBuffer sets the size of the receive buffer in bytes.
func (c *outgoing) SetReadBuffer(bytes int) error {
	if b, ok := c.Conn.(interface{ SetReadBuffer(bytes int) error }); ok {
		return b.SetReadBuffer(bytes)
	}
	return errors.ErrUnsupported
}

// SyscallConn returns the socket.
func (c *outgoing) SyscallConn() (syscall.RawConn, error) {
	if s, ok := c.Conn.(syscall.Conn); ok {
		return s.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
