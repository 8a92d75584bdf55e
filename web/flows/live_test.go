package flows

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/server"
	"wirebench/server/relay"
	"wirebench/web/browsertest"
)

// scriptedGame is a game whose client sends words on request of the test. The server answers a number with the number, and other words with
// their length.
type scriptedGame struct {
	words chan string

	mu      sync.Mutex
	heard   []string // by the server
	answers []uint32 // received by the client
}

// scripted starts a server with a scripted demo game.
func scripted(t *testing.T) (*server.Server, *scriptedGame) {
	t.Helper()
	g := &scriptedGame{words: make(chan string)}
	return demoServer(t, func(context.Context, string) (*relay.Game, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		var all sync.WaitGroup
		all.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				all.Go(func() { g.serve(c) })
			}
		})
		return &relay.Game{Server: l.Addr().String(), Play: g.play, Close: func() { l.Close(); all.Wait() }}, nil
	}), g
}

func (g *scriptedGame) serve(c net.Conn) {
	defer c.Close()
	for {
		var head [3]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		text := make([]byte, binary.LittleEndian.Uint16(head[1:]))
		if _, err := io.ReadFull(c, text); err != nil {
			return
		}
		g.mu.Lock()
		g.heard = append(g.heard, string(text))
		g.mu.Unlock()
		n, err := strconv.ParseUint(string(text), 10, 32)
		if err != nil {
			n = uint64(len(text))
		}
		if _, err := c.Write(binary.LittleEndian.AppendUint32([]byte{1}, uint32(n))); err != nil {
			return
		}
	}
}

func (g *scriptedGame) play(ctx context.Context, addr string) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer c.Close()
	all.Go(func() {
		for {
			var said [5]byte
			if _, err := io.ReadFull(c, said[:]); err != nil {
				return
			}
			g.mu.Lock()
			g.answers = append(g.answers, binary.LittleEndian.Uint32(said[1:]))
			g.mu.Unlock()
		}
	})
	for {
		select {
		case word := <-g.words:
			if _, err := c.Write(append([]byte{1, byte(len(word)), byte(len(word) >> 8)}, word...)); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// say makes the client send words, one after another.
func (g *scriptedGame) say(t *testing.T, words ...string) {
	t.Helper()
	for _, word := range words {
		select {
		case g.words <- word:
		case <-time.After(20 * time.Second):
			t.Fatal("the client of the game is gone")
		}
	}
}

// await waits until a condition holds for the received data.
func (g *scriptedGame) await(t *testing.T, what string, is func(heard []string, answers []uint32) bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		g.mu.Lock()
		good, text := is(g.heard, g.answers), fmt.Sprintf("%q, answers %d", g.heard[max(0, len(g.heard)-5):], g.answers[max(0, len(g.answers)-5):])
		g.mu.Unlock()
		if good {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: the server heard %s", what, text)
		}
	}
}

// hears waits until the last word received by the server is word.
func (g *scriptedGame) hears(t *testing.T, word string) {
	t.Helper()
	g.await(t, "hears "+word, func(heard []string, _ []uint32) bool { return len(heard) > 0 && heard[len(heard)-1] == word })
}

// beginLive starts the scripted game on the page of the workspace, and follows the link to its traffic.
func beginLive(t *testing.T) (captureFlow, *scriptedGame) {
	t.Helper()
	s, g := scripted(t)
	srv := serve(t, s)
	// Refused requests, and the list of a page that is left, are not errors of the page.
	allowed := regexp.MustCompile(`status of 422|Close received after close`)
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/live", ".card", allowed)}, s}
	f.page().Click("button", "Watch the demo game…")
	browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	f.shows("#live-state", "live")
	f.is("it can be operated", `document.querySelector("#live-operate")?.hidden === false`)
	f.is("the bar has it", `document.querySelector("#open-capture")?.textContent.includes("demo game") && document.querySelector("#live-count").textContent === "1"`)
	return f, g
}

func words(n int, prefix string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s%d", prefix, i))
	}
	return all
}

// atEnd returns an expression that is true if the list is scrolled to its end and shows frame n.
func atEnd(n int) string {
	return fmt.Sprintf(`(box => box.scrollTop + box.clientHeight >= box.scrollHeight - 2 && %s !== null)(document.querySelector(".frames-scroll"))`, frameRowOf(n))
}

