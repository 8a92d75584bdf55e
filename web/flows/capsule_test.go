package flows

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/server/api"
	"wirebench/server/publish"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// Frames of a capture are shared as a page: what is secret is replaced, which is seen before, and the page opens with its values. It is the same
// when it is asked for again, although the definition has changed.
func TestFlowCapsule(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, map[string]string{"C_SAY.1.def": "string text\n", "protocol.1.map": "C_SAY 4097\n"}, servertest.Chat(t, 30), "")
	f.counts("30 frames")
	f.filter("C_SAY")
	f.counts("30 frames · 24 shown")
	f.press("Ctrl+K")
	f.page().Fill("combobox", "Go to anything", "> share the listed")
	f.page().Press("Enter")
	f.shows(".capsule-preview", "24 messages")
	f.is("the text is there", `document.querySelector(".capsule-preview").textContent.includes("C_SAY.text") && document.querySelector(".capsule-preview").textContent.includes("as it is")`)
	f.page().Fill("textbox", "Title", "What they say")
	f.page().Fill("textbox", "Also replace…", "text")
	f.shows(".capsule-preview", "replaced")
	f.look("capsule")
	f.axe("a capsule")
	f.page().Click("button", "Make it")
	f.page().Visible("link", "Save the page")
	var list api.CapsuleList
	if code := servertest.Request(t, f.s, "GET", "/api/v1/one/capsules", nil, &list); code != 200 || len(list.Capsules) != 1 || list.Capsules[0].Title != "What they say" {
		t.Fatalf("%d %+v", code, list)
	}
	page := func() string {
		w := httptest.NewRecorder()
		f.s.ServeHTTP(w, httptest.NewRequest("GET", "/p/one/capsules/"+list.Capsules[0].ID, nil))
		if policy := w.Header().Get("Content-Security-Policy"); w.Code != 200 || !strings.Contains(policy, "sandbox") || !strings.Contains(policy, "default-src 'none'") {
			t.Fatal(w.Code, policy)
		}
		return w.Body.String()
	}
	text := page()
	if _, err := f.s.Projects.Find("one").Save("C_SAY.1.def", []byte("byte first\nstring text\n"), nil); err != nil {
		t.Fatal(err)
	}
	if page() != text {
		t.Error("the page has changed with the definition")
	}
	if _, err := publish.ReadCapsule([]byte(text)); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "capsule.html")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	// Without a server.
	g := flow{t, browsertest.Open(t, "file://"+file, ".frame")}
	g.is("24 messages", `document.querySelectorAll(".frame").length === 24 && document.querySelector("h1").textContent === "What they say"`)
	g.is("no text of the capture", `!document.body.textContent.includes("text 1")`)
	g.do(`document.getElementById("all").click()`)
	g.is("the values", `document.querySelector(".frame[open] table") !== null`)
	g.look("capsule-page")
	g.axe("the page of a capsule")
	f.press("Escape")
	f.press("Ctrl+K")
	f.page().Fill("combobox", "Go to anything", "> shared messages")
	f.page().Press("Enter")
	f.page().Visible("link", "What they say")
	f.axe("shared messages")
	f.page().Click("button", "Delete")
	f.page().Visible("dialog", "Delete “What they say” here?…")
	f.axe("the question whether to delete")
	f.page().In("Delete “What they say” here?…").Click("button", "Delete")
	f.shows("dialog .operate-says", "Nothing is shared yet")
}

// Fields that look like secrets are ticked in the dialog, with the reason; what is not ticked any more stays.
func TestFlowCapsuleProposes(t *testing.T) {
	t.Parallel()
	f := beginCapture(t, map[string]string{"C_SAY.1.def": "string password\n", "protocol.1.map": "C_SAY 4097\n"}, servertest.Chat(t, 30), "")
	f.counts("30 frames")
	f.filter("C_SAY")
	f.counts("30 frames · 24 shown")
	f.press("Ctrl+K")
	f.page().Fill("combobox", "Go to anything", "> share the listed")
	f.page().Press("Enter")
	f.shows(".capsule-preview", "replaced; looks like a secret: its name")
	f.is("it is ticked", `document.querySelector(".capsule-preview input").checked`)
	f.look("capsule-proposes")
	f.axe("a capsule with a proposal")
	f.page().Click("checkbox", "Replace C_SAY.password")
	f.shows(".capsule-preview", "as it is; looks like a secret: its name")
	f.is("it is not ticked", `!document.querySelector(".capsule-preview input").checked`)
}
