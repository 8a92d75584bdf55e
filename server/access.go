package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"wirebench/templates"
)

// accessCookie holds a value made from the token, not the token itself.
const accessCookie = "wirebench_access"

// RequireToken lets only requests through that carry the token: as a bearer token, or as the cookie that the page at /access
// sets. /healthz tells nothing and stays open, and so do the files that the page at /access is drawn with.
//
// The token is compared in constant time. Guessing it is hopeless: it is meant to be 128 bits or more.
func RequireToken(token string, next http.Handler) http.Handler {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(accessCookie))
	proof := hex.EncodeToString(mac.Sum(nil))
	same := func(a, b string) bool {
		x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return subtle.ConstantTimeCompare(x[:], y[:]) == 1
	}
	return secured(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bearer, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		cookie, err := r.Cookie(accessCookie)
		switch {
		case r.URL.Path == "/healthz" || strings.HasPrefix(r.URL.Path, "/static/"),
			isBearer && same(bearer, token),
			err == nil && same(cookie.Value, proof):
			next.ServeHTTP(w, r)
		case r.URL.Path == "/access" && r.Method == http.MethodPost:
			r.Body = http.MaxBytesReader(w, r.Body, 1<<12)
			if !same(r.PostFormValue("token"), token) {
				accessPage(w, r, "That is not the token.")
				return
			}
			http.SetCookie(w, &http.Cookie{
				Name: accessCookie, Value: proof, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
				Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
			})
			http.Redirect(w, r, localPath(r.PostFormValue("to")), http.StatusSeeOther)
		case strings.HasPrefix(r.URL.Path, "/api"):
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			w.Write([]byte(`{"title":"Unauthorized","status":401,"detail":"send the server's token: Authorization: Bearer TOKEN"}` + "\n"))
		default:
			accessPage(w, r, "")
		}
	}))
}

func accessPage(w http.ResponseWriter, r *http.Request, wrong string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusUnauthorized)
	to := r.URL.RequestURI()
	if r.URL.Path == "/access" {
		to = localPath(r.PostFormValue("to"))
	}
	_ = templates.Access(to, wrong).Render(r.Context(), w)
}

// localPath is where to go after the token was right: a path of this server, whatever the form says.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(to, "\\") {
		return "/"
	}
	return u.RequestURI()
}
