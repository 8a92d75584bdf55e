package flows

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// A key exchange is described by the transport: its bytes are not a message.
func TestFlowFrameControl(t *testing.T) {
	t.Parallel()
	f := beginFrame(t, "tera", servertest.ChatFiles, servertest.TeraSession(t).File, "#n=2")
	f.shows("#fields-head", "Key exchange")
	f.shows("#tree-problems", "first key of the client")
	f.is("no decode as a message", `!/length|truncated|illegal|incomplete/.test(document.querySelector("#fields-pane").textContent)`)
	f.is("its packet can be chosen, as nothing of it is encrypted", `document.querySelectorAll("#byte-layer option").length === 2`)
	f.choose(6, false)
	f.shows("#fields-head", "C_SAY")
	f.lacks("#tree-problems .fact")
}

// Core packets are decoded by the definition of the core, and notes of the transport stay.
func TestFlowFrameCore(t *testing.T) {
	t.Parallel()
	files := map[string]string{"core.def": "group core\n\n0x04 ack\noffset size comment\n0 2 type 0x04\n2 4 i32 sequence\n", "x.def": "0x7a hello (c2s)\noffset size comment\n1 ? text words\n"}
	f := beginFrame(t, "subspace", files, servertest.SubspaceSession(t).File, "#n=3")
	f.shows("#fields-head", "hello")
	f.choose(4, false)
	f.shows("#fields-head", "ack")
	f.shows(row("sequence"), "0")
}

// Invalid bytes are shown as far as a definition explains them, with the reason and its line.
func TestFlowFrameProblem(t *testing.T) {
	t.Parallel()
	def := "group: clmsg\n\npacket: say\n   __group = clmsg\n   kind    = uint8 [1, 3]\n   size    = uint8\n"
	dump := "00000000  01 01 05 01 09 05 01 02  05 01 01 05 01 02 05 01   ........ ........\n00000010  01 05 01 02 05 01 01 05   ........\n"
	f := beginFrame(t, "muta", map[string]string{"game.def": def}, []byte(dump), "#n=2")
	f.shows("#fields-head", "say")
	f.shows("#fields-head", "problem")
	f.shows("#tree-problems", "outside its legal range")
	f.shows("#tree-problems", "(line 5)")
	f.shows(row("kind"), "9")
}

// The enclosing packets of a message are shown as layers, and the selection is translated between them.
func TestFlowFrameLayers(t *testing.T) {
	t.Parallel()
	f := beginFrame(t, "subspace", map[string]string{"x.def": "0x7a hello (c2s)\noffset size comment\n1 ? text words\n"}, servertest.SubspaceSession(t).File, "#n=3")
	layer := func(text string) { t.Helper(); f.page().Choose("Which bytes", text) }
	f.shows(row("words"), "hello")
	f.do(`document.querySelector(` + jsText(row("words")) + `).click()`)
	layer("Decrypted 3")
	plain := `document.querySelector("#packet").textContent.replaceAll(/\s/g, "")`
	f.is("the datagram in the clear", plain+`.includes("0003000000007a68656c6c6f0000")`)
	f.click("#inspector-strip summary")
	f.shows("#inspector .place", "(7)") // after the 6 bytes of the reliable packet and the type
	layer("Packet 3")
	f.is("the packet as it came", `document.querySelector("#packet").textContent.includes("hello") === false && !document.querySelector("#packet").hidden`)
	f.shows("#inspector .place", "(49)") // the same byte after 42 bytes of Ethernet, IP and UDP
	layer("Message, 8 bytes")
	f.is("the message again", `document.querySelector("#packet").hidden`)
	f.shows("#inspector .place", "(1)")

	// A stream in which each message came in two packets.
	f = beginFrame(t, "tera", servertest.ChatFiles, servertest.TeraSession(t).File, "#n=6")
	f.shows(row("text"), `"ab"`)
	layer("Joined")
	f.is("the stream in the clear", plain+`.includes("0c00011006006100620000")`)
	layer("Decrypted 9")
	f.is("the first piece of it", plain+`.includes("0c00011006")`)
}

