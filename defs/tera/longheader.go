package tera

import (
	"slices"

	"wirebench/defs/schema"
)

// LongHeader returns a client message with a sequence number and a checksum after its code: the body starts at byte 12, and offsets are
// still relative to byte 0. It shares the fields of the message by pointer. A message that already has the header, or is not from the
// client, is returned unchanged.
//
// The option integrity gives all client messages the header. LongHeader is for individual frames that were recognized to have it.
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

// longHeader is the items after the code.
var longHeader = []schema.Item{{Kind: schema.Counter, Bits: 32}, {Kind: schema.Check, Bits: 32, Sum: Checksum}}
