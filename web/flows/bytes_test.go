package flows

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"wirebench/web/browsertest"
)

// selects waits until these bytes are selected in the grid, among the rows in view.
func (f flow) selects(hex string) {
	f.Helper()
	f.is("selected: "+hex, `[...document.querySelectorAll(".hex-rows .hx.sel")].map(e => e.textContent).join(" ") === `+jsText(hex))
}

// found waits until so many bytes in view are marked as found.
func (f flow) found(n string) {
	f.Helper()
	f.is(n+" found bytes", `document.querySelectorAll(".hex-rows .hx.hit").length === `+n)
}

// megabyte returns a megabyte of bytes that no definition explains, with a text at its end.
func megabyte() []byte {
	data := bytes.Repeat([]byte{0x10, 0x27, 0x48, 0x00, 0x6c, 0xff, 0x01, 0x02}, 1<<17)
	copy(data[len(data)-16:], "the end")
	return data
}

func TestFlowFindBytes(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.bytes(joinHex)
	f.pressByte(0)
	p.Press("Ctrl+F")
	p.Focused("textbox", "Find")
	p.Choose("Find by", "Hex")
	p.Fill("textbox", "Find", "6e ??")
	f.shows(".find-note", "2 matches")
	f.found("4")
	p.Press("Enter")
	f.shows(".find-note", "1 of 2")
	f.selects("6e 00")
	f.is("the first", `location.hash.includes("sel=12+2")`)
	p.Press("Enter")
	f.shows(".find-note", "2 of 2")
	p.Press("Enter")
	f.shows(".find-note", "1 of 2, wrapped to the start")
	p.Press("Shift+Enter")
	f.shows(".find-note", "2 of 2, wrapped to the end")
	p.Press("Escape")
	p.Focused("grid", "Bytes")
	p.Gone("search", "Find in bytes")
	f.selects("6e 00")
	f.found("0")

	// F3 finds the next match; the bar keeps its text.
	p.Press("F3")
	f.shows(".find-note", "1 of 2, wrapped to the start")
	p.Choose("Find by", "Value")
	p.Fill("textbox", "Find", "12345")
	f.shows(".find-note", "1 match")
	p.Press("Enter")
	f.selects("39 30")
	p.Choose("Find by", "Text")
	p.Fill("textbox", "Find", "lann")
	p.Press("Enter")
	f.shows(".find-note", "1 of 1")
	f.selects("4c 00 61 00 6e 00 6e 00")
	p.Click("button", "Match case")
	f.shows(".find-note", "not found")
	p.Choose("Find by", "Hex")
	p.Fill("textbox", "Find", "6e zz")
	f.is("a mistake", `document.querySelector(".find-note.err")?.textContent.length > 5`)

	// The marks follow the bytes.
	p.Fill("textbox", "Find", "4c")
	f.shows(".find-note", "1 match")
	f.paste(strings.Replace(joinHex, "3930", "4c4c", 1))
	f.shows(".find-note", "3 matches")
	f.found("3")
	f.axe("found bytes")

	f.paste(bigBlob())
	p.Fill("textbox", "Find", "07 0e 15")
	f.shows(".find-note", "254 matches")
	p.Press("Shift+Enter")
	f.selects("07 0e 15")

	// By the palette, in a megabyte, on a phone.
	f.paste(hex.EncodeToString(megabyte()))
	f.shows(".find-note", "not found")
	p.Press("Escape")
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(390, 800, 1, false))
	p.Press("Ctrl+K")
	p.Type("find in bytes")
	p.Press("Enter")
	p.Focused("textbox", "Find")
	p.Choose("Find by", "Value")
	p.Fill("textbox", "Find", "10000")
	f.shows(".find-note", "131,071 matches, the first 100,000 are marked")
	p.Choose("Find by", "Text")
	p.Fill("textbox", "Find", "the end")
	p.Press("Enter")
	f.shows(".find-note", "1 of 1")
	f.selects("74 68 65 20 65 6e 64")
	f.is("nothing is cut off", `document.documentElement.scrollWidth <= document.documentElement.clientWidth && [...document.querySelectorAll(".find-bar > *")].every(e => !e.checkVisibility() || e.getBoundingClientRect().right <= innerWidth)`)
	f.axe("found bytes on a phone")
}

