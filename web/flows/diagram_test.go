package flows

import (
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
