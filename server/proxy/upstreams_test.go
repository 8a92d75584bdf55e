package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// names resolves names by a table that tests change.
type names map[string][]string

func (n names) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, a := range n[host] {
		all = append(all, netip.MustParseAddr(a))
	}
	if all == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return all, nil
}

// Addresses refused whatever the list.
func TestAlwaysRefused(t *testing.T) {
	zone := names{
		"meta.example": {"169.254.169.254"}, "both.example": {"198.51.100.7", "169.254.169.254"}, "mapped.example": {"::ffff:169.254.169.254"},
		"self.example": {"127.0.0.1"},
	}
	u, err := NewUpstreams([]string{
		"0.0.0.0/0:*", "[::/0]:*", "meta.example:*", "both.example:*", "mapped.example:*", "self.example:*",
	}, zone.resolve)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Upstreams: u, Own: addrPorts("127.0.0.1:8080", "[::]:8443")})
	p.local = func() []netip.Prefix {
		return []netip.Prefix{netip.MustParsePrefix("192.0.2.10/24"), netip.MustParsePrefix("2001:db8::10/64")}
	}
	listening := addrPorts("127.0.0.5:7000", "0.0.0.0:7001", "[2001:db8::10]:7002")()
	find := func(text string) (target, error) {
		return u.find(t.Context(), text, func(a netip.AddrPort) error { return p.check(a, listening) })
	}
	for _, text := range []string{
		"0.0.0.0:80", "0.1.2.3:80", "[::]:80", "169.254.0.1:80", "169.254.169.254:80", "[fe80::1]:80", "[fe80::1%lo]:80", "[febf::1]:80", "224.0.0.1:80",
		"239.255.255.250:1900", "255.255.255.255:80", "240.0.0.1:80", "[ff02::1]:80", "[ff0e::1]:80", "100.100.100.200:80", "168.63.129.16:80",
		"192.0.0.192:80", "[fd00:ec2::254]:80", "[fd20:ce::254]:80",
		"[::ffff:169.254.169.254]:80", "[::ffff:224.0.0.1]:80", "[::ffff:0.0.0.0]:80", "[::ffff:255.255.255.255]:80", "[::ffff:127.0.0.1]:8080",
		"[::169.254.169.254]:80", "[::ffff:0:169.254.169.254]:80", "[64:ff9b::169.254.169.254]:80", "[64:ff9b::127.0.0.1]:80", "[2002:a9fe:a9fe::1]:80",
		"[2002:7f00:1::]:80", "[2001:0:7f00:1::1]:80", "[2001:0:808:808::5601:5601]:80",
		"192.0.2.255:80", "192.0.2.0:80", "127.0.0.1:0",
		"127.0.0.1:8080", "127.9.9.9:8080", "[::1]:8080", "192.0.2.10:8080", "192.0.2.10:8443", "[2001:db8::10]:8443", "[::1]:8443",
		"127.0.0.5:7000", "127.0.0.1:7001", "192.0.2.10:7001", "[2001:db8::10]:7002",
		"meta.example:80", "META.example.:80", "both.example:80", "mapped.example:80", "self.example:8080",
	} {
		if found, err := find(text); err == nil {
			t.Errorf("%s is allowed: %v", text, found.addrs)
		} else {
			mustRefuse(t, err, ErrRefused)
		}
	}
	for _, text := range []string{
		"127.0.0.1:7000", "127.0.0.6:7000", "[::1]:7000", "192.0.2.11:8080", "198.51.100.1:8080", "[2001:db8::11]:7002", "[::ffff:10.0.0.1]:80",
		"[64:ff9b::8.8.8.8]:80", "self.example:80", "192.0.2.11:7001", "192.0.3.255:80",
	} {
		if _, err := find(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestList(t *testing.T) {
	zone := names{"game.example": {"198.51.100.7"}, "other.example": {"198.51.100.8"}, "lan.example": {"10.1.2.3"}, "far.example": {"10.1.2.3", "198.51.100.9"}}
	u, err := NewUpstreams([]string{"game.example:5000,7000-7002", "10.0.0.0/8:80", "198.51.100.20:*", "[2001:db8::/32]:443", "[::ffff:172.16.0.0/108]:1"}, zone.resolve)
	if err != nil {
		t.Fatal(err)
	}
	fine := func(netip.AddrPort) error { return nil }
	for text, want := range map[string]bool{
		"game.example:5000": true, "GAME.Example.:7002": true, "game.example:5001": false, "game.example:7003": false, "198.51.100.7:5000": false,
		"other.example:5000": false, "lan.example:80": true, "lan.example:81": false, "far.example:80": false, "10.255.0.1:80": true, "11.0.0.1:80": false,
		"[::ffff:10.0.0.1]:80": true, "198.51.100.20:65535": true, "198.51.100.21:1": false, "[2001:db8::1]:443": true, "[2001:db9::1]:443": false,
		"172.17.0.1:1": true, "127.0.0.1:80": false, "sub.game.example:5000": false,
	} {
		_, err := u.find(t.Context(), text, fine)
		if (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := u.find(t.Context(), "bad host:1", fine); err == nil {
		t.Error("bad host")
	}
	if got := u.Entries(); len(got) != 5 || got[0] != "game.example:5000,7000-7002" {
		t.Errorf("%q", got)
	}
	for _, bad := range []string{"", ":", "a", "a:", "a:0", "a:5-4", "a:1,", "a:x", "a:65536", "a b:1", "[::1:5", "10.0.0.0/33:1", "[fe80::1%1]:1", "[name]:1", "::/0/0:1", "[::ffff:0:0/80]:1"} {
		if u.Set([]string{bad}) == nil {
			t.Errorf("%q is an entry", bad)
		}
	}
	if len(u.Entries()) != 5 {
		t.Error("an invalid list is used")
	}
	if u.Set(make([]string, maxEntries+1)) == nil {
		t.Error("too many")
	}
}

// A name keeps its first addresses.
func TestRebinding(t *testing.T) {
	zone := names{"game.example": {"127.0.0.1", "127.0.0.2"}}
	u, err := NewUpstreams([]string{"game.example:*"}, zone.resolve)
	if err != nil {
		t.Fatal(err)
	}
	find := func() error {
		_, err := u.find(t.Context(), "game.example:5000", func(netip.AddrPort) error { return nil })
		return err
	}
	if err := find(); err != nil {
		t.Fatal(err)
	}
	zone["game.example"] = []string{"127.0.0.2"} // one of them
	if err := find(); err != nil {
		t.Error(err)
	}
	pins := u.Pins()
	zone["game.example"] = []string{"127.0.0.2", "127.0.0.3"}
	mustRefuse(t, find(), ErrMoved)
	if err := u.Set(append(u.Entries(), "10.0.0.0/8:*")); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, find(), ErrMoved)
	u.Reallow("Game.Example.")
	if err := find(); err != nil {
		t.Error(err)
	}
	u.Restore(pins)
	mustRefuse(t, find(), ErrMoved)
	if err := u.Set(nil); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, find(), ErrRefused)
	if err := u.Set([]string{"game.example:5000"}); err != nil {
		t.Fatal(err)
	}
	if err := find(); err != nil || !slices.Contains(u.Pins()["game.example"], netip.MustParseAddr("127.0.0.3")) {
		t.Error(err)
	}
}

// A running session connects to the address that was checked, and is cut off when the list changes.
func TestPinnedWhileRunning(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	_, port, _ := net.SplitHostPort(addr)
	zone := names{"game.example": {"127.0.0.1"}}
	u, err := NewUpstreams([]string{"game.example:*"}, zone.resolve)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Upstreams: u})
	s := start(t, p, Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", "game.example:" + port}}})
	echo := func() error {
		c, err := net.Dial("tcp", s.State().Pairs[0].Listen)
		if err != nil {
			return err
		}
		defer c.Close()
		_, _ = c.Write([]byte("x"))
		_, err = io.ReadFull(c, make([]byte, 1))
		return err
	}
	zone["game.example"] = []string{"169.254.169.254"}
	if err := echo(); err != nil {
		t.Error(err)
	}
	_, err = p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", "game.example:" + port}}})
	mustRefuse(t, err, ErrMoved)
	if err := u.Set(nil); err != nil {
		t.Fatal(err)
	}
	if echo() == nil || !saysEvent(s, "not on the list") {
		t.Errorf("still connected: %+v", s.Events(0))
	}
	stop(t, s)
}

// Sessions that would connect to each other do not start, and a session that connects to itself through a detour is detected.
func TestLoops(t *testing.T) {
	leaks(t)
	p := newProxy(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	later := free.Addr().String()
	a := start(t, p, Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", later}}})
	free.Close() // now: else the listener could have its port
	_, err = p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", a.State().Pairs[0].Listen}}})
	mustRefuse(t, err, ErrRefused)
	_, err = p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{later, "127.0.0.1:1"}}})
	mustRefuse(t, err, ErrRefused)
	_, err = p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{strings.Replace(later, "127.0.0.1", "0.0.0.0", 1), "127.0.0.1:1"}}})
	mustRefuse(t, err, ErrRefused)
	if got := p.Events("", 0); len(got) != 3 || got[0].Severity != Failure {
		t.Errorf("%+v", got)
	}
	if n := len(p.Sessions()); n != 1 {
		t.Errorf("%d sessions", n)
	}

	// Simulates a router that sends an address back here.
	detour := newProxy(t)
	var back atomic.Pointer[string]
	detour.opts.Dial = func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, *back.Load())
	}
	s := start(t, detour, Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", "127.0.0.1:9"}}})
	back.Store(&s.State().Pairs[0].Listen)
	if c, err := net.Dial("tcp", *back.Load()); err == nil {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a connection through the loop succeeds")
		}
		c.Close()
	}
	eventually(t, "it is over", func() bool { return s.State().Open == 0 && hasEvent(s, "connects to itself") })
	if n := s.State().Total; n > 200 { // each turn is detected once it is connected, so a busy machine takes more turns
		t.Errorf("%d turns", n)
	}
}

