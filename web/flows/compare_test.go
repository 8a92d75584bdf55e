package flows

import (
	"regexp"
	"testing"

	"wirebench/web/browsertest"
)

// Two versions of a definition, and the saved and the edited text, are compared: fields, byte shifts and lines. The large library is open.
func TestFlowCompare(t *testing.T) {
	t.Parallel()
	files := realLibrary(t)
	files["C_SHIFT.1.def"] = "uint32 id\nuint16 old\nuint32 kept\nstring name\n"
	files["C_SHIFT.2.def"] = "uint32 id\nuint64 kept\nstring title\nstring name\n"
	s, _ := filesServer(t, files)
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions/C_SHIFT.2", openSelector, regexp.MustCompile(`status of 404.*/compare`))}
	p := f.page()

	// A version with the one before it, from the menu of the list.
	p.Fill("searchbox", "Filter messages", "c_shift")
	p.RightClick("link", "C_SHIFT…")
	p.Click("menuitem", "Compare…")
	p.Has("combobox", "Old", "C_SHIFT.1")
	p.Has("combobox", "New", "C_SHIFT.2")
	c := p.In("Compare definitions")
	c.Says("2 added, 1 removed, 1 retyped, 3 moved")
	c.Visible("row", "removed old uint16 2 …")
	c.Visible("row", "retyped kept uint32 uint64 4 8 …")
	c.Visible("row", "added title offset…")
	c.Click("button", "Exchange old and new")
	c.Visible("row", "added old uint16 2…")
	c.Click("button", "Text")
	c.Visible("row", "3 − string title")
	p.Press("Escape")
	p.Gone("dialog", "Compare definitions")

	// The saved and the edited text, from the palette; Enter on a change opens its line.
	f.caret(1)
	f.types("\nbyte flag")
	f.shows("#layout-rows", "flag")
	p.Press("Escape")
	p.Press("Ctrl+K")
	p.Type("compare the definition")
	p.Press("Enter")
	p.Has("combobox", "New", "C_SHIFT.2 as edited")
	c.Says("1 added")
	p.Visible("row", "added flag byte 1…")
	f.focus(".compare-table tr[tabindex='0']")
	p.Press("ArrowDown")
	p.Press("ArrowUp")
	f.is("a moved row has its shift", `[...document.querySelectorAll(".compare-table tr.c-moved .shift")].some(e => e.innerText === "+0x01")`)
	f.focus(".compare-table tr.c-added")
	p.Press("Enter")
	p.Gone("dialog", "Compare definitions")
	p.Focused("textbox", "Definition text")
	f.is("its line", `document.querySelector(".cm-activeLine")?.textContent.startsWith("byte flag")`)

	// Any two definitions; one that does not exist is said.
	p.Press("Ctrl+K")
	p.Type("compare the definition")
	p.Press("Enter")
	c.Fill("combobox", "New", "C_NOWHERE.1")
	p.Press("Tab")
	c.Says("C_NOWHERE")
}
