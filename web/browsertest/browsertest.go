// Package browsertest operates pages in a headless Chromium through mouse and keyboard, for tests.
//
// All tests of a package share one Chromium; each Open has its own storage, cookies and windows. A test that opens a page is named
// TestFlow... or TestBrowser...: .ci/run runs these tests separately, without the race detector.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Open opens an address and waits until an element is visible. Any error or warning of the browser fails the test.
//
// WIREBENCH_BROWSER=off skips the test, WIREBENCH_BROWSER=required fails it if no Chromium is found. WIREBENCH_SLOW=8 makes pages eight times as
// slow, to find tests, and pages, that depend on a fast one.
func Open(t *testing.T, url, visible string) context.Context {
	return OpenAllowing(t, url, visible, nil)
}

// Require skips or fails a test without a browser, as Open does, before it prepares large data.
func Require(t *testing.T) {
	t.Helper()
	if !strings.HasPrefix(t.Name(), "TestFlow") && !strings.HasPrefix(t.Name(), "TestBrowser") {
		t.Fatal("a test that opens a page must be named TestFlow... or TestBrowser...")
	}
	mode := os.Getenv("WIREBENCH_BROWSER")
	if mode == "off" {
		t.Skip("WIREBENCH_BROWSER=off")
	}
	if program() == "" {
		if mode == "required" {
			t.Fatal("no chromium found, and WIREBENCH_BROWSER=required")
		}
		t.Skip("chromium is not installed")
	}
}

// program returns the path of a Chromium, or "". The headless shell needs half the processor time of a full one. Debian's command for it is a
// script that would leave the browser behind when it is killed, so its program comes first.
func program() string {
	for _, name := range []string{"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chrome-headless-shell", "headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// OpenAllowing is Open, ignoring errors and warnings that match allowed.
func OpenAllowing(t *testing.T, url, visible string, allowed *regexp.Regexp) context.Context {
	t.Helper()
	Require(t)
	browser := acquire(t)
	at := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
	profile, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.DisposeBrowserContext(profile).Do(at) })
	ctx, cancel := context.WithTimeout(context.WithValue(browser, profileKey{}, profile), 4*time.Minute)
	t.Cleanup(cancel)
	return openWindow(t, ctx, url, visible, allowed)
}

// OpenTab opens an address in another window that shares storage and cookies.
func OpenTab(t *testing.T, ctx context.Context, url, visible string) context.Context {
	t.Helper()
	return openWindow(t, ctx, url, visible, nil)
}

type profileKey struct{} // of a context: the cdp.BrowserContextID of its pages

func openWindow(t *testing.T, ctx context.Context, url, visible string, allowed *regexp.Regexp) context.Context {
	t.Helper()
	at := cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
	// A separate window: a page in the background is not drawn.
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(ctx.Value(profileKey{}).(cdp.BrowserContextID)).WithNewWindow(true).WithWidth(1440).WithHeight(900).Do(at)
	if err != nil {
		t.Fatal(err)
	}
	tab, cancel := chromedp.NewContext(ctx, chromedp.WithTargetID(id))
	t.Cleanup(cancel)
	watch(t, tab, allowed)
	if slow, err := strconv.ParseFloat(os.Getenv("WIREBENCH_SLOW"), 64); err == nil { // a page must work on a slow machine too
		Run(t, tab, emulation.SetCPUThrottlingRate(slow))
	}
	Run(t, tab, log.Enable(), emulation.SetFocusEmulationEnabled(true), emulation.SetDeviceMetricsOverride(1440, 900, 1, false), chromedp.Navigate(url))
	Arrive(t, tab, visible)
	return tab
}

// shared is the Chromium of all running tests.
var shared struct {
	sync.Mutex
	ctx   context.Context
	close func()
	users int
	kept  bool // by Main
}

