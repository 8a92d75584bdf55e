package access

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds of accounts.
const (
	MaxAccounts    = 10_000
	maxSessions    = 50 // of an account; the one unused for longest ends
	maxTokens      = 100
	maxInvitations = 1000
	maxNameBytes   = 100
	sessionIdle    = 30 * 24 * time.Hour // a session ends when it was not used for this long
	sessionMost    = 365 * 24 * time.Hour
	InvitationTime = 7 * 24 * time.Hour
	touchTime      = 10 * time.Minute // precision of the last use on disk
)

// Errors of accounts.
var (
	ErrNoAccount  = errors.New("there is no such account")
	ErrLastAdmin  = errors.New("the last admin must stay: make another account an admin first")
	ErrExpired    = errors.New("this link has been used, has expired or was withdrawn: ask for a new one")
	ErrLoginTaken = errors.New("another account has this name")
	ErrPassword   = fmt.Errorf("a password has %d to %d characters", minPassword, maxPassword)
	ErrTooMany    = errors.New("too many: remove some first")
	ErrRevoked    = errors.New("there is no such token or session")
)

// Account is a person. Secrets are stored as hashes.
type Account struct {
	ID       string    `json:"id"`
	Login    string    `json:"login" doc:"name to sign in with; lower case"`
	Name     string    `json:"name" doc:"name for people"`
	Grants   Grants    `json:"grants" doc:"roles by project, * for all: viewer, commenter, author, operator, admin"`
	Disabled bool      `json:"disabled,omitempty" doc:"it cannot sign in, and its tokens are refused"`
	Created  time.Time `json:"created"`
	Used     time.Time `json:"used,omitzero" doc:"last use, within ten minutes"`
	External *External `json:"external,omitempty" doc:"the identity at the OpenID provider"`
	Groups   []string  `json:"groups,omitempty" doc:"groups at the provider that have roles here, as of the last sign-in"`

	Password string    `json:"-"`
	Sessions []Session `json:"-"`
	Tokens   []Token   `json:"-"`
}

// External identifies a person at an OpenID provider: never by an e-mail address, which can be given to somebody else.
type External struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

// Session is a browser in which somebody has signed in.
type Session struct {
	ID      string    `json:"id"`
	Hash    string    `json:"hash"`
	Began   time.Time `json:"began"`
	Used    time.Time `json:"used"`
	From    string    `json:"from,omitempty"`
	Browser string    `json:"browser,omitempty"`
}

// Token is a secret for programs. It allows at most what its account may do.
type Token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Hash    string    `json:"hash"`
	Grants  Grants    `json:"grants"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"used,omitzero"`
}

// Invitation is a link by which one person makes an account.
type Invitation struct {
	ID      string    `json:"id"`
	Hash    string    `json:"hash"`
	For     string    `json:"for"` // a note: for whom
	Grants  Grants    `json:"grants"`
	By      string    `json:"by"`
	Maker   string    `json:"maker,omitempty"` // id of the account, or hash of the token without one; "" in those of earlier versions
	Expires time.Time `json:"expires"`
}

// MarshalText returns the name of a role.
func (x Role) MarshalText() ([]byte, error) { return []byte(x.String()), nil }

// UnmarshalText parses the name of a role that can be granted.
func (x *Role) UnmarshalText(text []byte) error {
	r, ok := ParseRole(string(text))
	if !ok {
		return fmt.Errorf("role %q: must be one of %s", text, strings.Join(RoleNames(), ", "))
	}
	*x = r
	return nil
}

// keptAccount is the form of an account on disk.
type keptAccount struct {
	Account
	Password string    `json:"password,omitempty"`
	Sessions []Session `json:"sessions,omitempty"`
	Tokens   []Token   `json:"tokens,omitempty"`
}

