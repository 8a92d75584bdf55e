package flows

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// pasted pastes a text outside text fields, by means of a paste event. (Concurrent tests share the clipboard.)
func (f flow) pasted(text string) {
	f.Helper()
	f.do(fmt.Sprintf(`{ const clipboardData = new DataTransfer(); clipboardData.setData("text/plain", %s); document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true})) }`, jsText(text)))
}

// asText opens the text of the bytes, which has the focus then.
func (f flow) asText() {
	f.Helper()
	f.do(`document.activeElement.blur()`)
	f.press("p")
	f.page().Focused("textbox", "Bytes: hex, a dump, an array, base64, a log …")
}

// A pasted message is decoded by the definition of its code, unless the open one is being edited. One with an unknown code, or none, is decoded by
// no definition, whichever is open.
func TestFlowPasteFindsItsDefinition(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.pasted(wideHex)
	p.Visible("heading", "C_WIDE.1.def")
	f.shows(row("big"), "9223372036854775809")
	f.is("the list marks it", `document.querySelector('#rail-list a[aria-current]')?.textContent.includes("C_WIDE")`)

	f.open("C_JOIN.1")
	unknown := func() {
		t.Helper()
		f.pasted("12002700080039304c0061006e006e000000")
		p.Visible("heading", "Unknown code 0x0027")
		p.Visible("heading", "C_JOIN.1.def")
		p.Visible("button", "New definition from these bytes")
		f.shows("#tree-problems .fits", "all 18 bytes: 1 text, 1 offset or count")
		f.lacks(row("password"))
		f.pasted("0600")
		p.Visible("heading", "Too short for a code")
		p.Gone("button", "New definition from these bytes")
	}
	unknown()
	p.Visible("button", "read as …")
	f.says("its text stays", servertest.JoinText)
	f.pasted(joinHex)
	p.Visible("heading", "C_JOIN.1")

	f.caret(1)
	f.types(" # mine")
	f.shows("#facts", "not saved")
	unknown()
	f.says("what was typed stays", strings.Replace(servertest.JoinText, "# where", "# where # mine", 1))
	f.pasted(wideHex)
	f.shows("#fields-head", "Decode as C_WIDE.1")
	p.Visible("heading", "C_JOIN.1.def")

	// Edited text stays with the open definition.
	f.click("#definition-head summary[aria-label]")
	f.click(`#definition-head button[value="stored"]`)
	f.says("discarded", servertest.JoinText)
	f.paste("")
	f.is("nothing is shown", `document.querySelectorAll("#tree-rows tr").length === 0`)
	f.asText()
	f.types(wideHex)
	f.shows("#fields-head", "Decode as C_WIDE.1")
}

