package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What axe-core would find is found, also of a text that looks as another one but for what is painted behind it.
func TestBrowserAxe(t *testing.T) {
	const page = `<!doctype html><html lang="en"><title>Ships</title><link rel="icon" href="data:,">
		<style>:root { background: #fff; color: #000 } .lid { background: #333 } .half { opacity: .4 }
		@media (prefers-color-scheme: dark) { :root { background: #111; color: #fff } .night { color: #454545 } }</style>
		<main><h1>Ships</h1><p>Aurora</p><p class="night">Borealis</p><div id="later"></div></main>`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(s.Close)
	ctx := Open(t, s.URL, "h1")
	expect := func(state string, want ...string) {
		t.Helper()
		found := violations(t, ctx, true)
		if len(found) != len(want) {
			t.Errorf("%s: %q", state, found)
			return
		}
		for i, w := range want {
			for _, part := range strings.Split(w, "|") {
				if !strings.Contains(found[i], part) {
					t.Errorf("%s: %q lacks %q", state, found[i], part)
				}
			}
		}
	}
	later := func(html string) {
		t.Helper()
		Run(t, ctx, chromedp.Evaluate("later.innerHTML = `"+html+"`; undefined", nil))
	}
	expect("a color of the dark theme", "dark: color-contrast|.night")
	expect("nothing new")
	later(`<p class="lid">Cassiopeia</p><p>Aurora</p>`)
	expect("a dark ground", "light: color-contrast|.lid")
	later(`<div class="half"><p>Deneb</p></div>`)
	expect("half transparent", "dark: color-contrast|.half") // in both: once a page
	later(`<img src="data:,"><p>Aurora</p>`)
	expect("a rule without colors", "image-alt|img")
}
