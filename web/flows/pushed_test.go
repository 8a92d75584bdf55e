package flows

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// Pages request nothing about listeners, neither while nothing happens nor while traffic flows: what changes is pushed to them. A page of a
// definition requests nothing at all.
func TestFlowListenersArePushed(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	var mu sync.Mutex
	asked := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") && r.Header.Get("Sec-Fetch-Mode") != "" { // not of the test
			mu.Lock()
			asked[r.Method+" "+r.URL.Path]++
			mu.Unlock()
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.Close(); srv.Close() })
	requests := func() string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprint(asked)
	}
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/say", openSelector)}
	var p relay.Info
	start := func() {
		t.Helper()
		if code := servertest.Call(t, f.ctx, srv.URL, "POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q}`, servertest.EchoGame(t)), &p); code != 201 {
			t.Fatal(code)
		}
	}
	start()
	f.is("the listener is counted", `document.querySelector("#live-count").textContent === "1"`)
	quiet := func(what string, messages int) {
		t.Helper()
		f.is("the page has its captures", `document.querySelector("#captures-count").textContent !== ""`)
		time.Sleep(300 * time.Millisecond) // of requests that are under way
		before := requests()
		c, err := net.Dial("tcp", p.Pairs[0].Listen)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for range messages {
			if _, err := c.Write([]byte{1, 4, 0, 't', 'e', 'x', 't'}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
		}
		if after := requests(); what == "definition" && after != before || strings.Contains(after, "/proxies") {
			t.Errorf("%s: requests %s, before the traffic %s", what, after, before)
		}
	}
	quiet("definition", 28) // longer than the growth of captures waits
	f.visit(srv.URL+"/p/one/live", "#live-list")
	quiet("live traffic", 6)
	f.shows("#live-list", "1 open, 2 in all")
	if code := servertest.Call(t, f.ctx, srv.URL, "DELETE", "/api/one/proxies/"+p.ID, "", nil); code != 204 {
		t.Fatal(code)
	}
	f.is("none is counted", `document.querySelector("#live-count").textContent === ""`)
}
