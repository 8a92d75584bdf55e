package flows

import (
	"regexp"
	"strings"
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// beginReplay opens the page of a server with a recorded conversation: three messages to a game, which still runs, and an answer to each.
func beginReplay(t *testing.T) (f flow, game string) {
	t.Helper()
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	srv := serve(t, s)
	game = servertest.EchoGame(t)
	servertest.Record(t, srv.URL, game, "aaaa", "bbbb", "cccc")
	return flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions", openSelector, regexp.MustCompile(`status of 403`))}, game // of the server that is refused
}

// From the menu of a capture: the script of a connection is shown, edited and played, the result is shown field by field, and a waiting run
// is stopped.
func TestFlowReplay(t *testing.T) {
	t.Parallel()
	f, game := beginReplay(t)
	p := f.page()
	menu := func() {
		t.Helper()
		p.Click("button", "More about live…")
		p.Click("menuitem", "Replay …")
	}
	p.Click("link", "Captures…")
	menu()
	p.Visible("button", "Script: 6 steps…")
	p.Chosen("Connection", "3 to the server, 3 to the client")

	p.Fill("textbox", "Server", "203.0.113.7:80")
	p.Choose("Speed", "1000 times")
	p.Click("button", "Start")
	p.Says("not on the list of allowed upstreams")

	p.Fill("textbox", "Server", game)
	p.Click("button", "Start")
	p.Says("✓ as recorded: 3 sent, 3 received as expected")
	f.is("its steps", `document.querySelectorAll('.replay-steps [data-status="ok"]').length === 6`)
	p.Visible("link", "What was sent and received")

	p.Click("button", "Replay again …")
	p.Click("button", "Script: 6 steps…")
	p.Fill("textbox", "Script", strings.Replace(p.Text("textbox", "Script"), "bbbb", "bbbz", 1))
	p.Click("button", "Start")
	p.Says("✕ not as recorded: 1 different")
	f.is("the difference", `document.querySelector(".replay-steps [data-status=different] + pre").textContent === "n: expected 98, got 122"`)

	p.Click("button", "Replay again …")
	p.Choose("Play", "the server, for a client")
	p.Enabled("button", "Start") // with the script of the server
	p.Click("button", "Start")
	p.Says("waiting for a client at 127.0.0.1:")
	p.Click("button", "Close")
	p.Gone("dialog", "")
	menu()
	p.Says("waiting for a client at 127.0.0.1:") // it continues, and can be found again
	p.Click("button", "Stop")
	p.Says("✕ stopped")
}
