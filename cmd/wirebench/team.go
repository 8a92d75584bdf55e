package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"wirebench/server/access"
	"wirebench/server/bus"
	"wirebench/server/store"
	"wirebench/static"
)

// teamFlags are the flags of a server that several people use: tokens, sign-in, TLS and the proxy before it.
type teamFlags struct {
	tokens                access.Tokens
	tokenFile, secretFile string
	oidc                  access.OIDC
	roles                 []string // of groups
	everybody             string   // role
	base                  string
	proxies               []string
	cert, key             string
	auditTo               string
	sink                  access.Sink // of auditTo; nil: none
}

func (f *teamFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tokens.Admin, "token", "", "access token of an admin, at least 16 characters (default: none on a loopback address, unless there are or have been accounts, or --viewer-token, --base-url or --trusted-proxy is given; otherwise a random one, printed at the first start and kept until this flag replaces it)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token of --token")
	flags.StringVar(&f.tokens.Viewer, "viewer-token", "", "second access token, for read-only access")
	flags.StringVar(&f.base, "base-url", "", "address of the server for clients, such as https://wirebench.example or https://host/tools/wirebench")
	flags.StringArrayVar(&f.proxies, "trusted-proxy", nil, "address or network of a reverse proxy whose X-Forwarded-For and X-Forwarded-Proto are believed (repeatable)")
	flags.StringVar(&f.cert, "tls-cert", "", "file with the certificate chain, to serve TLS")
	flags.StringVar(&f.key, "tls-key", "", "file with the key of --tls-cert")
	flags.StringVar(&f.auditTo, "audit-to", "", "where each event of the audit log goes, too, as a line of JSON: fd:N, a file descriptor that the server is started with, or nats:SUBJECT, of a stream at --nats")
	flags.StringVar(&f.oidc.Issuer, "oidc-issuer", "", "OpenID provider at which people sign in; its redirect address is BASE-URL/access/oidc/back")
	flags.StringVar(&f.oidc.ClientID, "oidc-client", "", "client id at the provider")
	flags.StringVar(&f.oidc.Secret, "oidc-secret", "", "client secret at the provider")
	flags.StringVar(&f.secretFile, "oidc-secret-file", "", "file with the client secret")
	flags.StringVar(&f.oidc.Name, "oidc-name", "", "name of the provider on the button (default: its host)")
	flags.StringVar(&f.oidc.GroupsClaim, "oidc-groups", "groups", "claim with the groups of a person at the provider, such as groups or realm_access.roles")
	flags.StringArrayVar(&f.roles, "oidc-role", nil, "role of the members of a group at the provider, in all projects or in one: GROUP=ROLE or GROUP=ROLE:PROJECT (repeatable)")
	flags.StringVar(&f.everybody, "oidc-default-role", "", "role of everybody at the provider: ROLE or ROLE:PROJECT (default: none until an admin gives one)")
}

// openSink opens the sink of --audit-to: before the program has opened anything else, so that a number is what it was started with.
func (f *teamFlags) openSink() (err error) {
	if f.auditTo != "" && !strings.HasPrefix(f.auditTo, natsSink) {
		if f.sink, err = access.ParseSink(f.auditTo); err != nil {
			return fmt.Errorf("--audit-to: %w", err)
		}
	}
	return nil
}

// natsSink begins the subject of --audit-to.
const natsSink = "nats:"

// openBusSink opens the sink of --audit-to where that is a subject of NATS.
func (f *teamFlags) openBusSink(at bus.Options, log *slog.Logger) (end func(), err error) {
	subject, ok := strings.CutPrefix(f.auditTo, natsSink)
	switch {
	case !ok:
		return func() {}, nil
	case subject == "" || strings.ContainsAny(subject, " *>\t\r\n"):
		return nil, fmt.Errorf("--audit-to %s: must be nats:SUBJECT, such as nats:wirebench.audit", shown(f.auditTo))
	case at.URL == "":
		return nil, errors.New("--audit-to: a subject of NATS needs --nats")
	}
	f.sink, end, err = bus.Sink(at, subject, log)
	return end, err
}

// fromFile sets a secret to the content of a file.
func fromFile(secret *string, flag, file string) error {
	if file == "" {
		return nil
	}
	if *secret != "" {
		return fmt.Errorf("--%s and --%s-file exclude each other", flag, flag)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--%s-file: %w", flag, err)
	}
	if *secret = strings.TrimSpace(string(text)); *secret == "" {
		return fmt.Errorf("--%s-file %s: the file is empty", flag, file)
	}
	return nil
}

