package flows

import (
	"strings"
	"testing"

	"wirebench/server/servertest"
)

const mutaText = `# client - server protocol
group: svmsg

packet: pong
   __group = svmsg

packet: character_created
   __group = svmsg
   id      = uint64
   name    = char <uint8> {MIN_NAME, MAX_NAME}
   race    = uint8
   sex     = uint8
   map_id  = uint32
`

// A file with several messages: ids in the list, constants from the panel, both orders, and the layout follows the caret.
func TestFlowSeveralMessages(t *testing.T) {
	t.Parallel()
	f, dir := beginAs(t, "muta", map[string]string{"game.def": mutaText}, "/p/one/definitions/character_created")
	f.is("the group", `document.querySelector("#rail-list h2").textContent.includes("svmsg")`)
	f.is("the id of each packet", `document.querySelector('.item[data-name="character_created"] small').innerText.includes("0x02")`)
	f.shows("#library-count", "2 constants without a value")
	f.shows("#layout-rows", "name")
	f.paste("02 04 3500000000000000 01 00 20000000 4a6f686e")
	f.shows(".tree .wrong", "MIN_NAME")

	// Constants in C syntax.
	f.do(`document.querySelector(".library").open = true`)
	f.do(`document.querySelector("#constants").value = "#define MIN_NAME 2\n#define MAX_NAME (8 * 2) // a name\n"`)
	f.do(`document.querySelector("#library-settings").requestSubmit()`)
	f.shows(row("name"), `"John"`)
	f.shows(row("map_id"), "32")
	f.is("as they are kept", `document.querySelector("#constants").value.includes("MAX_NAME = 16")`)
	f.do(`document.querySelector("#constants").value = "MIN_NAME = many"`)
	f.do(`document.querySelector("#library-settings").requestSubmit()`)
	f.shows(".toasts", "line 1")
	f.shows(row("name"), `"John"`)

	// By its id, in the group of the open message.
	f.do(`document.querySelector("#bycode").click()`)
	f.paste("01")
	f.shows("#fields-head", "pong")
	f.paste("02 04 3500000000000000 01 00 20000000 4a6f686e")
	f.shows(row("map_id"), "32")
	f.do(`document.querySelector("#bycode").click()`)

	// Both orders.
	p := f.page()
	p.Click("button", "Table")
	const order = `[...document.querySelectorAll("#layout-rows td:first-child")].map(e => e.innerText).join(" ")`
	f.is("as sent", order+` === "code name count id race sex map_id name"`)
	p.Click("button", "More about the layout")
	p.Click("button", "Wire order")
	f.is("as written", order+` === "code id name count name race sex map_id"`)
	p.Click("button", "More about the layout")
	p.Click("button", "Text order")
	f.is("as sent again", order+`.startsWith("code name count")`)

	// The caret selects the message; so does the list of messages in the text.
	f.caret(4)
	f.shows("#layout-head", "pong")
	f.is("the other one is open", `document.querySelector("#part").selectedIndex === 0 && location.pathname.endsWith("/definitions/pong")`)
	f.caret(0)
	f.types("\n   mood    = uint16")
	f.shows("#layout-rows", "mood")
	f.is("the address is the stored one", `location.pathname.endsWith("/definitions/character_created")`)
	f.types("\n\npacket: new_one\n   __group = svmsg\n   how = uint8")
	f.is("one that is not stored yet", `document.querySelector("#part").value === "3" && document.querySelector("#layout-rows").innerText.includes("how")`)
	f.do(`document.querySelector('#rail-list a[href$="/definitions/pong"]').click()`)
	f.is("the text goes with the file", `document.querySelector("#part").value === "1" && document.querySelector("#part").options.length === 3`)
	f.press("Ctrl+S")
	f.is("all are stored", `document.querySelector('.item[data-name="new_one"]') !== null && !document.querySelector("#definition-head").innerText.includes("not saved")`)
	if text := servertest.OnDisk(t, dir, "game.def"); !strings.HasPrefix(text, mutaText) || !strings.Contains(text, "packet: new_one") {
		t.Error(text)
	}
}

// A name in both directions, a new definition from the template of its dialect, and the keywords of its language.
func TestFlowOtherDialect(t *testing.T) {
	t.Parallel()
	f, dir := beginAs(t, "subspace", map[string]string{"game.def": servertest.SubspaceText}, "/p/one/definitions/c2s%2Fchat")
	f.is("both directions", `document.querySelector("#rail-list").textContent.includes("Server → client")`)
	f.paste("06 02 00 ffff 6869 00")
	f.shows(row("text"), `"hi"`)
	f.shows(row("kind"), "public")
	f.do(`document.querySelector('#rail-list a[href$="/definitions/s2c%2Fchat"]').click()`)
	f.shows("#layout-rows", "from")
	f.ofDefinition("Language")
	f.is("the words of the language", `document.querySelector("#reference").matches(":popover-open") && document.querySelector("#reference").innerText.includes("u16")`)
	f.press("Escape")
	f.is("Escape closes it", `!document.querySelector("#reference").matches(":popover-open")`)

	f.page().Click("link", "New definition")
	f.shows("#definition-head", "new_packets.def")
	f.do(`{ const n = document.querySelector("#name"); n.value = "mine"; n.dispatchEvent(new Event("change", {bubbles: true})) }`)
	f.shows(".cm-content", "description of mine")
	f.press("Ctrl+S")
	f.shows("#definition-head", "mine.def")
	f.is("stored", `document.querySelector('.item[data-name="first packet"]') !== null || document.querySelector('.item[data-name="first_packet"]') !== null`)
	if text := servertest.OnDisk(t, dir, "mine.def"); !strings.Contains(text, "description of mine") {
		t.Error(text)
	}

	// As code, with a preview.
	f.ofDefinition("Code")
	f.page().Click("button", "Files…")
	f.is("the preview", `document.querySelector("[role=menu]")?.innerText.includes("Save as mine") && document.body.innerText.includes("package ")`)
}
