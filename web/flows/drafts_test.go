package flows

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// open opens a definition from the list.
func (f flow) open(name string) {
	f.Helper()
	link := `document.querySelector('#rail-list a[href$="/definitions/` + name + `"]')`
	f.is(name+" in the list", fmt.Sprintf(`(() => {
		if (%s !== null) return true
		const box = document.querySelector(".rail-scroll") // only the rows in view exist
		box.scrollTop = box.scrollTop + box.clientHeight >= box.scrollHeight - 1 ? 0 : box.scrollTop + box.clientHeight
		return false
	})()`, link))
	f.do(link + `.click()`)
	f.shows("#definition-head", name+".def")
}

// says waits until the editor has a text.
func (f flow) says(what, text string) {
	f.Helper()
	f.is(what, editorText+` === `+jsText(text))
}

// reload reloads the page.
func (f flow) reload() {
	f.Helper()
	browsertest.Reload(f.T, f.ctx, openSelector)
}

// Unsaved text is restored, in the editor and the layout, after other definitions have been opened.
func TestFlowDrafts(t *testing.T) {
	t.Parallel()
	f, _, dir := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.bytes(joinHex)
	const typed = "string channel_name # where\nuint16 password_draft\n"
	f.caret(2)
	f.types("_draft")
	f.shows("#layout-rows", "password_draft")
	f.open("C_LIST.1")
	f.says("the text of the other", listText)
	f.open("C_JOIN.1")
	f.says("what was typed", typed)
	f.shows("#layout-rows", "password_draft")
	f.caret(2)
	f.types("s")
	f.shows("#layout-rows", "password_drafts")
	f.reload()
	f.says("what was typed, after a reload", "string channel_name # where\nuint16 password_drafts\n")
	servertest.Stands(t, dir, "C_JOIN.1.def", servertest.JoinText)

	// Back and forth in the browser's history.
	f.open("C_WIDE.1")
	f.open("C_LIST.1")
	browsertest.Run(t, f.ctx, chromedp.NavigateBack())
	f.shows("#definition-head", "C_WIDE.1.def")
	f.says("the text of the one before", wideText)
	browsertest.Run(t, f.ctx, chromedp.NavigateBack())
	f.shows("#definition-head", "C_JOIN.1.def")
	f.says("the draft of the first", "string channel_name # where\nuint16 password_drafts\n")
	f.click("#definition-head summary[aria-label]")
	f.click(`#definition-head button[value="stored"]`)
	f.says("discarded", servertest.JoinText)
	f.open("C_LIST.1")
	f.open("C_JOIN.1")
	f.says("and not there again", servertest.JoinText)

	// A new definition: begun, left, opened again, reloaded, named, saved.
	f.click("[data-new]")
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.is("a field for its name", `document.querySelector("#name").checkVisibility() && document.querySelector("#name").value === "C_NEW_MESSAGE.1"`)
	f.caret(0)
	f.types("uint32 mine")
	f.shows("#layout-rows", "mine")
	const begun = "# description of C_NEW_MESSAGE.1\n\nuint32 mine"
	f.together()
	f.open("C_WIDE.1")
	f.is("no field for a name", `!document.querySelector("#name").checkVisibility()`)
	f.click("[data-new]")
	f.shows("#definition-head", "C_NEW_MESSAGE_2.1.def") // another one
	f.openBegun("C_NEW_MESSAGE.1")
	f.says("what was begun", begun)
	f.is("its name is in the address", `location.search === "?new=C_NEW_MESSAGE.1" && !location.hash.includes("mine")`)
	f.reload()
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.says("what was begun, after a reload", begun)
	f.together()

	f.rename("C_JOIN.1")
	f.shows(".toasts", "there is a definition of that name already")
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.is("its name", `document.querySelector("#name").value === "C_NEW_MESSAGE.1"`)
	f.says("what was begun, under its old name", begun)
	f.rename("C_MINE.1")
	f.shows("#definition-head", "C_MINE.1.def")
	f.is("the list has its name", `[...document.querySelectorAll('#rail-list .item:has(> a[href*="?new=C_"])')].map((e) => e.dataset.name).filter((name) => !name.startsWith("C_NOBODY")).join() === "C_MINE.1"`)
	const named = "# description of C_MINE.1\n\nuint32 mine"
	f.says("what was begun, under its new name", named)
	f.press("Ctrl+S")
	f.saved()
	f.is("it is stored", `location.pathname.endsWith("/definitions/C_MINE.1") && !document.querySelector("#name").checkVisibility()`)
	servertest.Stands(t, dir, "C_MINE.1.def", named)
	f.is("the list has it once", `[...document.querySelectorAll("#rail-list .item")].filter((e) => e.innerText.includes("C_MINE")).length === 1`)
	if _, err := os.Stat(filepath.Join(dir, "C_NEW_MESSAGE.1.def")); err == nil {
		t.Error("it is stored under its first name too")
	}
	f.click("[data-new]")
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.says("a new one begins with nothing", "# description of C_NEW_MESSAGE.1\n\n")

	// A name of the code map, and a version: both are in the address.
	f.do(`document.querySelector(".undefined a").click()`)
	f.shows("#definition-head", "C_NOBODY.1.def")
	f.caret(0)
	f.types("byte nobody")
	f.shows("#layout-rows", "nobody")
	f.together()
	f.open("C_WIDE.1")
	f.do(`document.querySelector(".undefined a").click()`)
	f.says("what was begun of it", "# description of C_NOBODY.1\n\nbyte nobody")
	f.open("C_WIDE.1")
	f.ofDefinition("New version")
	f.shows("#definition-head", "C_WIDE.2.def")
	f.is("the address is the version's", `location.pathname.endsWith("/definitions/C_WIDE.2")`)
	f.reload()
	f.shows("#definition-head", "C_WIDE.2.def")
}

