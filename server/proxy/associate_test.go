package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

// socksClient is a client of SOCKS5 with an association.
type socksClient struct {
	*net.UDPConn // to the socket of the association
	t            *testing.T
	control      net.Conn
}

// associate makes an association. asked is the address of the request.
func associate(t *testing.T, s *Session, password, asked string) *socksClient {
	t.Helper()
	return associateBy(t, s, dial(t, s), password, asked)
}

func associateBy(t *testing.T, s *Session, control net.Conn, password, asked string) *socksClient {
	t.Helper()
	code, bound := socksCall(t, control, password, socksAssociate, asked)
	if code != 0 {
		t.Fatalf("the answer is %d: %+v", code, s.Events(0))
	}
	if want := addrOf(control.RemoteAddr()).Addr(); bound.Addr() != want {
		t.Fatalf("datagrams go to %s, and the control connection to %s", bound, want)
	}
	return &socksClient{dialUDP(t, bound.String()), t, control}
}

func (c *socksClient) send(to, data string) {
	c.t.Helper()
	if _, err := c.Write(append(append([]byte{0, 0, 0}, socksAddressOf(c.t, to)...), data...)); err != nil {
		c.t.Fatal(err)
	}
}

// receive returns the next datagram, and where it is from.
func (c *socksClient) receive() (from, data string) {
	c.t.Helper()
	buf := make([]byte, 1<<16)
	n, err := c.Read(buf)
	if err != nil {
		c.t.Fatal(err)
	}
	h, rest, ok := parseSocksHeader(buf[:n])
	if !ok || h.fragment != 0 {
		c.t.Fatalf("% x", buf[:n])
	}
	return h.String(), string(rest)
}

func (c *socksClient) expect(from, data string) {
	c.t.Helper()
	if f, d := c.receive(); f != from || d != data {
		c.t.Fatalf("%q of %s, not %q of %s", d, f, data, from)
	}
}

// silent checks that nothing arrives for a while.
func (c *socksClient) silent() {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 100)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("%d bytes arrive, %v", n, err)
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
}

func echo(b []byte) [][]byte { return [][]byte{b} }

// echoSix is a server of IPv6.
func echoSix(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	return serveOn(t, c, echo)
}

// A client reaches several destinations, of both families and by name, through one association; each is a connection with its own frames.
func TestAssociate(t *testing.T) {
	four, six := serveUDP(t, echo), echoSix(t)
	_, port, _ := splitPort(four)
	for _, listen := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(listen, func(t *testing.T) {
			leaks(t)
			up, err := NewUpstreams([]string{"127.0.0.1:*", "[::1]:*", "game.example:*"}, func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var servers sync.Map
			s := start(t, New(Options{Upstreams: up}), Config{
				Network: "udp", Pairs: []Pair{{listen, Socks5}}, Record: &Record{Create: folder(t.TempDir())},
				Transport: func(c transport.Conn) transport.Transport {
					servers.Store(c.Name(), true)
					return &raw{}
				},
			})
			c := associate(t, s, "", "0.0.0.0:0")
			for i, to := range []string{four, six, fmt.Sprintf("GAME.example.:%d", port), fmt.Sprintf("[::ffff:127.0.0.1]:%d", port)} {
				from := four
				if to == six {
					from = six
				}
				for _, size := range []int{0, 1, 512, 9000} {
					data := strings.Repeat(string(rune('a'+i)), size)
					c.send(to, data)
					c.expect(from, data)
				}
			}
			open, _ := s.Conns()
			if len(open) != 2 || s.State().Associations != 1 || s.State().Strays != 0 {
				t.Errorf("%+v %+v", open, s.State())
			}
			for i, server := range []string{four, six} {
				want := c.LocalAddr().String() + "-" + server
				if open[i].Name != want {
					t.Errorf("%s, not %s", open[i].Name, want)
				}
				eventually(t, want+" is decoded", func() bool { // after it was relayed
					_, ok := servers.Load(want)
					return ok
				})
			}
			_ = c.control.Close()
			eventually(t, "the association ends", func() bool { return s.State().Open == 0 && s.State().Associations == 0 })
			if _, ended := s.Conns(); len(ended) != 2 || ended[0].Why != "the client ended its association" {
				t.Errorf("%+v", ended)
			}
			stop(t, s)
			if got := 2 * 4 * (1 + 512 + 9000); s.State().ToServer != int64(got/2) || s.State().ToClient != int64(got/2) || s.Log().Len() != 2*4*4 {
				t.Errorf("%+v", s.State())
			}
			if got := read(t, files(t, s)[0]); len(got.streams) != 4 {
				t.Errorf("%q", got.streams)
			}
		})
	}
}

