package protocols

import (
	"encoding/hex"
	"errors"
	"fmt"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs"
	"wirebench/defs/schema"
)

// enveloped is the first dialect without a transport of its own.
const enveloped = "protodef"

// overEnvelope returns the protocol of a dialect whose projects describe how messages travel.
func overEnvelope(d *defs.Dialect) Protocol {
	p := inEnvelope(d.Contents)
	p.Dialect = d.Name
	return p
}

// inEnvelope returns the protocol of messages in an envelope. foreign reports that their dialect has a transport of its own, or messages without
// codes.
func inEnvelope(foreign bool) Protocol {
	return Protocol{
		Dialect: enveloped, Streams: true, Enveloped: true, Foreign: foreign, Ports: []string{"the game"},
		New: func(e *Env, _ uint16) transport.Transport {
			if e.Envelope == nil {
				return nil
			}
			return stream.New(e.envelopeOptions(foreign))
		},
		Rewriter: func(e *Env, _ uint16) transport.Rewriter { return stream.NewRewriter(e.envelopeOptions(foreign)) },
		End: func(e *Env, sends schema.Dir, _ uint16, _ Ends) (transport.Endpoint, error) {
			if e.Envelope == nil {
				return nil, ErrNoEnvelope
			}
			return stream.NewEndpoint(e.envelopeOptions(foreign), sends), nil
		},
		Key: readEnvelopeKey,
	}
}

// ErrNoEnvelope is the error of live traffic of a project without an envelope.
var ErrNoEnvelope = errors.New("the project has no envelope: add a file protocol.envelope, which says how messages travel, or open a capture in which it can be found")

// With returns the protocol as the envelope of an environment says; the same one if there is none. Messages of any dialect can have an envelope.
func (p Protocol) With(e *Env) Protocol {
	if e.Envelope == nil {
		return p
	}
	dialect, ports := p.Dialect, p.Ports
	switch carrier, carries := Of(e.Envelope.Carrier.Dialect()); {
	case carries:
		p = carrier
	case !p.Enveloped:
		p = inEnvelope(true)
	}
	p.Dialect, p.Ports = dialect, ports
	p.Streams = !e.Envelope.Carrier.Datagrams()
	p.Ciphers = e.Envelope.IsGiven() || p.Ciphers
	return p
}

// envelopeOptions returns the options for a connection.
func (e *Env) envelopeOptions(foreign bool) stream.Options {
	o := stream.Options{Envelope: e.Envelope, Definitions: e.Definitions, Clear: e.Clear, Foreign: foreign}
	if k, ok := e.KeyOf("protodef").(envelopeKey); ok {
		o.Key, o.IV = k.key, k.iv
	}
	return o
}

// envelopeKey is the key of a cipher that an envelope calls given.
type envelopeKey struct{ key, iv []byte }

func readEnvelopeKey(words []string) (any, error) {
	var k envelopeKey
	var err error
	if k.key, err = hex.DecodeString(words[0]); err == nil && len(words) > 1 {
		k.iv, err = hex.DecodeString(words[1])
	}
	if err != nil || len(words) > 2 || len(k.key) > 64 || len(k.iv) > 64 {
		return nil, errors.New("the key, and the initialization vector if the cipher has one, are hex digits")
	}
	return k, nil
}

// Found is an envelope that was found in traffic.
type Found struct {
	Text     string
	Evidence string
	Likely   bool // it consumes nearly all bytes, and the definitions know its messages
}

// leastKnown is the share of messages that definitions must know in the traffic that an envelope was found in, as a divisor.
const leastKnown = 2

// Find returns the most likely envelope of the traffic of some connections, each in order of arrival. ok is false if none consumes nearly all
// bytes.
func (e *Env) Find(streams, datagrams [][]transport.Segment) (f Found, ok bool) {
	for _, f := range e.Candidates(streams, datagrams) {
		if f.Likely {
			return f, true
		}
	}
	return f, false
}

// Candidates returns envelopes that the traffic of some connections may have, those over TCP first, the most likely of each first.
func (e *Env) Candidates(streams, datagrams [][]transport.Segment) (out []Found) {
	for _, of := range [...]struct {
		samples [][]transport.Segment
		udp     bool
	}{{streams, false}, {datagrams, true}} {
		var samples []stream.Sample
		for _, s := range of.samples {
			samples = append(samples, s)
		}
		if len(samples) == 0 {
			continue
		}
		var lib stream.Library
		if e.Definitions != nil && len(e.Definitions.Groups()) > 0 {
			lib = e.Definitions
		}
		for _, c := range stream.Detect(samples, of.udp, lib) {
			likely := c.Used*100 >= c.Total*95 && c.Frames >= 2 && (lib == nil || c.Known*leastKnown >= c.Frames)
			out = append(out, Found{c.Text, c.String(), likely})
		}
	}
	return out
}

// Comment returns the evidence as the comment of an envelope.
func (f *Found) Comment(in string) string { return fmt.Sprintf("# found in %s: %s\n", in, f.Evidence) }
