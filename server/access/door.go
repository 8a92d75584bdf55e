package access

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"wirebench/server/answer"
	"wirebench/static"
	"wirebench/templates"
)

// Config configures a Door.
type Config struct {
	Tokens   Tokens
	Accounts *Accounts // nil: only Tokens
	Audit    *Audit
	Log      *slog.Logger
	Port     string                   // of the server: browsers send cookies to all ports of a host, so each server has a name of its own
	Base     *url.URL                 // address of the server for clients; nil: that of each request
	OIDC     *OIDC                    // nil: people sign in by password or token
	Proxied  bool                     // trusted proxies pass the requests of others
	Projects func(Principal) []string // names of the projects that somebody sees
}

// Door admits the requests that carry a session or a token, and gives each its [Principal].
type Door struct {
	Config
	guesses *guesses
	pages   chi.Router
}

// NewDoor returns a door.
func NewDoor(c Config) *Door {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Accounts == nil {
		c.Accounts, _ = OpenAccounts(&Memory{}) // it never fails
	}
	c.Accounts.Fix(c.Tokens.fixed())
	if c.OIDC != nil {
		roles := c.OIDC.Roles
		roles.Issuer = c.OIDC.Issuer
		c.Accounts.SetProviderRoles(roles)
	}
	d := &Door{Config: c, guesses: newGuesses(c.Log)}
	d.pages = d.routes()
	return d
}

// Guesses counts attempts to sign in, and tokens.
type Guesses struct {
	Wrong   int64 // with a wrong password or token
	Delayed int64 // that had to wait
	Refused int64 // that were not tried, as too many waited
}

// Guesses returns the counts since the start.
func (d *Door) Guesses() Guesses {
	d.guesses.mu.Lock()
	defer d.guesses.mu.Unlock()
	return Guesses{d.guesses.wrong, d.guesses.delayed, d.guesses.refused}
}

// Pages returns the routes below /access.
func (d *Door) Pages() chi.Routes { return d.pages }

// Guarded reports whether nobody is admitted without a token or an account. Only a server that is for this machine alone in every respect is
// open: local says that it listens there only.
func (d *Door) Guarded(local bool) bool {
	return !local || d.Proxied || d.Base != nil || d.Tokens != (Tokens{}) || d.OIDC != nil || d.Accounts.Had()
}

// Cookie returns the name of the cookie of sessions.
func (d *Door) Cookie() string { return CookieName(d.Port) }

// CookieName returns the name of the cookie of a server on a port.
func CookieName(port string) string {
	if port == "" {
		return "wirebench_session"
	}
	return "wirebench_session_" + port
}

// Guard returns the handler that admits requests: with a bearer token, or the cookie of a session. [Of] returns their principals. Paths that
// need no token stay open. It also serves the pages below /access.
func (d *Door) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok, wait := d.look(r)
		p.Client = clientOf(r)
		in := As(r, p)
		switch {
		case r.URL.Path == "/access" || strings.HasPrefix(r.URL.Path, "/access/"):
			d.pages.ServeHTTP(w, in)
		case ok && p.Grants.Any() == Nobody && !open(r.URL.Path) && !strings.HasPrefix(r.URL.Path, "/api"):
			d.signInPage(w, in, http.StatusForbidden, "You are signed in as "+p.Who()+", and have no role here yet: ask an admin for one.")
		case ok, open(r.URL.Path):
			next.ServeHTTP(w, in)
		case wait > 0:
			tooMany(w, r, wait)
		case strings.HasPrefix(r.URL.Path, "/api"), r.URL.Path == "/metrics", r.URL.Path == "/mcp":
			w.Header().Set("WWW-Authenticate", "Bearer")
			answer.Problem(w, http.StatusUnauthorized, "send a token: Authorization: Bearer TOKEN")
		default:
			d.signInPage(w, r, http.StatusUnauthorized, "")
		}
	})
}

// look finds the principal of a request: by its bearer token, else by its session.
func (d *Door) look(r *http.Request) (p Principal, ok bool, wait time.Duration) {
	if token, has := bearer(r); has {
		return d.byToken(r, token)
	}
	if c, err := r.Cookie(d.Cookie()); err == nil {
		if p, ok = d.Accounts.principal(c.Value); ok && p.SignedIn {
			return p, true, 0
		}
	}
	return Principal{}, false, 0
}

// bearer returns the token of a request. The scheme is case-insensitive (RFC 9110).
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}

// byToken returns the principal of a token. Tokens of the command line may have been chosen by people, so guesses are slowed down.
func (d *Door) byToken(r *http.Request, token string) (p Principal, ok bool, wait time.Duration) {
	if strings.HasPrefix(token, "wb_") {
		p, ok = d.Accounts.principal(token)
		return p, ok && !p.SignedIn, 0
	}
	from := clientOf(r)
	ok, wait = d.guesses.try(from, []string{from}, func() bool {
		p, ok = d.Accounts.principal(token)
		return ok && !p.SignedIn
	})
	return p, ok, wait
}

// tooMany answers a request whose client has to wait.
func tooMany(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	seconds := answer.Seconds(wait)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	answer.Problem(w, http.StatusTooManyRequests, fmt.Sprintf("too many wrong tokens from your address: try again in %d s", seconds))
}

// setSession sets the cookie of a session.
func (d *Door) setSession(w http.ResponseWriter, r *http.Request, secret string) {
	c := d.cookie(r, secret)
	c.MaxAge = int(sessionMost / time.Second) // the server ends it earlier when it is not used
	http.SetCookie(w, c)
}

func (d *Door) cookie(r *http.Request, value string) *http.Cookie {
	return &http.Cookie{Name: d.Cookie(), Value: value, Path: static.Base() + "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: Secure(r) || d.Base != nil && d.Base.Scheme == "https"}
}

// Changed adds a request that has changed something, or failed to, to the audit log.
func (d *Door) Changed(r *http.Request, operation string, status int) {
	result := ""
	switch {
	case status == http.StatusForbidden:
		result = "refused"
	case status >= 400:
		result = strconv.Itoa(status)
	}
	d.log(r, Of(r), operation, r.URL.Path, result)
}

// Refused adds a refused request to the audit log.
func (d *Door) Refused(r *http.Request) {
	d.log(r, Of(r), r.Method+" "+brief(r.URL.Path, maxAuditField), "", "refused")
}

// log adds an event of a request to the audit log.
func (d *Door) log(r *http.Request, p Principal, what, on, result string) {
	d.Audit.Add(Event{Who: p.Who(), ID: p.ID, From: clientOf(r), What: what, On: on, Result: result})
}

func (d *Door) render(w http.ResponseWriter, r *http.Request, status int, page templates.AccessPage) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = templates.Access(page).Render(r.Context(), w)
}

// localPath returns the path to redirect to after signing in. It is always a path of this server, whatever the form contains.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.Contains(to, "\\") {
		return "/"
	}
	return u.RequestURI()
}