// A paste outside text fields, a dropped text and the button put other bytes in the place of the sample; each is one step among all others, and
// what has no bytes changes nothing.
func TestFlowPasteReplaces(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.bytes(joinHex)
	const other = "0a000100080005000000"
	f.edit("password", "258")
	typed := strings.Replace(joinHex, "3930", "0201", 1)
	f.bytes(typed)
	f.pasted(other)
	f.bytes(other)
	f.shows(".toasts", "Pasted 10 bytes")
	f.shows("#verdict", "Hex, 10 bytes")
	p.Visible("button", "read as C_JOIN.1")
	p.Click("button", "Undo")
	f.bytes(typed)
	f.press("Ctrl+Y")
	f.bytes(other)
	f.press("Ctrl+Z", "Ctrl+Z")
	f.bytes(joinHex)
	f.press("Ctrl+Y", "Ctrl+Y")
	f.bytes(other)

	f.pasted("nothing that has bytes")
	f.shows(".toasts", "Not pasted: line 1, column 1: unrecognised form of bytes")
	f.is("it covers no pane", `document.querySelector(".toast").getBoundingClientRect().top >= document.querySelector("#main").getBoundingClientRect().bottom`)
	f.bytes(other)
	f.press("Ctrl+Y")
	f.shows(".toasts", "Nothing to redo")
	f.do(`{
		const dataTransfer = new DataTransfer()
		dataTransfer.setData("text/plain", ` + jsText(joinHex) + `)
		document.querySelector("#fields-body").dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}))
	}`)
	f.bytes(joinHex)

	// In the grid, too; over the selection by its own keys, and at the caret of edit mode.
	inGrid := func(text string) {
		t.Helper()
		f.do(fmt.Sprintf(`{ const clipboardData = new DataTransfer(); clipboardData.setData("text/plain", %s); document.querySelector(".hex-scroll").dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true})) }`, jsText(text)))
	}
	f.focus(".hex-scroll")
	f.press("Home", "ArrowRight", "ArrowRight")
	inGrid(other)
	f.bytes(other)
	f.focus(".hex-scroll")
	f.press("End", "Home")
	for range 6 {
		f.press("ArrowRight")
	}
	f.do(`document.querySelector(".hex-scroll").dispatchEvent(new KeyboardEvent("keydown", {key: "V", ctrlKey: true, shiftKey: true, bubbles: true}))`)
	inGrid("0607")
	f.bytes("0a000100080006070000")
	f.press("Enter")
	inGrid("0809")
	f.bytes("0a000100080006070809")
	f.press("Escape", "Ctrl+Z", "Ctrl+Z")
	f.bytes(other)

	// The clipboard by the button; where the browser keeps it from pages, one pastes into the text, which opens.
	f.do(`navigator.clipboard.readText = () => Promise.resolve(` + jsText(joinHex) + `)`)
	p.Click("button", "Paste")
	f.bytes(joinHex)
	f.do(`navigator.clipboard.readText = () => Promise.reject(new Error("not allowed"))`)
	p.Click("button", "Paste")
	p.Focused("textbox", "Bytes: hex, a dump, an array, base64, a log …")
	f.press("Escape")
	p.Gone("textbox", "Bytes: hex, a dump, an array, base64, a log …")
	p.Focused("grid", "Bytes")

	// The text of bytes that were changed is theirs.
	f.edit("password", "258")
	f.asText()
	f.is("as they are now", `document.activeElement.value.replaceAll(" ", "") === `+jsText(typed))
}

// While hex is typed, a byte with one digit leaves the message and its position unchanged.
func TestFlowHalfByte(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_WIDE.1")
	f.paste("11 00 03 00 01 00 00 00 00 00 00 80 01 00 00 c0 3f ")
	f.shows(row("big"), "9223372036854775809")
	f.do(`{
		const top = () => document.querySelector("#fields-head").getBoundingClientRect().top
		globalThis.first = top()
		globalThis.jumps = []
		new MutationObserver(() => {
			if (document.querySelectorAll("#tree-rows tr").length < 5 || top() !== first) jumps.push(top() + " " + document.querySelector("#verdict").innerText)
		}).observe(document.querySelector("#main"), {subtree: true, childList: true, characterData: true})
	}`)
	f.asText()
	f.press("End")
	f.types("a")
	f.shows("#verdict", "17½ bytes")
	f.types("b")
	f.shows("#verdict", "18 bytes")
	f.types(" c")
	f.shows("#verdict", "18½ bytes")
	if jumps := browsertest.Value[string](t, f.ctx, `jumps.join("\n")`); jumps != "" {
		t.Error(jumps)
	}
	f.paste(wideHex + " z")
	f.shows("#verdict", "line 1")
}

// A click on a byte without a field selects this byte only.
func TestFlowGapByByte(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_WIDE.1")
	f.paste(wideHex + "a0a1a2a3a4a5a6a7")
	f.shows("#tree-problems", "8 bytes left over")
	f.click("#inspector-strip summary")
	for _, n := range []int{19, 22} {
		f.pressByte(n)
		f.shows("#pointed", fmt.Sprintf("C_WIDE.1 › unexplained @ %#02x +1", n))
		f.shows("#inspector", fmt.Sprintf("at %#02x (%d)", n, n))
		f.is("the byte is chosen", fmt.Sprintf(`[...document.querySelectorAll(".hex-rows .hx.sel")].map(e => e.textContent.trim()).join("") === "%02x"`, 0xa0+n-17))
		f.is("its row is chosen", `document.querySelector("#tree-rows tr.picked")?.innerText.includes("unexplained")`)
	}
	f.pressByte(5)
	f.shows("#pointed", "big: uint64 @ 0x04 +8")
	f.shows("#inspector", "at 0x04 (4)")

	// The inspector follows the definition, the keys and changes of bytes.
	f.caret(3)
	f.shows("#inspector", "at 0x0d (13)")
	f.shows("#inspector", "1.5")
	f.press("Escape")
	f.do(`document.activeElement.blur()`)
	f.press("[")
	f.shows("#inspector", "at 0x0c (12)")
	f.edit("flag", "false")
	f.shows("#inspector", "0000 0000")
}