// watched is a connection to an upstream that reports whether its end was still ours when it was closed.
type watched struct {
	net.Conn
	ours func() bool
	late atomic.Bool
	n    atomic.Int32
}

func (w *watched) Close() error {
	w.n.Add(1)
	if w.ours() {
		w.late.Store(true)
	}
	return w.Conn.Close()
}

func (w *watched) CloseWrite() error { return w.Conn.(*net.TCPConn).CloseWrite() }

// made is a connection that a client has made to an address.
type made struct {
	net.Conn
	to net.Addr
}

func (m made) LocalAddr() net.Addr { return m.to }

// A client may have the port of a connection to an upstream: that of the other network, of one to another address of this machine, or of one
// that is over.
func TestPortsOfOthers(t *testing.T) {
	leaks(t)
	for _, network := range []string{"tcp", "udp"} {
		for _, cut := range []bool{false, true} {
			p := newProxy(t)
			var up *watched
			inner := p.opts.Dial
			p.opts.Dial = func(ctx context.Context, network string, a netip.AddrPort) (net.Conn, error) {
				c, err := inner(ctx, network, a)
				if err != nil {
					return nil, err
				}
				var down net.Conn
				if network == "tcp" {
					down = made{c, c.RemoteAddr()}
				}
				up = &watched{Conn: c, ours: func() bool { return p.ours(addrOf(c.LocalAddr()), down) }}
				return up, nil
			}
			addr := serveUDP(t, echo)
			if network == "tcp" {
				addr = serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
			}
			s := start(t, p, Config{Network: network, Pairs: []Pair{{"127.0.0.1:0", addr}}})
			c, err := net.Dial(network, s.State().Pairs[0].Listen)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write([]byte("hello")); err != nil {
				t.Fatal(err)
			}
			if n, err := c.Read(make([]byte, 5)); n != 5 {
				t.Fatal(err)
			}
			at := addrOf(up.LocalAddr())
			if !up.ours() {
				t.Errorf("%s: its own end is not known", network)
			}
			if network == "tcp" && p.ours(at, nil) || network == "udp" && p.ours(at, made{c, up.RemoteAddr()}) {
				t.Errorf("%s: an end of the other network is taken for its own", network)
			}
			if network == "tcp" && p.ours(at, made{c, c.RemoteAddr()}) {
				t.Error("a connection to another address is taken for its own")
			}
			if !cut && network == "tcp" {
				c.Close()
				eventually(t, "it is over", func() bool { return s.State().Open == 0 })
			}
			over, end := context.WithCancel(t.Context())
			end()
			_ = s.Stop(over)
			c.Close()
			if up.n.Load() == 0 || up.late.Load() || up.ours() {
				t.Errorf("%s: closed %d times; ours when the system may give its port to others: %v, %v", network, up.n.Load(), up.late.Load(), up.ours())
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	leaks(t)
	p := newProxy(t)
	one := []Pair{{"127.0.0.1:0", "127.0.0.1:9"}}
	for _, cfg := range []Config{
		{},
		{Network: "tcp"},
		{Network: "sctp", Pairs: one},
		{Network: "tcp", Pairs: make([]Pair, MaxPairs+1)},
		{Network: "tcp", Pairs: []Pair{{"game.example:5", "127.0.0.1:9"}}},
		{Network: "tcp", Pairs: []Pair{{"127.0.0.1:x", "127.0.0.1:9"}}},
		{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", ""}}},
		{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", "127.0.0.1:0"}}},
		{Network: "tcp", Pairs: one, Limits: Limits{Conns: -1}},
		{Network: "tcp", Pairs: one, Name: strings.Repeat("x", 201)},
		{Network: "tcp", Pairs: []Pair{one[0], {"127.0.0.1:0", "198.51.100.1:9"}}},
	} {
		if s, err := p.Start(t.Context(), cfg); err == nil {
			t.Errorf("%+v starts", s.State())
		}
	}
	if len(p.Sessions()) != 0 {
		t.Error("sessions are left")
	}
}

func TestConsecutive(t *testing.T) {
	for _, test := range []struct {
		listen, upstream string
		n                int
		want             string
	}{
		{":5000", "game.example:7000", 2, "[{:5000 game.example:7000} {:5001 game.example:7001}]"},
		{"[::1]:5000", "[2001:db8::1]:65534", 2, "[{[::1]:5000 [2001:db8::1]:65534} {[::1]:5001 [2001:db8::1]:65535}]"},
		{"127.0.0.1:0", "127.0.0.1:1", 1, "[{127.0.0.1:0 127.0.0.1:1}]"},
		{"127.0.0.1:0", "127.0.0.1:1", 2, "[]"},
		{":65535", ":1", 2, "[]"},
		{":1", ":1", 17, "[]"},
		{":1", ":1", 0, "[]"},
		{"1", ":1", 1, "[]"},
	} {
		got, err := Consecutive(test.listen, test.upstream, test.n)
		if fmt.Sprint(got) != test.want || (err == nil) != (test.want != "[]") {
			t.Errorf("%v: %v, %v", test, got, err)
		}
	}
}

func FuzzUpstreams(f *testing.F) {
	for _, s := range []string{"127.0.0.1:5000", "[::1/128]:*", "game.example:1,2-3", "10.0.0.0/8:*", "[::ffff:169.254.169.254]:80"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, entry, upstream string) {
		u, err := NewUpstreams([]string{entry}, names{}.resolve)
		if err != nil {
			return
		}
		found, err := u.find(context.Background(), upstream, func(netip.AddrPort) error { return nil })
		if err != nil {
			return
		}
		for _, a := range found.addrs {
			if why := refusal(a.Addr()); why != "" {
				t.Errorf("%s by %s is %s", upstream, entry, why)
			}
		}
	})
}

// A name that is not on the list is resolved only if the list has addresses to which it may resolve, and the error names the missing entry.
func TestUnlistedNames(t *testing.T) {
	for _, test := range []struct {
		list  string
		asked int
		words string
	}{
		{"game.example:*", 0, "unlisted.example:80 is not on the list of allowed upstreams"},
		{"127.0.0.0/8:81", 0, "unlisted.example:80 is not on the list of allowed upstreams"},
		{"unlisted.example:81", 0, "unlisted.example:80 is not on the list of allowed upstreams"},
		{"127.0.0.0/8:*", 1, "unlisted.example:80 is not on the list of allowed upstreams by name, and its addresses are unknown"},
		{"unlisted.example:*", 1, "resolve unlisted.example"},
	} {
		asked := 0
		u, err := NewUpstreams([]string{test.list}, func(_ context.Context, host string) ([]netip.Addr, error) {
			asked++
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.find(t.Context(), "unlisted.example:80", func(netip.AddrPort) error { return nil })
		if asked != test.asked || err == nil || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: looked up %d times: %v", test.list, asked, err)
		}
		if listed := strings.HasPrefix(test.list, "unlisted.example:*"); errors.Is(err, ErrRefused) == listed {
			t.Errorf("%s: %v", test.list, err)
		}
	}
}

// One rule says what a host is, for the list, for what clients ask, and for datagrams: whatever resolvers make an address of is one, or nothing.
func TestHosts(t *testing.T) {
	for text, want := range map[string]string{
		"game.example": "game.example", "GAME.example.": "game.example", "a": "a", "x1": "x1", "1.x": "1.x", "_a-b": "_a-b", "0xg.x": "0xg.x", "0xg": "0xg",
		"10.0.0.1": "10.0.0.1", "10.0.0.1.": "10.0.0.1", "0.0.0.0.": "0.0.0.0", "::1": "::1", "::ffff:10.0.0.1": "10.0.0.1",
		"127.1": "", "127.1.": "", "2130706433": "", "0x7f000001": "", "0X7F.1": "", "a.0x7f": "", "10.0.0.1..": "", "10.0.0.256": "", "010.0.0.1": "", "1.2.3.4.5": "", "::1.": "",
		"": "", ".": "", "a..b": "", "a b": "", "[::1]": "",
	} {
		addr, name, ok := parseHost(text)
		got := name
		if addr.IsValid() {
			got = addr.String()
		}
		if got != want || ok != (want != "") || name != "" && addr.IsValid() {
			t.Errorf("%q: %q %q %v, want %q", text, addr, name, ok, want)
		}
		host := text
		if strings.Contains(text, ":") && !strings.HasPrefix(text, "[") {
			host = "[" + text + "]"
		}
		_, err := NewUpstreams([]string{host + ":5000"}, names{}.resolve)
		if (err == nil) != (want != "") && text != "[::1]" {
			t.Errorf("%q in a list: %v", text, err)
		}
		if _, _, ok := parseSocksHeader(append(append([]byte{0, 0, 0, socksName, byte(len(text))}, text...), 0, 1)); ok != (want != "") {
			t.Errorf("%q in a datagram: %v", text, ok)
		}
	}
	for _, zone := range []string{"fe80::1%eth0", "::ffff:10.0.0.1%eth0"} {
		if addr, _, ok := parseHost(zone); ok && refusal(addr) == "" {
			t.Errorf("%s is %s", zone, addr)
		}
	}
}
