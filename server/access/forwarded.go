package access

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

type secureKey struct{}

// Secure reports whether the client uses TLS, to the server itself or to a trusted proxy before it.
func Secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	secure, _ := r.Context().Value(secureKey{}).(bool)
	return secure
}

// Forwarded takes the address of the client, and whether it uses TLS, from the headers of trusted proxies: X-Forwarded-For, of which the last
// address that is no trusted proxy counts, and X-Forwarded-Proto. The headers of others are not believed.
func Forwarded(trusted []netip.Prefix, next http.Handler) http.Handler {
	if len(trusted) == 0 {
		return next
	}
	is := func(text string) (netip.Addr, bool) {
		ip, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return ip, false
		}
		ip = ip.Unmap().WithZone("")
		for _, p := range trusted {
			if p.Contains(ip) {
				return ip, true
			}
		}
		return ip, false
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, port, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			next.ServeHTTP(w, r)
			return
		}
		if _, ok := is(host); !ok {
			next.ServeHTTP(w, r)
			return
		}
		x := r.WithContext(context.WithValue(r.Context(), secureKey{}, strings.EqualFold(lastOfList(r.Header["X-Forwarded-Proto"]), "https")))
		list := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
		for i := len(list) - 1; i >= 0; i-- {
			ip, ok := is(list[i])
			if !ip.IsValid() {
				break // whatever is before it cannot be trusted
			}
			x.RemoteAddr = net.JoinHostPort(ip.String(), port)
			if !ok {
				break
			}
		}
		next.ServeHTTP(w, x)
	})
}

// lastOfList returns the last element of a header with a list: the one of the nearest proxy.
func lastOfList(values []string) string {
	all := strings.Split(strings.Join(values, ","), ",")
	return strings.TrimSpace(all[len(all)-1])
}
