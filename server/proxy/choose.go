package proxy

import (
	"context"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Upstreams that each client chooses for itself. Every destination is judged by the list of allowed upstreams, as a fixed one is.
const (
	Socks5   = "socks5"   // by the SOCKS5 protocol (RFC 1928), TCP alone
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
		case cfg.Network != "tcp":
			return fmt.Errorf("%s is for TCP alone", cfg.Pairs[i].Upstream)
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
		if to, err = socksRequest(down, s.password); err != nil {
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

// Numbers of SOCKS5.
const (
	socksVersion  = 5
	socksNoAuth   = 0
	socksPassword = 2
	socksNone     = 0xff // no acceptable method
	socksConnect  = 1

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4

	socksFailed      = 1
	socksForbidden   = 2
	socksUnreachable = 4
	socksRefused     = 5
	socksCommand     = 7
	socksAddress     = 8
)

// socksRequest reads the greeting and the request of a client, and returns where it wants to connect.
func socksRequest(c net.Conn, password string) (to string, err error) {
	var b [512]byte
	read := func(n int) ([]byte, error) {
		_, err := io.ReadFull(c, b[:n])
		if err != nil {
			return nil, fmt.Errorf("a SOCKS5 client has left before its request: %w", err)
		}
		return b[:n], nil
	}
	head, err := read(2)
	if err != nil {
		return "", err
	}
	if head[0] != socksVersion {
		return "", fmt.Errorf("a client does not speak SOCKS5: its first byte is %d", head[0])
	}
	methods, err := read(int(head[1]))
	if err != nil {
		return "", err
	}
	method := byte(socksNoAuth)
	if password != "" {
		method = socksPassword
	}
	offered := false
	for _, m := range methods {
		offered = offered || m == method
	}
	if !offered {
		_, _ = c.Write([]byte{socksVersion, socksNone})
		return "", errors.New("a SOCKS5 client does not offer the way to sign in that is needed")
	}
	if _, err := c.Write([]byte{socksVersion, method}); err != nil {
		return "", err
	}
	if method == socksPassword {
		if err := socksSignIn(c, read, password); err != nil {
			return "", err
		}
	}
	request, err := read(4)
	if err != nil {
		return "", err
	}
	if request[0] != socksVersion || request[1] != socksConnect {
		_ = socksAnswer(c, socksCommand, netip.AddrPort{})
		return "", fmt.Errorf("a SOCKS5 client asks for command %d; only CONNECT is supported", request[1])
	}
	var host string
	switch request[3] {
	case socksIPv4, socksIPv6:
		n := 4
		if request[3] == socksIPv6 {
			n = 16
		}
		raw, err := read(n)
		if err != nil {
			return "", err
		}
		addr, _ := netip.AddrFromSlice(raw)
		host = addr.Unmap().String()
	case socksName:
		n, err := read(1)
		if err != nil {
			return "", err
		}
		name, err := read(int(n[0]))
		if err != nil {
			return "", err
		}
		if host = string(name); !isName(plainName(host)) {
			if _, err := netip.ParseAddr(host); err != nil {
				_ = socksAnswer(c, socksAddress, netip.AddrPort{})
				return "", errors.New("a SOCKS5 client asks for what is no name of a host")
			}
		}
	default:
		_ = socksAnswer(c, socksAddress, netip.AddrPort{})
		return "", fmt.Errorf("a SOCKS5 client asks for an address of type %d", request[3])
	}
	port, err := read(2)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(port)))), nil
}

// socksSignIn reads the name and the password (RFC 1929). The name does not matter.
func socksSignIn(c net.Conn, read func(int) ([]byte, error), password string) error {
	head, err := read(2)
	if err != nil {
		return err
	}
	if head[0] != 1 {
		return fmt.Errorf("a SOCKS5 client signs in by version %d", head[0])
	}
	if _, err := read(int(head[1])); err != nil {
		return err
	}
	size, err := read(1)
	if err != nil {
		return err
	}
	given, err := read(int(size[0]))
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(given, []byte(password)) != 1 {
		_, _ = c.Write([]byte{1, 1})
		return errors.New("a SOCKS5 client has given a wrong password")
	}
	_, err = c.Write([]byte{1, 0})
	return err
}

// socksReply answers a request after connecting.
func socksReply(c, up net.Conn, err error) error {
	var failed *net.OpError
	switch {
	case err == nil:
		return socksAnswer(c, 0, addrOf(up.LocalAddr()))
	case errors.Is(err, ErrRefused), errors.Is(err, ErrMoved):
		return socksAnswer(c, socksForbidden, netip.AddrPort{})
	case errors.Is(err, syscall.ECONNREFUSED):
		return socksAnswer(c, socksRefused, netip.AddrPort{})
	case errors.As(err, &failed), errors.Is(err, context.DeadlineExceeded):
		return socksAnswer(c, socksUnreachable, netip.AddrPort{})
	}
	return socksAnswer(c, socksFailed, netip.AddrPort{})
}

func socksAnswer(c net.Conn, code byte, bound netip.AddrPort) error {
	out := []byte{socksVersion, code, 0}
	switch addr := bound.Addr(); {
	case addr.Is6():
		out = append(append(out, socksIPv6), addr.AsSlice()...)
	case addr.Is4():
		out = append(append(out, socksIPv4), addr.AsSlice()...)
	default:
		out = append(out, socksIPv4, 0, 0, 0, 0)
	}
	_, err := c.Write(binary.BigEndian.AppendUint16(out, bound.Port()))
	return err
}
