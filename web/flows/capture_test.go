package flows

import (
	"maps"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/web/browsertest"
)

// A selected frame is shown as fields, bytes and definition, which are linked; the list follows filters, chips and find.
func TestFlowCaptureList(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	f.counts("100 frames")
	f.info(1, `text "text 0"`)
	f.is("the bar names it", `document.querySelector("#open-capture .name").textContent === "chat.pcapng" && document.querySelector(".places [aria-current]").textContent.includes("Captures")`)
	f.choose(3, false)
	f.shows(row("text"), `"text 2"`)
	f.shows("#definition-head", "C_SAY.1.def")
	f.is("its bytes", `document.querySelector("#hex").textContent.replaceAll(/\s/g, "").includes("010600") || document.querySelector("#hex .hex-scroll") !== null`)
	f.do(`document.querySelector(` + jsText(row("text")) + `).click()`)
	f.is("the address has the frame and the bytes of the field", `/^#n=3&frame=\d+:\d+:\d+&sel=\d+(\+|%2B)\d+$/.test(location.hash)`)

	// By a value of a field, from its menu; then the next frame with the same value.
	f.do(`document.querySelector(` + jsText(row("text")) + `).dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 300, clientY: 600}))`)
	f.pick("Filter: this value")
	f.counts("100 frames · 1 shown")
	f.is("in the address", `new URL(location.href).searchParams.get("f")?.includes("text 2")`)
	f.do(`setTimeout(() => history.back())`)
	f.is("no filter in the address", `location.pathname.includes("/captures/") && !new URL(location.href).searchParams.has("f")`)
	f.counts("100 frames")

	// A type is hidden, and shown again.
	f.choose(5, false)
	f.shows("#fields-head", "Unknown code 0x")
	f.press("h")
	f.counts("100 frames · 80 shown")
	f.is("a chip", `document.querySelector(".frames-chip.hides").textContent.includes("hidden")`)
	f.do(`document.querySelector(".frames-chip.hides").click()`)
	f.counts("100 frames")

	// A mistake in a filter is reported with its position, and the list stays.
	f.filter(".txet == 1")
	f.shows(".filterbox-says", "txet")
	f.is("what there was is there", `document.querySelectorAll(".frame").length > 5`)
	f.filter("dir == s2c")
	f.counts("100 frames · 20 shown")
	f.filter("dir == s2c && dir == c2s")
	f.shows(".frames-empty", "No matching frames")
	f.do(`document.querySelector(".frames-empty .btn").click()`)
	f.counts("100 frames")

	f.press("Ctrl+F")
	f.is("the find bar", `document.activeElement === document.querySelector(".find-bar input")`)
	f.do(`{ const s = document.querySelector(".find-bar select"); s.value = "text"; s.dispatchEvent(new Event("change", {bubbles: true})) }`)
	f.types("text 77")
	f.press("Enter")
	f.shows(".frames-line .chosen", "at 78")
	f.press("Escape")
	f.do(`document.querySelector(".find-bar").hidden || null`)
	f.is("focus is in the list", `document.activeElement?.matches(".frames-scroll")`)
	f.press("ArrowDown")
	f.shows(".frames-line .chosen", "at 79")
}

