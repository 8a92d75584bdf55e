package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

type entryOf = live.Entry

// Both sides, and the log, have the same bytes, in any number and with many connections; after one direction has ended the other one
// continues.
func TestStreamsArriveUnchanged(t *testing.T) {
	leaks(t)
	sums := make(chan string, 100)
	const answer = 300_000
	addr := serve(t, func(c *net.TCPConn) {
		sums <- sum(c) // until the client's end; then answer
		_, _ = io.Copy(c, &pattern{state: 7, left: answer})
	})
	for _, size := range []int{0, 1, 100, smallBuffer - 1, smallBuffer, smallBuffer + 1, handOver, largeBuffer, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
			c := dial(t, s)
			if _, err := io.Copy(c, &pattern{state: uint64(size), left: size}); err != nil {
				t.Fatal(err)
			}
			if err := c.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			want, back := sum(&pattern{state: uint64(size), left: size}), sum(&pattern{state: 7, left: answer})
			if got := <-sums; got != want {
				t.Errorf("server got %s, want %s", got, want)
			}
			if got := sum(c); got != back {
				t.Errorf("client got %s, want %s", got, back)
			}
			stop(t, s)
			if got := sum(logged(s, schema.ToServer)); got != want {
				t.Errorf("log: %s, want %s", got, want)
			}
			if got := sum(logged(s, schema.ToClient)); got != back {
				t.Errorf("log: %s, want %s", got, back)
			}
			if x := s.State(); x.Running || x.ToServer != int64(size) || x.ToClient != answer || x.Total != 1 || x.Open != 0 || x.Lost != 0 {
				t.Errorf("%+v", x)
			}
		})
	}
	t.Run("50 connections", func(t *testing.T) {
		s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
		const size = 200_000
		var all sync.WaitGroup
		for i := range 50 {
			c := dial(t, s)
			all.Go(func() {
				_, _ = io.Copy(c, &pattern{state: uint64(i), left: size})
				_ = c.CloseWrite()
				if got, want := sum(c), sum(&pattern{state: 7, left: answer}); got != want {
					t.Errorf("client got %s, want %s", got, want)
				}
			})
		}
		want := map[string]int{}
		for i := range 50 {
			want[sum(&pattern{state: uint64(i), left: size})]++
		}
		for range 50 {
			got := <-sums
			if want[got]--; want[got] < 0 {
				t.Errorf("server got %s", got)
			}
		}
		all.Wait()
		stop(t, s)
		if x := s.State(); x.Total != 50 || x.ToServer+x.ToClient != 50*(size+answer) {
			t.Errorf("%+v", x)
		}
		if n := len(s.Log().Conns()); n != 50 {
			t.Errorf("%d connections in the log", n)
		}
	})
}

// A slow reader slows the sender, and memory stays bounded; all data arrives.
func TestSlowReader(t *testing.T) {
	leaks(t)
	const size = 8 << 20
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, &pattern{state: 1, left: size}) })
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
	c := dial(t, s)
	if got, want := sum(&lazy{c}), sum(&pattern{state: 1, left: size}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// lazy reads little at a time, with pauses.
type lazy struct{ io.Reader }

func (l *lazy) Read(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return l.Reader.Read(b[:min(len(b), 16<<10)])
}

// A reset is relayed as a reset, in both directions.
func TestResets(t *testing.T) {
	leaks(t)
	errs := make(chan error, 1)
	addr := serve(t, func(c *net.TCPConn) {
		var b [1]byte
		_, _ = io.ReadFull(c, b[:])
		if b[0] == 'r' {
			_ = c.SetLinger(0)
			return
		}
		_, _ = c.Write(b[:])
		_, err := c.Read(b[:])
		errs <- err
	})
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
	c := dial(t, s)
	_, _ = c.Write([]byte("r"))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client sees %v", err)
	}
	c = dial(t, s)
	_, _ = c.Write([]byte("x"))
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_ = c.SetLinger(0)
	c.Close()
	if err := <-errs; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server sees %v", err)
	}
	eventually(t, "both have ended", func() bool { _, ended := s.Conns(); return len(ended) == 2 })
	_, ended := s.Conns()
	for _, want := range []string{"the server has reset the connection", "the client has reset the connection"} {
		if ended[0].Why != want && ended[1].Why != want {
			t.Errorf("%+v: none %q", ended, want)
		}
	}
}

