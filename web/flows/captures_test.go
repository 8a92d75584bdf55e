package flows

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// A capture dropped on the page is stored, and so is a text with a conversation; for raw bytes a dialog opens.
func TestFlowDropCaptures(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", servertest.ChatFiles)
	srv := serve(t, s)
	ctx := browsertest.Open(t, srv.URL+"/p/one/definitions", "#bytes-head")
	f := flow{t, ctx}
	drop := func(name string, data []byte) {
		t.Helper()
		browsertest.Run(t, ctx, chromedp.Navigate(srv.URL+"/p/one/definitions"))
		f.do(`{
			const data = new DataTransfer()
			data.items.add(new File([Uint8Array.from("` + hex.EncodeToString(data) + `".match(/../g).map(x => parseInt(x, 16)))], "` + name + `"))
			document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}))
		}`)
	}
	leads := func(n int, framing string) {
		t.Helper()
		browsertest.Arrive(t, ctx, `html:not(:has(#input))`) // another page; a script's wait does not outlive the one it is in
		f.is("the page of the capture", `location.pathname.startsWith("/p/one/captures/")`)
		all, err := s.Projects.Find("one").Captures.List()
		if err != nil || len(all) != n || all[0].Framing != framing && all[n-1].Framing != framing {
			t.Errorf("%+v %v", all, err)
		}
	}
	drop("chat.bin", servertest.Chat(t, 20))
	leads(1, "")
	drop("talk.txt", []byte(servertest.TwoWays))
	leads(2, "")
	drop("raw.bin", make([]byte, 5000))
	f.is("the question", `document.querySelector("dialog.framing[open]") !== null`)
	f.page().Choose("Messages", "All messages have one size")
	f.page().Fill("textbox", "Bytes of a message", "50")
	f.is("the messages are cut as it says", `[...document.querySelectorAll(".framing-frames td")].some(e => e.textContent === "50")`)
	f.do(`document.querySelector("dialog.framing .btn.primary").click()`)
	leads(3, "fixed:50")
}

// The list of captures says what those have that were read. A filter over all of them finds how many frames each has of it, and leads there.
func TestFlowCapturesFilter(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", servertest.ChatFiles)
	srv := serve(t, s)
	servertest.Keep(t, s, "talk", servertest.Chat(t, 50))
	servertest.Keep(t, s, "lossy", servertest.Lossy(t))
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/captures", ".place-list", regexp.MustCompile(`status of 422|Close received after close`))}, s}
	p := f.page()
	cells := func(what, name, want string) {
		t.Helper()
		f.is(what, fmt.Sprintf(`[...document.querySelectorAll(".place-list tbody tr")].some((row) => [...row.cells].slice(0, -4).map((c) => c.textContent).join(" ") === %s)`, jsText(name+" "+want)))
	}
	cells("nothing is read", "talk", "– ")
	p.Click("button", "Filter all captures…")
	p.Focused("textbox", "Filter of all captures")
	p.Type("dir == nowhere")
	p.Press("Enter")
	f.shows(".across .filterbox-says", "nowhere")
	p.Press("Ctrl+A")
	p.Type("C_S")
	f.is("completions", `[...document.querySelectorAll(".across [role=option], .cm-tooltip-autocomplete li")].some((e) => e.textContent.includes("C_SAY"))`)
	p.Press("Ctrl+A")
	p.Type("kind == problem || dir == s2c")
	p.Press("Enter")
	f.shows(".across > [role=status]", "11 matches in 2 captures")
	f.axe("a filter over all captures")
	f.shots("across")
	cells("of the first", "talk", "10op == 0x7777 && dir == s2c 10 50 ")
	cells("of the second", "lossy", "1problem 1 21 1")
	f.is("the totals", `[...document.querySelectorAll(".totals li")].map((e) => e.textContent).join(", ") === "op == 0x7777 && dir == s2c 10 in 1 capture, problem 1 in 1 capture"`)
	p.Press("Escape")
	p.Visible("button", "Filter all captures…")
	cells("the counts stay", "talk", "50 ")
	p.Click("button", "Filter all captures…")
	p.Focused("textbox", "Filter of all captures")
	p.Type("dir == s2c")
	p.Press("Enter")
	p.Press("Ctrl+A")
	p.Type(`= "text 3"`)
	p.Press("Enter")
	f.shows(".across > [role=status]", "11 matches in 1 capture")
	f.is("by field", `document.querySelector(".totals").textContent === "C_SAY.text 9 in 1 captureop == 0x7777 && dir == s2c (bytes) 2 in 1 capture"`)
	p.Click("button", "C_SAY.text")
	f.shows(".across > [role=status]", "9 matches in 1 capture")
	p.Click("link", "9")
	browsertest.Arrive(t, f.ctx, "#frames .frame")
	f.counts("50 frames · 9 shown")
}

