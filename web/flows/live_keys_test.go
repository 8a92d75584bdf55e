package flows

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/web/browsertest"
)

// One key sends a message again unchanged, another one opens it as a form.
func TestFlowLiveResend(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, "first", "second")
	f.counts("4 frames")
	f.focus(".frames-scroll")
	f.press("Home")
	f.shows(".frames-line .chosen", "at 1")
	f.press("r")
	f.shows(".toasts", "say was sent again, C→S")
	g.await(t, "the first again", func(heard []string, _ []uint32) bool {
		return slices.Equal(heard, []string{"first", "second", "first"})
	})
	f.page().Gone("dialog", "")
	f.is("it is told from others", `document.querySelector(".frame.injected")?.textContent.includes("first")`)

	f.press("Shift+D")
	f.page().Has("textbox", "text", "first")
	f.page().Fill("textbox", "text", "another")
	f.press("Enter")
	g.hears(t, "another")
	f.press("Escape")
	f.page().Gone("dialog", "")
	f.is("without a dialog to compare", `document.querySelector(".frames-drawer").hidden`)

	// The help lists each key of this page once.
	f.press("?")
	for keys, title := range map[string]string{
		"p": "Pause or resume the view", "i": "Turn intercept on or off", "a": "Forward the held message", "Shift+A": "Forward all held messages", "x": "Drop the held message",
		"e": "Change the held message", "r": "Send the frame again, unchanged", "Shift+D": "Send a message like this one", "v": "Reset the held message",
		"`": "Drop a marker", "h": "Hide frames of this type", "o": "Show only frames of this type", "Shift+H": "Manage hidden types and chips", "m": "Mark or unmark the frame; m a also gives it the letter a",
		"n": "Write a note about the frame", "t": "Times relative to this frame, or to the start", "l": "Copy a link to the frame", ".": "Next frame of the same type",
		",": "Previous frame of the same type", "Shift+.": "Next frame of the same conversation", "Shift+,": "Previous frame of the same conversation", "Shift+C": "Compare two frames",
	} {
		f.is(keys+" in the help", fmt.Sprintf(`[...document.querySelectorAll("dialog.keyboard .binding")].some(e => e.querySelector(".title").textContent === %s && [...e.querySelectorAll(".cap")].some(c => c.dataset.cap.split("\n")[1] === %s))`, jsText(title), jsText(keys)))
	}
	one := browsertest.Value[[]string](t, f.ctx, `(() => {
		const of = new Map();
		for (const cap of document.querySelectorAll("dialog.keyboard .cap")) {
			const [id, keys] = cap.dataset.cap.split("\n");
			of.set(keys, [...(of.get(keys) ?? []), id]);
		}
		return ["a", "e", "i", "r", "v", "x", "Shift+A", "Shift+D", "Shift+X", "`+"`"+`"].flatMap(keys => (of.get(keys) ?? []).length > 1 ? [keys + ": " + of.get(keys)] : []);
	})()`)
	if len(one) > 0 {
		t.Errorf("keys of two commands: %q", one)
	}
}

// Keys of the list work for running traffic, too; capture_test.go has the others.
func TestFlowLiveListKeys(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	for i, word := range words(5, "word ") { // each before the answer to the previous one
		g.say(t, word)
		f.counts(fmt.Sprintf("%d frames", 2*i+2))
	}
	f.focus(".frames-scroll")
	at := func(n int) {
		t.Helper()
		f.shows(".frames-line .chosen", fmt.Sprintf("at %d", n))
	}
	f.press("Home")
	at(1)
	f.press(".")
	at(3)
	typed := func(key, code string) { // as on a keyboard, with Shift
		t.Helper()
		f.do(fmt.Sprintf(`document.querySelector(".frames-scroll").dispatchEvent(new KeyboardEvent("keydown", {key: %q, code: %q, shiftKey: true, bubbles: true, cancelable: true}))`, key, code))
	}
	typed(">", "Period")
	at(4)
	typed("<", "Comma")
	at(3)
	f.press(",")
	at(1)
	f.press("h")
	f.counts("10 frames · 5 shown")
	f.press("Shift+H")
	f.pick("say") // the chip is removed
	f.counts("10 frames")
}

// A held message stays held after it was changed; it is sent changed, or as the original.
func TestFlowLiveRevert(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, "free")
	f.counts("2 frames")
	f.focus(".frames-scroll")
	f.filter("say")
	f.counts("2 frames · 1 shown")
	f.focus(".frames-scroll")
	f.press("i")
	f.shows("#live-operate", "Holding say")
	g.say(t, "one", "two", "three")
	f.is("three wait", `document.querySelectorAll("#held .held-row").length === 3`)
	change := func(text string) {
		t.Helper()
		f.press("e")
		f.page().Focused("textbox", "text")
		f.page().Fill("textbox", "text", text)
		f.press("Enter")
		f.shows("#held .held-row", "changed, not sent yet")
	}
	f.is("none can be reverted", `[...document.querySelectorAll("#held [data-revert]")].every(e => e.hidden)`)
	change("changed")
	f.shows("#held .held-row .held-what", "changed")
	f.focus(".frames-scroll")
	f.press("e")
	f.page().Focused("textbox", "text")
	f.page().Has("textbox", "text", "changed")
	f.shows(".held-changes .old", `"one"`)
	f.focus(".frames-scroll")
	f.press("v")
	f.is("it is as it came", `document.querySelector("#held .held-what").textContent.includes("one") && document.querySelector("#held .held-with") === null`)
	f.press("a")
	g.hears(t, "one")
	f.is("two wait", `document.querySelectorAll("#held .held-row").length === 2`)
	change("too")
	f.focus(".frames-scroll")
	f.press("Shift+A")
	g.hears(t, "three")
	g.await(t, "the change went, too", func(heard []string, _ []uint32) bool {
		return slices.Equal(heard, []string{"free", "one", "too", "three"})
	})
}

