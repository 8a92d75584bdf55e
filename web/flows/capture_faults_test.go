package flows

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"wirebench/server"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
	"wirebench/web/browsertest"
)

// frameCount is an expression for the number of visible rows.
const frameCount = `document.querySelectorAll(".frame:not(.none)").length`

// pickFile selects a file in the picker of captures.
func (f flow) pickFile(name string, data []byte) {
	f.Helper()
	path := filepath.Join(f.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		f.Fatal(err)
	}
	f.do(`document.querySelector("[data-command='palette']").click()`)
	f.page().Type("Open a capture file")
	f.page().Press("Enter")
	browsertest.Run(f.T, f.ctx, chromedp.QueryAfter(`#capture-files`, func(ctx context.Context, _ runtime.ExecutionContextID, nodes ...*cdp.Node) error {
		return dom.SetFileInputFiles([]string{path}).WithNodeID(nodes[0].NodeID).Do(ctx)
	}, chromedp.ByQuery, chromedp.NodeReady))
}

// A capture selected in the picker is stored and opened, on the workbench and on the page of a capture.
func TestFlowCapturePicked(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 20), "")
	f.counts("20 frames")
	f.pickFile("picked.pcapng", servertest.Chat(t, 30))
	f.arrives("it is opened", `document.title.startsWith("picked.pcapng")`)
	f.counts("30 frames")
	f.do(`location.assign("/p/one/definitions")`)
	f.arrives("the workbench", `document.querySelector("html.live #input") !== null`)
	f.pickFile("again.pcapng", servertest.Chat(t, 40))
	f.arrives("it is opened from there", `document.title.startsWith("again.pcapng")`)
	f.counts("40 frames")
}

// The notice of a list without rows disappears with the filter that matched none.
func TestFlowCaptureNothingFits(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	f.counts("100 frames")
	none := fmt.Sprintf(`document.querySelector(".frames-empty").hidden && %s > 5`, frameCount)
	for _, after := range []struct{ name, do string }{
		{"another filter", ""},
		{"the button", `document.querySelector(".frames-empty .btn").click()`},
	} {
		f.filter("n > 5000")
		f.shows(".frames-empty", "No matching frames")
		if after.do == "" {
			f.filter("n > 20")
			f.counts("100 frames · 80 shown")
		} else {
			f.do(after.do)
			f.counts("100 frames")
		}
		f.is("nothing stands over the list after "+after.name, none)
	}
}

// The reference row of times is preserved.
func TestFlowCaptureTimeReference(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 40), "")
	f.counts("40 frames")
	f.choose(3, false)
	const box = `JSON.stringify((b => [b.left, b.top, b.width, b.height])(%s.getBoundingClientRect()))`
	before := browsertest.Value[string](t, f.ctx, fmt.Sprintf(box, frameRowOf(3)))
	f.press("t")
	f.is("it is the reference", frameRowOf(3)+`?.querySelector(".fc-time").textContent === "reference"`)
	if after := browsertest.Value[string](t, f.ctx, fmt.Sprintf(box, frameRowOf(3))); after != before {
		t.Errorf("the row was at %s, and is at %s", before, after)
	}
}

// Unsaved text on the page of a capture is restored after a reload.
func TestFlowCaptureDraft(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 40), "#n=2")
	f.info(2, `text "text 1"`)
	f.shows("#definition-head", "C_SAY.1.def")
	f.caret(1)
	f.types("ual")
	f.info(2, `textual "text 1"`)
	f.together()
	f.reload()
	f.says("what was typed", "string textual\n")
	f.info(2, `textual "text 1"`)
	f.shows(row("textual"), `"text 1"`)
}

// A drawer left open sends its query before there is a connection, without an error.
func TestFlowCaptureDrawerAtOnce(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 40), "")
	for _, drawer := range []string{"Timeline", "Types"} {
		f.counts("40 frames")
		f.tool(drawer)
		f.reload()
		f.counts("40 frames")
		f.is(drawer+" is there again", `document.querySelector(".frames-drawer:not([hidden]) canvas, .frames-types tbody tr") !== null`)
		f.is("nothing is said to be wrong", `document.querySelector(".frames-line .said").textContent === ""`)
	}
}

