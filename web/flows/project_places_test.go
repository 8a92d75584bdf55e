package flows

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// The places of a project are links in the bar of each of its pages. A capture is opened from its place, and named and deleted there.
func TestFlowProjectPlaces(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	s := captureServer(t, "tera", servertest.ChatFiles)
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions", openSelector, regexp.MustCompile(`Close received after close`))}
	p := f.page()
	p.Click("link", "Captures")
	browsertest.Arrive(t, f.ctx, ".card")
	f.shows("#place", "No captures yet")
	f.is("the place is marked", `document.querySelector(".places [aria-current=page]").textContent.trim() === "Captures" && document.title.startsWith("Captures · ")`)
	f.is("viewers' words only", `document.querySelectorAll(".card").length === 2`) // this server has no demo game

	session := filepath.Join(t.TempDir(), "evening.pcapng")
	servertest.WriteFile(t, session, string(servertest.Chat(t, 20)))
	p.Click("button", "Open a capture…")
	browsertest.Run(t, f.ctx, chromedp.SetUploadFiles("#capture-files", []string{session}, chromedp.ByQuery))
	browsertest.Arrive(t, f.ctx, "html:has(.frames-scroll)")
	captureFlow{f, s}.counts("20 frames")
	f.is("the bar names it", `document.querySelector("#open-capture .name").textContent === "evening.pcapng"`)

	p.Click("link", "Captures 1")
	browsertest.Arrive(t, f.ctx, ".place-list")
	p.Click("button", "More about evening.pcapng")
	p.Click("menuitem", "Rename …")
	p.Focused("textbox", "Name")
	p.Press("Ctrl+A")
	p.Type("the first evening")
	p.Press("Enter")
	p.Visible("link", "the first evening")
	p.Click("button", "More about the first evening")
	p.Click("menuitem", "Delete …")
	p.Click("button", "Delete")
	f.shows("#place", "No captures yet")
	f.is("none is counted", `document.querySelector("#captures-count").textContent === ""`)

	p.Click("link", "Start a listener…")
	browsertest.Arrive(t, f.ctx, "#live-start")
	p.Focused("textbox", "Listen on")
	p.Type("127.0.0.1:0")
	p.Press("Tab")
	p.Type("127.0.0.1:9")
	p.Press("Enter")
	browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	f.is("it is a page of live traffic", `document.querySelector(".places [aria-current=page]").textContent.includes("Live")`)
	p.Press("Ctrl+K")
	p.Type("live traffic")
	p.Press("Enter")
	browsertest.Arrive(t, f.ctx, "#live-list")
	f.shows("#live-list", "127.0.0.1:9")
	f.is("it is counted", `document.querySelector("#live-count").textContent === "1"`)
}

// The page of the samples shows the ways to see frames until somebody closes them, or does something.
func TestFlowFirstSteps(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL, openSelector, regexp.MustCompile(`Close received after close`))}
	p := f.page()
	steps := p.In("First steps")
	steps.Visible("button", "Open a capture…")
	steps.Visible("link", "Start a listener…")
	f.is("they move nothing when they are drawn", `document.querySelector("#first-steps").getBoundingClientRect().bottom <= document.querySelector("#main").getBoundingClientRect().top`)
	steps.Click("button", "Close")
	p.Gone("complementary", "First steps")
	f.visit(srv.URL+"/p/tera/definitions", openSelector)
	p.Gone("complementary", "First steps")

	for what, do := range map[string]func(){
		"a paste": func() { f.pasted("ff ff 12 34 00 00") },
		"typing":  func() { f.caret(1); f.types(" mine") },
	} {
		f.do(`localStorage.removeItem("wirebench.first-steps")`)
		f.visit(srv.URL+"/p/tera/definitions", openSelector)
		p.Visible("complementary", "First steps")
		t.Log(what)
		do()
		p.Gone("complementary", "First steps")
	}
}

// The list of a capture has the whole width. The definition and the list of messages fold away, and stay as they were left.
func TestFlowCaptureFolds(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "#n=2")
	p := f.page()
	f.counts("100 frames")
	f.is("the list has the width beside the tools, and Info half of it", `((list) => list + document.querySelector(".frames-tools").offsetWidth >= innerWidth - 20 && document.querySelector(".fh[data-column=info], .fh:last-child").getBoundingClientRect().width >= list / 2)(document.querySelector(".frames-list").clientWidth)`)
	f.is("fields and bytes are beside each other", `((a, b) => a.top === b.top && a.right <= b.left)(...["#fields-pane", "#bytes-pane"].map(s => document.querySelector(s).getBoundingClientRect()))`)
	hidden := func(id string) {
		t.Helper()
		f.is(id+" is folded away", `!document.querySelector(`+jsText(id)+`).checkVisibility()`)
	}
	seen := func(id string) {
		t.Helper()
		f.is(id+" is there", `document.querySelector(`+jsText(id)+`).checkVisibility()`)
	}
	hidden("#definition-pane")
	hidden("#rail")
	p.Click("button", "Definition")
	seen("#definition-pane")
	p.Click("button", "List of messages")
	seen("#rail")
	f.reload()
	f.counts("100 frames")
	seen("#definition-pane")
	seen("#rail")
	p.Press("Ctrl+K")
	p.Type("show or hide: definition")
	p.Press("Enter")
	hidden("#definition-pane")
	f.is("its button says so", `document.querySelector('[data-fold-toggle="capture-definition"]').ariaPressed === "false"`)
	// What needs a pane opens it.
	f.choose(5, false) // unknown
	p.Click("button", "Define…")
	if browsertest.Value[bool](t, f.ctx, `document.activeElement?.matches("input") === true`) {
		p.Press("Enter") // the name
	}
	seen("#definition-pane")
}

// On a phone a row has two lines, the second with the info, and the tools are in a menu.
func TestFlowCapturePhone(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	p := f.page()
	browsertest.Run(t, f.ctx, chromedp.EmulateViewport(390, 800))
	f.counts("100 frames")
	f.is("rows have two lines", `((row) => ["n", "time", "dir", "name", "len"].every(c => { const b = row.querySelector(".fc-" + c).getBoundingClientRect(); return b.top === row.getBoundingClientRect().top && b.right <= innerWidth && b.width > 20 }) && row.querySelector(".fc-info").getBoundingClientRect().top > row.getBoundingClientRect().top + 10)(document.querySelector(".frame"))`)
	f.is("the head is above its columns", `((name, head) => name.left === head.left && name.width === head.width)(document.querySelector(".fc-name").getBoundingClientRect(), document.querySelector(".fh[data-column=name]").getBoundingClientRect())`)
	f.focus(".frames-scroll")
	f.press("End")
	f.is("the last row is whole", `((row, box) => row !== null && row.getBoundingClientRect().bottom <= box.getBoundingClientRect().bottom + 1)(`+frameRowOf(100)+`, document.querySelector(".frames-scroll"))`)
	p.Click("button", "More tools")
	p.Click("menuitem", "Types")
	f.shows(".frames-types", "C_SAY")
	f.is("nothing is wider than the page", `document.documentElement.scrollWidth <= document.documentElement.clientWidth`)
}