// openBegun opens a definition that is not saved from the list.
func (f flow) openBegun(name string) {
	f.Helper()
	f.is(name+" in the list", `document.querySelector('#rail-list a[href$="?new=`+name+`"]') !== null`)
	f.do(`document.querySelector('#rail-list a[href$="?new=` + name + `"]').click()`)
	f.shows("#definition-head", name+".def")
}

// What is typed is on the server, also that of a new definition. Without a connection a browser that cannot store it says so, and asks before
// the page is closed.
func TestFlowDraftsWithoutStorage(t *testing.T) {
	t.Parallel()
	f, _, gate := gated(t, "/p/one/definitions/C_JOIN.1")
	f.together()
	asks := `(() => { const e = new Event("beforeunload", {cancelable: true}); dispatchEvent(e); return e.defaultPrevented })()`
	f.do(`Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError") }`)
	f.caret(2)
	f.types("_a")
	f.shows("#layout-rows", "password_a")
	f.together()
	f.is("it does not ask", "!"+asks)
	f.click("[data-new]")
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.caret(0)
	f.types("byte b")
	f.together()
	f.is("it does not ask either", "!"+asks)
	gate.shut()
	f.shows("#room-bar", "No connection")
	f.types("c")
	f.shows(".toasts", "This browser cannot store unsaved text")
	f.is("it asks", asks)
	gate.open()
	f.together()
	f.is("it does not ask any more", "!"+asks)
}

// rename enters the name of a new definition.
func (f flow) rename(name string) {
	f.Helper()
	f.focus("#name")
	f.do(`document.querySelector("#name").select()`)
	f.types(name + "\r")
}

// gated opens a page of a server whose connection can be cut, and another page of it.
func gated(t *testing.T, path string) (f, other flow, g *gate) {
	t.Helper()
	s, _ := filesServer(t, flowFiles())
	g = newGate(t, s)
	f = flow{t, browsertest.OpenAllowing(t, g.URL+path, openSelector, regexp.MustCompile(`^(WebSocket connection to .* failed|Failed to load resource)`))}
	return f, flow{t, browsertest.Open(t, g.other+"/p/one/definitions/C_LIST.1", openSelector)}, g
}

// Two people write one new definition, see each other, and have it under the name that one of them gives it. The file is there once one of them
// saves it.
func TestFlowBeginTogether(t *testing.T) {
	t.Parallel()
	a, srv, dir := begin(t, flowFiles(), "/p/one/definitions?new=C_MINE.1")
	b := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	b.together()
	a.caret(0)
	a.types("byte a")
	b.openBegun("C_MINE.1")
	b.has("# description of C_MINE.1\n\nbyte a")
	b.together()
	a.is("b is there", `document.querySelectorAll("#people-bar [data-peer]").length === 1`)
	b.caret(0)
	b.types("\nbyte b")
	a.has("# description of C_MINE.1\n\nbyte a\n\nbyte b")
	a.shows("#layout-rows", "b")
	a.rename("C_OURS.1")
	for who, f := range map[string]flow{"a": a, "b": b} {
		f.shows("#definition-head", "C_OURS.1.def")
		f.is("the address of "+who, `location.search === "?new=C_OURS.1"`)
		f.together()
	}
	b.caret(0)
	b.types("\nbyte c")
	const text = "# description of C_OURS.1\n\nbyte a\n\nbyte b\n\nbyte c"
	a.has(text)
	b.saves()
	servertest.Stands(t, dir, "C_OURS.1.def", text)
	for _, f := range []flow{a, b} {
		f.is("it is stored", `location.pathname.endsWith("/definitions/C_OURS.1") && !document.querySelector("#definition-head").innerText.includes("not saved")`)
		f.is("it is in the list once", `[...document.querySelectorAll("#rail-list .item")].filter((e) => /C_(OURS|MINE)/.test(e.innerText)).length === 1`)
	}
	a.caret(0)
	a.types("c")
	b.has(text + "c")

	// One that is left without a text is gone.
	a.goes(srv.URL + "/p/one/definitions?new=C_GONE.1")
	a.caret(0)
	a.types("byte x")
	a.together()
	b.is("it is there", `document.querySelector('#rail-list a[href$="?new=C_GONE.1"]') !== null`)
	a.press("Ctrl+A")
	a.press("Delete")
	a.together()
	a.open("C_LIST.1")
	b.is("it is gone", `document.querySelector('#rail-list a[href$="?new=C_GONE.1"]') === null`)
}

