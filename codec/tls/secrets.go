package tls

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// MaxSecrets is the maximum number of secrets that Secrets holds.
const MaxSecrets = 1 << 17

// maxLine bounds a line of a key log, in bytes. The longest known one has 32 bytes of label, 32 of random and 48 of secret, in hex.
const maxLine = 4 << 10

// random is the random number of a ClientHello, which identifies a session.
type random [32]byte

// label is the purpose of a secret.
type label uint8

const (
	masterSecret label = iota
	clientHandshake
	serverHandshake
	clientTraffic
	serverTraffic
)

// labels are the names of purposes in a key log (https://www.ietf.org/archive/id/draft-ietf-tls-keylogfile-02.html).
var labels = map[string]label{
	"CLIENT_RANDOM":                   masterSecret,
	"CLIENT_HANDSHAKE_TRAFFIC_SECRET": clientHandshake,
	"SERVER_HANDSHAKE_TRAFFIC_SECRET": serverHandshake,
	"CLIENT_TRAFFIC_SECRET_0":         clientTraffic,
	"SERVER_TRAFFIC_SECRET_0":         serverTraffic,
}

type secretKey struct {
	of      random
	purpose label
}

// Secrets holds the secrets of TLS sessions. Its zero value is empty. It may be read by several goroutines.
type Secrets struct{ by map[secretKey][]byte }

// Len returns the number of secrets.
func (s *Secrets) Len() int { return len(s.by) }

// get returns a secret, nil if it is unknown. s may be nil.
func (s *Secrets) get(of random, l label) []byte {
	if s == nil {
		return nil
	}
	return s.by[secretKey{of, l}]
}

var (
	errRandom  = errors.New("the client random must be 64 hex digits")
	errSecrets = fmt.Errorf("more than %d secrets", MaxSecrets)
)

// AddLine adds the secret of a line of a key log, given as its words. is reports whether it is such a line; one with an unknown label is
// accepted and ignored. The error never contains the secret. Of several secrets with one label and random the first one is kept.
func (s *Secrets) AddLine(words []string) (is bool, err error) {
	if len(words) == 0 || !isLabel(words[0]) {
		return false, nil
	}
	purpose, known := labels[words[0]]
	if !known {
		return len(words) == 3 && isHex(words[1]) && isHex(words[2]), nil
	}
	if len(words) != 3 {
		return true, errors.New(words[0] + " needs a client random and a secret, both in hex")
	}
	key := secretKey{purpose: purpose}
	if len(words[1]) != 2*len(key.of) || !isHex(words[1]) {
		return true, errRandom
	}
	secret, err := hex.DecodeString(words[2])
	switch {
	case err != nil:
		return true, errors.New("the secret must be hex digits")
	case purpose == masterSecret && len(secret) != 48:
		return true, errors.New("the secret of CLIENT_RANDOM must be 96 hex digits")
	case purpose != masterSecret && len(secret) != 32 && len(secret) != 48:
		return true, errors.New("the secret of " + words[0] + " must be 64 or 96 hex digits")
	}
	_, _ = hex.Decode(key.of[:], []byte(words[1])) // checked
	if _, had := s.by[key]; had {
		return true, nil
	}
	if len(s.by) >= MaxSecrets {
		return true, errSecrets
	}
	if s.by == nil {
		s.by = map[secretKey][]byte{}
	}
	s.by[key] = secret
	return true, nil
}

// addLog adds the secrets of a key log in a file. Invalid lines are ignored.
func (s *Secrets) addLog(text []byte) {
	for line := range strings.Lines(string(text)) {
		if len(line) > maxLine {
			continue
		}
		_, _ = s.AddLine(strings.Fields(line))
	}
}

// isLabel reports whether a word can be a label: at least two of A to Z, 0 to 9 and _, starting with a letter.
func isLabel(word string) bool {
	for i := range len(word) {
		c := word[i]
		if (c < 'A' || c > 'Z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return len(word) > 1
}

func isHex(word string) bool {
	for i := range len(word) {
		c := word[i]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return len(word) > 0 && len(word)%2 == 0
}
