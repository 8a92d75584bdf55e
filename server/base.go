package server

import (
	"bufio"
	"net"
	"net/http"
	"strings"
)

// below serves a server at a path of its host name, such as /tools/wirebench: a reverse proxy may take the path off or leave it. Redirects get
// the path again.
func below(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.EscapedPath(), base); ok && (rest == "" || rest[0] == '/') {
			x := r.Clone(r.Context())
			if rest == "" { // cookies are for what is below it
				http.Redirect(w, r, base+"/", http.StatusPermanentRedirect)
				return
			}
			if u, err := r.URL.Parse(rest); err == nil {
				x.URL.Path, x.URL.RawPath = u.Path, u.RawPath
			}
			r = x
		}
		next.ServeHTTP(&redirects{ResponseWriter: w, base: base}, r)
	})
}

// redirects puts the path of the server before those of redirects.
type redirects struct {
	http.ResponseWriter
	base string
}

func (w *redirects) WriteHeader(status int) {
	if to := w.Header().Get("Location"); strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") && to != w.base && !strings.HasPrefix(to, w.base+"/") {
		w.Header().Set("Location", w.base+to)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Hijack is for websockets.
func (w *redirects) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Flush is for streams.
func (w *redirects) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (w *redirects) Unwrap() http.ResponseWriter { return w.ResponseWriter }
