package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// Connections outside of sessions are checked against the same list, at the start and before each connection; a listener of the proxy is a
// permitted target.
func TestTarget(t *testing.T) {
	zone := names{"game.example": {"127.0.0.1", "127.0.0.2"}, "meta.example": {"169.254.169.254"}}
	u, err := NewUpstreams([]string{"127.0.0.0/8:*", "game.example:5000", "meta.example:*"}, zone.resolve)
	if err != nil {
		t.Fatal(err)
	}
	var dialed []string
	p := New(Options{Upstreams: u, Own: addrPorts("127.0.0.1:8080"), Dial: func(_ context.Context, network string, addr netip.AddrPort) (net.Conn, error) {
		dialed = append(dialed, network+" "+addr.String())
		if addr.Addr().As4()[3] == 1 {
			return nil, errors.New("nobody listens")
		}
		return &net.TCPConn{}, nil
	}})
	for _, text := range []string{"127.0.0.1:8080", "127.0.0.1:0", "meta.example:80", "198.51.100.7:80", "169.254.169.254:80"} {
		if _, err := p.Target(t.Context(), text); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", text, err)
		}
	}
	x, err := p.Target(t.Context(), "game.example:5000")
	if err != nil || x.Port() != 5000 {
		t.Fatal(x.Port(), err)
	}
	if _, err := x.Dial(t.Context(), "tcp"); err != nil || strings.Join(dialed, ", ") != "tcp 127.0.0.1:5000, tcp 127.0.0.2:5000" {
		t.Errorf("%v %v", dialed, err)
	}
	if err := u.Set(nil); err != nil {
		t.Fatal(err)
	}
	dialed = nil
	if _, err := x.Dial(t.Context(), "tcp"); !errors.Is(err, ErrRefused) || dialed != nil {
		t.Errorf("after the list has changed: %v %v", dialed, err)
	}
	if _, err := (Target{}).Dial(t.Context(), "tcp"); err == nil {
		t.Error("the zero target connects")
	}
}

// A connection to a listener of the proxy is recorded by it.
func TestTargetOfListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	u, err := NewUpstreams(DefaultUpstreams, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Upstreams: u})
	defer p.Close(t.Context())
	s, err := p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", ln.Addr().String()}}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := p.Target(t.Context(), s.State().Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x.Dial(t.Context(), "tcp")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := ln.Accept() // the end of the proxy
	if err != nil {
		t.Fatal(err)
	}
	got.Close()
}