// stalled is a transport that blocks until it is released.
type stalled struct {
	raw
	free chan struct{}
}

func (x *stalled) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	<-x.free
	x.raw.Feed(seg, emit)
}

// A blocked observer does not delay traffic. Data that it missed is counted, and is a gap in its place.
func TestStalledObserver(t *testing.T) {
	leaks(t)
	const size = 8 << 20
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	free := make(chan struct{})
	s := start(t, newProxy(t), Config{
		Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{QueueBytes: 1 << 20},
		Transport: func(transport.Conn) transport.Transport { return &stalled{free: free} },
	})
	c := dial(t, s)
	go func() {
		_, _ = io.Copy(c, &pattern{state: 3, left: size})
		_ = c.CloseWrite()
	}()
	if got, want := sum(c), sum(&pattern{state: 3, left: size}); got != want { // to its end, while the observer is blocked
		t.Errorf("%s, want %s", got, want)
	}
	close(free)
	stop(t, s)
	var seen, lost int64
	s.Log().Each(0, s.Log().Len(), func(_ int, e entryOf, _ []byte) bool {
		if seen += int64(e.Len); e.Kind == transport.Problem {
			lost += s.Log().Extra(e).Length
		}
		return true
	})
	_, ended := s.Conns()
	if x := s.State(); seen+lost != 2*size || lost < size || x.Lost != lost || ended[0].Lost != lost || !saysEvent(s, "too slow") {
		t.Errorf("%d seen, %d lost of %d; %+v", seen, lost, 2*size, x)
	}
}

// A transport that fails loses the frames of its connection, and has no other effect.
func TestBrokenTransport(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	s := start(t, newProxy(t), Config{
		Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}},
		Transport: func(transport.Conn) transport.Transport { return (*stalled)(nil) },
	})
	c := dial(t, s)
	for range 3 {
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "an event", func() bool { return hasEvent(s, "is no longer decoded") })
}

func TestLimits(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	for _, test := range []struct {
		name   string
		limits Limits
		event  string
	}{
		{"in all", Limits{Conns: 2}, "the limit of 2 connections is reached"},
		{"for each source", Limits{PerSource: 2}, "the limit of 2 connections from 127.0.0.1 is reached"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: test.limits})
			echo := func(c *net.TCPConn) error {
				if _, err := c.Write([]byte("x")); err != nil {
					return err
				}
				_, err := io.ReadFull(c, make([]byte, 1))
				return err
			}
			a, b := dial(t, s), dial(t, s)
			if err := errors.Join(echo(a), echo(b)); err != nil {
				t.Fatal(err)
			}
			another := func() error { // the connection may be refused before it is established for the client
				c, err := net.Dial("tcp", s.State().Pairs[0].Listen)
				if err != nil {
					return err
				}
				defer c.Close()
				return echo(c.(*net.TCPConn))
			}
			for range 3 {
				if another() == nil {
					t.Error("a third one is served")
				}
			}
			if !hasEvent(s, test.event) || s.State().Refused != 3 || len(s.Events(0)) != 2 || s.Events(0)[1].Count != 3 {
				t.Errorf("%+v", s.Events(0))
			}
			a.Close()
			eventually(t, "there is room again", func() bool { return another() == nil })
		})
	}
}

func TestIdle(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{Idle: 50 * time.Millisecond}})
	if _, err := dial(t, s).Read(make([]byte, 1)); err == nil {
		t.Error("still open")
	}
	eventually(t, "it has ended", func() bool { _, ended := s.Conns(); return len(ended) == 1 && ended[0].Why == "idle" })
}