// Main runs the tests of a package with one Chromium, which stays between tests that run one after another: it is the TestMain of a package
// with many of them.
func Main(m *testing.M) int {
	shared.kept = true
	defer func() {
		if shared.close != nil {
			shared.close()
		}
	}()
	return m.Run()
}

// acquire starts the Chromium for the first test that needs it. The last test to end closes it, unless Main does.
func acquire(t *testing.T) context.Context {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.close == nil {
		ctx, closeBrowser, err := start()
		if err != nil {
			t.Fatalf("start chromium: %v", err)
		}
		shared.ctx, shared.close = ctx, closeBrowser
	}
	shared.users++
	t.Cleanup(func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.users--; shared.users == 0 && !shared.kept {
			shared.close()
			shared.close = nil
		}
	})
	return shared.ctx
}

func start() (context.Context, func(), error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program()),
		chromedp.NoSandbox,
		chromedp.WindowSize(1440, 900),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true),
		// The first three are of the default options. Each window would keep another process ready, which costs a tenth of all time.
		chromedp.Flag("disable-features", "site-per-process,Translate,BlinkGenPropertyTrees,SpareRendererForSitePerProcess"),
		chromedp.Flag("renderer-process-limit", "1"), // of a profile: its windows, and what a page was loaded over, have one process
		chromedp.WSURLReadTimeout(time.Minute),
	)
	allocated, free := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocated, chromedp.WithErrorf(complain))
	closeBrowser := func() {
		_ = chromedp.Cancel(ctx) // waits for the browser to end
		cancel()
		free()
	}
	if err := chromedp.Run(ctx); err != nil {
		closeBrowser()
		return nil, nil, err
	}
	return ctx, closeBrowser, nil
}

// complain logs errors between the test and the browser, except events unknown to the library.
func complain(format string, args ...any) {
	if !strings.HasPrefix(format, "unhandled ") {
		stdlog.Printf("ERROR: "+format, args...)
	}
}

// watch fails the test for errors and warnings of a page.
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
			said := fmt.Sprintf("console.%s", e.Type)
			for _, arg := range e.Args {
				said += " " + strings.TrimSpace(string(arg.Value)+" "+arg.Description)
			}
			complaints = append(complaints, said)
		case *log.EventEntryAdded:
			complaints = append(complaints, strings.TrimSpace(e.Entry.Text+" "+e.Entry.URL))
		}
	})
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range complaints {
			if allowed == nil || !allowed.MatchString(c) {
				t.Errorf("browser console: %s", c)
			}
		}
	})
}

// Arrive waits until an element is visible, possibly after navigations of the tab.
func Arrive(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	expression := fmt.Sprintf("document.readyState === 'complete' && document.querySelector(%q)?.checkVisibility() === true", selector)
	if err := poll(ctx, expression, func(there bool) bool { return there }); err != nil {
		t.Fatalf("%s is not visible: %v", selector, err)
	}
}

var errNever = errors.New("not within 40 seconds")

// poll evaluates an expression until its value is accepted. A navigation aborts a wait inside the page, so each attempt is a separate call.
func poll[T any](ctx context.Context, expression string, accept func(T) bool) error {
	err := errNever
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		var value T
		try, cancel := context.WithTimeout(ctx, 10*time.Second)
		failed := chromedp.Run(try, chromedp.Evaluate(expression, &value))
		cancel()
		if failed == nil && accept(value) {
			return nil
		}
		if failed != nil {
			err = failed
		}
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

// Reload reloads the page of a tab and waits until an element is visible. The selector begins with html.
func Reload(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	Run(t, ctx, chromedp.Evaluate(`document.documentElement.dataset.leaving = ""`, nil), chromedp.Reload())
	Arrive(t, ctx, "html:not([data-leaving])"+strings.TrimPrefix(selector, "html"))
}

// Run runs actions in the page.
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

// Painted waits until the page has been painted: its sizes are then final.
func Painted() chromedp.Action {
	const frames = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`
	return chromedp.Evaluate(frames, nil, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })
}
