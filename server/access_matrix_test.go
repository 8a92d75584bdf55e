package server

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"wirebench/defs/benchtest"
	"wirebench/server/access"
	"wirebench/server/servertest"
)

// credential is what a request may carry, with what it must grant in the project "one".
type credential struct {
	header http.Header
	kind   access.Kind // 0: it admits nobody
	grants access.Grants
}

// matrix is a server with people and their credentials, by name.
type matrix struct {
	t        *testing.T
	accounts *access.Accounts
	door     *access.Door
	h        http.Handler
	of       map[string]credential
	asked    int
}

const matrixPassword = "a long password"

// doorOf returns a matrix without credentials.
func doorOf(t *testing.T, s *Server) *matrix {
	accounts, err := access.OpenAccounts(&access.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	m := &matrix{t: t, accounts: accounts, of: map[string]credential{}, door: access.NewDoor(access.Config{Accounts: accounts, Tokens: servertest.Tokens})}
	m.h = m.door.Guard(s)
	return m
}

func newMatrix(t *testing.T, s *Server) *matrix {
	m := doorOf(t, s)
	accounts := m.accounts
	first, err := accounts.FirstToken(false)
	m.must(err)
	all := func(r access.Role) access.Grants { return access.Grants{access.Everywhere: r} }

	m.of["nothing"] = credential{}
	m.of["unknown token"] = credential{header: carrying("wb_unknown")}
	m.of["unknown session"] = credential{header: m.cookie("unknown")}
	for r := access.Viewer; r <= access.Admin; r++ {
		for where, g := range map[string]access.Grants{"here": {"one": r}, "elsewhere": {"another": r}, "everywhere": all(r)} {
			if r == access.Admin && where != "everywhere" {
				continue
			}
			name := r.String() + " " + where
			id := m.person(strings.ReplaceAll(name, " ", "-"), g)
			m.of["session of "+name] = credential{m.session(id), access.BySession, g}
			m.of["token of "+name] = credential{m.token(id, all(access.Admin), time.Time{}), access.ByProgram, g}
		}
	}
	admin := m.person("limits", all(access.Admin))
	for r := access.Viewer; r < access.Admin; r++ {
		m.of["token limited to "+r.String()] = credential{m.token(admin, all(r), time.Time{}), access.ByProgram, all(r)}
		m.of["token limited to "+r.String()+" here"] = credential{m.token(admin, access.Grants{"one": r}, time.Time{}), access.ByProgram, access.Grants{"one": r}}
		m.of["token limited to "+r.String()+" elsewhere"] = credential{m.token(admin, access.Grants{"another": r}, time.Time{}), access.ByProgram, access.Grants{"another": r}}
	}
	m.of["token for a day"] = credential{m.token(admin, all(access.Admin), time.Now().Add(time.Hour)), access.ByProgram, all(access.Admin)}
	m.of["expired token"] = credential{header: m.token(admin, all(access.Admin), time.Now().Add(-time.Second))}
	revoked, secret, err := accounts.MakeToken(admin, "revoked", all(access.Admin), time.Time{})
	m.of["revoked token"] = credential{header: carrying(secret)}
	m.must(err, accounts.Revoke(admin, revoked.ID))

	changed := func(name string, before, after access.Grants, change func(id string) error) {
		id := m.person(strings.ReplaceAll(name, " ", "-"), before)
		session, token := m.session(id), m.token(id, all(access.Admin), time.Time{})
		m.must(change(id))
		if after == nil {
			m.of["session of "+name], m.of["token of "+name] = credential{header: session}, credential{header: token}
			return
		}
		m.of["session of "+name] = credential{session, access.BySession, after}
		m.of["token of "+name] = credential{token, access.ByProgram, after}
	}
	changed("removed admin", all(access.Admin), nil, accounts.Remove)
	changed("disabled admin", all(access.Admin), nil, func(id string) error { return accounts.Grant(id, all(access.Admin), true) })
	changed("admin become viewer here", all(access.Admin), access.Grants{"one": access.Viewer}, func(id string) error {
		return accounts.Grant(id, access.Grants{"one": access.Viewer}, false)
	})
	changed("admin become viewer and admin again", all(access.Admin), all(access.Admin), func(id string) error {
		m.must(accounts.Grant(id, all(access.Viewer), false))
		return accounts.Grant(id, all(access.Admin), false)
	})
	c := m.of["token of admin become viewer and admin again"]
	c.grants = all(access.Viewer) // a token is not widened
	m.of["token of admin become viewer and admin again"] = c
	changed("viewer become admin", all(access.Viewer), all(access.Admin), func(id string) error { return accounts.Grant(id, all(access.Admin), false) })
	c = m.of["token of viewer become admin"]
	c.grants = all(access.Viewer)
	m.of["token of viewer become admin"] = c
	changed("admin with a new password", all(access.Admin), nil, func(id string) error { return accounts.SetPassword(id, matrixPassword, "") })
	changed("signed out admin", all(access.Admin), nil, func(id string) error { return accounts.End(id, "", "") })
	c = m.of["token of signed out admin"]
	c.kind, c.grants = access.ByProgram, all(access.Admin) // it is for a program, not for a browser
	m.of["token of signed out admin"] = c

	server := func(name, token string, g access.Grants) {
		m.of[name] = credential{carrying(token), access.ByServer, g}
		session, err := accounts.BeginWith(token, "192.0.2.1", "")
		m.must(err)
		m.of["session by "+name] = credential{m.cookie(session), access.ByServer, g}
	}
	server("server's token", servertest.Tokens.Admin, all(access.Admin))
	server("server's viewer token", servertest.Tokens.Viewer, all(access.Viewer))
	server("first token", first, all(access.Admin))
	m.must(accounts.DropFirst())
	for _, name := range []string{"first token", "session by first token"} {
		m.of["replaced "+name] = credential{header: m.of[name].header}
		delete(m.of, name)
	}
	again, err := accounts.FirstToken(false)
	m.must(err)
	server("next first token", again, all(access.Admin))
	return m
}

func (m *matrix) must(errs ...error) {
	m.t.Helper()
	for _, err := range errs {
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *matrix) person(login string, g access.Grants) (id string) {
	_, secret, err := m.accounts.Invite(access.Principal{}, "", g)
	m.must(err)
	id, err = m.accounts.Accept(secret, login, "", matrixPassword)
	m.must(err)
	return id
}

func (m *matrix) session(id string) http.Header {
	secret, err := m.accounts.Begin(id, "192.0.2.1", "")
	m.must(err)
	return m.cookie(secret)
}

func (m *matrix) cookie(secret string) http.Header {
	return http.Header{"Cookie": {access.CookieName("") + "=" + secret}}
}

func (m *matrix) token(id string, g access.Grants, expires time.Time) http.Header {
	_, secret, err := m.accounts.MakeToken(id, "x", g, expires)
	m.must(err)
	return carrying(secret)
}

// Each entry of the server is open to exactly the credentials that the table of access names: routes and their pages, forms, channels, the
// messages of channels, actions. A route without a row fails, as does a row without a route.
func TestEveryEntryForEveryCredential(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	s := testServer(t)
	m := newMatrix(t, s)
	everywhere := []string{"GET /metrics", "POST /projects", "POST /api/v1/projects", "project name", "last connections"}
	routes := map[string]bool{}
	for _, of := range []chi.Routes{s.router, m.door.Pages()} {
		m.must(chi.Walk(of, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			routes[method+" "+pattern] = true
			if s.guard().Needs(method+" "+pattern) > access.Admin {
				t.Errorf("%s %s is not in the table of access: what does it need?", method, pattern)
			}
			return nil
		}))
	}
	asked, refused := 0, 0
	entries := slices.AppendSeq(access.Entries(), maps.Keys(s.api.Needs()))
	for _, entry := range entries {
		verb, pattern, _ := strings.Cut(entry, " ")
		isRoute := strings.HasPrefix(pattern, "/")
		if isRoute && !routes[entry] {
			t.Errorf("%s is in the table of access, and there is no such route", entry)
		}
		people := strings.HasPrefix(entry, "form people") || strings.HasSuffix(pattern, "/access/people") || strings.Contains(pattern, "/access/accounts") || strings.Contains(pattern, "/access/invitations")
		own := strings.HasPrefix(entry, "form me") || strings.Contains(pattern, "/access/me/")
		me := own || strings.HasSuffix(pattern, "/access/me")
		ofProject := !isRoute && verb != "form" && !slices.Contains(everywhere, entry) || strings.Contains(pattern, "{project}")
		need := s.guard().Needs(entry)
		for name, c := range m.of {
			have := c.grants.Any()
			switch {
			case c.kind == 0:
				have = access.Nobody
			case ofProject:
				have = c.grants.In("one")
			case slices.Contains(everywhere, entry) || need == access.Admin:
				have = c.grants.In("")
			}
			want := have >= need
			switch {
			case (people || me) && c.kind == access.ByProgram, own && c.kind != access.BySession:
				want = false
			}
			got := m.allows(entry, c)
			if asked++; !got {
				refused++
			}
			if got != want {
				t.Errorf("%s for %s: permitted %t, want %t", entry, name, got, want)
			}
		}
	}
	t.Logf("%d entries × %d credentials = %d, of which %d are refused", len(entries), len(m.of), asked, refused)
}

// allows reports whether an entry is open: a route by a request, a part of one as its handler asks.
func (m *matrix) allows(entry string, c credential) bool {
	method, pattern, _ := strings.Cut(entry, " ")
	if !strings.HasPrefix(pattern, "/") {
		var p access.Principal
		r := httptest.NewRequest("GET", "/static/", nil)
		r.Header = c.header.Clone()
		m.door.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { p = access.Of(r) })).ServeHTTP(httptest.NewRecorder(), r)
		if strings.HasPrefix(entry, "form ") || strings.HasPrefix(entry, "project ") {
			return p.MayNow(entry, "")
		}
		return p.MayNow(entry, "one")
	}
	path := strings.NewReplacer("{project}", "one", "{file}", "C_JOIN.1.def", "{id}", "xyz", "{at}", "2026-03-01T18:04:05Z", "{secret}", "x").Replace(pattern)
	body := "{}"
	if pattern == "/api/v1/projects/{project}" { // nothing may change before all have asked
		body = "{"
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if r.Header = c.header.Clone(); r.Header == nil {
		r.Header = http.Header{}
	}
	m.asked++
	r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", m.asked>>16, m.asked>>8&255, m.asked&255) // wrong tokens of one address are delayed
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "/access") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if entry == "POST /access/out" {
		return true // it ends the session: TestDoor
	}
	w := httptest.NewRecorder()
	m.h.ServeHTTP(w, r)
	text := w.Body.String()
	switch {
	case w.Code == http.StatusUnauthorized:
		return entry == "POST /access" // the wrong password of nobody
	case w.Code == http.StatusForbidden:
		return false
	case w.Code == http.StatusNotFound && strings.Contains(text, "project one not found"):
		return false
	}
	return true
}

