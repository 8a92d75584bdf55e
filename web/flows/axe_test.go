package flows

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"wirebench/server"
	"wirebench/server/access"
	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// Nothing that axe-core can find hinders people on the pages, in their states, in the light and in the dark theme.

// axe checks the page in its current state.
func (f flow) axe(state string) {
	f.Helper()
	browsertest.Axe(f.T, f.ctx, state, true)
	f.covered()
}

// narrow checks the page in the widths of a tablet and of a phone.
func (f flow) narrow(state string) {
	f.Helper()
	for _, width := range []int64{768, 390} {
		browsertest.Run(f.T, f.ctx, emulation.SetDeviceMetricsOverride(width, 800, 1, false))
		browsertest.Axe(f.T, f.ctx, fmt.Sprintf("%s, %d px wide", state, width), false)
	}
	browsertest.Run(f.T, f.ctx, emulation.SetDeviceMetricsOverride(1440, 900, 1, false))
}

// menuOf opens the context menu of an element, checks the page and closes it.
func (f flow) menuOf(selector, state string) {
	f.Helper()
	f.do(`document.querySelector(` + jsText(selector) + `).dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 300, clientY: 300}))`)
	f.menu(state)
}

// menu checks the page with the open menu, and closes it.
func (f flow) menu(state string) {
	f.Helper()
	f.is("a menu", `document.querySelector(".pop [role^=menuitem]") !== null`)
	f.axe(state)
	f.press("Escape")
	f.is("no menu", `document.querySelector(".pop") === null`)
}

// dialog checks the page with the open dialog, and closes it.
func (f flow) dialog(state string) {
	f.Helper()
	f.is("a dialog", `document.querySelector("dialog[open]") !== null`)
	f.axe(state)
	f.press("Escape")
	f.is("no dialog", `document.querySelector("dialog[open]") === null`)
}

func TestFlowAxeWorkbench(t *testing.T) {
	t.Parallel()
	files := flowFiles()
	files["deprecated.json"] = "{" // a note on the library
	files["C_LONG.1.def"] = strings.Repeat("# about the next field, at some length, so that the line is wide, and still longer than the pane of the editor can be\nuint32 a\n", 100)
	f, _, _ := begin(t, files, "/p/one/definitions")
	p := f.page()
	f.axe("empty workbench")
	f.narrow("empty workbench")
	f.open("C_LIST.1")
	f.paste(listBytes)
	f.shows(row("flags"), "5")
	f.axe("a message")
	f.do(`document.querySelector(` + jsText(row("flags")) + `).click()`)
	f.axe("a selected field")
	f.do(`document.querySelector('[data-segment="values"]').click()`)
	f.axe("values as JSON")
	f.viewFields("Form")
	f.is("a form", `document.querySelectorAll("#values-form input").length > 1`)
	f.axe("a form")
	f.do(`document.querySelector('#values-form [aria-label="flags"]').scrollIntoView()`)
	p.Fill("textbox", "flags", "zwei")
	p.Press("Enter")
	p.Says("a number, decimal, 0x or 0b")
	f.axe("a form with a mistake")
	p.Press("Escape")
	f.narrow("a form")
	f.do(`document.querySelector('[data-segment="tree"]').click()`)
	f.narrow("a message")
	f.menuOf(row("flags"), "menu of a field")
	f.menuOf(row("members[0]"), "menu of an element")
	p.Click("button", "Table")
	f.narrow("the table of the layout")
	f.menuOf(".layout-table tr[tabindex]", "menu of the layout")
	f.rightByte(6)
	f.menu("menu of bytes")
	f.do(`document.querySelector('[data-command="copy"]').click()`)
	f.menu("bytes as …")
	p.Click("button", "More about this definition")
	f.axe("menu of the definition")
	p.Click("button", "Code")
	f.shows("#code-pane pre", "struct")
	f.axe("code beside the text")
	p.Click("button", "Files…")
	f.menu("generated code")
	p.Click("button", "Close the code")
	f.press("Ctrl+K")
	p.Visible("combobox", "Go to anything")
	f.axe("palette")
	f.types("C_")
	f.is("results", `document.querySelectorAll("#palette-list [role=option]").length > 2`)
	f.dialog("palette with results")
	f.press("Ctrl+K")
	p.Focused("combobox", "Go to anything")
	p.Type("flags")
	f.is("a field", `document.querySelector("#palette-list [role=option]")?.innerText.includes("flags")`)
	f.dialog("palette with fields")
	f.press("?")
	f.dialog("help")
	f.do(`for (const d of document.querySelectorAll("details")) d.open = true`)
	f.axe("all that opens is open")
	f.do(`for (const d of document.querySelectorAll("details")) d.open = false`)
	f.do(`document.querySelector('[popovertarget="reference"]').click()`)
	f.axe("keywords of the language")
	f.do(`document.querySelector("#reference").hidePopover()`)
	f.open("C_LONG.1")
	f.shows("#definition-notes", "warning")
	f.axe("a long definition")
	f.open("C_LIST.1")
	f.do(`document.querySelector('[data-command="edit-bytes"]').click()`)
	f.axe("bytes that are edited")
	f.press("Escape")
}

