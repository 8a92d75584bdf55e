package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/relay"
	"wirebench/server/wsconn"
)

// told waits until a page is told of a topic.
func told(ctx context.Context, c *wsconn.Conn, topic string) error {
	for {
		text, err := c.Read(ctx)
		if err != nil {
			return err
		}
		var m pushed
		if err := json.Unmarshal(text, &m); err == nil && slices.Contains(m.Changed, topic) {
			return nil
		}
	}
}

// Pages that are open and idle ask for nothing and are sent nothing, they cost little, and all are told at once when something changes: by this
// server or by another program.
func TestIdlePages(t *testing.T) {
	const pages = 200
	s := captureServer(t, "muta", map[string]string{"game.def": pingFiles})
	var requests atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := memory()
	var all []*wsconn.Conn
	for range pages {
		c, err := wsconn.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws/one/page", nil, 8<<20)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Drop)
		all = append(all, c)
		if err := c.Write(ctx, []byte(`{"n":1,"set":{"message":"say"}}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(ctx); err != nil {
			t.Fatal(err)
		}
	}
	each := func(do func(c *wsconn.Conn) error) {
		t.Helper()
		var wg sync.WaitGroup
		for _, c := range all {
			wg.Go(func() {
				if err := do(c); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if cost := memory() - min(before, memory()); cost > 200<<20 { // both ends of each connection
		t.Errorf("%d pages cost %d MB", pages, cost>>20)
	} else {
		t.Logf("%d pages cost %d kB each", pages, cost>>10/pages)
	}
	sent := make(chan string, pages)
	reading, stop := context.WithCancel(ctx)
	var quiet sync.WaitGroup
	for _, c := range all[:1] { // a read that is given up ends its connection
		quiet.Go(func() {
			if text, err := c.Read(reading); err == nil {
				sent <- string(text)
			}
		})
	}
	time.Sleep(1500 * time.Millisecond) // longer than any period at which something could be asked for
	stop()
	quiet.Wait()
	all = all[1:]
	if n := requests.Load(); n != pages || len(sent) > 0 {
		t.Errorf("%d requests of %d idle pages, %d of them were sent something", n-pages, pages, len(sent))
	}

	if code := call(t, ctx, srv.URL, "POST", "/api/one/captures?name=a.txt", "00000000  01 02 00 68 69  ...hi\n", nil); code != 201 {
		t.Fatal(code)
	}
	each(func(c *wsconn.Conn) error { return told(ctx, c, topicCaptures) })
}

// What a listener does, from its start to its end, is told to the pages of its workspace, and what it holds.
func TestPushes(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": pingFiles})
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	page, err := wsconn.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws/one/page", nil, 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(page.Drop)
	time.Sleep(10 * time.Millisecond)
	wait := func(topic string) {
		t.Helper()
		if err := told(ctx, page, topic); err != nil {
			t.Fatalf("%s: %v", topic, err)
		}
	}
	var p relay.Info
	if code := call(t, ctx, srv.URL, "POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"operate":true}`, echoGame(t)), &p); code != 201 {
		t.Fatal(code)
	}
	wait(topicListeners)
	if code := call(t, ctx, srv.URL, "POST", "/api/one/proxies/"+p.ID+"/operate", `{"on":true,"intercept":"say"}`, nil); code != 200 {
		t.Fatal(code)
	}
	c, err := net.Dial("tcp", p.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte{1, 4, 0, 't', 'e', 'x', 't'}); err != nil {
		t.Fatal(err)
	}
	wait(topicHeld + p.ID)
	var held struct{ Total int }
	for held.Total == 0 && ctx.Err() == nil {
		call(t, ctx, srv.URL, "GET", "/api/one/proxies/"+p.ID+"/held", "", &held)
	}
	if code := call(t, ctx, srv.URL, "POST", "/api/one/proxies/"+p.ID+"/held", `{"action":"forward","all":true}`, nil); code != 204 {
		t.Fatal(code)
	}
	wait(topicHeld + p.ID)
	if code := call(t, ctx, srv.URL, "DELETE", "/api/one/proxies/"+p.ID, "", nil); code != 204 {
		t.Fatal(code)
	}
	wait(topicListeners)
}
