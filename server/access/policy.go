package access

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"wirebench/server/answer"
)

// policy is the minimum role of each operation: a route by method and pattern, a channel or an action of a page by name. HEAD is treated as
// GET.
var policy = map[string]Role{
	"GET /healthz":  Nobody, // discloses nothing
	"GET /static/*": Nobody, // the sign-in page uses these files

	"GET /":                     Viewer,
	"GET /metrics":              Viewer,
	"GET /docs":                 Viewer,
	"GET /docs/{page}":          Viewer,
	"GET /w/{ws}":               Viewer,
	"POST /w/{ws}":              Viewer, // the form of the page; see the actions
	"POST /w/{ws}/settings":     Operator,
	"POST /w/{ws}/upload":       Operator,
	"GET /w/{ws}/captures/{id}": Viewer,
	"GET /ws/{ws}/page":         Viewer,
	"channel page":              Viewer, // see the actions
	"channel pushed":            Viewer,
	"channel frames":            Viewer,

	"action decode":   Viewer, // these change only the page, which is sent back
	"action layout":   Viewer,
	"action paste":    Viewer,
	"action values":   Viewer,
	"action value":    Viewer,
	"action open":     Viewer,
	"action new":      Viewer,
	"action stored":   Viewer,
	"action theirs":   Viewer,
	"action mine":     Viewer,
	"action show":     Viewer,
	"action bytes":    Viewer,
	"action rows":     Viewer,
	"action fold":     Viewer,
	"action order":    Viewer,
	"action pick":     Viewer,
	"action sample":   Viewer,
	"action original": Viewer,
	"action format":   Viewer,
	"action encode":   Viewer,
	"action build":    Viewer,
	"action svg":      Viewer,
	"action text":     Viewer,
	"action emit":     Viewer,
	"action set":      Viewer,
	"action insert":   Viewer,
	"action remove":   Viewer,
	"action copy":     Viewer,
	"action repair":   Viewer,
	"action save":     Operator, // these change files
	"action version":  Operator,
	"action delete":   Operator,
	"action keep":     Operator,
	"action drop":     Operator,

	"GET /ws/{ws}/live":                           Viewer,
	"GET /api/docs":                               Viewer,
	"GET /api/openapi.json":                       Viewer,
	"GET /api/openapi.yaml":                       Viewer,
	"GET /api/openapi-3.0.json":                   Viewer,
	"GET /api/openapi-3.0.yaml":                   Viewer,
	"GET /api/schemas/{schema}":                   Viewer,
	"GET /api/{ws}":                               Viewer,
	"PATCH /api/{ws}":                             Operator,
	"POST /api/{ws}/decode":                       Viewer,
	"POST /api/{ws}/encode":                       Viewer,
	"POST /api/{ws}/layout":                       Viewer,
	"POST /api/{ws}/paste":                        Viewer,
	"POST /api/{ws}/framing":                      Viewer,
	"POST /api/{ws}/filter":                       Viewer,
	"POST /api/{ws}/emit":                         Viewer,
	"POST /api/{ws}/upload":                       Operator,
	"POST /api/{ws}/demo":                         Operator,
	"GET /api/{ws}/definitions":                   Viewer,
	"GET /api/{ws}/definitions/{file}":            Viewer,
	"PUT /api/{ws}/definitions/{file}":            Operator,
	"DELETE /api/{ws}/definitions/{file}":         Operator,
	"POST /api/{ws}/definitions/{file}/versions":  Operator,
	"GET /api/{ws}/definitions/{file}/samples":    Viewer,
	"POST /api/{ws}/definitions/{file}/samples":   Operator,
	"DELETE /api/{ws}/definitions/{file}/samples": Operator,
	"GET /api/{ws}/captures":                      Viewer,
	"POST /api/{ws}/captures":                     Operator,
	"GET /api/{ws}/captures/{id}":                 Viewer,
	"PATCH /api/{ws}/captures/{id}":               Operator,
	"DELETE /api/{ws}/captures/{id}":              Operator,
	"POST /api/{ws}/captures/{id}/append":         Operator,
	"POST /api/{ws}/captures/{id}/copy":           Operator,
	"GET /api/{ws}/captures/{id}/export":          Viewer,
	"GET /api/{ws}/captures/{id}/packets":         Viewer,
	"GET /api/{ws}/captures/{id}/elsewhere":       Viewer,
	"GET /api/{ws}/captures/{id}/frames":          Viewer,
	"GET /api/{ws}/captures/{id}/frames/{n}":      Viewer,
	"GET /api/{ws}/captures/{id}/rows":            Viewer,
	"GET /api/{ws}/captures/{id}/find":            Viewer,
	"GET /api/{ws}/captures/{id}/types":           Viewer,
	"GET /api/{ws}/captures/{id}/timeline":        Viewer,
	"GET /api/{ws}/captures/{id}/map":             Viewer,
	"GET /api/{ws}/captures/{id}/fields":          Viewer,
	"GET /api/{ws}/captures/{id}/compare":         Viewer,
	"POST /api/{ws}/captures/{id}/markers":        Operator,
	"PATCH /api/{ws}/captures/{id}/markers/{at}":  Operator,
	"DELETE /api/{ws}/captures/{id}/markers/{at}": Operator,
	"GET /api/{ws}/captures/{id}/related":         Viewer,
	"POST /api/{ws}/captures/{id}/script":         Viewer,
	"POST /api/{ws}/captures/{id}/replay":         Operator,
	"GET /api/{ws}/replays":                       Viewer,
	"GET /api/{ws}/replays/{id}":                  Viewer,
	"DELETE /api/{ws}/replays/{id}":               Operator,
	"GET /api/{ws}/proxies":                       Viewer,
	"POST /api/{ws}/proxies":                      Operator,
	"DELETE /api/{ws}/proxies":                    Operator,
	"GET /api/{ws}/proxies/{id}":                  Viewer,
	"DELETE /api/{ws}/proxies/{id}":               Operator,
	"POST /api/{ws}/proxies/{id}/operate":         Operator,
	"GET /api/{ws}/proxies/{id}/held":             Viewer,
	"POST /api/{ws}/proxies/{id}/held":            Operator,
	"POST /api/{ws}/proxies/{id}/send":            Operator,
	"GET /api/{ws}/proxies/{id}/rules":            Viewer,
	"PUT /api/{ws}/proxies/{id}/rules":            Operator,
}

