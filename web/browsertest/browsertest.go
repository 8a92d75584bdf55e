// Package browsertest opens pages in a headless Chromium, for tests.
package browsertest

import (
	"context"
	"fmt"
	stdlog "log"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Open opens an address and waits until an element is visible. What the browser complains of fails the test.
//
// Without a browser the test is skipped, unless WIREBENCH_BROWSER=required.
func Open(t *testing.T, url, visible string) context.Context {
	return OpenAllowing(t, url, visible, nil)
}

// OpenAllowing is Open in a browser that may complain of what the expression matches.
func OpenAllowing(t *testing.T, url, visible string, allowed *regexp.Regexp) context.Context {
	t.Helper()
	if !slices.ContainsFunc([]string{"chromium", "chromium-browser", "google-chrome"}, func(name string) bool {
		_, err := exec.LookPath(name)
		return err == nil
	}) {
		if os.Getenv("WIREBENCH_BROWSER") == "required" {
			t.Fatal("no chromium found, and WIREBENCH_BROWSER=required")
		}
		t.Skip("no chromium found")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox,
		chromedp.WindowSize(1440, 900),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(complain))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)

	watch(t, ctx, allowed)
	Run(t, ctx, log.Enable(), emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(url))
	Arrive(t, ctx, visible)
	return ctx
}

// complain logs what is wrong between the test and the browser; events that the library does not know yet are not.
func complain(format string, args ...any) {
	if !strings.HasPrefix(format, "unhandled ") {
		stdlog.Printf("ERROR: "+format, args...)
	}
}

// OpenTab opens an address in another tab of the browser.
func OpenTab(t *testing.T, ctx context.Context, url, visible string) context.Context {
	t.Helper()
	tab, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	watch(t, tab, nil)
	Run(t, tab, log.Enable(), emulation.SetFocusEmulationEnabled(true), chromedp.Navigate(url))
	Arrive(t, tab, visible)
	return tab
}

// watch fails the test for what the browser complains of in a tab.
func watch(t *testing.T, ctx context.Context, allowed *regexp.Regexp) {
	t.Helper()
	var mu sync.Mutex
	var complaints []string
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			complaints = append(complaints, fmt.Sprintf("console.%s", e.Type))
		case *log.EventEntryAdded:
			complaints = append(complaints, e.Entry.Text)
		}
	})
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range complaints {
			if allowed == nil || !allowed.MatchString(c) {
				t.Errorf("the browser complains: %s", c)
			}
		}
	})
}

// Arrive waits until an element is visible, on whatever page the tab shows by then. It asks again and again, as what waits in a page ends
// with it.
func Arrive(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	expression := fmt.Sprintf("document.readyState === 'complete' && document.querySelector(%q)?.checkVisibility() === true", selector)
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var there bool
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		err = chromedp.Run(try, chromedp.Evaluate(expression, &there))
		cancel()
		if err == nil && there {
			return
		}
	}
	t.Fatalf("%s is not visible: %v", selector, err)
}

// Reload loads the page of a tab anew and waits until an element is visible. The selector begins with html.
func Reload(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	Run(t, ctx, chromedp.Evaluate(`document.documentElement.dataset.leaving = ""`, nil), chromedp.Reload())
	Arrive(t, ctx, "html:not([data-leaving])"+strings.TrimPrefix(selector, "html"))
}

// Run does actions in the page.
func Run(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// Value evaluates a JavaScript expression in the page.
func Value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	var result T
	Run(t, ctx, chromedp.Evaluate(expression, &result))
	return result
}