// Two captures are compared by their types, from the menu of one of them; each number opens the capture with its frames.
func TestFlowCapturesCompare(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "tera", servertest.ChatFiles)
	srv := serve(t, s)
	servertest.Keep(t, s, "talk", servertest.Chat(t, 50))
	servertest.Keep(t, s, "lossy", servertest.Lossy(t))
	f := captureFlow{flow{t, browsertest.Open(t, srv.URL+"/p/one/captures", ".place-list")}, s}
	p := f.page()
	p.Click("button", "More about talk")
	p.Click("menuitem", "Compare with …")
	p.Visible("dialog", "Compare talk")
	f.do(`{ const choice = document.querySelector("dialog select"); choice.selectedIndex = 1; choice.dispatchEvent(new Event("change", {bubbles: true})) }`)
	f.shows("dialog", "A talk: 50 frames of 2 types")
	f.shows("dialog", "B lossy: 21 frames of 2 types")
	rows := func(want string) {
		t.Helper()
		f.is("the rows", fmt.Sprintf(`[...document.querySelectorAll("dialog .scores > tbody > tr")].map((row) => [0, 2, 3, 4, 5, 10].map((i) => row.cells[i].textContent).join(" ")).join("; ") === %s`, jsText(want)))
	}
	f.axe("two captures compared")
	rows("? 0x7777 10 – 20–22  only in A; problem – 1  0 only in B; C_SAY 40 20 20–22 12 other lengths, other count")

	// The frames of a type that both have, with the first field that differs.
	p.Click("button", "Compare the frames of C_SAY")
	f.shows("dialog .compare-frames", "20 of 20 pairs differ, 20 frames of A without a counterpart")
	f.is("the first pair", `((row) => [...row.cells].map((c) => c.textContent).join("|"))(document.querySelector(".compare-frames tbody tr")) .startsWith('1|1|text|"text 0"|"')`)
	f.axe("frames of two captures compared")
	f.do(`document.querySelectorAll(".compare-frames tbody tr")[1].cells[1].querySelector("a").click()`)
	browsertest.Arrive(t, f.ctx, "#frames .frame")
	f.counts("21 frames · 20 shown")
	f.is("the frame is chosen", `document.querySelector(".frame.cur .fc-n")?.textContent === "2"`)
}

// Where captures go by themselves, the list says when, and which have gone; one can be kept from its menu.
func TestFlowCapturesKept(t *testing.T) {
	t.Parallel()
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "a.txt", []byte(servertest.Follow))
	ws := s.Projects.Find("one")
	if _, err := ws.Home.Write("removed.json", []byte(`[{"id":"1","name":"monday.pcap","size":2048,"at":"2026-11-01T10:00:00Z","why":"age"}]`), nil); err != nil {
		t.Fatal(err)
	}
	if code := servertest.AskJSON(t, s, "PATCH", "/api/v1/projects/one/settings", `{"keep": {"age": "30d"}}`, nil); code != 200 {
		t.Fatal(code)
	}
	f := flow{t, browsertest.Open(t, serve(t, s).URL+"/p/one/captures", ".place-list")}
	f.shows("main.place details > summary", "captures are removed after 30d; those with a note, a mark, a marker or a comment stay; 1 was removed, the last on 2026-11-01")
	f.do(`document.querySelector("main.place summary").click()`)
	f.shows("main.place details", "monday.pcap, 2 KiB; it was too old")
	f.axe("captures that go")
	f.page().Click("button", "More about a.txt")
	f.page().Click("menuitem", "Keep for ever")
	f.shows(".place-list", "kept")
	if now, err := ws.Captures.Get(x.ID); err != nil || !now.Keep {
		t.Errorf("%+v %v", now, err)
	}
}
