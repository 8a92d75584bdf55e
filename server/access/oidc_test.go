package access

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/oauth2-proxy/mockoidc"
)

// People sign in at a provider, which checks the code challenge. They are known by issuer and subject, have no role until an admin gives
// one, and an answer of another attempt, or a forged one, signs nobody in.
func TestOIDC(t *testing.T) {
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Shutdown()
	file := &Memory{}
	accounts, _ := OpenAccounts(file)
	e := newEntrance(t, Config{Accounts: accounts, Tokens: testTokens, OIDC: &OIDC{Issuer: m.Config().Issuer, ClientID: m.Config().ClientID, Secret: m.Config().ClientSecret, Name: "Example"}})
	srv := httptest.NewServer(e.h)
	defer srv.Close()
	browser := func() *http.Client {
		jar, _ := cookiejar.New(nil)
		return &http.Client{Jar: jar}
	}
	signIn := func(c *http.Client, subject, name string) (int, string) {
		t.Helper()
		m.QueueUser(&mockoidc.MockUser{Subject: subject, PreferredUsername: name, Email: "same@example.com"})
		resp, err := c.PostForm(srv.URL+"/access/oidc", url.Values{"to": {"/p/x/definitions"}})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Request.URL.Path + " " + string(text)
	}
	anna := browser()
	if code, body := signIn(anna, "1", "Anna"); code != 403 || !strings.Contains(body, "You are signed in as anna, and have no role here yet") {
		t.Fatalf("%d %s", code, body)
	}
	x := accounts.List()
	if len(x) != 1 || x[0].External.Subject != "1" || len(x[0].Grants) != 0 {
		t.Fatalf("%+v", x)
	}
	if err := accounts.Grant(x[0].ID, Grants{"one": Author}, false); err != nil {
		t.Fatal(err)
	}
	if code, body := signIn(browser(), "1", "Anna"); code != 200 || body != "/p/x/definitions inside as author in one" {
		t.Errorf("%d %s", code, body)
	}
	if _, body := signIn(browser(), "2", "Anna"); !strings.Contains(body, "no role here yet") || len(accounts.List()) != 2 {
		t.Errorf("another person with the same name and address: %s", body)
	}
	if err := accounts.Grant(x[0].ID, Grants{"one": Author}, true); err != nil {
		t.Fatal(err)
	}
	if code, body := signIn(browser(), "1", "Anna"); code != 403 || !strings.Contains(body, "Your account is disabled") {
		t.Errorf("%d %s", code, body)
	}

	// Answers that belong to nobody, or to another browser.
	m.QueueUser(&mockoidc.MockUser{Subject: "3"})
	stop := browser()
	stop.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.Path, "/access/oidc/back") {
			return http.ErrUseLastResponse
		}
		return nil
	}
	resp, err := stop.PostForm(srv.URL+"/access/oidc", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	answer := resp.Header.Get("Location")
	get := func(c *http.Client, to string) (int, string) {
		resp, err := c.Get(to)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	for what, try := range map[string]func() (int, string){
		"another browser": func() (int, string) { return get(browser(), answer) },
		"another state":   func() (int, string) { return get(stop, strings.Replace(answer, "state=", "state=x", 1)) },
	} {
		if code, body := try(); code != 401 || !strings.Contains(body, "Signing in at Example failed") {
			t.Errorf("%s: %d %s", what, code, body)
		}
	}
	if code, body := get(stop, answer); code != 401 || !strings.Contains(body, "failed") { // the cookie was used by the attempt before
		t.Errorf("%d %s", code, body)
	}
	if len(accounts.List()) != 2 {
		t.Errorf("%d accounts", len(accounts.List()))
	}
	for _, to := range []string{"https://evil.example/", "//evil.example"} {
		m.QueueUser(&mockoidc.MockUser{Subject: "2", PreferredUsername: "x"})
		resp, err := browser().PostForm(srv.URL+"/access/oidc", url.Values{"to": {to}})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Request.URL.Host != strings.TrimPrefix(srv.URL, "http://") {
			t.Errorf("%s leads to %s", to, resp.Request.URL)
		}
	}

	// A provider that cannot be reached is an error on the page, and tokens still work.
	e.OIDC.provider, e.OIDC.Issuer = nil, "http://127.0.0.1:1"
	resp, err = browser().PostForm(srv.URL+"/access/oidc", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 502 {
		t.Error(resp.StatusCode)
	}
	e.signIn(url.Values{"token": {"all"}})
}
