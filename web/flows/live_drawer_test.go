package flows

import (
	"fmt"
	"testing"
)

// The drawer of connections follows running traffic: its counts grow with the list, whether the list follows, stays or is paused.
func TestFlowLiveConnections(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	drawer := `document.querySelector("table[aria-label=Connections]")`
	shows := func(n int) {
		t.Helper()
		f.is(fmt.Sprintf("the drawer counts %d frames", n), drawer+fmt.Sprintf(`?.querySelector("tbody tr")?.cells[3].textContent === "%d"`, n))
	}
	g.say(t, words(3, "word ")...)
	f.counts("6 frames")
	p := f.page()
	p.Click("button", "Connections")
	shows(6)
	g.say(t, words(2, "later ")...)
	f.counts("10 frames")
	shows(10)
	f.press("p")
	f.shows("#live-pause", "Resume")
	g.say(t, "unseen")
	f.shows("#live-pause", "2 new")
	shows(12)
	f.filter("dir == c2s")
	f.counts("12 frames · 5 shown")
	g.say(t, "unseen too")
	shows(14)
}
