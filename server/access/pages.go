package access

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"wirebench/server/answer"
	"wirebench/static"
	"wirebench/templates"
)

// maxForm is the maximum number of bytes of a form.
const maxForm = 64 << 10

// shownEvents is the number of events of the audit log on its page.
const shownEvents = 500

// routes returns the pages below /access. They need no scripts.
func (d *Door) routes() chi.Router {
	r := chi.NewRouter()
	r.Use(OwnPages, d.permit(r), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			next.ServeHTTP(w, r)
		})
	})
	r.Get("/access", func(w http.ResponseWriter, r *http.Request) { d.signInPage(w, r, http.StatusOK, "") })
	r.Post("/access", d.signIn)
	r.Post("/access/out", d.signOut)
	r.Get("/access/join/{secret}", d.joinPage)
	r.Post("/access/join/{secret}", d.join)
	r.Post("/access/oidc", d.startOIDC)
	r.Get("/access/oidc/back", d.endOIDC)
	r.Get("/access/me", func(w http.ResponseWriter, r *http.Request) { d.me(w, r, templates.AccessPage{}, "") })
	r.Post("/access/me", d.changeMe)
	r.Get("/access/people", func(w http.ResponseWriter, r *http.Request) { d.people(w, r, templates.AccessPage{}, "") })
	r.Post("/access/people", d.changePeople)
	r.Get("/access/audit", d.auditPage)
	return r
}

// permit refuses requests that the table does not allow, as Guard does for the other routes. Who has no role is asked to sign in.
func (d *Door) permit(routes chi.Routes) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, n := Of(r), Guard{}.needOf(routes, r)
			switch why := p.lacks(n); {
			case why == "":
				next.ServeHTTP(w, r)
			case p.Grants.Any() == Nobody:
				d.signInPage(w, r, http.StatusUnauthorized, "")
			default:
				d.Refused(r)
				answer.Problem(w, http.StatusForbidden, r.Method+" "+r.URL.Path+" "+why)
			}
		})
	}
}

// signInPage asks for a password or a token. The browser then goes to the page that was asked for.
func (d *Door) signInPage(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	to := r.URL.RequestURI()
	if r.URL.Path == "/access" || strings.HasPrefix(r.URL.Path, "/access/oidc") {
		to = localPath(r.FormValue("to"))
	}
	d.render(w, r, status, templates.AccessPage{
		Title: "sign in", To: to, Wrong: wrong, Persons: !d.Accounts.Empty(), Tokens: d.Accounts.hasBare(), OIDC: d.OIDC.title(),
	})
}

// hasBare reports whether there are tokens without an account.
func (a *Accounts) hasBare() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first != nil || len(a.fixed) > 0
}

// signIn begins a session, by a password or a token.
func (d *Door) signIn(w http.ResponseWriter, r *http.Request) {
	login, password, token := r.PostFormValue("login"), r.PostFormValue("password"), r.PostFormValue("token")
	from := clientOf(r)
	if login != "" {
		keys := []string{from, "account " + strings.ToLower(strings.TrimSpace(login))}
		if d.Accounts.knows(login, from) {
			keys = keys[:1] // guesses of others do not slow somebody down who has signed in from here before
		}
		id := ""
		ok, wait := d.guesses.try(from, keys, func() (ok bool) {
			id, ok = d.Accounts.checkLogin(login, password)
			return ok
		})
		d.signedIn(w, r, id, ok, wait, "Wrong name or password.", login)
		return
	}
	p, ok, wait := d.byToken(r, strings.TrimSpace(token))
	if !ok || p.ID != "" || token == "" {
		if ok = ok && p.ID != "" && token != ""; !ok {
			d.signedIn(w, r, "", false, wait, "Wrong token.", "")
			return
		}
		d.signedIn(w, r, "", false, 0, "This token is for programs: sign in with your password.", "")
		return
	}
	secret, err := d.Accounts.BeginWith(strings.TrimSpace(token), from, r.UserAgent())
	if err != nil {
		d.signInPage(w, r, http.StatusInternalServerError, "The session cannot be stored: "+err.Error())
		return
	}
	d.log(r, p, "sign in", "", "")
	d.setSession(w, r, secret)
	http.Redirect(w, r, localPath(r.PostFormValue("to")), http.StatusSeeOther)
}

// knows reports whether somebody has signed in to an account from an address.
func (a *Accounts) knows(login, from string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.accounts, func(x *Account) bool {
		return x.Login == strings.ToLower(strings.TrimSpace(login)) && slices.ContainsFunc(x.Sessions, func(s Session) bool { return s.From == from })
	})
}

