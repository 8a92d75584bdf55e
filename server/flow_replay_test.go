package server

import (
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
	p := f.page()
	menu := func() {
		t.Helper()
		p.In("Captures").Click("button", "More about…")
		p.Click("menuitem", "Replay …")
	}
	p.Click("button", "Captures…")
	menu()
	p.Visible("button", "Script: 6 steps…")
	f.is("the connection", `/3 to the server, 3 to the client/.test(document.querySelector("dialog.operate select").selectedOptions[0].textContent)`)

	p.Fill("textbox", "Server", "203.0.113.7:80")
	p.Choose("Speed", "hardly waiting")
	p.Click("button", "Start")
	f.shows(".operate-says.err", "not on the list of allowed upstreams")

	p.Fill("textbox", "Server", x.game)
	p.Click("button", "Start")
	f.shows(".replay-state.ok", "✓ as recorded: 3 sent, 3 came as expected")
	f.is("its steps", `document.querySelectorAll('.replay-steps [data-status="ok"]').length === 6 && document.querySelector(".operate-says").textContent === ""`)

	p.Click("button", "Replay again …")
	f.is("the script", `document.querySelector("dialog.operate textarea").value !== ""`)
	f.do(`{ const text = document.querySelector("dialog.operate textarea"); text.value = text.value.replace("bbbb", "bbbz") }`)
	p.Click("button", "Start")
	f.shows(".replay-state.err", "✕ not as recorded: 1 different")
	f.is("the difference", `document.querySelector(".replay-steps [data-status=different] + pre").textContent === "n: expected 98, got 122"`)

	p.Click("button", "Replay again …")
	p.Choose("Play", "the server, for a client")
	f.is("the script of the server", `document.querySelector("dialog.operate textarea").value.includes('"play": "server"')`)
	p.Click("button", "Start")
	f.shows(".replay-state", "waiting for a client at 127.0.0.1:")
	p.Click("button", "Close")
	p.Gone("dialog", "")
	menu()
	f.shows(".replay-state", "waiting for a client at 127.0.0.1:") // it goes on, and is found again
	p.Click("button", "Stop")
	f.shows(".replay-state.err", "✕ it was stopped")
}
