package flows

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/server"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

const togetherText = "uint32 id\nstring name\nbyte level\n"

// text is an expression for the text of the editor.
const documentText = `document.querySelector(".definition-editor .cm-content").cmTile.root.view.state.doc.toString()`

// has waits until the editor has a text.
func (f flow) has(text string) {
	f.Helper()
	f.is(fmt.Sprintf("the text %q", text), documentText+" === "+jsText(text))
}

// together waits until the text is that of its room, and all that was typed is there.
func (f flow) together() {
	f.Helper()
	f.is("in its room", `document.querySelector("#room-bar").dataset.state === "open"`)
}

// saves saves the text.
func (f flow) saves() {
	f.Helper()
	f.press("Ctrl+S")
	f.lacks("#definition-head .unsaved")
	f.together()
}

// named gives the person in a page a name, for others that are there.
func (f flow) named(name string) {
	f.Helper()
	f.page().Fill("textbox", "Your name, for others", name)
	f.page().Press("Enter")
}

// Two people write one definition: each sees what the other types and where, and the file follows. Undo takes back one's own.
func TestFlowTogether(t *testing.T) {
	t.Parallel()
	f, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText, "protocol.1.map": "C_JOIN 1\n"}, "/p/one/definitions/C_JOIN.1")
	f.together()
	f.is("nobody else is here", `document.querySelector("#people-bar").hidden && document.querySelector("#room-bar").hidden`)
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)} // another browser
	g.together()
	f.named("Ann")
	g.page().In("People in this text").Visible("button", "Ann")
	f.page().In("People in this text").Visible("button", "somebody")

	f.caret(1)
	f.types("entifier")
	g.has("uint32 identifier\nstring name\nbyte level\n")
	g.shows("#layout-head", "bytes")
	g.is("the layout has the new name", `document.querySelector("#layout-body").textContent.includes("identifier")`)
	g.is("the caret of the other", `document.querySelector(".peer-caret .peer-name")?.textContent === "Ann" && document.querySelector(".peer-caret").closest(".cm-line").textContent.startsWith("uint32 identifier")`)
	g.page().Visible("button", "1 line not saved (Ann)")
	g.is("its mark", `document.querySelector(".cm-unsaved:not(.own)")?.title === "Not saved: typed by Ann"`)
	f.is("its mark", `document.querySelector(".cm-unsaved.own") !== null`)
	// With the answer that brings the bytes, not with a later one: nobody may type any more.
	g.do(`document.addEventListener("wb:answered", () => {
		if (window.marked === undefined && !document.documentElement.classList.contains("no-message")) {
			requestAnimationFrame(() => { window.marked ??= document.querySelectorAll(".hx.peer-byte").length })
		}
	})`)
	g.paste("100001000b000700000005410000")
	g.is("the bytes are shown", `window.marked !== undefined`)
	if marked := browsertest.Value[int](t, g.ctx, `window.marked`); marked != 4 {
		t.Errorf("%d bytes are marked where the other is, not 4", marked)
	}
	g.is("the bytes where the other is", `document.querySelectorAll(".hx.peer-byte").length === 4`)
	g.is("the part of the layout where the other is", `document.querySelector("#layout-rows tr.has-peer")?.textContent.includes("identifier")`)
	g.caret(3)
	g.types(" # of the hero")
	f.caret(2)
	f.types("s")
	const both = "uint32 identifier\nstring names\nbyte level # of the hero\n"
	f.has(both)
	g.has(both)
	g.page().Visible("button", "3 lines not saved (Ann, you)")
	file := filepath.Join(dir, "C_JOIN.1.def")
	inFile := func(want string) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if text, err := os.ReadFile(file); err == nil && string(text) == want {
				return
			} else if time.Now().After(end) {
				t.Fatalf("the file has %q, not %q", text, want)
			}
		}
	}
	inFile(togetherText)
	g.command("Discard unsaved changes")
	g.dialog("a question before lines of others are discarded")
	g.has(both)
	g.saves()
	inFile(both)
	f.is("nothing to save", `document.querySelector("#definition-head button[value=save]").disabled && document.querySelector(".unsaved") === null && document.querySelector(".cm-unsaved") === null`)
	f.command("History of the definition …")
	f.shows(".history-list", "somebody, Ann")
	f.press("Escape")

	// Undo takes back one's own.
	f.caret(2)
	f.page().Press("Ctrl+Z")
	const undone = "uint32 identifier\nstring name\nbyte level # of the hero\n"
	f.has(undone)
	g.has(undone)

	// Another program writes the file, which lacks what is not saved.
	servertest.WriteFile(t, file, "# by a script\n"+both)
	if err := srv.Config.Handler.(*server.Server).Projects.Find("one").Reload(); err != nil {
		t.Fatal(err)
	}
	f.has("# by a script\n" + undone)
	g.has("# by a script\n" + undone)
	f.is("no question", `document.querySelector("#definition-notes .conflict") === null`)

	// What was typed is there although the page is left at once, with the name of the one who is gone.
	g.caret(0)
	g.types("int16 last")
	browsertest.Run(t, g.ctx, browsertest.Painted())
	g.goes(srv.URL + "/healthz")
	f.has("# by a script\n" + undone + "int16 last")
	f.is("nobody else is here", `document.querySelector("#people-bar").hidden`)
	f.page().Visible("button", "2 lines not saved (you, somebody)")
	inFile("# by a script\n" + both)
	f.saves()
	inFile("# by a script\n" + undone + "int16 last")
}

