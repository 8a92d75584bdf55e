package protocols

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"wirebench/codec/tls"
)

// Bounds of a text with keys.
const (
	MaxKeysText = 1 << 20 // bytes
	maxKeys     = 1000
)

// Key is a cipher key of a connection, or of several, from outside the capture.
type Key struct {
	Conn    string // "client-server", each address:port; "" = every connection
	Session int    // index among the connections with the same addresses; -1 = all
	Dialect string
	value   any // result of Protocol.Key; for keysOfTLS *tls.Secrets
}

// keysOfTLS is the Dialect of the Key with all secrets of TLS.
const keysOfTLS = "tls"

// keysOfEnvelopes in a line of keys stands for the dialect enveloped, whatever the dialect of the project.
const keysOfEnvelopes = "envelope"

// ParseKeys parses a text with keys. Each line has a connection, the protocol and the key; a # begins a comment:
//
//	10.0.0.2:4000-10.0.0.1:7801    tera      HEX            the four keys in the order of transmission: 512 bytes
//	10.0.0.2:4000-10.0.0.1:7801#1  tera      HEX old        the second connection of these addresses, constants from before patch 45
//	*                              subspace  0x1234abcd     any connection: the key as in the server's answer, 0: not encrypted
//	*                              envelope  HEX HEX        the key that an envelope calls given, and its initialization vector
//
// If several lines match a connection, the first one applies. The error names the line but never contains the key.
func ParseKeys(text string) ([]Key, error) {
	if len(text) > MaxKeysText {
		return nil, fmt.Errorf("keys take at most %d bytes", MaxKeysText)
	}
	var keys []Key
	secrets := &tls.Secrets{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		// A comment starts at a # after a space: a # inside a word precedes a session number.
		words := strings.Fields(line)
		for i, w := range words {
			if w[0] == '#' {
				words = words[:i]
				break
			}
		}
		if len(words) == 0 {
			continue
		}
		if is, err := secrets.AddLine(words); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		} else if is {
			continue
		}
		k, err := parseKey(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(keys) == maxKeys {
			return nil, fmt.Errorf("line %d: more than %d keys", number, maxKeys)
		}
		keys = append(keys, k)
	}
	if secrets.Len() > 0 {
		keys = append(keys, Key{Session: -1, Dialect: keysOfTLS, value: secrets})
	}
	return keys, nil
}

func parseKey(words []string) (k Key, err error) {
	if len(words) < 3 || len(words) > 4 {
		return k, errors.New("expected a connection, a protocol and a key, or a line of a TLS key log")
	}
	if k.Conn, k.Session, err = parseConn(words[0]); err != nil {
		return k, err
	}
	name := words[1]
	if name == keysOfEnvelopes {
		name = enveloped
	}
	p, ok := Of(name)
	if !ok || p.Key == nil {
		return k, errors.New("expected a protocol after the connection: " + strings.Join(withKeys(), " or ")) // the word may be the key
	}
	k.Dialect = p.Dialect
	k.value, err = p.Key(words[2:])
	return k, err
}

// withKeys returns the dialects of the protocols that have keys.
func withKeys() (names []string) {
	for _, p := range Protocols {
		if p.Key != nil {
			names = append(names, p.Dialect)
		}
	}
	return names
}

// parseConn parses the name of a connection, optionally followed by # and a session number, or * for all connections.
func parseConn(word string) (name string, session int, err error) {
	if word == "*" {
		return "", -1, nil
	}
	session = -1
	name, number, has := strings.Cut(word, "#")
	if has {
		if session, err = strconv.Atoi(number); err != nil || session < 0 || number[0] == '+' {
			return "", 0, errors.New("expected the number of a session, from 0, after #")
		}
	}
	client, server, ok := strings.Cut(name, "-")
	a, errA := netip.ParseAddrPort(client)
	b, errB := netip.ParseAddrPort(server)
	if !ok || errA != nil || errB != nil {
		return "", 0, errors.New("a connection must be CLIENT-SERVER, each address:port, or *")
	}
	return a.String() + "-" + b.String(), session, nil
}

// For returns the environment of one connection, with only the keys that apply to it.
func (e *Env) For(conn string, session int) *Env {
	one := *e
	one.Keys = nil
	for _, k := range e.Keys {
		if (k.Conn == "" || k.Conn == conn) && (k.Session < 0 || k.Session == session) {
			k.Conn, k.Session = "", -1 // it has been matched to this connection
			one.Keys = append(one.Keys, k)
		}
	}
	return &one
}

// KeyOf returns the value of the first key of a dialect that is not restricted to a connection, or nil.
func (e *Env) KeyOf(dialect string) any {
	for _, k := range e.Keys {
		if k.Dialect == dialect && k.Conn == "" {
			return k.value
		}
	}
	return nil
}

// TLS returns the secrets of TLS connections among the keys; nil if there are none.
func (e *Env) TLS() *tls.Secrets {
	for _, k := range e.Keys {
		if secrets, ok := k.value.(*tls.Secrets); ok {
			return secrets
		}
	}
	return nil
}
