package flows

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"wirebench/web/browsertest"
)

// marked is the hovered or selected part of the page in each pane: rows of the tree by path and role, problems by text, parts of the layout
// by key, lines of the definition by number, bytes, bytes referred to by a number, and the status line.
type marked struct{ Tree, Wrong, Table, Diagram, Lines, Bytes, Aim, Status string }

// marks returns it for a class: "lit" for hover, "picked" for the selection.
const marks = `(name => {
	const all = (selector, of) => [...new Set([...document.querySelectorAll(selector)].map(of))].join(" ")
	const role = e => e.dataset.role === undefined || e.dataset.role === "value" ? "" : "/" + e.dataset.role
	const lines = [...document.querySelectorAll(".definition-editor .cm-content > .cm-line")]
	return {
		Tree: all("#tree-rows tr." + name, e => e.dataset.path + role(e)),
		Wrong: all("#tree-problems tr." + name, e => e.cells[0].innerText.trim()),
		Table: all("#layout-rows tr." + name, e => e.dataset.key),
		Diagram: all("#layout-diagram ." + name, e => e.dataset.key),
		Lines: all(".definition-editor .cm-content > .cm-" + name, e => lines.indexOf(e) + 1),
		Bytes: [...document.querySelectorAll(name === "lit" ? ".hex-rows .hx[class*=' on-']" : ".hex-rows .hx.sel")].map(e => e.textContent.trim()).join(""),
		Aim: [...document.querySelectorAll(".hex-rows .hx[class*=' aim-']")].map(e => e.textContent.trim()).join(""),
		Status: document.querySelector("#pointed").innerText,
	}
})`

// shares waits until all panes show the same hover or selection.
func (f flow) shares(what, class string, want marked) {
	f.Helper()
	script := fmt.Sprintf("%s(%s)", marks, jsText(class))
	var got marked
	for end := time.Now().Add(10 * time.Second); ; {
		browsertest.Run(f.T, f.ctx, chromedp.Evaluate(script, &got))
		if got == want {
			return
		}
		if time.Now().After(end) {
			a, _ := json.MarshalIndent(got, "", " ")
			b, _ := json.MarshalIndent(want, "", " ")
			f.Fatalf("%s:\ngot  %s\nwant %s", what, a, b)
		}
	}
}

// pointAt moves the pointer to an element, given by a JavaScript expression.
func (f flow) pointAt(element string) {
	f.Helper()
	at := browsertest.Value[struct{ X, Y float64 }](f.T, f.ctx, `(e => { const b = e.getBoundingClientRect(); return {X: b.x + Math.min(20, b.width / 2), Y: b.y + b.height / 2} })(`+element+`)`)
	browsertest.Run(f.T, f.ctx, chromedp.MouseEvent(input.MouseMoved, at.X, at.Y))
}

// pressByte presses the left mouse button on a byte of the grid.
func (f flow) pressByte(n int) {
	f.Helper()
	byteAt := fmt.Sprintf(`document.querySelectorAll(".hex-rows .hx")[%d]`, n)
	f.pointAt(byteAt)
	at := browsertest.Value[struct{ X, Y float64 }](f.T, f.ctx, `(e => { const b = e.getBoundingClientRect(); return {X: b.x + b.width / 2, Y: b.y + b.height / 2} })(`+byteAt+`)`)
	browsertest.Run(f.T, f.ctx, chromedp.MouseClickXY(at.X, at.Y))
}

