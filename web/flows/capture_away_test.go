package flows

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"wirebench/server"
	"wirebench/server/servertest"
	"wirebench/server/store/storetest"
	"wirebench/web/browsertest"
)

// A capture that is only in a bucket is marked in the list and is read from there; while the bucket gives nothing, its page says so and why, and the page has
// its frames, without being asked, once the bucket gives them.
func TestFlowCaptureAway(t *testing.T) {
	t.Parallel()
	ws := servertest.CaptureWorkspace(t, "tera", servertest.ChatFiles)
	place, in := storetest.Place(t, 0)
	ws.Captures.In(place)
	x, err := ws.Captures.Add("chat.pcapng", time.Now(), bytes.NewReader(servertest.Chat(t, 50)))
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, server.Config{Projects: servertest.Fixed(t, ws), Place: place})
	srv := serve(t, s)
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/captures", ".place-list", refusedText)}, s}
	f.is("nothing is elsewhere", `!document.querySelector(".place-list").textContent.includes("elsewhere")`)
	storetest.Away(t, ws.Captures, x.ID)
	in.Fail(func(op, _ string) error {
		if op == "read" {
			return errors.New("503 Slow Down")
		}
		return nil
	})
	browsertest.Reload(t, f.ctx, " .place-list")
	f.shows(".place-list", "elsewhere")
	f.shots("captures-elsewhere")
	f.page().Click("link", "chat.pcapng")
	browsertest.Arrive(t, f.ctx, "html.live #frames")
	f.shows(".frames-empty", "cannot be read now")
	f.shows(".frames-empty", "503 Slow Down")
	f.shots("capture-elsewhere-broken")
	in.Fail(nil)
	f.counts("50 frames")
}
