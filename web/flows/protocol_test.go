package flows

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"wirebench/defs/corpora"
	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// picture stores a screenshot if they are wanted, and goes back to the size of the page.
func (f flow) picture(name string, width, height int64) {
	f.Helper()
	if os.Getenv("WIREBENCH_LOOK") == "" {
		return
	}
	f.shot(name, width, height)
	browsertest.Run(f.T, f.ctx, emulation.ClearDeviceMetricsOverride())
}

// pictures stores screenshots in the widths of people, light and dark.
func (f flow) pictures(name string) {
	f.Helper()
	if os.Getenv("WIREBENCH_LOOK") == "" {
		return
	}
	for _, theme := range []string{"light", "dark"} {
		f.do(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
		f.picture(name+"-"+theme, 1440, 900)
	}
	f.picture(name+"-phone", 390, 800)
	f.do(`delete document.documentElement.dataset.theme`)
}

// writes replaces the text of the editor.
func (f flow) writes(text string) {
	f.Helper()
	f.do(fmt.Sprintf(`{
		const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view
		view.focus()
		view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: %s}, userEvent: "input.paste"})
	}`, jsText(text)))
}

// The page "Your own protocol, from nothing to live" of the manual, step by step.
func TestFlowOwnProtocol(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	game := newRegatta(t)
	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := serve(t, s)
	ctx := browsertest.OpenAllowing(t, srv.URL, openSelector, regexp.MustCompile(`Close received after close|status of 4(22|09)|WebSocket|net::ERR`))
	f := captureFlow{flow{t, ctx}, s}
	p := f.page()

	// A project.
	f.click(`.views summary`)
	p.Click("link", "All projects, new project …")
	browsertest.Arrive(t, ctx, ".projects")
	p.Fill("textbox", "Title", "Regatta")
	f.do(`{ const s = document.querySelector("#new-protocol"); s.value = "protodef" }`)
	p.Click("button", "Make the project")
	browsertest.Arrive(t, ctx, openSelector)
	f.is("the project", `location.pathname.startsWith("/p/regatta/definitions")`)

	// Without an envelope a listener says what is needed.
	f.visit(srv.URL+"/p/regatta/live", "#live-start")
	p.Visible("link", "an envelope")
	f.pictures("live-without")

	// Definitions.
	f.visit(srv.URL+"/p/regatta/definitions", openSelector)
	p.Click("link", "New definition")
	p.Fill("textbox", "Name of the new file", "regatta.json")
	p.Press("Enter")
	f.writes(servertest.RegattaText(t, "json"))
	f.press("Ctrl+S")
	f.is("the messages", `[...document.querySelectorAll("#rail-list .item")].some(e => e.dataset.name === "heard")`)
	f.saved()

	// The envelope.
	p.Click("link", "New envelope")
	browsertest.Arrive(t, ctx, openSelector+"[data-envelope]")
	f.shows(".definition-editor .cm-content", "# How the messages of the protocol travel")
	f.shows("#definition-notes", "No mistakes")
	f.pictures("envelope-new")
	f.writes("frame length u24 be including itself\ncode varint\nstate login\n  logn -> play\nstate play\n")
	f.shows("#definition-notes", "logn")
	f.writes(servertest.RegattaText(t, "envelope"))
	f.shows("#definition-notes", "No mistakes")
	f.press("Ctrl+S")
	f.saved()
	f.is("it is listed", `document.querySelector('#rail-list .item[data-name="protocol.envelope"] .dot.ok') !== null`)
	if now := s.Projects.Find("regatta").Now(); now.Envelope == nil || now.EnvelopeFile.Text != servertest.RegattaText(t, "envelope") {
		t.Fatal("the envelope is not stored")
	}

	// Live.
	f.visit(srv.URL+"/p/regatta/live", "#live-start")
	p.Fill("textbox", "Listen on", "127.0.0.1:0")
	p.Fill("textbox", "and relay to the server at", game.addr)
	p.Click("checkbox", "allow changes")
	p.Click("button", "Start")
	browsertest.Arrive(t, ctx, "html.live #live-bar")
	f.shows(".frames-empty", "Point the client at 127.0.0.1:")
	addr := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(browsertest.Value[string](t, ctx, `document.querySelector(".frames-empty").innerText`))
	client := sail(t, addr)
	client.say(t, "ahoy")
	client.gets(t, "ahoy")
	f.counts("5 frames")
	for n, name := range []string{"login", "welcome", "chart", "say", "heard"} {
		f.is("frame "+name, frameRowOf(n+1)+fmt.Sprintf(`?.textContent.includes(%q)`, name))
	}
	f.choose(4, false)
	f.shows(row("text"), `"ahoy"`)
	f.pictures("live")

	// What the envelope cuts.
	live := browsertest.Value[string](t, ctx, `location.href`)
	f.visit(srv.URL+"/p/regatta/definitions/protocol.envelope", openSelector+"[data-envelope]")
	f.shows("#cut-head", "5 frames: 5 decode exactly")
	f.shows("#cut-frames", "welcome 0x01")
	f.pictures("envelope")
	f.caret(2)
	f.press(slicesOf("Backspace", len(" including itself"))...)
	f.shows("#cut-head", "problem")
	f.pictures("envelope-wrong")
	f.caret(2)
	f.press(slicesOf("Ctrl+Z", 2)...)
	f.writes(servertest.RegattaText(t, "envelope"))
	f.shows("#cut-head", "5 frames: 5 decode exactly")
	p.Click("button", "chart 0x02")
	f.shows("#fields-head", "chart")
	f.pictures("envelope-frame")

	// Hold, change, send.
	f.visit(live, "html.live #live-bar")
	f.counts("5 frames")
	f.is("it can be operated", `document.querySelector("#live-operate")?.disabled === false`)
	f.filter("say")
	f.counts("5 frames · 1 shown")
	f.focus(".frames-scroll")
	f.press("i")
	f.shows("#live-operate", "Holding say")
	client.say(t, "hold me")
	f.is("it is held", `[...document.querySelectorAll("#held:not([hidden]) .held-row")].some(e => e.textContent.includes("hold me"))`)
	f.focus(".frames-scroll")
	f.press("e")
	f.is("the value is offered", `document.activeElement?.value === "hold me"`)
	changed := strings.Repeat("held and changed ", 12) // compressed, as it has more than 128 bytes
	p.Fill("textbox", "text", changed)
	f.press("Enter")
	f.shows(".held-changes", `"hold me"`)
	f.pictures("held")
	p.Click("button", "Send changed a")
	game.hears(t, changed)
	client.gets(t, changed)
	f.focus(".frames-scroll")
	f.press("i")
	client.say(t, "still here")
	client.gets(t, "still here")

	// Replay.
	f.click("#live-stop")
	f.pick("Stop")
	f.shows("#live-state", "ended")
	f.visit(srv.URL+"/p/regatta/captures", "#place table")
	browsertest.Run(t, ctx, chromedp.Evaluate(`[...document.querySelectorAll("button")].find(b => b.getAttribute("aria-label")?.startsWith("More about live"))?.click()`, nil))
	p.Click("menuitem", "Replay …")
	p.Visible("button", "Script: 9 steps…")
	p.Fill("textbox", "Server", game.addr)
	p.Click("button", "Start")
	p.Says("✓ as recorded")
	f.pictures("replay")
	game.hears(t, "still here")
}

func slicesOf(key string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = key
	}
	return out
}

