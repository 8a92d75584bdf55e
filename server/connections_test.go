package server

import (
	"errors"
	"math"
	"net"
	"net/netip"
	"testing"
)

// fakeListener accepts connections from addresses that a test names.
type fakeListener struct{ from []string }

type fakeConn struct {
	net.Conn
	from   string
	closed *int
}

type fakeAddr string

func (a fakeAddr) Network() string { return "tcp" }
func (a fakeAddr) String() string  { return string(a) }

func (c fakeConn) RemoteAddr() net.Addr { return fakeAddr(c.from) }
func (c fakeConn) Close() error         { *c.closed++; return nil }

var closed int

func (l *fakeListener) Accept() (net.Conn, error) {
	if len(l.from) == 0 {
		return nil, errors.New("no more")
	}
	c := fakeConn{from: l.from[0], closed: &closed}
	l.from = l.from[1:]
	return c, nil
}
func (l *fakeListener) Close() error   { return nil }
func (l *fakeListener) Addr() net.Addr { return fakeAddr("127.0.0.1:1") }

// An address holds a bounded number of connections; closing one makes room. This machine and trusted proxies may have any number.
func TestLimitConnections(t *testing.T) {
	closed = 0
	fake := &fakeListener{}
	for _, from := range []string{"192.0.2.1:5", "[2001:db8::1]:5", "127.0.0.1:5", "10.0.0.7:5"} {
		for range maxConnections + 3 {
			fake.from = append(fake.from, from)
		}
	}
	fake.from = append(fake.from, "[2001:db8::2]:5", "[2001:db8:0:1::2]:5")
	l := LimitConnections(fake, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	l.(*limited).most, l.(*limited).mostInAll = maxConnections, math.MaxInt // whatever the descriptors
	got := map[string]int{}
	var all []net.Conn
	for {
		c, err := l.Accept()
		if err != nil {
			break
		}
		got[c.RemoteAddr().String()]++
		all = append(all, c)
	}
	if got["192.0.2.1:5"] != maxConnections || got["[2001:db8::1]:5"] != maxConnections || got["127.0.0.1:5"] != maxConnections+3 || got["10.0.0.7:5"] != maxConnections+3 ||
		got["[2001:db8::2]:5"] != 0 || got["[2001:db8:0:1::2]:5"] != 1 || closed != 7 {
		t.Errorf("%v, %d closed", got, closed)
	}
	_ = all[0].Close()
	_ = all[0].Close() // twice counts once
	fake.from = []string{"192.0.2.1:6", "192.0.2.1:6"}
	if c, err := l.Accept(); err != nil || c.RemoteAddr().String() != "192.0.2.1:6" {
		t.Errorf("%v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("one more")
	}
	for _, c := range all {
		_ = c.Close()
	}
	if n := len(l.(*limited).open); n != 1 {
		t.Errorf("%d addresses are remembered", n)
	}
}

// All connections together are bounded, too, those of this machine included.
func TestLimitConnectionsInAll(t *testing.T) {
	fake := &fakeListener{from: []string{"127.0.0.1:1", "192.0.2.1:1", "127.0.0.1:2", "192.0.2.2:1"}}
	l := LimitConnections(fake, nil)
	l.(*limited).most, l.(*limited).mostInAll = 2, 2
	a, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	if c, err := l.Accept(); err == nil {
		t.Errorf("%s is above the limit", c.RemoteAddr())
	}
	_ = a.Close()
	fake.from = []string{"192.0.2.3:1"}
	if _, err := l.Accept(); err != nil {
		t.Error("no room after one has ended", err)
	}
}
