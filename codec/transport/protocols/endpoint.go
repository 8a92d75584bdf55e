package protocols

import (
	"fmt"
	"io"

	"wirebench/codec/transport"
	"wirebench/codec/transport/muta"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/defs/schema"
)

// Ends say how an end of a connection behaves where a protocol leaves the choice.
type Ends struct {
	Plain  bool      // no cipher
	Random io.Reader // keys are made of it
}

// Endpoint makes a client (sends to the server) or a server of a dialect's protocol, at a server's port. The error is about the keys, or
// about a dialect without a protocol.
func (e *Env) Endpoint(dialect string, sends schema.Dir, port uint16, how Ends) (transport.Endpoint, error) {
	switch dialect {
	case "muta":
		return muta.NewEndpoint(muta.Options{Measure: e.measure(port)}, sends), nil
	case "tera":
		o := tera.EndpointOptions{Options: e.teraOptions(), LongHeader: e.longHeader}
		if !how.Plain {
			o.Own = new(tera.Keys)
			for _, key := range []*[tera.KeySize]byte{&o.Own.Client1, &o.Own.Client2, &o.Own.Server1, &o.Own.Server2} {
				if _, err := io.ReadFull(how.Random, key[:]); err != nil {
					return nil, fmt.Errorf("make a key: %w", err)
				}
			}
		}
		return tera.NewEndpoint(o, sends), nil
	case "subspace":
		o := subspace.EndpointOptions{Encipher: !how.Plain}
		if !how.Plain {
			var key [4]byte
			if _, err := io.ReadFull(how.Random, key[:]); err != nil {
				return nil, fmt.Errorf("make a key: %w", err)
			}
			o.Key = uint32(key[0]) | uint32(key[1])<<8 | uint32(key[2])<<16 | uint32(key[3]|0x80)<<24
			o.Key |= 1 // 1<<31 is its own negation
		}
		return subspace.NewEndpoint(o, sends), nil
	}
	return nil, fmt.Errorf("protocol %s has no connections", dialect)
}

// longHeader reports whether the definition of a message has a count of its own.
func (e *Env) longHeader(key schema.Key) bool {
	m := e.Definitions.Lookup(key)
	if m == nil || m.Body == nil {
		return false
	}
	for _, item := range m.Body.Wire {
		if item.Kind == schema.Counter {
			return true
		}
	}
	return false
}
