package server

import (
	"net/http/httptest"
	"os"
	"testing"

	"wirebench/server/store"
	"wirebench/web/browsertest"
)

// The page says how the text explains the messages of the captures, with each key: below it, beside each line, and for all definitions in a
// dialog. What does not fit is a click away.
func TestFlowScores(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", map[string]string{"C_HIT.1.def": hitText, "C_NONE.1.def": "byte a\n", "protocol.1.map": "C_HIT 4097\nC_NONE 4098\n"})
	var x store.Capture
	if code := request(t, s, "POST", "/api/one/captures?name=one.pcapng", hitCapture(t, 3000, 1000), &x); code != 201 {
		t.Fatalf("upload: %d", code)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	f := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_HIT.1", openSelector)}
	f.shows("#score", "2,997 of 3,000 messages clean; 3 with bytes left over")
	marks := func(want string) {
		t.Helper()
		f.is("the figures "+want, `[...document.querySelectorAll(".cm-scores .line-score")].slice(1).map(e => e.textContent).join(" | ") === `+jsText(want)) // the first one only takes the width
	}
	marks("3k · 3k | 3k · 3 | 3k · 10")
	f.look("scores")
	f.caret(3)
	f.types("x") // a renamed field has the same values
	marks("3k · 3k | 3k · 3 | 3k · 10")
	f.press("Enter")
	f.types("uint32 more")
	f.shows("#score", "0 of 3,000 messages clean; 3 with bytes left over, 2,997 doubtful") // the number is where texts begin
	f.look("scores-broken")

	f.page().Click("button", "All definitions…")
	f.shows("dialog .operate-says", "3,000 messages of 1 capture; 0 of 1 definitions clean; 1 without data") // of the stored text
	f.page().Click("button", "Captures of C_HIT.1")
	f.page().Visible("link", "one.pcapng")
	f.page().Visible("link", "those that are not clean")
	f.look("scoreboard")
	f.is("the address of the frame", `[...document.querySelectorAll("dialog a")].some(a => a.textContent === "frame 1000" && a.href.endsWith("/captures/`+x.ID+`#n=1000"))`)
	f.dialog("scores")
}

// look stores a screenshot, if pictures are wanted.
func (f flow) look(name string) {
	if os.Getenv("WIREBENCH_LOOK") != "" {
		f.shot(name, 1440, 900)
	}
}