// Marks and notes are stored with the capture; the address restores filter, frame and selection.
func TestFlowCaptureNotes(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 60), "?f=dir+%3D%3D+c2s#n=8&sel=4+2")
	f.counts("60 frames · 48 shown")
	f.shows(".frames-line .chosen", "at 8")
	f.shows(row("text"), `"text 7"`)
	f.is("the selection", `location.hash.includes("sel=4")`)
	f.focus(".frames-scroll")
	f.press("m")
	f.is("a mark", frameRowOf(8)+`?.matches(".marked")`)
	f.press("n")
	f.is("the note's field", `document.activeElement?.closest(".frames-ask") !== null`)
	f.types("the seventh\r")
	f.is("a note's sign", frameRowOf(8)+`?.querySelector(".fc-flags").textContent.includes("✎")`)
	browsertest.Reload(t, f.ctx, openSelector)
	f.counts("60 frames · 48 shown · 1 marked")
	f.is("both are there again", frameRowOf(8)+`?.matches(".marked") && `+frameRowOf(8)+`.querySelector(".fc-flags").textContent.includes("✎")`)
	f.shows(".frames-line .chosen", "at 8")
	f.is("its row is chosen", frameRowOf(8)+`?.getAttribute("aria-selected") === "true"`) // after its position has been found, too

	// Two frames side by side.
	f.choose(9, true)
	f.press("Shift+C")
	f.is("the text differs", `[...document.querySelectorAll(".frames-diff tr.other")].some(e => e.textContent.includes("text 7") && e.textContent.includes("text 8"))`)
	f.focus(".frames-diff .btn, .frames-drawer .btn")
	f.press("Escape")
	f.lacks(".frames-diff")

	f.tool("Fields")
	f.is("the table", `[...document.querySelectorAll(".ft-cell")].some(e => e.textContent.includes("text 7"))`)
	f.shows(".ft-head", "text")
	f.tool("Timeline")
	f.is("a plot", `document.querySelector(".tl-plot canvas") !== null`)
	f.tool("Timeline")

	// An export has the chosen frames.
	f.do(`window.links = []; HTMLAnchorElement.prototype.click = function () { window.links.push(this.href) }`)
	f.focus(".frames-scroll")
	f.press("x")
	f.pick("Hex, one frame per line")
	f.is("the address of the export", `window.links.length === 1 && window.links[0].includes("/export?") && window.links[0].includes("format=hex") && window.links[0].includes("frames=8-9")`)
	got := browsertest.Value[string](t, f.ctx, `window.links[0]`)
	if at := strings.Index(got, "/api/"); at < 0 || servertest.Request(t, f.s, "GET", got[at:], nil, nil) != 200 {
		t.Errorf("export of %s", got)
	}
}

// The list is decoded by the text in the editor while it is typed; invalid text changes nothing.
func TestFlowCaptureDefinition(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 40), "#n=2")
	f.info(2, `text "text 1"`)
	f.shows("#definition-head", "C_SAY.1.def")
	f.caret(1)
	f.types("ual")
	f.info(2, `textual "text 1"`)
	f.info(3, `textual "text 2"`)
	f.shows(row("textual"), `"text 1"`)
	f.types("\nno_type x")
	f.shows("#definition-notes", "1 mistake")
	f.info(2, `textual "text 1"`)
	f.filter(".textual contains \"3\"")
	f.counts("40 frames · 11 shown") // 3, 13, 23 and 30 to 38, except those from the server

	// A message without a definition gets a name and a definition; the code map has the name immediately.
	f.filter("dir == s2c")
	f.counts("40 frames · 8 shown")
	f.choose(5, false)
	f.shows(".frame-origin", "Define S_UNKNOWN_7777")
	f.do(`document.querySelector(".fo-offer button").click()`)
	f.is("the name is offered", `document.activeElement?.value === "S_UNKNOWN_7777"`)
	f.types("S_ECHO\r")
	f.is("the list has the name", frameRowOf(5)+`?.querySelector(".fc-name").textContent === "S_ECHO"`)
	f.is("its definition is begun", `document.querySelector("#name")?.value === "S_ECHO.1"`)
	f.is("the editor has the focus", `document.activeElement?.closest(".cm-content") !== null`)
	f.types("string word")
	f.info(5, `word "text 4"`)
	f.info(10, `word "text 9"`)
	f.shows(row("word"), `"text 4"`)
}

// Definitions that explain an unknown frame are ranked, as for pasted bytes; one opens beside the frame, or gets the code.
func TestFlowCaptureFits(t *testing.T) {
	t.Parallel()
	files := map[string]string{"S_HEARD.1.def": "string heard\n", "S_COUNTED.1.def": "uint32 count\n"}
	maps.Copy(files, servertest.ChatFiles)
	f := beginCapture(t, files, servertest.Chat(t, 40), "#n=5")
	f.shows(".fits", "S_HEARD.1")
	f.shows(".fits", "all 20 bytes: 1 text, 1 offset or count")
	p := f.page()
	p.Click("link", "S_HEARD.1")
	f.shows(row("heard"), `"text 4"`)
	f.choose(10, false)
	f.shows(".fits", "S_HEARD.1")
	p.Click("button", "Give it the code… (S_HEARD.1)")
	p.Click("button", "Give the code")
	f.info(5, `heard "text 4"`)
	f.info(10, `heard "text 9"`)
	f.is("no fits", `document.querySelector(".fits") === null`)
}

