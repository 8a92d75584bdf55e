package flows

import (
	"fmt"
	"regexp"
	"testing"

	"wirebench/server/frames"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// listsCaptures waits until the bar counts so many captures, and names the open one.
func (f captureFlow) listsCaptures(n int, open string) {
	f.Helper()
	f.is(fmt.Sprintf("%d captures, %s", n, open), fmt.Sprintf(`+document.querySelector("#captures-count").textContent === %d && document.querySelector("#open-capture .name").textContent === %s`, n, jsText(open)))
}

// Changes of captures by other programs and pages show on an open page.
func TestFlowCaptureByOthers(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 20), "")
	f.counts("20 frames")
	f.choose(3, false)
	f.shows(row("text"), `"text 2"`)
	id := f.currentCapture()

	if code, got := servertest.Patch(t, f.s, id, `{"name":"evening talk","notes":{"3":"theirs"},"mark":[4]}`); code != 200 {
		t.Fatal(got)
	}
	f.is("the title has the new name", `document.title.startsWith("evening talk")`)
	f.listsCaptures(1, "evening talk")
	f.is("a note of others", frameRowOf(3)+`?.querySelector(".fc-flags").textContent.includes("✎")`)
	f.is("a mark of others", frameRowOf(4)+`?.matches(".marked")`)

	other := servertest.Keep(t, f.s, "another", servertest.Chat(t, 2))
	f.listsCaptures(2, "evening talk")
	if code, got := servertest.Patch(t, f.s, other.ID, `{"name":"the other"}`); code != 200 {
		t.Fatal(got)
	}
	f.listsCaptures(2, "evening talk")
	if err := f.s.Projects.Find("one").Captures.Remove(other.ID); err != nil { // as another program does
		t.Fatal(err)
	}
	f.listsCaptures(1, "evening talk")

	// The open capture is deleted.
	f.focus(".frames-scroll")
	if code := servertest.Request(t, f.s, "DELETE", "/api/one/captures/"+id, nil, nil); code != 204 && code != 200 {
		t.Fatal(code)
	}
	f.shows(".frames-empty", "This capture has been deleted")
	f.is("nothing of the list is left", `[...document.querySelectorAll(".frames-list, .frames-top, .frames-line")].every(e => e.offsetParent === null)`)
	f.is("the title says it", `document.title.startsWith("Deleted: evening talk")`)
	f.is("the keys are at the way out", `document.activeElement?.matches(".frames-empty a")`)
	f.shows(row("text"), `"text 2"`)
	f.listsCaptures(0, "evening talk")
	f.page().Gone("combobox", "Which bytes")
	f.do(`window.asked = 0; const open = WebSocket; window.WebSocket = function (...a) { window.asked++; return new open(...a) }`)
	f.press("m", "x", "F3")
	f.is("nothing is asked any more", `document.querySelector(".pop, .frames-ask") === null && window.asked === 0`)
	f.press("Enter")
	browsertest.Arrive(t, f.ctx, `html:not(:has(#frames))`)
	f.is("the workbench", `location.pathname === "/p/one/captures"`)
	f.shows("#place [data-none]", "No captures yet")
}

// A capture in a folder cleared by another program counts as deleted, too.
func TestFlowCaptureDeletedElsewhere(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", servertest.ChatFiles)
	id, srv := servertest.Keep(t, s, "chat.pcapng", servertest.Chat(t, 20)).ID, newGate(t, s)
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/captures/"+id, openSelector, regexp.MustCompile(`Close received after close|Unexpected response code: 404|status of 404`))}, s}
	f.counts("20 frames")
	servertest.Keep(t, f.s, "another", servertest.Chat(t, 2))
	f.listsCaptures(2, "chat.pcapng")
	// It is deleted while the page has no connection.
	f.do(`window.away = "x"; window.WebSocket = class extends WebSocket { constructor(address) { super(address + window.away) } }`)
	srv.cut()
	f.shows(".frames-line .conn", "connection lost")
	if err := f.s.Projects.Find("one").Captures.Remove(id); err != nil {
		t.Fatal(err)
	}
	f.do(`window.away = ""; dispatchEvent(new Event("online"))`)
	f.shows(".frames-empty", "This capture has been deleted")
	f.listsCaptures(1, "chat.pcapng")
}

