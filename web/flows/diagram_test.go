package flows

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"wirebench/web/browsertest"
)

// The diagram names the parts of structs in full, has a cell for each element of a short list, and has eight columns where sixteen would be too
// narrow to read.
func TestFlowDiagram(t *testing.T) {
	t.Parallel()
	browsertest.Require(t)
	f, _, _ := begin(t, map[string]string{"C_ROOM.1.def": "vec3 pos\nuint16[4] doors\nbyte[40] rest\nint64 last\n"}, "/p/one/definitions/C_ROOM.1")
	cells := func(what, want string) {
		f.Helper()
		f.is(what, `[...document.querySelectorAll("#layout-diagram .cell")].map(e => (e.querySelector(".name") ?? e.firstChild).textContent).join(" | ") === `+jsText(want))
	}
	starts := func(what, want string) {
		f.Helper()
		f.is(what, `[...document.querySelectorAll("#layout-diagram .at")].map(e => e.textContent).join(" ") === `+jsText(want))
	}
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(1280, 2000, 1, false))
	cells("eight columns", "length | code | pos.x | pos.y | pos.z | doors[0] | doors[1] | doors[2] | doors[3] | rest | … rest | … rest | … rest | … rest | last")
	starts("and their offsets", "0x00 0x08 0x10 0x18 0x20 0x28 0x30 0x38 0x40")
	f.is("the place of an element", `document.querySelectorAll('#layout-diagram [data-key="doors[]/value"]')[2].title.startsWith("doors[2]: uint16, at 0x14, 2 bytes")`)
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(2560, 1440, 1, false))
	cells("sixteen columns", "length | code | pos.x | pos.y | pos.z | doors[0] | doors[1] | doors[2] | doors[3] | rest | … rest | … rest | last")
	starts("and their offsets", "0x00 0x10 0x20 0x30 0x40")
}

// The layout is as high as its content, up to half of its column, until somebody moves the splitter; the text has the rest. Enter on the splitter
// restores that. The table is on demand.
func TestFlowLayoutHeight(t *testing.T) {
	t.Parallel()
	long := ""
	for i := range 60 {
		long += fmt.Sprintf("uint64 field_%d\n", i)
	}
	f, srv, _ := begin(t, map[string]string{"C_JOIN.1.def": "uint32 id\n", "C_LONG.1.def": long}, "/p/one/definitions/C_JOIN.1")
	const (
		cells = `document.querySelectorAll("#layout-diagram .cell").length > 2`
		fits  = `document.querySelector("#layout-body").scrollHeight <= document.querySelector("#layout-body").clientHeight`
		share = `document.querySelector("#layout-pane").offsetHeight / document.querySelector("#left").offsetHeight`
	)
	f.is("the short one is whole, and small", cells+" && "+fits+" && "+share+" < 0.25")
	f.is("the table is on demand", `!document.querySelector("#layout-rows").checkVisibility() && document.querySelector("#layout-diagram").checkVisibility()`)
	f.focus(`#left > [data-splitter]`)
	f.press("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp")
	f.is("moved", share+" > 0.4")
	browsertest.Reload(t, f.ctx, openSelector)
	f.is("it stays", cells+" && "+share+" > 0.4")
	f.focus(`#left > [data-splitter]`)
	f.press("Enter")
	f.is("as at first", share+" < 0.25")

	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_LONG.1", openSelector)}
	browsertest.Run(t, g.ctx, emulation.SetDeviceMetricsOverride(1366, 768, 1, false))
	g.is("a long one has half", cells+" && Math.abs("+share+" - 0.5) < 0.01")
	g.is("the text has the other", `document.querySelector("#code").offsetHeight > 250`)
	g.press("g", "t")
	g.is("the table instead", `document.querySelector("#layout-rows").checkVisibility() && !document.querySelector("#layout-diagram").checkVisibility() && document.activeElement.closest("#layout-rows") !== null`)
	g.press("g", "t")
	g.is("the diagram again", `!document.querySelector("#layout-rows").checkVisibility() && document.activeElement.id === "layout-body"`)
}
