package flows

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// Bounds of what crosses when the next frame of a capture is chosen, of a message of twenty bytes.
const (
	maxPickUp   = 80
	maxPickDown = 500 // of the same type as the frame before
	maxPickTurn = 2600
)

// crossing records the messages of all sockets of the page.
const crossing = `(() => {
	window.crossed = []
	const heard = new WeakSet(), send = WebSocket.prototype.send
	WebSocket.prototype.send = function (text) {
		if (!heard.has(this)) {
			heard.add(this)
			this.addEventListener("message", ({data}) => crossed.push({way: "down", text: data}))
		}
		crossed.push({way: "up", text})
		send.call(this, text)
	}
})()`

type crossed struct{ Way, Text string }

func (f flow) crossed() (out []crossed) {
	f.Helper()
	if err := json.Unmarshal([]byte(browsertest.Value[string](f.T, f.ctx, `JSON.stringify(crossed)`)), &out); err != nil {
		f.Fatal(err)
	}
	return out
}

// The next frame of a capture is named by its identity, once, and its bytes and fields come back in one answer. The list has its rows already,
// and what is known of the definition, and that nobody else is there, is not said again.
func TestFlowCaptureCrossing(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, servertest.ChatFiles, servertest.Chat(t, 100), "")
	f.counts("100 frames")
	f.choose(1, false)
	f.shows(row("text"), `"text 0"`)
	f.shows("#score", "80 of 80 in captures")
	f.is("its text is there", `document.querySelector("#room-bar")?.dataset.state === "open"`)
	rest := func() { // longer than it takes until others are told, and until figures come
		browsertest.Run(t, f.ctx, chromedp.Evaluate(`new Promise((done) => setTimeout(done, 400))`, nil, awaited))
	}
	rest()
	f.do(crossing)
	f.focus(".frames-scroll")
	for n := 2; n <= 7; n++ {
		f.do(`crossed.length = 0`)
		f.press("ArrowDown")
		if n == 5 {
			f.shows("#fields-head", "Unknown code 0x7777")
		} else {
			f.shows(row("text"), fmt.Sprintf(`"text %d"`, n-1))
		}
		f.is("in the address", fmt.Sprintf(`location.hash.startsWith("#n=%d&")`, n))
		rest()
		all := f.crossed()
		if len(all) != 2 || all[0].Way != "up" || all[1].Way != "down" {
			t.Fatalf("frame %d: %d messages: %.2000v", n, len(all), all)
		}
		up, down := all[0].Text, all[1].Text
		most := maxPickDown
		if n == 5 || n == 6 { // another type
			most = maxPickTurn
		}
		if len(up) > maxPickUp || strings.Contains(up, "input") {
			t.Errorf("frame %d: %d bytes up, at most %d: %s", n, len(up), maxPickUp, up)
		}
		if len(down) > most {
			t.Errorf("frame %d: %d bytes down, at most %d: %s", n, len(down), most, down)
		}
	}

	// A frame that is chosen already is not asked for again, nor when marks change or the list is filtered.
	f.do(`crossed.length = 0`)
	f.filter("C_SAY")
	f.counts("100 frames · 80 shown")
	f.is("still there", `document.querySelector(".frame.cur .fc-n").textContent === "7"`)
	for _, m := range f.crossed() {
		if m.Way == "up" && strings.Contains(m.Text, `"pick"`) {
			t.Errorf("the frame is asked for again: %s", m.Text)
		}
	}

	// Its edits are of this frame only.
	f.filter("")
	f.counts("100 frames")
	f.focus(".frames-scroll")
	f.press("g", "i")
	f.change("u8", 0, "42")
	f.is("edited", `document.querySelector("#bytes-head").textContent.includes("1 byte changed")`)
	f.focus(".frames-scroll")
	f.press("ArrowDown")
	f.shows(row("text"), `"text 7"`)
	f.press("ArrowUp")
	f.shows(row("text"), `"text 6"`)
}
