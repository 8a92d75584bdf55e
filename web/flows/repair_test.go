package flows

import (
	"strings"
	"testing"
)

// Repair finds the contents at their positions before a length, a count or an offset was changed, and lists its changes.
func TestFlowRepair(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_LIST.1")
	const clean = "28000200" + "0200" + "0a00" + "0500" +
		"0a00" + "1800" + "1400" + "07000000" + "41000000" +
		"1800" + "0000" + "2200" + "08000000" + "420043000000"
	repaired := func(changed, want, said string) {
		t.Helper()
		f.paste(clean)
		f.shows(row("members[1].name"), "BC")
		f.lacks("#tree-problems tr")
		f.paste(changed)
		f.is("read otherwise", `document.querySelector("#tree-problems tr") !== null`)
		f.click(`button[value="repair"]`)
		f.shows(".toasts", said)
		f.bytes(want)
		f.lacks("#tree-problems tr")
	}
	change := func(old, changed string) string { return strings.Replace(clean, old, changed, 1) }
	repaired(change("28000200", "30000200"), clean, "length: 48 → 40")
	repaired(change("1400"+"07000000", "6000"+"07000000"), clean, "members[0].name offset: 96 → 20")
	repaired(change("2200"+"08000000", "2c00"+"08000000"), clean, "members[1].name offset: 44 → 34")
	repaired(change("0200"+"0a00"+"0500", "0100"+"0a00"+"0500"), clean, "members count: 1 → 2")
	repaired(change("0a00"+"1800", "0a00"+"0000"), clean, "members[0] next: 0 → 24")

	// Two more characters in a text, with unchanged numbers.
	inserted := strings.Replace(clean, "41000000"+"1800", "4100"+"58005900"+"0000"+"1800", 1)
	f.paste(clean)
	f.lacks("#tree-problems tr")
	f.paste(inserted)
	f.is("read otherwise", `document.querySelector("#tree-problems tr") !== null`)
	f.click(`button[value="repair"]`)
	f.bytes("2c000200" + "0200" + "0a00" + "0500" +
		"0a00" + "1c00" + "1400" + "07000000" + "4100" + "58005900" + "0000" +
		"1c00" + "0000" + "2600" + "08000000" + "420043000000")
	f.shows(row("members[0].name"), "AXY")
	f.shows(row("members[1].name"), "BC")
	f.lacks("#tree-problems tr")

	// The positions of the contents are unknown: it asks first.
	broken := change("1400"+"07000000", "6000"+"07000000")
	g, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_LIST.1")
	g.paste(broken)
	g.shows("#tree-problems", "offset")
	g.click(`button[value="repair"]`)
	g.shows("#ask", "Repair removes the bytes that no field explains (4)")
	g.bytes(broken)
	g.page().Click("button", "Repair anyway")
	g.lacks("#tree-problems tr")
	g.lacks("#ask .warn")
	g.press("Ctrl+Z")
	g.bytes(broken)
	g.shows("#tree-problems", "offset")

	g.paste(clean)
	g.bytes(clean)
	g.lacks("#tree-problems tr")
	g.click(`button[value="repair"]`)
	g.shows(".toasts", "Nothing to repair")
}
