package flows

import (
	"fmt"
	"testing"

	"wirebench/web/browsertest"
)

// The palette finds every message, field, code and comment of a large library; a message of exactly the typed name is the first.
func TestFlowSearch(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	files := realLibrary(t)
	files["C_ZZ_MINE.1.def"] = "# what nobody else says\n\nuint32 veryRareField # counted in ells\n"
	files["C_ZZ_MINE_TOO.1.def"] = "uint32 x\n"
	files["protocol.1.map"] = "C_ZZ_MINE 4711\nC_ZZ_UNWRITTEN 4712\n"
	f, _, _ := begin(t, files, "/p/one/definitions")
	p := f.page()
	first := func(query, want string) {
		t.Helper()
		p.Press("Escape")
		f.do(`document.activeElement.blur()`)
		p.Press("Ctrl+K")
		p.Focused("combobox", "Go to anything")
		p.Type(query)
		f.is(query+" finds "+want, fmt.Sprintf(`document.querySelector('#palette-list [role="option"]')?.innerText.includes(%s)`, jsText(want)))
	}
	first("c_zz_mine", "C_ZZ_MINE")
	f.is("not the longer one", `!document.querySelector('#palette-list [role="option"]').innerText.includes("TOO")`)
	first("4711", "C_ZZ_MINE.1")
	first("counted ells", "counted in ells")
	first("nobody else", "what nobody else says")
	first("zz_unwritten", "C_ZZ_UNWRITTEN")
	first("veryrare", "veryRareField")
	p.Press("Enter")
	p.Visible("heading", "C_ZZ_MINE.1.def")
	f.is("its line is marked", `document.querySelector(".cm-picked")?.textContent.includes("veryRareField")`)
	first("4712", "C_ZZ_UNWRITTEN")
	p.Press("Enter")
	p.Visible("heading", "C_ZZ_UNWRITTEN.1.def")
}
