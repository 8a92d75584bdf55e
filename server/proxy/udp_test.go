package proxy

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"wirebench/defs/schema"
)

// serveUDP replies to datagrams until the end of the test, each with the result of answer, and returns its address.
func serveUDP(t *testing.T, answer func(data []byte) [][]byte) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, c, answer)
}

func serveOn(t *testing.T, c net.PacketConn, answer func(data []byte) [][]byte) string {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<16)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			for _, b := range answer(bytes.Clone(buf[:n])) {
				_, _ = c.WriteTo(b, from)
			}
		}
	}()
	t.Cleanup(func() { c.Close(); <-done })
	return c.LocalAddr().String()
}

func dialUDP(t *testing.T, to string) *net.UDPConn {
	t.Helper()
	c, err := net.Dial("udp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.UDPConn)
}

func exchange(c *net.UDPConn, data []byte) ([]byte, error) {
	if _, err := c.Write(data); err != nil {
		return nil, err
	}
	buf := make([]byte, 1<<16)
	n, err := c.Read(buf)
	return buf[:n], err
}

// Datagrams of all sizes arrive unchanged, each client has its own way back, and the log has all of them, also those without bytes.
func TestDatagrams(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, func(b []byte) [][]byte { return [][]byte{b} })
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
	sizes := []int{0, 1, 8, 512, 1472, 9000, 65507}
	var clients []*net.UDPConn
	for range 5 {
		clients = append(clients, dialUDP(t, s.State().Pairs[0].Listen))
	}
	total := 0
	for _, n := range sizes {
		for i, c := range clients {
			data := bytes.Repeat([]byte{byte(i + 1)}, n)
			got, err := exchange(c, data)
			if err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%d bytes of client %d: %d came back, %v", n, i, len(got), err)
			}
			total += n
		}
	}
	open, _ := s.Conns()
	if len(open) != 5 || open[4].Name != clients[4].LocalAddr().String()+"-"+addr {
		t.Errorf("%+v", open)
	}
	stop(t, s)
	var want int
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
		n := 0
		s.Log().Each(0, s.Log().Len(), func(_ int, e entryOf, data []byte) bool {
			if e.Dir == dir {
				n += len(data)
			}
			return true
		})
		want += n
	}
	if want != 2*total || s.Log().Len() != 2*5*len(sizes) {
		t.Errorf("%d frames of %d bytes in the log, want %d", s.Log().Len(), want, 2*total)
	}
}

// faulty drops, duplicates and delays the datagrams written to it.
type faulty struct {
	net.Conn
	mu   sync.Mutex
	rng  *rand.Rand
	held [][]byte
	sent map[uint32]int // number of transmissions by datagram
}

func (f *faulty) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	send := func(b []byte) {
		f.sent[binary.LittleEndian.Uint32(b)]++
		_, _ = f.Conn.Write(b)
	}
	switch f.rng.IntN(6) {
	case 0: // lost
	case 1:
		f.held = append(f.held, bytes.Clone(b))
	case 2:
		send(b)
		send(b)
	default:
		send(b)
		for _, h := range f.held {
			send(h)
		}
		f.held = nil
	}
	return len(b), nil
}