// Needs returns the minimum role of an operation. Operations that are not in the table need a role that nobody has.
func Needs(operation string) Role {
	if role, ok := policy[operation]; ok {
		return role
	}
	return closed
}

// open reports whether a path is served without a token.
func open(path string) bool {
	for operation, role := range policy {
		if role != Nobody {
			continue
		}
		_, pattern, _ := strings.Cut(operation, " ")
		if dir, below := strings.CutSuffix(pattern, "*"); path == pattern || below && strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// Permit refuses requests that the table does not allow, before reading the body. It finds the route as the router does. refused is called
// for each refusal.
func Permit(routes chi.Routes, refused func(*http.Request)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch need := needOf(routes, r); {
			case Of(r).Role >= need:
				next.ServeHTTP(w, r)
				return
			case need == closed:
				answer.Problem(w, http.StatusForbidden, r.Method+" "+r.URL.Path+" is not permitted")
			default:
				answer.Problem(w, http.StatusForbidden, "view only: "+r.Method+" "+r.URL.Path+" needs the operator's token")
			}
			refused(r)
		})
	}
}

// needOf returns the minimum role of a request. A path without a route needs an operator unless the method only reads.
func needOf(routes chi.Routes, r *http.Request) Role {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	switch pattern := routes.Find(chi.NewRouteContext(), method, cmp.Or(r.URL.RawPath, r.URL.Path)); {
	case pattern != "":
		return Needs(method + " " + pattern)
	case method == http.MethodGet:
		return Viewer
	}
	return Operator
}
