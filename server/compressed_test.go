package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Answers of each type of text are compressed, pages as well.
func TestCompressed(t *testing.T) {
	get := func(s http.Handler, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, http.NoBody)
		r.Header.Set("Accept-Encoding", "gzip")
		s.ServeHTTP(w, r)
		return w
	}
	for _, kind := range compressibles {
		w := get(compressed()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			fmt.Fprint(w, strings.Repeat("text ", leastCompressed))
		})), "/")
		if w.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is not compressed", kind)
		}
	}
	_, s, _ := testPage(t, listFiles(836))
	page := get(s, "/p/one/definitions")
	if n := page.Body.Len(); page.Header().Get("Content-Encoding") != "gzip" || n > 20_000 {
		t.Errorf("a page with 836 definitions has %d bytes, %v", n, page.Header())
	}
	t.Logf("%d bytes", page.Body.Len())
}
