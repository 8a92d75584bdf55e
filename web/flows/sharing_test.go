package flows

import (
	"fmt"
	"strings"
	"testing"

	"wirebench/web/browsertest"
)

// A link carries the text of a definition that is not saved, also a long one, to a browser that has no draft of it.
func TestFlowLinkCarriesDefinition(t *testing.T) {
	t.Parallel()
	f, srv, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.do(`window.copied = []; navigator.clipboard.writeText = (text) => { window.copied.push(text); return Promise.resolve() }`)
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "\nuint32 field_%d # number %d", i, i)
	}
	f.caret(2)
	f.do(`{
		const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view
		view.dispatch({changes: {from: view.state.doc.line(2).to, insert: ` + jsText(long.String()) + `}})
	}`)
	f.shows("#facts", "not saved")
	f.do(`document.activeElement.blur()`)
	f.press("l")
	f.shows(".toasts", "Copied a link to this view")
	link := browsertest.Value[string](t, f.ctx, `copied[0]`)
	if len(link) > 60_000 || !strings.Contains(link, "textz=") {
		t.Errorf("a link of %d characters", len(link))
	}
	f.command("Discard unsaved changes")
	f.lacks("#definition-head .unsaved")
	f.together()
	g := flow{t, browsertest.Open(t, srv.URL+link[strings.Index(link, "/p/one"):], openSelector)}
	g.page().Click("button", "Take it") // the text of a link stays beside that of the file until then
	g.shows("#layout-head", "12008 bytes")
	g.shows("#facts", "not saved")
	g.is("the whole text", `document.querySelector(".definition-editor .cm-content").cmTile.root.view.state.doc.toString().includes("field_2999 # number 2999")`)

	// A damaged one is reported, and the stored text stays.
	h := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1#w=one&d=C_JOIN.1&textz=AAAA", openSelector)}
	h.shows(".toasts", "cannot be read")
	h.shows("#layout-head", "8 bytes")
}

// Two lines of hex are two messages, and a log is believed about the names of its messages.
func TestFlowLinesAndNames(t *testing.T) {
	t.Parallel()
	f, _, _ := begin(t, flowFiles(), "/p/one/definitions/C_WIDE.1")
	f.pasted(joinHex + "\n" + joinHex)
	f.shows("#messages", "C_JOIN")
	f.is("two messages", `document.querySelectorAll("#messages tbody tr").length === 2`)
	f.pasted("[23:59:50.380] -> C_WIDE.1\n11004d4d 010000000000008001" + "0000c03f\n")
	f.shows("#fields-head", "C_WIDE.1")
	f.shows(row("big"), "9223372036854775809")
	f.open("C_JOIN.1")
	f.pasted("[23:59:50.380] -> C_WIDE.1\n11004d4d 010000000000008001" + "0000c03f\n")
	f.page().Visible("heading", "C_WIDE.1.def")
}
