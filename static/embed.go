// Package static holds the files that pages load: scripts, one style sheet and the icon.
//
// Only the Go files of this package are written by hand; web/build generates the others from web/src.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:generate go run ../web/build

//go:embed early.js app.js capture.js dialogs.js drawers.js app.css favicon.svg
var files embed.FS

// prefix is the path of Handler.
const prefix = "/static/"

// asset is a file to be served.
type asset struct {
	content []byte
	zipped  func() []byte // content in gzip, made on first use
	version string        // hash of the content
	media   string        // Content-Type; explicit, because the system's table of types differs between machines
}

// assets is the table of all files, by name. It is immutable.
var assets = map[string]asset{
	"early.js":    load("early.js", "text/javascript; charset=utf-8"),
	"app.js":      load("app.js", "text/javascript; charset=utf-8"),
	"capture.js":  load("capture.js", "text/javascript; charset=utf-8"),
	"dialogs.js":  load("dialogs.js", "text/javascript; charset=utf-8"),
	"drawers.js":  load("drawers.js", "text/javascript; charset=utf-8"),
	"app.css":     load("app.css", "text/css; charset=utf-8"),
	"favicon.svg": load("favicon.svg", "image/svg+xml"),
}

// load reads an embedded file. It cannot fail: the compiler embeds the same names, and a test reads each.
func load(name, media string) asset {
	content, _ := files.ReadFile(name)
	sum := sha256.Sum256(content)
	return asset{content: content, zipped: sync.OnceValue(func() []byte { return zip(content) }), version: hex.EncodeToString(sum[:6]), media: media}
}

// zip compresses at the best level. Writing to memory does not fail.
func zip(content []byte) []byte {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	_, _ = z.Write(content)
	_ = z.Close()
	return buf.Bytes()
}

// acceptsGzip reports whether a request accepts gzip: it lists gzip or "*" without q=0.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name = strings.TrimSpace(name); name != "gzip" && name != "*" {
			continue
		}
		q, found := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q=")
		return !found || strings.Trim(q, "0.") != ""
	}
	return false
}

// URL returns the address of a file with the version of its content: "/static/app.css?v=0f3a…". Browsers cache it permanently. A name that is
// not embedded gets no version; loading it is a 404.
func URL(name string) string {
	if a, ok := assets[name]; ok {
		return prefix + name + "?v=" + a.version
	}
	return prefix + name
}

// Handler serves the files below /static/. It is safe for concurrent use.
func Handler() http.Handler {
	return http.HandlerFunc(serve)
}

func serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, prefix)
	a, known := assets[name]
	if !ok || !known {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.media)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	content, tag := a.content, a.version
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		content, tag = a.zipped(), a.version+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	h.Set("Cache-Control", "no-cache")
	// Only the current version may be cached permanently: a page of another release requests another version.
	if r.URL.Query().Get("v") == a.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(content))
}
