package flows

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

// The places of a project, empty and not.
func TestFlowLookPlaces(t *testing.T) {
	t.Parallel()
	files, session := versionsLibrary(t)
	s := captureServer(t, "tera", files)
	srv := serve(t, s)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/p/one/definitions", openSelector, regexp.MustCompile(`Close received after close`))}
	origin := browsertest.Value[string](t, f.ctx, `location.origin`)
	f.visit(origin+"/p/one/captures", ".card")
	f.shots("captures-empty")
	f.visit(origin+"/p/one/live", "#live-start")
	f.shots("live-empty")
	for _, name := range []string{"chat.pcapng", strings.Repeat("a long evening in the guild, ", 6) + ".pcapng"} {
		servertest.Request(t, s, "POST", "/api/one/captures?name="+url.QueryEscape(name), session, nil)
	}
	f.visit(origin+"/p/one/captures", ".place-list")
	f.shots("captures")
}

func TestFlowLookTogether(t *testing.T) {
	t.Parallel()
	f, srv, _ := begin(t, flowFiles(), "/p/one/definitions/C_JOIN.1")
	f.together()
	g := flow{t, browsertest.Open(t, srv.URL+"/p/one/definitions/C_JOIN.1", openSelector)}
	g.together()
	g.named("Bob")
	f.page().In("People in this text").Visible("button", "Bob")
	g.caret(2)
	g.types("_of_the_room")
	f.shows("#layout-rows", "password_of_the_room")
	g.do(`{ const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view; view.dispatch({selection: {anchor: 0, head: 6}}) }`)
	f.is("a selection", `document.querySelector(".peer-selection") !== null`)
	f.shots("together")
	browsertest.Run(t, f.ctx, emulation.SetDeviceMetricsOverride(390, 800, 1, false))
	f.page().Click("tab", "Definition")
	f.shot("together-phone", 390, 800)
}
