package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"wirebench/static"
)

// Bounds of signing in at a provider.
const (
	oidcTime     = 10 * time.Minute // from the start to the return
	oidcTimeout  = 15 * time.Second // of one request to the provider
	oidcCookie   = "wirebench_oidc"
	oidcRetry    = 10 * time.Second // between attempts to reach the provider
	maxOIDCState = 1 << 11
)

// OIDC signs people in at an OpenID provider: with PKCE, state and nonce. A person is identified by issuer and subject.
type OIDC struct {
	Issuer, ClientID, Secret string
	Name                     string // shown on the button; the host of the issuer by default
	Client                   *http.Client
	GroupsClaim              string // where an identity has its groups, as in "groups" or "realm_access.roles"
	Roles                    ProviderRoles

	mu       sync.Mutex
	provider *oidc.Provider
	failed   time.Time
	err      error
}

// title is the name on the button, "" without a provider.
func (o *OIDC) title() string {
	if o == nil {
		return ""
	}
	if o.Name != "" {
		return o.Name
	}
	host := strings.TrimPrefix(strings.TrimPrefix(o.Issuer, "https://"), "http://")
	host, _, _ = strings.Cut(host, "/")
	return host
}

// context is that of requests to the provider.
func (o *OIDC) context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, oidcTimeout)
	client := o.Client
	if client == nil {
		client = http.DefaultClient
	}
	return oidc.ClientContext(ctx, client), cancel
}

// discover returns the provider. One that cannot be reached is asked again later: the server starts without it.
func (o *OIDC) discover() (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider != nil || time.Since(o.failed) < oidcRetry {
		return o.provider, o.err
	}
	client := o.Client
	if client == nil {
		client = &http.Client{Timeout: oidcTimeout}
	}
	p, err := oidc.NewProvider(oidc.ClientContext(context.Background(), client), o.Issuer) // it keeps the context for its keys
	if err != nil {
		o.failed, o.err = time.Now(), fmt.Errorf("the provider %s cannot be used: %w", o.Issuer, err)
		return nil, o.err
	}
	o.provider, o.err = p, nil
	return p, nil
}

func (d *Door) oauth(p *oidc.Provider, r *http.Request) *oauth2.Config {
	return &oauth2.Config{ClientID: d.OIDC.ClientID, ClientSecret: d.OIDC.Secret, Endpoint: p.Endpoint(), RedirectURL: d.origin(r) + "/access/oidc/back", Scopes: d.OIDC.scopes(p)}
}

// scopes returns what is asked of a provider: groups only if they have roles, and if it has a scope for them.
func (o *OIDC) scopes(p *oidc.Provider) []string {
	out := []string{oidc.ScopeOpenID, "profile"}
	var says struct {
		Scopes []string `json:"scopes_supported"`
	}
	if len(o.Roles.Groups) > 0 && p.Claims(&says) == nil && slices.Contains(says.Scopes, "groups") {
		out = append(out, "groups")
	}
	return out
}

// groups returns the groups of an identity that have roles here, sorted.
func (o *OIDC) groups(claims map[string]any) (out []string) {
	claim := cmp.Or(o.GroupsClaim, "groups")
	at, ok := claims[claim] // which may have dots
	if !ok {
		at = any(claims)
		for name := range strings.SplitSeq(claim, ".") {
			inside, _ := at.(map[string]any)
			at = inside[name]
		}
	}
	if one, ok := at.(string); ok {
		at = []any{one}
	}
	list, _ := at.([]any)
	for _, x := range list {
		if name, ok := x.(string); ok && o.Roles.Groups[name] != nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// underWay is what the browser keeps while somebody signs in at the provider.
type underWay struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	To       string    `json:"t"`
	Invite   string    `json:"i,omitempty"`
	Until    time.Time `json:"u"`
}

// startOIDC sends the browser to the provider.
func (d *Door) startOIDC(w http.ResponseWriter, r *http.Request) {
	if d.OIDC == nil {
		http.NotFound(w, r)
		return
	}
	p, err := d.OIDC.discover()
	if err != nil {
		d.signInPage(w, r, http.StatusBadGateway, capital(err.Error())+".")
		return
	}
	u := underWay{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), localPath(r.PostFormValue("to")), r.PostFormValue("invite"), time.Now().Add(oidcTime)}
	text, err := json.Marshal(u)
	if err != nil || len(text) > maxOIDCState {
		u.To = "/"
		text, _ = json.Marshal(u) // of texts: it never fails
	}
	http.SetCookie(w, d.oidcCookie(r, encode(text), int(oidcTime/time.Second)))
	http.Redirect(w, r, d.oauth(p, r).AuthCodeURL(u.State, oidc.Nonce(u.Nonce), oauth2.S256ChallengeOption(u.Verifier)), http.StatusSeeOther)
}

func (d *Door) oidcCookie(r *http.Request, value string, seconds int) *http.Cookie {
	return &http.Cookie{Name: oidcCookie, Value: value, Path: static.Base() + "/access/oidc", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: Secure(r), MaxAge: seconds}
}

