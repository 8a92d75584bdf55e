package transport

import (
	"net/netip"
	"slices"
	"strings"
)

// Proto is what carries a connection.
type Proto uint8

// The protocols.
const (
	TCP Proto = iota + 1
	UDP
)

func (p Proto) String() string { return [...]string{"", "tcp", "udp"}[p] }

// Conn is a connection between two ends.
type Conn struct {
	ID      int // from 0, in the order in which they appear in the file
	Proto   Proto
	Client  netip.AddrPort
	Server  netip.AddrPort
	Session int // 0, and 1, 2, ... for those that use the same addresses again
}

// Name is "client-server", each address:port, IPv6 addresses in brackets. Sessions with the same addresses have the same name.
func (c *Conn) Name() string {
	b := make([]byte, 0, 64)
	b = c.Client.AppendTo(b)
	b = append(b, '-')
	return string(c.Server.AppendTo(b))
}

// Marks say what a proxy did to a message, as its log or recording tells.
type Marks uint8

// The marks.
const (
	Fake     Marks = 1 << iota // made by the proxy or its modules: injected, or the changed copy of a real message
	Silenced                   // stopped by the proxy: the other side never got it
	BadDef                     // the logger's definition did not fit the bytes
	Changed                    // by the proxy: what came, and what was sent in its place
)

func (m Marks) String() string {
	var set []string
	for i, name := range [...]string{"fake", "silenced", "bad def", "changed"} {
		if m&(1<<i) != 0 {
			set = append(set, name)
		}
	}
	return strings.Join(set, ", ")
}

// flagNames are the names that filters have for what a proxy did.
var flagNames = []struct {
	mark Marks
	name string
}{{Fake, "injected"}, {Changed, "modified"}, {Silenced, "dropped"}}

// Flags are the names that filters have for what a proxy did to the message: injected, modified, dropped.
func (m Marks) Flags() (names []string) {
	for _, f := range flagNames {
		if m&f.mark != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// MarksOf is the opposite of Marks.Flags.
func MarksOf(names []string) (m Marks) {
	for _, f := range flagNames {
		if slices.Contains(names, f.name) {
			m |= f.mark
		}
	}
	return m
}
