package flows

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// The bar shows that the server is unreachable, and disables its controls; after reconnecting everything works again. A listener without
// traffic leaves no capture.
func TestFlowLiveServerAway(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	var away atomic.Bool
	srv := newGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() && (strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/ws/")) {
			panic(http.ErrAbortHandler) // as if the server were down
		}
		s.ServeHTTP(w, r)
	}))
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/live", "#live-start", regexp.MustCompile(`net::ERR|Close received after close|WebSocket`))}, s}
	f.do(`document.querySelector("#live-listen").value = "127.0.0.1:0"; document.querySelector("#live-upstream").value = "127.0.0.1:9"; document.querySelector("#live-start input[type=checkbox]").checked = true`)
	f.click("#live-start button")
	browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	f.shows("#live-state", "live")
	offered := func(is bool) {
		t.Helper()
		f.is(fmt.Sprintf("offered: %v", is), fmt.Sprintf(`["live-operate", "live-send", "live-marker", "live-stop"].every(id => document.getElementById(id)?.disabled === %v)`, !is))
	}
	offered(true)
	f.shows("#live-facts", "connection")
	away.Store(true)
	srv.cut()
	f.shows("#live-state", "server away")
	f.shows("#live-facts", "The server has not answered since")
	f.is("no green light", `document.querySelectorAll("#live-bar .dot.ok").length === 0 && document.querySelector("#live-bar .dot.err") !== null`)
	offered(false)
	f.focus(".frames-scroll")
	f.press("i")
	f.lacks("dialog.operate[open]")
	away.Store(false)
	f.is("it is back", `document.querySelector("#live-state")?.textContent.trim() === "live" && document.querySelectorAll("#live-bar .dot.ok").length === 1`)
	f.shows("#live-facts", "connection")
	offered(true)

	f.click("#live-stop")
	f.pick("Stop")
	f.shows("#live-state", "ended")
	f.shows("#live-facts", "No traffic was recorded")
	f.lacks("#live-recording")
	if all, err := s.Projects.Find("one").Captures.List(); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

// Opening the dialog for sending changes nothing; sending does. Form and rows are complete.
func TestFlowLiveSendAsks(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, "first")
	f.counts("2 frames")
	f.click("#live-send")
	p := f.page()
	p.Visible("dialog", "Send a message")
	f.shows("dialog", "Changes are off; Send turns them on")
	f.is("the hint is not cut", `(e => e.scrollWidth <= e.clientWidth)(Object.assign(document.querySelector("dialog .field input"), {value: document.querySelector("dialog .field input").placeholder}))`)
	f.press("Escape")
	p.Gone("dialog", "")
	f.is("nothing is on", `document.querySelector("#live-operate")?.textContent === "Intercept"`)
	operated := func() bool {
		t.Helper()
		var all struct{ Proxies []relay.Info }
		if code := servertest.Request(t, f.s, "GET", "/api/one/proxies", nil, &all); code != 200 || len(all.Proxies) != 1 || all.Proxies[0].Operate == nil {
			t.Fatalf("%d %+v", code, all)
		}
		return all.Proxies[0].Operate.On
	}
	if operated() {
		t.Fatal("opening the dialog has turned changes on")
	}
	f.press("Shift+D")
	p.Visible("dialog", "Send a message…") // no frame is selected as a template
	f.press("Escape")
	p.Gone("dialog", "")
	if operated() {
		t.Fatal("a form has turned changes on")
	}
	f.click("#live-send")
	p.Focused("combobox", "Message")
	p.Fill("textbox", "Bytes in hex", "01 04 00 73 65 6e 74")
	p.Click("button", "Send")
	g.hears(t, "sent")
	p.Says("Sent")
	f.press("Escape")
	f.shows("#live-operate", "Changes on")

	f.filter("say")
	f.counts("4 frames · 2 shown")
	f.focus(".frames-scroll")
	f.press("i") // off
	f.shows("#live-operate", "Intercept")
	f.press("i")
	f.shows("#live-operate", "Holding say")
	g.say(t, "north")
	f.is("a row in full", `document.querySelector("#held .held-what")?.textContent === 'text "north"'`)
	f.press("a")
	g.hears(t, "north")
}

