package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/bus"
	"wirebench/server/bus/bustest"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// served is a node with a front.
type served struct {
	*Node
	srv   *httptest.Server
	local atomic.Pointer[http.Handler]
	stop  context.CancelFunc
	group supervise.Group
}

func (s *served) end() {
	s.stop()
	s.group.Wait()
}

// serveNode starts a node that answers with what it is asked while it leads.
func serveNode(t *testing.T, server *bustest.Server) *served {
	t.Helper()
	out := &served{}
	claimed, err := store.Claim(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out.srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out.Handler(out.at, func(http.ResponseWriter, *http.Request) bool { return false }).ServeHTTP(w, r)
	}))
	node, err := Join(t.Context(), Options{Bus: bus.Options{URL: server.URL}, Data: claimed, URL: "http://" + out.srv.Listener.Addr().String(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	out.Node = node
	out.srv.Start()
	ctx, stop := context.WithCancel(context.Background())
	out.stop = stop
	out.group.Go("test", nil, func() {
		node.Run(ctx, func(ctx context.Context, _ store.Journal) error {
			out.local.Store(new(http.Handler(http.HandlerFunc(out.answer))))
			<-ctx.Done()
			out.local.Store(nil)
			return nil
		})
	})
	t.Cleanup(func() {
		out.end()
		out.srv.Close()
		node.Close()
		claimed.Close()
	})
	return out
}

func (s *served) at() http.Handler {
	if h := s.local.Load(); h != nil {
		return *h
	}
	return nil
}

// answer says what came.
func (s *served) answer(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := rw.ReadString('\n')
		fmt.Fprint(conn, "back: "+line)
		return
	}
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s host=%s from=%s tls=%v forwarded=%v proto=%q cookie=%q body=%s", s.URL, r.Method, r.URL, r.Host, r.RemoteAddr, r.TLS != nil,
		r.Header["X-Forwarded-For"], r.Header.Get("X-Forwarded-Proto"), r.Header.Get("Cookie"), body)
	for _, name := range []string{secretHeader, clientHeader, protoHeader} {
		if r.Header.Get(name) != "" {
			fmt.Fprintf(w, " LEAKED %s", name)
		}
	}
}

// ask sends a request from an address of its own, with headers in pairs.
func ask(t *testing.T, base, method, path, body string, headers ...string) (status int, from, text string) {
	t.Helper()
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			from = c.LocalAddr().String()
		}
		return c, err
	}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, from, string(out)
}

// TestForward: a node that follows passes on what comes, so that the one that leads sees what it would have seen itself: the address of the client, the
// host, what proxies say; and nothing that a client claims as if it were a node. When the one that leads ends, the other serves.
func TestForward(t *testing.T) {
	server := bustest.Start(t)
	nodes := []*served{serveNode(t, server), serveNode(t, server)}
	_, _, text := ask(t, nodes[0].URL, "GET", "/first", "")
	leads, follows := nodes[0], nodes[1]
	if strings.HasPrefix(text, follows.URL+" ") {
		leads, follows = follows, leads
	}
	for _, at := range []*served{leads, follows} {
		status, from, text := ask(t, at.URL, "POST", "/p/x%2Fy?q=1", "the body", "X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https", "Cookie", "a=b")
		want := fmt.Sprintf("%s POST /p/x%%2Fy?q=1 host=%s from=%s tls=false forwarded=[192.0.2.1] proto=\"https\" cookie=\"a=b\" body=the body", leads.URL, strings.TrimPrefix(at.URL, "http://"), from)
		if status != 200 || text != want {
			t.Errorf("%d %s\nwant %s", status, text, want)
		}
		for _, secret := range []string{"", "guessed"} {
			if _, from, text := ask(t, at.URL, "GET", "/", "", secretHeader, secret, clientHeader, "127.0.0.1:1", protoHeader, "https"); !strings.Contains(text, "from="+from+" tls=false") || strings.Contains(text, "LEAKED") {
				t.Errorf("a client was believed: %s", text)
			}
		}
		if _, _, text := ask(t, at.URL, "GET", "/", "", secretHeader, at.secret, clientHeader, "192.0.2.9:99", protoHeader, "https"); at == leads && !strings.Contains(text, "from=192.0.2.9:99 tls=true") || strings.Contains(text, "LEAKED") {
			t.Errorf("a node was not believed: %s", text)
		}
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(follows.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(res, err)
	}
	fmt.Fprint(conn, "hello\n")
	if line, _ := in.ReadString('\n'); line != "back: hello\n" {
		t.Errorf("through the other node: %q", line)
	}
	leads.end()
	if status, _, text := ask(t, follows.URL, "GET", "/", ""); status != 200 || !strings.HasPrefix(text, follows.URL+" ") {
		t.Errorf("after the end of the node that led: %d %s", status, text)
	}
	follows.end()
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	out := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/p/one", nil)
	r.Header.Set("Accept", "text/html,*/*")
	follows.srv.Config.Handler.ServeHTTP(out, r)
	if out.Code != http.StatusServiceUnavailable || out.Header().Get("Retry-After") == "" || !strings.Contains(out.Body.String(), `http-equiv="refresh"`) {
		t.Errorf("while nobody serves: %d %s", out.Code, out.Body)
	}
}
