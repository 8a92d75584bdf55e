package flows

import (
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/access"
	"wirebench/server/relay"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// A viewer of running traffic sees no controls that would be refused, and a reason; after signing out the token is needed again.
func TestFlowViewer(t *testing.T) {
	t.Parallel()
	s, g := scripted(t)
	var live relay.Info
	if code := servertest.AskJSON(t, s, "POST", "/api/one/demo", "", &live); code != 201 {
		t.Fatalf("the demo: %d", code)
	}
	g.say(t, "one", "two")
	if code := servertest.AskJSON(t, s, "POST", "/api/one/captures/"+live.ID+"/markers", `{"text":"here"}`, nil); code != 201 {
		t.Fatal(code)
	}
	srv := httptest.NewServer(access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s))
	t.Cleanup(func() { s.Close(); srv.Close() })
	page := "/p/one/captures/" + live.ID
	allowed := regexp.MustCompile(`status of 40[13]|Close received after close`)
	f := captureFlow{flow{t, browsertest.OpenAllowing(t, srv.URL+page, "form[action='/access']", allowed)}, s}
	f.page().Focused("textbox", "Access token") // without a click
	f.types("look\r")
	browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	f.counts("4 frames")
	why := `(e.title + e.textContent).includes("needs the role")`
	f.is("the bar", `["live-marker", "live-operate", "live-send", "live-stop"].map(id => document.getElementById(id)).every(e => e?.disabled && `+why+`)`)
	f.is("no replay", `document.getElementById("live-replay") === null`)

	f.focus(".frames-scroll")
	f.press("Home", "m", "n")
	f.is("keys that would change something do nothing", `document.querySelector(".frames-ask, .frame.marked, .toast.err") === null`)
	f.press("Shift+F10")
	f.is("the menu of a row", `["Mark", "Add a note"].every(text => [...document.querySelectorAll(".pop-item")].some(e => e.textContent.startsWith(text) && e.ariaDisabled === "true" && `+why+`))`)
	f.press("Escape")
	f.do(`document.querySelector("[data-capture-menu]").click()`)
	f.is("the menu of a capture", `["Rename", "Delete", "Replay"].every(text => [...document.querySelectorAll(".pop-item")].some(e => e.textContent.startsWith(text) && e.ariaDisabled === "true" && `+why+`))`)
	f.press("Escape")
	f.tool("Markers")
	f.shows(".frames-markers", "here")
	f.is("markers can be looked at", `document.querySelector(".marker-change") === null && [...document.querySelectorAll(".frames-markers .btn")].every(e => e.hidden)`)
	f.focus(`.frames-markers [data-marker="0"]`)
	f.press("Delete")
	f.shows(".frames-markers", "here")
	f.do(`{
		const data = new DataTransfer();
		data.items.add(new File(["group: x\n"], "more.def"));
		document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
	}`)
	f.shows(".toast.warn", "View only")

	f.click("#sign-out")
	browsertest.Arrive(t, f.ctx, "form[action='/access']")
	browsertest.Run(t, f.ctx, chromedp.Navigate(srv.URL+page))
	browsertest.Arrive(t, f.ctx, "form[action='/access']")
	f.page().Focused("textbox", "Access token") // without a click
	f.types("all\r")
	browsertest.Arrive(t, f.ctx, "html.live #live-bar")
	f.is("the operator may", `document.getElementById("live-marker")?.disabled === false && document.getElementById("sign-out") !== null`)
}