// change types over a value of the inspector; column 1 is the one in big endian.
func (f flow) change(name string, column int, typed string) {
	f.Helper()
	p := f.page()
	f.do(fmt.Sprintf(`[...document.querySelectorAll(".inspector tr")].find(tr => tr.querySelector("th")?.textContent === %q).querySelectorAll("button")[%d].focus()`, name, column))
	p.Press("Enter")
	f.is("a field", `document.activeElement.matches(".inspector .value-edit")`)
	p.Type(typed)
	p.Press("Enter")
}

// Every value of the inspector can be changed where it is, and the change is one step to undo.
func TestFlowInspectorEdits(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.bytes(joinHex)
	after := func(at int, was, now string) string {
		return joinHex[:2*at] + strings.Replace(joinHex[2*at:], was, now, 1)
	}
	f.press("g", "i")
	f.is("in the inspector, which opens", `document.activeElement.matches(".inspector .val")`)
	f.pressByte(6) // the password
	f.shows("#inspector-line", "0x06 LE u8 57 u16 12345 u32 4993081")
	f.shows("#selected", "2 bytes (0x02) selected at 0x06, sum 105 (0x69)")
	f.change("u16", 0, "7")
	f.bytes(after(6, "3930", "0700"))
	f.shows(row("password"), "7")
	f.is("the value has the focus again", `document.activeElement.textContent === "7"`)
	f.shows("#selected", "sum 7 (0x07)")
	p.Press("Ctrl+Z")
	f.bytes(joinHex)
	f.shows(row("password"), "12345")
	f.change("i16", 1, "-2")
	f.bytes(after(6, "3930", "fffe"))
	f.change("binary", 0, "1010")
	f.bytes(after(6, "3930", "0afe"))
	f.change("u8", 0, "300")
	p.Visible("alert", "")
	p.Says("a whole number from 0 to 255")
	p.Press("Escape")
	f.bytes(after(6, "3930", "0afe"))
	p.Press("Ctrl+Z")
	p.Press("Ctrl+Z")
	f.bytes(joinHex)
	f.change("f32", 0, "1.5")
	f.bytes(after(6, "39304c00", "0000c03f"))
	p.Press("Ctrl+Z")
	f.bytes(joinHex)
	f.change("time s", 0, "2020-08-29 05:02:56")
	f.bytes(after(6, "39304c00", "80e1495f"))
	p.Press("Ctrl+Z")
	f.bytes(joinHex)

	// Text is as long as the selected bytes.
	f.dragBytes(8, 16)
	f.change("utf-16", 0, "Anna")
	f.bytes(after(8, "4c0061006e006e00", "41006e006e006100"))
	f.change("utf-16", 0, "Ann")
	p.Says("6 bytes instead of 8")
	p.Press("Escape")
	p.Press("Ctrl+Z")
	f.bytes(joinHex)

	// A double click does the same; the byte order is remembered.
	p.In("Byte order").Click("button", "BE")
	f.is("one column", `[...document.querySelectorAll(".inspector tr")].find(tr => tr.querySelector("th")?.textContent === "u16").querySelectorAll("button:not([hidden] *)").length === 1`)
	f.pressByte(8)
	f.shows("#selected", "10 bytes")
	f.shows("#inspector", "at 0x08")
	p.DoubleClick("button", "0100 1100")
	p.Type("1")
	p.Press("Enter")
	f.bytes(after(8, "4c", "01"))
	f.reload()
	f.shows("#bytes-head", "18")
	f.is("big endian still", `document.querySelector('[data-segment="be"]').getAttribute("aria-pressed") === "true"`)
	p.In("Byte order").Click("button", "Both")
	p.Press("g")
	p.Press("i")
	f.is("in the inspector", `document.activeElement.matches(".inspector .val")`)
	f.axe("inspector")
}

