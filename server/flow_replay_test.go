package server

import (
	"fmt"
	"regexp"
	"testing"

	"wirebench/web/browsertest"
)

// From the menu of a capture: the script of its connection is shown, changed and played, what came of it is seen field by field, and a run
// that waits is stopped.
func TestFlowReplay(t *testing.T) {
	t.Parallel()
	x := newReplayTest(t)
	ctx := browsertest.OpenAllowing(t, x.base+"/w/one", openSelector, regexp.MustCompile(`status of 403`)) // of the server that is refused
	f := flow{t, ctx}
	f.do(`document.querySelector("#captures").open = true; document.querySelector("[data-capture-menu]").click()`)
	f.is("the item", `[...document.querySelectorAll(".pop [role^=menuitem]")].some(e => e.textContent.includes("Replay"))`)
	f.do(`[...document.querySelectorAll(".pop [role^=menuitem]")].find(e => e.textContent.includes("Replay")).click()`)
	f.shows("dialog.operate summary", "Script: 6 steps")
	f.is("the connection", `/3 to the server, 3 to the client/.test(document.querySelector("dialog.operate select").selectedOptions[0].textContent)`)

	// press presses a button of the dialog.
	press := func(text string) {
		t.Helper()
		f.is("button "+text, fmt.Sprintf(`(b => b !== undefined && !b.disabled && (b.click(), true))([...document.querySelectorAll("dialog.operate button")].find(b => b.checkVisibility() && b.textContent === %s))`, jsText(text)))
	}
	set := func(label, value string) {
		t.Helper()
		f.do(fmt.Sprintf(`{
			const field = [...document.querySelectorAll("dialog.operate label.field")].find(e => e.firstChild.textContent === %s)
			field.lastChild.value = %s
			field.lastChild.dispatchEvent(new Event("change"))
		}`, jsText(label), jsText(value)))
	}
	set("Server", "203.0.113.7:80")
	set("Speed", "1000")
	press("Start")
	f.shows(".operate-says.err", "not on the list of allowed upstreams")

	set("Server", x.game)
	press("Start")
	f.shows(".replay-state.ok", "✓ as recorded: 3 sent, 3 came as expected")
	f.is("its steps", `document.querySelectorAll('.replay-steps [data-status="ok"]').length === 6 && document.querySelector(".operate-says").textContent === ""`)

	press("Replay again …")
	f.do(`{ const text = document.querySelector("dialog.operate textarea"); text.value = text.value.replace("bbbb", "bbbz") }`)
	press("Start")
	f.shows(".replay-state.err", "✕ not as recorded: 1 different")
	f.is("the difference", `document.querySelector(".replay-steps [data-status=different] + pre").textContent === "n: expected 98, got 122"`)

	press("Replay again …")
	set("Play", "server")
	f.is("the script of the server", `document.querySelector("dialog.operate textarea").value.includes('"play": "server"') && !document.querySelector("dialog.operate .btn.primary").disabled`)
	press("Start")
	f.shows(".replay-state", "waiting for a client at 127.0.0.1:")
	press("Close")
	f.lacks("dialog.operate")
	f.do(`document.querySelector("[data-capture-menu]").click()`)
	f.do(`[...document.querySelectorAll(".pop [role^=menuitem]")].find(e => e.textContent.includes("Replay")).click()`)
	f.shows(".replay-state", "waiting for a client at 127.0.0.1:") // it goes on, and is found again
	press("Stop")
	f.shows(".replay-state.err", "✕ it was stopped")
}
