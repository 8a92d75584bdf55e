package proxy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// raw is a transport that emits every segment as a message, and losses as problems.
type raw struct{}

func (r *raw) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	f := &transport.Frame{Kind: transport.Message, Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes, From: []transport.Source{{Packet: seg.Packet, Len: uint32(len(seg.Bytes))}}}
	switch {
	case seg.Lost != 0:
		f.Kind, f.Length = transport.Problem, seg.Lost
	case len(seg.Bytes) == 0:
		return
	}
	emit(f)
}

func (r *raw) Flush(time.Time, func(*transport.Frame)) {}

func newRaw(transport.Conn) transport.Transport { return &raw{} }

func newProxy(t *testing.T, entries ...string) *Proxy {
	t.Helper()
	if entries == nil {
		entries = DefaultUpstreams
	}
	u, err := NewUpstreams(entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Upstreams: u})
	t.Cleanup(func() {
		ctx, stop := context.WithCancel(context.Background())
		stop()
		_ = p.Close(ctx)
	})
	return p
}

func start(t *testing.T, p *Proxy, cfg Config) *Session {
	t.Helper()
	if cfg.Transport == nil {
		cfg.Transport = newRaw
	}
	if cfg.Rewriter != nil {
		withFrames(t, &cfg)
	}
	s, err := p.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Rewriter != nil {
		sameAgain(t, s)
	}
	return s
}

// stop ends a session, with time for open connections.
func stop(t *testing.T, s *Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

// leaks fails the test if it leaves goroutines behind.
func leaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 1000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
	})
}

// serve runs a server until the end of the test, and returns its address.
func serve(t *testing.T, handle func(c *net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c.(*net.TCPConn))
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// dial connects to the first pair of a listener. A listener that refuses the connection may reset it before net.Dial
// returns; the test gets a connection that was reset, as it would have a moment later.
func dial(t *testing.T, s *Session) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.State().Pairs[0].Listen)
	if errors.Is(err, syscall.ECONNRESET) {
		c, err = resetConn()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.TCPConn)
}

func resetConn() (net.Conn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return nil, err
	}
	other, err := l.Accept()
	if err != nil {
		return nil, err
	}
	_ = other.(*net.TCPConn).SetLinger(0)
	return c, other.Close()
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// saysEvent waits until an event has a text: a client may be answered before.
func saysEvent(s *Session, text string) bool {
	for range 500 {
		if hasEvent(s, text) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func hasEvent(s *Session, text string) bool {
	for _, e := range s.Events(0) {
		if strings.Contains(e.Text, text) {
			return true
		}
	}
	return false
}

// pattern is a stream of bytes that depends on a seed.
type pattern struct {
	state uint64
	left  int
}

func (p *pattern) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), p.left)
	for i := range b[:n] {
		p.state = p.state*6364136223846793005 + 1442695040888963407
		b[i] = byte(p.state >> 56)
	}
	p.left -= n
	return n, nil
}

func sum(r io.Reader) string {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return fmt.Sprintf("%d %v %x", n, err, h.Sum(nil))
}

// logged returns the bytes of a direction in the log.
func logged(s *Session, dir schema.Dir) io.Reader {
	var all [][]byte
	s.Log().Each(0, s.Log().Len(), func(_ int, e entryOf, data []byte) bool {
		if e.Dir == dir {
			all = append(all, data)
		}
		return true
	})
	readers := make([]io.Reader, len(all))
	for i := range all {
		readers[i] = strings.NewReader(string(all[i]))
	}
	return io.MultiReader(readers...)
}

func mustRefuse(t *testing.T, err error, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v instead of %v", err, want)
	}
}

func addrPorts(texts ...string) func() []netip.AddrPort {
	return func() []netip.AddrPort {
		var all []netip.AddrPort
		for _, x := range texts {
			all = append(all, netip.MustParseAddrPort(x))
		}
		return all
	}
}
