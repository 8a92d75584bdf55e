package server

import (
	"net/http"
	"net/url"
	"strings"

	"wirebench/server/access"
	"wirebench/server/projects"
	"wirebench/templates"
)

// canonical accepts the addresses of earlier versions: pages below /w/ are redirected to /p/, and operations have aliases; see operationAddress.
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
		if to := operationAddress(r.Method, path); to != path {
			x := r.Clone(r.Context())
			x.URL.Path, x.URL.RawPath = unescaped(to), to
			r = x
		}
		next.ServeHTTP(w, r)
	})
}

// operationAddress returns the address of an operation, /api/v1/projects/{project}/…, for one that earlier versions had:
//
//	/api/v1/{project}/…         of a project
//	/api/v1/{project}           its settings
//	/api/v1/{project}/settings  its settings in force
//	/api/…                      any of these and of the current ones, without v1
//
// Other addresses stay as they are. All are escaped.
func operationAddress(method, path string) string {
	rest, ok := strings.CutPrefix(path, "/api/")
	if !ok || rest == "v1" {
		return path
	}
	rest, versioned := strings.CutPrefix(rest, "v1/")
	name, below, deep := strings.Cut(rest, "/")
	switch {
	case name == "", !versioned && (name == "docs" || name == "schemas" || strings.HasPrefix(name, "openapi")):
		return path
	case name == "projects", deep && name == "access", method == http.MethodPost && !deep && projects.Short(name):
		return "/api/v1/" + rest
	case !deep:
		rest += "/settings"
	case below == "settings":
		rest += "/in-force"
	}
	return "/api/v1/projects/" + rest
}

// unescaped returns a part of an address that is escaped. Wrong escapes do not get here: the address was parsed.
func unescaped(part string) string {
	if text, err := url.PathUnescape(part); err == nil {
		return text
	}
	return part
}

// pageAddress returns the address of a page that was below /w/.
func (s *Server) pageAddress(rest string, q url.Values) string {
	name, rest, _ := strings.Cut(rest, "/")
	name = unescaped(name)
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