// The inspector and the status line follow every selection, with large messages, on a phone.
func TestFlowInspectorFollows(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.bytes(joinHex)
	f.is("one line", `document.querySelector("#inspector-strip").getBoundingClientRect().height < 40`)
	f.click("#inspector-strip summary")
	f.dragBytes(3, 9)
	f.shows("#inspector", "at 0x03 (3)")
	f.shows("#selected", "6 bytes (0x06) selected at 0x03")
	f.is("the length", `document.querySelector(".inspector .val").textContent === "6 (0x06)"`)
	f.caret(2)
	f.shows("#inspector", "at 0x06 (6)")
	f.caret(1)
	f.shows("#inspector", "at 0x04 (4)")
	f.click(row("channel_name"))
	f.shows("#inspector", "at 0x08 (8)")
	// A change from elsewhere, while the pointer is over another field.
	f.pressByte(6)
	f.change("u16", 0, "7")
	f.shows(row("password"), "7")
	f.over(row("channel_name"))
	p.Press("Ctrl+Z")
	f.shows("#inspector", "12345")
	f.over(row("channel_name"))
	p.Press("Ctrl+Y")
	f.is("not stale", `[...document.querySelectorAll(".inspector tr")].find(tr => tr.querySelector("th")?.textContent === "u16").innerText.includes("1792")`)

	f.paste(bigList())
	f.shows("#bytes-head", "64816")
	f.pressByte(20)
	p.Press("Ctrl+A")
	f.shows("#selected", "64816 bytes (0xfd30) selected at 0x00, sum ")
	f.paste(hex.EncodeToString(megabyte()))
	f.shows("#bytes-head", "1048576")
	f.pressByte(5)
	p.Press("Ctrl+A")
	sum := 0
	for _, b := range megabyte() {
		sum += int(b)
	}
	f.shows("#selected", fmt.Sprintf("1048576 bytes (0x100000) selected at 0x00, sum %d (%#x)", sum, sum))
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(390, 800, 1, false))
	p.Press("g")
	p.Press("i")
	f.is("the inspector", `document.querySelector(".inspector").checkVisibility() && document.documentElement.scrollWidth <= document.documentElement.clientWidth`)
	f.axe("inspector on a phone")
}

// One key, and a command, change how the offsets and numbers of all panes are written.
func TestFlowNumbers(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.bytes(joinHex)
	f.pressByte(6)
	writes := func(offset, value, size, grid string) {
		t.Helper()
		f.shows(row("password"), value)
		f.is("in the tree "+offset, fmt.Sprintf(`(tr => tr.children[3].innerText === %q && tr.children[4].innerText === %q)(document.querySelector(%q))`, offset, size, row("password")))
		f.is("in the layout "+offset, fmt.Sprintf(`[...document.querySelectorAll("#layout-rows tr")].some(tr => tr.children[0]?.innerText.trim() === "password" && tr.children[2].innerText === %q)`, offset))
		f.shows("#pointed", "@ "+offset)
		f.is("in the inspector "+value, fmt.Sprintf(`[...document.querySelectorAll(".inspector .val")].some(e => e.textContent === %q)`, value))
		f.is("in the grid "+grid, fmt.Sprintf(`document.querySelectorAll(".hex-rows .off")[1].textContent.trim() === %q`, grid))
	}
	writes("0x06", "12345", "2", "0010")
	p.Press("#")
	p.Says("Numbers: offsets and numbers in hex")
	writes("0x06", "0x3039", "0x02", "0010")
	p.Press("Ctrl+K")
	p.Type("offsets and numbers")
	p.Press("Enter")
	p.Says("Numbers: offsets and numbers in decimal")
	writes("6", "12345", "2", "16")
	f.reload()
	f.pressByte(6)
	writes("6", "12345", "2", "16")
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(390, 800, 1, false))
	p.Press("#")
	p.Says("Numbers: offsets in hex, numbers in decimal")
	f.shows("#pointed", "@ 0x06")
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(1440, 900, 1, false))
	f.paste(joinHex + "0000")
	f.shows("#fields-head", "2 bytes left over")
	f.pressByte(6)
	problem := func(offset, size string) {
		t.Helper()
		f.is("in a problem "+offset, fmt.Sprintf(`(tr => tr?.children[3].innerText === %q && tr.children[4].innerText === %q)(document.querySelector("#tree-problems tr"))`, offset, size))
	}
	problem("0x12", "2")
	p.Press("#")
	problem("0x12", "0x02")
	p.Press("#")
	problem("18", "2")
	f.reload()
	problem("18", "2")
}