// The envelope that was found in a capture is shown with others, used for the project, and edited together with somebody else.
func TestFlowFoundEnvelope(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	s := captureServer(t, "protodef", map[string]string{"regatta.json": servertest.RegattaText(t, "json")})
	id := servertest.Keep(t, s, "plain.pcapng", servertest.Regatta(t, 30)).ID
	srv := serve(t, s)
	ctx := browsertest.OpenAllowing(t, srv.URL+"/p/one/captures/"+id, openSelector, regexp.MustCompile(`Close received after close`))
	f := captureFlow{flow{t, ctx}, s}
	p := f.page()
	f.counts("62 frames")
	f.shows(".proposals", "Envelope found in this capture:")
	f.shows(".proposals", "in 62 frames")
	f.pictures("proposal")
	p.Click("button", "Show")
	f.shows("dialog .envelope-text", "frame length u24 be including itself")
	f.shows("dialog .envelope-list li:first-child", "in use")
	f.pictures("envelopes")
	f.axe("the envelopes that fit")
	f.click("dialog .envelope-list li:nth-child(2) .btn")
	p.Visible("button", "Use for this capture")
	p.Click("button", "Close")

	// A new envelope begins with the one that was found.
	f.visit(srv.URL+"/p/one/definitions/protocol.envelope", openSelector+"[data-envelope]")
	f.shows(".definition-editor .cm-content", "# found in plain.pcapng:")
	f.shows("#cut-head", "62 frames: 62 decode exactly")

	f.visit(srv.URL+"/p/one/captures/"+id, openSelector)
	p.Click("button", "Use for the project")
	f.is("it is stored", `document.querySelector(".toasts")?.innerText.includes("Stored as protocol.envelope")`)
	f.is("nothing is proposed", `document.querySelectorAll(".proposal").length === 0`)
	f.counts("62 frames")
	p.Click("button", "Open it")
	browsertest.Arrive(t, ctx, openSelector+"[data-envelope]")
	f.shows("#cut-head", "62 frames: 62 decode exactly")
	f.is("the messages of the list stay", `document.querySelector('#rail-list .item[data-name="heard"]') !== null`)

	// Completion: names of messages, fields and states.
	f.writes("frame length u24 be including itself\ncode varint\n\nstate login\n\nstate play\n")
	f.caret(5)
	f.types("  lo")
	f.is("messages are offered", `[...document.querySelectorAll(".cm-tooltip-autocomplete li")].some(e => e.textContent.startsWith("login"))`)
	f.press("Escape")
	f.types("gin to-server -> pl")
	f.is("states are offered", `[...document.querySelectorAll(".cm-tooltip-autocomplete li")].some(e => e.textContent.startsWith("play"))`)
	browsertest.Run(t, ctx, chromedp.Sleep(50e6)) // the list takes no key at once
	f.press("Tab")
	f.types(": cipher xor key sec")
	f.is("fields are offered", `[...document.querySelectorAll(".cm-tooltip-autocomplete li")].some(e => e.textContent.startsWith("secret"))`)
	browsertest.Run(t, ctx, chromedp.Sleep(50e6)) // the list takes no key at once
	f.press("Tab")
	f.is("the line", editorText+`.includes("  login to-server -> play: cipher xor key secret")`)
	f.shows("#definition-notes", "No mistakes")

	// Formatting, saving, the history, and editing together.
	f.press("Shift+Alt+F")
	f.press("Ctrl+S")
	f.saved()
	f.together()
	f.caret(1)
	f.types("  # shared")
	f.saves()
	f.is("the change is kept", `fetch("/api/v1/one/definitions/protocol.envelope", {headers: {Accept: "text/plain"}}).then(r => r.text()).then(t => t.includes("# shared"))`)
	f.ofDefinition("History…")
	p.Visible("dialog", "")
	f.pictures("envelope-history")
}

