package flows

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"wirebench/cmd/wirebench/demo/regatta"
)

// The game of the manual's page about a protocol of one's own, which has its definitions and its envelope.

// regattaServer is a server of the protocol.
type regattaServer struct {
	addr string

	mu    sync.Mutex
	heard []string
}

// newRegatta starts a server, until the test ends.
func newRegatta(t *testing.T) *regattaServer {
	t.Helper()
	h := &regattaServer{}
	g, err := regatta.Listen("127.0.0.1:0", func(text string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.heard = append(h.heard, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	h.addr = g.Addr
	return h
}

// hears waits until the server has heard a text last.
func (h *regattaServer) hears(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		h.mu.Lock()
		good, all := len(h.heard) > 0 && h.heard[len(h.heard)-1] == text, fmt.Sprintf("%q", h.heard)
		h.mu.Unlock()
		if good {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server heard %s, not %q", all, text)
		}
	}
}

// sailor is a client of the protocol.
type sailor struct {
	*regatta.Peer
	messages chan []byte // received, with their codes
}

// sail logs in at an address.
func sail(t *testing.T, addr string) *sailor {
	t.Helper()
	p, err := regatta.Dial(t.Context(), addr, "ann", [4]byte{0xde, 0xad, 0xbe, 0xef})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	s := &sailor{p, make(chan []byte, 100)}
	go func() {
		defer close(s.messages)
		for {
			code, body, err := s.Receive()
			if err != nil {
				return
			}
			s.messages <- append([]byte{code}, body...)
		}
	}()
	if m := s.next(t); m[0] != regatta.Welcome {
		t.Fatalf("not the welcome: %x", m)
	}
	if m := s.next(t); m[0] != regatta.Chart || !bytes.Contains(m, []byte("Lighthouse")) {
		t.Fatalf("not the chart: %x", m)
	}
	return s
}

// next returns the next message.
func (s *sailor) next(t *testing.T) []byte {
	t.Helper()
	select {
	case m, ok := <-s.messages:
		if ok {
			return m
		}
		t.Fatal("the connection has ended")
	case <-time.After(20 * time.Second):
		t.Fatal("no message for the client")
	}
	return nil
}

// say sends a text.
func (s *sailor) say(t *testing.T, text string) {
	t.Helper()
	if err := s.Send(regatta.Say, regatta.Text(text)); err != nil {
		t.Fatal(err)
	}
}

// gets waits for a text that the server has heard.
func (s *sailor) gets(t *testing.T, text string) {
	t.Helper()
	m := s.next(t)
	if want := slices.Concat([]byte{regatta.Heard, 0, 0, 0, 7}, regatta.Text(text)); !bytes.Equal(m, want) {
		t.Fatalf("the client got %x, not %x", m, want)
	}
}
