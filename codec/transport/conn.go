package transport

import (
	"net/netip"
	"slices"
	"strings"
)

// Proto is the transport protocol of a connection.
type Proto uint8

// The protocols.
const (
	TCP Proto = iota + 1
	UDP
)

func (p Proto) String() string { return [...]string{"", "tcp", "udp"}[p] }

// Conn is a connection between a client and a server.
type Conn struct {
	ID      int // from 0, in order of appearance in the file
	Stream  int // from 0, among those of its transport protocol: tcp.stream and udp.stream of Wireshark
	Proto   Proto
	Client  netip.AddrPort
	Server  netip.AddrPort
	Session int // 0 for the first connection between these addresses, then 1, 2, ...
}

// Name returns "client-server", each as address:port with IPv6 addresses in brackets. Sessions with the same addresses share a name.
func (c *Conn) Name() string {
	b := make([]byte, 0, 64)
	b = c.Client.AppendTo(b)
	b = append(b, '-')
	return string(c.Server.AppendTo(b))
}

// Marks are the changes that a proxy made to a message, according to its log or recording.
type Marks uint8

// The marks.
const (
	Fake     Marks = 1 << iota // made by the proxy or its modules: injected, or the changed copy of a real message
	Silenced                   // dropped by the proxy
	BadDef                     // the logger's definition did not fit the bytes
	Changed                    // changed by the proxy: set on both the original and the message sent instead
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

// flagNames maps marks to the names that filters use.
var flagNames = []struct {
	mark Marks
	name string
}{{Fake, "injected"}, {Changed, "modified"}, {Silenced, "dropped"}}

// Flags returns the filter names of the marks: injected, modified, dropped.
func (m Marks) Flags() (names []string) {
	for _, f := range flagNames {
		if m&f.mark != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// MarksOf returns the marks of filter names; it is the inverse of Marks.Flags.
func MarksOf(names []string) (m Marks) {
	for _, f := range flagNames {
		if slices.Contains(names, f.name) {
			m |= f.mark
		}
	}
	return m
}