// A published definition and a session of its game, and nothing else: the first visit of the capture finds the envelope and names all frames.
func TestFlowStranger(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	c := corpora.Own()
	session := c.Read(t, "protodef/session-1.16.1.pcapng")
	s := captureServer(t, "protodef", map[string]string{"pc-1.16.1.json": c.Text(t, "protodef/pc-1.16.1.json")})
	id := servertest.Keep(t, s, "session-1.16.1.pcapng", session).ID
	srv := serve(t, s)
	ctx := browsertest.OpenAllowing(t, srv.URL+"/p/one/captures/"+id, openSelector, regexp.MustCompile(`Close received after close`))
	f := captureFlow{flow{t, ctx}, s}
	f.counts("904 frames")
	f.is("all bytes are explained", `/([\d,]+) of \1 bytes/.test(document.querySelector(".proposals")?.innerText)`)
	f.pictures("stranger")
}

// A size that was learnt from the traffic is written into the envelope with one click, and its messages are no longer guessed.
func TestFlowLearntSize(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	s := captureServer(t, "muta", servertest.SizedFiles())
	id := servertest.Keep(t, s, "sized.pcapng", servertest.Sized(t)).ID
	f := captureFlow{flow{t, browsertest.Open(t, serve(t, s).URL+"/p/one/captures/"+id, openSelector)}, s}
	p := f.page()
	f.shows(".proposals", "messages of code 7 had 12 bytes, and the envelope has no size of it.")
	p.Click("button", "Write 7 = 12 into protocol.envelope")
	p.Says("Written into protocol.envelope")
	f.counts("400 frames")
	p.Gone("button", "Write 7 = 12 into protocol.envelope")
}
