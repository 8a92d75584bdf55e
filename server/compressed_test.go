package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/access"
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

// What is small, compressed already, a part of a file, or of a type that does not shrink is sent as it is. Caches are told what the answer
// depends on.
func TestNotCompressed(t *testing.T) {
	long := strings.Repeat("text ", leastCompressed)
	for _, c := range []struct {
		what, name, value, body string
		status                  int
		compressed              bool
	}{
		{"a text", "Content-Type", "text/plain; charset=utf-8", long, 200, true},
		{"an error", "Content-Type", "application/problem+json", long, 422, true},
		{"a short text", "Content-Type", "text/plain; charset=utf-8", "text", 200, false},
		{"an image", "Content-Type", "image/png", long, 200, false},
		{"an archive", "Content-Type", "application/zip", long, 200, false},
		{"a capture", "Content-Type", "application/octet-stream", long, 200, false},
		{"a part", "Content-Range", "bytes 0-9/100", long, 206, false},
		{"what is compressed", "Content-Encoding", "br", long, 200, false},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", http.NoBody)
		r.Header.Set("Accept-Encoding", "gzip")
		compressed()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set(c.name, c.value)
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})).ServeHTTP(w, r)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != c.compressed || w.Code != c.status || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: compressed %t, %d %v", c.what, got, w.Code, w.Header())
		}
	}
}

// The pages that show secrets, of the door, are not compressed: their length would tell an attacker how much of a guess is right. Other pages
// have none.
func TestSecretsAreNotCompressed(t *testing.T) {
	m := doorOf(t, testServer(t))
	r := httptest.NewRequest("GET", "/access/me", http.NoBody)
	r.Header = m.session(m.person("ann", access.Grants{access.Everywhere: access.Admin}))
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	m.h.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Body.Len() < leastCompressed || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("%d, %d bytes, %v", w.Code, w.Body.Len(), w.Header())
	}
}