// A packet of a frame is shown as captured, with the frames in it.
func TestFlowCapturePackets(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 20), "#n=2")
	f.shows(".frame-origin", "in packet")
	p := f.page()
	p.Chosen("Which bytes", "Message, 20 bytes")
	f.do(`document.querySelector(".fo-packet").click()`)
	f.is("its bytes", `!document.querySelector("#packet").hidden && document.querySelector("#hex").hidden && document.querySelector("#packet .hex-scroll") !== null`)
	f.shows(".fo-with", "nothing else in packet")
	p.Chosen("Which bytes", "Packet 5")
	p.Click("button", "Copy as")
	f.pick("Hex stream")
	p.Choose("Which bytes", "Message, 20 bytes")
	f.is("the message again", `document.querySelector("#packet").hidden && document.querySelector(".fo-with").textContent === ""`)
}

// Rename and delete.
func TestFlowCaptureRename(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 5), "")
	f.counts("5 frames")
	f.do(`document.querySelector("[data-capture-menu]").click()`)
	f.pick("Rename")
	f.is("the name is offered", `document.activeElement?.value === "chat.pcapng"`)
	f.types("evening talk\r")
	f.is("the bar says it", `document.querySelector("#open-capture .name").textContent === "evening talk"`)
	f.is("so does the title", `document.title.startsWith("evening talk")`)
	p := f.page()
	p.Click("button", "More about evening talk")
	p.Click("menuitem", "Delete …")
	p.Click("button", "Delete")
	browsertest.Arrive(t, f.ctx, `html:not(:has(#frames))`)
	f.is("it is gone", `location.pathname === "/p/one/captures" && document.querySelector("#place [data-none]") !== null`)
}

// Files without frames, or with missing ones, are reported.
func TestFlowCaptureOdd(t *testing.T) {
	t.Parallel()
	whole := servertest.Chat(t, 20)
	for _, c := range []struct {
		name, want, at string
		data           []byte
	}{
		{"empty", "No frames", ".frames-empty", servertest.Chat(t, 0)},
		{"torn", "cut off", ".frames-line", whole[:len(whole)-30]},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := beginCapture(t, servertest.ChatFiles, c.data, "")
			f.shows(c.at, c.want)
		})
	}
}

// The whole page by keyboard, in a narrow window.
func TestFlowCaptureNarrow(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	browsertest.Run(t, f.ctx, chromedp.EmulateViewport(420, 800))
	f.counts("100 frames")
	f.is("the list has the height of the page", `document.querySelectorAll(".frame").length >= 12 && document.documentElement.scrollWidth <= 420`)
	f.focus(".frames-scroll")
	f.press("Home", "ArrowDown", "ArrowDown")
	f.shows(".frames-line .chosen", "at 3")
	f.is("its fields are there", `document.querySelector(`+jsText(row("text"))+`)?.textContent.includes("text 2")`)
	f.press("Enter")
	f.is("the fields are in view, with the focus", `document.querySelector("#fields-pane").checkVisibility() && document.activeElement?.closest(".tree") !== null`)
}

