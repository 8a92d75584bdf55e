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

	"GET /":                             Viewer,
	"GET /metrics":                      Viewer,
	"GET /docs":                         Viewer,
	"GET /docs/{page}":                  Viewer,
	"GET /p/{ws}":                       Viewer,
	"GET /p/{ws}/definitions":           Viewer,
	"GET /p/{ws}/definitions/{message}": Viewer,
	"POST /p/{ws}/definitions":          Viewer, // the form of the page; see the actions
	"POST /p/{ws}/settings":             Operator,
	"POST /p/{ws}/upload":               Operator,
	"GET /p/{ws}/captures":              Viewer,
	"GET /p/{ws}/captures/{id}":         Viewer,
	"GET /p/{ws}/live":                  Viewer,
	"GET /ws/{ws}/page":                 Viewer,
	"channel page":                      Viewer, // see the actions
	"channel pushed":                    Viewer,
	"channel frames":                    Viewer,

	"action decode":   Viewer, // these change only the page, which is sent back
	"action layout":   Viewer,
	"action paste":    Viewer,
	"action values":   Viewer,
	"action value":    Viewer,
	"action types":    Viewer,
	"action find":     Viewer,
	"action form":     Viewer,
	"action fill":     Viewer,
	"action case":     Viewer,
	"action up":       Viewer,
	"action down":     Viewer,
	"action begin":    Viewer,
	"action define":   Viewer,
	"action split":    Viewer,
	"action rename":   Viewer,
	"action erase":    Viewer,
	"action open":     Viewer,
	"action new":      Viewer,
	"action stored":   Viewer,
	"action theirs":   Viewer,
	"action mine":     Viewer,
	"action show":     Viewer,
	"action bytes":    Viewer,
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

	"GET /ws/{ws}/live":                              Viewer,
	"GET /api/docs":                                  Viewer,
	"GET /api/openapi.json":                          Viewer,
	"GET /api/openapi.yaml":                          Viewer,
	"GET /api/openapi-3.0.json":                      Viewer,
	"GET /api/openapi-3.0.yaml":                      Viewer,
	"GET /api/schemas/{schema}":                      Viewer,
	"GET /projects":                                  Viewer,
	"POST /projects":                                 Operator,
	"POST /projects/{project}":                       Operator,
	"GET /api/v1/projects":                           Viewer,
	"POST /api/v1/projects":                          Operator,
	"GET /api/v1/projects/{project}":                 Viewer,
	"PATCH /api/v1/projects/{project}":               Operator,
	"DELETE /api/v1/projects/{project}":              Operator,
	"GET /api/v1/{ws}":                               Viewer,
	"PATCH /api/v1/{ws}":                             Operator,
	"GET /api/v1/{ws}/settings":                      Viewer,
	"POST /api/v1/{ws}/decode":                       Viewer,
	"POST /api/v1/{ws}/encode":                       Viewer,
	"POST /api/v1/{ws}/layout":                       Viewer,
	"POST /api/v1/{ws}/paste":                        Viewer,
	"POST /api/v1/{ws}/framing":                      Viewer,
	"POST /api/v1/{ws}/filter":                       Viewer,
	"POST /api/v1/{ws}/emit":                         Viewer,
	"POST /api/v1/{ws}/codes":                        Operator,
	"PUT /api/v1/{ws}/codes":                         Operator,
	"GET /api/v1/{ws}/changes":                       Viewer,
	"POST /api/v1/{ws}/changes/{id}/undo":            Operator,
	"POST /api/v1/{ws}/changes/{id}/redo":            Operator,
	"POST /api/v1/{ws}/upload":                       Operator,
	"POST /api/v1/{ws}/demo":                         Operator,
	"GET /api/v1/{ws}/search":                        Viewer,
	"GET /api/v1/{ws}/definitions":                   Viewer,
	"GET /api/v1/{ws}/definitions/{file}":            Viewer,
	"PUT /api/v1/{ws}/definitions/{file}":            Operator,
	"DELETE /api/v1/{ws}/definitions/{file}":         Operator,
	"POST /api/v1/{ws}/definitions/{file}/versions":  Operator,
	"POST /api/v1/{ws}/definitions/{file}/copy":      Operator,
	"GET /api/v1/{ws}/definitions.zip":               Viewer,
	"POST /api/v1/{ws}/compare":                      Viewer,
	"POST /api/v1/{ws}/rename":                       Operator,
	"GET /api/v1/{ws}/definitions/{file}/samples":    Viewer,
	"POST /api/v1/{ws}/definitions/{file}/samples":   Operator,
	"DELETE /api/v1/{ws}/definitions/{file}/samples": Operator,
	"GET /api/v1/{ws}/captures":                      Viewer,
	"POST /api/v1/{ws}/captures":                     Operator,
	"GET /api/v1/{ws}/captures/{id}":                 Viewer,
	"PATCH /api/v1/{ws}/captures/{id}":               Operator,
	"DELETE /api/v1/{ws}/captures/{id}":              Operator,
	"POST /api/v1/{ws}/captures/{id}/append":         Operator,
	"POST /api/v1/{ws}/captures/{id}/copy":           Operator,
	"GET /api/v1/{ws}/captures/{id}/export":          Viewer,
	"GET /api/v1/{ws}/captures/{id}/packets":         Viewer,
	"GET /api/v1/{ws}/captures/{id}/elsewhere":       Viewer,
	"GET /api/v1/{ws}/captures/{id}/settings":        Viewer,
	"GET /api/v1/{ws}/captures/{id}/proposals":       Viewer,
	"GET /api/v1/{ws}/captures/{id}/frames":          Viewer,
	"GET /api/v1/{ws}/captures/{id}/frames/{n}":      Viewer,
	"GET /api/v1/{ws}/captures/{id}/rows":            Viewer,
	"GET /api/v1/{ws}/captures/{id}/find":            Viewer,
	"GET /api/v1/{ws}/captures/{id}/types":           Viewer,
	"GET /api/v1/{ws}/captures/{id}/timeline":        Viewer,
	"GET /api/v1/{ws}/captures/{id}/problems":        Viewer,
	"GET /api/v1/{ws}/captures/{id}/connections":     Viewer,
	"GET /api/v1/{ws}/captures/{id}/graph":           Viewer,
	"GET /api/v1/{ws}/captures/{id}/follow":          Viewer,
	"GET /api/v1/{ws}/captures/{id}/map":             Viewer,
	"GET /api/v1/{ws}/captures/{id}/fields":          Viewer,
	"GET /api/v1/{ws}/captures/{id}/compare":         Viewer,
	"POST /api/v1/{ws}/captures/{id}/markers":        Operator,
	"PATCH /api/v1/{ws}/captures/{id}/markers/{at}":  Operator,
	"DELETE /api/v1/{ws}/captures/{id}/markers/{at}": Operator,
	"GET /api/v1/{ws}/captures/{id}/related":         Viewer,
	"POST /api/v1/{ws}/captures/{id}/script":         Viewer,
	"POST /api/v1/{ws}/captures/{id}/replay":         Operator,
	"GET /api/v1/{ws}/replays":                       Viewer,
	"GET /api/v1/{ws}/replays/{id}":                  Viewer,
	"DELETE /api/v1/{ws}/replays/{id}":               Operator,
	"GET /api/v1/{ws}/proxies":                       Viewer,
	"POST /api/v1/{ws}/proxies":                      Operator,
	"DELETE /api/v1/{ws}/proxies":                    Operator,
	"GET /api/v1/{ws}/proxies/{id}":                  Viewer,
	"DELETE /api/v1/{ws}/proxies/{id}":               Operator,
	"POST /api/v1/{ws}/proxies/{id}/operate":         Operator,
	"GET /api/v1/{ws}/proxies/{id}/held":             Viewer,
	"POST /api/v1/{ws}/proxies/{id}/held":            Operator,
	"POST /api/v1/{ws}/proxies/{id}/send":            Operator,
	"GET /api/v1/{ws}/proxies/{id}/rules":            Viewer,
	"PUT /api/v1/{ws}/proxies/{id}/rules":            Operator,
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
