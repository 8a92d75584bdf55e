package flows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/web/browsertest"
)

func TestFlowPaste(t *testing.T) {
	t.Parallel()
	f, _, dir := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.bytes(joinHex) // its sample
	f.shows(row("channel_name"), `"Lann"`)

	f.paste("12 00 01 00 08 00 07 00 4c 00 61 00 6e 00 6e 00 00 00")
	f.shows("#verdict", "18 bytes")
	f.shows(row("password"), "7")

	f.paste("00000000: 1200 0100 0800 0900 4c00 6100 6e00 6e00  ........L.a.n.n.\n00000010: 0000  ..\n")
	f.shows("#verdict", "xxd")
	f.shows(row("password"), "9")

	f.paste("EgABAAgACjBMAGEAbgBuAAAA")
	f.shows("#verdict", "Base64")
	f.shows(row("password"), "12298")

	// Typed bytes are decoded as far as they are entered.
	f.paste("")
	f.is("nothing is shown", `document.querySelectorAll("#tree-rows tr").length === 0`)
	f.asText()
	f.types("0a00 0100 0800 0b0")
	f.types("0 0000")
	f.shows(row("password"), "11")
	f.bytes("0a000100 08000b00 0000")

	f.paste("12 00 01 00 08 00 0z")
	f.shows("#verdict", "line 1, column 20")
	f.is("nothing is shown of what cannot be read", `document.querySelectorAll("#tree-rows tr").length === 0 && document.querySelector("#input").value.endsWith("0z")`)

	f.paste("12000100080039304c00")
	f.shows("#fields-head", "incomplete")
	f.shows(".tree .wrong", "truncated after 10 bytes")
	f.shows(row("password"), "12345")

	// Several messages: a list, and the second one.
	f.paste("# one\n" + joinHex + "\n# two\n" + wideHex)
	f.do(`document.querySelector("#form").value = "hex-lines"; document.querySelector("#form").dispatchEvent(new Event("change", {bubbles: true}))`)
	f.paste(joinHex + "\n" + wideHex)
	f.shows("#messages", "C_JOIN")
	f.click(`#messages button[value="show:1"]`)
	f.shows("#fields-head", "illegal")
	f.byCode()
	f.shows("#fields-head", "C_WIDE.1")
	f.shows("#definition-head", "C_WIDE.1.def")
	f.shows(row("big"), "9223372036854775809")

	// A text of no known form, by the user's own pattern instead of a form.
	f.do(`{ const own = document.querySelector("#pattern"); own.value = "=(?<data>\\w+)"; own.dispatchEvent(new Event("change", {bubbles: true})) }`)
	f.paste("wide=" + wideHex + " join=" + joinHex)
	f.shows("#verdict", "Own pattern")
	f.is("the form of the menu is not chosen any more", `document.querySelector("#form").value === "" && document.querySelector("#pattern").value !== ""`)
	f.shows("#messages", "C_JOIN")
	f.do(`document.querySelector("#form").value = "hex"; document.querySelector("#form").dispatchEvent(new Event("change", {bubbles: true}))`)
	f.is("the pattern is not used any more", `document.querySelector("#pattern").value === ""`)

	f.paste("0600270009 09")
	f.do(`document.querySelector("#form").value = ""; document.querySelector("#form").dispatchEvent(new Event("change", {bubbles: true}))`)
	f.shows("#fields-head", "Unknown code 0x0027")
	f.shows(".tree .wrong", "no definition for code 39")

	// A dropped file: text is pasted, bytes become hex.
	f.byCode()
	f.do(`{
		const data = new DataTransfer()
		data.items.add(new File([Uint8Array.from([0x0a,0,1,0,8,0,5,0,0,0])], "message.bin"))
		document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}))
	}`)
	f.is("the bytes of the file", `document.querySelector("#input").value.startsWith("0a 00 01 00")`)

	// A sample is stored beside its definition, opened again, removed.
	f.do(`document.querySelector('#rail-list a[href$="C_JOIN.1"]').click()`)
	f.shows("#definition-head", "C_JOIN.1.def")
	f.paste("0a000100080005000000")
	f.shows(row("password"), "5")
	f.click("#samples summary")
	f.is("the field for its description", `document.querySelector("#about")?.checkVisibility()`)
	f.focus("#about")
	f.types("an empty name")
	f.click(`#samples button[value="keep"]`)
	f.is("the sample is listed", `document.querySelectorAll("#samples .sample").length === 2`)
	if text, _ := os.ReadFile(filepath.Join(dir, "C_JOIN.1.samples.jsonl")); !strings.Contains(string(text), `"hex":"0a000100080005000000","about":"an empty name"`) {
		t.Errorf("beside the definition: %s", text)
	}
	f.do(`document.querySelector('#samples button[value="sample:0"]').click()`)
	f.bytes(joinHex)
	f.do(`document.querySelector('#samples button[value="drop:1"]').click()`)
	f.page().Click("button", "Delete")
	f.is("the sample is gone", `document.querySelectorAll("#samples .sample").length === 1`)
}

