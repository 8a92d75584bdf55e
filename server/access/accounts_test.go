package access

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A person is invited, joins, signs in, gets other roles and is removed; each step counts at once, also for open sessions.
func TestAccounts(t *testing.T) {
	file := &Memory{}
	accounts, err := OpenAccounts(file)
	if err != nil {
		t.Fatal(err)
	}
	audit, err := OpenAudit(filepath.Join(t.TempDir(), "audit.jsonl"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	e := newEntrance(t, Config{Tokens: testTokens, Accounts: accounts, Audit: audit})
	admin := e.signIn(url.Values{"token": {"all"}})
	invite := func(roles url.Values) string {
		t.Helper()
		roles.Set("do", "invite")
		roles.Set("for", "Anna")
		w := e.ask("POST", "/access/people", roles, nil, admin)
		link := regexp.MustCompile(`/access/join/[^<]+`).FindString(w.Body.String())
		if w.Code != 200 || link == "" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return link
	}
	link := invite(url.Values{"role:one": {"author"}, "role:two": {""}})
	if w := e.ask("GET", link, nil, nil); w.Code != 200 || !strings.Contains(w.Body.String(), "author in one") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := e.ask("POST", link, url.Values{"login": {"anna"}, "password": {"short"}}, nil); w.Code != 422 || !strings.Contains(w.Body.String(), "A password has") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	joined := e.ask("POST", link, url.Values{"login": {"Anna"}, "name": {"Anna \u202eB"}, "password": {"correct horse"}}, nil)
	if joined.Code != 303 || len(joined.Result().Cookies()) != 1 {
		t.Fatalf("%d %s", joined.Code, joined.Body)
	}
	if w := e.ask("POST", link, url.Values{"login": {"ben"}, "password": {"correct horse"}}, nil); w.Code != 410 {
		t.Errorf("a link is used twice: %d", w.Code)
	}
	for _, secret := range []string{"correct horse", strings.TrimPrefix(link, "/access/join/"), joined.Result().Cookies()[0].Value} {
		if strings.Contains(string(file.text), secret) {
			t.Errorf("%s is on disk", secret)
		}
	}
	if w := e.ask("POST", "/access", url.Values{"login": {"anna"}, "password": {"wrong horse"}}, nil); w.Code != 401 {
		t.Errorf("%d", w.Code)
	}
	anna := e.signIn(url.Values{"login": {" ANNA "}, "password": {"correct horse"}})
	roles := func(cookie *http.Cookie) string { return e.ask("GET", "/p/x", nil, nil, cookie).Body.String() }
	if got := roles(anna); got != "inside as author in one" {
		t.Error(got)
	}
	if w := e.ask("GET", "/access/people", nil, nil, anna); w.Code != 403 {
		t.Errorf("an author sees the people: %d", w.Code)
	}
	x := accounts.List()[0]
	if x.Login != "anna" || x.Name != "Anna B" {
		t.Errorf("%+v", x)
	}

	// A token does at most what the account may do.
	w := e.ask("POST", "/access/me", url.Values{"do": {"token"}, "name": {"ci"}, "role": {"operator"}, "project": {"one"}, "days": {"1"}}, nil, anna)
	token := regexp.MustCompile(`wb_[A-Z0-9]+`).FindString(w.Body.String())
	bearer := func() string { return e.ask("GET", "/api/x", nil, carrying(token)).Body.String() }
	if got := bearer(); got != "inside as author in one" {
		t.Errorf("%s: %s", token, got)
	}
	if w := e.ask("POST", "/access", url.Values{"token": {token}}, nil); w.Code != 401 {
		t.Errorf("a token for programs signs in: %d", w.Code)
	}
	grant := func(form url.Values) int {
		form.Set("do", "grant")
		form.Set("id", x.ID)
		return e.ask("POST", "/access/people", form, nil, admin).Code
	}
	if code := grant(url.Values{"role:*": {"viewer"}}); code != 200 || roles(anna) != "inside as viewer everywhere" || bearer() != "inside as viewer in one" {
		t.Errorf("%d %s %s", code, roles(anna), bearer())
	}
	if code := grant(url.Values{"role:one": {"admin"}}); code != 422 {
		t.Errorf("an admin of one project: %d", code)
	}
	p, _ := accounts.principal(anna.Value)
	if code := grant(url.Values{"role:*": {"viewer"}, "disabled": {"1"}}); code != 200 || !strings.Contains(roles(anna), "Password") || !strings.Contains(bearer(), "send a token") {
		t.Errorf("disabled: %d", code)
	}
	if _, ok := p.Now(); ok {
		t.Error("an open connection of a disabled account is not told")
	}
	grant(url.Values{"role:one": {"author"}})
	if err := accounts.Renamed("one", "uno"); err != nil || roles(anna) != "inside as author in uno" {
		t.Errorf("%v %s", err, roles(anna))
	}
	if err := accounts.Renamed("uno", ""); err != nil || !strings.Contains(roles(anna), "no role here yet") {
		t.Errorf("%v %s", err, roles(anna))
	}

	// The file is read again as it is.
	again, err := OpenAccounts(file)
	if err != nil || len(again.List()) != 1 || len(again.List()[0].Tokens) != 1 {
		t.Fatal(err)
	}
	if e.ask("POST", "/access/people", url.Values{"do": {"remove"}, "id": {x.ID}}, nil, admin); len(accounts.List()) != 0 {
		t.Error("still there")
	}
	told := ""
	for _, e := range audit.Latest(100) {
		told += e.Who + " " + e.What + " " + e.On + " " + e.Result + "\n"
	}
	for _, want := range []string{"admin’s token people: invite Anna as author in one", "Anna join", "somebody sign in anna refused", "Anna B account: token ci", "Anna B GET /access/people  refused", "admin’s token people: remove anna"} {
		if !strings.Contains(told, want) {
			t.Errorf("the audit log lacks %q:\n%s", want, told)
		}
	}
	if w := e.ask("GET", "/access/audit", nil, nil, admin); w.Code != 200 || !strings.Contains(w.Body.String(), "people: remove") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The last admin stays, and an error of the disk changes nothing.
func TestAccountsKeep(t *testing.T) {
	file := &fullFile{}
	a, err := OpenAccounts(file)
	if err != nil {
		t.Fatal(err)
	}
	join := func(login string, g Grants) string {
		t.Helper()
		_, text, err := a.Invite(Principal{Name: "x"}, "", g)
		if err != nil {
			t.Fatal(err)
		}
		id, err := a.Accept(text, login, "", "a long password")
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	one, two := join("one", Grants{Everywhere: Admin}), join("two", Grants{"x": Author})
	if err := a.Remove(one); !errors.Is(err, ErrLastAdmin) {
		t.Error(err)
	}
	if err := a.Grant(one, Grants{Everywhere: Viewer}, false); !errors.Is(err, ErrLastAdmin) {
		t.Error(err)
	}
	if err := a.Grant(two, Grants{Everywhere: Admin}, false); err != nil {
		t.Error(err)
	}
	file.full = true
	if err := a.Remove(one); err == nil || len(a.List()) != 2 {
		t.Errorf("%v, %d accounts", err, len(a.List()))
	}
	if _, err := a.Begin(one, "", ""); err == nil {
		t.Error("a session that is not stored")
	}
	if x, _ := a.Get(one); len(x.Sessions) != 0 {
		t.Errorf("%+v", x.Sessions)
	}
	file.full = false
	if err := a.Remove(one); err != nil {
		t.Error(err)
	}
	if _, err := a.Accept("nonsense", "three", "", "a long password"); !errors.Is(err, ErrExpired) {
		t.Error(err)
	}
	_, late, _ := a.Invite(Principal{Name: "x"}, "", Grants{"x": Viewer})
	now := time.Now().Add(InvitationTime + time.Hour)
	a.now = func() time.Time { return now }
	if _, err := a.Accept(late, "three", "", "a long password"); !errors.Is(err, ErrExpired) {
		t.Error(err)
	}
}

// fullFile is a disk that can be full.
type fullFile struct {
	Memory
	full bool
}

func (f *fullFile) Write(text []byte) error {
	if f.full {
		return errors.New("no space left on device")
	}
	return f.Memory.Write(text)
}

// The token of the first start is kept as a hash.
func TestFirstToken(t *testing.T) {
	file := &Memory{}
	a, _ := OpenAccounts(file)
	text, err := a.FirstToken(false)
	if err != nil || len(text) < 20 {
		t.Fatalf("%q %v", text, err)
	}
	a, _ = OpenAccounts(file)
	if again, err := a.FirstToken(false); again != "" || err != nil {
		t.Errorf("%q %v", again, err)
	}
	if p, ok := a.principal(text); !ok || p.In("any") != Admin {
		t.Errorf("%+v", p)
	}
	if other, err := a.FirstToken(true); err != nil || other == text {
		t.Error(err)
	}
	if _, ok := a.principal(text); ok {
		t.Error("the token from before is valid")
	}
}