// For a text with several messages the editor shows the one of the selected frame.
func TestFlowCaptureSeveralMessages(t *testing.T) {
	t.Parallel()
	def := "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n" + strings.Repeat("\n# nothing", 100) + "\n\npacket: ping\n   __group = clmsg\n"
	s := captureServer(t, "muta", map[string]string{"game.def": def})
	var x store.Capture
	dump := "00000000  01 02 00 68 69 02 02 01  02 00 68 6f               ...hi... ..ho\n"
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=follow.txt", []byte(dump), &x); code != 201 {
		t.Fatal(code)
	}
	srv := serve(t, s)
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/captures/"+x.ID+"#n=2", openSelector)}
	f.shows("#fields-head", "ping")
	f.page().Click("button", "Definition")
	f.is("the editor is at ping", `[...document.querySelectorAll(".cm-line")].some(e => e.textContent.includes("packet: ping") && e.getBoundingClientRect().top < document.querySelector("#definition-pane").getBoundingClientRect().bottom && e.getBoundingClientRect().bottom > 0)`)
	f.press("k")
	f.shows("#fields-head", "say")
	f.is("the editor is at say", `[...document.querySelectorAll(".cm-line")].some(e => e.textContent.includes("packet: say") && e.getBoundingClientRect().top >= document.querySelector("#definition-head").getBoundingClientRect().top)`)
}

// While the selected frame is not here yet, what the one before offers cannot be pressed: it would be defined in place of the selected one.
func TestFlowLateFrame(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 40), "#n=2")
	p := f.page()
	f.filter("dir == s2c || n < 3")
	f.choose(5, false)
	f.shows(".frame-origin", "Define S_UNKNOWN_7777")
	p.Visible("button", "Define S_UNKNOWN_7777 …")
	f.do(`window.late = []; window.sends = WebSocket.prototype.send;
		WebSocket.prototype.send = function (text) { String(text).includes('"pick"') ? window.late.push(() => window.sends.call(this, text)) : window.sends.call(this, text) }`)
	f.choose(2, false)
	f.is("the frame is asked for", `window.late.length > 0`)
	p.Gone("button", "Define S_UNKNOWN_7777 …")
	f.shows(".frame-origin", "Define S_UNKNOWN_7777") // nothing moves meanwhile
	f.do(`WebSocket.prototype.send = window.sends; window.late.forEach((send) => send())`)
	f.lacks(".fo-offer button")
	f.shows("#definition-head", "C_SAY.1.def")
}

// Events of packets are rows on request: they are filtered, show their packet, and are no frames.
func TestFlowCaptureEvents(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Lossy(t), "")
	p := f.page()
	f.counts("21 frames") // and the gap
	p.Click("button", "More tools")
	p.Click("menuitem", "Packet events…")
	f.counts("21 frames and 2 packet events")
	f.filter("kind == packet")
	f.counts("21 frames and 2 packet events · 2 shown")
	f.is("what they are", `[...document.querySelectorAll(".frame .fc-info")].map((e) => e.textContent).join() === "lost: 24 bytes,FIN"`)
	f.do(`document.querySelectorAll(".frame")[1].querySelector(".fc-name").dispatchEvent(new MouseEvent("mousedown", {bubbles: true, button: 0}))`)
	p.Chosen("Which bytes", "Packet 24")
	f.is("its bytes", `document.querySelector("#packet").textContent.replaceAll(/\s/g, "").includes("08004500")`)
	f.shows(".frame-origin", "FIN, in packet 24")
	f.axe("an event of a packet")
	f.filter("")
	f.tool("Types")
	f.shows(".frames-types", "2 types · 21 frames")
	p.Click("button", "More tools")
	p.Click("menuitem", "Packet events…")
	f.counts("21 frames")
}

// The sender and the receiver are columns, one click away, by which the list is sorted and filtered.
func TestFlowCaptureEnds(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 20), "")
	p := f.page()
	f.counts("20 frames")
	for _, column := range []string{"Source", "Destination"} {
		p.Click("button", "More tools")
		p.Click("menuitem", "Columns…")
		f.pick(column)
	}
	f.is("of the client", `document.querySelector(".frame .fc-src").textContent === "10.0.0.2:4000" && document.querySelector(".frame .fc-dst").textContent === "10.0.0.1:7801"`)
	f.head("src")
	f.listed("the server first", "5,10,15,20,1,2,3")
	f.do(`document.querySelector(".frame .fc-src").dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 200, clientY: 200}))`)
	f.pick("Apply as filter")
	f.counts("20 frames · 4 shown")
}