// When all places are in use, the connection that has been idle for longest makes room.
func TestIdleMakesRoom(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{Conns: 2, Spare: 100 * time.Millisecond}})
	idle := dial(t, s)
	if _, err := idle.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	busy := dial(t, s)
	eventually(t, "a third one is served", func() bool {
		if _, err := busy.Write([]byte("x")); err != nil {
			t.Fatalf("the busy one has ended: %v", err)
		}
		if _, err := io.ReadFull(busy, make([]byte, 1)); err != nil {
			t.Fatalf("the busy one has ended: %v", err)
		}
		c, err := net.Dial("tcp", s.State().Pairs[0].Listen)
		if err != nil {
			return false
		}
		defer c.Close()
		if _, err = c.Write([]byte("x")); err == nil {
			_, err = io.ReadFull(c, make([]byte, 1))
		}
		return err == nil
	})
	if !hasEvent(s, "and made room: all 2 places were in use") {
		t.Errorf("%+v", s.Events(0))
	}
}

func TestUpstreamDown(t *testing.T) {
	leaks(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", l.Addr().String()}}})
	c, err := net.Dial("tcp", s.State().Pairs[0].Listen)
	if err == nil {
		_, err = c.Read(make([]byte, 1))
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v", err)
	}
	eventually(t, "an event", func() bool { return hasEvent(s, "refused") && s.State().Failed == 1 })
}

// Stop waits for open connections, and resets them when its time is over.
func TestStop(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}})
	c := dial(t, s)
	_, _ = c.Write([]byte("a"))
	_, _ = io.ReadFull(c, make([]byte, 1))
	stopped := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { stopped <- s.Stop(ctx) }()
	eventually(t, "the listener is closed", func() bool {
		d, err := net.Dial("tcp", s.State().Pairs[0].Listen)
		if err == nil {
			d.Close()
		}
		return err != nil
	})
	for from := time.Now(); time.Since(from) < 2*stillTime; time.Sleep(stillTime / 50) {
		_, _ = c.Write([]byte("b"))
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatalf("cut off: %v", err)
		}
	}
	select {
	case err := <-stopped:
		t.Fatalf("did not wait: %v", err)
	default:
	}
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v", err)
	}
	if _, err := s.Log().Follow(0).Next(t.Context()); err != nil {
		t.Errorf("the log: %v", err)
	}
	if s.Stop(t.Context()) != nil {
		t.Error("a second time")
	}
}

// Stop does not wait for an idle connection.
func TestStopStill(t *testing.T) {
	leaks(t)
	for name, cfg := range map[string]Config{"observed": {}, "operable": {Rewriter: newMUTA}} {
		t.Run(name, func(t *testing.T) {
			cfg.Network, cfg.Pairs = "tcp", []Pair{{"127.0.0.1:0", serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })}}
			s := start(t, newProxy(t), cfg)
			c := dial(t, s)
			_, _ = c.Write([]byte("\x01\x00"))
			_, _ = io.ReadFull(c, make([]byte, 2))
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			from := time.Now()
			if err := s.Stop(ctx); err != nil || time.Since(from) > 20*time.Second {
				t.Errorf("after %s: %v", time.Since(from), err)
			}
		})
	}
}

// IPv6 clients reach IPv4 servers, and their connections have names.
func TestIPv6(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	s, err := newProxy(t).Start(t.Context(), Config{Network: "tcp", Pairs: []Pair{{"[::1]:0", addr}}, Transport: newRaw})
	if err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	c := dial(t, s)
	_, _ = c.Write([]byte("a"))
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	open, _ := s.Conns()
	if want := c.LocalAddr().String() + "-" + addr; len(open) != 1 || open[0].Name != want || !strings.HasPrefix(want, "[::1]:") {
		t.Errorf("%+v, want %s", open, want)
	}
}
