package flows

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// wholeRows is the number of rows of the list that are to be seen whole.
const wholeRows = `(() => {
	const box = document.querySelector(".frames-scroll").getBoundingClientRect(), head = document.querySelector(".frames-head").getBoundingClientRect()
	return [...document.querySelectorAll(".frame")].map((e) => e.getBoundingClientRect()).filter((r) => r.top >= head.bottom - 1 && r.bottom <= box.bottom + 1).length
})()`

// The list has the page until a frame is chosen, and most of it afterwards: a tool that is open takes none of its rows.
func TestFlowCaptureRows(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	p := f.page()
	f.counts("100 frames")
	details := func(are bool) {
		t.Helper()
		f.is(fmt.Sprintf("fields and bytes are shown: %t", are), fmt.Sprintf(`["#fields-pane", "#bytes-pane"].every((s) => document.querySelector(s).checkVisibility() === %t)`, are))
	}
	for _, size := range []struct{ width, height, alone, rows int }{{1440, 900, 36, 24}, {1280, 720, 28, 14}} {
		browsertest.Run(t, f.ctx, chromedp.EmulateViewport(int64(size.width), int64(size.height)))
		details(false)
		f.is(fmt.Sprintf("%d rows without details", size.alone), fmt.Sprintf(`%s >= %d`, wholeRows, size.alone))
		f.choose(9, false)
		details(true)
		f.is(fmt.Sprintf("%d rows with details", size.rows), fmt.Sprintf(`%s >= %d`, wholeRows, size.rows))
		with := browsertest.Value[int](t, f.ctx, wholeRows)
		for _, tool := range []string{"Types", "Timeline", "Fields"} {
			f.tool(tool)
			f.is(tool+" is open", `!document.querySelector(".frames-drawer").hidden && document.querySelector(".frames-drawer").childElementCount > 1`)
			f.is(tool+" takes no rows", fmt.Sprintf(`%s === %d`, wholeRows, with))
			f.tool(tool)
		}
		f.focus(".frames-scroll")
		f.press("Escape")
		details(false)
		f.is("no frame is chosen", `document.querySelector(".frame.cur") === null && !location.hash.includes("n=")`)
		f.press("j")
		details(true)
		f.press("Escape")
	}

	// The tools are one stop of the Tab key, and fold away into the menu.
	f.is("one stop", `document.querySelectorAll('.frames-tools button:not([tabindex="-1"])').length === 1`)
	f.do(`document.querySelector('.frames-tools button:not([tabindex="-1"])').focus()`)
	p.Press("ArrowDown", "ArrowDown", "Enter")
	f.shows(".frames-drawer h3", "Problems")
	f.press("Escape")
	p.Click("button", "Fold the tools away")
	f.is("they are away", `![...document.querySelectorAll(".frames-tools > .btn")].some((e) => e.checkVisibility())`)
	f.reload()
	f.counts("100 frames")
	f.tool("Types") // from the menu
	f.shows(".frames-types", "C_SAY")
	p.Click("button", "Show the tools")
	p.Visible("button", "Markers")
}
