package server

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestRequireToken(t *testing.T) {
	inside := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("inside")) })
	h := RequireToken(Tokens{Operator: "secret"}, inside, nil)
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
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	for _, c := range []struct {
		name, method, target, form string
		set                        func(*http.Request)
		status                     int
		contains                   string
	}{
		{"page without token", "GET", "/w/x?a=1", "", nil, 401, `value="/w/x?a=1"`},
		{"api without token", "POST", "/api/x/decode", "{}", nil, 401, "application/problem+json"},
		{"api with token", "POST", "/api/x/decode", "{}", bearer("secret"), 200, "inside"},
		{"api with wrong token", "POST", "/api/x/decode", "{}", bearer("secre"), 401, ""},
		{"health", "GET", "/healthz", "", nil, 200, "inside"},
		{"style", "GET", "/static/app.css", "", nil, 200, "inside"},
		{"wrong token in the form", "POST", "/access", "token=x&to=/w/x", nil, 401, "That is not the token."},
		{"made-up cookie", "GET", "/", "", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: accessCookie, Value: "secret"}) }, 401, ""},
	} {
		w := ask(c.method, c.target, c.form, c.set)
		if w.Code != c.status || !strings.Contains(w.Body.String()+w.Header().Get("Content-Type"), c.contains) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}

	w := ask("POST", "/access", url.Values{"token": {"secret"}, "to": {"/w/x?a=1"}}.Encode(), nil)
	cookies := w.Result().Cookies()
	if w.Code != 303 || w.Header().Get("Location") != "/w/x?a=1" || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("%d %v %v", w.Code, w.Header(), cookies)
	}
	if w := ask("GET", "/w/x", "", func(r *http.Request) { r.AddCookie(cookies[0]) }); w.Body.String() != "inside" {
		t.Errorf("with the cookie: %d %s", w.Code, w.Body)
	}
}

// Whoever makes up the form decides where the browser goes; it stays on this server.
func TestLocalPath(t *testing.T) {
	for to, want := range map[string]string{
		"/w/x?a=1": "/w/x?a=1", "": "/", "https://evil.example/": "/", "//evil.example": "/", "/\\evil.example": "/", "javascript:alert(1)": "/", "w": "/",
		"/%2f/evil.example": "/",
	} {
		if got := localPath(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}