// A list of running traffic grows and follows its end; scrolling stops that; the view can be paused while traffic continues.
func TestFlowLiveList(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	f.shows(".frames-empty", "No frames yet")
	g.say(t, words(50, "word ")...)
	f.counts("100 frames")
	f.is("it follows", atEnd(100))
	f.shows("#live-facts", "1 connection open")

	f.do(`{ const box = document.querySelector(".frames-scroll"); box.dispatchEvent(new WheelEvent("wheel")); box.scrollTop = 0 }`)
	f.is("the first rows", frameRowOf(1)+` !== null`)
	g.say(t, words(5, "later ")...)
	f.shows(".frames-new", "10 new")
	f.is("it stays", frameRowOf(1)+` !== null && document.querySelector(".frames-scroll").scrollTop === 0`)
	f.click(".frames-new")
	f.is("it follows again", atEnd(110))

	// Pausing the view does not pause traffic. Filters apply to the frames at the time.
	f.press("p")
	f.shows("#live-pause", "Resume")
	g.say(t, words(3, "unseen ")...)
	g.hears(t, "unseen 2")
	f.shows("#live-pause", "6 new")
	f.is("nothing new is listed", atEnd(110)+` && `+frameRowOf(111)+` === null`)
	f.counts("116 frames · 110 shown")
	f.filter("dir == c2s")
	f.counts("116 frames · 55 shown")
	g.say(t, "unseen 3")
	f.shows("#live-pause", "8 new")
	f.is("that stays", `document.querySelector(".frames-line .counts").textContent === "118 frames · 55 shown" && document.querySelector(".frames-chips").hidden`)
	f.focus(".frames-scroll")
	f.press("p")
	f.counts("118 frames · 59 shown")
	f.is("it follows after the pause", atEnd(117))

	// Filters on running traffic.
	f.filter(`.text contains "see"`)
	f.counts("118 frames · 4 shown")
	g.say(t, "seen", "heard")
	f.counts("122 frames · 5 shown")
	f.filter("")
	f.counts("122 frames")
}

