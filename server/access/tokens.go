package access

import "fmt"

// minToken is the minimum length of a token of the command line: it may have been chosen by a person.
const minToken = 16

// Tokens are the secrets of the command line that grant access: 128 random bits or more each.
type Tokens struct {
	Admin  string // for all operations
	Viewer string // for read-only access; "" disables it
}

// Check returns an error for a token that could be guessed.
func (t Tokens) Check() error {
	for flag, text := range map[string]string{"--token": t.Admin, "--viewer-token": t.Viewer} {
		if text != "" && len(text) < minToken {
			return fmt.Errorf("%s: a token has at least %d characters; without the flag a random one is made", flag, minToken)
		}
	}
	return nil
}

// fixed returns the tokens with what they grant. An empty token admits nobody.
func (t Tokens) fixed() map[string]Token {
	out := map[string]Token{}
	if t.Viewer != "" {
		out[t.Viewer] = Token{ID: "viewer", Name: "viewer’s token", Grants: Grants{Everywhere: Viewer}}
	}
	if t.Admin != "" {
		out[t.Admin] = Token{ID: "token", Name: "admin’s token", Grants: Grants{Everywhere: Admin}}
	}
	return out
}
