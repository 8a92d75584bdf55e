package flows

import (
	"fmt"
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// head activates the header of a column by keyboard.
func (f captureFlow) head(column string) {
	f.Helper()
	f.do(fmt.Sprintf(`document.querySelector('.fh[data-column=%s] .fh-text').click()`, jsText(column)))
}

// listed waits until the list starts with some frames, and has been drawn.
func (f captureFlow) listed(what, numbers string) {
	f.Helper()
	f.is(what, fmt.Sprintf(`[...document.querySelectorAll(".frame")].map(e => [+e.getAttribute("aria-rowindex"), e.querySelector(".fc-n").textContent]).sort((a, b) => a[0] - b[0]).map(e => e[1]).join().startsWith(%s)`, jsText(numbers)))
}

func (f captureFlow) sortedBy(column, how string) {
	f.Helper()
	f.is(column+" is "+how, fmt.Sprintf(`document.querySelector('.fh[data-column=%s]').getAttribute("aria-sort") === %s`, jsText(column), jsText(how)))
}

// The first click on the header of a column sorts the list, the second reverses it, the third restores the order.
func TestFlowSort(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 300), "")
	f.counts("300 frames")
	f.listed("as they came", "1,2,3,4,5")
	f.sortedBy("len", "none")

	// The texts of frames 1 to 10 are the shortest.
	f.head("len")
	f.sortedBy("len", "ascending")
	f.listed("the shortest", "1,2,3,4,5,6,7,8,9,10,11,12")
	f.head("len")
	f.sortedBy("len", "descending")
	f.listed("the longest", "101,102,103,104")
	f.shows(".frames-line .order", "sorted by Length in bytes ↓")
	f.is("in the address", `new URL(location.href).searchParams.get("sort") === "-len"`)

	// The selected frame stays visible.
	f.choose(103, false)
	f.head("len")
	f.sortedBy("len", "none")
	f.is("the frame is chosen and in sight", `(row => row !== null && row.matches(".cur") && row.getBoundingClientRect().top >= document.querySelector(".frames-rows").parentElement.parentElement.getBoundingClientRect().top)(`+frameRowOf(103)+`)`)
	f.is("the frame after it below", frameRowOf(104)+`?.getAttribute("aria-rowindex") === "105"`)
	f.lacks(`.frames-line .order:not(:empty)`)

	// By a column of a field; frames without it come last. Numbers in texts are compared by value.
	f.do(`document.querySelector(` + jsText(row("text")) + `).dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 300, clientY: 600}))`)
	f.pick("Show as a column")
	f.is("a column", `document.querySelector('.fh[data-column^="="]') !== null`)
	column := browsertest.Value[string](t, f.ctx, `document.querySelector('.fh[data-column^="="]').dataset.column`)
	f.focus(".frames-scroll")
	f.press("Home")
	f.shows(".frames-line .chosen", "at 1")
	f.head(column)
	f.sortedBy(column, "ascending")
	f.listed("by the field", "1,2,3,4,6,7,8,9,11,12,13,14")
	f.press("End")
	f.shows(".frames-line .chosen", "at 300") // the last one without a text
	f.press("Home")
	f.shows(".frames-line .chosen", "at 1")
	f.head(column)
	f.sortedBy(column, "descending")
	f.is("frame 1 is the last one that has a text", frameRowOf(1)+`?.getAttribute("aria-rowindex") === "241"`)

	// Find and steps follow the order of the list.
	f.press("Home")
	f.shows(".frames-line .chosen", "at 299")
	f.press(".")
	f.shows(".frames-line .chosen", "at 298")

	// With a filter, and again after a reload.
	f.filter("n < 20")
	f.counts("300 frames · 19 shown")
	f.listed("of those that fit", "19,18,17,16,14,13,12,11,9")
	browsertest.Reload(t, f.ctx, openSelector)
	f.counts("300 frames · 19 shown")
	f.listed("the same order", "19,18,17,16,14,13,12,11,9")
	f.sortedBy(column, "descending")

	// Escape restores the order.
	f.focus(".frames-scroll")
	f.press("Escape")
	f.sortedBy(column, "none")
	f.is("no order any more", `document.querySelector(".frames-line .order").textContent === ""`)
	f.press("Home")
	f.listed("as they came", "1,2,3,4,5,6")

	// By the keyboard, in the head.
	f.do(`document.querySelector('.fh .fh-text[tabindex="0"]').focus()`)
	f.press("ArrowRight")
	f.is("the next head", `document.activeElement.closest(".fh")?.dataset.column === "time"`)
	f.types("\r\r")
	f.sortedBy("time", "descending")
	f.is("the first frame is the last row, and in sight", frameRowOf(1)+`?.getAttribute("aria-rowindex") === "20"`)
	f.press("ArrowDown")
	f.is("the list has the keyboard", `document.activeElement.matches(".frames-scroll")`)
}

// The strip beside the list shows properties of its rows, and scrolls to them.
func TestFlowMinimap(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 2000), "")
	f.counts("2,000 frames")
	f.is("the part in view", `!document.querySelector(".frames-map-view").hidden`)
	f.choose(3, false)
	f.press("m")
	f.is("it has the mark", `document.querySelector(".frames-map").getAttribute("aria-label") === "Overview of the list: 0 problems, 1 mark, 0 notes"`)
	const inks = `(() => { const c = document.querySelector(".frames-map canvas"); const copy = new OffscreenCanvas(c.width, c.height).getContext("2d", { willReadFrequently: true }); copy.drawImage(c, 0, 0); return new Set(new Uint32Array(copy.getImageData(0, 0, c.width, c.height).data.buffer)).size })()`
	f.is("it is drawn", inks+" >= 3")
	f.do(`{ const map = document.querySelector(".frames-map"), box = map.getBoundingClientRect();
		const at = (type, share, buttons) => map.dispatchEvent(new PointerEvent(type, {bubbles: true, pointerId: 1, button: 0, buttons, clientX: box.left + 5, clientY: box.top + box.height * share}))
		map.setPointerCapture = () => {}
		at("pointermove", 0.001, 0); window.tip = document.querySelector(".frames-map-tip").textContent
		at("pointerdown", 0.5, 1); at("pointerup", 0.5, 0) }`)
	f.is("what is there in words", `/^rows? [\d,–]+: (1 mark|1 mark, 1 frame without a definition|no problems, marks or hits|1 frame without a definition)$/.test(window.tip)`)
	f.is("the middle is in view", `[...document.querySelectorAll(".frame .fc-n")].some(e => e.textContent === "1,000")`)
	f.do(`document.querySelector(".frames-map").dispatchEvent(new WheelEvent("wheel", {deltaY: 10000000, cancelable: true}))`)
	f.is("the end is in view", `[...document.querySelectorAll(".frame .fc-n")].some(e => e.textContent === "2,000")`)
}