// Messages are held, and exactly the changes by the user arrive.
func TestFlowLiveOperate(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, "first")
	f.counts("2 frames")
	held := func(text string) {
		t.Helper()
		f.is(text+" is held", fmt.Sprintf(`[...document.querySelectorAll("#held:not([hidden]) .held-row")].some(e => e.textContent.includes(%s))`, jsText(text)))
	}
	p := f.page()

	// A key holds the messages that match the filter; one is changed in the form.
	f.filter("say")
	f.counts("2 frames · 1 shown")
	f.focus(".frames-scroll")
	f.press("i")
	f.shows("#live-operate", "Holding say")
	g.say(t, "hold me")
	held("hold me")
	f.press("e")
	f.is("the value is offered", `document.activeElement?.value === "hold me"`)
	p.Fill("textbox", "text", "held and changed, longer than it was")
	f.press("Enter")
	f.shows(".held-changes", `"hold me"`)
	f.shows(".held-changes", `"held and changed, longer than it was"`)
	f.press("Ctrl+Enter")
	g.hears(t, "held and changed, longer than it was")
	f.is("none is held", `document.querySelector("#held").hidden`)
	f.is("what was changed is told from others", `[...document.querySelectorAll(".frame.modified")].some(e => e.textContent.includes("~"))`)

	// One is dropped, the next forwarded: by keys in the list, and in the queue by its rows.
	g.say(t, "never said", "said")
	held("never said")
	held("text \"said")
	f.focus(".frames-scroll")
	f.press("x")
	f.is("one is left", `document.querySelectorAll("#held .held-row").length === 1`)
	f.press("a")
	g.hears(t, "said")
	f.is("what was dropped is told from others", `[...document.querySelectorAll(".frame.dropped")].some(e => e.textContent.includes("never said"))`)
	g.say(t, "one", "two", "three")
	f.is("three wait", `document.querySelectorAll("#held .held-row").length === 3`)
	f.focus("#held .held-row")
	f.press("ArrowDown")
	f.is("the second row", `document.activeElement?.textContent.includes("two")`)
	f.press("x")
	f.is("the keys are at the next", `document.querySelectorAll("#held .held-row").length === 2 && document.activeElement?.textContent.includes("three")`)
	f.press("Shift+A")
	g.hears(t, "three")
	f.is("the list has the keys again", `document.activeElement?.matches(".frames-scroll")`)
	g.await(t, "all but what was dropped", func(heard []string, _ []uint32) bool {
		return slices.Equal(heard, []string{"first", "held and changed, longer than it was", "said", "one", "three"})
	})

	// An invalid value is reported in the form, and the message stays held.
	g.say(t, "wrong bytes")
	held("wrong bytes")
	f.press("e")
	p.Has("textbox", "text", "wrong bytes")
	p.Fill("textbox", "text", "")
	p.Press("Enter")
	f.shows("#values-form", "at least 1")
	p.Fill("textbox", "text", "ok")
	p.Press("Enter")
	p.Click("button", "Send changed a")
	g.hears(t, "ok")

	// A rule, while nothing is held.
	f.click("#live-operate")
	f.pick("Hold nothing")
	f.shows("#live-operate", "Changes on")
	f.click("#live-operate")
	f.pick("Rules")
	p.Fill("textbox", "Messages that match", `.text contains "gold"`)
	p.Fill("textbox", "Field", "text")
	p.Fill("textbox", "New value", "lead")
	p.Click("button", "Add the rule")
	p.Visible("checkbox", `.text contains "gold": set text to "lead"`)
	g.say(t, "a pot of gold")
	g.hears(t, "lead")
	f.shows("dialog .held-age", "1 times")
	p.Click("button", "Close")

	// A new message.
	f.click("#live-send")
	p.Fill("combobox", "Message", "said")
	p.Choose("Direction", "S→C, to the client")
	p.Fill("textbox", "n", "no number")
	p.Click("button", "Send")
	p.Says("n is a number")
	p.Fill("textbox", "n", "31337")
	p.Click("button", "Send")
	p.Says("Sent")
	g.await(t, "the client gets it", func(_ []string, answers []uint32) bool { return answers[len(answers)-1] == 31337 })
	p.Click("button", "Close")
	f.filter("injected")
	f.is("it is told from others", `document.querySelector(".frame.injected")?.textContent.includes("31337")`)

	// Off: no message waits.
	f.focus(".frames-scroll")
	f.press("i")
	f.shows("#live-operate", "Intercept")
	g.say(t, "free")
	g.hears(t, "free")
}

// A marker is set at the moment of its key, and finds the field with its value; stopping a listener keeps its recording.
func TestFlowLiveMarkers(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, words(20, "word ")...)
	f.counts("40 frames")
	f.focus(".frames-scroll")
	f.press("`")
	f.is("the text is asked for", `document.activeElement?.closest(".frames-ask") !== null`)
	g.say(t, "48211") // while the text is entered
	f.counts("42 frames")
	f.types("max HP = 48211\r")
	f.is("a flag before the frame that came next", frameRowOf(41)+`?.dataset.flag === "max HP = 48211" && document.querySelectorAll(".frame.flagged").length === 1`)
	f.shows(".frames-markers", "max HP = 48211")
	f.shows(".frames-markers .related", "said n")
	f.do(`[...document.querySelectorAll(".related .link")].find(e => e.textContent === "said n").click()`)
	f.counts("42 frames · 1 shown")
	f.is("it is the frame with the value", frameRowOf(42)+`?.textContent.includes("48211")`)
	f.is("its flag is at the first row after it", frameRowOf(42)+`?.matches(".flagged")`)
	f.filter("")
	f.counts("42 frames")
	g.say(t, "more")
	f.counts("44 frames")
	f.do(`[...document.querySelectorAll(".frames-markers .link")].find(e => e.textContent === "41").click()`)
	f.shows(".frames-line .chosen", "at 41")

	f.click("#live-stop")
	f.pick("Stop")
	f.shows("#live-state", "ended")
	for _, name := range []string{"Stop", "Pause view", "Marker", "Send…"} {
		f.page().Gone("button", name) // no control is left for it
	}
	f.counts("44 frames")
	f.is("nothing of the list is live", `document.querySelector(".frames-line .doing").textContent === ""`)
	f.click("#live-recording")
	browsertest.Arrive(t, f.ctx, `html.live:not(:has(#live-bar)) #frames`)
	f.counts("44 frames")
	f.focus(".frames-scroll")
	f.press("End")
	f.is("with its marker", frameRowOf(41)+`?.dataset.flag === "max HP = 48211"`)
	f.is("the bar says that nothing runs", `document.querySelector("#live-count").textContent === ""`)
	if !strings.Contains(browsertest.Value[string](t, f.ctx, `document.title`), "demo") {
		t.Error("the title does not name the recording")
	}
}