// endOIDC takes the answer of the provider.
func (d *Door) endOIDC(w http.ResponseWriter, r *http.Request) {
	if d.OIDC == nil {
		http.NotFound(w, r)
		return
	}
	u, err := d.begun(r)
	http.SetCookie(w, d.oidcCookie(r, "", -1)) // it is used once
	var who *oidc.IDToken
	if err == nil {
		who, err = d.identify(r, u)
	}
	if err != nil {
		d.Log.Warn("sign in at the provider", "client", clientOf(r), "error", err)
		d.log(r, Principal{Name: "somebody at " + d.OIDC.title()}, "sign in", "", "refused")
		d.signInPage(w, r, http.StatusUnauthorized, "Signing in at "+d.OIDC.title()+" failed: "+err.Error()+".")
		return
	}
	claims := map[string]any{}
	_ = who.Claims(&claims) // an identity that says nothing has no name and no group
	nick, _ := claims["preferred_username"].(string)
	name, _ := claims["name"].(string)
	id, err := d.Accounts.External(External{who.Issuer, who.Subject}, nick, name, u.Invite)
	if err == nil {
		err = d.Accounts.inGroups(id, d.OIDC.groups(claims))
	}
	if err != nil {
		d.signInPage(w, r, http.StatusForbidden, capital(err.Error())+".")
		return
	}
	r.Form = map[string][]string{"to": {u.To}}
	d.signedIn(w, r, id, true, 0, "", "")
}

// begun returns what the browser kept, if the answer belongs to it.
func (d *Door) begun(r *http.Request) (u underWay, err error) {
	c, err := r.Cookie(oidcCookie)
	if err != nil {
		return u, errors.New("it was not started in this browser, or too long ago")
	}
	text, err := decode(c.Value)
	if err == nil {
		err = json.Unmarshal(text, &u)
	}
	switch {
	case err != nil || u.State == "" || r.URL.Query().Get("state") != u.State:
		return u, errors.New("the answer belongs to another attempt")
	case time.Now().After(u.Until):
		return u, errors.New("it took too long")
	case r.URL.Query().Get("error") != "":
		return u, fmt.Errorf("the provider says %.100q", r.URL.Query().Get("error"))
	}
	return u, nil
}

// identify exchanges the code for the identity.
func (d *Door) identify(r *http.Request, u underWay) (*oidc.IDToken, error) {
	p, err := d.OIDC.discover()
	if err != nil {
		return nil, err
	}
	ctx, cancel := d.OIDC.context(r.Context())
	defer cancel()
	tokens, err := d.oauth(p, r).Exchange(ctx, r.URL.Query().Get("code"), oauth2.VerifierOption(u.Verifier))
	if err != nil {
		return nil, errors.New("the provider does not accept the code")
	}
	raw, _ := tokens.Extra("id_token").(string)
	who, err := p.Verifier(&oidc.Config{ClientID: d.OIDC.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, errors.New("the provider sent no valid identity")
	}
	if who.Nonce != u.Nonce || who.Subject == "" {
		return nil, errors.New("the identity belongs to another attempt")
	}
	return who, nil
}

// External returns the account of a person of a provider. A new person gets an account without a role, or with those of an invitation.
func (a *Accounts) External(of External, login, name, invite string) (id string, err error) {
	a.mu.Lock()
	for _, x := range a.accounts {
		if x.External != nil && *x.External == of {
			id = x.ID
			if x.Disabled {
				err = errors.New("your account is disabled")
			}
		}
	}
	a.mu.Unlock()
	if id != "" || err != nil {
		return id, err
	}
	login = strings.Map(func(r rune) rune {
		if loginForm.MatchString("a" + string(r)) {
			return r
		}
		return -1
	}, strings.ToLower(login))
	login = strings.TrimLeft(login[:min(len(login), 50)], "._@-")
	if login == "" {
		login = "person"
	}
	login, name, err = checkPerson(login, name)
	if err != nil {
		return "", err
	}
	x := &Account{Login: login, Name: name, External: &of, Grants: Grants{}}
	for n := 2; ; n++ { // names may be taken by others, who are other people
		if invite != "" {
			id, err = a.accept(invite, x)
		} else {
			err = a.change(func() error {
				if err := a.add(x); err != nil {
					return err
				}
				id = x.ID
				return nil
			})
		}
		if !errors.Is(err, ErrLoginTaken) || n > 1000 {
			return id, err
		}
		x.Login = fmt.Sprintf("%s-%d", login, n)
	}
}

// inGroups sets the groups of an account, as its provider says them. Tokens and what goes on lose at once what the account has not any more.
func (a *Accounts) inGroups(id string, groups []string) error {
	if x, err := a.Get(id); err != nil || slices.Equal(x.Groups, groups) {
		return err
	}
	return a.change(func() error {
		x, err := a.of(id)
		if err != nil {
			return err
		}
		x.Groups = groups
		x.cutTokens(a.rolesOf(x))
		return nil
	})
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func decode(s string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(s) }
