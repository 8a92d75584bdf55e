package flows

import (
	"testing"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// People in one definition see which frames of captures the others look at, and go there.
func TestFlowTogetherFrame(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", map[string]string{"C_HIT.1.def": servertest.HitText, "protocol.1.map": "C_HIT 4097\n"})
	x := servertest.Keep(t, s, "one.pcapng", servertest.Hits(t, 300, 1000))
	srv := serve(t, s)
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/captures/"+x.ID+"#n=3", openSelector)}
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_HIT.1", openSelector)}
	f.page().Click("button", "Definition")
	f.together()
	g.together()
	f.named("Ann")
	g.shows("#people-bar", "frame 3")
	f.is("no frame of one without", `document.querySelectorAll("#people-bar > .btn").length === 1 && document.querySelector(".together-frame") === null`)
	f.click(".frame.cur")
	f.press("ArrowDown", "ArrowDown")
	g.shows("#people-bar", "frame 5")
	g.look("together-frame")
	g.page().Click("link", "frame 5")
	g.arrives("the frame", `location.pathname.includes("/captures/") && document.querySelector(".frame.cur .fc-n")?.textContent === "5"`)
	g.page().Click("button", "Definition")
	g.page().In("People in this text").Visible("link", "frame 5")

	// Both have the capture open: the list goes to the frame.
	f.press("End")
	g.shows("#people-bar", "frame 300")
	g.page().Click("link", "frame 300")
	g.is("the frame", `document.querySelector(".frame.cur .fc-n")?.textContent === "300"`)
}