func TestFlowAxeProblems(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_LIST.1")
	f.paste("0b000200" + "0200" + "0a00" + "0500" + "0a")
	f.shows("#fields-head", "illegal")
	f.axe("an illegal message")
	f.paste("0600" + "6300" + "0102")
	f.is("an unknown code", `document.querySelector("#fields-pane").innerText.includes("New definition from these bytes") || document.querySelector("#fields-pane").innerText.includes("63")`)
	f.axe("an unknown message")
	f.paste("what is this")
	f.shows("#verdict", "unrecognised form")
	f.axe("text without bytes")
	f.open("C_WIDE.1")
	f.paste(wideHex + "ffff")
	f.shows("#fields-head", "left over")
	f.axe("bytes left over")
	f.do(`document.querySelector('button[value="repair"]').click()`)
	f.is("a question before repair", `document.querySelector("#ask button") !== null`)
	f.axe("a question before repair")
	f.caret(1)
	f.types("\nin32 x y\nin32 z")
	f.is("the number of mistakes", `document.querySelector('[data-command="mistakes"]')?.checkVisibility()`)
	f.axe("a definition with mistakes")
	f.press("Shift+F8")
	f.axe("the list of mistakes")
	f.narrow("a definition with mistakes")
	f.click("[data-new]")
	f.shows("#definition-head", "C_NEW_MESSAGE.1.def")
	f.axe("a new definition")
}

func TestFlowAxeCapture(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	f.counts("100 frames")
	f.axe("a capture")
	p := f.page()
	f.tool("Decode as…")
	p.Visible("combobox", "Settings of")
	f.axe("settings of a capture")
	f.narrow("settings of a capture")
	p.Fill("textbox", "Game version", "98.02")
	p.Click("button", "Apply")
	f.shows("#uses", "patch 98.02 · for this capture")
	f.do(`document.querySelector("#uses button").click()`)
	p.Visible("button", "Reset Game version")
	f.dialog("settings that override those of the project")
	f.choose(3, false)
	f.shows(row("text"), `"text 2"`)
	f.axe("a frame")
	f.narrow("a frame")
	f.menuOf(".frame.cur", "menu of a frame")
	f.menuOf(row("text"), "menu of a value")
	f.press("m")
	f.press("n")
	f.is("a note", `document.querySelector(".frames-ask") !== null`)
	f.axe("a note")
	f.types("here\r")
	f.focus(".frames-scroll")
	f.press("h")
	f.axe("hidden types")
	f.do(`document.querySelector(".frames-chip.hides").click()`)
	f.press("Ctrl+F")
	f.axe("the find bar")
	f.press("Escape")
	f.filter(".txet == 1")
	f.shows(".filterbox-says", "txet")
	f.axe("a filter with a mistake")
	f.filter("dir == s2c && dir == c2s")
	f.shows(".frames-empty", "No matching frames")
	f.axe("no matching frames")
	f.filter("")
	f.counts("100 frames · 1 marked")
	for _, tool := range []string{"Types", "Problems", "Timeline", "Graph", "Connections", "Follow", "Flow", "Fields", "Markers"} {
		if !browsertest.Value[bool](t, f.ctx, fmt.Sprintf(`[...document.querySelectorAll(".frames-tools .btn")].some(e => e.textContent === %s)`, jsText(tool))) {
			t.Errorf("no tool %s: %s", tool, browsertest.Value[string](t, f.ctx, `[...document.querySelectorAll(".frames-tools .btn")].map(e => e.textContent).join()`))
			continue
		}
		f.tool(tool)
		f.axe(tool)
		f.tool(tool)
	}
	f.tool("Columns…")
	f.menu("columns")
	f.tool("Columns…")
	f.pick("Colors of frames")
	f.dialog("colors")
	f.choose(4, false)
	f.choose(5, true)
	f.focus(".frames-scroll")
	f.press("Shift+C")
	f.axe("two frames compared")
	f.do(`document.activeElement.blur(); { const data = new DataTransfer(); data.setData("text/plain", ` + jsText(servertest.Follow) + `); document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true})) }`)
	p.Visible("dialog", "Pasted text")
	f.dialog("a pasted text of several messages")
	f.do(`document.querySelector("[data-capture-menu]").click()`)
	f.menu("menu of a capture")
	if code := servertest.Request(t, f.s, "DELETE", "/api/one/captures/"+f.currentCapture(), nil, nil); code != 204 && code != 200 {
		t.Fatal(code)
	}
	f.shows(".frames-empty", "This capture has been deleted")
	f.axe("a deleted capture")
	f.narrow("a deleted capture")
}

