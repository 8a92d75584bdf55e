package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
)

// doorOf returns what admits people.
func (s *API) doorOf() (*access.Door, error) {
	if s.Door == nil {
		return nil, huma.Error404NotFound("this server admits everybody: it has no accounts")
	}
	return s.Door, nil
}

// done is the answer of a change.
func done(err error) (*deletedOutput, error) {
	if err != nil {
		return nil, asHTTP(err)
	}
	return &deletedOutput{http.StatusNoContent}, nil
}

// ownInput is the input of operations on one's own account.
type ownInput struct{ RawRequest }

// AccountItem names an account, or a token, a session or an invitation.
type AccountItem struct {
	ID string `path:"id" maxLength:"100" doc:"of the token, session, account or invitation"`
	RawRequest
}

// AccountToken is a token for programs. Its secret is in the answer that makes it only.
type AccountToken struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Grants  access.Grants `json:"grants"`
	Created time.Time     `json:"created"`
	Expires time.Time     `json:"expires,omitzero"`
	Used    time.Time     `json:"used,omitzero" doc:"last use, within ten minutes"`
}

// AccountSession is a browser in which the person has signed in.
type AccountSession struct {
	ID      string    `json:"id"`
	From    string    `json:"from,omitempty" doc:"address of the client"`
	Browser string    `json:"browser,omitempty"`
	Began   time.Time `json:"began"`
	Used    time.Time `json:"used" doc:"within ten minutes"`
	This    bool      `json:"this,omitempty" doc:"the request is of this session"`
}

// OwnAccount is the account of the person who asks.
type OwnAccount struct {
	Account  *access.Account  `json:"account,omitempty" doc:"missing for a token without an account"`
	Grants   access.Grants    `json:"grants" doc:"roles by project, * for all: those of the token or session of the request"`
	Tokens   []AccountToken   `json:"tokens"`
	Sessions []AccountSession `json:"sessions"`
}

type ownOutput struct{ Body OwnAccount }

func (s *API) readAccount(_ context.Context, in *ownInput) (*ownOutput, error) {
	d, err := s.doorOf()
	if err != nil {
		return nil, err
	}
	p := access.Of(in.request)
	out := OwnAccount{Grants: p.Grants, Tokens: []AccountToken{}, Sessions: []AccountSession{}}
	x, err := d.Accounts.Get(p.ID)
	if err != nil {
		return &ownOutput{out}, nil
	}
	out.Account = &x
	for _, t := range x.Tokens {
		out.Tokens = append(out.Tokens, tokenBody(t))
	}
	for _, b := range x.Sessions {
		out.Sessions = append(out.Sessions, AccountSession{b.ID, b.From, b.Browser, b.Began, b.Used, b.ID == p.Session()})
	}
	return &ownOutput{out}, nil
}

func tokenBody(t access.Token) AccountToken {
	return AccountToken{t.ID, t.Name, t.Grants, t.Created, t.Expires, t.Used}
}

// MadeToken is a new token.
type MadeToken struct {
	AccountToken
	Token string `json:"token" doc:"the secret, which is not said again"`
}

type makeTokenInput struct {
	RawRequest
	Body struct {
		Name    string      `json:"name" maxLength:"100"`
		Role    access.Role `json:"role" doc:"at most that of the account"`
		Project string      `json:"project,omitempty" maxLength:"64" doc:"the only project; missing for all of the account"`
		Days    int         `json:"days,omitempty" minimum:"0" maximum:"3650" doc:"until it expires; 0 for never"`
	}
}

type madeTokenOutput struct{ Body MadeToken }

func (s *API) makeToken(_ context.Context, in *makeTokenInput) (*madeTokenOutput, error) {
	d, err := s.doorOf()
	if err != nil {
		return nil, err
	}
	grants := access.Grants{cmp.Or(in.Body.Project, access.Everywhere): in.Body.Role}
	if err := s.knowsProjects(grants, nil); err != nil {
		return nil, err
	}
	t, secret, err := d.MakeToken(in.request, in.Body.Name, grants, in.Body.Days)
	if err != nil {
		return nil, asHTTP(err)
	}
	return &madeTokenOutput{MadeToken{tokenBody(t), secret}}, nil
}

type passwordInput struct {
	RawRequest
	Body struct {
		Present string `json:"present" maxLength:"1000"`
		New     string `json:"new" maxLength:"1000"`
	}
}

func (s *API) changePassword(_ context.Context, in *passwordInput) (*deletedOutput, error) {
	d, err := s.doorOf()
	if err != nil {
		return nil, err
	}
	return done(d.ChangePassword(in.request, in.Body.Present, in.Body.New))
}

