package access

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"wirebench/server/answer"
)

// Role is the set of operations that a principal may do. A higher role includes all lower ones.
type Role int

// Roles. Where no token is required every client is an admin.
const (
	Nobody    Role = iota // without an account
	Viewer                // may read everything and change nothing
	Commenter             // may also mark frames and write notes
	Author                // may also change definitions, captures and settings
	Operator              // may also start listeners, and hold, change and send messages
	Admin                 // may do everything, and decides who may do what
	closed                // needed by operations that are not in the table; nobody has it
)

var roleNames = [...]string{"nobody", "viewer", "commenter", "author", "operator", "admin", "closed"}

func (x Role) String() string { return roleNames[x] }

// RoleNames are the roles that can be granted, the lowest first.
func RoleNames() []string { return roleNames[Viewer : Admin+1] }

// ParseRole returns a role that can be granted.
func ParseRole(name string) (Role, bool) {
	for r := Viewer; r <= Admin; r++ {
		if roleNames[r] == name {
			return r, true
		}
	}
	return Nobody, false
}

// Everywhere is the key of Grants for all projects.
const Everywhere = "*"

// Grants are roles by project, or [Everywhere]. Admin is only granted everywhere.
type Grants map[string]Role

// In returns the role in a project; for "" the role in all projects.
func (g Grants) In(project string) Role {
	if project == "" {
		return g[Everywhere]
	}
	return max(g[Everywhere], g[project])
}

// Any returns the highest role in any project.
func (g Grants) Any() (most Role) {
	for _, r := range g {
		most = max(most, r)
	}
	return most
}

// with returns the grants of either.
func (g Grants) with(more Grants) Grants {
	out := Grants{}
	for _, of := range []Grants{g, more} {
		for project, r := range of {
			out[project] = max(out[project], r)
		}
	}
	return out
}

// within returns the grants that both have.
func (g Grants) within(limit Grants) Grants {
	out := Grants{}
	for _, of := range []Grants{g, limit} {
		for project := range of {
			if r := min(g.In(only(project)), limit.In(only(project))); r > Nobody {
				out[project] = r
			}
		}
	}
	return out
}

func only(project string) string {
	if project == Everywhere {
		return ""
	}
	return project
}

// Kind is the kind of a credential. A set of kinds is their sum.
type Kind uint8

// Kinds.
const (
	BySession Kind = 1 << iota // a browser in which a person has signed in
	ByProgram                  // a token that a person has made
	ByServer                   // a token of the command line or the first start, or a session begun with it
)

// Principal is the originator of a request.
type Principal struct {
	Kind Kind

	ID       string // of the account, "" for a token of the command line and without accounts
	Name     string // for people
	Grants   Grants
	SignedIn bool   // by a session, which can be ended
	Client   string // the address, or its network for IPv6; limits per client use it

	session string                          // id of the session, "" without one
	maker   string                          // says by whom an invitation was made; see Accounts.invited
	until   time.Time                       // end of the credential; zero: none
	current func() (grants Grants, ok bool) // the grants of now; ok is false once access has been revoked; nil: they never change
	watches *watches                        // are told when current may have changed
}

// Key identifies the person for limits: the account, or else the address of the client.
func (p Principal) Key() string {
	if p.ID != "" {
		return "account " + p.ID
	}
	return p.Client
}

// In returns the role in a project; for "" the role in all projects.
func (p Principal) In(project string) Role { return p.Grants.In(project) }

// Sees reports whether the principal may read a project.
func (p Principal) Sees(project string) bool { return p.In(project) >= Viewer }

// May reports whether the principal may do an operation in a project; see [Needs].
func (p Principal) May(operation, project string) bool {
	return p.lacks(needFor(operation, project)) == ""
}

// MayNow is May for connections that last: it is false once the credential has ended.
func (p Principal) MayNow(operation, project string) bool {
	now, ok := p.Now()
	return ok && now.May(operation, project)
}

// Refusal says why the principal may not do an operation in a project, and names the role; "" if it may.
func (p Principal) Refusal(operation, project string) string {
	return p.lacks(needFor(operation, project))
}

// Lacks says why the principal may not do an operation of the API in a project, and names the role; "" if it may.
func (p Principal) Lacks(o Operation, project string) string {
	return p.lacks(need{Operation: o}.in(project))
}

// Now returns the principal with the grants of now, for connections that last. ok is false once its access has been revoked.
func (p Principal) Now() (_ Principal, ok bool) {
	if p.current == nil {
		return p, true
	}
	p.Grants, ok = p.current()
	return p, ok
}

type principalKey struct{}

// As returns the request with a principal.
func As(r *http.Request, p Principal) *http.Request {
	return r.WithContext(With(r.Context(), p))
}

// With returns a context of requests of a principal.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Everybody returns the handler of a server without a door, where each request that has no principal yet gets an admin.
func Everybody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Context().Value(principalKey{}).(Principal); !ok {
			r = As(r, Principal{Kind: ByServer, Grants: Grants{Everywhere: Admin}, Client: clientOf(r)})
		}
		next.ServeHTTP(w, r)
	})
}

// Of returns the principal of a request; nobody if it passed neither a [Door] nor [Everybody].
func Of(r *http.Request) Principal { return From(r.Context()) }

// From is Of the request of a context.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// clientOf returns the address of the client, or its /64 network for IPv6, whose addresses all belong to one client.
func clientOf(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return hostOf(r)
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		if net, err := ip.Prefix(64); err == nil {
			return net.String()
		}
	}
	return ip.String()
}

func hostOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

// OwnPages refuses requests that pages of other sites make a browser send.
func OwnPages(next http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer.Problem(w, http.StatusForbidden, "request from a page of another site")
	}))
	return p.Handler(next)
}

// LogRefusal logs a refused request. what is "" if method and path describe the operation.
func LogRefusal(log *slog.Logger, r *http.Request, what string) {
	fields := []any{"client", Of(r).Grants.Any().String() + " " + hostOf(r), "method", brief(r.Method, maxAuditField), "path", brief(r.URL.Path, maxAuditField)}
	if name := Of(r).Name; name != "" {
		fields = append(fields, "who", name)
	}
	if what != "" {
		fields = append(fields, "what", what)
	}
	log.Warn("refused", fields...)
}

// who names the principal in logs.
func (p Principal) Who() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Grants.Any().String()
}
