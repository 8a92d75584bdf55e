package access

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

var testTokens = Tokens{Admin: "all", Viewer: "look"}

func carrying(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// entrance is a door before a handler that says who came in.
type entrance struct {
	*testing.T
	*Door
	h http.Handler
}

func newEntrance(t *testing.T, c Config) entrance {
	d := NewDoor(c)
	d.guesses.sleep = func(time.Duration) {}
	d.Projects = func(Principal) []string { return []string{"one", "two"} }
	inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "inside as "+Of(r).Grants.String()) })
	return entrance{t, d, d.Guard(inside)}
}

func (e entrance) ask(method, target string, form url.Values, header http.Header, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	if header != nil {
		r.Header = header.Clone()
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	e.h.ServeHTTP(w, r)
	return w
}

// signIn signs in by a form, and returns the cookie.
func (e entrance) signIn(form url.Values, have ...*http.Cookie) *http.Cookie {
	e.Helper()
	form.Set("to", "/p/x/definitions?a=1")
	w := e.ask("POST", "/access", form, nil, have...)
	if w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 || w.Header().Get("Location") != "/p/x/definitions?a=1" {
		e.Fatalf("%v: %d %v %s", form, w.Code, w.Header(), w.Body)
	}
	return w.Result().Cookies()[0]
}

func TestDoor(t *testing.T) {
	e := newEntrance(t, Config{Tokens: testTokens, Port: "8080"})
	looks := e.signIn(url.Values{"token": {"look"}})
	all := e.signIn(url.Values{"token": {"all"}}, looks) // a viewer may sign in with the other token
	if !all.HttpOnly || all.SameSite != http.SameSiteLaxMode || all.Secure || all.Name != "wirebench_session_8080" || all.MaxAge <= 0 {
		t.Errorf("%+v", all)
	}
	for _, c := range []struct {
		name, method, target string
		header               http.Header
		cookie               *http.Cookie
		status               int
		want                 string
	}{
		{"page without token", "GET", "/p/x/definitions?a=1", nil, nil, 401, `value="/p/x/definitions?a=1"`},
		{"api without token", "POST", "/api/x/decode", nil, nil, 401, "send a token"},
		{"wrong token", "GET", "/api/x", carrying("al"), nil, 401, "send a token"},
		{"admin's token", "GET", "/api/x", carrying("all"), nil, 200, "inside as admin everywhere"},
		{"viewer's token", "GET", "/api/x", carrying("look"), nil, 200, "inside as viewer everywhere"},
		{"the scheme in lower case", "GET", "/api/x", http.Header{"Authorization": {"bearer all"}}, nil, 200, "inside as admin everywhere"},
		{"admin's session", "GET", "/p/x", nil, all, 200, "inside as admin everywhere"},
		{"viewer's session", "GET", "/p/x", nil, looks, 200, "inside as viewer everywhere"},
		{"the bearer token counts first", "GET", "/p/x", carrying("look"), all, 200, "inside as viewer everywhere"},
		{"also a wrong one", "GET", "/api/x", carrying("x"), all, 401, "send a token"},
		{"half a cookie", "GET", "/p/x", nil, &http.Cookie{Name: all.Name, Value: all.Value[:len(all.Value)/2]}, 401, "Access token"},
		{"a token is not its cookie", "GET", "/p/x", nil, &http.Cookie{Name: all.Name, Value: "all"}, 401, "Access token"},
		{"a cookie is not its token", "GET", "/api/x", carrying(all.Value), nil, 401, "send a token"},
		{"an empty token", "GET", "/api/x", carrying(""), nil, 401, ""},
		{"the cookie of another server", "GET", "/p/x", nil, &http.Cookie{Name: "wirebench_session_9090", Value: all.Value}, 401, ""},
		{"health", "GET", "/healthz", nil, nil, 200, "inside as no role"},
		{"style", "GET", "/static/app.css", nil, nil, 200, "inside"},
	} {
		var cookies []*http.Cookie
		if c.cookie != nil {
			cookies = append(cookies, c.cookie)
		}
		if w := e.ask(c.method, c.target, nil, c.header, cookies...); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
	if w := e.ask("POST", "/access", url.Values{"token": {"x"}}, nil); w.Code != 401 || !strings.Contains(w.Body.String(), "Wrong token.") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	foreign := e.ask("POST", "/access", url.Values{"token": {"look"}}, http.Header{"Sec-Fetch-Site": {"cross-site"}}, all)
	if foreign.Code != 403 || len(foreign.Result().Cookies()) > 0 {
		t.Errorf("a page of another site signs in: %d %v", foreign.Code, foreign.Header())
	}

	// Signing out ends the session; a page of another site, or a link, cannot cause it.
	if w := e.ask("POST", "/access/out", url.Values{}, http.Header{"Sec-Fetch-Site": {"cross-site"}}, all); w.Code != 403 {
		t.Errorf("%d", w.Code)
	}
	e.ask("GET", "/access/out", nil, nil, all)
	if w := e.ask("GET", "/p/x", nil, nil, all); w.Code != 200 {
		t.Errorf("still signed in: %d", w.Code)
	}
	w := e.ask("POST", "/access/out", url.Values{}, nil, all)
	if gone := w.Result().Cookies(); w.Code != 303 || len(gone) != 1 || gone[0].Value != "" || gone[0].MaxAge >= 0 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := e.ask("GET", "/p/x", nil, nil, all); w.Code != 401 {
		t.Errorf("the cookie outlives signing out: %d", w.Code)
	}
}

// Sessions survive a restart as long as their token is the same; they end when they are not used.
func TestSessionsLast(t *testing.T) {
	file := &Memory{}
	open := func(tokens Tokens) entrance {
		a, err := OpenAccounts(file)
		if err != nil {
			t.Fatal(err)
		}
		return newEntrance(t, Config{Tokens: tokens, Accounts: a})
	}
	all := open(testTokens).signIn(url.Values{"token": {"all"}})
	if strings.Contains(string(file.text), all.Value) {
		t.Error("the secret of a session is on disk")
	}
	e := open(testTokens)
	if w := e.ask("GET", "/p/x", nil, nil, all); w.Code != 200 {
		t.Errorf("after a restart: %d", w.Code)
	}
	if w := open(Tokens{Admin: "another"}).ask("GET", "/p/x", nil, nil, all); w.Code != 401 {
		t.Errorf("with another token: %d", w.Code)
	}
	now := time.Now()
	e.Accounts.now = func() time.Time { return now }
	for range 3 {
		now = now.Add(sessionIdle - time.Hour)
		if w := e.ask("GET", "/p/x", nil, nil, all); w.Code != 200 {
			t.Errorf("used in time: %d", w.Code)
		}
	}
	now = now.Add(sessionIdle + time.Hour)
	if w := e.ask("GET", "/p/x", nil, nil, all); w.Code != 401 {
		t.Errorf("not used for long: %d", w.Code)
	}
}

// The form may contain any target; the redirect stays on this server.
func TestLocalPath(t *testing.T) {
	for to, want := range map[string]string{
		"/p/x/definitions?a=1": "/p/x/definitions?a=1", "": "/", "https://evil.example/": "/", "//evil.example": "/", "/\\evil.example": "/", "javascript:alert(1)": "/", "w": "/",
		"/%2f/evil.example": "/",
	} {
		if got := localPath(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

func TestTokensAreLong(t *testing.T) {
	for tokens, ok := range map[Tokens]bool{{}: true, {Admin: "x"}: false, {Viewer: "123456789012345"}: false, {Admin: "1234567890123456", Viewer: "6543210987654321"}: true} {
		if err := tokens.Check(); (err == nil) != ok {
			t.Errorf("%+v: %v", tokens, err)
		}
	}
}

// The headers of a trusted proxy tell the address of the client; those of others do not.
func TestForwarded(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, c := range []struct {
		peer, list, proto, want string
		secure                  bool
	}{
		{"10.0.0.1:5", "192.0.2.7", "https", "192.0.2.7", true},
		{"10.0.0.1:5", "203.0.113.9, 192.0.2.7", "https", "192.0.2.7", true}, // the client has made up the first
		{"10.0.0.1:5", "192.0.2.7, 10.2.3.4", "http", "192.0.2.7", false},
		{"10.0.0.1:5", "192.0.2.7, nonsense", "", "10.0.0.1", false},
		{"10.0.0.1:5", "", "https", "10.0.0.1", true},
		{"[::1]:5", "2001:db8::1", "http, https", "2001:db8::/64", true},
		{"192.0.2.66:5", "10.0.0.9", "https", "192.0.2.66", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header.Set("X-Forwarded-For", c.list)
		r.Header.Set("X-Forwarded-Proto", c.proto)
		Forwarded(trusted, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if got := clientOf(r); got != c.want || Secure(r) != c.secure {
				t.Errorf("%+v: %s, secure %v", c, got, Secure(r))
			}
		})).ServeHTTP(httptest.NewRecorder(), r)
	}
}
