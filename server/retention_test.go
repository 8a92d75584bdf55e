package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/server/ingest"
	"wirebench/server/objects"
	"wirebench/server/retain"
	"wirebench/server/servertest"
	"wirebench/server/settings"
	"wirebench/server/store"
)

// Old captures go by themselves; those that somebody has noted, commented, marked or set to be kept stay, and the preview says so before. Each removal
// is in the audit log, in the metrics, and in the list of captures; a second sweep removes nothing more.
func TestRetention(t *testing.T) {
	audit, err := access.OpenAudit(t.TempDir()+"/audit.jsonl", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	accounts, err := access.OpenAccounts(&access.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	ws := servertest.CaptureWorkspace(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	s := newServer(t, Config{Projects: servertest.Fixed(t, ws), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Door: access.NewDoor(access.Config{Accounts: accounts, Audit: audit})})
	ask := func(method, path, body string, into any) {
		t.Helper()
		r := httptest.NewRequest(method, "/api/v1/projects/one"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.router.ServeHTTP(w, access.As(r, access.Principal{Name: "ann", ID: "1", Grants: access.Grants{access.Everywhere: access.Operator}}))
		if w.Code >= 300 || into != nil && json.Unmarshal(w.Body.Bytes(), into) != nil {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	ids := map[string]string{}
	for _, name := range []string{"plain", "noted", "marked", "marker", "commented", "kept", "young"} {
		x, err := ws.Captures.Add(name, time.Now().Add(-40*24*time.Hour), strings.NewReader(servertest.Follow))
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = x.ID
		at := x.Added
		if name == "young" {
			at = time.Now()
		}
		if err := os.Chtimes(ws.Captures.Path(x.ID), at, at); err != nil {
			t.Fatal(err)
		}
	}
	ask("PATCH", "/captures/"+ids["noted"], `{"text": "of the boss"}`, nil)
	ask("PATCH", "/captures/"+ids["marked"], `{"mark": [1]}`, nil)
	ask("PATCH", "/captures/"+ids["kept"], `{"keep": true}`, nil)
	ask("POST", "/captures/"+ids["marker"]+"/markers", `{"text": "here", "n": 1}`, nil)
	ask("POST", "/threads", `{"text": "what is this?", "capture": "`+ids["commented"]+`", "frame": 1, "length": 1}`, nil)

	var p retain.Plan
	s.retention.Sweep(t.Context())
	if ask("GET", "/retention", "", &p); p.Age != "" || len(p.Leaving)+len(p.Staying)+len(p.Removed) > 0 {
		t.Errorf("without bounds: %+v", p)
	}
	names := func(p retain.Plan) (out string) {
		for _, x := range p.Leaving {
			if !x.At.After(time.Now()) {
				out += x.Name + " "
			}
		}
		for _, x := range p.Staying {
			out += "-" + x.Name + ":" + x.Why + " "
		}
		return out
	}
	const want = "plain -commented:commented -kept:kept -marked:noted -marker:noted -noted:noted"
	if ask("GET", "/retention?age=30d", "", &p); !sameWords(names(p), want) {
		t.Errorf("a preview: %s", names(p))
	}
	ask("PATCH", "/settings", `{"keep": {"age": "30d"}}`, nil)
	for range 2 {
		s.retention.Sweep(t.Context())
	}
	var list api.CaptureList
	if ask("GET", "/captures?brief=true", "", &list); len(list.Captures) != 6 || list.Kept == nil || !strings.Contains(list.Kept.Text, "after 30d") || len(list.Kept.Removed) != 1 || !strings.Contains(list.Kept.Removed[0], "plain") {
		t.Errorf("%d captures, %+v", len(list.Captures), list.Kept)
	}
	if _, err := ws.Captures.Get(ids["plain"]); err == nil {
		t.Error("it is still there")
	}
	events := 0
	for _, e := range audit.Latest(100) {
		if strings.Contains(e.What, "remove a capture") && strings.Contains(e.On, ids["plain"]) && strings.Contains(e.Who, "one") {
			events++
		}
	}
	if events != 1 {
		t.Errorf("%d events in the audit log", events)
	}
	w := httptest.NewRecorder()
	s.metrics.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(w.Body.String(), "\nwirebench_captures_removed_total{why=\"age\"} 1\n") {
		t.Error("it is not counted")
	}

	// Room: the young one goes, as it is the only one that may.
	ask("PATCH", "/settings", `{"keep": {"age": null, "bytes": 1}}`, nil)
	s.retention.Sweep(t.Context())
	p = retain.Plan{}
	if ask("GET", "/retention", "", &p); len(p.Removed) != 2 || p.Removed[0].Name != "young" || p.Removed[0].Why != retain.ForBytes || p.Age != "" {
		t.Errorf("%+v", p)
	}
	if all, err := ws.Captures.List(); err != nil || len(all) != 5 {
		t.Errorf("%d captures: %v", len(all), err)
	}
	// What is noted in the moment of its removal stays.
	x, err := ws.Captures.Add("new.txt", time.Now(), strings.NewReader(servertest.Follow))
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Captures.RemoveIf(x.ID, func(now store.Capture) error { return io.ErrClosedPipe }); err != io.ErrClosedPipe {
		t.Error(err)
	}
	if _, err := ws.Captures.Get(x.ID); err != nil {
		t.Error(err)
	}
}

// sameWords reports whether two texts have the same words.
func sameWords(a, b string) bool {
	return slices.Equal(slices.Sorted(strings.FieldsSeq(a)), slices.Sorted(strings.FieldsSeq(b)))
}

// blockedLake cannot be written while it is blocked.
type blockedLake struct {
	objects.Store
	blocked atomic.Bool
}

func (b *blockedLake) Put(ctx context.Context, name, file string) error {
	if b.blocked.Load() {
		return io.ErrShortWrite
	}
	return b.Store.Put(ctx, name, file)
}

// A capture that is not in the lake yet stays until it is.
func TestRetentionWaitsForTheLake(t *testing.T) {
	folder, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	lake := &blockedLake{Store: folder}
	lake.blocked.Store(true)
	ws := servertest.CaptureWorkspace(t, "tera", servertest.ChatFiles)
	x, err := ws.Captures.Add("chat", time.Now(), bytes.NewReader(servertest.Chat(t, 50)))
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, Config{Projects: servertest.Fixed(t, ws), Lake: lake, LakeEvery: time.Second, Keep: settings.Keep{Bytes: 1}})
	until := func(what string, ok func(ingest.LakeState) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			var state ingest.LakeState
			servertest.Request(t, s, "GET", "/api/v1/projects/one/lake", nil, &state)
			if ok(state) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("not %s: %+v", what, state)
			}
		}
	}
	until("broken", func(s ingest.LakeState) bool { return s.Problem != "" && s.Rows == 0 })
	s.retention.Sweep(t.Context())
	if _, err := ws.Captures.Get(x.ID); err != nil {
		t.Fatal("it has gone, and is not in the lake")
	}
	var p retain.Plan
	if servertest.Request(t, s, "GET", "/api/v1/projects/one/retention", nil, &p); len(p.Staying) != 1 || p.Staying[0].Why != "not in the lake yet" {
		t.Errorf("%+v", p)
	}
	says := func() string {
		var list api.CaptureList
		servertest.Request(t, s, "GET", "/api/v1/projects/one/captures?brief=true", nil, &list)
		return list.Lake
	}
	if !strings.HasPrefix(says(), "The lake cannot be written, and is tried again: ") {
		t.Error(says())
	}
	lake.blocked.Store(false)
	until("written", func(s ingest.LakeState) bool {
		return s.Problem == "" && s.Rows == 40 && s.Undefined == 10 && s.Waiting == 0
	})
	if says() != "40 messages are in the lake" {
		t.Error(says())
	}
	s.retention.Sweep(t.Context())
	if _, err := ws.Captures.Get(x.ID); err == nil {
		t.Error("it is still there")
	}
}