// With loss, duplication and reordering behind the proxy, the datagrams that pass the network arrive, and the log has those that the proxy
// saw, each once.
func TestLossAndReorder(t *testing.T) {
	leaks(t)
	var mu sync.Mutex
	got := map[uint32]int{}
	addr := serveUDP(t, func(b []byte) [][]byte {
		mu.Lock()
		defer mu.Unlock()
		got[binary.LittleEndian.Uint32(b)]++
		if want := bytes.Repeat(b[:4], 25); !bytes.Equal(b, want) {
			t.Errorf("% x", b)
		}
		return nil
	})
	p := newProxy(t)
	var net1 *faulty
	inner := p.opts.Dial
	p.opts.Dial = func(ctx context.Context, network string, a netip.AddrPort) (net.Conn, error) {
		c, err := inner(ctx, network, a)
		net1 = &faulty{Conn: c, rng: rand.New(rand.NewPCG(1, 2)), sent: map[uint32]int{}}
		return net1, err
	}
	s := start(t, p, Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
	c := dialUDP(t, s.State().Pairs[0].Listen)
	const n = 2000
	for i := range uint32(n) {
		b := bytes.Repeat(binary.LittleEndian.AppendUint32(nil, i), 25)
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 { // the system drops datagrams when its buffer is full
			eventually(t, "relayed", func() bool { return s.State().ToServer >= int64(i)*100 })
		}
	}
	eventually(t, "all arrived", func() bool {
		mu.Lock()
		defer mu.Unlock()
		net1.mu.Lock()
		defer net1.mu.Unlock()
		return s.State().ToServer == n*100 && fmt.Sprint(got) == fmt.Sprint(net1.sent)
	})
	stop(t, s)
	if s.Log().Len() != n {
		t.Errorf("%d frames", s.Log().Len())
	}
	s.Log().Each(0, n, func(i int, e entryOf, data []byte) bool {
		if binary.LittleEndian.Uint32(data) != uint32(i) {
			t.Errorf("frame %d is % x", i, data)
		}
		return true
	})
}

// An address that has not proved that it receives gets at most three times the bytes it sent.
func TestAmplification(t *testing.T) {
	leaks(t)
	for _, test := range []struct {
		name      string
		ask       []int // sizes of requests; the first byte is the size of the answer, in units of 8
		answers   []int // 0: withheld
		withheld  int
		lastLarge bool
	}{
		{name: "a pong is twice a ping", ask: []int{4}, answers: []int{8}},
		{name: "a handshake is shorter than its question", ask: []int{8}, answers: []int{8}},
		{name: "a list needs an answer before", ask: []int{8}, answers: []int{512}, withheld: 1},
		{name: "asked again without an answer", ask: []int{8, 8}, answers: []int{512, 512}, withheld: 2},
		{name: "a ping before", ask: []int{4, 8}, answers: []int{8, 512}, lastLarge: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			addr := serveUDP(t, func(b []byte) [][]byte { return [][]byte{make([]byte, int(b[0])*8)} })
			s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{ProveLoopback: true}})
			c := dialUDP(t, s.State().Pairs[0].Listen)
			for i, size := range test.ask {
				b := make([]byte, size)
				b[0] = byte(test.answers[i] / 8)
				if test.withheld > 0 {
					_, _ = c.Write(b)
					continue
				}
				if got, err := exchange(c, b); err != nil || len(got) != test.answers[i] {
					t.Errorf("answer %d has %d bytes, %v", i, len(got), err)
				}
			}
			eventually(t, "withheld", func() bool { return s.State().Withheld == test.withheld })
			if test.withheld > 0 && (s.State().ToClient != 0 || !saysEvent(s, "withheld")) {
				t.Errorf("%+v", s.State())
			}
		})
	}
}

// The data sent to an address that never answers is bounded, however little it sends.
func TestAmplificationBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		p := &peer{conn: &conn{}}
		in, out := 0, 0
		for range 20 {
			if out > 0 {
				break
			}
			n := rng.IntN(600)
			p.asked(n)
			in += n
			for range rng.IntN(5) {
				if n := rng.IntN(1500); p.may(n) {
					out += n
				}
			}
			if out > amplification*in {
				t.Fatalf("%d bytes for %d", out, in)
			}
		}
	}
}

func TestSessionsOfUDP(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, func(b []byte) [][]byte { return [][]byte{b} })
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{Conns: 2, Idle: 200 * time.Millisecond}})
	a, b, c := dialUDP(t, s.State().Pairs[0].Listen), dialUDP(t, s.State().Pairs[0].Listen), dialUDP(t, s.State().Pairs[0].Listen)
	for _, x := range []*net.UDPConn{a, b} {
		if _, err := exchange(x, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = c.Write([]byte("x"))
	eventually(t, "the third one is refused", func() bool { return hasEvent(s, "limit of 2 connections") })
	eventually(t, "they expire", func() bool { open, ended := s.Conns(); return len(open) == 0 && len(ended) == 2 })
	if _, err := exchange(a, []byte("y")); err != nil {
		t.Error(err)
	}
	if open, _ := s.Conns(); len(open) != 1 || open[0].Session != 1 {
		t.Errorf("%+v", open)
	}
}

// Clients continue just as their sessions expire: each datagram belongs to a known session, which survives.
func TestDatagramsAtTheEndOfASession(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, func([]byte) [][]byte { return nil })
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{Idle: 10 * time.Millisecond}})
	var clients sync.WaitGroup
	for k := range 16 {
		c, rng := dialUDP(t, s.State().Pairs[0].Listen), rand.New(rand.NewPCG(uint64(k), 7))
		clients.Go(func() {
			for range 100 {
				for range rng.IntN(200) {
					_, _ = c.Write([]byte("x"))
				}
				time.Sleep(time.Duration(rng.IntN(25)) * time.Millisecond)
			}
		})
	}
	clients.Wait()
	eventually(t, "all expire", func() bool { open, _ := s.Conns(); return len(open) == 0 })
	next := dialUDP(t, s.State().Pairs[0].Listen)
	eventually(t, "a next one", func() bool {
		_, _ = next.Write([]byte("x")) // each time: a session that is not seen within its 10 ms is gone
		open, _ := s.Conns()
		return len(open) == 1
	})
}

