package flows

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// libraryOf returns a library of n definitions with a code map, half of them from the server.
func libraryOf(n int) map[string]string {
	files, codes := map[string]string{}, ""
	for i := range n {
		name := libraryName(i)
		files[name+".1.def"] = fmt.Sprintf("uint32 id\nstring name_%d\n", i)
		codes += fmt.Sprintf("%s %d\n", name, 1000+i)
	}
	files["protocol.1.map"] = codes
	return files
}

func libraryName(i int) string { return fmt.Sprintf("%c_MESSAGE_%04d", "CS"[i%2], i) }

// A library of 1,192 definitions: the list, its settings and a new definition can be reached by mouse and keyboard, and the page does not
// scroll.
func TestFlowLibrary(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	const n = 1192
	f, _, _ := begin(t, libraryOf(n), "/p/one/definitions")
	p := f.page()
	still := func(when string) {
		t.Helper()
		if top := browsertest.Value[float64](t, f.ctx, `document.documentElement.scrollTop + document.body.scrollTop`); top != 0 {
			t.Errorf("%s: the page is scrolled by %v pixels", when, top)
		}
	}
	opened := func(name string) {
		t.Helper()
		p.Visible("heading", name+".1.def")
		p.Visible("link", name+" v1")
		still(name)
	}
	for _, size := range []struct {
		width, height int64
		choices       int
	}{{1440, 900, 30}, {1280, 720, 5}} {
		browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(size.width, size.height, 1, false))

		// By mouse: scroll to the end of the list, select the last one.
		p.Wheel("complementary", "Messages", 1e6)
		p.Visible("link", libraryName(n-1)+" v1")
		p.Click("link", libraryName(n-1)+" v1")
		opened(libraryName(n - 1))
		p.Click("button", "Library")
		p.Click("textbox", "Game version")
		p.Visible("button", "Apply")
		p.Visible("button", "Library")
		p.Wheel("textbox", "Game version", 1e6)
		p.Visible("button", "Upload")
		p.Click("button", "Library")
		p.Click("link", "New definition")
		p.Visible("heading", "C_NEW_MESSAGE.1.def")
		still("a new definition")
		p.Wheel("complementary", "Messages", -1e6)
		p.Visible("link", libraryName(0)+" v1")

		// By keyboard: filter, and move down the list.
		p.Press("Escape")
		f.do(`document.activeElement.blur()`)
		p.Press("/")
		p.Focused("searchbox", "Filter messages")
		p.Type("message_07")
		p.Press("Enter")
		opened("C_MESSAGE_0700")
		p.Press("/")
		p.Focused("searchbox", "Filter messages")
		p.Press("ArrowDown", "ArrowDown", "ArrowDown")
		p.Focused("link", "C_MESSAGE_0704 v1")
		p.Press(slices.Repeat([]string{"ArrowDown"}, 40)...) // out of view
		p.Focused("link", "C_MESSAGE_0784 v1")
		p.Press(slices.Repeat([]string{"ArrowUp"}, 40)...)
		p.Focused("link", "C_MESSAGE_0704 v1")
		p.Press("Enter")
		opened("C_MESSAGE_0704")
		p.Fill("searchbox", "Filter messages", "")
		p.Press("Escape")

		// Random selections in a row.
		random := rand.New(rand.NewPCG(1, 2))
		for range size.choices {
			name := libraryName(random.IntN(n))
			p.Press("Ctrl+K")
			p.Focused("combobox", "Go to anything")
			p.Type(name[len(name)-4:])
			p.Press("Enter")
			opened(name)
		}
		browsertest.Reload(t, f.ctx, openSelector)
		p.Visible("tab", "Inspector")
		p.Visible("searchbox", "Filter messages")
		still("loaded anew")
	}

	// On a phone the list is one of the tabs.
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(390, 844, 1, true))
	for _, i := range []int{1190, 3, 600} {
		p.Click("tab", "Messages")
		p.Visible("link", "New definition")
		p.Visible("button", "Library")
		p.Fill("searchbox", "Filter messages", libraryName(i))
		p.Click("link", libraryName(i)+" v1")
		p.Visible("heading", libraryName(i)+".1.def")
	}
	if wide := browsertest.Value[int](t, f.ctx, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide", wide)
	}
}

// Enter and the arrow keys in the filter of the list select messages, whatever else the side panel contains.
func TestFlowLibraryFilter(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, flowFiles(), servertest.Chat(t, 20), "")
	browsertest.Run(t, f.ctx, chromedp.Navigate(browsertest.Value[string](t, f.ctx, `location.origin + "/p/one/definitions"`)))
	browsertest.Arrive(t, f.ctx, openSelector)
	p := f.page()
	p.Click("searchbox", "Filter messages")
	p.Press("ArrowDown")
	p.Focused("link", "C_…")
	p.Click("searchbox", "Filter messages")
	p.Type("list")
	p.Press("Enter")
	p.Visible("heading", "C_LIST.1.def")
}

// A page that is opened at the address of a message shows it in the list.
func TestFlowLibraryAtAddress(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	f, _, _ := begin(t, libraryOf(400), "/p/one/definitions/"+libraryName(311)+".1")
	f.is("the list is at the message", `(a => { const box = document.querySelector(".rail-scroll").getBoundingClientRect(), at = a?.getBoundingClientRect(); return at !== undefined && at.top >= box.top && at.bottom <= box.bottom })(document.querySelector("#rail-list a[aria-current]"))`)
}
