package flows

import (
	"fmt"
	"testing"

	"wirebench/server/servertest"
)

// Columns, colors and named filters are saved for the project: others see them until they choose their own, and those who cannot change settings
// cannot save them.
func TestFlowProjectList(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 40), "")
	p := f.page()
	f.counts("40 frames")
	columns := func(want string) {
		t.Helper()
		f.is("the columns are "+want, fmt.Sprintf(`[...document.querySelectorAll(".fh")].map((e) => e.innerText.trim().replace(/\s.*/s, "")).join(" ") === %q`, want))
	}
	menu := func(item string) {
		t.Helper()
		p.Click("button", "More tools")
		f.pick("Columns…")
		f.pick(item)
	}
	columns("# Time Dir Code Name v Len ⚑ Info")
	menu("   Layers")
	menu("✓ Version")
	columns("# Time Dir Code Name Len ⚑ Info Layers")
	menu("Save for the project")
	p.Says("These are the columns of the project")

	p.Click("button", "More tools")
	f.pick("Colors…")
	p.Fill("textbox", "Filter of a new rule", "C_SAY")
	p.Click("button", "Add")
	p.Click("button", "Save for the project")
	p.Says("These are the colors of the project")
	f.axe("colors of a project")
	p.Click("button", "Close")

	f.do(`localStorage.setItem("wirebench.filter.presets.one", JSON.stringify([{name: "long", text: "len > 20"}]))`)
	f.reload()
	f.counts("40 frames")
	p.Click("button", "More of @long")
	f.pick("Save for the project")
	p.Says("@long is a filter of the project")
	f.is("it is not that of the person any more", `localStorage.getItem("wirebench.filter.presets.one") === "[]"`)
	p.Visible("button", "@long")

	// Somebody else.
	f.do(`localStorage.clear()`)
	f.reload()
	f.counts("40 frames")
	columns("# Time Dir Code Name Len ⚑ Info Layers")
	f.is("colored", `document.querySelectorAll(".frame.hue1").length > 5`)
	p.Click("button", "@long")
	f.counts("40 frames · 30 shown")
	menu("✓ Direction")
	columns("# Time Code Name Len ⚑ Info Layers")
	f.reload()
	columns("# Time Code Name Len ⚑ Info Layers")
	menu("Columns of the project")
	columns("# Time Dir Code Name Len ⚑ Info Layers")

	// A viewer.
	menu("✓ Direction")
	f.do(`document.documentElement.dataset.role = "viewer"`)
	p.Click("button", "More tools")
	f.pick("Columns…")
	f.is("not for a viewer", `[...document.querySelectorAll(".pop-item")].some((e) => e.textContent.startsWith("Save for the project") && e.ariaDisabled === "true" && (e.title + e.textContent).includes("needs the role"))`)
	f.press("Escape")
	p.Click("button", "More of @long")
	f.is("nor this", `[...document.querySelectorAll(".pop-item")].some((e) => e.textContent.startsWith("Remove from the project") && e.ariaDisabled === "true")`)
}
