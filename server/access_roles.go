package server

import (
	"cmp"
	"context"
	"net"
	"net/http"

	"github.com/go-chi/chi/v5"
)

// role is what somebody may do here.
type role int

const (
	operator role = iota // everything; where no token is asked for everybody is one
	viewer               // look at everything, and change nothing
)

func (x role) String() string {
	if x == viewer {
		return "viewer"
	}
	return "operator"
}

type roleKey struct{}

// asRole is a request of somebody of a role.
func asRole(r *http.Request, x role) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), roleKey{}, x))
}

func roleOf(r *http.Request) role {
	x, _ := r.Context().Value(roleKey{}).(role)
	return x
}

type cookieKey struct{}

// asVisitor is a request of somebody who carries a token.
func asVisitor(r *http.Request, v visit) *http.Request {
	return asRole(r.WithContext(context.WithValue(r.Context(), cookieKey{}, v.cookie)), v.pass.role)
}

// signedIn reports whether a request came with a cookie that can be taken away.
func signedIn(r *http.Request) bool {
	x, _ := r.Context().Value(cookieKey{}).(bool)
	return x
}

func isViewer(r *http.Request) bool { return roleOf(r) == viewer }

// looking are the routes that take a POST and change nothing on the server. What is not in this list is not for viewers, so that a new
// route is refused until somebody has thought about it.
var looking = map[string]bool{
	"/api/{ws}/decode":               true,
	"/api/{ws}/encode":               true,
	"/api/{ws}/layout":               true,
	"/api/{ws}/paste":                true,
	"/api/{ws}/framing":              true,
	"/api/{ws}/filter":               true,
	"/api/{ws}/emit":                 true,
	"/api/{ws}/captures/{id}/script": true,
	"/w/{ws}":                        true, // the page's form; pageWork.act refuses what stores something
}

// viewersOnlyLook refuses what viewers may not do, before anything of the body is read. It finds the route as the router will.
func (s *Server) viewersOnlyLook(routes chi.Routes) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isViewer(r) && !looks(routes, r) {
				s.logRefusal(r, "")
				problem(w, http.StatusForbidden, "you may look only: "+r.Method+" "+r.URL.Path+" needs the operator's token")
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// looks reports whether a request changes nothing.
func looks(routes chi.Routes, r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodPost:
		return looking[routes.Find(chi.NewRouteContext(), r.Method, cmp.Or(r.URL.RawPath, r.URL.Path))]
	}
	return false
}

// logRefusal says who was refused what; what is "" where method and path say it.
func (s *Server) logRefusal(r *http.Request, what string) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	who := roleOf(r).String() + " " + host
	if what == "" {
		s.Log.Warn("refused", "who", who, "method", r.Method, "path", r.URL.Path)
		return
	}
	s.Log.Warn("refused", "who", who, "method", r.Method, "path", r.URL.Path, "what", what)
}
