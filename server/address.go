package server

import (
	"net/http"
	"net/url"
	"strings"

	"wirebench/server/access"
	"wirebench/templates"
)

// canonical accepts the addresses of earlier versions: pages below /w/ are redirected to /p/, and /api/{ws} is an alias of /api/v1/{ws}.
// Pages at an earlier name of a project are redirected to the current one.
func (s *Server) canonical(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if rest, ok := strings.CutPrefix(path, "/w/"); ok {
			http.Redirect(w, r, s.pageAddress(rest, r.URL.Query()), http.StatusPermanentRedirect)
			return
		}
		if rest, ok := strings.CutPrefix(path, "/p/"); ok {
			name, rest, _ := strings.Cut(rest, "/")
			if found := s.Projects.Find(name); found != nil && found.Name != name && access.Of(r).Sees(found.Name) {
				to := *r.URL
				to.Path, to.RawPath = templates.ProjectPath(found.Name)+"/"+rest, ""
				http.Redirect(w, r, to.String(), http.StatusTemporaryRedirect) // the name may be used anew
				return
			}
		}
		if rest, ok := strings.CutPrefix(path, "/api/"); ok && !reservedAPI(rest) {
			x := r.Clone(r.Context())
			x.URL.Path = "/api/v1/" + strings.TrimPrefix(r.URL.Path, "/api/")
			x.URL.RawPath = "/api/v1/" + rest
			r = x
		}
		next.ServeHTTP(w, r)
	})
}

// reservedAPI reports whether a path below /api/ is not one of a project.
func reservedAPI(rest string) bool {
	first, _, _ := strings.Cut(rest, "/")
	return first == "v1" || first == "docs" || first == "schemas" || strings.HasPrefix(first, "openapi")
}

// pageAddress returns the address of a page that was below /w/.
func (s *Server) pageAddress(rest string, q url.Values) string {
	name, rest, _ := strings.Cut(rest, "/")
	if unescaped, err := url.PathUnescape(name); err == nil {
		name = unescaped
	}
	to := templates.ProjectPath(name, "definitions")
	if rest != "" {
		to = templates.ProjectPath(name) + "/" + rest
	} else if message := q.Get("message"); message != "" {
		to = templates.ProjectPath(name, "definitions", message)
		q.Del("message")
	}
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to
}
