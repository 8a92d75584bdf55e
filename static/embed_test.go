package static_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/static"
)

func TestURL(t *testing.T) {
	for _, name := range []string{"early.js", "app.js", "capture.js", "app.css", "favicon.svg"} {
		plain, version, _ := strings.Cut(static.URL(name), "?v=")
		if plain != "/static/"+name || len(version) != 12 {
			t.Errorf("URL(%q) = %q, want /static/%[1]s?v= and twelve hex digits", name, static.URL(name))
		}
	}
	if got := static.URL("other.css"); got != "/static/other.css" {
		t.Errorf("URL of a file that is not there: %q, want it without a version", got)
	}
}

func TestHandler(t *testing.T) {
	const forGood, askAgain = "public, max-age=31536000, immutable", "no-cache"
	for _, test := range []struct {
		name   string
		method string
		target string
		match  bool // send If-None-Match with the file's own ETag
		status int
		media  string
		cache  string
		empty  bool
	}{
		{name: "script", target: static.URL("app.js"), status: 200, media: "text/javascript; charset=utf-8", cache: forGood},
		{name: "style", target: static.URL("app.css"), status: 200, media: "text/css; charset=utf-8", cache: forGood},
		{name: "icon", target: static.URL("favicon.svg"), status: 200, media: "image/svg+xml", cache: forGood},
		{name: "head", method: "HEAD", target: static.URL("app.js"), status: 200, media: "text/javascript; charset=utf-8", cache: forGood, empty: true},
		{name: "no version", target: "/static/app.css", status: 200, media: "text/css; charset=utf-8", cache: askAgain},
		{name: "version of another release", target: "/static/app.css?v=000000000000", status: 200, media: "text/css; charset=utf-8", cache: askAgain},
		{name: "not changed", target: static.URL("app.css"), match: true, status: 304, cache: forGood, empty: true},
		{name: "chunk", target: static.Imports("app.js")[0], status: 200, media: "text/javascript; charset=utf-8", cache: forGood},
		{name: "chunk of another release", target: "/static/chunks/dialogs-OLD.js", status: 404, media: "text/plain; charset=utf-8"},
		{name: "unknown file", target: "/static/other.css", status: 404, media: "text/plain; charset=utf-8"},
		{name: "the directory", target: "/static/", status: 404, media: "text/plain; charset=utf-8"},
		{name: "source of the package", target: "/static/embed.go", status: 404, media: "text/plain; charset=utf-8"},
		{name: "path out of the directory", target: "/static/../static/app.css", status: 404, media: "text/plain; charset=utf-8"},
		{name: "outside", target: "/app.css", status: 404, media: "text/plain; charset=utf-8"},
		{name: "write", method: "POST", target: static.URL("app.css"), status: 405, media: "text/plain; charset=utf-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := httptest.NewRequest(test.method, test.target, nil)
			if test.match {
				_, version, _ := strings.Cut(test.target, "?v=")
				request.Header.Set("If-None-Match", `"`+version+`"`)
			}
			recorder := httptest.NewRecorder()
			static.Handler().ServeHTTP(recorder, request)

			response := recorder.Result()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.status {
				t.Errorf("status %d, want %d", response.StatusCode, test.status)
			}
			if got := response.Header.Get("Content-Type"); got != test.media {
				t.Errorf("Content-Type %q, want %q", got, test.media)
			}
			if got := response.Header.Get("Cache-Control"); got != test.cache {
				t.Errorf("Cache-Control %q, want %q", got, test.cache)
			}
			if got := response.Header.Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options %q, want nosniff", got)
			}
			if empty := len(body) == 0; empty != test.empty {
				t.Errorf("body of %d bytes, want empty: %t", len(body), test.empty)
			}
			if test.status == http.StatusMethodNotAllowed && response.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow %q, want GET, HEAD", response.Header.Get("Allow"))
			}
		})
	}
}

// A browser that accepts gzip gets it, with a separate ETag and the same content.
func TestHandlerCompresses(t *testing.T) {
	get := func(accept, tag string) *http.Response {
		request := httptest.NewRequest("GET", static.URL("app.js"), nil)
		request.Header.Set("Accept-Encoding", accept)
		request.Header.Set("If-None-Match", tag)
		recorder := httptest.NewRecorder()
		static.Handler().ServeHTTP(recorder, request)
		return recorder.Result()
	}
	plain, zipped := get("br, gzip;q=0", ""), get("gzip, deflate, br", "")
	for _, r := range []*http.Response{plain, zipped} {
		if got := r.Header.Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("Vary %q", got)
		}
	}
	if plain.Header.Get("Content-Encoding") != "" || zipped.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("encodings %q and %q", plain.Header.Get("Content-Encoding"), zipped.Header.Get("Content-Encoding"))
	}
	if plain.Header.Get("ETag") == zipped.Header.Get("ETag") {
		t.Error("both have the same ETag")
	}
	want, _ := io.ReadAll(plain.Body)
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes after decompression, not %d (%v)", len(got), len(want), err)
	}
	if again := get("gzip", zipped.Header.Get("ETag")); again.StatusCode != 304 {
		t.Errorf("status %d for cached content", again.StatusCode)
	}
}
