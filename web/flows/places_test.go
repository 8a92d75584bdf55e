package flows

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirebench/server/servertest"
)

// A note, a mark and the selection stay with their message while a definition that determines message boundaries is edited, saved and
// restored.
func TestFlowPlaces(t *testing.T) {
	t.Parallel()
	// say "hi", ping, ping, say "hello"; if pings have an additional byte it is say, ping, say.
	dump := "00000000  01 02 00 68 69 02 02 01  05 00 68 65 6c 6c 6f     ...hi... ..hello\n"
	f := beginFrame(t, "muta", map[string]string{"game.def": servertest.SayAndPing}, []byte(dump), "")
	all, err := f.s.Projects.Find("one").Captures.List()
	if err != nil || len(all) != 1 {
		t.Fatal(err, all)
	}
	captures, id := f.s.Projects.Find("one").Captures, all[0].ID
	stored := func(want string) {
		t.Helper()
		changed, stop := captures.Changed(id)
		defer stop()
		for {
			x, err := captures.Get(id)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(x.Notes.Marked, x.Notes.Frames)
			if got == want {
				return
			}
			select {
			case <-changed:
			case <-time.After(15 * time.Second):
				t.Fatalf("stored is %s, not %s", got, want)
			}
		}
	}
	f.counts("4 frames")
	f.choose(4, false)
	f.shows("#tree-pane, .tree", "hello")
	f.press("m")
	stored("[4] map[]")
	if code, text := servertest.Patch(t, f.s, id, `{"notes":{"4":"a greeting"}}`); code != 200 {
		t.Fatal(code, text)
	}
	noted := func(n int) {
		t.Helper()
		f.is(fmt.Sprintf("frame %d is the one that is marked", n), fmt.Sprintf(`%s?.classList.contains("marked")`, frameRowOf(n)))
		f.is(fmt.Sprintf("frame %d is chosen, and shown", n), fmt.Sprintf(`/^#n=%d(&|$)/.test(location.hash) && document.querySelector(".tree").textContent.includes("hello")`, n))
	}
	noted(4)
	f.choose(4, false)
	f.caret(8)
	f.press("Enter")
	f.types("   more = uint8")
	f.counts("3 frames · 1 marked")
	noted(3)
	stored("[4] map[4:a greeting]")
	f.press("Ctrl+S")
	stored("[3] map[3:a greeting]")
	noted(3)
	if got := servertest.ToldFrames(t, f.s, id); len(got) != 4 || !strings.Contains(got[3], "hello") {
		t.Error(got)
	}
	servertest.Define(t, f.s, "game.def", servertest.SayAndPing)
	f.counts("4 frames · 1 marked")
	stored("[4] map[4:a greeting]")
	noted(4)
}