// The address contains the chips; Back returns to the previous frame, as it was shown.
func TestFlowCaptureBack(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	f.counts("100 frames")
	at := func(n int) {
		f.Helper()
		f.shows(".frames-line .chosen", fmt.Sprintf("at %d", n))
		f.is(fmt.Sprintf("frame %d in the address", n), fmt.Sprintf(`new URLSearchParams(location.hash.slice(1)).get("n") === "%d"`, n))
	}
	back := func() { f.Helper(); f.do(`setTimeout(() => history.back())`) }
	entries := func() int { f.Helper(); return browsertest.Value[int](t, f.ctx, `history.length`) }
	f.choose(3, false)
	at(3)
	began := entries()
	f.press("j", "j")
	at(5)
	if n := entries(); n != began {
		t.Errorf("stepping made %d entries", n-began)
	}
	f.choose(9, false)
	at(9)
	f.press(".")
	at(11) // 10 is from the server
	f.press("j")
	at(12)
	if n := entries(); n != began+2 {
		t.Errorf("two jumps made %d entries", n-began)
	}
	back()
	at(9)
	back()
	at(5)
	f.do(`setTimeout(() => history.forward())`)
	at(9)

	// A type is hidden, and the selection moves to another frame.
	f.choose(10, false)
	at(10)
	f.press("h")
	f.counts("100 frames · 80 shown")
	f.is("the chip is in the address", `new URL(location.href).searchParams.getAll("c").length === 1`)
	f.choose(12, false)
	at(12)
	const shown = `new URL(location.href).search`
	address := browsertest.Value[string](t, f.ctx, `location.href`)
	f.do(`window.copied = []; navigator.clipboard.writeText = (text) => { window.copied.push(text); return Promise.resolve() }; document.execCommand = () => false`)
	f.press("l")
	f.is("the link is what is shown", `window.copied.length === 0 || window.copied[0] === `+jsText(address))
	f.do(`document.querySelector(".frames-chip.hides").click()`)
	f.counts("100 frames")
	f.is("no chip in the address", shown+` === ""`)
	back()
	f.counts("100 frames · 80 shown")
	at(12)
	back()
	f.is("the frame after which there was a chip", `["10", "11"].includes(new URLSearchParams(location.hash.slice(1)).get("n"))`)
	back()
	f.counts("100 frames")
	at(10)

	// Another user with other chips sees the state of the link.
	f.do(`location.assign("/p/one/definitions")`)
	f.arrives("the workbench", `document.querySelector("html.live #input") !== null`)
	f.do(`setTimeout(() => location.assign(` + jsText(address) + `))`)
	f.arrives("the list is there", `document.querySelector("html.live .frames") !== null`)
	f.counts("100 frames · 80 shown")
	at(12)
	f.do(`setTimeout(() => location.assign(location.pathname + "#n=4"))`)
	f.arrives("a link without chips has none", `location.search === "" && /^#n=4(&|$)/.test(location.hash)`)
	f.reload()
	f.counts("100 frames")
	at(4)
}

// Find ignores case unless requested otherwise, and selects the match.
func TestFlowCaptureFind(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	f.counts("100 frames")
	f.choose(5, false)
	f.press("Ctrl+F")
	f.is("a way to tell capitals", `document.querySelector(".find-bar [aria-pressed]").checkVisibility()`)
	f.types("TEXT 77")
	f.press("Enter")
	f.shows(".frames-line .chosen", "at 78")
	// The text is UTF-16, after a header of 4 bytes and an offset of 2.
	f.is("the bytes are selected", `/&sel=6(\+|%2B)14$/.test(location.hash)`)
	f.is("its field is picked", `document.querySelector(`+jsText(row("text"))+`).matches(".picked, .on, [aria-selected=true]") || document.querySelector(".tree .picked") !== null`)
	f.do(`document.querySelector(".find-bar [aria-pressed]").click()`)
	f.press("Enter")
	f.shows(".find-note", "not found")

	// The bar reduces the height of the list, and the selected row stays visible.
	f.press("Escape")
	browsertest.Run(t, f.ctx, browsertest.Painted()) // the list has its old height by then: it learns it a frame later
	last := browsertest.Value[string](t, f.ctx, `(() => { const box = document.querySelector(".frames-scroll").getBoundingClientRect(); return [...document.querySelectorAll(".frame")].filter(e => e.getBoundingClientRect().bottom <= box.bottom + 1).at(-1).querySelector(".fc-n").textContent })()`)
	n, err := strconv.Atoi(last)
	if err != nil {
		t.Fatal(err)
	}
	f.choose(n, false)
	inView := `(row => row !== null && row.getBoundingClientRect().bottom <= document.querySelector(".frames-scroll").getBoundingClientRect().bottom + 1)(document.querySelector(".frame.cur"))`
	f.is("the last row in view is chosen", inView)
	f.press("Ctrl+F")
	f.is("the bar is open", `!document.querySelector(".find-bar").hidden`)
	browsertest.Run(t, f.ctx, browsertest.Painted()) // the list has its new height by then
	f.is("the row is in view", inView)
	f.shows(".frames-line .chosen", "at "+last)
}