// The socket of an association is at the address that the client reaches, of either family.
func TestAssociateAtEachAddress(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, echo)
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{":0", Socks5}}, Password: "s3cret"})
	_, port, _ := splitPort(s.State().Pairs[0].Listen)
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "::1"} {
		control, err := net.Dial("tcp", net.JoinHostPort(host, fmt.Sprint(port)))
		if err != nil {
			t.Logf("%s: %v", host, err) // not on all systems
			continue
		}
		t.Cleanup(func() { control.Close() })
		c := associateBy(t, s, control, "s3cret", "0.0.0.0:0")
		if got := addrOf(c.RemoteAddr()).Addr().String(); got != host {
			t.Errorf("%s, not %s", got, host)
		}
		c.send(addr, "hello")
		c.expect(addr, "hello")
	}
}

// The messages of an association are held, changed and injected as others; the headers of SOCKS5 are not part of them.
func TestAssociateOperated(t *testing.T) {
	leaks(t)
	var server *gamer
	var mu sync.Mutex
	var back func([]byte)
	up := listenUDP(t)
	server = newGamer(t, func(b []byte) { mu.Lock(); defer mu.Unlock(); back(b) })
	var all sync.WaitGroup
	all.Go(func() {
		buf := make([]byte, 1<<16)
		for {
			n, from, err := up.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			mu.Lock()
			back = func(b []byte) { _, _ = up.WriteToUDPAddrPort(b, from) }
			mu.Unlock()
			server.receive(buf[:n])
		}
	})
	s := start(t, newProxy(t), Config{
		Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}, Record: &Record{Create: folder(t.TempDir())},
		Rewriter: func(transport.Conn) transport.Rewriter { return subspace.NewRewriter(subspace.Options{}) },
	})
	c := associate(t, s, "", "0.0.0.0:0")
	to := up.LocalAddr().String()
	client := newGamer(t, func(b []byte) { c.send(to, string(b)) })
	all.Go(func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			if h, data, ok := parseSocksHeader(buf[:n]); !ok || h.String() != to {
				t.Errorf("% x", buf[:n])
			} else {
				client.receive(data)
			}
		}
	})
	t.Cleanup(func() { _ = c.Close(); _ = up.Close(); all.Wait() })
	g := &game{stage: &stage{t: t, s: s}, client: client, server: server}
	client.say("\x00\x01\x00\x00\x00\x00\x01\x00")
	eventually(t, "the handshake arrives", func() bool { server.mu.Lock(); defer server.mu.Unlock(); return len(server.core) == 1 })
	server.say("\x00\x02\x00\x00\x00\x00")
	eventually(t, "the answer arrives", func() bool { client.mu.Lock(); defer client.mu.Unlock(); return len(client.core) == 1 })
	g.operate(true)
	g.intercept(func(m *Message) bool { return strings.Contains(string(m.Frame.Bytes), "hold") })
	client.tell("\x24first")
	client.tell("\x24hold")
	h := g.held(1)[0]
	if h.Conn.Server.String() != to {
		t.Errorf("%+v", h.Conn)
	}
	g.decide(h.ID, transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("\x24changed")}})
	g.arrives(server, []string{"\x24first", "\x24changed"})
	if err := s.Send(h.Conn.ID, schema.ToClient, transport.Outgoing{Bytes: []byte("\x24injected")}, "eve"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the injected one arrives", func() bool {
		client.mu.Lock()
		defer client.mu.Unlock()
		return client.heard["\x24injected"] == 1 || strings.Contains(strings.Join(client.got, "|"), "injected")
	})
	_ = c.control.Close()
	eventually(t, "the association ends", func() bool { return s.State().Open == 0 })
	stop(t, s)
}

