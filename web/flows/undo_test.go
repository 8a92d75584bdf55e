package flows

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"wirebench/web/browsertest"
)

// put enters a value into the open field, and waits until it is accepted or refused.
func (f flow) put(typed string) {
	f.Helper()
	f.is("a field to type in", `document.activeElement.matches(".value-edit")`)
	f.do(`document.activeElement.select()`)
	f.types(typed)
	f.press("Enter")
	f.is("it is taken, or says why not", `document.querySelector(".value-edit") === null || document.querySelector(".value-why").textContent !== ""`)
}

// edit replaces the value of a row.
func (f flow) edit(path, typed string) {
	f.Helper()
	f.focus(row(path))
	f.press("Enter")
	f.put(typed)
}

// choose selects an item of the menu of a row, by keys.
func (f flow) choose(path, item string) {
	f.Helper()
	f.focus(row(path))
	f.press("c")
	f.is("a menu", `document.activeElement.matches("[role=menuitem]")`)
	f.types(strings.ToLower(item))
	f.is("the item", fmt.Sprintf(`document.activeElement.innerText.startsWith(%s)`, jsText(item)))
	f.press("Enter")
	f.lacks(`[role="menu"]`)
}

// Changes of every kind are undone one by one, and redone; the focus stays in a sensible place.
func TestFlowUndo(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_LIST.1")
	const (
		start   = "2800020002000a0005000a0018001400070000004100000018000000220008000000420043000000"
		valued  = "2800020002000a0001010a0018001400070000004100000018000000220008000000420043000000" // flags 257
		typed   = "2800020002000a00ff010a0018001400070000004100000018000000220008000000420043000000" // its first byte
		doubled = "3800020003000a00ff010a001800140007000000410000001800280022000800000042004300000028000000320008000000420043000000"
		wrong   = "3800020001000a00ff010a001800140007000000410000001800280022000800000042004300000028000000320008000000420043000000" // the count
	)
	f.paste(start)
	f.shows(row("flags"), "5")
	f.shows("#fields-head", "ok")

	// By a double click on the value, in the tree.
	browsertest.Run(t, f.ctx, chromedp.DoubleClick(row("flags")+" td.value", chromedp.ByQuery))
	f.put("0x101")
	f.bytes(valued)
	f.is("the focus is back", `document.activeElement.matches(`+jsText(row("flags"))+`)`)

	// In the grid, two digits over the byte.
	f.press("b")
	f.is("the grid has the focus", `document.activeElement.matches(".hex-scroll")`)
	f.press("Enter")
	f.is("edit mode", `document.querySelector(".hexgrid.editing") !== null`)
	f.types("ff")
	f.bytes(typed)
	f.shows(row("flags"), "511")
	f.press("Escape")

	// An element duplicated by its menu; a count changed alone, left inconsistent.
	f.choose("members[1]", "Duplicate")
	f.bytes(doubled)
	f.shows(row("members[2].name"), `"BC"`)
	f.is("the element has the focus", `document.activeElement.matches(`+jsText(row("members[1]"))+`)`)
	f.focus(`.tree tr[data-path="members"][data-role="count"]`)
	f.press("Enter")
	f.put("1")
	f.bytes(wrong)
	f.shows("#tree-problems", "links to another one")

	// Repaired: the values are those before the count was changed.
	f.click(`button[value="repair"]`)
	f.shows("#fields-head", "ok")
	f.lacks("#tree-problems tr")
	f.bytes(doubled)
	f.page().Click("button", "More about these bytes")
	f.page().Click("button", "Original")
	f.bytes(start)
	f.lacks("#bytes-head .tag")

	// Undone one by one. Each digit in the grid is a separate change.
	half := strings.Replace(valued, "0101", "f101", 1)
	for _, want := range []string{doubled, wrong, doubled, typed, half, valued, start} {
		f.press("Ctrl+Z")
		f.bytes(want)
	}
	for _, want := range []string{valued, half, typed, doubled, wrong, doubled, start} {
		f.press("Ctrl+Shift+Z")
		f.bytes(want)
	}
	f.press("Ctrl+Y")
	f.shows(".toasts", "Nothing to redo")

	// A paste can be undone too, with the form in which it was read.
	f.do(`{ const form = document.querySelector("#form"); form.value = "hex"; form.dispatchEvent(new Event("change", {bubbles: true})) }`)
	f.paste("0a00 0200 0000 0000 0700")
	f.shows(row("flags"), "7")
	f.do(`document.activeElement.blur()`)
	f.press("Ctrl+Z")
	f.bytes(start)
	f.is("and the text field says it", `document.querySelector("#input").value === `+jsText(start))

	// Bytes entered by the user stay when another definition is opened. Undo returns to the definition in which the change was made.
	f.open("C_JOIN.1")
	f.bytes(start)
	f.do(`document.querySelector('#samples button[value="sample:0"]').click()`)
	f.bytes(joinHex)
	f.press("Ctrl+Z")
	f.bytes(start)
	f.shows("#definition-head", "C_JOIN.1.def")
	f.press("Ctrl+Z")
	f.bytes(doubled)
	f.shows("#definition-head", "C_LIST.1.def")
	f.says("the text of the editor too", listText)
	f.press("Ctrl+Y")
	f.bytes(start)
}

