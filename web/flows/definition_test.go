package flows

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"wirebench/server"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/web/browsertest"
)

func TestFlowDefinition(t *testing.T) {
	t.Parallel()
	f, _, dir := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.bytes(joinHex)

	// Layout and fields follow each key; a line with a mistake is left out, with a notice, which its repair removes.
	f.caret(2)
	f.types("s # four digits")
	f.shows("#layout-rows", "passwords")
	f.shows(row("passwords"), "12345")
	f.caret(3)
	f.types("in16 x")
	f.shows("#layout-head", "without line 3")
	f.shows("#fields-head", "without line 3")
	f.shows("#definition-notes", `did you mean "int16"?`)
	f.is("the mistake is marked in the text", `document.querySelector(".cm-lintRange-error, .cm-lint-error, [class*=lintRange]") !== null`)
	f.shows("#layout-rows", "passwords")
	f.press("Alt+Enter")
	f.is("the repair", `document.querySelector(".cm-content").innerText.includes("int16 x")`)
	f.shows("#layout-rows", "x")
	f.is("no mistake is left", `!document.querySelector("#layout-head").innerText.includes("without") && document.querySelector("#definition-notes .problems") === null`)

	// Discarded, formatted, saved.
	f.click("#definition-head summary[aria-label]")
	f.click(`#definition-head button[value="stored"]`)
	f.is("as it was", `!document.querySelector(".cm-content").innerText.includes("int16 x")`)
	f.saved()
	f.caret(0)
	f.types("uint16     second")
	f.shows("#layout-rows", "second")
	f.press("Shift+Alt+F")
	f.is("formatted", `/uint16 +second/.test(document.querySelector(".cm-content").innerText) && !document.querySelector(".cm-content").innerText.includes("uint16     second")`)
	f.press("Ctrl+S")
	f.saved()
	f.is("saved", `!document.querySelector("#definition-head").innerText.includes("not saved")`)
	saved, err := os.ReadFile(filepath.Join(dir, "C_JOIN.1.def"))
	if err != nil || !strings.Contains(string(saved), "second") {
		t.Fatalf("on disk: %q %v", saved, err)
	}

	// The next version; in the older one only names and comments can change.
	f.caret(0)
	f.types("byte third")
	f.shows("#layout-rows", "third")
	f.ofDefinition("New version")
	f.shows("#definition-head", "C_JOIN.2.def")
	servertest.Stands(t, dir, "C_JOIN.1.def", string(saved))
	f.shows("#rail-list", "v2")
	f.do(`document.querySelector('#rail-list a.older[href$="C_JOIN.1"]').click()`)
	f.shows("#definition-head", "older version")
	f.caret(0)
	f.types("byte fourth")
	f.shows("#definition-notes", "changes the layout of an older version")
	f.is("it cannot be saved", `document.querySelector('#definition-head button[value="save"]').disabled`)

	// Unsaved text is restored after opening other definitions and after a reload.
	f.do(`document.querySelector('#rail-list a[href$="C_LIST.1"]').click()`)
	f.shows("#definition-head", "C_LIST.1.def")
	f.do(`document.querySelector('#rail-list a.older[href$="C_JOIN.1"]').click()`)
	f.shows("#layout-rows", "fourth")
	browsertest.Reload(t, f.ctx, openSelector)
	f.shows("#layout-rows", "fourth")
	f.shows("#definition-head", "not saved")
	f.click("#definition-head summary[aria-label]")
	f.click(`#definition-head button[value="stored"]`)
	f.is("discarded", `!document.querySelector("#layout-rows").innerText.includes("fourth")`)
	f.caret(1)
	f.types(" and the name")
	f.shows("#definition-notes", "layout of this older version is unchanged")
	f.press("Ctrl+S")
	f.is("names and comments are saved", `!document.querySelector("#definition-head").innerText.includes("not saved")`)

	// A name of the code map without a definition; a new definition; deleted and restored.
	f.do(`document.querySelector(".undefined").open = true; document.querySelector('.undefined a').click()`)
	f.shows("#definition-head", "C_NOBODY.1.def")
	f.caret(0)
	f.types("uint32 somebody")
	f.shows("#layout-rows", "somebody")
	f.press("Ctrl+S")
	f.is("stored", `document.querySelector("#facts").innerText.includes("saved") && !document.querySelector("#facts").innerText.includes("not saved")`)
	f.lacks(".undefined")
	p := f.page()
	p.Click("button", "More about this definition")
	p.Click("button", "Delete")
	p.Click("button", "Cancel")
	p.Click("button", "More about this definition")
	p.Click("button", "Delete")
	p.In("Delete C_NOBODY.1.def…").Click("button", "Delete")
	f.shows("#definition-head", "not saved")
	if _, err := os.Stat(filepath.Join(dir, "C_NOBODY.1.def")); err == nil {
		t.Error("not deleted")
	}
	f.shows(".cm-content", "somebody")
	f.click(`#definition-head button[value="save"]`)
	f.is("brought back", `!document.querySelector("#facts").innerText.includes("not saved")`)
	if _, err := os.Stat(filepath.Join(dir, "C_NOBODY.1.def")); err != nil {
		t.Error(err)
	}

	// The diagram and the text of the layout.
	f.click("#layout-head details summary")
	f.click(`#layout-head button[value="svg"]`)
	f.is("what to do with the picture", `document.querySelector('[role="menu"]')?.innerText.includes("C_NOBODY.1.svg")`)
	f.press("Escape")

	// Added files are listed without a reload.
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for name, text := range map[string]string{"defs/C_ZIPPED.1.def": "byte z\n", "defs/../C_OUT.1.def": "byte z\n"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.do(fmt.Sprintf(`{
		const data = new DataTransfer()
		data.items.add(new File(["byte u\n"], "C_UPLOADED.1.def"))
		data.items.add(new File([Uint8Array.from(atob(%s), c => c.charCodeAt(0))], "more.zip"))
		document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}))
	}`, jsText(base64.StdEncoding.EncodeToString(buf.Bytes()))))
	f.shows("#rail-list", "C_UPLOADED")
	f.shows("#rail-list", "C_ZIPPED")
	if _, err := os.Stat(filepath.Join(dir, "C_OUT.1.def")); err == nil {
		t.Error("a file of a zip got out of its folder")
	}
}

// Two pages, and other programs, on one file: all have one text, and no line is lost: what another program writes is merged with what is not
// saved.
func TestFlowTwoTabs(t *testing.T) {
	t.Parallel()
	a, srv, dir := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	b := flow{t, browsertest.OpenTab(t, a.ctx, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	a.caret(2)
	a.types("_a")
	b.shows("#layout-rows", "password_a")
	b.is("the text of the other page", `document.querySelector(".cm-content").innerText.includes("password_a")`)
	b.caret(1)
	b.types(" again")
	a.has("string channel_name # where again\nuint16 password_a\n")
	servertest.Stands(t, dir, "C_JOIN.1.def", servertest.JoinText)
	a.saves()
	servertest.Stands(t, dir, "C_JOIN.1.def", "string channel_name # where again\nuint16 password_a\n")
	b.is("it is saved for both", `document.querySelector("#definition-head .unsaved") === null`)

	a.caret(2)
	a.types("_c")
	b.shows("#layout-rows", "password_a_c")
	servertest.WriteFile(t, filepath.Join(dir, "C_JOIN.1.def"), "string channel_name # where again\nuint16 password_a\nbyte from_outside\n")
	if err := srv.Config.Handler.(*server.Server).Projects.Find("one").Reload(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []flow{a, b} {
		f.shows("#layout-rows", "from_outside")
		f.shows(".toasts", "has changed on disk")
		f.has("string channel_name # where again\nuint16 password_a_c\nbyte from_outside\n")
	}
	b.page().Click("button", "Undo")
	a.has("string channel_name # where again\nuint16 password_a_c\n")
	a.page().Click("button", "More about this definition")
	a.click(`#definition-head button[value="stored"]`)
	b.has("string channel_name # where again\nuint16 password_a\nbyte from_outside\n")
	a.caret(1)
	a.press("Ctrl+Z")
	b.has("string channel_name # where again\nuint16 password_a_c\n")
}

// The server is restarted: text edited meanwhile is not lost.
func TestFlowRestart(t *testing.T) {
	t.Parallel()
	s, dir := filesServer(t, flowFiles())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	srv := &httptest.Server{Listener: listener, Config: server.NewHTTPServer(s)}
	srv.Start()
	f := flow{t, browsertest.OpenAllowing(t, "http://"+addr+"/p/one/definitions/C_JOIN.1", openSelector, regexp.MustCompile(`^(WebSocket connection to .* failed|Failed to load resource)`))}
	f.bytes(joinHex)
	srv.CloseClientConnections()
	s.Close()
	srv.Close()
	f.shows("#connection", "reconnecting")
	const said = `["#definition-notes .strip", "#layout-head", "#fields-head"].map((s) => document.querySelector(s).innerText)`
	f.shows("#layout-head", "not connected: layout as of ")
	f.is("nothing changed yet", said+`.every((s) => s.includes("not connected: ")) && document.querySelector(".strip").innerText.includes("No mistakes") && document.querySelector("#fields-head").innerText.includes("ok")`)
	f.caret(2)
	f.types("_typed_meanwhile")
	f.is("what is shown is about the text before", said+`.every((s) => /not connected: (layout as of|fields as of|last checked at) \d+:\d\d/.test(s)) && !/No mistakes|fits?\b/.test(document.querySelector(".strip").innerText) && !document.querySelector("#fields-head").innerText.includes("ok")`)
	f.is("the status line does not praise it", `document.querySelector("#pointed").textContent === ""`)
	f.is("it is not called saved", `document.querySelector("#facts .ok") === null && document.querySelector("#facts").innerText.includes("not saved")`)
	f.press("Ctrl+S")
	f.shows(".toasts", "No connection: it is saved once the server is back")
	f.shows("#facts", "not saved")
	again := serverOf(t, servertest.OpenWorkspace(t, dir, nil))
	if listener, err = net.Listen("tcp", addr); err != nil {
		t.Skipf("the address is not free again: %v", err)
	}
	srv = &httptest.Server{Listener: listener, Config: server.NewHTTPServer(again)}
	srv.Start()
	t.Cleanup(srv.Close)
	f.shows("#connection", "connected")
	f.shows("#layout-rows", "password_typed_meanwhile")
	f.is("everything is checked", said+`.every((s) => !s.includes("not connected")) && document.querySelector(".strip").innerText.includes("No mistakes")`)
	f.press("Ctrl+S")
	f.is("saved", `!document.querySelector("#definition-head").innerText.includes("not saved")`)
	servertest.Stands(t, dir, "C_JOIN.1.def", "string channel_name # where\nuint16 password_typed_meanwhile\n")
}

// Without websockets, the page works by its forms, with the editor.
func TestFlowWithoutWebsocket(t *testing.T) {
	t.Parallel()
	s, dir := filesServer(t, flowFiles())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/ws/") {
			http.Error(w, "no websockets here", http.StatusForbidden)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions/C_JOIN.1", "html.forms #main", regexp.MustCompile(`^WebSocket connection to .* failed`))}
	f.shows("#connection", "no websocket")
	f.is("the bytes", `/12\s*00\s*01\s*00\s*08\s*00\s*39\s*30/.test(document.querySelector(".hex-host").innerText)`)
	f.shows(row("password"), "12345")
	f.caret(2)
	f.types("_by_form")
	f.click(`#definition-head button[value="layout"]`)
	browsertest.Arrive(t, f.ctx, `html.forms #layout-diagram [data-key="password_by_form/value"]`)
	f.shows(row("password_by_form"), "12345")
	f.is("the editor has the text", `document.querySelector(".cm-content").innerText.includes("password_by_form")`)
	f.click(`#definition-head button[value="save"]`)
	browsertest.Arrive(t, f.ctx, `html.forms #facts .ok`)
	servertest.Stands(t, dir, "C_JOIN.1.def", "string channel_name # where\nuint16 password_by_form\n")
}

// unwritable is a folder in which writing fails while an error is set.
type unwritable struct {
	workspace.Files
	err atomic.Pointer[error]
}

func (d *unwritable) Write(name string, text []byte, expect *store.Revision) (store.Revision, error) {
	if err := d.err.Load(); err != nil {
		return "", fmt.Errorf("write %s: %w", name, *err)
	}
	return d.Files.Write(name, text, expect)
}

func TestFlowFullDisk(t *testing.T) {
	t.Parallel()
	dir, broken := t.TempDir(), &unwritable{}
	servertest.WriteFile(t, filepath.Join(dir, "C_JOIN.1.def"), servertest.JoinText)
	s := serverOf(t, servertest.OpenWorkspace(t, dir, func(files workspace.Files) workspace.Files {
		broken.Files = files
		return broken
	}))
	srv := serve(t, s)
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	f.caret(2)
	f.types("_kept")
	for _, c := range []struct {
		err  error
		says string
	}{{store.ErrFull, "the disk is full"}, {store.ErrReadOnly, "cannot be written"}} {
		broken.err.Store(&c.err)
		f.press("Ctrl+S")
		f.shows("#room-bar", c.says)
		f.is("the text stays", `document.querySelector(".cm-content").innerText.includes("password_kept") && document.querySelector("#definition-head").innerText.includes("not saved")`)
		servertest.Stands(t, dir, "C_JOIN.1.def", servertest.JoinText)
	}
	broken.err.Store(nil)
	f.press("Ctrl+S")
	f.is("saved", `!document.querySelector("#definition-head").innerText.includes("not saved")`)
	servertest.Stands(t, dir, "C_JOIN.1.def", "string channel_name # where\nuint16 password_kept\n")
}

// The whole page without a mouse, with the focus always on an element.
func TestFlowKeyboard(t *testing.T) {
	t.Parallel()
	f, _, dir := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	focused := func(what, selector string) {
		t.Helper()
		// It has the focus, and at least a part of it is visible.
		f.is(what, fmt.Sprintf(`(e => {
			const b = e.getBoundingClientRect()
			return e.matches(%s) && e.checkVisibility() && b.width > 0 && b.height > 0 && b.bottom > 0 && b.right > 0 && b.top < innerHeight && b.left < innerWidth
		})(document.activeElement)`, jsText(selector)))
	}
	f.press("Tab")
	focused("the first stop leads past the head of the page", "a.skip")
	f.types("\r")
	focused("the content", "#main")
	f.is("the address holds what is shown, again", `location.hash.includes("hex=`+joinHex+`")`)
	f.press("F6")
	focused("the first pane", "#rail *")
	f.press("F6")
	focused("the second pane", "#definition-pane *")
	f.press("Shift+F6", "Shift+F6")
	focused("the last pane", "#fields-pane *")
	f.press("/")
	focused("the filter", "#filter")
	f.types("list")
	f.press("Enter")
	f.shows("#definition-head", "C_LIST.1.def")
	f.press("Escape")
	f.press("d")
	focused("the definition", ".cm-content")
	f.press("Ctrl+End")
	f.types("byte by_keys")
	f.shows("#layout-rows", "by_keys")
	f.press("Ctrl+S")
	f.is("saved", `!document.querySelector("#definition-head").innerText.includes("not saved")`)
	if text, _ := os.ReadFile(filepath.Join(dir, "C_LIST.1.def")); !strings.Contains(string(text), "by_keys") {
		t.Errorf("on disk: %s", text)
	}
	f.press("Ctrl+K")
	focused("the palette", "dialog input")
	f.types("join")
	f.is("found", `document.querySelector("dialog[open]").innerText.includes("C_JOIN")`)
	f.press("Enter")
	f.shows("#definition-head", "C_JOIN.1.def")
	f.bytes(joinHex)
	f.press("Escape")
	f.do(`document.activeElement.blur()`)
	f.press("f")
	focused("the fields", ".tree tr")
	f.press("End")
	focused("the last row", row("channel_name"))
	f.press("ArrowUp", "Enter")
	focused("a value", ".value-edit")
	f.do(`document.activeElement.select()`)
	f.types("7")
	f.press("Enter")
	f.bytes("1200010008000700" + "4c0061006e006e000000")
	focused("the row again", row("password"))
	f.press("y")
	focused("the diagram", ".layout-body")
	f.press("g", "t")
	focused("the table of the layout", ".layout-table tr")
	f.press("b")
	focused("the bytes", ".hex-scroll")
	f.press("\\")
	f.is("the pane fills the page", `document.querySelector(".maximised") !== null`)
	f.press("\\")
	f.is("and no more", `document.querySelector(".maximised") === null`)
	f.press("F6")
	f.is("the next pane", `document.activeElement.closest("#bytes-pane") === null && document.activeElement !== document.body`)
	f.do(`document.activeElement.blur()`)
	f.press("?")
	f.is("the help", `document.querySelector("dialog[open]")?.innerText.includes("Go to anything")`)
	f.press("Escape")
	f.lacks("dialog[open]")
	f.is("the focus is back where it was", `document.activeElement === document.body`)
	f.press("p")
	focused("where bytes are pasted", "#input")
}

// The address holds the state of the page, and none of its bytes reach the log of the server.
func TestFlowAddress(t *testing.T) {
	t.Parallel()
	log := &servertest.Log{}
	dir := t.TempDir()
	for name, text := range flowFiles() {
		servertest.WriteFile(t, filepath.Join(dir, name), text)
	}
	s := newServer(t, server.Config{Projects: servertest.Fixed(t, servertest.OpenWorkspace(t, dir, nil)), Log: slog.New(slog.NewTextHandler(log, nil))})
	srv := httptest.NewServer(s)
	a := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	a.paste("12000100080009304c0061006e006e000000")
	a.shows(row("password"), "12297")
	a.caret(2)
	a.types("_shared")
	a.shows("#layout-rows", "password_shared")
	a.focus(row("password_shared"))
	a.is("the selection is in the address, and the text is in the room", `location.hash.includes("sel=6+2") && !location.hash.includes("password_shared")`)
	a.do(`window.copied = []; navigator.clipboard.writeText = (text) => { window.copied.push(text); return Promise.resolve() }`)
	a.press("l")
	a.shows(".toasts", "Copied a link to this view")
	address := browsertest.Value[string](t, a.ctx, `copied[0]`)
	a.command("Discard unsaved changes")
	a.lacks("#definition-head .unsaved")
	a.together()
	b := flow{t, browsertest.OpenTab(t, a.ctx, address, openSelector)}
	b.is("the selection", `[...document.querySelectorAll(".hx.sel")].map(e => e.textContent).join("") === "0930"`)
	b.page().Click("button", "Take it") // the text of a link stays beside that of the file until then
	b.shows("#layout-rows", "password_shared")
	b.shows(row("password_shared"), "12297")
	browsertest.Run(t, b.ctx, chromedp.Navigate("about:blank"))
	browsertest.Run(t, a.ctx, chromedp.Navigate("about:blank"))
	srv.Close()
	s.Close()
	if text := log.String(); strings.Contains(text, "0930") || strings.Contains(text, "password_shared") || !strings.Contains(text, "path=/p/one/definitions") {
		t.Errorf("the log: %s", text)
	}
}

// From a phone to a wide screen, in both themes: no horizontal scrolling, and pane sizes that can be changed and are remembered.
func TestFlowWidths(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.bytes(joinHex)
	for _, theme := range []string{"dark", "light"} {
		for _, width := range []int64{360, 600, 900, 1440, 2560} {
			browsertest.Run(t, f.ctx,
				emulation.SetDeviceMetricsOverride(width, 800, 1, false),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}),
			)
			if over := browsertest.Value[int](t, f.ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				t.Errorf("at %d pixels, %s, the page is %d pixels too wide", width, theme, over)
			}
			panes := browsertest.Value[int](t, f.ctx, `["definition-pane", "layout-pane", "bytes-pane", "fields-pane"].filter(id => document.getElementById(id).checkVisibility()).length`)
			if width < 900 && panes != 1 || width >= 900 && panes != 4 {
				t.Errorf("at %d pixels %d panes are shown", width, panes)
			}
			if width < 900 {
				f.click(`[data-tab="fields-pane"]`)
				f.is("the tab", `document.getElementById("fields-pane").checkVisibility() && !document.getElementById("definition-pane").checkVisibility()`)
				f.click(`[data-tab="definition-pane"]`)
				continue
			}
			f.page().Press("Ctrl+S") // nothing is to be saved, which a message says
			f.is(fmt.Sprintf("messages cover no pane at %d pixels", width), `(t => t !== null && t.getBoundingClientRect().top >= document.querySelector("#main").getBoundingClientRect().bottom)(document.querySelector(".toast"))`)
			f.press("Escape")
		}
	}
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(1440, 900, 1, false))
	height := func() int {
		return browsertest.Value[int](t, f.ctx, `Math.round(document.getElementById("definition-pane").getBoundingClientRect().height)`)
	}
	before := height()
	f.focus("#left > [data-splitter]")
	f.press("ArrowDown", "ArrowDown")
	f.is("the splitter moves", fmt.Sprintf(`Math.round(document.getElementById("definition-pane").getBoundingClientRect().height) > %d + 20`, before))
	moved := height()

	// By mouse too; unchanged panes keep their size, and a double click restores the default sizes.
	width := func() int {
		return browsertest.Value[int](t, f.ctx, `Math.round(document.getElementById("left").getBoundingClientRect().width)`)
	}
	first := width()
	at := browsertest.Value[struct{ X, Y float64 }](t, f.ctx, `(b => ({X: b.x + b.width / 2, Y: b.y + b.height / 2}))(document.querySelector("#bench > [data-splitter]").getBoundingClientRect())`)
	browsertest.Run(t, f.ctx,
		chromedp.MouseEvent(input.MousePressed, at.X, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
		chromedp.MouseEvent(input.MouseMoved, at.X-60, at.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseMoved, at.X-120, at.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.MouseReleased, at.X-120, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	)
	if now := width(); now < first-122 || now > first-118 {
		t.Errorf("dragged by 120 pixels the left side is %d wide, and was %d", now, first)
	}
	if now := height(); now != moved {
		t.Errorf("the other splitter has moved too: %d, not %d", now, moved)
	}
	browsertest.Reload(t, f.ctx, openSelector)
	if now := height(); now < moved-2 || now > moved+2 {
		t.Errorf("after a reload the pane is %d high, not %d", now, moved)
	}
	if now := width(); now < first-122 || now > first-118 {
		t.Errorf("after a reload the left side is %d wide, not %d", now, first-120)
	}
	f.do(`document.querySelector("#bench > [data-splitter]").dispatchEvent(new MouseEvent("dblclick", {bubbles: true}))`)
	f.is("the first size", fmt.Sprintf(`Math.round(document.getElementById("left").getBoundingClientRect().width) === %d`, first))
}