// Hover and selection in one pane show in all of them.
func TestFlowLinks(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_LIST.1")
	f.paste(listBytes)
	f.is("the list is decoded", `document.querySelector('.tree tr[data-path="members[1].name"]') !== null`)
	const (
		listed  = "0a0018001400070000004100000018000000220008000000420043000000"
		idKey   = "members[].id/value"
		nothing = "C_LIST.1: 6 bytes left over, 46 bytes"
	)
	offset := `.tree tr[data-path="members[1].name"][data-role="offset"]`
	idOf1 := marked{Tree: "members[1].id", Table: idKey, Diagram: idKey, Lines: "3", Bytes: "08000000", Status: "C_LIST.1 › members[1].id: uint32 @ 0x1e +4"}
	nameOf1 := marked{Tree: "members[1].name", Table: "members[].name/value", Diagram: "members[].name/value", Lines: "4", Bytes: "420043000000", Status: "C_LIST.1 › members[1].name: string @ 0x22 +6"}
	allIDs := marked{Tree: "members[0].id members[1].id", Table: idKey, Diagram: idKey, Lines: "3", Bytes: "0700000008000000", Status: "C_LIST.1 › members[].id @ 0x10 +4, 2 places"}
	allOffsets := marked{Tree: "members[0].name/offset members[1].name/offset", Table: "members[].name/offset", Diagram: "members[].name/offset", Lines: "4", Bytes: "14002200", Status: "C_LIST.1 › members[].name offset @ 0x0e +2, 2 places"}
	list := marked{Tree: "members", Table: "members/value", Diagram: "members/value", Lines: "2", Bytes: listed, Status: "C_LIST.1 › members @ 0x0a +30"}
	element := marked{Tree: "members[1]", Table: "members/value", Diagram: "members/value", Lines: "2", Bytes: listed[28:], Status: "C_LIST.1 › members[1] @ 0x18 +16"}
	line3 := allIDs
	line3.Status = "C_LIST.1 › line 3 @ 0x10 +4, 2 places"
	line2 := marked{Tree: "members/count members/offset members", Table: "members/count members/offset members/value", Diagram: "members/count members/offset members/value", Lines: "2", Bytes: "02000a00", Status: "C_LIST.1 › line 2 @ 0x04 +4"}

	// Hover.
	for _, c := range []struct {
		what string
		do   func()
		want marked
	}{
		{"a row", func() { f.over(row("members[1].id")) }, idOf1},
		{"a row of text", func() { f.over(row("members[1].name")) }, nameOf1},
		{"an offset", func() { f.over(offset) }, marked{
			Tree: "members[1].name/offset", Table: "members[].name/offset", Diagram: "members[].name/offset", Lines: "4",
			Bytes: "2200", Aim: "41000000420043000000", Status: "C_LIST.1 › members[1].name offset: uint16 @ 0x1c +2",
		}},
		{"a count", func() { f.over(`.tree tr[data-path="members"][data-role="count"]`) }, marked{
			Tree: "members/count", Table: "members/count", Diagram: "members/count", Lines: "2", Bytes: "0200", Aim: listed, Status: "C_LIST.1 › members count: uint16 @ 0x04 +2",
		}},
		{"a list", func() { f.over(row("members")) }, list},
		{"an element", func() { f.over(row("members[1]")) }, element},
		{"a cell of the diagram", func() { f.over(`#layout-diagram [data-key="members[].id/value"]`) }, allIDs},
		{"a row of the layout", func() { f.page().Click("button", "Table"); f.over(`#layout-rows tr[data-key="members[].id/value"]`) }, allIDs},
		{"bookkeeping of the layout", func() { f.over(`#layout-rows tr[data-key="members[].name/offset"]`) }, allOffsets},
		{"a byte", func() { f.pointAt(`document.querySelectorAll(".hex-rows .hx")[30]`) }, idOf1},
		{"a character", func() { f.pointAt(`document.querySelectorAll(".hex-rows .asc")[36]`) }, nameOf1},
		{"a byte of bookkeeping", func() { f.pointAt(`document.querySelectorAll(".hex-rows .hx")[24]`) }, marked{
			Tree: "members[1]/here", Table: "members[]/here", Diagram: "members[]/here", Lines: "2", Bytes: "1800", Status: "C_LIST.1 › members[1] here: uint16 @ 0x18 +2",
		}},
		{"a line", func() { f.pointAt(`document.querySelectorAll(".cm-line")[2]`) }, line3},
		{"the line of a list", func() { f.pointAt(`document.querySelectorAll(".cm-line")[1]`) }, line2},
		{"a line that makes nothing", func() { f.pointAt(`document.querySelectorAll(".cm-line")[0]`) }, marked{Lines: "1", Status: nothing}},
		{"nothing", func() { f.pointAt(`document.querySelector("#fields-head")`) }, marked{Status: nothing}},
	} {
		c.do()
		f.shares("over "+c.what, "lit", c.want)
	}

	// Selection.
	here := marked{Tree: "members[0]/here", Table: "members[]/here", Diagram: "members[]/here", Lines: "2", Bytes: "0a00", Status: "C_LIST.1 › members[0] here: uint16 @ 0x0a +2"}
	next := marked{Tree: "members[0]/next", Table: "members[]/next", Diagram: "members[]/next", Lines: "2", Bytes: "1800", Status: "C_LIST.1 › members[0] next: uint16 @ 0x0c +2"}
	nameAt := marked{Tree: "members[0].name/offset", Table: "members[].name/offset", Diagram: "members[].name/offset", Lines: "4", Bytes: "1400", Status: "C_LIST.1 › members[0].name offset: uint16 @ 0x0e +2"}
	flags := marked{Tree: "flags", Table: "flags/value", Diagram: "flags/value", Lines: "6", Bytes: "0500", Status: "C_LIST.1 › flags: uint16 @ 0x08 +2"}
	line6 := flags
	line6.Status = "C_LIST.1 › line 6 @ 0x08 +2"
	firstID := allIDs
	firstID.Bytes = "07000000" // the grid selects one place
	for _, c := range []struct {
		what string
		do   func()
		want marked
	}{
		{"a row", func() { f.focus(row("members[1].id")) }, idOf1},
		{"a list", func() { f.focus(row("members")) }, list},
		{"an element", func() { f.focus(row("members[1]")) }, element},
		{"a row of the layout", func() { f.focus(`#layout-rows tr[data-key="members[].id/value"]`) }, firstID},
		{"a line", func() { f.caret(6) }, line6},
		{"a cell of the diagram", func() { f.do(`document.querySelector('#layout-diagram [data-key="members[].id/value"]').click()`) }, firstID},
		{"a byte", func() { f.pressByte(10); f.pointAt(`document.querySelector("#fields-head")`) }, here},
		{"the next field", func() { f.do(`document.activeElement.blur()`); f.press("]") }, next},
		{"the one after", func() { f.press("]") }, nameAt},
		{"back", func() { f.press("Alt+ArrowLeft") }, next},
		{"back again", func() { f.press("Alt+ArrowLeft") }, here},
		{"forth", func() { f.press("Alt+ArrowRight") }, next},
		{"the field before that before", func() { f.press("[", "[") }, flags},
		{"nothing", func() { f.press("Escape") }, marked{Status: nothing}},
	} {
		c.do()
		f.shares("chosen: "+c.what, "picked", c.want)
	}

	// A hidden part is shown by its closed row, also if it was selected before.
	folded := idOf1
	folded.Tree = "members[1]"
	f.focus(row("members[1]"))
	f.press("ArrowLeft")
	f.is("folded", `document.querySelector('.tree tr[data-path="members[1].id"]')?.checkVisibility() !== true`)
	f.pressByte(30)
	f.pointAt(`document.querySelector("#fields-head")`)
	f.shares("a byte of what is folded away", "picked", folded)
	both := allIDs
	both.Tree = "members[0].id members[1]"
	f.over(`#layout-rows tr[data-key="members[].id/value"]`)
	f.shares("over the layout of what is partly folded away", "lit", both)
	f.click(`.tree tr[data-path="members[1]"] .fold`)
	f.pointAt(`document.querySelector(".topbar .grow")`) // otherwise elements moving below the pointer would be hovered
	f.is("unfolded", `document.querySelector('.tree tr[data-path="members[1].id"]').checkVisibility()`)
	f.shares("the row that was opened", "picked", element)

	// A problem has a position, and the focused row shows the current problem.
	f.paste(listBytes[:32])
	f.shows("#tree-problems", "truncated after 16 bytes")
	f.focus("#tree-problems tr")
	f.paste(listBytes + "aabb")
	f.shows("#tree-problems", "2 bytes left over")
	f.is("the row with the focus too", `document.activeElement.matches("#tree-problems tr") && document.activeElement.innerText.includes("6 bytes that the definition does not explain")`)
	f.over("#tree-problems tr:nth-child(2)")
	f.shares("over what is wrong", "lit", marked{Wrong: "! bytes-left-over", Bytes: "aabb", Tree: "/gap", Status: "C_LIST.1 › unexplained: byte[2] @ 0x2e +2"})
}