// Destinations are judged as those of TCP are, and a refused one does not disturb others.
func TestAssociateRefuses(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, echo)
	up, err := NewUpstreams([]string{"127.0.0.0/8:*", "[::1]:*"}, func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "moved.example" {
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	})
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Upstreams: up, Own: addrPorts("127.0.0.1:9")})
	t.Cleanup(func() { _ = p.Close(t.Context()) })
	s := start(t, p, Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}})
	other := start(t, p, Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
	c, d := associate(t, s, "", "0.0.0.0:0"), associate(t, s, "", "0.0.0.0:0")
	refused := []string{
		"10.0.0.1:80", "169.254.169.254:80", "[fd00:ec2::254]:80", "[::ffff:100.100.100.200]:80", "[64:ff9b::a9fe:a9fe]:80", "224.0.0.1:80", "255.255.255.255:80",
		"0.0.0.0:80", "[::]:80", "127.0.0.1:0", "127.0.0.1:9", "moved.example:80", "none.example:80",
		other.pairs[0].listen.String(), c.RemoteAddr().String(), d.RemoteAddr().String(),
	}
	for i, to := range refused {
		c.send(to, "x")
		c.send(to, "y")
		eventually(t, "a refusal of "+to, func() bool { return s.State().Failed == i+1 && s.State().Strays == int64(2*(i+1)) })
		if events := s.Events(0); !strings.Contains(events[len(events)-1].Text, "refused") {
			t.Errorf("%s: %+v", to, events[len(events)-1])
		}
	}
	c.send(addr, "hello")
	c.expect(addr, "hello")
	d.silent()
	if x := s.State(); x.Total != 1 || other.State().Total != 0 {
		t.Errorf("%+v", x)
	}
	// The list of TCP has the port for control connections, and none of datagrams.
	if tcp := p.listening("tcp"); len(tcp) != 1 || tcp[0] != s.pairs[0].listen {
		t.Errorf("%v", tcp)
	}
	if _, err := p.Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", s.pairs[0].listen.String()}}}); !errors.Is(err, ErrRefused) {
		t.Errorf("the control port is an upstream: %v", err)
	}
}

// An association serves the address and the port that it began with, and drops fragments and what has no header.
func TestAssociateIsOfOneClient(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, echo)
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}})
	c := associate(t, s, "", "0.0.0.0:0")
	datagramTo := append(append([]byte{0, 0, 0}, socksAddressOf(t, addr)...), "stolen"...)
	strays := int64(0)
	dropped := func(why string) {
		t.Helper()
		strays++
		eventually(t, why, func() bool { return s.State().Strays == strays && hasEvent(s, why) })
	}
	stranger, err := net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)}, net.UDPAddrFromAddrPort(addrOf(c.RemoteAddr())))
	if err == nil { // on Linux
		t.Cleanup(func() { stranger.Close() })
		_, _ = stranger.Write(datagramTo)
		dropped("not from the address of its client")
	}
	_, _ = c.Write([]byte("\x00\x01\x99\x99"))
	dropped("no valid SOCKS5 header")
	c.send(addr, "hello")
	c.expect(addr, "hello")
	neighbor := dialUDP(t, c.RemoteAddr().String())
	_, _ = neighbor.Write(datagramTo)
	dropped("not from the port of its client")
	_, _ = c.Write(append([]byte{0, 0, 1}, datagramTo[3:]...))
	dropped("fragments are not supported")
	c.send(addr, "again")
	c.expect(addr, "again")

	// The request may fix the port before.
	first := dialUDP(t, "127.0.0.1:9")
	control := dial(t, s)
	code, bound := socksCall(t, control, "", socksAssociate, first.LocalAddr().String())
	if code != 0 {
		t.Fatal(code)
	}
	neighbor = dialUDP(t, bound.String())
	_, _ = neighbor.Write(datagramTo)
	dropped("not from the port of its client")
	local := first.LocalAddr().(*net.UDPAddr)
	first.Close()
	again, err := net.DialUDP("udp", local, net.UDPAddrFromAddrPort(bound))
	if err != nil {
		t.Fatal(err)
	}
	d := &socksClient{again, t, control}
	t.Cleanup(func() { d.Close() })
	_ = d.SetDeadline(time.Now().Add(time.Minute))
	d.send(addr, "fixed")
	d.expect(addr, "fixed")

	// The port of another address is not the client's.
	e := associate(t, s, "", "10.9.9.9:5000")
	e.send(addr, "translated")
	e.expect(addr, "translated")
}