// A new definition that is typed without a connection is there when the page is opened again.
func TestFlowBeginOffline(t *testing.T) {
	t.Parallel()
	f, g, gate := gated(t, "/p/one/definitions?new=C_MINE.1")
	gate.shut()
	f.caret(0)
	f.types("byte a")
	f.shows("#room-bar", "your changes are kept and sent later")
	gate.open()
	browsertest.Reload(t, f.ctx, openSelector)
	f.has("# description of C_MINE.1\n\nbyte a")
	f.together()
	g.openBegun("C_MINE.1")
	g.has("# description of C_MINE.1\n\nbyte a")
}

// What one tab has kept without a connection is in the text once, and in the other tab too, which asks for the room with it and does not find it
// any more when the answer comes.
func TestFlowKeptByTwoTabs(t *testing.T) {
	t.Parallel()
	a, g, gate := gated(t, "/p/one/definitions/C_JOIN.1")
	g.goes(gate.other + "/p/one/definitions/C_JOIN.1")
	a.together()
	g.together()
	gate.shut()
	a.caret(2)
	a.types("_kept")
	const key = `Object.keys(localStorage).find((key) => key.startsWith("wirebench.together"))`
	a.is("it is kept", key+` !== undefined`)
	kept := browsertest.Value[string](t, a.ctx, key+` + "\0" + localStorage.getItem(`+key+`)`)
	gate.open()
	const text = "string channel_name # where\nuint16 password_kept\n"
	g.has(text)
	a.is("it is not kept any more", key+` === undefined`)

	b := flow{t, browsertest.OpenTab(t, a.ctx, "about:blank", "html")}
	browsertest.Run(t, b.ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(`if (location.protocol !== "about:") {
			const [key, kept] = ` + jsText(kept) + `.split("\0")
			localStorage.setItem(key, kept)
			const get = Storage.prototype.getItem
			Storage.prototype.getItem = function (name) {
				const value = get.call(this, name)
				if (name === key) this.removeItem(key) // as the other tab does
				return value
			}
		}`).Do(ctx)
		return err
	}))
	b.goes(gate.URL + "/p/one/definitions/C_JOIN.1")
	b.together()
	b.has(text)
	b.caret(1)
	b.types(" b")
	for _, f := range []flow{a, b, g} {
		f.has("string channel_name # where b\nuint16 password_kept\n")
	}
}

// Tabs of one browser have one text of a definition.
func TestFlowDraftsOfTabs(t *testing.T) {
	t.Parallel()
	a, srv, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	b := flow{t, browsertest.OpenTab(t, a.ctx, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	a.together()
	b.together()
	a.caret(2)
	a.types("_a")
	b.has("string channel_name # where\nuint16 password_a\n")
	b.caret(1)
	b.types(" b")
	a.has("string channel_name # where b\nuint16 password_a\n")
	a.reload()
	a.has("string channel_name # where b\nuint16 password_a\n")
}

// What was typed and not saved comes with the page, also while the server does not answer afterwards.
func TestFlowDraftsWithoutAnswer(t *testing.T) {
	t.Parallel()
	s, _ := filesServer(t, flowFiles())
	var refuses atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuses.Load() && strings.HasPrefix(r.URL.Path, "/ws/") {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector, regexp.MustCompile("WebSocket"))}
	f.caret(2)
	f.types("_kept")
	f.shows("#layout-rows", "password_kept")
	refuses.Store(true)
	browsertest.Reload(t, f.ctx, "html .definition-editor .cm-content")
	f.is("the rows of the page are drawn", `document.querySelector("#layout-rows tr") !== null`)
	f.says("what was typed", "string channel_name # where\nuint16 password_kept\n")
}
