package redact

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// secretWords are words of names of fields that are likely to be secret or personal.
var secretWords = []string{
	"password", "passwd", "passphrase", "passcode", "pwd", "pw", "pin", "secret", "secrets", "token", "ticket", "credential", "credentials", "auth", "authorization", "cookie", "jwt", "otp", "nonce2fa",
	"email", "mail", "phone", "iban", "ip", "hwid", "account", "login", "username",
}

// secretPairs are words that are so together.
var secretPairs = []string{"session key", "session id", "session ticket", "session hash", "api key", "private key", "secret key", "auth key", "license key", "access key", "mac address", "ip address", "e mail", "user name", "pass word", "real name"}

// secretStems are parts of names without borders between words that are hardly ever part of another word.
var secretStems = []string{"password", "passwd", "passphrase", "secret", "credential", "authtoken", "accesstoken", "sessionkey", "sessionid", "apikey", "privatekey", "emailaddr", "ipaddr", "loginticket"}

// nameWords splits a name into its words, in whatever style it is written: sessionKey, SESSION_KEY, session-key, IPAddress.
func nameWords(name string) (words []string) {
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	r := []rune(name)
	for i, c := range r {
		if !unicode.IsLetter(c) {
			flush()
			continue
		}
		upper := unicode.IsUpper(c)
		if i > 0 && upper && (unicode.IsLower(r[i-1]) || unicode.IsUpper(r[i-1]) && i+1 < len(r) && unicode.IsLower(r[i+1])) {
			flush()
		}
		word = append(word, c)
	}
	flush()
	return words
}

// SuspectName returns why the name of a field looks like that of a secret, "" if it does not.
func SuspectName(name string) string {
	name, _, _ = strings.Cut(name, "#")
	words := nameWords(name)
	for i, w := range words {
		if slices.Contains(secretWords, w) || i > 0 && slices.Contains(secretPairs, words[i-1]+" "+w) {
			return "its name"
		}
	}
	joined := strings.Join(words, "")
	if slices.ContainsFunc(secretStems, func(stem string) bool { return strings.Contains(joined, stem) }) {
		return "its name"
	}
	return ""
}

// valueForms are forms of texts that are likely to be secret or personal.
var valueForms = []struct {
	form *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*`), "a signed token"},
	{regexp.MustCompile(`-----BEGIN [A-Z ]+-----`), "a key or certificate"},
	{regexp.MustCompile(`(?i)\b(?:bearer|basic) [\w+/=.-]{8,}`), "an authorization"},
	{regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`), "an e-mail address"},
	{regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}\b`), "an IP address"},
}

// SuspectValue returns why a value looks like a secret, "" if it does not.
func SuspectValue(rec *codec.Record, l *codec.Leaf) string {
	if l.Off%8 != 0 || l.Len < 7*8 || l.Role != codec.RoleValue || l.Field == codec.NoField {
		return ""
	}
	data := rec.Data[l.Off/8 : (l.Off+l.Len)/8]
	switch t := typeOf(rec.Program.Fields[l.Field].Schema, l).(type) {
	case *schema.Text:
		data = codec.AppendChars(nil, codec.CutAtNul(data, t.Charset.Unit()), t.Charset)
	case *schema.Blob:
	default:
		return ""
	}
	text := string(data[:min(len(data), 4096)])
	for _, x := range valueForms {
		if x.form.MatchString(text) {
			return x.why
		}
	}
	if isRandom(text) {
		return "random characters"
	}
	return ""
}

// isRandom reports whether a text is one long run of letters and digits as a program makes them.
func isRandom(text string) bool {
	if len(text) < 20 {
		return false
	}
	var counts [256]int
	digits, letters := 0, 0
	for _, c := range []byte(text) {
		if classes[c]&base64Char == 0 && c != '=' && c != '.' {
			return false
		}
		counts[c]++
		if c >= '0' && c <= '9' {
			digits++
		} else {
			letters++
		}
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return digits >= 3 && letters >= 3 && bits > 3
}
