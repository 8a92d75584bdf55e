package static_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"wirebench/static"
	"wirebench/web/browsertest"
)

// workbench opens testdata/workbench.html, which uses every class, under the strict content security policy of the pages. Errors and warnings
// of the browser fail the test.
func workbench(t *testing.T) context.Context {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		http.ServeFile(w, r, "testdata/workbench.html")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	return browsertest.Open(t, server.URL, "#f0")
}

func run(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	browsertest.Run(t, ctx, actions...)
}

func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	return browsertest.Value[T](t, ctx, expression)
}

func TestBrowserTheme(t *testing.T) {
	ctx := workbench(t)
	theme := func() string { return value[string](t, ctx, `document.documentElement.dataset.theme ?? ""`) }
	ground := func() string {
		return value[string](t, ctx, `getComputedStyle(document.querySelector(".pane")).backgroundColor`)
	}
	run(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	for _, step := range []struct{ theme, ground, label string }{
		{"", "rgb(21, 26, 32)", "Theme: system"},
		{"light", "rgb(255, 255, 255)", "Theme: light"},
		{"dark", "rgb(21, 26, 32)", "Theme: dark"},
	} {
		if got := theme(); got != step.theme {
			t.Errorf("theme %q, want %q", got, step.theme)
		}
		if got := ground(); got != step.ground {
			t.Errorf("theme %q: panes are %s, want %s", step.theme, got, step.ground)
		}
		if got := value[string](t, ctx, `document.getElementById("theme").getAttribute("aria-label")`); got != step.label {
			t.Errorf("the button says %q, want %q", got, step.label)
		}
		run(t, ctx, chromedp.Click("#theme"))
	}
	run(t, ctx, chromedp.Click("#theme"), chromedp.Reload(), chromedp.WaitVisible("#f0"))
	if got := theme(); got != "light" {
		t.Errorf("theme after loading the page again: %q, want the one chosen, light", got)
	}
}

func TestBrowserWidths(t *testing.T) {
	ctx := workbench(t)
	for _, width := range []int64{360, 600, 800, 1024, 1440, 2560} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			run(t, ctx, chromedp.EmulateViewport(width, 900))
			if got := value[int64](t, ctx, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("the page is %d pixels wide in a window of %d", got, width)
			}
			const pageScrolls = `document.documentElement.scrollHeight > innerHeight`
			if value[bool](t, ctx, pageScrolls) {
				t.Error("the page itself scrolls, not its panes")
			}
		})
	}
}
