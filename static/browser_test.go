package static_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"wirebench/static"
	"wirebench/web/browsertest"
)

// workbench opens testdata/workbench.html, which shows every class, under the strict policy that pages are served with. What the
// browser complains of fails the test.
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

// lit names all that is lit: ids, except that the bytes come as one list of numbers.
func lit(t *testing.T, ctx context.Context) []string {
	t.Helper()
	return value[[]string](t, ctx, `[...document.querySelectorAll(".lit:not(.asc)")].map(e => e.id || e.className)`)
}

func bytesOf(first, last int) (ids []string) {
	for i := first; i <= last; i++ {
		ids = append(ids, fmt.Sprintf("h%d", i))
	}
	return ids
}

func TestLinks(t *testing.T) {
	ctx := workbench(t)
	second := slices.Concat([]string{"l2", "cell-player", "layout-player"}, bytesOf(24, 27), []string{"f11"})
	for _, test := range []struct {
		name string
		over string // id of what the pointer is on
		want []string
	}{
		{name: "a row of the tree", over: "f11", want: second},
		{name: "a byte stands for its field", over: "h25", want: second},
		{name: "an array and not its elements", over: "whole", want: slices.Concat([]string{"l1", "cell var w4"}, bytesOf(12, 27), []string{"whole"})},
		{name: "a line of the definition stands for every element", over: "l2", want: slices.Concat([]string{"l2", "cell-player", "layout-player"}, bytesOf(16, 19), bytesOf(24, 27), []string{"f8", "f11"})},
		{name: "a cell of the diagram", over: "cell-player", want: slices.Concat([]string{"l2", "cell-player", "layout-player"}, bytesOf(16, 19), bytesOf(24, 27), []string{"f8", "f11"})},
		{name: "nothing", over: "main", want: []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run(t, ctx, chromedp.Evaluate(fmt.Sprintf(`document.getElementById(%q).dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`, test.over), nil))
			// Which of the cells of line 1 are lit is told by their number, not by a name.
			got := slices.DeleteFunc(lit(t, ctx), func(id string) bool { return strings.HasPrefix(id, "cell w2") })
			for i, id := range got {
				if strings.HasPrefix(id, "cell w4 var") {
					got[i] = "cell var w4"
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("lit (-want +got):\n%s", diff)
			}
		})
	}

	t.Run("a page that changed", func(t *testing.T) {
		run(t, ctx,
			chromedp.Evaluate(`document.getElementById("f0").dataset.range = "8:8"; document.getElementById("f0").id = "moved"`, nil),
			chromedp.Evaluate(`document.getElementById("h1").dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`, nil))
		if diff := cmp.Diff([]string{"h1", "moved"}, lit(t, ctx)); diff != "" {
			t.Errorf("lit (-want +got):\n%s", diff)
		}
	})
}

func TestKeyboard(t *testing.T) {
	ctx := workbench(t)
	run(t, ctx, chromedp.EmulateViewport(1400, 600), chromedp.Focus("#f0"))
	active := func() string { return value[string](t, ctx, `document.activeElement.id`) }
	for _, step := range []struct{ key, want string }{
		{kb.ArrowUp, "f0"},
		{kb.ArrowDown, "f1"},
		{kb.PageDown, "f10"},
		{kb.End, "f12"},
		{kb.ArrowDown, "f12"},
		{kb.ArrowUp, "f11"},
		{kb.PageUp, "f2"},
		{kb.Home, "f0"},
		{kb.End, "f12"},
	} {
		run(t, ctx, chromedp.KeyEvent(step.key))
		if got := active(); got != step.want {
			t.Errorf("after %q the focus is on %q, want %q", step.key, got, step.want)
		}
	}
	if diff := cmp.Diff(append([]string{"l3"}, append(bytesOf(28, 37), "f12")...), slices.DeleteFunc(lit(t, ctx), func(id string) bool { return strings.HasPrefix(id, "cell") })); diff != "" {
		t.Errorf("what the focus lights (-want +got):\n%s", diff)
	}
	if inOrder := value[[]string](t, ctx, `[...document.querySelectorAll(".tree tr[tabindex='0']")].map(e => e.id)`); !slices.Equal(inOrder, []string{"f12"}) {
		t.Errorf("rows in the tab order: %v, want the focused one alone", inOrder)
	}
	run(t, ctx, chromedp.Evaluate(`document.activeElement.blur()`, nil))
	if got := lit(t, ctx); len(got) > 0 {
		t.Errorf("lit after the focus left: %v", got)
	}
}

func TestTheme(t *testing.T) {
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

func TestWidths(t *testing.T) {
	ctx := workbench(t)
	for _, width := range []int64{360, 600, 800, 1024, 1440, 2560} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			run(t, ctx, chromedp.EmulateViewport(width, 900))
			if got := value[int64](t, ctx, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("the page is %d pixels wide in a window of %d", got, width)
			}
			const cut = `[...document.querySelectorAll(".grid-hex")].filter(e => e.scrollWidth > e.clientWidth).length`
			if got := value[int](t, ctx, cut); got > 0 {
				t.Error("a row of bytes does not fit its pane")
			}
			const pageScrolls = `document.documentElement.scrollHeight > innerHeight`
			if got, want := value[bool](t, ctx, pageScrolls), width < 992; got != want {
				t.Errorf("the page itself scrolls: %t, want %t", got, want)
			}
		})
	}
}