// kept is the file of accounts.
type kept struct {
	Accounts    []keptAccount `json:"accounts"`
	Invitations []Invitation  `json:"invitations,omitempty"`
	First       *Token        `json:"first,omitempty"` // the token made at the first start

	// Sessions begun with the token of the first start or of the command line. One is valid as long as its token is.
	Signed []signed `json:"signed,omitempty"`
}

// signed is a session without an account.
type signed struct {
	Session
	Token string `json:"token"` // hash
}

// File stores the accounts. Write replaces the content, durably and as a whole.
type File interface {
	Read() ([]byte, error) // nil if there is none yet
	Write([]byte) error
}

// Accounts are the persons who may use a server, with their sessions and tokens, and the invitations. It is safe for concurrent use.
type Accounts struct {
	file File
	mark File // see OpenKept; nil: none
	now  func() time.Time

	mu          sync.Mutex
	accounts    []*Account
	invitations []Invitation
	first       *Token
	signed      []signed
	fixed       map[string]Token // tokens of the command line, by hash
	bySecret    map[string]found // by hash of a session or token
	saved       time.Time        // of the last use
	had         bool             // there are or have been accounts or invitations
	roles       ProviderRoles    // of people of the OpenID provider, besides those that admins give

	watches watches
}

// found is where a secret belongs.
type found struct {
	account *Account // nil: a token without an account, or a session begun with one
	session string   // ids; one of them is set
	token   string   // for a session without an account: the hash of its token
}

// OpenAccounts reads the accounts. A file that is not one that was written here is an error, also an empty one: without its accounts the
// server would be open to everybody.
func OpenAccounts(file File) (*Accounts, error) {
	a := &Accounts{file: file, now: time.Now}
	text, err := file.Read()
	if err != nil {
		return nil, err
	}
	if text != nil {
		var k kept
		if err := json.Unmarshal(text, &k); err != nil {
			return nil, fmt.Errorf("the accounts are damaged: %w", err)
		}
		if k.Accounts == nil { // 0 bytes are no JSON; null, {} and other objects have no list
			return nil, errors.New("the accounts are damaged: there is no list of accounts")
		}
		for _, x := range k.Accounts {
			one := x.Account
			one.Password, one.Sessions, one.Tokens = x.Password, x.Sessions, x.Tokens
			if one.External == nil {
				one.cutTokens(one.Grants) // earlier versions stored roles that the account had not
			}
			a.accounts = append(a.accounts, &one)
		}
		a.invitations, a.first, a.signed = k.Invitations, k.First, k.Signed
	}
	a.had = a.persons()
	a.index()
	return a, nil
}

// ErrLost reports that the file of accounts of a data folder is gone.
var ErrLost = errors.New("the file is missing, and there have been accounts")

// markText is the content of the mark, for people.
const markText = `{"about": "This data folder has had accounts: the server does not start without accounts.json. See wirebench token --reset."}` + "\n"

// OpenKept reads the accounts of a data folder. The file mark remembers that there have been accounts, also when the file of accounts is
// lost; the audit log remembers it for folders of earlier versions. The error is ErrLost then.
func OpenKept(file, mark File, audit *Audit) (*Accounts, error) {
	a, err := OpenAccounts(file)
	if err != nil {
		return nil, err
	}
	marked, err := mark.Read()
	if err != nil {
		return nil, err
	}
	text, err := file.Read()
	switch {
	case err != nil:
		return nil, err
	case text == nil && (marked != nil || audit.hasPersons()):
		return nil, ErrLost
	}
	a.mark, a.had = mark, marked != nil
	if !a.persons() {
		return a, nil
	}
	return a, a.remember()
}

// Reset makes a file without accounts, with its mark: the server stays closed to everybody without a token.
func Reset(file, mark File) error {
	if err := mark.Write([]byte(markText)); err != nil {
		return err
	}
	return (&Accounts{file: file, mark: mark, had: true, now: time.Now}).save()
}

// persons reports whether people other than the one at the machine have been let in.
func (a *Accounts) persons() bool { return len(a.accounts)+len(a.invitations) > 0 }

