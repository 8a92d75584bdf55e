package flows

import (
	"testing"

	"wirebench/web/browsertest"
)

// viewFields chooses a view of the fields: "Tree", "Form" or "Values as JSON".
func (f flow) viewFields(view string) {
	f.Helper()
	f.page().Click("button", "More about these fields")
	f.page().Click("button", view)
}

const squadText = "byte kind\narray members\n- uint32 id\n- string name\narray<uint16> marks\n"

// A message is made from nothing in a form: its lists are filled, and their elements duplicated, moved and removed, by mouse and by keyboard.
// Each change is exact in its bytes, and one step of undo.
func TestFlowForm(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, map[string]string{"C_SQUAD.1.def": squadText, "protocol.1.map": "C_SQUAD 7\n"}, "/p/one/definitions/C_SQUAD.1")
	p := f.page()
	f.viewFields("Form")
	p.Visible("textbox", "kind")
	p.Click("button", "Add an element to members")
	p.Focused("group", "Element members[0]")
	p.Visible("textbox", "members[0].id")
	p.Fill("textbox", "members[0].id", "0x10")
	p.Press("Enter")
	f.is("its bytes", `new URLSearchParams(location.hash.slice(1)).get("hex")?.includes("10000000")`)
	p.Fill("textbox", "members[0].name", "Ann")
	p.Press("Enter")
	p.Has("textbox", "members[0].name", "Ann")
	f.is("the address has the bytes", `new URLSearchParams(location.hash.slice(1)).get("hex")?.length === 62`)
	first := browsertest.Value[string](t, f.ctx, `new URLSearchParams(location.hash.slice(1)).get("hex")`)

	p.Click("textbox", "members[0].id")
	p.Press("Shift+Tab")
	p.Focused("group", "Element members[0]")
	p.Press("Ctrl+D")
	p.Focused("group", "Element members[1]")
	p.Has("textbox", "members[1].name", "Ann")
	p.Fill("textbox", "members[1].name", "Bob")
	p.Press("Enter")
	p.Has("textbox", "members[1].name", "Bob")
	p.Click("textbox", "members[1].id")
	p.Press("Shift+Tab", "Alt+ArrowUp")
	p.Focused("group", "Element members[0]")
	p.Has("textbox", "members[0].name", "Bob")
	p.Click("button", "Move members[0] down")
	p.Has("textbox", "members[0].name", "Ann")
	p.Click("button", "Remove members[1]")
	p.Gone("textbox", "members[1].id")
	f.bytes(first)

	// What does not fit is refused beside the field, and nothing changes.
	p.Fill("textbox", "kind", "300")
	p.Press("Enter")
	p.Says("kind: 300")
	p.Fill("textbox", "kind", "zwei")
	p.Press("Enter")
	p.Says("a number, decimal, 0x or 0b")
	f.bytes(first)
	p.Press("Escape")

	// Undo takes back one change at a time.
	p.Click("button", "Add an element to marks")
	f.is("a mark", `document.querySelector('.tree tr[data-path="marks[0]"]') !== null`)
	p.Press("Ctrl+Z")
	f.bytes(first)
}

// The alternative of a message is chosen, with the number that selects it.
func TestFlowFormAlternatives(t *testing.T) {
	t.Parallel()
	const text = "0x30 item\noffset size comment\n1      1    u8 kind (coin = 1, letter = 2)\nif kind is coin:\n2      4    u32 amount\nif kind is letter:\n2      ?    text words\n"
	f, _ := beginAs(t, "subspace", map[string]string{"game.def": text}, "/p/one/definitions/item")
	p := f.page()
	f.paste("30 01 05000000")
	f.shows(row("amount"), "5")
	f.viewFields("Form")
	p.Chosen("Alternative", "kind is 1 (coin)")
	p.Choose("Alternative", "kind is 2 (letter)")
	p.Visible("textbox", "words")
	f.bytes("3002")
	p.Fill("textbox", "words", "hello")
	p.Press("Enter")
	f.bytes("3002" + "68656c6c6f")
	p.Choose("kind", "coin (1)")
	f.bytes("3001" + "00000000")
}

