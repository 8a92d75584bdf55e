package flows

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"wirebench/web/browsertest"
)

// The editor is loaded after the page. Until then its text field works, and the editor takes over text and caret.
func TestFlowEditorComesLater(t *testing.T) {
	t.Parallel()
	s, _ := filesServer(t, flowFiles())
	arrives := make(chan struct{})
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/static/chunks/editor-") && r.Method == http.MethodGet {
			if asked.Add(1) <= 2 { // the page tries twice
				http.Error(w, "not now", http.StatusServiceUnavailable)
				return
			}
			<-arrives
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	arrive := sync.OnceFunc(func() { close(arrives) }) // also after a failure: the server waits for its handlers
	t.Cleanup(arrive)
	f := flow{t, browsertest.OpenAllowing(t, srv.URL+"/w/one?message=C_JOIN.1", "html.live #definition", regexp.MustCompile("status of 503"))}
	f.shows(".toasts", "could not be loaded")
	f.do(`{ const d = document.querySelector("#definition"); d.focus(); d.setSelectionRange(d.value.length, d.value.length) }`)
	f.types("byte early")
	f.shows("#layout-rows", "early")
	arrive()
	f.is("the editor has the focus", `document.activeElement?.closest(".cm-content") != null`)
	f.types("er")
	f.shows(".cm-content", "byte earlyer")
	f.shows("#layout-rows", "earlyer")
}
