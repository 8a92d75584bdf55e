package flows

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"wirebench/web/browsertest"
)

// The code of a definition stands beside its text, follows it while one types, and costs nothing while it is closed. The large library is open.
func TestFlowCode(t *testing.T) {
	t.Parallel()
	files := realLibrary(t)
	for name, text := range flowFiles() {
		files[name] = text
	}
	f, _, _ := begin(t, files, "/p/one/definitions/C_LIST.1")
	asked := 0
	browsertest.Run(t, f.ctx, network.Enable())
	chromedp.ListenTarget(f.ctx, func(ev any) {
		if e, ok := ev.(*network.EventRequestWillBeSent); ok && strings.HasSuffix(e.Request.URL, "/emit") {
			asked++
		}
	})
	f.caret(0)
	f.types("uint32 zebra")
	f.shows("#layout-rows", "zebra")
	if asked > 0 {
		t.Error("code was written while its pane was closed")
	}

	p := f.page()
	code := func(has string) {
		t.Helper()
		f.is("the code has "+has, fmt.Sprintf(`document.querySelector("#code-pane pre")?.textContent.includes(%s)`, jsText(has)))
	}
	f.ofDefinition("Code")
	p.Visible("region", "Code of the definition")
	code("type CList struct {")
	code("Zebra")
	f.is("without the beginning of the file", `!document.querySelector("#code-pane pre").textContent.includes("DO NOT EDIT") && !document.querySelector("#code-pane pre").textContent.includes("errors.New(\"incomplete")`)
	p.Click("checkbox", "all")
	code("DO NOT EDIT")
	code("package c_list")
	p.Click("checkbox", "all")
	f.caret(0)
	f.types("giraffe")
	code("Zebragiraffe")

	// While the text has a mistake the last code stays, and says so.
	f.press("Enter")
	f.types("unit16 x")
	f.shows("#code-pane", "last valid version")
	code("Zebragiraffe")
	f.press("Ctrl+Z")
	f.is("repaired", `document.querySelector("#code-pane.stale") === null || document.querySelector(".strip .problems") !== null`)

	// Every target has the whole message, and one line for each kind of loss.
	var targets []string
	_ = json.Unmarshal([]byte(browsertest.Value[string](t, f.ctx, `JSON.stringify([...document.querySelectorAll("#code-pane option")].map(o => o.text))`)), &targets)
	if len(targets) < 6 {
		t.Fatal(targets)
	}
	f.press("Ctrl+Z")
	for _, target := range targets {
		p.Choose("Write the definition as", target)
		f.is("the field in "+target, `document.querySelector("#code-pane pre").textContent.toLowerCase().includes("zebra")`)
	}
	p.Choose("Write the definition as", "Kaitai Struct")
	f.shows(".code-losses", "Lost")

	// The target and the open pane are remembered; a menu saves the files.
	browsertest.Reload(t, f.ctx, openSelector)
	code("ks-version")
	p.Click("button", "Files…")
	p.Visible("menuitem", "Save as c_list.ksy")
	f.press("Escape")
	p.Click("button", "Close the code")
	p.Focused("button", "More about this definition")
	p.Gone("region", "Code of the definition")
}
