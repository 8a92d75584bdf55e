package flows

import (
	"testing"

	"wirebench/server/servertest"
)

// A filter with the names of Wireshark is replaced by its words here, which is said, and can be undone.
func TestFlowFilterFromWireshark(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	p := f.page()
	f.counts("100 frames")
	p.Fill("textbox", "Filter", "frame.number > 0 and n <= 10 and tcp")
	p.Press("Enter")
	p.Says(`frame.number > 0 and n <= 10 and tcp is from > 0 && n <= 10 && proto == "tcp" here`)
	f.counts("100 frames · 10 shown")
	f.is("the box has it", `document.querySelector(".filterbox-input .cm-content")?.textContent === 'from > 0 && n <= 10 && proto == "tcp"'`)
	f.is("the address has it", `new URLSearchParams(location.search).get("f") === 'from > 0 && n <= 10 && proto == "tcp"'`)
	p.Click("button", "Undo")
	f.is("the text is back", `document.querySelector(".filterbox-input .cm-content")?.textContent === "frame.number > 0 and n <= 10 and tcp"`)
	p.Fill("textbox", "Filter", "tcp port 7801")
	p.Press("Enter")
	p.Says(`port == 7801 here`)
	p.Fill("textbox", "Filter", "http.host == 5")
	p.Says("the list has messages of one protocol")
}

// The filter box completes values that frames have: connections, and fields of any message, also inside of lists.
func TestFlowFilterValues(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 20), "")
	p := f.page()
	f.counts("20 frames")
	p.Click("textbox", "Filter")
	offers := func(typed, want string) {
		t.Helper()
		p.Press("Ctrl+A")
		p.Type(typed)
		f.is(typed+" offers "+want, `[...document.querySelectorAll(".cm-completionLabel, [role=option]")].some(e => e.textContent.includes(`+jsText(want)+`))`)
	}
	offers("conn == ", "-10.0.0.")
	offers("port == ", "7801")
	offers(".text == ", "text 1")
	offers("C_SAY.text == ", "text 1")
}