// A credential makes none that has more, goes to more projects, or lasts longer: what a form of one's own account does is bounded by it.
func TestCredentialsMakeNoMore(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	m := newMatrix(t, testServer(t))
	post := func(c credential, path string, form url.Values) (int, string) {
		r := httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
		r.Header = c.header.Clone()
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		m.h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	tokens := func() (n int) {
		for _, x := range m.accounts.List() {
			n += len(x.Tokens) + len(x.Sessions)
		}
		return n + 1000*len(m.accounts.Invitations())
	}
	made := 0
	for _, name := range slices.Sorted(maps.Keys(m.of)) {
		c := m.of[name]
		if c.header == nil || strings.HasPrefix(name, "unknown") {
			continue
		}
		for _, project := range []string{"*", "one", "another", "nowhere"} {
			before := tokens()
			code, body := post(c, "/access/me", url.Values{"do": {"token"}, "name": {"more"}, "role": {"admin"}, "project": {project}, "days": {"0"}})
			if project != "*" { // an admin is one everywhere
				code, body = post(c, "/access/me", url.Values{"do": {"token"}, "name": {"more"}, "role": {"operator"}, "project": {project}, "days": {"0"}})
			}
			if c.kind != access.BySession {
				if code == http.StatusOK || tokens() != before {
					t.Errorf("%s makes a token: %d %s", name, code, body)
				}
				continue
			}
			if tokens() == before {
				continue
			}
			made++
			for _, x := range m.accounts.List() {
				for _, k := range x.Tokens {
					for p, r := range k.Grants {
						if where := strings.Replace(p, "*", "", 1); k.Name == "more" && r > x.Grants.In(where) {
							t.Errorf("%s: a token of %s has %v", name, x.Login, k.Grants)
						}
					}
				}
			}
		}
		if c.kind == access.BySession || c.kind == access.ByServer && c.grants.In("") == access.Admin {
			continue
		}
		for _, form := range []url.Values{{"do": {"end"}, "id": {"x"}}, {"do": {"revoke"}, "id": {"x"}}, {"do": {"password"}, "old": {matrixPassword}, "password": {"another password"}}} {
			if code, body := post(c, "/access/me", form); code == http.StatusOK || code == http.StatusUnprocessableEntity && !strings.Contains(body, "not for tokens") {
				t.Errorf("%s may %v: %d", name, form, code)
			}
		}
		for _, form := range []url.Values{{"do": {"invite"}, "role:*": {"admin"}}, {"do": {"signout"}, "id": {"x"}}, {"do": {"remove"}, "id": {"x"}}, {"do": {"grant"}, "id": {"x"}, "role:*": {"admin"}}} {
			before := tokens()
			if code, _ := post(c, "/access/people", form); code != http.StatusForbidden && code != http.StatusUnauthorized || tokens() != before {
				t.Errorf("%s may %v: %d", name, form, code)
			}
		}
	}
	if made == 0 {
		t.Error("no token was made: the test tries nothing")
	}
}

// An invitation of somebody who may not invite any more is void, and one of a server's token ends with it.
func TestInvitationsEndWithTheirMaker(t *testing.T) {
	accounts, _ := access.OpenAccounts(&access.Memory{})
	first, _ := accounts.FirstToken(false)
	door := access.NewDoor(access.Config{Accounts: accounts})
	principal := func(token string) (p access.Principal) {
		r := httptest.NewRequest("GET", "/static/", nil)
		r.Header = carrying(token)
		door.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { p = access.Of(r) })).ServeHTTP(httptest.NewRecorder(), r)
		return p
	}
	admin := access.Grants{access.Everywhere: access.Admin}
	join := func(by access.Principal) (secret, id string) {
		t.Helper()
		_, secret, err := accounts.Invite(by, "", admin)
		if err != nil {
			t.Fatal(err)
		}
		return secret, ""
	}
	byFirst, _ := join(principal(first))
	usable, _ := join(principal(first))
	id, err := accounts.Accept(usable, "ann", "", matrixPassword)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := accounts.MakeToken(id, "x", admin, time.Time{})
	byAnn, _ := join(principal(token))
	if _, err := accounts.Invited(byAnn); err != nil {
		t.Fatal(err)
	}
	if err := accounts.Grant(id, access.Grants{access.Everywhere: access.Operator}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.Invited(byAnn); err == nil {
		t.Error("the invitation of somebody who is no admin any more is valid")
	}
	if _, err := accounts.Invited(byFirst); err != nil {
		t.Error(err)
	}
	if err := accounts.DropFirst(); err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.Invited(byFirst); err == nil {
		t.Error("the invitation of a token that has been replaced is valid")
	}
}
