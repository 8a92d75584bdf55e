package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/server/api"
	"wirebench/server/bus"
	"wirebench/server/bus/bustest"
	"wirebench/server/collect"
	"wirebench/server/page"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

func TestMain(m *testing.M) {
	bustest.Main()
	os.Exit(m.Run())
}

// A listener of a collector appears in its project, and is operated from there as one that runs here: it is decoded by the definitions of the
// project as they are now, and pages are told of its held messages. It is away when its collector is, and what it relayed stays.
func TestCollectorOperated(t *testing.T) {
	nats := bustest.Start(t)
	at := bus.Options{URL: nats.URL}
	ws := servertest.CaptureWorkspace(t, "muta", map[string]string{"other.def": "group: clmsg\n"})
	s, err := New(Config{
		Projects: servertest.Fixed(t, ws),
		Bus:      &at, Stream: collect.StreamOptions{Bytes: 64 << 20, Replicas: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	pushed := dialChannel(t, ctx, srv.URL, nil, "pushed", "null")

	folder := t.TempDir()
	data, err := store.OpenData(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	up, err := proxy.NewUpstreams(proxy.DefaultUpstreams, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := collect.Start(ctx, collect.Options{
		Name: "host1", Data: data, SpoolBytes: collect.MinSpool, Protocol: "muta", Upstreams: up, Bus: at, Log: slog.New(slog.DiscardHandler), Answer: api.Operate,
		Listeners: []relay.Config{{Workspace: "one", Name: "game", Listen: "127.0.0.1:0", Upstream: servertest.EchoGame(t), Operate: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			if left := c.Close(ctx); left.Parts > 0 {
				t.Errorf("%+v is not published", left)
			}
		}
	}
	defer end()
	list := func() []relay.Info {
		var all api.ListenerList
		if code := servertest.Call(t, ctx, srv.URL, "GET", "/api/one/proxies", "", &all); code != 200 {
			t.Fatal(code)
		}
		return all.Proxies
	}
	for len(list()) == 0 {
		if _, err := told(ctx, pushed, page.TopicListeners); err != nil {
			t.Fatal(err)
		}
	}
	p := list()[0]
	if p.Collector != "host1" || p.Name != "game (host1)" || len(p.Pairs) != 1 || p.ID != c.Listeners()[0].ID {
		t.Fatalf("%+v", p)
	}
	if code := servertest.Call(t, ctx, srv.URL, "GET", "/api/one/proxies/"+p.ID, "", nil); code != 200 {
		t.Errorf("the listener: %d", code)
	}
	// A definition that is written now is that of the collector soon.
	if _, err := ws.Files.Write("game.def", []byte(servertest.PingText), nil); err != nil {
		t.Fatal(err)
	}
	if err := ws.Reload(); err != nil {
		t.Fatal(err)
	}
	have := filepath.Join(folder, "projects", "one", "definitions", "game.def")
	for {
		text, err := os.ReadFile(have)
		if err == nil && string(text) == servertest.PingText && c.Listeners()[0].Now().File("game.def") != nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the collector has not the definition: %v", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	// The capture is there once there is traffic.
	servertest.Say(t, p.Pairs[0].Listen, "0000")
	captured(t, ctx, srv.URL, p.ID)
	var f servertest.Frames
	for f.Total < 2 { // the page of the capture follows it while it grows
		if code := servertest.Call(t, ctx, srv.URL, "GET", "/api/one/captures/"+p.ID+"/frames", "", &f); code != 200 {
			t.Fatal(code)
		}
	}
	var m store.Marker
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/captures/"+p.ID+"/markers", `{"text":"now"}`, &m); code != 201 || m.N == 0 {
		t.Errorf("a marker at this moment: %d %+v", code, m)
	}
	shown := httptest.NewRecorder()
	if s.ServeHTTP(shown, httptest.NewRequest("GET", "/p/one/captures/"+p.ID, nil)); !strings.Contains(shown.Body.String(), `data-session="`+p.ID+`"`) {
		t.Errorf("the page of the capture has no bar of live traffic: %d", shown.Code)
	}
	operated(t, ctx, srv.URL, p)

	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies/"+p.ID+"/operate", `{"on":true,"intercept":"say"}`, nil); code != 200 {
		t.Fatal(code)
	}
	client, err := net.Dial("tcp", p.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write([]byte{1, 4, 0, 't', 'e', 'x', 't'}); err != nil {
		t.Fatal(err)
	}
	if _, err := told(ctx, pushed, page.TopicHeld+p.ID); err != nil {
		t.Fatal(err)
	}
	// While NATS is away, so is the listener; held messages pass when somebody lets them, or its time is over.
	nats.Kill()
	if code := servertest.Call(t, ctx, srv.URL, "GET", "/api/one/proxies/"+p.ID+"/held", "", nil); code != 502 && code != 404 {
		t.Errorf("without NATS: %d", code)
	}
	nats.Again()
	for code := 0; code != 204; {
		code = servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies/"+p.ID+"/held", `{"action":"forward","all":true}`, nil)
		if ctx.Err() != nil {
			t.Fatalf("with NATS again: %d", code)
		}
	}
	var got [5]byte
	if _, err := io.ReadFull(client, got[:]); err != nil {
		t.Fatal(err)
	}
	client.Close()
	for _, path := range []string{"/api/one/proxies/" + p.ID, "/api/one/proxies?id=" + p.ID} {
		if code := servertest.Call(t, ctx, srv.URL, "DELETE", path, "", nil); code != 409 {
			t.Errorf("a listener of a collector is stopped from elsewhere: %d", code)
		}
	}
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/captures/"+p.ID+"/append?offset=0", "x", nil); code != 403 {
		t.Errorf("somebody appends to its capture: %d", code)
	}
	end()
	for len(list()) > 0 {
		if ctx.Err() != nil {
			t.Fatal("the listener of a collector that has ended is listed")
		}
		time.Sleep(5 * time.Millisecond)
	}
	var x store.Capture
	for x.ID == "" || x.Unfinished {
		var all struct{ Captures []store.Capture }
		servertest.Call(t, ctx, srv.URL, "GET", "/api/one/captures", "", &all)
		if x = all.Captures[0]; ctx.Err() != nil {
			t.Fatalf("%+v", x)
		}
	}
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies", fmt.Sprintf(`{"again":%q}`, p.ID), nil); code != 422 {
		t.Errorf("a listener of a collector is started elsewhere: %d", code)
	}
	again, err := collect.Start(ctx, collect.Options{
		Name: "host1", Data: data, SpoolBytes: collect.MinSpool, Protocol: "muta", Upstreams: up, Bus: at, Log: slog.New(slog.DiscardHandler), Answer: api.Operate,
		Listeners: []relay.Config{{Workspace: "one", Name: "game", Listen: "127.0.0.1:0", Upstream: servertest.EchoGame(t), Operate: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close(ctx)
	if rules := again.Listeners()[0].WrittenRules(); len(rules) != 1 || rules[0].Count != 0 {
		t.Errorf("after a restart of the collector: %+v", rules)
	}
	if x.ID != p.ID || !strings.HasPrefix(x.Name, "live game") || x.Listener == nil || !x.Listener.Operate || !strings.Contains(string(x.Listener.Rules), "fffg") {
		t.Errorf("the capture is %+v of %+v", x, x.Listener)
	}
}

// captured waits for a capture.
func captured(t *testing.T, ctx context.Context, server, id string) {
	t.Helper()
	for {
		var all struct{ Captures []store.Capture }
		servertest.Call(t, ctx, server, "GET", "/api/one/captures", "", &all)
		for _, x := range all.Captures {
			if x.ID == id {
				return
			}
		}
		if ctx.Err() != nil {
			t.Fatal("there is no capture " + id)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Keys and settings that somebody gives to the capture of a collector are those by which the collector reads messages: it decrypts what it holds. The next
// capture of the listener has them, too.
func TestCollectorReads(t *testing.T) {
	nats := bustest.Start(t)
	at := bus.Options{URL: nats.URL}
	ws := servertest.CaptureWorkspace(t, "protobuf", map[string]string{
		"talk.proto": "syntax = \"proto3\";\nmessage Talk {\n  string text = 1;\n}\n", "talk.map": "Talk 1\n",
		"protocol.envelope": "frame length u8\ncode u8\ncipher xor key given\n",
	})
	s, err := New(Config{Projects: servertest.Fixed(t, ws), Bus: &at, Stream: collect.StreamOptions{Bytes: 64 << 20, Replicas: 1}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	data, err := store.OpenData(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	up, err := proxy.NewUpstreams(proxy.DefaultUpstreams, nil)
	if err != nil {
		t.Fatal(err)
	}
	listening := ""
	run := func() *collect.Collector {
		c, err := collect.Start(ctx, collect.Options{
			Name: "host1", Data: data, SpoolBytes: collect.MinSpool, Protocol: "protobuf", Upstreams: up, Bus: at, Log: slog.New(slog.DiscardHandler), Answer: api.Operate,
			Listeners: []relay.Config{{Workspace: "one", Listen: "127.0.0.1:0", Upstream: servertest.EchoGame(t), Operate: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for len(c.Listeners()) == 0 { // it learns how messages travel
			time.Sleep(5 * time.Millisecond)
		}
		listening = c.Listeners()[0].State().Pairs[0].Listen
		return c
	}
	talk := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", listening)
		if err != nil {
			t.Fatal(err)
		}
		message := []byte("\x05\x01\x0a\x02hi")
		for i := range message {
			message[i] ^= 0x5a
		}
		if _, err := c.Write(message); err != nil {
			t.Fatal(err)
		}
		return c
	}
	// holds talks on one new connection after the other until a message is held.
	holds := func(id string) {
		t.Helper()
		for servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies/"+id+"/operate", `{"on":true,"intercept":"kind == message"}`, nil) != 200 {
			time.Sleep(5 * time.Millisecond)
		}
		for {
			c := talk()
			for range 20 {
				var got struct{ Held []api.HeldInfo }
				servertest.Call(t, ctx, srv.URL, "GET", "/api/one/proxies/"+id+"/held", "", &got)
				if len(got.Held) > 0 {
					if h := got.Held[0].Frame; h.Message != "Talk" || string(h.Value) != `{"text":"hi"}` {
						t.Errorf("held: %s %s", h.Message, h.Value)
					}
					c.Close()
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			if c.Close(); ctx.Err() != nil {
				t.Fatal("the collector cannot decrypt what it relays")
			}
		}
	}
	c := run()
	id := c.Listeners()[0].ID
	talk().Close()
	captured(t, ctx, srv.URL, id)
	if code, text := servertest.Patch(t, s, id, `{"keys":"* envelope 5a"}`); code != 200 {
		t.Fatal(code, text)
	}
	holds(id)
	c.Close(ctx)
	// Another collector that claims the capture does not get its keys.
	evil, err := bus.Connect(at, "evil", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer evil.Close()
	for !evil.IsConnected() {
		time.Sleep(5 * time.Millisecond)
	}
	asked, err := evil.SubscribeSync("wirebench.control.evil")
	if err != nil {
		t.Fatal(err)
	}
	for claimed := false; !claimed; {
		if ctx.Err() != nil {
			t.Fatal("the claim is not heard")
		}
		if err := evil.Publish("wirebench.state.one.evil", fmt.Appendf(nil, `{"info":{"id":%q,"running":true,"operate":{}}}`, id)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		var all api.ListenerList
		servertest.Call(t, ctx, srv.URL, "GET", "/api/one/proxies", "", &all)
		claimed = slices.ContainsFunc(all.Proxies, func(x relay.Info) bool { return x.Collector == "evil" })
	}
	c = run()
	defer c.Close(ctx)
	next := c.Listeners()[0].ID
	talk().Close()
	captured(t, ctx, srv.URL, next)
	holds(next)
	if n, _, err := asked.Pending(); err != nil || n > 0 {
		t.Errorf("a collector that claims the capture of another one is told %d times how to read it: %v", n, err)
	}
	x, err := ws.Captures.Get(next)
	if err != nil || x.Keys != "* envelope 5a" || next == id {
		t.Errorf("%v %+v", err, x)
	}
}
