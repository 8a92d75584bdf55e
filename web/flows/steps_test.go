package flows

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"wirebench/web/browsertest"
)

// flow is a page in a browser, used as a person uses it.
type flow struct {
	*testing.T
	ctx context.Context
}

// openSelector matches once the connection of the page is open.
const openSelector = "html.live:is(:not(:has(#code)), :has(.definition-editor, [data-folded])) #main" // with the editor, unless it is folded away

// is waits until an expression is true.
func (f flow) is(what, expression string) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, 40*time.Second)
	defer cancel()
	var err error
	for again := true; again; { // a document that is replaced while it is asked is asked once more, in its successor
		err = chromedp.Run(ctx, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(25*time.Millisecond), chromedp.WithPollingTimeout(30*time.Second)))
		again = err != nil && strings.Contains(err.Error(), "Cannot find context with specified id")
	}
	if err == nil {
		return
	}
	var state string
	_ = chromedp.Run(f.ctx, chromedp.Evaluate(`["notices", "definition-head", "definition-notes", "layout-head", "verdict", "bytes-head", "fields-head", "pointed"].map(id => id + ": " + document.getElementById(id)?.innerText.replace(/\s+/g, " ")).join("\n") + "\n" + document.querySelector(".toasts")?.innerText + "\n" + document.querySelector(".definition-editor .cm-content")?.innerText + "\n" + location.href + "\nfocus: " + document.activeElement?.cloneNode().outerHTML.slice(0, 120) + "\n" + [...document.querySelectorAll("dialog[open]")].map(e => "dialog " + e.ariaLabel + ": " + e.innerText.replace(/\s+/g, " ")).join("\n") + "\nline: " + document.querySelector(".frames-line")?.innerText.replace(/\s+/g, " ") + "\n" + [...document.querySelectorAll(".frame")].slice(0, 8).map(e => e.className + " " + e.innerText.replace(/\s+/g, " ")).join("\n")`, &state))
	f.Fatalf("%s: %v\n%s\n%s", what, err, expression, state)
}

// shows waits until an element has a text.
func (f flow) shows(selector, text string) {
	f.Helper()
	f.reach(selector)
	f.is(selector+" shows "+text, fmt.Sprintf(`document.querySelector(%s)?.innerText?.includes(%s)`, jsText(selector), jsText(text)))
}

// saved waits until the text is saved. ("not saved" has the word, too.)
func (f flow) saved() {
	f.Helper()
	f.is("it is saved", `document.querySelector("#facts .ok") !== null`)
}

// lacks waits until no element matches.
func (f flow) lacks(selector string) {
	f.Helper()
	f.is("no "+selector, fmt.Sprintf(`document.querySelector(%s) === null`, jsText(selector)))
}

// reach scrolls the tree until it has a row: the document has only those in view.
func (f flow) reach(selector string) {
	f.Helper()
	if strings.HasPrefix(selector, ".tree tr[data-path") {
		f.is("the row "+selector, fmt.Sprintf(`(() => {
			if (document.querySelector(%s) !== null) return true
			const body = document.querySelector("#fields-body")
			body.scrollTop = body.scrollTop + body.clientHeight >= body.scrollHeight - 1 ? 0 : body.scrollTop + body.clientHeight
			return false
		})()`, jsText(selector)))
	}
}

func (f flow) do(script string) {
	f.Helper()
	browsertest.Run(f.T, f.ctx, chromedp.Evaluate(script+";undefined", nil))
}

func (f flow) click(selector string) {
	f.Helper()
	f.reach(selector)
	browsertest.Run(f.T, f.ctx, chromedp.Click(selector, chromedp.ByQuery))
}

// ofDefinition presses an entry of the menu of the definition.
func (f flow) ofDefinition(entry string) {
	f.Helper()
	f.page().Click("button", "More about this definition")
	f.page().Click("button", entry)
}

// types types a text into the focused element.
func (f flow) types(text string) {
	f.Helper()
	browsertest.Run(f.T, f.ctx, chromedp.KeyEvent(text))
}

// page returns the steps that find elements by role and name.
func (f flow) page() browsertest.Page { return browsertest.Page{T: f.T, Ctx: f.ctx} }

// press presses keys that enter no text: "Ctrl+S", "ArrowDown", "?".
func (f flow) press(keys ...string) {
	f.Helper()
	f.page().Press(keys...)
}

// paste puts a text into the field for bytes.
func (f flow) paste(text string) {
	f.Helper()
	f.do(fmt.Sprintf(`{ const i = document.querySelector("#input"); i.value = %s; i.dispatchEvent(new Event("input", {bubbles: true})) }`, jsText(text)))
}

// opensDefinition opens the pane of the definition, which is folded away beside a capture.
func (f flow) opensDefinition() {
	f.Helper()
	if browsertest.Value[bool](f.T, f.ctx, `document.querySelector('[data-fold-toggle="capture-definition"][aria-pressed="false"]')?.checkVisibility() === true`) {
		f.page().Click("button", "Definition")
	}
}