// signedIn answers an attempt to sign in to an account.
func (d *Door) signedIn(w http.ResponseWriter, r *http.Request, id string, ok bool, wait time.Duration, wrong, login string) {
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(answer.Seconds(wait)))
		d.signInPage(w, r, http.StatusTooManyRequests, fmt.Sprintf("Too many wrong attempts. Try again in %d s.", answer.Seconds(wait)))
		return
	}
	if !ok {
		d.log(r, Principal{Name: "somebody"}, "sign in", strings.TrimSpace(login), "refused")
		d.signInPage(w, r, http.StatusUnauthorized, wrong)
		return
	}
	secret, err := d.Accounts.Begin(id, clientOf(r), r.UserAgent())
	if err != nil {
		d.signInPage(w, r, http.StatusInternalServerError, "The session cannot be stored: "+err.Error())
		return
	}
	p, _ := d.Accounts.principal(secret)
	d.log(r, p, "sign in", "", "")
	d.setSession(w, r, secret)
	http.Redirect(w, r, localPath(r.FormValue("to")), http.StatusSeeOther)
}

// signOut ends the session.
func (d *Door) signOut(w http.ResponseWriter, r *http.Request) {
	p := Of(r)
	if err := d.Accounts.EndThis(p); err != nil && !errors.Is(err, ErrRevoked) {
		answer.Problem(w, http.StatusInternalServerError, "the session cannot be ended: "+err.Error())
		return
	}
	d.log(r, p, "sign out", "", "")
	gone := d.cookie(r, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	http.Redirect(w, r, "/access", http.StatusSeeOther)
}

func (d *Door) joinPage(w http.ResponseWriter, r *http.Request) { d.joinForm(w, r, http.StatusOK, "") }

func (d *Door) joinForm(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	x, err := d.Accounts.Invited(chi.URLParam(r, "secret"))
	if err != nil {
		d.render(w, r, http.StatusGone, templates.AccessPage{Title: "join", Wrong: capital(err.Error()) + ".", Persons: true, To: "/"})
		return
	}
	d.render(w, r, status, templates.AccessPage{Title: "join", Wrong: wrong, Join: &templates.AccessJoin{For: x.For, By: x.By, Roles: x.Grants.String()}})
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// join makes the account of an invitation, and signs in.
func (d *Door) join(w http.ResponseWriter, r *http.Request) {
	id, err := d.Accounts.Accept(chi.URLParam(r, "secret"), r.PostFormValue("login"), r.PostFormValue("name"), r.PostFormValue("password"))
	if err != nil {
		d.joinForm(w, r, http.StatusUnprocessableEntity, capital(err.Error())+".")
		return
	}
	d.log(r, Principal{ID: id, Name: r.PostFormValue("login")}, "join", "", "")
	d.signedIn(w, r, id, true, 0, "", "")
}

// String lists the roles: "viewer everywhere, author in mine".
func (g Grants) String() string {
	var out []string
	for _, project := range slices.Sorted(maps.Keys(g)) {
		if project == Everywhere {
			out = append(out, g[project].String()+" everywhere")
		} else {
			out = append(out, g[project].String()+" in "+project)
		}
	}
	if len(out) == 0 {
		return "no role"
	}
	return strings.Join(out, ", ")
}

func (d *Door) projects(p Principal) (out []templates.Choice) {
	if d.Projects == nil {
		return nil
	}
	for _, name := range d.Projects(p) {
		out = append(out, templates.Choice{Value: name, Text: name})
	}
	return out
}

func dayText(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// me shows the page of one's own account.
func (d *Door) me(w http.ResponseWriter, r *http.Request, v templates.AccessPage, secret string) {
	p := Of(r)
	m := &templates.AccessMe{Roles: p.Grants.String(), Secret: secret, Projects: d.projects(p), RoleNames: RoleNames()[:max(p.Grants.Any(), 1)]}
	if x, err := d.Accounts.Get(p.ID); err == nil {
		m.Account, m.Login, m.Password = true, x.Login, x.Password != ""
		for _, t := range x.Tokens {
			m.Tokens = append(m.Tokens, templates.AccessToken{ID: t.ID, Name: t.Name, Roles: t.Grants.String(), Created: dayText(t.Created, ""), Expires: dayText(t.Expires, "never"), Used: dayText(t.Used, "never")})
		}
		for _, s := range x.Sessions {
			m.Sessions = append(m.Sessions, templates.AccessSession{ID: s.ID, From: s.From, Browser: s.Browser, Began: dayText(s.Began, ""), Used: dayText(s.Used, ""), This: s.ID == p.session})
		}
	}
	v.Title, v.Me = "Your account", m
	d.page(w, r, v)
}

// page renders a page of somebody who is signed in.
func (d *Door) page(w http.ResponseWriter, r *http.Request, v templates.AccessPage) {
	p := Of(r)
	v.Who, v.Admin = p.Who(), p.In("") == Admin
	status := http.StatusOK
	if v.Wrong != "" {
		status = http.StatusUnprocessableEntity
	}
	d.render(w, r, status, v)
}

// changeMe changes one's own account.
func (d *Door) changeMe(w http.ResponseWriter, r *http.Request) {
	p, do, id := Of(r), r.PostFormValue("do"), r.PostFormValue("id")
	var err error
	done, secret := "", ""
	if why := p.Refusal("form me "+do, ""); why != "" {
		do, err = "", errors.New("this form "+why)
	}
	switch do {
	case "":
	case "token":
		role, _ := ParseRole(r.PostFormValue("role"))
		days, _ := strconv.Atoi(r.PostFormValue("days"))
		_, secret, err = d.MakeToken(r, r.PostFormValue("name"), Grants{cmp.Or(r.PostFormValue("project"), Everywhere): role}, days)
	case "revoke":
		err, done = d.Revoke(r, id), "The token is revoked."
	case "end":
		err, done = d.EndSession(r, id), "That browser is signed out."
	case "password":
		err, done = d.ChangePassword(r, r.PostFormValue("old"), r.PostFormValue("password")), "The password is changed, your other browsers are signed out, and your tokens are revoked."
	default:
		err = errors.New("unknown form")
	}
	v := templates.AccessPage{Done: done}
	if err != nil {
		v.Wrong, v.Done = capital(err.Error())+".", ""
	}
	d.me(w, r, v, secret)
}

// people shows the accounts and invitations.
func (d *Door) people(w http.ResponseWriter, r *http.Request, v templates.AccessPage, link string) {
	p := &templates.AccessPeople{Link: link, Projects: d.projects(Of(r)), RoleNames: RoleNames()}
	for _, x := range d.Accounts.List() {
		a := templates.AccessAccount{
			ID: x.ID, Login: x.Login, Name: x.Name, Used: dayText(x.Used, "never"), Roles: map[string]string{}, RolesText: d.Accounts.Granted(x).String(),
			Disabled: x.Disabled, Self: x.ID == Of(r).ID, Tokens: len(x.Tokens), Sessions: len(x.Sessions),
		}
		if x.External != nil {
			a.From = x.External.Issuer + ", "
			if len(x.Groups) > 0 {
				a.From += "in " + strings.Join(x.Groups, ", ") + " there, "
			}
		}
		for project, role := range x.Grants {
			a.Roles[project] = role.String()
		}
		p.Accounts = append(p.Accounts, a)
	}
	for _, i := range d.Accounts.Invitations() {
		p.Invitations = append(p.Invitations, templates.AccessInvitation{ID: i.ID, For: cmp.Or(i.For, "somebody"), Roles: i.Grants.String(), By: i.By, Expires: dayText(i.Expires, "")})
	}
	v.Title, v.People = "People", p
	d.page(w, r, v)
}

// grantsOf reads the roles of a form.
func grantsOf(r *http.Request) Grants {
	g := Grants{}
	for name := range r.PostForm {
		project, ok := strings.CutPrefix(name, "role:")
		if role, known := ParseRole(r.PostFormValue(name)); ok && known {
			g[project] = role
		}
	}
	return g
}

// changePeople changes accounts and invitations.
func (d *Door) changePeople(w http.ResponseWriter, r *http.Request) {
	p, do, id := Of(r), r.PostFormValue("do"), r.PostFormValue("id")
	link, done := "", ""
	var err error
	if why := p.Refusal("form people "+do, ""); why != "" {
		do, err = "", errors.New("this form "+why)
	}
	switch do {
	case "":
	case "invite":
		_, link, err = d.Invite(r, r.PostFormValue("for"), grantsOf(r))
	case "withdraw":
		err, done = d.Withdraw(r, id), "The invitation is withdrawn."
	case "grant":
		disabled := r.PostFormValue("disabled") != ""
		err, done = d.Grant(r, id, grantsOf(r), &disabled), "The roles are saved."
	case "signout":
		err, done = d.SignOut(r, id), "Signed out everywhere."
	case "remove":
		err, done = d.Remove(r, id), "The account is deleted."
	default:
		err = errors.New("unknown form")
	}
	v := templates.AccessPage{Done: done}
	if err != nil {
		v.Wrong, v.Done, link = capital(err.Error())+".", "", ""
	}
	d.people(w, r, v, link)
}

// auditPage shows the audit log.
func (d *Door) auditPage(w http.ResponseWriter, r *http.Request) {
	out := []templates.AccessEvent{}
	for _, e := range d.Audit.Latest(shownEvents) {
		out = append(out, templates.AccessEvent{At: e.At.Format("2006-01-02 15:04:05"), Who: e.Who, From: e.From, What: e.What, On: e.On, Result: e.result()})
	}
	d.page(w, r, templates.AccessPage{Title: "Audit log", Audit: out})
}

// result describes the result of an event, for people.
func (e Event) result() string {
	text := cmp.Or(e.Result, "done")
	if e.Count > 0 {
		text += fmt.Sprintf(", %d times more", e.Count)
	}
	return text
}

// origin returns the address of the server, as the client knows it.
func (d *Door) origin(r *http.Request) string {
	if d.Base != nil {
		return d.Base.Scheme + "://" + d.Base.Host + static.Base()
	}
	scheme := "http"
	if Secure(r) {
		scheme = "https"
	}
	return scheme + "://" + r.Host + static.Base()
}
