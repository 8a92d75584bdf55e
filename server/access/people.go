package access

import (
	"errors"
	"net/http"
	"time"
)

// What people do with accounts, by a form or an operation, is done here, and added to the audit log.

// did logs what has been done, unless it has failed.
func (d *Door) did(r *http.Request, what, on string, err error) error {
	if err == nil {
		d.log(r, Of(r), what, on, "")
	}
	return err
}

// loginOf returns the login of an account, for the audit log; its id if there is no such account.
func (d *Door) loginOf(id string) string {
	if x, err := d.Accounts.Get(id); err == nil {
		return x.Login
	}
	return id
}

// Invite makes an invitation, and returns its link.
func (d *Door) Invite(r *http.Request, note string, g Grants) (x Invitation, link string, err error) {
	if len(g) == 0 {
		return x, "", errors.New("choose a role first")
	}
	x, text, err := d.Accounts.Invite(Of(r), note, g)
	return x, d.origin(r) + "/access/join/" + text, d.did(r, "people: invite", note+" as "+g.String(), err)
}

// Withdraw deletes an invitation.
func (d *Door) Withdraw(r *http.Request, id string) error {
	return d.did(r, "people: withdraw", id, d.Accounts.Withdraw(id))
}

// Grant sets the roles of an account, and whether it is disabled.
func (d *Door) Grant(r *http.Request, id string, g Grants, disabled *bool) error {
	what := d.loginOf(id)
	if disabled != nil && *disabled {
		what += ", disabled,"
	}
	if g != nil {
		what += " as " + g.String()
	}
	return d.did(r, "people: grant", what, d.Accounts.Change(id, g, disabled))
}

// SignOut ends all sessions of an account.
func (d *Door) SignOut(r *http.Request, id string) error {
	return d.did(r, "people: signout", d.loginOf(id), d.Accounts.End(id, "", ""))
}

// Remove deletes an account.
func (d *Door) Remove(r *http.Request, id string) error {
	on := d.loginOf(id)
	return d.did(r, "people: remove", on, d.Accounts.Remove(id))
}

// MakeToken makes a token of one's own account that is valid for some days, for ever with 0, and returns its secret.
func (d *Door) MakeToken(r *http.Request, name string, g Grants, days int) (t Token, secret string, err error) {
	var expires time.Time
	if days > 0 {
		expires = time.Now().UTC().AddDate(0, 0, min(days, maxTokenDays))
	}
	t, secret, err = d.Accounts.MakeToken(Of(r).ID, name, g, expires)
	return t, secret, d.did(r, "account: token", name, err)
}

const maxTokenDays = 3650

// Revoke deletes a token of one's own account.
func (d *Door) Revoke(r *http.Request, id string) error {
	return d.did(r, "account: revoke", id, d.Accounts.Revoke(Of(r).ID, id))
}

// EndSession ends a session of one's own account.
func (d *Door) EndSession(r *http.Request, id string) error {
	return d.did(r, "account: end", id, d.Accounts.End(Of(r).ID, id, ""))
}

// ChangePassword changes the password of one's own account. Guesses of the present one are slowed down.
func (d *Door) ChangePassword(r *http.Request, present, next string) error {
	p := Of(r)
	x, err := d.Accounts.Get(p.ID)
	if err != nil {
		return err
	}
	ok, wait := d.guesses.try(clientOf(r), []string{clientOf(r), "account " + x.Login}, func() bool {
		_, ok := d.Accounts.checkLogin(x.Login, present)
		return ok
	})
	if !ok || wait > 0 {
		return errors.New("the present password is wrong")
	}
	return d.did(r, "account: password", "", d.Accounts.SetPassword(p.ID, next, p.session))
}

// Session returns the id of the session of a principal, "" without one.
func (p Principal) Session() string { return p.session }
