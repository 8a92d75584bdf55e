package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wirebench/server/answer"
	"wirebench/templates"
)

// Cookie is the name of the cookie for a token. Its value is derived from the token, and is not the token itself.
const Cookie = "wirebench_access"

// Tokens are the secrets that grant access: 128 random bits or more each.
type Tokens struct {
	Operator string // for all operations
	Viewer   string // for read-only access; "" disables it
}

// pass is a valid token with its role.
type pass struct {
	token string
	proof string // the value of the cookie, before sealing
	role  Role
}

func newPass(token string, as Role) pass {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(Cookie))
	return pass{token, hex.EncodeToString(mac.Sum(nil)), as}
}

// passes returns the passes of the tokens that are set. An empty token admits nobody.
func (t Tokens) passes() (all []pass) {
	if t.Operator != "" {
		all = append(all, newPass(t.Operator, Operator))
	}
	if t.Viewer != "" {
		all = append(all, newPass(t.Viewer, Viewer))
	}
	return all
}

// byBearer returns the pass of a bearer token.
func byBearer(token string, all []pass) (pass, bool) {
	for _, p := range all {
		if same(token, p.token) {
			return p, true
		}
	}
	return pass{}, false
}

// byCookie returns the pass of a cookie, sealed or not.
func byCookie(value string, all []pass) (pass, bool) {
	proof, _, _ := strings.Cut(value, ".")
	for _, p := range all {
		if same(proof, p.proof) {
			return p, true
		}
	}
	return pass{}, false
}

// same compares texts, also of different lengths, in constant time.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// door authenticates requests.
type door struct {
	all     []pass
	guesses *guesses
	seal    [32]byte // random for each run of the program
}

// sealed returns the value of the cookie for a pass. The proof can be derived from a guessed token, the seal cannot: a cookie with a valid
// seal was issued by this run, and is accepted even while its address has to wait because of other clients there.
func (d *door) sealed(p pass) string {
	mac := hmac.New(sha256.New, d.seal[:])
	mac.Write([]byte(p.proof))
	return p.proof + "." + hex.EncodeToString(mac.Sum(nil))
}

// visit is the result of authenticating a request.
type visit struct {
	pass   pass
	known  bool
	cookie bool          // authenticated by cookie
	old    bool          // the cookie has no seal of this run
	wait   time.Duration // nonzero after too many wrong tokens
}

// look finds the pass of a request: by its bearer token, else by its cookie.
func (d *door) look(r *http.Request) visit {
	bearer, hasBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	cookie := ""
	if c, err := r.Cookie(Cookie); err == nil {
		cookie = c.Value
	}
	if !hasBearer && cookie != "" {
		if p, ok := byCookie(cookie, d.all); ok && same(cookie, d.sealed(p)) {
			return visit{pass: p, known: true, cookie: true}
		}
	}
	var tokens []string
	for _, t := range []string{bearer, cookie} {
		if t != "" {
			tokens = append(tokens, t)
		}
	}
	if len(tokens) == 0 {
		return visit{}
	}
	v := visit{}
	_, v.wait = d.guesses.try(clientOf(r), tokens, func() bool {
		if hasBearer {
			v.pass, v.known = byBearer(bearer, d.all)
		}
		if !v.known && cookie != "" {
			v.pass, v.known = byCookie(cookie, d.all)
			v.cookie, v.old = v.known, v.known && !same(cookie, d.sealed(v.pass))
		}
		return v.known
	})
	return v
}

// Require admits only requests with one of the tokens: as a bearer token, or in the cookie that the page at /access sets. [Of] returns
// their principals. Paths that need no token stay open. Clients that have sent many wrong tokens have to wait. log may be nil.
func Require(tokens Tokens, next http.Handler, log *slog.Logger) http.Handler {
	return newDoor(tokens, log).guard(next)
}

func newDoor(tokens Tokens, log *slog.Logger) *door {
	d := &door{all: tokens.passes(), guesses: newGuesses(log, time.Now)}
	_, _ = rand.Read(d.seal[:]) // never fails
	return d
}

// guard implements Require.
func (d *door) guard(next http.Handler) http.Handler {
	forms := OwnPages(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/access" {
			d.signIn(w, r)
		} else {
			signOut(w, r)
		}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && (r.URL.Path == "/access" || r.URL.Path == "/access/out") {
			forms.ServeHTTP(w, r) // for signed-in users too: a viewer may have the other token
			return
		}
		v := d.look(r)
		if v.old {
			d.setCookie(w, r, v.pass)
		}
		switch {
		case r.URL.Path == "/access" && v.wait == 0 && v.known:
			accessPage(w, r, http.StatusOK, "")
		case v.known:
			next.ServeHTTP(w, As(r, Principal{Role: v.pass.role, SignedIn: v.cookie, Client: clientOf(r)}))
		case open(r.URL.Path):
			next.ServeHTTP(w, As(r, Principal{Client: clientOf(r)}))
		case v.wait > 0:
			tooMany(w, r, v.wait)
		case strings.HasPrefix(r.URL.Path, "/api"), r.URL.Path == "/metrics":
			w.Header().Set("WWW-Authenticate", "Bearer")
			answer.Problem(w, http.StatusUnauthorized, "send the server's token: Authorization: Bearer TOKEN")
		default:
			accessPage(w, r, http.StatusUnauthorized, "")
		}
	})
}

// tooMany answers a request whose client has to wait.
func tooMany(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	seconds := answer.Seconds(wait)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	if strings.HasPrefix(r.URL.Path, "/api") {
		answer.Problem(w, http.StatusTooManyRequests, fmt.Sprintf("too many wrong tokens from your address: try again in %d s", seconds))
		return
	}
	accessPage(w, r, http.StatusTooManyRequests, fmt.Sprintf("Too many wrong tokens from your address. Try again in %d s.", seconds))
}

// signIn sets the cookie for the token in the form.
func (d *door) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<12)
	token := r.PostFormValue("token")
	if token == "" {
		accessPage(w, r, http.StatusUnauthorized, "Wrong token.")
		return
	}
	var p pass
	ok, wait := d.guesses.try(clientOf(r), []string{token}, func() (ok bool) {
		p, ok = byBearer(token, d.all)
		return ok
	})
	switch {
	case ok:
		d.setCookie(w, r, p)
		http.Redirect(w, r, localPath(r.PostFormValue("to")), http.StatusSeeOther)
	case wait > 0:
		tooMany(w, r, wait)
	default:
		accessPage(w, r, http.StatusUnauthorized, "Wrong token.")
	}
}

func (d *door) setCookie(w http.ResponseWriter, r *http.Request, p pass) {
	http.SetCookie(w, cookieOf(r, d.sealed(p)))
}

func cookieOf(r *http.Request, value string) *http.Cookie {
	return &http.Cookie{
		Name: Cookie, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}

// signOut deletes the cookie.
func signOut(w http.ResponseWriter, r *http.Request) {
	gone := cookieOf(r, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	http.Redirect(w, r, "/access", http.StatusSeeOther)
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

// localPath returns the path to redirect to after signing in. It is always a path of this server, whatever the form contains.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(to, "\\") {
		return "/"
	}
	return u.RequestURI()
}