// What is not saved is counted beside the Save button, also for one who is alone; nothing moves when the count comes, and it leads to the line.
func TestFlowUnsavedLines(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, map[string]string{"C_JOIN.1.def": togetherText, "protocol.1.map": "C_JOIN 1\n"}, "/p/one/definitions/C_JOIN.1")
	f.together()
	p := f.page()
	places := func() string {
		return browsertest.Value[string](t, f.ctx, `[...document.querySelectorAll("#definition-head .actions button, #definition-body, #layout-pane")].filter(e => e.checkVisibility()).map(e => e.textContent.slice(0, 12) + Object.values(e.getBoundingClientRect().toJSON()).join(" ")).join("\n")`)
	}
	was := places()
	f.caret(3)
	f.types(" # of the hero")
	f.shows("#caret", "Ln 3, Col ")
	p.Visible("button", "1 line not saved")
	f.caret(2)
	f.types("s")
	p.Visible("button", "2 lines not saved")
	f.shows("#facts", "2 lines not saved")
	f.lacks("#room-bar:not([hidden])")
	if now := places(); now != was {
		t.Errorf("what is there moves:\n%s\n%s", was, now)
	}
	f.axe("lines that are not saved")
	f.narrow("lines that are not saved")
	f.caret(1)
	p.Click("button", "2 lines not saved")
	f.is("at the first line", `document.activeElement.matches(".cm-content") && document.querySelector(".definition-editor .cm-activeLine").textContent.startsWith("string names")`)
	f.types("2")
	p.Visible("button", "2 lines not saved")

	f.saves()
	p.Gone("button", "2 lines not saved")
}