// remember writes the mark before there are persons. The caller holds mu, or has the only reference.
func (a *Accounts) remember() error {
	if a.had || !a.persons() {
		return nil
	}
	if a.mark != nil {
		text, err := a.file.Read()
		if err == nil && text == nil { // a mark without a file would mean that it is lost
			err = a.file.Write([]byte(`{"accounts": []}` + "\n"))
		}
		if err != nil {
			return err
		}
		if err := a.mark.Write([]byte(markText)); err != nil {
			return err
		}
	}
	a.had = true
	return nil
}

// Had reports whether there are accounts or invitations, or have been.
func (a *Accounts) Had() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.had
}

// index finds all secrets again. The caller holds mu, or has the only reference.
func (a *Accounts) index() {
	a.bySecret = map[string]found{}
	for _, x := range a.accounts {
		for _, s := range x.Sessions {
			a.bySecret[s.Hash] = found{x, s.ID, ""}
		}
		for _, t := range x.Tokens {
			a.bySecret[t.Hash] = found{x, "", t.ID}
		}
	}
	for _, s := range a.signed {
		a.bySecret[s.Hash] = found{nil, s.ID, s.Token}
	}
	if a.first != nil {
		a.bySecret[a.first.Hash] = found{nil, "", a.first.Hash}
	}
	for hash := range a.fixed {
		a.bySecret[hash] = found{nil, "", hash}
	}
}

// Fix sets the tokens of the command line, which are not stored.
func (a *Accounts) Fix(tokens map[string]Token) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fixed = map[string]Token{}
	for text, t := range tokens {
		a.fixed[hashOf(text)] = t
	}
	a.index()
}

// DropFirst ends the token of the first start, and the sessions begun with it, where the command line gives another.
func (a *Accounts) DropFirst() error {
	a.mu.Lock()
	none := a.first == nil
	a.mu.Unlock()
	if none {
		return nil
	}
	return a.change(func() error {
		a.first = nil
		return nil
	})
}

// bare returns a token without an account, by its hash. The caller holds mu.
func (a *Accounts) bare(hash string) (Token, bool) {
	if a.first != nil && a.first.Hash == hash {
		return *a.first, true
	}
	t, ok := a.fixed[hash]
	return t, ok
}

// change changes the accounts, and stores them. If that fails, nothing has changed.
func (a *Accounts) change(do func() error) error {
	a.mu.Lock()
	err := a.changeLocked(do)
	a.mu.Unlock()
	if err == nil {
		a.watches.tell() // whatever has ended has ended when this returns
	}
	return err
}

func (a *Accounts) changeLocked(do func() error) error {
	accounts, invitations, first, signed := make([]*Account, 0, len(a.accounts)), slices.Clone(a.invitations), a.first, slices.Clone(a.signed)
	for _, x := range a.accounts {
		y := *x
		y.Grants, y.Groups, y.Sessions, y.Tokens = maps.Clone(x.Grants), slices.Clone(x.Groups), slices.Clone(x.Sessions), slices.Clone(x.Tokens)
		accounts = append(accounts, &y)
	}
	back := func() {
		a.accounts, a.invitations, a.first, a.signed = accounts, invitations, first, signed
		a.index() // it has the accounts before the change
	}
	if err := do(); err != nil {
		back()
		return err
	}
	if err := a.save(); err != nil {
		back()
		return err
	}
	a.index()
	return nil
}

func (a *Accounts) save() error {
	if err := a.remember(); err != nil {
		return err
	}
	k := kept{Accounts: []keptAccount{}, Invitations: a.invitations, First: a.first, Signed: a.signed}
	for _, x := range a.accounts {
		k.Accounts = append(k.Accounts, keptAccount{*x, x.Password, x.Sessions, x.Tokens})
	}
	text, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	a.saved = a.now()
	return a.file.Write(append(text, '\n'))
}

// secret returns a new secret of 128 random bits or more, and its hash.
func secret(prefix string) (text, hash string) {
	text = prefix + rand.Text()
	return text, hashOf(text)
}

