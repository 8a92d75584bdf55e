package protocols

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// overSubspace is the transport of SubSpace messages.
var overSubspace = Protocol{
	Dialect: "subspace", Ciphers: true, Ports: []string{"the game", "pings"},
	New:      func(e *Env, _ uint16) transport.Transport { return subspace.New(e.subspaceOptions()) },
	Rewriter: func(e *Env, _ uint16) transport.Rewriter { return subspace.NewRewriter(e.subspaceOptions()) },
	End: func(e *Env, sends schema.Dir, _ uint16, how Ends) (transport.Endpoint, error) {
		o := subspace.EndpointOptions{Options: subspace.Options{Groups: e.subspaceGroups()}, Encrypt: !how.Plain}
		if !how.Plain {
			var key [4]byte
			if _, err := io.ReadFull(how.Random, key[:]); err != nil {
				return nil, fmt.Errorf("make a key: %w", err)
			}
			o.Key = uint32(key[0]) | uint32(key[1])<<8 | uint32(key[2])<<16 | uint32(key[3]|0x80)<<24
			o.Key |= 1 // 1<<31 is its own negation
		}
		return subspace.NewEndpoint(o, sends), nil
	},
	Key: func(words []string) (any, error) {
		n, err := strconv.ParseUint(words[0], 0, 32)
		if err != nil || len(words) > 1 {
			return nil, errors.New("the key must be a 32-bit number, such as 0x1234abcd")
		}
		return uint32(n), nil
	},
	Layers: &subspace.Layers,
}

// subspaceOptions returns the options for a connection.
func (e *Env) subspaceOptions() subspace.Options {
	key, known := e.KeyOf("subspace").(uint32)
	return subspace.Options{HasKey: known, Key: key, Clear: e.Clear, Groups: e.subspaceGroups()}
}

// subspaceGroups returns the groups of messages of another language, nil if it is SubSpace's.
func (e *Env) subspaceGroups() *[2]string {
	if e.Envelope == nil || e.Envelope.Carrier != envelope.SubSpace {
		return nil
	}
	return &e.Envelope.States[0].Group
}