// Choosing a row ends following, so that it stays under the pointer; a link leads back to it.
func TestFlowLiveChoosing(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	p := f.page()
	f.shows(".frames-empty", "Point the client at 127.0.0.1:")
	g.say(t, words(50, "word ")...)
	f.counts("100 frames")
	f.is("it follows", atEnd(100))
	f.choose(100, false)
	g.say(t, words(20, "more ")...)
	f.counts("140 frames")
	f.is("the chosen row stays", frameRowOf(100)+`?.matches(".cur") === true && `+frameRowOf(140)+` === null`)
	p.Click("button", "40 new ↓")
	f.is("it follows again", atEnd(140))
	p.Click("button", "at 100")
	f.is("back at the row", frameRowOf(100)+`?.matches(".cur") === true && document.activeElement.matches(".frames-scroll")`)
	f.press("End")
	g.say(t, words(5, "last ")...)
	f.counts("150 frames")
	f.is("the last row follows", atEnd(150))
}

// The filter of held messages is changed while some wait: those that no longer match pass. A held message is sent as changed or as it came.
func TestFlowLiveHoldBox(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	p := f.page()
	g.say(t, "first")
	f.counts("2 frames")
	f.choose(1, false)
	f.focus(".frames-scroll")
	f.press("Shift+F10")
	p.Click("menuitem", "Hold such messages")
	p.Visible("textbox", "Hold messages that match")
	g.say(t, "one gold", "two")
	f.is("two wait", `document.querySelectorAll("#held .held-row").length === 2`)
	p.Fill("textbox", "Hold messages that match", `.text contains "gold"`)
	p.Press("Enter")
	f.is("one waits", `document.querySelectorAll("#held .held-row").length === 1`)
	f.press("w")
	f.focus("#held .held-row")
	p.Press("Enter")
	p.Focused("textbox", "text")
	p.Press("Ctrl+A")
	p.Type("one stone")
	p.Press("Enter")
	p.Click("button", "Send original")
	g.await(t, "hears the original before the second", func(heard []string, _ []uint32) bool {
		return slices.Equal(heard, []string{"first", "one gold", "two"})
	})
}

// "Hold nothing" passes all that waits at once, and what follows, by mouse and by keyboard.
func TestFlowLiveHoldNothing(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	p := f.page()
	var said []string
	hold := func(texts ...string) {
		t.Helper()
		f.click("#live-operate")
		f.pick("Hold messages from the client")
		f.shows("#live-operate", "Holding")
		g.say(t, texts...)
		f.is("all wait", fmt.Sprintf(`document.querySelectorAll("#held .held-row").length === %d`, len(texts)))
		said = append(said, texts...)
	}
	passes := func(by string) {
		t.Helper()
		f.shows("#live-operate", "Changes on")
		g.say(t, by)
		said = append(said, by)
		g.await(t, "hears all in order, "+by, func(heard []string, _ []uint32) bool { return slices.Equal(heard, said) })
		f.is("nothing waits", `document.querySelectorAll("#held .held-row").length === 0`)
	}
	hold("one", "two", "three")
	f.click("#live-operate")
	f.pick("Hold nothing")
	passes("by mouse")
	hold("four", "five")
	f.focus("#live-operate")
	p.Press("Enter")
	p.Press("End")
	p.Press("ArrowUp")
	p.Press("ArrowUp")
	f.is("the item has the keys", `document.activeElement?.textContent.startsWith("Hold nothing")`)
	p.Press("Enter")
	passes("by keyboard")
}