// byCode changes whether the bytes are read by the definition of their code.
func (f flow) byCode() {
	f.Helper()
	f.click("#read-as summary")
	f.page().Click("checkbox", "definition by code")
	f.press("Escape")
}

func TestFlowValues(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.bytes(joinHex)
	edit := func(path, typed string) {
		t.Helper()
		f.focus(row(path))
		f.press("Enter")
		f.is("a field to type in", `document.activeElement.matches(".value-edit")`)
		f.do(`document.activeElement.select()`)
		f.types(typed)
		f.press("Enter")
		f.is("it is taken, or says why not", `document.querySelector(".value-edit") === null || document.querySelector(".value-why").textContent !== ""`)
	}
	edit("password", "0x0102")
	f.bytes("1200010008000201" + "4c0061006e006e000000")
	f.shows("#bytes-head", "2 bytes changed")
	f.is("the changed bytes are marked", `[...document.querySelectorAll(".hx.new")].map(e => e.textContent).join("") === "0201"`)

	edit("password", "65536")
	f.shows(".value-why", "does not fit")
	f.is("the field stays", `document.activeElement.matches(".value-edit") && document.activeElement.value === "65536"`)
	f.press("Escape")
	f.lacks(".value-edit")
	f.shows(row("password"), "258")

	// A longer text moves the end; edited exactly, only its own bytes change.
	edit("channel_name", "Lannister")
	f.bytes("1c00010008000201" + "4c0061006e006e00690073007400650072000000")
	lengths := f.page().In("Lengths and offsets")
	lengths.Click("button", "keep as they are")
	edit("channel_name", "L")
	f.bytes("1c00010008000201" + "4c000000")
	f.shows("#fields-head", "incomplete")
	f.focus(`.tree tr[data-role="length"]`)
	f.press("e")
	f.is("bookkeeping too", `document.activeElement.matches(".value-edit")`)
	f.do(`document.activeElement.select()`)
	f.types("12")
	f.press("Enter")
	f.bytes("0c00010008000201" + "4c000000")
	f.shows("#fields-head", "ok")

	// Undo, step by step, and redo.
	for _, want := range []string{"1c000100080002014c000000", "1c000100080002014c0061006e006e00690073007400650072000000", "12000100080002014c0061006e006e000000", joinHex} {
		f.press("Ctrl+Z")
		f.bytes(want)
	}
	f.lacks("#bytes-head .tag")
	f.press("Ctrl+Y")
	f.bytes("12000100080002014c0061006e006e000000")
	f.page().Click("button", "More about these bytes")
	f.page().Click("button", "Original")
	f.bytes(joinHex)
	lengths.Click("button", "repair")
	f.shows(".toasts", "Nothing to repair")

	// 64 bits, booleans and floats.
	f.do(`document.querySelector('#rail-list a[href$="C_WIDE.1"]').click()`)
	f.shows("#definition-head", "C_WIDE.1.def")
	f.paste(wideHex)
	f.shows(row("big"), "9223372036854775809")
	edit("big", "18446744073709551615")
	edit("flag", "false")
	edit("speed", "-0.25")
	f.bytes("11000300" + "ffffffffffffffff" + "00" + "000080be")

	// From an empty message, with elements inserted, duplicated and removed.
	f.do(`document.querySelector('#rail-list a[href$="C_LIST.1"]').click()`)
	f.shows("#definition-head", "C_LIST.1.def")
	f.paste("")
	f.click(`#fields-note button[value="build"]`)
	f.bytes("0a000200000000000000")
	f.do(`document.querySelector('#samples summary').focus()`)
	f.paste(listBytes)
	f.is("the list is decoded", `document.querySelector('.tree tr[data-path="members[1].name"]') !== null`)
	f.focus(row("members[0]"))
	f.press("Delete")
	f.is("one element is left", `document.querySelector('.tree tr[data-path="members[1]"]') === null && document.querySelector('.tree tr[data-path="members[0]"]') !== null`)
	f.shows(row("members[0].id"), "8")
	f.focus(row("members[0]"))
	f.press("Insert")
	f.shows(row("members[1].id"), "8")
	f.shows(row("members[0].id"), "0")
	f.click(`button[value="repair"]`)
	f.shows(".toasts", "Nothing to repair")
	f.lacks(".toasts .toast")

	// The values as text.
	f.viewFields("Values as JSON")
	f.is("the values of the message", `document.querySelector("#value").value.includes('"flags": 5')`)
	f.do(`{ const v = document.querySelector("#value"); v.value = '{"flags": 6}'; v.dispatchEvent(new Event("input", {bubbles: true})) }`)
	f.click(`button[value="encode"]`)
	f.bytes("0a000200000000000600")
	f.do(`{ const v = document.querySelector("#value"); v.value = '{"flags": -6}'; v.dispatchEvent(new Event("input", {bubbles: true})) }`)
	f.click(`button[value="encode"]`)
	f.shows("#value-result", "does not fit")
}