// Datagrams reach the client only from addresses that it has sent to.
func TestAssociateDropsUnaskedDatagrams(t *testing.T) {
	leaks(t)
	server, other := listenUDP(t), listenUDP(t)
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}})
	c := associate(t, s, "", "0.0.0.0:0")
	c.send(server.LocalAddr().String(), "hello")
	_, from, err := server.ReadFromUDPAddrPort(make([]byte, 10))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = other.WriteToUDPAddrPort([]byte("unasked"), from)
	_, _ = other.WriteToUDPAddrPort([]byte("unasked"), addrOf(c.RemoteAddr()))
	eventually(t, "the second is a stray", func() bool { return s.State().Strays == 1 })
	_, _ = server.WriteToUDPAddrPort([]byte("answer"), from)
	c.expect(server.LocalAddr().String(), "answer")
	c.silent()
}

// An association ends with its control connection, its session, and when it has long been unused.
func TestAssociateEnds(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, echo)
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}, Limits: Limits{Idle: 100 * time.Millisecond, Associated: 300 * time.Millisecond}})
	c := associate(t, s, "", "0.0.0.0:0")
	c.send(addr, "hello")
	c.expect(addr, "hello")
	relay := addrOf(c.RemoteAddr())
	_ = c.control.Close()
	eventually(t, "the end of the connection", func() bool { return s.State().Associations == 0 })
	if open, ended := s.Conns(); len(open) != 0 || ended[0].Why != "the client ended its association" {
		t.Errorf("%+v %+v", open, ended)
	}
	again, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(relay))
	if err != nil {
		t.Errorf("its port is not free: %v", err)
	} else {
		again.Close()
	}

	// A destination is idle before its association is; then it is a new connection of the association.
	d := associate(t, s, "", "0.0.0.0:0")
	for session := range 2 {
		d.send(addr, "hello")
		d.expect(addr, "hello")
		if open, _ := s.Conns(); len(open) != 1 || open[0].Session != session {
			t.Errorf("%+v", open)
		}
		eventually(t, "idle", func() bool { return s.State().Open == 0 })
	}
	if n := s.State().Associations; n != 1 {
		t.Errorf("%d associations", n)
	}
	eventually(t, "the end of the association", func() bool { return s.State().Associations == 0 })
	_ = d.control.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := d.control.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the control connection is open: %v", err)
	}
	if !hasEvent(s, "association was idle for 300ms") {
		t.Errorf("%+v", s.Events(0))
	}

	e := associate(t, s, "", "0.0.0.0:0")
	e.send(addr, "hello")
	e.expect(addr, "hello")
	greeting := dial(t, s) // a client that has not said anything yet
	_, _ = greeting.Write([]byte{5})
	from := time.Now()
	stop(t, s)
	if took := time.Since(from); took > 5*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if _, ended := s.Conns(); ended[len(ended)-1].Why != "the session ended" {
		t.Errorf("%+v", ended[len(ended)-1])
	}
}

// Associations and their destinations are bounded, and clients of a protocol over UDP cannot connect by TCP.
func TestAssociateLimits(t *testing.T) {
	leaks(t)
	s := start(t, newProxy(t), Config{
		Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}, Password: "s3cret", Limits: Limits{Associations: 2, Destinations: 3},
	})
	for _, password := range []string{"", "wrong"} {
		if code, _ := socksCall(t, dial(t, s), password, socksAssociate, "0.0.0.0:0"); code != 255 {
			t.Errorf("%q: %d", password, code)
		}
	}
	if code, _ := socksCall(t, dial(t, s), "s3cret", socksConnect, "127.0.0.1:80"); code != socksCommand || !saysEvent(s, "asks for CONNECT; this listener supports UDP ASSOCIATE alone") {
		t.Errorf("CONNECT: %d %+v", code, s.Events(0))
	}
	c := associate(t, s, "s3cret", "0.0.0.0:0")
	associate(t, s, "s3cret", "0.0.0.0:0")
	if code, _ := socksCall(t, dial(t, s), "s3cret", socksAssociate, "0.0.0.0:0"); code != socksFailed || !saysEvent(s, "limit of 2 SOCKS5 associations") {
		t.Errorf("a third association: %d", code)
	}
	for range 3 {
		addr := serveUDP(t, echo)
		c.send(addr, "hello")
		c.expect(addr, "hello")
	}
	c.send(serveUDP(t, echo), "hello")
	eventually(t, "a fourth destination is refused", func() bool { return hasEvent(s, "limit of 3 destinations") && s.State().Strays == 1 })
	c.silent()
}

