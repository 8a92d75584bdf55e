package tera

import (
	"slices"

	"wirebench/defs/schema"
)

// LongHeader is a client message as it travels with a count and a checksum behind its code: the body starts at byte 12, and offsets still
// count from byte 0. It has the fields of the message themselves, so that what refers to them holds for both. A message that has the
// header, or is not the client's, is returned as it is.
//
// The option integrity gives all client messages the header. This is for one that was recognised among others that have none.
func LongHeader(m *schema.Message) *schema.Message {
	if m.Key.Dir != schema.ToServer || m.Body == nil {
		return m
	}
	at := 0
	for i, it := range m.Body.Wire {
		switch it.Kind {
		case schema.Counter:
			return m
		case schema.Code:
			at = i + 1
		}
	}
	long, body := *m, *m.Body
	body.Wire = slices.Insert(slices.Clone(m.Body.Wire), at, longHeader...)
	long.Body, long.AlternateOf = &body, m
	return &long
}

// longHeader is what stands behind the code.
var longHeader = []schema.Item{{Kind: schema.Counter, Bits: 32}, {Kind: schema.Check, Bits: 32, Sum: Checksum}}
