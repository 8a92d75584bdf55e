package flows

import (
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// Frames are distinguished by filters: rules color some of them, and are stored in the browser; a highlight marks others, and is in the
// address.
func TestFlowColorsAndHighlight(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	f.counts("100 frames")
	f.choose(5, false)
	f.tool("Columns…")
	f.pick("Colors of frames")
	p := f.page()
	p.Focused("textbox", "Filter of a new rule")
	for _, rule := range [][2]string{{"dir == c2s", "Blue"}, {"n == 3", "Violet"}, {"lenn > 3", "Green"}} {
		p.Choose("Color of a new rule", rule[1])
		p.Fill("textbox", "Filter of a new rule", rule[0])
		f.press("Enter")
	}
	f.shows("dialog .color-wrong", "lenn")
	f.is("the later rule comes first", frameRowOf(3)+`?.classList.contains("hue4") && `+frameRowOf(2)+`?.classList.contains("hue1")`)
	p.In("Rule 2").Click("button", "Move down")
	f.is("moved behind the other, it does not count", frameRowOf(3)+`?.classList.contains("hue1")`)
	p.In("Rule 1").Click("button", "Remove")
	p.Gone("listitem", "Rule 3")
	f.is("nothing is wrong", `[...document.querySelectorAll(".color-wrong")].every(e => e.textContent === "")`)
	f.press("Escape")
	f.is("the list has the keyboard", `document.querySelector("dialog") === null && document.activeElement?.matches(".frames-scroll")`)

	f.press("/")
	f.types("dir == s2c")
	f.press("Shift+Enter")
	f.counts("100 frames")
	f.shows(".frames-chip.highlights", "highlighted: dir == s2c")
	f.is("in the address", `new URL(location.href).searchParams.get("h") === "dir == s2c"`)
	f.page().Has("textbox", "Filter", "")
	f.is("frames of that direction alone", `[...document.querySelectorAll(".frame")].every(e => e.classList.contains("hit") === e.querySelector(".fc-dir").textContent.startsWith("S"))`)
	f.press("Escape")
	f.focus(".frames-scroll")
	f.press("g")
	f.press("h")
	f.shows(".frames-line .chosen", "at 10")
	browsertest.Reload(t, f.ctx, openSelector)
	f.is("loaded anew, with colors and highlight", frameRowOf(10)+`?.classList.contains("hit") && `+frameRowOf(9)+`?.classList.contains("hue1")`)
	f.do(`document.querySelector(".frames-chip.highlights + .frames-chip").click()`)
	f.is("no highlight", `document.querySelector(".frame.hit") === null && !new URL(location.href).searchParams.has("h")`)
}
