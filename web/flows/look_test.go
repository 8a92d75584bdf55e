package flows

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"wirebench/web/browsertest"
)

// shot stores a screenshot in the directory WIREBENCH_LOOK, if that is set.
func (f flow) shot(name string, width, height int64) {
	f.Helper()
	browsertest.Run(f.T, f.ctx, emulation.SetDeviceMetricsOverride(width, height, 1, false), browsertest.Painted())
	dir := os.Getenv("WIREBENCH_LOOK")
	if dir == "" {
		return
	}
	var png []byte
	browsertest.Run(f.T, f.ctx, chromedp.Sleep(300e6), chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		f.Fatal(err)
	}
}

// Screenshots of the workbench with a large library, to be looked at: WIREBENCH_LOOK=DIR go test -run TestFlowLook ./web/flows
func TestFlowLook(t *testing.T) {
	if os.Getenv("WIREBENCH_LOOK") == "" {
		t.Skip("WIREBENCH_LOOK is not set")
	}
	browsertest.Require(t)
	f, _, _ := begin(t, realLibrary(t), "/p/one/definitions")
	p := f.page()
	f.paste(unknownHex)
	f.shot("unknown", 1440, 900)
	p.Click("button", "New definition from these bytes")
	p.Focused("textbox", "Name of the new definition")
	p.Press("Enter")
	f.shows("#fields-head", "left over")
	f.dragBytes(6, 10)
	f.rightByte(6)
	p.Visible("menuitem", "uint32…")
	f.shot("types", 1440, 900)
	p.Click("menuitem", "uint32…")
	f.shot("name", 1440, 900)
	p.Press("Enter")
	f.shows(row("unk1"), "7")
	f.shot("defined", 1440, 900)
	f.shot("phone", 390, 800)
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(1440, 900, 1, false))
	f.open("S_SPAWN_USER.17")
	f.caret(5)
	f.types("x y")
	f.shows("#layout-head", "as it was")
	browsertest.Run(t, f.ctx, chromedp.Sleep(1500e6))
	f.shot("broken", 1440, 900)
	p.Click("button", "1 mistake…")
	f.do(`document.querySelector("[data-theme-toggle]").click()`)
	f.shot("broken-listed", 1440, 900)
	f.shot("wide", 2560, 1440)
}

// The form of a message with lists.
func TestFlowLookForm(t *testing.T) {
	if os.Getenv("WIREBENCH_LOOK") == "" {
		t.Skip("WIREBENCH_LOOK is not set")
	}
	f, _, _ := begin(t, realLibrary(t), "/p/one/definitions/S_PARTY_MEMBER_LIST.9")
	p := f.page()
	f.viewFields("Form")
	p.Click("button", "Add an element to members")
	p.Visible("group", "Element members[0]")
	p.Press("\\")
	f.shot("form", 1440, 900)
	f.do(`document.querySelector("[data-theme-toggle]").click(); document.querySelector("[data-theme-toggle]").click()`)
	f.shot("form-dark", 1440, 900)
}

// shots reports what is wider than the page in the widths of people. With WIREBENCH_LOOK it also stores screenshots of it, light and dark.
func (f flow) shots(name string) {
	f.Helper()
	themes := []string{"light", "dark"}
	if os.Getenv("WIREBENCH_LOOK") == "" {
		themes = themes[:1]
	}
	for _, theme := range themes {
		browsertest.Run(f.T, f.ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		for _, size := range [][2]int64{{390, 800}, {768, 1024}, {1280, 720}, {1440, 900}, {2560, 1440}} {
			f.shot(fmt.Sprintf("%s-%d-%s", name, size[0], theme), size[0], size[1])
			if wide := browsertest.Value[int](f.T, f.ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide > 0 {
				f.Errorf("%s, %d px wide: the page is %d px wider", name, size[0], wide)
			}
		}
	}
	browsertest.Run(f.T, f.ctx, emulation.SetEmulatedMedia(), emulation.SetDeviceMetricsOverride(1440, 900, 1, false))
}

// Every page in every width, light and dark, with the large library.
func TestFlowLookPages(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, realLibrary(t), "/p/one/definitions")
	origin := browsertest.Value[string](t, f.ctx, `location.origin`)
	f.shots("empty")
	f.visit(origin+"/p/one/definitions/S_PARTY_MEMBER_LIST.9", openSelector)
	f.do(`document.querySelector('#samples button[value="build"]')?.click()`)
	f.is("fields", `document.querySelectorAll("#tree-rows tr").length > 5`)
	f.shots("definition")
	f.ofDefinition("Code")
	f.shows("#code-pane pre", "struct")
	f.shots("code")
	f.viewFields("Form")
	f.shots("form")
	for name, address := range map[string]string{"projects": "/projects", "manual": "/docs", "define": "/docs/define", "api": "/api/docs", "start": "/docs?q=filter"} {
		f.visit(origin+address, "main h1")
		f.shots(name)
	}
}

// The page of a listener.
func TestFlowLookLive(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, words(20, "word ")...)
	f.counts("40 frames")
	f.choose(39, false)
	f.shots("live")
	f.filter("say")
	f.counts("40 frames · 20 shown")
	f.focus(".frames-scroll")
	f.press("i")
	f.is("it holds", `document.querySelector("#live-operate").textContent.includes("Holding say")`)
	f.filter("")
	g.say(t, "hold me", "and me", "the third")
	f.is("three wait", `document.querySelectorAll("#held .held-row").length === 3`)
	f.focus(".frames-scroll")
	f.press("e")
	f.page().Focused("textbox", "text")
	f.page().Fill("textbox", "text", "changed, and longer")
	f.page().Press("Enter")
	f.shows(".held-changes", "changed, and longer")
	f.is("they are below the list, as wide as it is", `(() => {
		const [list, held] = ["#frames .frames-list", "#held"].map((e) => document.querySelector(e).getBoundingClientRect())
		return held.top >= list.bottom - 1 && held.left === list.left && held.right >= list.right && held.height < list.height * 2
	})()`)
	f.shots("held")
	f.press("Shift+A")
}

// The page of a capture.
func TestFlowLookCapture(t *testing.T) {
	t.Parallel()
	files, session := versionsLibrary(t)
	f := beginCapture(t, files, session, "")
	p := f.page()
	f.is("frames", `document.querySelectorAll(".frame").length > 10`)
	f.choose(9, false)
	f.is("fields", `document.querySelectorAll("#tree-rows tr").length > 0`)
	f.shots("capture")
	p.Click("button", "Definition")
	f.shot("capture-definition", 1440, 900)
	p.Click("button", "Definition")
	f.tool("Types")
	f.shots("capture-types")
	f.tool("Types")
}