func TestFlowAxeLive(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	p := f.page()
	p.Click("button", "List of messages")
	p.RightClick("link", "say…")
	p.Click("menuitem", "Rename…")
	p.Visible("textbox", "New name of the message")
	f.dialog("new names of a message and its file")
	f.axe("nothing received")
	g.say(t, words(20, "word ")...)
	f.counts("40 frames")
	f.axe("a running game")
	f.focus(".frames-scroll")
	f.press("p")
	f.shows("#live-pause", "Resume")
	f.axe("paused")
	f.press("p")
	f.filter("say")
	f.counts("40 frames · 20 shown")
	f.focus(".frames-scroll")
	f.press("i")
	f.shows("#live-operate", "Holding say")
	g.say(t, "hold me", "and me")
	f.is("two are held", `document.querySelectorAll("#held .held-row").length === 2`)
	f.axe("held messages")
	f.narrow("held messages")
	p.Click("button", "Events")
	p.Visible("dialog", "Events of…")
	f.dialog("the events of a listener")
	f.press("e")
	p.Focused("textbox", "text")
	p.Fill("textbox", "text", "changed")
	p.Press("Enter")
	f.shows(".held-changes", "changed")
	f.axe("a held message is changed")
	f.focus(".frames-scroll")
	f.press("Shift+A")
	f.is("none is held", `document.querySelector("#held").hidden`)
	f.click("#live-operate")
	f.menu("menu of intercepting")
	f.click("#live-operate")
	f.pick("Rules")
	f.dialog("rules")
	f.click("#live-send")
	p.Visible("combobox", "Message")
	f.dialog("a message to send")
	f.click("#live-marker")
	f.is("a marker", `document.querySelector(".frames-ask") !== null || document.querySelector(".frames-markers") !== null`)
	f.axe("a marker")
	f.press("Escape")
	f.click("#live-stop")
	f.menu("stopping")
}