// A closed port of the upstream is reported, and the neighboring pair of ports works.
func TestPortPair(t *testing.T) {
	leaks(t)
	game := serveUDP(t, func(b []byte) [][]byte { return [][]byte{b} })
	gone, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", game}, {"127.0.0.1:0", gone.LocalAddr().String()}}})
	pairs := s.State().Pairs
	c := dialUDP(t, pairs[1].Listen)
	eventually(t, "an event", func() bool {
		_, _ = c.Write([]byte("ping"))
		return hasEvent(s, "refused")
	})
	if got, err := exchange(dialUDP(t, pairs[0].Listen), []byte("hello")); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

// A listener for all addresses serves clients of both families, and its upstream may be of either.
func TestDatagramsOfBothFamilies(t *testing.T) {
	leaks(t)
	six, err := net.ListenPacket("udp", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	defer six.Close()
	go func() {
		buf := make([]byte, 100)
		for {
			n, from, err := six.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = six.WriteTo(buf[:n], from)
		}
	}()
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{":0", six.LocalAddr().String()}}, Record: &Record{Create: folder(t.TempDir())}})
	_, port, _ := net.SplitHostPort(s.State().Pairs[0].Listen)
	for _, host := range []string{"127.0.0.1", "::1"} {
		c := dialUDP(t, net.JoinHostPort(host, port))
		if got, err := exchange(c, []byte("hello")); err != nil || string(got) != "hello" {
			t.Errorf("%s: %q, %v", host, got, err)
		}
		open, _ := s.Conns()
		if want := c.LocalAddr().String() + "-" + six.LocalAddr().String(); open[len(open)-1].Name != want {
			t.Errorf("%q, want %q", open[len(open)-1].Name, want)
		}
	}
	stop(t, s)
	if got := read(t, files(t, s)[0]); len(got.streams) != 4 {
		t.Errorf("%q", got.streams)
	}
}

// A UDP session ends immediately, with all observed datagrams in its log.
func TestStopUDP(t *testing.T) {
	leaks(t)
	addr := serveUDP(t, func(b []byte) [][]byte { return [][]byte{b} })
	p := newProxy(t)
	for range 3 {
		s := start(t, p, Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
		if _, err := exchange(dialUDP(t, s.State().Pairs[0].Listen), []byte("x")); err != nil {
			t.Fatal(err)
		}
		stop(t, s) // there is nothing to wait for
		if _, ended := s.Conns(); len(ended) != 1 || ended[0].Why != "the session ended" || len(p.Sessions()) != 0 || s.Log().Len() != 2 {
			t.Errorf("%+v", ended)
		}
	}
}

// Single datagrams, whose addresses may be made up, give up their places soon; a client that answers the server keeps its place.
func TestUnprovedClients(t *testing.T) {
	leaks(t)
	upstream := serveUDP(t, func(b []byte) [][]byte { return [][]byte{b} })
	s := start(t, newProxy(t), Config{Network: "udp", Pairs: []Pair{{"127.0.0.1:0", upstream}}, Limits: Limits{Idle: time.Minute, Unproved: 200 * time.Millisecond, Conns: 40, PerSource: 40}})
	at := s.State().Pairs[0].Listen
	talk := func(c net.Conn) {
		t.Helper()
		buf := make([]byte, 16)
		if _, err := c.Write([]byte("hi")); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := c.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	c, err := net.Dial("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	talk(c)
	talk(c) // it has received the first answer
	for range 39 {
		x, err := net.Dial("udp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if _, err := x.Write([]byte("?")); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all have come", func() bool { return s.State().Total == 40 })
	eventually(t, "the others are forgotten", func() bool { open, _ := s.Conns(); return len(open) == 1 })
	talk(c)
	if open, ended := s.Conns(); len(open) != 1 || len(ended) < 30 {
		t.Errorf("%d open, %d ended", len(open), len(ended))
	}
}