// withDoor serves an operation on one thing of accounts.
func (s *API) withDoor(do func(*access.Door, *http.Request, string) error) func(context.Context, *AccountItem) (*deletedOutput, error) {
	return func(_ context.Context, in *AccountItem) (*deletedOutput, error) {
		d, err := s.doorOf()
		if err != nil {
			return nil, err
		}
		return done(do(d, in.request, in.ID))
	}
}

// AccountList is all accounts.
type AccountList struct {
	Accounts []access.Account `json:"accounts" doc:"by the name to sign in with"`
}

type accountsOutput struct{ Body AccountList }

func (s *API) listAccounts(context.Context, *struct{}) (*accountsOutput, error) {
	d, err := s.doorOf()
	if err != nil {
		return nil, err
	}
	return &accountsOutput{AccountList{d.Accounts.List()}}, nil
}

type changeAccountInput struct {
	AccountItem
	Body struct {
		Grants   access.Grants `json:"grants,omitempty" doc:"all roles of the account by project, * for all: viewer, commenter, author, operator, admin"`
		Disabled *bool         `json:"disabled,omitempty"`
	}
}

type accountOutput struct{ Body access.Account }

func (s *API) changeAccount(_ context.Context, in *changeAccountInput) (*accountOutput, error) {
	d, err := s.doorOf()
	if err != nil {
		return nil, err
	}
	x, err := d.Accounts.Get(in.ID)
	if err != nil {
		return nil, asHTTP(err)
	}
	if in.Body.Grants != nil {
		if err := s.knowsProjects(in.Body.Grants, x.Grants); err != nil {
			return nil, err
		}
	}
	if err := d.Grant(in.request, in.ID, in.Body.Grants, in.Body.Disabled); err != nil {
		return nil, asHTTP(err)
	}
	x, err = d.Accounts.Get(in.ID)
	if err != nil {
		return nil, asHTTP(err)
	}
	return &accountOutput{x}, nil
}

// knowsProjects refuses roles in projects that do not exist, unless the account has them.
func (s *API) knowsProjects(g, had access.Grants) error {
	for project := range g {
		if _, ok := had[project]; ok || project == access.Everywhere {
			continue
		}
		if ws := s.Projects.Find(project); ws == nil || ws.Name != project { // an earlier name may be that of another project later
			return huma.Error422UnprocessableEntity(fmt.Sprintf("a role in %.80q: there is no such project", project))
		}
	}
	return nil
}

// Invitation is a link by which one person makes an account.
type Invitation struct {
	ID      string        `json:"id"`
	For     string        `json:"for" doc:"a note: for whom"`
	Grants  access.Grants `json:"grants"`
	By      string        `json:"by"`
	Expires time.Time     `json:"expires"`
	Link    string        `json:"link,omitempty" doc:"in the answer that makes it only"`
}

// InvitationList is the invitations that can still be used.
type InvitationList struct {
	Invitations []Invitation `json:"invitations"`
}

type invitationsOutput struct{ Body InvitationList }

func invitationBody(x access.Invitation, link string) Invitation {
	return Invitation{x.ID, x.For, x.Grants, x.By, x.Expires, link}
}

func (s *API) listInvitations(context.Context, *struct{}) (*invitationsOutput, error) {
	d, err := s.doorOf()
	if err != nil {
		return nil, err
	}
	out := InvitationList{[]Invitation{}}
	for _, x := range d.Accounts.Invitations() {
		out.Invitations = append(out.Invitations, invitationBody(x, ""))
	}
	return &invitationsOutput{out}, nil
}

type inviteInput struct {
	RawRequest
	Body struct {
		For    string        `json:"for,omitempty" maxLength:"100" doc:"a note: for whom"`
		Grants access.Grants `json:"grants" doc:"roles by project, * for all"`
	}
}

type invitationOutput struct{ Body Invitation }

func (s *API) invite(_ context.Context, in *inviteInput) (*invitationOutput, error) {
	d, err := s.doorOf()
	if err != nil {
		return nil, err
	}
	if err := s.knowsProjects(in.Body.Grants, nil); err != nil {
		return nil, err
	}
	x, link, err := d.Invite(in.request, in.Body.For, in.Body.Grants)
	if err != nil {
		return nil, asHTTP(err)
	}
	return &invitationOutput{invitationBody(x, link)}, nil
}

type auditInput struct {
	Limit int `query:"limit" minimum:"1" maximum:"500" default:"500" doc:"number of events"`
}

// AuditList is the last events of the audit log.
type AuditList struct {
	Events []access.Event `json:"events" doc:"the last one first"`
}

type auditOutput struct{ Body AuditList }

func (s *API) readAudit(_ context.Context, in *auditInput) (*auditOutput, error) {
	d, err := s.doorOf()
	if err != nil {
		return nil, err
	}
	return &auditOutput{AuditList{d.Audit.Latest(in.Limit)}}, nil
}