// door opens the accounts and the audit log of a data folder.
func (f *teamFlags) door(data *store.Data, log *slog.Logger) (*access.Door, error) {
	if err := errors.Join(fromFile(&f.tokens.Admin, "token", f.tokenFile), fromFile(&f.oidc.Secret, "oidc-secret", f.secretFile), f.tokens.Check()); err != nil {
		return nil, err
	}
	switch {
	case f.tokens.Viewer != "" && f.tokens.Viewer == f.tokens.Admin:
		return nil, errors.New("--viewer-token and --token must differ")
	case (f.cert == "") != (f.key == ""):
		return nil, errors.New("--tls-cert and --tls-key belong together")
	case (f.oidc.Issuer == "") != (f.oidc.ClientID == ""):
		return nil, errors.New("--oidc-issuer and --oidc-client belong together")
	}
	if err := f.readRoles(); err != nil {
		return nil, err
	}
	audit, err := access.OpenAudit(data.Path("audit.jsonl"), log)
	if err != nil {
		log.Warn("there is no audit log", "error", err) // on a read-only disk, or something else is in its place
		audit = nil
	}
	if data.Journaled() {
		audit.Keep(func(do func() error, changes ...access.AuditChange) error {
			var all []store.Change
			for _, c := range changes {
				kind := store.Spliced
				if c.Gone {
					kind = store.Removed
				} else if c.Whole {
					kind = store.Stored
				}
				all = append(all, store.Change{Kind: kind, Name: c.Name, At: c.At, Data: c.Data, Secret: true})
			}
			return data.Commit(do, all...)
		})
	}
	if f.sink != nil && audit == nil {
		return nil, errors.New("--audit-to: there is no audit log to send")
	}
	if f.sink != nil {
		audit.Forward(f.sink, log)
	}
	accounts, err := openAccounts(data, audit)
	if err == nil && f.tokens.Admin != "" {
		err = accounts.DropFirst()
	}
	if err != nil {
		return nil, errors.Join(err, audit.Close())
	}
	c := access.Config{Tokens: f.tokens, Accounts: accounts, Audit: audit, Log: log, Proxied: len(f.proxies) > 0}
	if f.oidc.Issuer != "" {
		c.OIDC = &f.oidc
	}
	if f.base != "" {
		u, err := url.Parse(f.base)
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return nil, fmt.Errorf("--base-url %s: must be an address such as https://wirebench.example", f.base)
		case u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(u.EscapedPath(), "%\"'<>&"):
			return nil, fmt.Errorf("--base-url %s: its path must be of letters, digits, / and -", f.base)
		}
		c.Base = u
		static.SetBase(u.Path)
	}
	return access.NewDoor(c), nil
}

// readRoles reads the roles of people of the OpenID provider.
func (f *teamFlags) readRoles() error {
	if f.oidc.Issuer == "" && (len(f.roles) > 0 || f.everybody != "") {
		return errors.New("--oidc-role and --oidc-default-role are about people of --oidc-issuer")
	}
	f.oidc.Roles = access.ProviderRoles{Everybody: access.Grants{}, Groups: map[string]access.Grants{}}
	if f.everybody != "" {
		if err := addRole(f.oidc.Roles.Everybody, f.everybody); err != nil {
			return fmt.Errorf("--oidc-default-role %s: %w", f.everybody, err)
		}
	}
	for _, text := range f.roles {
		at := strings.LastIndexByte(text, '=') // names of groups may have one, too
		if at < 1 {
			return fmt.Errorf("--oidc-role %s: must be GROUP=ROLE or GROUP=ROLE:PROJECT", text)
		}
		group, role := text[:at], text[at+1:]
		if f.oidc.Roles.Groups[group] == nil {
			f.oidc.Roles.Groups[group] = access.Grants{}
		}
		if err := addRole(f.oidc.Roles.Groups[group], role); err != nil {
			return fmt.Errorf("--oidc-role %s: %w", text, err)
		}
	}
	if err := f.oidc.Roles.Check(); err != nil {
		return fmt.Errorf("--oidc-role, --oidc-default-role: %w", err)
	}
	return nil
}

// addRole adds a role in all projects or in one: "author" or "author:game". Of several in one project the highest counts.
func addRole(to access.Grants, text string) error {
	name, project, one := strings.Cut(text, ":")
	var role access.Role
	if err := role.UnmarshalText([]byte(name)); err != nil {
		return err
	}
	switch {
	case !one:
		project = access.Everywhere
	case project == "":
		return errors.New("the project after the colon is missing")
	}
	to[project] = max(to[project], role)
	return nil
}

// openAccounts opens the accounts of a data folder. Its error names the file and what to do.
func openAccounts(data *store.Data, audit *access.Audit) (*access.Accounts, error) {
	accounts, err := access.OpenKept(data.Secret("accounts.json"), data.Secret(accountsMark), audit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a backup, or set it aside with \"wirebench token --reset --data %s\", which prints an access token and begins without accounts", data.Path("accounts.json"), err, data.Path())
	}
	return accounts, nil
}

// accountsMark is the file that remembers that there have been accounts.
const accountsMark = "had-accounts.json"

// trusted reads --trusted-proxy.
func (f *teamFlags) trusted() (out []netip.Prefix, err error) {
	for _, text := range f.proxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			ip, err := netip.ParseAddr(text)
			if err != nil {
				return nil, fmt.Errorf("--trusted-proxy %s: must be an address or a network such as 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(ip, ip.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// address returns the address of the server for people.
func (f *teamFlags) address(at net.Addr) string {
	switch {
	case f.base != "":
		return strings.TrimSuffix(f.base, "/")
	case f.cert != "":
		return "https://" + at.String()
	}
	return "http://" + at.String()
}
