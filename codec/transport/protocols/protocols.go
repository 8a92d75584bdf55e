// Package protocols maps each dialect of definitions to the transport of its messages.
package protocols

import (
	"io"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Protocol describes how the messages of a dialect are transported.
type Protocol struct {
	Dialect string // name of the dialect in defs.Dialects
	Streams bool   // over TCP, otherwise in datagrams
	Ciphers bool   // messages may be encrypted, see Env.Clear
	// Enveloped reports whether Env.Envelope says how messages travel; Streams is then that of an envelope that does not say. See With.
	Enveloped bool
	Foreign   bool     // Enveloped: every message of an envelope with codes is behind its header, see [stream.Options]
	Ports     []string // purposes of a server's consecutive ports

	// Says reports whether an envelope says what the dialect says, besides its carrier; nil: none does.
	Says func(e *envelope.Envelope) bool

	// New returns the transport of a connection to a server's port; nil if there is no envelope.
	New func(e *Env, port uint16) transport.Transport

	// Rewriter returns the rewriter of a connection to a server's port.
	Rewriter func(e *Env, port uint16) transport.Rewriter

	// End returns an endpoint of a connection to a server's port: a client, which sends to the server, or a server. The error is about the
	// keys.
	End func(e *Env, sends schema.Dir, port uint16, how Ends) (transport.Endpoint, error)

	// Build returns the build of the client that a message names; nil if no message does.
	Build func(f *transport.Frame) (build string, ok bool)

	Layers *transport.Layers // the packets around messages; nil if they have no fields

	// Key parses the one or more words that follow the protocol in a line of a keys file; nil if the protocol has no keys.
	Key func(words []string) (any, error)
}

// Ends configures an endpoint where a protocol leaves a choice.
type Ends struct {
	Plain  bool      // no cipher
	Random io.Reader // source of randomness for keys
}

// Protocols lists all protocols, those with a transport of their own first.
var Protocols = func() []Protocol {
	all := []Protocol{overTera, overMuta, overSubspace, inEnvelope(false), overMAVLink}
	for _, d := range defs.Dialects {
		if !slices.ContainsFunc(all, func(p Protocol) bool { return p.Dialect == d.Name }) {
			all = append(all, overEnvelope(&d))
		}
	}
	return all
}()

// Own reports whether an envelope says what the dialect says. Then it changes nothing: groups may depend on ports, which envelopes do not know.
func (p *Protocol) Own(e *envelope.Envelope) bool {
	return e.Carrier.Dialect() == p.Dialect || p.Says != nil && p.Says(e)
}

// Network returns the network for package net: "tcp" or "udp".
func (p *Protocol) Network() string {
	if p.Streams {
		return "tcp"
	}
	return "udp"
}

// Of returns the protocol of a dialect.
func Of(dialect string) (Protocol, bool) {
	for _, p := range Protocols {
		if p.Dialect == dialect {
			return p, true
		}
	}
	return Protocol{}, false
}

// LayersOf returns the packets around the messages of a dialect. A dialect without layers gets those of another one, so that filters can
// report that there are none.
func LayersOf(dialect string) *transport.Layers {
	var other *transport.Layers
	for _, p := range Protocols {
		if p.Layers == nil {
			continue
		}
		if p.Dialect == dialect {
			return p.Layers
		}
		if other == nil {
			other = p.Layers
		}
	}
	return other
}

// Definitions is the part of a library of definitions that transports use.
type Definitions interface {
	Frame(group string) *schema.Message // returns the message that reads the code at the start of every message of the group, or nil
	Lookup(key schema.Key) *schema.Message
	Program(m *schema.Message) (*codec.Program, error)
	Behind(h *envelope.Header, m *schema.Message) *schema.Message // see the Definitions of package codec/transport/stream
	Groups() []string
}

// Env is the environment of the transports of a capture.
type Env struct {
	Definitions Definitions
	Rules       []Rule
	Options     map[string]string // values of the dialect's options
	Keys        []Key             // of encrypted connections, see For
	Envelope    *envelope.Envelope

	Clear func(transport.Clear) // receives all deciphered ranges; may be nil
}

// Rule assigns a group of messages to a direction. The first matching rule applies.
type Rule struct {
	Port  uint16     // of the server; 0 = any
	Dir   schema.Dir // Both = either
	Group string
}

// ParseRule parses [PORT/][c2s=|s2c=]GROUP.
func ParseRule(text string) (r Rule, ok bool) {
	if port, rest, found := strings.Cut(text, "/"); found {
		n := 0
		for _, c := range port {
			if c < '0' || c > '9' || n > 65535 {
				return r, false
			}
			n = n*10 + int(c-'0')
		}
		if port == "" || n == 0 || n > 65535 {
			return r, false
		}
		r.Port, text = uint16(n), rest
	}
	dir, group, found := strings.Cut(text, "=")
	switch {
	case !found:
		group = text
	case dir == "c2s":
		r.Dir = schema.ToServer
	case dir == "s2c":
		r.Dir = schema.ToClient
	default:
		return r, false
	}
	r.Group = group
	return r, group != ""
}

// Group returns the group of the messages sent in a direction: by a rule, or the only group, or the group whose name begins with
// the initial of the sender, c for client or s for server.
func (e *Env) Group(port uint16, dir schema.Dir) string {
	for _, r := range e.Rules {
		if (r.Port == 0 || r.Port == port) && (r.Dir == schema.Both || r.Dir == dir) {
			return r.Group
		}
	}
	groups := e.Definitions.Groups()
	if len(groups) == 1 {
		return groups[0]
	}
	first := byte('c')
	if dir == schema.ToClient {
		first = 's'
	}
	for _, g := range groups {
		if g != "" && g[0]|0x20 == first {
			return g
		}
	}
	return ""
}

// measure returns a function that measures messages by the definitions.
func (e *Env) measure(port uint16) transport.Measure {
	type program struct {
		of *schema.Message // definitions may change during a connection
		*codec.Program
	}
	type way struct {
		group    string
		frame    *codec.Program
		programs map[uint32]program // by code
	}
	var ways [3]*way
	var rec codec.Record
	var at *way             // of the last call
	var last *codec.Program // tried by the last call; may be nil
	var failed error
	noFrame := func() string {
		return "the definitions do not determine the messages of this direction: specify their group"
	}
	noMessage := func() string { return "no message of group " + at.group + " has this id" }
	noProgram := func() string { return failed.Error() }
	illegal := func() string {
		why := last.Message.Name + ": "
		if len(rec.Problems) > 0 {
			why += rec.Problems[0].Message(&rec)
		}
		return why
	}
	return func(dir schema.Dir, data []byte) (n, need int, key schema.Key, why transport.Reason) {
		at = ways[dir]
		if at == nil {
			at = &way{group: e.Group(port, dir), programs: map[uint32]program{}}
			if m := e.Definitions.Frame(at.group); m != nil {
				at.frame, _ = e.Definitions.Program(m)
			}
			ways[dir] = at
		}
		if at.frame == nil {
			return 0, 0, key, noFrame
		}
		at.frame.Decode(&rec, data)
		if rec.Short {
			return 0, needed(&rec, data), key, nil
		}
		key = schema.Key{Dir: dir, Group: at.group, Code: rec.Code}
		m := e.Definitions.Lookup(key)
		if m == nil {
			return 0, 0, key, noMessage
		}
		if last = at.programs[rec.Code].Program; at.programs[rec.Code].of != m {
			if last, failed = e.Definitions.Program(m); failed != nil {
				return 0, 0, key, noProgram
			}
			at.programs[rec.Code] = program{m, last}
		}
		last.Decode(&rec, data)
		switch rec.Status() {
		case codec.Incomplete:
			return 0, needed(&rec, data), key, nil
		case codec.Illegal:
			return 0, 0, key, illegal
		}
		return max(rec.Used, 1), 0, key, nil
	}
}

// needed returns the minimum number of bytes before another attempt can succeed.
func needed(rec *codec.Record, data []byte) int {
	for _, p := range rec.Problems {
		if p.Code == codec.Truncated && p.Want > uint64(len(data)) && p.Want < codec.MaxMessage {
			return int(p.Want)
		}
	}
	return len(data) + 1
}
