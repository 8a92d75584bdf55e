package protocols

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Bounds of a text with keys.
const (
	MaxKeysText = 1 << 20 // bytes
	maxKeys     = 1000
)

// Key is what is known from elsewhere of the cipher of a connection.
type Key struct {
	Conn    string // "client-server", each address:port; "" = every connection
	Session int    // of several with the same addresses; -1 = all
	Dialect string
	value   any // as Protocol.Key made it
}

// ParseKeys reads keys from a text. Each line has a connection, the protocol and the key; what follows a # is a comment:
//
//	10.0.0.2:4000-10.0.0.1:7801    tera      HEX            the four keys as they are sent: 512 bytes
//	10.0.0.2:4000-10.0.0.1:7801#1  tera      HEX old        the second connection of these addresses, constants from before patch 45
//	*                              subspace  0x1234abcd     any connection: the key as the server's answer has it, 0: not enciphered
//
// Of several lines that fit a connection the first counts. The error names the line, and never the key.
func ParseKeys(text string) ([]Key, error) {
	if len(text) > MaxKeysText {
		return nil, fmt.Errorf("keys take at most %d bytes", MaxKeysText)
	}
	var keys []Key
	number := 0
	for line := range strings.Lines(text) {
		number++
		// A comment starts at a # behind space: one inside a word is the number of a session.
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
		k, err := parseKey(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(keys) == maxKeys {
			return nil, fmt.Errorf("line %d: more than %d keys", number, maxKeys)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func parseKey(words []string) (k Key, err error) {
	if len(words) < 3 || len(words) > 4 {
		return k, errors.New("expected a connection, a protocol and a key")
	}
	if k.Conn, k.Session, err = parseConn(words[0]); err != nil {
		return k, err
	}
	p, ok := Of(words[1])
	if !ok || p.Key == nil {
		return k, errors.New("expected a protocol after the connection: " + strings.Join(withKeys(), " or ")) // the word may be the key
	}
	k.Dialect = p.Dialect
	k.value, err = p.Key(words[2:])
	return k, err
}

// withKeys are the protocols that have keys.
func withKeys() (names []string) {
	for _, p := range Protocols {
		if p.Key != nil {
			names = append(names, p.Dialect)
		}
	}
	return names
}

// parseConn reads the name of a connection, with the number of a session behind a #, or * for all.
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

// For is the environment of one connection: of the keys it has those that fit.
func (e *Env) For(conn string, session int) *Env {
	one := *e
	one.Keys = nil
	for _, k := range e.Keys {
		if (k.Conn == "" || k.Conn == conn) && (k.Session < 0 || k.Session == session) {
			k.Conn, k.Session = "", -1 // from here on it counts for this one
			one.Keys = append(one.Keys, k)
		}
	}
	return &one
}

// KeyOf is the value of the first key of a dialect that is not for another connection, nil if there is none.
func (e *Env) KeyOf(dialect string) any {
	for _, k := range e.Keys {
		if k.Dialect == dialect && k.Conn == "" {
			return k.value
		}
	}
	return nil
}