// A large paste is restored unchanged after a reload; a link holds 64 KB and names the omitted parts.
func TestFlowLargePasteStays(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_WIDE.1")
	f.do(`window.copied = []; navigator.clipboard.writeText = (text) => { window.copied.push(text); return Promise.resolve() }`)
	large := "\n\n  " + wideHex + strings.Repeat("5a", 61_000)
	f.paste(large)
	f.shows("#verdict", "61017 bytes")
	f.press("Escape")
	f.do(`document.activeElement.blur()`)
	f.press("l")
	f.shows(".toasts", "Copied a link to this view")
	f.is("the bytes are in the link", `new URLSearchParams(new URL(copied[0]).hash.slice(1)).get("hex").length === 2 * 61017`)
	f.reload()
	f.shows("#verdict", "61017 bytes")
	f.shows(row("big"), "9223372036854775809")
	f.is("the text is as it was pasted", `document.querySelector("#input").value === `+jsText(large))

	link := browsertest.Value[string](t, f.ctx, `location.href`)
	f.do(`window.copied = []; navigator.clipboard.writeText = (text) => { window.copied.push(text); return Promise.resolve() }`)
	f.paste(wideHex + strings.Repeat("5a", 70_000))
	f.shows("#verdict", "70017 bytes")
	f.do(`document.activeElement.blur()`)
	f.press("l")
	f.shows(".toasts", "without the message (70017 bytes)")

	// Another tab shows the state of its address.
	g := flow{t, browsertest.OpenTab(t, f.ctx, link, openSelector)}
	g.is("no bytes of the other tab", `document.querySelector("#input").value === ""`)
}

// Dashes inserted by Enter can also be typed, once: they are not duplicated.
func TestFlowDashes(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_WIDE.1")
	for _, c := range []struct{ typed, want string }{
		{"array a\r- int32 x\r- array b\r- - int32 y\r- int32 z", "array a\n- int32 x\n- array b\n- - int32 y\n- int32 z"}, // typed, also fewer
		{"array a\rint32 x\rarray b\rint32 y", "array a\n- int32 x\n- array b\n- - int32 y"},                               // none
		{"array a\r- array b\r-- int32 y", "array a\n- array b\n-- int32 y"},                                               // as one writes them
	} {
		f.caret(1)
		f.do(`document.querySelector(".definition-editor .cm-content").focus()`)
		f.press("Ctrl+A")
		for _, line := range strings.SplitAfter(c.typed, "\r") {
			f.types(strings.TrimSuffix(line, "\r"))
			f.press("Escape") // close the completion
			if strings.HasSuffix(line, "\r") {
				f.press("Enter")
			}
		}
		f.says(c.typed, c.want)
	}
	f.press("Ctrl+A")
	f.types("array a")
	f.press("Escape")
	f.press("Enter")
	f.do(`{
		const clipboardData = new DataTransfer()
		clipboardData.setData("text/plain", "- int32 x\n- int32 y")
		document.querySelector(".definition-editor .cm-content").dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}))
	}`)
	f.says("a pasted line with its own dashes", "array a\n- int32 x\n- int32 y")
}

// A message is "ok" only if all its bytes are explained. Otherwise the page lists the definitions that would explain it.
func TestFlowFits(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_WIDE.1")
	f.paste(wideHex + "00")
	f.shows("#fields-head", "1 byte left over")
	f.is("not ok", `!/\bok\b/.test(document.querySelector("#fields-head").innerText)`)
	f.paste(wideHex)
	f.is("ok", `/\bok\b/.test(document.querySelector("#fields-head").innerText)`)
	f.lacks("#tree-problems a")

	f.paste(strings.Replace(joinHex, "12000100", "12000900", 1))
	f.shows("#tree-problems .fits", "C_JOIN.1")
	f.shows("#tree-problems .fits", "all 18 bytes: 1 text, 1 offset or count")
	f.page().Click("link", "C_JOIN.1")
	f.shows("#definition-head", "C_JOIN.1.def")
	f.shows(row("channel_name"), "Lan")
	f.lacks("#tree-problems a")
}
