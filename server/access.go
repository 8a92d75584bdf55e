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

// Tokens let people in. Each is as good as a password: 128 random bits or more.
type Tokens struct {
	Operator string // may do everything
	Viewer   string // may look at everything and change nothing; "" = nobody comes as that
}

// pass is a token that lets people in, as a role.
type pass struct {
	token string
	proof string // what the cookie holds
	role  role
}

func newPass(token string, as role) pass {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(accessCookie))
	return pass{token, hex.EncodeToString(mac.Sum(nil)), as}
}

// passes are those of the tokens that there are: an empty text is no token, and lets nobody in.
func (t Tokens) passes() (all []pass) {
	if t.Operator != "" {
		all = append(all, newPass(t.Operator, operator))
	}
	if t.Viewer != "" {
		all = append(all, newPass(t.Viewer, viewer))
	}
	return all
}

// by finds the pass that a request carries: that of its bearer token, else that of its cookie.
func by(r *http.Request, all []pass) (pass, bool) {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		for _, p := range all {
			if same(bearer, p.token) {
				return p, true
			}
		}
	}
	if cookie, err := r.Cookie(accessCookie); err == nil {
		for _, p := range all {
			if same(cookie.Value, p.proof) {
				return p, true
			}
		}
	}
	return pass{}, false
}

// same compares in constant time, also of texts of different lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// RequireToken lets only requests through that carry one of the tokens: as a bearer token, or as the cookie that the page at /access
// sets. next knows of each request whether a viewer sent it. /healthz tells nothing and stays open, and so do the files that the page
// at /access is drawn with.
func RequireToken(tokens Tokens, next http.Handler) http.Handler {
	all := tokens.passes()
	signIn := ownPages(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { signIn(w, r, all) }))
	return secured(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, known := by(r, all)
		switch {
		case r.URL.Path == "/access" && r.Method == http.MethodPost: // also of somebody known: a viewer may have the other token
			signIn.ServeHTTP(w, r)
		case r.URL.Path == "/access" && known:
			accessPage(w, r, http.StatusOK, "")
		case known:
			next.ServeHTTP(w, asRole(r, p.role))
		case r.URL.Path == "/healthz" || strings.HasPrefix(r.URL.Path, "/static/"):
			next.ServeHTTP(w, asRole(r, viewer))
		case strings.HasPrefix(r.URL.Path, "/api"), r.URL.Path == "/metrics":
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			w.Write([]byte(`{"title":"Unauthorized","status":401,"detail":"send the server's token: Authorization: Bearer TOKEN"}` + "\n"))
		default:
			accessPage(w, r, http.StatusUnauthorized, "")
		}
	}))
}

// signIn sets the cookie for the token of the form.
func signIn(w http.ResponseWriter, r *http.Request, all []pass) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<12)
	token := r.PostFormValue("token")
	for _, p := range all {
		if !same(token, p.token) {
			continue
		}
		http.SetCookie(w, &http.Cookie{
			Name: accessCookie, Value: p.proof, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
			Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
		})
		http.Redirect(w, r, localPath(r.PostFormValue("to")), http.StatusSeeOther)
		return
	}
	accessPage(w, r, http.StatusUnauthorized, "That is not the token.")
}

func accessPage(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	to := r.URL.RequestURI()
	if r.URL.Path == "/access" {
		to = localPath(r.FormValue("to"))
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
