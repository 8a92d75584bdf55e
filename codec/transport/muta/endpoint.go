package muta

import (
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Endpoint is a client or a server. Messages follow each other from the first byte on.
type Endpoint struct {
	t      *Transport
	dir    schema.Dir // direction in which it sends
	begun  bool
	closed bool
}

// NewEndpoint returns the endpoint that sends in the given direction.
func NewEndpoint(o Options, sends schema.Dir) *Endpoint {
	if sends != schema.ToClient {
		sends = schema.ToServer
	}
	return &Endpoint{t: New(o), dir: sends}
}

var _ transport.Endpoint = (*Endpoint)(nil)

// Start does nothing: there is no greeting.
func (e *Endpoint) Start(time.Time, *transport.Relay) {}

// Feed takes the next bytes of the stream.
func (e *Endpoint) Feed(data []byte, end bool, at time.Time, r *transport.Relay) {
	seg := transport.Segment{Dir: transport.Opposite(e.dir), At: at, Bytes: data, Start: !e.begun, End: end}
	e.begun = true
	e.t.Feed(seg, r.EmitFrame)
}

// Ready reports whether there are definitions, which determine the lengths of messages.
func (e *Endpoint) Ready() (ok, never bool, why string) {
	switch {
	case e.closed:
		return false, true, "the connection is closed"
	case e.t.o.Measure == nil:
		return false, true, "there are no definitions"
	}
	return true, false, ""
}

// Send sends a message. Its length must match its definition.
func (e *Endpoint) Send(o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if e.closed {
		return transport.ErrClosed
	}
	if e.t.o.Measure == nil && !o.Raw {
		return transport.ErrNotReady
	}
	data, err := (wire{e.t}).Fit(e.dir, o)
	if err != nil {
		return err
	}
	r.Put(transport.Segment{Dir: e.dir, At: at, Bytes: data})
	return nil
}

// Tick does nothing.
func (e *Endpoint) Tick(time.Time, *transport.Relay) {}

// Due returns the zero time.
func (e *Endpoint) Due() time.Time { return time.Time{} }

// Unsent returns 0: there are no acknowledgements.
func (e *Endpoint) Unsent() int { return 0 }

// Close sends nothing: the protocol has no disconnect.
func (e *Endpoint) Close(time.Time, *transport.Relay) { e.closed = true }
