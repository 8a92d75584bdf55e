package flows

import (
	"fmt"
	"os"
	"testing"

	"wirebench/server/servertest"
)

// A file in JSON with many messages: dropped, listed by state and direction, edited, and found by bytes.
func TestFlowProtoDef(t *testing.T) {
	t.Parallel()
	f, dir := beginAs(t, "protodef", nil, "/p/one/definitions")
	f.shows("#rail-list", "No definitions yet")
	f.shows("#layout-pane", "drop them on this page")
	drop := func(name, text string) {
		f.do(fmt.Sprintf(`{ const dataTransfer = new DataTransfer(); dataTransfer.items.add(new File([%s], %s)); document.dispatchEvent(new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true})) }`, jsText(text), jsText(name)))
	}
	drop("game.json", servertest.ProtoDef(t))
	f.shows(".toasts", "1 new")
	f.is("the states and directions", `[...document.querySelectorAll("#rail-list h2")].map(e => e.firstChild.textContent.trim()).join() === "Envelope,hello · Client → server,hello · Server → client,play · Client → server,play · Server → client"`)
	servertest.Stands(t, dir, "game.json", servertest.ProtoDef(t))

	// The file opens at the message.
	f.do(`document.querySelector('#rail-list a[href$="/s2c%2Fsay"]').click()`)
	f.shows("#layout-rows", "from")
	f.is("its definition is in view", `document.querySelector(".cm-content").innerText.includes("packet_say") && !document.querySelector(".cm-content").innerText.includes("packet_hello")`)
	f.is("types and names are told apart", `[...document.querySelectorAll(".cm-content .ty")].some(e => e.innerText === '"container"') && document.querySelector(".cm-content .cm") !== null`)
	f.paste("01 00 04 41686f79")
	f.shows(row("text"), `"Ahoy"`)

	// By its code, which has a meaning in both states and directions: the one that decodes the bytes.
	f.do(`document.querySelector("#bycode").click()`)
	f.paste("00 0c 40 00")
	f.shows("#fields-head", "told")
	f.paste("01 04 41686f79 00")
	f.shows("#fields-head", "say")
	f.is("the direction in which it fits", `document.querySelector("#part").selectedOptions[0].text === "c2s/say"`)
	f.paste("000c4000\n00030c706c61792e6578616d706c65126702\n")
	f.is("lines are messages", `document.querySelectorAll("#messages tbody tr").length === 2 && document.querySelector("#messages tbody").innerText.includes("hello")`)
	f.do(`document.querySelector("#bycode").click()`)

	// The layout follows each key, and mistakes have places.
	f.do(`document.querySelector('#rail-list a[href$="/ping"]').click()`)
	f.shows("#layout-rows", "i64")
	f.page().Press("Ctrl+End")
	f.is("the line", `document.querySelector("#definition-notes") !== null`)
}

// The first files of a project choose its protocol.
func TestFlowProtoDefProject(t *testing.T) {
	t.Parallel()
	f, _ := beginAs(t, "protodef", map[string]string{"game.json": servertest.ProtoDef(t)}, "/p/one/definitions?new=")
	f.is("the template is of the language", `document.querySelector(".cm-content").innerText.includes('"types"')`)
}

// Compressed contents are shown, selected and changed like others.
func TestFlowCompressed(t *testing.T) {
	t.Parallel()
	f, _ := beginAs(t, "protodef", map[string]string{"game.json": `{"types": {"save": ["container", [
	{"name": "slot", "type": "u8"},
	{"name": "state", "type": ["compressed", {"method": "zlib", "lengthType": "varint", "type": ["container", [
		{"name": "name", "type": ["pstring", {"countType": "varint"}]},
		{"name": "gold", "type": "u16"},
		{"name": "items", "type": ["array", {"countType": "u8", "type": ["container", [{"name": "id", "type": "u8"}]]}]}
	]]}]},
	{"name": "sum", "type": "u8"}
]]}}`}, "/p/one/definitions/save")
	f.paste("09 13 789c63cd48cdc9c967d46162640200118c024c 08")
	f.shows("#fields-head", "ok")
	f.shows(row("state.name"), `"hello"`)
	f.shows(row("state.gold"), "compressed")
	f.is("the layout of the contents", `document.querySelector("#layout-rows").innerText.includes("compressed with zlib")`)
	f.do(`document.querySelector(` + jsText(row("state.gold")) + `).click()`)
	f.is("its bytes are the compressed ones", `[...document.querySelectorAll(".hex-rows .hx.sel, .hex-rows .hx[class*=' on-']")].map(e => e.textContent.trim()).join("") === "789c63cd48cdc9c967d46162640200118c024c"`)
	if os.Getenv("WIREBENCH_LOOK") != "" {
		f.shots("compressed")
	}
	f.edit("state.gold", "301")
	f.shows(row("state.gold"), "301")
	f.edit("state.name", "a longer name")
	f.shows(row("state.name"), `"a longer name"`)
	f.shows(row("state.items[1].id"), "2")
	f.shows("#fields-head", "ok")
}