// Typing beside a frame without a definition begins one, with a name that is added to the code map.
func TestFlowFrameTyped(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, map[string]string{"protocol.1.map": "C_SAY 4097\n"}, servertest.Chat(t, 20), "#n=5")
	f.shows(".frame-origin", "Define S_UNKNOWN_7777")
	f.is("its name is offered", `document.querySelector("#name").value === "S_UNKNOWN_7777.1"`)
	f.opensDefinition()
	f.is("the editor is there", `document.querySelector(".definition-editor .cm-content") !== null`)
	f.do(`document.querySelector(".definition-editor .cm-content").focus()`)
	f.types("string word")
	f.is("the name stays where it can be changed", `document.querySelector("#name").checkVisibility() && document.querySelector("#name").value === "S_UNKNOWN_7777.1"`)
	f.info(5, `word "text 4"`)
	f.info(10, `word "text 9"`)
	f.shows("#definition-head", "S_UNKNOWN_7777.1.def")

	// Another name replaces the one in the code map.
	f.do(`{ const name = document.querySelector("#name"); name.focus(); name.select() }`)
	f.types("S_ECHO.1\t")
	f.is("the list has it", frameRowOf(5)+`?.querySelector(".fc-name").textContent === "S_ECHO"`)
	f.info(5, `word "text 4"`)
	f.press("Ctrl+S")
	f.is("it is stored", `document.querySelector('#rail-list a[href$="/definitions/S_ECHO.1"]') !== null`)
	var file struct{ Text string }
	if code := servertest.Request(t, f.s, "GET", "/api/one/definitions/protocol.1.map", nil, &file); code != 200 || file.Text != "C_SAY 4097\nS_ECHO 30583\n" {
		t.Errorf("%d %q", code, file.Text)
	}
	if code := servertest.Request(t, f.s, "GET", "/api/one/definitions/S_ECHO.1.def", nil, &file); code != 200 || !strings.Contains(file.Text, "string word") {
		t.Errorf("%d %q", code, file.Text)
	}
}

// The framing of raw bytes is selected with controls, with a preview.
func TestFlowFrameFraming(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", servertest.ChatFiles)
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions", openSelector, regexp.MustCompile(`Close received after close|status of 422`))}
	one := []byte{12, 0, 1, 0x10, 6, 0, 'a', 0, 'b', 0, 0, 0}
	var data []byte
	for range 500 {
		data = append(data, one...)
	}
	f.do(`{
		const data = new DataTransfer()
		data.items.add(new File([Uint8Array.from("` + hex.EncodeToString(data) + `".match(/../g).map(x => parseInt(x, 16)))], "raw.bin"))
		document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}))
	}`)
	p := f.page()
	p.Says("20 messages, and more, 20 of them defined")
	f.is("20 rows", `document.querySelectorAll(".framing-frames tr").length === 21`)
	p.Choose("Order", "big-endian")
	p.Says("does not fit")
	p.Choose("Messages", "All messages have one size")
	p.Fill("textbox", "Bytes of a message", "24")
	f.is("cut by size", `[...document.querySelectorAll(".framing-frames tr")].at(-1)?.textContent.includes("0x01c824")`)
	p.Fill("textbox", "Bytes of a message", "0")
	p.Says("the size of a message is 1 to")
	p.Disabled("button", "Keep as a capture")
	p.Choose("Messages", "A delimiter follows each message")
	p.Fill("textbox", "Delimiter, in hex", "62 00 00 00")
	f.is("cut by what is behind", `document.querySelectorAll(".framing-frames tr").length === 21 && document.querySelector(".framing-frames tbody tr:last-child").textContent.includes("12")`)
	p.Click("button", "Keep as a capture")
	browsertest.Arrive(t, f.ctx, `html:not(:has(#input))`) // another page; a script's wait does not outlive the one it is in
	f.is("the capture", `location.pathname.startsWith("/p/one/captures/")`)
}
