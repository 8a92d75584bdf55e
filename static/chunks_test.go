package static_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"wirebench/static"
	"wirebench/web/browsertest"
)

// A part of the page that is loaded on demand says why it cannot be loaded, and can be tried again.
func TestBrowserLateParts(t *testing.T) {
	var answer atomic.Int64 // to requests for the dialogs; 0: the file
	answer.Store(http.StatusServiceUnavailable)
	mux := http.NewServeMux()
	mux.HandleFunc("/static/", func(w http.ResponseWriter, r *http.Request) {
		if status := answer.Load(); strings.Contains(r.URL.Path, "/dialogs-") && status != 0 {
			http.Error(w, "not now", int(status))
			return
		}
		static.Handler().ServeHTTP(w, r)
	})
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		http.ServeFile(w, r, "testdata/workbench.html")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	ctx := browsertest.OpenAllowing(t, server.URL, "#f0", regexp.MustCompile("Failed to load resource"))

	toast := func(want string) {
		t.Helper()
		run(t, ctx, chromedp.KeyEvent("?"), chromedp.Poll(`document.querySelector(".toasts")?.textContent.includes("`+want+`")`, nil, chromedp.WithPollingInterval(25*time.Millisecond)))
	}
	toast("could not be loaded. Try again")
	answer.Store(http.StatusNotFound)
	toast("earlier version of the server")
	answer.Store(0)
	run(t, ctx, chromedp.KeyEvent("?"), chromedp.WaitVisible("dialog[open]"))
}
