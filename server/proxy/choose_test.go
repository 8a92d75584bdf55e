package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
)

// socksAsk asks to connect by SOCKS5, and returns the code of the answer; 255 if there is none.
func socksAsk(t *testing.T, c net.Conn, password, to string) byte {
	t.Helper()
	code, _ := socksCall(t, c, password, socksConnect, to)
	return code
}

// socksCall sends a request of SOCKS5, and returns the code and the address of the answer; 255 if there is none.
func socksCall(t *testing.T, c net.Conn, password string, command byte, to string) (code byte, bound netip.AddrPort) {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	hello := []byte{5, 1, 0}
	if password != "" {
		hello = []byte{5, 2, 0, 2}
	}
	if _, err := c.Write(hello); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 2)
	if _, err := io.ReadFull(c, answer); err != nil || answer[1] == 0xff {
		return 255, bound
	}
	if answer[1] == 2 {
		if _, err := c.Write(append(append([]byte{1, 2, 'm', 'e', byte(len(password))}, password...), 0)[:5+len(password)]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, answer); err != nil || answer[1] != 0 {
			return 255, bound
		}
	}
	if _, err := c.Write(append([]byte{5, command, 0}, socksAddressOf(t, to)...)); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return 255, bound
	}
	rest := make([]byte, map[byte]int{1: 6, 4: 18}[head[3]])
	if _, err := io.ReadFull(c, rest); err != nil {
		t.Fatal(err)
	}
	addr, _ := netip.AddrFromSlice(rest[:len(rest)-2])
	return head[1], netip.AddrPortFrom(addr, binary.BigEndian.Uint16(rest[len(rest)-2:]))
}

// socksAddressOf returns the type, the address and the port.
func socksAddressOf(t *testing.T, to string) (b []byte) {
	t.Helper()
	host, port, err := splitPort(to)
	if err != nil {
		t.Fatal(err)
	}
	if addr, err := netip.ParseAddr(host); err != nil {
		b = append([]byte{3, byte(len(host))}, host...)
	} else if addr.Is4() {
		b = append([]byte{1}, addr.AsSlice()...)
	} else {
		b = append([]byte{4}, addr.AsSlice()...)
	}
	return binary.BigEndian.AppendUint16(b, port)
}

// A client of SOCKS5 reaches the destinations that are allowed, by address and by name, and no other: each is judged as a fixed upstream is.
func TestSocks(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	_, port, _ := splitPort(addr)
	up, err := NewUpstreams([]string{"127.0.0.0/8:*", "game.example:*"}, func(_ context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "game.example":
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		case "moved.example":
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	})
	if err != nil {
		t.Fatal(err)
	}
	var own netip.AddrPort
	p := New(Options{Upstreams: up, Own: func() []netip.AddrPort { return []netip.AddrPort{own} }})
	t.Cleanup(func() { _ = p.Close(t.Context()) })
	s := start(t, p, Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}, Transport: newRaw})
	own = netip.MustParseAddrPort("127.0.0.1:9")
	listener := s.pairs[0].listen.String()
	for to, want := range map[string]byte{
		addr: 0, net.JoinHostPort("game.example", strconv.Itoa(int(port))): 0, net.JoinHostPort("GAME.example.", strconv.Itoa(int(port))): 0,
		"10.0.0.1:80": 2, "169.254.169.254:80": 2, "[fd00:ec2::254]:80": 2, "[::ffff:169.254.169.254]:80": 2, "moved.example:80": 2, "none.example:80": 2, "127.0.0.1:9": 2, listener: 2,
		"[::]:80": 2, "0.0.0.0:80": 2, "127.0.0.1:1": 5,
	} {
		c := dial(t, s)
		if got := socksAsk(t, c, "", to); got != want {
			t.Errorf("%s: %d, want %d", to, got, want)
		} else if want == 0 {
			_, _ = c.Write([]byte("hello"))
			back := make([]byte, 5)
			if _, err := io.ReadFull(c, back); err != nil || string(back) != "hello" {
				t.Errorf("%s: %q %v", to, back, err)
			}
		}
		c.Close()
	}
	eventually(t, "the connections end", func() bool { return s.State().Open == 0 })
	if x := s.State(); x.Total != 3 {
		t.Errorf("%d connections were relayed, want 3", x.Total)
	}
	for _, garbage := range [][]byte{{4, 1, 0, 80, 1, 2, 3, 4, 0}, []byte("GET / HTTP/1.1\r\n\r\n"), {5, 0}, {5, 1, 2}, {5, 1, 0, 5, 2, 0, 1, 1, 2, 3, 4, 0, 80}, {5, 1, 0, 5, 1, 0, 9}, {5, 1, 0, 5, 1, 0, 3, 2, '/', '.', 0, 80}, {5}} {
		c := dial(t, s)
		_, _ = c.Write(garbage)
		_ = c.CloseWrite()
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("% x: %v", garbage, err)
		}
	}
	stop(t, s)
}

// Off loopback a password is needed, and a wrong one does not help.
func TestSocksPassword(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	p := newProxy(t)
	if s, err := p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{"0.0.0.0:0", Socks5}}}); err == nil {
		stop(t, s)
		t.Fatal("a listener for other machines without a password")
	}
	if s, err := p.Start(t.Context(), Config{Network: "udp", Pairs: []Pair{{"0.0.0.0:0", Socks5}}}); err == nil {
		stop(t, s)
		t.Fatal("a listener of UDP for other machines without a password")
	}
	if s, err := p.Start(t.Context(), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Redirect}}}); err == nil {
		stop(t, s)
		t.Fatal("redirection of UDP")
	}
	s := start(t, p, Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}, Password: "s3cret"})
	for password, want := range map[string]byte{"": 255, "wrong": 255, "s3cre": 255, "s3cret": 0} {
		c := dial(t, s)
		if got := socksAsk(t, c, password, addr); got != want {
			t.Errorf("%q: %d, want %d", password, got, want)
		}
		c.Close()
	}
	if !hasEvent(s, "wrong password") {
		t.Error("a wrong password is not reported")
	}
	stop(t, s)
}

// A message of a connection by SOCKS5 can be held and changed as any other: the bytes of the request are not part of it.
func TestSocksIsRelayedAsOthers(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	var server netip.AddrPort
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}, Transport: func(c transport.Conn) transport.Transport {
		server = c.Server
		return &raw{}
	}})
	c := dial(t, s)
	if got := socksAsk(t, c, "", addr); got != 0 {
		t.Fatal(got)
	}
	message := bytes.Repeat([]byte("x"), 1000)
	if _, err := c.Write(message); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, len(message))); err != nil {
		t.Fatal(err)
	}
	c.Close()
	stop(t, s)
	if server.String() != addr {
		t.Errorf("the server is %s, not %s", server, addr)
	}
	if x := s.State(); x.ToServer != 1000 || x.ToClient != 1000 {
		t.Errorf("%+v", x)
	}
}

// A connection to the listener itself was not redirected.
func TestRedirectNeedsRedirection(t *testing.T) {
	leaks(t)
	if !canRedirect {
		t.Skip("redirected connections need Linux")
	}
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", Redirect}}})
	c := dial(t, s)
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if n, _ := io.Copy(io.Discard, c); n != 0 {
		t.Error("something came back")
	}
	c.Close()
	eventually(t, "an event", func() bool { return hasEvent(s, "not redirected") })
	stop(t, s)
}
