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

// A browser that cannot store unsaved text says so, and asks before the page is closed.
func TestFlowDraftsWithoutStorage(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	asks := `(() => { const e = new Event("beforeunload", {cancelable: true}); dispatchEvent(e); return e.defaultPrevented })()`
	f.caret(2)
	f.types("_a")
	f.shows("#layout-rows", "password_a")
	f.is("it does not ask", "!"+asks)
	f.do(`Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError") }`)
	f.types("b")
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

// Each tab keeps its own text, also a copy of a tab. A tab that opens the definition later restores the text of closed tabs and lists those
// of the others.
func TestFlowDraftsOfTabs(t *testing.T) {
	t.Parallel()
	a, srv, dir := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	address := srv.URL + "/p/one/definitions/C_JOIN.1"
	text := func(end string) string { return "string channel_name # where\nuint16 password" + end + "\n" }
	types := func(f flow, end, whole string) {
		f.caret(2)
		f.types(end)
		f.shows("#layout-rows", "password"+whole)
	}
	b := flow{t, browsertest.OpenTab(t, a.ctx, address, openSelector)}
	types(a, "_a", "_a")
	types(b, "_b", "_b")
	a.reload()
	a.says("its own", text("_a"))
	a.shows(".toasts", "Another tab has unsaved text of C_JOIN.1")
	b.reload()
	b.says("its own", text("_b"))

	// A duplicated tab begins with the stored text of its original.
	c := flow{t, browsertest.OpenTab(t, a.ctx, srv.URL+"/p/one/definitions/C_LIST.1", openSelector)}
	id := browsertest.Value[string](t, a.ctx, `sessionStorage.getItem("wirebench.tab.")`)
	c.do(`sessionStorage.setItem("wirebench.tab.", ` + jsText(id) + `)`)
	c.reload()
	c.open("C_JOIN.1")
	c.says("the text of its original", text("_a"))
	types(c, "_c", "_a_c")
	types(a, "_a", "_a_a")
	types(c, "_c", "_a_c_c")
	a.reload()
	a.says("its own beside a copy", text("_a_a"))
	c.reload()
	c.open("C_JOIN.1")
	c.says("the copy's own", text("_a_c_c"))

	// The palette lists unsaved texts of other tabs.
	d := flow{t, browsertest.OpenTab(t, a.ctx, srv.URL+"/p/one/definitions/C_LIST.1", openSelector)}
	d.open("C_JOIN.1")
	d.says("what is stored: all tabs with unsaved text are open", servertest.JoinText)
	d.shows(".toasts", "Another tab has unsaved text of C_JOIN.1")
	d.open("C_LIST.1")
	d.press("Ctrl+K")
	d.types("unsaved text")
	d.is("three drafts", `[...document.querySelectorAll("dialog [role=option]")].filter((e) => e.innerText.includes("C_JOIN.1")).length >= 3`)
	d.press("Enter")
	d.shows("#definition-head", "C_JOIN.1.def")
	d.says("the newest", text("_a_c_c"))
	d.shows("#definition-head", "not saved")

	// A closed tab leaves its draft to the next one, which lists the others.
	browsertest.Run(t, b.ctx, page.Close())
	d.press("Ctrl+S")
	d.is("saved", `!document.querySelector("#definition-head").innerText.includes("not saved")`)
	servertest.Stands(t, dir, "C_JOIN.1.def", text("_a_c_c"))
	d.is("its own is gone", `!Object.keys(localStorage).some((key) => key.endsWith("\n" + sessionStorage.getItem("wirebench.tab.")))`)
	e := flow{t, browsertest.OpenTab(t, a.ctx, address, openSelector)}
	e.says("the text of the closed tab", text("_b"))
	e.shows("#definition-notes", "has changed on disk")
	a.says("the first still has its own", text("_a_a"))
}

// A draft is kept while the server does not answer: the first drawing of the page does not show the state of the text.
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
	f.is("the draft is kept", `Object.entries(localStorage).some(([key, value]) => key.startsWith("wirebench.draft.") && value.includes("password_kept"))`)
	f.says("the draft", "string channel_name # where\nuint16 password_kept\n")
}
