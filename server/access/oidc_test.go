package access

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"
)

// atProvider starts a provider, and a server at which its people have roles.
func atProvider(t *testing.T, roles ProviderRoles) (*mockoidc.MockOIDC, entrance, *httptest.Server) {
	t.Helper()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	accounts, _ := OpenAccounts(&Memory{})
	c := m.Config()
	e := newEntrance(t, Config{Accounts: accounts, Tokens: testTokens, OIDC: &OIDC{Issuer: c.Issuer, ClientID: c.ClientID, Secret: c.ClientSecret, Name: "Example", Roles: roles}})
	srv := httptest.NewServer(e.h)
	t.Cleanup(func() { srv.Close(); _ = m.Shutdown() })
	return m, e, srv
}

// People sign in at a provider, which checks the code challenge. They are known by issuer and subject, have no role until an admin gives
// one, and an answer of another attempt, or a forged one, signs nobody in.
func TestOIDC(t *testing.T) {
	m, e, srv := atProvider(t, ProviderRoles{})
	accounts := e.Accounts
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

// The groups of a person at the provider give roles, and everybody there has one, besides what admins give. They follow at the next sign-in,
// tokens included, and a server with other rules gives other roles at once.
func TestOIDCGroups(t *testing.T) {
	rules := ProviderRoles{Everybody: Grants{"open": Viewer}, Groups: map[string]Grants{"cn=devs": {"one": Author}, "leads": {Everywhere: Admin}, "guests": {"one": Viewer}}}
	m, e, srv := atProvider(t, rules)
	accounts := e.Accounts
	signIn := func(subject string, groups ...string) string {
		t.Helper()
		jar, _ := cookiejar.New(nil)
		m.QueueUser(&mockoidc.MockUser{Subject: subject, PreferredUsername: "p" + subject, Groups: groups})
		resp, err := (&http.Client{Jar: jar}).PostForm(srv.URL+"/access/oidc", url.Values{"to": {"/p/x/definitions"}})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return string(text)
	}
	account := func(subject string) Account {
		t.Helper()
		for _, x := range accounts.List() {
			if x.External.Subject == subject {
				return x
			}
		}
		t.Fatalf("no account of %s", subject)
		return Account{}
	}
	for _, c := range []struct {
		groups []string
		want   string
	}{
		{nil, "viewer in open"},
		{[]string{"cn=devs", "others", "guests", "cn=devs"}, "author in one, viewer in open"},
		{[]string{"leads"}, "admin everywhere, viewer in open"},
		{[]string{"others"}, "viewer in open"}, // the same person has left the group
	} {
		signIn("1", c.groups...)
		x := account("1")
		if got := accounts.Granted(x).String(); got != c.want || len(x.Grants) != 0 {
			t.Errorf("in %v: %s and %v, want %s", c.groups, got, x.Grants, c.want)
		}
	}

	// What an admin gives stays, whatever the provider says; the higher of the two counts.
	id := account("1").ID
	if err := accounts.Grant(id, Grants{"one": Operator}, false); err != nil {
		t.Fatal(err)
	}
	signIn("1", "guests")
	if got := accounts.Granted(account("1")).String(); got != "operator in one, viewer in open" {
		t.Errorf("%s", got)
	}

	// A token has what its group gave only as long as that is so, and not again when the group comes back.
	if err := accounts.Grant(id, Grants{}, false); err != nil {
		t.Fatal(err)
	}
	signIn("1", "cn=devs")
	made, _, err := accounts.MakeToken(id, "build", Grants{"one": Author, "open": Author}, time.Time{})
	if err != nil || made.Grants.String() != "author in one, viewer in open" {
		t.Fatalf("%+v %v", made, err)
	}
	tokens := func(what, want string) {
		t.Helper()
		if x := account("1"); len(x.Tokens) != 1 || x.Tokens[0].Grants.String() != want {
			t.Errorf("%s: %+v, want %s", what, x.Tokens, want)
		}
	}
	again, err := OpenAccounts(e.Accounts.file)
	if err != nil {
		t.Fatal(err)
	}
	if x := again.List(); len(x[0].Tokens) != 1 || x[0].Tokens[0].Grants.String() != "author in one, viewer in open" || strings.Join(x[0].Groups, " ") != "cn=devs" {
		t.Errorf("after a restart: %+v", x)
	}
	signIn("1")
	tokens("without the group", "viewer in open")
	signIn("1", "cn=devs")
	tokens("in the group again", "viewer in open")

	// Other rules, and people with a password, who are not of the provider.
	for issuer, want := range map[string]string{m.Config().Issuer: "viewer in two", "https://another.example": "no role"} {
		accounts.SetProviderRoles(ProviderRoles{Issuer: issuer, Everybody: Grants{}, Groups: map[string]Grants{"cn=devs": {"two": Viewer}}})
		if got := accounts.Granted(account("1")).String(); got != want {
			t.Errorf("with other rules for people of %s: %s, want %s", issuer, got, want)
		}
	}

	// A change of one thing leaves the other as it is.
	off, on := true, false
	for _, c := range []struct {
		grants   Grants
		disabled *bool
		want     string
	}{{nil, &off, "no role true"}, {Grants{"one": Viewer}, nil, "viewer in one true"}, {nil, &on, "viewer in one false"}, {Grants{}, nil, "no role false"}} {
		if err := accounts.Change(id, c.grants, c.disabled); err != nil {
			t.Fatal(err)
		}
		if x := account("1"); x.Grants.String()+" "+strconv.FormatBool(x.Disabled) != c.want {
			t.Errorf("%v %t, want %s", x.Grants, x.Disabled, c.want)
		}
	}
	if got := accounts.Granted(Account{Groups: []string{"cn=devs"}, Grants: Grants{}}); len(got) != 0 {
		t.Errorf("somebody with a password: %v", got)
	}
}

// Where an identity has its groups.
func TestGroupsOfClaims(t *testing.T) {
	rules := ProviderRoles{Groups: map[string]Grants{"a": {}, "b": {}, "": {}}}
	for _, c := range []struct{ claim, text, want string }{
		{"", `{"groups": ["b", "x", "a", "b"]}`, "a b"},
		{"groups", `{"groups": "a"}`, "a"},
		{"realm_access.roles", `{"realm_access": {"roles": ["b"]}}`, "b"},
		{"realm_access.roles", `{"realm_access": ["b"]}`, ""},
		{"", `{"groups": [1, null, {"a": "a"}, ["a"]]}`, ""},
		{"", `{"groups": {"a": true}}`, ""},
		{"https://example.com/groups", `{"https://example.com/groups": ["a"]}`, "a"},
		{"", `{}`, ""},
		{"a.b.c", `{"a": {"b": null}}`, ""},
	} {
		claims := map[string]any{}
		if err := json.Unmarshal([]byte(c.text), &claims); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join((&OIDC{GroupsClaim: c.claim, Roles: rules}).groups(claims), " "); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.claim, c.text, got, c.want)
		}
	}
}
