package redact

import "testing"

// Names of secrets are recognized in each style of writing, and by their words: parts of other words do not count.
func TestSuspectName(t *testing.T) {
	for _, name := range []string{
		"password", "Password", "userPassword", "USER_PASSWORD", "user-password", "userpassword", "passwd", "pwd", "pwdHash", "secret", "clientSecret", "m_szSecret", "token", "authToken", "AUTH_TOKEN", "ticket", "loginTicket",
		"sessionKey", "session_key", "SessionKey2", "sessionkey", "apiKey", "email", "eMail", "e_mail", "emailAddress", "ip", "IPAddress", "clientIp", "account", "accountId", "auth", "credentials", "pin", "token#2",
	} {
		if SuspectName(name) == "" {
			t.Errorf("%s is not suspected", name)
		}
	}
	for _, name := range []string{"", "x", "id", "name", "clip", "ship", "pinned", "spin", "authored", "author", "accounting", "tokenizer", "key", "keyframe", "session", "description", "zip", "strip", "ticketed", "mailbox2d", "opinion", "passive", "bypass"} {
		if SuspectName(name) != "" {
			t.Errorf("%s is suspected", name)
		}
	}
}

func TestSuspectValue(t *testing.T) {
	p := program(t, "tera", "C_A.1.def", "string text\n")
	message := func(text string) []byte {
		w := utf16(text)
		return append([]byte{byte(6 + len(w)), 0, 1, 0, 6, 0}, w...)
	}
	for text, want := range map[string]string{
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOjF9.abcdefgh": "a signed token", "-----BEGIN PRIVATE KEY-----": "a key or certificate", "Bearer abcdef0123456": "an authorization",
		"mail ann@example.org now": "an e-mail address", "from 192.0.2.1": "an IP address", "9f86d081884c7d659a2feaa0c55ad015": "random characters", "kJ8x02Lm-qP_77aZrT5w": "random characters",
		"hello everybody": "", "a long sentence with 12 words, or so": "", "aaaaaaaaaaaaaaaaaaaaaaa111": "", "12345678901234567890123": "", "CamelCaseIdentifierOfSomething": "", "1.2.3": "", "short1": "",
	} {
		rec := decode(p, message(text))
		got := ""
		for _, l := range rec.AppendLeaves(nil) {
			if why := SuspectValue(rec, &l); why != "" {
				got = why
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
