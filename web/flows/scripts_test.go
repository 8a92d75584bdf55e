package flows

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/defs/corpora"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// loads is the budget of JavaScript: what a browser requests for a page until it is idle, in bytes of gzip. The limits are a little above
// what the pages need; aim is what they are to need.
var loads = []struct {
	page      string
	most, aim int
}{
	{"workbench", 217_500, 180_000},
	{"capture", 163_800, 240_000},
	{"places", 44_000, 45_000},
	{"docs", 10_100, 20_000},
}

// Pages do not load more scripts than their budget, those that are fetched ahead of their use included.
func TestFlowScriptsOfPages(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	s := captureServer(t, "muta", map[string]string{"game.def": corpora.Own().Text(t, "captures/muta-session.def")})
	id := servertest.Keep(t, s, "muta-session.pcapng", corpora.Own().Read(t, "captures/muta-session.pcapng")).ID
	srv := serve(t, s)
	paths := map[string]string{"workbench": "/p/one/definitions/clmsg_login", "capture": "/p/one/captures/" + id, "places": "/p/one/captures", "docs": "/docs"}
	for _, l := range loads {
		f := flow{t, browsertest.Open(t, srv.URL+paths[l.page], "main")}
		names := f.scripts()
		sum := 0
		var list strings.Builder
		for _, name := range names {
			n := gzipSize(t, filepath.Join("../../static", filepath.FromSlash(name)))
			sum += n
			fmt.Fprintf(&list, "%7d %s\n", n, name)
		}
		t.Logf("%s: %d bytes in %d scripts, at most %d; the aim is %d\n%s", l.page, sum, len(names), l.most, l.aim, list.String())
		if sum > l.most {
			t.Errorf("%s loads %d bytes of JavaScript, at most %d are right\n%s", l.page, sum, l.most, list.String())
		}
		if !slices.Contains(names, "app.js") || l.page == "capture" && !slices.Contains(names, "capture.js") {
			t.Errorf("%s loads %v", l.page, names)
		}
	}
}

// Keys that are pressed before the part of the page is there that they are for are not lost: a command opens a dialog, and what is typed goes there.
func TestFlowKeysBeforeParts(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	s, _ := filesServer(t, flowFiles())
	type part struct {
		asked, arrived   chan struct{}
		request, arrives func()
	}
	parts := map[string]part{}
	for _, name := range []string{"finder", "dialog", "menus", "popup"} {
		asked, arrived := make(chan struct{}), make(chan struct{})
		p := part{asked, arrived, sync.OnceFunc(func() { close(asked) }), sync.OnceFunc(func() { close(arrived) })}
		parts[name] = p
		t.Cleanup(p.arrives) // also after a failure: the server waits for its handlers
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/static/chunks/"), "-")
		if p, ok := parts[name]; ok {
			p.request()
			<-p.arrived
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions/C_JOIN.1#d=C_JOIN.1&hex="+joinHex, openSelector, regexp.MustCompile(`Close received after close`))}
	p := f.page()
	f.bytes(joinHex)
	p.Press("Ctrl+G")
	p.Type("3")
	p.Press("Enter")
	parts["dialog"].arrives()
	f.shows("#pointed", "@ 0x02 +2") // the field of the offset
	p.Press("Ctrl+K")
	p.Type("copy bytes")
	p.Press("Enter")
	parts["finder"].arrives()
	p.Gone("dialog", "Go to anything")
	moves := func(name string) { // in a menu that the part opens
		t.Helper()
		<-parts[name].asked
		f.is("no menu yet", `document.querySelector("[role=menu]") === null`)
		p.Press("End", "ArrowUp")
		parts[name].arrives()
		f.is("the keys move in the menu", `(rows => rows.length > 2 && document.activeElement === rows.at(-2))([...document.querySelectorAll("[role=menuitem]")])`)
		p.Press("Escape")
		f.is("the menu is closed", `document.querySelector("[role=menu]") === null`)
	}
	moves("menus") // with the formats of bytes
	p.RightClick("heading", "C_JOIN.1.def")
	moves("popup")
}

// scripts returns the names of the scripts that the page has requested once it requests no more for two seconds.
func (f flow) scripts() (names []string) {
	f.Helper()
	for quiet, end := 0, time.Now().Add(40*time.Second); quiet < 20; quiet++ {
		if time.Now().After(end) {
			f.Fatal("the page does not come to rest")
		}
		now := browsertest.Value[[]string](f.T, f.ctx, `[...new Set(performance.getEntriesByType("resource").map(e => new URL(e.name).pathname)
			.filter(p => p.startsWith("/static/") && p.endsWith(".js")).map(p => p.slice("/static/".length)))].sort()`)
		if len(now) != len(names) || browsertest.Value[bool](f.T, f.ctx, `document.readyState !== "complete"`) {
			quiet = 0
		}
		names = now
		time.Sleep(100 * time.Millisecond)
	}
	return names
}

func gzipSize(t *testing.T, path string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.Write(content)
	w.Close()
	return b.Len()
}