// The export menu has every format of exports.
func TestFlowCaptureExports(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 20), "")
	f.counts("20 frames")
	f.do(`window.links = []; HTMLAnchorElement.prototype.click = function () { window.links.push(this.href) }`)
	f.focus(".frames-scroll")
	for name := range frames.ExportFormats {
		f.press("x")
		f.pick(map[string]string{
			"pcapng": "pcapng, for Wireshark", "packets": "the original packets", "jsonl": "JSON Lines", "csv": "CSV", "tsv": "TSV", "hex": "Hex", "parquet": "Parquet",
		}[name])
		f.is("the export as "+name, `window.links.some(e => e.includes("format=`+name+`"))`)
	}
	f.is("no other", fmt.Sprintf(`window.links.length === %d`, len(frames.ExportFormats)))

	// A text has no packets: this is reported, and no download fails.
	f = beginCapture(t, servertest.ChatFiles, []byte(servertest.TwoWays), "", `status of 422`)
	f.is("frames", `document.querySelector(".frame") !== null`)
	f.do(`window.links = []; HTMLAnchorElement.prototype.click = function () { window.links.push(this.href) }`)
	f.focus(".frames-scroll")
	f.press("x")
	f.pick("the original packets")
	f.shows(".toasts", "use format pcapng")
	f.is("no download", `window.links.length === 0`)
}

// A match is located in its field and its bytes.
func TestFlowCaptureFindPoints(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 60), "")
	f.counts("60 frames")
	f.focus(".frames-scroll")
	f.press("Ctrl+f")
	for _, test := range []struct{ as, text, n string }{{"regex", "text 1[1]", "12"}, {"value", "text 31", "32"}, {"filter", `.text == "text 40"`, "41"}} {
		f.do(fmt.Sprintf(`{ const find = document.querySelector(".find-bar select"); find.value = "%s"; find.dispatchEvent(new Event("change")); document.querySelector(".find-bar input").value = "" }`, test.as))
		f.focus(".find-bar input")
		f.types(test.text)
		f.press("Enter")
		f.shows(".find-note", "frame "+test.n)
		f.is("the field of "+test.as, `document.querySelector(".tree tr.picked")?.dataset.path === "text" && /#n=`+test.n+`&.*sel=6/.test(location.hash)`)
	}
}

// m and a letter name the frame, an apostrophe and the letter select it; m alone marks, and a key right after it keeps its meaning.
func TestFlowCaptureNamed(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 60), "")
	f.counts("60 frames")
	f.choose(3, false)
	f.press("'")
	f.shows(".frames-line .said", "no frame has a letter")
	f.press("m", "a")
	f.counts("60 frames · 1 marked")
	f.shows(".frames-line .chosen", "at 3 (a)")
	f.press("j", "m", "j", "m", "j") // marks two frames
	f.shows(".frames-line .chosen", "at 6")
	f.counts("60 frames · 3 marked")
	f.press("m", "b")
	f.shows(".frames-line .chosen", "at 6 (b)")
	f.press("m", "c") // it stays marked
	f.shows(".frames-line .chosen", "at 6 (b c)")
	f.counts("60 frames · 4 marked")
	f.press("m") // unmarked when no letter follows
	f.counts("60 frames · 3 marked")
	f.press("'", "a")
	f.shows(".frames-line .chosen", "at 3 (a)")
	f.lacks(".pop")
	f.press("'")
	f.shows(".pop", "frame 6")
	f.press("Escape")
	f.lacks(".pop")

	browsertest.Reload(t, f.ctx, openSelector)
	f.counts("60 frames · 3 marked")
	f.focus(".frames-scroll")
	f.press("'", "c")
	f.shows(".frames-line .chosen", "at 6 (b c)")
	f.press("'")
	f.pick("Remove the letters")
	f.shows(".frames-line .chosen", "at 6")
	f.is("it has none", `document.querySelector(".frames-line .chosen").textContent === "at 6"`)
}
