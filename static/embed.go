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
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:generate go run ../web/build

//go:embed *.js chunks/*.js imports.json app.css favicon.svg
var files embed.FS

// prefix is the path of Handler.
const prefix = "/static/"

// base is the path of the server for clients, before all paths of pages: "" or "/tools/wirebench".
var base string

// SetBase sets the path of the server for clients. It must be called before the first request.
func SetBase(path string) { base = strings.TrimSuffix(path, "/") }

// Base returns the path of the server for clients, "" at the root of its host name.
func Base() string { return base }

// asset is a file to be served.
type asset struct {
	content []byte
	zipped  func() []byte // content in gzip, made on first use
	version string        // hash of the content
	media   string        // Content-Type
}

// assets is the table of all files, by name. It is immutable.
var assets = load()

// media are the types of files, by extension. They are explicit because the system's table differs between machines.
var media = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// load reads the embedded files. It cannot fail: they are in memory.
func load() map[string]asset {
	all := map[string]asset{}
	for _, pattern := range []string{"*.*", "chunks/*.js"} {
		names, _ := fs.Glob(files, pattern)
		for _, name := range names {
			if media[path.Ext(name)] == "" {
				continue
			}
			content, _ := files.ReadFile(name)
			sum := sha256.Sum256(content)
			all[name] = asset{content: content, zipped: sync.OnceValue(func() []byte { return zip(content) }), version: hex.EncodeToString(sum[:6]), media: media[path.Ext(name)]}
		}
	}
	return all
}

// imports are the scripts that each script imports when it is loaded, by name; web/build lists them.
var imports = func() map[string][]string {
	content, _ := files.ReadFile("imports.json")
	var all map[string][]string
	_ = json.Unmarshal(content, &all) // a test reads it
	return all
}()

// Imports returns the addresses of the scripts that scripts import when they are loaded, each once. A page that names them loads all at once.
func Imports(names ...string) []string {
	var urls []string
	for _, name := range names {
		for _, i := range imports[name] {
			if url := URL(i); !slices.Contains(urls, url) {
				urls = append(urls, url)
			}
		}
	}
	return urls
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

// URL returns the address of a file with the version of its content: "/static/app.css?v=0f3a…". Browsers cache it permanently. The names of
// chunks contain their version. A name that is not embedded gets no version; loading it is a 404.
func URL(name string) string {
	if a, ok := assets[name]; ok && !isChunk(name) {
		return base + prefix + name + "?v=" + a.version
	}
	return base + prefix + name
}

func isChunk(name string) bool { return strings.HasPrefix(name, "chunks/") }

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
	if isChunk(name) || r.URL.Query().Get("v") == a.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, path.Base(name), time.Time{}, bytes.NewReader(content))
}
