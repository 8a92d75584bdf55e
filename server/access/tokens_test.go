package access

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestRequire(t *testing.T) {
	inside := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("inside")) })
	h := Require(Tokens{Operator: "secret"}, inside, nil)
	ask := func(method, target, form string, set func(*http.Request)) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(form))
		if form != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if set != nil {
			set(r)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header = carrying(token) }
	}
	for _, c := range []struct {
		name, method, target, form string
		set                        func(*http.Request)
		status                     int
		contains                   string
	}{
		{"page without token", "GET", "/p/x/definitions?a=1", "", nil, 401, `value="/p/x/definitions?a=1"`},
		{"api without token", "POST", "/api/x/decode", "{}", nil, 401, "application/problem+json"},
		{"api with token", "POST", "/api/x/decode", "{}", bearer("secret"), 200, "inside"},
		{"api with wrong token", "POST", "/api/x/decode", "{}", bearer("secre"), 401, ""},
		{"health", "GET", "/healthz", "", nil, 200, "inside"},
		{"style", "GET", "/static/app.css", "", nil, 200, "inside"},
		{"wrong token in the form", "POST", "/access", "token=x&to=/p/x/definitions", nil, 401, "Wrong token."},
		{"made-up cookie", "GET", "/", "", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: Cookie, Value: "secret"}) }, 401, ""},
	} {
		w := ask(c.method, c.target, c.form, c.set)
		if w.Code != c.status || !strings.Contains(w.Body.String()+w.Header().Get("Content-Type"), c.contains) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}

	w := ask("POST", "/access", url.Values{"token": {"secret"}, "to": {"/p/x/definitions?a=1"}}.Encode(), nil)
	cookies := w.Result().Cookies()
	if w.Code != 303 || w.Header().Get("Location") != "/p/x/definitions?a=1" || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("%d %v %v", w.Code, w.Header(), cookies)
	}
	if w := ask("GET", "/p/x/definitions", "", func(r *http.Request) { r.AddCookie(cookies[0]) }); w.Body.String() != "inside" {
		t.Errorf("with the cookie: %d %s", w.Code, w.Body)
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

var testTokens = Tokens{Operator: "all", Viewer: "look"}

func carrying(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// The role of a token reaches the handler, whichever way the token is sent.
func TestRoles(t *testing.T) {
	inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, Of(r).Role.String()) })
	ask := func(tokens Tokens, method, target, form string, header http.Header, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(form))
		if header != nil {
			r.Header = header
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		Require(tokens, inside, nil).ServeHTTP(w, r)
		return w
	}
	signIn := func(token string, have ...*http.Cookie) *http.Cookie {
		t.Helper()
		w := ask(testTokens, "POST", "/access", url.Values{"token": {token}, "to": {"/p/x/definitions"}}.Encode(), nil, have...)
		if w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 1 || w.Header().Get("Location") != "/p/x/definitions" {
			t.Fatalf("%s signs in: %d %v", token, w.Code, w.Header())
		}
		return w.Result().Cookies()[0]
	}
	looks := signIn("look")
	all := signIn("all", looks) // a viewer may sign in with the other token
	bare := func(token string) *http.Cookie { return &http.Cookie{Name: Cookie, Value: token} }
	for _, c := range []struct {
		name   string
		tokens Tokens
		header http.Header
		cookie *http.Cookie
		status int
		want   string
	}{
		{"operator's token", testTokens, carrying("all"), nil, 200, "operator"},
		{"viewer's token", testTokens, carrying("look"), nil, 200, "viewer"},
		{"operator's cookie", testTokens, nil, all, 200, "operator"},
		{"viewer's cookie", testTokens, nil, looks, 200, "viewer"},
		{"the bearer token counts first", testTokens, carrying("look"), all, 200, "viewer"},
		{"a bearer token that is none does not count", testTokens, carrying("x"), looks, 200, "viewer"},
		{"a token is not its cookie", testTokens, nil, bare("look"), 401, "Access token"},
		{"a cookie is not its token", testTokens, carrying(all.Value), nil, 401, "Access token"},
		{"no token of a viewer", Tokens{Operator: "all"}, carrying("look"), nil, 401, "Access token"},
		{"an empty token is none", Tokens{Operator: "all"}, carrying(""), nil, 401, "Access token"},
		{"nor is its cookie", Tokens{Operator: "all"}, nil, bare(newPass("", Viewer).proof), 401, "Access token"},
		{"a viewer's token alone makes nobody an operator", Tokens{Viewer: "look"}, carrying(""), nil, 401, "Access token"},
	} {
		var cookies []*http.Cookie
		if c.cookie != nil {
			cookies = append(cookies, c.cookie)
		}
		if w := ask(c.tokens, "GET", "/p/x/definitions", "", c.header.Clone(), cookies...); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
	if w := ask(testTokens, "GET", "/access?to=/p/x/definitions", "", nil, looks); w.Code != 200 || !strings.Contains(w.Body.String(), `value="/p/x/definitions"`) {
		t.Errorf("a signed-in viewer opens the sign-in page: %d %s", w.Code, w.Body)
	}
	if w := ask(testTokens, "GET", "/healthz", "", nil); w.Body.String() != "nobody" {
		t.Errorf("role on an open path: %s", w.Body)
	}
	foreign := ask(testTokens, "POST", "/access", "token=look", http.Header{"Sec-Fetch-Site": {"cross-site"}}, all)
	if foreign.Code != 403 || len(foreign.Result().Cookies()) > 0 {
		t.Errorf("a page of another site signs in: %d %v", foreign.Code, foreign.Header())
	}
}