// Markers are renamed and deleted by button and key, with undo; another page shows it.
func TestFlowMarkersChange(t *testing.T) {
	t.Parallel()
	f, g := beginLive(t)
	g.say(t, words(5, "word ")...)
	f.counts("10 frames")
	f.focus(".frames-scroll")
	for i, text := range []string{"first", "second"} {
		f.press("`")
		f.types(text + "\r")
		f.shows(".frames-markers", text)
		g.say(t, "between")
		f.counts(fmt.Sprintf("%d frames", 12+2*i))
	}
	names := func(want string) {
		t.Helper()
		f.is("the markers are "+want, fmt.Sprintf(`[...document.querySelectorAll(".frames-markers [data-marker]")].map(e => e.textContent).join(", ") === %s`, jsText(want)))
	}
	kept := func(want ...string) {
		t.Helper()
		all, err := f.s.Projects.Find("one").Captures.List()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range all[0].Notes.Markers {
			got = append(got, m.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("kept are %q, want %q", got, want)
		}
	}
	names("first, second")
	f.do(`document.querySelector(".frames-markers .marker-change > .btn").click()`)
	f.is("the old text is offered", `document.activeElement?.value === "first"`)
	f.types("max HP = 5\r")
	names("max HP = 5, second")
	f.shows(".toasts", "The marker is “max HP = 5”")
	f.do(`[...document.querySelectorAll(".frames-markers .num .link")].find(e => e.textContent === "11").click()`)
	f.is("its flag", frameRowOf(11)+`?.dataset.flag === "max HP = 5"`)
	kept("max HP = 5", "second")
	f.click(".toast:last-child .btn")
	names("first, second")
	kept("first", "second")

	f.focus(`.frames-markers [data-marker="0"]`)
	f.press("F2")
	f.types("begin\r")
	names("begin, second")
	f.focus(`.frames-markers [data-marker="0"]`)
	f.press("ArrowDown")
	f.is("the second has the focus", `document.activeElement?.textContent === "second"`)
	f.press("ArrowUp")
	before, _ := f.s.Projects.Find("one").Captures.List()
	f.press("Delete")
	names("second")
	f.is("the next one has the focus", `document.activeElement?.textContent === "second"`)
	kept("second")
	f.shows(".toasts", "The marker “begin” is deleted")
	f.click(".toast:last-child .btn")
	names("begin, second")
	after, _ := f.s.Projects.Find("one").Captures.List()
	for _, all := range [][]store.Marker{before[0].Notes.Markers, after[0].Notes.Markers} {
		for i := range all {
			all[i].ID = transport.FrameID{} // its frame may have arrived meanwhile
		}
	}
	if !slices.Equal(after[0].Notes.Markers, before[0].Notes.Markers) {
		t.Errorf("taken back it is %+v, was %+v", after[0].Notes.Markers, before[0].Notes.Markers)
	}
	// Changes by another page show here.
	_, err := f.s.Projects.Find("one").Captures.Note(after[0].ID, func(n *store.Notes) { n.Markers = n.Markers[:1] })
	if err != nil {
		t.Fatal(err)
	}
	names("begin")
	f.do(`document.querySelector(".frames-markers .marker-change > .btn:last-child").click()`)
	f.shows(".frames-markers", "No markers yet")
}

// A capture created by another program appears in the list, and its page grows with it.
func TestFlowCaptureGrows(t *testing.T) {
	t.Parallel()
	whole := servertest.Chat(t, 100)
	at := len(whole) / 2
	f := beginCapture(t, servertest.ChatFiles, whole[:at], "")
	all, err := f.s.Projects.Find("one").Captures.List()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	f.is("some frames", `/^\d+ frames/.test(document.querySelector(".frames-line .counts").textContent)`)
	servertest.Append(t, f.s, all[0].ID, at, whole[at:])
	f.counts("100 frames")
	more := servertest.Chat(t, 150)
	servertest.Append(t, f.s, all[0].ID, len(whole), more[len(whole):])
	f.counts("150 frames")
	f.focus(".frames-scroll")
	f.press("End")
	servertest.Append(t, f.s, all[0].ID, len(more), servertest.Chat(t, 160)[len(more):])
	f.counts("160 frames")
	f.is("it follows its end", atEnd(160))

	if _, err := f.s.Projects.Find("one").Captures.Add("from elsewhere.pcapng", time.Now(), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	f.is("they are counted", `document.querySelector("#captures-count").textContent === "2"`)
	f.page().Click("link", "Captures 2")
	browsertest.Arrive(t, f.ctx, ".place-list")
	f.page().Click("button", "More about from elsewhere.pcapng")
	f.is("its menu", `document.querySelector(".pop-head")?.textContent === "from elsewhere.pcapng"`)
}
