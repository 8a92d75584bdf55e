package flows

import (
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// While a line is being typed the rest stays as it is: its fields in the layout and the tree, and the height of every pane; what is wrong
// with the line is said once one pauses.
func TestFlowBrokenLine(t *testing.T) {
	t.Parallel()
	const text = "uint32 first\nuint16 second\nuint16 third\nstring name\n"
	f, _, _ := begin(t, map[string]string{"C_JOIN.1.def": text, "protocol.1.map": codesText}, "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.paste("1800 0100 0e00 01000000 0200 0300 41004200430000000000")
	f.shows(row("third"), "3")
	f.do(`{
		const height = () => ["#definition-notes", "#layout-pane", "#code"].map(s => document.querySelector(s).getBoundingClientRect().height).join()
		globalThis.first = height()
		globalThis.jumps = []
		globalThis.seen = []
		globalThis.key = 0
		document.addEventListener("keydown", () => { key = performance.now() }, true)
		new MutationObserver(() => {
			if (height() !== first) jumps.push(height())
			for (const e of document.querySelectorAll(".strip .problems > li")) if (performance.now() < key + 900 && e.checkVisibility({visibilityProperty: true})) seen.push(e.innerText)
		}).observe(document.querySelector("#main"), {subtree: true, childList: true, characterData: true, attributes: true})
	}`)
	f.caret(1)
	p.Press("Enter")
	f.types("uin")
	f.shows("#layout-head", "without line 2")
	f.is("all fields stay", `["first", "second", "third", "name"].every(n => document.querySelector('#layout-rows tr[data-key="' + n + '/value"]'))`)
	f.shows(row("third"), "3")
	if seen := browsertest.Value[int](t, f.ctx, `seen.length`); seen > 0 {
		t.Error("the mistake of the line that is being typed was shown at once")
	}
	p.Visible("listitem", "error 2:1…")
	p.Visible("button", "1 mistake")

	// A line that was right before keeps its bytes.
	for range len("uin\n") { // on a slow machine Ctrl+Z takes back less
		p.Press("Backspace")
	}
	f.is("nothing is wrong", `document.querySelector(".strip .problems") === null`)
	f.caret(2)
	for range 7 {
		p.Press("Backspace")
	}
	f.types("x")
	f.shows("#layout-head", "line 2 as it was")
	f.shows(row("third"), "3")
	f.is("the line is marked, with its last name and its bytes", `document.querySelector("#layout-rows tr.hole")?.innerText.includes("uint16") && document.querySelector('#tree-rows tr.hole[data-range="80:16"]') !== null`)
	if jumps := browsertest.Value[string](t, f.ctx, `jumps.join(" ")`); jumps != "" {
		t.Errorf("panes have changed their height: %s, not %s", jumps, browsertest.Value[string](t, f.ctx, `first`))
	}

	// All mistakes in a list over the text.
	f.caret(3)
	f.types(" y z")
	p.Visible("button", "2 mistakes")
	p.Click("button", "2 mistakes")
	p.Visible("listitem", "error 3…")
	p.Click("listitem", "error 2…")
	f.is("its line is marked", `document.querySelector(".cm-picked")?.textContent.startsWith("uint16x") || document.querySelector(".cm-picked")?.textContent.includes("x")`)
	p.Click("button", "2 mistakes")
	p.Gone("listitem", "error 3…")
}

// All samples of a definition are decoded with each change; the first that does not fit is named, and a click opens it.
func TestFlowSamplesJudged(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"C_OTHER.1.def": servertest.JoinText, "C_OTHER.1.samples.jsonl": `{"message":"C_OTHER.1","hex":"` + joinHex + `"}` + "\n" + `{"message":"C_OTHER.1","hex":"0e0001","about":"broken on purpose: it is truncated"}` + "\n",
		"C_JOIN.1.def": servertest.JoinText, "protocol.1.map": codesText,
		"C_JOIN.1.samples.jsonl": `{"message":"C_JOIN.1","hex":"` + joinHex + `","about":"a text"}` + "\n" +
			`{"message":"C_JOIN.1","hex":"0a00010008000700","about":"no name"}` + "\n" +
			`{"message":"C_JOIN.1","hex":"0e000100080009004c000000ffff","about":"a tail"}` + "\n" +
			`{"message":"C_JOIN.1","hex":"0e0001","about":"broken on purpose: it is truncated","status":"incomplete"}` + "\n",
	}
	f, _, _ := begin(t, files, "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.shows(".judged", "1 of 3 samples fit")
	p.Visible("button", "1 of 3 samples fit; one is broken on purpose no name…")
	p.Click("button", "1 of 3 samples fit; one is broken on purpose no name…")
	f.bytes("0a00010008000700")
	f.caret(2)
	p.Press("Enter")
	f.types("byte more")
	f.shows(".judged", "0 of 3 samples fit")
	f.is("it is worse than the stored text", `document.querySelector(".judged").classList.contains("err")`)
	for range 20 { // typed slowly, it is more than one step
		if browsertest.Value[string](t, f.ctx, documentText) == servertest.JoinText {
			break
		}
		p.Press("Ctrl+Z")
	}
	f.has(servertest.JoinText)
	f.shows(".judged", "1 of 3 samples fit")

	// One that is broken on purpose is not held against the definition.
	browsertest.Run(t, f.ctx, chromedp.Navigate(browsertest.Value[string](t, f.ctx, "location.origin")+"/p/one/definitions/C_OTHER.1"))
	f.shows(".judged", "the sample fits; one is broken on purpose (it is truncated)")

	// Computed fields have their role beside their name, and labels name their effect.
	p.Click("button", "Table")
	p.Visible("row", "channel_name offset uint16…")
	f.is("the role is explained", `document.querySelector("#layout-rows small.role")?.title.includes("start")`)
	p.Click("button", "read as…")
	p.Visible("checkbox", "definition by code")
	p.Press("Escape")
	p.Click("button", "More about the layout")
	p.Click("button", "Wire order")
	p.Click("button", "More about the layout")
	p.Visible("button", "Text order")
}
