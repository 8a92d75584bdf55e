package flows

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/web/browsertest"
)

// besideLink is the address of a definition with a text.
func besideLink(srv, text string) string {
	return srv + "/p/one/definitions/C_JOIN.1#" + url.Values{"w": {"one"}, "d": {"C_JOIN.1"}, "text": {text}}.Encode()
}

const besideDialog = "Another text of C_JOIN.1"

// goes opens an address in the same tab, as a link on another site does.
func (f flow) goes(address string) {
	f.Helper()
	browsertest.Run(f.T, f.ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.ActionFunc(func(ctx context.Context) error {
		if strings.HasSuffix(address, "/healthz") { // a page of the same origin without the program
			return nil
		}
		return chromedp.WaitVisible(openSelector).Do(ctx)
	}))
}

// The text of a link is shown beside a draft. Taken, it is one change that can be undone; discarded, nothing has changed.
func TestFlowLinkAndDraft(t *testing.T) {
	t.Parallel()
	f, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	f.caret(1)
	f.types("entity")
	const draft = "uint32 identity\nstring name\nbyte level\n"
	f.has(draft)
	f.goes(besideLink(srv.URL, "uint64 other\n"))
	f.page().Visible("dialog", besideDialog)
	f.axe("a text beside the draft")
	f.has(draft)
	f.page().Click("button", "Discard it")
	f.has(draft)
	f.is("the address has no text any more", `!location.hash.includes("text=")`)
	f.goes(besideLink(srv.URL, "uint64 other\n"))
	f.page().Visible("dialog", besideDialog)
	f.page().Click("button", "Take it")
	f.has("uint64 other\n")
	f.press("Ctrl+Z")
	f.has(draft)
	f.reload()
	f.has(draft)
	servertest.Stands(t, dir, "C_JOIN.1.def", togetherText)
}

// Opening the address of a text changes nothing in a shared text, and nothing in its file.
func TestFlowLinkAndTogether(t *testing.T) {
	t.Parallel()
	f, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	f.together()
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	g.together()
	for _, address := range []string{
		besideLink(srv.URL, "byte gone\n"),
		strings.Replace(besideLink(srv.URL, "byte gone\n"), "/C_JOIN.1#", "?new=C_JOIN.1#", 1),
		strings.Replace(besideLink(srv.URL, "byte gone\n"), "/C_JOIN.1#", "#", 1),
	} {
		f.goes(address)
		f.page().Visible("dialog", besideDialog)
		f.together()
		f.has(togetherText)
		f.page().Click("button", "Discard it")
		g.has(togetherText)
		servertest.Stands(t, dir, "C_JOIN.1.def", togetherText)
	}
	g.caret(3)
	g.types(" # by g")
	const now = "uint32 id\nstring name\nbyte level # by g\n"
	f.has(now)
	f.goes(besideLink(srv.URL, "byte gone\n"))
	f.together()
	f.page().Click("button", "Take it")
	g.has("byte gone\n")
	f.press("Ctrl+Z")
	g.has(now)
}

// colleague saves a text over HTTP.
func colleague(t *testing.T, srv, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "PUT", srv+"/api/v1/one/definitions/C_JOIN.1.def?force=true", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/plain")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 {
		t.Fatal(answer.Status)
	}
}

// What is not saved keeps the lines that a colleague has saved meanwhile, and a draft of an earlier program has both, too.
func TestFlowMineAndTheirs(t *testing.T) {
	t.Parallel()
	const theirs, both = "uint32 id\nstring name\nbyte level\nint64 theirs\n", "uint32 identity\nstring name\nbyte level\nint64 theirs\n"
	f, srv, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	f.together()
	f.caret(1)
	f.types("entity")
	f.together()
	colleague(t, srv.URL, theirs)
	f.has(both)
	f.saves()
	servertest.Stands(t, dir, "C_JOIN.1.def", both)
	f.is("the address has no text any more", `!location.hash.includes("text=")`)

	f.goes(srv.URL + "/healthz")
	f.do(`localStorage.setItem("wirebench.draft.one.C_JOIN.1\nclosed", JSON.stringify({ text: "uint32 identity\nstring name\nbyte rank\nint64 theirs\n", base: "` + string(store.RevisionOf([]byte(both))) + `", message: "C_JOIN.1", at: 1 }))`)
	colleague(t, srv.URL, strings.Replace(both, "int64", "int32", 1))
	f.goes(srv.URL + "/p/one/definitions/C_JOIN.1")
	f.has("uint32 identity\nstring name\nbyte rank\nint32 theirs\n")
	f.is("the draft is in the text, and gone", `!Object.keys(localStorage).some((key) => key.startsWith("wirebench.draft."))`)
	f.goes(srv.URL + "/p/one/definitions/C_JOIN.1")
	f.together()
	f.has("uint32 identity\nstring name\nbyte rank\nint32 theirs\n")
}

// A draft whose base nobody knows any more is shown beside the shared text.
func TestFlowOldDraftAndTogether(t *testing.T) {
	t.Parallel()
	f, _, dir := begin(t, map[string]string{"C_JOIN.1.def": togetherText}, "/p/one/definitions/C_JOIN.1")
	address := browsertest.Value[string](t, f.ctx, `location.origin + location.pathname`)
	f.goes(address[:strings.Index(address, "/p/")] + "/healthz")
	f.do(`localStorage.setItem("wirebench.draft.one.C_JOIN.1\nclosed", JSON.stringify({ text: "uint32 identity\nstring name\nbyte level\n", base: "0123456789abcdef", message: "C_JOIN.1", at: 1 }))`)
	f.goes(address)
	f.page().Visible("dialog", besideDialog)
	f.has(togetherText)
	text, err := os.ReadFile(filepath.Join(dir, "C_JOIN.1.def"))
	if err != nil || string(text) != togetherText {
		t.Errorf("%q %v", text, err)
	}
	f.page().Click("button", "Take it")
	f.has("uint32 identity\nstring name\nbyte level\n")
	f.press("Ctrl+Z")
	f.has(togetherText)
}