// Bookmarks name ranges of bytes: they are listed, move with their bytes, are undone, and are in links and after a reload.
func TestFlowBookmarks(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	p := f.page()
	f.paste(joinHex)
	f.shows("#bytes-head", "18")
	mark := func(from, to int, name string) {
		t.Helper()
		f.dragBytes(from, to)
		p.Press("m")
		p.Focused("textbox", "Name of the bookmark")
		p.Press("Ctrl+A")
		p.Type(name)
		p.Press("Enter")
		p.In("Bookmarks").Visible("button", name)
	}
	listed := func(names string) {
		t.Helper()
		f.is("bookmarks: "+names, `[...document.querySelectorAll(".bookmark")].map(e => e.textContent).join(" ") === `+jsText(names))
	}
	mark(8, 12, "start")
	mark(2, 4, "kind")
	listed("kind start")
	f.is("colors", `document.querySelectorAll(".hex-rows .hx.hue1").length === 4 && document.querySelectorAll(".hex-rows .hx.hue2").length === 2`)
	f.pressByte(0)
	p.Press(".")
	f.selects("01 00")
	p.Press(".")
	f.selects("4c 00 61 00")
	p.Press(",")
	f.selects("01 00")
	f.is("in the link", `location.hash.includes("bookmarks=")`)

	// Bookmarks are undone like changes of bytes, and taken away by the menu or a key.
	p.Press("Ctrl+Z")
	listed("start")
	p.Press("Ctrl+Y")
	listed("kind start")
	p.In("Bookmarks").RightClick("button", "kind")
	p.Click("menuitem", "Rename …")
	p.Focused("textbox", "Name of the bookmark")
	p.Type("code")
	p.Press("Enter")
	listed("code start")
	p.In("Bookmarks").RightClick("button", "code")
	p.Click("menuitem", "Rose")
	f.is("rose", `document.querySelectorAll(".hex-rows .hx.hue6").length === 2`)
	f.axe("bookmarks")

	// Bytes that are inserted before a bookmark move it.
	f.pressByte(0)
	p.Press("Enter")
	p.Press("Insert")
	p.Type("ff")
	p.Press("Escape")
	f.shows("#bytes-head", "19")
	p.In("Bookmarks").Click("button", "start")
	f.selects("4c 00 61 00")
	f.is("by one", `location.hash.includes("sel=9+4")`)
	f.reload()
	listed("code start")
	p.In("Bookmarks").Click("button", "start")
	f.selects("4c 00 61 00")
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(390, 800, 1, false))
	f.is("nothing is cut off", `document.documentElement.scrollWidth <= document.documentElement.clientWidth`)
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(1440, 900, 1, false))
	f.focus(".bookmark")
	p.Press("Delete")
	listed("start")

	// A link has them.
	f.is("in the address", `/bookmarks=[^&]*start/.test(location.hash) && !/code/.test(location.hash.replace(/.*bookmarks=/, ""))`)
	link := browsertest.Value[string](t, f.ctx, "location.href")
	browsertest.Run(t, f.ctx, chromedp.Navigate("about:blank"))
	f.visit(link, openSelector)
	f.shows("#bytes-head", "19")
	listed("start")

	// Other bytes have no bookmarks, until that is undone.
	f.paste(hex.EncodeToString(megabyte()[:1<<16]))
	f.shows("#bytes-head", "65536")
	f.lacks(".bookmark")
	mark(3, 5, "far")
	f.selects("00 6c")
}