func TestFlowAxePages(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := serve(t, s)
	ctx := browsertest.OpenAllowing(t, srv.URL+"/projects", ".projects", regexp.MustCompile(`404|405|42[0-9]`))
	f := flow{T: t, ctx: ctx}
	f.axe("projects")
	f.do(`for (const d of document.querySelectorAll("details")) d.open = true`)
	f.axe("projects, with all their forms")
	f.narrow("projects")
	if _, err := s.Projects.Make(t.Context(), projects.New{Name: "gone", Protocol: "tera"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Projects.Edit("gone", projects.Change{State: projects.Deleted}, nil); err != nil {
		t.Fatal(err)
	}
	f.visit(srv.URL+"/projects", ".projects")
	f.do(`for (const d of document.querySelectorAll("details")) d.open = true`)
	f.axe("a deleted project")
	for _, page := range []string{"/docs", "/docs/define", "/docs/cli", "/docs?q=filter", "/docs?q=zzzz", "/api/docs", "/nothing", "/p/none/definitions", "/p/gone/definitions"} {
		f.visit(srv.URL+page, "main h1")
		if page == "/api/docs" { // more than a hundred alike
			f.do(`[...document.querySelectorAll("main section")].slice(16).forEach((e) => e.remove())`)
		}
		f.axe(page)
		f.narrow(page)
	}
	f.visit(srv.URL+"/p/tera/captures/none", "main h1")
	f.axe("a capture that is not there")
	f.visit(srv.URL+"/p/tera/definitions", openSelector)
	f.do(`document.querySelector(".library").open = true`)
	picked := filepath.Join(t.TempDir(), "notes.doc")
	servertest.WriteFile(t, picked, "x")
	browsertest.Run(t, ctx, chromedp.SetUploadFiles("#files", []string{picked}, chromedp.ByQuery))
	f.do(`HTMLFormElement.prototype.submit.call(document.querySelector("#upload"))`) // as without scripts
	browsertest.Arrive(t, ctx, "main.page h1")
	f.axe("what an upload did")
}

func TestFlowAxeAccess(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	srv := httptest.NewServer(access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s))
	t.Cleanup(func() { s.Close(); srv.Close() })
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions", "form[action='/access']", regexp.MustCompile(`status of 40[13]`))}
	f.axe("the access token")
	f.page().Focused("textbox", "Access token") // without a click
	f.types("wrong\r")
	browsertest.Arrive(t, f.ctx, "main [role=alert]")
	f.axe("a wrong access token")
	f.page().Focused("textbox", "Access token") // without a click
	f.types("look\r")
	browsertest.Arrive(t, f.ctx, openSelector)
	f.axe("a viewer")
}

// An admin invites a person, who joins, makes a token and signs out; the admin changes the roles. By keyboard, and without faults for
// assistive technology.
func TestFlowPeople(t *testing.T) {
	t.Parallel()
	audit, err := access.OpenAudit(filepath.Join(t.TempDir(), "audit.jsonl"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { audit.Close() })
	s := newServer(t, server.Config{Projects: servertest.Fixed(t, servertest.CaptureWorkspace(t, "muta", map[string]string{"game.def": servertest.PingText})), Door: access.NewDoor(access.Config{Tokens: servertest.Tokens, Audit: audit})})
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/access?to=/access/people", "main.access", regexp.MustCompile(`status of 4(01|22)`))}
	p := f.page()
	f.types("all\r")
	browsertest.Arrive(t, f.ctx, "main.page h1")
	f.axe("people")
	if os.Getenv("WIREBENCH_LOOK") != "" {
		f.shots("people")
	}
	f.narrow("people")
	p.Fill("textbox", "For whom, as a note", "Anna")
	p.Press("Enter")
	browsertest.Arrive(t, f.ctx, "main [role=alert]")
	f.shows("main", "Choose a role first.")
	p.Choose("one", "author")
	p.Fill("textbox", "For whom, as a note", "Anna")
	p.Press("Enter")
	browsertest.Arrive(t, f.ctx, "#link")
	f.axe("an invitation")
	link := browsertest.Value[string](t, f.ctx, `document.querySelector("#link").textContent`)

	other := flow{t, browsertest.OpenAllowing(t, link, "main.access", regexp.MustCompile(`status of 4(01|03|22)`))}
	o := other.page()
	other.axe("to join")
	o.Focused("textbox", "Name to sign in with")
	other.types("anna\t\tcorrect horse\r")
	browsertest.Arrive(t, other.ctx, openSelector)
	o.Visible("link", "anna")
	o.Click("link", "anna")
	browsertest.Arrive(t, other.ctx, "#tokens-title")
	other.axe("one's own account")
	other.narrow("one's own account")
	o.Fill("textbox", "Name of the new token", "ci")
	o.Press("Enter")
	browsertest.Arrive(t, other.ctx, "#secret")
	other.axe("a token")
	if os.Getenv("WIREBENCH_LOOK") != "" {
		other.shots("account")
	}
	o.Fill("textbox", "Present password", "wrong")
	o.Fill("textbox", "New password", "another horse")
	o.Press("Enter")
	browsertest.Arrive(t, other.ctx, "main [role=alert]")
	other.shows("main", "The present password is wrong.")

	f.visit(srv.URL+"/access/people", "details.person")
	f.shows("details.person", "author in one")
	f.focus("details.person summary")
	f.types(" ")
	p.In("Roles of anna").Choose("one", "viewer")
	p.In("Roles of anna").Click("button", "Save")
	browsertest.Arrive(t, f.ctx, "main .ok[role=status]")
	f.shows("details.person", "viewer in one")
	other.visit(srv.URL+"/p/one/definitions", openSelector)
	o.Visible("link", "View only")
	f.visit(srv.URL+"/access/audit", "main.page table")
	f.shows("main.page", "people: grant")
	f.axe("the audit log")
	f.narrow("the audit log")
	p.Click("button", "Sign out")
	browsertest.Arrive(t, f.ctx, "main.access")
	p.Visible("textbox", "Password")
	f.axe("to sign in")
}

func TestFlowAxeReplay(t *testing.T) {
	t.Parallel()
	f, game := beginReplay(t)
	p := f.page()
	p.Click("link", "Captures…")
	browsertest.Arrive(t, f.ctx, "main.place") // the page before has such a button, too
	p.Click("button", "More about…")
	p.Click("menuitem", "Replay …")
	p.Visible("button", "Script: 6 steps…")
	f.axe("a replay")
	p.Fill("textbox", "Server", game)
	p.Choose("Speed", "1000 times")
	p.Click("button", "Start")
	p.Says("✓ as recorded: 3 sent, 3 received as expected")
	f.axe("the result of a replay")
}
