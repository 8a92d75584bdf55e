package server

import (
	"crypto/rand"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"wirebench/server/answer"
	"wirebench/server/api"
	"wirebench/server/store"
)

// contentPolicy is what a page may load and run; the page of a workspace may more.
const contentPolicy = "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// secured sets the headers that keep a page from doing what it should not: it loads nothing from elsewhere, runs no inline script,
// and stands in no frame.
//
// The referrer policy is not no-referrer: with that a browser sends a form with the origin "null", and where there is no
// Sec-Fetch-Site (plain HTTP, any address but this machine's) the form would be taken for another site's.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// knownHost refuses requests under a name that is not ours: a page elsewhere can make a name of its own lead to this machine.
func (s *Server) knownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
		if len(s.Hosts) > 0 && !slices.Contains(s.Hosts, strings.ToLower(host)) {
			problem(w, http.StatusMisdirectedRequest, "this server is not asked under the name "+host)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bounded limits every request body. The JSON routes have lower limits of their own, told in their error; this one is above them.
// Uploads may be larger.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most := int64(api.MaxBody + 1)
		if r.Method == http.MethodPost && path.Base(r.URL.Path) == "upload" {
			most = api.MaxUpload + 1
		} else if r.Method == http.MethodPost && path.Base(r.URL.Path) == "captures" {
			most = store.MaxCaptureBytes + 1
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		next.ServeHTTP(w, r)
	})
}

// recovered turns a panic into an answer, and logs where it came from.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			e := recover()
			if e == nil {
				return
			}
			if e == http.ErrAbortHandler {
				panic(e)
			}
			id := w.Header().Get(answer.RequestID)
			s.Log.Error("panic", "id", id, "path", r.URL.Path, "value", e, "stack", string(debug.Stack()))
			problem(w, http.StatusInternalServerError, "a mistake of the server; its log says more about request "+id)
		}()
		next.ServeHTTP(w, r)
	})
}

// logged names each request, and writes a line for each that is not about health or files. Addresses are logged without their
// queries, bodies never.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" || r.URL.Path == "/metrics" || strings.HasPrefix(r.URL.Path, "/static/") {
			next.ServeHTTP(w, r)
			return
		}
		start, id := time.Now(), rand.Text()[:10]
		w.Header().Set(answer.RequestID, id)
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			s.metrics.took(r, ww.Status(), time.Since(start))
			s.Log.Info("request", "id", id, "method", r.Method, "path", r.URL.Path, "status", ww.Status(), "bytes", ww.BytesWritten(), "took", time.Since(start).Round(time.Microsecond))
		}()
		next.ServeHTTP(ww, r)
	})
}
