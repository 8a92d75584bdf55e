package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wirebench/server/api"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/wsconn"
)

// Relayed traffic is in the list while it runs, on the live stream, and in a capture when it has ended.
func TestProxyLive(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	request := func(method, path, body string, into any) int {
		t.Helper()
		return servertest.Call(t, ctx, srv.URL, method, path, body, into)
	}
	for _, bad := range []string{
		`{"listen":"127.0.0.1:0","upstream":"169.254.169.254:80"}`, `{"listen":"127.0.0.1:0","upstream":"203.0.113.7:80"}`,
		`{"listen":"127.0.0.1:0","upstream":"nothing"}`, `{"listen":"nowhere:0","upstream":"127.0.0.1:1"}`,
	} {
		if code := request("POST", "/api/one/proxies", bad, nil); code != 403 && code != 422 {
			t.Errorf("%s: %d", bad, code)
		}
	}
	var kept struct{ Captures []store.Capture }
	if request("GET", "/api/one/captures", "", &kept); len(kept.Captures) != 0 {
		t.Errorf("refused listeners left captures: %v", kept)
	}
	var p relay.Info
	if code := request("POST", "/api/one/proxies", fmt.Sprintf(`{"name":"game","listen":"127.0.0.1:0","upstream":%q}`, servertest.EchoGame(t)), &p); code != 201 || !p.Running {
		t.Fatalf("%d %+v", code, p)
	}
	stream, err := wsconn.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws/one/live?since=0&value=1&filter=say", nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Drop()
	c, err := net.Dial("tcp", p.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 10 {
		if _, err := c.Write([]byte{1, 4, 0, 't', 'e', 'x', 't'}); err != nil {
			t.Fatal(err)
		}
		var got [5]byte
		if _, err := io.ReadFull(c, got[:]); err != nil || got[1] != 't' {
			t.Fatalf("answer %d: %x %v", i, got, err)
		}
	}
	for seen := 0; seen < 10; {
		text, err := stream.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var b api.LiveBatch
		if err := json.Unmarshal(text, &b); err != nil || b.Session != p.ID {
			t.Fatalf("%s %v", text, err)
		}
		for _, f := range b.Frames {
			if seen++; f.Message != "say" || f.Dir != "c2s" || !strings.Contains(string(f.Value), "text") {
				t.Errorf("%+v", f)
			}
		}
	}
	var f servertest.Frames
	if code := request("GET", "/api/one/captures/"+p.ID+"/frames?filter=said", "", &f); code != 200 || f.Fit != 10 || f.Done {
		t.Errorf("while it runs: %d, %d of %d frames, done %v", code, f.Fit, f.Total, f.Done)
	}
	if code := request("DELETE", "/api/one/captures/"+p.ID, "", nil); code != 409 {
		t.Errorf("a running capture is deleted: %d", code)
	}
	c.Close()
	if code := request("DELETE", "/api/one/proxies?id="+p.ID, "", nil); code != 204 {
		t.Errorf("stop: %d", code)
	}
	var all struct{ Proxies []relay.Info }
	if request("GET", "/api/one/proxies", "", &all); len(all.Proxies) != 0 {
		t.Errorf("after the stop: %+v", all)
	}
	if code := request("GET", "/api/one/captures/"+p.ID+"/frames?filter=said", "", &f); code != 200 || f.Fit != 10 || !f.Done || f.Note != "" {
		t.Errorf("the recording: %d, %d of %d frames, %q", code, f.Fit, f.Total, f.Note)
	}
}

// Messages are held, changed, changed by rules, dropped and injected, and the other side receives exactly that.
func TestProxyOperated(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	var p relay.Info
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"operate":true}`, servertest.EchoGame(t)), &p); code != 201 {
		t.Fatalf("%d %+v", code, p)
	}
	operated(t, ctx, srv.URL, p)
	if code := servertest.Call(t, ctx, srv.URL, "DELETE", "/api/one/proxies/"+p.ID, "", nil); code != 204 {
		t.Error(code)
	}
}

// operated tests all that can be done with a listener of an echo game.
func operated(t *testing.T, ctx context.Context, server string, p relay.Info) {
	t.Helper()
	ask := func(method, path, body string, into any) int {
		t.Helper()
		return servertest.Call(t, ctx, server, method, path, body, into)
	}
	session := "/api/one/proxies/" + p.ID
	c, err := net.Dial("tcp", p.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	say := func(text string) {
		t.Helper()
		if _, err := c.Write(append([]byte{1, 4, 0}, text...)); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(want byte) {
		t.Helper()
		var got [5]byte
		if _, err := io.ReadFull(c, got[:]); err != nil || got[1] != want {
			t.Fatalf("the answer is %x (%v), want %q", got, err, want)
		}
	}
	say("aaaz")
	answer('z')
	if code := ask("POST", session+"/send", `{"dir":"s2c","message":"said","value":{"n":7}}`, nil); code != 409 {
		t.Errorf("a message is sent while nobody operates: %d", code)
	}
	if code := ask("POST", session+"/operate", `{"on":true,"intercept":".text == 1"}`, nil); code != 422 {
		t.Errorf("a filter that is none: %d", code)
	}
	if code := ask("POST", session+"/operate", `{"on":true,"intercept":"say"}`, &p); code != 200 || p.Operate == nil || !p.Operate.On || p.Operate.Intercept != "say" {
		t.Fatalf("%d %+v", code, p.Operate)
	}
	wait := func() (h api.HeldInfo) {
		t.Helper()
		for {
			var got struct{ Held []api.HeldInfo }
			if code := ask("GET", session+"/held", "", &got); code != 200 {
				t.Fatal(code)
			}
			if len(got.Held) > 0 {
				return got.Held[0]
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	say("bbbb")
	h := wait()
	if h.Frame.Message != "say" || !strings.Contains(string(h.Frame.Value), "bbbb") || h.Name == "" {
		t.Errorf("held: %+v", h)
	}
	for _, bad := range []string{`{"id":99,"action":"drop"}`, fmt.Sprintf(`{"id":%d,"action":"replace","message":"say","value":{"txt":""}}`, h.ID), fmt.Sprintf(`{"id":%d,"action":"replace","hex":"zz"}`, h.ID)} {
		if code := ask("POST", session+"/held", bad, nil); code != 404 && code != 422 {
			t.Errorf("%s: %d", bad, code)
		}
	}
	if code := ask("POST", session+"/held", fmt.Sprintf(`{"id":%d,"action":"replace","message":%q,"value":{"text":"bbbc"}}`, h.ID, h.Name), nil); code != 204 {
		t.Errorf("replace: %d", code)
	}
	answer('c')
	say("dddd")
	say("eeee")
	if code := ask("POST", session+"/held", fmt.Sprintf(`{"id":%d,"action":"drop"}`, wait().ID), nil); code != 204 {
		t.Errorf("drop: %d", code)
	}
	if code := ask("POST", session+"/held", fmt.Sprintf(`{"id":%d,"action":"forward"}`, wait().ID), nil); code != 204 {
		t.Errorf("forward: %d", code)
	}
	answer('e')
	if code := ask("POST", session+"/operate", `{"intercept":""}`, nil); code != 200 {
		t.Error(code)
	}
	var rules struct{ Rules []relay.Rule }
	if code := ask("PUT", session+"/rules", `{"rules":[{"id":"1","on":true,"filter":".text == \"ffff\"","action":"replace","field":"text","value":"fffg"}]}`, &rules); code != 200 || len(rules.Rules) != 1 {
		t.Fatalf("%d %+v", code, rules)
	}
	say("ffff")
	answer('g')
	say("hhhh")
	answer('h')
	if code := ask("GET", session+"/rules", "", &rules); code != 200 || rules.Rules[0].Count != 1 || rules.Rules[0].Failed != 0 {
		t.Errorf("%d %+v", code, rules)
	}
	if code := ask("POST", session+"/send", `{"dir":"s2c","message":"said","value":{"n":105}}`, nil); code != 204 {
		t.Errorf("send: %d", code)
	}
	answer('i')
	var f servertest.Frames
	for filter, want := range map[string]int{"injected": 1, "dropped": 1, "modified": 2} {
		for f.Fit = 0; f.Fit < want; { // the log gets a frame after it was sent
			if code := ask("GET", "/api/one/captures/"+p.ID+"/frames?filter="+filter, "", &f); code != 200 {
				t.Fatalf("%s: %d, %d frames of %d", filter, code, f.Fit, f.Total)
			}
		}
	}
}