// In the tree, the alternative is changed from the menu, or by the number that selects it; the fields of the new one get defaults.
func TestFlowTreeAlternatives(t *testing.T) {
	t.Parallel()
	const text = "0x30 item\noffset size comment\n1      1    u8 kind (coin = 1, letter = 2, ring = 3)\n2      1    u8 level\n" +
		"if kind is coin:\n3      4    u32 amount\nif kind is letter:\n3      ?    text words\nif kind is ring:\n3      4    u32 amount\n7      1    u8 gem\n"
	f, _ := beginAs(t, "subspace", map[string]string{"game.def": text}, "/p/one/definitions/item")
	p := f.page()
	f.paste("30 01 09 05000000")
	f.shows(row("amount"), "5")
	tree := p.In("item")
	tree.RightClick("row", "kind…")
	p.Click("menuitem", "Change to another alternative …")
	p.Click("menuitem", "kind is 3 (ring)…")
	f.bytes("300309" + "05000000" + "00") // both have an amount
	f.edit("kind", "2")
	f.bytes("300209")
	f.edit("kind", "0x1")
	f.bytes("300109" + "00000000")
	f.edit("kind", "7")
	f.bytes("300709")
	p.Press("Ctrl+Z")
	f.bytes("300109" + "00000000")
}

// The same in the tree: by its menu and its keys, from a message without elements.
func TestFlowTreeElements(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, map[string]string{"C_SQUAD.1.def": squadText, "protocol.1.map": "C_SQUAD 7\n"}, "/p/one/definitions/C_SQUAD.1")
	p := f.page()
	tree := p.In("C_SQUAD.1")
	p.Click("button", "Build a message from scratch")
	f.shows("#fields-head", "ok")
	tree.RightClick("row", "members count…")
	p.Click("menuitem", "Add an element…")
	f.is("an element", `document.querySelector('.tree tr[data-path="members[0].id"]') !== null`)
	f.edit("members[0].id", "1")
	f.shows(row("members[0].id"), "1")
	f.focus(row("members[0]"))
	p.Press("Ctrl+D")
	f.is("two", `document.querySelector('.tree tr[data-path="members[1].id"]') !== null`)
	f.edit("members[1].id", "2")
	f.shows(row("members[1].id"), "2")
	f.focus(row("members[1]"))
	p.Press("Alt+ArrowUp")
	f.shows(row("members[0].id"), "2")
	f.is("the focus goes with it", `document.activeElement.dataset.path === "members[0]"`)
	f.choose("members[0]", "Move this element down")
	f.shows(row("members[0].id"), "1")
	f.focus(row("members[1]"))
	p.Press("Delete")
	f.is("one", `document.querySelector('.tree tr[data-path="members[1].id"]') === null`)
	f.do(`document.activeElement.blur()`)
	p.Press("Ctrl+Z", "Ctrl+Z")
	f.shows(row("members[0].id"), "2")
}

// Fields of one name keep values of their own when one of them is edited in the tree.
func TestFlowFieldsOfOneName(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, map[string]string{"C_TWICE.1.def": "int32 a\nint32 b\nint32 a\n", "protocol.1.map": "C_TWICE 7\n"}, "/p/one/definitions/C_TWICE.1")
	f.paste("1000 0700 01000000 02000000 03000000")
	f.is("both values", `[...document.querySelectorAll('#tree-rows tr')].map(r => r.querySelector(".value")?.textContent.trim()).join().endsWith("1,2,3")`)
	f.do(`[...document.querySelectorAll('#tree-rows tr')].at(-3).focus()`)
	f.press("Enter")
	f.put("9")
	f.is("only the first was changed", `document.querySelector("#input").value.replaceAll(/\s/g, "").includes("090000000200000003000000") || document.querySelector(".hex-host").textContent.replaceAll(/\s/g, "").includes("090000000200000003000000")`)
	f.do(`[...document.querySelectorAll('#tree-rows tr')].at(-1).focus()`)
	f.press("Enter")
	f.put("8")
	f.is("only the last was changed", `document.querySelector(".hex-host").textContent.replaceAll(/\s/g, "").includes("0900000002000000") && document.querySelector(".hex-host").textContent.replaceAll(/\s/g, "").includes("08000000")`)
}
