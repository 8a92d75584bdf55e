package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"wirebench/server/api"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/wsconn"
)

// A filter that becomes invalid by a change of definitions is reported on the stream, even without traffic; when it is valid again, frames
// follow.
func TestLiveFilterOfOtherDefinitions(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	var p relay.Info
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q}`, servertest.EchoGame(t)), &p); code != 201 {
		t.Fatal(code)
	}
	stream, err := wsconn.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws/one/live?since=0&filter="+url.QueryEscape(`say.text == "text"`), nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Drop()
	next := func() (b api.LiveBatch) {
		t.Helper()
		text, err := stream.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &b); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return b
	}
	c, err := net.Dial("tcp", p.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	say := func() {
		t.Helper()
		if _, err := c.Write([]byte{1, 4, 0, 't', 'e', 'x', 't'}); err != nil {
			t.Fatal(err)
		}
	}
	define := func(text string) {
		t.Helper()
		if _, err := s.Projects.Find("one").Save("game.def", []byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	say()
	if b := next(); len(b.Frames) != 1 || b.Mistakes != nil {
		t.Fatalf("%+v", b)
	}
	define(strings.Replace(servertest.PingText, "text ", "word ", 1))
	b := next()
	if b.Mistakes == nil || len(*b.Mistakes) != 1 || len(b.Frames) != 0 || b.Session != p.ID {
		t.Fatalf("%+v", b)
	}
	if m := (*b.Mistakes)[0]; m.In != "filter" || m.Message == "" || m.Start != 4 || m.End != 8 {
		t.Errorf("%+v", m)
	}
	say() // nothing matches: neither this, nor a message about it
	time.Sleep(300 * time.Millisecond)
	define(servertest.PingText)
	if b = next(); b.Mistakes == nil || len(*b.Mistakes) != 0 || len(b.Frames) != 0 {
		t.Fatalf("%+v", b)
	}
	missed := b.Next
	say()
	if b = next(); len(b.Frames) != 1 || b.Mistakes != nil || int(b.Frames[0].N) <= missed {
		t.Errorf("%+v after %d", b, missed)
	}
}

// Refusals have a reason, as JSON: an unknown workspace or session, and the number of a future frame, which is of another session.
func TestLiveRefused(t *testing.T) {
	r := relayOne(t, servertest.EchoGame(t))
	for _, c := range []struct {
		path   string
		status int
		detail string
	}{
		{"/ws/nosuch/live", 404, "project nosuch not found"},
		{"/ws/one/live?session=nosuch", 404, "does not exist"},
		{"/ws/one/live?since=1000000", 422, "has only"},
		{"/ws/one/live?since=-1", 422, "number of a frame"},
	} {
		res, err := http.Get(r.base + c.path)
		if err != nil {
			t.Fatal(err)
		}
		var said struct{ Detail string }
		err = json.NewDecoder(res.Body).Decode(&said)
		res.Body.Close()
		if err != nil || res.StatusCode != c.status || res.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(said.Detail, c.detail) {
			t.Errorf("%s: %d %s %q %v", c.path, res.StatusCode, res.Header.Get("Content-Type"), said.Detail, err)
		}
	}
	if err := r.Stop(r.ctx); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); r.server.relays.Get("one", r.ID) != nil && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	// Without traffic, nothing is kept; a note would be.
	if all, err := r.server.Projects.Find("one").Captures.List(); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

// A session without traffic is kept if it has a note.
func TestEmptySessionWithNote(t *testing.T) {
	r := relayOne(t, servertest.EchoGame(t))
	kept := r.server.Projects.Find("one").Captures
	if _, err := kept.Note(r.ID, func(n *store.Notes) { n.Text = "before the patch" }); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(r.ctx); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); r.server.relays.Get("one", r.ID) != nil && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if all, err := kept.List(); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}