// hashOf needs no salt and no work factor: secrets are random.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func newID() string { return strings.ToLower(rand.Text()[:12]) }

var loginForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,63}$`)

// checkPerson tidies the names of an account.
func checkPerson(login, name string) (string, string, error) {
	login = strings.ToLower(strings.TrimSpace(login))
	if !loginForm.MatchString(login) {
		return "", "", errors.New("a name to sign in with has up to 64 letters, digits, . _ @ -, a letter or digit first")
	}
	name = strings.Join(strings.Fields(strings.Map(printable, name)), " ")
	for len(name) > maxNameBytes || !utf8.ValidString(name) {
		name = name[:len(name)-1]
	}
	return login, cmp.Or(name, login), nil
}

// printable drops characters that would change how the text around a name is shown.
func printable(r rune) rune {
	if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200e && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
		return -1
	}
	return r
}

// checkGrants refuses what cannot be granted.
func checkGrants(g Grants) error {
	for project, r := range g {
		if r < Viewer || r > Admin || r == Admin && project != Everywhere {
			return fmt.Errorf("the role %s cannot be granted in %s: an admin is one everywhere", r, project)
		}
	}
	return nil
}

func (a *Accounts) of(id string) (*Account, error) {
	for _, x := range a.accounts {
		if x.ID == id {
			return x, nil
		}
	}
	return nil, ErrNoAccount
}

func (a *Accounts) add(x *Account) error {
	if len(a.accounts) >= MaxAccounts {
		return ErrTooMany
	}
	if slices.ContainsFunc(a.accounts, func(y *Account) bool { return y.Login == x.Login }) {
		return ErrLoginTaken
	}
	x.ID, x.Created = newID(), a.now().UTC()
	a.accounts = append(a.accounts, x)
	return nil
}

// admins counts the accounts that can decide who may do what.
func (a *Accounts) admins() (n int) {
	for _, x := range a.accounts {
		if !x.Disabled && x.Grants.In("") == Admin && (x.Password != "" || x.External != nil || len(x.Tokens)+len(x.Sessions) > 0) {
			n++
		}
	}
	return n
}

// keepsAdmin runs a change that must not take the last admin away.
func (a *Accounts) keepsAdmin(do func() error) error {
	return a.change(func() error {
		before := a.admins()
		if err := do(); err != nil {
			return err
		}
		if before > 0 && a.admins() == 0 && a.first == nil {
			return ErrLastAdmin
		}
		return nil
	})
}

// HasAdmin reports whether somebody can decide who may do what, with an account or the token of the first start.
func (a *Accounts) HasAdmin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first != nil || a.admins() > 0
}

// Empty reports whether there are no accounts.
func (a *Accounts) Empty() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.accounts) == 0
}

// List returns the accounts, by login. They are copies.
func (a *Accounts) List() []Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := []Account{}
	for _, x := range a.accounts {
		out = append(out, x.copy())
	}
	slices.SortFunc(out, func(x, y Account) int { return strings.Compare(x.Login, y.Login) })
	return out
}

func (x *Account) copy() Account {
	y := *x
	y.Grants, y.Groups, y.Sessions, y.Tokens = maps.Clone(x.Grants), slices.Clone(x.Groups), slices.Clone(x.Sessions), slices.Clone(x.Tokens)
	return y
}

// Get returns a copy of an account.
func (a *Accounts) Get(id string) (Account, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x, err := a.of(id)
	if err != nil {
		return Account{}, err
	}
	return x.copy(), nil
}

// Grant sets the roles of an account, and whether it is disabled. Open sessions have the new roles at once.
func (a *Accounts) Grant(id string, g Grants, disabled bool) error {
	if g == nil {
		g = Grants{}
	}
	return a.Change(id, g, &disabled)
}

// Change sets the roles of an account, unless g is nil, and whether it is disabled, unless that is nil.
func (a *Accounts) Change(id string, g Grants, disabled *bool) error {
	if err := checkGrants(g); err != nil {
		return err
	}
	return a.keepsAdmin(func() error {
		x, err := a.of(id)
		if err != nil {
			return err
		}
		if g != nil {
			x.Grants = maps.Clone(g)
		}
		if disabled != nil {
			x.Disabled = *disabled
		}
		x.cutTokens(a.rolesOf(x))
		return nil
	})
}

// cutTokens takes from the tokens what the account has not, for good: a later promotion must not widen a token of before.
func (x *Account) cutTokens(has Grants) {
	for i := range x.Tokens {
		x.Tokens[i].Grants = has.within(x.Tokens[i].Grants)
	}
}

// ProviderRoles are the roles that an OpenID provider decides about. They are read at each use, so that a server with other ones gives other ones.
type ProviderRoles struct {
	Issuer    string            // of the identities that it is about: another provider's groups may have the same names
	Everybody Grants            // of everybody whom the provider knows
	Groups    map[string]Grants // and of the members of these groups
}

// Check refuses roles that cannot be granted.
func (r ProviderRoles) Check() error {
	err := checkGrants(r.Everybody)
	for _, g := range r.Groups {
		err = errors.Join(err, checkGrants(g))
	}
	return err
}

// SetProviderRoles sets the roles of people of the OpenID provider.
func (a *Accounts) SetProviderRoles(r ProviderRoles) {
	a.mu.Lock()
	a.roles = r
	a.mu.Unlock()
	a.watches.tell()
}

// rolesOf returns all roles of an account: those that admins have given, and those of its provider. The caller holds mu.
func (a *Accounts) rolesOf(x *Account) Grants {
	if x.External == nil || x.External.Issuer != a.roles.Issuer {
		return x.Grants
	}
	out := x.Grants.with(a.roles.Everybody)
	for _, g := range x.Groups {
		out = out.with(a.roles.Groups[g])
	}
	return out
}

// Granted returns all roles of an account.
func (a *Accounts) Granted(x Account) Grants {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rolesOf(&x)
}

// Remove deletes an account, with its sessions and tokens.
func (a *Accounts) Remove(id string) error {
	return a.keepsAdmin(func() error {
		if _, err := a.of(id); err != nil {
			return err
		}
		a.accounts = slices.DeleteFunc(a.accounts, func(x *Account) bool { return x.ID == id })
		return nil
	})
}

// Renamed moves the roles of a project to its new name; "" removes them, so that a later project of the name gives nobody access.
func (a *Accounts) Renamed(was, is string) error {
	move := func(g Grants) {
		r, ok := g[was]
		delete(g, was)
		if ok && is != "" {
			g[is] = r
		}
	}
	return a.change(func() error {
		for _, x := range a.accounts {
			move(x.Grants)
			for i := range x.Tokens {
				x.Tokens[i].Grants = maps.Clone(x.Tokens[i].Grants)
				move(x.Tokens[i].Grants)
			}
		}
		for i := range a.invitations {
			a.invitations[i].Grants = maps.Clone(a.invitations[i].Grants)
			move(a.invitations[i].Grants)
		}
		return nil
	})
}

// Invite makes an invitation, and returns the secret of its link, which is not stored.
func (a *Accounts) Invite(by Principal, note string, g Grants) (_ Invitation, text string, err error) {
	if err := checkGrants(g); err != nil {
		return Invitation{}, "", err
	}
	text, hash := secret("")
	x := Invitation{ID: newID(), Hash: hash, For: strings.Map(printable, note[:min(len(note), maxNameBytes)]), Grants: maps.Clone(g), By: by.Who(), Maker: by.maker, Expires: a.now().UTC().Add(InvitationTime)}
	err = a.change(func() error {
		a.invitations = slices.DeleteFunc(a.invitations, func(x Invitation) bool { return a.now().After(x.Expires) })
		if len(a.invitations) >= maxInvitations {
			return ErrTooMany
		}
		a.invitations = append(a.invitations, x)
		return nil
	})
	return x, text, err
}

// Invitations returns those that can still be used.
func (a *Accounts) Invitations() []Invitation {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := slices.Clone(a.invitations)
	return slices.DeleteFunc(out, func(x Invitation) bool { return !a.holds(x) })
}

// holds reports whether an invitation can be used: it has not expired, and whoever made it could make it now. The caller holds mu.
func (a *Accounts) holds(i Invitation) bool {
	if !a.now().Before(i.Expires) {
		return false
	}
	if x, err := a.of(i.Maker); err == nil {
		return !x.Disabled && a.rolesOf(x).In("") == Admin
	}
	t, ok := a.bare(i.Maker)
	return i.Maker == "" || ok && t.Grants.In("") == Admin
}

// Withdraw deletes an invitation.
func (a *Accounts) Withdraw(id string) error {
	return a.change(func() error {
		n := len(a.invitations)
		if a.invitations = slices.DeleteFunc(a.invitations, func(x Invitation) bool { return x.ID == id }); len(a.invitations) == n {
			return ErrExpired
		}
		return nil
	})
}

// Invited returns the invitation of a link.
func (a *Accounts) Invited(text string) (Invitation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.invited(text)
}

func (a *Accounts) invited(text string) (Invitation, error) {
	hash := hashOf(text)
	for _, x := range a.invitations {
		if x.Hash == hash && a.holds(x) {
			return x, nil
		}
	}
	return Invitation{}, ErrExpired
}

// Accept makes the account of an invitation, which is used up then.
func (a *Accounts) Accept(text, login, name, password string) (id string, err error) {
	login, name, err = checkPerson(login, name)
	if err != nil {
		return "", err
	}
	if _, err := a.Invited(text); err != nil { // before the work of hashing
		return "", err
	}
	hash, err := hashPassword(password)
	if err != nil {
		return "", err
	}
	return a.accept(text, &Account{Login: login, Name: name, Password: hash})
}

func (a *Accounts) accept(text string, x *Account) (id string, err error) {
	err = a.change(func() error {
		with, err := a.invited(text)
		if err != nil {
			return err
		}
		x.Grants = maps.Clone(with.Grants)
		if err := a.add(x); err != nil {
			return err
		}
		id = x.ID
		a.invitations = slices.DeleteFunc(a.invitations, func(y Invitation) bool { return y.ID == with.ID })
		return nil
	})
	return id, err
}

// SetPassword changes the password of an account, and ends its other sessions and its tokens: whoever knew the password may have made them.
func (a *Accounts) SetPassword(id, password, keepSession string) error {
	hash, err := hashPassword(password)
	if err != nil {
		return err
	}
	return a.change(func() error {
		x, err := a.of(id)
		if err != nil {
			return err
		}
		x.Password, x.Tokens = hash, nil
		x.Sessions = slices.DeleteFunc(x.Sessions, func(s Session) bool { return s.ID != keepSession })
		return nil
	})
}

// checkLogin returns the account of a login and password.
func (a *Accounts) checkLogin(login, password string) (id string, ok bool) {
	a.mu.Lock()
	hash := ""
	for _, x := range a.accounts {
		if x.Login == strings.ToLower(strings.TrimSpace(login)) && !x.Disabled {
			id, hash = x.ID, x.Password
		}
	}
	a.mu.Unlock()
	if !checkPassword(hash, password) { // also for unknown logins, as fast as for known ones
		return "", false
	}
	return id, true
}

// Begin starts a session, and returns its secret.
func (a *Accounts) Begin(id, from, browser string) (text string, err error) {
	text, hash := secret("")
	err = a.change(func() error {
		x, err := a.of(id)
		if err != nil {
			return err
		}
		now := a.now().UTC()
		x.Sessions = slices.DeleteFunc(x.Sessions, func(s Session) bool { return s.over(now) })
		if len(x.Sessions) >= maxSessions {
			slices.SortFunc(x.Sessions, func(s, t Session) int { return s.Used.Compare(t.Used) })
			x.Sessions = slices.Delete(x.Sessions, 0, 1)
		}
		x.Used = now
		x.Sessions = append(x.Sessions, Session{ID: newID(), Hash: hash, Began: now, Used: now, From: from, Browser: strings.Map(printable, browser[:min(len(browser), 200)])})
		return nil
	})
	return text, err
}

// BeginWith starts a session with a token that has no account, and returns its secret.
func (a *Accounts) BeginWith(token, from, browser string) (text string, err error) {
	text, hash := secret("")
	err = a.change(func() error {
		of := hashOf(token)
		if _, ok := a.bare(of); !ok {
			return ErrRevoked
		}
		now := a.now().UTC()
		a.signed = slices.DeleteFunc(a.signed, func(s signed) bool {
			_, ok := a.bare(s.Token)
			return !ok || s.over(now)
		})
		if len(a.signed) >= maxSessions {
			slices.SortFunc(a.signed, func(s, t signed) int { return s.Used.Compare(t.Used) })
			a.signed = slices.Delete(a.signed, 0, 1)
		}
		a.signed = append(a.signed, signed{Session{ID: newID(), Hash: hash, Began: now, Used: now, From: from, Browser: strings.Map(printable, browser[:min(len(browser), 200)])}, of})
		return nil
	})
	return text, err
}

// EndThis ends the session of a principal.
func (a *Accounts) EndThis(p Principal) error {
	if p.session == "" {
		return nil
	}
	if p.ID != "" {
		return a.End(p.ID, p.session, "")
	}
	return a.change(func() error {
		a.signed = slices.DeleteFunc(a.signed, func(s signed) bool { return s.ID == p.session })
		return nil
	})
}

func (s *Session) over(now time.Time) bool {
	return now.Sub(s.Used) > sessionIdle || now.Sub(s.Began) > sessionMost
}

// End ends a session of an account; "" ends all but keep.
func (a *Accounts) End(id, session, keep string) error {
	return a.change(func() error {
		x, err := a.of(id)
		if err != nil {
			return err
		}
		n := len(x.Sessions)
		x.Sessions = slices.DeleteFunc(x.Sessions, func(s Session) bool { return s.ID == session || session == "" && s.ID != keep })
		if session != "" && len(x.Sessions) == n {
			return ErrRevoked
		}
		return nil
	})
}

// MakeToken makes a token of an account, and returns its secret, which is not stored. It has at most the roles that the account has now.
func (a *Accounts) MakeToken(id, name string, g Grants, expires time.Time) (t Token, text string, err error) {
	if err := checkGrants(g); err != nil {
		return Token{}, "", err
	}
	name = strings.TrimSpace(strings.Map(printable, name[:min(len(name), maxNameBytes)]))
	if name == "" {
		return Token{}, "", errors.New("a token needs a name")
	}
	text, hash := secret("wb_")
	err = a.change(func() error {
		x, err := a.of(id)
		if err != nil {
			return err
		}
		if len(x.Tokens) >= maxTokens {
			return ErrTooMany
		}
		t = Token{ID: newID(), Name: strings.ToValidUTF8(name, ""), Hash: hash, Grants: a.rolesOf(x).within(g), Created: a.now().UTC(), Expires: expires}
		if len(t.Grants) == 0 {
			return errors.New("you have no role there")
		}
		x.Tokens = append(x.Tokens, t)
		return nil
	})
	if err != nil {
		return Token{}, "", err
	}
	return t, text, nil
}

// Revoke deletes a token of an account.
func (a *Accounts) Revoke(id, token string) error {
	return a.change(func() error {
		x, err := a.of(id)
		if err != nil {
			return err
		}
		n := len(x.Tokens)
		if x.Tokens = slices.DeleteFunc(x.Tokens, func(t Token) bool { return t.ID == token }); len(x.Tokens) == n {
			return ErrRevoked
		}
		return nil
	})
}

// FirstToken returns the token of an admin that is made at the first start, and is kept as a hash over restarts. text is "" if it was made
// before.
func (a *Accounts) FirstToken(again bool) (text string, err error) {
	err = a.change(func() error {
		if a.first != nil && !again {
			return nil
		}
		var hash string
		text, hash = secret("wb_")
		a.first = &Token{ID: "first", Name: "first start", Hash: hash, Grants: Grants{Everywhere: Admin}, Created: a.now().UTC()}
		return nil
	})
	return text, err
}

// principal returns the principal of a session or token.
func (a *Accounts) principal(text string) (p Principal, ok bool) {
	hash := hashOf(text)
	a.mu.Lock()
	defer a.mu.Unlock()
	f, ok := a.bySecret[hash]
	if !ok {
		return p, false
	}
	g, ok := a.granted(hash)
	if !ok {
		return p, false
	}
	p = Principal{Grants: g, SignedIn: f.session != "", session: f.session, until: a.end(f), watches: &a.watches}
	switch {
	case f.account == nil:
		t, _ := a.bare(f.token)
		p.Kind, p.Name, p.maker = ByServer, t.Name, f.token
	case f.session != "":
		p.Kind, p.ID, p.Name, p.maker = BySession, f.account.ID, f.account.Name, f.account.ID
	default:
		p.Kind, p.ID, p.Name, p.maker = ByProgram, f.account.ID, f.account.Name, f.account.ID
	}
	p.current = func() (Grants, bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.granted(hash)
	}
	return p, true
}

// end returns when a token or a session ends at the latest, however it is used; zero: never. The caller holds mu.
func (a *Accounts) end(f found) (at time.Time) {
	if f.account == nil {
		return at
	}
	for _, s := range f.account.Sessions {
		if s.ID == f.session && f.session != "" {
			return s.Began.Add(sessionMost)
		}
	}
	for _, t := range f.account.Tokens {
		if t.ID == f.token && f.token != "" {
			return t.Expires
		}
	}
	return at
}

// granted returns what a secret grants now, and records its use. The caller holds mu.
func (a *Accounts) granted(hash string) (Grants, bool) {
	f, ok := a.bySecret[hash]
	now := a.now().UTC()
	switch {
	case !ok:
		return nil, false
	case f.account == nil:
		t, ok := a.bare(f.token)
		for i := range a.signed {
			if s := &a.signed[i]; s.ID == f.session && f.session != "" {
				ok = ok && !s.over(now)
				a.touch(&s.Used, now)
			}
		}
		return t.Grants, ok
	case f.account.Disabled:
		return nil, false
	}
	x := f.account
	var used *time.Time
	has := a.rolesOf(x)
	grants := has
	for i := range x.Sessions {
		if s := &x.Sessions[i]; s.ID == f.session && f.session != "" {
			if s.over(now) {
				return nil, false
			}
			used = &s.Used
		}
	}
	for i := range x.Tokens {
		if t := &x.Tokens[i]; t.ID == f.token && f.token != "" {
			if !t.Expires.IsZero() && now.After(t.Expires) {
				return nil, false
			}
			grants, used = has.within(t.Grants), &t.Used
		}
	}
	if used == nil {
		return nil, false
	}
	x.Used = now
	a.touch(used, now)
	return grants, true
}

// touch records a use. The caller holds mu.
func (a *Accounts) touch(used *time.Time, now time.Time) {
	if now.Sub(*used) > touchTime {
		*used = now
		if now.Sub(a.saved) > touchTime {
			_ = a.save() // the time of use is not worth an error
		}
	}
}

// Memory is a File that is lost with the program.
type Memory struct{ text []byte }

func (m *Memory) Read() ([]byte, error) { return m.text, nil }

func (m *Memory) Write(text []byte) error {
	m.text = text
	return nil
}
