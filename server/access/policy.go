package access

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"wirebench/server/answer"
)

// Operation is what somebody needs for an operation of the API, which has a row in its table.
type Operation struct {
	Name   string // its route: method and pattern
	Role   Role   // in the project
	All    bool   // the role is needed in all projects
	Stores bool   // it changes something although viewers may do it
	Kinds  Kind   // of credentials that may do it; 0: all
}

// InAll reports whether the role is needed in all projects.
func (o Operation) InAll() bool { return o.All || o.Role == Admin }

// policy is the minimum role of everything else: a route by method and pattern; a channel, its messages, an action of a page, a form of the
// pages below /access, or a part of an operation by name. HEAD is treated as GET. What else these need is in kinds and everywhere.
var policy = map[string]Role{
	"GET /healthz":  Nobody, // discloses nothing, nor do the next
	"GET /livez":    Nobody,
	"GET /readyz":   Nobody,
	"GET /static/*": Nobody, // the sign-in page uses these files

	"GET /access":                Nobody, // to sign in and out
	"POST /access":               Nobody,
	"POST /access/out":           Nobody,
	"POST /access/oidc":          Nobody,
	"GET /access/oidc/back":      Nobody,
	"GET /access/join/{secret}":  Nobody, // the secret admits
	"POST /access/join/{secret}": Nobody,
	"GET /access/me":             Viewer, // one's own account
	"POST /access/me":            Viewer,
	"form me token":              Viewer,
	"form me revoke":             Viewer,
	"form me end":                Viewer,
	"form me password":           Viewer,
	"GET /access/people":         Admin,
	"POST /access/people":        Admin,
	"form people invite":         Admin,
	"form people withdraw":       Admin,
	"form people grant":          Admin,
	"form people signout":        Admin,
	"form people remove":         Admin,
	"GET /access/audit":          Admin,

	"GET /":                                  Viewer,
	"GET /metrics":                           Viewer,
	"GET /docs":                              Viewer,
	"GET /docs/{page}":                       Viewer,
	"GET /p/{project}":                       Viewer,
	"GET /p/{project}/definitions":           Viewer,
	"GET /p/{project}/definitions/{message}": Viewer,
	"GET /p/{project}/definitions.json":      Viewer,
	"POST /p/{project}/definitions":          Viewer, // the form of the page; see the actions
	"POST /p/{project}/settings":             Author,
	"POST /p/{project}/upload":               Author,
	"GET /p/{project}/captures":              Viewer,
	"GET /p/{project}/captures/{id}":         Viewer,
	"GET /p/{project}/capsules/{id}":         Viewer,
	"GET /p/{project}/live":                  Viewer,
	"GET /ws/{project}/page":                 Viewer,
	"channel page":                           Viewer, // see the actions
	"channel pushed":                         Viewer,
	"channel frames":                         Viewer,
	"channel text":                           Viewer, // those who may not change it see it
	"text at":                                Viewer,
	"text look":                              Viewer,
	"text push":                              Author,
	"text merge":                             Author,
	"text name":                              Author,
	"text write":                             Author,
	"text revert":                            Author,

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

	"capture settings": Author,    // a part of PATCH /api/v1/projects/{project}/captures/{id}
	"capture copied":   Author,    // in the target of POST /api/v1/projects/{project}/captures/{id}/copy
	"secret values":    Author,    // the file of a capture that has some, exports and capsules with them
	"tool suggest":     Commenter, // of agents: whether it is there
	"last connections": Operator,  // of the server, when there are too many
	"project name":     Operator,  // its change: names are of the whole server

	"action save":    Author, // these change files
	"action version": Author,
	"action delete":  Author,
	"action keep":    Author,
	"action drop":    Author,

	"GET /api/docs":             Viewer,
	"POST /mcp":                 Viewer, // its tools are requests with the same principal
	"GET /api/openapi.json":     Viewer,
	"GET /api/openapi.yaml":     Viewer,
	"GET /api/openapi-3.0.json": Viewer,
	"GET /api/openapi-3.0.yaml": Viewer,
	"GET /api/schemas/{schema}": Viewer,
	"GET /projects":             Viewer,
	"POST /projects":            Operator,
	"POST /projects/{project}":  Operator,
}

// kinds are the operations that not every kind of credential may do. A token of a program makes no other credentials, of which some would have
// more or last longer, and ends none; its person does, in a browser.
var kinds = map[string]Kind{
	"GET /access/me":       BySession | ByServer,
	"POST /access/me":      BySession | ByServer,
	"form me token":        BySession,
	"form me revoke":       BySession,
	"form me end":          BySession,
	"form me password":     BySession,
	"GET /access/people":   BySession | ByServer,
	"POST /access/people":  BySession | ByServer,
	"form people invite":   BySession | ByServer,
	"form people withdraw": BySession | ByServer,
	"form people grant":    BySession | ByServer,
	"form people signout":  BySession | ByServer,
	"form people remove":   BySession | ByServer,
}

