package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"wirebench/server/access"
	"wirebench/server/answer"
	"wirebench/server/api"
	"wirebench/server/supervise"
)

// contentPolicy restricts what pages may load and run; the policy of workspace pages is wider.
const contentPolicy = "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// secured sets security headers: pages load no external resources, run no inline scripts, and cannot be framed.
//
// The referrer policy is not no-referrer: with it browsers send forms with the origin "null", and where there is no Sec-Fetch-Site (plain
// HTTP, except on loopback) such a form would be taken for one of another site.
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

// knows reports whether the host of a request is one of this server.
func (s *Server) knows(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return len(s.Hosts) == 0 || slices.Contains(s.Hosts, strings.ToLower(host))
}

// knownHost refuses requests for unknown host names: an attacker's site can make its own name resolve to this machine.
func (s *Server) knownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.knows(r.Host) {
			problem(w, http.StatusMisdirectedRequest, "unknown host name "+r.Host)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// atBase takes requests of pages at the address of --base-url as requests to that host: the proxy in front may have sent another one, or one
// without the port, and then the origin of the page would look like another site.
func (s *Server) atBase(base *url.URL, next http.Handler) http.Handler {
	origin := strings.ToLower(base.Scheme + "://" + base.Host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.ToLower(r.Header.Get("Origin")) == origin && s.knows(r.Host) {
			r = r.Clone(r.Context())
			r.Host = base.Host
		}
		next.ServeHTTP(w, r)
	})
}

// operation returns the operation of a request, with the parameters of its address; nil if it is none of the API.
func (s *Server) operation(r *http.Request) (*api.Operation, *chi.Context) {
	found := chi.NewRouteContext()
	return s.api.At(r.Method + " " + s.router.Find(found, r.Method, cmp.Or(r.URL.RawPath, r.URL.Path))), found
}

// bounded limits every request body. The JSON routes have lower limits, with errors of their own. Uploads may be larger.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most := int64(api.MaxBody + 1)
		if r.Method == http.MethodPost {
			switch o, _ := s.operation(r); {
			case o != nil && o.Streams && isStream(r):
				next.ServeHTTP(w, r)
				return
			case o != nil:
				most = o.Most
			case path.Base(r.URL.Path) == "upload": // the form of a page
				most = api.MaxUpload + 1
			}
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		next.ServeHTTP(w, r)
	})
}

// recovered turns a panic into an error response, and logs the stack.
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
			s.Log.Error("panic", "id", id, "path", r.URL.Path, "value", supervise.Caught("request", e).Value)
			problem(w, http.StatusInternalServerError, "internal server error; the server log has details for request "+id)
		}()
		next.ServeHTTP(w, r)
	})
}

// statusGone is logged for requests whose client has gone before the answer, as other servers do.
const statusGone = 499

// isProbe reports whether programs ask for a path all the time to see how the server is.
func isProbe(path string) bool {
	return path == "/livez" || path == "/readyz" || path == "/healthz" || path == "/metrics"
}

// logged gives each request an id, and logs it unless it is for health or static files: who has sent it, from where. Addresses are logged without
// queries and without the secrets of invitations; headers and bodies never.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isProbe(r.URL.Path) || strings.HasPrefix(r.URL.Path, "/static/") {
			next.ServeHTTP(w, r)
			return
		}
		start, id := time.Now(), rand.Text()[:10]
		w.Header().Set(answer.RequestID, id)
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		at := &routed{}
		defer func() {
			status := ww.Status()
			if status >= 500 && r.Context().Err() != nil {
				status = statusGone
			}
			took := time.Since(start)
			s.metrics.took(r, at.route, status, took)
			s.Log.Info("request", "id", id, "method", r.Method, "path", loggedPath(r.URL.Path), "status", status, "bytes", ww.BytesWritten(), "took", took.Round(time.Microsecond), "client", hostOf(r.RemoteAddr), "user", at.user)
		}()
		next.ServeHTTP(ww, r.WithContext(context.WithValue(r.Context(), routedKey{}, at)))
	})
}

// routed is what the line of a request has from inside: its route and its user, without those of requests that the door has answered.
type routed struct {
	route string // pattern
	user  string
}

type routedKey struct{}

// told fills in the line of a request.
func (s *Server) told(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := r.Context().Value(routedKey{}).(*routed); ok {
			defer func() { // here: outside of the router, its context may be that of another request
				if ctx := chi.RouteContext(r.Context()); ctx != nil {
					at.route = ctx.RoutePattern()
				}
			}()
			if s.Door != nil {
				at.user = access.Of(r).Who()
			}
		}
		next.ServeHTTP(w, r)
	})
}

// loggedPath returns a path without the secret of an invitation.
func loggedPath(path string) string {
	if strings.HasPrefix(path, "/access/join/") {
		return "/access/join/…"
	}
	return path
}

// hostOf returns an address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
