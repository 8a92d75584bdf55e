package flows

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	{"workbench", 261_000, 180_000},
	{"capture", 317_000, 240_000},
	{"places", 53_700, 45_000},
	{"docs", 12_900, 20_000},
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
