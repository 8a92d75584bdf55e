package access

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"wirebench/server/answer"
)

// Role is the set of operations that a principal may do. A higher role includes all lower ones.
type Role int

// Roles. Where no token is required every client is an operator.
const (
	Nobody   Role = iota // without a token
	Viewer               // may read everything and change nothing
	Operator             // may do everything
	closed               // needed by operations that are not in the table; nobody has it
)

func (x Role) String() string { return [...]string{"nobody", "viewer", "operator", "closed"}[x] }

// Principal is the originator of a request.
type Principal struct {
	Role     Role
	SignedIn bool   // by a cookie, which can be removed
	Client   string // the address, or its network for IPv6; limits per client use it
}

// May reports whether the principal may do an operation; see [Needs].
func (p Principal) May(operation string) bool { return p.Role >= Needs(operation) }

type principalKey struct{}

// As returns the request with a principal.
func As(r *http.Request, p Principal) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), principalKey{}, p))
}

// Of returns the principal of a request. A request that did not pass through [Require] has an operator.
func Of(r *http.Request) Principal {
	if p, ok := r.Context().Value(principalKey{}).(Principal); ok {
		return p
	}
	return Principal{Role: Operator, Client: clientOf(r)}
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
	fields := []any{"client", Of(r).Role.String() + " " + hostOf(r), "method", r.Method, "path", r.URL.Path}
	if what != "" {
		fields = append(fields, "what", what)
	}
	log.Warn("refused", fields...)
}