// caret moves the caret of the editor to the end of a line, from 1; 0 is the last.
func (f flow) caret(line int) {
	f.Helper()
	f.opensDefinition()
	f.is("the editor is there", `document.querySelector(".definition-editor .cm-content")?.cmTile !== undefined`)
	f.do(fmt.Sprintf(`{
		const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view, doc = view.state.doc
		view.focus()
		view.dispatch({selection: {anchor: doc.line(%d || doc.lines).to}, scrollIntoView: true})
	}`, line))
	browsertest.Run(f.T, f.ctx, chromedp.Evaluate(`new Promise(r => requestAnimationFrame(() => setTimeout(r)))`, nil))
}

// bytes checks the bytes in the address, which follows the page.
func (f flow) bytes(want string) {
	f.Helper()
	f.is("the bytes are "+want, fmt.Sprintf(`new URLSearchParams(location.hash.slice(1)).get("hex") === %s`, jsText(strings.ReplaceAll(want, " ", ""))))
}

// row returns the selector of the tree row of a value, a list or an element.
func row(path string) string {
	return fmt.Sprintf(`.tree tr[data-path=%q]:is([data-role="value"], [aria-expanded])`, path)
}

// focus puts the focus on an element.
func (f flow) focus(selector string) {
	f.Helper()
	f.reach(selector)
	f.do(fmt.Sprintf(`document.querySelector(%s).focus()`, jsText(selector)))
}

// over moves the pointer over an element.
func (f flow) over(selector string) {
	f.Helper()
	f.reach(selector)
	f.do(fmt.Sprintf(`document.querySelector(%s).dispatchEvent(new PointerEvent("pointerover", {bubbles: true}))`, jsText(selector)))
}

// visit opens another page and waits for an element.
func (f flow) visit(address, selector string) {
	f.Helper()
	browsertest.Run(f.T, f.ctx, chromedp.Navigate(address))
	browsertest.Arrive(f.T, f.ctx, selector)
}

// arrives waits until an expression is true, possibly on another page.
func (f flow) arrives(what, expression string) {
	f.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var there bool
		if err := chromedp.Run(f.ctx, chromedp.Evaluate(expression+" === true", &there)); err == nil && there {
			return
		}
	}
	f.is(what, expression)
}

// editorText is an expression for the visible text of the editor.
const editorText = `[...document.querySelectorAll(".definition-editor .cm-content > .cm-line")].map(l => { const c = l.cloneNode(true); c.querySelectorAll(".lint").forEach(e => e.remove()); return c.textContent.replaceAll("\u200b", "") }).join("\n")`

func jsText(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// Steps on the page of a capture.

// counts waits for the status line below the list.
func (f captureFlow) counts(text string) {
	f.Helper()
	f.is("the counts "+text, fmt.Sprintf(`document.querySelector(".frames-line .counts")?.textContent === %s`, jsText(text)))
}

// frameRowOf returns an expression for the row of a frame, null if it is not visible.
func frameRowOf(n int) string {
	return fmt.Sprintf(`([...document.querySelectorAll(".frame")].find(e => e.querySelector(".fc-n").textContent === "%d") ?? null)`, n)
}

// choose clicks on a row.
func (f captureFlow) choose(n int, ctrl bool) {
	f.Helper()
	f.is(fmt.Sprintf("row %d", n), fmt.Sprintf(`(row => row !== null && (row.querySelector(".fc-name").dispatchEvent(new MouseEvent("mousedown", {bubbles: true, button: 0, ctrlKey: %v})), true))(%s)`, ctrl, frameRowOf(n)))
	f.focus(".frames-scroll")
	f.shows(".frames-line .chosen", map[bool]string{true: "chosen", false: fmt.Sprintf("at %d", n)}[ctrl])
}

// filter enters a filter and applies it.
func (f captureFlow) filter(text string) {
	f.Helper()
	f.page().Fill("textbox", "Filter", text)
	f.press("Enter")
}

// pick selects an item of the open menu.
func (f captureFlow) pick(title string) {
	f.Helper()
	const item = `[...document.querySelectorAll(".pop [role^=menuitem]")].find(e => e.textContent.includes(%s))`
	f.is("the item "+title, fmt.Sprintf(item+" !== undefined", jsText(title)))
	f.do(fmt.Sprintf(item+".click()", jsText(title)))
}

// tool presses a tool beside the list, or one in the menu at the end of the line of the filter.
func (f captureFlow) tool(title string) {
	f.Helper()
	tool := fmt.Sprintf(`[...document.querySelectorAll(".frames-tools .btn")].find(e => e.textContent === %s && e.checkVisibility())`, jsText(title))
	if browsertest.Value[bool](f.T, f.ctx, tool+` !== undefined`) {
		f.do(tool + `.click()`)
		return
	}
	f.page().Click("button", "More tools")
	f.page().Click("menuitem", title)
}

// info waits until the row of a frame contains a text.
func (f captureFlow) info(n int, text string) {
	f.Helper()
	f.is(fmt.Sprintf("frame %d tells %s", n, text), fmt.Sprintf(`%s?.querySelector(".fc-info").textContent.includes(%s)`, frameRowOf(n), jsText(text)))
}

// currentCapture returns the id of the only capture of the server.
func (f captureFlow) currentCapture() string {
	f.Helper()
	all, err := f.s.Projects.Find("one").Captures.List()
	if err != nil || len(all) == 0 {
		f.Fatalf("%v %v", all, err)
	}
	return all[len(all)-1].ID
}