// A name that somebody is typing is whole, although others come and choose names meanwhile.
func TestFlowTogetherName(t *testing.T) {
	t.Parallel()
	f, srv, _ := begin(t, map[string]string{"C_JOIN.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	f.together()
	g.together()
	g.page().Visible("button", "somebody")
	g.page().Click("textbox", "Your name, for others")
	g.types("Mi")
	f.named("Ada")
	g.page().Visible("button", "Ada")
	g.types("a")
	g.press("Enter")
	f.page().In("People in this text").Visible("button", "Mia")
}

// Without a connection both type; when it is back, both have everything.
func TestFlowTogetherOffline(t *testing.T) {
	t.Parallel()
	s, _ := filesServer(t, map[string]string{"C_JOIN.1.def": togetherText})
	gate := newGate(t, s)
	f := flow{t, browsertest.OpenAllowing(t, gate.URL+"/p/one/definitions/C_JOIN.1", openSelector, regexp.MustCompile(`^(WebSocket connection to .* failed|Failed to load resource)`))}
	g := flow{t, browsertest.Open(t, gate.other+"/p/one/definitions/C_JOIN.1", openSelector)}
	f.together()
	g.together()
	gate.shut()
	f.shows("#room-bar", "No connection")
	f.caret(1)
	f.types("entifier")
	f.shows("#room-bar", "your changes are kept and sent later")
	f.press("Ctrl+S")
	f.shows(".toasts", "No connection: it is saved once the server is back")
	g.caret(3)
	g.types(" # of the hero")
	g.saves()
	gate.open()
	want := strings.Replace(strings.Replace(togetherText, "id", "identifier", 1), "level", "level # of the hero", 1)
	f.has(want)
	g.has(want)
	f.together()

	// A page that is closed without a connection keeps what was typed for the next time.
	gate.shut()
	f.shows("#room-bar", "No connection")
	f.caret(2)
	f.types("s")
	f.shows("#room-bar", "your changes are kept and sent later")
	g.caret(1)
	g.types("s")
	gate.open()
	browsertest.Reload(t, f.ctx, openSelector)
	want = strings.Replace(strings.Replace(want, "identifier", "identifiers", 1), "name", "names", 1)
	f.has(want)
	g.has(want)
}

// A text that an older version refuses becomes a new version, or goes back to that of the file; the file of the older version stays.
func TestFlowTogetherVersions(t *testing.T) {
	t.Parallel()
	f, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText, "C_JOIN.2.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	f.together()
	add := func() { // at once: an empty line alone would be accepted
		f.do(`{ const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view; view.dispatch({changes: {from: view.state.doc.length, insert: "uint64 more\n"}}) }`)
	}
	add()
	f.press("Ctrl+S")
	f.shows("#room-bar", "Not saved: C_JOIN.1 is an older version")
	f.page().Click("button", "Back to the saved text")
	f.has(togetherText)
	f.is("nothing is wrong", `document.querySelector("#room-bar").hidden`)
	add()
	f.page().Click("button", "New version")
	f.page().Visible("heading", "C_JOIN.3.def")
	f.together()
	servertest.Stands(t, dir, "C_JOIN.1.def", togetherText)
	servertest.Stands(t, dir, "C_JOIN.3.def", togetherText+"uint64 more\n")
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	g.together()
	g.has(togetherText)
}

// A definition that is renamed while people type in it keeps its text, its people and its history.
func TestFlowTogetherRename(t *testing.T) {
	t.Parallel()
	f, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	f.together()
	g.together()
	f.is("the list says who is there", `document.querySelector('#rail-list a[href$="C_JOIN.1"]').dataset.people === "somebody"`)
	f.caret(1)
	f.types("entifier")
	g.press("F2")
	g.page().Fill("textbox", "New name, with its version", "C_ENTER.1")
	g.page().Press("Enter")
	f.page().Visible("heading", "C_ENTER.1.def")
	g.page().Visible("heading", "C_ENTER.1.def")
	want := strings.Replace(togetherText, "id", "identifier", 1)
	f.has(want)
	g.has(want)
	f.together()
	g.caret(3)
	g.types(" # of the hero")
	want = strings.Replace(want, "level", "level # of the hero", 1)
	f.has(want)
	f.saves()
	servertest.Stands(t, dir, "C_ENTER.1.def", want)
	f.command("History of the definition …")
	f.page().Visible("dialog", "History of C_ENTER.1.def")
	f.shows(".history-list", "the text before")
}

// What is typed without a connection while somebody renames the definition is in its text under the new name, also after a reload.
func TestFlowTogetherRenameOffline(t *testing.T) {
	t.Parallel()
	f, g, gate := gated(t, "/p/one/definitions/C_JOIN.1")
	f.together()
	g.open("C_JOIN.1")
	want := servertest.JoinText
	for i, name := range []string{"C_ENTER.1", "C_COME.1"} {
		f.together()
		g.has(want)
		gate.shut()
		f.shows("#room-bar", "No connection")
		mine, theirs := fmt.Sprintf("byte mine%d\n", i), fmt.Sprintf("byte theirs%d\n", i)
		f.inserts(mine, 0)
		f.shows("#room-bar", "your changes are kept and sent later")
		g.do(`document.querySelector("#definition-title").dispatchEvent(new MouseEvent("dblclick", {bubbles: true}))`)
		g.page().Fill("textbox", "New name, with its version", name)
		g.page().Press("Enter")
		g.shows("#definition-head", name+".def")
		g.together()
		g.inserts(theirs, 0.99)
		gate.open()
		if i == 1 {
			f.reload()
		}
		f.shows("#definition-head", name+".def")
		f.together()
		f.is("both lines", documentText+`.includes(`+jsText(mine)+`) && `+documentText+`.includes(`+jsText(theirs)+`)`)
		want = browsertest.Value[string](t, f.ctx, documentText)
	}
	g.has(want)
}

// The server is restarted while people type: nothing is lost, and they go on.
func TestFlowTogetherRestart(t *testing.T) {
	t.Parallel()
	s, dir := filesServer(t, map[string]string{"C_JOIN.1.def": togetherText})
	gate := newGate(t, s)
	lost := regexp.MustCompile(`^(WebSocket connection to .* failed|Failed to load resource)`)
	f := flow{t, browsertest.OpenAllowing(t, gate.URL+"/p/one/definitions/C_JOIN.1", openSelector, lost)}
	g := flow{t, browsertest.OpenAllowing(t, gate.URL+"/p/one/definitions/C_JOIN.1", openSelector, lost)}
	f.together()
	g.together()
	f.caret(1)
	f.types("entifier")
	g.has(strings.Replace(togetherText, "id", "identifier", 1))
	gate.shut()
	s.Close()
	f.shows("#room-bar", "No connection")
	f.types("s")
	g.caret(3)
	g.types(" # of the hero")
	gate.serve(serverOf(t, servertest.OpenWorkspace(t, dir, nil)))
	gate.open()
	want := strings.Replace(strings.Replace(togetherText, "id", "identifiers", 1), "level", "level # of the hero", 1)
	f.has(want)
	g.has(want)
	f.saves()
	servertest.Stands(t, dir, "C_JOIN.1.def", want)
}

// The history has what people and programs have written; a revision is compared, named and restored.
func TestFlowHistory(t *testing.T) {
	t.Parallel()
	f, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText, "protocol.1.map": "C_JOIN 1\n"}, "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.caret(1)
	f.types("entifier")
	f.shows("#definition-head", "not saved")
	f.press("Ctrl+S")
	f.lacks("#definition-head .unsaved")
	servertest.Stands(t, dir, "C_JOIN.1.def", strings.Replace(togetherText, "id", "identifier", 1))
	servertest.WriteFile(t, filepath.Join(dir, "C_JOIN.1.def"), "# by a script\n"+strings.Replace(togetherText, "id", "identifier", 1))
	if err := srv.Config.Handler.(*server.Server).Projects.Find("one").Reload(); err != nil {
		t.Fatal(err)
	}
	f.has("# by a script\n" + strings.Replace(togetherText, "id", "identifier", 1))
	f.command("History of the definition …")
	p.Visible("dialog", "History of C_JOIN.1.def")
	f.is("three revisions", `document.querySelectorAll(".history-row").length === 3 && document.querySelector(".history-row").textContent.includes("another program")`)
	f.shows(".compare-table", "+ # by a script")
	f.is("the keys are in the list", `document.activeElement.matches(".history-row")`)
	f.axe("the history of a definition")
	if os.Getenv("WIREBENCH_LOOK") != "" {
		f.shots("history")
	}
	p.Press("End")
	f.is("the text before", `document.querySelectorAll(".history-row")[2].getAttribute("aria-selected") === "true"`)
	p.Click("button", "What has changed since")
	f.shows(".compare-table", "− uint32 id")
	f.shows(".compare-table", "+ # by a script")
	p.Click("button", "Name it…")
	p.Fill("textbox", "Name of this revision", "as captured")
	p.Press("Enter")
	f.shows(".history-list", "as captured")
	p.Click("button", "Restore this text")
	f.has(togetherText)
	f.shows("#definition-head", "not saved")
	f.press("Ctrl+S")
	f.lacks("#definition-head .unsaved")
	servertest.Stands(t, dir, "C_JOIN.1.def", togetherText)

	// The open bytes by both texts, and a part taken back.
	f.caret(2)
	f.types("s")
	f.caret(0)
	f.press("Enter")
	f.types("byte more")
	f.press("Ctrl+S")
	f.lacks("#definition-head .unsaved")
	f.paste("12000100" + "0b00" + "07000000" + "05" + "4100000000000000"[:14])
	f.command("History of the definition …")
	p.Click("button", "Fields")
	f.is("the values", `document.querySelector(".compare-table")?.textContent.includes("id7") === true`)
	f.focus(".history-row[tabindex='0']")
	p.Press("End")
	p.Click("button", "What has changed since")
	p.Click("button", "Text")
	f.is("two places", `document.querySelectorAll(".take-back").length === 2`)
	f.axe("a part to take back")
	f.do(`document.querySelectorAll(".take-back")[0].click()`)
	f.has(togetherText + "\nbyte more\n")
}

// A command that is not possible any more when it is chosen says so: here the file of the definition is deleted while the palette has its history.
func TestFlowHistoryGone(t *testing.T) {
	t.Parallel()
	f, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText, "C_LEAVE.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	f.caret(1)
	f.types("entifier")
	f.shows("#definition-head", "not saved")
	f.press("Ctrl+K")
	f.is("the palette", `document.activeElement.matches(".palette input")`)
	f.types("History of the definition")
	f.is("the command", `document.querySelector('#palette-list [aria-selected="true"]')?.innerText.includes("History of the definition …")`)
	if err := os.Remove(filepath.Join(dir, "C_JOIN.1.def")); err != nil {
		t.Fatal(err)
	}
	if err := srv.Config.Handler.(*server.Server).Projects.Find("one").Reload(); err != nil {
		t.Fatal(err)
	}
	f.is("the file is gone", `document.querySelector("#definition-head:not([data-stored])") !== null`)
	f.press("Enter")
	f.is("it says so", `document.querySelector(".toasts")?.innerText.includes("“History of the definition …” is not possible any more")`)
	f.is("no dialog", `document.querySelector("dialog[open]") === null`)
}

// Any two revisions are compared, as lines and as layout with offsets in hex, and each says how many messages of the captures fit it.
func TestFlowHistoryCompared(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", map[string]string{"C_HIT.1.def": servertest.HitText, "protocol.1.map": "C_HIT 4097\n"})
	servertest.Keep(t, s, "one.pcapng", servertest.Hits(t, 400, 100))
	ws := s.Projects.Find("one")
	for _, text := range []string{"uint16 short\n" + servertest.HitText, "uint16 short\nuint16 more\n" + servertest.HitText, servertest.HitText + "# the same\n"} {
		if _, err := ws.SaveBy([]string{"ann"}, "C_HIT.1.def", []byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	f := flow{t, browsertest.Open(t, serve(t, s).URL+"/p/one/definitions/C_HIT.1", openSelector)}
	p := f.page()
	f.command("History of the definition …")
	row := func(n int, want string) {
		t.Helper()
		f.is("row "+want, fmt.Sprintf(`document.querySelectorAll(".history-row")[%d]?.textContent.includes(%s)`, n, jsText(want)))
	}
	row(0, "396 of 400 fit")
	p.Press("ArrowDown")
	row(1, "0 of 400 fit")
	f.is("the others are not judged", `document.querySelectorAll(".history-fits").length === 2`)
	p.Click("button", "Layout")
	choose := func(option int) {
		t.Helper()
		f.do(fmt.Sprintf(`{ const s = document.querySelector("dialog select"); s.selectedIndex = %d; s.dispatchEvent(new Event("change", { bubbles: true })) }`, option))
	}
	choose(3) // the text before, and so the older one
	f.shows(".compare-table", "added")
	f.is("the rows", `[...document.querySelectorAll(".compare-table tr.c-moved")].some(e => e.textContent.includes("id") && e.cells[4].textContent === "0x06" && e.cells[5].textContent === "+0x04" && e.cells[6].textContent === "0x0a")`)
	f.shows("dialog .operate-says", "2 added")
	choose(1) // the newest one
	f.shows("dialog .operate-says", "2 removed")
	p.Click("button", "Text")
	f.shows(".compare-table", "− uint16 more")
	f.shows(".compare-table", "+ # the same")
	p.Click("button", "Judge all")
	row(3, "396 of 400 fit")
	f.axe("two revisions")
	f.look("history-compared")
	f.focus(".history-row[tabindex='0']")
	p.Press("End") // the revision that it is compared with is the one before then
	p.Press("Home")
	f.is("compared with the one before", `document.querySelector("dialog .segments button[aria-pressed=true]").textContent === "What it changed"`)

	// A revision that is a part of a change of several files says so, and the change is undone from there.
	p.Press("Escape")
	upload := newFiles(map[string]string{"C_HIT.1.def": servertest.HitText + "uint32 last\n", "C_OTHER.1.def": "byte a\n"})
	if _, _, err := ws.SaveAll(t.Context(), upload, true, "bob"); err != nil {
		t.Fatal(err)
	}
	f.has(servertest.HitText + "uint32 last\n")
	f.command("History of the definition …")
	row(0, "1 file replaced, 1 new")
	f.axe("a revision of a change of several files")
	p.Click("button", "Undo: 1 file replaced, 1 new")
	f.has(servertest.HitText + "# the same\n")
}

// Three people type at once and without a pause: all get the same text, and it is in the file.
func TestFlowTogetherAtOnce(t *testing.T) {
	t.Parallel()
	first, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	all := []flow{first}
	for len(all) < 3 {
		all = append(all, flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)})
	}
	for i, f := range all {
		f.together()
		f.do(fmt.Sprintf(`{
			const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view
			let n = 0
			const typing = setInterval(() => {
				const text = view.state.doc.toString(), at = text.indexOf("# p%[1]d"), end = at < 0 ? text.length : text.indexOf("\n", at) + 1
				view.dispatch({ changes: { from: at < 0 ? end : at, to: end, insert: "# p%[1]d " + ++n + "\n" } })
				if (n === 60) clearInterval(typing), window.typed = true
			}, 15)
		}`, i))
	}
	texts := map[string]bool{}
	for i, f := range all {
		f.is("typed", "window.typed === true")
		for j := range all {
			f.is(fmt.Sprint("the last line of ", j, " at ", i), fmt.Sprintf(`%s.includes("# p%d 60\n")`, documentText, j))
		}
		f.together()
		texts[browsertest.Value[string](t, f.ctx, documentText)] = true
	}
	if len(texts) != 1 {
		t.Errorf("different texts: %q", slices.Collect(maps.Keys(texts)))
	}
	first.saves()
	for text := range texts {
		servertest.Stands(t, dir, "C_JOIN.1.def", text)
	}
}

// Figures of editing together, to be looked at: WIREBENCH_SPEED=1 go test -run TestFlowTogetherSpeed -v ./web/flows. Pages type at once in a
// definition of 300 lines of a large library; the times are those from a change to its own paint, and to that of the others.
func TestFlowTogetherSpeed(t *testing.T) {
	if os.Getenv("WIREBENCH_SPEED") == "" {
		t.Skip("WIREBENCH_SPEED is not set")
	}
	browsertest.Require(t)
	for _, pages := range []int{2, 8} {
		t.Run(fmt.Sprint(pages, " pages"), func(t *testing.T) { togetherSpeed(t, pages) })
	}
}

func togetherSpeed(t *testing.T, pages int) {
	files := map[string]string{}
	for i := range 835 {
		files[fmt.Sprintf("C_OTHER%d.1.def", i)] = "uint32 id\nstring name\narray items\n- uint32 item\n"
	}
	var long strings.Builder
	for i := range 300 {
		fmt.Fprintf(&long, "uint32 field%d\n", i)
	}
	files["C_LONG.1.def"] = long.String()
	first, srv, _ := begin(t, files, "/p/one/definitions/C_LONG.1")
	all := []flow{first}
	for len(all) < pages {
		all = append(all, flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_LONG.1", openSelector)})
	}
	for _, f := range all {
		f.together()
	}
	for i, f := range all {
		f.do(fmt.Sprintf(`{
			const me = "p%d ", view = document.querySelector(".definition-editor .cm-content").cmTile.root.view
			window.own = []; window.others = []
			const seen = new Map()
			const place = () => { const text = view.state.doc.toString(), at = text.indexOf("# " + me); return at < 0 ? { from: view.state.doc.length, to: view.state.doc.length } : { from: at, to: text.indexOf("\n", at) + 1 } }
			window.typing = setInterval(() => {
				const began = performance.now()
				view.dispatch({ changes: { ...place(), insert: "# " + me + Date.now() + "\n" } })
				requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => own.push(performance.now() - began); c.port2.postMessage(0) })
			}, 200)
			const look = () => {
				for (const [, who, at] of view.state.doc.toString().matchAll(/# (p\d+) (\d+)\n/g)) {
					if (who + " " !== me && seen.get(who) !== at) { seen.set(who, at); others.push(Date.now() - Number(at)) }
				}
				requestAnimationFrame(look)
			}
			look()
		}`, i))
	}
	time.Sleep(15 * time.Second)
	var own, others []float64
	for _, f := range all {
		own = append(own, browsertest.Value[[]float64](t, f.ctx, `(clearInterval(typing), own.slice(5))`)...)
		others = append(others, browsertest.Value[[]float64](t, f.ctx, `others.slice(5)`)...)
	}
	slices.Sort(own)
	slices.Sort(others)
	t.Logf("%d changes: own paint %.0f ms at the median, 95%% %.0f; %d seen by others: %.0f ms, 95%% %.0f", len(own), own[len(own)/2], own[len(own)*95/100], len(others), others[len(others)/2], others[len(others)*95/100])
	texts := map[string]bool{}
	for _, f := range all {
		f.together()
		texts[browsertest.Value[string](t, f.ctx, documentText)] = true
	}
	if len(texts) != 1 {
		t.Errorf("%d different texts", len(texts))
	}
}

// One follows another: the view goes where the other goes, into another definition too, until one types.
func TestFlowFollow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("uint32 a\n", 200)
	f, srv, _ := begin(t, map[string]string{"C_JOIN.1.def": long, "C_LEAVE.1.def": "byte why\n", "protocol.1.map": "C_JOIN 1\nC_LEAVE 2\n"}, "/p/one/definitions/C_JOIN.1")
	f.together()
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	g.together()
	f.named("Ann")
	f.caret(150)
	g.page().In("People in this text").Click("button", "Ann")
	visible := func(line int) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".cm-lineNumbers .cm-gutterElement")].some(e => e.textContent === "%d" && e.getBoundingClientRect().top < document.querySelector(".cm-scroller").getBoundingClientRect().bottom)`, line)
	}
	g.is("line 150", visible(150))
	f.caret(20)
	g.is("line 20", visible(20))
	f.page().Click("link", "C_LEAVE…")
	f.has("byte why\n")
	g.has("byte why\n")
	g.is("Ann is followed", `document.querySelector("[data-peer][aria-pressed=true]")?.textContent === "Ann"`)
	g.caret(1)
	g.types("x")
	g.is("nobody is followed", `document.querySelector("[data-peer][aria-pressed=true]") === null`)
	f.has("byte whyx\n")
}

// A key in a definition that five pages show goes to the server once, as a change, and each page gets what changes, and no text.
func TestFlowKeyOfFive(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 300 {
		fmt.Fprintf(&long, "uint32 field%d\n", i)
	}
	first, srv, _ := begin(t, map[string]string{"C_LONG.1.def": long.String()}, "/p/one/definitions/C_LONG.1")
	all := []flow{first}
	for len(all) < 5 {
		all = append(all, flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_LONG.1", openSelector)})
	}
	for _, f := range all {
		f.together()
	}
	first.caret(3)
	first.types("a") // the first one: buttons become enabled
	for _, f := range all {
		f.is("the layout", `document.querySelector("#layout-body").textContent.includes("field2a")`)
		f.shows("#definition-head", "not saved")
		f.settled()
	}
	var traffics []*traffic
	for _, f := range all {
		traffics = append(traffics, f.traffic())
	}
	first.types("b")
	for i, f := range all {
		f.is("the layout", `document.querySelector("#layout-body").textContent.includes("field2ab")`)
		f.settled()
		up, down, messages := traffics[i].take()
		pushes := 0
		for _, m := range messages {
			if strings.HasPrefix(m, "> ") && strings.Contains(m, `"push"`) {
				pushes++
			}
			if strings.HasPrefix(m, "> ") && strings.Contains(m, `"definition"`) {
				t.Errorf("page %d sends the text: %.300s", i, m)
			}
		}
		t.Logf("page %d: %d bytes up, %d down", i, up, down)
		if want := map[bool]int{true: 1}[i == 0]; pushes != want || i > 0 && up > 0 || up+down > 1500 {
			t.Errorf("page %d: %d bytes up, %d down, %d changes sent\n%.3000s", i, up, down, pushes, strings.Join(messages, "\n"))
		}
	}
}