// everywhere are the operations whose role is needed in all projects. For the others without a project, a role in any project is enough: they
// concern what the principal may see. An admin is one everywhere.
var everywhere = map[string]bool{"GET /metrics": true, "POST /projects": true, "project name": true, "last connections": true}

// Needs returns the minimum role of an operation. Operations that are not in the table need a role that nobody has.
func Needs(operation string) Role {
	if role, ok := policy[operation]; ok {
		return role
	}
	return closed
}

// Entries returns the operations of the table, sorted.
func Entries() []string { return slices.Sorted(maps.Keys(policy)) }

// Changes reports whether an operation of the table changes something on the server. What viewers may do does not, even with a body.
func Changes(operation string) bool { return Needs(operation) > Viewer }

// needFor returns what an operation of the table needs in a project, or "".
func needFor(operation, project string) need {
	return need{Operation: Operation{Name: operation, Role: Needs(operation), All: everywhere[operation], Kinds: kinds[operation]}}.in(project)
}

// in returns what is needed in a project, or "".
func (n need) in(project string) need {
	if !n.All {
		n.project, n.named = project, project
	}
	return n
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

// Guard checks what requests need: by Operations, of the API by their routes, or else by the table here. Project returns the name of the project that an address names, which may be an earlier name of it.
// Refused is called for each refusal; Done, if it is set, after each permitted request that has changed something, or failed to.
type Guard struct {
	Operations map[string]Operation
	Project    func(name string) string
	Refused    func(*http.Request)
	Done       func(r *http.Request, operation string, status int)
}

// Permit refuses requests that the table does not allow, before reading the body. It finds the route as the router does.
func (g Guard) Permit(routes chi.Routes) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := g.needOf(routes, r)
			why, have := Of(r).lacks(n), Of(r).role(n)
			switch {
			case why == "":
				w, r, release := g.hold(w, r, n)
				defer release()
				if g.Done == nil || r.Method == http.MethodGet || r.Method == http.MethodHead {
					next.ServeHTTP(w, r)
					return
				}
				ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
				defer func() {
					if n.Stores || n.Role > Viewer || ww.Status() >= http.StatusBadRequest {
						g.Done(r, n.Name, ww.Status())
					}
				}()
				next.ServeHTTP(ww, r)
				return
			case have == Nobody && n.project != "" && n.Role != closed: // as if it did not exist
				answer.Problem(w, http.StatusNotFound, NoProject(n.named))
			default:
				answer.Problem(w, http.StatusForbidden, r.Method+" "+r.URL.Path+" "+why)
			}
			g.Refused(r)
		})
	}
}

// NoProject is the error for a project that does not exist, or that the principal may not see.
func NoProject(name string) string { return "project " + name + " not found" }

// need is what a request needs.
type need struct {
	Operation
	project string // "" if it concerns none
	named   string // the project, as in the address
}

// lacks says why a principal may not do what needs n; "" if it may.
func (p Principal) lacks(n need) string {
	switch have := p.role(n); {
	case n.Role == closed:
		return "is not permitted"
	case have < n.Role && (n.All || n.Role == Admin):
		return fmt.Sprintf("needs the role %s in all projects, and yours is %s", n.Role, have)
	case have < n.Role:
		return fmt.Sprintf("needs the role %s, and yours is %s", n.Role, have)
	case n.Kinds != 0 && p.Kind&n.Kinds == 0:
		return "is for people who have signed in, not for tokens of programs"
	}
	return ""
}

// role returns the role of the principal where a request needs one.
func (p Principal) role(n need) Role {
	switch {
	case n.project != "":
		return p.In(n.project)
	case n.All || n.Role == Admin:
		return p.In("")
	}
	return p.Grants.Any()
}

// needOf returns what a request needs. A path without a route needs an operator unless the method only reads.
func (g Guard) needOf(routes chi.Routes, r *http.Request) need {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	found := chi.NewRouteContext()
	pattern := routes.Find(found, method, cmp.Or(r.URL.RawPath, r.URL.Path))
	if pattern == "" {
		if method == http.MethodGet {
			return need{Operation: Operation{Role: Viewer}}
		}
		return need{Operation: Operation{Role: Operator}}
	}
	n, name := g.needFor(method+" "+pattern), found.URLParam("project")
	if name != "" {
		n.named, n.project = name, name
		if g.Project != nil {
			n.project = g.Project(name)
		}
	}
	return n
}

func (g Guard) needFor(route string) need {
	if o, ok := g.Operations[route]; ok {
		return need{Operation: o}
	}
	return needFor(route, "")
}

// Needs returns the minimum role of a route.
func (g Guard) Needs(route string) Role { return g.needFor(route).Role }
