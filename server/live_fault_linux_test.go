package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// A full disk pauses the recording, with the reason in the list of proxies. Traffic, log and page continue, and the recording so far can be
// read. When there is space again, the recording goes on in a new capture, and both say what is missing.
func TestFullDisk(t *testing.T) {
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("a small file system needs the right to mount one: ", err)
	}
	t.Cleanup(func() {
		// Other programs may use the mounted system for a moment, so it is only detached. The server must have no file open there.
		open, err := filepath.Glob("/proc/self/fd/*")
		if err != nil {
			t.Error(err)
		}
		for _, fd := range open {
			if name, err := os.Readlink(fd); err == nil && strings.HasPrefix(name, small+"/") {
				t.Errorf("%s is still open", name)
			}
		}
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	files, _ := workspacetest.Dir(t, map[string]string{"game.def": servertest.PingText})
	kept, err := store.OpenCaptures(small)
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(small, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 400<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	w := workspacetest.Open(t, workspace.Config{Dialect: "muta", Files: files, Captures: kept})
	s := serverOf(t, w)
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	upstream := sink(t)
	r := func() *relayed {
		one, err := s.relays.Start(ctx, w, relay.Config{Listen: "127.0.0.1:0", Upstream: upstream})
		if err != nil {
			t.Fatal(err)
		}
		return &relayed{t, one, s, srv.URL, ctx}
	}
	full := r()
	c := full.dial()
	const n = 40_000 // 4 MB
	for range n / 500 {
		if _, err := c.Write(bytes.Repeat(sayFrame, 500)); err != nil {
			t.Fatal(err)
		}
	}
	full.until("all is in the log", func() bool { return full.Session.Log().Len() == n })
	full.until("it is told", func() bool {
		return strings.Contains(full.State().Record.Why, "no space left") && full.State().Record.Paused
	})
	var all struct{ Proxies []relay.Info }
	if code := servertest.Call(t, ctx, srv.URL, "GET", "/api/one/proxies", "", &all); code != 200 || len(all.Proxies) != 1 || all.Proxies[0].Record.On || all.Proxies[0].Record.Missed == 0 {
		t.Errorf("%d %+v", code, all)
	}
	if f := full.fit("say"); f.Fit != n {
		t.Errorf("%d of %d frames are listed", f.Fit, n)
	}
	if x := full.State(); x.Lost != 0 || x.ToServer != n*100 {
		t.Errorf("%+v", x)
	}
	// Nothing starts without a recording, and nothing is left over.
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies", `{"listen":"127.0.0.1:0","upstream":"`+upstream+`"}`, nil); code < 400 && code != 201 {
		t.Errorf("with a full disk: %d", code)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	more := 0
	full.until("it goes on", func() bool {
		if _, err := c.Write(sayFrame); err != nil {
			t.Fatal(err)
		}
		more++
		return full.State().Record.On
	})
	c.Close()
	var left struct{ Proxies []relay.Info }
	servertest.Call(t, ctx, srv.URL, "GET", "/api/one/proxies", "", &left)
	var ids []string
	for _, p := range left.Proxies {
		ids = append(ids, p.ID)
	}
	if code := servertest.Call(t, ctx, srv.URL, "DELETE", "/api/one/proxies?id="+strings.Join(ids, ","), "", nil); code != 204 {
		t.Errorf("stop: %d", code)
	}
	var f servertest.Frames
	full.until("the recording is read", func() bool { f = full.fit("say"); return f.Done })
	if f.Fit == 0 || f.Fit >= n || strings.Contains(f.Note, "cut off") {
		t.Errorf("the recording has %d frames: %q", f.Fit, f.Note)
	}
	missing := fmt.Sprintf("%d packets of this session were not recorded", full.State().Record.Missed)
	if !strings.Contains(f.Note, missing) {
		t.Errorf("note %q lacks %q", f.Note, missing)
	}
	list, err := kept.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 2 {
		t.Errorf("%d captures, although the recording went on", len(list))
	}
	for _, x := range list {
		if x.Lacks() != missing {
			t.Errorf("%+v", x)
		}
		if err := kept.Remove(x.ID); err != nil {
			t.Error(err)
		}
	}
	again := r()
	c = again.dial()
	if _, err := c.Write(sayFrame); err != nil {
		t.Fatal(err)
	}
	_ = c.CloseWrite()
	_, _ = io.Copy(io.Discard, net.Conn(c))
	if err := again.Stop(ctx); err != nil {
		t.Error(err)
	}
	if x := again.State().Record; x.Why != "" || x.Packets == 0 || x.Missed != 0 {
		t.Errorf("with room again: %+v", x)
	}
}
