package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/server/wsconn"
)

// soakRate is the number of frames a second of the listener.
const soakRate = 2000

// TestSoak lets a listener with 2,000 frames a second, eight editors, pages that come and go, and requests run for a time, and fails if memory,
// goroutines or descriptors grow:
//
//	WIREBENCH_SOAK=1h go test ./server -run TestSoak -timeout 0 -v
func TestSoak(t *testing.T) {
	duration, err := time.ParseDuration(os.Getenv("WIREBENCH_SOAK"))
	if err != nil {
		t.Skip("WIREBENCH_SOAK is no duration")
	}
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText, "other.def": "group: more\n\npacket: third\n   __group = more\n   n = uint32\n"})
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	one, err := s.relays.Start(ctx, s.Projects.Find("one"), relay.Config{Listen: "127.0.0.1:0", Upstream: sink(t)})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var requests, edits, pages, failed atomic.Int64
	again := func(every time.Duration, do func() error) {
		all.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				if err := do(); err != nil && ctx.Err() == nil {
					failed.Add(1)
					t.Log(err)
				}
			}
		})
	}
	for range 4 { // the game
		c, err := net.Dial("tcp", one.State().Pairs[0].Listen)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		batch := bytes.Repeat(sayFrame, soakRate/4/20)
		again(time.Second/20, func() error { _, err := c.Write(batch); return err })
	}
	for i := range 8 { // the editors
		conn, err := soakPage(ctx, srv.URL, "page", "null")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Drop)
		all.Go(func() {
			for {
				if _, err := conn.Read(ctx); err != nil {
					return
				}
			}
		})
		n := 0
		again(250*time.Millisecond, func() error {
			n++
			edits.Add(1)
			text := fmt.Sprintf("group: more\\n\\npacket: third\\n   __group = more\\n   n%d = uint32\\n", n%50)
			return conn.Write(ctx, fmt.Appendf(nil, `{"id":1,"message":{"n":%d,"set":{"message":"third","definition":"%s","input":"%02x 00 00 00 %02x"}}}`, n, text, i, n%256))
		})
	}
	again(200*time.Millisecond, func() error { // pages come and go
		pages.Add(1)
		conn, err := soakPage(ctx, srv.URL, "frames", fmt.Sprintf(`{"capture":%q}`, one.ID))
		if err != nil {
			return err
		}
		defer conn.Drop()
		if err := conn.Write(ctx, []byte(`{"id":1,"message":{"view":{"seq":1,"filter":"say"}}}`)); err != nil {
			return err
		}
		_, err = conn.Read(ctx)
		return err
	})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	defer client.CloseIdleConnections()
	for _, path := range []string{"/p/one/definitions", "/p/one/captures/" + one.ID, "/api/v1/one/captures/" + one.ID + "/rows?count=50", "/api/v1/one/proxies", "/api/v1/one/captures/" + one.ID + "/types", "/metrics"} {
		again(50*time.Millisecond, func() error {
			requests.Add(1)
			r, err := http.NewRequestWithContext(ctx, "GET", srv.URL+path, nil)
			if err != nil {
				return err
			}
			resp, err := client.Do(r)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			if resp.StatusCode != 200 {
				err = fmt.Errorf("%s: %s", path, resp.Status)
			}
			return err
		})
	}

	type sample struct{ heap, goroutines, files int }
	look := func() sample {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fds, _ := os.ReadDir("/proc/self/fd")
		return sample{int(m.HeapInuse+m.StackInuse) >> 20, runtime.NumGoroutine(), len(fds)}
	}
	start := time.Now()
	var base, last sample
	var filled int64 // bytes of the log at the time of base
	for step := duration / 20; ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-time.After(step):
			last = look()
			x := one.State()
			t.Logf("%v: %d MiB, %d goroutines, %d descriptors; %d frames, %d requests, %d edits, %d pages, %d failed, %d packets missed",
				time.Since(start).Round(time.Second), last.heap, last.goroutines, last.files, x.Frames, requests.Load(), edits.Load(), pages.Load(), failed.Load(), x.Record.Missed)
			if time.Since(start) < duration/3 || base == (sample{}) { // caches and the log fill
				base = sample{max(base.heap, last.heap), max(base.goroutines, last.goroutines), max(base.files, last.files)}
				filled = one.Log().Bytes()
			}
		}
	}
	all.Wait()
	grown := int(one.Log().Bytes()-filled) >> 20 // the log of live frames fills up to its bound
	if last.heap > base.heap+base.heap/4+32+grown*3/2 || last.goroutines > base.goroutines+50 || last.files > base.files+50 {
		t.Errorf("%+v at the end, %+v at first", last, base)
	}
	if x := one.State(); x.Lost > 0 || x.Record.Missed > 0 || int64(x.Frames) < int64(duration.Seconds()*soakRate/2) {
		t.Errorf("%d frames, %d bytes lost, %d packets missed", x.Frames, x.Lost, x.Record.Missed)
	}
	if n := failed.Load(); n > 0 {
		t.Errorf("%d requests failed", n)
	}
}

// soakPage opens a channel of a page.
func soakPage(ctx context.Context, address, kind, with string) (*wsconn.Conn, error) {
	conn, err := wsconn.Dial(ctx, strings.Replace(address, "http", "ws", 1)+"/ws/one/page", nil, 64<<20)
	if err != nil {
		return nil, err
	}
	if err := conn.Write(ctx, fmt.Appendf(nil, `{"id":1,"open":%q,"with":%s}`, kind, with)); err != nil {
		conn.Drop()
		return nil, err
	}
	return conn, nil
}