// Esc leaves the filter, and its text stays.
func TestFlowFilterEscape(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 20), "")
	f.counts("20 frames")
	f.page().Fill("textbox", "Filter", "n > 5 and n <")
	f.press("Escape", "Escape")
	f.is("the list has the focus", `document.activeElement?.matches(".frames-scroll")`)
	f.page().Has("textbox", "Filter", "n > 5 and n <")
}

// refusedText matches the browser's messages about a refused text, and about a closed list.
var refusedText = regexp.MustCompile(`Close received after close|status of 422`)

const followed = "00000000  01 02 00 68 69 02 02 01  02 00 68 6f               ...hi... ..ho\n    00000000  01 02 00 68 61                                     ...ha\n"

// A pasted conversation can be stored as a capture, on the workbench and on the page of a capture.
func TestFlowPasteKept(t *testing.T) {
	t.Parallel()
	def := "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\npacket: ping\n   __group = clmsg\n"
	s := captureServer(t, "muta", map[string]string{"game.def": def})
	srv := serve(t, s)
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions", openSelector, refusedText)}, s}
	f.paste("01 02 00 68 69")
	f.shows("#verdict", "5 bytes")
	f.lacks("#verdict [data-keep-capture]")
	f.paste(followed)
	f.shows("#verdict", "Keep as a capture")
	f.do(`setTimeout(() => document.querySelector("#verdict [data-keep-capture]").click())`)
	f.arrives("its frames are listed", `location.pathname.includes("/captures/") && document.querySelectorAll(".frame.c2s").length > 1 && document.querySelectorAll(".frame.s2c").length === 1`)

	// A paste into a text field, or with an open dialog, is not intercepted.
	put := func(selector, text string) {
		f.Helper()
		f.do(fmt.Sprintf(`{ const clipboardData = new DataTransfer(); clipboardData.setData("text/plain", %s); document.querySelector(%s).dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true})) }`, jsText(text), jsText(selector)))
	}
	const asks = `[...document.querySelectorAll("dialog.operate")].map(e => e.innerText).join()`
	put(".filterbox-input :is(input, .cm-content)", "n > 5")
	put(".frames-scroll", "Dear diary,\nnothing happened today.\n")
	f.shows(".toasts", "Nothing recognized in the pasted text")
	if got := browsertest.Value[string](t, f.ctx, asks); got != "" {
		t.Errorf("asked for nothing: %s", got)
	}
	put(".frames-scroll", followed)
	f.is("it says what it found", asks+`.includes("2 messages, 1 C→S and 1 S→C")`)
	f.do(`document.querySelector("dialog.operate .btn:not(.primary)").click()`)
	f.lacks("dialog.operate")
	put(".frames-scroll", strings.ReplaceAll(followed, "68 61", "68 62 ")+followed[strings.Index(followed, "\n")+1:])
	f.is("it asks", asks+` !== ""`)
	before := browsertest.Value[string](t, f.ctx, `location.pathname`)
	f.do(`setTimeout(() => document.querySelector("dialog.operate .btn.primary").click())`)
	f.arrives("another capture", `location.pathname !== `+jsText(before)+` && document.querySelectorAll(".frame").length > 0`)
}

