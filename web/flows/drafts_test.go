package flows

import (
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
	f.open("C_WIDE.1")
	f.is("no field for a name", `!document.querySelector("#name").checkVisibility()`)
	f.click("[data-new]")
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.says("what was begun", begun)
	f.is("it is in the address", `location.search === "?new=C_NEW_MESSAGE.1" && location.hash.includes("uint32+mine")`)
	f.reload()
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.says("what was begun, after a reload", begun)

	f.rename("C_JOIN.1")
	f.shows("#notices", "A definition of C_JOIN.1 exists already")
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.press("Ctrl+S")
	f.is("answered", `!document.querySelector("#facts").innerText.includes("decoding")`)
	f.says("what was begun, under its old name", begun)
	f.rename("C_MINE.1")
	f.shows("#definition-head", "C_MINE.1.def")
	f.says("with its name", "# description of C_MINE.1\n\nuint32 mine")
	f.press("Ctrl+S")
	f.shows("#rail-list", "C_MINE")
	f.is("it is stored", `location.pathname.endsWith("/definitions/C_MINE.1") && !document.querySelector("#name").checkVisibility()`)
	servertest.Stands(t, dir, "C_MINE.1.def", "# description of C_MINE.1\n\nuint32 mine")
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
	f.open("C_WIDE.1")
	f.do(`document.querySelector(".undefined a").click()`)
	f.says("what was begun of it", "# description of C_NOBODY.1\n\nbyte nobody")
	f.open("C_WIDE.1")
	f.click(`#definition-head button[value="version"]`)
	f.shows("#definition-head", "C_WIDE.2.def")
	f.is("the address is the version's", `location.pathname.endsWith("/definitions/C_WIDE.2")`)
	f.reload()
	f.shows("#definition-head", "C_WIDE.2.def")
}

// A browser that cannot store the text of a new definition says so, and asks before the page is closed. One that is stored is on the server.
func TestFlowDraftsWithoutStorage(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
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
	f.shows(".toasts", "This browser cannot store unsaved text")
	f.is("it asks", asks)
	f.press("Ctrl+S")
	f.shows("#facts", "saved")
	f.is("it does not ask after saving", "!"+asks)
}

// rename enters the name of a new definition.
func (f flow) rename(name string) {
	f.Helper()
	f.focus("#name")
	f.do(`document.querySelector("#name").select()`)
	f.types(name + "\r")
}

// Tabs of one browser have one text of a stored definition, and each its own one of a new definition, also a copy of a tab.
func TestFlowDraftsOfTabs(t *testing.T) {
	t.Parallel()
	a, srv, dir := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	const address = "/p/one/definitions?new=C_MINE.1"
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

	for tab, f := range map[string]flow{"a": a, "b": b} {
		f.goes(srv.URL + address)
		f.caret(0)
		f.types("byte " + tab)
		f.shows("#layout-rows", tab)
	}
	text := func(end string) string { return "# description of C_MINE.1\n\nbyte " + end }
	a.reload()
	a.says("its own", text("a"))
	b.reload()
	b.says("its own", text("b"))

	// A duplicated tab begins with the stored text of its original.
	c := flow{t, browsertest.OpenTab(t, a.ctx, srv.URL+"/p/one/definitions/C_LIST.1", openSelector)}
	id := browsertest.Value[string](t, a.ctx, `sessionStorage.getItem("wirebench.tab.")`)
	c.do(`sessionStorage.setItem("wirebench.tab.", ` + jsText(id) + `)`)
	c.reload()
	c.goes(srv.URL + address)
	c.says("the text of its original", text("a"))
	c.caret(0)
	c.types("c")
	c.shows("#layout-rows", "ac")
	a.reload()
	a.says("its own beside a copy", text("a"))

	// The palette lists unsaved texts of other tabs, and a closed tab leaves its text to the next one.
	d := flow{t, browsertest.OpenTab(t, a.ctx, srv.URL+"/p/one/definitions/C_LIST.1", openSelector)}
	d.press("Ctrl+K")
	d.types("unsaved text")
	d.is("three drafts", `[...document.querySelectorAll("dialog [role=option]")].filter((e) => e.innerText.includes("C_MINE.1")).length >= 3`)
	d.press("Enter")
	d.is("one of them", documentText+`.startsWith("# description of C_MINE.1\n\nbyte ")`)
	taken := browsertest.Value[string](t, d.ctx, documentText)
	browsertest.Run(t, b.ctx, page.Close())
	d.press("Ctrl+S")
	d.is("saved", `!document.querySelector("#definition-head").innerText.includes("not saved")`)
	servertest.Stands(t, dir, "C_MINE.1.def", taken)
	d.is("its own is gone", `!Object.keys(localStorage).some((key) => key.endsWith("\n" + sessionStorage.getItem("wirebench.tab.")))`)
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
