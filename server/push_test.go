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

	"wirebench/defs/benchtest"
	"wirebench/server/api"
	"wirebench/server/page"
	"wirebench/server/relay"
	"wirebench/server/servertest"
)

// told waits until a page is notified of a topic.
func told(ctx context.Context, c *channelConn, topic string) (m page.Pushed, err error) {
	for {
		text, err := c.Read(ctx)
		if err != nil {
			return m, err
		}
		m = page.Pushed{}
		if err := json.Unmarshal(text, &m); err == nil && slices.Contains(m.Changed, topic) {
			return m, nil
		}
	}
}

// Open idle pages send and receive nothing, they are cheap, and all are notified at once of changes by this server or by other programs.
func TestIdlePages(t *testing.T) {
	const pages = 200
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText}, "00000000  01 02 00 68 69  ...hi\n")
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
	stored, err := s.Projects.Find("one").Captures.List()
	if err != nil {
		t.Fatal(err)
	}
	big := "01020068690000" // the message of each page
	if !benchtest.Raced {   // it takes long with the race detector
		big += strings.Repeat("00", 64<<10)
	}
	before := memory()
	var all []*channelConn
	for i := range pages {
		c := dialChannel(t, ctx, srv.URL, nil, "pushed", "null")
		all = append(all, c)
		if m, err := told(ctx, c, page.TopicListeners); err != nil || m.Listeners == nil || len(m.Listeners.Proxies) > 0 {
			t.Fatal(m, err)
		}
		say := func(text string) {
			t.Helper()
			if err := c.Conn.Write(ctx, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		until := func(part string) {
			t.Helper()
			for text := ""; !strings.Contains(text, part); {
				data, err := c.Conn.Read(ctx)
				if err != nil {
					t.Fatal(err)
				}
				text = string(data)
			}
		}
		say(`{"id":2,"open":"page"}`)
		say(`{"id":2,"message":{"n":1,"set":{"message":"say","input":"` + big + `"}}}`)
		until(`"data":`)
		say(`{"id":4,"open":"text","with":{"file":"game.def","name":"p"}}`)
		until(`"start":`)
		if i%2 == 1 { // pages of a capture
			say(`{"id":3,"open":"frames","with":{"capture":"` + stored[0].ID + `"}}`)
			say(`{"id":3,"message":{"view":{"seq":1}}}`)
			until(`"done":true`)
		}
	}
	for s.pushes.Count() < pages {
		time.Sleep(time.Millisecond)
	}
	each := func(do func(c *channelConn) error) {
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
	after := memory()
	if cost := after - min(before, after); cost > 200<<20 { // both ends of each connection
		t.Errorf("%d pages cost %d MB", pages, cost>>20)
	} else {
		t.Logf("%d pages cost %d kB each", pages, cost>>10/pages)
	}
	sent := make(chan string, pages)
	reading, stop := context.WithCancel(ctx)
	var quiet sync.WaitGroup
	var isQuiet atomic.Bool
	for _, c := range all[:2] { // a canceled read ends its connection
		quiet.Go(func() {
			for {
				text, err := c.Conn.Read(reading)
				if err != nil {
					return
				}
				if isQuiet.Load() {
					sent <- string(text)
				}
			}
		})
	}
	time.Sleep(2 * time.Second) // until all know who is there
	isQuiet.Store(true)
	time.Sleep(1500 * time.Millisecond) // longer than any polling period would be
	stop()
	quiet.Wait()
	close(sent)
	all = all[2:]
	if n := requests.Load(); n != pages || len(sent) > 0 {
		t.Errorf("%d requests of %d idle pages, of which some were sent: %q", n-pages, pages, slices.Collect(func(yield func(string) bool) {
			for x := range sent {
				if !yield(x) {
					return
				}
			}
		}))
	}

	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/captures?name=a.txt", "00000000  01 02 00 68 69  ...hi\n", nil); code != 201 {
		t.Fatal(code)
	}
	changed := time.Now()
	each(func(c *channelConn) error {
		_, err := told(ctx, c, page.TopicCaptures)
		return err
	})
	t.Logf("all %d pages know of a change after %v", len(all), time.Since(changed).Round(time.Millisecond))
}

// Pages of a workspace are notified of the start and end of a listener, and of its held messages. Those that show its traffic get the counters
// within about a second; others get nothing while it flows. The state comes with the notification.
func TestPushes(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	quiet, open := dialChannel(t, ctx, srv.URL, nil, "pushed", "null"), dialChannel(t, ctx, srv.URL, nil, "pushed", `{"traffic":true}`)
	from := func(c *channelConn, topic string, running int) *api.ListenerList {
		t.Helper()
		m, err := told(ctx, c, topic)
		if err != nil || m.Listeners == nil || len(m.Listeners.Proxies) != running {
			t.Fatalf("%s: %+v %v", topic, m, err)
		}
		return m.Listeners
	}
	wait := func(topic string) {
		t.Helper()
		if _, err := told(ctx, open, topic); err != nil {
			t.Fatalf("%s: %v", topic, err)
		}
	}
	from(quiet, page.TopicListeners, 0)
	from(open, page.TopicListeners, 0)
	var p relay.Info
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"operate":true}`, servertest.EchoGame(t)), &p); code != 201 {
		t.Fatal(code)
	}
	from(quiet, page.TopicListeners, 1)
	from(open, page.TopicListeners, 1)
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies/"+p.ID+"/operate", `{"on":true,"intercept":"say"}`, nil); code != 200 {
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
	wait(page.TopicHeld + p.ID)
	var held struct{ Total int }
	for held.Total == 0 && ctx.Err() == nil {
		servertest.Call(t, ctx, srv.URL, "GET", "/api/one/proxies/"+p.ID+"/held", "", &held)
	}
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies/"+p.ID+"/held", `{"action":"forward","all":true}`, nil); code != 204 {
		t.Fatal(code)
	}
	wait(page.TopicHeld + p.ID)
	for n := 0; n < 2; { // more than a second of traffic
		if _, err := c.Write([]byte{1, 4, 0, 't', 'e', 'x', 't'}); err != nil {
			t.Fatal(err)
		}
		if s := from(open, page.TopicTraffic, 1).Proxies[0]; s.ToServer < int64(7*n) {
			t.Fatalf("%d bytes after %d messages", s.ToServer, n)
		}
		servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies/"+p.ID+"/held", `{"action":"forward","all":true}`, nil)
		n++
	}
	if code := servertest.Call(t, ctx, srv.URL, "DELETE", "/api/one/proxies/"+p.ID, "", nil); code != 204 {
		t.Fatal(code)
	}
	wait(page.TopicListeners)
	for { // until it is gone
		text, err := quiet.Read(ctx)
		var m page.Pushed
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(m.Changed, page.TopicTraffic) {
			t.Error("traffic is told to a page that does not show it")
		}
		if m.Listeners != nil && len(m.Listeners.Proxies) == 0 {
			break
		}
	}
}