// Keys insert and remove elements; the focus stays in the tree, and impossible changes are reported.
func TestFlowElements(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_LIST.1")
	f.paste(listBytes[:2*40])
	f.do(`{ const i = document.querySelector("#input"); i.value = "2800" + i.value.slice(4); i.dispatchEvent(new Event("input", {bubbles: true})) }`)
	f.shows("#fields-head", "ok")
	inTree := func(what, selector string) {
		t.Helper()
		f.is("the focus after "+what, `document.activeElement.matches(`+jsText(selector)+`) && document.activeElement.checkVisibility()`)
	}
	f.focus(row("members"))
	f.press("Insert")
	f.shows(row("members[2].id"), "0")
	inTree("an element is added", row("members"))
	f.focus(row("members[0]"))
	f.press("Insert")
	f.shows(row("members[3].id"), "0")
	f.shows(row("members[0].id"), "0")
	inTree("an element is put in", row("members[0]"))
	for left := 3; left >= 0; left-- {
		f.focus(row(fmt.Sprintf("members[%d]", left)))
		f.press("Delete")
		f.lacks(row(fmt.Sprintf("members[%d]", left)))
		inTree("an element is taken out", `.tree tr`)
	}
	f.bytes("0a000200000000000500")

	// The same by the buttons of the rows, from an empty list on.
	tool := func(path, title, shows string) {
		t.Helper()
		f.focus(path)
		f.is(title, fmt.Sprintf(`[...document.querySelectorAll(%s)].some(e => e.checkVisibility({visibilityProperty: true}) && e.textContent === %s && (e.click(), true))`, jsText(path+" .row-tools button"), jsText(title)))
		f.is("after "+title, fmt.Sprintf(`document.querySelectorAll(".tree tr[data-element]").length === %s`, shows))
	}
	tool(`.tree tr[data-path="members"][data-role="count"]`, "+ add", "1")
	f.edit("members[0].id", "7")
	tool(row("members[0]"), "+ after", "2")
	f.shows(row("members[0].id"), "7")
	tool(row("members[0]"), "+ before", "3")
	f.shows(row("members[1].id"), "7")
	tool(row("members[1]"), "+ after", "4")
	f.shows(row("members[1].id"), "7")
	for left := 3; left >= 0; left-- {
		tool(row(fmt.Sprintf("members[%d]", left)), "remove", fmt.Sprint(left))
	}
	f.bytes("0a000200000000000500")
	f.focus(row("flags"))
	f.press("Insert")
	f.shows(".toasts", "elements can only be added to lists")
	f.press("Delete")
	f.bytes("0a000200000000000500")

	// A deliberately wrong length is repaired by the next change.
	f.page().In("Lengths and offsets").Click("button", "keep as they are")
	f.edit("flags", "65535")
	f.bytes("0a00020000000000ffff")
	f.edit("flags", "65536")
	f.shows(".value-why", "does not fit")
	f.types(kb.Escape)
	f.lacks(".value-edit")
	inTree("Escape", row("flags"))
}

// What one has typed can be taken back after another definition, a reload and a lost connection; what others have typed since stays.
func TestFlowUndoStays(t *testing.T) {
	t.Parallel()
	f, g, gate := gated(t, "/p/one/definitions/C_JOIN.1")
	g.goes(gate.other + "/p/one/definitions/C_JOIN.1")
	const join = "string channel_name # where\nuint16 password\n"
	for _, away := range []func(){
		func() { f.open("C_LIST.1"); f.open("C_JOIN.1") },
		func() { f.reload() },
		func() {
			gate.shut()
			f.shows("#room-bar", "No connection")
			gate.open()
		},
	} {
		f.together()
		g.together()
		f.caret(2)
		f.types("_typed")
		f.together()
		g.has(strings.Replace(join, "password", "password_typed", 1))
		away()
		f.together()
		g.caret(1)
		g.types(" by g")
		const both = "string channel_name # where by g\nuint16 password"
		f.has(both + "_typed\n")
		f.caret(1)
		f.pressUntil("Ctrl+Z", both+"\n")
		f.pressUntil("Ctrl+Y", both+"_typed\n")
		f.pressUntil("Ctrl+Z", both+"\n")
		g.has(both + "\n")
		g.caret(1)
		g.pressUntil("Ctrl+Z", join)
		f.has(join)
	}
}

// pressUntil presses a key until the text is another one: what is typed slowly is undone in several steps.
func (f flow) pressUntil(key, text string) {
	f.Helper()
	for range 8 {
		if browsertest.Value[string](f.T, f.ctx, documentText) == text {
			return
		}
		f.press(key)
	}
	f.has(text)
}