// Two users of one session: each sees the actions of the other, and a message that both see is decided once.
func TestFlowLiveTwoPages(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, "first")
	f.counts("2 frames")
	other := captureFlow{flow{t, browsertest.OpenAllowing(t, browsertest.Value[string](t, f.ctx, "location.href"), "html.live #live-bar", regexp.MustCompile(`status of 40[49]`))}, f.s}
	other.counts("2 frames")
	f.filter("say")
	f.counts("2 frames · 1 shown")
	f.focus(".frames-scroll")
	f.press("i")
	f.shows("#live-operate", "Holding say")
	other.shows("#live-operate", "Holding say")
	g.say(t, "one", "two", "three")
	waiting := func(n int) {
		t.Helper()
		for _, x := range []captureFlow{f, other} {
			x.is(fmt.Sprintf("%d wait", n), fmt.Sprintf(`document.querySelectorAll("#held:not([hidden]) .held-row").length === %d`, n))
		}
	}
	waiting(3)
	// One changes a message while the other forwards it: the page shows the next one, and nothing else is sent.
	other.focus(".frames-scroll")
	other.press("e")
	other.page().Has("textbox", "text", "one")
	f.press("a")
	g.hears(t, "one")
	waiting(2)
	other.page().Has("textbox", "text", "two")
	f.press("Shift+A")
	g.hears(t, "three")
	f.is("none", `document.querySelector("#held").hidden`)
	other.is("none", `document.querySelector("#held").hidden`)
	other.focus(".frames-scroll")
	other.press("i")
	other.shows("#live-operate", "Intercept")
	f.shows("#live-operate", "Intercept")
	other.click("#live-stop")
	other.pick("Stop")
	other.shows("#live-state", "ended")
	f.shows("#live-state", "ended")
	f.is("its recording is offered", `document.querySelector("#live-recording") !== null`)
}

// The page of running traffic by keyboard alone: no mouse is needed, and the focus is never lost.
func TestFlowLiveByKeyboard(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, "first")
	f.counts("2 frames")
	// tab presses Tab until an element has the focus, and reports the way if it does not get there.
	tab := func(selector string) {
		t.Helper()
		var seen []string
		for range 120 {
			f.press("Tab")
			if browsertest.Value[bool](t, f.ctx, fmt.Sprintf(`document.activeElement?.matches(%s) === true`, jsText(selector))) {
				return
			}
			seen = append(seen, browsertest.Value[string](t, f.ctx, `(e => e.id || e.className || e.tagName)(document.activeElement)`))
		}
		t.Fatalf("%s is not reached: %q", selector, seen)
	}
	tab("#live-operate")
	f.types("\r") // as text, to activate the focused element
	f.is("the menu has the keys", `document.activeElement?.closest("[role=menu], .pop") !== null`)
	f.press("ArrowDown", "Enter")
	f.is("something is held", `document.querySelector("#live-operate")?.textContent.startsWith("Holding")`)
	f.is("the keys are back", `document.activeElement?.id === "live-operate"`)
	f.press("Escape")
	f.press("i") // off, and on for frames that match the filter: all
	f.shows("#live-operate", "Intercept")
	f.press("i")
	f.shows("#live-operate", "Holding all")
	g.say(t, "one", "two")
	f.is("two wait", `document.querySelectorAll("#held .held-row").length === 2`)
	f.press("w", "h")
	f.is("the first of them", `document.activeElement?.matches(".held-row:first-child")`)
	f.press("Enter")
	f.page().Focused("textbox", "text")
	f.press("Ctrl+a")
	f.types("by keys")
	f.press("Ctrl+Enter")
	g.hears(t, "by keys")
	f.is("the keys are not lost", `document.activeElement !== document.body`)
	f.press("Shift+A")
	g.hears(t, "two")
	f.press("i")
	f.shows("#live-operate", "Intercept")
	f.focus(".frames-scroll")
	f.do(`document.querySelector("#live-pause").focus()`)
	tab("#live-stop")
	f.types("\r")
	f.is("the question has the keys", `document.activeElement?.closest("[role=menu], .pop") !== null`)
	f.press("Enter")
	f.shows("#live-state", "ended")
	f.is("the recording has the keys", `document.activeElement?.id === "live-recording"`)
}