// Files without content leave the pasted text unchanged, with a notice.
func TestFlowDropNothing(t *testing.T) {
	t.Parallel()
	f, _ := beginAs(t, "tera", flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.paste(joinHex)
	f.bytes(joinHex)
	drop := func(name, text string) {
		f.Helper()
		f.do(fmt.Sprintf(`{ const dataTransfer = new DataTransfer(); dataTransfer.items.add(new File([%s], %s)); document.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true})) }`, jsText(text), jsText(name)))
	}
	input := browsertest.Value[string](t, f.ctx, `document.querySelector("#input").value`)
	drop("nothing.txt", "")
	f.shows(".toasts", "nothing.txt is empty")
	drop("nothing.bin", "")
	f.shows(".toasts", "nothing.bin is empty")
	drop("diary.log", "Dear diary,\nnothing happened today.\n")
	f.shows(".toasts", "diary.log is not a capture")
	if got := browsertest.Value[string](t, f.ctx, `document.querySelector("#input").value`); got != input {
		t.Errorf("the input is %q now", got)
	}
	f.bytes(joinHex)
	drop("message.log", "0e00 0000 ffff ffff ffff ffff\n")
	f.is("a message is taken", `document.querySelector("#input").value.startsWith("0e00")`)
}

// A capture of another protocol is reported, and can be opened in its workspace.
func TestFlowCaptureElsewhere(t *testing.T) {
	t.Parallel()
	open := func(name, dialect string, files map[string]string) *workspace.Workspace {
		t.Helper()
		d, _ := workspacetest.Dir(t, files)
		return workspacetest.Open(t, workspace.Config{Name: name, FirstTitle: "Protocol " + name, Dialect: dialect, Files: d, Captures: workspacetest.Captures(t)})
	}
	s := newServer(t, server.Config{Projects: servertest.Fixed(t, open("one", "subspace", nil), open("two", "tera", servertest.ChatFiles))})
	x := servertest.Keep(t, s, "chat.pcapng", servertest.Chat(t, 30))
	srv := serve(t, s)
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/captures/"+x.ID, openSelector, refusedText)}, s}
	f.shows(".frames-empty", "there are no frames in")
	f.shows(".frames-empty", "of connections of other protocols")
	f.page().Click("button", "Open it in Protocol two")
	f.arrives("it is there", `location.pathname.startsWith("/p/two/captures/") && document.querySelector("html.live .frames") !== null`)
	f.counts("30 frames")
	f.info(2, `text "text 1"`)

	for _, c := range []struct {
		name, method, path string
		want               int
	}{
		{"no such capture", "GET", "/api/one/captures/none/elsewhere", 404},
		{"no such workspace", "POST", "/api/one/captures/" + x.ID + "/copy?to=three", 404},
		{"not said where to", "POST", "/api/one/captures/" + x.ID + "/copy", 422},
	} {
		if code := servertest.Request(t, s, c.method, c.path, nil, nil); code != c.want {
			t.Errorf("%s: %d, want %d", c.name, code, c.want)
		}
	}
}

// In a window of common size all small elements fit.
func TestFlowCaptureRoom(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "#n=2")
	browsertest.Run(t, f.ctx, chromedp.EmulateViewport(1400, 900))
	f.counts("100 frames")
	f.shows("#definition-head", "C_SAY.1.def")
	f.is("all characters of the bytes are in view", `(b => b !== null && b.clientWidth > 300 && b.scrollWidth <= b.clientWidth)(document.querySelector("#hex .hex-scroll"))`)
	f.caret(1)
	f.types("ual_and_more")
	f.shows("#definition-head", "not saved")
	f.is("the name of the file is whole", `(h => h.scrollWidth <= h.clientWidth)(document.querySelector("#definition-title"))`)
	f.tool("Types")
	f.is("shares and bytes are beside each other", `[...document.querySelectorAll(".frames-types tbody tr")].length > 0 && [...document.querySelectorAll(".frames-types td.share")].every(e => e.scrollWidth <= e.clientWidth)`)
	f.page().Fill("textbox", "Filter", "C_SAY.txet == 1 || C_SAY.text == 2")
	f.shows(".filterbox-says", "txet")
	f.is("a mistake has the width of the pane", `(e => e.classList.contains("long") ? e.getBoundingClientRect().width > 500 : e.scrollWidth <= e.clientWidth)(document.querySelector(".filterbox-said"))`)
}
