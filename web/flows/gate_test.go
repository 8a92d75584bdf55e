package flows

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// gate serves one handler at two addresses. Connections of the first one can be cut, and are refused while it is shut.
type gate struct {
	URL, other string
	isShut     bool
	mu         sync.Mutex
	conns      map[net.Conn]struct{}
	handler    http.Handler
}

// ServeHTTP serves a request with the present handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	h := g.handler
	g.mu.Unlock()
	h.ServeHTTP(w, r)
}

// serve makes another handler the present one.
func (g *gate) serve(h http.Handler) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.handler = h
}

type gateListener struct {
	net.Listener
	g *gate
}

func (l gateListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.g.mu.Lock()
		shut := l.g.isShut
		if !shut {
			l.g.conns[c] = struct{}{}
		}
		l.g.mu.Unlock()
		if !shut {
			return c, nil
		}
		_ = c.Close()
	}
}

func newGate(t *testing.T, h http.Handler) *gate {
	t.Helper()
	g := &gate{conns: map[net.Conn]struct{}{}, handler: h}
	first := httptest.NewUnstartedServer(g)
	first.Listener = gateListener{first.Listener, g}
	first.Start()
	second := httptest.NewServer(g)
	t.Cleanup(func() {
		first.Close()
		second.Close()
	})
	g.URL, g.other = first.URL, second.URL
	return g
}

// shut cuts the connections, and refuses others.
func (g *gate) shut() {
	g.mu.Lock()
	g.isShut = true
	g.mu.Unlock()
	g.cut()
}

// cut cuts the connections.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		_ = c.Close()
	}
	clear(g.conns)
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isShut = false
}