// A slow name does not delay other destinations, is resolved once, and its datagrams keep their order.
func TestAssociateNames(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, echo)
	_, port, _ := splitPort(addr)
	var asked atomic.Int32
	release := make(chan struct{})
	up, err := NewUpstreams([]string{"127.0.0.1:*"}, func(ctx context.Context, host string) ([]netip.Addr, error) {
		asked.Add(1)
		wait := release
		if host != "slow.example" {
			wait = nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, New(Options{Upstreams: up}), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}, Limits: Limits{Idle: 100 * time.Millisecond}})
	c := associate(t, s, "", "0.0.0.0:0")
	slow := fmt.Sprintf("slow.example:%d", port)
	for i := range maxUnsent + 5 {
		c.send(slow, fmt.Sprint(i))
	}
	c.send(addr, "fast")
	c.expect(addr, "fast")
	if x := s.State(); x.Strays != 5 || !saysEvent(s, "wait for a name to be resolved") {
		t.Errorf("%+v", x)
	}
	close(release)
	for i := range maxUnsent {
		c.expect(addr, fmt.Sprint(i))
	}
	eventually(t, "the destination is idle", func() bool { return s.State().Open == 0 })
	c.send(slow, "again")
	c.expect(addr, "again")
	if n := asked.Load(); n != 1 {
		t.Errorf("the name was resolved %d times", n)
	}

	// An association ends while names are being resolved.
	d := associate(t, s, "", "0.0.0.0:0")
	for i := range maxFinding + 3 {
		d.send(fmt.Sprintf("n%d.example:%d", i, port), "x")
	}
	eventually(t, "too many names", func() bool { return s.State().Strays == 5+3 && hasEvent(s, "too many names") })
	_ = d.control.Close()
	eventually(t, "the end", func() bool { return s.State().Associations == 1 })
	if s.State().Failed != 0 {
		t.Errorf("%+v", s.Events(0))
	}
	stop(t, s)
}

// Many refused destinations need no memory, and the one in use is remembered.
func TestAssociateForgets(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, echo)
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}})
	c := associate(t, s, "", "0.0.0.0:0")
	for i := range 3 * maxPlaces {
		c.send(fmt.Sprintf("10.0.%d.%d:80", i/256, i%256), "x")
		if i%100 == 0 {
			c.send(addr, "hello")
			c.expect(addr, "hello")
		}
	}
	eventually(t, "all are refused", func() bool { return s.State().Strays == 3*maxPlaces })
	_ = c.control.Close()
	stop(t, s)
	if x := s.State(); x.Total != 1 || x.Failed != 3*maxPlaces {
		t.Errorf("%+v", x)
	}
}

// Datagrams go to a port of the range, if there is one.
func TestAssociatePorts(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, echo)
	free := listenUDP(t)
	port := addrOf(free.LocalAddr()).Port()
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", Socks5}}, RelayPorts: [2]uint16{port, port}})
	if code, _ := socksCall(t, dial(t, s), "", socksAssociate, "0.0.0.0:0"); code != socksFailed || !saysEvent(s, "no socket for a SOCKS5 association") {
		t.Errorf("%d %+v", code, s.Events(0))
	}
	free.Close()
	c := associate(t, s, "", "0.0.0.0:0")
	if got := addrOf(c.RemoteAddr()).Port(); got != port {
		t.Errorf("port %d, not %d", got, port)
	}
	c.send(addr, "hello")
	c.expect(addr, "hello")
}
