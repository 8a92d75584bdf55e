package main

import (
	"strings"
	"testing"

	"wirebench/server/access"
)

// The roles of groups and of everybody at a provider; what cannot be granted, or is about no provider, is an error that names the flag.
func TestProviderRoles(t *testing.T) {
	for _, c := range []struct {
		roles     []string
		everybody string
		want      string // an error, or the roles of everybody and of the group
	}{
		{[]string{"devs=author"}, "", "; author everywhere"},
		{[]string{"devs=author:game", "devs=viewer", "devs=viewer:game"}, "viewer:open", "viewer in open; viewer everywhere, author in game"},
		{[]string{"cn=devs,dc=example=operator"}, "commenter", "commenter everywhere; "},
		{[]string{"devs"}, "", `--oidc-role devs: must be GROUP=ROLE or GROUP=ROLE:PROJECT`},
		{[]string{"=author"}, "", `--oidc-role =author: must be`},
		{[]string{"devs=boss"}, "", `--oidc-role devs=boss: role "boss": must be one of viewer`},
		{[]string{"devs=author:"}, "", `--oidc-role devs=author:: the project after the colon is missing`},
		{[]string{"devs=admin:game"}, "", `an admin is one everywhere`},
		{nil, "none", `--oidc-default-role none: role "none"`},
	} {
		f := teamFlags{roles: c.roles, everybody: c.everybody}
		if err := f.readRoles(); err == nil || !strings.Contains(err.Error(), "--oidc-issuer") {
			t.Errorf("%v without a provider: %v", c.roles, err)
		}
		f.oidc.Issuer = "https://id.example"
		if err := f.readRoles(); err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %s", c.roles, err, c.want)
			}
			continue
		}
		text := func(g access.Grants) string {
			if len(g) == 0 {
				return ""
			}
			return g.String()
		}
		if got := text(f.oidc.Roles.Everybody) + "; " + text(f.oidc.Roles.Groups["devs"]); got != c.want {
			t.Errorf("%v: %s, want %s", c.roles, got, c.want)
		}
	}
}