func TestFlowBytes(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.bytes(joinHex)
	f.focus(".hex-scroll")
	f.press("Home")
	for range 6 {
		f.press("ArrowRight")
	}
	f.press("Enter")
	f.is("edit mode shows", `document.querySelector(".hexgrid.editing .tag") !== null`)
	f.types("0a0b")
	f.bytes("1200010008000a0b" + "4c0061006e006e000000")
	f.shows(row("password"), "2826")
	f.press("Escape")
	f.lacks(".hexgrid.editing")
	f.press("Ctrl+Z")
	f.bytes("1200010008000a00" + "4c0061006e006e000000") // a digit at a time
	browsertest.Run(t, f.ctx, chromedp.Evaluate(`document.querySelector('[data-command="edit-bytes"]').click()`, nil))
	f.is("edit mode by the button", `document.querySelector(".hexgrid.editing") !== null`)
	f.press("End", "Insert")
	f.types("ff")
	f.is("a byte more", `new URLSearchParams(location.hash.slice(1)).get("hex").length === 38`)
	f.shows("#bytes-head", "1 inserted")
}

// Named values are chosen from, and numbers without a name can be typed.
func TestFlowChoices(t *testing.T) {
	t.Parallel()
	f, _ := beginAs(t, "muta", map[string]string{"game.def": "group: msg\n\nenum: race\n   HUMAN = 1\n   ELF = 5\n\npacket: born\n   __group = msg\n   race = race\n   age = uint8\n"}, "/p/one/definitions/born")
	f.paste("00 01 07")
	f.shows(row("race"), "1 (HUMAN)")
	choose := func(path, was, typed, shown string) {
		t.Helper()
		f.focus(row(path))
		f.press("Enter")
		f.is("the current value, and a field for another", `document.activeElement.matches(".value-edit") && document.activeElement.value + document.activeElement.placeholder === "`+was+`"`)
		f.types(typed)
		f.press("Enter")
		f.shows(row(path), shown)
	}
	choose("race", "1", "ELF", "5 (ELF)")
	choose("race", "5", "3", "3")
	choose("race", "3", "", "3") // as it was
	f.focus(row("race"))
	f.press("Enter")
	f.is("the names", `[...document.activeElement.list?.options ?? []].map((o) => o.value + o.label).join() === "HUMAN1,ELF5"`)
	f.press("Escape")
	f.page().In("Lengths and offsets").Click("button", "keep as they are")
	choose("race", "3", "HUMAN", "1 (HUMAN)")
	f.focus(row("age"))
	f.press("Enter")
	f.is("a number is changed as it is", `document.activeElement.value === "7" && document.activeElement.list === null`)
}
