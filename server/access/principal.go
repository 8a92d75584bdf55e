package access

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"wirebench/server/answer"
)

// Role is what a principal may do. A higher role may do everything that a lower one may.
type Role int

// Roles. Where no token is asked for everybody is an operator.
const (
	Nobody   Role = iota // has shown no token
	Viewer               // looks at everything, and changes nothing
	Operator             // does everything
	closed               // needed by what is not in the table; nobody has it
)

func (x Role) String() string { return [...]string{"nobody", "viewer", "operator", "closed"}[x] }

// Principal is who makes a request.
type Principal struct {
	Role     Role
	SignedIn bool   // by a cookie, which can be taken away
	Client   string // the address, or for IPv6 its network: what limits for each client go by
}

// May reports whether the principal may do an operation; see [Needs].
func (p Principal) May(operation string) bool { return p.Role >= Needs(operation) }

type principalKey struct{}

// As returns the request as one of a principal.
func As(r *http.Request, p Principal) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), principalKey{}, p))
}

// Of returns who makes a request. A request that has not come through [Require] is an operator's.
func Of(r *http.Request) Principal {
	if p, ok := r.Context().Value(principalKey{}).(Principal); ok {
		return p
	}
	return Principal{Role: Operator, Client: clientOf(r)}
}

// clientOf is the address that a request comes from. Whoever has one address of IPv6 has all of its network.
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

// OwnPages refuses what pages of other sites make a browser send.
func OwnPages(next http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer.Problem(w, http.StatusForbidden, "a page of another site asked for this")
	}))
	return p.Handler(next)
}

// LogRefusal logs who was refused what; what is "" where method and path say it.
func LogRefusal(log *slog.Logger, r *http.Request, what string) {
	fields := []any{"who", Of(r).Role.String() + " " + hostOf(r), "method", r.Method, "path", r.URL.Path}
	if what != "" {
		fields = append(fields, "what", what)
	}
	log.Warn("refused", fields...)
}
