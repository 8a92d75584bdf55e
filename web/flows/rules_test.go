package flows

import (
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"

	"wirebench/server"
	"wirebench/server/projects"
	"wirebench/server/store"
	"wirebench/web/browsertest"
)

// Rules have names and an order, change bytes, texts and numbers, and are there again with their listener after a restart of the server.
func TestFlowRulesAfterRestart(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	dir := t.TempDir()
	allowed := regexp.MustCompile(`Close received after close|status of 422|WebSocket|net::ERR`)
	start := func() (*httptest.Server, func()) {
		kept, err := store.OpenData(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		set, err := projects.OpenData(projects.Options{Data: kept})
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(t, server.Config{Projects: set})
		srv := httptest.NewServer(s)
		return srv, sync.OnceFunc(func() { s.Close(); srv.Close(); kept.Close() })
	}
	srv, stop := start()
	t.Cleanup(stop)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/muta/live", "#live-start", allowed)}
	p := f.page()
	p.Fill("textbox", "Listen on", "127.0.0.1:0")
	p.Fill("textbox", "and relay to the server at", "127.0.0.1:9")
	p.Click("checkbox", "allow changes")
	p.Click("button", "Start")
	browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	rules := func() {
		t.Helper()
		f.is("it can be operated", `document.querySelector("#live-operate")?.disabled === false`)
		p.Click("button", "Intercept")
		p.Click("menuitem", "Rules …")
	}
	rules()
	p.Fill("textbox", "Messages that match", "kind == message")
	p.Choose("Action", "write bytes")
	p.Fill("textbox", "Offset", "1")
	p.Fill("textbox", "Bytes", "0")
	p.Click("button", "Add the rule")
	p.Says("not a number of bytes in hex")
	p.Fill("textbox", "Bytes", "07")
	p.Fill("textbox", "Name (optional)", "seven")
	p.Click("button", "Add the rule")
	p.Visible("checkbox", "seven: write 07 at 1")
	p.Choose("Action", "drop")
	p.Fill("textbox", "Name (optional)", "nothing passes")
	p.Click("button", "Add the rule")
	p.Visible("checkbox", "nothing passes: drop")
	p.Click("button", "Earlier: nothing passes")
	order := `[...document.querySelectorAll("[aria-label=Rules] .held-name")].map(e => e.textContent).join()`
	f.is("the order changed", order+` === "nothing passes,seven"`)
	p.Click("button", "Edit: seven")
	p.Fill("textbox", "Offset", "2")
	p.Click("button", "Save the rule")
	p.Visible("checkbox", "seven: write 07 at 2")
	p.Click("button", "Close")

	// The server ends, and starts again on the same data.
	stop()
	srv, stop = start()
	t.Cleanup(stop)
	f.visit(srv.URL+"/p/muta/live", "#live-start")
	f.shows("#place", "2 rules")
	p.Click("button", "Start again: 127.0.0.1:0 to 127.0.0.1:9")
	browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	rules()
	p.Visible("checkbox", "seven: write 07 at 2")
	f.is("in their order", order+` === "nothing passes,seven"`)
}
