package flows

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"wirebench/defs"
	"wirebench/server/projects"
	"wirebench/web/browsertest"
)

// A project without definitions opens with the three ways to begin and no mistakes, in each language; each way leads on.
func TestFlowEmptyProject(t *testing.T) {
	browsertest.Require(t)
	t.Parallel()
	s := projectServer(t, t.TempDir(), projects.Options{})
	srv := serve(t, s)
	for _, d := range defs.Dialects {
		protocol := d.Name
		t.Run(protocol, func(t *testing.T) {
			if _, err := s.Projects.Make(t.Context(), projects.New{Title: "Nothing yet " + protocol, Protocol: protocol}); err != nil {
				t.Fatal(err)
			}
			ctx := browsertest.Open(t, srv.URL+"/p/nothing-yet-"+protocol+"/definitions", openSelector)
			f := captureFlow{flow{t, ctx}, s}
			f.is("three ways", `document.querySelectorAll(".ways-in .card").length === 3`)
			f.is("connected", `document.querySelector("#connection").textContent.includes("connected")`)
			for range 3 { // the page asks for its fragments a moment later
				f.is("no mistake", `!document.body.innerText.includes("no definition of") && document.querySelector("#notices .err") === null`)
				f.is("no empty list to choose from", `!document.body.innerText.includes("Choose a message in the list")`)
				browsertest.Run(t, ctx, chromedp.Evaluate(`new Promise(done => setTimeout(done, 300))`, nil, awaited))
			}
			if os.Getenv("WIREBENCH_LOOK") != "" {
				for _, theme := range []string{"light", "dark"} {
					f.do(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
					f.shot("empty-"+protocol+"-"+theme, 1280, 720)
				}
				f.shot("empty-"+protocol+"-phone", 390, 800)
				f.do(`delete document.documentElement.dataset.theme`)
				browsertest.Run(t, ctx, emulation.ClearDeviceMetricsOverride())
			}
			switch protocol {
			case "tera":
				f.click(`.ways-in [data-command="captures.open"]`)
				f.is("a picker of captures", `document.getElementById("capture-files")?.accept.includes(".pcap")`)
				f.click(`.ways-in [data-command="files.add"]`)
				f.is("a picker of any files", `document.getElementById("capture-files")?.accept === ""`)
			case "protodef": // without scripts, too, nothing says that something is missing
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest("POST", "/p/nothing-yet-protodef/definitions", strings.NewReader("name=protocol")))
				if strings.Contains(w.Body.String(), "no definition of") {
					t.Error("a form without a text is a mistake")
				}
			}
			f.click(`.ways-in [data-command="new"]`)
			f.is("an editor to write in", `document.activeElement.matches("#name, .cm-content")`)
			f.is("no mistake", `document.querySelector("#notices .err") === null`)
		})
	}
}
